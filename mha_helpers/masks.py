"""Masks: which query may attend to which key.

A boolean mask is True where a query may attend to a key, as in PyTorch's
`scaled_dot_product_attention`, ONNX and Keras. (`torch.nn.MultiheadAttention` is the odd one
out: True hides there.) A float mask is added to the scores. Boolean masks combine with `&`.
`convert_mask` translates between these and the other conventions in use.
"""

from __future__ import annotations

import numpy as np

from mha_helpers.shapes import Array, as_array, as_float_array, checked


@checked(n="count")
def causal_mask(n: int) -> Array:
    """Let each position attend to itself and to what came before it.

    Parameters
    ----------
    n : int
        The sequence length, 1 or more.

    Returns
    -------
    ndarray of bool, shape (n, n)
        True where query i (row) may attend to key j (column): j <= i.

    Raises
    ------
    ValueError
        If n is not a whole number of 1 or more.

    Examples
    --------
    >>> causal_mask(3)
    array([[ True, False, False],
           [ True,  True, False],
           [ True,  True,  True]])
    """
    return np.tri(n, dtype=bool)


@checked(attention_mask="batch n_keys of 1 (token) and 0 (padding)")
def padding_mask(attention_mask: Array) -> Array:
    """Hide padding keys from every query and every head.

    Parameters
    ----------
    attention_mask : array_like of 1 and 0, shape (batch, n_keys)
        1 for a token, 0 for padding, as tokenizers return it.

    Returns
    -------
    ndarray of bool, shape (batch, 1, 1, n_keys)
        True where the key is a token. The axes of length 1 stand for heads and queries, so the
        mask broadcasts over (batch, n_heads, n_queries, n_keys).

    Raises
    ------
    ValueError
        If there are not two axes, or an entry is neither 1 nor 0.

    Examples
    --------
    >>> padding_mask([[1, 1, 1, 0]])
    array([[[[ True,  True,  True, False]]]])
    """
    return attention_mask.astype(bool)[:, None, None, :]


@checked(attention_mask="batch n_keys of 1 (token) and 0 (padding)", n_new="count")
def sdpa_mask(attention_mask: Array, n_new: int) -> Array:
    """Make the mask that PyTorch's `F.scaled_dot_product_attention` needs when a cache holds all but the newest tokens.

    Parameters
    ----------
    attention_mask : array_like of 1 and 0, shape (batch, n_keys)
        1 for a token, 0 for padding, for old and new tokens, as a tokenizer and a cache give it.
    n_new : int
        How many queries there are: the last n_new of the keys' own tokens.

    Returns
    -------
    ndarray of bool, shape (batch, 1, n_new, n_keys)
        True where a query may attend to a key: a token, not padding, and not later than the query. The corner of the
        triangle is at the bottom right.

    Raises
    ------
    ValueError
        If there are not two axes, an entry is neither 1 nor 0, or there are more new tokens than keys.

    Examples
    --------
    >>> sdpa_mask([[0, 1, 1, 1]], n_new=2)[0, 0].astype(int)
    array([[0, 1, 1, 0],
           [0, 1, 1, 1]])
    """
    n_keys = attention_mask.shape[1]
    if n_new > n_keys:
        raise ValueError(f"there are {n_new} new tokens and {n_keys} keys; the keys must include the new tokens' own")
    return padding_mask(attention_mask) & causal_mask(n_keys)[-n_new:]


@checked(text_numbers="seq_len")
def packed_mask(text_numbers: Array) -> Array:
    """Keep several texts apart that are packed into one sequence, each with its own past.

    Parameters
    ----------
    text_numbers : array_like, shape (seq_len,)
        Which text each position belongs to: [0, 0, 0, 1, 1].

    Returns
    -------
    ndarray of bool, shape (seq_len, seq_len)
        True where key j (column) comes no later than query i (row) and belongs to the same text.

    Raises
    ------
    ValueError
        If there is not one axis.

    Examples
    --------
    >>> packed_mask([0, 0, 1]).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [0, 0, 1]])
    """
    same_text = text_numbers[:, None] == text_numbers  # row i, column j: do both belong to one text?
    return same_text & causal_mask(len(text_numbers))


def apply_mask(scores: Array, mask: Array) -> Array:
    """Hide scores from the softmax.

    Parameters
    ----------
    scores : array_like, shape (..., n_queries, n_keys)
    mask : array_like, broadcastable to the shape of `scores`
        Boolean: True where the query may attend to the key; elsewhere the score becomes -inf.
        Float: added to the scores. It has two axes, or as many as the scores: in between, an
        axis (usually the heads') was forgotten, and broadcasting would pair the wrong ones.

    Returns
    -------
    ndarray, shape (..., n_queries, n_keys)
        The masked scores, of the scores' type. NaN in a float mask stays NaN.

    Raises
    ------
    ValueError
        If the mask is of integers, or holds only 1.0 and 0.0 (it is not clear whether they are to be
        added), or does not broadcast to the scores, or lacks an axis.

    Examples
    --------
    >>> apply_mask(np.zeros((2, 2)), causal_mask(2))
    array([[  0., -inf],
           [  0.,   0.]])
    """
    if mask is None:
        raise ValueError("there is no mask; give one, or use scaled_dot_product_attention, where it may be left out")
    scores = as_float_array("scores", scores)
    return hide(scores.copy(), check_mask(mask, scores.shape))


def hide(scores: Array, mask: Array) -> Array:
    """Hide scores in place, with a mask that fits them: -inf where it is False, or its numbers added."""
    if mask.dtype.kind == "f":
        with np.errstate(over="ignore"):  # float64's lowest number becomes float32's -inf: hidden all the same
            scores += mask.astype(scores.dtype)
    else:
        np.copyto(scores, -np.inf, where=~mask)
    return scores


def check_mask(mask: Array, shape: tuple[int, ...]) -> Array:
    """Return a mask as an array, if it fits scores of this shape."""
    mask = as_array("the mask", mask)
    if mask.dtype.kind not in "bf":
        raise ValueError(
            f"the mask holds {mask.dtype} entries; give booleans (True may attend) or floats (added to the scores); "
            "for 1 and 0, use np.asarray(mask, bool)"
        )
    if mask.dtype.kind == "f" and (mask == 1).any() and np.isin(mask, (0, 1)).all():
        raise ValueError(
            "the mask holds only 1.0 and 0.0, which would be added to the scores and hide nothing; "
            "where 1 means 'may attend', use np.asarray(mask, bool)"
        )
    if mask.ndim != 2 and mask.ndim != len(shape):
        raise ValueError(
            f"the mask has shape {mask.shape} and the scores {shape}; give it two axes (n_queries, n_keys) or "
            "all of the scores' axes, with length 1 where it is the same for all (for one mask a batch item under "
            "several heads: mask[:, None])"
        )
    try:
        fits = np.broadcast_shapes(mask.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"the mask has shape {mask.shape}, which does not broadcast to the scores' {shape}; "
            "its last two axes are (n_queries, n_keys)"
        )
    return mask


# What an entry of a mask says, in each convention: (may attend, hidden).
CONVENTIONS = {
    "may attend": (True, False),
    "hidden": (False, True),
    "additive": (0.0, -np.inf),
    "ones": (1, 0),
}


def convert_mask(mask: Array, *, given: str | None = None, wanted: str = "may attend") -> Array:
    """Translate a mask from one convention to another.

    Parameters
    ----------
    mask : array_like
        Of any shape.
    given : {"may attend", "hidden", "additive", "ones"}, optional
        What the mask's entries mean: True where a query may attend; True where the key is hidden;
        0 or -inf, to be added to the scores; 1 where a query may attend, else 0. Without it only a mask
        with -inf in it is taken: there is one way to read that.
    wanted : {"may attend", "hidden", "additive", "ones"}, optional
        What to return. "may attend" is this package's own convention for booleans.

    Returns
    -------
    ndarray
        Of the mask's shape: booleans, floats for "additive", ints for "ones".

    Raises
    ------
    ValueError
        If the mask can be read in more than one way and `given` is missing, if an entry has no meaning in
        the given convention, or if there is no such convention.

    Examples
    --------
    >>> convert_mask([[False, True]], given="hidden")
    array([[ True, False]])
    >>> convert_mask([[0, -np.inf]])
    array([[ True, False]])
    >>> convert_mask([[1, 1, 0]], given="ones", wanted="additive")
    array([[  0.,   0., -inf]])
    """
    mask = as_array("the mask", mask)
    if mask.dtype.kind not in "biuf":
        raise ValueError(f"the mask holds {mask.dtype} entries; give booleans or numbers")
    if given is None:
        given = _only_reading(mask)
    for convention in (given, wanted):
        if convention not in tuple(CONVENTIONS):
            raise ValueError(f"there is no convention {convention!r}; give one of {', '.join(map(repr, CONVENTIONS))}")
    allowed, hidden = CONVENTIONS[given]
    if (mask.dtype.kind == "b") != isinstance(allowed, bool):
        raise ValueError(
            f"the mask holds {mask.dtype} entries, and in the convention {given!r} they are {allowed} and {hidden}; "
            "name the convention that the mask was made in"
        )
    strange = mask[(mask != allowed) & (mask != hidden)]
    if strange.size:
        first = strange.flat[0]
        advice = ""
        if given == "additive" and np.isfinite(first) and first < 0:
            advice = "; a finite number can be outrun by scores: to hide for certain, np.where(mask < 0, -np.inf, 0)"
        raise ValueError(
            f"the mask holds {first}, and in the convention {given!r} there are only {allowed} (may attend) and "
            f"{hidden} (hidden){advice}"
        )
    return np.where(mask == allowed, *CONVENTIONS[wanted])


def _only_reading(mask):
    """Return the only convention that fits a mask, or raise ValueError."""
    if mask.dtype.kind == "f" and not np.isin(mask, (0, 1)).all():
        return "additive"
    could_be = {
        "b": "True may mean 'may attend' or 'hidden'",
        "f": "without a -inf in it, it may be 'additive' or 'ones'",
    }.get(mask.dtype.kind, "1 may mean 'may attend' (then it is 'ones') or 'hidden' (then 1 - np.asarray(mask) is)")
    raise ValueError(f"this mask of {mask.dtype} entries can be read in two ways: {could_be}; say which with given=...")
