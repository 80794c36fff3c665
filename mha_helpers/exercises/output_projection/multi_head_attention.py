"""The exercise `multi_head_attention`: all of it, from tokens to output, with and without a mask."""

import numpy as np

from function_judge.properties import batch_mixed, moved, moved_along, not_finite, raised
from mha_helpers import attention
from mha_helpers.attention import combine_heads, head_contributions, scaled_dot_product_attention, split_heads
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import (
    EACH_ITSELF,
    NEEDS_THE_ROWS_MAXIMUM,
    OPPOSITE,
    WIDTH_CAPPED,
    draws,
    whole_numbers,
)
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.mistakes.steps import WEIGHTS
from mha_helpers.exercises.output_projection.mistakes import multi_head_attention as wrong
from mha_helpers.exercises.properties import hidden_keys_have_weight, negative_weights, rows_do_not_sum_to_what_is_seen
from mha_helpers.masks import causal_mask, padding_mask

MATRICES = ("W_Q", "W_K", "W_V", "W_O")

# Some keys hidden from each query, and no two queries see the same ones.
SCATTERED = np.array([[1, 0, 1, 1, 0], [0, 1, 1, 0, 1], [1, 1, 0, 0, 1], [0, 0, 0, 1, 1], [1, 1, 0, 1, 0]], bool)
EACH_HEAD = np.array([SCATTERED, ~SCATTERED, SCATTERED[::-1]])


def _arguments(seed, shape, n_heads, factor=1.0, dtype=np.float64):
    d_model = shape[-1]
    arrays = draws(seed, X=shape) | draws(seed + 100, **dict.fromkeys(MATRICES, (d_model, d_model)))
    arrays["X"] = factor * arrays["X"]
    for name in MATRICES:  # so that scores spread by 1 to 3
        arrays[name] = (1.4 * d_model**-0.5 * arrays[name]).round(2)
    return {name: array.astype(dtype) for name, array in arrays.items()} | {"n_heads": n_heads}


def _other_width(seed, shape, n_heads, d_inner):
    """Arguments whose n_heads * d_head is not the width of X."""
    d_model = shape[-1]
    projections = dict.fromkeys(MATRICES[:3], (d_model, d_inner)) | {"W_O": (d_inner, d_model)}
    return draws(seed, X=shape, **projections) | {"n_heads": n_heads}


WIDTH_OF_X = (
    "mha-width-of-X",
    "You take the heads' width from X. It is right as long as n_heads * d_head is d_model, but it needn't be: what is "
    "cut into heads is X @ W_Q, so d_head is W_Q.shape[-1] // n_heads. (Several models have wider heads.)",
)


def _case(trait, seed, shape, n_heads, mask=None, *, edge=False, when_only_these_fail=None, **more):
    options = {} if mask is None else {"mask": np.array(mask)}
    return Case(
        trait, _arguments(seed, shape, n_heads, **more), edge, options, when_only_these_fail=when_only_these_fail
    )


def _multi_head_cases():
    views = {name: array.T if name != "n_heads" else array for name, array in _arguments(8, (6, 6), 3).items()}
    views["X"] = draws(9, X=(6, 4))["X"].T
    padding = padding_mask([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]])
    return (
        _case("a sentence", 0, (5, 6), 2),
        _case("a batch", 1, (2, 5, 12), 3),
        _case("two batch axes", 2, (2, 3, 7, 20), 4),
        _case("one head", 3, (5, 4), 1),
        _case("as many heads as features", 4, (5, 4), 4),
        _case("as many heads as tokens", 5, (3, 6), 3),
        _case("one token", 6, (1, 4), 2),
        _case("float32", 7, (3, 5, 8), 4, dtype=np.float32),
        Case("transposed views", views),
        _case("a causal mask", 10, (4, 6), 2, causal_mask(4)),
        _case("a causal mask for a batch", 11, (2, 5, 12), 3, causal_mask(5)),
        _case("scattered holes", 12, (5, 8), 4, SCATTERED),
        _case("a mask for each head", 13, (5, 6), 3, EACH_HEAD),
        _case("a batch with padding", 14, (2, 5, 12), 3, padding),
        _case("padding and a causal mask", 15, (2, 5, 6), 2, padding & causal_mask(5)),
        _case("as many sentences as heads", 16, (3, 3, 6), 3, padding_mask([[1, 1, 0], [1, 1, 1], [1, 0, 0]])),
        _case("a sentence of padding only", 17, (2, 3, 8), 2, padding_mask([[1, 1, 0], [0, 0, 0]])),
        _case("heads of twelve features", 19, (2, 4, 24), 2, when_only_these_fail=WIDTH_CAPPED),
        Case("heads wider than the model", _other_width(20, (4, 6), 2, 8), edge=True, when_only_these_fail=WIDTH_OF_X),
        Case(
            "heads narrower than the model",
            _other_width(21, (2, 3, 6), 2, 4),
            edge=True,
            when_only_these_fail=WIDTH_OF_X,
        ),
        whole_numbers(_arguments(22, (2, 4, 6), 3)),
        _case("very large scores", 18, (2, 5, 6), 3, factor=60.0, edge=True),
    )


def _symmetric(seed, width):
    [matrix] = draws(seed, W=(width, width)).values()
    return (matrix + matrix.T) / 2


def _probes():
    """Return cases in which a mistake shows alone, whatever is wrong with another step."""

    def case(trait, X, n_heads, mask=None, **matrices):
        arguments = {"X": X} | dict.fromkeys(MATRICES, np.eye(X.shape[-1])) | matrices
        return Case(trait, arguments | {"n_heads": n_heads}, options={} if mask is None else {"mask": mask})

    one, five = 1.2 * OPPOSITE, OPPOSITE * draws(80, token=(1, 5))["token"]
    tokens = draws(81, few=(3, 1), three=(3, 3), six=(3, 6), five=(4, 5))
    # With queries of zeros all weights are alike, and what is wrong with them doesn't show: three heads, three tokens.
    same_weights = {"W_Q": np.zeros((6, 6))}
    same_weights_of_one = {"W_Q": np.zeros((5, 5))}
    turned, turned_of_six = draws(82, W=(5, 5), wider=(6, 6)).values()
    # All queries are alike, and a key of one head is the other key of the other: then a softmax over the heads is one
    # over the keys, and it makes no difference whether heads or tokens come first.
    [half] = draws(87, half=5).values()
    alike, opposite = np.tile(half, 2), np.append(half, -half)
    to_alike, to_opposite = (np.outer(part, part) / (part @ part) for part in (alike, opposite))
    swapped = {"W_Q": to_alike, "W_K": to_opposite, "W_V": to_opposite}
    return (
        case("opposite tokens, each by itself", one, 1, EACH_ITSELF),
        case("opposite tokens, all hidden", one, 1, EACH_ITSELF & False),
        case("opposite tokens in one head", five, 1, W_K=_symmetric(83, 5), W_V=_symmetric(84, 5)),
        case("opposite tokens in two heads", 1.2 * np.array([[1.0, -1.0], [-1.0, 1.0]]), 2),
        case("heads with each other's keys", alike + OPPOSITE * opposite, 2, **swapped),
        case("one head of one feature", tokens["few"], 1),
        case("heads of one feature each", tokens["three"], 3, W_V=np.diag([1.0, 2.0, -1.0])),
        case("the same weights for all", tokens["six"], 3, W_V=_symmetric(85, 6), **same_weights),
        case("the same weights for all, and W_V", tokens["six"], 3, W_V=turned_of_six, **same_weights),
        case("one head, the same weights for all", tokens["five"], 1, W_V=turned, **same_weights_of_one),
        case("one head, the same weights, and W_O", tokens["five"], 1, W_O=turned, **same_weights_of_one),
    )


def _changed(call, arguments, name, index):
    """Both outputs with the entries of one argument at an index raised by 1, or None."""
    return call(**{name: raised(arguments[name], index)})


def _a_hidden_token_leaks(call, arguments, arrays):
    """What the mask hides from a token in every head must not change its output."""
    if "mask" not in arguments:
        return None
    X = arguments["X"]
    seq_len, last = X.shape[-2], X.shape[-2] - 1
    shape = (*X.shape[:-2], arguments["n_heads"], seq_len, seq_len)
    hidden = ~np.broadcast_to(arguments["mask"], shape).any(axis=-3)[..., last]  # the last key, from each query
    hidden[..., last] = False
    changed = _changed(call, arguments, "X", (..., last, slice(None)))
    if changed is None or changed[0].shape != arrays[0].shape:
        return None
    places = np.argwhere(moved(changed[0], arrays[0]).any(axis=-1) & hidden)
    if not len(places):
        return None
    return f"Token {last} leaks: it is hidden from token {places[0][-1]}, whose output changes with it all the same."


def _batch_items_mixed(call, arguments, arrays):
    # A mask with a batch axis would have to be cut, too.
    return None if "mask" in arguments else batch_mixed("X")(call, arguments, arrays)


def _weights_depend_on_values(call, arguments, arrays):
    for name in ("W_V", "W_O"):
        changed = _changed(call, arguments, name, ...)
        if changed is not None and not np.allclose(changed[1], arrays[1], atol=1e-4):
            return f"Your weights change when only {name} changes. Weights come from queries and keys alone."
    return None


def _heads_mixed(call, arguments, arrays):
    d_head = arguments["X"].shape[-1] // arguments["n_heads"]
    for name in ("W_Q", "W_K"):
        heads = moved_along(-3, call, arguments, arrays, output=1, **{name: (0, slice(0, d_head))})
        others = [head for head in heads or () if head]
        if others:
            return f"Heads are mixed: the weights of head {others[0]} change when only head 0's columns of {name} do."
    return None


def _a_matrix_is_not_used(call, arguments, arrays):
    for name in ("W_O", "W_V"):
        changed = call(**{name: arguments[name][::-1] + 1})
        if changed is not None and np.allclose(changed[0], arrays[0], atol=1e-6):
            return f"Your output does not depend on {name}."
    return None


def _contributions_do_not_sum_to_it(call, arguments, arrays):
    output, weights = arrays
    values = split_heads(arguments["X"] @ arguments["W_V"], arguments["n_heads"])
    if np.allclose(output, head_contributions(weights @ values, arguments["W_O"]).sum(axis=-3), atol=1e-3):
        return None
    return (
        "Your output is not the sum of what the heads contribute: your own weights @ values, each head through its "
        "rows of W_O."
    )


def multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    queries = split_heads(X @ W_Q, n_heads)
    keys = split_heads(X @ W_K, n_heads)
    values = split_heads(X @ W_V, n_heads)
    heads, weights = scaled_dot_product_attention(queries, keys, values, mask)
    return combine_heads(heads) @ W_O, weights


exercise = Exercise(
    reference=attention.multi_head_attention,
    outputs=("output", "weights"),
    first_output=WEIGHTS,
    cases=_multi_head_cases(),
    probes=_probes(),
    mistakes=mistakes_in(wrong),
    wrong_at_edges=NEEDS_THE_ROWS_MAXIMUM,
    properties=(
        not_finite,
        negative_weights,
        rows_do_not_sum_to_what_is_seen,
        hidden_keys_have_weight,
        _a_hidden_token_leaks,
        _batch_items_mixed,
        _weights_depend_on_values,
        _heads_mixed,
        _a_matrix_is_not_used,
        _contributions_do_not_sum_to_it,
    ),
    hints=(
        "You have written every part: project, split_heads, scaled_dot_product_attention, combine_heads. One product "
        "remains.",
        "queries = split_heads(X @ W_Q, n_heads), and the same for keys and values. Attention takes them as they are: "
        "heads are one more batch axis. Give it the mask, too.",
        "heads, weights = scaled_dot_product_attention(queries, keys, values, mask). Return combine_heads(heads) @ W_O "
        "and weights.",
    ),
    on_success="You have written multi-head attention, section 3.2.2 of Vaswani et al. (2017), with masks.",
    model_answer=multi_head_attention,
)
