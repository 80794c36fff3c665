"""The parts of a transformer's layer beside attention: layer norm, feed-forward network, and a place for the biases."""

from typing import NamedTuple

import numpy as np

from mha_helpers.products import product

N_HEADS = 12
NORM_EPSILON = np.float32(1e-12)  # BERT's layer_norm_eps


class LayerNorm(NamedTuple):
    """Give each token's features mean 0 and spread 1, then a gain and a shift.

    Ba et al. (2016), https://arxiv.org/abs/1607.06450.
    """

    gain: np.ndarray
    shift: np.ndarray
    epsilon: np.float32 = NORM_EPSILON

    def __call__(self, X):
        n_features = X.shape[-1]  # sums divided by it are the means, and half the time of np.mean on a single token
        X = X - X.sum(axis=-1, keepdims=True) / n_features
        spread = np.sqrt((X * X).sum(axis=-1, keepdims=True) / n_features + self.epsilon)
        return X / spread * self.gain + self.shift


class Dense(NamedTuple):
    W: np.ndarray  # (n_inputs, n_outputs)
    b: np.ndarray

    def __call__(self, X):
        # All tokens of all sentences in one product: one for each sentence takes several times as long.
        rows = product(X.reshape(-1, X.shape[-1]), self.W) + self.b
        return rows.reshape(*X.shape[:-1], -1)


class Block(NamedTuple):
    """One layer: attention, then the feed-forward network, each added to its input and normalised."""

    W_Q: np.ndarray  # (d_model, d_model) like the next three; b_Q, b_K and b_V are folded into their matrices
    W_K: np.ndarray
    W_V: np.ndarray
    W_O: np.ndarray
    b_O: np.ndarray
    attention_norm: LayerNorm
    widen: Dense  # (d_model, 4 d_model)
    narrow: Dense  # and back
    output_norm: LayerNorm

    def __call__(self, X, attend, mask, without, knock_out):
        """Return the layer's output and its attention weights; `without` are heads for `knock_out` to switch off."""
        W_O = _without(without, self.W_O, knock_out) if without else self.W_O
        output, weights = call_attention(attend, X, (self.W_Q, self.W_K, self.W_V, W_O), N_HEADS, mask)
        X = self.attention_norm(X + output + self.b_O)
        return self.output_norm(X + self.narrow(gelu(self.widen(X)))), weights


def _without(heads, W_O, knock_out):
    try:
        left = np.asarray(knock_out(W_O, np.array(heads), N_HEADS), np.float32)
    except Exception as error:
        raise ValueError(f"knock_out, called with the heads {heads}, raised {type(error).__name__}: {error}") from error
    if left.shape != W_O.shape:
        raise ValueError(f"knock_out returned shape {left.shape}; return a matrix of the shape of W_O, {W_O.shape}")
    return read_only(left)


def call_attention(attend, X, matrices, n_heads, mask):
    """Call an attention function, and check the shapes of what it returns."""
    call = (
        f"the attention function, called with X of shape {X.shape}, W_Q, W_K, W_V and W_O of shape "
        f"{matrices[0].shape}, {n_heads=} and {'no mask' if mask is None else f'a mask of shape {mask.shape}'},"
    )
    arguments = [read_only(X), *matrices, n_heads] + ([] if mask is None else [read_only(mask)])
    try:
        returned = attend(*arguments)
    except Exception as error:
        raise ValueError(f"{call} raised {type(error).__name__}: {error}") from error
    if not (isinstance(returned, tuple | list) and len(returned) == 2):
        raise ValueError(f"{call} returned {type(returned).__name__}; return (output, weights)")
    *batch, n_tokens, _ = X.shape
    shapes = {"output": X.shape, "weights": (*batch, n_heads, n_tokens, n_tokens)}
    arrays = []
    for (name, shape), array in zip(shapes.items(), returned, strict=True):
        try:
            array = np.asarray(array).astype(np.float32)
        except (TypeError, ValueError):
            raise ValueError(f"{call} returned as {name} what is not an array of numbers") from None
        if array.shape != shape:
            raise ValueError(f"{call} returned {name} of shape {array.shape}; the shape must be {shape}")
        arrays.append(array)
    return arrays


def read_only(array):
    """Return a read-only view: a function that changes its arguments would change the model."""
    view = array.view()
    view.flags.writeable = False
    return view


def fold_bias(W, b, norm):
    """Put a bias into a matrix: X @ folded = X @ W + b for every X that comes out of the layer norm.

    Parameters
    ----------
    W : ndarray, shape (d_model, d_out)
    b : ndarray, shape (d_out,)
    norm : LayerNorm

    Returns
    -------
    ndarray of float32, shape (d_model, d_out)

    Notes
    -----
    A layer norm returns z * gain + shift, and the z of one token sum to 0. So of every token, whatever it says, the
    features divided by their gains have the same sum: that of shift / gain. Divided by that number, it is a
    feature that is always 1; and a feature that is always 1, times the row b, is a bias.

    Examples
    --------
    >>> norm = LayerNorm(np.float32([1, 2, 4]), np.float32([1, 0, 1]))
    >>> X = norm(np.float32([[3, 1, 4], [1, 5, 9]]))
    >>> (X @ fold_bias(np.zeros((3, 2)), np.array([10, 20]), norm)).round(4)
    array([[10., 20.],
           [10., 20.]], dtype=float32)
    """
    if not b.any():
        return W
    gain, shift = np.float64(norm.gain), np.float64(norm.shift)
    always_1 = 1 / gain / (shift / gain).sum()  # X @ always_1 is 1 for each token
    return (W + np.outer(always_1, b)).astype(np.float32)


def gelu(x):
    """The feed-forward network's activation: x times the share of the normal distribution that lies below x.

    Parameters
    ----------
    x : ndarray of float32

    Returns
    -------
    ndarray of float32

    Notes
    -----
    x (1 + erf(x / sqrt(2))) / 2, the exact form: Hendrycks and Gimpel (2016), https://arxiv.org/abs/1606.08415.

    Examples
    --------
    >>> gelu(np.float32([-1, 0, 1])).round(4)
    array([-0.1587,  0.    ,  0.8413], dtype=float32)
    """
    return x * (erf(x * np.float32(0.5**0.5)) + 1) * np.float32(0.5)


# NumPy has no erf. These are the coefficients of Eigen's for float32 (`generic_fast_erf_float`, in
# https://gitlab.com/libeigen/eigen, unsupported/Eigen/src/SpecialFunctions), highest power first.
ERF_ABOVE = np.float32(
    [
        -2.72614225801306e-10,
        2.77068142495902e-08,
        -2.10102402082508e-06,
        -5.69250639462346e-05,
        -7.34990630326855e-04,
        -2.95459980854025e-03,
        -1.60960333262415e-02,
    ]
)
ERF_BELOW = np.float32(
    [-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03, -1.42647390514189e-02]
)


def erf(x):
    """The error function, as x times a ratio of two polynomials in x squared.

    Parameters
    ----------
    x : ndarray of float32

    Returns
    -------
    ndarray of float32
        The formula is within 7e-8 of the error function, and its evaluation in float32 within 5e-7.

    Examples
    --------
    >>> erf(np.float32([-9, 0, 0.5])).round(4)
    array([-1.    ,  0.    ,  0.5205], dtype=float32)
    """
    x = x.clip(-4, 4)  # beyond, it is 1 to float32's last digit
    square = x * x
    return x * np.polyval(ERF_ABOVE, square) / np.polyval(ERF_BELOW, square)
