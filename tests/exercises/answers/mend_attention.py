"""Answers to mend_attention: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.exercises.self_attention.mend_attention import mend_attention
from mha_helpers.maths.attention import dot_product_attention

CATALOGUE = ("softmax-global", "softmax-while-dividing")

TELLING_CASE = ("more queries than keys", 4)


def mended_at_once(queries, keys, values):
    weights = np.exp(queries @ keys.T)
    weights = weights / weights.sum(axis=1, keepdims=True)
    return weights @ values, weights


def mended_query_by_query(queries, keys, values):
    weights = []
    for query in queries:
        powers = np.exp(keys @ query)
        weights.append(powers / powers.sum())
    return np.array(weights) @ values, np.array(weights)


RIGHT = (mend_attention, dot_product_attention, mended_at_once, mended_query_by_query)


def transposed_instead(queries, keys, values):
    powers = np.exp(queries @ keys.T)
    weights = (powers / powers.sum(axis=0)).T
    return weights @ values, weights


def rows_by_keys(queries, keys, values):
    weights = np.exp(queries @ keys.swapaxes(-1, -2))
    for j in range(len(keys)):
        weights[j] = weights[j] / weights[j].sum()
    return weights @ values, weights


def rows_by_values(queries, keys, values):
    weights = np.exp(queries @ keys.swapaxes(-1, -2))
    for j in range(len(values)):
        weights[j, :] /= weights[j, :].sum()
    return weights @ values, weights


def columns_by_queries(queries, keys, values):
    weights = np.exp(queries @ keys.swapaxes(-1, -2))
    for i in range(len(queries)):
        weights[:, i] = weights[:, i] / weights[:, i].sum()
    return weights @ values, weights


def columns_by_the_sums_of_rows(queries, keys, values):
    weights = np.exp(queries @ keys.swapaxes(-1, -2))
    for j in range(len(keys)):
        weights[:, j] = weights[:, j] / weights[j].sum()
    return weights @ values, weights


def rows_by_the_sums_of_columns(queries, keys, values):
    weights = np.exp(queries @ keys.swapaxes(-1, -2))
    for i in range(len(queries)):
        weights[i] = weights[i] / weights[:, i].sum()
    return weights @ values, weights


def columns_put_into_rows(queries, keys, values):
    weights = np.exp(queries @ keys.swapaxes(-1, -2))
    for i in range(len(queries)):
        weights[i] = weights[:, i] / weights[:, i].sum()
    return weights @ values, weights


def returned_in_the_loop(queries, keys, values):
    weights = np.exp(queries @ keys.swapaxes(-1, -2))
    for i in range(len(queries)):
        weights[i] = weights[i] / weights[i].sum()
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
    "softmax-first-row-only": (returned_in_the_loop,),
    "softmax-rows-by-keys": (rows_by_keys, rows_by_values),
    "softmax-columns-by-queries": (columns_by_queries,),
    "softmax-rows-and-columns": (
        columns_by_the_sums_of_rows,
        rows_by_the_sums_of_columns,
        columns_put_into_rows,
    ),
    "softmax-not-normalised": (
        nothing_written_back,
        only_a_name_for_each_row,
        lambda queries, keys, values: (np.exp(queries @ keys.T) @ values, np.exp(queries @ keys.T)),
    ),
    "scores-keys-by-queries": (transposed_instead,),
    None: (lambda queries, keys, values: dot_product_attention(queries, keys, values)[::-1],),
}

TOLD = ((overwritten_by_its_row, "puts a row, and then a number, in the place of the whole array"),)
