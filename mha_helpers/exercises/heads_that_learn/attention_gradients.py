"""The exercise `attention_gradients`: backwards through attention, one line for each step forwards."""

import numpy as np

from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import draws, in_float32, whole_numbers
from mha_helpers.judge.properties import batch_mixed, not_finite
from mha_helpers.maths import gradients
from mha_helpers.maths.attention import scaled_dot_product_attention
from mha_helpers.maths.masks import causal_mask
from mha_helpers.wrong.catalogue import mistakes_in
from mha_helpers.wrong.heads_that_learn import attention_gradients as wrong

OUTPUTS = ("d_queries", "d_keys", "d_values")
SCATTERED = np.array([[1, 0, 1, 1, 0], [0, 1, 1, 0, 1], [1, 1, 0, 0, 1], [0, 0, 0, 1, 1]], bool)


def _arguments(seed, batch, n_queries, n_keys, d_head, d_value):
    shapes = {"queries": (n_queries, d_head), "keys": (n_keys, d_head), "values": (n_keys, d_value)}
    shapes["d_context"] = (n_queries, d_value)
    return draws(seed, **{name: (*batch, *shape) for name, shape in shapes.items()})


def _gradient_cases():
    return (
        Case("more keys than queries", _arguments(0, (), 3, 5, 4, 2)),
        Case("self-attention", _arguments(1, (), 4, 4, 3, 2)),
        Case("one query", _arguments(2, (), 1, 3, 4, 2)),
        Case("square matrices", _arguments(3, (), 3, 3, 3, 3)),
        in_float32(_arguments(4, (), 3, 6, 4, 5)),
        whole_numbers(_arguments(40, (2,), 4, 3, 2, 5)),
        Case("a batch", _arguments(5, (2,), 3, 5, 4, 6)),
        Case("a batch with heads", _arguments(6, (2, 3), 4, 5, 6, 7)),
        Case("a causal mask", _arguments(7, (), 4, 4, 3, 2), options={"mask": causal_mask(4)}),
        Case("scattered holes", _arguments(8, (), 4, 5, 3, 2), options={"mask": SCATTERED}),
        Case("heads under a causal mask", _arguments(9, (2, 3), 5, 5, 4, 6), options={"mask": causal_mask(5)}),
    )


def _differs_from_a_small_step(call, arguments, arrays):
    """Move one number, forwards, and see what the loss does: the definition of a gradient."""
    options = {"mask": arguments["mask"]} if "mask" in arguments else {}
    inputs = [arguments[name].astype(np.float64) for name in ("queries", "keys", "values")]
    step = 1e-4
    for i, name in reversed(list(enumerate(OUTPUTS))):  # as they are computed, and as the check shows them
        gradient = arrays[i]
        moved = np.zeros_like(inputs[i])
        place = (0,) * moved.ndim
        moved[place] = step
        there, back = (
            (
                scaled_dot_product_attention(*inputs[:i], inputs[i] + sign * moved, *inputs[i + 1 :], **options)[0]
                * arguments["d_context"]
            ).sum()
            for sign in (1, -1)
        )
        slope = (there - back) / (2 * step)
        if abs(slope - gradient[place]) > 1e-3:
            where = ", ".join(map(str, place))
            return (
                f"Raise {name[2:]}[{where}] by {step} and the loss changes by {slope:.4f} times as much; your "
                f"{name}[{where}] says {gradient[place]:.4f}.",
                place,
            )
    return None


# What the exercise asks, without `is_causal` and `scale` of the course's own.
def attention_gradients(queries, keys, values, d_context, mask=None):
    scale = 1 / np.sqrt(queries.shape[-1])
    scores = attention_scores(queries, keys) * scale  # noqa: F821 - the learner's, of notebook 01
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)  # noqa: F821
    d_values = weights.swapaxes(-1, -2) @ d_context
    d_weights = d_context @ values.swapaxes(-1, -2)
    d_scores = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
    d_queries = d_scores @ keys * scale
    d_keys = d_scores.swapaxes(-1, -2) @ queries * scale
    return d_queries, d_keys, d_values


exercise = Exercise(
    reference=gradients.attention_gradients,
    outputs=OUTPUTS,
    first_output=2,  # d_values
    cases=_gradient_cases(),
    mistakes=mistakes_in(wrong),
    properties=(not_finite, batch_mixed(), _differs_from_a_small_step),
    hints=(
        "First go forwards, as in notebook 02, to get the weights. Then go backwards, last step first: context = "
        "weights @ values gives d_values and d_weights.",
        "For C = A @ B, d_A is d_C @ B^T and d_B is A^T @ d_C. That is d_values and d_weights, and again d_queries and "
        "d_keys, where the scale comes in, too.",
        "Each row goes back through the softmax by its Jacobian, diag(p) - p p^T: "
        "d_scores = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True)).",
    ),
    on_success="You can train attention without a framework. The training below runs on your gradients.",
    model_answer=attention_gradients,
)
