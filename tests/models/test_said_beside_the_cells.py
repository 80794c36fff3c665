"""What notebooks 02, 07, 08 and 10 say beside what their own cells print: measured here, on other pieces and starts."""

import math
from collections import Counter, defaultdict

import numpy as np
import pytest

from mha_helpers import decoder, small_runs, tasks
from mha_helpers.attention import attention_scores, combine_heads, scaled_dot_product_attention, softmax, split_heads
from mha_helpers.model.data import checked_content
from mha_helpers.rounding import round_to_bits
from mha_helpers.training import Training

MODEL = decoder.load()
TEXT = decoder.held_out_text()
PIECES = [TEXT[start : start + 513] for start in range(6000, 102_000, 12_000)]
pytestmark = pytest.mark.slow


def gradients(rows, width):
    """Return by how much 02's undivided rows would change their queries, in length."""
    rng = np.random.default_rng(1)
    queries, keys = rng.normal(size=(rows, 1, width)), rng.normal(size=(rows, 8, width))
    values = rng.normal(size=(rows, 8, 4))
    weights = softmax(attention_scores(queries, keys))
    back = 2 * (weights @ values - values[:, :1]) @ values.swapaxes(-1, -2)
    at_scores = weights * (back - (weights * back).sum(axis=-1, keepdims=True))
    return np.linalg.norm(at_scores @ keys, axis=(1, 2))


def test_02_fewer_than_a_fifth_of_the_undivided_rows_pull_up_the_mean():
    lengths = gradients(1000, 512)
    assert 0.1 < (lengths > lengths.mean()).mean() < 0.2
    assert np.median(lengths) < 0.01 * lengths.mean()


@pytest.mark.parametrize(("larger", "learns"), [(4, True), (8, False)])
def test_07_an_undivided_model_learns_from_starts_four_times_as_large_and_not_from_eight_times(larger, learns):
    for seed in range(2):
        training = Training(tasks.repeated_sequences(), seed=seed, **small_runs.OPTIONS["not divided"])
        for name in ("W_Q0", "W_Q1", "W_K0", "W_K1"):
            training.parameters[name] = (training.parameters[name] * larger).astype(np.float32)
        loss = training.run(400).look().loss
        assert loss < 0.05 if learns else loss > 1


class Counts:
    """How often which character follows the last four, mixed with shorter contexts (Witten and Bell, 1991)."""

    ORDER = 5

    def __init__(self, text):
        self.after = [defaultdict(Counter) for _ in range(self.ORDER)]
        for k, counts in enumerate(self.after):
            for i in range(k, len(text)):
                counts[text[i - k : i]][text[i]] += 1
        self.totals = [{context: sum(counts[context].values()) for context in counts} for counts in self.after]

    def loss(self, text):
        return -np.mean([math.log(self.probability(text, i)) for i in range(self.ORDER, len(text))])

    def probability(self, text, i):
        probability = 1 / len(MODEL.alphabet)
        for k, (counts, totals) in enumerate(zip(self.after, self.totals, strict=True)):
            context = text[i - k : i]
            if context not in totals:
                break
            kinds = len(counts[context])
            probability = (counts[context][text[i]] + kinds * probability) / (totals[context] + kinds)
        return probability


@pytest.mark.parametrize("tenth", range(9))
def test_08_counts_do_worse_on_the_new_text_than_on_any_other_tenth_that_they_have_not_seen(tenth):
    size, text = len(TEXT), checked_content(decoder.TEXT, decoder.FOLDER).decode("utf-8")
    read = text[: len(text) - size]
    held_out, rest = read[tenth * size : (tenth + 1) * size], read[: tenth * size] + read[(tenth + 1) * size :]
    counts = Counts(rest)
    assert counts.loss(TEXT) > counts.loss(held_out) + 0.02


def rounded(bits):
    """Attention whose keys and values have lost all but so many bits."""

    def attend(X, W_Q, W_K, W_V, W_O, n_heads, mask):
        queries, keys, values = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
        keys, values = round_to_bits(keys, bits), round_to_bits(values, bits)
        context, weights = scaled_dot_product_attention(queries, keys, values, mask)
        return combine_heads(context) @ W_O, weights

    return attend


def short(rotation, bits=None):
    """Attention that keeps 128 numbers of a token, mixed by a rotation and rounded."""

    def attend(X, W_Q, W_K, W_V, W_O, n_heads, mask):
        U, S, V = np.linalg.svd(np.hstack([W_K, W_V]), full_matrices=False)
        kept = X @ (U[:, :128] * S[:128]) @ rotation
        if bits:
            kept = round_to_bits(kept, bits)
        keys, values = (split_heads(half, n_heads) for half in np.split(kept @ rotation.T @ V[:128], 2, axis=-1))
        context, weights = scaled_dot_product_attention(split_heads(X @ W_Q, n_heads), keys, values, mask)
        return combine_heads(context) @ W_O, weights

    return attend


def test_10_three_bits_cost_about_two_hundredths_of_a_nat_on_other_pieces():
    costs = [MODEL.loss(piece, rounded(3)) - MODEL.loss(piece) for piece in PIECES]
    assert 0.01 < np.mean(costs) < 0.035


def test_10_a_rotation_takes_most_of_what_rounding_costs_the_short_vector():
    as_it_is = np.eye(128)
    for seed, piece in enumerate(PIECES[:4]):
        rotation = np.linalg.qr(np.random.default_rng(seed).normal(size=(128, 128)))[0]
        exact, plain, mixed = (
            MODEL.loss(piece, way) for way in (short(as_it_is), short(as_it_is, bits=3), short(rotation, bits=3))
        )
        assert mixed - exact < (plain - exact) / 2


def test_10_two_bits_cancel_as_much_as_three_and_are_three_times_as_large():
    X = MODEL.characters[MODEL.codes(TEXT[:256])] + MODEL.positions
    queries, keys = (split_heads(MODEL.blocks[0].attention_norm(X) @ W, 6) for W in MODEL.blocks[0].matrices[:2])
    shares, together = {}, {}
    for bits in (3, 2):
        errors = round_to_bits(keys, bits) - keys
        apart = (np.abs(queries) @ np.abs(errors).swapaxes(-1, -2)).mean()
        together[bits] = np.abs(queries @ errors.swapaxes(-1, -2)).mean()
        shares[bits] = together[bits] / apart
    assert shares[2] == pytest.approx(shares[3], abs=0.05)
    assert 2.5 < together[2] / together[3] < 3.5


@pytest.mark.parametrize("seed", range(5))
def test_10_with_a_sink_more_queries_get_stuck_with_wrong_keys_and_make_the_error(seed):
    rng = np.random.default_rng(seed)
    start, keys = rng.normal(size=(200, 1, 16)), rng.normal(size=(200, 8, 16))
    values = 1 + rng.normal(size=(200, 8, 4))
    target = values[:, :1] * (np.arange(200) < 100)[:, None, None]
    stuck = {}
    for sink in (-np.inf, 0.0):
        queries, score = start, sink
        for _ in range(300):
            scores = queries @ keys.swapaxes(-1, -2) / 4
            weights = softmax(np.concatenate([scores, np.full((200, 1, 1), score)], axis=-1))[..., :-1]
            error = weights @ values - target
            back = 2 * error @ values.swapaxes(-1, -2)
            pull = (weights * back).sum(axis=-1, keepdims=True)
            queries = queries - 0.5 * (weights * (back - pull)) @ keys / 4
            score += 0.5 * ((1 - weights.sum(axis=-1, keepdims=True)) * pull).mean()
        squares, is_stuck = (error[:100] ** 2).sum(axis=(1, 2)), weights[:100, 0, 0] < 0.05
        stuck[sink] = is_stuck.sum()
    assert stuck[0.0] > 1.5 * stuck[-np.inf]
    assert squares[is_stuck].sum() > 0.9 * squares.sum()
