"""The mistakes that people make in `full_OV`."""

import numpy as np

from mha_helpers.attention import softmax
from mha_helpers.exercises.mistakes.catalogue import also


def ov_transposed(E, W_V, W_O, U):
    """The table lies on its side. Row i is the token that is attended to, column j the token whose logit changes."""
    return (E @ W_V @ W_O @ U).T


@also(lambda E, W_V, W_O, U: E @ W_V @ W_V.T @ U, lambda E, W_V, W_O, U: E @ W_O.T @ W_O @ U)
def ov_no_value(E, W_V, W_O, U):
    """W_V or W_O is left out. A token's vector first becomes a value, W_V, and what comes back to the row is that value
    times W_O."""
    return E @ U


def ov_matrices_transposed(E, W_V, W_O, U):
    """A matrix is used on its side. Rows are multiplied from the right, by W_V and W_O as they are."""
    return E @ W_O.T @ W_V.T @ U


@also(lambda E, W_V, W_O, U: (E @ W_V @ W_O).T)
def ov_logits_left_out(E, W_V, W_O, U):
    """That is what the head adds to the row. Multiply by U as well: how does it change the logits?"""
    return E @ W_V @ W_O


def ov_embedding_in_the_end(E, W_V, W_O, U):
    """You come back to tokens with E. This model has a matrix of its own for its logits: U."""
    return E @ W_V @ W_O @ E.T


@also(lambda E, W_V, W_O, U: W_O @ U)
def ov_embedding_left_out(E, W_V, W_O, U):
    """The tokens' vectors are missing: the product begins with E, a row for each token."""
    return W_V @ W_O @ U


def ov_own_row_added(E, W_V, W_O, U):
    """You add the token's own row. Only what this head hands on is asked for."""
    return (E + E @ W_V @ W_O) @ U


def ov_softmax(E, W_V, W_O, U):
    """You take a softmax. What is asked for are the logits, as they are."""
    return softmax(E @ W_V @ W_O @ U)


@also(lambda E, W_V, W_O, U: E @ W_V @ W_O @ U / np.sqrt(W_V.shape[0]))
def ov_scaled(E, W_V, W_O, U):
    """You divide by the square root of a width. That belongs to scores; values and logits aren't scaled."""
    return E @ W_V @ W_O @ U / np.sqrt(W_V.shape[1])


@also(lambda E, W_V, W_O, U: (E @ W_V @ W_O @ U).argmax(1))
def ov_diagonal_only(E, W_V, W_O, U):
    """You return the diagonal. The whole table is asked for: every token attended to, and every logit."""
    return np.diag(E @ W_V @ W_O @ U)
