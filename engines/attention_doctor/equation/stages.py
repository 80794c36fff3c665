"""The equation of attention, cut into steps that can be exchanged one by one.

Each step of `STEPS` has its right form here; those that people write by mistake are handed in. A whole equation is a
choice of one form for every step: `compute` runs it on an input, and `on_the_way` says what it holds on the way.
"""

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

Reweigh = Callable[[np.ndarray], np.ndarray]  # from the softmax's weights to those that are used

STEPS = (
    "project",
    "split",
    "place",
    "scores",
    "scale",
    "hide",
    "softmax",
    "mix",
    "merge",
    "output",
    "add",
)


class Heads(NamedTuple):
    """What is projected, and then cut into heads: (batch, n_heads, tokens, d_head)."""

    queries: np.ndarray
    keys: np.ndarray
    values: np.ndarray


class Scores(NamedTuple):
    """The products of queries and keys, and then the scaled ones."""

    scores: np.ndarray
    queries: np.ndarray
    keys: np.ndarray
    values: np.ndarray


class MaskedScores(NamedTuple):
    """The scores with some hidden; code that hides after the softmax does so by reweighing."""

    scores: np.ndarray
    reweigh: Reweigh | None
    queries: np.ndarray
    keys: np.ndarray
    values: np.ndarray


class Weights(NamedTuple):
    """The weights, and the values that they mix; queries and keys are there for mistakes that use them instead."""

    weights: np.ndarray
    queries: np.ndarray
    keys: np.ndarray
    values: np.ndarray


class Context(NamedTuple):
    """The mixed values of each head, and then of all heads side by side."""

    context: np.ndarray
    weights: np.ndarray
    queries: np.ndarray


class Output(NamedTuple):
    """The output, and then the output with what is added around attention."""

    output: np.ndarray
    weights: np.ndarray


# What each step makes: the next one gets it.
RESULTS: Mapping[str, type] = {
    "project": Heads,
    "split": Heads,
    "place": Heads,
    "scores": Scores,
    "scale": Scores,
    "hide": MaskedScores,
    "softmax": Weights,
    "mix": Context,
    "merge": Context,
    "output": Output,
    "add": Output,
}


@dataclass(frozen=True)
class Form:
    """One way to do one step.

    Parameters
    ----------
    slug : str
        The vocabulary's name of the mistake; empty for the right form.
    step : str
        One of STEPS.
    run : callable
        From (input, what the step before made) to what this step makes, in the order of `RESULTS`.
    text : str
        How the step reads in an equation.
    rare : bool, optional
        Whether it is left out where three mistakes at once are looked for.
    """

    slug: str
    step: str
    run: Callable[["Input", Any], Any]
    text: str
    rare: bool = False

    def apply(self, case: "Input", before: Any) -> Any:
        """Do the step, and return what it makes under the names that `RESULTS` gives it."""
        made, result = self.run(case, before), RESULTS[self.step]
        return made if type(made) is result else result(*made)


@dataclass
class Input:
    """The numbers that attention is asked about, in one layout: rows are tokens, and head i has its own columns.

    Parameters
    ----------
    X, context : ndarray, shape (..., n_queries, d_model), (..., n_keys, d_context)
        Queries come from X, keys and values from the context. Without matrices they hold (queries, keys, values).
    matrices : dict of str to ndarray
        "Q", "K", "V", "O", and biases "b_Q" and so on; those that are missing are not applied.
    n_heads, n_kv_heads : int
    allowed : ndarray of bool, shape (..., n_heads, n_queries, n_keys) or broadcastable, optional
        True where a query may attend to a key.
    is_causal : bool, optional
    second_allowed : ndarray of bool, optional
        Of a further mask that the same call gets; the equation doesn't look at it.
    heads : tuple of ndarray, optional
        Queries, keys and values in heads, where there are no matrices.
    """

    # Without matrices there is neither X nor a context, and with them there are no heads.
    X: Any = None
    context: Any = None
    matrices: dict[str, np.ndarray] = field(default_factory=dict)
    n_heads: int = 1
    n_kv_heads: int = 1
    allowed: np.ndarray | None = None
    is_causal: bool = False
    second_allowed: np.ndarray | None = None
    heads: Any = None
    second: np.ndarray | None = None  # where the values come from, if not from the context
    kept: dict = field(default_factory=dict, init=False, repr=False)  # what takes long, and is needed again

    @property
    def d_model(self) -> int:
        return self.heads[0].shape[-1] * self.n_heads if self.X is None else self.X.shape[-1]

    def bias_of(self, letter: str) -> Any:
        return self.matrices.get(f"b_{letter}", 0)

    def projected(self, letter: str, source: np.ndarray, change: Callable | None = None) -> np.ndarray:
        """Return a source's vectors times a matrix, or times what is made of it: it's large, and done once for all."""
        name = next((name for name in ("X", "context", "second") if getattr(self, name) is source), None)
        key = letter, name, change
        if key not in self.kept or name is None:
            matrix = self.matrices[letter]
            self.kept[key] = source @ (change(matrix) if change else matrix) + self.bias_of(letter)
        return self.kept[key]

    def changed(self, **changes: Any) -> "Input":
        return replace(self, **changes)

    @classmethod
    def of(cls, X=None, n_heads=1, mask=None, is_causal=False, context_X=None, **arrays):
        """Return the input that a call of attention gives, by its arguments' names.

        Parameters
        ----------
        X, context_X : ndarray, optional
        n_heads : int, optional
        mask : ndarray of bool, optional
            True where a query may attend to a key.
        is_causal : bool, optional
        **arrays
            W_Q, W_K, W_V, W_O, b_Q and so on; or, without X, queries, keys and values.

        Examples
        --------
        >>> Input.of(queries=np.ones((2, 3)), keys=np.ones((4, 3)), values=np.ones((4, 5))).d_model
        3
        """
        settings = {"n_heads": n_heads, "n_kv_heads": n_heads, "allowed": mask, "is_causal": is_causal}
        if X is None:
            return cls(heads=tuple(arrays[name] for name in ("queries", "keys", "values")), **settings)
        matrices = {name.removeprefix("W_"): array for name, array in arrays.items()}
        return cls(X, X if context_X is None else context_X, matrices, **settings)


class DoesNotFitError(Exception):
    """A form that cannot be computed on this case, such as a transposed matrix that is not square."""


# What a form says where it does not fit a case, in its own words or in NumPy's: forms are tried wherever they may.
UNCOMPUTABLE = (DoesNotFitError, ValueError, IndexError, KeyError, TypeError, AttributeError, ZeroDivisionError)


def right_project(case, _):
    if case.heads is not None:
        return Heads(*case.heads)
    values_from = case.context if case.second is None else case.second
    return Heads(
        *(
            case.projected(letter, source) if letter in case.matrices else source
            for letter, source in (("Q", case.X), ("K", case.context), ("V", values_from))
        )
    )


def cut(X, n_heads):
    """Split into heads: (..., n_heads, seq_len, d_head)."""
    width = X.shape[-1]
    if width % n_heads:
        raise DoesNotFitError
    return X.reshape(*X.shape[:-1], n_heads, width // n_heads).swapaxes(-2, -3)


def shared(heads, n_heads):
    """Give each group of query heads its key or value head."""
    times = n_heads // heads.shape[-3]
    return heads if times == 1 else np.repeat(heads, times, axis=-3)


def right_split(case, rows):
    queries, keys, values = rows
    if case.heads is not None or queries.ndim > case.X.ndim:
        return rows
    return Heads(
        cut(queries, case.n_heads),
        shared(cut(keys, case.n_kv_heads), case.n_heads),
        shared(cut(values, case.n_kv_heads), case.n_heads),
    )


def right_place(case, heads):
    return heads


def right_scores(case, heads):
    queries, keys, values = heads
    return Scores(queries @ keys.swapaxes(-1, -2), queries, keys, values)


def scaled_by(factor):
    """Scale by factor(case, queries, values)."""

    def scale(case, raw):
        scores, queries, keys, values = raw
        return Scores(scores * factor(case, queries, values), queries, keys, values)

    return scale


def softmax(scores, axis=-1):
    top = scores.max(axis=axis, keepdims=True)
    exponentials = np.exp(scores - np.where(np.isfinite(top), top, 0))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def softmax_or_zeros(scores):
    """Give zeros to a query that may attend to nothing, and not 0 / 0."""
    return np.nan_to_num(softmax(scores))


@functools.lru_cache(maxsize=64)
def causal(n_queries, n_keys, offset=0):
    visible = np.tri(n_queries, n_keys, offset, dtype=bool)
    visible.flags.writeable = False
    return visible


def right_hide(case, scaled):
    """Hide what the mask and the flag forbid."""
    scores, queries, keys, values = scaled
    allowed = case.allowed
    if case.is_causal:
        below = causal(*scores.shape[-2:])
        allowed = below if allowed is None else allowed & below
    if allowed is not None:
        scores = np.where(allowed, scores, -np.inf)
    return MaskedScores(scores, None, queries, keys, values)


def weighed_by(weigh):
    """Make weights of the masked scores."""

    def run(case, masked):
        scores, reweigh, queries, keys, values = masked
        weights = weigh(scores)
        return Weights(weights if reweigh is None else reweigh(weights), queries, keys, values)

    return run


def mixed_by(mix):
    """Make the context by mix(weights, queries, keys, values)."""

    def run(case, weighed):
        weights, queries, _, _ = weighed
        return Context(mix(*weighed), weights, queries)

    return run


def joined(heads):
    heads = heads.swapaxes(-2, -3)
    return heads.reshape(*heads.shape[:-2], -1)


def merged_by(merge):
    """Put the heads' contexts side by side, where the output is not in heads."""

    def run(case, mixed):
        context, weights, queries = mixed
        return Context(context if case.heads is not None else merge(context), weights, queries)

    return run


def right_output(case, merged):
    context, weights, _ = merged
    if "O" in case.matrices:
        context = context @ case.matrices["O"] + case.bias_of("O")
    return Output(context, weights)


def right_add(case, projected):
    return projected


RIGHT = {
    form.step: form
    for form in (
        Form("", "project", right_project, "Q, K, V = X W_Q, X W_K, X W_V"),
        Form("", "split", right_split, "each cut into heads"),
        Form("", "place", right_place, "no positions"),
        Form("", "scores", right_scores, "Q Kᵀ"),
        Form("", "scale", scaled_by(lambda case, queries, values: queries.shape[-1] ** -0.5), "/ √d_head"),
        Form("", "hide", right_hide, "hidden scores become −inf"),
        Form("", "softmax", weighed_by(softmax), "softmax over the keys"),
        Form("", "mix", mixed_by(lambda weights, queries, keys, values: weights @ values), "weights V"),
        Form("", "merge", merged_by(joined), "heads side by side"),
        Form("", "output", right_output, "W_O"),
        Form("", "add", right_add, "nothing added"),
    )
}


# What right code may do beside RIGHT where a query may attend to nothing.
OR_ZEROS = Form("", "softmax", weighed_by(softmax_or_zeros), RIGHT["softmax"].text)


def compute(
    case: Input, forms: Iterable[Form] = (), *, right: Mapping[str, Form] = RIGHT
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Run the equation on a case, with some of its steps done in another form.

    Parameters
    ----------
    case : Input
    forms : iterable of Form
        At most one for a step.
    right : dict of str to Form, optional
        What counts as the right form of each step.

    Returns
    -------
    output, weights : ndarray
        Or (None, None) where these forms cannot be computed on this case.
    """
    chosen = {**right, **{form.step: form for form in forms}}
    made = None
    with np.errstate(all="ignore"):
        try:
            for step in STEPS:
                made = chosen[step].apply(case, made)
        except UNCOMPUTABLE:
            return None, None
    return made.output, made.weights
