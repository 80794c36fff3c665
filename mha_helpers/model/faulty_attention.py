"""Attention with a mistake in it, and its gradients as a framework would compute them: what training then learns.

Each mistake is a pair of functions for `training.Training`: `attend` and the `gradients` that belong to it. Those are
right for what is wrongly computed, as automatic differentiation's would be.
"""

from typing import NamedTuple

import numpy as np

from mha_helpers.attention import attention_scores, combine_heads, scaled_dot_product_attention, softmax, split_heads
from mha_helpers.gradients import attention_gradients
from mha_helpers.masks import apply_mask


class TrainedMistake(NamedTuple):
    """A wrong attention that can be trained."""

    notebook: str  # where it was met
    attend: object  # (queries, keys, values, mask) to (context, weights)
    gradients: object  # (queries, keys, values, d_context, mask) to (d_queries, d_keys, d_values)


def _options(notebook, *, mask_as=lambda mask: mask, scale=None):
    """Make a mistake of the mask or the scale: attention itself is right, and so is its way back."""

    def attend(queries, keys, values, mask):
        return scaled_dot_product_attention(queries, keys, values, mask_as(mask), scale=scale)

    def gradients(queries, keys, values, d_context, mask):
        return attention_gradients(queries, keys, values, d_context, mask_as(mask), scale=scale)

    return TrainedMistake(notebook, attend, gradients)


def _one_too_far(mask):
    return np.tri(*mask.shape, k=1, dtype=bool)


def _softmax_then(notebook, *, axis, mask_before, mask_after):
    """Make a mistake of the softmax: along the wrong axis, or with the mask after it."""

    def forwards(queries, keys, mask):
        scores = attention_scores(queries, keys) * queries.shape[-1] ** -0.5
        return softmax(apply_mask(scores, mask_before(mask)).swapaxes(axis, -1)).swapaxes(axis, -1)

    def attend(queries, keys, values, mask):
        weights = forwards(queries, keys, mask) * mask_after(mask)
        return weights @ values, weights

    def gradients(queries, keys, values, d_context, mask):
        shares, after = forwards(queries, keys, mask), mask_after(mask)
        d_shares = attention_scores(d_context, values) * after
        d_scores = shares * (d_shares - (shares * d_shares).sum(axis=axis, keepdims=True)) * queries.shape[-1] ** -0.5
        d_values = (shares * after).swapaxes(-1, -2) @ d_context
        return d_scores @ keys, d_scores.swapaxes(-1, -2) @ queries, d_values

    return TrainedMistake(notebook, attend, gradients)


def _everything(mask):
    return np.ones_like(mask)


def _cut_by_reshape(heads):
    """Turn heads that were rightly split into those that a reshape alone would have cut."""
    return combine_heads(heads).reshape(heads.shape)


def _undone(cut):
    """Turn them back: what was cut by a reshape is put together by one."""
    *batch, n_heads, n, d_head = cut.shape
    return split_heads(cut.reshape(*batch, n, n_heads * d_head), n_heads)


def _never_turned_back(notebook, before):
    """Make a mistake of the transposes: none before combining, and none before splitting either, if `before` cuts."""

    def attend(queries, keys, values, mask):
        context, weights = scaled_dot_product_attention(*map(before, (queries, keys, values)), mask)
        return _undone(context), weights

    def gradients(queries, keys, values, d_context, mask):
        found = attention_gradients(*map(before, (queries, keys, values)), _cut_by_reshape(d_context), mask)
        return tuple(map(_undone if before is _cut_by_reshape else np.asarray, found))

    return TrainedMistake(notebook, attend, gradients)


def _keys_for_values(queries, keys, values, mask):
    return scaled_dot_product_attention(queries, keys, keys, mask)


def _keys_for_values_back(queries, keys, values, d_context, mask):
    d_queries, d_keys, d_values = attention_gradients(queries, keys, keys, d_context, mask)
    return d_queries, d_keys + d_values, np.zeros_like(values)


MISTAKES = {
    "softmax over the queries": _softmax_then("01", axis=-2, mask_before=lambda mask: mask, mask_after=lambda mask: 1),
    "keys in place of values": TrainedMistake("01", _keys_for_values, _keys_for_values_back),
    "not divided": _options("02", scale=1.0),
    "divided by d": _options("02", scale=1 / 16),
    "no mask": _options("03", mask_as=_everything),
    "mask one too far": _options("03", mask_as=_one_too_far),
    "mask after the softmax": _softmax_then("03", axis=-1, mask_before=_everything, mask_after=lambda mask: mask),
    "split and combined by reshape": _never_turned_back("04", _cut_by_reshape),
    "combined by reshape": _never_turned_back("04", lambda heads: heads),
}
