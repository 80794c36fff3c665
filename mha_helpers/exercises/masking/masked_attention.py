"""The exercise `masked_attention`: hiding keys before the softmax."""

import numpy as np

from function_judge.compare import first_place
from function_judge.properties import batch_mixed, not_finite
from mha_helpers import attention
from mha_helpers.attention import attention_scores, softmax
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import (
    EACH_ITSELF,
    WIDTH_CAPPED,
    attention_arguments,
    in_float32,
    opposite_tokens,
    single_query,
    whole_numbers,
)
from mha_helpers.exercises.masking.mistakes import masked_attention as wrong
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.mistakes.steps import WEIGHTS
from mha_helpers.exercises.properties import (
    context_is_not_the_mixture,
    hidden_keys_have_weight,
    negative_weights,
    rows_do_not_sum_to_what_is_seen,
)
from mha_helpers.masks import causal_mask, padding_mask


def _with_mask(seed, mask, batch, n_queries, n_keys, d_head, d_value):
    arguments = attention_arguments(seed, batch, n_queries, n_keys, d_head, d_value)
    return arguments | {"mask": np.array(mask)}


# Some keys hidden from each query, and no two queries see the same ones.
SCATTERED = np.array([[1, 0, 1, 1, 0], [0, 1, 1, 0, 1], [1, 1, 0, 0, 1], [0, 0, 0, 1, 1]], bool)
ONE_EMPTY = np.array([[1, 0, 1, 1, 0], [0, 0, 0, 0, 0], [1, 1, 0, 0, 1]], bool)

# Each head has a mask of its own, and in only one of them a query sees nothing.
EACH_HEAD = np.array([[SCATTERED, ~SCATTERED, SCATTERED[::-1]], [SCATTERED[:, ::-1], SCATTERED, ~SCATTERED]])
EACH_HEAD[1, 2, 0] = False


def _visible_at(first, second, apart=1000):
    """Two queries that see only two keys, at these scores times sqrt(2), beside a hidden key of ordinary score."""
    return {
        "queries": np.array([[1.0, 0.0], [0.0, 1.0]]),
        "keys": np.array([[first, second], [first, second - apart], [5.0, 4.0]]),
        "values": np.array([[1.0, 2.0], [-3.0, 4.0], [5.0, -6.0]]),
        "mask": np.array([[True, True, False], [True, True, False]]),
    }


def _just_below(low):
    return np.sqrt(2) * (low - 1), np.sqrt(2) * (low - 2)


# One visible and one hidden key, both of score 0. Huge values that cancel tell a hidden score of 0 from one of -1e-9.
CANCELLING = {
    "queries": np.array([[1.0, 0.0]]),
    "keys": np.array([[0.0, 1.0], [0.0, 2.0]]),
    "values": np.array([[1e10], [-1e10]]),
    "mask": np.array([[True, False]]),
}


def _masked_cases():
    padding = padding_mask([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]])
    return (
        Case("scattered holes", _with_mask(0, SCATTERED, (), 4, 5, 3, 2)),
        Case("a causal mask", _with_mask(1, causal_mask(4), (), 4, 4, 3, 2)),
        Case("a row that sees nothing", _with_mask(2, ONE_EMPTY, (), 3, 5, 4, 2)),
        Case("a batch of one query", _with_mask(13, [[[True, False, True]]], (1,), 1, 3, 4, 2)),
        Case("nothing hidden", _with_mask(3, np.ones((3, 4), bool), (), 3, 4, 2, 5)),
        Case("a batch with padding", _with_mask(4, padding[:, 0], (2,), 4, 5, 3, 6)),
        Case("a batch with heads and padding", _with_mask(5, padding, (2, 3), 4, 5, 6, 7)),
        Case("padding and a causal mask", _with_mask(6, padding & causal_mask(5), (2, 3), 5, 5, 4, 6)),
        Case("one mask for a whole batch", _with_mask(7, SCATTERED, (2, 3), 4, 5, 6, 7)),
        Case("a sentence of padding only", _with_mask(8, padding_mask([[1, 1, 0], [0, 0, 0]]), (2, 4), 5, 3, 2, 6)),
        Case("a mask for each head", _with_mask(11, EACH_HEAD, (2, 3), 4, 5, 6, 7)),
        # No maximum to subtract, no choice among keys, and a mask that is not the same as none.
        Case("one key, hidden", _with_mask(12, np.zeros((3, 1), bool), (), 3, 1, 4, 2)),
        in_float32(_with_mask(9, SCATTERED, (), 4, 5, 3, 6)),
        Case(
            "a square mask",
            _with_mask(10, SCATTERED[:, :4] | np.eye(4, dtype=bool), (), 4, 4, 3, 3),
        ),
        Case("heads of twelve features", _with_mask(14, SCATTERED, (), 4, 5, 12, 3), when_only_these_fail=WIDTH_CAPPED),
        whole_numbers(_with_mask(15, SCATTERED, (2,), 4, 5, 2, 3)),
        Case("a hidden score above the others", _visible_at(-110.0, -120.0), edge=True),
        Case("a hidden score well above the others", _visible_at(-200.0, -300.0), edge=True),
        Case("a hidden score far above the others", _visible_at(-1200.0, -1300.0), edge=True),
        Case("very low scores", _visible_at(-30_000.0, -40_000.0), edge=True),
        # So far apart that float32 tells them apart as well.
        Case("scores below -1e11", _visible_at(-1e12, -1e12, apart=1e6), edge=True),
        Case("very large and very low scores", _visible_at(30_000.0, -30_000.0), edge=True),
        Case("huge values", CANCELLING, edge=True),
    )


def _probes():
    """Return cases in which a mistake shows alone, whatever is wrong with another step."""
    nothing, everything = np.zeros((2, 2), bool), np.ones((2, 2), bool)
    one_hidden = np.array([[True, False]])
    # The keys that are hidden are those that may be seen once more, so the context is the same the other way round.
    twice = attention_arguments(70, (), 3, 2, 5, 3)
    twice |= {name: np.concatenate([twice[name]] * 2) for name in ("keys", "values")}
    first_two = np.array([[True, True, False, False]] * 3)
    of_one = {name: array[:, :1] if name != "values" else array for name, array in twice.items()}
    return (
        Case("opposite tokens, each by itself", opposite_tokens(1) | {"mask": EACH_ITSELF}),
        Case("opposite tokens, all hidden", opposite_tokens(1) | {"mask": nothing}),
        Case("opposite tokens, nothing hidden", opposite_tokens(5) | {"mask": everything}),
        Case("one query, one key hidden", single_query(1, 2) | {"mask": one_hidden}),
        Case("one query, all hidden", single_query(1, 2) | {"mask": one_hidden & False}),
        Case("one query, nothing hidden", single_query(5, 3) | {"mask": np.ones((1, 3), bool)}),
        Case("heads of one feature", _with_mask(71, np.ones((3, 2), bool), (), 3, 2, 1, 4)),
        # Next to numbers that people hide with, or below which they let no maximum fall.
        *(
            Case(f"visible scores just below {low:g}", _visible_at(*_just_below(low)), edge=True)
            for low in (-1e4, -1e9)
        ),
        Case("the visible keys once more, hidden", twice | {"mask": first_two}),
        Case("the visible keys once more, hidden, of one feature", of_one | {"mask": first_two}),
    )


def _an_empty_row_is_nan(call, arguments, arrays):
    """Some such rows may have been taken care of: say which one was not."""
    weights = arrays[-1]
    empty = ~np.broadcast_to(arguments["mask"], weights.shape).any(axis=-1)
    nan = np.isnan(weights).any(axis=-1)
    if not nan.any() or (nan & ~empty).any():
        return None
    row = first_place(nan)
    return (
        f"Row {', '.join(map(str, row))} of the weights is NaN: everything is hidden from it. mask.any(axis=-1) says "
        "of each row, in every head and sentence, whether it sees anything.",
        row,
    )


def masked_attention(queries, keys, values, mask):
    scores = attention_scores(queries, keys) / np.sqrt(queries.shape[-1])
    lowest = np.finfo(scores.dtype).min  # finite, so that an empty row is not NaN
    weights = softmax(np.where(mask, scores, lowest))
    weights = np.where(mask, weights, 0)  # an empty row gets zeros; elsewhere this changes nothing
    return weights @ values, weights


exercise = Exercise(
    reference=attention.masked_attention,
    outputs=("context", "weights"),
    first_output=WEIGHTS,
    cases=_masked_cases(),
    probes=_probes(),
    mistakes=mistakes_in(wrong),
    wrong_at_edges="Right for ordinary scores; it goes wrong where hidden and visible scores lie far apart.",
    properties=(
        _an_empty_row_is_nan,
        not_finite,
        negative_weights,
        rows_do_not_sum_to_what_is_seen,
        hidden_keys_have_weight,
        batch_mixed(),
        context_is_not_the_mixture,
    ),
    hints=(
        "Three lines of notebook 02, with one more between scores and softmax: a hidden score must not count.",
        "np.where(mask, scores, -np.inf) keeps the visible scores; e^-inf is 0.",
        "A row in which everything is hidden needs care: softmax of -inf alone is NaN. Put zeros where the mask is "
        "False after the softmax, too: np.where(mask, weights, 0).",
    ),
    on_success="You can hide any key from any query. The mask studio, under Further, runs on your function.",
    model_answer=masked_attention,
)
