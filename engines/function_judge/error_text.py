"""Turning what Python said of a function into one clear sentence, with the likely cause."""

import functools
import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from function_judge.barred import WAITS_FOR_TYPING
from function_judge.libraries import is_own
from function_judge.source import last_line, shortened, source_of

INNER_AXES = (
    "the inner axes of a product differ: (..., n, d) @ (..., d, m). Look at the order of the factors and at which axes "
    "are swapped; in a batch only the last two may be."
)
BATCH_AXES = (
    "@ multiplies the last two axes, and those in front must be equal, or 1. Are the batch axes in the same places "
    "on both sides?"
)
LINED_UP = "np.where(condition, a, b) needs shapes that line up from the right; one of them has another length."
TRANSPOSED = (
    "transpose names more or fewer axes than there are (PyTorch's transpose(1, 2) is "
    "swapaxes(1, 2)); swapaxes(-1, -2) swaps the last two of any number."
)
CELL_BY_CELL = "`*`, `+` and `/` work cell by cell and need equal shapes; a matrix product is @."
TOO_FEW_AXES = "there are fewer axes than expected. Count from the end: shape[-1], axis=-1."
ELLIPSIS = "something is still `...`: in this function, or in one that it calls."
ONE_NUMBER = "a function for single numbers (math.exp, float) was given an array; use NumPy's."
TWO_THINGS = "a function gives back two things, and they are passed on as one. Take them apart first: a, b = ..."
PYTORCHS_ARGUMENTS = ("dim", "keepdim", "diagonal", "unbiased")
PYTORCHS = {
    "bmm": "a product of matrices, in a batch as well, is a @ b.",
    "cat": "in NumPy it is np.concatenate(arrays, axis=-1).",
    "chunk": "in NumPy it is np.split(a, n, axis=-1).",
    "expand": "in NumPy it is np.broadcast_to(a, shape), and mostly nothing is needed: NumPy expands by itself.",
    "float": "in NumPy it is a.astype(float).",
    "matmul": "a product of matrices is a @ b.",
    "mm": "a product of matrices is a @ b.",
    "t": "in NumPy it is a.T, or a.swapaxes(-1, -2) where there may be a batch.",
}
# Of the names that NumPy 2 took away, those of which its own message doesn't say what to write instead.
GONE_IN_NUMPY_2 = {
    "alltrue": "all", "bool8": "bool_", "cumproduct": "cumprod", "in1d": "isin", "product": "prod", "round_": "round",
    "row_stack": "vstack", "sometrue": "any", "trapz": "trapezoid",
}  # fmt: skip


@dataclass(frozen=True)
class PythonError:
    """What Python said, and where.

    Parameters
    ----------
    text : str
    asked : str
        How the function is called: "ranked(row)".
    line, source : str
        Where it stopped, and the whole function; either may be "".
    inside : bool
        Whether it stopped inside the function: else the arguments did not fit.
    """

    text: str
    asked: str
    line: str = ""
    source: str = ""
    inside: bool = True


@dataclass(frozen=True)
class Cause:
    """What usually lies behind something that Python says.

    Parameters
    ----------
    phrase : str
        What stands in what Python said; "" for anything.
    text : str or callable
        The cause; or what takes the PythonError and returns the cause, or None where it is another.
    """

    phrase: str
    text: str | Callable[[PythonError], str | None]

    def of(self, error: PythonError) -> str | None:
        if self.phrase not in error.text:
            return None
        return self.text(error) if callable(self.text) else self.text


def likely_cause(error: PythonError, known_causes: tuple[Cause, ...] = ()) -> str | None:
    """Return what usually lies behind what Python said, or None.

    Parameters
    ----------
    error : PythonError
    known_causes : tuple of Cause, optional
        A subject's own: `Subject.causes`.

    Examples
    --------
    >>> likely_cause(PythonError("name 'inf' is not defined", "ranked(row)"))
    'infinity is np.inf, and below every number is -np.inf.'
    """
    return next(filter(None, (cause.of(error) for cause in _with(known_causes))), None)


@functools.lru_cache
def _with(known_causes):
    """The causes in the order in which they are asked."""
    by_phrase, phrases = {cause.phrase: cause for cause in known_causes}, {cause.phrase for cause in CAUSES}
    first = [cause for cause in known_causes if cause.phrase not in phrases]
    return (*first, *(by_phrase.get(cause.phrase, cause) for cause in CAUSES))


def _transposed(error):
    return TRANSPOSED if ".transpose(" in error.line else None


def _axis_too_far_back(error):
    found = re.search(r"axis -\d+ is out of bounds for array of dimension (\d+)", error.text)
    return found and (
        f"that array has only {found[1]} {'axis' if found[1] == '1' else 'axes'}. Print its shape: which line should "
        "have given it more? (reshape returns a new array; keep it: X = X.reshape(...).)"
    )


def _other_arguments(error):
    if not error.inside:
        return f"the function's first line takes other arguments than the exercise asks for: {error.asked}."
    return f"a function in that line takes other arguments.{_unexpected(error.text)}"


def _taken_apart(error):
    if "shape" in error.line:
        return None
    return (
        "the right side has more or fewer parts than there are names on the left. An array is taken apart along its "
        "first axis; print its shape."
    )


def _joined(error):
    if re.search(r"(concatenate|stack)\(", error.line):
        return "the arrays to be joined come as one list, before the axis: np.concatenate([a, b], axis=-2)."
    return None


def _changed_in_place(error):
    in_place = re.search(r"(?<!\bnp)\.(sort|append|extend|fill)\(", error.line)
    assigned = re.search(r"(\w+) = \1\.", error.line)  # a = a.append(...), which goes wrong in the next round
    if not in_place or not (assigned or "has no attribute" not in error.text):
        return None
    another = "np.sort(a) returns a new array" if in_place[1] == "sort" else "use it on a line of its own"
    return f"a.{in_place[1]}(...) changes a in place, and returns None; {another}."


def _not_given(error):
    """Say how to ask whether an argument was given, where that was asked wrongly or not at all."""
    for name in re.findall(r"(\w+)=None", error.asked):
        truth = rf"\b(if|elif|while|and|or|not|bool)[\s(]+{name}\b(?!\s*(is\b|[.\[(]))|\b{name}\s*[!=]=\s*None\b"
        if "truth value of an array" in error.text and re.search(rf"{truth}|\b{name}\s+(and|or|if)\b", error.line):
            return (
                f"a whole array is neither true nor false. To ask whether a {name} was given, write `{name} is not "
                f"None` (or `{name} is None`)."
            )
        if "NoneType" in error.text and re.search(rf"\b{name}\b", error.line):
            return f"where no {name} is given, `{name}` is None. Ask first, `if {name} is not None:`."
    return None


def _not_broadcast(error):
    if re.search(r"(sqrt\([^()]*|[*/+-] )\b\w+\.shape\b(?!\[)", error.line):
        return "`.shape` is all sizes at once, and `*`, `+` and `/` need equal shapes. Take one of them: shape[-1]."
    shapes = [shape.strip(",").split(",") for shape in re.findall(r"\(([\d,]+)\)", error.text)]
    longest = max(shapes, key=len, default=[])
    if any(longest[:axis] + longest[axis + 1 :] in shapes for axis in range(len(longest))):
        if "squeeze" in error.source + error.line:
            return "np.squeeze takes away every axis of length 1, also those that let shapes line up. Leave it out."
        return "a sum or a maximum has lost its axis; keepdims=True keeps it."
    if name := _list_added_to(error.line, error.source):
        return f"`+=` adds an array cell by cell, to a list as well. Put it at the list's end: {name}.append(...)."
    return LINED_UP if re.search(r"\bwhere\(", error.line) else CELL_BY_CELL


def _missing_attribute(error):
    """Say what to write in place of something that NumPy or an array does not have."""
    found = re.search(r"(module 'numpy'|'numpy.ndarray' object) has no attribute '(\w+)'", error.text)
    if not found:
        return None
    owner, name = found.groups()
    if name in GONE_IN_NUMPY_2 and not owner.endswith("object"):
        return f"NumPy 2 has no np.{name} any more; it is np.{GONE_IN_NUMPY_2[name]}."
    if name in PYTORCHS:
        return f"{name} is PyTorch's; {PYTORCHS[name]}"
    if owner.endswith("object") and callable(getattr(np, name, None)):
        return f"an array has no method {name}; call NumPy's function, np.{name}(a, ...)."
    if not owner.endswith("object") and hasattr(np.ndarray, name):
        return f"NumPy has no function {name}; it belongs to the array, a.{name}."
    return f"{'an array' if owner.endswith('object') else 'NumPy'} has no {name}; is it misspelt?"


def _unexpected(text):
    """Say more of an argument by a name that the function does not have."""
    found = re.search(r"unexpected keyword argument '(\w+)'", text)
    if not found:
        return ""
    name = found[1]
    if name in PYTORCHS_ARGUMENTS:
        return " (NumPy says axis, keepdims, k and ddof where PyTorch says dim, keepdim, diagonal and unbiased.)"
    return f" It has none called {name}."


def _list_added_to(line, source):
    """Return the name of a list that a line adds something to, by `+=` or `extend`; None where it is no list."""
    found = re.match(r"(\w+)(?: \+= |\.extend\()", line.strip())
    return found[1] if found and re.search(rf"\b{found[1]} = (\[\]|list\(\))", source) else None


# The first that fits counts: what is particular stands before what is general.
CAUSES = (
    Cause("view() takes", "NumPy's view is something else; PyTorch's view is NumPy's reshape."),
    Cause("out of bounds for array of dimension", _transposed),
    Cause("out of bounds for array of dimension", _axis_too_far_back),
    Cause("positional argument", _other_arguments),
    Cause("unexpected keyword", _other_arguments),
    Cause("positional-only", _other_arguments),
    Cause("values to unpack", _taken_apart),
    Cause("only integer scalar arrays", _joined),
    Cause("multiple values for argument 'axis'", _joined),
    Cause("NoneType", _changed_in_place),
    Cause("", _not_given),
    Cause("remapped shapes", BATCH_AXES),
    Cause("could not be broadcast", _not_broadcast),
    Cause(WAITS_FOR_TYPING, "here nobody does. What the function computes with comes as its arguments."),
    Cause("Unable to avoid copy", "since NumPy 2, copy=False forbids a copy. np.asarray(a) copies only where it must."),
    Cause("name 'np' is not defined", "the set-up cell has not been run; run it, then this cell again."),
    Cause("name 'inf' is not defined", "infinity is np.inf, and below every number is -np.inf."),
    Cause("name 'math' is not defined", "`import math` is missing; NumPy has the same functions: np.sqrt, np.exp."),
    Cause(
        "name 'torch' is not defined",
        "this course uses NumPy, where PyTorch's functions have the same or similar names: np.where, np.sqrt, np.tril.",
    ),
    Cause("is not defined", "a name is misspelt, or the cell that defines it has not been run."),
    Cause(
        "einstein sum",
        "the subscripts name more or fewer axes than there are; begin each with `...`, as in '...ij,...kj->...ik'.",
    ),
    Cause("too many subscripts", "the subscripts name more axes than there are; begin each with `...`."),
    Cause("out of bounds for array of dimension", "an axis is counted from the front; the last axis is axis=-1."),
    Cause("is out of bounds for axis", "an index runs past the end of its axis: does it count that axis, from 0?"),
    Cause(
        "does not have enough dimensions",
        "one side of @ isn't an array but a single number, or it is `...` or None, from "
        "a function that isn't written yet or has no `return`.",
    ),
    Cause("shapes for matrix multiplication", INNER_AXES),
    Cause("mismatch in its core dimension", INNER_AXES),
    Cause("not aligned", INNER_AXES),
    Cause("not enough values to unpack", TOO_FEW_AXES),
    Cause("tuple index out of range", TOO_FEW_AXES),
    Cause(
        "too many values to unpack",
        "`.shape` has more entries than expected: there may be batch axes in front; use shape[-1].",
    ),
    Cause("axes don't match array", TRANSPOSED),
    Cause(
        "equal division", "what is split does not have the length that you think: features are the last axis, axis=-1."
    ),
    Cause("one unknown dimension", "a new shape can leave only one size open with -1; give the others."),
    Cause(
        "'float' object cannot be interpreted as an integer",
        "a size must be a whole number, and / gives a float even where nothing is left over: n // m.",
    ),
    Cause(
        "'list' object cannot be interpreted as an integer",
        "a list stands where one size is due. A star takes it apart: reshape(*batch, n, ...).",
    ),
    Cause(
        "slice indices must be integers",
        "an index must be a whole number, and / gives a float even where nothing is left over: n // m.",
    ),
    Cause("cannot be read as an array", TWO_THINGS),
    Cause("'tuple' object has no attribute", TWO_THINGS),
    Cause("for @: 'tuple'", TWO_THINGS),
    Cause(
        "'numpy.ndarray' object is not callable",
        "brackets after an array call it, as PyTorch's layers are called. A "
        "product with a matrix is X @ W. (Or a variable has the name of a function, and hides it.)",
    ),
    Cause(
        "cannot reshape",
        "the new shape has another number of entries than the array. Take its sizes from the array's own "
        "shape, and keep whatever axes stand in front, as in `*batch, n, d = X.shape`.",
    ),
    Cause(
        "boolean index",
        "a boolean array in square brackets must have the array's own shape. np.where(condition, a, b) takes any "
        "condition that broadcasts, and keeps the shape.",
    ),
    Cause(
        "both or neither",
        "np.where(condition, a, b) takes three: the condition, what to take where it is True, and what elsewhere.",
    ),
    Cause(
        "not associated with a value",
        "no line that ran before this one sets the variable; does one stand under an `if`?",
    ),
    Cause("as a data type", "a shape of several axes has brackets of its own: np.ones((n, n))."),
    Cause("too many indices", "the array has fewer axes than there are indices in the brackets."),
    Cause(
        "'invert' not supported",
        "~ works on booleans, not on floats; make booleans first: dtype=bool, or .astype(bool).",
    ),
    Cause("'bitwise_and' not supported", "& comes before >; put brackets round each comparison: (a > b) & (c > d)."),
    Cause("builtin_function_or_method", "a function isn't called: its brackets are missing, a.mean()."),
    Cause(
        "only integer scalar arrays",
        "an array was given where a size or an index was wanted: len(a), or a.shape[-1]; "
        "or take its entries one by one, in a loop.",
    ),
    Cause("invalid keyword argument for", "that is Python's own function. NumPy's knows an axis: np.sum(a, axis=-1)."),
    Cause(
        "to dtype('int",
        "an array of whole numbers can't hold fractions, and `+=` or `/=` doesn't change that. Make "
        "it with np.zeros(shape), or write a = a + b.",
    ),
    Cause(
        "for the concatenation axis",
        "the arrays are joined along another axis than you mean. Name it: axis=-1 puts columns side by side, axis=-2 "
        "puts rows below each other.",
    ),
    Cause(
        "same number of dimensions",
        "of the arrays that are joined, one has more axes than the other. Bring both to the same form first, then join "
        "them.",
    ),
    Cause(
        "inhomogeneous",
        "an array is built from parts of different shapes: rows of different lengths, or two things that a function "
        "gives back, taken for one (a, b = ...).",
    ),
    Cause("maximum recursion depth", "the function calls itself."),
    Cause("math range error", "exp of a large number overflows; subtract the row's largest number first."),
    Cause(
        "invalid index to scalar",
        "a single number is indexed there. In a loop, `a = a[i] / ...` puts a row, and then a "
        "number, in the place of the whole array; `a[i] = a[i] / ...` changes row i alone.",
    ),
    Cause(
        "arrays used as indices",
        "floats in square brackets pick nothing. Convert them to booleans, .astype(bool), or "
        "whole numbers, .astype(int); sizes are whole if you divide with //.",
    ),
    Cause(
        "destination is read-only",
        "NumPy shares that array with another one and lets you only read it, as it does after "
        "np.diag(a), np.diagonal or np.broadcast_to. Write into a copy; into a diagonal with np.fill_diagonal(a, ...).",
    ),
    Cause("division by zero", "what is divided by is 0; print it."),
    Cause(
        "truth value of an array",
        "`if`, `and`, `not`, or Python's own max or min was given a whole "
        "array. Cell by cell it is np.where, & and ~; of a row np.max(..., axis=-1, keepdims=True), .any() or .all().",
    ),
    Cause("only 0-dimensional arrays", ONE_NUMBER),
    Cause("only length-1 arrays", ONE_NUMBER),
    Cause("'tuple' object is not callable", "a shape isn't a function; use square brackets: a.shape[-1]."),
    Cause(
        "'int' object is not callable",
        "NumPy's .size and .ndim are numbers, not functions (PyTorch's size(-1) is "
        "shape[-1]); or a variable has the name of a function and hides it.",
    ),
    Cause("object is not callable", "a variable has the name of a function and hides it; give it another name."),
    Cause(
        "NoneType",
        "something that was used as an array or a number is None: an argument that was not given, or what a "
        "function without `return` gives.",
    ),
    Cause(
        "'tuple'",
        "a shape, or two things that a function returned, was used like one number or array; take the one "
        "you need: a.shape[-1], or first, second = ...",
    ),
    Cause("'ellipsis'", ELLIPSIS),
    Cause("type ellipsis", ELLIPSIS),
    Cause("attribute 'unsqueeze'", "that is PyTorch's; in NumPy an index None adds an axis: a[:, None]."),
    Cause("attribute 'permute'", "that is PyTorch's; NumPy's is transpose, with all axes, or swapaxes, with two."),
    Cause("attribute 'contiguous'", "that is PyTorch's; leave it out, as NumPy's reshape copies where it must."),
    Cause("attribute 'bool'", "that is PyTorch's; NumPy's is .astype(bool)."),
    Cause("'list' object has no attribute", "a list is not an array; np.array(a) makes one of it."),
    Cause("has no attribute", _missing_attribute),
)


def describe_error(
    error: BaseException,
    function: Callable,
    asked: str,
    *,
    cause: str | None = None,
    with_cause: bool = True,
    in_batch: bool = False,
    known_causes: tuple[Cause, ...] = (),
) -> str:
    """Return what Python said, where in the learner's code, and the likely cause.

    Parameters
    ----------
    error : BaseException
    function : callable
        The learner's.
    asked : str
        How the exercise calls it: "ranked(row)".
    cause : str, optional
        The cause, where it is known.
    with_cause : bool, optional
        Whether to say what to do; without, the course's own errors say only what is wrong.
    in_batch : bool, optional
        Whether the cause is known to be the number of axes: what Python said of a product's shapes is then left out.
    known_causes : tuple of Cause, optional
        A subject's own.
    """
    words = _words_of(error)
    _, line = last_line(error, function)
    if with_cause and not cause:
        # The check's own call is the outermost frame; where there is none below it, the arguments did not fit.
        inside = bool(error.__traceback__ and error.__traceback__.tb_next)
        cause = likely_cause(PythonError(words, asked, line, source_of(function), inside), known_causes)
    if in_batch and cause in (INNER_AXES, CELL_BY_CELL, None):
        return f"It stops in the line `{shortened(line)}`." if line else "It stops there."
    place = f", in the line `{shortened(line)}`" if line else ""
    if isinstance(error, SystemExit):
        return f"It would have ended Python, and the notebook's kernel{place}. A function ends with `return`."
    text = f"{_first_sentence(error, words, with_cause)}{place}."
    return f"{text} Likely cause: {cause}" if cause else text


def _words_of(error):
    try:
        return str(error).strip()
    except Exception:  # an exception's own text may fail too
        return ""


# NumPy describes a product by a formula for all products; the two sizes behind it say what is wrong with this one.
_PRODUCT = re.compile(r"Input operand \d has a mismatch in its core .*\(size (\d+) is different from (\d+)\)")


def _two_lengths(found):
    right, left = found.groups()
    return f"the last axis on the left has length {left}, and the axis that it meets on the right has {right}"


def _first_sentence(error, words, with_cause):
    """Say what Python said, in its first line."""
    first = _PRODUCT.sub(_two_lengths, words.partition("\n")[0])
    if not with_cause and _is_ours(error):
        first = first.partition("; ")[0]
    return f"Python said {type(error).__name__}" + (f": {shortened(first)}" if first else "")


def met_a_stub(error: BaseException | None) -> bool:
    """Tell whether an error comes of a `...` where a value belongs: then nothing else in the code is to blame."""
    return isinstance(error, TypeError) and any(
        cause.phrase in str(error) for cause in CAUSES if cause.text is ELLIPSIS
    )


def _is_ours(error):
    """Tell whether an error was raised by the judge, or by a package that it was told of."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return is_own(frame)


def error_in_brief(error: BaseException, function: Callable) -> str:
    """Say which error it was and where, for a place beside which the check says the rest."""
    _, line = last_line(error, function)
    return type(error).__name__ + (f" in the line “{shortened(line, 50)}”" if line else "")


def run_together(function: Callable) -> str | None:
    """Say of rows that came out as one long row that a list took them apart; None where no list did."""
    source = source_of(function)
    for name in filter(None, (_list_added_to(line, source) for line in source.splitlines())):
        return (
            f"`extend`, and `+=` to a list, put in the parts of a row one by one: {name}.append(...) puts in the row."
        )
    return None
