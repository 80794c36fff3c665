"""Answers to mend_attention: right ones in many styles, and wrong ones."""

import math

import numpy as np

from mha_helpers.exercises.self_attention.mend_attention import mend_attention

TELLING_CASE = ("more queries than keys", 4)


def mended_in_two_loops(queries, keys, values):
    weights = [[math.exp(sum(query * key)) for key in keys] for query in queries]
    weights = [[power / sum(powers) for power in powers] for powers in weights]
    return [sum(w * value for w, value in zip(row, values, strict=True)) for row in weights], weights


RIGHT = (
    mend_attention,
    mended_in_two_loops,
)


def transposed_instead(queries, keys, values):
    powers = np.exp(queries @ keys.T)
    weights = (powers / powers.sum(axis=0)).T
    return weights @ values, weights


def nothing_written_back(queries, keys, values):
    weights = np.exp(queries @ keys.swapaxes(-1, -2))
    for i in range(len(queries)):
        weights[i] / weights[i].sum()
    return weights @ values, weights


def only_a_name_for_each_row(queries, keys, values):
    weights = np.exp(queries @ keys.swapaxes(-1, -2))
    for row in weights:
        row = row / row.sum()
    return weights @ values, weights


def overwritten_by_its_row(queries, keys, values):
    weights = np.exp(queries @ keys.swapaxes(-1, -2))
    for i in range(len(queries)):
        weights = weights[i] / weights[i].sum()
    return weights @ values, weights


WRONG = {
    "softmax-not-normalised": (
        nothing_written_back,
        only_a_name_for_each_row,
    ),
    "scores-keys-by-queries": (transposed_instead,),
}

TOLD = ((overwritten_by_its_row, "puts a row, and then a number, in the place of the whole array"),)
