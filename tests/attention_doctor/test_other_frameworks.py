"""Keras, Flax and Equinox, where they are installed: their own layers are healthy."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mha_helpers import doctor

os.environ.setdefault("KERAS_BACKEND", "jax")


def needs(*packages):
    missing = [package for package in packages if not importlib.util.find_spec(package)]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} not installed")


@needs("keras", "jax")
def test_keras():
    import keras
    import numpy as np

    layer = keras.layers.MultiHeadAttention(num_heads=4, key_dim=8)
    layer(np.zeros((1, 2, 32)), np.zeros((1, 2, 32)))
    before = [np.array(weight) for weight in layer.weights]
    report = doctor.examine(layer)
    assert report.healthy, report
    assert all(np.array_equal(np.array(weight), value) for weight, value in zip(layer.weights, before, strict=True))


@pytest.mark.parametrize("backend", [pytest.param(name, marks=needs("keras", name)) for name in ("jax", "torch")])
def test_a_keras_layer_of_ones_own(backend):
    here = Path(__file__).parent
    places = os.pathsep.join([str(here), str(here.parents[1])])
    done = subprocess.run(
        [sys.executable, here / "keras_of_ones_own.py"], capture_output=True, text=True,
        env=os.environ | {"KERAS_BACKEND": backend, "PYTHONPATH": places},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split() == [backend, *["healthy", "sick:mha-scale-d-model"] * 2]


@needs("flax")
def test_flax_linen():
    from flax import linen

    report = doctor.examine(linen.MultiHeadDotProductAttention(num_heads=8))
    assert report.healthy, report


@needs("flax")
def test_flax_nnx():
    from flax import nnx

    layer = nnx.MultiHeadAttention(num_heads=4, in_features=32, decode=False, rngs=nnx.Rngs(0))
    report = doctor.examine(layer)
    assert report.healthy, report


@needs("flax")
def test_the_keys_of_random_numbers_are_no_parameters():
    from flax import nnx

    class WithDropout(nnx.Module):
        def __init__(self, rngs):
            self.inner = nnx.MultiHeadAttention(num_heads=4, in_features=32, decode=False, rngs=rngs)
            self.dropout = nnx.Dropout(0.1, deterministic=True, rngs=rngs)

        def __call__(self, x):
            return self.dropout(self.inner(x))

    report = doctor.examine(WithDropout(nnx.Rngs(0)))
    assert report.healthy, report


@needs("equinox")
def test_equinox():
    import equinox
    import jax

    report = doctor.examine(equinox.nn.MultiheadAttention(4, 32, key=jax.random.key(0)))
    assert report.healthy, report


@needs("flax")
def test_a_bug_in_flax_is_named():
    import jax.numpy as jnp
    from flax import linen

    class Wide(linen.Module):
        n_heads: int = 4

        @linen.compact
        def __call__(self, x):
            d_model = x.shape[-1]
            query, key, value = (
                linen.DenseGeneral((self.n_heads, d_model // self.n_heads), name=name)(x)
                for name in ("query", "key", "value")
            )
            scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / d_model**0.5
            heads = jnp.einsum("bhqk,bkhd->bqhd", linen.softmax(scores), value)
            return linen.DenseGeneral(d_model, axis=(-2, -1), name="out")(heads)

    report = doctor.examine(Wide())
    assert report.names == ["mha-scale-d-model"], report

    class OfOneWidth(Wide):
        d_model: int = 48

        @linen.compact
        def __call__(self, x):
            assert x.shape[-1] == self.d_model
            return Wide(self.n_heads, name="inner")(x)

    assert doctor.examine(OfOneWidth()).names == ["mha-scale-d-model"]


@needs("flax")
@pytest.mark.parametrize(
    ("share", "verdict"), [(0.5, "healthy, with notes: scale-missing"), (1, "sick: scale-missing")]
)
def test_a_scale_that_is_left_to_the_first_weights_is_a_design(share, verdict):
    import jax.numpy as jnp
    from flax import linen

    first = linen.initializers.variance_scaling

    class Undivided(linen.Module):
        """As T5's: the queries' first weights are drawn smaller, by the root of a head's 4 features."""

        n_heads: int = 16

        @linen.compact
        def __call__(self, x):
            query, key, value = (
                linen.DenseGeneral(
                    (self.n_heads, x.shape[-1] // self.n_heads),
                    kernel_init=first(share**2 if name == "query" else 1, "fan_in", "normal"), name=name,
                )(x)
                for name in ("query", "key", "value")
            )  # fmt: skip
            weights = linen.softmax(jnp.einsum("bqhd,bkhd->bhqk", query, key))
            heads = jnp.einsum("bhqk,bkhd->bqhd", weights, value)
            return linen.DenseGeneral(x.shape[-1], axis=(-2, -1), name="out")(heads)

    assert doctor.examine(Undivided()).verdict == verdict


@needs("equinox")
def test_a_key_of_random_numbers_is_no_keys():
    import equinox
    import jax

    class OneSequence(equinox.Module):
        inner: equinox.nn.MultiheadAttention

        def __call__(self, x, *, key):
            jax.random.split(key, 2)
            return self.inner(x, x, x)

    class WithASwitch(OneSequence):
        def __call__(self, x, inference=False, key=None):
            return super().__call__(x if inference else x + jax.random.normal(key, x.shape), key=key)

    for kind in (OneSequence, WithASwitch):
        report = doctor.examine(kind(equinox.nn.MultiheadAttention(4, 32, key=jax.random.key(0))))
        assert report.healthy, report


@needs("keras", "jax")
def test_a_keras_layer_takes_a_mask_by_convention_and_one_width_alone():
    import keras
    from keras import ops

    class OfOneWidth(keras.layers.Layer):
        def __init__(self, hidden_dim=48, num_heads=4):
            super().__init__()
            self.hidden_dim, self.num_heads = hidden_dim, num_heads
            self.qkv, self.project = keras.layers.Dense(3 * hidden_dim), keras.layers.Dense(hidden_dim)

        def call(self, inputs, training=None, mask=None):
            batch, tokens, _ = ops.shape(inputs)
            qkv = ops.reshape(self.qkv(inputs), (batch, tokens, 3, self.num_heads, self.hidden_dim // self.num_heads))
            queries, keys, values = ops.unstack(ops.transpose(qkv, (2, 0, 3, 1, 4)))
            scores = queries @ ops.transpose(keys, (0, 1, 3, 2)) / (self.hidden_dim // self.num_heads) ** 0.5
            heads = ops.transpose(ops.softmax(scores, axis=-1) @ values, (0, 2, 1, 3))
            return self.project(ops.reshape(heads, (batch, tokens, self.hidden_dim)))

    assert doctor.examine(OfOneWidth()).verdict == "healthy, with notes: mask-ignored"

    class WantsAMask(OfOneWidth):
        def call(self, inputs, attention_mask=None):
            return super().call(inputs)

    assert doctor.examine(WantsAMask()).verdict == "sick: mask-ignored"
