"""The function that `mend_attention` asks to mend, and the ways in which people mend it wrongly."""

import itertools

import numpy as np

from mha_helpers.exercises.engine import Mistake


def mend_attention(queries, keys, values):
    weights = np.exp(queries @ keys.swapaxes(-1, -2))
    for j in range(len(keys)):
        weights[:, j] = weights[:, j] / weights[:, j].sum()
    return weights @ values, weights


def _dividing(divide):
    """Return attention whose powers of e become weights by divide(powers)."""

    def wrong_attention(queries, keys, values):
        weights = divide(np.exp(queries @ keys.T))
        return weights @ values, weights

    return wrong_attention


def _in_a_loop(over, target, source, total):
    """Return a division in a loop over keys (1) or queries (0), of rows (0) or columns (1) by the sum of either."""

    def divide(powers):
        for i in range(powers.shape[over]):
            place = [(i, slice(None)), (slice(None), i)]
            powers[place[target]] = powers[place[source]] / powers[place[total]].sum()
        return powers

    return _dividing(divide)


QUERIES, KEYS, ROW, COLUMN = 0, 1, 0, 1
MIXED = [(target, source, total) for target, source, total in itertools.product((ROW, COLUMN), repeat=3)]
MIXED = [one for one in MIXED if len(set(one)) > 1]


def _scores_turned_round(queries, keys, values):
    powers = np.zeros((len(queries), len(keys)))
    for i, j in np.ndindex(powers.shape):
        powers[i, j] = np.exp(queries[j] @ keys[i])
    return _rows(powers) @ values, _rows(powers)


def _first_row_only(powers):
    """The `return` stands in the loop, and ends it in its first round."""
    powers[0] = powers[0] / powers[0].sum()
    return powers


def _while_dividing(powers):
    """The sum is taken again for each entry, when some of its terms are divided already."""
    for i, j in np.ndindex(powers.shape):
        powers[i, j] = powers[i, j] / powers[i].sum()
    return powers


def _columns(powers):
    return powers / powers.sum(axis=0)


def _rows(powers):
    return powers / powers.sum(axis=1, keepdims=True)


MEND_MISTAKES = (
    Mistake(
        "softmax-over-queries",
        "Each column of the weights sums to 1, but each row should: it is the queries that share out their attention, "
        "not the keys.",
        (lambda *arguments: mend_attention(*arguments),),
    ),
    Mistake(
        "softmax-rows-by-keys",
        "Half of it is mended: you divide rows, as you should, but the loop still counts the keys. With more keys than "
        "queries it runs past the last row, and with fewer it leaves rows out. There is a row for each query: "
        "range(len(queries)).",
        (_in_a_loop(KEYS, ROW, ROW, ROW),),
    ),
    Mistake(
        "softmax-columns-by-queries",
        "Half of it is mended: the loop goes over the queries, as it should, but in it you still divide columns, "
        "weights[:, j]. Divide rows: weights[i] = weights[i] / weights[i].sum().",
        (_in_a_loop(QUERIES, COLUMN, COLUMN, COLUMN),),
    ),
    Mistake(
        "softmax-first-row-only",
        "Only the first row is divided. Is the `return` inside the loop? It ends the function in the first "
        "round: move it to the left.",
        (_dividing(_first_row_only),),
    ),
    Mistake(
        "softmax-rows-and-columns",
        "Half of it is mended: inside the loop, rows and columns are mixed. weights[i] is row i, and weights[:, i] is "
        "column i. It must be the row in all three places, weights[i] = weights[i] / weights[i].sum(), with i counting "
        "the queries.",
        tuple(_in_a_loop(over, *mixed) for over in (QUERIES, KEYS) for mixed in MIXED),
    ),
    Mistake(
        "softmax-twice-normalised",
        "Now the rows sum to 1, but the columns were divided before, and that has changed the ratios within each row. "
        "Divide the rows only.",
        (_dividing(lambda powers: _rows(_columns(powers))),),
    ),
    Mistake(
        "softmax-rows-then-columns",
        "You divide the rows, and then the columns once more, which undoes it. Divide the rows only.",
        (_dividing(lambda powers: _columns(_rows(powers))),),
    ),
    Mistake(
        "softmax-while-dividing",
        "You take the sum again for each entry, and by then the entries before it have already been divided. Take "
        "each row's sum once, then divide the whole row.",
        (_dividing(_while_dividing),),
    ),
    Mistake(
        "softmax-global",
        "You divide by the sum of the whole matrix. Each query shares out its own attention: divide each row by its "
        "own sum.",
        (_dividing(lambda powers: powers / powers.sum()),),
    ),
    Mistake(
        "softmax-not-normalised",
        "Now nothing is divided, and the rows don't sum to 1.",
        (_dividing(lambda powers: powers),),
    ),
    Mistake(
        "scores-keys-by-queries",
        "Now your rows are the keys: weights[i, j] says how much query j attends to key i. The scores were right as "
        "they stood, queries[i] @ keys[j].",
        (_scores_turned_round,),
    ),
    Mistake(
        "softmax-keepdims",
        "The row sums are right, but NumPy lines them up with the columns. `keepdims=True` keeps each sum beside "
        "its row.",
        (_dividing(lambda powers: powers / powers.sum(axis=1)),),
    ),
)
