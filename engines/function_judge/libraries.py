"""Packages whose lines nobody is shown, as they aren't what is judged."""

import sys
from types import CodeType, FrameType

THIRD_PARTY = {
    "torch", "numpy", "jax", "jaxlib", "flax", "keras", "tensorflow", "einops", "scipy", "opt_einsum", "equinox",
    "functorch", "numba", "llvmlite", "IPython", "importlib", "pytest", "_pytest", "jaxtyping", "beartype", "typeguard",
}  # fmt: skip
_own = {__name__.partition(".")[0]}


def add_own(package: str) -> None:
    """Say that a package is the course's: what goes wrong there is nobody's fault but its own.

    Parameters
    ----------
    package : str
        Its name at the top: whoever uses the judge adds themselves.
    """
    _own.add(package)


def is_own(frame: FrameType) -> bool:
    """Whether a frame runs code of the judge, or of a package that was added."""
    return _top(frame) in _own


def is_theirs(frame: FrameType, code: CodeType | None) -> bool:
    """Whether a frame runs somebody's own code: not a library's, nor ours unless `code` is what is examined."""
    if frame.f_code is code:
        return True
    top = _top(frame)
    return top == "__main__" or not (top in THIRD_PARTY or top in _own or top in sys.stdlib_module_names)


def _top(frame):
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]
