"""Inputs that exercises of several notebooks share."""

import numpy as np

from function_judge.task import Case

NEEDS_THE_ROWS_MAXIMUM = (
    "Right for ordinary scores; it goes wrong when they are very large or very low. Subtract each row's own largest "
    "score before exp."
)


def draws(seed, **shapes):
    """Return random arguments: two decimals, so that a learner can type them in."""
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=shape).round(2) for name, shape in shapes.items()}


def attention_arguments(seed, batch, n_queries, n_keys, d_head, d_value):
    """Return random queries, keys and values."""
    shapes = {"queries": (n_queries, d_head), "keys": (n_keys, d_head), "values": (n_keys, d_value)}
    return draws(seed, **{name: (*batch, *shape) for name, shape in shapes.items()})


def in_float32(arguments, options=None):
    """Return the case of arguments in single precision; masks, counts and options stay."""

    def single(value):
        return value.astype(np.float32) if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value

    return Case("float32", {name: single(value) for name, value in arguments.items()}, options=options or {})


FRACTIONS_LOST = (
    "fractions-lost",
    "It is right for floats, and loses the fractions of whole numbers: an array made with np.zeros_like, np.empty_like "
    "or .copy() of whole numbers can hold nothing else. Give it a type of its own, np.zeros(shape), or dtype=float.",
)


def whole_numbers(arguments, others=None):
    """Return the case of arguments rounded to whole numbers, of an integer type; masks, counts and others stay."""

    def rounded(value):
        return value.round().astype(int) if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value

    arguments = {name: rounded(value) for name, value in arguments.items()} | (others or {})
    return Case("whole numbers", arguments, edge=True, error_is_fine=True, when_only_these_fail=FRACTIONS_LOST)


WIDTH_CAPPED = (
    "scale-fixed-above",
    "It is right for narrow heads, and goes wrong for wide ones: is the width cut off, or a number of your code's own? "
    "Take it from the input as it is: queries.shape[-1].",
)


def _narrowed(arguments):
    """Return them with smaller queries, so that the scores of a wide head spread by 1 to 3, too."""
    return arguments | {"queries": (arguments["queries"] / 4).round(2)}


def attention_cases():
    """Return what any attention is tried on; all sizes differ, so that each mistake shows."""
    three = attention_arguments
    views = {name: array.T for name, array in draws(5, queries=(4, 3), keys=(4, 5), values=(2, 5)).items()}
    # As for softmax, only each row's own maximum helps in all of these. The scores are exact in float32 too.
    keys = np.array([[0.0, 1.0], [100.0, 0.0], [100.0, -1.0], [-200.0, 2.0]])
    batch_of_large = {
        "queries": np.array([[[10.0, 1.0], [-10.0, 1.0]], [[10.0, 1.0], [1.0, 1.0]]]),
        "keys": np.stack([keys, keys + 0.5]),
        "values": np.array([[[1.0, 2.0, 3.0], [4.0, -5.0, 6.0], [-7.0, 8.0, 9.0], [2.0, 1.0, -3.0]]] * 2),
    }
    single_large = {
        "queries": np.array([[10, 1], [5, 1]], np.float32),
        "keys": np.array([[1, 0], [10, -1], [9.5, 2]], np.float32),
        "values": np.array([[1, 2], [3, -4], [5, 6]], np.float32),
    }
    return (
        Case("self-attention", three(0, (), 4, 4, 3, 2)),
        Case("more keys than queries", three(1, (), 3, 5, 4, 2)),
        Case("more queries than keys", three(8, (), 5, 3, 4, 2)),
        Case("a batch", three(2, (2,), 3, 5, 4, 6)),
        Case("a batch with heads", three(3, (2, 3), 4, 5, 6, 7)),
        Case("a batch of one query", three(9, (1,), 1, 3, 4, 2)),
        in_float32(three(4, (), 3, 6, 4, 5)),
        Case("transposed views", views),
        Case("square matrices", three(6, (), 3, 3, 3, 3)),
        Case("a cube", three(7, (3,), 3, 3, 3, 3)),
        Case("heads of twelve features", three(40, (2,), 4, 3, 12, 5), when_only_these_fail=WIDTH_CAPPED),
        Case("heads of 64 features", _narrowed(three(41, (), 3, 5, 64, 2)), when_only_these_fail=WIDTH_CAPPED),
        whole_numbers(three(42, (2,), 4, 3, 2, 5)),
        Case("very large scores", {name: array[0] for name, array in batch_of_large.items()}, edge=True),
        Case("very large scores in a batch", batch_of_large, edge=True),
        Case("large float32 scores", single_large, edge=True),
    )


# Two tokens whose scores are the same along both axes: which of them a softmax runs over makes no difference.
OPPOSITE = np.array([[1.0], [-1.0]])
EACH_ITSELF = np.eye(2, dtype=bool)


def opposite_tokens(width, seed=50):
    """Return queries and keys that are two opposite tokens, and random values of the same width."""
    tokens = OPPOSITE * draws(seed, token=(1, width))["token"]
    return {"queries": tokens, "keys": tokens} | draws(seed + 1, values=(2, width))


def single_query(width, n_keys, seed=60):
    """Return one query: a softmax over all scores is one over the keys."""
    return attention_arguments(seed, (), 1, n_keys, width, 2)
