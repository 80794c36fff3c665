"""Heads cut, or repeated, in other ways."""

import numpy as np

from attention_doctor.equation.stages import DoesNotFitError, Form, cut, shared
from attention_doctor.forms.common import AXES, FEATURES_FIRST, LETTERS, ORDERS, only_without_heads, subsets, swap


def _read_as(order):
    """Reshape (batch, tokens, features) to these axes in this order, and swap them to where they belong."""

    def how(X, n_heads):
        batch, seq_len, width = X.shape
        sizes = {"batch": batch, "heads": n_heads, "tokens": seq_len, "d_head": width // n_heads}
        return X.reshape([sizes[axis] for axis in order]).transpose([order.index(axis) for axis in AXES])

    return how


def _slug(order):
    known = {FEATURES_FIRST: "mha-strided", AXES: "mha-split-without-transpose"}
    return known.get(order, "split-wrong-transpose" if order[0] == "batch" else "split-heads-over-batch")


def _tokens_turned_first(X, n_heads):
    return swap(X).reshape(len(X), n_heads, X.shape[1], -1)


def _through_turned_heads(X, n_heads):
    """Cut rightly, turned to (d_head, seq_len) and reshaped back as if it were (seq_len, d_head)."""
    heads = cut(X, n_heads)
    return swap(heads).reshape(heads.shape)


def _batch_folded_wrongly(X, n_heads):
    """(batch, n_heads) folded as (n_heads, batch) and read back in the other order."""
    heads = cut(X, n_heads)
    return heads.swapaxes(0, 1).reshape(heads.shape)


def _cut_some(how, letters):
    @only_without_heads
    def run(case, qkv):
        if qkv[0].ndim == 4:
            raise DoesNotFitError
        heads = []
        for letter, item in zip(LETTERS, qkv, strict=True):
            n_heads = case.n_heads if letter == "Q" else case.n_kv_heads
            if item.shape[-1] % n_heads:
                raise DoesNotFitError
            heads.append(shared((how if letter in letters else cut)(item, n_heads), case.n_heads))
        return tuple(heads)

    return run


@only_without_heads
def _whole(case, qkv):
    return tuple(item[:, None] for item in qkv)


@only_without_heads
def _count_for_width(case, qkv):
    if case.n_kv_heads != case.n_heads:
        raise DoesNotFitError
    return tuple(cut(item, qkv[0].shape[-1] // case.n_heads) for item in qkv)


def _tiled(some):
    """Heads of keys, of values or of both repeated in the wrong order."""

    def run(case, qkv):
        times = case.n_heads // case.n_kv_heads
        queries, *shared = qkv
        return cut(queries, case.n_heads), *(
            np.tile(heads, (1, times, 1, 1)) if letter in some else np.repeat(heads, times, axis=1)
            for letter, heads in zip("KV", (cut(item, case.n_kv_heads) for item in shared), strict=True)
        )

    return run


def _which(some):
    return "" if some == LETTERS else f" ({', '.join(some)})"


# A reshape straight to (heads, tokens, d_head), of all three or of one, and strided heads are tried first.
COMMON_CUTS = [(LETTERS, AXES), ("K", AXES), ("V", AXES), (LETTERS, FEATURES_FIRST)]
SPLIT = [
    *(
        Form(
            _slug(order),
            "split",
            _cut_some(_read_as(order), some),
            f"reshaped straight to ({', '.join(order)}){_which(some)}",
            (some, order) not in COMMON_CUTS,
        )
        for some in subsets(LETTERS)
        for order in ORDERS
        if some == LETTERS or order in (AXES, FEATURES_FIRST)
    ),
    *(
        Form(slug, "split", _cut_some(how, some), f"{text}{_which(some)}", True)
        for slug, how, text in (
            ("split-transposed-first", _tokens_turned_first, "turned round, then reshaped"),
            ("split-wrong-transpose", _through_turned_heads, "features and tokens of a head mixed"),
        )
        for some in (LETTERS, "QK", "Q", "K", "V")
    ),
    *(
        Form(slug, "split", run, text)
        for slug, run, text in (
            (
                "folded-order",
                _cut_some(_batch_folded_wrongly, LETTERS),
                "batch and heads folded in one order, unfolded in the other",
            ),
            ("mha-no-split", _whole, "one head over all features"),
            ("split-width-for-count", _count_for_width, "d_head heads of width n_heads"),
            ("kv-heads-tiled", _tiled("KV"), "key heads repeated as 0, 1, 0, 1 and not 0, 0, 1, 1"),
            ("kv-heads-tiled", _tiled("K"), "heads of keys repeated as 0, 1, 0, 1, and those of values as 0, 0, 1, 1"),
            ("kv-heads-tiled", _tiled("V"), "heads of values repeated as 0, 1, 0, 1, and those of keys as 0, 0, 1, 1"),
        )
    ),
]
