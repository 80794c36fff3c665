"""Notebook 04's questions that ask for an answer before they run anything."""

import numpy as np

from mha_helpers import running_example
from mha_helpers.attention import attention_scores, scaled_dot_product_attention
from mha_helpers.exercises.prediction import Evidence, Prediction

Q = 100 * np.arange(3)[:, None] + np.arange(4)  # 100 * token + feature

IT = running_example.TOKENS.index("it")


def _row_of_it():
    """The weights that "it" gives to each word when there is one head, of width 4."""
    from mha_helpers import figures  # only when it is asked for: drawing is slow to load

    projections = [running_example.X @ W for W in (running_example.W_Q, running_example.W_K, running_example.W_V)]
    _, weights = scaled_dot_product_attention(*projections)
    lines = ["".join(f"{token:>9}" for token in running_example.TOKENS)]
    lines.append("".join(f"{weight:9.2f}" for weight in weights[IT]))
    return Evidence("\n".join(lines), figures.arcs(weights, running_example.TOKENS, query="it"))


predict_one_head = Prediction(
    right="c",
    reactions={
        "a": "The single head doesn't keep both rows and pick the better one. It adds the two heads' dot products, and "
        "then one softmax has to share out one row.",
        "b": "Sharing evenly sounds fair, but the sum of the two heads' scores is larger for “sat”, and softmax "
        "gives most of the row to the larger score.",
        "c": "The sums are 6 for “cat” and 8 for “sat”; divided by √4, 3 and 4. So softmax gives “sat” nearly "
        "three times as much as “cat”, and the answer to the first question is drowned out.",
    },
    evidence=_row_of_it,
)


def _reshaped():
    first = Q.reshape(2, 3, 2)[0].tolist()
    return f"with 0 to 3 for token a, 100 to 103 for b:\nQ.reshape(2, 3, 2)[0] = {first}"


predict_reshape = Prediction(
    right="b",
    reactions={
        "a": "That is what a head should hold. But a reshape doesn't move any numbers. It reads them row by row, "
        "and the first six are all of token a and half of token b.",
        "b": "It reads the numbers row by row, and the first six are all of token a and half of token b.",
        "c": "3 x 4 and 2 x 3 x 2 are equally many numbers, so the reshape runs. But all it does is read them row "
        "by row.",
    },
    explanation="A reshape only moves the brackets, so it can't make heads on its own. In memory, two numbers of head "
    "0 are followed by two of head 1, then by the next token's two of head 0, and so on. Somebody has to sort them.",
    evidence=_reshaped,
)


def _round_trip():
    back = Q.reshape(2, 3, 2).reshape(3, 4)
    return f"split and merged, both by reshape alone:\n{back}\nequal to what it was: {np.array_equal(back, Q)}"


predict_round_trip = Prediction(
    right="a",
    reactions={
        "a": "Neither reshape moves a number, so you get Q back, and a test like this one passes. The mistake only "
        "shows when attention runs in between.",
        "b": "Neither reshape moves a number, so one straight after the other mixes nothing. The mixing happens in "
        "between, when attention runs on the wrong rows.",
        "c": "All shapes are right: that is what makes this bug so hard to see.",
    },
    explanation="So the usual test for a split, going there and back, doesn't find this mistake.",
    evidence=_round_trip,
)


def _counted():
    lines = []
    for n_heads in (1, 8):
        queries, keys = np.zeros((2, n_heads, 128, 512 // n_heads))
        n_weights = attention_scores(queries, keys).size
        lines.append(f"{n_weights} weights with {'one head' if n_heads == 1 else f'{n_heads} heads'}")
    return "\n".join(lines)


predict_weights = Prediction(
    right="a",
    reactions={
        "a": "Each head has a softmax of its own: 128 weights for each of 128 tokens. The features are shared out "
        "among the heads, but the weights aren't.",
        "b": "That's true of the parameters: eight heads share the features among them. But each head has 128 weights "
        "for each of 128 tokens.",
        "c": "Each head is an eighth as wide, but that doesn't change how many weights it has: one for each pair of "
        "tokens, in every head.",
    },
    explanation="What grows with the number of heads is the number of weights, and with it the work of the softmax.",
    evidence=_counted,
)
