"""Notebook 10's questions that ask for an answer before they run anything."""

import numpy as np

from mha_helpers import decoder
from mha_helpers.attention import combine_heads, scaled_dot_product_attention, softmax, split_heads
from mha_helpers.exercises.prediction import Prediction
from mha_helpers.rounding import round_to_bits

TRIED = slice(12288, 12801)  # of the text that the writer has not read


def _source():
    lines = [
        f"{n_written:3} words written: {2 * n_written:3} vectors of the text's own, {2 * 40} of the source"
        for n_written in (1, 20, 40)
    ]
    return "\n".join(["keys and values that a layer keeps, of a source of 40 words", *lines])


predict_source = Prediction(
    right="c",
    reactions={
        "a": "For its own text it does keep a key and a value for each new word, because later words attend to it. But "
        "nobody adds a word to the source.",
        "b": "The source's rows don't depend on what is being written, so neither do its keys and values. Once they "
        "are computed, they serve every word that comes.",
        "c": "The source is finished. Its keys and values depend on the source alone, so they are computed once, and "
        "serve every word that comes.",
    },
    evidence=_source,
)


def rounded(bits):
    """Return attention that reads keys and values as a cache with so many bits for a number would hold them."""

    def attend(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        queries, keys, values = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
        keys, values = round_to_bits(keys, bits), round_to_bits(values, bits)
        context, weights = scaled_dot_product_attention(queries, keys, values, mask)
        return combine_heads(context) @ W_O, weights

    return attend


def _bits():
    model, text = decoder.load(), decoder.held_out_text()[TRIED]
    lines = [f"{bits} bits: {model.loss(text, rounded(bits)):.3f}" for bits in (8, 4, 3, 2)]
    return "\n".join([f"loss as trained: {model.loss(text):.3f}", *lines])


predict_bits = Prediction(
    right="a",
    reactions={
        "a": "Even seven levels are enough for this model. With three, which is what two bits leave, the loss jumps.",
        "b": "Four bits leave fifteen levels, and this model isn't harmed by them. It isn't harmed by three, either.",
        "c": "Eight bits are common, and safe. But this model loses nothing with half of them, or even fewer.",
    },
    evidence=_bits,
)


def _merge():
    rng = np.random.default_rng(0)
    query, (keys, values) = rng.normal(size=(1, 4)), rng.normal(size=(2, 1000, 4))
    whole, _ = scaled_dot_product_attention(query, keys, values)
    blocks = (slice(0, 300), slice(300, 800), slice(800, 1000))
    contexts = np.concatenate([scaled_dot_product_attention(query, keys[b], values[b])[0] for b in blocks])
    came_to = np.array([np.log(np.exp(query @ keys[b].T / 2).sum()) for b in blocks])
    lines = [f"{name}: {np.round(row, 4) + 0.0}" for name, row in (
        ("all keys at once", whole[0]), ("mean of three blocks", contexts.mean(axis=0)),
        ("weighted mean of them", softmax(came_to) @ contexts),
    )]  # fmt: skip
    return "\n".join(lines)


predict_merge = Prediction(
    right="b",
    reactions={
        "a": "The blocks have different lengths and different scores, so they don't count the same.",
        "b": "A softmax is exponentials over their sum. If each block says what its own exponentials came to, their "
        "sums can be put together, and nothing is lost.",
        "c": "It needs their sum, and sums can be put together from parts: notebook 08 did it one block after another.",
    },
    evidence=_merge,
)
