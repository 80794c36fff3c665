"""What usually lies behind an error in a learner's attention, beside what lies behind any error with arrays."""

import re

from function_judge.error_text import Cause

_TWO_THINGS = (
    "attention gives back two things, and they are passed on as one. Take them apart first: context, weights = ..."
)
_NO_WIDTH = "the width of a head is not among the arguments; take it from one of them: queries.shape[-1]"
_NOT_WHOLE = "must be a whole number, and / gives a float even where nothing is left over: d_model // n_heads."


def _softmax_itself(error):
    if error.asked.startswith("softmax("):
        return "NumPy has no softmax: it is what you are writing. Take np.exp, and divide by each row's sum."
    return None


def _own_function_in_its_place(error):
    """A learner's function from an earlier notebook takes no mask yet."""
    if not error.inside:
        return None
    return (
        "a function in that line takes other arguments. It has none called mask. Is it one of your own, from an "
        "earlier notebook? It may have taken the name of an imported one."
    )


def _n_heads_for_mask(error):
    if re.search(r"attention\(.*\bn_heads\b", error.line):
        return "n_heads stands in the place of the mask. It is for split_heads; the mask comes fourth here."
    return None


def _numpys(error):
    """One of NumPy's functions, without the np that it belongs to."""
    name = re.search(r"name '(arange|einsum|exp|matmul|ones|sqrt|tril?|where|zeros)' is not defined", error.text)
    return f"{name[1]} is NumPy's, and here NumPy is called np: np.{name[1]}(...)." if name else None


CAUSES = (
    Cause("has no attribute 'softmax'", _softmax_itself),
    Cause("has no attribute 'softmax'", "NumPy has no softmax; call your own, softmax(scores)."),
    Cause("unexpected keyword argument 'mask'", _own_function_in_its_place),
    Cause("the mask holds int", _n_heads_for_mask),
    Cause("' is not defined", _numpys),
    Cause("name 'd_k'", f"{_NO_WIDTH}."),
    Cause("name 'd_head'", f"{_NO_WIDTH}, or d_model // n_heads."),
    Cause("name 'd_model'", "the width of a token is not among the arguments; take it from one of them: X.shape[-1]."),
    Cause("name 'seq_len'", "the number of tokens is not among the arguments; take it from one of them: X.shape[-2]."),
    Cause(
        "the mask has shape ()",
        "the fourth argument of scaled_dot_product_attention is the mask, and that is an array. A "
        "scale is passed by its name, scale=...; n_heads is for split_heads.",
    ),
    Cause("its axes must be (n_keys)", "softmax_jacobian takes one row of weights: call it for each row by itself."),
    Cause("attribute 'masked_fill", "that is PyTorch's; NumPy chooses with np.where(mask, scores, -np.inf)."),
    # In place of the judge's own, in the words of the notebooks.
    Cause(
        "remapped shapes",
        "@ multiplies the last two axes, and those in front must be equal, or 1. Are the batch and the heads in the "
        "same places on both sides?",
    ),
    Cause(
        "einstein sum",
        "the subscripts name more or fewer axes than there are; begin each with `...`, as in '...qd,...kd->...qk'.",
    ),
    Cause("'float' object cannot be interpreted as an integer", f"a size {_NOT_WHOLE}"),
    Cause("slice indices must be integers", f"an index {_NOT_WHOLE}"),
    Cause(
        "cannot reshape",
        "the new shape has another number of entries than the array. Take its sizes from the array's own "
        "shape, and keep whatever axes stand in front, as in `*batch, seq_len, d_model = X.shape`.",
    ),
    Cause("cannot be read as an array", _TWO_THINGS),
    Cause("'tuple' object has no attribute", _TWO_THINGS),
    Cause("for @: 'tuple'", _TWO_THINGS),
    Cause(
        "for the concatenation axis",
        "the arrays are joined along another axis than you mean. Name it: axis=-1 puts "
        "features side by side, axis=-2 puts tokens below each other.",
    ),
    Cause(
        "same number of dimensions",
        "of the arrays that are joined, one has more axes than the other. Bring both to the "
        "same form first (both split into heads, say), then join them.",
    ),
    Cause(
        "inhomogeneous",
        "an array is built from parts of different shapes: rows of different lengths, or the two things "
        "that attention gives back, taken for one (context, weights = ...).",
    ),
    Cause("math range error", "exp of a large score overflows; subtract the row's largest score first."),
    Cause("division by zero", "a sum of weights is 0; for large scores, subtract the row's largest score before exp."),
    Cause("'tuple' object is not callable", "a shape isn't a function; use square brackets: queries.shape[-1]."),
    Cause(
        "'tuple'",
        "a shape, or two things that a function returned, was used like one number or array; take the one "
        "you need: a.shape[-1], or context, weights = ...",
    ),
)
