"""Implementations that nobody published, made up in the manner of those that are: each asks something of the doctor.

Faulty ones stand with the names that a report may give, or with none where it should say only where they show.
"""

import math

import numpy as np

from mha_helpers.attention import combine_heads, softmax, split_heads

FAULTY, RIGHT = {}, []


def faulty(*names):
    def register(function):
        FAULTY[function] = {*names}
        return function

    return register


def right(function):
    RIGHT.append(function)
    return function


def scores_of(queries, keys):
    return queries @ keys.swapaxes(-1, -2) / math.sqrt(queries.shape[-1])


# ---- faulty


@faulty()
def nan_for_one_token(queries, keys, values):
    with np.errstate(all="ignore"):
        return softmax(scores_of(queries, keys) + 0 * np.divide(1.0, keys.shape[-2] - 1.0)) @ values


@faulty()
def keys_after_the_80th_are_halved(queries, keys, values):
    scores = scores_of(queries, keys)
    scores[..., 80:] *= 0.5
    return softmax(scores) @ values


@faulty()
def causal_by_blocks(queries, keys, values, is_causal=False):
    scores, place = scores_of(queries, keys), np.arange(keys.shape[-2]) // 16
    if is_causal:
        scores = np.where(place[: queries.shape[-2], None] >= place, scores, -np.inf)
    return softmax(scores) @ values


@faulty("input-changed")
def mask_overwritten_with_the_flag(queries, keys, values, mask=None, is_causal=False):
    scores = scores_of(queries, keys)
    below = np.tri(*scores.shape[-2:], dtype=bool)
    if is_causal and mask is not None and mask.shape[-2:] == below.shape:
        mask &= below
    elif is_causal:
        mask = below if mask is None else mask & below
    return softmax(scores if mask is None else np.where(mask, scores, -1e30)) @ values


@faulty("not-repeatable")
def remembers_scores(queries, keys, values, before={}):  # noqa: B006
    scores = scores_of(queries, keys)
    scores = 0.9 * scores + 0.1 * before.get(scores.shape, scores)
    before[scores.shape] = scores
    return softmax(scores) @ values


@faulty("returns-swapped")
def weights_come_first(queries, keys, values):
    weights = softmax(scores_of(queries, keys))
    return weights, weights @ values


@faulty("scale-missing", "softmax-no-max")
def unscaled_and_without_maximum(queries, keys, values):
    exponentials = np.exp(queries @ keys.swapaxes(-1, -2))
    return exponentials / (exponentials.sum(-1, keepdims=True) + 1e-300) @ values


@faulty("mha-strided")
def every_nth_feature_is_a_heads(X, W_Q, W_K, W_V, W_O, n_heads):
    batch, tokens, width = X.shape
    queries, keys, values = ((X @ W).reshape(batch, tokens, -1, n_heads).transpose(0, 3, 1, 2) for W in (W_Q, W_K, W_V))
    heads = softmax(scores_of(queries, keys)) @ values
    return heads.transpose(0, 2, 3, 1).reshape(batch, tokens, width) @ W_O


@faulty("causal-strict", "scale-missing", "values-are-keys")
def three_at_once(X, W_Q, W_K, W_V, W_O, n_heads):
    queries, keys = split_heads(X @ W_Q, n_heads), split_heads(X @ W_K, n_heads)
    scores = np.where(np.tri(X.shape[1], k=-1, dtype=bool), queries @ keys.swapaxes(-1, -2), -1e9)
    return combine_heads(softmax(scores) @ keys) @ W_O


@faulty("mha-mask-first-sentence")
def first_length_for_all(queries, keys, values, lengths):
    scores = scores_of(queries, keys)
    return softmax(np.where(np.arange(keys.shape[-2]) < lengths[0], scores, -np.inf)) @ values


@faulty()
def padding_hides_by_zeroed_keys(queries, keys, values, mask=None):
    if mask is not None and mask.shape[-2] == 1:
        keys = keys * mask.swapaxes(-1, -2)
    return softmax(scores_of(queries, keys)) @ values


@faulty("cross-attends-to-itself")
def context_for_nothing(X, context, W_Q, W_K, W_V, W_O, n_heads):
    queries, keys, values = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    return combine_heads(softmax(scores_of(queries, keys)) @ values) @ W_O


@faulty("softmax-global-max")
def less_the_largest_score_of_all(queries, keys, values):
    scores = scores_of(queries, keys)
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum(-1, keepdims=True) @ values


@faulty("returns-weights-only")
def weights_alone(queries, keys, values):
    return softmax(scores_of(queries, keys))


@faulty("mask-outer-nan")
def nan_for_all_where_one_row_sees_nothing(queries, keys, values, mask=None):
    scores = scores_of(queries, keys)
    if mask is None:
        return softmax(scores) @ values
    hidden = np.where(mask, 0.0, -np.inf)
    largest = (scores + hidden).max(axis=-1, keepdims=True)
    exponentials = np.exp(scores + hidden - largest)
    sums = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / (sums + 0 * sums.sum()) @ values


@faulty("batch-mixed")
def less_the_mean_of_the_batch(X):
    return softmax(scores_of(X - X.mean(axis=0, keepdims=True), X)) @ X


@faulty("bias-left-out")
def without_the_bias_of_the_values(X, W_Q, b_Q, W_K, b_K, W_V, b_V, W_O, b_O, n_heads):
    queries, keys, values = (split_heads(array, n_heads) for array in (X @ W_Q + b_Q, X @ W_K + b_K, X @ W_V))
    return combine_heads(softmax(scores_of(queries, keys)) @ values) @ W_O + b_O


@faulty("output-bias-repeated")
def bias_once_a_head(X, W_Q, W_K, W_V, W_O, b_O, n_heads):
    queries, keys, values = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    heads = (softmax(scores_of(queries, keys)) @ values).swapaxes(0, 1)
    return sum(head @ W + b_O for head, W in zip(heads, np.split(W_O, n_heads), strict=True))


@faulty("mask-float16-overflow")
def hidden_by_a_number_that_float16_has_not(queries, keys, values, mask=None):
    scores = scores_of(queries, keys)
    if mask is not None:
        with np.errstate(all="ignore"):
            scores = scores + ~mask * np.array(-1e9).astype(scores.dtype)
    return softmax(scores) @ values


# ---- right


@right
def by_distances(queries, keys, values):
    distances = ((queries[..., :, None, :] - keys[..., None, :, :]) ** 2).sum(-1)
    lengths = (queries**2).sum(-1)[..., None] + (keys**2).sum(-1)[..., None, :]
    return softmax((lengths - distances) / 2 / math.sqrt(queries.shape[-1])) @ values


@right
def bias_of_the_keys_left_out(X, W_Q, b_Q, W_K, b_K, W_V, b_V, W_O, b_O, n_heads):
    """It adds the same to all scores of a query, and changes no weight."""
    queries, keys, values = (split_heads(one, n_heads) for one in (X @ W_Q + b_Q, X @ W_K, X @ W_V + b_V))
    return combine_heads(softmax(scores_of(queries, keys)) @ values) @ W_O + b_O


@right
def two_halves_put_together(queries, keys, values):
    """By their log-sum-exps, as ring attention does."""
    outputs, logs = [], []
    for some, theirs in zip(np.array_split(keys, 2, -2), np.array_split(values, 2, -2), strict=True):
        scores = scores_of(queries, some)
        if scores.shape[-1]:
            outputs.append(softmax(scores) @ theirs)
            logs.append(np.logaddexp.reduce(scores, axis=-1))
    shares = softmax(np.stack(logs, -1))
    return sum(shares[..., i, None] * output for i, output in enumerate(outputs))
