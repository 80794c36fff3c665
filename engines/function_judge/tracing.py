"""Seeing what runs in a call, and nothing that Python runs in between."""

import contextlib
import gc
import sys
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def traced(look: Callable) -> Iterator[None]:
    """Call a trace function for what runs in this thread, as `sys.settrace` does, in the body.

    Garbage isn't collected meanwhile. What collecting it runs (a widget's or a figure's `__del__`, a library's
    `gc.callbacks`) would be seen as if the traced code had called it, at a moment that depends on all that has ever run
    in the process.

    Parameters
    ----------
    look : callable
        A frame, an event and its argument are passed to it.
    """
    before, collects = sys.gettrace(), gc.isenabled()
    gc.disable()
    sys.settrace(look)
    try:
        yield
    finally:
        sys.settrace(before)
        if collects:
            gc.enable()
