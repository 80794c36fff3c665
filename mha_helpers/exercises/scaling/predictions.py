"""Notebook 02's questions that ask for an answer before they run anything."""

import numpy as np

from mha_helpers import attention, experiments, measures
from mha_helpers.exercises.prediction import Prediction, written_row


def _stuck():
    lines = []
    for width in (4, 512):
        losses = experiments.learn_one_key(width, divisor=1, step_on="queries").losses.mean(axis=1)
        lines.append(f"width {width:3}: loss {losses[0]:.2f} before the first step, {losses[-1]:.2f} after the last")
    return "\n".join(lines)


predict_stuck = Prediction(
    right="b",
    reactions={
        "a": "It does have more numbers to shift. But shifting them must have an effect on the loss, and here it has "
        "almost none.",
        "b": "The wide one gets stuck after about a fifth of the way. The rest of this notebook is about what "
        "holds it there.",
        "c": "A score is a single number, that's true. But how large it is depends on how many products were added up.",
    },
    evidence=_stuck,
)


def _spread():
    rng = np.random.default_rng(0)
    lines = []
    for d_k in (8, 512):
        queries, keys = rng.normal(size=(2, 20_000, d_k))
        lines.append(f"d_k = {d_k:3}: spread {measures.dot_product_variance(queries, keys) ** 0.5:5.2f}")
    return "\n".join(lines)


predict_spread = Prediction(
    right="a",
    reactions={
        "a": "There are 64 times as many products, but about half are negative, so most of the sum cancels. "
        "What is left grows only like the square root of their number.",
        "b": "It would, if all the products had the same sign. Half of them are negative, so most of the sum cancels, "
        "and what is left grows like the root of the number of products.",
        "c": "They cancel only in part. What is left grows like the root of the number of products.",
    },
    evidence=_spread,
)


def _gradient():
    rng = np.random.default_rng(512)  # the rows that the notebook measures
    queries, keys = rng.normal(size=(1000, 1, 512)), rng.normal(size=(1000, 16, 512))
    scores = attention.attention_scores(queries, keys)
    lines = []
    for name, divisor in (("not divided", 1), ("divided by sqrt(512)", 512**0.5)):
        sizes = measures.jacobian_norm(attention.softmax(scores / divisor))
        lines.append(f"{name:20}: median size of the Jacobian {np.median(sizes):.4f}")
    return "\n".join(lines)


predict_gradient = Prediction(
    right="b",
    reactions={
        "a": "The scores are larger, but softmax is flat where its weights are almost 1 or almost 0: they hardly move "
        "when a score moves.",
        "b": "A weight that is almost 1 or almost 0 hardly moves when a score moves. So hardly any "
        "gradient gets through from the weights to the scores.",
        "c": "They do sum to 1 either way. But in a typical undivided row, one weight is almost 1 and the others are "
        "almost 0, and such weights hardly move when a score moves.",
    },
    evidence=_gradient,
)


def _queries_first():
    rng = np.random.default_rng(0)
    queries, keys = rng.normal(size=(2, 3, 64))
    after = attention.softmax(attention.attention_scores(queries, keys) / 8)
    first = attention.softmax(attention.attention_scores(queries / 8, keys))
    twice = attention.softmax(attention.attention_scores(queries / 8, keys) / 8)
    tried = {"scores divided:": after, "queries divided:": first, "both divided:": twice}
    return "\n".join(f"{name:16} {written_row(weights[0])}" for name, weights in tried.items())


predict_queries_first = Prediction(
    right="c",
    reactions={
        "a": "Every product in a score has one factor from the query. Divide the query by 8, and the whole sum is "
        "divided by 8, once.",
        "b": "Dividing a vector by a number leaves its direction as it is, but makes it shorter, and every score with "
        "it is divided by the same 8.",
        "c": "Every product in a score has one factor from the query: divide the query, and the whole sum is divided. "
        "Only doing both is a mistake.",
    },
    evidence=_queries_first,
)
