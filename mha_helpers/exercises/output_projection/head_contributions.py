"""The exercise `head_contributions`."""

import numpy as np

from function_judge.properties import batch_mixed, moved_along, moves_others, not_finite
from mha_helpers.attention import combine_heads, head_contributions
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import draws, in_float32, whole_numbers
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.output_projection.mistakes import head_contributions as wrong

WIDTH_OF_THE_HEADS = (
    "contributions-width-of-the-heads",
    "It is right as long as the output is as wide as all heads together, n_heads * d_head, but it needn't be. The "
    "columns of W_O say how wide the output is: its second axis, W_O.shape[-1], or -1 in a reshape. (Its rows belong "
    "to the heads, d_head to each.)",
)


def _arguments(seed, *shape):
    d_model = shape[-3] * shape[-1]
    return draws(seed, heads=shape, W_O=(d_model, d_model))


def _contribution_cases():
    views = {name: array.T for name, array in draws(8, heads=(2, 5, 3), W_O=(6, 6)).items()}
    return (
        Case("two heads", _arguments(0, 2, 5, 3)),
        Case("a batch", _arguments(1, 2, 3, 5, 4)),
        Case("two batch axes", _arguments(2, 2, 3, 4, 7, 5)),
        Case("one head", _arguments(3, 1, 5, 4)),
        Case("heads of one feature", _arguments(4, 4, 5, 1)),
        Case("as many heads as tokens", _arguments(5, 3, 3, 2)),
        Case("as many heads as features in each", _arguments(9, 3, 4, 3)),
        Case("one token", _arguments(6, 2, 3, 1, 4)),
        in_float32(_arguments(7, 3, 4, 5, 2)),
        Case("transposed views", views),
        whole_numbers(draws(12, heads=(2, 3, 4)), draws(13, W_O=(8, 8))),
        Case(
            "heads wider than the model",
            draws(10, heads=(2, 4, 3), W_O=(6, 4)),
            when_only_these_fail=WIDTH_OF_THE_HEADS,
        ),
        Case(
            "heads narrower than the model",
            draws(11, heads=(3, 2, 1), W_O=(3, 5)),
            when_only_these_fail=WIDTH_OF_THE_HEADS,
        ),
    )


_heads_mixed = moves_others(
    "Heads are mixed: the contribution of head {} changes when only head 0 does.",
    axis=-3,
    heads=(..., 0, slice(None), slice(None)),
)
_tokens_mixed = moves_others(
    "Tokens are mixed: row {} changes when only token 0 changes.", axis=-2, heads=(..., 0, slice(None))
)


def _wrong_rows_of_W_O(call, arguments, arrays):
    d_head = arguments["heads"].shape[-1]
    heads = moved_along(-3, call, arguments, arrays, W_O=(slice(0, d_head),))
    if heads in (None, [0]):
        return None
    rows = "row 0" if d_head == 1 else f"rows 0 to {d_head - 1}"
    if not len(heads):
        return f"Your contributions do not depend on {rows} of W_O, which are head 0's."
    return f"{rows.capitalize()} of W_O are head 0's alone; with yours head {heads[-1]} changes with them."


def _do_not_sum_to_the_output(call, arguments, arrays):
    if np.allclose(arrays[0].sum(axis=-3), combine_heads(arguments["heads"]) @ arguments["W_O"], atol=1e-3):
        return None
    return "Added up over the heads, your contributions are not the output, combine_heads(heads) @ W_O."


exercise = Exercise(
    reference=head_contributions,
    outputs=("contributions",),
    cases=_contribution_cases(),
    mistakes=mistakes_in(wrong),
    properties=(
        not_finite,
        batch_mixed("heads", n_axes=3),
        _tokens_mixed,
        _heads_mixed,
        _wrong_rows_of_W_O,
        _do_not_sum_to_the_output,
    ),
    hints=(
        "In combine_heads(heads) @ W_O, which rows of W_O meet the features of head 0?",
        "Head i has columns i * d_head to (i + 1) * d_head of the combined heads, so it meets exactly these rows of "
        "W_O.",
        "W_O.reshape(n_heads, d_head, -1) has one block of rows for each head, and @ pairs head i with block i.",
    ),
    on_success="You can take the output of any layer apart, head by head. The lab under Further runs your function.",
)
