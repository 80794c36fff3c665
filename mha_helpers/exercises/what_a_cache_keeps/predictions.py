"""Notebook 10's questions that ask for an answer before they run anything."""

from mha_helpers import decoder
from mha_helpers.attention import combine_heads, scaled_dot_product_attention, split_heads
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
    right="c",
    reactions={
        "a": "Eight bits are common, and safe. But this model loses nothing with half of them, or even fewer.",
        "b": "Four bits leave fifteen levels, and this model isn't harmed by them. It isn't harmed by three, either.",
        "c": "Even seven levels are enough for this model. With three, which is what two bits leave, the loss jumps.",
    },
    evidence=_bits,
)
