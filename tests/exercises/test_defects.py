"""What is said helps and does not mislead; what is refused on purpose is refused; fractions must not be lost."""

import re

import numpy as np
import pytest
from answers import EXERCISES
from answers.knock_out import knock_out_in_blocks_of_the_argument

from mha_helpers.attention import (
    attention_scores,
    combine_heads,
    scaled_dot_product_attention,
    softmax,
    softmax_or_zeros,
    split_heads,
)


def masked(weigh):
    """Return masked attention whose weights are weigh(scaled scores, mask)."""

    def attention(queries, keys, values, mask):
        weights = weigh(attention_scores(queries, keys) / np.sqrt(queries.shape[-1]), mask)
        return weights @ values, weights

    return attention


def merged_at_once(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    queries, keys, values = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    return combine_heads(scaled_dot_product_attention(queries, keys, values, mask)) @ W_O


def merged_by_hand(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    queries, keys, values = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    heads = scaled_dot_product_attention(queries, keys, values, mask)
    return heads.swapaxes(-3, -2).reshape(X.shape) @ W_O


@pytest.mark.parametrize(
    ("name", "answer", "said", "unsaid"),
    [
        ("softmax", lambda scores: np.softmax(scores), "it is what you are writing", "call your own"),
        ("multi_head_attention", merged_at_once, "context, weights = ...", "rows of different lengths"),
        ("multi_head_attention", merged_by_hand, "context, weights = ...", "NumPy's name for it"),
        (
            "multi_head_attention",
            lambda X, W_Q, W_K, W_V, W_O, n_heads, mask=None: split_heads(W_Q(X), n_heads),
            "A product with a matrix is X @ W",
            "give it another name",
        ),
        (
            "masked_attention",
            masked(lambda s, mask: softmax_or_zeros(np.where(np.squeeze(mask), s, -np.inf))),
            "squeeze",
            "keepdims",
        ),
        ("knock_out", knock_out_in_blocks_of_the_argument, "`W_O.copy()`", "a = a - b` changes"),
        (
            "knock_out",
            knock_out_in_blocks_of_the_argument,
            "a reshape, a transpose and np.asarray",
            "make a new array:",
        ),
        (
            "dot_product_attention",
            lambda queries, keys, values: (softmax(queries @ keys.swapaxes(-1, -2)) @ values, ...),
            "Part of it is there; still to compute: weights.",
            "Not attempted",
        ),
        ("split_heads", lambda X, n_heads: X.view(*X.shape[:-1], n_heads, -1), "NumPy's reshape", "other arguments"),
        ("attention_scores", lambda q, k: q @ k.transpose(1, 2), "swapaxes(1, 2)", "axis is counted from the front"),
        (
            "softmax",
            lambda scores: (weight for weight in scores),
            "as a function with `yield` does",
            "generator, which",
        ),
    ],
)
def test_what_is_said_helps_and_does_not_mislead(name, answer, said, unsaid):
    result = EXERCISES[name].check(answer)
    assert result.status == "wrong"
    told = re.sub(r"in the line `.*?`\.", "", result.message)  # which is a line of this file
    assert said in told
    assert unsaid not in told


class Refusal(Exception):
    """Of the learner's own."""


@pytest.mark.parametrize("kind", [ValueError, AssertionError, TypeError, RuntimeError, ZeroDivisionError, Refusal])
def test_whatever_is_raised_on_purpose_refuses(kind):
    def split(X, n_heads):
        if X.shape[-1] % n_heads:
            raise kind("n_heads must divide d_model")
        return split_heads(X, n_heads)

    assert EXERCISES["split_heads"].check(split).status == "correct"


@pytest.mark.parametrize(
    "stumble",
    [lambda X: X[9], lambda X: X @ X, lambda X: X.nothing, lambda X: 1 / 0, lambda X: np.swapaxes(X, 5)],
    ids=["index", "product", "attribute", "division", "arguments"],
)
def test_what_stumbles_does_not_refuse(stumble):
    def split(X, n_heads):
        return stumble(X[0, 0]) if X.shape[-1] % n_heads else split_heads(X, n_heads)

    assert EXERCISES["split_heads"].check(split).status == "wrong"


def in_the_inputs_type(right):
    """Return a right function whose results are cut to the type of its arrays, as np.zeros_like would cut them."""

    def cut(*arguments, **options):
        kind = np.result_type(*(argument for argument in arguments if isinstance(argument, np.ndarray)))
        returned = right(*arguments, **options)
        return tuple(part.astype(kind) for part in returned) if isinstance(returned, tuple) else returned.astype(kind)

    return cut


# Exercises on weights, masks or p take no whole numbers of which an answer could be a fraction; some only move numbers.
COMPUTING = [
    "softmax",
    "dot_product_attention",
    "mend_attention",
    "dot_product_variance",
    "scaled_dot_product_attention",
    "two_part_scores",
    "mend_scaled_attention",
    "masked_attention",
    "mend_masked_attention",
    "folded_attention",
    "weights_heads_last",
    "multi_head_attention",
    "previous_token_score",
    "attention_gradients",
    "next_token_probabilities",
    "blockwise_attention",
]


@pytest.mark.parametrize("name", COMPUTING)
def test_fractions_of_whole_numbers_must_not_be_lost(name):
    result = EXERCISES[name].check(in_the_inputs_type(EXERCISES[name].reference))
    assert (result.status, result.mistake) == ("wrong", "fractions-lost"), result
