"""What somebody's function can't do while it is judged: end the notebook's kernel, or wait for somebody to type."""

import builtins
import contextlib
import sys
from collections.abc import Iterator

ENDS_PYTHON = "exit() ends Python"
WAITS_FOR_TYPING = "input() waits until somebody types"


@contextlib.contextmanager
def barred() -> Iterator[None]:
    """Let `exit()` and `input()` raise in the body.

    Python's own `exit` closes the standard input first. IPython's raises nothing: it asks the kernel to end after the
    cell, with all that the learner has computed.

    Raises
    ------
    SystemExit
        From `exit()` and `quit()`.
    RuntimeError
        From `input()`.

    Examples
    --------
    >>> with barred():
    ...     input("How many rows?")
    Traceback (most recent call last):
    ...
    RuntimeError: input() waits until somebody types
    """

    def ends(*_):
        raise SystemExit(ENDS_PYTHON)

    def waits(*_):
        raise RuntimeError(WAITS_FOR_TYPING)

    replaced = [(builtins, "exit", ends), (builtins, "quit", ends), (builtins, "input", waits)]
    if "IPython" in sys.modules and (shell := sys.modules["IPython"].get_ipython()) is not None:
        replaced.append((shell, "ask_exit", ends))
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in replaced if hasattr(owner, name)]
    for owner, name, replacement in replaced:
        setattr(owner, name, replacement)
    try:
        yield
    finally:
        for owner, name, original in before:
            setattr(owner, name, original)
