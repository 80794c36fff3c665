"""What a notebook imports has type hints, in every public function, and they hold together."""

import inspect
import subprocess
import sys
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path

import pytest

import mha_helpers
from mha_helpers.exercises.engine import Exercise, Result
from mha_helpers.exercises.output_projection.exit_test import ExitTest
from mha_helpers.exercises.prediction import Prediction

ROOT = Path(__file__).parents[2]
# Labs are one module each, the doctor is a package of its own, and the listing is to be read as published code is.
PUBLIC = sorted({*mha_helpers.__all__} - {"doctor", "exercises", "labs", "torch_listing"})


def test_mypy_finds_nothing():
    found = subprocess.run([sys.executable, "-m", "mypy"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


def functions_of(owner):
    """Yield the public functions of a module, or of a class: its methods and properties, and how it is made."""
    for name, thing in vars(owner).items():
        function = inspect.unwrap(getattr(thing, "fget", thing))
        is_made_here = not is_dataclass(owner) and name == "__init__"
        if inspect.isfunction(function) and (is_made_here or not name.startswith("_")):
            yield function


def without_hints(module, *classes):
    """Return which functions of a module, and of these classes or all of its own, lack a hint, and for what."""
    public = [thing for name, thing in vars(module).items() if inspect.isclass(thing) and not name.startswith("_")]
    its_own = [kind for kind in public if kind.__module__ == module.__name__]
    missing = []
    for owner in classes or (module, *its_own):
        for function in functions_of(owner):
            hinted = {*function.__annotations__, "self"}
            lacks = {*inspect.signature(function).parameters, "return"} - hinted
            if lacks and function.__module__ == module.__name__:
                missing.append(f"{function.__qualname__}: {', '.join(sorted(lacks))}")
    return missing


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_function_of_a_public_module_has_type_hints(name):
    assert without_hints(import_module(f"mha_helpers.{name}")) == []


@pytest.mark.parametrize(
    "name",
    [
        *("api", "examination", "reports.formats", "reports.panel", "reports.remarks", "reports.report"),
        *("calls.calling", "calls.threads", "names.word", "subjects.subject"),
    ],
)
def test_every_public_function_of_the_doctors_public_side_has_type_hints(name):
    assert without_hints(import_module(f"attention_doctor.{name}")) == []


@pytest.mark.parametrize("kind", [Exercise, ExitTest, Prediction, Result])
def test_every_public_method_of_what_exercises_offers_has_type_hints(kind):
    assert without_hints(import_module(kind.__module__), kind) == []
