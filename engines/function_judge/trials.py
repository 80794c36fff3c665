"""Running a function again with some of its variables replaced, and counting how often."""

import contextlib
import time
import warnings
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any

import numpy as np

from function_judge.recognition import TooMuchError
from function_judge.time_limit import MAX_WAIT, has_processor_time, thread_time
from function_judge.watch import Watch

MAX_TRIALS = 400  # they are counted, so that what is found doesn't depend on how busy the machine is
MAX_TRIED_EVENTS = 150_000  # lines that run in them
# On one processor: a trial that gets a smaller share of its time than one of so many isn't computing, but waiting.
MAX_PROGRAMS = 50


class Replay(Watch):
    """A call in which variables are given other values at certain steps.

    Parameters
    ----------
    code : code object or None
    replacements : dict of int to dict of str to object
        By step: what each variable holds from then on.
    """

    def __init__(self, code: CodeType | None, replacements: Mapping[int, Mapping[str, Any]]) -> None:
        super().__init__([], lambda value: None, code)
        self.replacements = replacements

    # Steps are counted exactly as a Watch counts them, and nothing else is looked at.

    def _begin(self, call):
        if call.caller is not None:
            self.step += 1

    def _look_at_variables(self, call, has_run=True):
        self.step += 1
        self._clear(call)
        if self.step in self.replacements:
            variables = call.frame.f_locals
            for name, value in self.replacements[self.step].items():
                if name.startswith("self."):
                    setattr(variables["self"], name.removeprefix("self."), value)
                else:
                    variables[name] = value

    def _end(self, call, returned):
        pass


class Trials:
    """Calls of a function with replaced variables, and how many of them may still be made.

    Parameters
    ----------
    code : code object or None
        What is examined.
    run : callable
        Makes the call, watched by the Watch that it is given.
    is_right : callable
        Whether what the call returns is right.
    """

    def __init__(self, code: CodeType | None, run: Callable[[Watch], Any], is_right: Callable[[Any], bool]) -> None:
        self._code, self._run, self._is_right = code, run, is_right
        self._n_trials = self._n_events = 0
        self._waited = 0.0  # seconds: sleeps in somebody's code would keep everybody waiting, trial by trial

    def passes_with(self, replacements: Mapping[int, Mapping[str, Any]]) -> bool:
        """Tell whether the function would be right with these variables replaced.

        Raises
        ------
        TooMuchError
            Where no further trial may be made.
        """
        if self._n_trials >= MAX_TRIALS or self._n_events > MAX_TRIED_EVENTS or self._waited > MAX_WAIT:
            raise TooMuchError
        self._n_trials += 1
        began, computed = time.monotonic(), thread_time()
        replay = Replay(self._code, replacements)
        with _silenced():
            try:
                return bool(self._is_right(self._run(replay)))
            finally:
                self._n_events += replay.events
                share = MAX_PROGRAMS if has_processor_time() else 0
                self._waited += max(time.monotonic() - began - share * (thread_time() - computed), 0.0)
        return False


@contextlib.contextmanager
def _silenced():
    """Let nothing that somebody's code warns of or raises come through."""
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.suppress(Exception, SystemExit):
        warnings.simplefilter("ignore")
        yield
