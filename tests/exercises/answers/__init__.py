"""The answers that every exercise is tried on: a module for each exercise, named as the exercise.

It says four things, and none of them may be left out:

RIGHT
    Functions that are right, in as many styles as learners have.
WRONG
    Functions that are wrong in ways that the exercise's own mistakes do not show, by the slug of the mistake that the
    learner must hear of. Under None those in which no mistake is recognised.
TOLD
    Pairs of a function in which no mistake is recognised, and what its learner must be told. May be empty.
TELLING_CASE
    The trait of the case in which no two axes are the same, and how many sizes that makes; None where an exercise
    takes nothing that has axes.
"""

from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

from mha_helpers import exercises

NAMES = {"RIGHT": (), "WRONG": {}, "TOLD": (), "TELLING_CASE": None}
FOLDER = Path(__file__).parent
# What is recalled is the check of another exercise, and needs no answers of its own.
EXERCISES = {
    name: getattr(exercises, name)
    for names in exercises.EXERCISES.values()
    for name in names
    if not name.startswith("recall_")
}


def answers_to(name):
    """Return what is said of an exercise; what is not said is empty, and `forgotten` tells of it."""
    module = import_module(f"answers.{name}") if (FOLDER / f"{name}.py").exists() else None
    return SimpleNamespace(**{key: getattr(module, key, empty) for key, empty in NAMES.items()})


def forgotten(name):
    """Return a sentence for everything that is missing from an exercise's answers."""
    file = f"tests/exercises/answers/{name}.py"
    if not (FOLDER / f"{name}.py").exists():
        return [f"{file} is missing: write one that says {', '.join(NAMES)} (see answers/__init__.py)"]
    module, found = import_module(f"answers.{name}"), answers_to(name)
    missing = [f"{file} has no {key}: add it (see answers/__init__.py)" for key in NAMES if not hasattr(module, key)]
    empty = [key for key in ("RIGHT", "WRONG") if hasattr(module, key) and not getattr(module, key)]
    missing += [f"{key} of {file} is empty: add answers" for key in empty]
    traits = [case.trait for case in EXERCISES[name].cases]
    if found.TELLING_CASE and found.TELLING_CASE[0] not in traits:
        missing += [f"{found.TELLING_CASE[0]!r} of {file} is no case of {name}: name one of {traits}"]
    return missing


ANSWERS = {name: answers_to(name) for name in EXERCISES}
