"""A time limit for somebody else's function: one that never ends must not hang the notebook.

What is limited is what a function computes, by the processor's time for its thread: how busy the machine is changes
nothing. What sleeps or waits computes next to nothing, and ends by the clock; that says nothing about the function.

In the main thread a signal interrupts the call, even while it sleeps. Elsewhere (a lab's callback, Windows) another
thread asks Python to raise in the one that is late, which it does between two steps of Python code. In a browser there
are neither alarms nor threads nor a processor's time: there, Python counts calls and rounds of loops.
"""

import contextlib
import ctypes
import functools
import signal
import sys
import threading
import time

SECONDS = 5.0  # of computing; a slow right answer, with loops over every number, takes a hundredth of this
MAX_WAIT = 60.0  # by the clock
MIN_COMPUTED = 0.5  # in that time: what has computed as much is not waiting, on a machine however busy
RAISED_AGAIN_AFTER = 0.5  # and once more, where a bare `except:` in the body has caught it
MIN_INTERVAL = 0.01  # between two looks at what it has computed
STEPS_PER_SECOND = 400_000  # calls and rounds of loops that count as a second where there is no processor's time
# The thread's own clock. A browser has one thread, and no clock of its own for it.
thread_time = getattr(time, "thread_time", time.process_time)

# Python's import, and the compilers of numba, PyTorch and JAX: what is stopped halfway in them stays broken until the
# kernel restarts. Their frames are those of a first call; what is compiled already runs without them.
_LOADERS = (
    "importlib._bootstrap", "_frozen_importlib", "numba.core", "llvmlite", "torch._dynamo.convert_frame",
    "jax._src.compiler", "jax._src.interpreters.mlir",
)  # fmt: skip


class TimedOut(BaseException):
    """The call took too long. Not an Exception, so that a learner's `except Exception` does not catch it."""


class Waited(TimedOut):
    """The call took too long by the clock without computing much: whether it would end, nobody knows."""


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

    def __init__(self, seconds: float, within: "TimeLeft | None" = None) -> None:
        self._end = thread_time() + seconds
        if within is not None:
            self._end = min(self._end, within._end)

    @property
    def is_over(self) -> bool:
        return thread_time() >= self._end


def time_limit(seconds: float = SECONDS) -> contextlib.AbstractContextManager[None]:
    """Raise TimedOut in the body once it has computed for longer than this, and Waited where it doesn't compute.

    It never interrupts an import that the body makes, nor numba's compiler: when they are done, the time begins anew.

    Parameters
    ----------
    seconds : float, optional
        Of the processor's time. By the clock it is MAX_WAIT seconds, or these if they are more.

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
    function_judge.time_limit.TimedOut
    """
    limited = sys._getframe(1).f_code
    if not has_processor_time():
        return _by_steps(seconds, limited)
    in_main_thread = threading.current_thread() is threading.main_thread()
    limit = _by_signal if in_main_thread and hasattr(signal, "setitimer") else _by_thread
    return limit(seconds, limited)


def has_processor_time() -> bool:
    """Tell whether what computes can be told from what waits: not in a browser."""
    return sys.platform != "emscripten"


def in_words(seconds: float) -> str:
    """Return the limit as a message says it.

    Examples
    --------
    >>> in_words(5.0)
    '5 seconds of computing'
    """
    if has_processor_time():
        return f"{seconds:g} seconds of computing"
    return f"{seconds * STEPS_PER_SECOND:,.0f} calls and rounds of loops"


class _Budget:
    """What the body may still take.

    Parameters
    ----------
    seconds : float
    clock : callable
        Returns the seconds that it has computed.
    limited : code object
        Of the frame whose body it is: what happens below it is the body's.
    """

    def __init__(self, seconds, clock, limited):
        self._seconds, self._clock, self._limited = seconds, clock, limited
        self._error = None
        self._was_loading = False
        self._may_have_compiled = True
        self._begin()

    def _begin(self):
        self._modules = len(sys.modules)
        self._allow(self._seconds, max(MAX_WAIT, self._seconds))

    def _allow(self, computing, waiting):
        self._computing_ends = self._clock() + computing
        self._allow_to_wait(waiting)

    def _allow_to_wait(self, seconds):
        self._waits_since, self._waiting_ends = self._clock(), time.monotonic() + seconds

    @property
    def left(self):
        """The seconds in which it can't run out."""
        return min(self._computing_ends - self._clock(), self._waiting_ends - time.monotonic())

    def error_at(self, frame):
        """Return what to raise in the body, which has come to this frame, or None while it has time."""
        is_loading = self._is_loading(frame) or len(sys.modules) > self._modules
        if is_loading or self._was_loading:  # until it was done, it went on between two looks
            self._begin()
        self._was_loading = is_loading
        if time.monotonic() >= self._waiting_ends and self._clock() - self._waits_since >= MIN_COMPUTED:
            self._allow_to_wait(MAX_WAIT)
        if self.left > 0:
            return None
        if self._may_have_compiled and "numba" in sys.modules:  # and have ended, between two looks
            self._may_have_compiled = False
            self._begin()
            return None
        if self._error is None:
            self._error = TimedOut if self._clock() >= self._computing_ends else Waited
        self._allow(RAISED_AGAIN_AFTER, RAISED_AGAIN_AFTER)
        return self._error

    def _is_loading(self, frame):
        while frame is not None and frame.f_code is not self._limited:
            if str(frame.f_globals.get("__name__", "")).startswith(_LOADERS):
                return True
            frame = frame.f_back
        return False


@contextlib.contextmanager
def _by_signal(seconds, limited):
    budget = _Budget(seconds, thread_time, limited)

    def set_alarm():
        return signal.setitimer(signal.ITIMER_REAL, max(budget.left, MIN_INTERVAL))

    def ring(number, frame):
        if is_over:
            return
        error = budget.error_at(frame)
        set_alarm()
        if error is not None:
            raise error

    is_over = False
    before = signal.signal(signal.SIGALRM, ring)
    remaining, interval = set_alarm()
    try:
        try:
            yield
        finally:
            is_over = True
    finally:
        signal.setitimer(signal.ITIMER_REAL, remaining, interval)  # somebody else's alarm, or none
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def _by_thread(seconds, limited):
    late = threading.get_ident()
    budget = _Budget(seconds, _clock_of_this_thread(), limited)
    over = threading.Event()
    guard = threading.Lock()  # so that nothing is raised in the thread once the body is over

    def ring(wait):
        while not over.wait(wait):
            with guard:
                if over.is_set():
                    return
                if (error := budget.error_at(sys._current_frames().get(late))) is not None:
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(late), ctypes.py_object(error))
                wait = max(budget.left, MIN_INTERVAL)

    threading.Thread(target=ring, args=(max(budget.left, MIN_INTERVAL),), daemon=True).start()
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


def _clock_of_this_thread():
    """A clock of what this thread computes, which others can read, too: of the whole process where there is none."""
    if hasattr(time, "pthread_getcpuclockid"):
        return functools.partial(time.clock_gettime, time.pthread_getcpuclockid(threading.get_ident()))
    return time.process_time


@contextlib.contextmanager
def _by_steps(seconds, limited):
    # What `sys.settrace` is given would be let go of once it has raised, and a bare `except:` in a loop could go on for
    # good. What is raised at a jump leaves the whole function, past every `except` in it: the body must be a call.
    # A single step that never ends, inside NumPy or Python itself (`sum(count())`), is not stopped.
    monitoring = sys.monitoring
    tool = next(number for number in range(6) if monitoring.get_tool(number) is None)
    events = (monitoring.events.PY_START, monitoring.events.JUMP)
    steps = 0
    budget = _Budget(seconds, lambda: steps / STEPS_PER_SECOND, limited)

    def look(code, *place):
        nonlocal steps
        steps += 1
        if budget.left > 0 or code.co_filename in (__file__, contextlib.__file__):
            return
        if (error := budget.error_at(sys._getframe(1))) is not None:
            raise error

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
