"""The function that `mend_attention` asks to repair, and the ways in which people repair it wrongly."""

import itertools

import numpy as np

from mha_helpers.exercises.mistakes.catalogue import also, maker, mistakes_in
from mha_helpers.exercises.mistakes.steps import normalised
from mha_helpers.exercises.self_attention.mistakes import dot_product_attention


def mend_attention(queries, keys, values):
    weights = np.exp(queries @ keys.swapaxes(-1, -2))
    for j in range(len(keys)):
        weights[:, j] = weights[:, j] / weights[:, j].sum()
    return weights @ values, weights


@maker
def _dividing(divide):
    """Return attention whose powers of e become weights by divide(powers)."""

    def wrong_attention(queries, keys, values):
        weights = divide(np.exp(queries @ keys.T))
        return weights @ values, weights

    return wrong_attention


QUERIES, KEYS, ROW, COLUMN = 0, 1, 0, 1


def _in_a_loop(powers, over, target, source, total):
    """Divide in a loop over keys (1) or queries (0), rows (0) or columns (1) by the sum of either."""
    for i in range(powers.shape[over]):
        place = [(i, slice(None)), (slice(None), i)]
        powers[place[target]] = powers[place[source]] / powers[place[total]].sum()
    return powers


def softmax_over_queries(queries, keys, values):
    """Each column of the weights sums to 1, but each row should: it is the queries that share out their attention, not
    the keys."""
    return mend_attention(queries, keys, values)


@_dividing
def softmax_rows_by_keys(powers):
    """Half of it is repaired: you divide rows, as you should, but the loop still counts the keys. With more keys than
    queries it runs past the last row, and with fewer it leaves rows out. There is a row for each query:
    range(len(queries))."""
    return _in_a_loop(powers, KEYS, ROW, ROW, ROW)


@_dividing
def softmax_columns_by_queries(powers):
    """Half of it is repaired: the loop goes over the queries, as it should, but in it you still divide columns,
    weights[:, j]. Divide rows: weights[i] = weights[i] / weights[i].sum()."""
    return _in_a_loop(powers, QUERIES, COLUMN, COLUMN, COLUMN)


@_dividing
def softmax_first_row_only(powers):
    """Only the first row is divided. Is the `return` inside the loop? It ends the function in the first round: move it
    to the left."""
    powers[0] = powers[0] / powers[0].sum()
    return powers


@_dividing
@also(over=(QUERIES, KEYS), places=[each for each in itertools.product((ROW, COLUMN), repeat=3) if len({*each}) > 1])
def softmax_rows_and_columns(powers, over=QUERIES, places=(ROW, ROW, COLUMN)):
    """Half of it is repaired: inside the loop, rows and columns are mixed. weights[i] is row i, and weights[:, i] is
    column i. It must be the row in all three places, weights[i] = weights[i] / weights[i].sum(), with i counting the
    queries."""
    return _in_a_loop(powers, over, *places)


@_dividing
def softmax_twice_normalised(powers):
    """Now the rows sum to 1, but the columns were divided before, and that has changed the ratios within each row.
    Divide the rows only."""
    return normalised(normalised(powers, 0))


@_dividing
def softmax_rows_then_columns(powers):
    """You divide the rows, and then the columns once more, which undoes it. Divide the rows only."""
    return normalised(normalised(powers), 0)


@_dividing
def softmax_while_dividing(powers):
    """You take the sum again for each entry, and by then the entries before it have already been divided. Take each
    row's sum once, then divide the whole row."""
    for i, j in np.ndindex(powers.shape):
        powers[i, j] = powers[i, j] / powers[i].sum()
    return powers


EARLIER = mistakes_in(
    dot_product_attention, "scores-keys-by-queries", "softmax-global", "softmax-not-normalised", "softmax-keepdims"
)
