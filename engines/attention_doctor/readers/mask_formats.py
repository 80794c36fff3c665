"""How a mask is handed over: in which shape, and what its entries mean."""

import contextlib
import inspect
import re
from dataclasses import dataclass

import numpy as np

from attention_doctor import vocabulary
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


SHAPES = {  # the most usual first
    "(batch, heads, queries, keys)": _minimal,
    "(batch, heads, queries, keys), each of full length": lambda mask, shape: np.broadcast_to(mask, shape),
    "(batch, 1, queries, keys)": _all_queries,
    "(batch, queries, keys)": _without_heads,
    "(batch, 1, keys)": _without_heads_minimal,  # the Annotated Transformer
    "(batch, keys)": _keys_only,  # PyTorch's key_padding_mask
    "(queries, keys)": _matrix,
    "(batch * heads, queries, keys)": _folded,  # PyTorch's attn_mask
    "(heads, queries, keys)": _for_a_sequence,  # Equinox
    "(keys,)": _keys_of_a_sequence,
    "(keys, batch)": _tokens_first,
    "(batch, keys, 1)": _column,
    "(queries, keys, batch)": _batch_last,  # labml
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
    """Return every format for an argument of this role, the most usual first."""
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


def documented(function):
    """Return the meanings that a docstring, or else the source, gives a mask beside True for "may attend".

    Nothing in a call tells a mask that is added or inverted from a mistake, and both are usual: Hugging Face adds its
    masks, and PyTorch's own layer hides what is True.
    """
    text = " ".join((getattr(function, "__doc__", None) or "").lower().split())
    code, comments = _code_and_comments(function)
    meanings = []
    if vocabulary.SAYS_ADDED.search(text):
        meanings += ADDED
    if vocabulary.SAYS_ONES_HIDE.search(text) or _hides_ones(code, comments):
        meanings += HIDING
    if vocabulary.ADDED_AS_IT_IS.search(code) and not any(map(vocabulary.SAYS_BOOLEAN.search, comments)):
        meanings += ADDED
    return tuple(meanings)


COMMENT = re.compile(r"#[^\n]*|\"\"\".*?\"\"\"", re.S)


def _code_and_comments(function):
    source = source_with_helpers(function)
    return COMMENT.sub("", source), COMMENT.findall(source)


def comment_lines(source):
    """Return the lines of a source's comments and docstrings, in lower case."""
    return [line for comment in COMMENT.findall(source) for line in comment.lower().splitlines()]


def _hides_ones(code, comments):
    """Whether the code takes 1 for hidden, and no comment says otherwise: then an inverted mask is a mistake."""
    return bool(vocabulary.HIDES_ONES.search(code)) and not any(map(vocabulary.SAYS_ONES_SHOW.search, comments))


def source_with_helpers(function):
    """Return the source of a function and of the functions of its own module that it calls.

    What is done with the mask often stands in a helper, as in the `masked_softmax` of Dive into Deep Learning.
    """
    function = inspect.unwrap(getattr(function, "__func__", function))
    names = sorted(calling.names_in(function.__code__)) if hasattr(function, "__code__") else []
    called = [getattr(function, "__globals__", {}).get(name) for name in names]
    called = [inspect.unwrap(entry) for entry in called if callable(entry)]  # as of what JAX compiles
    own = [entry for entry in called if inspect.isfunction(entry) and entry.__module__ == function.__module__]
    sources = []
    for item in (function, *own):
        with contextlib.suppress(OSError, TypeError):
            sources.append(inspect.getsource(item))
    return "\n".join(sources)
