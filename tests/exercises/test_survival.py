"""Whatever a learner's code or notebook does, a check comes back, and blames nobody for a fault that is not theirs."""

import contextlib
import dataclasses
import functools
import itertools
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from answers import EXERCISES
from nbclient import NotebookClient
from nbformat import v4

from function_judge import time_limit
from mha_helpers import attention, exercises
from mha_helpers.exercises.output_projection import exit_test
from mha_helpers.labs.learner_function import call_safely

SOON = dataclasses.replace(exercises.softmax, seconds=0.3)


def test_a_fault_of_the_checks_own_is_not_blamed_on_the_learner():
    def broken(call, arguments, arrays):
        raise KeyError("d_model")

    exercise = dataclasses.replace(exercises.softmax, properties=(broken,))
    result = exercise.check(lambda scores: attention.softmax(scores) * 0.9)
    assert result.status == "not attempted"
    assert repr(result).startswith("This check is broken")
    assert "KeyError: 'd_model'" in result.message
    assert "a mistake in the course and says nothing about your function" in result.message


def stops(*arguments):
    raise MemoryError


def test_neither_is_one_in_what_an_untouched_repair_is_told():
    def mend_attention(*arguments):
        raise MemoryError

    repair = dataclasses.replace(exercises.mend_attention, reference=mend_attention)
    assert repr(repair.check(repair.broken_version)).startswith("This check is broken")


def test_a_check_that_cannot_run_calls_no_answer_wrong_or_not_written(capsys, monkeypatch):
    exercise = dataclasses.replace(exercises.softmax, reference=stops)
    assert exercise.working_version(attention.softmax) is stops
    said = capsys.readouterr().out
    assert "The check itself stopped" in said
    assert "yours is not" not in said
    monkeypatch.setattr(exit_test, "exercise", dataclasses.replace(exercises.multi_head_attention, reference=stops))
    test = exercises.exit_test(seed=1)
    assert repr(test.check("memory", attention.multi_head_attention)).startswith("This check is broken")
    assert test.tries["memory"] == 0


@pytest.mark.parametrize("name", EXERCISES)
def test_what_numpy_was_told_to_raise_refuses_no_right_answer(name):
    with np.errstate(all="raise"):
        result = EXERCISES[name].check(EXERCISES[name].reference)
    assert result.status == "correct", result


@pytest.mark.parametrize("name", EXERCISES)
def test_what_a_learner_put_in_the_place_of_the_packages_functions_changes_no_verdict(name, monkeypatch):
    fresh = dataclasses.replace(EXERCISES[name])  # nothing is known yet of what the course's own functions give
    for function in ("softmax", "attention_scores", "split_heads", "combine_heads", "softmax_or_zeros"):
        monkeypatch.setattr(attention, function, lambda *arguments: 0.5)
    assert fresh.check(EXERCISES[name].reference).status == "correct"
    slug = fresh.mistakes[0].slug
    assert fresh.check(fresh.mistakes[0].implementations[0]).mistake == slug
    assert attention.softmax(1) == 0.5, "theirs stays where they put it"


def never_ends(scores):
    i = 0
    while i < 1:
        i = i * 2
    return scores


def never_ends_whatever_is_caught(scores):
    while True:
        try:
            i = 0
            while i < 1:
                i = i * 2
        except Exception:
            continue


@pytest.mark.parametrize("answer", [never_ends, never_ends_whatever_is_caught])
def test_an_answer_that_never_ends_is_stopped_and_its_line_is_said(answer):
    result = SOON.check(answer)
    assert (result.status, result.mistake) == ("wrong", "never-ends")
    assert "has not come back after 0.3 seconds of computing" in result.message
    assert any(line in result.message for line in ("`while i < 1:`", "`i = i * 2`")), result.message


def sleeps(scores):
    time.sleep(60)


def test_what_sleeps_is_stopped_by_the_clock_and_called_neither_right_nor_wrong(monkeypatch):
    monkeypatch.setattr(time_limit, "MAX_WAIT", 0.3)
    patient = dataclasses.replace(exercises.softmax, seconds=0.2)
    result = patient.check(sleeps)
    assert (result.status, result.mistake, result.heading) == ("not attempted", None, "No verdict")
    assert "`time.sleep(60)`" in result.message
    assert "This says nothing about whether it is right." in result.message


def test_what_sleeps_only_where_it_is_called_once_more_gets_no_verdict(monkeypatch):
    monkeypatch.setattr(time_limit, "MAX_WAIT", 0.3)
    calls = itertools.count(1)

    def softmax(scores):
        if next(calls) > len(exercises.softmax.cases):
            time.sleep(60)
        return attention.softmax(scores)

    assert dataclasses.replace(exercises.softmax, seconds=0.2).check(softmax).heading == "No verdict"


@pytest.fixture(params=["a signal", "a thread"])
def limited(request):
    """Returns what calls a function in the main thread, or in another, where a thread keeps the time."""
    if request.param == "a signal":
        return lambda function, seconds: call_safely(function, {"scores": np.eye(2)}, 1, seconds=seconds)

    def in_a_thread(function, seconds):
        outcomes = []
        asked = functools.partial(call_safely, function, {"scores": np.eye(2)}, 1, seconds=seconds)
        thread = threading.Thread(target=lambda: outcomes.append(asked()))
        thread.start()
        thread.join()
        return outcomes[0]

    return in_a_thread


def compute(seconds):
    """Take so much of the processor's time."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_only_what_computes_counts(limited):
    """A machine that is busy with other things lets a function wait as `sleep` does."""

    def waits(scores):
        for _ in range(4):
            time.sleep(0.1)
        return scores

    assert limited(waits, 0.2).error is None
    assert type(limited(lambda scores: compute(60), 0.2).error) is time_limit.TimedOut


@pytest.mark.parametrize("took", [0.5, 0.15])
def test_what_an_import_takes_does_not_count_and_it_is_never_interrupted(limited, took, tmp_path, monkeypatch):
    module = f"slow_{limited.__name__.strip('<>')}_{took:g}".replace(".", "_")
    source = "import time\nend = time.thread_time() + {}\nwhile time.thread_time() < end:\n    pass\nnumber = 1\n"
    (tmp_path / f"{module}.py").write_text(source.format(took))
    monkeypatch.syspath_prepend(tmp_path)

    def imports(scores):
        number = __import__(module).number
        compute(0.1)
        return number * scores

    outcome = limited(imports, 0.2)
    assert outcome.error is None
    assert sys.modules[module].number == 1, "it was interrupted"


def test_numbas_compiler_is_never_interrupted(limited):
    """Its first call compiles, in frames of numba's own; what is stopped there stays broken."""
    numba = {"__name__": "numba.core.dispatcher", "compute": compute}
    exec("def compiled(scores):\n    compute(0.5)\n    return scores", numba)
    assert limited(lambda scores: numba["compiled"](scores), 0.2).error is None


def test_where_nothing_moves_a_loop_on_the_line_that_should_is_shown():
    def softmax(scores):
        row = 0
        while row < len(scores):
            row + 1
        return attention.softmax(scores)

    result = SOON.check(softmax)
    assert result.mistake == "never-ends"
    assert "The line `row + 1` has no effect" in result.message


def test_what_ends_on_most_inputs_and_not_on_one_is_told_which():
    def softmax(scores):
        while scores.ndim > 2:
            pass
        return attention.softmax(scores)

    message = SOON.check(softmax).message
    assert message.startswith("Tried a batch: scores (2, 3, 5).")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is new in Python 3.12")
@pytest.mark.parametrize("nested", [False, True])
def test_with_neither_signals_nor_threads_a_call_is_stopped_past_every_except(monkeypatch, nested):
    """As in a browser."""

    def stubborn(scores):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                continue

    monkeypatch.setattr(sys, "platform", "emscripten")
    with time_limit.time_limit(60) if nested else contextlib.nullcontext():
        outcome = call_safely(stubborn, {"scores": np.eye(2)}, 1, seconds=0.3)
        assert type(outcome.error) is time_limit.TimedOut
        assert call_safely(attention.softmax, {"scores": np.eye(2)}, 1, seconds=0.3).error is None
    assert not any(map(sys.monitoring.get_tool, range(6)))


AFTERWARDS = """
import sys, threading
from function_judge.time_limit import TimedOut, time_limit

def limited(body):
    def run():
        try:
            with time_limit(0.2):
                body()
        except TimedOut:
            outcomes.append("stopped")
        else:
            outcomes.append("in time")
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()

def forever():
    while True:
        pass

outcomes = []
limited(lambda: None)
limited(forever)
sys.settrace(lambda *_: None)
print(*outcomes, (lambda: "traced")())
"""


def test_what_a_limit_in_a_thread_leaves_behind_hangs_no_tracing():
    ran = subprocess.run([sys.executable, "-c", AFTERWARDS], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["in", "time", "stopped", "traced"]


@pytest.mark.slow
def test_in_a_kernel_the_check_stops_it_too_and_the_kernel_lives_on():
    notebook = v4.new_notebook(
        cells=[
            v4.new_code_cell("from mha_helpers import exercises\ndef softmax(scores):\n    while True:\n        pass"),
            v4.new_code_cell("print(exercises.softmax.check(softmax).mistake)"),
            v4.new_code_cell("print('alive')"),
        ]
    )
    NotebookClient(notebook, timeout=600).execute()
    assert [cell.outputs[-1].text.splitlines()[-1] for cell in notebook.cells[1:]] == ["never-ends", "alive"]


def test_an_alarm_that_somebody_else_has_set_still_rings():
    signal = pytest.importorskip("signal")
    if not hasattr(signal, "setitimer"):
        pytest.skip("this system has no timers")
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    exercises.softmax.check(attention.softmax)
    while not rung:
        signal.pause()
    signal.signal(signal.SIGALRM, before)


def test_a_huge_result_is_refused_at_once():
    started = time.thread_time()
    result = exercises.softmax.check(lambda scores: np.broadcast_to(np.float32(1), (10**5, 10**5)))
    assert time.thread_time() - started < 2
    assert "Expected weights of shape (3, 5); got (100000, 100000)." in result.message


class Hostile:
    """An object of which even the text cannot be had."""

    class Silent(Exception):
        def __str__(self):
            raise RuntimeError

    def __getattr__(self, name):
        raise RuntimeError

    def __repr__(self):
        raise RuntimeError


class HostileFunction(Hostile):
    def __call__(self, scores):
        raise self.Silent


@pytest.mark.parametrize(
    "answer",
    [Hostile(), HostileFunction(), Hostile, lambda scores: Hostile()],
    ids=["not one", "one", "class", "returns"],
)
def test_what_is_hostile_is_wrong_and_the_check_is_not_broken(answer):
    result = exercises.softmax.check(answer)
    assert (result.status, result.heading) == ("wrong", "")


def test_a_function_that_was_replaced_before_its_exercise_was_loaded_is_put_back_for_it():
    code = """
from mha_helpers import attention, exercises
right, attention.softmax = attention.softmax, lambda scores: 0 * scores
print(exercises.softmax.check(right).status, exercises.softmax.check(attention.softmax).status)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines()[-1] == "correct wrong"


def test_what_right_answers_are_compared_with_is_loaded_before_anybody_can_replace_it():
    code = "import sys, mha_helpers.exercises; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    references = {exercise.reference.__module__ for exercise in EXERCISES.values()}
    own = {name for name in references if name.startswith("mha_helpers.exercises.")}  # nobody has a name for these
    assert references - own <= set(loaded)
