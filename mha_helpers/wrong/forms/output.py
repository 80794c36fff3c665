"""Values mixed, heads joined and outputs made in other ways."""

import numpy as np

from ...judge.stages import (
    DoesNotFitError,
    Form,
    cut,
    joined,
    merged_by,
    mixed_by,
    right_output,
)
from .common import AXES, LETTERS, ORDERS, block_of, swap


def _mix(slug, mix, text, rare=False):
    return Form(slug, "mix", mixed_by(mix), text, rare)


def _square_weights(mix):
    def run(weights, queries, keys, values):
        if weights.shape[-1] != weights.shape[-2]:
            raise DoesNotFitError
        return mix(weights, queries, keys, values)

    return run


MIX = [
    _mix("weights-transposed", _square_weights(lambda w, q, k, v: swap(w) @ v), "weightsᵀ V"),
    _mix("values-are-keys", lambda w, q, k, v: w @ k, "weights K"),
    _mix("values-are-queries", _square_weights(lambda w, q, k, v: w @ q), "weights Q"),
    _mix("weights-not-used", _square_weights(lambda w, q, k, v: v + 0), "V", True),
    _mix("weights-twice", _square_weights(lambda w, q, k, v: w @ (w @ v)), "weights weights V", True),
    _mix(
        "weights-shared-by-heads",
        lambda w, q, k, v: w.mean(1, keepdims=True) @ v,
        "every head mixes with the average of all weights",
        True,
    ),
    _mix("weights-shared-by-heads", lambda w, q, k, v: w[:, :1] @ v, "every head mixes with head 0's weights", True),
]


def _joined_from(order):
    """Swap the axes to this order, and reshape to (batch, tokens, features)."""

    def merge(heads):
        batch, n_heads, seq_len, d_head = heads.shape
        return heads.transpose([AXES.index(axis) for axis in order]).reshape(batch, seq_len, n_heads * d_head)

    return merge


def _merge_slug(order):
    if order in (AXES, ("heads", "batch", "tokens", "d_head")):
        return "mha-combine-without-transpose"
    if order == ("batch", "tokens", "d_head", "heads"):
        return "mha-combine-interleaved"
    return "combine-wrong-transpose" if order[0] == "batch" else "combine-batch-lost"


def _batch_mixed(heads):
    """(batch, n_heads) folded heads first, and unfolded batch first, or the other way round."""
    return joined(heads.swapaxes(0, 1).reshape(heads.shape))


def _batch_mixed_back(heads):
    batch, n_heads, *rest = heads.shape
    return joined(heads.reshape(n_heads, batch, *rest).swapaxes(0, 1))


def _averaged(heads):
    return joined(np.broadcast_to(heads.mean(1, keepdims=True), heads.shape))


def _summed(heads):
    return joined(np.broadcast_to(heads.sum(1, keepdims=True), heads.shape))


def _repeated(heads):
    return np.repeat(heads.mean(1), heads.shape[1], axis=-1)


COMMON_ORDERS = (AXES, ("batch", "tokens", "d_head", "heads"), ("heads", "batch", "tokens", "d_head"))


def _merge(slug, merge, text, rare=False):
    return Form(slug, "merge", merged_by(merge), text, rare)


def _queries_added(case, given):
    if case.heads is not None:
        raise DoesNotFitError
    context, weights, queries = given
    return joined(context) + joined(queries), weights, queries


MERGE = [
    *(
        _merge(
            _merge_slug(order),
            _joined_from(order),
            f"({', '.join(order)}) reshaped straight to (batch, tokens, d_model)",
            order not in COMMON_ORDERS,
        )
        for order in ORDERS
    ),
    Form("queries-added", "merge", _queries_added, "heads side by side, + Q"),
    _merge("mha-combine-reversed", lambda heads: joined(heads[:, ::-1]), "heads in reverse", True),
    _merge("folded-order", _batch_mixed, "batch and heads folded in one order, unfolded in the other"),
    _merge("folded-order", _batch_mixed_back, "batch and heads folded in one order, unfolded in the other", True),
    _merge("mha-mean-heads", _averaged, "the heads averaged"),
    _merge("mha-mean-heads", _summed, "the heads added up"),
    _merge("mha-mean-heads", _repeated, "the heads averaged, each feature repeated", True),
    _merge(
        "combine-one-head",
        lambda heads: joined(np.repeat(heads[:, :1], heads.shape[1], 1)),
        "head 0 in every place",
        True,
    ),
    _merge(
        "combine-one-head",
        lambda heads: joined(np.repeat(heads[:, -1:], heads.shape[1], 1)),
        "the last head in every place",
        True,
    ),
]


def _output(change):
    def run(case, given):
        if "O" not in case.matrices:
            raise DoesNotFitError
        return change(case, given[0]), *given[1:]

    return run


def _needs_square(case):
    matrix = case.matrices["O"]
    if matrix.shape[0] != matrix.shape[1]:
        raise DoesNotFitError
    return matrix


def _without_output_bias(case, merged):
    if "b_O" not in case.matrices:
        raise DoesNotFitError
    return merged @ case.matrices["O"]


def _bias_once_a_head(case, merged):
    return merged @ case.matrices["O"] + case.n_heads * case.matrices["b_O"]


def _other_matrix(letter):
    def change(case, merged):
        return merged @ case.matrices[letter] + case.bias_of(letter)

    return change


def _blocks_of_each(case, merged):
    heads = cut(merged, case.n_heads)
    matrix = _needs_square(case)
    return joined(
        np.stack([heads[:, i] @ block_of(matrix, case.n_heads, i, i) for i in range(case.n_heads)], 1)
    ) + case.bias_of("O")


def _first_block(case, merged):
    matrix = _needs_square(case)
    return joined(cut(merged, case.n_heads) @ block_of(matrix, case.n_heads, 0, 0)) + case.bias_of("O")


def _first_rows(case, merged):
    heads = cut(merged, case.n_heads)
    return heads.sum(1) @ case.matrices["O"][: heads.shape[-1]] + case.bias_of("O")


def _mean_through_first_rows(case, merged):
    heads = cut(merged, case.n_heads)
    return heads.mean(1) @ case.matrices["O"][: heads.shape[-1]] + case.bias_of("O")


OUTPUT = [
    Form("output-bias-repeated", "output", _output(_bias_once_a_head), "W_O, with its bias once a head", True),
    Form("mha-no-output-projection", "output", _output(lambda case, merged: merged), "no W_O"),
    Form(
        "mha-output-projection-transposed",
        "output",
        _output(lambda case, merged: merged @ _needs_square(case).T + case.bias_of("O")),
        "W_Oᵀ",
    ),
    Form("bias-left-out", "output", _output(_without_output_bias), "W_O without its bias", True),
    Form(
        "mha-output-projection-twice",
        "output",
        _output(lambda case, merged: right_output(case, (*right_output(case, (merged, None, None))[:2], None))[0]),
        "W_O twice",
        True,
    ),
    *(
        Form("mha-same-matrix", "output", _output(_other_matrix(letter)), f"W_{letter} for W_O", True)
        for letter in LETTERS
    ),
    Form("mha-block-diagonal", "output", _output(_blocks_of_each), "a block of W_O for each head", True),
    Form("mha-projection-per-head", "output", _output(_first_block), "one block of W_O for every head", True),
    Form("mha-projection-per-head", "output", _output(_first_rows), "the first rows of W_O for every head", True),
    Form("mha-mean-heads", "output", _output(_mean_through_first_rows), "the heads averaged", True),
]


def _add(change):
    def run(case, given):
        if case.X is None or given[0].shape != case.X.shape:
            raise DoesNotFitError
        return change(case, given[0]), *given[1:]

    return run


ADD = [
    Form("mha-residual-added", "add", _add(lambda case, output: output + case.X), "+ X"),
    Form("projection-activated", "add", _add(lambda case, output: np.maximum(output, 0)), "relu", True),
]
