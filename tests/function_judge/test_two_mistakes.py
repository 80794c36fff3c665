"""Two mistakes at once, on a subject of our own: numbers that are moved to 0, and divided by a step."""

import numpy as np
import pytest

from function_judge.catalogue import Mistake
from function_judge.task import Case, Task
from function_judge.verdict import judge


def in_steps(row, step, kept=None):
    scaled = (row - row.min()) / step
    return scaled if kept is None else np.where(kept, scaled, 0)


NOT_MOVED = Mistake("not-moved", "The lowest is not subtracted.", (lambda row, step, kept=None: row / step,))
NOT_DIVIDED = Mistake(
    "not-divided", "The numbers are not divided.", (lambda row, step, kept=None: in_steps(row, 1, kept),)
)
ROW = np.array([2.0, 5.0, 3.5])
FROM_0 = np.array([0.0, 4.0, 1.0])
KEPT = np.array([True, False, True])
CASES = (
    Case("a row", {"row": ROW, "step": 0.5}),
    Case("another row", {"row": ROW[::-1], "step": 0.3}),
    Case("a choice", {"row": ROW, "step": 0.5}, options={"kept": KEPT}),
)
PROBES = (Case("a row from 0", {"row": FROM_0, "step": 0.5}), Case("steps of 1", {"row": ROW, "step": 1}))
TASK = Task(
    reference=in_steps, outputs=("scaled",), cases=CASES, mistakes=(NOT_MOVED, NOT_DIVIDED), probes=PROBES, seconds=5
)


def named(function):
    verdict = judge(TASK, function)
    return verdict.mistake, verdict.also


def test_one_mistake_has_one_name():
    assert named(NOT_DIVIDED.implementations[0]) == ("not-divided", None)


def test_two_are_named_where_each_is_seen_alone():
    verdict = judge(TASK, lambda row, step, kept=None: row if kept is None else np.where(kept, row, 0))
    assert (verdict.mistake, verdict.also) == ("not-moved", "not-divided")
    assert verdict.message.startswith(
        "Two mistakes at once. The lowest is not subtracted.\n"
        "Second, once that is mended: The numbers are not divided.\n"
    )


@pytest.mark.parametrize(
    "function",
    [
        lambda row, step, kept=None: row + 1,  # wrong in every probe as no mistake is
        lambda row, step, kept=None: row if row.min() else in_steps(row, step, kept),  # only one of them is seen
        lambda row, step, kept=None: row[::-1] if step == 1 else row,  # the other isn't seen
    ],
    ids=["neither", "divided only", "moved only"],
)
def test_what_they_do_not_explain_has_no_name(function):
    assert named(function) == (None, None)


def test_one_is_named_where_the_other_has_to_do_with_a_choice():
    verdict = judge(TASK, lambda row, step, kept=None: row / step + (0 if kept is None else 7))
    assert (verdict.mistake, verdict.also) == ("not-moved", None)
    assert "That isn't all: with a choice, something else is wrong as well." in verdict.message


def test_nan_beside_a_mistake_is_not_called_another():
    verdict = judge(TASK, lambda row, step, kept=None: row / step + (0 if kept is None else np.where(kept, 0, np.nan)))
    assert verdict.mistake == "not-moved"
    assert "That isn't all" not in verdict.message


def test_of_two_that_give_the_same_the_probes_tell_which_it_is():
    alike = Mistake("alike", "In the cases it is the same.", (lambda row, step, kept=None: row / step + (step == 1),))
    task = Task(
        reference=in_steps, outputs=("scaled",), cases=CASES[:2], mistakes=(NOT_MOVED, alike), probes=PROBES, seconds=5
    )
    assert judge(task, NOT_MOVED.implementations[0]).mistake == "not-moved"
    assert judge(task, alike.implementations[0]).mistake == "alike"
