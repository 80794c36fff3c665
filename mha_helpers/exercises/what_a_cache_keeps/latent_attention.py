"""The exercise `latent_attention`: attention to one short vector for each token, which is never unfolded."""

import tracemalloc

import numpy as np

from function_judge.properties import batch_mixed, moves_others, not_finite
from mha_helpers.attention import scaled_dot_product_attention
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import NEEDS_THE_ROWS_MAXIMUM, draws, in_float32, whole_numbers
from mha_helpers.exercises.mistakes.catalogue import mistake_of, mistakes_in
from mha_helpers.exercises.mistakes.steps import WEIGHTS
from mha_helpers.exercises.properties import hidden_keys_have_weight, negative_weights, rows_do_not_sum_to_one
from mha_helpers.exercises.what_a_cache_keeps.mistakes import latent_attention as wrong
from mha_helpers.latent import latent_attention as reference
from mha_helpers.masks import causal_mask

SCATTERED = np.array([[1, 0, 1, 1, 0], [0, 1, 1, 0, 1], [1, 1, 0, 0, 1]], bool)
# Long, and with wide heads beside what is kept: a single head's unfolded keys are far larger than everything else.
LONG = {"n_heads": 2, "n_queries": 1, "n_keys": 8192, "d_head": 64, "d_kept": 2, "d_value": 64}
ONE_HEADS_KEYS = LONG["n_keys"] * LONG["d_head"] * 8  # bytes


def _arguments(seed, batch, *, n_heads, n_queries, n_keys, d_head, d_kept, d_value, factor=1.0):
    drawn = draws(
        seed,
        queries=(*batch, n_heads, n_queries, d_head),
        kept=(*batch, n_keys, d_kept),
        unfold_K=(n_heads, d_kept, d_head),
        unfold_V=(n_heads, d_kept, d_value),
    )
    unfold_K = (1.4 * d_kept**-0.5 * drawn["unfold_K"]).round(2)  # so that scores spread by 1 to 3
    return drawn | {"queries": factor * drawn["queries"], "unfold_K": unfold_K}


def _sizes(n_heads, n_queries, n_keys, d_head, d_kept, d_value):
    return dict(zip(LONG, (n_heads, n_queries, n_keys, d_head, d_kept, d_value), strict=True))


def _case(trait, seed, batch, *sizes, mask=None, edge=False, **more):
    options = {} if mask is None else {"mask": mask}
    return Case(trait, _arguments(seed, batch, **_sizes(*sizes), **more), edge, options)


def _cases():
    return (
        _case("two heads", 0, (), 2, 3, 5, 4, 6, 7),
        _case("three heads and one new token", 1, (), 3, 1, 6, 5, 4, 2),
        _case("a short vector as wide as a head", 2, (), 2, 3, 5, 4, 4, 4),
        _case("one head", 3, (), 1, 4, 5, 3, 2, 6),
        _case("more queries than tokens kept", 4, (), 3, 5, 4, 6, 2, 3),
        in_float32(_arguments(5, (), **_sizes(2, 3, 5, 6, 4, 7))),
        _case("a batch", 6, (2,), 3, 4, 5, 6, 7, 8),
        _case("as many sentences as heads", 7, (3,), 3, 4, 5, 6, 2, 7),
        _case("a batch of batches", 8, (2, 3), 4, 5, 6, 7, 8, 9),
        _case("a causal mask", 9, (2,), 3, 4, 4, 5, 6, 7, mask=causal_mask(4)),
        _case("scattered holes", 10, (), 2, 3, 5, 6, 4, 7, mask=SCATTERED),
        whole_numbers(_arguments(11, (), **_sizes(2, 3, 5, 4, 6, 7))),
        _case("very large scores", 12, (), 2, 3, 5, 4, 6, 7, factor=600.0, edge=True),
    )


UNFOLDED = mistake_of(wrong.latent_unfolded)


def _unfolds(function):
    peak = _peak_bytes(function)
    if peak < ONE_HEADS_KEYS / 2:
        return None
    found = (
        f"With {LONG['n_keys']} tokens of {LONG['d_kept']} numbers it held {peak / 2**20:.1f} MiB, and the keys of one "
        f"head alone are {ONE_HEADS_KEYS / 2**20:.1f} MiB."
    )
    return UNFOLDED.slug, f"{UNFOLDED.message}\n{found}"


def _peak_bytes(function):
    arrays = _arguments(30, (), **LONG).values()
    running = tracemalloc.is_tracing()
    if not running:
        tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    try:
        function(*arrays)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        if not running:
            tracemalloc.stop()
    return peak - before


# What the exercise asks, without the refusals of the course's own.
def latent_attention(queries, kept, unfold_K, unfold_V, mask=None):
    kept = kept[..., None, :, :]
    queries_of_kept = queries @ unfold_K.swapaxes(-1, -2)
    scale = 1 / np.sqrt(queries.shape[-1])
    mixed, weights = scaled_dot_product_attention(queries_of_kept, kept, kept, mask, scale=scale)
    return mixed @ unfold_V, weights


exercise = Exercise(
    reference=reference,
    outputs=("context", "weights"),
    first_output=WEIGHTS,
    cases=_cases(),
    mistakes=mistakes_in(wrong),
    wrong_at_edges=NEEDS_THE_ROWS_MAXIMUM,
    required_way=_unfolds,
    properties=(
        not_finite,
        negative_weights,
        rows_do_not_sum_to_one,
        hidden_keys_have_weight,
        moves_others(
            "Heads are mixed: the context of head {} changes when only head 0's queries do.", -3,
            queries=(..., 0, slice(None), slice(None)),
        ),
        batch_mixed("queries", "kept"),
    ),
    hints=(
        "q (c U)^T is the same as (q U^T) c^T. Which of the two makes a large array when there are thousands of c and "
        "one q? The same goes for w (c U) and (w c) U.",
        "queries @ unfold_K.swapaxes(-1, -2) makes queries as wide as what is kept. All heads meet the same kept "
        "vectors, so give them an axis of length 1 for the heads: kept[..., None, :, :].",
        "For such queries, the kept vectors are keys and values at once: scaled_dot_product_attention(queries_of_kept, "
        "kept, kept, mask, scale=1 / np.sqrt(queries.shape[-1])). The context that it returns goes through unfold_V.",
    ),
    on_success="Your heads read the short vectors as they are. The cells below run on your function.",
    model_answer=latent_attention,
)  # fmt: skip
