"""Multi-head attentions with one bug each, and the probes that tell them apart without looking inside.

Every patient is a mistake of the catalogue of `exercises.multi_head_attention`. A probe runs a patient on seeded input
and gives a `Reading`: numbers, and what they say in words. Two patients never read alike on all probes.
"""

import functools
from dataclasses import dataclass

import numpy as np

from function_judge.compare import close
from mha_helpers import attention, exercises, masks, measures, probes
from mha_helpers.labs.learner_function import call_safely
from mha_helpers.labs.number_ranges import listed

N, D_MODEL, N_HEADS = 6, 16, 4
D_HEAD = D_MODEL // N_HEADS
CAUSAL = masks.causal_mask(N)
ORDER = (3, 0, 5, 1, 4, 2)
NOTHING = 1e-5  # what rounding may move, in float32 too

_rng = np.random.default_rng(77)
INPUTS = {"X": _rng.normal(size=(N, D_MODEL))} | {
    name: size * _rng.normal(size=(D_MODEL, D_MODEL)) / D_MODEL**0.5
    for name, size in (("W_Q", 1.4), ("W_K", 1.4), ("W_V", 1), ("W_O", 1))
}

# ---- the patients ----------------------------------------------------------------------------


def _the_diagonal_hidden_too(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    mask = None if mask is None else mask & ~np.eye(N, dtype=bool)
    return attention.multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask)


def loop_form(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """Attend head by head, and add up what each contributes: slow, and plain enough to be trusted."""
    output, all_weights = 0, []
    for columns in np.split(np.arange(len(W_O)), n_heads):
        queries, keys, values = (X @ matrix[:, columns] for matrix in (W_Q, W_K, W_V))
        scores = queries @ keys.T / len(columns) ** 0.5
        weights = attention.softmax_or_zeros(scores if mask is None else np.where(mask, scores, -np.inf))
        output = output + weights @ values @ W_O[columns]
        all_weights.append(weights)
    return output, np.stack(all_weights)


HEALTHY = "healthy"
_with_mistake = exercises.multi_head_attention.with_mistake
BUGS = {
    HEALTHY: attention.multi_head_attention,
    "no scale": _with_mistake("scale-missing"),
    "sqrt(d_model)": _with_mistake("mha-scale-d-model"),
    "softmax over queries": _with_mistake("softmax-over-queries"),
    "mask after softmax": _with_mistake("mask-after-softmax"),
    "mask ignored": _with_mistake("mha-mask-ignored"),
    "strict causal mask": _the_diagonal_hidden_too,
    "split by reshape": _with_mistake("mha-split-without-transpose"),
    "merge by reshape": _with_mistake("mha-combine-without-transpose"),
    "no W_O": _with_mistake("mha-no-output-projection"),
}


def patient(bug):
    """Return a patient as the probes run it: `run(mask=..., W_V=...)` changes some of the inputs."""
    return lambda **changed: BUGS[bug](**INPUTS | changed, n_heads=N_HEADS)


@functools.cache
def known(bug):
    """Return a patient's (output, weights) without a mask and with the causal one; `None` is the loop over heads."""
    run = patient(bug) if bug else functools.partial(loop_form, **INPUTS, n_heads=N_HEADS)
    return run(mask=None), run(mask=CAUSAL)


class UnmeasurableError(ValueError):
    """A probe that cannot be read."""


def learners(function):
    """Return a learner's function as the probes run it, with an UnmeasurableError where it gives no numbers."""
    unchanged = {}  # several probes ask for the same

    def run(*, mask=None, **changed):
        if changed:
            return call(mask, changed)
        if (mask is None) not in unchanged:
            unchanged[mask is None] = call(mask, changed)
        return unchanged[mask is None]

    def call(mask, changed):
        arguments = INPUTS | changed | {"n_heads": N_HEADS} | ({} if mask is None else {"mask": mask})
        outcome = call_safely(function, arguments, 2)
        called = "without a mask" if mask is None else "with the causal mask"
        if outcome.error is not None:
            raise UnmeasurableError(f"{called} it stopped with {type(outcome.error).__name__}")
        shapes = [array.shape for array in outcome.arrays or ()]
        if shapes != [(N, D_MODEL), (N_HEADS, N, N)]:
            raise UnmeasurableError(f"{called} it returned other shapes")
        if not all(np.isfinite(array).all() for array in outcome.arrays):
            raise UnmeasurableError(f"{called} it returned NaN or infinity")
        return outcome.arrays

    return run


# ---- the probes ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reading:
    """What a probe found: a small table, its meaning, and which of the numbers no healthy one has.

    `numbers` is None where nothing could be measured.
    """

    words: str
    numbers: np.ndarray | None = None
    rows: tuple = ()
    columns: tuple = ()
    abnormal: np.ndarray | None = None
    changes: tuple = ()  # of each column, in percent

    @property
    def is_abnormal(self):
        return self.numbers is None or bool(self.abnormal.any())


TOKENS = tuple(map(str, range(N)))
HEADS = tuple(f"head {i}" for i in range(N_HEADS))


def row_sums(run):
    """Sum each row of weights; of the heads, the sum that is farthest from 1."""
    sums = np.stack([run(mask=mask)[1].sum(axis=-1) for mask in (None, CAUSAL)])
    farthest = np.abs(sums - 1).argmax(axis=1)
    sums = np.take_along_axis(sums, farthest[:, None], axis=1)[:, 0]
    free, masked = (np.flatnonzero(np.abs(row - 1) > 1e-4) for row in sums)
    if free.size:
        words = "Not all rows sum to 1, even without a mask."
    elif masked.size:
        few = f"row {masked[0]} does" if masked.size == 1 else f"rows {listed(int(i) for i in masked)} do"
        words = f"Rows sum to 1, but under the mask {few} not."
    else:
        words = "All rows sum to 1."
    return Reading(words, sums, ("plain", "causal"), TOKENS, np.abs(sums - 1) > 1e-4)


def permutation(run):
    """Shuffle the tokens: the outputs should only be shuffled, too."""
    shuffled, straight = run(X=INPUTS["X"][list(ORDER)])[0], run()[0][list(ORDER)]
    differences = np.abs(shuffled - straight).max(axis=-1)
    order = np.argsort(ORDER)
    alike = differences.max() <= NOTHING
    words = "The outputs are only shuffled, too." if alike else "Other outputs: places matter, though nothing says so."
    found = differences[order][None]
    return Reading(words, found, ("moves",), TOKENS, found > NOTHING)


def leak(run):
    """Change each token under the causal mask: the most that a later one moves an output, the least that others do."""
    moved = probes.leaks(lambda X: run(X=X, mask=CAUSAL)[0], INPUTS["X"])
    later = np.where(CAUSAL, 0, moved).max(axis=-1)
    earlier = np.where(CAUSAL, moved, np.inf).min(axis=-1)
    leaking, blind = (np.flatnonzero(rows) for rows in (later > NOTHING, earlier <= NOTHING))
    words = "No output moves with a later token."
    if leaking.size:
        words = f"A later token moves {_outputs(leaking)}."
    if blind.size:
        words += f" {_outputs(blind).capitalize()} move{'s' * (blind.size == 1)} too little."
    abnormal = np.stack([later > NOTHING, earlier <= NOTHING])
    return Reading(words, np.stack([later, earlier]), ("later", "others"), TOKENS, abnormal)


def knock_out(run):
    """Knock head 0 out in two ways, by its columns of W_V and its rows of W_O: both should take the same."""
    W_V, W_O = INPUTS["W_V"].copy(), INPUTS["W_O"].copy()
    W_V[:, :D_HEAD], W_O[:D_HEAD] = 0, 0
    whole, without_values, without_rows = run()[0], run(W_V=W_V)[0], run(W_O=W_O)[0]
    moved = np.stack([np.abs(whole - other).max(axis=-1) for other in (without_values, without_rows)])
    by_values, by_rows = (np.flatnonzero(row > NOTHING) for row in moved)
    if np.abs(without_values - without_rows).max() <= NOTHING:
        words = "Both ways take the same from every output."
    elif not by_rows.size:
        words = "Its rows of W_O make no difference at all."
    elif by_values.size < by_rows.size:
        words = f"They differ: W_V's columns move {f'only {_outputs(by_values)}' if by_values.size else 'nothing'}."
    else:
        words = "They differ: what W_O's rows meet is not head 0 alone."
    apart = np.abs(without_values - without_rows).max(axis=-1) > NOTHING
    return Reading(words, moved, ("W_V", "W_O"), TOKENS, np.stack([apart, apart]))


def entropy(run):
    """Measure how evenly each head attends, without a mask: the mean over its rows."""
    weights = run()[1]
    if (weights < 0).any():
        raise UnmeasurableError("a weight is negative")
    found = np.stack([measures.entropy(rows).mean(axis=-1) for rows in (weights, known(None)[0][1])])
    higher, lower = found[0] > found[1] + NOTHING, found[0] < found[1] - NOTHING
    if not (higher | lower).any():
        words = "As even as a healthy one's."
    elif lower.all():
        words = "Lower in every head: sharper than healthy."
    elif higher.all():
        words = "Higher in every head: flatter than healthy."
    else:
        words = "Other than healthy, and not in one direction."
    abnormal = np.stack([higher | lower, np.zeros(N_HEADS, bool)])
    changes = (
        f"{100 * change:+.0f}".replace("-", "−") if 0.005 <= abs(change) < 10 else ""
        for change in found[0] / found[1] - 1
    )
    return Reading(words, found, ("patient", HEALTHY), HEADS, abnormal, tuple(changes) if abnormal.any() else ())


def parity(run):
    """Compare with the loop over heads, without and with the causal mask."""
    gaps = []
    for mask, wanted in zip((None, CAUSAL), known(None), strict=True):
        gaps.append([probes.largest_gap(found, other) for found, other in zip(run(mask=mask), wanted, strict=True)])
    gaps = np.array(gaps)
    free, masked = gaps.max(axis=1) > NOTHING
    outputs, weights = gaps.max(axis=0) > NOTHING
    if not (free or masked):
        words = "Equal to the loop over heads, with and without a mask."
    elif not free:
        words = "Equal without a mask, different under it."
    elif outputs and not weights:
        words = "The weights are equal, the outputs are not."
    else:
        words = "Outputs and weights both differ, even without a mask."
    return Reading(words, gaps, ("no mask", "causal"), ("outputs", "weights"), gaps > NOTHING)


def _outputs(rows):
    return f"output{'s' if len(rows) > 1 else ''} {listed(int(i) for i in rows)}"


# Name of the probe: the function, what it asks, and what a healthy one reads.
PROBES = {
    "row sums": (row_sums, "Do weights sum to 1?", "all 1"),
    "permutation": (permutation, "Shuffle: what moves?", "nothing moves"),
    "leak": (leak, "Causal: who moves an output?", "later: 0, others: more"),
    "knock-out": (knock_out, "Head 0 off in two ways", "both rows equal"),
    "entropy": (entropy, "How evenly does it attend?", "both rows equal"),
    "parity": (parity, "As the loop over heads?", "all 0"),
}


def read(run, probe):
    """Put one probe to a function, whatever it does."""
    try:
        with np.errstate(all="ignore"):
            return PROBES[probe][0](run)
    except UnmeasurableError as error:
        return Reading(f"Cannot be read: {error}.")


@functools.cache
def reading(bug, probe):
    """Return a patient's reading, measured once."""
    return read(patient(bug), probe)


def same_bug(run):
    """Return which of the BUGS a function behaves like, or None."""
    try:
        found = run(), run(mask=CAUSAL)
    except UnmeasurableError:
        return None
    for bug in BUGS:
        pairs = zip(sum(found, ()), sum(known(bug), ()), strict=True)
        if all(close(array, other).all() for array, other in pairs):
            return bug
    return None
