"""The numbers that are right on the way to an exercise's answer, where the exercise is attention: to find a line by."""

import inspect

import numpy as np

from attention_doctor.equation.on_the_way import known_stage, numbers_of
from attention_doctor.equation.stages import OR_ZEROS, RIGHT, Form, Input, scaled_by
from function_judge.intermediates import numbers_inside


def scaled(factor, text):
    return {"scale": Form("", "scale", scaled_by(lambda *_: factor), text)}


UNSCALED = scaled(1.0, "unscaled")


def _plain(arguments):
    scale = arguments.pop("scale", None)
    arguments.pop("block_size", None)
    return arguments, {} if scale is None else scaled(scale, "the scale that is given")


def _unscaled(arguments):
    return arguments, UNSCALED


def _in_columns(arguments):
    """Each head has its own columns of queries, keys and values."""

    def heads(rows):
        return rows.reshape(*rows.shape[:-1], arguments["n_heads"], -1).swapaxes(-2, -3)

    return {name: value if name == "n_heads" else heads(value) for name, value in arguments.items()}, {}


def _grouped(arguments):
    """Several query heads on one head of keys and values."""
    group = arguments["queries"].shape[-3] // arguments["keys"].shape[-3]
    return arguments | {name: np.repeat(arguments[name], group, axis=-3) for name in ("keys", "values")}, {}


ATTENTION = {
    "dot_product_attention": _unscaled,
    "mend_attention": _unscaled,
    "scaled_dot_product_attention": _plain,
    "mend_scaled_attention": _plain,
    "masked_attention": _plain,
    "mend_masked_attention": _plain,
    "multi_head_attention": _plain,
    "mend_multi_head_attention": _plain,
    "folded_attention": _in_columns,
    "grouped_attention": _grouped,
    "blockwise_attention": _plain,
}


def numbers(name, arguments):
    """Return the numbers on the way of a function of the course, or none where it isn't attention.

    Parameters
    ----------
    name : str
        The function's.
    arguments : dict
        By name, options among them.

    Returns
    -------
    list of Known

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(3, 2))
    >>> len(numbers("dot_product_attention", {"queries": rows, "keys": rows, "values": rows})) > 10
    True
    >>> numbers("softmax", {"scores": rows})
    []
    """
    if name not in ATTENTION:
        return []
    known = [] if name != "blockwise_attention" else _block_by_block(**arguments)
    arguments, changes = ATTENTION[name](dict(arguments))
    return numbers_of(Input.of(**arguments), right=RIGHT | {"softmax": OR_ZEROS} | changes) + known


def _block_by_block(queries, keys, values, block_size=128, mask=None):
    """Return what a loop over blocks of keys holds after each of them."""
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    batch = tuple(f"b{i}" for i in range(scores.ndim - 2))
    known, exponentials, before = [], [], np.full((*scores.shape[:-1], 1), -np.inf)
    with np.errstate(all="ignore"):
        for end in range(block_size, scores.shape[-1] + block_size, block_size):
            seen = scores[..., :end]
            largest = seen.max(-1, keepdims=True)
            so_far = np.exp(seen - np.where(np.isfinite(largest), largest, 0))
            exponentials.append(so_far[..., end - block_size :])
            stages = {
                "largest scores of a block": scores[..., end - block_size : end].max(-1, keepdims=True),
                "largest scores so far": largest,
                "sums so far": so_far.sum(-1, keepdims=True),
                "context so far": so_far @ values[..., :end, :],
                "correction": np.exp(before - largest),
            }
            known += [known_stage(name, array, (*batch, "q", "d")) for name, array in stages.items()]
            before = largest
    return [
        *known,
        known_stage("exponentials of each block", np.concatenate(exponentials, axis=-1), (*batch, "q", "k")),
    ]


def numbers_of_solution(exercise, case):
    """Return the numbers on the way of an exercise's own solution, and what else right answers are known to make.

    Parameters
    ----------
    exercise : Exercise
    case : Case

    Returns
    -------
    list of Known
    """
    from mha_helpers import attention, masks

    answer = inspect.unwrap(exercise.model_answer or exercise.reference)
    used = vars(attention) | vars(masks) | answer.__globals__
    arguments, options = dict(case.arguments), dict(case.options)
    known = numbers_inside(exercise.solution().source, used, arguments, options, exercise.outputs)
    if known and (more := BESIDE.get(exercise.reference.__name__)):
        with np.errstate(all="ignore"):
            beside = list(more(**case.copy()))
        known += [known_stage(name, array, axes, rank=rank, exact=exact) for name, array, axes, rank, exact in beside]
    return known


def _beside_softmax(scores):
    """Whatever is taken away from a row's scores, its weights are the same."""
    axes = (*(f"b{i}" for i in range(scores.ndim - 1)), "k")
    scores = scores.astype(float)
    tops = {
        "largest": scores.max(-1, keepdims=True),
        "largest of all": scores.max(),
        "smallest": scores.min(-1, keepdims=True),
    }
    tops |= {"mean": scores.mean(-1, keepdims=True), "first": scores[..., :1], "none": 0.0}
    for name, top in tops.items():
        e = np.exp(scores - top)
        yield f"scores less the {name}", scores - top, axes, 0, True
        yield "exponentials", e, axes, 0, True
        yield "sums of exponentials", e.sum(-1, keepdims=True), axes, 0, True
        yield "logarithms of sums", np.log(e.sum(-1, keepdims=True)), axes, 0, True


def _beside_split_heads(X, n_heads):
    heads = X.reshape(*X.shape[:-1], n_heads, -1)
    batch = tuple(f"b{i}" for i in range(X.ndim - 2))
    yield "X", heads, (*batch, "t", "h", "d"), 0, True
    stacked = np.moveaxis(heads, -2, 0)
    yield "a list of heads", stacked, ("h", *batch, "t", "d"), 0, True


def _beside_combine_heads(heads):
    stacked = np.moveaxis(heads, -3, 0)
    batch = tuple(f"b{i}" for i in range(heads.ndim - 3))
    yield "a list of heads", stacked, ("h", *batch, "t", "d"), 0, True
    yield "a list of tokens", np.moveaxis(heads, -2, 0), ("t", *batch, "h", "d"), 0, True


def _beside_rotate(X, start=0):
    exponents = np.arange(0, X.shape[-1], 2) / X.shape[-1]
    positions = np.arange(start, start + X.shape[-2])
    angles = positions[:, None] / 10_000**exponents
    for sign in (1, -1):
        yield "frequencies", 10_000 ** (sign * exponents), ("p",), 0, True
        yield "exponents", sign * exponents, ("p",), 0, True
    yield "angles", angles.T, ("p", "t"), 0, True
    yield "cos(angles)", np.cos(angles), ("t", "p"), 0, True
    yield "sin(angles)", np.sin(angles), ("t", "p"), 0, True
    yield "positions", positions, ("t",), 0, True
    yield "positions", positions[:, None], ("t", "one"), 0, True


BESIDE = {
    "rotate": _beside_rotate,
    "softmax": _beside_softmax,
    "split_heads": _beside_split_heads,
    "combine_heads": _beside_combine_heads,
}
