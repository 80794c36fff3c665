"""Values mixed, heads joined and outputs made in other ways."""

import numpy as np

from attention_doctor.equation.stages import DoesNotFitError, cut, joined, merged_by, mixed_by
from attention_doctor.forms.common import (
    AXES,
    FEATURES_FIRST,
    LETTERS,
    ORDERS,
    block_of,
    maker,
    only_without_heads,
    square,
    swap,
)


def _values_alone(weights, queries, keys, values):
    square(weights)
    return values


_mix, _merge = maker("mix", mixed_by), maker("merge", merged_by)
MIX = [
    _mix("weights-transposed", lambda w, q, k, v: swap(square(w)) @ v, "weightsᵀ V"),
    _mix("values-are-keys", lambda w, q, k, v: w @ k, "weights K"),
    _mix("values-are-queries", lambda w, q, k, v: square(w) @ q, "weights Q"),
    _mix("weights-not-used", _values_alone, "V", True),
    _mix("weights-twice", lambda w, q, k, v: square(w) @ (w @ v), "weights weights V", True),
    *(
        _mix("weights-shared-by-heads", mix, f"every head mixes with {text}", True)
        for mix, text in (
            (lambda w, q, k, v: w.mean(1, keepdims=True) @ v, "the average of all weights"),
            (lambda w, q, k, v: w[:, :1] @ v, "head 0's weights"),
        )
    ),
]


def _joined_from(order):
    """Swap the axes to this order, and reshape to (batch, tokens, features)."""

    def merge(heads):
        batch, _, seq_len, _ = heads.shape
        return heads.transpose([AXES.index(axis) for axis in order]).reshape(batch, seq_len, -1)

    return merge


# A reshape without the right transpose is a mistake for each order of axes; these are tried first.
HEADS_FIRST = ("heads", "batch", "tokens", "d_head")
COMMON_ORDERS = (AXES, FEATURES_FIRST, HEADS_FIRST)


def _merge_slug(order):
    if order in (AXES, HEADS_FIRST):
        return "mha-combine-without-transpose"
    if order == FEATURES_FIRST:
        return "mha-combine-interleaved"
    return "combine-wrong-transpose" if order[0] == "batch" else "combine-batch-lost"


def _batch_mixed(heads):
    """(batch, n_heads) folded heads first, and unfolded batch first, or the other way round."""
    return joined(heads.swapaxes(0, 1).reshape(heads.shape))


def _batch_mixed_back(heads):
    batch, n_heads, *rest = heads.shape
    return joined(heads.reshape(n_heads, batch, *rest).swapaxes(0, 1))


def _everywhere(combine):
    """What combine(heads) gives stands in the place of every head."""
    return lambda heads: joined(np.broadcast_to(combine(heads), heads.shape))


@only_without_heads
def _queries_added(case, inputs):
    context, weights, queries = inputs
    return joined(context) + joined(queries), weights, queries


FOLDED = "batch and heads folded in one order, unfolded in the other"
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
    maker("merge")("queries-added", _queries_added, "heads side by side, + Q"),
    _merge("mha-combine-reversed", lambda heads: joined(heads[:, ::-1]), "heads in reverse", True),
    _merge("folded-order", _batch_mixed, FOLDED),
    _merge("folded-order", _batch_mixed_back, FOLDED, True),
    _merge("mha-mean-heads", _everywhere(lambda heads: heads.mean(1, keepdims=True)), "the heads averaged"),
    _merge("mha-mean-heads", _everywhere(lambda heads: heads.sum(1, keepdims=True)), "the heads added up"),
    _merge(
        "mha-mean-heads",
        lambda heads: np.repeat(heads.mean(1), heads.shape[1], axis=-1),
        "the heads averaged, each feature repeated",
        True,
    ),
    _merge("combine-one-head", _everywhere(lambda heads: heads[:, :1]), "head 0 in every place", True),
    _merge("combine-one-head", _everywhere(lambda heads: heads[:, -1:]), "the last head in every place", True),
]


def _through(change):
    """The output is change(case, what was merged, W_O)."""

    def run(case, inputs):
        if "O" not in case.matrices:
            raise DoesNotFitError
        return change(case, inputs.context, case.matrices["O"]), inputs.weights

    return run


def _biased(change):
    return lambda case, merged, W: change(case, merged, W) + case.bias_of("O")


def _of_heads(change):
    """The output is change(heads, W_O), and its bias."""
    return _through(_biased(lambda case, merged, W: change(cut(merged, case.n_heads), W)))


def _without_its_bias(case, merged, W):
    if "b_O" not in case.matrices:
        raise DoesNotFitError
    return merged @ W


def _blocks_of_each(heads, W):
    n_heads = heads.shape[1]
    return joined(np.stack([heads[:, i] @ block_of(square(W), n_heads, i, i) for i in range(n_heads)], 1))


def _first_block(heads, W):
    return joined(heads @ block_of(square(W), heads.shape[1], 0, 0))


_output = maker("output")
OUTPUT = [
    _output(
        "output-bias-repeated",
        _through(lambda case, merged, W: merged @ W + case.n_heads * case.matrices["b_O"]),
        "W_O, with its bias once a head",
        True,
    ),
    _output("mha-no-output-projection", _through(lambda case, merged, W: merged), "no W_O"),
    _output(
        "mha-output-projection-transposed", _through(_biased(lambda case, merged, W: merged @ square(W).T)), "W_Oᵀ"
    ),
    _output("bias-left-out", _through(_without_its_bias), "W_O without its bias", True),
    _output(
        "mha-output-projection-twice",
        _through(_biased(lambda case, merged, W: (merged @ W + case.bias_of("O")) @ W)),
        "W_O twice",
        True,
    ),
    *(
        _output(
            "mha-same-matrix",
            _through(lambda case, merged, _, letter=letter: merged @ case.matrices[letter] + case.bias_of(letter)),
            f"W_{letter} for W_O",
            True,
        )
        for letter in LETTERS
    ),
    _output("mha-block-diagonal", _of_heads(_blocks_of_each), "a block of W_O for each head", True),
    _output("mha-projection-per-head", _of_heads(_first_block), "one block of W_O for every head", True),
    _output(
        "mha-projection-per-head",
        _of_heads(lambda heads, W: heads.sum(1) @ W[: heads.shape[-1]]),
        "the first rows of W_O for every head",
        True,
    ),
    _output(
        "mha-mean-heads", _of_heads(lambda heads, W: heads.mean(1) @ W[: heads.shape[-1]]), "the heads averaged", True
    ),
]


def _add(change):
    def run(case, inputs):
        if case.X is None or inputs[0].shape != case.X.shape:
            raise DoesNotFitError
        return change(case, inputs[0]), *inputs[1:]

    return run


ADD = [
    maker("add", _add)("mha-residual-added", lambda case, output: output + case.X, "+ X"),
    maker("add", _add)("projection-activated", lambda case, output: np.maximum(output, 0), "relu", True),
]
