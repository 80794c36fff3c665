"""The logit lens, driven without a browser."""

import numpy as np
import pytest

from mha_helpers import attention, decoder, labs
from mha_helpers.labs.a_model_that_writes.logit_lens import MAX_CHARACTERS, TEXT, compute, logit_lens

FIRST = logit_lens().first_state


def result(function=None, **changes):
    return compute(FIRST | changes, function)


def test_after_all_blocks_it_is_what_the_model_says():
    logits, _ = decoder.load().predict(TEXT)
    np.testing.assert_allclose(result().probabilities[-1], attention.softmax(logits)[:-1], atol=1e-5)
    assert result().losses[-1] == pytest.approx(decoder.load().loss(TEXT), abs=1e-4)


def test_every_block_makes_the_loss_smaller():
    assert (np.diff(result().losses) < 0).all()


def test_what_the_notebook_says_of_it():
    shown = result()
    assert (shown.guesses == shown.came).sum(axis=1).tolist() == [1, 9, 14, 25, 31]
    alphabet = decoder.load().alphabet
    assert "".join(alphabet[code] for code in shown.guesses[0]) == TEXT[:-1], "each guess repeats the one before"
    [place] = np.flatnonzero(shown.guesses[0] == shown.came) + 1
    assert TEXT[place - 3 : place + 1] == "will"
    row = shown.probabilities[:, TEXT.index("ord,") - 1]
    ranks = (row > row[:, [alphabet.index("o")]]).sum(axis=1)
    assert ranks[0] >= 5
    assert (ranks[1:] < 5).all()
    assert (ranks > 0).tolist() == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("typed", "read", "readout"),
    [
        ("To be", "To be", ""),
        ("naïve Ω", "nave ", "What the model has never seen is left out."),
        ("x", TEXT, "There is nothing to guess"),
        ("a" * 99, "a" * MAX_CHARACTERS, f"Of 99 characters the last {MAX_CHARACTERS} are read."),
    ],
)
def test_what_is_typed_is_read_as_far_as_it_can_be(typed, read, readout):
    shown = result(text=typed)
    assert shown.text == read
    assert readout in shown.notice


def test_a_place_after_the_end_is_the_last():
    assert result(text="To be", place=MAX_CHARACTERS - 1).place == 4


def test_a_wrong_function_shows_where_its_losses_part():
    def without_W_O(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        return attention.multi_head_attention(X, W_Q, W_K, W_V, np.eye(len(W_O)), n_heads, mask)

    lab = labs.logit_lens(without_W_O)
    drawn = lab.picture.value
    assert "16.22<" in drawn, "before the first block nothing has gone wrong yet"
    assert drawn.count(" ≠</text>") == 4, "and after each block it has"
    assert result(without_W_O).losses[-1] > 4
