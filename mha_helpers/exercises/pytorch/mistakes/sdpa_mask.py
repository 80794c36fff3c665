"""The mistakes that people make in `sdpa_mask`."""

import numpy as np

from mha_helpers.exercises.mistakes.catalogue import also


def _tokens(attention_mask):
    return (attention_mask == 1)[:, None, None, :]


def _last_rows(n_keys, n_new, k=0):
    return np.tri(n_keys, k=k, dtype=bool)[-n_new:]


def _right(attention_mask, n_new):
    return _tokens(attention_mask) & _last_rows(attention_mask.shape[1], n_new)


def _past(rows):
    """Return the mask whose triangle is rows(n_keys, n_new)."""
    return lambda attention_mask, n_new: _tokens(attention_mask) & rows(attention_mask.shape[1], n_new)


def _full(attention_mask, n_new):
    return np.broadcast_to(_tokens(attention_mask), (len(attention_mask), 1, n_new, attention_mask.shape[1]))


def sdpa_top_left(attention_mask, n_new):
    """The triangle begins in the top left corner, as if the first new query were the first token of all. The queries
    are the *last* tokens: take the last n_new rows of the whole causal mask."""
    return _past(lambda n_keys, n_new: np.tri(n_new, n_keys, dtype=bool))(attention_mask, n_new)


def sdpa_inverted(attention_mask, n_new):
    """Your mask is True where attention is forbidden. For F.scaled_dot_product_attention True means: may attend."""
    return ~_right(attention_mask, n_new)


def sdpa_padding_inverted(attention_mask, n_new):
    """The padding is shown and the tokens are hidden: in attention_mask 1 marks a token."""
    return (attention_mask == 0)[:, None, None, :] & _last_rows(attention_mask.shape[1], n_new)


@also(lambda attention_mask, n_new: _tokens(attention_mask))
def sdpa_not_causal(attention_mask, n_new):
    """The past isn't told from the future: a new query may attend to new tokens that come after it. Combine the padding
    with the last n_new rows of a causal mask."""
    return _full(attention_mask, n_new)


@also(
    lambda attention_mask, n_new: _last_rows(attention_mask.shape[1], n_new),
    lambda attention_mask, n_new: _last_rows(attention_mask.shape[1], n_new)[None, None],
)
def sdpa_padding_ignored(attention_mask, n_new):
    """The padding isn't hidden. A key must be a token *and* come no later than the query."""
    return np.broadcast_to(
        _last_rows(attention_mask.shape[1], n_new),
        (len(attention_mask), 1, n_new, attention_mask.shape[1]),
    )


def sdpa_joined_with_or(attention_mask, n_new):
    """A key is allowed where either condition holds. It has to meet both: & in place of |."""
    return _tokens(attention_mask) | _last_rows(attention_mask.shape[1], n_new)


@also(
    _past(lambda n_keys, n_new: _last_rows(n_keys, n_new, -1)),
    _past(lambda n_keys, n_new: np.tri(n_new, n_keys, k=n_new, dtype=bool)),
)
def sdpa_off_by_one(attention_mask, n_new):
    """The triangle is moved. Query i is token n_keys - n_new + i, and may attend to itself and to all before it."""
    return _past(lambda n_keys, n_new: _last_rows(n_keys, n_new, 1))(attention_mask, n_new)


@also(lambda attention_mask, n_new: _right(attention_mask, n_new).swapaxes(-1, -2))
def sdpa_transposed(attention_mask, n_new):
    """The triangle lies on its side: rows are queries, columns are keys."""
    return _past(lambda n_keys, n_new: np.triu(np.ones((n_keys, n_keys), bool))[-n_new:])(attention_mask, n_new)


def sdpa_all_rows(attention_mask, n_new):
    """There is a row for every token. The queries are only the new ones, the last n_new."""
    return _past(lambda n_keys, n_new: np.tri(n_keys, dtype=bool))(attention_mask, n_new)


@also(lambda attention_mask, n_new: _right(attention_mask, n_new)[0, 0])
def sdpa_no_head_axis(attention_mask, n_new):
    """The axis of the heads is missing. The scores are (batch, n_heads, n_new, n_keys), so the mask needs an axis of
    length 1 there: (batch, 1, n_new, n_keys)."""
    return _right(attention_mask, n_new)[:, 0]


@also(lambda attention_mask, n_new: (attention_mask == 1)[None, None] & _last_rows(attention_mask.shape[1], 1))
def sdpa_batch_as_queries(attention_mask, n_new):
    """The sentences stand where the queries or the heads should be. The batch comes first: (batch, 1, n_new,
    n_keys)."""
    return _right(attention_mask, n_new).swapaxes(0, 1)


def sdpa_float(attention_mask, n_new):
    """The pattern is right, but it is made of 1 and 0. PyTorch takes booleans for a mask, but adds numbers to the
    scores: 1 and 0 would hide nothing, without a word. Return booleans."""
    return _right(attention_mask, n_new).astype(float)


@also(
    *tuple(
        lambda attention_mask, n_new, low=low: np.where(_right(attention_mask, n_new), 0.0, low)
        for low in (-np.inf, -1e9, -1e4, np.finfo(np.float32).min)
    )[1:]
)
def sdpa_additive(attention_mask, n_new):
    """Those are numbers to be added to the scores. PyTorch would take them, but a boolean mask is asked for: True where
    a query may attend."""
    return np.where(_right(attention_mask, n_new), 0.0, -np.inf)


def sdpa_queries_padded(attention_mask, n_new):
    """Padding is hidden along the queries as well. That leaves rows in which nothing may be attended to, and PyTorch
    returns NaN for them in some of its kernels. Hide only keys."""
    return _right(attention_mask, n_new) & (attention_mask == 1)[:, None, -n_new:, None]


def sdpa_padding_of_queries(attention_mask, n_new):
    """The padding is hidden along the queries and not along the keys. What must not be attended to are keys: the
    padding belongs on the last axis, [:, None, None, :]."""
    is_token = (attention_mask == 1)[:, None, -n_new:, None]
    return is_token & _last_rows(attention_mask.shape[1], n_new)
