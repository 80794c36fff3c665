"""The numbers that are right on the way to an exercise's answer, where the exercise is attention: to find a line by."""

import numpy as np

from mha_helpers.judge.on_the_way import numbers_of
from mha_helpers.judge.stages import OR_ZEROS, RIGHT, Form, Input, scaled_by


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
    arguments, changes = ATTENTION[name](dict(arguments))
    return numbers_of(Input.of(**arguments), right=RIGHT | {"softmax": OR_ZEROS} | changes)
