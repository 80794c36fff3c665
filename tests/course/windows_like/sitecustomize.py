"""What Python imports first where this folder is on PYTHONPATH: it then behaves in some ways as on Windows.

- Text files whose encoding is not named are in cp1252; where the course opens one, that is an error.
- There are no alarms (`signal.setitimer`).
- The files that LOCKED names are held by another program: nothing can take their place, and they can't be deleted.

Set MHA_LIKE_WINDOWS, too: pytest, which looks for examples in every module, must not be changed.
"""

import builtins
import io
import os
import signal
import warnings

ENCODING = "cp1252"


def _open(file, mode="r", buffering=-1, encoding=None, *rest, **options):
    if "b" not in mode and encoding in (None, "locale"):
        encoding = ENCODING
    return _real_open(file, mode, buffering, encoding, *rest, **options)


def _unless_locked(function):
    """Refuse a function of `os` whose last path is locked."""

    def checked(*paths, **options):
        locked = os.environ.get("LOCKED", "").split(os.pathsep)
        if any(os.path.abspath(path) in locked for path in map(os.fspath, paths)):
            raise PermissionError(13, "Access is denied", *paths[:1])
        return function(*paths, **options)

    return checked


if "MHA_LIKE_WINDOWS" in os.environ:
    _real_open = io.open
    builtins.open = io.open = _open
    warnings.filterwarnings("error", category=EncodingWarning, module="mha_helpers")
    for name in ("setitimer", "getitimer", "SIGALRM", "ITIMER_REAL"):
        delattr(signal, name)
    for name in ("replace", "rename", "remove", "unlink"):
        setattr(os, name, _unless_locked(getattr(os, name)))
