"""From a trained model's file to the course's matrices: PyTorch keeps them transposed, and often three in one."""

from __future__ import annotations

from mha_helpers.shapes import Array, checked


@checked(weight="d_three d_model")
def weights_from_torch(weight: Array) -> tuple[Array, Array, Array]:
    """Take a fused, transposed weight apart.

    Parameters
    ----------
    weight : array_like, shape (3 * d_model, d_model)
        As `c_attn.weight` of nanoGPT, or `in_proj_weight` of `torch.nn.MultiheadAttention`: PyTorch's
        `nn.Linear` keeps (n_outputs, n_inputs), and the outputs are first all queries, then all keys, then all values.

    Returns
    -------
    W_Q, W_K, W_V : ndarray, shape (d_model, d_model)
        To be used as `X @ W_Q`; views of the weight.

    Raises
    ------
    ValueError
        If there are not three times as many rows as columns.

    Notes
    -----
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Linear.html: y = x A^T + b. GPT-2's own files hold the same
    matrix untransposed, as its `Conv1D` multiplies by it directly.

    Examples
    --------
    >>> import numpy as np
    >>> W_Q, W_K, W_V = weights_from_torch(np.arange(12).reshape(6, 2))
    >>> W_Q
    array([[0., 2.],
           [1., 3.]])
    """
    d_three, d_model = weight.shape
    if d_three != 3 * d_model:
        raise ValueError(
            f"the weight has shape {weight.shape}; a fused one has three times as many rows as columns, "
            f"({3 * d_model}, {d_model}): transpose GPT-2's own, and put several matrices below each other first"
        )
    return weight[:d_model].T, weight[d_model : 2 * d_model].T, weight[2 * d_model :].T
