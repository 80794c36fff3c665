"""The exercise `cross_attention`: queries from one sequence, keys and values from another."""

import numpy as np

from function_judge.properties import batch_mixed, moved, not_finite, raised
from mha_helpers.attention import combine_heads, scaled_dot_product_attention, split_heads
from mha_helpers.cross import cross_attention as reference
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import NEEDS_THE_ROWS_MAXIMUM, WIDTH_CAPPED, draws, in_float32, whole_numbers
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.mistakes.steps import WEIGHTS
from mha_helpers.exercises.properties import negative_weights
from mha_helpers.exercises.what_a_cache_keeps.mistakes import cross_attention as wrong
from mha_helpers.masks import padding_mask

MATRICES = ("W_Q", "W_K", "W_V", "W_O")


def _arguments(seed, batch, n_queries, n_keys, d_model, n_heads, d_context=None, factor=1.0):
    d_context = d_context or d_model
    arrays = draws(seed, X=(*batch, n_queries, d_model), context_X=(*batch, n_keys, d_context))
    arrays["X"] = factor * arrays["X"]
    for i, name in enumerate(MATRICES):  # scaled so that scores have a standard deviation of about 1 to 3
        n_rows = d_context if name in ("W_K", "W_V") else d_model
        drawn = draws(seed + 100 + i, W=(n_rows, d_model))["W"]
        arrays[name] = (1.4 * n_rows**-0.5 * drawn).round(2)
    return arrays | {"n_heads": n_heads}


def _case(trait, *seed_and_sizes, mask=None, edge=False, when_only_these_fail=None, **more):
    options = {} if mask is None else {"context_mask": np.array(mask)}
    return Case(trait, _arguments(*seed_and_sizes, **more), edge, options, when_only_these_fail=when_only_these_fail)


def _cases():
    return (
        _case("three words and a source of five", 0, (), 3, 5, 8, 2),
        _case("a source that is shorter", 1, (), 5, 3, 6, 2),
        _case("one new word", 2, (), 1, 4, 6, 3),
        _case("as many words as the source has", 3, (), 4, 4, 6, 2),
        _case("a source of another width", 4, (), 3, 5, 8, 2, d_context=4),
        _case("a batch", 5, (2,), 4, 7, 15, 3),
        _case("a batch of batches", 6, (2, 3), 4, 5, 12, 2),
        in_float32(_arguments(7, (2,), 3, 5, 8, 4)),
        _case("a padded source", 8, (2,), 4, 5, 9, 3, mask=[[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]]),
        _case("padding on the left", 9, (2,), 3, 4, 12, 3, mask=[[0, 0, 1, 1], [0, 1, 1, 1]]),
        _case("as many words as a padded source has", 10, (2,), 4, 4, 6, 3, mask=[[1, 1, 0, 0], [1, 1, 1, 0]]),
        _case("as many sentences as heads", 11, (3,), 3, 3, 6, 3, mask=[[1, 1, 0], [1, 1, 1], [1, 0, 0]]),
        _case("one new word and a padded source", 12, (2,), 1, 4, 6, 2, mask=[[1, 1, 1, 0], [1, 1, 0, 0]]),
        _case("a source that is only padding", 13, (2,), 3, 4, 8, 2, mask=[[1, 1, 0, 1], [0, 0, 0, 0]]),
        _case("a mask without padding", 14, (2,), 3, 4, 6, 2, mask=[[1, 1, 1, 1], [1, 1, 1, 1]]),
        _case("heads of twelve features", 15, (), 3, 5, 24, 2, when_only_these_fail=WIDTH_CAPPED),
        whole_numbers(_arguments(16, (2,), 3, 5, 6, 3)),
        _case("very large scores", 17, (2,), 3, 5, 6, 3, factor=600.0, edge=True),
    )


def _rows_do_not_sum_to_one(call, arguments, arrays):
    weights, mask = arrays[WEIGHTS], arguments.get("context_mask")
    wanted = np.ones(1) if mask is None else padding_mask(mask).any(axis=-1).astype(float)
    off = ~np.isclose(*np.broadcast_arrays(weights.sum(axis=-1), wanted), atol=1e-4)
    if not off.any():
        return None
    place = tuple(int(i) for i in np.argwhere(off)[0])
    return f"Row {', '.join(map(str, place))} of the weights sums to {weights.sum(axis=-1)[place]:.4f}, not to 1."


def _padding_is_read(call, arguments, arrays):
    """What stands in the source's padding must change nothing."""
    mask = arguments.get("context_mask")
    if mask is None:
        return None
    changed = call(context_X=arguments["context_X"] + 5 * (mask == 0)[..., None])
    if changed is None or not moved(changed[0], arrays[0]).any():
        return None
    return "The source's padding is read: your output changes when only the padding's rows of context_X change."


def _is_not_used(call, arguments, arrays):
    for name in ("context_X", "X", *MATRICES):
        changed = call(**{name: arguments[name][..., ::-1, :] + 1})
        if changed is not None and not moved(changed[0], arrays[0]).any():
            return f"Your output does not depend on {name}."
    return None


def _words_are_mixed(call, arguments, arrays):
    """Each new word asks by itself: the other new words must change nothing in its row."""
    changed = call(X=raised(arguments["X"], (..., 0, slice(None))))
    if changed is None or changed[0].shape != arrays[0].shape or not moved(changed[0], arrays[0])[..., 1:, :].any():
        return None
    return (
        "The output of a later word changes when only word 0 of X does. Words of X do not see each other here: each "
        "asks the source by itself."
    )


# The model answer: the course's own function without its refusals of wrong arguments.
def cross_attention(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    queries = split_heads(X @ W_Q, n_heads)
    keys = split_heads(context_X @ W_K, n_heads)
    values = split_heads(context_X @ W_V, n_heads)
    mask = None if context_mask is None else padding_mask(context_mask)
    heads, weights = scaled_dot_product_attention(queries, keys, values, mask)
    return combine_heads(heads) @ W_O, weights


exercise = Exercise(
    reference=reference,
    outputs=("output", "weights"),
    first_output=WEIGHTS,
    cases=_cases(),
    mistakes=mistakes_in(wrong),
    wrong_at_edges=NEEDS_THE_ROWS_MAXIMUM,
    properties=(
        not_finite,
        negative_weights,
        _rows_do_not_sum_to_one,
        _padding_is_read,
        _is_not_used,
        _words_are_mixed,
        batch_mixed("X", "context_X"),
    ),
    hints=(
        "It is your multi_head_attention of notebook 05 with two sequences. Who asks, and who is attended to? That "
        "decides which of X and context_X meets which matrix.",
        "queries = split_heads(X @ W_Q, n_heads), and keys and values in the same way from context_X. For the padding, "
        "padding_mask(context_mask) is what scaled_dot_product_attention takes; where context_mask is None, give None.",
        "heads, weights = scaled_dot_product_attention(queries, keys, values, mask), and then combine_heads(heads) @ "
        "W_O. The source is finished, so nothing else is hidden.",
    ),
    on_success="Your function can read one text while it writes another. The cells below run on it.",
    model_answer=cross_attention,
)
