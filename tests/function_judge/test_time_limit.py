"""What computes for too long is stopped, and what imports or has come back is not."""

import contextlib
import signal
import threading

import numpy as np
import pytest

from function_judge import time_limit as module
from function_judge.time_limit import SECONDS, STEPS_PER_SECOND, TimedOut, TimeLeft, Waited, in_words, time_limit


def endless():
    while True:
        pass


def catches_everything():
    while True:
        with contextlib.suppress(Exception):
            endless()


@pytest.mark.parametrize("body", [endless, catches_everything])
def test_what_computes_for_too_long_is_stopped(body):
    with pytest.raises(TimedOut) as raised, time_limit(0.02):
        body()
    assert not isinstance(raised.value, Waited)


def test_it_is_stopped_in_another_thread_as_well():
    raised = []

    def limited():
        with pytest.raises(TimedOut), time_limit(0.02):
            endless()
        raised.append(True)

    thread = threading.Thread(target=limited)
    thread.start()
    thread.join()
    assert raised == [True]


def test_what_waits_is_told_from_what_computes(monkeypatch):
    monkeypatch.setattr(module, "MAX_WAIT", 0.02)
    with pytest.raises(Waited), time_limit(0.01):
        threading.Event().wait()


def test_what_gets_little_of_a_busy_machine_is_not_waiting(monkeypatch):
    clock, computed = [0.0], [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[-1])
    budget = module._Budget(5.0, lambda: computed[-1], limited=None)
    for minutes in range(1, 4):
        clock.append(60.0 * minutes)
        computed.append(1.0 * minutes)
        assert budget.error_at(None) is None
    clock.append(240.0)
    computed.append(3.1)
    assert budget.error_at(None) is Waited


def test_what_a_compiler_took_between_two_looks_does_not_count(monkeypatch):
    """A function of numba's may have been compiled since the last look, and nothing of that shows any more."""
    monkeypatch.setitem(module.sys.modules, "numba", None)
    computed = [0.0]
    budget = module._Budget(5.0, lambda: computed[-1], limited=None)
    computed.append(6.0)
    assert budget.error_at(None) is None
    computed.append(12.0)
    assert budget.error_at(None) is TimedOut


@pytest.mark.slow
def test_the_first_call_of_a_compiled_function_is_let_through():
    numba = pytest.importorskip("numba")

    @numba.njit
    def added_up(row):
        total = 0.0
        for number in row:
            total += number
        return total

    with time_limit(0.05):
        total = added_up(np.ones(3))
    assert total == 3


def test_what_comes_back_in_time_is_left_alone():
    with time_limit(60):
        total = sum(range(10))
    assert total == 45


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no such timer")
def test_somebody_elses_alarm_goes_on():
    def ring(number, frame):
        raise AssertionError("an hour is over")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 3600)
    try:
        with time_limit(1):
            pass
        assert signal.getsignal(signal.SIGALRM) is ring
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_budget_ends_with_the_one_that_it_is_part_of(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(module, "thread_time", lambda: now[0])
    whole = TimeLeft(10)
    part = TimeLeft(100, within=whole)
    now[0] = 9.0
    assert not part.is_over
    now[0] = 10.0
    assert whole.is_over
    assert part.is_over


def test_no_except_exception_catches_it():
    assert not issubclass(TimedOut, Exception)
    assert issubclass(Waited, TimedOut)


def test_the_limit_in_words(monkeypatch):
    assert in_words(SECONDS) == "5 seconds of computing"
    monkeypatch.setattr(module, "has_processor_time", lambda: False)
    assert in_words(2) == f"{2 * STEPS_PER_SECOND:,} calls and rounds of loops"
