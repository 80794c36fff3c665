"""The mistakes that people make in `composed_QK`."""

import numpy as np

from mha_helpers.attention import softmax
from mha_helpers.exercises.mistakes.catalogue import also


def _notes(E, W_V0, W_O0):
    return E @ W_V0 @ W_O0


def _scaled(scores, W):
    return scores / np.sqrt(W.shape[1])


def qk_transposed(E, W_V0, W_O0, W_Q1, W_K1):
    """The table lies on its side. Row i is the token whose query asks, column j the token that the note is about."""
    return _scaled((E @ W_Q1 @ (_notes(E, W_V0, W_O0) @ W_K1).T).T, W_K1)


def qk_without_the_note(E, W_V0, W_O0, W_Q1, W_K1):
    """Keys are made from the tokens themselves. What is asked for is the key that comes from the note of the head
    below: E @ W_V0 @ W_O0."""
    return _scaled(E @ W_Q1 @ (E @ W_K1).T, W_K1)


def qk_note_on_both_sides(E, W_V0, W_O0, W_Q1, W_K1):
    """The queries come from notes, too. The token that asks is there itself: its query comes from E."""
    return _scaled(_notes(E, W_V0, W_O0) @ W_Q1 @ (_notes(E, W_V0, W_O0) @ W_K1).T, W_K1)


def qk_note_in_the_query(E, W_V0, W_O0, W_Q1, W_K1):
    """The note is read by the query and the token by the key. It is the other way round: a token asks, and the key
    carries the note."""
    return _scaled(_notes(E, W_V0, W_O0) @ W_Q1 @ (E @ W_K1).T, W_K1)


def qk_note_and_token(E, W_V0, W_O0, W_Q1, W_K1):
    """You add the note to the token's row. Here the score with the note alone is asked for."""
    return _scaled(E @ W_Q1 @ ((E + _notes(E, W_V0, W_O0)) @ W_K1).T, W_K1)


@also(
    lambda E, V, W, Q, K: _scaled(E @ K @ (_notes(E, V, W) @ K).T, K),
    lambda E, V, W, Q, K: _scaled(E @ Q @ (_notes(E, V, W) @ Q).T, K),
)
def qk_matrices_exchanged(E, W_V0, W_O0, W_Q1, W_K1):
    """W_Q1 and W_K1 are in each other's place. Queries are made with W_Q1, keys with W_K1."""
    return _scaled(E @ W_K1 @ (_notes(E, W_V0, W_O0) @ W_Q1).T, W_K1)


def qk_not_divided(E, W_V0, W_O0, W_Q1, W_K1):
    """The scores aren't divided by sqrt(d_head)."""
    return E @ W_Q1 @ (_notes(E, W_V0, W_O0) @ W_K1).T


@also(
    lambda E, V, W, Q, K: E @ Q @ (_notes(E, V, W) @ K).T / np.sqrt(V.shape[1]),
    lambda E, V, W, Q, K: E @ Q @ (_notes(E, V, W) @ K).T / K.shape[1],
    lambda E, V, W, Q, K: E @ Q @ (_notes(E, V, W) @ K).T / np.sqrt(len(E)),
)
def qk_scale(E, W_V0, W_O0, W_Q1, W_K1):
    """The scores are divided by another number than the square root of the upper head's width, W_K1.shape[1]."""
    return E @ W_Q1 @ (_notes(E, W_V0, W_O0) @ W_K1).T / np.sqrt(W_K1.shape[0])


@also(lambda E, V, W, Q, K: _scaled(E @ Q @ (E @ V @ V.T @ K).T, K))
def qk_note_is_the_value(E, W_V0, W_O0, W_Q1, W_K1):
    """The note that is written into the row is the value times W_O0, and that is what the layer above reads."""
    return _scaled(E @ W_Q1 @ (E @ W_O0.T @ W_V0.T @ W_K1).T, W_K1)


def qk_softmax(E, W_V0, W_O0, W_Q1, W_K1):
    """You take a softmax. What is asked for are the scores."""
    return softmax(_scaled(E @ W_Q1 @ (_notes(E, W_V0, W_O0) @ W_K1).T, W_K1))
