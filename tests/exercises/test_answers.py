"""Every exercise in its three states: not attempted, correct, and wrong by name."""

import numpy as np
import pytest
from answers import ANSWERS, EXERCISES, FOLDER, forgotten

from function_judge.catalogue import recognise, recognise_in_part
from function_judge.evidence import is_single
from function_judge.task import Trial
from function_judge.verdict import EXPLAINERS_OF_RIGHT, EXPLAINERS_OF_WRONG, Answer, known_mistake
from mha_helpers import attention

each_exercise = pytest.mark.parametrize("name", EXERCISES)
# A catalogue that two exercises share is asked once.
CATALOGUES = {exercise.mistakes: name for name, exercise in reversed(EXERCISES.items())}
each_catalogue = pytest.mark.parametrize("name", CATALOGUES.values())


def test_nothing_is_forgotten():
    missing = [sentence for name in EXERCISES for sentence in forgotten(name)]
    assert not missing, "\n".join(missing)
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


STUBS = (..., None, stub_ellipsis, stub_pair, stub_none, stub_raises, stub_variable, stub_stored)


@each_exercise
def test_a_stub_is_not_attempted(name):
    for stub in STUBS:
        result = EXERCISES[name].check(stub)
        assert (result.status, result.mistake) == ("not attempted", None), stub
        assert repr(result).startswith("Not attempted yet"), stub


@each_exercise
def test_the_solution_is_correct(name):
    namespace = {"np": np}
    for each in EXERCISES.values():  # a learner has the earlier exercises' functions at hand
        exec(each.solution().source, namespace)
    takes_a_mask = (
        "multi_head_attention",
        "attention_gradients",
        "grouped_attention",
        "mend_rotary_attention",
        "cross_attention",
        "latent_attention",
    )
    if name in takes_a_mask:  # notebooks 05, 07, 09 and 10 import one that does
        namespace["scaled_dot_product_attention"] = attention.scaled_dot_product_attention
    result = EXERCISES[name].check(namespace[name])
    assert result.status == "correct", result
    assert repr(result).startswith("Correct")


def described(i, answer):
    return f"{i}, {getattr(answer, '__name__', type(answer).__name__)}"


@each_exercise
def test_right_answers_in_any_style_are_correct(name):
    results = {described(*one): EXERCISES[name].check(one[1]) for one in enumerate(ANSWERS[name].RIGHT)}
    refused = [f"RIGHT {which}: {result}" for which, result in results.items() if result.status != "correct"]
    assert not refused, "\n\n".join(refused)


HELD = {
    "lists": lambda part: part.tolist(),
    "masked arrays": np.ma.masked_array,
    "objects": lambda part: part if part.dtype.kind == "b" else part.astype(object),
    "single precision": lambda part: part if part.dtype.kind in "biu" else part.astype(np.float32),
}


@each_exercise
def test_a_right_answer_is_correct_whatever_holds_its_numbers(name):
    exercise = EXERCISES[name]
    for kind, hold in HELD.items():

        def held(*given, hold=hold, **options):
            returned = exercise.reference(*given, **options)
            if isinstance(returned, tuple):
                return [hold(part) if isinstance(part, np.ndarray) else part for part in returned]
            return hold(np.asarray(returned))

        result = exercise.check(held)
        assert result.status == "correct", f"{kind}: {result}"


@each_exercise
def test_a_wrong_answer_hears_of_the_mistake_that_it_is_listed_under(name):
    otherwise = []
    for slug, group in ANSWERS[name].WRONG.items():
        for i, answer in enumerate(group):
            result = EXERCISES[name].check(answer)
            if (result.status, result.mistake) != ("wrong", slug) or "Traceback" in repr(result):
                otherwise.append(f"WRONG[{slug!r}] {described(i, answer)}: {result}")
    better = f"If that is the better name, list it there: WRONG of answers/{name}.py"
    assert not otherwise, "\n\n".join([*otherwise, better])


@each_exercise
def test_where_no_mistake_is_recognised_what_must_hold_is_said(name):
    for answer, said in ANSWERS[name].TOLD:
        result = EXERCISES[name].check(answer)
        assert (result.status, result.mistake) == ("wrong", None)
        assert said in result.message


@each_catalogue
def test_no_further_spelling_of_a_mistake_goes_by_another_name(name):
    """A program gives what it gave itself: it loses its name only to one that stands before it.

    That is an earlier mistake that gives the same, or what is asked before the catalogue is. A first spelling is
    checked as a learner's function is, below.
    """
    exercise, confused = EXERCISES[name], []
    asked_before = EXPLAINERS_OF_WRONG[: EXPLAINERS_OF_WRONG.index(known_mistake)]
    further = [(mistake, one) for mistake in exercise.mistakes for one in mistake.implementations[1:]]
    for mistake, program in further:
        trials = [
            Trial(case, exercise.known(program, case), exercise.known(exercise.reference, case))
            for case in exercise.cases
        ]
        answer = Answer(exercise, program, trials)
        asked = EXPLAINERS_OF_RIGHT if answer.is_right else asked_before
        verdict = next(filter(None, (explain(answer) for explain in asked)), None)
        if verdict:
            slug = verdict.mistake
        else:
            found = recognise(exercise.catalogue, trials, answer.probed) or recognise_in_part(
                exercise.catalogue, trials, lambda case: is_single(exercise, case), exercise.first_output
            )
            slug = found and found.slug
        if slug != mistake.slug:
            confused.append(f"{program} of {mistake.slug} is called {slug}")
    assert not confused, "\n".join(confused)


@each_catalogue
def test_the_first_spelling_of_a_mistake_is_told_its_message(name):
    for mistake in EXERCISES[name].mistakes:
        result = EXERCISES[name].diagnosis(mistake.implementations[0])
        assert (result.status, result.mistake) == ("wrong", mistake.slug), result
        assert result.message.startswith(mistake.message)


def test_no_catalogued_slug_is_used_twice():
    for name, exercise in EXERCISES.items():
        slugs = [mistake.slug for mistake in exercise.mistakes]
        assert len(slugs) == len(set(slugs)), name


@pytest.mark.parametrize("name", [name for name, answers in ANSWERS.items() if answers.TELLING_CASE])
def test_no_two_axes_of_the_telling_case_are_the_same(name):
    trait, n_sizes = ANSWERS[name].TELLING_CASE
    telling = next(case for case in EXERCISES[name].cases if case.trait == trait)
    sizes = {size for array in telling.arguments.values() for size in np.shape(array)}
    if "n_heads" in telling.arguments:  # d_model has two factors, which no array shows before it is split
        n_heads, d_model = telling.arguments["n_heads"], next(iter(telling.arguments.values())).shape[-1]
        sizes |= {n_heads, d_model // n_heads}
    assert len(sizes) == n_sizes


def test_no_two_cases_share_a_trait_and_what_takes_floats_is_tried_on_float32():
    for name, exercise in EXERCISES.items():
        traits = [case.trait for case in exercise.cases]
        assert len(traits) == len(set(traits)), name
        arrays = [array for case in exercise.cases for array in case.arguments.values() if np.ndim(array)]
        kinds = {array.dtype.name for array in arrays}
        assert "float64" not in kinds or "float32" in kinds, name
