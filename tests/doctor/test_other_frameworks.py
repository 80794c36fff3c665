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
