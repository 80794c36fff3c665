"""How fast the course's attention is, and the writing on it, beside PyTorch's: in turns, so that both meet the same.

`python -m tools bench --only attention` and `--only writing` print it. With OMP_NUM_THREADS=1 and
OPENBLAS_NUM_THREADS=1 before it both sides have one thread, as a learner on a busy hub has.
"""

import functools
import itertools
import time
import tracemalloc
from collections import defaultdict
from statistics import median

import numpy as np

from mha_helpers import decoder
from mha_helpers.attention import scaled_dot_product_attention
from mha_helpers.blockwise import blockwise_attention
from tools.table import print_table

N_HEADS, D_HEAD = 8, 64
LENGTHS, RUNS = (512, 2048), 9
EAGER, FUSED = "torch, eager", "torch, its fused kernel"
PROMPT, N_WRITTEN, WRITING_RUNS = "ROMEO:\n", 240, 7
PLACES = (16, 64, 128, 248)  # how many characters are in the cache when the next is timed

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    torch = None


def in_turns(calls, runs):
    """Return the median milliseconds of each call, which are made one after the other, again and again."""
    milliseconds = defaultdict(list)
    for _ in range(runs + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            milliseconds[name].append(1000 * (time.perf_counter() - start))
    return {name: median(found[1:]) for name, found in milliseconds.items()}


def torch_eager(queries, keys, values, *, is_causal=False):
    scores = queries @ keys.transpose(-1, -2) * queries.shape[-1] ** -0.5
    if is_causal:
        scores = scores.masked_fill(~torch.ones(scores.shape[-2:], dtype=torch.bool).tril(), -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


def attention():
    """Attention of 8 heads of width 64 in float32, all at once and in blocks, beside PyTorch's two."""
    for n, is_causal in itertools.product(LENGTHS, (False, True)):
        arrays = np.random.default_rng(0).normal(size=(3, 1, N_HEADS, n, D_HEAD)).astype(np.float32)
        functions = {"scaled_dot_product_attention": (scaled_dot_product_attention, arrays)}
        functions["blockwise_attention"] = (blockwise_attention, arrays)
        if torch is not None:
            tensors = [torch.from_numpy(array) for array in arrays]
            functions[EAGER], functions[FUSED] = (torch_eager, tensors), (F.scaled_dot_product_attention, tensors)
        calls = {
            name: functools.partial(function, *given, is_causal=is_causal)
            for name, (function, given) in functions.items()
        }
        found = in_turns(calls, RUNS)
        rows = [[name, found[name], *_ratios(found, name), _peak(call)] for name, call in calls.items()]
        header = ["", "median ms", "to eager", "to fused", "peak MiB"]
        causal = ", causal" if is_causal else ""
        print_table(f"Attention, {N_HEADS} heads of {n} x {D_HEAD} in float32{causal}", header, rows)


def _ratios(found, name):
    return [found[name] / found[other] if other in found else "not installed" for other in (EAGER, FUSED)]


def _peak(call):
    """Return the largest memory in use during a call, in MiB, as far as NumPy asks for it."""
    tracemalloc.start()
    call()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 2**20 if peak > 2**16 else "not seen"


def torch_stream(module, codes):
    """Write with the trainer's own module in PyTorch, eagerly and with a cache: yield one code after the other."""
    new, start, caches = torch.tensor(codes), 0, [None] * len(module.blocks)
    while True:
        X = module.characters(new) + module.positions.weight[start : start + len(new)]
        for i, block in enumerate(module.blocks):
            Y = block.attention_norm(X)
            parts = (block.queries, block.keys, block.values)
            queries, keys, values = (part(Y).view(len(new), block.n_heads, -1).transpose(0, 1) for part in parts)
            if caches[i] is not None:
                keys, values = (torch.cat(pair, dim=1) for pair in zip(caches[i], (keys, values), strict=True))
            caches[i] = keys, values
            scores = queries @ keys.transpose(1, 2) * queries.shape[-1] ** -0.5
            if len(new) > 1:
                scores = scores.masked_fill(~torch.ones(scores.shape[1:], dtype=torch.bool).tril(), -torch.inf)
            context = torch.softmax(scores, dim=-1) @ values
            X = X + block.output(context.transpose(0, 1).reshape(len(new), -1))
            X = X + block.narrow(F.relu(block.widen(block.mlp_norm(X))).square())
        logits = F.linear(module.norm(X[-1]), module.characters.weight)
        code = torch.multinomial(torch.softmax(logits, dim=-1), 1)
        yield int(code)
        start, new = start + len(new), code


def writing():
    """Characters written a second with the cache, one at a time, and the time for each by its place in the context."""
    model = decoder.load()
    calls = {"the course's": lambda: list(itertools.islice(model.stream(PROMPT), N_WRITTEN))}
    if torch is not None:
        from data.writer.make import load_module

        module, codes = load_module(), model.codes(PROMPT).tolist()

        def by_torch():
            with torch.inference_mode():
                list(itertools.islice(torch_stream(module, codes), N_WRITTEN))

        calls[EAGER] = by_torch
    found = in_turns(calls, WRITING_RUNS)
    rows = [[name, 1000 * N_WRITTEN / time_, found["the course's"] / time_] for name, time_ in found.items()]
    print_table(f"Writing {N_WRITTEN} characters with a cache", ["", "characters a second", "ratio"], rows)
    _by_place(model)


def _by_place(model):
    """Time each character of texts that fill the context: the cache makes it nearly the same for all."""
    milliseconds = defaultdict(list)
    for _ in range(WRITING_RUNS):
        stream = model.stream(PROMPT)
        for place in range(len(PROMPT), model.context_length):
            start = time.perf_counter()
            next(stream)
            milliseconds[place].append(1000 * (time.perf_counter() - start))
    # A few characters for each place, as a single one takes less than the clock of a shared machine is good for.
    found = {n: median(x for place in range(n, n + 8) for x in milliseconds[place]) for n in PLACES}
    rows = [[f"{n}", time_, time_ / found[PLACES[0]]] for n, time_ in found.items()]
    print_table("The next character", ["in the cache", "median ms", "ratio"], rows)
