"""The exercise `weights_heads_last`."""

import numpy as np

from function_judge.properties import batch_mixed, moves_others
from mha_helpers.attention import softmax
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import NEEDS_THE_ROWS_MAXIMUM, draws, in_float32, whole_numbers
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.properties import OF_WEIGHTS
from mha_helpers.exercises.splitting.mistakes import weights_heads_last as wrong


def weights_heads_last(queries, keys):
    heads_first = queries.swapaxes(1, 2), keys.swapaxes(1, 2)  # (batch, n_heads, ..., d_head)
    scores = heads_first[0] @ heads_first[1].swapaxes(-1, -2)  # (batch, n_heads, n_queries, n_keys)
    return softmax(scores / np.sqrt(queries.shape[-1]))


def _arguments(seed, batch, n_queries, n_keys, n_heads, d_head, factor=1):
    arrays = draws(seed, queries=(batch, n_queries, n_heads, d_head), keys=(batch, n_keys, n_heads, d_head))
    return arrays | {"queries": factor * arrays["queries"]}


def _cases():
    return (
        Case("two sentences", _arguments(0, 2, 5, 4, 3, 6)),
        Case("one sentence", _arguments(1, 1, 4, 5, 2, 3)),
        Case("one head", _arguments(2, 2, 3, 5, 1, 4)),
        Case("as many heads as tokens", _arguments(3, 2, 3, 3, 3, 4)),
        Case("all sizes alike", _arguments(4, 3, 3, 3, 3, 3)),
        Case("heads of one feature", _arguments(6, 2, 4, 3, 5, 1)),
        whole_numbers(_arguments(40, 2, 5, 4, 3, 2)),
        in_float32(_arguments(5, 2, 3, 4, 2, 5)),
        Case("very large scores", _arguments(7, 2, 4, 3, 2, 5, factor=2000), edge=True),
    )


_heads_mixed = moves_others(
    "Heads are mixed: the weights of another head change when only head 0's queries change.",
    axis=-3,
    queries=(slice(None), slice(None), 0),
)

exercise = Exercise(
    reference=weights_heads_last,
    outputs=("weights",),
    cases=_cases(),
    mistakes=mistakes_in(wrong),
    wrong_at_edges=NEEDS_THE_ROWS_MAXIMUM,
    properties=(*OF_WEIGHTS, batch_mixed("queries", "keys", n_axes=3), _heads_mixed),
    hints=(
        "`@` multiplies over the last two axes and treats everything before them as a batch. What should the last two "
        "axes be, and what belongs in front of them?",
        "A query of head 0 must meet keys of head 0 only, so the heads belong in front, beside the batch. Swap heads "
        "and tokens in both arrays.",
        "`queries.swapaxes(1, 2)` is (batch, n_heads, n_queries, d_head). The sum runs over the d_head features, so "
        'divide by `np.sqrt(queries.shape[-1])`. Or say it in one line: `np.einsum("bqhd,bkhd->bhqk", queries, keys)`.',
    ),
    on_success="You can read attention in a library that keeps its heads beside the features.",
)
