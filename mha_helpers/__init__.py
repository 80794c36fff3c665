"""Helpers for the multi-head attention course: the maths, trained models, figures, labs and exercise checks.

Importing this package is cheap: ipywidgets is not loaded until the labs are first used, nor the model's tokenizer
before the model is.
"""

import importlib
import importlib.machinery
import sys
from pathlib import Path

__version__ = "0.1.0"

# What learners import under a short name, and where it stands if that is elsewhere: `mha_helpers.attention` is
# `mha_helpers.maths.attention`, the same module, with `from` and without.
_PLACES = {
    "attention": "maths.attention",
    "blockwise": "maths.blockwise",
    "circuits": "maths.circuits",
    "course": "course",
    "decoder": "model.decoder",
    "decoding": "maths.decoding",
    "doctor": "doctor",
    "encoder": "model.encoder",
    "exercises": "exercises",
    "experiments": "maths.experiments",
    "figures": "drawing.figures",
    "fused": "maths.fused",
    "gradients": "maths.gradients",
    "grouped": "maths.grouped",
    "labs": "labs",
    "masks": "maths.masks",
    "measures": "maths.measures",
    "positions": "maths.positions",
    "probes": "maths.probes",
    "rotary": "maths.rotary",
    "running_example": "maths.running_example",
    "shapes": "maths.shapes",
    "small_runs": "model.small_runs",
    "tasks": "maths.tasks",
    "torch_listing": "maths.torch_listing",
    "training": "maths.training",
    "worked_examples": "maths.worked_examples",
}
__all__ = list(_PLACES)

# An update that was killed is finished before anything else is imported: `mha_helpers/update/swap.py`.
_unfinished = Path(__file__).parents[1] / ".update"
if (_unfinished / "journal.json").exists():
    import runpy

    runpy.run_path(str(_unfinished / "finish.py"), run_name="__main__")


def __getattr__(name):
    if name in _PLACES:
        return importlib.import_module(f"{__name__}.{_PLACES[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *__all__])


class _ShortName:
    """Finds the module behind `import mha_helpers.attention`, for which there is no file of that name."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        package, _, short = name.rpartition(".")
        return importlib.machinery.ModuleSpec(name, _ShortName) if package == __name__ and short in _PLACES else None

    @staticmethod
    def create_module(spec):
        return None  # an empty one, which gives way to the real one at once

    @staticmethod
    def exec_module(module):
        sys.modules[module.__name__] = __getattr__(module.__name__.rpartition(".")[2])


sys.meta_path.append(_ShortName)  # the last to be asked
