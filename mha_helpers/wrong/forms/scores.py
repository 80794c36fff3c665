"""Scores compared and scaled in other ways."""

import numpy as np

from ...judge.stages import (
    DoesNotFitError,
    Form,
    scaled_by,
)
from .common import swap


def _scores(make):
    def run(case, qkv):
        return make(*qkv), *qkv

    return run


def _cosine(queries, keys, values):
    return (queries / np.linalg.norm(queries, axis=-1, keepdims=True)) @ swap(
        keys / np.linalg.norm(keys, axis=-1, keepdims=True)
    )


def _keys_reshaped(queries, keys, values):
    return queries @ keys.reshape(*keys.shape[:-2], keys.shape[-1], keys.shape[-2])


def _square(make):
    def run(queries, keys, values):
        if queries.shape != keys.shape:
            raise DoesNotFitError
        return make(queries, keys)

    return run


def _axes_reversed(queries, keys):
    turned = keys.transpose(1, 0, 3, 2) if keys.shape[0] == keys.shape[1] else None
    if turned is None:
        raise DoesNotFitError
    return queries @ turned


SCORES = [
    Form("scores-keys-by-queries", "scores", _scores(_square(lambda q, k: k @ swap(q))), "K Qᵀ"),
    Form("scores-reshaped-keys", "scores", _scores(_keys_reshaped), "Q reshape(K)"),
    Form("scores-reversed-axes", "scores", _scores(_square(_axes_reversed)), "Q K.T, all axes reversed", True),
    Form("scores-cosine", "scores", _scores(_cosine), "cosine of Q and K"),
    Form("scores-queries-only", "scores", _scores(lambda q, k, v: q @ swap(q)), "Q Qᵀ"),
    Form("scores-keys-only", "scores", _scores(_square(lambda q, k: k @ swap(k))), "K Kᵀ"),
]


def _scale(slug, factor, text, rare=False):
    return Form(slug, "scale", scaled_by(factor), text, rare)


SCALE = [
    _scale("scale-missing", lambda c, q, v: 1.0, "not divided"),
    _scale("mha-scale-d-model", lambda c, q, v: c.d_model**-0.5, "/ √d_model"),
    _scale("mha-scale-d-model", lambda c, q, v: (c.n_heads * q.shape[-1]) ** -0.5, "/ √d_model", True),
    _scale("scale-no-root", lambda c, q, v: 1 / q.shape[-1], "/ d_head"),
    _scale("scale-twice", lambda c, q, v: 1 / q.shape[-1], "/ √d_head / √d_head"),
    _scale("scale-multiplied", lambda c, q, v: q.shape[-1] ** 0.5, "× √d_head"),
    _scale("scale-n-keys", lambda c, q, v: c_keys(c, q) ** -0.5, "/ √n_keys"),
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
    *(
        _scale("scale-constant", lambda c, q, v, width=width: width**-0.5, f"/ √{width}", True)
        for width in (2, 3, 16, 32, 64, 100, 128, 256, 512, 768, 1024)
    ),
]


def c_keys(case, queries):
    """How many keys there are."""
    if case.heads is not None:
        return case.heads[1].shape[-2]
    return case.context.shape[-2]
