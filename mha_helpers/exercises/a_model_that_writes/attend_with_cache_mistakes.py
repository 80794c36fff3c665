"""The mistakes that people make in `attend_with_cache`: what is kept, where it is put, and which rows of the mask."""

import numpy as np

from mha_helpers.exercises.engine import Mistake
from mha_helpers.exercises.steps import cut_straight, joined_straight
from mha_helpers.maths.attention import (
    attention_scores,
    combine_heads,
    scaled_dot_product_attention,
    softmax,
    split_heads,
)


def _last_rows(n_new, n_all):
    return np.tri(n_all, dtype=bool)[n_all - n_new :]


def _behind(old, new):
    return np.concatenate([old, new], axis=-2)


def _attend(queries, keys, values, W_O, *, mask=_last_rows, scale=None, combine=combine_heads):
    scale = queries.shape[-1] ** -0.5 if scale is None else scale
    scores = attention_scores(queries, keys) * scale
    visible = mask(queries.shape[-2], keys.shape[-2])
    if visible is not None:
        scores = np.where(visible, scores, -np.inf)
    return combine(softmax(scores) @ values) @ W_O


def _cached(join=_behind, keep=lambda keys, values, new: (keys, values), split=split_heads, **changes):
    """Return attention with a cache in which one thing is done otherwise."""

    def wrong_attention(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
        queries, keys, values = (split(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
        new = keys, values
        if cache is not None:
            keys, values = join(cache[0], keys), join(cache[1], values)
        return _attend(queries, keys, values, W_O, **changes), keep(keys, values, new)

    return wrong_attention


def _projected_later(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    """Tokens are kept instead of their keys and values, and everything is projected on each call."""
    old_for_keys, old_for_values = (X_new[..., :0, :],) * 2 if cache is None else map(combine_heads, cache)
    for_keys, for_values = _behind(old_for_keys, X_new), _behind(old_for_values, X_new)
    queries, keys, values = (
        split_heads(tokens @ W, n_heads) for tokens, W in ((X_new, W_Q), (for_keys, W_K), (for_values, W_V))
    )
    return _attend(queries, keys, values, W_O), (split_heads(for_keys, n_heads), split_heads(for_values, n_heads))


def _tokens_kept(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    """The attention is right, and the new tokens are kept instead of their keys and values."""
    output, (keys, values) = _cached()(X_new, W_Q, W_K, W_V, W_O, n_heads, cache)
    tokens = split_heads(X_new, n_heads)
    n_old = keys.shape[-2] - tokens.shape[-2]
    return output, (_behind(keys[..., :n_old, :], tokens), _behind(values[..., :n_old, :], tokens))


def _projected_again(keep_them):
    """The old keys and values go through W_K and W_V once more."""

    def wrong_attention(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
        queries, keys, values = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
        right = keys, values
        if cache is not None:
            again = [split_heads(combine_heads(old) @ W, n_heads) for old, W in zip(cache, (W_K, W_V), strict=True)]
            right = _behind(cache[0], keys), _behind(cache[1], values)
            keys, values = _behind(again[0], keys), _behind(again[1], values)
        return _attend(queries, keys, values, W_O), (keys, values) if keep_them else right

    return wrong_attention


def _one_projected_again(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    if cache is not None:
        cache = split_heads(combine_heads(cache[0]) @ W_K, n_heads), cache[1]
    return _cached()(X_new, W_Q, W_K, W_V, W_O, n_heads, cache)


def _exchanged(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    return _cached()(X_new, W_Q, W_K, W_V, W_O, n_heads, None if cache is None else (cache[1], cache[0]))


def _all_queries(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    """The old tokens' keys stand in for their queries: an output for every token."""
    queries, keys, values = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
    if cache is not None:
        queries, keys, values = _behind(cache[0], queries), _behind(cache[0], keys), _behind(cache[1], values)
    return _attend(queries, keys, values, W_O), (keys, values)


def _without_W_O(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    return _cached()(X_new, W_Q, W_K, W_V, np.eye(len(W_O), dtype=W_O.dtype), n_heads, cache)


def _flat(output, cache):
    return output, *cache


def _new_only(keep):
    """The new tokens see only each other."""

    def wrong_attention(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
        queries, keys, values = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
        output = _attend(queries, keys, values, W_O)
        if keep and cache is not None:
            keys, values = _behind(cache[0], keys), _behind(cache[1], values)
        return output, (keys, values)

    return wrong_attention


def _joined_before_the_split(join, keep_whole=False):
    """Keys and values meet the cache as they come out of the projection."""

    def wrong_attention(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
        keys, values = X_new @ W_K, X_new @ W_V
        if cache is not None:
            keys, values = join(cache[0], keys), join(cache[1], values)
        queries, split_keys, split_values = (split_heads(A, n_heads) for A in (X_new @ W_Q, keys, values))
        output = _attend(queries, split_keys, split_values, W_O)
        return output, (keys, values) if keep_whole else (split_keys, split_values)

    return wrong_attention


def _one_not_split(split_key, split_value, attend):
    """Of queries, keys and values, only some are split."""

    def wrong_attention(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
        queries, keys, values = split_heads(X_new @ W_Q, n_heads), X_new @ W_K, X_new @ W_V
        keys = split_heads(keys, n_heads) if split_key else keys
        values = split_heads(values, n_heads) if split_value else values
        if cache is not None:
            keys, values = _behind(cache[0], keys), _behind(cache[1], values)
        return attend(queries, keys, values, W_O), (keys, values)

    return wrong_attention


def _attend_by_the_course(queries, keys, values, W_O, visible=None):
    visible = _last_rows(queries.shape[-2], keys.shape[-2]) if visible is None else visible
    return combine_heads(scaled_dot_product_attention(queries, keys, values, visible)[0]) @ W_O


def _attend_by_hand(queries, keys, values, W_O, visible=None):
    visible = _last_rows(queries.shape[-2], keys.shape[-2]) if visible is None else visible
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    return combine_heads(softmax(np.where(visible, scores, -np.inf)) @ values) @ W_O


def _attend_finite(queries, keys, values, W_O, visible):
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    return combine_heads(softmax(np.where(visible, scores, -1e9)) @ values) @ W_O


def _weights_in_its_place(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    output, (keys, values) = _cached()(X_new, W_Q, W_K, W_V, W_O, n_heads, cache)
    visible = _last_rows(X_new.shape[-2], keys.shape[-2])
    return output, scaled_dot_product_attention(split_heads(X_new @ W_Q, n_heads), keys, values, visible)[1]


def _never_split(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    queries, keys, values = X_new @ W_Q, X_new @ W_K, X_new @ W_V
    if cache is not None:
        keys, values = _behind(cache[0], keys), _behind(cache[1], values)
    return _attend(queries, keys, values, W_O, combine=lambda heads: heads), (keys, values)


def _masked_by(visible_of, attend):
    """Return attention with a cache whose new tokens see visible_of(n_new, n_all, old keys)."""

    def wrong_attention(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
        queries, keys, values = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
        if cache is not None:
            keys, values = _behind(cache[0], keys), _behind(cache[1], values)
        visible = visible_of(queries.shape[-2], keys.shape[-2], () if cache is None else cache[0])
        return attend(queries, keys, values, W_O, visible), (keys, values)

    return wrong_attention


CACHE_MISTAKES = (
    Mistake(
        "cache-mask-wrong-corner",
        "The mask is aligned to the wrong corner: your new tokens see the *first* tokens, as if they stood at the "
        "beginning. They are the last rows of the whole mask: causal_mask(n_all)[n_all - n_new :].",
        (
            _cached(mask=lambda n_new, n_all: np.tri(n_new, n_all, dtype=bool)),
            _cached(mask=lambda n_new, n_all: np.tri(n_all, dtype=bool)[:n_new]),
        ),
    ),
    Mistake(
        "cache-mask-missing",
        "There is no mask among the new tokens: where several come at once, each sees those after it, too.",
        (_cached(mask=lambda n_new, n_all: None),),
    ),
    Mistake(
        "cache-mask-off-by-one",
        "The mask is off by one: each new token also sees the one after it. It may see itself and everything before "
        "it: causal_mask(n_all)[n_all - n_new :].",
        (_cached(mask=lambda n_new, n_all: np.tri(n_new, n_all, n_all - n_new + 1, dtype=bool)),),
    ),
    Mistake(
        "cache-mask-hides-itself",
        "You hide the diagonal, too, so a new token doesn't see itself. It must: the first token of all has "
        "nothing else to see. Each new token's row of the mask ends with that token: "
        "causal_mask(n_all)[n_all - n_new :].",
        tuple(
            _masked_by(lambda n_new, n_all, old: np.tri(n_new, n_all, n_all - n_new - 1, dtype=bool), attend)
            for attend in (_attend, _attend_by_the_course, _attend_by_hand, _attend_finite)
        ),
    ),
    Mistake(
        "cache-mask-hides-the-old",
        "The new tokens do not see the old ones. Only tokens that come later are hidden; whatever is in the cache came "
        "earlier.",
        (
            _cached(
                mask=lambda n_new, n_all: (
                    np.tri(n_new, n_all, n_all - n_new, dtype=bool) & (np.arange(n_all) >= n_all - n_new)
                )
            ),
            _new_only(keep=True),
        ),
    ),
    Mistake(
        "cache-mask-too-narrow",
        "Your mask has columns for the new tokens alone, n_new by n_new. But each new token is compared with the old "
        "ones, too: it needs n_new rows and n_all columns, causal_mask(n_all)[n_all - n_new :].",
        tuple(
            _masked_by(lambda n_new, n_all, old: np.tri(n_new, dtype=bool), attend)
            for attend in (_attend_by_the_course, _attend_by_hand)
        ),
    ),
    Mistake(
        "cache-mask-too-tall",
        "Your mask has a row for every token, n_all by n_all. Only the new tokens ask: take its last n_new rows, "
        "causal_mask(n_all)[n_all - n_new :].",
        tuple(
            _masked_by(lambda n_new, n_all, old: np.tri(n_all, dtype=bool), attend)
            for attend in (_attend_by_the_course, _attend_by_hand)
        ),
    ),
    Mistake(
        "cache-old-miscounted",
        "You count the old tokens by len(old_keys), but the first axis is that of the heads, or of the batch: (..., "
        "n_heads, n_old, d_head). The tokens are the second axis from the end, old_keys.shape[-2].",
        tuple(
            _masked_by(lambda n_new, n_all, old: np.tri(n_all, dtype=bool)[len(old) :], attend)
            for attend in (_attend_by_the_course, _attend_by_hand)
        ),
    ),
    Mistake(
        "cache-not-a-pair",
        "You return three things, but two are asked for, and the second of them is a pair: return output, (keys, "
        "values).",
        (lambda *given, cache=None: _flat(*_cached()(*given, cache=cache)),),
    ),
    Mistake(
        "cache-weights-returned",
        "You return the weights, as multi_head_attention does. Here the second thing is the new cache, the keys and "
        "values of all tokens: return output, (keys, values).",
        (_weights_in_its_place,),
    ),
    Mistake(
        "cache-not-used",
        "The cache is not used: the new tokens see only each other, and the old ones are lost.",
        (_new_only(keep=False),),
    ),
    Mistake(
        "cache-overwritten",
        "The output is right, but the cache is overwritten: it holds the new tokens alone, so that the next call has "
        "forgotten the old ones. Return the keys and values of all tokens.",
        (_cached(keep=lambda keys, values, new: new),),
    ),
    Mistake(
        "cache-not-extended",
        "The output is right, but the old cache is returned: the next call will miss these tokens. Return the keys and "
        "values of all tokens.",
        (
            _cached(
                keep=lambda keys, values, new: (
                    keys[..., : keys.shape[-2] - new[0].shape[-2], :],
                    values[..., : keys.shape[-2] - new[0].shape[-2], :],
                )
            ),
        ),
    ),
    Mistake(
        "cache-before-projection",
        "You keep the tokens themselves, before the projection. Keep what is used again: the keys X_new @ W_K and the "
        "values X_new @ W_V, split into heads.",
        (_projected_later, _tokens_kept),
    ),
    Mistake(
        "cache-projected-again",
        "The old keys and values are projected again. What is in the cache has been through W_K and W_V already: "
        "project only the new tokens.",
        (_projected_again(keep_them=True), _projected_again(keep_them=False), _one_projected_again),
    ),
    Mistake(
        "cache-new-first",
        "The new tokens stand before the old ones. They came later: np.concatenate([old_keys, keys], axis=-2).",
        (_cached(join=lambda old, new: np.concatenate([new, old], axis=-2)),),
    ),
    Mistake(
        "cache-wrong-axis",
        "You put old and new together along the wrong axis. The keys are (..., n_heads, n_tokens, d_head): more tokens "
        "are more rows, axis=-2. (Counted from the front, a batch makes it another axis.)",
        (
            _cached(join=lambda old, new: np.concatenate([old, new], axis=1)),
            _cached(join=lambda old, new: np.concatenate([old, new], axis=-1)),
            _cached(join=lambda old, new: np.concatenate([old, new], axis=-3)),
            _cached(join=lambda old, new: np.concatenate([old, new], axis=0)),
            _cached(join=lambda old, new: np.concatenate([old, new])),
        ),
    ),
    Mistake(
        "cache-joined-before-split",
        "The new keys and values are joined to the cache before they are split into heads. What is in the cache has "
        "been split already: (..., n_heads, n_old, d_head). Split first, both keys and values, then join.",
        (
            _joined_before_the_split(_behind),
            _joined_before_the_split(lambda old, new: np.concatenate([new, old], axis=-2)),
            _joined_before_the_split(lambda old, new: np.concatenate([old, new], axis=-1)),
            _joined_before_the_split(_behind, keep_whole=True),
        ),
    ),
    Mistake(
        "cache-one-not-split",
        "The queries are split into heads, but the keys or the values are not. Split all three, X_new @ W_Q, X_new @ "
        "W_K and X_new @ W_V, and join keys and values to the cache after that: what it holds is split already.",
        tuple(
            _one_not_split(*which, attend)
            for which in ((False, True), (True, False), (False, False))
            for attend in (_attend_by_the_course, _attend_by_hand, _attend)
        ),
    ),
    Mistake(
        "cache-no-split",
        "Nothing is split: that is one head over all d_model features, whatever n_heads is. Split queries, keys and "
        "values with split_heads, then join keys and values to the cache, which holds them split.",
        (_never_split,),
    ),
    Mistake(
        "cache-added",
        "You add the old keys and values to the new ones, number by number, so that tokens are mixed. Put them one "
        "after the other: np.concatenate([old_keys, keys], axis=-2).",
        (_cached(join=lambda old, new: old + new),),
    ),
    Mistake(
        "cache-heads-not-combined",
        "The heads meet W_O one by one, each only d_head wide. Put them side by side first: combine_heads(heads) @ "
        "W_O.",
        (_cached(combine=lambda heads: heads),),
    ),
    Mistake(
        "cache-keys-and-values-exchanged",
        "Keys and values are exchanged on the way into the cache or out of it. It is (keys, values), in this order.",
        (_exchanged, _cached(keep=lambda keys, values, new: (values, keys))),
    ),
    Mistake(
        "cache-queries-of-all",
        "You return a row for the old tokens as well. Only the new ones are asked for: their queries alone.",
        (_all_queries,),
    ),
    Mistake(
        "cache-heads-combined",
        "The cache holds the heads side by side. Keep keys and values as attention uses them, split: (..., n_heads, "
        "n_tokens, d_head).",
        (_cached(keep=lambda keys, values, new: (combine_heads(keys), combine_heads(values))),),
    ),
    Mistake(
        "cache-scale-missing",
        "The scores are not divided by sqrt(d_head).",
        (_cached(scale=1.0),),
    ),
    Mistake(
        "cache-no-output-projection",
        "W_O is missing: after the heads are combined the output goes through it.",
        (_without_W_O,),
    ),
    Mistake(
        "cache-split-without-transpose",
        "The heads are split, or combined, by a reshape alone, which mixes tokens. Split the features, then swap the "
        "two axes: notebook 04.",
        (
            _cached(split=cut_straight),
            _cached(combine=joined_straight),
            _cached(split=cut_straight, combine=joined_straight),
        ),
    ),
)
