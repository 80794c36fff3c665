"""A time limit for somebody else's function: one that never ends must not hang the notebook.

In the main thread a signal interrupts the call, even while it sleeps. Elsewhere (a lab's callback, Windows) another
thread asks Python to raise in the one that is late, which it does between two steps of Python code. In a browser there
are neither alarms nor threads: there, Python looks at the clock at each call and in each round of a loop.
"""

import contextlib
import ctypes
import signal
import sys
import threading
import time

SECONDS = 5.0  # a slow right answer, with loops over every number, takes a hundredth of this
AGAIN = 0.5  # and once more, where a bare `except:` in the body has caught it
# The thread's own clock: what is found in some time doesn't depend on how busy the machine is. A browser has one
# thread, and no clock of its own for it.
thread_time = getattr(time, "thread_time", time.process_time)


class TimedOut(BaseException):
    """The call took too long. Not an Exception, so that a learner's `except Exception` does not catch it."""


class TimeLeft:
    """A budget of this thread's own time, from now on.

    Parameters
    ----------
    seconds : float
    within : TimeLeft, optional
        A larger budget that this one is a part of.

    Examples
    --------
    >>> TimeLeft(60).is_over, TimeLeft(60, within=TimeLeft(0)).is_over
    (False, True)
    """

    def __init__(self, seconds, within=None):
        self._end = thread_time() + seconds
        if within is not None:
            self._end = min(self._end, within._end)

    @property
    def is_over(self):
        return thread_time() >= self._end


def time_limit(seconds=SECONDS):
    """Raise TimedOut in the body once it has taken longer than this.

    Parameters
    ----------
    seconds : float, optional

    Raises
    ------
    TimedOut
        From whatever line the body is in.

    Examples
    --------
    >>> with time_limit(0.1):
    ...     while True:
    ...         pass
    Traceback (most recent call last):
    ...
    mha_helpers.judge.time_limit.TimedOut
    """
    if sys.platform == "emscripten":
        return _by_clock(seconds)
    in_main_thread = threading.current_thread() is threading.main_thread()
    limit = _by_signal if in_main_thread and hasattr(signal, "setitimer") else _by_thread
    return limit(seconds)


@contextlib.contextmanager
def _by_signal(seconds):
    def ring(number, frame):
        raise TimedOut

    before = signal.signal(signal.SIGALRM, ring)
    remaining, interval = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, remaining, interval)  # somebody else's alarm, or none
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def _by_thread(seconds):
    late = ctypes.c_ulong(threading.get_ident())
    over = threading.Event()
    guard = threading.Lock()  # so that nothing is raised in the thread once the body is over

    def ring():
        wait = seconds
        while not over.wait(wait):
            with guard:
                if not over.is_set():
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(late, ctypes.py_object(TimedOut))
            wait = AGAIN

    threading.Thread(target=ring, daemon=True).start()
    try:
        yield
    finally:
        while not over.is_set():
            # What was asked for and has not been raised yet is raised here, and caught. Python's own way to take it
            # back (None in place of the exception) leaves a flag set for good, and Python 3.11 hangs when it traces.
            with contextlib.suppress(TimedOut), guard:
                over.set()
        with contextlib.suppress(TimedOut):
            for _ in range(2):
                pass


@contextlib.contextmanager
def _by_clock(seconds):
    # What `sys.settrace` is given would be let go of once it has raised, and a bare `except:` in a loop could go on for
    # good. What is raised at a jump leaves the whole function, past every `except` in it: the body must be a call.
    # A single step that never ends, inside NumPy or Python itself (`sum(count())`), is not stopped.
    monitoring = sys.monitoring
    tool = next(number for number in range(6) if monitoring.get_tool(number) is None)
    events = (monitoring.events.PY_START, monitoring.events.JUMP)
    end = time.monotonic() + seconds

    def look(code, *place):
        nonlocal end
        if time.monotonic() > end and code.co_filename not in (__file__, contextlib.__file__):
            end = time.monotonic() + AGAIN
            raise TimedOut

    monitoring.use_tool_id(tool, "time limit")
    for event in events:
        monitoring.register_callback(tool, event, look)
    monitoring.set_events(tool, sum(events))
    try:
        yield
    finally:
        monitoring.set_events(tool, 0)
        for event in events:
            monitoring.register_callback(tool, event, None)
        monitoring.free_tool_id(tool)
