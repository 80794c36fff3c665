"""Notebook 01's questions that ask for an answer before they run anything, and its slip to find."""

import numpy as np

from mha_helpers import attention, decoder, running_example, worked_examples
from mha_helpers.exercises.prediction import Prediction, written_row

EXAMPLE = worked_examples.load("play_football")
TOKENS = EXAMPLE.tokens
QUERIES, KEYS, VALUES = (EXAMPLE.inputs["X"] @ EXAMPLE.inputs[name] for name in ("W_Q", "W_K", "W_V"))
IT = running_example.TOKENS.index("it")


def attend_to_itself(X, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    """Attend to nothing but oneself, which gives every query's own value the weight 1."""
    return X @ W_V @ W_O, cache


def _right_guesses(model, text, **ways):
    """Count the letters that a model guesses right."""
    logits, _ = model.predict(text, **ways)
    return int((logits.argmax(axis=-1)[:-1] == model.codes(text)[1:]).sum())


def _without_attention():
    model, text = decoder.load(), decoder.held_out_text()[:201]

    def alone(*arguments):
        return attend_to_itself(*arguments[:-1])[0], np.eye(len(text))[None].repeat(arguments[5], axis=0)

    written = (
        model.write("ROMEO:\n", 120, temperature=0.7, seed=0, attend=attend_to_itself).strip().replace("\n", " / ")
    )
    found = _right_guesses(model, text), _right_guesses(model, text, attend=alone)
    return (
        f"{written}\n\nOf 200 letters of a play that it has not read, it guesses\n"
        f"with attention:    {found[0]} right\nwithout attention: {found[1]} right"
    )


predict_alone = Prediction(
    right="c",
    reactions={
        "a": "Nothing that the model has learned was deleted. But most of it is about several letters together, and "
        "without attention a letter has only itself to go by.",
        "b": "A word is several letters that belong together, and no letter knows any longer which ones came before "
        "it. So the words go first.",
        "c": "It still knows what often follows a letter, such as a colon after a capital. But the last letter is all "
        "that it has to go by, so words fall apart. (In the text below, / is a new line.)",
    },
    explanation="Attention is the only way in this model for information to get from one letter to another.",
    evidence=_without_attention,
)


def _running_projections():
    return (running_example.X @ W for W in running_example.first_head())


def _add_constant():
    queries, keys, _ = _running_projections()
    scores = attention.attention_scores(queries, keys)[IT]
    return (
        f"softmax({written_row(scores)})\n  = {written_row(attention.softmax(scores))}\n"
        f"softmax({written_row(scores + 5)})\n  = {written_row(attention.softmax(scores + 5))}"
    )


predict_constant = Prediction(
    right="b",
    reactions={
        "a": "Every exp(score) is multiplied by exp(5), and so is their sum, so the factor cancels.",
        "b": "Every exp(score) is multiplied by exp(5), and so is their sum, so the factor cancels. Only the "
        "differences within a row matter.",
        "c": "The largest score is still ahead of the others by the same amount, and that's all that matters: the "
        "factor exp(5) cancels.",
    },
    explanation="So you may add any number to the scores of a row, and a different one to each row. The next exercise "
    "needs that.",
    evidence=_add_constant,
)


def _values_times_ten():
    queries, keys, values = _running_projections()
    context, weights = attention.dot_product_attention(queries, keys, values)
    context_ten, weights_ten = attention.dot_product_attention(queries, keys, 10 * values)
    return (
        f"weights of 'it': {written_row(weights[IT])}, with 10 W_V {written_row(weights_ten[IT])}\n"
        f"context of 'it': {written_row(context[IT])}, with 10 W_V {written_row(context_ten[IT])}"
    )


predict_values = Prediction(
    right="a",
    reactions={
        "a": "The weights come from the queries and keys alone. The values are only what gets mixed.",
        "b": "The context does grow tenfold. But the weights come from queries and keys alone, so they don't change.",
        "c": "It's the other way round: the weights come from the queries and keys, and the values are what they mix.",
    },
    evidence=_values_times_ten,
)


# The word order lab goes on with the same sentence. Any numbers would do; these give weights far apart.
WORDS = ("dog", "bites", "man")
WORD_VECTORS = np.array([[1.0, 0.2, -0.6, 0.4], [-0.5, 1.1, 0.3, -0.8], [0.7, -0.9, 0.8, 0.1]])
PROJECTIONS = {
    "queries": np.array([[0.9, -0.4], [0.3, 1.0], [-0.7, 0.5], [0.2, 0.8]]),
    "keys": np.array([[0.4, 0.9], [1.1, -0.3], [0.6, 0.2], [-0.5, 0.7]]),
    "values": np.array([[1.0, 0.3], [-0.2, 0.9], [0.5, -0.6], [0.4, 0.1]]),
}


def _reorder():
    lines = []
    for order in ([0, 1, 2], [2, 1, 0]):
        vectors = WORD_VECTORS[order]
        context, _ = attention.dot_product_attention(*(vectors @ matrix for matrix in PROJECTIONS.values()))
        sentence = " ".join(WORDS[i] for i in order)
        lines.append(f"{sentence}: context of 'bites' {written_row(context[order.index(1)])}")
    return "\n".join(lines)


predict_order = Prediction(
    right="c",
    reactions={
        "a": "It feels as if it must. But the context is a sum over all tokens, and a sum doesn't know in which order "
        "its terms were written down.",
        "b": "The weights do change places in their row. But each weight still goes with its own value, so the sum "
        "is the same.",
        "c": "It's the same sum of the same weighted values, only written in another order.",
    },
    explanation="That's a serious flaw in something that is meant to read, so models are told where each word stands.",
    evidence=_reorder,
)


def _slip_reactions():
    _, weights = attention.scaled_dot_product_attention(QUERIES, KEYS, VALUES)
    reactions = {}
    for (i, j), weight in np.ndenumerate(weights):
        name = f"{TOKENS[i]} on {TOKENS[j]}"
        reactions[name] = f"That one is right: the weight is {100 * weight:.2f} %. Look again."
    slip = weights[1, 2]
    reactions["play on football"] = (
        f"The weight is {100 * slip:.2f} %. The notes' 28.9 % belongs to the row below, football on "
        "football, and was probably copied from there. The row of play gave it away: it added up to 101.4 %."
    )
    return reactions


def _play_in_the_notes():
    [row] = worked_examples.slips(EXAMPLE)
    return f"the notes: {'  '.join(row.printed)}\nright:     {'  '.join(f'{value:.2f}' for value in row.right)}"


find_slip = Prediction(
    right="play on football",
    reactions=_slip_reactions(),
    evidence=_play_in_the_notes,
    shown_when_wrong=False,
)
