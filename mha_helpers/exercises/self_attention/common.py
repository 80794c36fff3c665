"""What the exercises of notebook 01 share: inputs, small steps, and properties that must hold."""

import numpy as np

NEEDS_THE_ROWS_MAXIMUM = (
    "Right for ordinary scores; it goes wrong when they are very large or very low. Subtract each row's own largest "
    "score before exp."
)


def draws(seed, **shapes):
    """Return random arguments: two decimals, so that a learner can type them in."""
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=shape).round(2) for name, shape in shapes.items()}


def swap(array):
    return array.swapaxes(-1, -2)


def normalised(exponentials, axis):
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def not_finite(call, arguments, arrays):
    for array in arrays:
        if not np.isfinite(array).all():
            return "It holds NaN or infinity: an exp overflowed, or every exp of a row was 0, and 0/0."
    return None


def rows_do_not_sum_to_one(call, arguments, arrays):
    weights = arrays[-1]
    sums = weights.sum(axis=-1)
    if np.allclose(sums, 1, atol=1e-4):
        return None
    row = tuple(int(i) for i in np.argwhere(~np.isclose(sums, 1, atol=1e-4))[0])
    place = f"row {', '.join(map(str, row))}" if row else "the row"
    return f"Weights must sum to 1 along each row; {place} sums to {sums[row]:.4f}."


def negative_weights(call, arguments, arrays):
    lowest = arrays[-1].min()
    return f"Weights cannot be negative; the lowest is {lowest:.4f}." if lowest < 0 else None


def batch_items_mixed(call, arguments, arrays):
    """A batch item alone must give what it gives in company."""
    if min(array.ndim for array in arguments.values()) < 3:
        return None
    alone = call(**{name: array[:1] for name, array in arguments.items()})
    if alone is None or all(np.allclose(a, b[:1], atol=1e-4) for a, b in zip(alone, arrays, strict=True)):
        return None
    return "The batch items are mixed: the first one alone gives other numbers than in company."
