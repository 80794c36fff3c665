"""The mistakes that people make in `attention_received`."""

import numpy as np

from mha_helpers.exercises.mistakes.catalogue import also


@also(lambda weights: weights.sum(axis=-1, keepdims=True))
def received_over_keys(weights):
    """You added up each row, which is what a query gives away: always 1. What a key receives is in its column."""
    return weights.sum(axis=-1)


def received_axis_from_the_front(weights):
    """It is right for a matrix. But axis=0 counts from the front, so in a batch it means another axis. Count from the
    end: the queries are axis -2."""
    return weights.sum(axis=0)


def received_mean(weights):
    """You divided by the number of queries (or by the total, which is the same), and that gives the mean. In total each
    key receives the sum."""
    return weights.mean(axis=-2)


def received_without_itself(weights):
    """You left out what a token gives to itself. It counts, too."""
    return weights.sum(axis=-2) - np.diagonal(weights, axis1=-2, axis2=-1)


def received_largest(weights):
    """That is the largest weight that each key gets from a single query. In total it gets the sum."""
    return weights.max(axis=-2)


def received_how_often(weights):
    """You counted how many queries attend to a key most. The others give it something, too: add up the weights."""
    return (weights == weights.max(axis=-1, keepdims=True)).sum(axis=-2)


def received_keepdims(weights):
    """The numbers are right, but an axis of length 1 is left over. Leave out keepdims=True."""
    return weights.sum(axis=-2, keepdims=True)


def received_everything(weights):
    """You added up everything to a single number. Each key needs a sum of its own."""
    return weights.sum()
