"""Turning a target that the command names into something that can be examined."""

import importlib
import importlib.util
import inspect
import re
import sys
from pathlib import Path

from attention_doctor.calls import calling


class CannotBeLoadedError(ValueError):
    """What stands in the way, and what to do."""


def load(target, arguments, build=""):
    """Return what a target names, or an instance of it where that is a class.

    Parameters
    ----------
    target : str
        "FILE.py:NAME" or "package.module:NAME"; with `build` the name may be missing.
    arguments : dict
        What a class is built with.
    build : str, optional
        An expression, evaluated among the file's own names, that gives what is to be examined.

    Raises
    ------
    CannotBeLoadedError
    """
    file_or_module, _, name = target.rpartition(":") if ":" in target else (target, "", "")
    module = _module(file_or_module)
    if build:
        try:
            return eval(build, vars(module))
        except Exception as error:
            raise CannotBeLoadedError(f"--build {build!r}: {calling.told(error)}") from error
    if not name:
        raise CannotBeLoadedError(f"say what to examine: {target}:NAME, or give --build")
    thing = module
    for part in name.split("."):
        if not hasattr(thing, part):
            raise CannotBeLoadedError(f"{file_or_module} has no {name}")
        thing = getattr(thing, part)
    if not inspect.isclass(thing):
        return thing
    try:
        return thing(**arguments)
    except Exception as error:
        signature = inspect.signature(thing)
        raise CannotBeLoadedError(
            f"{name}{signature} could not be built with {arguments}: {calling.told(error)}. Give --arguments "
            f"as JSON, or an expression: --build '{name}(...)'"
        ) from error


def _module(file_or_module):
    file = Path(file_or_module)
    if file_or_module.endswith(".py") and not file.is_file():
        raise CannotBeLoadedError(f"there is no file {file_or_module!r}; give FILE.py:NAME or package.module:NAME")
    if not file_or_module.endswith(".py"):
        sys.path.insert(0, str(Path.cwd()))
        module_name = file_or_module
    else:
        file = file.resolve()
        folder, parts = file.parent, [file.stem]
        has_relative_imports = re.search(r"(?m)^from \.", file.read_text(encoding="utf-8", errors="replace"))
        # In a package, relative imports need the package's name too, even where the folder has no __init__.py.
        while (folder / "__init__.py").is_file() or (has_relative_imports and len(parts) == 1):
            parts.insert(0, folder.name)
            folder = folder.parent
        sys.path.insert(0, str(folder))
        sys.path.insert(1, str(Path.cwd()))  # a repository's own imports often start at its root
        module_name = ".".join(parts)
    try:
        if file_or_module.endswith(".py") and "." not in module_name:
            spec = importlib.util.spec_from_file_location(module_name, file)
            module = importlib.util.module_from_spec(spec)
            sys.modules[module_name] = module
            spec.loader.exec_module(module)
            return module
        return importlib.import_module(module_name)
    except BaseException as error:
        raise CannotBeLoadedError(
            f"importing {file_or_module}: {calling.told(error)}. The doctor needs a file that "
            'only defines when it is imported: put what trains or reads files under `if __name__ == "__main__":`'
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
