"""One entry of the corpus, and the inputs on which it is examined."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np


@dataclass(frozen=True)
class Input:
    """What attention is called with; the numbers themselves come from a fixed seed.

    `mask` is "padding" (hides keys, other ones in each sample), "pairs" (a matrix of queries and keys), "heads"
    (another matrix for every sample and head), "causal" (a triangular matrix, passed as a mask) or "empty" (padding in
    which the first sample has no key left). `size` multiplies the queries' side, so that the scores grow with it. With
    `calls` above 1, the same thing is first called on other numbers of the same shape. With a `first_part`, that many
    tokens come in a first call, and the others in a second one that is given the cache. With `again`, the very same
    arrays are passed a second time.
    """

    batch: int = 3
    tokens: int = 5
    n_heads: int = 2
    d_head: int = 4
    mask: str | None = None
    is_causal: bool = False
    size: float = 1.0
    dtype: str = "float64"
    calls: int = 1
    n_kv_heads: int | None = None
    first_part: int = 0
    again: bool = False

    @property
    def d_model(self):
        return self.n_heads * self.d_head

    def arrays(self, call=0):
        """X and the four matrices; the scores have a standard deviation of about 1.5 times `size`."""
        rng = np.random.default_rng([7, call])
        X = rng.normal(size=(self.batch, self.tokens, self.d_model))
        matrices = np.random.default_rng(11).normal(size=(4, self.d_model, self.d_model)) / self.d_model**0.5
        matrices[0] *= 1.5 * self.size
        return [array.astype(self.dtype) for array in (X, *matrices)]

    def tensors(self, call=0):
        """Queries, keys and values (batch, heads, tokens, d_head)."""
        shape = (3, self.batch, self.n_heads, self.tokens, self.d_head)
        queries, keys, values = np.random.default_rng([13, call]).normal(size=shape)
        return [array.astype(self.dtype) for array in (1.5 * self.size * queries, keys, values)]

    def mask_array(self, call=0):
        """The mask, True where a query may attend; it broadcasts to (batch, heads, queries, keys)."""
        rng = np.random.default_rng([17, call])
        n = self.tokens
        if self.mask is None:
            return None
        if self.mask == "causal":
            return np.tril(np.ones((n, n), bool))
        if self.mask in ("padding", "empty"):
            lengths = (1 + np.arange(1, self.batch + 1) * 2 + call) % n + 1
            if self.mask == "empty":
                lengths[0] = 0
            return (np.arange(n) < lengths[:, None])[:, None, None]
        shape = {"pairs": (n, n), "heads": (self.batch, self.n_heads, n, n)}[self.mask]
        mask = rng.random(shape) < 0.5
        mask[..., rng.integers(n, size=n), np.arange(n)] = True  # so that no row and no column is empty
        return mask | np.eye(n, dtype=bool)


@dataclass(frozen=True)
class Case:
    """An implementation: rewritten after a public thread, in its manner and not in its words.

    `make()` returns what is to be examined: a function, or a module with parameters of its own, which
    `make(d_model, n_heads)` builds in another size. `said` is one sentence of what the thread says. `expected` holds,
    for each fault in it, the names that are acceptable; it is None where no name can be expected, and empty for a right
    implementation; `also` are names that would be true as well. `shows` is an input on which it differs from
    attention, `hides` one on which it does not. `takes`
    are the masks it is given, and `layout` says where a module keeps its matrices and how it is called (None for a
    function).
    """

    name: str
    make: Callable
    link: str
    said: str
    expected: tuple[frozenset, ...] | None
    shows: Input | None = None
    hides: Input | None = None
    also: frozenset = frozenset()
    takes: tuple[str, ...] = ()
    layout: object = None
    is_torch: bool = False
    reported: bool = False  # right, and somebody took it for a mistake in public, or asked whether it is one

    @property
    def repository(self):
        """The owner and name in the link, or its host where it is not GitHub."""
        host, *path = self.link.removeprefix("https://").split("/")
        return "/".join(path[:2]) if host == "github.com" else host

    def names(self, found):
        """How the names found (one for each finding) fit: "full", "part", "none" or "wrong".

        The catalogue has some mistakes once for a step and once for multi-head attention, with a prefix.
        """
        found = {_bare(name) for name in found} - self.also
        wanted = [{_bare(name) for name in names} for names in self.expected or ()]
        if any(all(name not in names for names in wanted) for name in found):
            return "wrong"
        hits = sum(bool(names & found) for names in wanted)
        return "none" if hits == 0 else "full" if hits == len(wanted) else "part"


def _bare(name):
    return name.removeprefix("mha-").removeprefix("folded-")


class Register(list):
    """The cases of one module of the corpus, in the order in which they stand there."""

    def __init__(self, build=None):
        super().__init__()
        self.build = build  # builds a module from its class, d_model and n_heads; None where functions are registered

    def fault(self, link, *expected, shows=None, also=(), **further):
        """Register the decorated function or class of modules as a faulty implementation; its docstring is `said`.

        Of a fault with several names, "one|other", any will do; one that can have no name has none.
        """
        expected = tuple(frozenset(names.split("|")) for names in expected) or None
        return partial(self._add, link, expected, shows=shows or Input(), also=frozenset(also), **further)

    def right(self, link, *, takes=("padding", "pairs", "heads", "causal"), **further):
        """Register the decorated function or class of modules as a right implementation."""
        return partial(self._add, link, (), takes=takes, **further)

    def _add(self, link, expected, thing, *, build=None, **further):
        said, thing.__doc__ = " ".join(thing.__doc__.split()), None  # the doctor must not read it
        name = re.sub(r"(?<=[a-z])(?=[A-Z])|_", "-", thing.__name__).lower()
        make = partial(self.build, build(thing) if build else thing) if self.build else lambda: thing
        link = link if "://" in link else f"https://github.com/{link}"
        self.append(Case(name, make, link, said, expected, is_torch=self.build is not None, **further))
        return thing


def varied(given, **changes):
    """An input with something changed."""
    return replace(given, **changes)
