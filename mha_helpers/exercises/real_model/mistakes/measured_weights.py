"""Wrong ways with axes that the two exercises which measure weights share."""

import numpy as np


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
