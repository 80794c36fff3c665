"""Properties that weights and contexts must have; the judge brings those of any array."""

import numpy as np

from function_judge.compare import first_place
from function_judge.properties import batch_mixed, not_finite


def rows_do_not_sum_to_one(call, arguments, arrays):
    weights = arrays[-1]
    sums = weights.sum(axis=-1)
    if np.allclose(sums, 1, atol=1e-4):
        return None
    row = first_place(~np.isclose(sums, 1, atol=1e-4))
    place = f"row {', '.join(map(str, row))}" if row else "the row"
    return f"Weights must sum to 1 along each row; {place} sums to {sums[row]:.4f}.", row


def negative_weights(call, arguments, arrays):
    lowest = arrays[-1].min()
    if not lowest < 0:  # it may be NaN
        return None
    return f"Weights cannot be negative; the lowest is {lowest:.4f}.", first_place(arrays[-1] == lowest)


def rows_do_not_sum_to_what_is_seen(call, arguments, arrays):
    """Under a mask, if there is one: 1 where a query sees something, 0 where everything is hidden from it."""
    weights = arrays[-1]
    wanted, sums = np.broadcast_to(arguments.get("mask", True), weights.shape).any(axis=-1), weights.sum(axis=-1)
    wrong = ~np.isclose(sums, wanted, atol=1e-4)
    if not wrong.any():
        return None
    row = first_place(wrong)
    why = "1" if wanted[row] else "0, since everything is hidden from it"
    return f"Row {', '.join(map(str, row))} of the weights sums to {sums[row]:.4f}, not to {why}.", row


def hidden_keys_have_weight(call, arguments, arrays):
    """What the mask hides, in the outputs' last array, the weights."""
    weights = arrays[-1]
    places = ~np.broadcast_to(arguments.get("mask", True), weights.shape) & (np.abs(weights) > 1e-6)
    if not places.any():
        return None
    place = first_place(places)
    cell = f"weights[{', '.join(map(str, place))}]"
    return f"A hidden key has weight: {cell} is {weights[place]:.4f}, and its mask is False.", place


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


# In the order in which they are asked; attention's outputs are (context, weights).
OF_WEIGHTS = (not_finite, negative_weights, rows_do_not_sum_to_one)
OF_ATTENTION = (*OF_WEIGHTS, batch_mixed(), weights_depend_on_values, context_is_not_the_mixture)
