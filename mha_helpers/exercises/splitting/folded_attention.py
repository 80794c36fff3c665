"""The exercise `folded_attention`."""

import numpy as np

from function_judge.properties import batch_mixed, moved_along, moves_others, not_finite
from function_judge.tracing import traced
from mha_helpers.attention import folded_attention, scaled_dot_product_attention
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import NEEDS_THE_ROWS_MAXIMUM, WIDTH_CAPPED, draws, in_float32, whole_numbers
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.splitting.mistakes import folded_attention as wrong


def _arguments(seed, shape, n_heads, factor=1):
    arrays = draws(seed, queries=shape, keys=shape, values=shape)
    arrays["queries"] = factor * arrays["queries"]
    return arrays | {"n_heads": n_heads}


def _folded_cases():
    views = {name: array.T for name, array in draws(8, queries=(8, 5, 2), keys=(8, 5, 2), values=(8, 5, 2)).items()}
    return (
        Case("two sentences", _arguments(0, (2, 5, 12), 3)),
        Case("one sentence", _arguments(1, (1, 5, 6), 2)),
        Case("four heads for four tokens", _arguments(2, (1, 4, 8), 4)),
        Case("more heads than features in each", _arguments(3, (3, 4, 10), 5)),
        Case("one head", _arguments(4, (2, 3, 4), 1)),
        Case("as many heads as features", _arguments(5, (2, 5, 3), 3)),
        Case("as many heads as sentences", _arguments(6, (3, 4, 6), 3)),
        Case("one token", _arguments(7, (2, 1, 6), 3)),
        Case("heads of twelve features", _arguments(11, (2, 3, 24), 2), when_only_these_fail=WIDTH_CAPPED),
        whole_numbers(_arguments(12, (2, 4, 6), 3)),
        in_float32(_arguments(9, (4, 3, 10), 2)),
        Case("transposed views", views | {"n_heads": 4}),
        Case("very large scores", _arguments(10, (2, 5, 6), 3, factor=2000), edge=True),
    )


# What the notebook gives to be repaired, somebody's folded attention: a reshape alone deals out tokens.
def _without_transposes(queries, keys, values, n_heads):
    batch, seq_len, d_model = queries.shape
    d_head = d_model // n_heads

    def fold(A):
        return A.reshape(batch * n_heads, seq_len, d_head)

    context, _ = scaled_dot_product_attention(fold(queries), fold(keys), fold(values))
    return context.reshape(batch, seq_len, d_model)


def _no_average(call, arguments, arrays):
    constant = call(values=np.ones_like(arguments["values"]))
    if constant is None or np.allclose(constant[0], 1, atol=1e-4):
        return None
    return "Where all values are 1 every average of them is 1; yours is not. A query's weights must sum to 1."


def _heads_mixed(call, arguments, arrays):
    d_head = arguments["values"].shape[-1] // arguments["n_heads"]
    columns = moved_along(-1, call, arguments, arrays, values=(..., slice(0, d_head)))
    others = [column for column in columns or () if column >= d_head]
    if not others:
        return None
    return (
        f"Heads are mixed: feature {others[0]} of the context changes when only head 0's values change, features 0 to "
        f"{d_head - 1}."
    )


# A query's context is its own: another query changes nothing in it.
_queries_mixed = moves_others(
    "The context of token {} changes when only the query of token 0 changes: tokens are mixed, or queries are used as "
    "keys or values.",
    axis=-2,
    queries=(slice(None), 0),
)


def _shapes_on_the_way(call):
    """Return the shapes of the arrays, also in tuples and lists, that variables hold while something is called.

    An array that is never given a name or passed to a Python function is not seen.
    """
    shapes = set()

    def look(frame, event, argument):
        for value in frame.f_locals.values():
            parts = value if isinstance(value, tuple | list) else (value,)
            shapes.update(part.shape for part in parts if isinstance(part, np.ndarray))
        return look

    with traced(look):
        call()
    return shapes


def _never_folded(function):
    arguments = _folded_cases()[0].copy()
    batch, seq_len, _ = arguments["queries"].shape
    n_folded = batch * arguments["n_heads"]
    shapes = _shapes_on_the_way(lambda: function(*arguments.values()))
    if any(len(shape) <= 3 and shape[0] in (n_folded, n_folded * seq_len) for shape in shapes if shape):
        return None
    return "folded-never-folded", (
        "The numbers are right, but nothing is ever folded: no array on your way has batch * n_heads, here "
        f"{n_folded}, as its first axis. This exercise is about that form: give attention three arrays of shape (batch "
        "* n_heads, seq_len, d_head)."
    )


exercise = Exercise(
    reference=folded_attention,
    outputs=("context",),
    cases=_folded_cases(),
    mistakes=mistakes_in(wrong),
    broken_version=_without_transposes,
    wrong_at_edges=NEEDS_THE_ROWS_MAXIMUM,
    required_way=_never_folded,
    properties=(not_finite, batch_mixed("queries", "keys", "values"), _queries_mixed, _heads_mixed, _no_average),
    hints=(
        "Let fold work on an array in which each number says where it comes from, and print the result. What is in "
        "the first slice?",
        "A reshape alone deals out tokens instead of features. Split into heads first, (batch, n_heads, seq_len, "
        "d_head): batch and heads then stand side by side, and one reshape makes one axis of them.",
        "fold is split_heads(A, n_heads).reshape(batch * n_heads, seq_len, d_head). The way back is a reshape to "
        "(batch, n_heads, seq_len, d_head), and then combine_heads.",
    ),
    on_success="These are the numbers of both forms: heads on an axis of their own, and heads folded into the batch.",
)
