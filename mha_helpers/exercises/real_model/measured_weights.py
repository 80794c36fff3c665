"""What the two exercises that measure weights share: inputs, and wrong ways with their axes."""

import numpy as np

from mha_helpers.maths.attention import softmax


def hundredths(seed, *shape, visible=True):
    """Return random weights in whole hundredths: rows that sum to 1, can be typed in, and are 0 only where hidden."""
    rng = np.random.default_rng(seed)
    visible = np.broadcast_to(visible, shape)
    likely = softmax(np.where(visible, rng.normal(scale=1.5, size=shape), -np.inf))
    return {"weights": (rng.multinomial(100 - visible.sum(axis=-1), likely) + visible) / 100}


def in_another_order(weights):
    """Return the same weights, stored with the last axis first."""
    return {"weights": np.ascontiguousarray(weights["weights"].T).T}


def in_float32(weights):
    return {"weights": weights["weights"].astype(np.float32)}


def over_heads(measure):
    """Return wrong measures: of all heads together, or of all those on one axis."""
    return (
        lambda weights: measure(weights).mean(),
        lambda weights: measure(weights).sum(),
        lambda weights: measure(weights).mean(axis=-1),
        lambda weights: measure(weights).mean(axis=0),
        lambda weights: measure(weights.mean(axis=-3)),
        lambda weights: measure(weights.mean(axis=0)),
        lambda weights: measure(weights.reshape(-1, *weights.shape[-2:]).mean(axis=0)),
        lambda weights: np.full(weights.shape[:-2], measure(weights).mean()),
    )


def only_so_many_axes(measure):
    """Return wrong measures that take apart a shape with just so many axes."""

    def of_layers(weights):
        _n_layers, _n_heads, _n_queries, _n_keys = weights.shape
        return measure(weights)

    def of_heads(weights):
        _n_heads, _n_queries, _n_keys = weights.shape
        return measure(weights)

    def of_one_head(weights):
        _n_queries, _n_keys = weights.shape
        return measure(weights)

    return of_layers, of_heads, of_one_head


def one_head_of_all(measure):
    """Return wrong measures that give one head's, the first's or the last's."""
    return (
        lambda weights: measure(weights.reshape(-1, *weights.shape[-2:])[0]),
        lambda weights: measure(weights.reshape(-1, *weights.shape[-2:])[-1]),
    )
