"""The mistakes that people make in `knock_out`."""

import numpy as np

from mha_helpers.exercises.mistakes.catalogue import also, maker
from mha_helpers.exercises.mistakes.steps import rows_of


def _knocked_out(W_O, heads, n_heads):
    return np.where(rows_of(heads, len(W_O), n_heads)[:, None], 0, W_O)


@maker
def _without(slices):
    """Return knock_out that sets to 0 what slices(head, d_head, n_heads) name, for each head."""

    def wrong_knock_out(W_O, heads, n_heads):
        result = W_O.copy()
        for head in heads:
            result[slices(head, len(W_O) // n_heads, n_heads)] = 0
        return result

    return wrong_knock_out


@maker
def _of_width(width):
    """Return knock_out whose heads are width(W_O, heads, n_heads) rows wide."""

    def wrong_knock_out(W_O, heads, n_heads):
        d_head = width(W_O, heads, n_heads)
        return _without(lambda head, *_: slice(head * d_head, (head + 1) * d_head))(W_O, heads, n_heads)

    return wrong_knock_out


@maker
def _of_other_heads(choose):
    """Return knock_out that switches off choose(heads, n_heads) instead."""
    return lambda W_O, heads, n_heads: _knocked_out(W_O, choose(heads, n_heads), n_heads)


@maker
def _filled(fill):
    """Return knock_out that puts fill(W_O, blocks) where zeros should stand."""

    def wrong_knock_out(W_O, heads, n_heads):
        blocks = W_O.reshape(n_heads, -1, W_O.shape[-1])
        rows = rows_of(heads, len(W_O), n_heads)[:, None]
        return np.where(rows, np.broadcast_to(fill(W_O, blocks), blocks.shape).reshape(W_O.shape), W_O)

    return wrong_knock_out


def _columns(W_O, heads, n_heads):
    return _knocked_out(W_O.T, heads, n_heads).T


def _columns_of_a_share(W_O, heads, n_heads):
    """Switch off d_model // n_heads columns for each head."""
    result, width = W_O.copy(), W_O.shape[1] // n_heads
    for head in heads:
        result[:, head * width : (head + 1) * width] = 0
    return result


def _columns_in_blocks(W_O, heads, n_heads):
    blocks = W_O.reshape(len(W_O), n_heads, -1).copy()
    blocks[:, heads] = 0
    return blocks.reshape(W_O.shape)


def _starts_anew(W_O, heads, n_heads):
    for head in heads:
        result = _knocked_out(W_O, [head], n_heads)
    return result


@maker
def _rescaled(factor):
    """Return knock_out that makes up for the lost heads: factor(n_left, n_heads)."""

    def wrong_knock_out(W_O, heads, n_heads):
        n_left = np.float64(n_heads - len(set(heads.tolist())))
        return _knocked_out(W_O, heads, n_heads) * factor(n_left, n_heads)

    return wrong_knock_out


@also(
    _without(lambda head, d_head, _: (slice(None), slice(head * d_head, (head + 1) * d_head))),
    _columns_of_a_share,
    _columns_in_blocks,
    lambda W_O, heads, n_heads: _knocked_out(_columns(W_O, heads, n_heads), heads, n_heads),
    lambda W_O, heads, n_heads: np.where(np.isin(np.arange(W_O.shape[1]), heads), 0, W_O),
)
def knock_out_columns(W_O, heads, n_heads):
    """You switch off columns. The columns are the output's features, which all heads share; a head's own are its
    *rows*, head * d_head to (head + 1) * d_head."""
    return _columns(W_O, heads, n_heads)


@_without
@also(lambda head, d_head, n_heads: head * d_head)
def knock_out_row_by_number(head, d_head, n_heads):
    """You switch off row number `head`, a single row. A head has d_head rows, a whole block: head * d_head to (head +
    1) * d_head."""
    return head


@_without
@also(lambda head, d_head, n_heads: slice(head, (head + 1) * d_head))
def knock_out_rows_from_head(head, d_head, n_heads):
    """You begin at row number `head`: W_O[head : head + d_head]. Before head there are `head` blocks of d_head rows
    each, so it begins at row head * d_head."""
    return slice(head, head + d_head)


@also(
    _without(lambda head, d_head, n_heads: slice(head, None, d_head)),
    lambda W_O, heads, n_heads: np.where(np.isin(np.arange(len(W_O)) % (len(W_O) // n_heads), heads)[:, None], 0, W_O),
)
@_without
def knock_out_strided(head, d_head, n_heads):
    """You switch off rows that are far apart: head, head + n_heads, and so on. A head's rows are neighbours, head *
    d_head to (head + 1) * d_head: reshape to (n_heads, d_head, -1), in this order."""
    return slice(head, None, n_heads)


@also(
    lambda W_O, heads, n_heads: W_O[rows_of(heads, len(W_O), n_heads)],
    lambda W_O, heads, n_heads: W_O.reshape(n_heads, -1, W_O.shape[1])[heads].reshape(-1, W_O.shape[1]),
    lambda W_O, heads, n_heads: W_O.reshape(n_heads, -1, W_O.shape[1])[heads],
)
@_of_other_heads
def knock_out_kept(heads, n_heads):
    """You keep just these heads and switch the others off. It should be the other way round."""
    return np.setdiff1d(np.arange(n_heads), heads)


@also(
    _starts_anew,
    *(
        _of_other_heads(lambda heads, n_heads, choose=choose: choose(heads) if len(heads) else [])
        for choose in (lambda heads: heads[0], lambda heads: heads[-1], np.min, np.max)
    ),
    _of_other_heads(lambda heads, n_heads: heads[0]),
)
def knock_out_one_of_several(W_O, heads, n_heads):
    """You switch off only one head, the first or the last in the list, but there may be several, or none. Make the copy
    before the loop, and return after it."""
    for head in heads:
        return _knocked_out(W_O, [head], n_heads)


@_of_other_heads
@also(lambda heads, n_heads: np.arange(heads[0], heads[-1] + 1) if len(heads) else [])
def knock_out_range(heads, n_heads):
    """You switch off every head from the smallest number to the largest. `heads` is a list: only those in it, and there
    may be gaps."""
    return np.arange(heads.min(), heads.max() + 1) if len(heads) else []


@_of_other_heads
def knock_out_by_place(heads, n_heads):
    """You switch off as many heads as `heads` has, and always the first ones: range(len(heads)) gives the places in the
    list. What stands there are the heads: `for head in heads`."""
    return np.arange(len(heads))


@_of_other_heads
@also(lambda heads, n_heads: (heads - 1) % n_heads)
def knock_out_counted_from_one(heads, n_heads):
    """You count heads from 1. Head 0 is the first: its rows are 0 to d_head."""
    return heads - 1


@_of_other_heads
@also(lambda heads, n_heads: (heads + 1) % n_heads)
def knock_out_next_head(heads, n_heads):
    """You switch off the head after the one that is meant. Head 0 is the first: its rows are 0 to d_head."""
    return heads + 1


@also(
    _of_other_heads(lambda heads, n_heads: n_heads - heads),
    _without(lambda head, d_head, n_heads: slice(-(head + 1) * d_head, -head * d_head)),
)
@_of_other_heads
def knock_out_from_the_end(heads, n_heads):
    """You count heads from the end. Head 0 is the first: its rows are 0 to d_head."""
    return n_heads - 1 - heads


@also(
    _of_width(lambda W_O, heads, n_heads: n_heads),
    _of_width(lambda W_O, heads, n_heads: W_O.shape[0] // len(heads) if len(heads) else 0),
    _of_width(lambda W_O, heads, n_heads: W_O.shape[0] // len(heads)),
    _of_width(lambda W_O, heads, n_heads: W_O.shape[0]),
    _of_width(lambda W_O, heads, n_heads: W_O.shape[1]),
    _without(lambda head, d_head, n_heads: slice(head * n_heads, head * n_heads + d_head)),
)
@_of_width
def knock_out_width(W_O, heads, n_heads):
    """Your blocks don't have d_head rows. W_O has n_heads * d_head *rows*, so d_head is W_O.shape[0] // n_heads. It
    isn't n_heads, nor does it come from the number of columns."""
    return W_O.shape[1] // n_heads


@_without
def knock_out_block_diagonal(head, d_head, n_heads):
    """You switch off a small block, d_head by d_head. A head adds to every feature of the output: all the columns of
    its rows."""
    return (slice(head * d_head, (head + 1) * d_head),) * 2


@_without
@also(
    lambda head, d_head, n_heads: slice(head * d_head, (head + 1) * d_head + 1),
    lambda head, d_head, n_heads: slice(head * d_head, None),
    lambda head, d_head, n_heads: slice((head + 1) * d_head),
    lambda head, d_head, n_heads: slice(head * d_head),
    lambda head, d_head, n_heads: slice(head * d_head, head + d_head),
    lambda head, d_head, n_heads: slice(head * d_head, head * (d_head + 1)),
    lambda head, d_head, n_heads: slice(head * d_head, d_head),
    lambda head, d_head, n_heads: slice(head * d_head + 1, (head + 1) * d_head),
)
def knock_out_ends(head, d_head, n_heads):
    """Your block ends in the wrong place: a row too early, a row too late, or only where the matrix ends. A slice
    leaves its end out: W_O[head * d_head : (head + 1) * d_head] has d_head rows."""
    return slice(head * d_head, (head + 1) * d_head - 1)


@also(
    lambda W_O, heads, n_heads: np.delete(W_O.reshape(n_heads, -1, W_O.shape[1]), heads, axis=0),
    lambda W_O, heads, n_heads: np.delete(W_O, heads, axis=0),
)
def knock_out_removed(W_O, heads, n_heads):
    """You take the rows out. They must stay, filled with 0: W_O keeps its shape, because it needs a row for each of the
    heads' features."""
    return W_O[~rows_of(heads, len(W_O), n_heads)]


def knock_out_nothing(W_O, heads, n_heads):
    """Nothing is switched off: you return W_O as it was. Does your loop change one copy, while you return another?
    blocks[heads] makes a copy, too; only blocks[heads] = 0 writes into blocks."""
    return W_O


def knock_out_everything(W_O, heads, n_heads):
    """Everything is 0. Only the rows of the given heads are switched off; all others stay as they were."""
    return np.zeros_like(W_O)


@also(
    lambda W_O, heads, n_heads: 2 * _knocked_out(W_O, heads, n_heads) - W_O,
    lambda W_O, heads, n_heads: _knocked_out(W_O, heads, n_heads) - W_O,
)
def knock_out_negative(W_O, heads, n_heads):
    """A sign is wrong: that of the whole result, or that of the heads' rows. Rows that are switched off are 0, and the
    others stay as they were."""
    return -_knocked_out(W_O, heads, n_heads)


@_filled
@also(
    lambda W_O, blocks: W_O.mean(axis=0),
    lambda W_O, blocks: blocks.mean(axis=0),
    lambda W_O, blocks: blocks.mean(axis=1, keepdims=True),
    lambda W_O, blocks: blocks.mean(axis=2, keepdims=True),
    lambda W_O, blocks: blocks.mean(axis=(1, 2), keepdims=True),
)
def knock_out_mean(W_O, blocks):
    """You put means in their place. That is done, too (it's called mean ablation), but here the rows should be 0."""
    return W_O.mean()


@_filled
@also(number=(-1, -np.inf, np.inf, np.nan, -1e9))
def knock_out_other_number(W_O, blocks, number=1):
    """You put another number in their place: 1, -infinity, NaN. What adds nothing to a sum is 0. (-infinity hides
    scores *before* a softmax, and there is none after W_O.)"""
    return number


@_rescaled
@also(
    lambda n_left, n_heads: n_heads / max(n_left, 1),
    lambda n_left, n_heads: n_left / n_heads,
    lambda n_left, n_heads: 1 / n_left,
)
def knock_out_rescaled(n_left, n_heads):
    """You make the other heads larger (or smaller) to make up for those that are off, as dropout does. Here they stay
    as they were."""
    return n_heads / n_left


def knock_out_left_in_blocks(W_O, heads, n_heads):
    """The numbers are right, but still in blocks, (n_heads, d_head, d_model). W_O is a matrix: end with
    .reshape(W_O.shape)."""
    return _knocked_out(W_O, heads, n_heads).reshape(n_heads, -1, W_O.shape[-1])


def knock_out_transposed(W_O, heads, n_heads):
    """The result is transposed: now the columns belong to the heads. W_O should keep its axes."""
    return _knocked_out(W_O, heads, n_heads).T


@also(
    lambda W_O, heads, n_heads: ~rows_of(heads, len(W_O), n_heads)[:, None],
    lambda W_O, heads, n_heads: _knocked_out(np.ones_like(W_O), heads, n_heads),
    lambda W_O, heads, n_heads: ~rows_of(heads, n_heads, n_heads),
)
def knock_out_mask_only(W_O, heads, n_heads):
    """You return which rows stay (1) and which do not (0). Multiply W_O by that, or use it to choose: the result is a
    new W_O."""
    return ~rows_of(heads, len(W_O), n_heads)
