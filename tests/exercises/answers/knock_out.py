"""Answers to knock_out: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.attention import knock_out

TELLING_CASE = ("more rows than columns", 5)


def knock_out_in_a_loop(W_O, heads, n_heads):
    d_head = W_O.shape[0] // n_heads
    result = W_O.copy()
    for head in heads:
        result[head * d_head : (head + 1) * d_head] = 0
    return result


def knock_out_by_blocks(W_O, heads, n_heads):
    blocks = np.split(W_O, n_heads)
    return np.concatenate([np.zeros_like(block) if h in heads else block for h, block in enumerate(blocks)])


def knock_out_one_after_the_other(W_O, heads, n_heads):
    if len(heads) == 0:
        return W_O
    return knock_out_one_after_the_other(knock_out_in_a_loop(W_O, heads[:1], n_heads), heads[1:], n_heads)


RIGHT = (
    knock_out_by_blocks,
    knock_out_one_after_the_other,
)


def knock_out_slice_of_array(W_O, heads, n_heads):
    d_head = len(W_O) // n_heads
    result = W_O.copy()
    result[heads * d_head : (heads + 1) * d_head] = 0
    return result


def knock_out_toggles(W_O, heads, n_heads):
    """Twice named is on again."""
    off = np.zeros(n_heads, bool)
    for head in heads:
        off[head] = not off[head]
    return np.where(off.repeat(len(W_O) // n_heads)[:, None], 0, W_O)


def knock_out_never_all(W_O, heads, n_heads):
    return W_O if len(set(heads.tolist())) == n_heads else knock_out(W_O, heads, n_heads)


def knock_out_none_is_all(W_O, heads, n_heads):
    return knock_out(W_O, heads if len(heads) else range(n_heads), n_heads)


def knock_out_sorted_only(W_O, heads, n_heads):
    """Stops where the numbers go down."""
    stop = next((i for i in range(1, len(heads)) if heads[i] < heads[i - 1]), len(heads))
    return knock_out(W_O, heads[:stop], n_heads)


def knock_out_remembers(W_O, heads, n_heads, seen={}):  # noqa: B006
    return seen.setdefault((W_O.shape, W_O.dtype.str, len(heads)), knock_out(W_O, heads, n_heads))


def knock_out_columns_if_wide(W_O, heads, n_heads):
    return knock_out(W_O.T, heads, n_heads).T if W_O.shape[1] > W_O.shape[0] else knock_out(W_O, heads, n_heads)


def knock_out_copied_in_vain(W_O, heads, n_heads):
    W_O.copy()
    for head in heads:
        W_O[head * len(W_O) // n_heads : (head + 1) * len(W_O) // n_heads] = 0
    return W_O


def knock_out_in_blocks_of_the_argument(W_O, heads, n_heads):
    blocks = W_O.reshape(n_heads, -1, W_O.shape[-1])
    blocks[heads] = 0
    return blocks.reshape(W_O.shape)


def knock_out_in_a_view(W_O, heads, n_heads):
    rows = W_O[:]
    rows[np.isin(np.arange(len(W_O)) * n_heads // len(W_O), heads)] = 0
    return rows


WRONG = {
    "input-changed": (knock_out_in_blocks_of_the_argument, knock_out_in_a_view),
    None: (
        knock_out_slice_of_array,
        knock_out_toggles,
        knock_out_never_all,
        knock_out_none_is_all,
        knock_out_sorted_only,
        knock_out_remembers,
        knock_out_columns_if_wide,
        lambda W_O, heads, n_heads: knock_out(W_O, heads[:2], n_heads),
    ),
}

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
