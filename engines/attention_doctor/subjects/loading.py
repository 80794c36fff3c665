"""From a target of the command to something that can be examined."""

import importlib
import importlib.util
import inspect
import re
import sys
from pathlib import Path


class CannotBeLoadedError(ValueError):
    """What stands in the way, and what to do."""


def load(target, arguments, build=""):
    """Return what a target names, built where it is a class.

    Parameters
    ----------
    target : str
        "FILE.py:NAME" or "package.module:NAME"; with `build` the name may be missing.
    arguments : dict
        What a class is built with.
    build : str, optional
        An expression that gives what is to be examined, in the file's own names.

    Raises
    ------
    CannotBeLoadedError
    """
    place, _, name = target.rpartition(":") if ":" in target else (target, "", "")
    module = _module(place)
    if build:
        try:
            return eval(build, vars(module))
        except Exception as error:
            raise CannotBeLoadedError(f"--build {build!r} stopped with {type(error).__name__}: {error}") from error
    if not name:
        raise CannotBeLoadedError(f"say what to examine: {target}:NAME, or give --build")
    thing = module
    for part in name.split("."):
        if not hasattr(thing, part):
            raise CannotBeLoadedError(f"{place} has no {name}")
        thing = getattr(thing, part)
    if not inspect.isclass(thing):
        return thing
    try:
        return thing(**arguments)
    except Exception as error:
        signature = inspect.signature(thing)
        raise CannotBeLoadedError(
            f"{name}{signature} could not be built with {arguments}: {type(error).__name__}: {error}. Give --arguments "
            f"as JSON, or an expression: --build '{name}(...)'"
        ) from error


def _module(place):
    file = Path(place)
    if place.endswith(".py") and not file.is_file():
        raise CannotBeLoadedError(f"there is no file {place!r}; give FILE.py:NAME or package.module:NAME")
    if not place.endswith(".py"):
        sys.path.insert(0, str(Path.cwd()))
        dotted = place
    else:
        file = file.resolve()
        folder, parts = file.parent, [file.stem]
        is_relative = re.search(r"(?m)^from \.", file.read_text(encoding="utf-8", errors="replace"))
        # A module of a package: its relative imports need the whole name, even where the folder doesn't say it is one.
        while (folder / "__init__.py").is_file() or (is_relative and len(parts) == 1):
            parts.insert(0, folder.name)
            folder = folder.parent
        sys.path.insert(0, str(folder))
        sys.path.insert(1, str(Path.cwd()))  # a repository's own imports often start at its root
        dotted = ".".join(parts)
    try:
        if place.endswith(".py") and "." not in dotted:
            spec = importlib.util.spec_from_file_location(dotted, file)
            module = importlib.util.module_from_spec(spec)
            sys.modules[dotted] = module
            spec.loader.exec_module(module)
            return module
        return importlib.import_module(dotted)
    except BaseException as error:
        raise CannotBeLoadedError(
            f"importing {place} stopped with {type(error).__name__}: {error}. The doctor needs an import that only "
            'defines: put what trains or reads files under `if __name__ == "__main__":`'
        ) from error


def definition(thing):
    """The file and the line in which something is defined, or ("", 0)."""
    thing = inspect.unwrap(getattr(thing, "__func__", thing))
    if not hasattr(thing, "__code__") and not inspect.isclass(thing):
        thing = type(thing)
    try:
        path = Path(inspect.getsourcefile(thing))
        line = inspect.getsourcelines(thing)[1]
    except (OSError, TypeError):
        return "", 0
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path), max(line, 1)
