"""Every exercise in its three states: not attempted, correct, and wrong by name."""

import numpy as np
import pytest
from answers import ANSWERS, EXERCISES, FOLDER, forgotten

from mha_helpers import attention


@pytest.mark.parametrize("name", EXERCISES)
def test_nothing_is_forgotten(name):
    assert not (missing := forgotten(name)), "\n".join(missing)


def test_all_answers_belong_to_an_exercise():
    left_over = {path.stem for path in FOLDER.glob("*.py")} - {"__init__", *EXERCISES}
    assert not left_over, f"{left_over}: no such exercise; name it in EXERCISES of mha_helpers/exercises/__init__.py"


def stub_ellipsis(*arguments):
    return ...


def stub_pair(*arguments):
    return ..., ...


def stub_none(*arguments):
    """A docstring is all there is."""


def stub_raises(*arguments):
    raise NotImplementedError


def stub_variable(*arguments):
    weights = ...
    return weights


def stub_stored(*arguments):
    entries = np.zeros(3)
    entries[0] = ...
    return entries


@pytest.mark.parametrize(
    "stub", [..., None, stub_ellipsis, stub_pair, stub_none, stub_raises, stub_variable, stub_stored]
)
@pytest.mark.parametrize("name", EXERCISES)
def test_a_stub_is_not_attempted(name, stub):
    result = EXERCISES[name].check(stub)
    assert (result.status, result.mistake) == ("not attempted", None)
    assert repr(result).startswith("Not attempted yet")


@pytest.mark.parametrize("name", EXERCISES)
def test_the_solution_is_correct(name):
    namespace = {"np": np}
    for each in EXERCISES.values():  # a learner has the earlier exercises' functions at hand
        exec(each.solution().source, namespace)
    if name == "multi_head_attention":  # notebook 05 imports the one with masks
        namespace["scaled_dot_product_attention"] = attention.scaled_dot_product_attention
    result = EXERCISES[name].check(namespace[name])
    assert result.status == "correct", result
    assert repr(result).startswith("Correct")


def named(name, i, answer):
    return f"{name}-{i}-{getattr(answer, '__name__', type(answer).__name__).strip('<>')}"


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        pytest.param(name, answer, id=named(name, i, answer))
        for name, answers in ANSWERS.items()
        for i, answer in enumerate(answers.RIGHT)
    ],
)
def test_right_answers_in_any_style_are_correct(name, answer):
    result = EXERCISES[name].check(answer)
    assert result.status == "correct", result


@pytest.mark.parametrize(
    ("name", "slug", "answer"),
    [
        pytest.param(name, slug, answer, id=f"{named(name, i, answer)}-{slug or 'not-named'}")
        for name, answers in ANSWERS.items()
        for slug, group in answers.WRONG.items()
        for i, answer in enumerate(group)
    ],
)
def test_a_wrong_answer_hears_of_the_mistake_that_it_is_listed_under(name, slug, answer):
    result = EXERCISES[name].check(answer)
    assert result.status == "wrong", result
    assert result.mistake == slug, f"{result}\n\nIf that is the better name, list it there: WRONG of answers/{name}.py"
    assert "Traceback" not in repr(result)


@pytest.mark.parametrize(
    ("name", "slug", "answer"),
    [
        pytest.param(name, mistake.slug, answer, id=f"{name}-{mistake.slug}-{i}")
        for name, exercise in EXERCISES.items()
        for mistake in exercise.mistakes
        for i, answer in enumerate(mistake.implementations)
    ],
)
def test_every_catalogued_mistake_gets_its_own_name(name, slug, answer):
    result = EXERCISES[name].check(answer)
    assert (result.status, result.mistake) == ("wrong", slug), result


@pytest.mark.parametrize("name", EXERCISES)
def test_no_catalogued_slug_is_used_twice(name):
    slugs = [mistake.slug for mistake in EXERCISES[name].mistakes]
    assert len(slugs) == len(set(slugs))


@pytest.mark.parametrize(
    ("name", "answer", "said"), [(name, *pair) for name, answers in ANSWERS.items() for pair in answers.TOLD]
)
def test_where_no_mistake_is_recognised_what_must_hold_is_said(name, answer, said):
    result = EXERCISES[name].check(answer)
    assert (result.status, result.mistake) == ("wrong", None)
    assert said in result.message


@pytest.mark.parametrize("name", [name for name, answers in ANSWERS.items() if answers.TELLING_CASE])
def test_no_two_axes_of_the_telling_case_are_the_same(name):
    trait, n_sizes = ANSWERS[name].TELLING_CASE
    telling = next(case for case in EXERCISES[name].cases if case.trait == trait)
    sizes = {size for array in telling.arguments.values() for size in np.shape(array)}
    if "n_heads" in telling.arguments:  # d_model has two factors, which no array shows before it is split
        n_heads, d_model = telling.arguments["n_heads"], next(iter(telling.arguments.values())).shape[-1]
        sizes |= {n_heads, d_model // n_heads}
    assert len(sizes) == n_sizes


@pytest.mark.parametrize("name", EXERCISES)
def test_no_two_cases_share_a_trait(name):
    traits = [case.trait for case in EXERCISES[name].cases]
    assert len(traits) == len(set(traits))


@pytest.mark.parametrize("name", EXERCISES)
def test_what_takes_floats_is_tried_on_float32(name):
    arrays = [array for case in EXERCISES[name].cases for array in case.arguments.values() if np.ndim(array)]
    kinds = {array.dtype.name for array in arrays}
    assert "float64" not in kinds or "float32" in kinds
