"""Writing with a model: from its logits to probabilities, and attention for new tokens only.

`logits` are a model's scores for each possible next token. Pope et al. (2022), "Efficiently Scaling Transformer
Inference", https://arxiv.org/abs/2211.05102, tell what a cache saves and costs.
"""

from __future__ import annotations

import numpy as np

from mha_helpers.attention import combine_heads, scaled_dot_product_attention, softmax, split_heads
from mha_helpers.masks import causal_mask
from mha_helpers.shapes import Array, as_float_array, check_count, checked

LEAST_ROOM = 256  # rows: half a megabyte for a model of the course's size


@checked(logits="... n_tokens", temperature="number")
def next_token_probabilities(logits: Array, *, temperature: float = 1.0, top_k: int | None = None) -> Array:
    """Turn a model's scores for the next token into probabilities to draw from.

    Parameters
    ----------
    logits : array_like, shape (..., n_tokens)
        One score for each token that could come next.
    temperature : float, optional
        What the logits are divided by. Below 1 the likely become likelier, above 1 all become more alike.
    top_k : int, optional
        Keep only the k highest, and what ties with the last of these; the others get 0. All unless given; more than
        there are is all, too.

    Returns
    -------
    ndarray, shape (..., n_tokens)
        Probabilities that sum to 1.

    Raises
    ------
    ValueError
        If the logits are not real numbers, the temperature is not above 0, or top_k is not a whole number of 1 or more.

    Notes
    -----
    softmax(logits / temperature): Ackley et al. (1985), "A Learning Algorithm for Boltzmann Machines". Top-k: Fan et
    al. (2018), "Hierarchical Neural Story Generation", https://arxiv.org/abs/1805.04833.

    Examples
    --------
    >>> next_token_probabilities([2.0, 1.0, 0.0]).round(3)
    array([0.665, 0.245, 0.09 ])
    >>> next_token_probabilities([2.0, 1.0, 0.0], temperature=0.5, top_k=2).round(3)
    array([0.881, 0.119, 0.   ])
    """
    if not temperature > 0:
        raise ValueError(
            f"temperature={temperature:g} is not possible; give a number above 0, such as 0.01 for nearly always "
            "the likeliest"
        )
    # Less the highest first, so that a very low temperature sends the others to -inf, and the highest stays at 0.
    logits = logits - logits.max(axis=-1, keepdims=True)
    if top_k is not None:
        n_kept = min(check_count("top_k", top_k), logits.shape[-1])
        last_kept = np.sort(logits, axis=-1)[..., [-n_kept]]
        logits = np.where(logits >= last_kept, logits, -np.inf)
    return softmax(logits / temperature)


def embed_new(codes: Array, characters: Array, positions: Array, n_old: int = 0) -> Array:
    """Turn new tokens into vectors: what each one is, plus where it stands in the whole text.

    Parameters
    ----------
    codes : array_like of int, shape (n_new,)
        Each new token's row in `characters`.
    characters : ndarray, shape (n_characters, d_model)
    positions : ndarray, shape (context_length, d_model)
    n_old : int, optional
        How many tokens came before, and are in the cache.

    Returns
    -------
    ndarray, shape (n_new, d_model)

    Raises
    ------
    ValueError
        If there are more tokens than positions.

    Examples
    --------
    >>> embed_new([1, 0], np.array([[10.0], [20.0]]), np.array([[0.1], [0.2], [0.3]]), n_old=1)
    array([[20.2],
           [10.3]])
    """
    n_all = n_old + np.shape(codes)[-1]
    if n_all > len(positions):
        raise ValueError(
            f"{n_all} tokens have no place in {len(positions)} positions; drop the older ones, and start a new cache"
        )
    return characters[np.asarray(codes)] + positions[n_old:n_all]


@checked(
    X_new="... n_new d_model",
    W_Q="d_model d_inner",
    W_K="d_model d_inner",
    W_V="d_model d_inner_values",
    W_O="d_inner_values d_output",
    n_heads="divides d_inner d_inner_values",
)
def attend_with_cache(
    X_new: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, n_heads: int, cache: tuple[Array, Array] | None = None
) -> tuple[Array, tuple[Array, Array]]:
    """Causal multi-head attention of new tokens to the old ones and to each other.

    Parameters
    ----------
    X_new : array_like, shape (..., n_new, d_model)
        The new tokens only.
    W_Q, W_K, W_V : array_like, shape (d_model, d_model)
    W_O : array_like, shape (d_model, d_model)
    n_heads : int
        A divisor of d_model.
    cache : tuple (keys, values), optional
        What the call before returned: the old tokens' keys and values, each (..., n_heads, n_old, d_head). Without
        it there are no old tokens.

    Returns
    -------
    output : ndarray, shape (..., n_new, d_model)
        The last n_new rows of what `multi_head_attention(..., is_causal=True)` makes of all tokens at once.
    cache : tuple (keys, values)
        Those of all tokens, each (..., n_heads, n_old + n_new, d_head): new arrays, so that the old cache still
        holds.

    Raises
    ------
    ValueError
        If the shapes do not fit, n_heads does not divide d_model, or the cache is not of these heads.

    Notes
    -----
    Keys and values of a token never change once the mask is causal, as nothing after it reaches it. Queries
    are not kept: only a token's own row needs its query.

    Examples
    --------
    >>> X, W = np.eye(3), np.eye(3)
    >>> _, cache = attend_with_cache(X[:2], W, W, W, W, 1)
    >>> output, cache = attend_with_cache(X[2:], W, W, W, W, 1, cache)
    >>> output.round(4), cache[0].shape
    (array([[0.2645, 0.2645, 0.4711]]), (1, 3, 3))
    """
    queries, keys, values = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
    if cache is not None:
        old_keys, old_values = _read_cache(cache, keys, values)
        # np.concatenate along the tokens' axis, but for the old ones, which it would copy each time.
        keys, values = appended(old_keys, keys), appended(old_values, values)
    n_new, n_all = queries.shape[-2], keys.shape[-2]
    # The new tokens are the last rows of the whole mask: each sees all old tokens. One alone sees everything.
    mask = causal_mask(n_all)[-n_new:] if n_new > 1 else None
    heads, _ = scaled_dot_product_attention(queries, keys, values, mask)
    return combine_heads(heads) @ W_O, (keys, values)


class _Room(np.ndarray):
    """Rows, with room for more behind them; those from `n_used` on are free."""

    n_used: int


def appended(old: Array, new: Array) -> Array:
    """Append new rows to old ones, without copying the old ones where there is room behind them.

    Parameters
    ----------
    old : ndarray, shape (..., n_old, width)
    new : ndarray, shape (..., n_new, width)

    Returns
    -------
    ndarray, shape (..., n_old + n_new, width)
        The old array stays as it is: the room behind it is given away once.

    Examples
    --------
    >>> appended(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[1., 2.],
           [3., 4.]])
    """
    *batch, n_old, width = old.shape
    n_all, room = n_old + new.shape[-2], old.base
    if not (isinstance(room, _Room) and room.n_used == n_old and n_all <= room.shape[-2] and room.dtype == new.dtype):
        room = _Room((*batch, max(2 * n_all, LEAST_ROOM), width), np.result_type(old, new))
        room[..., :n_old, :] = old
    room[..., n_old:n_all, :] = new
    room.n_used = n_all
    return np.ndarray((*batch, n_all, width), room.dtype, room, strides=room.strides)


def _read_cache(cache, keys, values):
    """Return the cache's keys and values, if the new ones can be put behind them."""
    if not (isinstance(cache, tuple | list | np.ndarray) and len(cache) == 2):
        kind = f"an array of shape {cache.shape}" if isinstance(cache, np.ndarray) else type(cache).__name__
        raise ValueError(f"the cache is {kind}; give the pair (keys, values) that the last call returned")
    arrays = []
    for name, old, new in zip(("keys", "values"), cache, (keys, values), strict=True):
        old = as_float_array(f"the cache's {name}", old)
        *batch, _, width = new.shape
        if old.ndim != new.ndim or [*old.shape[:-2], old.shape[-1]] != [*batch, width]:
            wanted = ", ".join([*map(str, batch), "n_old", str(width)])
            raise ValueError(
                f"the cache's {name} have shape {old.shape}, and the new ones need ({wanted}); "
                "start with cache=None, and give each call what the last one returned"
            )
        arrays.append(old)
    return arrays
