"""The exercise `combine_heads`."""

from function_judge.properties import batch_mixed, moved_along, moves_others, not_the_same_numbers
from mha_helpers.attention import combine_heads
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import draws, in_float32
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.splitting.mistakes import combine_heads as wrong


def _combine_cases():
    def heads(seed, *shape):
        return draws(seed, heads=shape)

    return (
        Case("three heads", heads(0, 3, 5, 4)),
        Case("a batch", heads(1, 2, 3, 5, 4)),
        Case("two batch axes", heads(2, 2, 3, 4, 7, 5)),
        Case("one head", heads(3, 1, 4, 6)),
        Case("heads of one feature", heads(4, 4, 5, 1)),
        Case("as many heads as tokens", heads(5, 3, 3, 4)),
        Case("heads as wide as there are tokens", heads(6, 2, 4, 4)),
        Case("one token", heads(7, 2, 3, 1, 4)),
        Case("a cube", heads(8, 3, 3, 3)),
        in_float32(heads(9, 3, 4, 6, 2)),
        Case("a view, as split_heads gives it", {"heads": heads(10, 2, 5, 3, 4)["heads"].swapaxes(-3, -2)}),
    )


_tokens_mixed = moves_others(
    "Tokens are mixed: row {} changes when only token 0 changes in the heads. Row i is token i's alone.",
    axis=-2,
    heads=(..., 0, slice(None)),
)


def _heads_mixed(call, arguments, arrays):
    d_head = arguments["heads"].shape[-1]
    columns = moved_along(-1, call, arguments, arrays, heads=(..., 0, slice(None), slice(None)))
    if columns in (None, list(range(d_head))):
        return None
    place = "column 0" if d_head == 1 else f"columns 0 to {d_head - 1}"
    return f"Head 0 must fill {place}, and nothing else; with yours it changes {_listed(columns)}."


def _listed(columns):
    if not len(columns):
        return "none"
    return f"column{'s' * (len(columns) > 1)} {', '.join(map(str, columns))}"


exercise = Exercise(
    reference=combine_heads,
    outputs=("combined",),
    cases=_combine_cases(),
    mistakes=mistakes_in(wrong),
    properties=(
        not_the_same_numbers("the heads"),
        _tokens_mixed,
        batch_mixed("heads", n_axes=3),
        _heads_mixed,
    ),
    hints=(
        "It undoes split_heads: undo its two steps, the last one first.",
        "Swap heads and tokens, so that the heads of one token come right after one another. Then make one axis of "
        "the last two.",
        "`*batch, n_heads, seq_len, d_head = heads.shape`, then heads.swapaxes(-3, -2), then reshape(*batch, seq_len, "
        "n_heads * d_head).",
    ),
    on_success="You can bring the heads together again: combine_heads(split_heads(X, n_heads)) is X.",
)
