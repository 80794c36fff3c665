"""The mistakes that people make in `attention_received`."""

import numpy as np

from mha_helpers.exercises.engine import Mistake


def _without_itself(weights):
    return weights.sum(axis=-2) - np.diagonal(weights, axis1=-2, axis2=-1)


RECEIVED_MISTAKES = (
    Mistake(
        "received-over-keys",
        "You added up each row, which is what a query gives away: always 1. What a key receives is in its column.",
        (
            lambda weights: weights.sum(axis=-1),
            # Right in a batch, by the way: but what it adds up in a matrix is what its learner must hear of.
            lambda weights: weights.sum(axis=1),
            lambda weights: weights.sum(axis=-1, keepdims=True),
            lambda weights: weights @ np.ones(weights.shape[-1]),
        ),
    ),
    Mistake(
        "received-axis-from-the-front",
        "It is right for a matrix. But axis=0 counts from the front, so in a batch it means another axis. Count from "
        "the end: the queries are axis -2.",
        (lambda weights: weights.sum(axis=0), sum),
    ),
    Mistake(
        "received-mean",
        "You divided by the number of queries (or by the total, which is the same), and that gives the mean. In total "
        "each key receives the sum.",
        (lambda weights: weights.mean(axis=-2),),
    ),
    Mistake(
        "received-without-itself",
        "You left out what a token gives to itself. It counts, too.",
        (_without_itself,),
    ),
    Mistake(
        "received-largest",
        "That is the largest weight that each key gets from a single query. In total it gets the sum.",
        (lambda weights: weights.max(axis=-2),),
    ),
    Mistake(
        "received-how-often",
        "You counted how many queries attend to a key most. The others give it something, too: add up the weights.",
        (lambda weights: (weights == weights.max(axis=-1, keepdims=True)).sum(axis=-2),),
    ),
    Mistake(
        "received-keepdims",
        "The numbers are right, but an axis of length 1 is left over. Leave out keepdims=True.",
        (lambda weights: weights.sum(axis=-2, keepdims=True),),
    ),
    Mistake(
        "received-everything",
        "You added up everything to a single number. Each key needs a sum of its own.",
        (lambda weights: weights.sum(),),
    ),
)
