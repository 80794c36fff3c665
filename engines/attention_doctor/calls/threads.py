"""One thread for what is multiplied: the products here are small, and on several threads they wait for each other.

On a busy machine that takes a hundred times as long. NumPy itself has no such switch; what it is built on has.
"""

import contextlib
import ctypes
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let NumPy and PyTorch multiply on one thread inside, and on as many as before afterwards."""
    with contextlib.ExitStack() as stack:
        for get, put in filter(None, (_numpys(), _pytorchs())):
            stack.callback(put, get())
            put(1)
        yield


def _pytorchs():
    torch = sys.modules.get("torch")
    return None if torch is None else (torch.get_num_threads, torch.set_num_threads)


def _numpys():
    """How to read and to set the number of its threads, or None where it doesn't come with an OpenBLAS of its own."""
    folder = Path(np.__file__).parent
    for path in (*folder.parent.glob("numpy.libs/*openblas*"), *folder.glob(".dylibs/*openblas*")):
        with contextlib.suppress(OSError, AttributeError):
            library = ctypes.CDLL(str(path))
            return library.scipy_openblas_get_num_threads64_, library.scipy_openblas_set_num_threads64_
    return None
