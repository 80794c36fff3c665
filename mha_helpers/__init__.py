"""Helpers for the multi-head attention course: the maths, a trained model, figures, labs and exercise checks.

Importing this package is cheap: neither matplotlib nor ipywidgets is loaded until a
module that draws is first used, nor the model's tokenizer before the model is.
"""

import importlib

__version__ = "0.1.0"
__all__ = [
    "attention",
    "encoder",
    "exercises",
    "experiments",
    "figures",
    "labs",
    "masks",
    "measures",
    "positions",
    "probes",
    "worked_examples",
]


def __getattr__(name):
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *__all__])
