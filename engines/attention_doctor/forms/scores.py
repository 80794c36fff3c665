"""Scores compared and scaled in other ways."""

import numpy as np

from attention_doctor.equation.stages import DoesNotFitError, scaled_by
from attention_doctor.forms.common import maker, swap


def _unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def _of_one_shape(queries, keys):
    if queries.shape != keys.shape:
        raise DoesNotFitError
    return queries, keys


def _axes_reversed(queries, keys):
    _of_one_shape(queries, keys)
    if keys.shape[0] != keys.shape[1]:
        raise DoesNotFitError
    return queries @ keys.transpose(1, 0, 3, 2)


def _keys_by_queries(queries, keys):
    queries, keys = _of_one_shape(queries, keys)
    return keys @ swap(queries)


def _keys_only(queries, keys):
    _, keys = _of_one_shape(queries, keys)
    return keys @ swap(keys)


_scores = maker("scores", lambda make: lambda case, qkv: (make(*qkv[:2]), *qkv))
_scale = maker("scale", scaled_by)
SCORES = [
    _scores("scores-keys-by-queries", _keys_by_queries, "K Qᵀ"),
    _scores("scores-reshaped-keys", lambda q, k: q @ k.reshape(swap(k).shape), "Q reshape(K)"),
    _scores("scores-reversed-axes", _axes_reversed, "Q K.T, all axes reversed", True),
    _scores("scores-cosine", lambda q, k: _unit(q) @ swap(_unit(k)), "cosine of Q and K"),
    _scores("scores-queries-only", lambda q, k: q @ swap(q), "Q Qᵀ"),
    _scores("scores-keys-only", _keys_only, "K Kᵀ"),
]


def _n_keys(case):
    return (case.context if case.heads is None else case.heads[1]).shape[-2]


SCALE = [
    _scale("scale-missing", lambda c, q, v: 1.0, "not divided"),
    _scale("mha-scale-d-model", lambda c, q, v: c.d_model**-0.5, "/ √d_model"),
    _scale("mha-scale-d-model", lambda c, q, v: (c.n_heads * q.shape[-1]) ** -0.5, "/ √d_model", True),
    _scale("scale-no-root", lambda c, q, v: 1 / q.shape[-1], "/ d_head"),
    _scale("scale-twice", lambda c, q, v: 1 / q.shape[-1], "/ √d_head / √d_head"),
    _scale("scale-multiplied", lambda c, q, v: q.shape[-1] ** 0.5, "× √d_head"),
    _scale("scale-n-keys", lambda c, q, v: _n_keys(c) ** -0.5, "/ √n_keys"),
    _scale("scale-n-queries", lambda c, q, v: q.shape[-2] ** -0.5, "/ √n_queries", True),
    _scale("scale-n-heads", lambda c, q, v: c.n_heads**-0.5, "/ √n_heads"),
    _scale("scale-axis-from-front", lambda c, q, v: q.shape[0] ** -0.5, "/ √batch", True),
    _scale("scale-values-width", lambda c, q, v: v.shape[-1] ** -0.5, "/ √d_value", True),
    _scale("scale-precedence", lambda c, q, v: 2 / q.shape[-1], "/ (d_head / 2)", True),
    _scale("scale-no-root", lambda c, q, v: 1 / c.d_model, "/ d_model", True),
    _scale("scale-multiplied", lambda c, q, v: c.d_model**0.5, "× √d_model", True),
    _scale("scale-multiplied", lambda c, q, v: float(q.shape[-1]), "× d_head", True),
    _scale("scale-fourth-root", lambda c, q, v: q.shape[-1] ** -0.25, "/ d_head^¼"),
    _scale("scale-twice", lambda c, q, v: (c.d_model * q.shape[-1]) ** -0.5, "/ √d_head / √d_model", True),
    *(  # usual widths, written down as a number
        _scale("scale-constant", lambda c, q, v, width=width: width**-0.5, f"/ √{width}", True)
        for width in (2, 3, 16, 32, 64, 100, 128, 256, 512, 768, 1024)
    ),
]
