"""The engine: what it notices in any answer, and that it survives every answer."""

import numpy as np
import pytest
from answers import EXERCISES
from answers.softmax import CountsItsCalls, softmax_in_place

from mha_helpers import attention, exercises
from mha_helpers.exercises.output_projection.judge_step import judge_step
from mha_helpers.worked_examples import replay


def test_two_mistakes_at_once_are_named_one_at_a_time():
    def over_queries_without_max(scores):
        return np.exp(scores) / np.exp(scores).sum(axis=-2, keepdims=True)

    assert exercises.softmax.check(over_queries_without_max).mistake == "softmax-over-queries"


def test_an_array_of_the_notebook_used_instead_of_the_argument_is_noticed():
    namespace = {"np": np, "notebook_scores": np.eye(3)}
    exec("def softmax(scores):\n    e = np.exp(notebook_scores)\n    return e / e.sum(-1, keepdims=True)", namespace)
    result = exercises.softmax.check(namespace["softmax"])
    assert result.mistake == "outside-array"
    assert "`notebook_scores`" in result.message


def test_writing_into_the_argument_is_noticed():
    result = exercises.softmax.check(softmax_in_place)
    assert result.mistake == "input-changed"
    assert "`scores`" in result.message


def test_writing_into_the_mask_is_noticed():
    def multi_head_attention(*arguments, mask=None):
        result = exercises.multi_head_attention.reference(*arguments, mask)
        if mask is not None:
            mask[...] = True
        return result

    for _ in range(2):  # the check's own mask stays as it was
        result = exercises.multi_head_attention.check(multi_head_attention)
        assert result.mistake == "input-changed"
        assert "`mask`" in result.message


@pytest.mark.parametrize("kind", [ValueError, AssertionError])
def test_what_cannot_be_split_may_be_refused_in_any_words(kind):
    def split_heads(X, n_heads):
        if X.shape[-1] % n_heads:
            raise kind("no")
        return exercises.split_heads.reference(X, n_heads)

    assert exercises.split_heads.check(split_heads).status == "correct"


def test_features_lost_to_a_rounded_width_are_noticed():
    def split_heads(X, n_heads):
        d_head = X.shape[-1] // n_heads
        return np.stack([X[..., i * d_head : (i + 1) * d_head] for i in range(n_heads)], axis=-3)

    assert exercises.split_heads.check(split_heads).mistake == "split-floor"


def test_the_cases_are_never_changed_by_an_answer():
    before = [case.arguments["scores"].copy() for case in exercises.softmax.cases]
    exercises.softmax.check(softmax_in_place)
    for case, kept in zip(exercises.softmax.cases, before, strict=True):
        np.testing.assert_array_equal(case.arguments["scores"], kept)


def test_an_answer_that_changes_from_call_to_call_is_noticed():
    assert exercises.softmax.check(CountsItsCalls(len(exercises.softmax.cases))).mistake == "not-repeatable"


@pytest.mark.parametrize("slug", ["softmax-over-queries", "scale-not-yet", "scores-cosine"])
def test_a_mistake_in_the_weights_is_named_although_the_context_is_wrong_too(slug):
    exercise = exercises.dot_product_attention
    first = next(mistake for mistake in exercise.mistakes if mistake.slug == slug).implementations[0]

    def two_mistakes(queries, keys, values):
        context, weights = first(queries, keys, values)
        return context + 1, weights

    assert exercise.check(two_mistakes).mistake == slug


def test_the_cells_below_run_on_a_learners_function_once_it_is_right(capsys):
    course, exercise = attention.softmax, exercises.softmax

    def right(scores):
        print("a learner's own print")
        return course(scores).tolist()

    *kept, theirs = [exercise.working_version(function) for function in (course, ..., lambda scores: scores, right)]
    assert kept == [course] * 3
    assert theirs.__wrapped__ is right
    np.testing.assert_array_equal(theirs(np.eye(2)), course(np.eye(2)), strict=True)
    assert capsys.readouterr().out.splitlines()[:4] == [
        "softmax: the course's version",
        "softmax: the course's version (yours is not written yet)",
        "softmax: the course's version (yours is not right yet)",
        "softmax: yours",
    ]


def test_a_wrong_entropy_is_named_although_zeros_make_it_nan_too():
    def entropy_of(change):
        with np.errstate(all="ignore"):
            return exercises.head_entropy.check(lambda weights: change(weights * np.log(weights))).mistake

    assert entropy_of(lambda terms: -terms.sum(axis=-1).mean(axis=-1)) == "entropy-nan"
    assert entropy_of(lambda terms: terms.sum(axis=-1).mean(axis=-1)) == "entropy-no-minus"
    assert entropy_of(lambda terms: -terms.sum(axis=-1)) == "entropy-not-averaged"
    assert entropy_of(lambda terms: -terms.sum(axis=-1).mean()) == "entropy-heads-averaged"


@pytest.mark.parametrize("name", ["previous_token_score", "head_entropy"])
def test_what_weights_are_tried_are_weights(name):
    for case in EXERCISES[name].cases:
        [weights] = case.arguments.values()
        assert (weights >= 0).all(), case.trait
        np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-6, err_msg=case.trait)


def test_no_number_of_a_step_is_half_a_unit_off():
    for case in exercises.judge_step.cases:
        printed, right, given, half_unit = case.arguments.values()
        in_half_units = abs(printed - np.stack([right, given])) / half_unit
        assert (abs(in_half_units - 1) > 0.05).all(), case.trait


def test_a_step_of_the_notes_is_judged_as_the_replay_judges_it():
    rows = replay("cat_sat")
    for step in ("head 1 weights", "head 1 context", "head 2 scaled scores", "concatenation", "output"):
        of_step = [row for row in rows if row.step == step]
        matrices = (np.array([getattr(row, name) for row in of_step], float) for name in ("printed", "right", "given"))
        wrong, slip = judge_step(*matrices, 0.005)
        verdicts = np.where(slip, "wrong here", np.where(wrong, "carried", "agrees"))
        assert verdicts.tolist() == [row.verdict for row in of_step]


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (([[1, 2]], [[1, 2, 3]], [[1, 2]], 0.5), r"n_columns=3, .* n_columns=2; give both the same"),
        (([1, 2], [1, 2], [1, 2], 0.5), r"its axes must be \(n_rows, n_columns\)"),
    ],
)
def test_a_step_that_cannot_be_judged_is_refused(step, said):
    with pytest.raises(ValueError, match=said):
        judge_step(*step)
