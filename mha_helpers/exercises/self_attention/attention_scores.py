"""The exercise `attention_scores`."""

import numpy as np

from function_judge.properties import batch_mixed, not_finite
from mha_helpers.attention import attention_scores
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import draws, in_float32
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.self_attention.mistakes import attention_scores as wrong


def _score_cases():
    swapped = draws(5, queries=(4, 3), keys=(4, 5))
    return (
        Case("self-attention", draws(0, queries=(4, 3), keys=(4, 3))),
        Case("more keys than queries", draws(1, queries=(3, 4), keys=(5, 4))),
        Case("a batch", draws(2, queries=(2, 3, 4), keys=(2, 5, 4))),
        Case("a batch with heads", draws(3, queries=(2, 3, 4, 6), keys=(2, 3, 5, 6))),
        in_float32(draws(4, queries=(3, 4), keys=(6, 4))),
        Case("transposed views", {name: array.T for name, array in swapped.items()}),
        Case("square matrices", draws(6, queries=(3, 3), keys=(3, 3))),
        Case("a cube", draws(7, queries=(3, 3, 3), keys=(3, 3, 3))),
        Case("more queries than keys", {name: a / 3 for name, a in draws(9, queries=(5, 4), keys=(3, 4)).items()}),
        Case("keys equal to queries", dict.fromkeys(("queries", "keys"), draws(10, X=(4, 3))["X"])),
        Case("a batch of one query", draws(11, queries=(1, 1, 4), keys=(1, 3, 4))),
        Case(
            "large vectors",
            {name: 100 * array for name, array in draws(8, queries=(2, 5), keys=(3, 5)).items()},
            edge=True,
        ),
    )


def _indifferent_to_keys(call, arguments, arrays):
    changed = call(keys=arguments["keys"][..., ::-1, :] + 1)
    if changed is None or not np.allclose(changed[0], arrays[0], atol=1e-4):
        return None
    return "Your scores do not change when the keys change."


def _not_proportional(call, arguments, arrays):
    doubled = call(queries=2 * arguments["queries"])
    if doubled is None or np.allclose(doubled[0], 2 * arrays[0], atol=1e-4):
        return None
    return "Queries twice as long must score twice as high; yours do not."


exercise = Exercise(
    reference=attention_scores,
    outputs=("scores",),
    cases=_score_cases(),
    mistakes=mistakes_in(wrong),
    properties=(not_finite, batch_mixed(), _indifferent_to_keys, _not_proportional),
    hints=(
        "In a matrix product A @ B, each row of A meets each column of B. The queries are rows, and that's right for "
        "A. What must become of the keys?",
        "The keys are rows, too, and must become columns: transpose them. `keys.T` does it for one sentence, but "
        "turns a batch inside out.",
        "`queries @ keys.swapaxes(-1, -2)`: it swaps the last two axes only, so that each sentence's keys are "
        "transposed.",
    ),
    on_success="You can compare every query with every key, for one sentence or a whole batch.",
)
