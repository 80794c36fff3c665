"""Every exercise in its three states: not attempted, correct, and wrong by name."""

import html
import re

import numpy as np
import pytest
from answers import masking, odd_right, output_projection, real_model, scaling, self_attention, sly_wrong, splitting
from answers.self_attention import CountsItsCalls, softmax_in_place, softmax_only_matrices

from mha_helpers import attention, exercises
from mha_helpers.worked_examples import replay

# What an exercise's answers are called: RIGHT_SOFTMAX and WRONG_SOFTMAX, in one module or in several.
SUFFIXES = {
    "softmax": "SOFTMAX",
    "attention_scores": "SCORES",
    "dot_product_attention": "ATTENTION",
    "dot_product_variance": "VARIANCE",
    "softmax_jacobian": "JACOBIAN",
    "scaled_dot_product_attention": "SCALED",
    "causal_mask": "CAUSAL",
    "padding_mask": "PADDING",
    "masked_attention": "MASKED",
    "split_heads": "SPLIT",
    "combine_heads": "COMBINE",
    "folded_attention": "FOLDED",
    "multi_head_attention": "MULTI_HEAD",
    "head_contributions": "CONTRIBUTIONS",
    "judge_step": "JUDGE",
    "previous_token_score": "PREVIOUS",
    "head_entropy": "ENTROPY",
    "knock_out": "KNOCK_OUT",
}
MODULES = (self_attention, odd_right, sly_wrong, scaling, masking, splitting, output_projection, real_model)
EXERCISES = {name: getattr(exercises, name) for name in SUFFIXES}
RIGHT, WRONG = (
    {
        name: [answer for module in MODULES for answer in getattr(module, f"{kind}_{suffix}", ())]
        for name, suffix in SUFFIXES.items()
    }
    for kind in ("RIGHT", "WRONG")
)

# The catalogue's slugs for these exercises; further ones may be added, none renamed or dropped.
CATALOGUE = {
    "softmax": "softmax-over-queries softmax-global softmax-no-exp softmax-no-max softmax-hard-max softmax-keepdims",
    "attention_scores": "scores-keys-by-queries scores-reversed-axes scores-feature-by-feature scores-elementwise "
    "scores-cosine scores-np-dot",
    # Of the divisors: those that an unscaled attention can be given. d_model is not among its arguments.
    "dot_product_attention": "values-are-scores values-are-keys returns-weights-only weights-transposed scale-no-root "
    "scale-multiplied scale-n-keys scale-after-softmax scale-values-width",
    "dot_product_variance": "",
    "softmax_jacobian": "jacobian-diagonal-only jacobian-sign jacobian-outer-only",
    "scaled_dot_product_attention": "values-are-scores values-are-keys returns-weights-only weights-transposed "
    "scale-missing scale-d-model scale-no-root scale-multiplied scale-n-keys scale-after-softmax scale-twice "
    "scale-values-width",
    "causal_mask": "causal-inverted causal-transposed causal-strict causal-off-by-one causal-additive "
    "causal-zero-times-inf",
    "padding_mask": "padding-on-queries padding-inverted padding-no-head-axis padding-float",
    "masked_attention": "mask-ignored mask-inverted mask-score-zero mask-tiny-number mask-after-softmax "
    "mask-full-row-nan mask-full-row-uniform mask-added-boolean mask-minus-minus-inf",
    "split_heads": "split-without-transpose split-strided split-wrong-transpose split-full-width split-floor",
    "combine_heads": "combine-without-transpose combine-reversed-heads combine-sum combine-along-sequence "
    "combine-interleaved",
    "folded_attention": "",
    "multi_head_attention": "mha-no-output-projection mha-output-projection-transposed mha-split-input mha-shared-head "
    "mha-scale-d-model mha-softmax-over-heads mha-mean-heads mha-split-without-transpose "
    "mha-combine-without-transpose mha-both-without-transpose mha-mask-ignored mha-projection-per-head "
    "mha-no-projections",
    "head_contributions": "contributions-same-block contributions-columns contributions-not-additive",
    "judge_step": "slips-every-wrong-row slips-given-alone slips-exact slips-number-by-number slips-no-abs",
    "previous_token_score": "previous-next previous-itself previous-wraparound previous-divisor previous-summed "
    "previous-how-often previous-all-before previous-heads-averaged previous-first-axes",
    "head_entropy": "entropy-nan entropy-epsilon entropy-no-minus entropy-base entropy-without-p entropy-of-mean-row "
    "entropy-summed entropy-over-queries entropy-perplexity entropy-heads-averaged",
    "knock_out": "knock-out-columns knock-out-row-by-number knock-out-strided knock-out-kept knock-out-one-of-several "
    "knock-out-counted-from-one knock-out-width knock-out-removed knock-out-rescaled",
}

# The case in which all axes differ, and how many there are: batch, heads, queries, keys, and the widths.
TELLING_CASES = {
    "softmax": ("a batch with heads", 4),
    "attention_scores": ("a batch with heads", 5),
    "dot_product_attention": ("a batch with heads", 6),
    "dot_product_variance": ("many pairs", 2),
    "scaled_dot_product_attention": ("a batch with heads", 6),
    "padding_mask": ("two sentences of five", 2),
    "masked_attention": ("a mask for each head", 6),
    "split_heads": ("two batch axes", 6),
    "combine_heads": ("two batch axes", 5),
    "folded_attention": ("two sentences", 5),
    "multi_head_attention": ("two batch axes", 6),
    "head_contributions": ("two batch axes", 6),
    "judge_step": ("a row of each kind", 2),
    "previous_token_score": ("layers and heads", 3),
    "head_entropy": ("layers and heads", 4),
    "knock_out": ("more rows than columns", 5),
}


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


@pytest.mark.parametrize("stub", [..., None, stub_ellipsis, stub_pair, stub_none, stub_raises, stub_variable])
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


def numbered(answers):
    return [
        pytest.param(name, answer, id=f"{name}-{i}-{getattr(answer, '__name__', type(answer).__name__).strip('<>')}")
        for name, group in answers.items()
        for i, answer in enumerate(group)
    ]


@pytest.mark.parametrize(("name", "answer"), numbered(RIGHT))
def test_right_answers_in_any_style_are_correct(name, answer):
    result = EXERCISES[name].check(answer)
    assert result.status == "correct", result


@pytest.mark.parametrize(("name", "answer"), numbered(WRONG))
def test_wrong_answers_beyond_the_catalogue_are_wrong(name, answer):
    result = EXERCISES[name].check(answer)
    assert result.status == "wrong", result
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
def test_no_catalogued_slug_is_missing_or_used_twice(name):
    slugs = [mistake.slug for mistake in EXERCISES[name].mistakes]
    assert set(CATALOGUE[name].split()) <= set(slugs)
    assert len(slugs) == len(set(slugs))


@pytest.mark.parametrize(("name", "trait", "n_sizes"), [(name, *case) for name, case in TELLING_CASES.items()])
def test_no_two_axes_of_the_telling_case_are_the_same(name, trait, n_sizes):
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


def test_two_mistakes_at_once_are_named_one_at_a_time():
    def over_queries_without_max(scores):
        return np.exp(scores) / np.exp(scores).sum(axis=-2, keepdims=True)

    assert exercises.softmax.check(over_queries_without_max).mistake == "softmax-over-queries"


def test_a_wrong_value_shows_the_first_cell_that_differs():
    def slightly_off(scores):
        weights = exercises.softmax.reference(scores)
        weights[..., 1] += 0.25
        return weights

    message = exercises.softmax.check(slightly_off).message
    assert "Tried a matrix: scores (3, 5)." in message
    assert "weights[0, 1] should be " in message
    assert "row 0 sums to 1.2500" in message


def test_a_wrong_shape_says_what_was_expected_and_what_came():
    message = exercises.softmax.check(lambda scores: exercises.softmax.reference(scores)[None]).message
    assert "Expected weights of shape (3, 5); got (1, 3, 5)." in message


def test_an_exception_becomes_a_sentence_with_the_line_and_the_likely_cause():
    def softmax(scores):
        exponentials = np.exp(scores)
        return exponentials / exponentials.sum(axis=-1)[:, :, None]

    message = exercises.softmax.check(softmax).message
    assert "Tried a matrix: scores (3, 5). Python said IndexError" in message
    assert "in the line `return exponentials / exponentials.sum(axis=-1)[:, :, None]`" in message


def test_a_forgotten_return_is_said():
    def softmax(scores):
        exercises.softmax.reference(scores)

    assert "is the `return` line missing?" in exercises.softmax.check(softmax).message


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


def test_what_is_right_without_a_batch_only_is_told_so():
    def combine_heads(heads):
        combined = exercises.combine_heads.reference(heads)
        return combined if heads.ndim == 3 else heads.reshape(combined.shape)

    message = exercises.combine_heads.check(combine_heads).message
    assert message.startswith("It is right without a batch, and goes wrong where there are more axes in front.")


def test_the_cases_are_never_changed_by_an_answer():
    before = [case.arguments["scores"].copy() for case in exercises.softmax.cases]
    exercises.softmax.check(softmax_in_place)
    for case, kept in zip(exercises.softmax.cases, before, strict=True):
        np.testing.assert_array_equal(case.arguments["scores"], kept)


def test_an_answer_that_changes_from_call_to_call_is_noticed():
    assert exercises.softmax.check(CountsItsCalls(len(exercises.softmax.cases))).mistake == "not-repeatable"


def test_an_answer_for_matrices_only_is_told_what_it_cannot_do():
    message = exercises.softmax.check(softmax_only_matrices).message
    assert "Tried one row: scores (4,)." in message
    assert "It is right on the other cases, and goes wrong with one row." not in message
    assert "Likely cause: there are fewer axes than expected." in message


def test_a_loop_over_one_sentence_is_told_about_batches():
    def attention_scores(queries, keys):
        return [[(query * key).sum() for key in keys] for query in queries]

    assert exercises.attention_scores.check(attention_scores).message.startswith("It is right for one matrix")


def test_the_weights_are_blamed_before_the_context():
    softmax = exercises.softmax.reference

    def half_right(queries, keys, values):
        weights = softmax(queries @ keys.swapaxes(-1, -2))
        return weights @ values + 1, weights

    assert "Weights: right. context[0, 0] should be" in exercises.dot_product_attention.check(half_right).message

    def both_wrong(queries, keys, values):
        weights = softmax(queries @ keys.swapaxes(-1, -2) * 0.9)
        return weights @ values, weights

    assert "). weights[0, 0] should be" in exercises.dot_product_attention.check(both_wrong).message


@pytest.mark.parametrize("slug", ["softmax-over-queries", "scale-not-yet", "scores-cosine"])
def test_a_mistake_in_the_weights_is_named_although_the_context_is_wrong_too(slug):
    exercise = exercises.dot_product_attention
    first = next(mistake for mistake in exercise.mistakes if mistake.slug == slug).implementations[0]

    def two_mistakes(queries, keys, values):
        context, weights = first(queries, keys, values)
        return context + 1, weights

    assert exercise.check(two_mistakes).mistake == slug


def test_what_it_prints_is_shown_once(capsys):
    def softmax(scores):
        print("here")
        return exercises.softmax.reference(scores)

    assert exercises.softmax.check(softmax).status == "correct"
    assert capsys.readouterr().out == "here\n"


class Hostile:
    """An object of which even the text cannot be had."""

    def __call__(self, scores):
        raise self.Silent

    class Silent(Exception):
        def __str__(self):
            raise RuntimeError

    def __getattr__(self, name):
        raise RuntimeError

    def __repr__(self):
        raise RuntimeError


@pytest.mark.parametrize("answer", [Hostile(), Hostile], ids=["instance", "class"])
def test_even_a_hostile_answer_gets_a_result(answer):
    assert exercises.softmax.check(answer).status == "wrong"


def test_what_is_not_a_function_is_said():
    result = exercises.softmax.check(np.eye(3))
    assert result.status == "wrong"
    assert "check(softmax)" in result.message


def test_the_cells_below_run_on_a_learners_function_once_it_is_right(capsys):
    course, exercise = attention.softmax, exercises.softmax

    def right(scores):
        print("a learner's own print")
        return course(scores).tolist()

    *kept, theirs = [exercise.yours_or_ours(function) for function in (course, ..., lambda scores: scores, right)]
    assert kept == [course] * 3
    assert theirs.__wrapped__ is right
    np.testing.assert_array_equal(theirs(np.eye(2)), course(np.eye(2)), strict=True)
    assert capsys.readouterr().out.splitlines()[:4] == [
        "softmax: the course's own",
        "softmax: the course's own, as yours is not written yet",
        "softmax: the course's own, as yours is not right yet",
        "softmax: yours",
    ]


def test_hints_go_on_and_end_with_the_solution():
    exercise = exercises.softmax
    exercise.hints_shown = 0
    shown = [repr(exercise.hint()) for _ in range(len(exercise.hints) + 1)]
    assert shown[0].startswith("Hint 1 of 3")
    assert shown[-1] == shown[-2]
    assert "exercises.softmax.solution()" in shown[-1]


def test_a_learners_text_is_escaped():
    def softmax(scores):
        raise ValueError("<script>alert(1)</script>")

    page = exercises.softmax.check(softmax)._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_a_result_says_the_same_in_text_and_in_html():
    result = exercises.softmax.check(lambda scores: scores)
    words = re.sub(r"<[^>]+>", "", result._repr_html_())
    for line in repr(result).splitlines():
        assert html.escape(line.replace("`", "")) in words


def test_a_missing_scale_is_told_what_the_first_line_must_be():
    def scaled_dot_product_attention(queries, keys, values):
        return exercises.scaled_dot_product_attention.reference(queries, keys, values)

    message = exercises.scaled_dot_product_attention.check(scaled_dot_product_attention).message
    assert "scaled_dot_product_attention(queries, keys, values, scale=None)." in message


def test_a_wrong_factor_is_told_with_the_one_that_is_due():
    def times(factor):
        def attention(queries, keys, values, scale=None):
            return exercises.dot_product_attention.reference(queries * factor(queries, scale), keys, values)

        return exercises.scaled_dot_product_attention.check(attention).message

    without = times(lambda queries, scale: 0.9 if scale is None else scale)
    assert "times 0.9000; it should be times 0.5774, 1 / sqrt(d_head)." in without
    given = times(lambda queries, scale: queries.shape[-1] ** -0.5 if scale is None else scale / 2)
    assert "times 0.1500; it should be times 0.3, the scale given." in given


def test_what_is_no_softmax_of_scaled_scores_is_not_told_of_a_factor():
    def nearer_keys_first(queries, keys, values, scale=None):
        distances = ((queries[..., :, None, :] - keys[..., None, :, :]) ** 2).sum(axis=-1)
        weights = exercises.softmax.reference(-distances)
        return weights @ values, weights

    result = exercises.scaled_dot_product_attention.check(nearer_keys_first)
    assert (result.status, result.mistake) == ("wrong", None)
    assert "it should be times" not in result.message


PADDING, JACOBIAN, MASKED = (
    exercises.padding_mask.reference,
    exercises.softmax_jacobian.reference,
    exercises.masked_attention.reference,
)


def weights_changed(change):
    """Return masked attention that mixes the values with change(weights, mask)."""

    def masked_attention(queries, keys, values, mask):
        weights = change(MASKED(queries, keys, values, mask)[1], mask)
        return weights @ values, weights

    return masked_attention


def context_changed(change):
    """Return masked attention with right weights and the context change(weights, values)."""

    def masked_attention(queries, keys, values, mask):
        weights = MASKED(queries, keys, values, mask)[1]
        return change(weights, values), weights

    return masked_attention


SPLIT, COMBINE, FOLDED, MULTI_HEAD, CONTRIBUTIONS, JUDGE, PREVIOUS, ENTROPY, KNOCK_OUT = (
    EXERCISES[name].reference
    for name in (
        "split_heads",
        "combine_heads",
        "folded_attention",
        "multi_head_attention",
        "head_contributions",
        "judge_step",
        "previous_token_score",
        "head_entropy",
        "knock_out",
    )
)


def mixed_evenly(weights, share):
    return (1 - share) * weights + share / weights.shape[-1]


def multi_head_changed(change):
    """Return multi-head attention that gives change(output, weights, X, W_V)."""

    def multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        return change(*MULTI_HEAD(X, W_Q, W_K, W_V, W_O, n_heads, mask), X, W_V)

    return multi_head_attention


def judged(change):
    """Return judge_step that gives change(wrong, slip)."""
    return lambda *step: change(*JUDGE(*step))


@pytest.mark.parametrize(
    ("name", "answer", "said"),
    [
        ("causal_mask", lambda n: 2 * np.tri(n), "A mask here holds only booleans: True where a query may attend"),
        ("causal_mask", lambda n: ~np.tri(n, dtype=int), "~1 is -2, and ~0 is -1. Make booleans first."),
        ("causal_mask", lambda n: np.tri(n, dtype=bool)[:, ::-1], "Query 0 sees key 3, which comes after it."),
        ("causal_mask", lambda n: np.tri(n, dtype=bool) & (np.arange(n) < n - 1), "Query 3 does not see itself."),
        (
            "causal_mask",
            lambda n: np.tri(n, dtype=bool) & ~np.tri(n, k=-2, dtype=bool),
            "Query 2 does not see key 0, which comes before it.",
        ),
        ("padding_mask", lambda tokens: 2 * tokens[:, None, None], "A mask here holds only booleans: True where"),
        ("padding_mask", lambda tokens: ~tokens[:, None, None], "~1 is -2, and ~0 is -1. Make booleans first."),
        (
            "padding_mask",
            lambda tokens: PADDING(tokens) & (np.arange(tokens.shape[1]) > 0),
            "Your mask hides the token at key 0 of sentence 0.",
        ),
        (
            "padding_mask",
            lambda tokens: np.ones_like(PADDING(tokens)),
            "Your mask shows the padding at key 3 of sentence 0.",
        ),
        (
            "masked_attention",
            weights_changed(lambda weights, mask: np.where(weights > 0.5, np.nan, weights)),
            "It holds NaN or infinity.",
        ),
        (
            "masked_attention",
            weights_changed(lambda weights, mask: weights - 0.25),
            "Weights cannot be negative; the lowest is -0.2500.",
        ),
        (
            "masked_attention",
            weights_changed(lambda weights, mask: 0.9 * weights),
            "Row 0 of the weights sums to 0.9000, not to 1.",
        ),
        (
            "masked_attention",
            weights_changed(lambda weights, mask: np.where(mask.any(-1, keepdims=True), weights, 0.5)),
            "Row 1 of the weights sums to 2.5000, not to 0, since everything is hidden from it.",
        ),
        (
            "masked_attention",
            weights_changed(lambda weights, mask: 0.9 * weights + 0.1 / mask.shape[-1]),
            "A hidden key has weight: weights[0, 1] is 0.0200, and its mask False.",
        ),
        (
            "masked_attention",
            context_changed(lambda weights, values: weights @ (values[::-1] if values.ndim > 2 else values)),
            "The batch items are mixed: the first one alone gives other numbers than in company.",
        ),
        (
            "masked_attention",
            context_changed(lambda weights, values: weights @ values + 1),
            "Your context is not your own weights @ values.",
        ),
        (
            "softmax_jacobian",
            lambda p: np.triu(JACOBIAN(p)),
            "every row and column must sum to 0. Your row 1 sums to 0.0397.",
        ),
        (
            "softmax_jacobian",
            lambda p: np.roll(JACOBIAN(p), 1, axis=1),
            "The matrix must be symmetric: p[i] p[j] is p[j] p[i].",
        ),
        ("split_heads", lambda X, n_heads: SPLIT(X, n_heads) / 2, "Your result holds other numbers than X."),
        (
            "split_heads",
            lambda X, n_heads: SPLIT(X, n_heads)[..., ::-1, :],
            "Tokens are mixed: row 4 of a head changes when only token 0 changes.",
        ),
        (
            "split_heads",
            lambda X, n_heads: SPLIT(np.roll(X, 1, axis=-1), n_heads),
            "Heads are mixed: head 1 changes when only features 0 to 2 change, which are head 0's.",
        ),
        (
            "split_heads",
            lambda X, n_heads: np.roll(SPLIT(X, n_heads), 1, axis=-3),
            "Head 0 does not change when features 0 to 2 change; it should hold just these.",
        ),
        ("combine_heads", lambda heads: COMBINE(heads) / 2, "Your result holds other numbers than the heads."),
        (
            "combine_heads",
            lambda heads: COMBINE(heads)[..., ::-1, :],
            "Tokens are mixed: row 4 changes when only token 0 changes in the heads.",
        ),
        (
            "combine_heads",
            lambda heads: np.roll(COMBINE(heads), 1, axis=-1),
            "Head 0 must fill columns 0 to 3, and nothing else; with yours it changes columns 1, 2, 3, 4.",
        ),
        (
            "combine_heads",
            lambda heads: COMBINE(heads if heads.ndim == 3 else heads[::-1]),
            "The batch items are mixed: the first one alone gives other numbers than in company.",
        ),
        (
            "folded_attention",
            lambda queries, keys, values, n_heads: FOLDED(queries, keys, values, n_heads)[:, ::-1],
            "The context of token 4 changes when only the query of token 0 changes:",
        ),
        (
            "folded_attention",
            lambda queries, keys, values, n_heads: FOLDED(queries, keys, values, n_heads)[..., ::-1],
            "Heads are mixed: feature 8 of the context changes when only head 0's values change, features 0 to 3.",
        ),
        (
            "folded_attention",
            lambda queries, keys, values, n_heads: 1.1 * FOLDED(queries, keys, values, n_heads),
            "Where all values are 1 every average of them is 1; yours is not.",
        ),
        (
            "multi_head_attention",
            multi_head_changed(lambda output, weights, X, W_V: (output, 0.9 * weights)),
            "Row 0, 0 of the weights sums to 0.9000, not to 1.",
        ),
        (
            "multi_head_attention",
            multi_head_changed(lambda output, weights, X, W_V: (output, weights[..., ::-1, :, :])),
            "Heads are mixed: the weights of head 1 change when only head 0's columns of W_Q do.",
        ),
        (
            "multi_head_attention",
            multi_head_changed(lambda output, weights, X, W_V: (X @ W_V, weights)),
            "Your output does not depend on W_O.",
        ),
        (
            "multi_head_attention",
            multi_head_changed(lambda output, weights, X, W_V: (output + 0.1, weights)),
            "Your output is not the sum of what the heads contribute",
        ),
        (
            "multi_head_attention",
            multi_head_changed(
                lambda output, weights, X, W_V: (output, mixed_evenly(weights, np.tanh(W_V[0, 0] ** 2)))
            ),
            "Your weights change when only W_V changes.",
        ),
        (
            "multi_head_attention",
            lambda *given, mask=None: (MULTI_HEAD(*given)[0], MULTI_HEAD(*given, mask)[1]),
            "Token 3 leaks: it is hidden from token 0, whose output changes with it all the same.",
        ),
        (
            "multi_head_attention",
            lambda *given, mask=None: MULTI_HEAD(*given, mask if mask is None else np.tri(len(mask), k=1, dtype=bool)),
            "A hidden key has weight: weights[0, 0, 1] is ",
        ),
        (
            "head_contributions",
            lambda heads, W_O: -CONTRIBUTIONS(heads, W_O),
            "Added up over the heads, your contributions are not the output",
        ),
        (
            "head_contributions",
            lambda heads, W_O: CONTRIBUTIONS(heads, W_O)[..., ::-1, :],
            "Tokens are mixed: row 4 changes when only token 0 changes.",
        ),
        (
            "head_contributions",
            lambda heads, W_O: CONTRIBUTIONS(heads, W_O) - CONTRIBUTIONS(heads, W_O).mean(axis=-3, keepdims=True),
            "Heads are mixed: the contribution of head 1 changes when only head 0 does.",
        ),
        (
            "head_contributions",
            lambda heads, W_O: CONTRIBUTIONS(heads, np.roll(W_O, heads.shape[-1], axis=0)),
            "Rows 0 to 2 of W_O are head 0's alone; with yours head 1 changes with them.",
        ),
        (
            "judge_step",
            judged(lambda wrong, slip: (2 * wrong, slip)),
            "A verdict is True or False, and yours holds other numbers.",
        ),
        ("judge_step", judged(lambda wrong, slip: (wrong, ~slip.astype(int))), "~1 is -2, and ~0 is -1. Make booleans"),
        (
            "judge_step",
            judged(lambda wrong, slip: (wrong, ~wrong)),
            "Row 2 is a slip and not wrong in yours: a slip is wrong first of all.",
        ),
        (
            "judge_step",
            judged(lambda wrong, slip: (wrong[::-1], slip[::-1])),
            "Your verdict on row 2 changes when only row 0 does.",
        ),
        (
            "judge_step",
            lambda printed, right, given, half_unit: JUDGE(printed, (right + given) / 2, given, half_unit),
            "Your `wrong` changes when only `given` does. What is wrong comes from `printed` and `right` alone.",
        ),
        (
            "judge_step",
            lambda printed, right, given, half_unit: JUDGE(printed, right, (right + given) / 2, half_unit),
            "Row 0 is not a slip: even where it is farthest off, column 0 prints 0.43 where 0.43 follows from the step",
        ),
        (
            "judge_step",
            lambda printed, right, given, half_unit: JUDGE(printed, right, given, 10 * half_unit),
            "Row 0 is wrong: column 0 prints 0.43 where 0.404395 is right, 0.026 apart, and half_unit is 0.005.",
        ),
        (
            "previous_token_score",
            lambda weights: PREVIOUS(weights) + 0.1 * weights[..., 0, 0],
            "Your score changes with weights[..., 0, 0], what token 0 gives to itself: it must not count.",
        ),
        (
            "previous_token_score",
            lambda weights: PREVIOUS(weights[..., :-1, :-1]) / 2,
            "Your score does not change with weights[..., 4, 3], what token 4 gives to the one before it.",
        ),
        ("previous_token_score", lambda weights: -PREVIOUS(weights), "A mean of weights is between 0 and 1"),
        (
            "previous_token_score",
            lambda weights: PREVIOUS(weights if weights.ndim < 4 else weights[::-1]),
            "The batch items are mixed: the first one alone gives other numbers than in company.",
        ),
        ("head_entropy", lambda weights: -2 * ENTROPY(weights), "An entropy is 0 or more; yours is negative."),
        (
            "head_entropy",
            lambda weights: 3 * ENTROPY(weights),
            "An entropy cannot be above log(n_keys), 1.7918 here; yours is 4.469",
        ),
        (
            "head_entropy",
            lambda weights: ENTROPY(weights[..., 1:, :]) if weights.shape[-2] > 1 else ENTROPY(weights),
            "Your entropy changes when only the order of the queries does",
        ),
        (
            "head_entropy",
            lambda weights: ENTROPY(weights) / (1 + weights[..., 0].mean(axis=-1)),
            "Your entropy changes when only the order of the keys does",
        ),
        (
            "head_entropy",
            lambda weights: 0.0 if (weights == 0).any() else ENTROPY(weights),
            "Right where no weight is 0, or nearly 0.",
        ),
        (
            "knock_out",
            lambda W_O, heads, n_heads: 0.5 * (W_O + KNOCK_OUT(W_O, heads, n_heads)),
            "Row 4 is one of head 1's, which is switched off: it must be 0.",
        ),
        (
            "knock_out",
            lambda W_O, heads, n_heads: KNOCK_OUT(W_O, [*heads, 0], n_heads),
            "Row 0 is one of head 0's, which stays on: it must be as it was.",
        ),
        (
            "dot_product_variance",
            lambda queries, keys: -(queries * keys).sum(axis=-1).var(),
            "A variance is a mean of squares and cannot be negative.",
        ),
    ],
)
def test_where_no_mistake_is_recognised_what_must_hold_is_said(name, answer, said):
    result = EXERCISES[name].check(answer)
    assert (result.status, result.mistake) == ("wrong", None)
    assert said in result.message


@pytest.mark.parametrize(
    ("name", "answer", "said"),
    [
        ("causal_mask", lambda n: np.tri(n, dtype=bool)[:, ::-1], "mask[0, 0] should be True; yours is False."),
        ("causal_mask", lambda n: np.tri(n) * 2, "mask[0, 0] should be True; yours is 2."),
        ("dot_product_variance", lambda queries, keys: 2.0, "). variance should be 2.2410; yours is 2.0000."),
        ("dot_product_variance", lambda queries, keys: [2.0], "of shape (), a single number; got (1,)."),
        ("dot_product_variance", lambda queries, keys: queries.var, "are the brackets missing"),
        (
            "split_heads",
            lambda X, n_heads: np.resize(X, (n_heads, len(X), 2)) if X.shape[-1] == 7 else SPLIT(X, n_heads),
            "n_heads=3. Expected a ValueError, as this cannot be done. Got heads of shape (3, 4, 2).",
        ),
        (
            "split_heads",
            lambda X, n_heads: X[9] if X.shape[-1] == 7 else SPLIT(X, n_heads),
            "Expected a ValueError, as this cannot be done. Python said IndexError",
        ),
        (
            "knock_out",
            lambda W_O, heads, n_heads: np.zeros((2, 3)),
            "Tried one head of three: W_O (12, 12), heads=[1], n_heads=3. Expected new_W_O of shape (12, 12)",
        ),
        ("softmax_jacobian", lambda p: (p, np.outer(p, p)), "It returned 2 things; `return jacobian`"),
    ],
)
def test_what_differs_is_shown_in_its_own_terms(name, answer, said):
    assert said in EXERCISES[name].check(answer).message


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
        wrong, slip = JUDGE(*matrices, 0.005)
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
        JUDGE(*step)


@pytest.mark.parametrize("name", ["causal_mask", "padding_mask", "softmax_jacobian", "dot_product_variance"])
def test_nobody_hears_of_matrices_where_there_are_none_to_be_right_on(name):
    assert "right for one matrix" not in EXERCISES[name].check(lambda *arguments: np.zeros((2, 2))).message


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("scores.masked_fill(~mask, -1e9)", "np.where(mask, scores, -np.inf)"),
        ("scores.masked_fill_(~mask, -1e9)", "np.where(mask, scores, -np.inf)"),
        ("np.where(mask, scores)", "takes three"),
        ("np.where(mask, scores, -inf)", "np.inf"),  # of the notebook's names, `inf` is none
        ("np.where(not mask, -np.inf, scores)", "was given a whole array"),
        ("mask[:1, :3] if scores[mask[:1, :3]] else 0", "np.where(mask, a, b)"),
        ("scores / np.sqrt(queries.size(-1))", "shape[-1]"),
        ("scores / np.sqrt(queries.shape(-1))", "queries.shape[-1]"),
        ("scores / np.sqrt(d_k)", "queries.shape[-1]"),
        ("torch.softmax(scores, dim=-1)", "uses NumPy"),
        ("scores.sum(dim=-1)", "PyTorch says dim"),
        ("scores.unsqueeze(0)", "a[:, None]"),
        ("np.ones(4, 5) * mask", "np.ones((n, n))"),
        ("scores * None", "an argument that was not given"),
        ("scores / scores.sum(axis=-1)", "keepdims=True"),
        ("queries.reshape(3, 2, 4 / 2)", "d_model // n_heads"),
        ("queries[:, : 4 / 2]", "d_model // n_heads"),
        ("np.split(queries, 7, axis=-1)", "features are the last axis"),
        ("queries.reshape(-1, 2, -1)", "only one size open with -1"),
        ("queries.permute(1, 0)", "NumPy's is transpose"),
        ("queries.transpose(1, 2, 0)", "swapaxes(1, 2)"),
        ("queries.mT.contiguous()", "leave it out"),
        ("queries.reshape(seq_len, -1)", "X.shape[-2]"),
        ("scores / np.sqrt(queries.shape)", "need equal shapes"),
        ("mask & scores > 0", "brackets round each comparison"),
    ],
)
def test_the_likely_cause_of_an_error(line, cause):
    namespace = {"np": np}
    exec(f"def attention(queries, keys, values, mask):\n    scores = queries @ keys.mT\n    return {line}", namespace)
    message = exercises.masked_attention.check(namespace["attention"]).message
    assert "Likely cause: " in message, message
    assert cause in message.partition("Likely cause: ")[2]
