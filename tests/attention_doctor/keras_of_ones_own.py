"""Layers of four Dense layers that Keras names and numbers itself; run, it says what the doctor makes of them."""

import keras
from keras import ops

from mha_helpers import doctor


class SelfAttention(keras.layers.Layer):
    def __init__(self, d_model, n_heads, too_large=1):
        super().__init__()
        self.n_heads, self.too_large = n_heads, too_large
        self.query, self.key, self.value, self.out = (keras.layers.Dense(d_model) for _ in range(4))

    def call(self, x):
        batch, tokens, d_model = ops.shape(x)
        shape = (batch, tokens, self.n_heads, d_model // self.n_heads)
        queries, keys, values = (
            ops.transpose(ops.reshape(layer(x), shape), (0, 2, 1, 3)) for layer in (self.query, self.key, self.value)
        )
        scores = queries @ ops.transpose(keys, (0, 1, 3, 2)) / (self.too_large * shape[-1]) ** 0.5
        heads = ops.softmax(scores, axis=-1) @ values
        return self.out(ops.reshape(ops.transpose(heads, (0, 2, 1, 3)), (batch, tokens, d_model)))


class WithAMask(SelfAttention):
    """Its mask must be given, may be None, and it takes tokens of its own width alone."""

    def __init__(self, d_model, n_heads, too_large=1):
        super().__init__(d_model, n_heads, too_large)
        self.d_model = d_model

    def call(self, v, k, q, mask):
        if q.shape[-1] != self.d_model:
            raise ValueError(f"tokens of {self.d_model} features, not {q.shape[-1]}")

        def split(x):
            return ops.transpose(ops.reshape(x, (*ops.shape(x)[:2], self.n_heads, -1)), (0, 2, 1, 3))

        queries, keys, values = split(self.query(q)), split(self.key(k)), split(self.value(v))
        d_k = self.d_model // self.n_heads
        scores = queries @ ops.transpose(keys, (0, 1, 3, 2)) / (self.too_large * d_k) ** 0.5
        if mask is not None:
            scores = scores + mask * -1e9
        heads = ops.transpose(ops.softmax(scores, axis=-1) @ values, (0, 2, 1, 3))
        return self.out(ops.reshape(heads, (*ops.shape(q)[:2], self.d_model)))


if __name__ == "__main__":
    reports = [doctor.examine(of(48, 4, too_large)) for of in (SelfAttention, WithAMask) for too_large in (1, 4)]
    print(keras.backend.backend(), *(report.verdict.replace(" ", "") for report in reports))
