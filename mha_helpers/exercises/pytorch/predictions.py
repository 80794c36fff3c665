"""Notebook B's question that asks for an answer before it runs anything."""

import numpy as np

from mha_helpers.attention import scaled_dot_product_attention
from mha_helpers.exercises.prediction import Prediction
from mha_helpers.masks import causal_mask

N_KEYS = 5


def _corner():
    """Attend from the newest of five tokens, whose keys all match equally well; the course's corner is PyTorch's."""

    def found(n_new, **hidden):
        values = np.arange(1.0, N_KEYS + 1)[:, None]
        context, _ = scaled_dot_product_attention(np.zeros((n_new, 4)), np.zeros((N_KEYS, 4)), values, **hidden)
        return ", ".join(f"{value:.1f}" for value in context[:, 0])

    return (
        f"one new token, is_causal=True:            {found(1, is_causal=True)}\n"
        f"one new token, no mask:                   {found(1)}\n"
        f"two new tokens, is_causal=True:           {found(2, is_causal=True)}\n"
        f"two new tokens, last two rows of a mask:  {found(2, mask=causal_mask(N_KEYS)[-2:])}"
    )


predict_corner = Prediction(
    right="b",
    reactions={
        "a": "That's what it should get. But PyTorch counts queries and keys from the same corner, the top left: it "
        "takes the new token for the first one, which sees key 0 alone. Pass no mask for one new token, and the last "
        "rows of the causal mask for several.",
        "b": "PyTorch puts the corner of the triangle at the top left, as if the new token were the first one. So it "
        "sees key 0 alone. For one new token, pass no mask; for several, pass the last rows of the causal mask.",
        "c": "Even a triangle that starts in the right corner would show it the four tokens before it as well. And "
        "PyTorch's starts at the top left: it takes the new token for the first one, which sees key 0 alone.",
    },
    evidence=_corner,
)
