"""The exercise `two_part_scores`: which divisor?"""

import numpy as np

from function_judge.properties import batch_mixed, not_finite
from mha_helpers.attention import attention_scores
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import draws, in_float32, whole_numbers
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.scaling.mistakes import two_part_scores as wrong


def two_part_scores(content_queries, content_keys, position_queries, position_keys):
    scores = attention_scores(content_queries, content_keys) + attention_scores(position_queries, position_keys)
    # As many products in each sum as both widths together, so their variances add up to both widths.
    return scores / np.sqrt(content_queries.shape[-1] + position_queries.shape[-1])


def _parts(seed, n_queries, n_keys, d_content, d_position, batch=()):
    return draws(
        seed,
        content_queries=(*batch, n_queries, d_content),
        content_keys=(*batch, n_keys, d_content),
        position_queries=(*batch, n_queries, d_position),
        position_keys=(*batch, n_keys, d_position),
    )


CASES = (
    Case("six features of content and three of position", _parts(0, 4, 5, 6, 3)),
    Case("more queries than keys", _parts(1, 5, 4, 7, 2)),
    Case("more position than content", _parts(2, 3, 4, 2, 6)),
    Case("equal widths", _parts(3, 4, 3, 5, 5)),
    whole_numbers(_parts(40, 4, 5, 6, 3)),
    Case("a batch", _parts(4, 4, 5, 6, 3, batch=(2,))),
    in_float32(_parts(5, 3, 4, 6, 2)),
    Case("square matrices", _parts(6, 4, 4, 4, 4)),
)


def _wrong_factor(call, arguments, arrays):
    """Where only the divisor is unknown, it can be read off."""
    plain = attention_scores(arguments["content_queries"], arguments["content_keys"])
    plain = plain + attention_scores(arguments["position_queries"], arguments["position_keys"])
    factor = (arrays[0] * plain).sum() / (plain**2).sum()
    if factor <= 0 or not np.allclose(arrays[0], factor * plain, atol=1e-3):
        return None
    due = np.sqrt(arguments["content_queries"].shape[-1] + arguments["position_queries"].shape[-1])
    return f"You divide the sum by {1 / factor:.4f}; for a spread of 1 it must be {due:.4f}."


exercise = Exercise(
    reference=two_part_scores,
    outputs=("scores",),
    cases=CASES,
    mistakes=mistakes_in(wrong),
    properties=(not_finite, batch_mixed(), _wrong_factor),
    hints=(
        "How many products are added up in one score, if you count both parts? Each of them has variance 1.",
        "It is as if content and position stood side by side in one longer vector. How wide is it?",
        "Add the two scores first, then divide once, by the root of the sum of the two widths.",
    ),
    on_success="You can work out the divisor of any score: count the products in it.",
)
