"""The judge by itself, on a task that is none of the course's."""

import dataclasses
import signal
import threading

import numpy as np
import pytest

from function_judge.catalogue import Mistake
from function_judge.task import Case, Task
from function_judge.verdict import judge

DOUBLED = Mistake("doubled", "It is twice what it should be.", (lambda row: 2 * np.sort(row),))
CASES = (Case("a row", {"row": np.array([2.0, 1.0])}), Case("a longer one", {"row": np.array([3.0, 5.0, 4.0])}))
SORTING = Task(reference=np.sort, outputs=("sorted",), cases=CASES, mistakes=(DOUBLED,), seconds=0.3)


def endless(row):
    while True:
        pass


@pytest.mark.parametrize(
    ("function", "status", "mistake", "trait"),
    [
        (lambda row: np.array(sorted(row)), "correct", None, None),
        (lambda row: np.sort(row) + np.sort(row), "wrong", "doubled", "a row"),
        (lambda row: row if len(row) > 2 else np.sort(row), "wrong", None, "a longer one"),
        (endless, "wrong", "never-ends", "a row"),
        (lambda row: row.sort() or row, "wrong", "input-changed", "a row"),
        (lambda row: ..., "not attempted", None, None),
        (None, "not attempted", None, None),
        (np.ones(2), "wrong", None, None),
    ],
    ids=["right", "known", "unknown", "endless", "in place", "stub", "nothing", "no function"],
)
def test_a_verdict(function, status, mistake, trait):
    verdict = judge(SORTING, function)
    assert (verdict.status, verdict.mistake, verdict.case and verdict.case.trait) == (status, mistake, trait), verdict


def test_the_same_question_gets_the_same_verdict():
    task = dataclasses.replace(SORTING)
    first, _, again = (judge(task, function) for function in (lambda row: row, endless, lambda row: row))
    assert first == again


def test_a_way_that_is_not_asked_for_is_wrong_although_the_numbers_are_right():
    task = dataclasses.replace(SORTING, required_way=lambda function: ("by-hand", "Sort it by hand."))
    assert judge(task, lambda row: np.sort(row)).mistake == "by-hand"


def test_what_breaks_in_the_judge_is_blamed_on_nobody():
    def broken(call, arguments, arrays):
        raise KeyError("row")

    verdict = judge(dataclasses.replace(SORTING, properties=(broken,)), lambda row: row)
    assert verdict.undecided == "This check is broken"
    assert verdict.status == "not attempted"


def stops(row):
    raise MemoryError


@pytest.mark.parametrize("function", [np.sort, lambda row: row, stops], ids=["right", "wrong", "stopping"])
def test_where_the_right_function_cannot_run_nobodys_is_judged(function):
    verdict = judge(dataclasses.replace(SORTING, reference=stops), function)
    assert verdict.undecided == "This check is broken"
    assert "the course's own stops can't run here on a row, MemoryError" in verdict.message


@pytest.mark.parametrize("function", [np.sort, lambda row: row, stops], ids=["right", "wrong", "stopping"])
def test_where_no_time_limit_can_be_set_nobodys_function_is_judged(function, monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    task = dataclasses.replace(SORTING)
    with monkeypatch.context() as patch:
        patch.delattr(signal, "setitimer", raising=False)  # as on a platform that has neither signals nor threads
        patch.setattr(threading.Thread, "start", refuse)
        verdict = judge(task, function)
    assert verdict.undecided == "This check is broken"
    assert "can't start new thread" in verdict.message
    assert not judge(task, function).undecided, "it is asked again once the platform can"


class Sorting:
    def __call__(self, row):
        return np.sort(row)


def ends_python(row):
    exit()


def asks(row):
    return np.sort(row)[: int(input())]


def in_half_precision(row):
    return np.sort(row / 3).astype(np.float16)


THIRDS = dataclasses.replace(SORTING, reference=lambda row: np.sort(row / 3), mistakes=())


@pytest.mark.parametrize(
    ("task", "function", "mistake", "said"),
    [
        (SORTING, Sorting, "class-itself", "Make an object of it, and give it that: check(Sorting(...))."),
        (SORTING, ends_python, None, "It would have ended Python, and the notebook's kernel, in the line `exit()`."),
        (SORTING, asks, None, "input() waits until somebody types"),
        (THIRDS, in_half_precision, "float16", "float16, which keeps three digits"),
    ],
    ids=["a class", "exit", "input", "float16"],
)
def test_what_is_no_mistake_of_the_formula_is_told_as_what_it_is(task, function, mistake, said):
    verdict = judge(task, function)
    assert (verdict.status, verdict.mistake) == ("wrong", mistake)
    assert said in verdict.message


def test_an_object_of_the_class_is_right():
    assert judge(SORTING, Sorting()).status == "correct"


def test_a_default_of_ones_own_is_pointed_at_in_the_definition():
    def raised(row, *, by=1.0):
        return row + by

    def raised_by_two(row, *, by=2.0):
        higher = row + by
        return higher

    cases = (*CASES, Case("by 3", CASES[0].arguments, options={"by": 3.0}))
    task = Task(reference=raised, outputs=("raised",), cases=cases, mistakes=())
    verdict = judge(task, raised_by_two)
    assert verdict.mistake == "other-default"
    assert "`def raised_by_two(row, *, by=2.0):`: where no by is passed, it must be 1.0, and yours is 2.0." in (
        verdict.message
    )
    assert "higher" not in verdict.message


ROW = np.array([1.0, 4.0, 2.0, 8.0, 16.0])
SHARES = (
    Case("halved", {"row": ROW}, options={"by": 2.0}),
    Case("the largest", {"row": ROW}, options={"by": 2.0, "kept": 3}),
    Case("many rows", {"row": np.array([ROW, ROW**2 / 7])}, options={"by": 2.0, "kept": 3}),
)


def shares(row, *, by=1.0, kept=None):
    row = row / by
    if kept is not None:
        row = np.where(row >= np.sort(row)[..., [-kept]], row, 0.0)
    return row / (1 + row.sum(axis=-1, keepdims=True))


def test_no_line_is_pointed_at_where_the_case_that_is_shown_stops_at_another():
    def stops_at_a_row(row, *, by=1.0, kept=None):
        halved = row * by
        total = halved.sum(axis=1, keepdims=True)
        return halved / (1 + total)

    verdict = judge(Task(reference=shares, outputs=("shares",), cases=SHARES, mistakes=()), stops_at_a_row)
    assert "in the line `total = halved.sum(axis=1, keepdims=True)`" in verdict.message
    assert "halved = row * by" not in verdict.message
