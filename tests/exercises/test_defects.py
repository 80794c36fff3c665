"""Answers that once passed, that had no name, or whose learner was told something that misleads."""

import math
import re
import statistics

import numpy as np
import pytest
from answers import EXERCISES

from mha_helpers.maths.attention import (
    attention_scores,
    combine_heads,
    scaled_dot_product_attention,
    softmax,
    softmax_or_zeros,
    split_heads,
)


def row_by_row(scores):
    """Softmax written into an array of the scores' own type."""
    weights = np.zeros_like(scores)
    for row in np.ndindex(scores.shape[:-1]):
        powers = np.exp(scores[row] - scores[row].max())
        weights[row] = powers / powers.sum()
    return weights


def attention_of(weigh):
    """Return attention whose weights are weigh(queries, keys)."""

    def attention(queries, keys, values):
        weights = weigh(queries, keys)
        return weights @ values, weights

    return attention


def scaled(factor):
    """Return attention whose scores are multiplied by factor(queries, keys), whatever scale is given."""

    def attention(queries, keys, values, scale=None):
        weights = softmax(attention_scores(queries, keys) * factor(queries, keys))
        return weights @ values, weights

    return attention


def scaled_unless_given(factor):
    def attention(queries, keys, values, scale=None):
        scale = factor(queries, keys) if scale is None else scale
        weights = softmax(attention_scores(queries, keys) * scale)
        return weights @ values, weights

    return attention


def masked(weigh):
    """Return masked attention whose weights are weigh(scaled scores, mask)."""

    def attention(queries, keys, values, mask):
        weights = weigh(attention_scores(queries, keys) / np.sqrt(queries.shape[-1]), mask)
        return weights @ values, weights

    return attention


def masked_by_transpose(queries, keys, values, mask):
    scores = queries @ keys.transpose(-2, -1) / np.sqrt(queries.shape[-1])
    weights = softmax_or_zeros(np.where(mask, scores, -np.inf))
    return weights @ values, weights


def scaled_by_transpose(queries, keys, values, scale=None):
    scale = queries.shape[-1] ** -0.5 if scale is None else scale
    weights = softmax(queries @ keys.transpose(-2, -1) * scale)
    return weights @ values, weights


def past(scores):
    return np.tril(np.ones(scores.shape[-2:], bool))


def variance_in_python(divisor):
    def variance(queries, keys):
        scores = [sum(map(float.__mul__, map(float, q), map(float, k))) for q, k in zip(queries, keys, strict=True)]
        mean = sum(scores) / len(scores)
        return sum((score - mean) ** 2 for score in scores) / divisor(len(scores))

    return variance


def rows_of(W_O, heads, n_heads, new):
    d_head = len(W_O) // n_heads
    for head in heads:
        new[head * d_head : (head + 1) * d_head] = 0
    return new


def knocked_out_in_blocks(W_O, heads, n_heads):
    blocks = W_O.reshape(n_heads, -1, W_O.shape[-1])
    blocks[heads] = 0
    return blocks.reshape(W_O.shape)


def combined_under_old_names(heads):
    heads = heads.swapaxes(-3, -2)
    *batch, n_heads, seq_len, d_head = heads.shape
    return heads.reshape(*batch, seq_len, n_heads * d_head)


def distances_squared(queries, keys):
    return ((queries[..., :, None, :] - keys[..., None, :, :]) ** 2).sum(axis=-1)


def columns_of_W_O(heads, W_O):
    d_head = heads.shape[-1]
    parts = [heads[..., i, :, :] @ W_O[:, i * d_head : (i + 1) * d_head] for i in range(heads.shape[-3])]
    return np.stack(parts, axis=-3)


VIEWS = (lambda W_O: W_O[:], np.asarray, lambda W_O: W_O.reshape(W_O.shape), lambda W_O: W_O.T.T)

NAMED = {
    "softmax": {"fractions-lost": [row_by_row]},
    "attention_scores": {
        "scores-feature-left-out": [
            lambda queries, keys: queries[..., :-1] @ keys[..., :-1].swapaxes(-1, -2),
            lambda queries, keys: np.einsum("...qd,...kd->...qk", queries[..., 1:], keys[..., 1:]),
        ],
        "scores-minus": [lambda queries, keys: queries @ -keys.swapaxes(-1, -2)],
        "scores-clipped": [lambda queries, keys: (queries @ keys.swapaxes(-1, -2)).clip(0)],
        "scores-mean": [lambda queries, keys: (queries[..., :, None, :] * keys[..., None, :, :]).mean(axis=-1)],
        "scores-distance": [lambda queries, keys: -np.sqrt(distances_squared(queries, keys))],
    },
    "dot_product_attention": {
        "fractions-lost": [
            attention_of(
                lambda queries, keys: row_by_row(attention_scores(queries, keys).astype(np.result_type(queries, keys)))
            )
        ],
        "causal-not-asked": [
            attention_of(lambda q, k: softmax_or_zeros(np.where(past(q @ k.mT), q @ k.mT, -np.inf))),
        ],
    },
    "dot_product_variance": {
        "variance-n-minus-one": [
            variance_in_python(lambda n: n - 1),
            variance_in_python(lambda n: max(n - 1, 1)),
            lambda queries, keys: statistics.variance([float(q @ k) for q, k in zip(queries, keys, strict=True)]),
        ],
        "variance-first-pairs": [
            lambda queries, keys: (queries[:100] * keys[:100]).sum(axis=-1).var(),
            lambda queries, keys: np.var([queries[i] @ keys[i] for i in range(min(len(queries), 20))]),
        ],
    },
    "scaled_dot_product_attention": {
        "scale-fixed-above": [scaled_unless_given(lambda queries, keys: min(queries.shape[-1], 8) ** -0.5)],
        "scale-axis-from-front": [
            scaled(lambda queries, keys: keys.shape[1] ** -0.5),
            scaled_unless_given(lambda queries, keys: keys.shape[1] ** -0.5),
        ],
        "scale-precedence": [
            scaled(lambda queries, keys: 1 / queries.shape[-1] ** 1 / 2),
            scaled_unless_given(lambda queries, keys: 1 / (queries.shape[-1] ** 1 / 2)),
        ],
        "scale-ignored": [scaled(lambda queries, keys: 1 / math.sqrt(queries.shape[-1]))],
        "scores-transpose-order": [scaled_by_transpose],
        "causal-not-asked": [
            lambda queries, keys, values, scale=None: scaled_dot_product_attention(
                queries, keys, values, is_causal=True, scale=scale
            )
        ],
    },
    "masked_attention": {
        "mask-rows-emptied": [
            masked(lambda s, mask: softmax(np.where(mask, s, -1e30)) * mask.all(-1, keepdims=True)),
            masked(lambda s, mask: np.where(mask.all(-1)[..., None], softmax(np.where(mask, s, -1e9)), 0)),
        ],
        "mask-causal-instead": [masked(lambda s, mask: softmax(np.where(past(s), s, -np.inf)))],
        "mask-causal-on-top": [masked(lambda s, mask: softmax_or_zeros(np.where(mask & past(s), s, -np.inf)))],
        "scores-transpose-order": [masked_by_transpose],
        "mask-tiny-number": [
            masked(lambda s, mask: softmax(np.where(mask, s, -1e9)) * mask.any(axis=-1, keepdims=True))
        ],
    },
    "combine_heads": {
        "combine-old-shape": [lambda heads: heads.swapaxes(-3, -2).reshape(heads.shape)],
        "combine-sizes-after-swap": [combined_under_old_names],
    },
    "head_contributions": {
        "contributions-width-mismatch": [columns_of_W_O],
        "contributions-split-heads": [lambda heads, W_O: heads @ split_heads(W_O, heads.shape[-3])],
        "contributions-rows-from-head": [
            lambda heads, W_O: np.stack(
                [heads[..., i, :, :] @ W_O[i : i + heads.shape[-1]] for i in range(heads.shape[-3])], axis=-3
            )
        ],
    },
    "previous_token_score": {
        "fractions-lost": [
            lambda weights: np.diagonal(weights, -1, -2, -1).mean(axis=-1).astype(weights.dtype),
        ]
    },
    "head_entropy": {
        "entropy-float32": [
            lambda weights: -(weights * np.log(weights + 1e-300)).sum(axis=-1).mean(axis=-1),
            lambda weights: -(weights * np.log(weights.clip(1e-300))).sum(axis=-1).mean(axis=-1),
        ]
    },
    "knock_out": {
        "knock-out-by-place": [
            lambda W_O, heads, n_heads: rows_of(W_O, range(len(heads)), n_heads, W_O.copy()),
            lambda W_O, heads, n_heads: rows_of(W_O, [i for i, _ in enumerate(heads)], n_heads, W_O.copy()),
        ],
        "input-changed": [
            knocked_out_in_blocks,
            *(lambda W_O, heads, n_heads, view=view: rows_of(W_O, heads, n_heads, view(W_O)) for view in VIEWS),
        ],
    },
}


@pytest.mark.parametrize(
    ("name", "slug", "answer"),
    [
        pytest.param(name, slug, answer, id=f"{name}-{slug}-{i}")
        for name, mistakes in NAMED.items()
        for slug, group in mistakes.items()
        for i, answer in enumerate(group)
    ],
)
def test_the_mistake_is_named(name, slug, answer):
    result = EXERCISES[name].check(answer)
    assert (result.status, result.mistake) == ("wrong", slug), result


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
        ("knock_out", knocked_out_in_blocks, "`W_O.copy()`", "a = a - b` changes"),
        ("knock_out", knocked_out_in_blocks, "a reshape, a transpose and np.asarray", "make a new array:"),
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
