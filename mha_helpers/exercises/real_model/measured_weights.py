"""What the two exercises that measure weights share: inputs, and wrong ways with their axes."""

import numpy as np

from mha_helpers.attention import softmax


def hundredths(seed, *shape, visible=True):
    """Return random weights in whole hundredths: rows that sum to 1, can be typed in, and are 0 only where hidden."""
    rng = np.random.default_rng(seed)
    visible = np.broadcast_to(visible, shape)
    likely = softmax(np.where(visible, rng.normal(scale=1.5, size=shape), -np.inf))
    return {"weights": (rng.multinomial(100 - visible.sum(axis=-1), likely) + visible) / 100}


def in_another_order(weights):
    """Return the same weights, stored with the last axis first."""
    return {"weights": np.ascontiguousarray(weights["weights"].T).T}
