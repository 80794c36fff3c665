"""Helpers for the multi-head attention course: the maths, trained models, figures, labs and exercise checks.

Importing this package is cheap: ipywidgets is not loaded until the labs are first used, nor the model's tokenizer
before the model is.
"""

import importlib
from pathlib import Path

__version__ = "0.1.0"

# What a notebook imports. Other modules are the package's own.
__all__ = [
    "attention",
    "blockwise",
    "circuits",
    "course",
    "cross",
    "decoder",
    "decoding",
    "doctor",
    "encoder",
    "exercises",
    "experiments",
    "figures",
    "fused",
    "gradients",
    "grouped",
    "labs",
    "latent",
    "masks",
    "measures",
    "positions",
    "probes",
    "rotary",
    "rounding",
    "running_example",
    "shapes",
    "small_runs",
    "tasks",
    "torch_listing",
    "training",
    "worked_examples",
]

# An update that was killed is finished before anything else is imported: `mha_helpers/update/swap.py`.
_unfinished = Path(__file__).parents[1] / ".update"
if (_unfinished / "journal.json").exists():
    import runpy

    runpy.run_path(str(_unfinished / "finish.py"), run_name="__main__")


def __getattr__(name):
    """Load a module at its first use, so that `import mha_helpers` costs nothing."""
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *__all__])
