"""The exercise `split_heads`."""

from function_judge.properties import batch_mixed, moved_along, moves_others, not_the_same_numbers
from mha_helpers.attention import split_heads
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import draws, in_float32
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.splitting.mistakes import split_heads as wrong


def _case(trait, seed, shape, n_heads, **more):
    return Case(trait, draws(seed, X=shape) | {"n_heads": n_heads}, **more)


def _split_cases():
    view = draws(8, X=(6, 5))["X"].T
    return (
        _case("a sentence", 0, (5, 6), 2),
        _case("a batch", 1, (2, 5, 12), 3),
        _case("two batch axes", 2, (2, 3, 7, 20), 4),
        _case("more heads than features in each", 9, (4, 10), 5),
        _case("one head", 3, (4, 6), 1),
        _case("as many heads as features", 4, (5, 4), 4),
        _case("as many heads as tokens", 5, (2, 3, 12), 3),
        _case("heads as wide as there are tokens", 6, (4, 12), 3),
        _case("one token", 10, (1, 1, 6), 2),
        in_float32(draws(7, X=(3, 7, 8)) | {"n_heads": 4}),
        Case("a transposed view", {"X": view, "n_heads": 3}),
        _case("seven features for three heads", 11, (4, 7), 3, edge=True),
    )


_tokens_mixed = moves_others(
    "Tokens are mixed: row {} of a head changes when only token 0 changes. Row i is token i's alone.",
    axis=-2,
    X=(..., 0, slice(None)),
)


def _features_mixed(call, arguments, arrays):
    d_head = arguments["X"].shape[-1] // arguments["n_heads"]
    heads = moved_along(-3, call, arguments, arrays, X=(..., slice(0, d_head)))
    if heads in (None, [0]):
        return None
    features = "feature 0" if d_head == 1 else f"features 0 to {d_head - 1}"
    if 0 not in heads:
        return f"Head 0 does not change when {features} change; it should hold just these."
    return f"Heads are mixed: head {heads[-1]} changes when only {features} change, which are head 0's."


exercise = Exercise(
    reference=split_heads,
    outputs=("heads",),
    cases=_split_cases(),
    mistakes=mistakes_in(wrong),
    wrong_at_edges="Right wherever n_heads divides d_model. Where it does not, there is no way to cut: raise a "
    "ValueError.",
    properties=(not_the_same_numbers("X"), _tokens_mixed, batch_mixed("X"), _features_mixed),
    hints=(
        "Each token's row is cut into n_heads pieces. That is one reshape, and it leaves the tokens where they are.",
        "After reshape(..., seq_len, n_heads, d_head) the heads come after the tokens. Which two axes do you have to "
        "swap?",
        "`*batch, seq_len, d_model = X.shape`, then X.reshape(*batch, seq_len, n_heads, d_model // n_heads), then "
        "swapaxes(-3, -2).",
    ),
    on_success="You can give each head its own columns of every token. The lab below runs on your function.",
)
