"""The exercise `attention_gradients`: backwards through attention, one line for each step forwards."""

import numpy as np

from function_judge.properties import batch_mixed, not_finite
from mha_helpers import gradients
from mha_helpers.attention import scaled_dot_product_attention
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.heads_that_learn.mistakes import attention_gradients as wrong
from mha_helpers.exercises.inputs import draws, in_float32, whole_numbers
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.masks import causal_mask

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
    _, P = scaled_dot_product_attention(queries, keys, values, mask=mask)
    dP = d_context @ values.swapaxes(-1, -2)
    d_values = P.swapaxes(-1, -2) @ d_context
    dS = P * (dP - (P * dP).sum(axis=-1, keepdims=True))
    scale = 1 / np.sqrt(queries.shape[-1])
    return dS @ keys * scale, dS.swapaxes(-1, -2) @ queries * scale, d_values


# Of one feature the scale is 1, and of one query no row's sum can meet another row.
PROBES = (
    Case("one feature", _arguments(10, (), 4, 4, 1, 2)),
    Case("one query, once more", _arguments(11, (), 1, 4, 3, 2)),
)


exercise = Exercise(
    reference=gradients.attention_gradients,
    outputs=OUTPUTS,
    first_output=2,  # d_values
    cases=_gradient_cases(),
    probes=PROBES,
    mistakes=mistakes_in(wrong),
    properties=(not_finite, batch_mixed(), _differs_from_a_small_step),
    hints=(
        "Two steps are left. The softmax's formula turns P and dP into dS, each row for itself. And the scores are a "
        "product, as the context is: how did dP and d_values come from P @ values?",
        "For C = A @ B, dA is dC @ B^T and dB is A^T @ dC. Here dC is dS, A the queries and B the transposed keys, and "
        "the factor 1 / sqrt(d_k) stays a factor. For dS, add up P * dP along each row and keep the axis.",
        "dS = P * (dP - (P * dP).sum(axis=-1, keepdims=True)). Then d_queries = dS @ keys / sqrt(d_k) and d_keys = "
        "dS.swapaxes(-1, -2) @ queries / sqrt(d_k).",
    ),
    on_success="You can train attention without a framework. The training below runs on your gradients.",
    model_answer=attention_gradients,
)
