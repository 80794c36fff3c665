"""What exercises of several notebooks share: inputs, small steps, and properties that must hold."""

import numpy as np

from mha_helpers.exercises.engine import Case

NEEDS_THE_ROWS_MAXIMUM = (
    "Right for ordinary scores; it goes wrong when they are very large or very low. Subtract each row's own largest "
    "score before exp."
)


def draws(seed, **shapes):
    """Return random arguments: two decimals, so that a learner can type them in."""
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=shape).round(2) for name, shape in shapes.items()}


def attention_arguments(seed, batch, n_queries, n_keys, d_head, d_value):
    """Return random queries, keys and values."""
    shapes = {"queries": (n_queries, d_head), "keys": (n_keys, d_head), "values": (n_keys, d_value)}
    return draws(seed, **{name: (*batch, *shape) for name, shape in shapes.items()})


def attention_cases():
    """Return what any attention is tried on; all sizes differ, so that each mistake shows."""
    three = attention_arguments
    single = {name: array.astype(np.float32) for name, array in three(4, (), 3, 6, 4, 5).items()}
    views = {name: array.T for name, array in draws(5, queries=(4, 3), keys=(4, 5), values=(2, 5)).items()}
    # As for softmax, only each row's own maximum helps in all of these. The scores are exact in float32 too.
    keys = np.array([[0.0, 1.0], [100.0, 0.0], [100.0, -1.0], [-200.0, 2.0]])
    batch_of_large = {
        "queries": np.array([[[10.0, 1.0], [-10.0, 1.0]], [[10.0, 1.0], [1.0, 1.0]]]),
        "keys": np.stack([keys, keys + 0.5]),
        "values": np.array([[[1.0, 2.0, 3.0], [4.0, -5.0, 6.0], [-7.0, 8.0, 9.0], [2.0, 1.0, -3.0]]] * 2),
    }
    single_large = {
        "queries": np.array([[10, 1], [5, 1]], np.float32),
        "keys": np.array([[1, 0], [10, -1], [9.5, 2]], np.float32),
        "values": np.array([[1, 2], [3, -4], [5, 6]], np.float32),
    }
    return (
        Case("self-attention", three(0, (), 4, 4, 3, 2)),
        Case("more keys than queries", three(1, (), 3, 5, 4, 2)),
        Case("more queries than keys", three(8, (), 5, 3, 4, 2)),
        Case("a batch", three(2, (2,), 3, 5, 4, 6)),
        Case("a batch with heads", three(3, (2, 3), 4, 5, 6, 7)),
        Case("a batch of one query", three(9, (1,), 1, 3, 4, 2)),
        Case("float32", single),
        Case("transposed views", views),
        Case("square matrices", three(6, (), 3, 3, 3, 3)),
        Case("a cube", three(7, (3,), 3, 3, 3, 3)),
        Case("very large scores", {name: array[0] for name, array in batch_of_large.items()}, stress=True),
        Case("very large scores in a batch", batch_of_large, stress=True),
        Case("large float32 scores", single_large, stress=True),
    )


def swap(array):
    return array.swapaxes(-1, -2)


def normalised(exponentials, axis):
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def not_finite(call, arguments, arrays):
    for array in arrays:
        if not np.isfinite(array).all():
            return (
                "It holds NaN or infinity. Look for an exp that overflows, a division by 0, and inf - inf or 0 * inf."
            )
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


def batch_mixed(*batched, n_axes=2):
    """Return the property that a batch item alone gives what it gives in company.

    `batched` names the arguments that have batch axes, all arrays unless given, and `n_axes` is how many axes one item
    has in them.
    """

    def property_that_must_hold(call, arguments, arrays):
        names = batched or [name for name, value in arguments.items() if isinstance(value, np.ndarray)]
        if min(arguments[name].ndim for name in names) <= n_axes:
            return None
        alone = call(**{name: arguments[name][:1] for name in names})
        if alone is None or any(a.shape != b[:1].shape for a, b in zip(alone, arrays, strict=True)):
            return None
        if all(np.allclose(a, b[:1], atol=1e-4) for a, b in zip(alone, arrays, strict=True)):
            return None
        return "The batch items are mixed: the first one alone gives other numbers than in company."

    return property_that_must_hold


def context_is_not_the_mixture(call, arguments, arrays):
    context, weights = arrays
    if np.allclose(context, weights @ arguments["values"], atol=1e-4):
        return None
    return "Your context is not your own weights @ values."


def weights_depend_on_values(call, arguments, arrays):
    changed = call(values=arguments["values"][..., ::-1, :] + 1)
    if changed is None or np.allclose(changed[1], arrays[1], atol=1e-4):
        return None
    return "Your weights change when only the values change. Weights come from queries and keys alone."
