"""Answers to cross_attention: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.attention import (
    combine_heads,
    multi_head_attention,
    scaled_dot_product_attention,
    softmax,
    softmax_or_zeros,
    split_heads,
)
from mha_helpers.cross import cross_attention
from mha_helpers.masks import padding_mask

TELLING_CASE = ("a batch", 6)


def by_the_whole_layer(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    mask = padding_mask(context_mask) if context_mask is not None else None
    return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask, context_X=context_X)


def head_by_head(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    d_head = W_Q.shape[1] // n_heads
    mask = None if context_mask is None else context_mask[:, None, :] == 1
    output, weights = 0, []
    for h in range(n_heads):
        own = slice(h * d_head, (h + 1) * d_head)
        context, w = scaled_dot_product_attention(
            X @ W_Q[:, own], context_X @ W_K[:, own], context_X @ W_V[:, own], mask
        )
        output = output + context @ W_O[own]
        weights.append(w)
    return output, np.stack(weights, axis=-3)


def by_einsum(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    def heads(rows, W):
        return np.einsum("...ti,ihd->...htd", rows, W.reshape(len(W), n_heads, -1))

    q, k, v = heads(X, W_Q), heads(context_X, W_K), heads(context_X, W_V)
    scores = np.einsum("...qd,...kd->...qk", q, k) / q.shape[-1] ** 0.5
    if context_mask is not None:
        scores = np.where(context_mask[:, None, None, :], scores, -np.inf)
    weights = softmax_or_zeros(scores)
    return np.einsum("...hqk,...hkd,hdo->...qo", weights, v, W_O.reshape(n_heads, -1, W_O.shape[1])), weights


def one_word_at_a_time(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    keys, values = split_heads(context_X @ W_K, n_heads), split_heads(context_X @ W_V, n_heads)
    mask = None if context_mask is None else padding_mask(context_mask)
    rows = []
    for i in range(X.shape[-2]):
        query = split_heads(X[..., i : i + 1, :] @ W_Q, n_heads)
        rows.append(scaled_dot_product_attention(query, keys, values, mask))
    heads, weights = (np.concatenate(parts, axis=-2) for parts in zip(*rows, strict=True))
    return combine_heads(heads) @ W_O, weights


def keys_and_values_in_one_product(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    keys, values = np.split(context_X @ np.hstack([W_K, W_V]), 2, axis=-1)
    queries, keys, values = (split_heads(part, n_heads) for part in (X @ W_Q, keys, values))
    mask = None if context_mask is None else padding_mask(context_mask)
    heads, weights = scaled_dot_product_attention(queries, keys, values, mask)
    return combine_heads(heads) @ W_O, weights


def added_mask_of_minus_infinity(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    q, k, v = (
        split_heads(X @ W_Q, n_heads),
        split_heads(context_X @ W_K, n_heads),
        split_heads(context_X @ W_V, n_heads),
    )
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if context_mask is not None:
        scores = scores + np.where(context_mask == 0, -np.inf, 0)[:, None, None, :]
    weights = softmax_or_zeros(scores)
    return combine_heads(weights @ v) @ W_O, weights


def sentence_by_sentence(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    if context_mask is None:
        return by_the_whole_layer(X, context_X, W_Q, W_K, W_V, W_O, n_heads)
    found = [
        multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads, np.tile(own == 1, (len(x), 1)), context_X=source)
        for x, source, own in zip(X, context_X, context_mask, strict=True)
    ]
    return np.array([output for output, _ in found]), np.array([weights for _, weights in found])


def padding_cut_off(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    """Each sentence attends to its source's tokens alone, and the padding gets the zeros afterwards."""
    if context_mask is None:
        return by_the_whole_layer(X, context_X, W_Q, W_K, W_V, W_O, n_heads)
    outputs, weights = (
        np.zeros((*X.shape[:-1], W_O.shape[1])),
        np.zeros((len(X), n_heads, X.shape[1], context_X.shape[1])),
    )
    for b, tokens in enumerate(context_mask == 1):
        if tokens.any():
            outputs[b], weights[b][..., tokens] = multi_head_attention(
                X[b], W_Q, W_K, W_V, W_O, n_heads, context_X=context_X[b][tokens]
            )
    return outputs, weights


def one_matrix_between_the_words(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    """W_Q and W_K of each head are multiplied first, so that no keys are made."""
    d_head = W_Q.shape[1] // n_heads
    between = np.einsum("ihd,jhd->hij", W_Q.reshape(-1, n_heads, d_head), W_K.reshape(-1, n_heads, d_head))
    scores = X[..., None, :, :] @ between @ context_X[..., None, :, :].swapaxes(-1, -2) / d_head**0.5
    if context_mask is not None:
        scores = np.where(np.array(context_mask)[:, None, None] == 1, scores, -np.inf)
    weights = softmax_or_zeros(scores)
    return combine_heads(weights @ split_heads(context_X @ W_V, n_heads)) @ W_O, weights


def low_numbers_and_then_zeros(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    q, k, v = (split_heads(rows @ W, n_heads) for rows, W in ((X, W_Q), (context_X, W_K), (context_X, W_V)))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    keep = True if context_mask is None else np.asarray(context_mask, bool)[:, None, None, :]
    weights = softmax(np.where(keep, scores, -1e30)) * keep
    return combine_heads(weights @ v) @ W_O, weights


def in_float32(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    arrays = (np.asarray(array, np.float32) for array in (X, context_X, W_Q, W_K, W_V, W_O))
    return cross_attention(*arrays, n_heads, context_mask)


class as_a_class:
    def __new__(cls, X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
        layer = object.__new__(cls)
        layer.n_heads = n_heads
        q, k, v = map(layer.split, (X, context_X, context_X), (W_Q, W_K, W_V))
        heads, weights = scaled_dot_product_attention(q, k, v, layer.mask(context_mask))
        return [combine_heads(heads) @ W_O, weights]

    def split(self, rows, W):
        return split_heads(rows @ W, self.n_heads)

    def mask(self, context_mask):
        return None if context_mask is None else padding_mask(context_mask)


RIGHT = (
    cross_attention,
    by_the_whole_layer,
    head_by_head,
    by_einsum,
    one_word_at_a_time,
    keys_and_values_in_one_product,
    added_mask_of_minus_infinity,
    sentence_by_sentence,
    padding_cut_off,
    one_matrix_between_the_words,
    low_numbers_and_then_zeros,
    in_float32,
    as_a_class,
)


def layer(queries_of, keys_of, values_of, mask_of=lambda mask, q, k: padding_mask(mask), causal=False):
    """Cross-attention whose queries, keys and values are made of (X, context_X) in some way."""

    def attention(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
        q, k, v = (
            split_heads(make(X, context_X) @ W, n_heads)
            for make, W in ((queries_of, W_Q), (keys_of, W_K), (values_of, W_V))
        )
        mask = None if context_mask is None else mask_of(context_mask, q, k)
        heads, weights = scaled_dot_product_attention(q, k, v, mask, is_causal=causal)
        return combine_heads(heads) @ W_O, weights

    return attention


def of_X(X, context_X):
    return X


def of_source(X, context_X):
    return context_X


def swapped_by_position(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    return cross_attention(context_X, X, W_Q, W_K, W_V, W_O, n_heads)


def self_attention_of_notebook_05(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads)


def self_attention_of_the_source(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    mask = None if context_mask is None else padding_mask(context_mask)
    return multi_head_attention(context_X, W_Q, W_K, W_V, W_O, n_heads, mask)


def causal_by_np_tri(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    mask = np.tri(X.shape[-2], context_X.shape[-2], dtype=bool)
    if context_mask is not None:
        mask = mask & padding_mask(context_mask)
    return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask, context_X=context_X)


def causal_as_in_a_cache(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    n, n_keys = X.shape[-2], context_X.shape[-2]
    mask = np.tri(n, n_keys, n_keys - n, dtype=bool)
    if context_mask is not None:
        mask = mask & padding_mask(context_mask)
    return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask, context_X=context_X)


def scaled_by_the_model(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    d_model = X.shape[-1]
    q, k, v = (
        split_heads(X @ W_Q, n_heads),
        split_heads(context_X @ W_K, n_heads),
        split_heads(context_X @ W_V, n_heads),
    )
    mask = None if context_mask is None else padding_mask(context_mask)
    heads, weights = scaled_dot_product_attention(q, k, v, mask, scale=1 / np.sqrt(d_model))
    return combine_heads(heads) @ W_O, weights


def by_hand(weigh, scale=lambda q: np.sqrt(q.shape[-1])):
    """Cross-attention whose weights are weigh(scores, context_mask)."""

    def attention(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
        q, k, v = (
            split_heads(X @ W_Q, n_heads),
            split_heads(context_X @ W_K, n_heads),
            split_heads(context_X @ W_V, n_heads),
        )
        weights = weigh(q @ k.swapaxes(-1, -2) / scale(q), context_mask)
        return combine_heads(weights @ v) @ W_O, weights

    return attention


def hiding(scores, mask):
    return softmax_or_zeros(scores if mask is None else np.where(mask[:, None, None, :], scores, -np.inf))


def multiplied_after(scores, mask):
    weights = softmax(scores)
    return weights if mask is None else weights * mask[:, None, None, :]


def hidden_tokens(scores, mask):
    return softmax_or_zeros(scores if mask is None else np.where(mask[:, None, None, :] == 0, scores, -np.inf))


def nan_where_nothing_is_seen(scores, mask):
    return softmax(scores if mask is None else np.where(mask[:, None, None, :], scores, -np.inf))


def even_where_nothing_is_seen(scores, mask):
    return softmax(scores if mask is None else np.where(mask[:, None, None, :], scores, -1e9))


def zeros_for_scores(scores, mask):
    return softmax(scores if mask is None else scores * mask[:, None, None, :])


def added_numbers(scores, mask):
    return softmax(scores if mask is None else scores + mask[:, None, None, :])


def without_maximum(scores, mask):
    powers = np.exp(scores if mask is None else np.where(mask[:, None, None, :], scores, -np.inf))
    sums = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(sums == 0, 1, sums)


def over_the_words(scores, mask):
    scores = scores if mask is None else np.where(mask[:, None, None, :], scores, -np.inf)
    return softmax_or_zeros(scores.swapaxes(-1, -2)).swapaxes(-1, -2)


def mask_given_as_it_is(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, context_mask, context_X=context_X)


def changed(change):
    """Right cross-attention, of which change(output, weights, X, context_X) is returned."""
    return lambda X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None: change(
        *cross_attention(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask), X, context_X
    )


def source_set_to_zero(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    source = context_X if context_mask is None else np.where(context_mask[..., None] == 1, context_X, 0)
    return cross_attention(X, source, W_Q, W_K, W_V, W_O, n_heads)


def written_word_added(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    """The source's rows with the mean of X added: every word sees the others."""
    return cross_attention(X - X.mean(axis=-2, keepdims=True), context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask)


def writes_into_the_source(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    if context_mask is not None:
        context_X[context_mask == 0] = 0
    return cross_attention(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask)


def raised_where_padded(scores, mask):
    return softmax(scores if mask is None else scores + (1 - mask[:, None, None, :]) * 1e9)


def lowered_where_real(scores, mask):
    return softmax(scores if mask is None else scores - padding_mask(mask) * 1e9)


def renormalised(scores, mask):
    weights = softmax(scores)
    if mask is None:
        return weights
    weights = weights * padding_mask(mask)
    return weights / weights.sum(axis=-1, keepdims=True)


def hidden_by_not_a_number(scores, mask):
    if mask is None:
        return softmax(scores)
    return np.nan_to_num(softmax(np.where(padding_mask(mask), scores, np.nan)))


def source_cut(length_of):
    def attention(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
        if context_mask is not None:
            context_X = context_X[:, : length_of(context_mask)]
        return cross_attention(X, context_X, W_Q, W_K, W_V, W_O, n_heads)

    return attention


def values_set_to_zero(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    q, k, v = (split_heads(rows @ W, n_heads) for rows, W in ((X, W_Q), (context_X, W_K), (context_X, W_V)))
    if context_mask is not None:
        v = v * context_mask[:, None, :, None]
    heads, weights = scaled_dot_product_attention(q, k, v)
    return combine_heads(heads) @ W_O, weights


def asked_if_any(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    mask = padding_mask(context_mask) if context_mask.any() else None
    return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask, context_X=context_X)


def asked_if_mask(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    mask = padding_mask(context_mask) if context_mask else None
    return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask, context_X=context_X)


def keys_ask(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    q, k, v = (split_heads(rows @ W, n_heads) for rows, W in ((X, W_Q), (context_X, W_K), (context_X, W_V)))
    mask = None if context_mask is None else padding_mask(context_mask)
    heads, weights = scaled_dot_product_attention(k, q, v, mask)
    return combine_heads(heads) @ W_O, weights


def scores_beside_it(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    q, k = split_heads(X @ W_Q, n_heads), split_heads(context_X @ W_K, n_heads)
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if context_mask is not None:
        scores = np.where(padding_mask(context_mask), scores, -np.inf)
    return cross_attention(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask)[0], scores


def masked_by(mask_of):
    return layer(of_X, of_source, of_source, lambda mask, q, k: mask_of(mask))


WRONG = {
    "cross-sources-swapped": (layer(of_source, of_X, of_X), swapped_by_position),
    "cross-attends-to-itself": (layer(of_X, of_X, of_X), self_attention_of_notebook_05),
    "cross-queries-from-the-source": (self_attention_of_the_source,),
    "cross-keys-and-values-apart": (layer(of_X, of_X, of_source), layer(of_X, of_source, of_X)),
    "cross-causal": (
        causal_by_np_tri,
        layer(of_X, of_source, of_source, causal=True),
        layer(of_X, of_source, of_source, lambda mask, q, k: np.tri(q.shape[-2], k.shape[-2], dtype=bool), causal=True),
        causal_as_in_a_cache,
    ),
    "cross-mask-square": (
        masked_by(lambda mask: padding_mask(mask) & padding_mask(mask).swapaxes(-1, -2)),
        masked_by(lambda mask: mask.astype(bool)[:, None, :] & mask.astype(bool)[:, :, None]),
    ),
    "cross-padding-raised": (
        by_hand(raised_where_padded),
        by_hand(lowered_where_real),
        by_hand(lambda s, mask: softmax(s if mask is None else np.where(padding_mask(mask), s, 1e9))),
    ),
    "cross-not-low-enough": (
        by_hand(lambda s, mask: softmax(s if mask is None else np.where(padding_mask(mask), s, -10))),
        by_hand(lambda s, mask: softmax(s if mask is None else s - 10 * ~padding_mask(mask))),
    ),
    "mask-minus-minus-inf": (
        by_hand(lambda s, mask: softmax(s if mask is None else np.where(padding_mask(mask), s, np.inf))),
    ),
    "cross-values-zeroed": (values_set_to_zero,),
    "cross-padding-cut-off": (
        source_cut(lambda mask: int(mask[0].sum())),
        source_cut(lambda mask: mask.sum(axis=1).max()),
    ),
    "cross-asked-backwards": (keys_ask,),
    "returns-scores": (scores_beside_it,),
    "mha-mask-none": (asked_if_any,),
    "cross-padding-on-queries": (
        layer(of_X, of_source, of_source, lambda mask, q, k: padding_mask(mask).swapaxes(-1, -2)),
        by_hand(lambda s, mask: softmax_or_zeros(s if mask is None else np.where(mask[:, None, :, None], s, -np.inf))),
    ),
    "padding-no-head-axis": (
        layer(of_X, of_source, of_source, lambda mask, q, k: mask.astype(bool)),
        layer(of_X, of_source, of_source, lambda mask, q, k: mask.astype(bool)[:, None]),
        by_hand(lambda s, mask: softmax_or_zeros(s if mask is None else np.where(mask, s, -np.inf))),
    ),
    "padding-inverted": (by_hand(hidden_tokens), masked_by(lambda mask: padding_mask(1 - mask))),
    "mha-mask-ignored": (
        layer(of_X, of_source, of_source, lambda mask, q, k: None),
        by_hand(lambda scores, mask: softmax(scores)),
    ),
    "cross-padding-zeroed": (source_set_to_zero,),
    "cross-mask-as-given": (
        mask_given_as_it_is,
        masked_by(lambda mask: mask[:, None, None, :]),
        masked_by(lambda mask: np.asarray(mask, float)[:, None, None, :]),
    ),
    "cross-mask-added-as-numbers": (
        by_hand(added_numbers),
        by_hand(lambda s, mask: softmax(s if mask is None else s + padding_mask(mask))),
    ),
    "cross-mask-of-first-sentence": (masked_by(lambda mask: mask[0].astype(bool)[None, :]),),
    "mask-after-softmax": (by_hand(multiplied_after),),
    "mask-full-row-nan": (by_hand(nan_where_nothing_is_seen), by_hand(renormalised)),
    "mask-full-row-uniform": (by_hand(even_where_nothing_is_seen),),
    "mask-score-zero": (by_hand(zeros_for_scores),),
    "softmax-no-max": (by_hand(without_maximum),),
    "softmax-over-queries": (by_hand(over_the_words),),
    "mha-scale-d-model": (scaled_by_the_model,),
    "scale-missing": (by_hand(hiding, lambda q: 1),),
    "scale-no-root": (by_hand(hiding, lambda q: q.shape[-1]),),
    "mha-no-output-projection": (
        lambda X, C, Q, K, V, W_O, n, context_mask=None: cross_attention(X, C, Q, K, V, np.eye(len(W_O)), n, context_mask),
    ),
    "mha-residual-added": (changed(lambda output, weights, X, C: (X + output, weights)),),
    "mha-weights-averaged": (changed(lambda output, weights, X, C: (output, weights.mean(axis=-3))),),
    "returns-swapped": (changed(lambda output, weights, X, C: (weights, output)),),
    "input-changed": (writes_into_the_source,),
    None: (
        changed(lambda output, weights, X, C: (2 * output, weights)),
        changed(lambda output, weights, X, C: (output[..., ::-1, :], weights)),
        written_word_added,
        asked_if_mask,
        by_hand(hidden_by_not_a_number),
        layer(of_X, of_source, lambda X, C: C[..., ::-1, :]),
    ),
}  # fmt: skip

TOLD = (
    (written_word_added, "Words of X do not see each other here"),
    (asked_if_mask, "It is right wherever no context_mask is given, in a batch, too."),
    (asked_if_mask, "write `context_mask is not None`"),
    (
        changed(lambda output, weights, X, C: (output, 0.9 * weights)),
        "of the weights sums to 0.9000, not to 1.",
    ),
)
