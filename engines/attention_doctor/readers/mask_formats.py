"""How a mask is handed over: in which shape, and what its entries mean."""

import contextlib
import inspect
import re
from dataclasses import dataclass

import numpy as np

from attention_doctor.calls import calling

# (may attend, hidden), as in `masks.CONVENTIONS`, and in the kinds of numbers that code takes.
ENTRIES = {
    "True may attend": (True, False),
    "True hides": (False, True),
    "1 may attend": (1, 0),
    "1 hides": (0, 1),
    "1.0 may attend": (1.0, 0.0),
    "1.0 hides": (0.0, 1.0),
    "added, -inf hides": (0.0, -np.inf),
    "added, -1e9 hides": (0.0, -1e9),
}


def _same_along(array, axis):
    return array.shape[axis] == 1 or (array == np.take(array, [0], axis)).all()


def _minimal(mask, shape):
    return mask


def _all_queries(mask, shape):
    return np.broadcast_to(mask, (mask.shape[0], mask.shape[1], *shape[2:]))


def _without_heads(mask, shape):
    if not _same_along(mask, 1):
        return None
    return np.broadcast_to(mask[:, 0], (shape[0], *shape[2:]))


def _without_heads_minimal(mask, shape):
    return mask[:, 0] if _same_along(mask, 1) else None


def _keys_only(mask, shape):
    if not (_same_along(mask, 1) and _same_along(mask, 2)):
        return None
    return np.broadcast_to(mask[:, 0, 0], (shape[0], shape[3]))


def _matrix(mask, shape):
    if not (_same_along(mask, 0) and _same_along(mask, 1)):
        return None
    return np.broadcast_to(mask[0, 0], shape[2:])


def _folded(mask, shape):
    return np.broadcast_to(mask, shape).reshape(-1, *shape[2:])


def _for_a_sequence(mask, shape):
    """(heads, queries, keys), where there is no batch axis."""
    return np.broadcast_to(mask[0], shape[1:]) if mask.shape[0] == 1 else None


def _keys_of_a_sequence(mask, shape):
    keys = _keys_only(mask, shape)
    return keys[0] if keys is not None and len(keys) == 1 else None


def _tokens_first(mask, shape):
    keys = _keys_only(mask, shape)
    return None if keys is None else keys.T


def _batch_last(mask, shape):
    pairs = _without_heads_minimal(mask[:1] if _same_along(mask, 0) else mask, shape)
    return None if pairs is None else np.broadcast_to(pairs, (len(pairs), *shape[2:])).transpose(1, 2, 0)


def _column(mask, shape):
    keys = _keys_only(mask, shape)
    return None if keys is None else keys[..., None]


SHAPES = {
    "(batch, heads, queries, keys)": _minimal,
    "(batch, heads, queries, keys), each of full length": lambda mask, shape: np.broadcast_to(mask, shape),
    "(batch, 1, queries, keys)": _all_queries,
    "(batch, queries, keys)": _without_heads,
    "(batch, 1, keys)": _without_heads_minimal,
    "(batch, keys)": _keys_only,
    "(queries, keys)": _matrix,
    "(batch * heads, queries, keys)": _folded,
    "(heads, queries, keys)": _for_a_sequence,
    "(keys,)": _keys_of_a_sequence,
    "(keys, batch)": _tokens_first,
    "(batch, keys, 1)": _column,
    "(queries, keys, batch)": _batch_last,
}
MINIMAL = "(batch, heads, queries, keys)"
EXPANDED = ("(batch, heads, queries, keys), each of full length", "(batch, 1, queries, keys)")


@dataclass(frozen=True)
class MaskFormat:
    """A shape and a meaning, or a length for each sample."""

    shape: str
    entries: str

    def __str__(self):
        return f"{self.shape}, {self.entries}" if self.shape else self.entries

    def nothing_hidden(self, full_shape):
        """Return a mask that hides nothing."""
        return self.of(np.ones((full_shape[0], 1, 1, full_shape[3]), bool), full_shape)

    def of(self, allowed, full_shape):
        """Return the mask as this format has it, or None where it cannot say it."""
        if self.entries == "lengths":
            keys = _keys_only(allowed, full_shape)
            return None if keys is None else keys.sum(-1)
        shaped = SHAPES[self.shape](allowed, full_shape)
        if shaped is None:
            return None
        may, hidden = ENTRIES[self.entries]
        return np.where(shaped, may, hidden)


def formats(role, meanings):
    """Every format for an argument of this role, the most usual first."""
    if role == "lengths":
        return [MaskFormat("", "lengths")]
    shapes = list(SHAPES)
    if role == "padding":
        shapes = ["(batch, keys)", "(keys,)", "(keys, batch)", "(batch, 1, keys)", "(batch, heads, queries, keys)"]
    return [MaskFormat(shape, entries) for entries in meanings for shape in shapes]


EVERY_MEANING = tuple(ENTRIES)
AGREED = ("True may attend",)
ADDED = ("added, -inf hides", "added, -1e9 hides")
HIDING = ("True hides", "1 hides", "1.0 hides")
AGREED_IN_NUMBERS = ("1 may attend", "1.0 may attend", *ADDED)


# How a source says that what is 1 or True hides: a low number is put where the mask is, or added times the mask.
_MASK = r"\b\w*mask\w*(\[[^\]]*\]|\.\w+\([^()]*\)|\s*==\s*(1|True)|\.astype\([^()]*\))*"
_LOW = (
    r"\(?\s*(-\s*(\d|\w*inf|float|\w+\.inf)|float\(\s*[\"']-|(np|jnp|torch)\.finfo"
    r"|\w*(neg|min|mask_?value|large|low)\w*)"
)
HIDES_ONES = re.compile(
    rf"(masked_fill_?|where|full_like)\(\s*{_MASK}\s*,\s*(value\s*=\s*)?{_LOW}"  # masked_fill(mask, -inf)
    rf"|(?<!1 - )(?<!1-)(?<!1\.0 - )(?<!not_)(?<!~){_MASK}\s*\*\s*{_LOW}"  # mask * -1e9
    rf"|-\s*(1e\d+|10{{3,}}(\.0*)?|\w+\.inf|inf)\)?\s*\*\s*{_MASK}|-\s*{_MASK}\s*\*\s*(1e\d|10{{3,}})"  # -1e9 * mask
    rf"|\[\s*{_MASK}\s*\]\s*=\s*{_LOW}",  # scores[mask] = -inf
    re.I,
)
SHOWS_ONES = re.compile(
    r"\b(true|1s?|ones?)\b[^.;\n]{0,40}\b(may|can|visible|keep|kept|attend|allow|see|show|valid|real|included?)", re.I
)


ADDED_AS_IT_IS = re.compile(r"\+=?\s*\(?\s*\w*mask\w*(\[[^\]]*\]|\.\w+\([^()]*\))*\s*(\)|$)(?!\s*\*)", re.M)
SAYS_BOOLEAN = re.compile(r"\bbool|\btrue\b|\bones?\b|\b1s?\b", re.I)


def documented(function):
    """What a docstring says of the mask, where it says that it is not True for "may attend"; or else the source."""
    message = getattr(function, "__doc__", None) or ""
    text = " ".join(message.lower().split())
    meanings = []
    if re.search(
        r"additive|added to the (attention )?(scores|logits)|-inf|−inf|float mask|0 (for|where)[^.]{0,60}-", text
    ):
        meanings += ADDED
    hides = r"(hid|mask(ed|s)? out|ignor|pad|exclu|not attend|block|must not|may not|not allowed|disallow|masked)"
    if re.search(rf"\b(true|1s?|ones?|non-?zero)\b[^.;]{{0,60}}{hides}", text) or _source_hides_ones(function):
        meanings += HIDING
    code, comments = _code_and_comments(function)
    if ADDED_AS_IT_IS.search(code) and not any(map(SAYS_BOOLEAN.search, comments)):
        meanings += ADDED
    return tuple(meanings)


def _code_and_comments(function):
    source = source_with_helpers(function)
    comment = r"#[^\n]*|\"\"\".*?\"\"\""
    return re.sub(comment, "", source, flags=re.M | re.S), re.findall(comment, source, re.M | re.S)


def _source_hides_ones(function):
    """Whether the code takes 1 for hidden, and nothing that is written beside it says otherwise."""
    code, text = _code_and_comments(function)
    return bool(HIDES_ONES.search(code)) and not any(map(SHOWS_ONES.search, text))


def source_with_helpers(function):
    """The source of a function and of the functions of its own module that it calls."""
    function = inspect.unwrap(getattr(function, "__func__", function))
    code, names = getattr(function, "__code__", None), getattr(function, "__globals__", {})
    called = [names.get(name) for name in sorted(calling.names_in(code) or ())]
    called = [inspect.unwrap(entry) for entry in called if callable(entry)]  # as of what JAX compiles
    own = [entry for entry in called if inspect.isfunction(entry) and entry.__module__ == function.__module__]
    sources = []
    for item in (function, *own):
        with contextlib.suppress(OSError, TypeError):
            sources.append(inspect.getsource(item))
    return "\n".join(sources)
