"""Turning a target that the command names into something that can be examined."""

import importlib
import importlib.util
import inspect
import re
import sys
from pathlib import Path

from attention_doctor.calls import calling

# FILE.py:EXPRESSION or package.module:EXPRESSION; a drive has a colon, too.
TARGET = re.compile(r"(.+?\.py|[\w.]+):(.+)", re.DOTALL)


class CannotBeLoadedError(ValueError):
    """What stands in the way, and what to do."""


def load(target):
    """Return what a target names or builds, or an instance of it where that is a class.

    Parameters
    ----------
    target : str
        "FILE.py:NAME" or "package.module:NAME", or an expression among the file's own names in place of NAME:
        "FILE.py:Attention(Config(n_head=4))".

    Raises
    ------
    CannotBeLoadedError
    """
    match = TARGET.fullmatch(target)
    if match is None:
        raise CannotBeLoadedError(f"say what to examine: {target}:NAME, or {target}:NAME(...), which builds it")
    file_or_module, expression = match.groups()
    thing = _value(_module(file_or_module), file_or_module, expression)
    if not inspect.isclass(thing):
        return thing
    try:
        return thing()
    except Exception as error:
        raise CannotBeLoadedError(
            f"{expression}{inspect.signature(thing)} could not be built without arguments: {calling.told(error)}. "
            f"Say how it is built: '{file_or_module}:{expression}(...)'"
        ) from error


def _value(module, file_or_module, expression):
    """What an expression is among a module's names."""
    if not re.fullmatch(r"[\w.]+", expression):
        try:
            return eval(expression, vars(module))
        except Exception as error:
            raise CannotBeLoadedError(f"building {expression}: {calling.told(error)}") from error
    thing = module
    for part in expression.split("."):
        if not hasattr(thing, part):
            raise CannotBeLoadedError(f"{file_or_module} has no {expression}")
        thing = getattr(thing, part)
    return thing


def _module(file_or_module):
    file = Path(file_or_module)
    is_file = file_or_module.endswith(".py")
    if is_file and not file.is_file():
        raise CannotBeLoadedError(f"there is no file {file_or_module!r}; give FILE.py:NAME or package.module:NAME")
    folder, module_name = _folder_and_name(file.resolve()) if is_file else (Path.cwd(), file_or_module)
    _imports.begin_in(folder)
    try:
        if not is_file or "." in module_name:
            return importlib.import_module(module_name)
        return _of_file(file.resolve(), module_name)
    except BaseException as error:
        raise CannotBeLoadedError(
            f"importing {file_or_module}: {calling.told(error)}. The doctor needs a file that "
            'only defines when it is imported: put what trains or reads files under `if __name__ == "__main__":`'
        ) from error


def _folder_and_name(file):
    """The folder that a file's imports begin in, and the name that it is imported by."""
    folder, parts = file.parent, [file.stem]
    has_relative_imports = re.search(r"(?m)^from \.", file.read_text(encoding="utf-8", errors="replace"))
    # In a package, relative imports need the package's name too, even where the folder has no __init__.py.
    while (folder / "__init__.py").is_file() or (has_relative_imports and len(parts) == 1):
        parts.insert(0, folder.name)
        folder = folder.parent
    return folder, ".".join(parts)


def _of_file(file, module_name):
    """The module of a file by itself, executed once: another module may have its name."""
    loaded = sys.modules.get(module_name)
    if loaded is not None and getattr(loaded, "__file__", None) == str(file):
        return loaded
    spec = importlib.util.spec_from_file_location(module_name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[module_name]
        raise
    return module


class _Imports:
    """Where the targets' imports begin, so that those of several folders can be examined in one process."""

    def __init__(self):
        self._folders = []
        self._own = set()  # those that nothing was imported from before
        self._modules = set()  # which there were before

    def begin_in(self, folder):
        """Let imports begin in a folder, and then where the command was given, as a repository's own often do.

        What was imported from another target's folders is forgotten, as here its names may mean other files. Libraries
        stay: PyTorch takes seconds, and can't be imported twice.
        """
        folders = [str(folder), str(Path.cwd())]
        if folders == self._folders and {*folders} <= {*sys.path}:
            return
        for name in self._own_modules():
            del sys.modules[name]
        if sys.path[:2] == self._folders:
            del sys.path[:2]
        self._folders, self._own, self._modules = folders, {*folders} - {*sys.path}, {*sys.modules}
        sys.path[:0] = folders

    def _own_modules(self):
        """The names of the modules that came from the folders since, and not from libraries that stand in them."""
        return [name for name in sys.modules.keys() - self._modules if _path_of(name) in self._own]


_imports = _Imports()


def _path_of(name):
    """The entry of sys.path from which a module was imported."""
    module = sys.modules[name]
    file = Path(getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), ""))
    return max((path for path in sys.path if path and file.is_relative_to(path)), key=len, default="")


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
