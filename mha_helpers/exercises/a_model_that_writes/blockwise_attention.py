"""The exercise `blockwise_attention`: the same context, a block of keys at a time, and never all scores at once."""

import tracemalloc

import numpy as np

from function_judge.properties import batch_mixed, not_finite
from mha_helpers import blockwise
from mha_helpers.exercises.a_model_that_writes.mistakes import blockwise_attention as wrong
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import attention_arguments, in_float32, whole_numbers
from mha_helpers.exercises.mistakes.catalogue import mistake_of, mistakes_in

N_LONG, BLOCK = 1024, 64  # long enough that all scores at once cannot be missed, short enough for a loop
SCATTERED = np.array([[1, 0, 1, 1, 0], [0, 1, 1, 0, 1], [1, 1, 0, 0, 1]], bool)
SEES_NOTHING = np.array([[1, 0, 1, 1, 0], [0, 0, 0, 0, 0], [1, 1, 0, 0, 1]], bool)
# Whatever else comes out for it: what has a name of its own is named.
NOT_ZEROS = (
    "blockwise-sees-nothing",
    "Right except for a query that may attend to nothing. Such a query takes nothing from any value: give it zeros.",
)
FIRST_HIDDEN = np.array([[0, 0, 1, 1, 0], [0, 1, 1, 0, 1], [0, 0, 0, 0, 1]], bool)


def _case(trait, seed, batch, *sizes, **options):
    return Case(trait, attention_arguments(seed, batch, *sizes), options=options)


def _blockwise_cases():
    # The later the block, the higher its scores, and then the other way round.
    rising = attention_arguments(20, (), 2, 6, 3, 4)
    rising["keys"] = rising["keys"] * (1 + np.arange(6.0)[:, None])
    large = {name: array * (400.0 if name == "queries" else 1.0) for name, array in rising.items()}
    low = large | {"keys": -np.abs(large["keys"]), "queries": 50 * np.abs(large["queries"])}
    return (
        _case("one block for all", 2, (), 4, 5, 3, 2),
        _case("blocks of two keys", 0, (), 3, 6, 4, 2, block_size=2),
        _case("a block that is not full", 1, (), 3, 5, 4, 2, block_size=2),
        _case("a block larger than all", 22, (), 4, 5, 3, 2, block_size=8),
        _case("blocks of one key", 3, (), 3, 5, 4, 2, block_size=1),
        in_float32(attention_arguments(4, (), 3, 6, 4, 5), {"block_size": 4}),
        Case("scores that rise", rising, options={"block_size": 2}),
        _case("scores that rise and fall", 21, (), 4, 7, 5, 2, block_size=3),
        _case("self-attention", 5, (), 4, 4, 3, 2, block_size=3),
        _case("a batch", 6, (2,), 3, 5, 4, 6, block_size=2),
        _case("a batch with heads", 7, (2, 3), 4, 5, 6, 7, block_size=2),
        _case("scattered holes", 8, (), 3, 5, 4, 2, block_size=2, mask=SCATTERED),
        _case("a first block that is hidden", 9, (), 3, 5, 4, 2, block_size=2, mask=FIRST_HIDDEN),
        Case(
            "a query that sees nothing",
            attention_arguments(10, (), 3, 5, 4, 2),
            edge=True,
            options={"block_size": 2, "mask": SEES_NOTHING},
            when_only_these_fail=NOT_ZEROS,
        ),
        Case("very large scores", large, edge=True, options={"block_size": 2}),
        Case("very low scores", low, edge=True, options={"block_size": 2}),
    )


ALL_AT_ONCE = mistake_of(wrong.blockwise_all_at_once)


def _holds_all_scores(function):
    peak, all_scores = _peak_bytes(function), N_LONG**2 * 8
    if peak < all_scores / 2:
        return None
    found = f"With {N_LONG} tokens it held {peak / 2**20:.1f} MiB, and all scores are {all_scores / 2**20:.1f} MiB."
    return ALL_AT_ONCE.slug, f"{ALL_AT_ONCE.message}\n{found}"


def _peak_bytes(function):
    arrays = attention_arguments(30, (), N_LONG, N_LONG, 4, 4).values()
    running = tracemalloc.is_tracing()
    if not running:
        tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    try:
        function(*arrays, block_size=BLOCK)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        if not running:
            tracemalloc.stop()
    return peak - before


# What the exercise asks, without `is_causal` of the course's own.
def blockwise_attention(queries, keys, values, mask=None, *, block_size=128):
    top, total, context = -np.inf, 0.0, 0.0  # of each row so far
    for start in range(0, keys.shape[-2], block_size):
        block = slice(start, start + block_size)
        scores = queries @ keys[..., block, :].swapaxes(-2, -1) / np.sqrt(queries.shape[-1])
        if mask is not None:
            scores = np.where(mask[..., block], scores, -np.inf)
        new_top = np.maximum(top, scores.max(axis=-1, keepdims=True))
        safe_top = np.where(np.isneginf(new_top), 0, new_top)  # nothing seen yet
        exponentials = np.exp(scores - safe_top)
        correction = np.exp(top - safe_top)
        total = total * correction + exponentials.sum(axis=-1, keepdims=True)
        context = context * correction + exponentials @ values[..., block, :]
        top = new_top
    return context / np.where(total == 0, 1, total)


exercise = Exercise(
    reference=blockwise.blockwise_attention,
    outputs=("context",),
    cases=(*_blockwise_cases(), whole_numbers(_blockwise_cases()[0].arguments)),
    mistakes=mistakes_in(wrong),
    wrong_at_edges="Right for ordinary scores; it goes wrong when they are very large or very low. Subtract the "
    "highest score so far before exp.",
    required_way=_holds_all_scores,
    properties=(not_finite, batch_mixed()),
    hints=(
        "A softmax is exponentials over their sum. Both sums, of exp(s) and of exp(s) times the value, can be added up "
        "a block at a time; divide at the very end.",
        "Subtract the highest score *so far*. When a block brings a higher one, what was added up before is too large "
        "by a factor: multiply both sums by exp(old top - new top).",
        "In each block: new_top = np.maximum(top, scores.max(axis=-1, keepdims=True)), correction = np.exp(top - "
        "new_top). Where a row has seen only hidden keys its top is -inf, and -inf - -inf is NaN: use 0 there.",
    ),
    on_success="You can attend to sequences whose scores would not fit into memory: the idea behind FlashAttention.",
    model_answer=blockwise_attention,
)
