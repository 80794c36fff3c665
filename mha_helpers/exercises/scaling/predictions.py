"""Notebook 02's questions that ask for an answer before they run anything."""

import numpy as np

from mha_helpers import attention, experiments, measures
from mha_helpers.exercises.prediction import Evidence, Prediction, written_row

WIDTHS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]


def _curves(x, named, **options):
    from mha_helpers.drawing import plots, shown  # only when it is asked for: drawing is slow to load

    return shown.Plot(plots.curves(x, list(named.values()), list(named), **options))


def _stuck():
    lines, curves, steps = [], {}, range(0, 31, 3)
    for width in (4, 512):
        losses = experiments.learn_one_key(width, divisor=1, step_on="queries").losses.mean(axis=1)
        lines.append(f"width {width:3}: loss {losses[0]:.2f} before the first step, {losses[-1]:.2f} after the last")
        curves[f"width {width}"] = losses[steps]
    return Evidence("\n".join(lines), _curves(steps, curves, x_name="steps", title="loss"))


predict_stuck = Prediction(
    right="b",
    reactions={
        "a": "It does have more numbers to shift. But shifting them must have an effect on the loss, and here it has "
        "almost none.",
        "b": "The wide one gets stuck after about a fifth of the way. The rest of this notebook is about what "
        "holds it there.",
        "c": "A score is a single number, that's true. But how large it is depends on how many products were added up.",
    },
    explanation="The narrow head's loss keeps falling. The wide one's falls for a moment and then stays where it is, "
    "although its queries take just as many steps. So what is different about a dot product of 512 numbers?",
    evidence=_stuck,
)


def _spread():
    rng = np.random.default_rng(0)
    spreads = {d_k: measures.dot_product_variance(*rng.normal(size=(2, 20_000, d_k))) ** 0.5 for d_k in WIDTHS}
    text = "\n".join(f"d_k = {d_k:3}: spread {spreads[d_k]:5.2f}" for d_k in (8, 512))
    named = {"measured": list(spreads.values()), "sqrt(d_k)": np.sqrt(WIDTHS)}
    return Evidence(text, _curves(WIDTHS, named, x_name="d_k", title="spread of the scores"))


predict_spread = Prediction(
    right="a",
    reactions={
        "a": "There are 64 times as many products, but about half are negative, so most of the sum cancels. "
        "What is left grows only like the square root of their number.",
        "b": "It would, if all the products had the same sign. Half of them are negative, so most of the sum cancels, "
        "and what is left grows like the root of the number of products.",
        "c": "They cancel only in part. What is left grows like the root of the number of products.",
    },
    explanation="It's like a walk in which you toss a coin before each step, and go one step up or one step down. "
    "After 64 steps you haven't gone 64 steps up, since most of them cancel, but you aren't back at the start either. "
    "You're typically about 8 steps away, which is the root of 64. A score is such a walk, and d_k is the number of "
    "its steps. The two curves, measured on 20,000 random pairs for each width, can't be told apart.",
    evidence=_spread,
)


def _gradient():
    medians = {"not divided": [], "divided by sqrt(d_k)": []}
    for d_k in WIDTHS:
        rng = np.random.default_rng(d_k)  # the rows that the notebook measures
        queries, keys = rng.normal(size=(1000, 1, d_k)), rng.normal(size=(1000, 16, d_k))
        scores = attention.attention_scores(queries, keys)
        for sizes, divisor in zip(medians.values(), (1, d_k**0.5), strict=True):
            sizes.append(np.median(measures.jacobian_norm(attention.softmax(scores / divisor))).round(4))
    lines = [f"{name:20}: median size of the Jacobian {sizes[-1]:.4f}" for name, sizes in medians.items()]
    picture = _curves(WIDTHS, medians, x_name="d_k", doubling=True, title="size of the Jacobian, median")
    return Evidence("\n".join(lines), picture)


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
    explanation="The picture shows the median size for each width. Each grey line is ten times the one below it. (The "
    "nudge is made after the division. One made before it would arrive sqrt(d_k) times smaller.)",
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
