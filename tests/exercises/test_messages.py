"""What a learner is told, in text and on the page."""

import html
import re

import numpy as np
import pytest
from answers import EXERCISES
from answers.knock_out import knock_out_copied_in_vain
from answers.masked_attention import (
    masked_by_a_function_in_vain,
    masked_choice_not_kept,
    masked_in_a_loop_in_vain,
    masked_under_a_name_that_is_not_used,
)
from answers.mend_attention import nothing_written_back, only_a_name_for_each_row
from answers.multi_head_attention import mha_mask_only_where_it_is_none, mha_mask_with_another_axis
from answers.next_token_probabilities import probabilities_by_an_order_not_kept
from answers.packed_mask import packed_compared_in_place_of_assigned
from answers.softmax import softmax_only_matrices
from answers.split_heads import split_reshaped_in_vain, split_swapped_in_vain
from answers.weights_from_torch import transposed_in_vain

from mha_helpers import exercises
from mha_helpers.attention import softmax, softmax_jacobian, split_heads
from mha_helpers.learner import session


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


def test_a_function_of_numpys_without_np_is_said_to_be_numpys():
    def softmax(scores):
        exponentials = exp(scores)  # noqa: F821
        return exponentials / exponentials.sum(axis=-1, keepdims=True)

    assert "exp is NumPy's, and here NumPy is called np: np.exp(...)." in exercises.softmax.check(softmax).message


def test_pythons_own_sum_is_told_from_numpys():
    def softmax(scores):
        exponentials = np.exp(scores)
        return exponentials / sum(exponentials)

    result = exercises.softmax.check(softmax)
    assert result.mistake == "softmax-over-queries"
    assert "Python's own `sum` adds up rows" in result.message
    assert "Python's" not in exercises.softmax.check(exercises.softmax.with_mistake(result.mistake)).message


def test_of_two_lines_the_one_that_makes_the_first_wrong_number_is_named():
    def masked_attention(queries, keys, values, mask):
        scores = queries @ keys.swapaxes(-1, -2)
        weights = softmax(np.where(mask, scores, -np.inf))
        weights = np.where(mask, weights, 0)
        return weights @ values, weights

    message = exercises.masked_attention.check(masked_attention).message
    first, last = map(int, re.search(r"The mistake is in line (\d+), `.*, or in line (\d+), `", message).groups())
    assert last == first + 1
    assert f"Line {last} makes the first wrong number." in message


def test_a_forgotten_return_is_said():
    def softmax(scores):
        exercises.softmax.reference(scores)

    assert "is the `return` line missing?" in exercises.softmax.check(softmax).message


def test_what_is_right_without_a_batch_only_is_told_so():
    def combine_heads(heads):
        combined = exercises.combine_heads.reference(heads)
        return combined if heads.ndim == 3 else heads.reshape(combined.shape)

    message = exercises.combine_heads.check(combine_heads).message
    assert message.startswith("It is right without a batch, but goes wrong when there are more axes in front.")


def test_an_answer_for_matrices_only_is_told_what_it_cannot_do():
    message = exercises.softmax.check(softmax_only_matrices).message
    assert "Tried one row: scores (4,)." in message
    assert "It is right on the other cases, but goes wrong with one row." not in message
    assert "Likely cause: there are fewer axes than expected." in message


def test_a_loop_over_one_sentence_is_told_about_batches():
    def attention_scores(queries, keys):
        return [[(query * key).sum() for key in keys] for query in queries]

    assert exercises.attention_scores.check(attention_scores).message.startswith("It is right for one matrix")


def test_loops_that_stop_at_a_batch_hear_of_the_batch_and_not_of_what_numpy_says_of_shapes():
    def attention_scores(queries, keys):
        scores = np.zeros((len(queries), len(keys)))
        for i in range(len(queries)):
            for j in range(len(keys)):
                scores[i, j] = queries[i] @ keys[j]
        return scores

    where, tried = exercises.attention_scores.check(attention_scores).message.split("\n")
    assert where.startswith("It is right for one matrix")
    assert "`swapaxes(-1, -2)` work on the last axes" in where
    assert tried == (
        "Tried a batch: queries (2, 3, 4), keys (2, 5, 4). It stops in the line `scores[i, j] = queries[i] @ keys[j]`."
    )


def test_neither_do_those_whose_source_is_not_at_hand():
    namespace = {}
    exec("def attention_scores(queries, keys):\n    return [[q @ k for k in keys] for q in queries]", namespace)
    message = exercises.attention_scores.check(namespace["attention_scores"]).message
    assert message.endswith("Tried a batch: queries (2, 3, 4), keys (2, 5, 4). It stops there.")


def test_what_is_computed_and_never_stored_is_told_so():
    def softmax(scores):
        weights = np.zeros(scores.shape)
        for row in scores:
            row = np.exp(row) / np.exp(row).sum()
        return weights

    message = exercises.softmax.check(softmax).message
    assert message.startswith("Every entry of your weights is 0. Does your function store in it what it computes?")


def test_numpys_formula_for_all_products_is_put_into_words():
    message = exercises.attention_scores.check(lambda queries, keys: queries @ keys @ keys).message
    assert "matmul: the last axis on the left has length 3, and the axis that it meets on the right has 4" in message
    assert "gufunc" not in message
    assert "core dimension" not in message


def test_the_weights_are_blamed_before_the_context():
    softmax = exercises.softmax.reference

    def half_right(queries, keys, values):
        weights = softmax(queries @ keys.swapaxes(-1, -2))
        return weights @ values + 1, weights

    assert "Right: weights. context[0, 0] should be" in exercises.dot_product_attention.check(half_right).message

    def both_wrong(queries, keys, values):
        weights = softmax(queries @ keys.swapaxes(-1, -2) * 0.9)
        return weights @ values, weights

    assert "). weights[0, 0] should be" in exercises.dot_product_attention.check(both_wrong).message


def test_what_it_prints_is_shown_once(capsys):
    def softmax(scores):
        print("here")
        return exercises.softmax.reference(scores)

    assert exercises.softmax.check(softmax).status == "correct"
    assert capsys.readouterr().out == "here\n"


def test_what_is_not_a_function_is_said():
    result = exercises.softmax.check(np.eye(3))
    assert result.status == "wrong"
    assert "check(softmax)" in result.message


def test_hints_go_on_and_end_with_the_solution():
    exercise = exercises.softmax
    session.hints_shown.clear()
    shown = [repr(exercise.hint()) for _ in range(len(exercise.hints) + 1)]
    assert shown[0].startswith("Hint 1 of 3")
    assert shown[-1] == shown[-2]
    assert "exercises.softmax.solution()" in shown[-1]


def test_what_there_is_to_find_out_is_told_at_the_second_time_or_as_a_hint():
    exercise = exercises.split_heads
    wrong, remedy = exercise.with_mistake("split-without-transpose"), "Reshape to (seq_len, n_heads, d_head), then swap"
    session.failures.clear()
    session.hints_shown.clear()
    first = exercise.check(wrong)
    assert first.mistake == "split-without-transpose"
    assert first.message.startswith("You reshape straight to")
    assert remedy not in first.message
    assert remedy in repr(exercise.hint())
    assert repr(exercise.hint()).startswith("Hint 1 of")
    assert remedy in exercise.check(wrong).message
    assert remedy in exercise.diagnosis(wrong).message


def test_another_mistake_is_again_told_without_its_remedy():
    exercise = exercises.combine_heads
    session.failures.clear()
    for slug in ("combine-without-transpose", "combine-wrong-transpose"):
        message = exercise.check(exercise.with_mistake(slug)).message
        assert "swapaxes(-3, -2)" not in message.split("\n")[0], slug


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


@pytest.mark.parametrize(
    ("name", "answer", "said"),
    [
        ("causal_mask", lambda n: np.tri(n, dtype=bool)[:, ::-1], "mask[0, 3] should be False; yours is True."),
        ("causal_mask", lambda n: np.tri(n) * 2, "mask[0, 0] should be True; yours is 2."),
        ("dot_product_variance", lambda queries, keys: 2.0, "). variance should be 2.2410; yours is 2.0000."),
        ("dot_product_variance", lambda queries, keys: [2.0], "of shape (), a single number; got (1,)."),
        ("dot_product_variance", lambda queries, keys: queries.var, "are the brackets missing"),
        (
            "split_heads",
            lambda X, n_heads: np.resize(X, (n_heads, len(X), 2)) if X.shape[-1] == 7 else split_heads(X, n_heads),
            "n_heads=3. Expected a ValueError, as this cannot be done. Got heads of shape (3, 4, 2).",
        ),
        (
            "split_heads",
            lambda X, n_heads: X[9] if X.shape[-1] == 7 else split_heads(X, n_heads),
            "Expected a ValueError, as this cannot be done. Python said IndexError",
        ),
        (
            "split_heads",
            lambda X, n_heads: None if X.shape[-1] == 7 else split_heads(X, n_heads),
            "Expected a ValueError, as this cannot be done. It returned None.",
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


@pytest.mark.parametrize("name", ["causal_mask", "padding_mask", "softmax_jacobian", "dot_product_variance"])
def test_nobody_hears_of_matrices_where_there_are_none_to_be_right_on(name):
    assert "right for one matrix" not in EXERCISES[name].check(lambda *arguments: np.zeros((2, 2))).message


@pytest.mark.parametrize(
    ("name", "answer", "said"),
    [
        (
            "split_heads",
            split_reshaped_in_vain,
            "The line `X.reshape(*batch, seq_len, n_heads, d_model // n_heads)` has no effect: reshape returns a new "
            "array, and X stays as it was. Keep the new one: X = X.reshape(...).",
        ),
        ("split_heads", split_swapped_in_vain, "Keep the new one: X = np.swapaxes(...)."),
        (
            "masked_attention",
            masked_choice_not_kept,
            "`np.where(mask, weights, 0)` has no effect: its result isn't kept",
        ),
        (
            "mend_attention",
            nothing_written_back,
            "`weights[i] / weights[i].sum()` has no effect: its result isn't kept",
        ),
        ("packed_mask", packed_compared_in_place_of_assigned, "== only compares. An assignment has a single =."),
        ("next_token_probabilities", probabilities_by_an_order_not_kept, "Keep the new one: ordered = np.sort(...)."),
        ("weights_from_torch", transposed_in_vain, "The line `W_Q.T` has no effect: its result isn't kept."),
        ("knock_out", knock_out_copied_in_vain, "Keep the new one: W_O = W_O.copy(...)."),
        (
            "masked_attention",
            masked_by_a_function_in_vain,
            "The line `_visible(scores, mask)` has no effect: its result isn't kept",
        ),
        (
            "masked_attention",
            masked_under_a_name_that_is_not_used,
            "The line `masked = np.where(mask, scores, -np.inf)` has no effect: `masked` isn't used after it.",
        ),
        (
            "masked_attention",
            masked_in_a_loop_in_vain,
            "it gives the name `row` to something new, and what you loop over stays as it was",
        ),
        (
            "mend_attention",
            only_a_name_for_each_row,
            "The line `row = row / row.sum()` has no effect: it gives the name `row` to something new",
        ),
    ],
)
def test_a_line_without_an_effect_is_shown(name, answer, said):
    message = EXERCISES[name].check(answer).message
    assert said in message
    assert "Likely cause" not in message


def test_a_question_left_behind_is_not_blamed():
    def split_heads(X, n_heads):
        X.shape[-1] % n_heads == 0  # noqa: B015 - as learners do
        return X.moveaxis(-2, -3)

    message = exercises.split_heads.check(split_heads).message
    assert "no effect" not in message
    assert "moveaxis" in message


def clamped(scores):
    scores[scores > 700] = 700
    return scores


def shown(scores):
    print(scores.shape)
    return scores


def refused(scores):
    if scores.ndim == 0:
        raise ValueError("no row")
    return scores


def softmax_with_lines_that_do_something(scores):
    scores, kept = scores.copy(), []
    clamped(scores)
    shown(scores)
    refused(scores)
    np.exp(scores, scores)
    np.add.at(scores, ..., 0)
    np.nan_to_num(scores, copy=False)
    np.fill_diagonal(np.atleast_2d(scores), 1)
    np.sum(scores, axis=-1)
    kept.append(scores)
    total = 0
    for row in np.atleast_2d(scores):
        total = total + row.sum()
        row /= 2
        last = row
    n_keys = scores.shape[-1]
    width = n_keys // 2  # noqa: F841
    return scores / (total + 1 + last.sum())


def test_a_line_that_does_something_or_may_be_a_look_is_not_blamed():
    result = exercises.softmax.check(softmax_with_lines_that_do_something)
    assert (result.status, "no effect" in result.message) == ("wrong", False), result


def test_where_it_is_none_something_else_may_be_made_of_an_argument():
    def attention_gradients(queries, keys, values, d_context, mask=None):
        if mask is None:
            mask = np.ones((queries.shape[-2], keys.shape[-2]), bool)
            weights = np.where(mask, 1, 0)
        return weights

    message = exercises.attention_gradients.check(attention_gradients).message
    assert "Turn the condition" not in message


def test_a_condition_the_wrong_way_round_is_shown():
    message = exercises.multi_head_attention.check(mha_mask_only_where_it_is_none).message
    assert message.startswith("You use `mask` only where it is None")
    assert "Turn the condition `mask is None` round." in message


def test_of_a_mask_with_an_axis_too_many_there_is_one_advice_only():
    for place in ((slice(None), None), (None, None)):
        message = exercises.multi_head_attention.check(mha_mask_with_another_axis(place)).message
        assert "pass it on as it is" in message
        assert "Python said ValueError: the mask has shape " in message
        assert "mask[:, None]" not in message
        assert "give it two axes" not in message


def test_infinity_times_one_is_infinity():
    def blockwise_attention(queries, keys, values, mask=None, *, is_causal=False, block_size=128):
        top = -np.inf * np.ones(queries.shape[:-1])
        return (queries - top[..., None]) * 0

    result = exercises.blockwise_attention.check(blockwise_attention)
    assert (result.status, result.mistake) == ("wrong", None), result


def test_a_right_answer_hears_of_no_such_line():
    def causal_mask(n):
        mask = np.ones((n, n), bool)
        mask.astype(float)  # somebody had a look
        return np.tril(mask)

    result = exercises.causal_mask.check(causal_mask)
    assert (result.status, "no effect" in result.message) == ("correct", False)


def test_a_long_error_is_cut_between_two_words():
    def softmax(scores):
        raise ValueError("a very long reason " * 40)

    message = exercises.softmax.check(softmax).message
    assert message.partition(" ...")[0].endswith(("a", "very", "long", "reason"))


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("scores.masked_fill(~mask, -1e9)", "np.where(mask, scores, -np.inf)"),
        ("scores.masked_fill_(~mask, -1e9)", "np.where(mask, scores, -np.inf)"),
        ("np.where(mask, scores)", "takes three"),
        ("np.where(mask, scores, -inf)", "np.inf"),  # of the notebook's names, `inf` is none
        ("np.where(not mask, -np.inf, scores)", "was given a whole array"),
        ("mask[:1, :3] if scores[mask[:1, :3]] else 0", "np.where(condition, a, b)"),
        ("scores / np.sqrt(queries.size(-1))", "shape[-1]"),
        ("scores / np.sqrt(queries.shape(-1))", "queries.shape[-1]"),
        ("scores / np.sqrt(d_k)", "queries.shape[-1]"),
        ("torch.softmax(scores, dim=-1)", "uses NumPy"),
        ("scores.sum(dim=-1)", "PyTorch says dim"),
        ("scores.unsqueeze(0)", "a[:, None]"),
        ("scores[len(values)]", "an index runs past the end of its axis"),
        ("scores.exp()", "an array has no method exp; call NumPy's function, np.exp(a, ...)"),
        ("np.masked_fill(scores, mask)", "np.where(mask, scores, -np.inf)"),
        ("np.astype_(scores)", "NumPy has no astype_; is it misspelt?"),
        ("np.cat([scores, scores])", "cat is PyTorch's; in NumPy it is np.concatenate"),
        ("scores.tolist().shape", "np.array(a) makes one of it"),
        ("np.ones(4, 5) * mask", "np.ones((n, n))"),
        ("scores * None", "an argument that was not given"),
        ("scores / scores.sum(axis=-1)", "keepdims=True"),
        ("np.ones((2, 4, 3)) @ np.ones((5, 3, 4))", "those in front must be equal"),
        ("np.concatenate([scores[None], scores])", "one has more axes than the other"),
        ("softmax(scores, mask=mask)", "It has none called mask"),
        ("softmax(scores, axes=-1)", "It has none called axes."),
        ("softmax_jacobian(scores)", "takes one row of weights"),
        ("queries.reshape([1], 3, 2)", "A star takes it apart"),
        ("queries.reshape(7, -1)", "keep whatever axes stand in front"),
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
    namespace = {"np": np, "softmax": softmax, "softmax_jacobian": softmax_jacobian}
    exec(f"def attention(queries, keys, values, mask):\n    scores = queries @ keys.mT\n    return {line}", namespace)
    message = exercises.masked_attention.check(namespace["attention"]).message
    assert "Likely cause: " in message, message
    assert cause in message.partition("Likely cause: ")[2]


def test_shapes_that_np_where_cannot_line_up_are_not_told_of_plus_and_times():
    def masked_attention(queries, keys, values, mask):
        scores = queries @ keys.swapaxes(-1, -2)
        weights = softmax(np.where(mask, scores[..., :2], -np.inf))
        return weights @ values, weights

    message = exercises.masked_attention.check(masked_attention).message
    assert "Likely cause: np.where(condition, a, b) needs shapes that line up from the right" in message


def test_arrays_to_be_joined_that_are_in_no_list_are_told_so():
    def masked_attention(queries, keys, values, mask):
        return np.concatenate(queries, keys), mask

    message = exercises.masked_attention.check(masked_attention).message
    assert "Likely cause: the arrays to be joined come as one list, before the axis" in message


def test_arguments_in_another_order_are_told_even_where_a_mistake_would_explain_the_answer():
    def scaled_dot_product_attention(keys, queries, values, scale=None):
        return exercises.scaled_dot_product_attention.reference(queries, keys, values, scale=scale)

    result = exercises.scaled_dot_product_attention.check(scaled_dot_product_attention)
    assert (result.status, result.mistake) == ("wrong", "arguments-order")
    assert "in another order: keys, queries, values, scale. They are passed by position, so" in result.message


def test_arguments_in_another_order_are_right_where_the_answer_is():
    def attention_scores(keys, queries):
        return keys @ queries.swapaxes(-1, -2)

    assert exercises.attention_scores.check(attention_scores).status == "correct"


def test_a_stub_that_the_function_calls_is_all_that_is_blamed():
    def causal_mask(n):
        return ...

    def attend_with_cache(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
        queries, keys, values = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
        mask = causal_mask(keys.shape[-2])[-queries.shape[-2] :]
        return mask, (keys, values)

    result = exercises.attend_with_cache.check(attend_with_cache)
    assert result.mistake is None
    assert "something is still `...`" in result.message
