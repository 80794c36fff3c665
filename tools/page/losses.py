"""The writer's losses with smaller caches, which the lab on caches would be slow to measure: they are stored.

They are measured anew when the writer has other weights, or the lab asks for other caches.
"""

import itertools
import json
from importlib import import_module
from pathlib import Path

cost = import_module("mha_helpers.labs.what_a_cache_keeps.cache_cost")  # `labs` has a function of that name

TOP = Path(__file__).parents[2]
LOSSES = TOP / "data/labs/cache_cost.json"
ORIGIN = TOP / "data/writer/origin.json"


def written():
    """Return the text of the losses' file: as it is, unless it was made of something else."""
    built = json.loads(ORIGIN.read_text(encoding="utf-8"))["built"]
    writer = cost.MODELS[cost.WRITER]
    about = [
        *writer.kv_heads,
        writer.short,
        *writer.windows,
        *cost.BITS,
        *writer.lengths,
        cost.TRIED.start,
        cost.TRIED.stop,
    ]
    made_of = {"weights": built["model.safetensors"]["sha256"], "sizes": " ".join(map(str, about))}
    stored = json.loads(LOSSES.read_text(encoding="utf-8"))
    if stored.get("made of") != made_of:
        caches = itertools.product(cost.SHARINGS, cost.WINDOWS, cost.BITS, writer.lengths)
        losses = {cost.called(*cache): round(cost.loss(cost.grouped_attention, *cache), 6) for cache in caches}
        stored = {"made of": made_of, "losses": losses}
    return json.dumps(stored, indent=1) + "\n"
