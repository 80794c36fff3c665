"""The mistakes that people make in `head_contributions`."""

import numpy as np

from mha_helpers.attention import combine_heads, head_contributions, split_heads
from mha_helpers.exercises.mistakes.catalogue import also
from mha_helpers.exercises.mistakes.steps import joined_straight, reversed_heads, swap


def _blocks(heads, W_O):
    n_heads, _, d_head = heads.shape[-3:]
    return W_O.reshape(n_heads, d_head, -1)


def _alone(heads, head):
    """The heads, all but one of them 0."""
    return np.where(np.arange(heads.shape[-3])[:, None, None] == head, heads, 0)


def _each(heads, contribute):
    """Stack contribute(head) on the axis of the heads."""
    return np.stack([contribute(head) for head in range(heads.shape[-3])], axis=-3)


def _split_by_hand(W_O, n_heads, width):
    return W_O.reshape(len(W_O), n_heads, width).swapaxes(0, 1)


def _padded(contributions):
    """Put (..., n_heads, seq_len, d_head) into each head's own columns, and 0 elsewhere."""
    return _each(contributions, lambda head: combine_heads(_alone(contributions, head)))


def _whole(heads, W_O):
    return combine_heads(heads) @ W_O


def _block_diagonal(heads, W_O):
    d_head = heads.shape[-1]
    blocks = [W_O[i : i + d_head, i : i + d_head] for i in range(0, len(W_O), d_head)]
    return heads @ np.stack(blocks)


def _four_axes_only(heads, W_O):
    _batch, _n_heads, _seq_len, _d_head = heads.shape
    return head_contributions(heads, W_O)


def _columns_turned(heads, W_O):
    """A slice of columns for each head, turned round so that it fits."""
    d_head = heads.shape[-1]
    return _each(heads, lambda i: heads[..., i, :, :] @ W_O[:, i * d_head : (i + 1) * d_head].T)


def contributions_output_cut(heads, W_O):
    """You cut the finished output into heads. But each of its numbers is a sum over all heads already. Let each head
    meet its own rows of W_O: head i has i * d_head to (i + 1) * d_head."""
    output = _whole(heads, W_O)
    owner = np.arange(output.shape[-1]) // (output.shape[-1] // heads.shape[-3])
    return _each(heads, lambda head: np.where(owner == head, output, 0))


@also(lambda heads, W_O: heads @ W_O[-heads.shape[-1] :])
def contributions_same_block(heads, W_O):
    """You send every head through the same rows of W_O. Head i has its own: i * d_head to (i + 1) * d_head."""
    return heads @ W_O[: heads.shape[-1]]


@also(
    lambda heads, W_O: np.stack([heads[..., 0, :, :] @ W_O[:2], heads[..., 1, :, :] @ W_O[2:4]], axis=-3),
    lambda heads, W_O: heads @ W_O.reshape(2, 2, -1),
)
def contributions_fixed_width(heads, W_O):
    """You have the notes' numbers in your code, two heads of width 2. Take both from the shape: n_heads, _, d_head =
    heads.shape[-3:]."""
    return np.stack([heads[..., 0, :, :] @ W_O[:2], heads[..., 1, :, :] @ W_O[2:]], axis=-3)


@also(
    lambda heads, W_O: head_contributions(heads, W_O)[..., :1, :, :],
    lambda heads, W_O: head_contributions(heads, W_O)[..., -1, :, :],
)
def contributions_one_head(heads, W_O):
    """You return what one head adds. Is the `return` inside the loop? Collect all of them, and stack them:
    np.stack(parts, axis=-3)."""
    return head_contributions(heads, W_O)[..., 0, :, :]


@also(
    lambda heads, W_O: heads @ swap(split_heads(W_O, heads.shape[-3])),
    _columns_turned,
    lambda heads, W_O: split_heads(_whole(heads, W_O), heads.shape[-3]),
    lambda heads, W_O: _padded(split_heads(_whole(heads, W_O), heads.shape[-3])),
)
def contributions_columns(heads, W_O):
    """You take columns of W_O. The columns are the output's features, which all heads share.

    A head's own are its *rows*, i * d_head to (i + 1) * d_head: W_O.reshape(n_heads, d_head, -1)."""
    return heads @ _blocks(heads, W_O.T)


@also(
    lambda heads, W_O: heads @ _split_by_hand(W_O, heads.shape[-3], W_O.shape[-1] // heads.shape[-3]),
    lambda heads, W_O: heads @ _split_by_hand(W_O, heads.shape[-3], -1),
    lambda heads, W_O: heads @ np.stack(np.split(W_O, heads.shape[-3], axis=-1)),
)
def contributions_split_heads(heads, W_O):
    """Split as split_heads does it, W_O is cut into columns, and each piece still has all n_heads * d_head rows. The
    columns are the output's features, which all heads share.

    A head's own are its d_head *rows*: W_O.reshape(n_heads, d_head, -1)."""
    return heads @ split_heads(W_O, heads.shape[-3])


def contributions_rows_turned(heads, W_O):
    """These are the right rows of W_O, but transposed, (n_heads, d_model, d_head). Turn them back before they meet the
    heads, swapaxes(-1, -2); or leave out the .T, and take W_O.reshape(n_heads, d_head, -1)."""
    return heads @ swap(_blocks(heads, W_O))


def contributions_strided_rows(heads, W_O):
    """Head i gets rows i, i + n_heads, and so on. Its rows are neighbours, i * d_head to (i + 1) * d_head.

    Reshape W_O to (n_heads, d_head, -1), in this order."""
    n_heads, _, d_head = heads.shape[-3:]
    return heads @ W_O.reshape(d_head, n_heads, -1).swapaxes(0, 1)


def contributions_rows_from_head(heads, W_O):
    """Your rows begin at i, the number of the head: W_O[i : i + d_head]. Each head before it has d_head rows, so they
    begin at i * d_head."""
    d_head = heads.shape[-1]
    return _each(heads, lambda i: heads[..., i, :, :] @ W_O[i : i + d_head])


def _rows_of_a_neighbour(heads, W_O, step):
    d_head = heads.shape[-1]
    return _each(heads, lambda i: heads[..., i, :, :] @ W_O[(i + step) * d_head : (i + step + 1) * d_head])


@also(
    lambda heads, W_O: heads @ np.roll(_blocks(heads, W_O), 1, axis=0),
    lambda heads, W_O: heads @ np.roll(_blocks(heads, W_O), -1, axis=0),
)
def contributions_counted_from_one(heads, W_O):
    """You give each head the rows of the one before or after it. Heads are counted from 0: head i has rows i * d_head
    to (i + 1) * d_head."""
    return _rows_of_a_neighbour(heads, W_O, 1)


def contributions_blocks_reversed(heads, W_O):
    """The blocks of W_O are in reverse order. The first d_head rows are head 0's."""
    return reversed_heads(head_contributions(reversed_heads(heads), W_O))


def contributions_reversed(heads, W_O):
    """Your contributions are in reverse order. Head 0's comes first."""
    return reversed_heads(head_contributions(heads, W_O))


@also(lambda heads, W_O: _padded(_block_diagonal(heads, W_O)))
def contributions_block_diagonal(heads, W_O):
    """You use a small block of W_O, d_head by d_head. A head adds to every feature of the output: all the columns of
    its rows."""
    return _block_diagonal(heads, W_O)


@also(lambda heads, W_O: _each(heads, lambda head: _whole(heads, W_O)) / heads.shape[-3])
def contributions_not_additive(heads, W_O):
    """Every head gets the whole output, or an equal share of it. What head i adds comes from its own numbers alone:
    heads[..., i, :, :] @ its rows of W_O. Their sum is the output, counted once."""
    return _each(heads, lambda head: _whole(heads, W_O))


def contributions_of_the_others(heads, W_O):
    """That is what all the *other* heads add. Keep head i, and leave the others out."""
    return _whole(heads, W_O)[..., None, :, :] - head_contributions(heads, W_O)


def contributions_running_sum(heads, W_O):
    """Each of your contributions includes those of the heads before it. Return each by itself."""
    return np.cumsum(head_contributions(heads, W_O), axis=-3)


@also(
    lambda heads, W_O: head_contributions(heads, W_O).mean(axis=-3),
    lambda heads, W_O: _whole(heads, W_O)[..., None, :, :],
)
def contributions_summed(heads, W_O):
    """You add the contributions up, or average them; their sum is the output. Give what each head adds: (..., n_heads,
    seq_len, d_model)."""
    return _whole(heads, W_O)


def contributions_combined_without_transpose(heads, W_O):
    """You set all other heads to 0 and reshape straight to (seq_len, d_model), which mixes tokens. combine_heads swaps
    heads and tokens first."""
    return _each(heads, lambda head: joined_straight(_alone(heads, head)) @ W_O)


def contributions_heads_after_tokens(heads, W_O):
    """Your heads come after the tokens: (..., seq_len, n_heads, d_model). They belong before them: swapaxes(-3, -2)."""
    return head_contributions(heads, W_O).swapaxes(-3, -2)


def contributions_heads_before_batch(heads, W_O):
    """Your heads come before the batch: (n_heads, ..., seq_len, d_model). They belong right before the tokens; np.stack
    puts its new axis there with axis=-3."""
    return np.moveaxis(head_contributions(heads, W_O), -3, 0)


def contributions_output_transposed(heads, W_O):
    """Your contributions are transposed, (..., n_heads, d_model, seq_len). Each row must be a token."""
    return swap(head_contributions(heads, W_O))


@also(lambda heads, W_O: _padded(heads), lambda heads, W_O: combine_heads(heads))
def contributions_not_projected(heads, W_O):
    """You return the heads (perhaps each in its own columns) without using W_O. What a head adds to the output is the
    head times its rows of W_O."""
    return heads


def contributions_np_dot(heads, W_O):
    """np.dot pairs every head with every block of W_O. `@` (np.matmul) keeps head i with block i."""
    return np.dot(heads, _blocks(heads, W_O))


def contributions_width_mismatch(heads, W_O):
    """A head is d_head wide, and meets something with n_heads * d_head rows: all of W_O, or some of its columns.

    Give each head its own d_head *rows* of W_O: W_O.reshape(n_heads, d_head, -1)."""
    return heads @ W_O


def contributions_first_axis(heads, W_O):
    """You go through the first axis. In a batch those are the sentences. The heads are always third from the end:
    heads[..., i, :, :]."""
    d_head = heads.shape[-1]
    return np.stack([heads[i] @ W_O[i * d_head : (i + 1) * d_head] for i in range(len(heads))])


@also(
    _four_axes_only,
    lambda heads, W_O: np.einsum("hsd,hdm->hsm", heads, _blocks(heads, W_O)),
    lambda heads, W_O: np.einsum("bhsd,hdm->bhsm", heads, _blocks(heads, W_O)),
)
def contributions_fixed_axes(heads, W_O):
    """It fits one number of axes only. There may be batch axes in front, one or more, or none: `*batch, n_heads,
    seq_len, d_head = heads.shape` takes them all."""
    _n_heads, _seq_len, _d_head = heads.shape
    return head_contributions(heads, W_O)
