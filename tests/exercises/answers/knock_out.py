"""Answers to knock_out: right ones in many styles, and wrong ones."""

import itertools

import numpy as np

from mha_helpers.maths.attention import head_contributions, knock_out

CATALOGUE = (
    "knock-out-columns",
    "knock-out-row-by-number",
    "knock-out-strided",
    "knock-out-kept",
    "knock-out-one-of-several",
    "knock-out-counted-from-one",
    "knock-out-width",
    "knock-out-removed",
    "knock-out-rescaled",
)

TELLING_CASE = ("more rows than columns", 5)


def knock_out_in_a_loop(W_O, heads, n_heads):
    d_head = W_O.shape[0] // n_heads
    result = W_O.copy()
    for head in heads:
        result[head * d_head : (head + 1) * d_head] = 0
    return result


def knock_out_row_by_row(W_O, heads, n_heads):
    d_head = len(W_O) // n_heads
    return [[0] * len(row) if i // d_head in heads else row.tolist() for i, row in enumerate(W_O)]


def knock_out_by_repeat(W_O, heads, n_heads):
    keep = np.ones(n_heads)
    keep[heads] = 0
    return W_O * np.repeat(keep, len(W_O) // n_heads)[:, None]


def knock_out_by_blocks(W_O, heads, n_heads):
    blocks = np.split(W_O, n_heads)
    return np.concatenate([np.zeros_like(block) if h in heads else block for h, block in enumerate(blocks)])


def knock_out_by_set(W_O, heads, n_heads):
    off = set(heads.tolist())
    blocks = list(W_O.reshape(n_heads, -1, W_O.shape[1]))
    return np.vstack([block * (h not in off) for h, block in enumerate(blocks)])


def knock_out_by_one_hot(W_O, heads, n_heads):
    off = np.eye(n_heads)[heads].sum(axis=0) > 0
    return np.where(off.repeat(len(W_O) // n_heads)[:, None], 0, W_O)


def knock_out_by_selection(W_O, heads, n_heads):
    """A diagonal matrix from the left."""
    d_head = len(W_O) // n_heads
    keep = [float(row // d_head not in heads) for row in range(len(W_O))]
    return np.diag(keep) @ W_O


def knock_out_by_kronecker(W_O, heads, n_heads):
    keep = np.diag(~np.isin(np.arange(n_heads), heads)).astype(float)
    return np.kron(keep, np.eye(len(W_O) // n_heads)) @ W_O


def knock_out_putting_back(W_O, heads, n_heads):
    """From zeros, with those that stay put in."""
    result = np.zeros_like(W_O)
    d_head = len(W_O) // n_heads
    for head in range(n_heads):
        if head not in heads:
            rows = slice(head * d_head, (head + 1) * d_head)
            result[rows] = W_O[rows]
    return result


def knock_out_row_numbers(W_O, heads, n_heads):
    d_head = len(W_O) // n_heads
    rows = (heads[:, None] * d_head + np.arange(d_head)).ravel()
    result = W_O.copy()
    result[rows] = 0
    return result


def knock_out_subtracting(W_O, heads, n_heads):
    """W_O without what these heads write."""
    d_head = len(W_O) // n_heads
    one_at_a_time = head_contributions(np.eye(len(W_O)).reshape(len(W_O), n_heads, d_head).swapaxes(0, 1), W_O)
    return W_O - one_at_a_time[np.unique(heads)].sum(axis=0)


def knock_out_flat(W_O, heads, n_heads):
    """A head is one run of numbers."""
    flat = W_O.reshape(n_heads, -1).copy()
    flat[heads, :] = 0.0
    return flat.reshape(W_O.shape)


def knock_out_one_after_the_other(W_O, heads, n_heads):
    if len(heads) == 0:
        return W_O
    return knock_out_one_after_the_other(knock_out_in_a_loop(W_O, heads[:1], n_heads), heads[1:], n_heads)


RIGHT = (
    knock_out,
    knock_out_in_a_loop,
    knock_out_row_by_row,
    knock_out_by_repeat,
    knock_out_by_blocks,
    knock_out_by_set,
    knock_out_by_one_hot,
    knock_out_by_selection,
    knock_out_by_kronecker,
    knock_out_putting_back,
    knock_out_row_numbers,
    knock_out_subtracting,
    knock_out_flat,
    knock_out_one_after_the_other,
    lambda W_O, heads, n_heads: knock_out(W_O, list(heads), n_heads),
    lambda W_O, heads, n_heads: W_O * ~np.isin(np.arange(len(W_O)) // (len(W_O) // n_heads), heads)[:, None],
    lambda W_O, heads, n_heads: (W_O.T * np.repeat(~np.isin(range(n_heads), heads), len(W_O) // n_heads)).T,
    lambda W_O, heads, n_heads: np.einsum("hdm,h->hdm", W_O.reshape(n_heads, -1, W_O.shape[1]), ~np.isin(range(n_heads), heads)).reshape(W_O.shape),
    lambda W_O, heads, n_heads: knock_out(W_O, heads, n_heads).astype(np.float32),
    lambda W, off, /, n: knock_out(W, off, n).tolist(),
)  # fmt: skip


def knock_out_in_place(W_O, heads, n_heads):
    d_head = len(W_O) // n_heads
    for head in heads:
        W_O[head * d_head : (head + 1) * d_head] = 0
    return W_O


def knock_out_in_place_of_a_view(W_O, heads, n_heads):
    blocks = W_O.reshape(n_heads, -1, W_O.shape[1])
    blocks[heads] = 0
    return blocks.reshape(W_O.shape)


def knock_out_without_return(W_O, heads, n_heads):
    result = W_O.copy()
    result.reshape(n_heads, -1, W_O.shape[1])[heads] = 0


def knock_out_slice_of_array(W_O, heads, n_heads):
    d_head = len(W_O) // n_heads
    result = W_O.copy()
    result[heads * d_head : (heads + 1) * d_head] = 0
    return result


def knock_out_only_block_edges(W_O, heads, n_heads):
    d_head = len(W_O) // n_heads
    result = W_O.copy()
    result[heads * d_head] = 0
    result[(heads + 1) * d_head - 1] = 0
    return result


def knock_out_float_width(W_O, heads, n_heads):
    d_head = len(W_O) / n_heads
    result = W_O.copy()
    for head in heads:
        result[head * d_head : (head + 1) * d_head] = 0
    return result


def knock_out_block_corner(W_O, heads, n_heads):
    """The block on the diagonal only."""
    d_head = len(W_O) // n_heads
    result = W_O.copy()
    for head in heads:
        rows = slice(head * d_head, (head + 1) * d_head)
        result[rows, rows] = 0
    return result


def knock_out_shares(W_O, heads, n_heads):
    """What is taken from these heads is given to the others."""
    blocks = W_O.reshape(n_heads, -1, W_O.shape[1])
    result = blocks.copy()
    result[heads] = 0
    return (result + (blocks - result).sum(axis=0) / n_heads).reshape(W_O.shape)


def knock_out_toggles(W_O, heads, n_heads):
    """Twice named is on again."""
    off = np.zeros(n_heads, bool)
    for head in heads:
        off[head] = not off[head]
    return np.where(off.repeat(len(W_O) // n_heads)[:, None], 0, W_O)


def knock_out_counts(W_O, heads, n_heads):
    """Twice named is taken off twice."""
    counts = np.bincount(heads, minlength=n_heads)
    return W_O * (1 - counts).repeat(len(W_O) // n_heads)[:, None]


def knock_out_if_heads(W_O, heads, n_heads):
    return knock_out(W_O, heads, n_heads) if heads else W_O


def knock_out_never_all(W_O, heads, n_heads):
    return W_O if len(set(heads.tolist())) == n_heads else knock_out(W_O, heads, n_heads)


def knock_out_none_is_all(W_O, heads, n_heads):
    return knock_out(W_O, heads if len(heads) else range(n_heads), n_heads)


def knock_out_sorted_only(W_O, heads, n_heads):
    """Stops where the numbers go down."""
    stop = next((i for i in range(1, len(heads)) if heads[i] < heads[i - 1]), len(heads))
    return knock_out(W_O, heads[:stop], n_heads)


def knock_out_shuffles(W_O, heads, n_heads):
    """Moves the heads that stay to the front."""
    blocks = W_O.reshape(n_heads, -1, W_O.shape[1])
    left = np.delete(blocks, heads, axis=0)
    return np.concatenate([left, np.zeros((n_heads - len(left), *blocks.shape[1:]))]).reshape(W_O.shape)


def knock_out_remembers(W_O, heads, n_heads, seen={}):  # noqa: B006
    return seen.setdefault((W_O.shape, W_O.dtype.str, len(heads)), knock_out(W_O, heads, n_heads))


def knock_out_changes_heads(W_O, heads, n_heads):
    result = knock_out(W_O, heads, n_heads)
    heads += 1
    return result


def knock_out_square_only(W_O, heads, n_heads):
    d_model = W_O.shape[1]
    return knock_out(W_O.reshape(d_model, d_model), heads, n_heads)


def knock_out_columns_if_wide(W_O, heads, n_heads):
    return knock_out(W_O.T, heads, n_heads).T if W_O.shape[1] > W_O.shape[0] else knock_out(W_O, heads, n_heads)


def knock_out_loop_of_numbers(W_O, heads, n_heads):
    """len(heads) is taken for the heads."""
    result = W_O.copy()
    for head in range(len(heads)):
        result.reshape(n_heads, -1, W_O.shape[1])[head] = 0
    return result


def knock_out_fancy_copy(W_O, heads, n_heads):
    """Writes into what brackets with a list have copied."""
    result = W_O.copy()
    block = result.reshape(n_heads, -1, W_O.shape[1])[heads]
    block *= 0
    return result


def knock_out_names(W_O, heads, n_heads):
    for head, block in zip(itertools.count(), W_O.reshape(n_heads, -1, W_O.shape[1]), strict=False):
        if head in heads:
            block = np.zeros_like(block)
    return W_O


def _knocked_out_then(change):
    return lambda W_O, heads, n_heads: change(knock_out(W_O, heads, n_heads))


def knock_out_copied_in_vain(W_O, heads, n_heads):
    W_O.copy()
    for head in heads:
        W_O[head * len(W_O) // n_heads : (head + 1) * len(W_O) // n_heads] = 0
    return W_O


WRONG = {
    "knock-out-by-place": (knock_out_loop_of_numbers,),
    "input-changed": (
        knock_out_in_place,
        knock_out_copied_in_vain,
        knock_out_in_place_of_a_view,
        knock_out_changes_heads,
    ),
    "knock-out-block-diagonal": (knock_out_block_corner,),
    "knock-out-nothing": (
        knock_out_fancy_copy,
        knock_out_names,
    ),
    "knock-out-kept": (lambda W_O, heads, n_heads: W_O - knock_out(W_O, heads, n_heads) @ np.eye(W_O.shape[1]),),
    "knock-out-everything": (lambda W_O, heads, n_heads: np.vectorize(lambda w: 0)(W_O),),
    "fractions-lost": (_knocked_out_then(lambda W_O: W_O.astype(int)),),
    None: (
        knock_out_without_return,
        knock_out_slice_of_array,
        knock_out_only_block_edges,
        knock_out_float_width,
        knock_out_shares,
        knock_out_toggles,
        knock_out_counts,
        knock_out_if_heads,
        knock_out_never_all,
        knock_out_none_is_all,
        knock_out_sorted_only,
        knock_out_shuffles,
        knock_out_remembers,
        knock_out_square_only,
        knock_out_columns_if_wide,
        _knocked_out_then(lambda W_O: W_O[::-1]),
        _knocked_out_then(lambda W_O: W_O[None]),
        _knocked_out_then(lambda W_O: W_O.ravel()),
        _knocked_out_then(lambda W_O: np.abs(W_O)),
        _knocked_out_then(lambda W_O: W_O.round()),
        _knocked_out_then(lambda W_O: W_O == 0),
        _knocked_out_then(lambda W_O: W_O / np.linalg.norm(W_O)),
        _knocked_out_then(lambda W_O: W_O + 1e-3),
        _knocked_out_then(lambda W_O: (W_O, W_O == 0)),
        _knocked_out_then(lambda W_O: W_O.copy),
        _knocked_out_then(lambda W_O: W_O.sum(axis=0)),
        _knocked_out_then(lambda W_O: np.where(W_O == 0, None, W_O)),
        _knocked_out_then(lambda W_O: np.ma.masked_equal(W_O, 0).filled(1e-2)),
        lambda W_O, heads, n_heads: W_O * 0.1,
        lambda W_O, heads, n_heads: 0.5 * (W_O + knock_out(W_O, heads, n_heads)),
        lambda W_O, heads, n_heads: W_O[heads],
        lambda W_O, heads, n_heads: W_O * heads,
        lambda W_O, heads, n_heads: np.where(heads, 0, W_O),
        lambda W_O, heads, n_heads: knock_out(W_O, n_heads, heads),
        lambda W_O, heads, n_heads: knock_out(W_O, heads // 2, n_heads),
        lambda W_O, heads, n_heads: knock_out(W_O, np.append(heads, 0), n_heads),
        lambda W_O, heads, n_heads: knock_out(W_O, heads[:2], n_heads),
        lambda W_O, heads, n_heads: knock_out(W_O, heads[1:], n_heads),
        lambda W_O, heads: W_O,
        lambda W_O, n_heads: W_O,
    ),
}  # fmt: skip

TOLD = (
    (
        lambda W_O, heads, n_heads: 0.5 * (W_O + knock_out(W_O, heads, n_heads)),
        "Row 4 is one of head 1's, which is switched off: it must be 0.",
    ),
    (
        lambda W_O, heads, n_heads: knock_out(W_O, [*heads, 0], n_heads),
        "Row 0 is one of head 0's, which stays on: it must be as it was.",
    ),
)
