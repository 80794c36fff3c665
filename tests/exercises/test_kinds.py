"""Warm-ups from memory, functions to repair, cases to debug with, and hints that fold."""

import dataclasses
import io

import numpy as np
import pytest
from PIL import Image

from mha_helpers import attention, exercises, figures
from mha_helpers.drawing.shown import Plot
from mha_helpers.exercises.engine import recall, source_of
from mha_helpers.exercises.prediction import Evidence
from mha_helpers.learner import session

SOFTMAX = attention.softmax


def no_exp(scores):
    return scores / scores.sum(axis=-1, keepdims=True)


def test_a_warm_up_is_the_same_check_under_a_name_of_its_own():
    warm_up = recall(exercises.softmax)
    session.hints_shown.clear()
    assert warm_up.check(no_exp).mistake == "softmax-no-exp"
    assert "exercises.recall_softmax.hint()" in repr(warm_up.check(...))
    assert warm_up.check(SOFTMAX).message.startswith("softmax is right on")
    assert warm_up.solution().source == exercises.softmax.solution().source
    assert "memory" not in warm_up.check(SOFTMAX).next_step  # some notebooks ask to paste it
    warm_up.hint()
    assert session.hints_shown == {"recall_softmax": 1}


@pytest.fixture
def repair():
    return dataclasses.replace(exercises.softmax, called="repair_softmax", broken_version=no_exp)


def test_a_function_to_repair_is_not_attempted_while_it_is_as_given(repair):
    names = {}
    exec("def no_exp(scores):  # in a notebook\n    return scores / scores.sum(axis=-1, keepdims=True)\n", names)
    for unchanged in (no_exp, names["no_exp"]):
        result = repair.check(unchanged)
        assert (result.status, result.mistake) == ("not attempted", None)
        assert "still the function as given" in result.message


def test_a_function_to_repair_is_judged_once_it_does_something_else(repair):
    assert repair.check(SOFTMAX).status == "correct"
    assert repair.check(lambda scores: np.exp(scores) / np.exp(scores).sum()).mistake == "softmax-global"
    assert repair.check(lambda scores: scores / np.sum(scores, axis=-1, keepdims=True)).mistake == "softmax-no-exp"
    assert repair.check(...).status == "not attempted"


@pytest.mark.parametrize("name", [name for name in exercises.__all__ if name.startswith("mend_")])
def test_what_the_course_gives_to_mend_is_not_named_before_it_is_touched(name):
    exercise, notebook = getattr(exercises, name), {"np": np}
    exec(source_of(exercise.broken_version), notebook)  # compiled where the import of NumPy is not seen
    for given in (exercise.broken_version, notebook[name]):
        assert exercise.check(given).status == "not attempted"


def test_the_arguments_that_went_wrong_can_be_had():
    exercise = exercises.multi_head_attention
    exercise.check(lambda *arguments, mask=None: exercise.reference(*arguments))
    failing = exercise.failing_case()
    assert failing["mask"] is not None
    failing["X"][:] = 0  # a copy: the check's own case stays as it was
    assert (exercise.failing_case()["X"] != 0).any()


@pytest.mark.parametrize("function", [attention.split_heads, ...])
def test_without_a_failing_case_the_error_says_what_to_run(function):
    exercises.split_heads.check(function)
    with pytest.raises(ValueError, match=r"run exercises.split_heads.check\(split_heads\)"):
        exercises.split_heads.failing_case()


@pytest.mark.parametrize("function", [..., no_exp])
def test_hints_fold_in_the_panel_of_what_is_not_right_yet(function):
    page = exercises.softmax.check(function)._repr_html_()
    assert page.count("<details") == page.count("</details>") == len(exercises.softmax.hints)
    assert "Hint 1 of 3" in page
    assert "Hint 1 of 3" not in repr(exercises.softmax.check(function))
    assert "<details" not in exercises.softmax.check(SOFTMAX)._repr_html_()


def test_a_solution_is_wrapped_and_never_cut_off():
    assert "white-space:pre-wrap; overflow-wrap:anywhere" in exercises.softmax.solution()._repr_html_()


def test_evidence_may_hold_a_picture():
    figure = Plot(figures.attention_map([[0.25, 0.75]], ["it"], ["cat", "sat"]))
    prediction = dataclasses.replace(exercises.predict_order, evidence=lambda: Evidence("numbers", figure))
    reply = prediction.commit(prediction.right)
    assert figure.text in repr(reply)
    assert '<img alt="Attention' in reply._repr_html_()
    assert "data:image/svg+xml;base64," in reply._repr_html_()
    with Image.open(io.BytesIO(reply._repr_png_())) as picture:
        assert picture.text["Description"] == repr(reply)
    assert f"```text\nnumbers\n```\n\n{figure.text}\n" in prediction.markdown()
