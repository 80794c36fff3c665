"""What editors read of the packages that load a name at its first use: their `__init__.pyi`."""

from pathlib import Path

from mha_helpers import exercises, labs

HEAD = "# Written by python -m tools refresh: where an editor finds what is loaded at its first use.\n"


def written():
    """Return the text of each stub, by its path."""
    return {
        _path(labs): HEAD + "\n" + "".join(sorted(_labs())) + _registries("LABS"),
        _path(exercises): HEAD
        + "\n"
        + "".join([*sorted(_exercises()), *_others()])
        + _registries("EXERCISES", "PREDICTIONS"),
    }


def _registries(*names):
    return "\n" + "".join(f"{name}: dict[str, tuple[str, ...]]\n" for name in names)


def _path(package):
    return Path(package.__file__).with_suffix(".pyi")


def _labs():
    for folder, names in labs.LABS.items():
        for name in names:
            yield f"from .{folder}.{name} import {name} as {name}\n"


def _exercises():
    folders = {name: folder for folder, names in exercises.EXERCISES.items() for name in names}
    for name in folders:
        module = name.removeprefix("recall_")
        yield f"from .{folders[module]}.{module} import exercise as {name}\n"
    for folder, names in exercises.PREDICTIONS.items():
        for name in names:
            yield f"from .{folder}.predictions import {name} as {name}\n"


def _others():
    yield "from .output_projection.exit_test import exit_test as exit_test\n"
    yield "from mha_helpers.learner.results import keep_results as keep_results\n"
    yield "from mha_helpers.learner.results import stop_keeping as stop_keeping\n"
