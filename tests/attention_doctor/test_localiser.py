"""The line at which wrong attention leaves the equation, and silence about right attention."""

import gc
import inspect
import threading
import time

import numpy as np
import pytest
from wrong_at_a_line import FUNCTIONS, softmax

from attention_doctor.equation.on_the_way import numbers_of
from attention_doctor.equation.stages import Input
from attention_doctor.equation.subject import ATTENTION
from function_judge import recognition, trials, watch
from function_judge.lines import faulty_lines, first_written_line, line_of_error

BATCH, TOKENS, HEADS, WIDTH = 3, 5, 2, 8


def arguments():
    rng = np.random.default_rng(0)
    given = {"X": rng.normal(size=(BATCH, TOKENS, WIDTH))}
    given |= {f"W_{letter}": rng.normal(size=(WIDTH, WIDTH)) / WIDTH**0.5 for letter in "QKVO"}
    return given | {"n_heads": HEADS}


KNOWN = numbers_of(Input.of(**arguments()))


def line_of(function, known=KNOWN, **options):
    recognizer = recognition.Recognizer(known, lambda value: value if isinstance(value, np.ndarray) else None)

    def is_right(returned):
        statuses = [recognizer.look_at(array).status for _, array, _ in recognizer.leaves(returned)]
        return recognition.OUTPUT in statuses and {*statuses} <= {recognition.OUTPUT, recognition.STAGE}

    asked = {"is_right": is_right, "options": options, "subject": ATTENTION}
    found = faulty_lines(function, list(arguments().values()), known, **asked)
    return found.lines[-1] if len(found.lines) == 1 or found.first_is_right else None


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_it_is_the_faulty_line(function):
    line = line_of(function)
    assert line is not None, "no line"
    assert line.text.endswith("# here"), line
    assert line.path == inspect.getfile(function)


def right(X, W_Q, W_K, W_V, W_O, n_heads):
    B, T, D = X.shape
    q, k, v = ((X @ W).reshape(B, T, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_Q, W_K, W_V))
    unusual = np.tanh(q) + k.sum()
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(D // n_heads) + 0 * unusual.sum()
    weights = softmax(scores)
    return (weights @ v).transpose(0, 2, 1, 3).reshape(B, T, D) @ W_O


def test_of_a_right_function_nothing_is_said():
    assert line_of(right) is None


def test_what_is_unusual_and_leads_back_is_not_accused():
    def wrong(X, W_Q, W_K, W_V, W_O, n_heads):
        shifted = X + 1.0
        X = shifted - 1.0
        output = right(X, W_Q, W_K, W_V, W_O, n_heads)
        return 2 * output  # here

    assert line_of(wrong).text.endswith("# here")


def test_block_by_block_nothing_is_sure():
    def wrong(X, W_Q, W_K, W_V, W_O, n_heads):
        B, T, D = X.shape
        q, k, v = ((X @ W).reshape(B, T, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_Q, W_K, W_V))
        total, context = 0.0, 0.0
        for start in range(0, T, 2):
            exponentials = np.exp(q @ k[:, :, start : start + 2].swapaxes(-1, -2) / q.shape[-1] ** 0.5)
            total = total + exponentials.sum(-1, keepdims=True)
            context = 0.9 * context + exponentials @ v[:, :, start : start + 2]
        return (context / total).transpose(0, 2, 1, 3).reshape(B, T, D) @ W_O

    assert line_of(wrong) is None


def causal(X, W_Q, W_K, W_V, W_O, n_heads, below):
    B, T, D = X.shape
    q, k, v = ((X @ W).reshape(B, T, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_Q, W_K, W_V))
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(D // n_heads)
    hidden = np.triu(np.ones((T, T)), k=below)
    scores = scores + hidden * -1e9
    weights = softmax(scores)
    return (weights @ v).transpose(0, 2, 1, 3).reshape(B, T, D) @ W_O


def test_a_wrong_mask_is_the_line_that_makes_it():
    known = numbers_of(Input.of(**arguments(), is_causal=True))
    assert line_of(causal, known, below=1) is None
    assert line_of(causal, known, below=2).text.startswith("hidden = ")


def test_the_line_that_writes_into_what_was_given():
    def writes(rows):
        rows = rows[:]
        rows *= 2
        return rows

    line = first_written_line(writes, [np.ones((3, 4))], read=lambda value: value, written_in=writes)
    assert line.text == "rows *= 2"


def test_the_line_of_an_error_is_theirs():
    def stops(rows):
        return np.linalg.inv(rows)

    with pytest.raises(np.linalg.LinAlgError) as raised:
        stops(np.zeros((2, 2)))
    assert line_of_error(raised.value, stops).text == "return np.linalg.inv(rows)"


@pytest.mark.parametrize("makes_arrays", [True, False])
def test_what_never_ends_is_given_up(makes_arrays, monkeypatch):
    """The tracer counts for itself, on any thread: an exception from elsewhere would hang Python 3.11."""
    monkeypatch.setattr(recognition, "MAX_COMPARED", 20)

    def endless(X, W_Q, W_K, W_V, W_O, n_heads):
        while True:
            X = X + makes_arrays if makes_arrays else X

    found = []
    thread = threading.Thread(target=lambda: found.append(line_of(endless)))
    thread.start()
    thread.join()
    assert found == [None]


class Clock:
    """A clock by which everything takes so many times as long as it is computed."""

    def __init__(self, slowed):
        self.slowed = slowed

    def monotonic(self):
        return self.slowed * time.thread_time()

    def __getattr__(self, name):
        raise AssertionError(f"time.{name} was asked, and the machine may be busy")


@pytest.mark.parametrize(("slowed", "is_found"), [(40, True), (10_000, False)])
def test_a_line_is_found_on_a_busy_machine_and_not_where_trials_wait(slowed, is_found, monkeypatch):
    """Beside many other programs the clock goes on while nothing is computed, as it does in `sleep`, but less so."""
    monkeypatch.setattr(trials, "time", Clock(slowed))
    monkeypatch.setattr(trials, "MAX_WAIT", 0.05)
    assert not hasattr(watch, "time")
    found = line_of(FUNCTIONS[0])
    assert found.text.endswith("# here") if is_found else found is None


@pytest.fixture
def collected():
    """Garbage is collected at every step, and a library has asked to be told, as hypothesis does."""
    told, before = [], gc.get_threshold()

    def tell(phase, counts):
        told.append(phase)

    gc.callbacks.append(tell)
    gc.set_threshold(1)
    yield told
    gc.set_threshold(*before)
    gc.callbacks.remove(tell)


def test_when_garbage_is_collected_changes_no_line(collected):
    lines = [line_of(function) for function in FUNCTIONS[:4]]
    assert collected
    assert gc.isenabled()
    assert [line is not None and line.text.endswith("# here") for line in lines] == 4 * [True]


def test_trials_are_counted_and_there_is_an_end_of_them(monkeypatch):
    monkeypatch.setattr(trials, "MAX_TRIALS", 1)
    assert line_of(FUNCTIONS[0]) is None
    monkeypatch.undo()
    monkeypatch.setattr(trials, "MAX_TRIED_EVENTS", 10)
    assert line_of(FUNCTIONS[0]) is None
