"""Helpers for the multi-head attention course: the maths, trained models, figures, labs and exercise checks.

Importing this package is cheap: neither matplotlib nor ipywidgets is loaded until a
module that draws is first used, nor the model's tokenizer before the model is.
"""

import importlib

__version__ = "0.1.0"

# What a notebook imports, and the room in which it stands.
_ROOMS = {
    "attention": "attention",
    "blockwise": "blockwise",
    "decoder": "model.decoder",
    "decoding": "decoding",
    "doctor": "doctor",
    "course": "course",
    "encoder": "model.encoder",
    "exercises": "exercises",
    "experiments": "experiments",
    "figures": "drawing.figures",
    "fused": "fused",
    "gradients": "gradients",
    "labs": "labs",
    "masks": "masks",
    "measures": "measures",
    "positions": "positions",
    "probes": "probes",
    "running_example": "running_example",
    "small_runs": "model.small_runs",
    "tasks": "tasks",
    "training": "training",
    "worked_examples": "worked_examples",
}
__all__ = list(_ROOMS)


def __getattr__(name):
    if name in _ROOMS:
        return importlib.import_module(f"{__name__}.{_ROOMS[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *__all__])
