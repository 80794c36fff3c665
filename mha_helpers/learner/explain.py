"""Turning what went wrong in a learner's function into one clear sentence."""

import dis
import inspect
import linecache
import re
import traceback
import types

import numpy as np

INNER_AXES = (
    "the inner axes of a product differ: (..., n, d) @ (..., d, m). Look at the order of the factors and at which axes "
    "are swapped; in a batch only the last two may be."
)
BATCH_AXES = (
    "@ multiplies the last two axes, and those in front must be equal, or 1. Are the batch and the heads in the same "
    "places on both sides?"
)
LINED_UP = "np.where(mask, a, b) needs shapes that line up from the right; one of them has another length."
CELL_BY_CELL = "`*`, `+` and `/` work cell by cell and need equal shapes; a matrix product is @."
TOO_FEW_AXES = "there are fewer axes than expected. Count from the end: shape[-1], axis=-1."
ELLIPSIS = "something is still `...`: in this function, or in one that it calls."
ONE_NUMBER = "a function for single numbers (math.exp, float) was given an array; use NumPy's."
TWO_THINGS = (
    "attention gives back two things, and they are passed on as one. Take them apart first: context, weights = ..."
)
ONE_LIST = (
    "Several rows of your list are one and the same list: [[0] * n] * n repeats one row, and what is written into it "
    "shows in all of them. np.zeros((n, n)) has n separate rows."
)
# What Python says, and what usually lies behind it; the first match counts.
LIKELY_CAUSES = {
    "name 'np' is not defined": "the set-up cell has not been run; run it, then this cell again.",
    "name 'inf' is not defined": "infinity is np.inf, and below every number is -np.inf.",
    "name 'math' is not defined": "`import math` is missing; NumPy has the same functions: np.sqrt, np.exp.",
    "name 'torch' is not defined": "this course uses NumPy, where PyTorch's functions have the same or similar names: "
    "np.where, np.sqrt, np.tril.",
    "name 'd_k'": "the width of a head is not among the arguments; take it from one of them: queries.shape[-1].",
    "name 'd_head'": "the width of a head is not among the arguments; take it from one of them: queries.shape[-1], or "
    "d_model // n_heads.",
    "name 'd_model'": "the width of a token is not among the arguments; take it from one of them: X.shape[-1].",
    "name 'seq_len'": "the number of tokens is not among the arguments; take it from one of them: X.shape[-2].",
    "is not defined": "a name is misspelt, or the cell that defines it has not been run.",
    "einstein sum": "the subscripts name more or fewer axes than there are; begin each with `...`, as in "
    "'...qd,...kd->...qk'.",
    "too many subscripts": "the subscripts name more axes than there are; begin each with `...`.",
    "out of bounds for array of dimension": "an axis is counted from the front; the last axis is axis=-1.",
    "is out of bounds for axis": "an index runs past the end of its axis: does it count that axis, from 0?",
    "does not have enough dimensions": "one side of @ isn't an array but a single number, or it is `...` or None, from "
    "a function that isn't written yet or has no `return`.",
    "shapes for matrix multiplication": INNER_AXES,
    "mismatch in its core dimension": INNER_AXES,
    "not aligned": INNER_AXES,
    "not enough values to unpack": TOO_FEW_AXES,
    "tuple index out of range": TOO_FEW_AXES,
    "too many values to unpack": "`.shape` has more entries than expected: there may be batch axes in front; use "
    "shape[-1].",
    "axes don't match array": "transpose names more or fewer axes than there are (PyTorch's transpose(1, 2) is "
    "swapaxes(1, 2)); swapaxes(-1, -2) swaps the last two of any number.",
    "equal division": "what is split does not have the length that you think: features are the last axis, axis=-1.",
    "one unknown dimension": "a new shape can leave only one size open with -1; give the others.",
    "'float' object cannot be interpreted as an integer": "a size must be a whole number, and / gives a float even "
    "where nothing is left over: d_model // n_heads.",
    "'list' object cannot be interpreted as an integer": "a list stands where one size is due. A star takes it apart: "
    "reshape(*batch, seq_len, ...).",
    "slice indices must be integers": "an index must be a whole number, and / gives a float even where nothing is left "
    "over: d_model // n_heads.",
    "cannot be read as an array": TWO_THINGS,
    "'tuple' object has no attribute": TWO_THINGS,
    "for @: 'tuple'": TWO_THINGS,
    "'numpy.ndarray' object is not callable": "brackets after an array call it, as PyTorch's layers are called. A "
    "product with a matrix is X @ W. (Or a variable has the name of a function, and hides it.)",
    "cannot reshape": "the new shape has another number of entries than the array. Take its sizes from the array's own "
    "shape, and keep whatever axes stand in front, as in `*batch, seq_len, d_model = X.shape`.",
    "boolean index": "a mask in square brackets must have the array's own shape. np.where(mask, a, b) takes any "
    "mask that broadcasts, and keeps the shape.",
    "both or neither": "np.where(mask, a, b) takes three: the condition, what to take where it is True, and what "
    "elsewhere.",
    "not associated with a value": "no line that ran before this one sets the variable; does one stand under an `if`?",
    "as a data type": "a shape of several axes has brackets of its own: np.ones((n, n)).",
    "too many indices": "the array has fewer axes than there are indices in the brackets.",
    "'invert' not supported": "~ works on booleans, not on floats; make booleans first: dtype=bool, or .astype(bool).",
    "'bitwise_and' not supported": "& comes before >; put brackets round each comparison: (a > b) & (c > d).",
    "builtin_function_or_method": "a function isn't called: its brackets are missing, a.mean().",
    "only integer scalar arrays": "an array was given where a size or an index was wanted: len(a), or a.shape[-1]; "
    "or take its entries one by one, in a loop.",
    "the mask has shape ()": "the fourth argument of scaled_dot_product_attention is the mask, and that is an array. A "
    "scale is passed by its name, scale=...; n_heads is for split_heads.",
    "its axes must be (n_keys)": "softmax_jacobian takes one row of weights: call it for each row by itself.",
    "invalid keyword argument for": "that is Python's own function. NumPy's knows an axis: np.sum(a, axis=-1).",
    "to dtype('int": "an array of whole numbers can't hold fractions, and `+=` or `/=` doesn't change that. Make "
    "it with np.zeros(shape), or write a = a + b.",
    "for the concatenation axis": "the arrays are joined along another axis than you mean. Name it: axis=-1 puts "
    "features side by side, axis=-2 puts tokens below each other.",
    "same number of dimensions": "of the arrays that are joined, one has more axes than the other. Bring both to the "
    "same form first (both split into heads, say), then join them.",
    "inhomogeneous": "an array is built from parts of different shapes: rows of different lengths, or the two things "
    "that attention gives back, taken for one (context, weights = ...).",
    "maximum recursion depth": "the function calls itself.",
    "math range error": "exp of a large score overflows; subtract the row's largest score first.",
    "invalid index to scalar": "a single number is indexed there. In a loop, `a = a[i] / ...` puts a row, and then a "
    "number, in the place of the whole array; `a[i] = a[i] / ...` changes row i alone.",
    "arrays used as indices": "floats in square brackets pick nothing. Convert them to booleans, .astype(bool), or "
    "whole numbers, .astype(int); sizes are whole if you divide with //.",
    "destination is read-only": "NumPy shares that array with another one and lets you only read it, as it does after "
    "np.diag(a), np.diagonal or np.broadcast_to. Write into a copy; into a diagonal with np.fill_diagonal(a, ...).",
    "division by zero": "a sum of weights is 0; for large scores, subtract the row's largest score before exp.",
    "truth value of an array": "`if`, `and`, `not`, or Python's own max or min was given a whole "
    "array. Cell by cell it is np.where, & and ~; of a row np.max(..., axis=-1, keepdims=True), .any() or .all().",
    "only 0-dimensional arrays": ONE_NUMBER,
    "only length-1 arrays": ONE_NUMBER,
    "'tuple' object is not callable": "a shape isn't a function; use square brackets: queries.shape[-1].",
    "'int' object is not callable": "NumPy's .size and .ndim are numbers, not functions (PyTorch's size(-1) is "
    "shape[-1]); or a variable has the name of a function and hides it.",
    "object is not callable": "a variable has the name of a function and hides it; give it another name.",
    "NoneType": "something that was used as an array or a number is None: an argument that was not given, or what a "
    "function without `return` gives.",
    "'tuple'": "a shape, or two things that a function returned, was used like one number or array; take the one "
    "you need: a.shape[-1], or context, weights = ...",
    "'ellipsis'": ELLIPSIS,
    "type ellipsis": ELLIPSIS,
    "attribute 'masked_fill": "that is PyTorch's; NumPy chooses with np.where(mask, scores, -np.inf).",
    "attribute 'unsqueeze'": "that is PyTorch's; in NumPy an index None adds an axis: a[:, None].",
    "attribute 'permute'": "that is PyTorch's; NumPy's is transpose, with all axes, or swapaxes, with two.",
    "attribute 'contiguous'": "that is PyTorch's; leave it out, as NumPy's reshape copies where it must.",
    "attribute 'bool'": "that is PyTorch's; NumPy's is .astype(bool).",
    "has no attribute 'softmax'": "NumPy has no softmax; call your own, softmax(scores).",
    "'list' object has no attribute": "a list is not an array; np.array(a) makes one of it.",
}
# Names of arguments that NumPy has under another name.
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


def shapes_of(arguments):
    """Say what a function was called with: `queries (2, 3, 4), keys (2, 5, 4), heads=[0, 2], scale=0.3`."""

    def shown(value):
        if isinstance(value, tuple):
            return f" ({', '.join(str(array.shape) for array in value)})"
        if not isinstance(value, np.ndarray):
            return f"={value}"
        # Of a few places, such as heads, which they are says more than how many.
        return f"={value.tolist()}" if value.ndim == 1 and value.dtype.kind == "i" else f" {value.shape}"

    return ", ".join(f"{name}{shown(value)}" for name, value in arguments.items())


def describe_error(error, function, asked, *, cause=None, with_cause=True, in_batch=False):
    """Return what Python said, where in the learner's code, and the likely cause.

    Parameters
    ----------
    error : BaseException
    function : callable
        The learner's.
    asked : str
        How the exercise calls it: "softmax(scores)".
    cause : str, optional
        The cause, where it is known.
    with_cause : bool, optional
        Whether to say what to do; without, the course's own errors say only what is wrong.
    in_batch : bool, optional
        Whether the cause is known to be the number of axes: what Python said of a product's shapes is then left out.
    """
    try:
        said = str(error).strip()
    except Exception:  # an exception's own text may fail too
        said = ""
    _, line = last_line(error, function)
    # NumPy describes a product by a formula for all products; the two sizes behind it say what is wrong with this one.
    first = re.sub(r", with gufunc signature \S+", "", said.partition("\n")[0])
    if not with_cause and _is_the_courses(error):
        first = first.partition("; ")[0]
    text = f"Python said {type(error).__name__}" + (f": {cut(first)}" if first else "")
    text += f", in the line `{cut(line)}`." if line else "."
    # The check's own call is the outermost frame; where there is none below it, the arguments did not fit.
    inside = error.__traceback__.tb_next is not None
    if with_cause and not cause:
        cause = _likely_cause(said, asked, inside=inside, line=line, source=source_of(function))
    if in_batch and cause in (INNER_AXES, CELL_BY_CELL, None):
        return f"It stops in the line `{cut(line)}`." if line else "It stops there."
    return f"{text} Likely cause: {cause}" if cause else text


def met_a_stub(error):
    """Tell whether an error comes of a `...` where a value belongs: then nothing else in the code is to blame."""
    return isinstance(error, TypeError) and any(
        key in str(error) for key, why in LIKELY_CAUSES.items() if why is ELLIPSIS
    )


def _is_the_courses(error):
    """Tell whether an error was raised by the course's own package."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return frame.f_globals.get("__name__", "").startswith("mha_helpers.")


def error_in_brief(error, function):
    """Say which error it was and where, for a place beside which the check says the rest."""
    _, line = last_line(error, function)
    return type(error).__name__ + (f" in the line “{cut(line, 50)}”" if line else "")


def _likely_cause(said, asked, *, inside, line, source):
    if "view() takes" in said:
        return "NumPy's view is something else; PyTorch's view is NumPy's reshape."
    if "out of bounds for array of dimension" in said and ".transpose(" in line:
        return LIKELY_CAUSES["axes don't match array"]
    too_far_back = re.search(r"axis -\d+ is out of bounds for array of dimension (\d+)", said)
    if too_far_back:
        axes = too_far_back[1]
        return (
            f"that array has only {axes} {'axis' if axes == '1' else 'axes'}. Print its shape: which line should have "
            "given it more? (reshape returns a new array; keep it: X = X.reshape(...).)"
        )
    if "has no attribute 'softmax'" in said and asked.startswith("softmax("):
        return "NumPy has no softmax: it is what you are writing. Take np.exp, and divide by each row's sum."
    if any(phrase in said for phrase in ("positional argument", "unexpected keyword", "positional-only")):
        if not inside:
            return f"the function's first line takes other arguments than the exercise asks for: {asked}."
        return f"a function in that line takes other arguments.{_unexpected(said)}"
    if "values to unpack" in said and "shape" not in line:
        return (
            "the right side has more or fewer parts than there are names on the left. An array is taken apart along "
            "its first axis; print its shape."
        )
    joined = "only integer scalar arrays" in said or "multiple values for argument 'axis'" in said
    if joined and re.search(r"(concatenate|stack)\(", line):
        return "the arrays to be joined come as one list, before the axis: np.concatenate([a, b], axis=-2)."
    in_place = re.search(r"(?<!\bnp)\.(sort|append|extend|fill)\(", line)
    assigned = re.search(r"(\w+) = \1\.", line)  # a = a.append(...), which goes wrong in the next round
    if "NoneType" in said and in_place and (assigned or "has no attribute" not in said):
        another = "np.sort(a) returns a new array" if in_place[1] == "sort" else "use it on a line of its own"
        return f"a.{in_place[1]}(...) changes a in place, and returns None; {another}."
    absent = _not_given(said, asked, line)
    if absent:
        return absent
    if "the mask holds int" in said and re.search(r"attention\(.*\bn_heads\b", line):
        return "n_heads stands in the place of the mask. It is for split_heads; the mask comes fourth here."
    if "remapped shapes" in said:
        return BATCH_AXES
    if "could not be broadcast" in said:
        if re.search(r"(sqrt\([^()]*|[*/+-] )\b\w+\.shape\b(?!\[)", line):
            return "`.shape` is all sizes at once, and `*`, `+` and `/` need equal shapes. Take one of them: shape[-1]."
        shapes = [shape.strip(",").split(",") for shape in re.findall(r"\(([\d,]+)\)", said)]
        longest = max(shapes, key=len, default=[])
        if any(longest[:axis] + longest[axis + 1 :] in shapes for axis in range(len(longest))):
            if "squeeze" in source + line:
                return "np.squeeze takes away every axis of length 1, also those that let shapes line up. Leave it out."
            return "a sum or a maximum has lost its axis; keepdims=True keeps it."
        if name := _list_added_to(line, source):
            return f"`+=` adds an array cell by cell, to a list as well. Put it at the list's end: {name}.append(...)."
        return LINED_UP if re.search(r"\bwhere\(", line) else CELL_BY_CELL
    known = next((cause for phrase, cause in LIKELY_CAUSES.items() if phrase in said), None)
    return known or _missing_attribute(said)


def _list_added_to(line, source):
    """Return the name of a list that a line adds something to, by `+=` or `extend`; None where it is no list."""
    found = re.match(r"(\w+)(?: \+= |\.extend\()", line.strip())
    return found[1] if found and re.search(rf"\b{found[1]} = (\[\]|list\(\))", source) else None


def run_together(function):
    """Say of rows that came out as one long row that a list took them apart; None where no list did."""
    source = source_of(function)
    for name in filter(None, (_list_added_to(line, source) for line in source.splitlines())):
        return (
            f"`extend`, and `+=` to a list, put in the parts of a row one by one: {name}.append(...) puts in the row."
        )
    return None


def _unexpected(said):
    """Say more of an argument by a name that the function does not have."""
    found = re.search(r"unexpected keyword argument '(\w+)'", said)
    if not found:
        return ""
    name = found[1]
    if name in PYTORCHS_ARGUMENTS:
        return " (NumPy says axis, keepdims, k and ddof where PyTorch says dim, keepdim, diagonal and unbiased.)"
    own = " Is it one of your own, from an earlier notebook? It may have taken the name of an imported one."
    return f" It has none called {name}.{own if name == 'mask' else ''}"


def _not_given(said, asked, line):
    """Say how to ask whether an argument was given, where that was asked wrongly or not at all."""
    for name in re.findall(r"(\w+)=None", asked):
        truth = rf"\b(if|elif|while|and|or|not|bool)[\s(]+{name}\b(?!\s*(is\b|[.\[(]))|\b{name}\s*[!=]=\s*None\b"
        if "truth value of an array" in said and re.search(rf"{truth}|\b{name}\s+(and|or|if)\b", line):
            return (
                f"a whole array is neither true nor false. To ask whether a {name} was given, write `{name} is not "
                f"None` (or `{name} is None`)."
            )
        if "NoneType" in said and re.search(rf"\b{name}\b", line):
            return f"where no {name} is given, `{name}` is None. Ask first, `if {name} is not None:`."
    return None


def _missing_attribute(said):
    """Say what to write in place of something that NumPy or an array does not have."""
    found = re.search(r"(module 'numpy'|'numpy.ndarray' object) has no attribute '(\w+)'", said)
    if not found:
        return None
    owner, name = found.groups()
    if name in PYTORCHS:
        return f"{name} is PyTorch's; {PYTORCHS[name]}"
    if owner.endswith("object") and callable(getattr(np, name, None)):
        return f"an array has no method {name}; call NumPy's function, np.{name}(a, ...)."
    if not owner.endswith("object") and hasattr(np.ndarray, name):
        return f"NumPy has no function {name}; it belongs to the array, a.{name}."
    return f"{'an array' if owner.endswith('object') else 'NumPy'} has no {name}; is it misspelt?"


def source_of(function):
    """Return the text of a function, where it can be had."""
    code = code_of(function)
    try:
        return inspect.getsource(code) if code else ""
    except Exception:  # whatever comes of a file that is gone, or has changed since
        return ""


def cut(text, longest=300):
    """Cut a text that is too long after its last whole word."""
    if len(text) <= longest:
        return text
    words, _, rest = text[:longest].rpartition(" ")
    return f"{words} ..." if words else f"{rest}..."


def last_line(error, function):
    """Return the number and the text of the last line of the learner's that was reached: (0, "") where that is hidden.

    Parameters
    ----------
    error : BaseException
    function : callable
        The learner's; lines of the cell that defines it count.
    """
    code = code_of(function)
    number, line = 0, ""
    for frame, place in traceback.walk_tb(error.__traceback__):
        if code is not None and frame.f_code.co_filename == code.co_filename:
            number, line = place, linecache.getline(code.co_filename, place).strip()
    return number, line


def describe_returned(outcome, outputs):
    """Say of what cannot be read as the outputs what it is instead.

    Parameters
    ----------
    outcome : Outcome
        Of a call that returned something, but not one array of numbers for each output.
    outputs : tuple of str
    """
    expected, returned = ", ".join(outputs), outcome.returned
    if isinstance(returned, tuple | list) and len(returned) == len(outputs) > 1:
        unwritten = [name for name, part in zip(outputs, returned, strict=True) if _is_unwritten(part)]
        if unwritten:
            return f"Part of it is there; still to compute: {_listed(unwritten)}."
    matrices = isinstance(returned, list) and any(isinstance(part, np.ndarray) and part.ndim > 1 for part in returned)
    if matrices and len(returned) != len(outputs) > 1:
        return f"Expected {len(outputs)}, `return {expected}`; got a list of {len(returned)}."
    if outcome.arrays is not None:
        got = "one array" if len(outcome.arrays) == 1 else f"{len(outcome.arrays)} arrays"
        return f"Expected {len(outputs)}, `return {expected}`; got {got}."
    if isinstance(returned, tuple) and len(outputs) == 1:
        return f"It returned {len(returned)} things; `return {expected}` and nothing else."
    if isinstance(returned, types.GeneratorType):
        return f"It returned a generator, as a function with `yield` does; collect the parts and `return {expected}`."
    if callable(returned):
        return "It returned a function; are the brackets missing that call it?"
    kind = type(returned).__name__
    kind = f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"
    if isinstance(returned, np.ndarray):
        kind = f"an array of {returned.dtype}"
    parts = [returned] if len(outputs) == 1 else returned
    ragged = map(_ragged, outputs, parts if isinstance(parts, tuple | list) else ())
    return next(filter(None, ragged), f"It returned {kind}, which cannot be read as numbers; `return {expected}`.")


def _ragged(name, rows):
    """Say of rows that they don't fit into one array; None where they do, or are no rows."""
    try:
        shapes = [np.shape(row) for row in rows] if isinstance(rows, list | tuple | np.ndarray) else []
    except Exception:  # rows of such rows, or whatever an unknown kind of object answers
        return None
    if len(set(shapes)) < 2:
        return None
    if all(len(shape) == 1 for shape in shapes):
        lengths = list(dict.fromkeys(str(length) for (length,) in shapes))
        return f"The rows of your {name} have different lengths, {_listed(lengths)}; in an array all are equally long."
    shown = list(dict.fromkeys(map(str, shapes)))
    return f"It returned a list of arrays that don't fit into one: their shapes are {_listed(shown)}."


def _is_unwritten(part):
    """Tell whether a part of an answer, or of a pair in it, is still `...` or None."""
    return part is ... or part is None or (isinstance(part, tuple | list) and any(map(_is_unwritten, part)))


def _listed(words):
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def safe_repr(value):
    """Show any object in at most 60 characters, also one whose own repr fails."""
    try:
        return repr(value)[:60]
    except Exception:
        return f"an object of type {type(value).__name__}"


def one_row_repeated(returned):
    """Say of a list of rows that two of them are the same list; None where they are not."""
    rows = [row for row in returned if isinstance(row, list)] if isinstance(returned, list) else []
    if len({id(row) for row in rows}) == len(rows):
        return None
    return ONE_LIST


def holds_objects(returned):
    """Tell whether what a function returned, or a part of it, is an array of Python objects."""
    parts = returned if isinstance(returned, tuple) else (returned,)
    return any(isinstance(part, np.ndarray) and part.dtype.kind == "O" for part in parts)


def outside_arrays(function):
    """Name the arrays that a function takes from the notebook around it and not from its arguments."""
    code = code_of(function)
    if code is None:
        return []
    return sorted(name for name in global_names(code) if isinstance(function.__globals__.get(name), np.ndarray))


def other_order(function, names):
    """Return the names in the order of a function's first line, if it has all of them, and in another order."""
    code = code_of(function)
    theirs = list(code.co_varnames[: code.co_argcount]) if code else []
    return theirs if set(names) <= set(theirs) and theirs[: len(names)] != list(names) else None


def code_of(function):
    return function.__code__ if isinstance(function, types.FunctionType) else None


def global_names(code):
    names = {step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"}
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return names.union(*map(global_names, inner))


# What the compiler does differently where a module's function is typed into a notebook: it calls np.exp otherwise
# where it has not seen the import.
_SAME = {"LOAD_METHOD": "LOAD_ATTR"}
_OF_NO_MEANING = {"CACHE", "NOP", "PRECALL", "PUSH_NULL", "RESUME"}


def same_code(function, other):
    """Tell whether two functions are the same but for comments, blanks and where they stand."""

    def steps(code):
        for step in dis.get_instructions(code):
            if step.opname not in _OF_NO_MEANING:
                jumps = step.opcode in dis.hasjrel or step.opcode in dis.hasjabs
                inner = list(steps(step.argval)) if isinstance(step.argval, types.CodeType) else step.argval
                yield _SAME.get(step.opname, step.opname), None if jumps else inner

    codes = code_of(function), code_of(other)
    return None not in codes and list(steps(codes[0])) == list(steps(codes[1]))


def does_nothing(function):
    """Tell whether a function's body is empty: it only returns a constant, or passes."""
    code = code_of(function)
    idle = {"RESUME", "NOP", "POP_TOP", "LOAD_CONST", "LOAD_SMALL_INT", "STORE_FAST", "RETURN_CONST", "RETURN_VALUE"}
    return code is not None and all(step.opname in idle for step in dis.get_instructions(code))


def first_difference(name, got, wanted, different, *, of_shape=False):
    """Show the first cell in which two arrays of one shape differ; if they are shapes themselves, the first axis."""
    cell = tuple(int(i) for i in np.argwhere(different)[0])
    both = wanted[cell], got[cell]
    if isinstance(both[0], np.integer) or any(isinstance(value, np.bool) for value in both):
        exact = np.bool | np.integer
        ours, yours = (str(value) if isinstance(value, exact) else f"{value + 0.0:.10g}" for value in both)
    else:
        ours, yours = (float(value) + 0.0 for value in both)  # + 0.0 takes the sign off -0.0
        digits = next((d for d in range(4, 12) if f"{ours:.{d}f}" != f"{yours:.{d}f}"), 12)
        ours, yours = (f"{value:.4g}" if abs(value) >= 1e6 else f"{value:.{digits}f}" for value in (ours, yours))
    place = f"{name}[{', '.join(map(str, cell))}]" if cell else name
    place = f"Axis {cell[0]} of {name}" if of_shape else place
    return f"{place} should be {ours}; yours is {yours}."
