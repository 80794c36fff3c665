"""The mistakes that people make in `attend_with_cache`: what is kept, where it is put, and which rows of the mask."""

import functools

import numpy as np

from function_judge.catalogue import Mistake
from mha_helpers.attention import attention_scores, combine_heads, scaled_dot_product_attention, softmax, split_heads
from mha_helpers.exercises.mistakes.catalogue import also, maker
from mha_helpers.exercises.mistakes.steps import joined_straight, root, split_straight, swap


def _last_rows(n_new, n_all, old_keys=()):
    return np.tri(n_new, n_all, n_all - n_new, dtype=bool)


def _behind(old, new):
    return np.concatenate([old, new], axis=-2)


def _attend(queries, keys, values, visible, low=-np.inf, factor=root):
    scores = attention_scores(queries, keys) * factor(queries)
    return softmax(scores if visible is None else np.where(visible, scores, low)) @ values


def _attend_by_the_course(queries, keys, values, visible):
    return scaled_dot_product_attention(queries, keys, values, visible)[0]


def _attend_by_hand(queries, keys, values, visible):
    return softmax(np.where(visible, queries @ swap(keys) * root(queries), -np.inf)) @ values


def _cached(
    split=split_heads,
    join=_behind,
    mask=_last_rows,
    attend=_attend,
    combine=combine_heads,
    keep=lambda keys, values, new: (keys, values),
):
    """Return attention with a cache in which one thing is done otherwise."""

    def wrong_attention(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
        queries, keys, values = (split(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
        new, old_keys = (keys, values), () if cache is None else cache[0]
        if cache is not None:
            keys, values = join(cache[0], keys), join(cache[1], values)
        visible = mask(queries.shape[-2], keys.shape[-2], old_keys)
        return combine(attend(queries, keys, values, visible)) @ W_O, keep(keys, values, new)

    return wrong_attention


_joining = maker(lambda join: _cached(join=join))


_keeping = maker(lambda keep: _cached(keep=keep))


_masking = maker(lambda mask: _cached(mask=mask))


# A mask of another shape, in the course's attention, and in a learner's own.
_masking_otherwise = maker(
    lambda mask: _cached(mask=mask, attend=_attend_by_the_course),
    lambda mask: _cached(mask=mask, attend=_attend_by_hand),
)


@maker
def _given_the_cache(change):
    """Return right attention with a cache that is change(cache, W_K, n_heads)."""

    def wrong_attention(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
        cache = None if cache is None else change(cache, W_K, n_heads)
        return _cached()(X_new, W_Q, W_K, W_V, W_O, n_heads, cache)

    return wrong_attention


@_masking
def cache_mask_wrong_corner(n_new, n_all, old_keys):
    """The mask is aligned to the wrong corner: your new tokens see the *first* tokens, as if they stood at the
    beginning. They are the last rows of the whole mask: causal_mask(n_all)[n_all - n_new :]."""
    return np.tri(n_new, n_all, dtype=bool)


@_masking
def cache_mask_missing(n_new, n_all, old_keys):
    """There is no mask among the new tokens: where several come at once, each sees those after it, too."""
    return None


@_masking
def cache_mask_without_cache_only(n_new, n_all, old_keys):
    """You hide later tokens only where there is no cache. Several new tokens may come with one as well, and then each
    sees those after it. Hide them in both cases: causal_mask(n_all)[n_all - n_new :]."""
    return None if len(old_keys) else _last_rows(n_new, n_all)


@_masking
def cache_mask_off_by_one(n_new, n_all, old_keys):
    """The mask is off by one: each new token also sees the one after it. It may see itself and everything before it:
    causal_mask(n_all)[n_all - n_new :]."""
    return np.tri(n_new, n_all, n_all - n_new + 1, dtype=bool)


@maker(
    lambda mask: _cached(mask=mask, attend=_attend_by_the_course),
    lambda mask: _cached(mask=mask, attend=_attend_by_hand),
    lambda mask: _cached(mask=mask, attend=functools.partial(_attend, low=-1e9)),
)
def cache_mask_hides_itself(n_new, n_all, old_keys):
    """You hide the diagonal, too, so a new token doesn't see itself. It must: the first token of all has nothing else
    to see. Each new token's row of the mask ends with that token: causal_mask(n_all)[n_all - n_new :]."""
    return np.tri(n_new, n_all, n_all - n_new - 1, dtype=bool)


@_masking
def cache_mask_hides_the_old(n_new, n_all, old_keys):
    """The new tokens do not see the old ones. Only tokens that come later are hidden; whatever is in the cache came
    earlier."""
    return _last_rows(n_new, n_all) & (np.arange(n_all) >= n_all - n_new)


@_masking_otherwise
def cache_mask_too_narrow(n_new, n_all, old_keys):
    """Your mask has columns for the new tokens alone, n_new by n_new. But each new token is compared with the old ones,
    too: it needs n_new rows and n_all columns, causal_mask(n_all)[n_all - n_new :]."""
    return np.tri(n_new, dtype=bool)


@_masking_otherwise
def cache_mask_too_tall(n_new, n_all, old_keys):
    """Your mask has a row for every token, n_all by n_all. Only the new tokens ask: take its last n_new rows,
    causal_mask(n_all)[n_all - n_new :]."""
    return np.tri(n_all, dtype=bool)


def _rows_after(n_new, n_all, old_keys, axis):
    n_old = old_keys.shape[axis] if len(old_keys) else 0
    return np.tri(n_new, n_all, n_old, dtype=bool)


@_masking_otherwise
@also(*(functools.partial(_rows_after, axis=axis) for axis in (0, -3, -1)))
def cache_old_miscounted(n_new, n_all, old_keys):
    """You count the old tokens along another axis than theirs, as len(old_keys) does. The keys are (..., n_heads,
    n_old, d_head): the tokens are the second axis from the end, old_keys.shape[-2]."""
    return np.tri(n_all, dtype=bool)[len(old_keys) :]


def cache_not_a_pair(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    """You return three things, but two are asked for, and the second of them is a pair: return output, (keys,
    values)."""
    output, cache = _cached()(X_new, W_Q, W_K, W_V, W_O, n_heads, cache)
    return output, *cache


def cache_weights_returned(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    """You return the weights, as multi_head_attention does. Here the second thing is the new cache, the keys and values
    of all tokens: return output, (keys, values)."""
    output, (keys, values) = _cached()(X_new, W_Q, W_K, W_V, W_O, n_heads, cache)
    visible = _last_rows(X_new.shape[-2], keys.shape[-2])
    return output, scaled_dot_product_attention(split_heads(X_new @ W_Q, n_heads), keys, values, visible)[1]


def cache_not_used(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    """The cache is not used: the new tokens see only each other, and the old ones are lost."""
    return _cached()(X_new, W_Q, W_K, W_V, W_O, n_heads)


@_keeping
def cache_overwritten(keys, values, new):
    """The output is right, but the cache is overwritten: it holds the new tokens alone, so that the next call has
    forgotten the old ones. Return the keys and values of all tokens."""
    return new


@_keeping
def cache_not_extended(keys, values, new):
    """The output is right, but the old cache is returned: the next call will miss these tokens. Return the keys and
    values of all tokens."""
    n_old = keys.shape[-2] - new[0].shape[-2]
    return keys[..., :n_old, :], values[..., :n_old, :]


def _tokens_kept(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    """The attention is right, and the new tokens are kept instead of their keys and values."""
    tokens = split_heads(X_new, n_heads)
    output, _ = _cached()(X_new, W_Q, W_K, W_V, W_O, n_heads, cache)
    return output, (tokens, tokens) if cache is None else tuple(_behind(old, tokens) for old in cache)


@also(_tokens_kept)
def cache_before_projection(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    """You keep the tokens themselves, before the projection. Keep what is used again: the keys X_new @ W_K and the
    values X_new @ W_V, split into heads."""
    # Everything is projected on each call.
    old = (X_new[..., :0, :],) * 2 if cache is None else map(combine_heads, cache)
    kept = [_behind(tokens, X_new) for tokens in old]
    pairs = ((X_new, W_Q), (kept[0], W_K), (kept[1], W_V))
    queries, keys, values = (split_heads(tokens @ W, n_heads) for tokens, W in pairs)
    heads = _attend(queries, keys, values, _last_rows(queries.shape[-2], keys.shape[-2]))
    return combine_heads(heads) @ W_O, tuple(split_heads(tokens, n_heads) for tokens in kept)


def _projected_again(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    again = cache
    if cache is not None:
        again = [split_heads(combine_heads(old) @ W, n_heads) for old, W in zip(cache, (W_K, W_V), strict=True)]
    return _cached()(X_new, W_Q, W_K, W_V, W_O, n_heads, again)


def _projected_again_and_not_kept(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    output, _ = _projected_again(X_new, W_Q, W_K, W_V, W_O, n_heads, cache)
    return output, _cached()(X_new, W_Q, W_K, W_V, W_O, n_heads, cache)[1]


CACHE_PROJECTED_AGAIN = Mistake(
    "cache-projected-again",
    "The old keys and values are projected again. What is in the cache has been through W_K and W_V already: "
    "project only the new tokens.",
    (
        _projected_again,
        _projected_again_and_not_kept,
        _given_the_cache(lambda cache, W_K, n_heads: (split_heads(combine_heads(cache[0]) @ W_K, n_heads), cache[1])),
    ),
)


@_joining
def cache_new_first(old, new):
    """The new tokens stand before the old ones. They came later: np.concatenate([old_keys, keys], axis=-2)."""
    return _behind(new, old)


@_joining
@also(axis=(-1, -3, 2))
def cache_wrong_axis(old, new, axis=1):
    """You put old and new together along the wrong axis. The keys are (..., n_heads, n_tokens, d_head): more tokens are
    more rows, axis=-2. (Counted from the front, a batch makes it another axis.)"""
    return np.concatenate([old, new], axis=axis)


@also(keep_whole=(True,))
@also(join=(lambda old, new: _behind(new, old),))
def cache_joined_before_split(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None, join=_behind, keep_whole=False):
    """The new keys and values are joined to the cache before they are split into heads. What is in the cache has been
    split already: (..., n_heads, n_old, d_head). Split first, both keys and values, then join."""
    keys, values = X_new @ W_K, X_new @ W_V
    if cache is not None:
        keys, values = join(cache[0], keys), join(cache[1], values)
    queries, *split = (split_heads(whole, n_heads) for whole in (X_new @ W_Q, keys, values))
    heads = _attend(queries, *split, _last_rows(queries.shape[-2], split[0].shape[-2]))
    return combine_heads(heads) @ W_O, (keys, values) if keep_whole else tuple(split)


@also(attend=(_attend_by_hand,))
@also(is_split=((True, False),))
def cache_one_not_split(
    X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None, attend=_attend_by_the_course, is_split=(False, True)
):
    """The queries are split into heads, but the keys or the values are not. Split all three, X_new @ W_Q, X_new @ W_K
    and X_new @ W_V, and join keys and values to the cache after that: what it holds is split already."""
    pair = [
        split_heads(X_new @ W, n_heads) if split else X_new @ W for W, split in zip((W_K, W_V), is_split, strict=True)
    ]
    keys, values = pair if cache is None else map(_behind, cache, pair)
    queries = split_heads(X_new @ W_Q, n_heads)
    heads = attend(queries, keys, values, _last_rows(queries.shape[-2], keys.shape[-2]))
    return combine_heads(heads) @ W_O, (keys, values)


@maker(lambda split: _cached(split=split, combine=lambda heads: heads))
def cache_no_split(X, n_heads):
    """Nothing is split: that is one head over all d_model features, whatever n_heads is. Split queries, keys and values
    with split_heads, then join keys and values to the cache, which holds them split."""
    return X


@_joining
def cache_added(old, new):
    """You add the old keys and values to the new ones, number by number, so that tokens are mixed. Put them one after
    the other: np.concatenate([old_keys, keys], axis=-2)."""
    return old + new


@maker(lambda combine: _cached(combine=combine))
def cache_heads_not_combined(heads):
    """The heads meet W_O one by one, each only d_head wide. Put them side by side first: combine_heads(heads) @ W_O."""
    return heads


@also(_cached(keep=lambda keys, values, new: (values, keys)))
@_given_the_cache
def cache_keys_and_values_exchanged(cache, W_K, n_heads):
    """Keys and values are exchanged on the way into the cache or out of it. It is (keys, values), in this order."""
    return cache[1], cache[0]


def cache_queries_of_all(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    """You return a row for the old tokens as well. Only the new ones are asked for: their queries alone."""
    # The old tokens' keys stand in for their queries: an output for every token.
    queries, keys, values = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
    if cache is not None:
        queries, keys, values = _behind(cache[0], queries), _behind(cache[0], keys), _behind(cache[1], values)
    heads = _attend(queries, keys, values, _last_rows(queries.shape[-2], keys.shape[-2]))
    return combine_heads(heads) @ W_O, (keys, values)


@_keeping
def cache_heads_combined(keys, values, new):
    """The cache holds the heads side by side. Keep keys and values as attention uses them, split: (..., n_heads,
    n_tokens, d_head)."""
    return combine_heads(keys), combine_heads(values)


@maker(lambda attend: _cached(attend=attend))
def cache_scale_missing(queries, keys, values, visible):
    """The scores are not divided by sqrt(d_head)."""
    return _attend(queries, keys, values, visible, factor=lambda queries: 1.0)


@maker(lambda attend: _cached(attend=attend))
def cache_scale_d_model(queries, keys, values, visible):
    """You divide by sqrt(d_model), the width of all heads together. Each dot product adds up the features of one head
    only: divide by sqrt(d_head), the width of the split queries."""
    d_model = queries.shape[-3] * queries.shape[-1]
    return _attend(queries, keys, values, visible, factor=lambda queries: d_model**-0.5)


@maker(lambda attend: _cached(attend=attend))
def cache_scale_no_root(queries, keys, values, visible):
    """You divide by d_head itself, or by its root twice: scaled_dot_product_attention divides already. Divide by
    sqrt(d_head), once."""
    return _attend(queries, keys, values, visible, factor=lambda queries: 1 / queries.shape[-1])


@maker(lambda attend: _cached(attend=attend))
@also(
    lambda queries, keys, values, visible: _attend(
        queries, keys, values, visible, factor=lambda queries: queries.shape[-2] ** -0.5
    )
)
def cache_scale_n_keys(queries, keys, values, visible):
    """You divide by the root of the number of tokens. What makes scores large is the number of features in each dot
    product: divide by sqrt(d_head), the root of queries.shape[-1]."""
    return _attend(queries, keys, values, visible, factor=lambda queries: keys.shape[-2] ** -0.5)


def cache_no_output_projection(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    """W_O is missing: after the heads are combined the output goes through it."""
    return _cached()(X_new, W_Q, W_K, W_V, np.eye(len(W_O), dtype=W_O.dtype), n_heads, cache)


@also(_cached(combine=joined_straight), _cached(split=split_straight, combine=joined_straight))
@maker(lambda split: _cached(split=split))
def cache_split_without_transpose(X, n_heads):
    """The heads are split, or combined, by a reshape alone, which mixes tokens. Split the features, then swap the two
    axes: notebook 04."""
    return split_straight(X, n_heads)
