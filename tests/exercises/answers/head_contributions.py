"""Answers to head_contributions: right ones in many styles, and wrong ones."""

import itertools

import numpy as np

from mha_helpers.maths.attention import combine_heads, head_contributions, split_heads

CATALOGUE = (
    "contributions-same-block",
    "contributions-columns",
    "contributions-not-additive",
)

TELLING_CASE = ("two batch axes", 6)


def contributions_loop(heads, W_O):
    n_heads, _, d_head = heads.shape[-3:]
    parts = []
    for h in range(n_heads):
        parts.append(heads[..., h, :, :] @ W_O[h * d_head : (h + 1) * d_head])
    return np.stack(parts, axis=-3)


def contributions_filling(heads, W_O):
    *batch, n_heads, seq_len, d_head = heads.shape
    result = np.zeros((*batch, n_heads, seq_len, W_O.shape[-1]))
    for h in range(n_heads):
        result[..., h, :, :] = heads[..., h, :, :] @ W_O[h * d_head : (h + 1) * d_head, :]
    return result


def contributions_one_head_at_a_time(heads, W_O):
    """All other heads 0, and the whole projection."""
    parts = []
    for h in range(heads.shape[-3]):
        alone = np.zeros_like(heads)
        alone[..., h, :, :] = heads[..., h, :, :]
        parts.append(combine_heads(alone) @ W_O)
    return np.stack(parts, axis=-3)


def contributions_without_the_others(heads, W_O):
    whole = combine_heads(heads) @ W_O
    parts = []
    for h in range(heads.shape[-3]):
        others = heads.copy()
        others[..., h, :, :] = 0
        parts.append(whole - combine_heads(others) @ W_O)
    return np.stack(parts, axis=-3)


def contributions_rows_zeroed(heads, W_O):
    n_heads, _, d_head = heads.shape[-3:]
    owner = np.arange(len(W_O)) // d_head
    masked = np.where(owner == np.arange(n_heads)[:, None], 1, 0)[..., None] * W_O
    return combine_heads(heads)[..., None, :, :] @ masked


def contributions_recursive(heads, W_O):
    if heads.ndim > 3:
        return [contributions_recursive(item, W_O) for item in heads]
    return [head @ rows for head, rows in zip(heads, np.split(W_O, len(heads)), strict=True)]


def contributions_python_loops(heads, W_O):
    *outer, seq_len, d_head = heads.shape
    result = np.zeros((*outer, seq_len, W_O.shape[1]))
    for place in itertools.product(*map(range, outer), range(seq_len), range(W_O.shape[1])):
        h = place[len(outer) - 1]
        token, feature = place[:-1], place[-1]
        result[place] = sum(heads[(*token, j)] * W_O[h * d_head + j, feature] for j in range(d_head))
    return result


def contributions_running_difference(heads, W_O):
    sums = [0 * heads[..., 0, :, :] @ W_O[: heads.shape[-1]]]
    for h in range(heads.shape[-3]):
        d = heads.shape[-1]
        sums.append(combine_heads(heads[..., : h + 1, :, :]) @ W_O[: (h + 1) * d])
    return np.diff(np.stack(sums, axis=-3), axis=-3)


def contributions_block_diagonal_matrix(heads, W_O):
    """W_O's blocks of rows side by side in the columns, and then cut."""
    n_heads, _, d_head = heads.shape[-3:]
    wide = np.zeros((len(W_O), n_heads * W_O.shape[1]))
    for h in range(n_heads):
        rows = slice(h * d_head, (h + 1) * d_head)
        wide[rows, h * W_O.shape[1] : (h + 1) * W_O.shape[1]] = W_O[rows]
    return split_heads(combine_heads(heads) @ wide, n_heads)


RIGHT = (
    head_contributions,
    contributions_loop,
    contributions_filling,
    contributions_one_head_at_a_time,
    contributions_without_the_others,
    contributions_rows_zeroed,
    contributions_recursive,
    contributions_python_loops,
    contributions_running_difference,
    contributions_block_diagonal_matrix,
    lambda heads, W_O: heads @ W_O.reshape(heads.shape[-3], heads.shape[-1], -1),
    lambda heads, W_O: heads @ np.stack(np.split(W_O, heads.shape[-3])),
    lambda heads, W_O: np.einsum("...hsd,hdm->...hsm", heads, W_O.reshape(heads.shape[-3], heads.shape[-1], W_O.shape[-1])),
    lambda heads, W_O: np.einsum("...hsd,hdm->...hsm", heads, np.array(np.vsplit(W_O, heads.shape[-3])), optimize=True),
    lambda heads, W_O: np.matmul(heads, split_heads(W_O.T, heads.shape[-3]).swapaxes(-1, -2)),
    lambda heads, W_O: (heads[..., None] * W_O.reshape(heads.shape[-3], 1, heads.shape[-1], -1)).sum(axis=-2),
    lambda heads, W_O: np.moveaxis([head @ rows for head, rows in zip(np.moveaxis(heads, -3, 0), np.split(W_O, heads.shape[-3]), strict=True)], 0, -3),
    lambda heads, W_O: (W_O.reshape(heads.shape[-3], heads.shape[-1], -1).swapaxes(-1, -2) @ heads.swapaxes(-1, -2)).swapaxes(-1, -2),
    lambda heads, W_O: head_contributions(heads, W_O).astype(np.float32),
    lambda Z, W, /: head_contributions(Z, W).tolist(),
)  # fmt: skip


def contributions_with_bias(heads, W_O):
    return head_contributions(heads, W_O) + W_O[0]


def contributions_remainder_in_last(heads, W_O):
    """They sum to the output, and the last one holds all of it."""
    parts = np.zeros_like(head_contributions(heads, W_O))
    parts[..., -1, :, :] = combine_heads(heads) @ W_O
    return parts


def contributions_centred(heads, W_O):
    """They sum to the output, and yet each is another."""
    parts = head_contributions(heads, W_O)
    return parts + np.roll(parts, 1, axis=-3) - np.roll(parts, 2, axis=-3)


def contributions_scaled(heads, W_O):
    return head_contributions(heads, W_O) / heads.shape[-3]


def contributions_next_block(heads, W_O):
    return heads @ np.roll(W_O.reshape(heads.shape[-3], heads.shape[-1], -1), 1, axis=0)


def contributions_block_by_index(heads, W_O):
    """Rows i to i + d_head."""
    d = heads.shape[-1]
    return np.stack([heads[..., i, :, :] @ W_O[i : i + d] for i in range(heads.shape[-3])], axis=-3)


def contributions_rows_by_n_heads(heads, W_O):
    return np.stack([heads[..., i, :, :] @ W_O[i :: heads.shape[-3]] for i in range(heads.shape[-3])], axis=-3)


def contributions_columns_raw(heads, W_O):
    d = heads.shape[-1]
    return np.stack([heads[..., i, :, :] @ W_O[:, i * d : (i + 1) * d] for i in range(heads.shape[-3])], axis=-3)


def contributions_whole_W_O(heads, W_O):
    return np.stack([combine_heads(heads) @ W_O for _ in range(heads.shape[-3])], axis=-3)


def contributions_straight_in_batches(heads, W_O):
    if heads.ndim == 3:
        return head_contributions(heads, W_O)
    return (heads.reshape(*heads.shape[:-3], heads.shape[-2], -1) @ W_O)[..., None, :, :] * np.ones(
        (heads.shape[-3], 1, 1)
    )


def contributions_in_place(heads, W_O):
    result = head_contributions(heads, W_O)
    W_O[0] = 0
    return result


def contributions_transposed_if_square(heads, W_O):
    return head_contributions(heads, W_O.T if heads.shape[-3] == heads.shape[-1] else W_O)


def contributions_batches_shared(heads, W_O):
    """Every sentence gets the first one's."""
    parts = head_contributions(heads, W_O)
    return np.broadcast_to(parts[:1], parts.shape) if heads.ndim > 3 else parts


def contributions_remembers(heads, W_O, seen={}):  # noqa: B006
    return seen.setdefault((heads.shape, heads.dtype.str, heads.flags.c_contiguous), head_contributions(heads, W_O))


def _contributions_then(change):
    return lambda heads, W_O: change(head_contributions(heads, W_O))


def _own_split(X, n_heads):
    *batch, seq_len, d_model = X.shape
    return X.reshape(*batch, seq_len, n_heads, d_model // n_heads).swapaxes(-3, -2)


def contributions_as_wide_as_the_heads(heads, W_O):
    n_heads, _, d_head = heads.shape[-3:]
    d_model = n_heads * d_head
    return heads @ W_O.reshape(n_heads, d_head, d_model)


def contributions_filled_in(heads, W_O):
    *batch, n_heads, seq_len, d_head = heads.shape
    contributions = np.zeros((*batch, n_heads, seq_len, n_heads * d_head))
    for i in range(n_heads):
        contributions[..., i, :, :] = heads[..., i, :, :] @ W_O[i * d_head : (i + 1) * d_head]
    return contributions


WRONG = {
    "contributions-width-of-the-heads": (
        contributions_as_wide_as_the_heads,
        contributions_filled_in,
        lambda heads, W_O: heads @ W_O.reshape(heads.shape[-3], W_O.shape[-1] // heads.shape[-3], -1),
    ),
    "contributions-split-heads": (
        lambda heads, W_O: heads @ split_heads(W_O, heads.shape[-3]),
        lambda heads, W_O: np.stack([heads[..., i, :, :] @ split_heads(W_O, heads.shape[-3])[i] for i in range(heads.shape[-3])], -3),
        lambda heads, W_O: heads @ _own_split(W_O, heads.shape[-3]),
        lambda heads, W_O: heads @ np.array(np.split(W_O, heads.shape[-3], axis=1)),
    ),
    "contributions-rows-turned": (lambda heads, W_O: heads @ split_heads(W_O.T, heads.shape[-3]),),
    "contributions-columns": (
        lambda heads, W_O: heads @ split_heads(W_O, heads.shape[-3]).swapaxes(-1, -2),
        lambda heads, W_O: combine_heads(heads)[..., None, :, :] @ split_heads(W_O, heads.shape[-3]),
    ),
    "contributions-rows-from-head": (contributions_block_by_index,),
    "contributions-strided-rows": (
        contributions_rows_by_n_heads,
        lambda heads, W_O: heads @ W_O.reshape(heads.shape[-1], heads.shape[-3], -1).swapaxes(0, 1),
    ),
    "contributions-width-mismatch": (contributions_columns_raw,),
    "contributions-not-additive": (
        contributions_whole_W_O,
        _contributions_then(lambda parts: np.repeat(parts.mean(axis=-3, keepdims=True), parts.shape[-3], axis=-3)),
    ),
    "input-changed": (contributions_in_place,),
    "not-repeatable": (contributions_remembers,),
    "contributions-one-head": (_contributions_then(lambda parts: parts[0]),),
    "contributions-summed": (
        lambda heads, W_O: np.dot(combine_heads(heads), W_O),
        lambda heads, W_O: np.einsum("...hsd,hdm->...sm", heads, W_O.reshape(heads.shape[-3], heads.shape[-1], -1)),
    ),
    "contributions-heads-after-tokens": (
        lambda heads, W_O: np.einsum("...hsd,hdm->...shm", heads, W_O.reshape(heads.shape[-3], heads.shape[-1], -1)),
    ),
    "contributions-same-block": (lambda heads, W_O: heads @ W_O.reshape(heads.shape[-3], heads.shape[-1], -1)[0],),
    None: (
        contributions_with_bias,
        contributions_remainder_in_last,
        contributions_centred,
        contributions_scaled,
        contributions_next_block,
        contributions_straight_in_batches,
        contributions_transposed_if_square,
        contributions_batches_shared,
        _contributions_then(lambda parts: np.abs(parts)),
        _contributions_then(lambda parts: -parts),
        _contributions_then(lambda parts: parts[..., ::-1]),
        _contributions_then(lambda parts: parts[..., ::-1, :]),
        _contributions_then(lambda parts: parts.sum(axis=-1)),
        _contributions_then(lambda parts: np.linalg.norm(parts, axis=-1)),
        _contributions_then(lambda parts: parts / np.linalg.norm(parts, axis=-1, keepdims=True)),
        _contributions_then(lambda parts: parts.squeeze()),
        _contributions_then(lambda parts: parts.round(1)),
        _contributions_then(lambda parts: (parts, parts.sum(axis=-3))),
        _contributions_then(lambda parts: parts.reshape(*parts.shape[:-3], -1, parts.shape[-1])),
        _contributions_then(lambda parts: combine_heads(parts)),
        _contributions_then(lambda parts: parts - parts.mean(axis=-3, keepdims=True)),
        _contributions_then(lambda parts: parts.argmax(axis=-3)),
        _contributions_then(lambda parts: parts > 0),
        _contributions_then(lambda parts: np.sort(parts, axis=-3)),
        _contributions_then(lambda parts: dict(enumerate(parts))),
        lambda heads, W_O: heads @ W_O.reshape(heads.shape[-3], -1, heads.shape[-1]),
        lambda heads, W_O: heads @ W_O.reshape(-1, heads.shape[-3], heads.shape[-1]).transpose(1, 2, 0),
        lambda heads, W_O: W_O @ heads,
        lambda heads, W_O: heads * W_O,
        lambda heads, W_O: heads @ np.linalg.pinv(W_O).reshape(heads.shape[-3], heads.shape[-1], -1),
        lambda heads, W_O, n_heads: head_contributions(heads, W_O),
        lambda heads: heads,
    ),
}  # fmt: skip

TOLD = (
    (
        lambda heads, W_O: -head_contributions(heads, W_O),
        "Added up over the heads, your contributions are not the output",
    ),
    (
        lambda heads, W_O: head_contributions(heads, W_O)[..., ::-1, :],
        "Tokens are mixed: row 4 changes when only token 0 changes.",
    ),
    (
        lambda heads, W_O: head_contributions(heads, W_O) - head_contributions(heads, W_O).mean(axis=-3, keepdims=True),
        "Heads are mixed: the contribution of head 1 changes when only head 0 does.",
    ),
    (
        lambda heads, W_O: head_contributions(heads, np.roll(W_O, heads.shape[-1], axis=0)),
        "Rows 0 to 2 of W_O are head 0's alone; with yours head 1 changes with them.",
    ),
)
