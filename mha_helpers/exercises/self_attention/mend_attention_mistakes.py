"""The function that `mend_attention` asks to mend, and the ways in which people mend it wrongly."""

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


def _scores_turned_round(queries, keys, values):
    powers = np.zeros((len(queries), len(keys)))
    for i, j in np.ndindex(powers.shape):
        powers[i, j] = np.exp(queries[j] @ keys[i])
    return _rows(powers) @ values, _rows(powers)


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
