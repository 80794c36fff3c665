"""The mistakes that people make in `multi_head_attention`: one step done in another way, or two."""

import itertools

import numpy as np

from function_judge.catalogue import Mistake
from mha_helpers.attention import (
    combine_heads,
    masked_attention,
    multi_head_attention,
    scaled_dot_product_attention,
    softmax,
    softmax_or_zeros,
    split_heads,
)
from mha_helpers.exercises.masking.mistakes import masked_attention as in_notebook_03
from mha_helpers.exercises.mistakes import in_each_head
from mha_helpers.exercises.mistakes.catalogue import also, inside, maker, mistake_of, mistakes_in
from mha_helpers.exercises.mistakes.steps import (
    attention_with,
    every_nth,
    heads_not_moved,
    joined_features_first,
    joined_straight,
    reversed_heads,
    root,
    split_straight,
    swap,
    where_masked,
)


def _product(array, W):
    return array @ W


def _layer(
    *,
    project=_product,
    split=split_heads,
    attend=scaled_dot_product_attention,
    combine=combine_heads,
    finish=_product,
):
    """Return multi-head attention in which a step or two is done in another way."""

    def wrong_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        heads, weights = attend(*(split(project(X, W), n_heads) for W in (W_Q, W_K, W_V)), mask)
        return finish(combine(heads), W_O), weights

    return wrong_attention


_attending = maker(lambda attend: _layer(attend=attend))


_combining = maker(lambda combine: _layer(combine=combine))


def _in_each_head(**steps):
    """Return multi-head attention with a step of the attention in its heads done in another way."""
    return _layer(attend=attention_with(**{"weigh": softmax_or_zeros} | steps))


_weighing = maker(lambda weigh: _in_each_head(weigh=weigh))


_scaling = maker(lambda factor: _in_each_head(factor=factor))


@maker
def _brought_together(join):
    """Return multi-head attention whose output is join(heads, W_O)."""
    return _layer(combine=lambda heads: heads, finish=join)


@maker
def _per_head(project):
    """Return multi-head attention whose queries, keys and values are project(X, W, n_heads), heads and all."""

    def wrong_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        heads, weights = scaled_dot_product_attention(*(project(X, W, n_heads) for W in (W_Q, W_K, W_V)), mask)
        return combine_heads(heads) @ W_O, weights

    return wrong_attention


@maker
def _right_but(change):
    """Return right multi-head attention, of which change(output, weights, X) is returned."""
    return lambda X, W_Q, W_K, W_V, W_O, n_heads, mask=None: change(
        *multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask), X
    )


@maker
def _with_matrices(choose):
    """Return multi-head attention whose four matrices are choose(W_Q, W_K, W_V, W_O)."""
    return lambda X, W_Q, W_K, W_V, W_O, n_heads, mask=None: multi_head_attention(
        X, *choose(W_Q, W_K, W_V, W_O), n_heads, mask
    )


def _block(W, n_heads, row, column):
    d_head = len(W) // n_heads
    return W[row * d_head : (row + 1) * d_head, column * d_head : (column + 1) * d_head]


EACH = list(itertools.product((True, False), repeat=3))  # which of queries, keys and values
CHOICES = list(itertools.product(range(3), repeat=3))  # which of three matrices each of them gets


@maker(lambda finish: _layer(finish=finish))
def mha_no_output_projection(combined, W_O):
    """You don't use W_O. Side by side, each head only fills its own columns. Multiply the combined heads by W_O."""
    return combined


@maker(lambda finish: _layer(finish=finish))
def mha_output_projection_transposed(combined, W_O):
    """You multiply by W_O.T. With row vectors it is combined @ W_O. (PyTorch's Linear stores its matrix transposed;
    this course doesn't.)"""
    return combined @ W_O.T


@_with_matrices
@also(lambda *W: tuple(M.T for M in W), turned=[each for each in EACH if any(each)])
def mha_projection_transposed(*W, turned=(True, True, True)):
    """You multiply by W_Q.T, W_K.T or W_V.T. With row vectors it is X @ W_Q. (PyTorch's Linear stores its matrix
    transposed; this course doesn't.)"""
    return *(M.T if turn else M for M, turn in zip(W[:3], turned, strict=True)), W[3]


@_per_head
@also(block=(lambda i: (0, 0), lambda i: (i, 0), lambda i: (0, i)))
def mha_split_input(X, W, n_heads, block=lambda i: (i, i)):
    """You cut X first and project each slice. Then a head sees only its slice of the features. Every head reads all of
    X: project first, X @ W_Q, and split the result."""
    slices = split_heads(X, n_heads)
    return np.stack([slices[..., i, :, :] @ _block(W, n_heads, *block(i)) for i in range(n_heads)], axis=-3)


@also(_layer(combine=lambda heads: heads))
@_per_head
@also(
    lambda X, W, n_heads: split_heads(split_heads(X, n_heads) @ W, n_heads),
    lambda X, W, n_heads: swap(split_heads(X, n_heads) @ W),
    lambda X, W, n_heads: heads_not_moved(X, n_heads) @ W,
)
def mha_width_mismatch(X, W, n_heads):
    """Something d_head wide meets a matrix with d_model rows. Did you split X itself? W_Q, W_K and W_V expect whole
    rows of X: project first, X @ W_Q, and split the result. Did you split the queries, but not the keys? Split all
    three. W_O expects the heads side by side: use combine_heads, and don't add or average them."""
    return split_heads(X, n_heads) @ W


@also(is_split=[(True, False, True), (False, True, True), (False, False, True)])
def mha_one_not_split(X, W_Q, W_K, W_V, W_O, n_heads, mask=None, is_split=(True, True, False)):
    """Of queries, keys and values, some are split into heads and some are not. Split all three: X @ W_Q, X @ W_K and X
    @ W_V."""
    projected = [
        split_heads(X @ W, n_heads) if split else X @ W for W, split in zip((W_Q, W_K, W_V), is_split, strict=True)
    ]
    heads, weights = scaled_dot_product_attention(*projected, mask)
    return combine_heads(heads) @ W_O, weights


def _whole_in_each_head(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """Give each head all the columns, as in a loop that takes out none."""
    context, weights = scaled_dot_product_attention(X @ W_Q, X @ W_K, X @ W_V, mask)
    return np.concatenate([context] * n_heads, axis=-1) @ W_O, weights


@also(_whole_in_each_head, _per_head(lambda X, W, n_heads: np.stack([X @ W] * n_heads, axis=-3)))
def mha_full_width_heads(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """Every head is d_model wide, so side by side they are too wide for W_O. The heads share out the columns of X @
    W_Q, X @ W_K and X @ W_V: each is d_model // n_heads wide."""
    output, weights = _whole_in_each_head(X, W_Q, W_K, W_V, W_O, n_heads, mask)
    return output, np.stack([weights] * n_heads, axis=-3)


@also(_layer(project=lambda X, W: X, finish=lambda combined, W_O: combined))
@maker(lambda project: _layer(project=project))
def mha_no_projections(X, W):
    """You split X itself and don't use W_Q, W_K and W_V, so queries, keys and values are all the same. Split X @ W_Q, X
    @ W_K and X @ W_V."""
    return X


def _first_context(queries, keys, values, mask):
    """Every head's context is head 0's."""
    context, weights = scaled_dot_product_attention(queries, keys, values, mask)
    return np.repeat(context[..., :1, :, :], context.shape[-3], axis=-3), weights


@also(_layer(attend=_first_context), is_shared=[each for each in EACH if any(each)])
def mha_shared_head(X, W_Q, W_K, W_V, W_O, n_heads, mask=None, is_shared=(True, True, True)):
    """Every head uses head 0's columns, in at least one of the projections. Head i has columns of its own, i * d_head
    to (i + 1) * d_head: split_heads gives it those."""
    split = [split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V)]
    split = [
        heads[..., [0] * n_heads, :, :] if shared else heads for heads, shared in zip(split, is_shared, strict=True)
    ]
    heads, weights = scaled_dot_product_attention(*split, mask)
    return combine_heads(heads) @ W_O, weights


@_with_matrices
@also(choice=[choice for choice in CHOICES if len(set(choice)) < 3])
def mha_same_matrix(*W, choice=(0, 0, 0)):
    """Two of queries, keys and values come from the same matrix, or you mix the keys instead of the values. Each has a
    matrix of its own: X @ W_Q, X @ W_K, X @ W_V."""
    return *(W[i] for i in choice), W[3]


@_with_matrices
@also(choice=[choice for choice in CHOICES if len(set(choice)) == 3 and choice != (0, 1, 2)])
def mha_matrices_swapped(*W, choice=(0, 2, 1)):
    """You mixed up W_Q, W_K and W_V. Queries are X @ W_Q, keys X @ W_K, and values X @ W_V. Check the order in which
    you pass them on, too: queries, keys, values."""
    return *(W[i] for i in choice), W[3]


def _never_split(X, W_Q, W_K, W_V, W_O, n_heads, mask=None, combine=lambda context: context):
    context, weights = scaled_dot_product_attention(X @ W_Q, X @ W_K, X @ W_V, mask)
    return combine(context) @ W_O, weights


@also(
    _never_split,
    lambda *arguments, mask=None: _never_split(*arguments, mask, combine=combine_heads),
    weights_of=(lambda weights, n_heads: np.repeat(weights, n_heads, -3), lambda weights, _: weights[..., 0, :, :]),
)
def mha_no_split(X, W_Q, W_K, W_V, W_O, n_heads, mask=None, weights_of=lambda weights, n_heads: weights):
    """That is one head over all d_model features, whatever n_heads is. Split queries, keys and values with
    split_heads."""
    queries, keys, values = ((X @ W)[..., None, :, :] for W in (W_Q, W_K, W_V))
    is_for_all_heads = mask is None or mask.ndim < 3 or mask.shape[-3] == 1
    context, weights = scaled_dot_product_attention(queries, keys, values, mask if is_for_all_heads else None)
    return context[..., 0, :, :] @ W_O, weights_of(weights, n_heads)


@maker(lambda split: _layer(split=split))
def mha_split_without_transpose(X, n_heads):
    """Your heads are made by a reshape straight to (n_heads, seq_len, d_head), which mixes tokens. Use split_heads."""
    return split_straight(X, n_heads)


def _never_moved(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    heads, weights = scaled_dot_product_attention(*(heads_not_moved(X @ W, n_heads) for W in (W_Q, W_K, W_V)), mask)
    return heads.reshape(*X.shape[:-1], -1) @ W_O, weights


@also(lambda *arguments, mask=None: _never_moved(*arguments))
def mha_heads_not_moved(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """Your heads come after the tokens, (..., seq_len, n_heads, d_head), so the heads of one token attend to each
    other. Attention works on the last two axes: swap heads and tokens first, as split_heads does."""
    return _never_moved(X, W_Q, W_K, W_V, W_O, n_heads, mask)


@_combining
def mha_combine_without_transpose(heads):
    """Your heads are right, but you reshape them straight back to (seq_len, d_model), which mixes tokens. Use
    combine_heads."""
    return joined_straight(heads)


@maker(lambda combine: _layer(combine=combine, split=split_straight))
def mha_both_without_transpose(heads):
    """You reshape straight to (n_heads, seq_len, d_head), and straight back. Every shape is right, but each head
    attends to pieces of mixed tokens. Use split_heads and combine_heads."""
    return joined_straight(heads)


@also(_layer(split=every_nth, combine=joined_features_first))
@maker(lambda split: _layer(split=split))
def mha_strided(X, n_heads):
    """Head i gets columns i, i + n_heads, and so on. Here a head's columns are neighbours, i * d_head to (i + 1) *
    d_head: use split_heads (and combine_heads)."""
    return every_nth(X, n_heads)


@_combining
def mha_combine_interleaved(heads):
    """The features of the heads are interleaved before W_O. Keep each head's together, as combine_heads does: the first
    d_head rows of W_O are head 0's."""
    return joined_features_first(heads)


@_combining
def mha_combine_reversed(heads):
    """The heads meet W_O in reverse order. The first d_head rows of W_O are head 0's."""
    return combine_heads(reversed_heads(heads))


@_brought_together
@also(
    lambda heads, W_O: combine_heads(np.broadcast_to(heads.sum(axis=-3, keepdims=True), heads.shape)) @ W_O,
    lambda heads, W_O: heads.mean(axis=-3) @ W_O[: heads.shape[-1]],
    lambda heads, W_O: np.repeat(heads.mean(axis=-3), heads.shape[-3], axis=-1) @ W_O,
)
def mha_mean_heads(heads, W_O):
    """You average the heads, or add them up, before W_O: then it cannot tell them apart. Put them side by side with
    combine_heads; W_O has rows for each of them."""
    return combine_heads(np.broadcast_to(heads.mean(axis=-3, keepdims=True), heads.shape)) @ W_O


@_brought_together
@also(lambda heads, W_O: combine_heads(heads @ _block(W_O, heads.shape[-3], 0, 0)))
def mha_projection_per_head(heads, W_O):
    """One block of W_O serves every head. Head i has its own rows of it, i * d_head to (i + 1) * d_head;
    combine_heads(heads) @ W_O brings each to its own."""
    return heads.sum(axis=-3) @ W_O[: heads.shape[-1]]


@_brought_together
def mha_block_diagonal(heads, W_O):
    """Each head goes through a small block of W_O and fills d_head columns of the output, so that heads never meet.
    Every head may add to every column: combine_heads(heads) @ W_O, with all of W_O."""
    n_heads = heads.shape[-3]
    return combine_heads(np.stack([heads[..., i, :, :] @ _block(W_O, n_heads, i, i) for i in range(n_heads)], axis=-3))


@_scaling
def mha_scale_d_model(queries, keys, values):
    """You divide by sqrt(d_model). In a head each dot product adds up d_head terms only: divide by sqrt(d_head), the
    width of the split queries."""
    return (queries.shape[-3] * queries.shape[-1]) ** -0.5


SCALES = tuple(mistake_of(_scaling(step)) for step in in_each_head.SCALES)
SOFTMAXES = tuple(mistake_of(_weighing(step)) for step in in_each_head.SOFTMAXES)


@_weighing
@also(axis=(1, 2))
def softmax_axis_from_front(scores, axis=0):
    """Your softmax counts its axis from the front. How many batch axes there are decides what axis=1 or axis=2 means;
    the keys are always axis=-1."""
    return in_each_head.over(scores, axis)


def _without_a_question(weigh):
    """Return attention that calls weigh(scores, mask) where the mask is None, too: np.where(None, a, b) is b."""

    def attend(queries, keys, values, mask):
        weights = weigh(queries @ swap(keys) * root(queries), mask)
        return weights @ values, weights

    return attend


MHA_MASK_NONE = Mistake(
    "mha-mask-none",
    "It goes wrong where no mask is given: `mask` is None then. (np.where(None, a, b) takes b everywhere, so that"
    " every key counts as hidden.) Ask first whether there is one, `if mask is not None:`; or call "
    "scaled_dot_product_attention(queries, keys, values, mask), which takes None, too.",
    (
        _layer(attend=masked_attention),
        *(
            _layer(attend=_without_a_question(weigh))
            for weigh in (
                lambda scores, mask: softmax_or_zeros(np.where(mask, scores, -np.inf)),
                lambda scores, mask: softmax(np.where(mask, scores, -np.inf)),
                lambda scores, mask: softmax(np.where(mask, scores, -1e9)),
                lambda scores, mask: np.where(mask, softmax(scores), 0),
            )
        ),
    ),
)


@_attending
def mha_mask_as_scale(queries, keys, values, mask):
    """Where there is a mask, your scores are multiplied by it and by nothing else, as if it were the scale. Is it the
    fourth argument of your scaled_dot_product_attention from notebook 02? There, the fourth is `scale`. In the one that
    the set-up cell imports it is the mask: take yours out, and run that cell again."""
    if mask is None:
        return scaled_dot_product_attention(queries, keys, values)
    weights = softmax(queries @ swap(keys) * mask)
    return weights @ values, weights


@_attending
def mha_mask_ignored(queries, keys, values, mask):
    """Hidden keys get weight like all the others: the mask does not reach your weights. Pass it on to the attention
    that you call, as its fourth argument or as mask=mask: scaled_dot_product_attention(queries, keys, values, mask). If
    you compute the weights yourself, use it before the softmax: np.where(mask, scores, -np.inf)."""
    return scaled_dot_product_attention(queries, keys, values)


EARLIER = tuple(
    inside(lambda wrong: _layer(attend=where_masked(wrong)), mistake, "Inside your heads: ")
    for mistake in mistakes_in(
        in_notebook_03,
        "mask-inverted",
        "mask-score-zero",
        "mask-full-row-nan",
        "mask-full-row-uniform",
        "mask-full-row-unmasked",
        "mask-after-softmax",
        "mask-added-boolean",
        "mask-zero-times-inf",
        "mask-transposed",
    )
)


@_attending
@also(lambda queries, keys, values, mask: scaled_dot_product_attention(queries, keys, values, is_causal=True))
def mha_always_causal(queries, keys, values, mask):
    """You hide the future, whether or not a mask says so. Hide what the mask hides, and without a mask, nothing."""
    return scaled_dot_product_attention(queries, keys, values, mask, is_causal=True)


ALL = slice(None)


@_attending
@also(
    attend=(scaled_dot_product_attention, attention_with(weigh=softmax_or_zeros)),
    place=[(..., None, ALL, ALL), (None,), (None, None), (ALL, None), (ALL, None, None)],
    only_beyond=(0, 2),
)
def mha_mask_axis_added(
    queries, keys, values, mask, attend=scaled_dot_product_attention, place=(..., None, ALL, ALL), only_beyond=0
):
    """You add axes to the mask. It already fits the weights' axes, (..., n_heads, seq_len, seq_len), or is a single
    (seq_len, seq_len) mask for all heads: pass it on as it is."""
    return attend(queries, keys, values, mask if mask is None or mask.ndim <= only_beyond else mask[place])


@_attending
def mha_mask_in_a_loop(queries, keys, values, mask):
    """It is right as long as one mask serves all heads and sentences. But you loop over the heads, and the mask has an
    axis for them, too, so that it doesn't fit a single one. Attention takes all heads at once: give it queries, keys
    and values with their axis of heads, and the mask as it is."""
    heads = [[array[..., i, :, :] for array in (queries, keys, values)] for i in range(queries.shape[-3])]
    found = zip(*(scaled_dot_product_attention(*head, mask) for head in heads), strict=True)
    return tuple(np.stack(parts, axis=-3) for parts in found)


@_attending
def mha_mask_first_sentence(queries, keys, values, mask):
    """Every sentence gets the first one's mask. Pass the mask on as it is; it broadcasts by itself."""
    has_batch = mask is not None and mask.ndim > 3
    return scaled_dot_product_attention(queries, keys, values, mask[(0,) * (mask.ndim - 3)] if has_batch else mask)


@_attending
def mha_attention_taken_apart_swapped(queries, keys, values, mask):
    """You take what attention returns in the wrong order, so your heads are joined from its weights. It returns the
    context first and the weights second: heads, weights = scaled_dot_product_attention(...)."""
    context, weights = scaled_dot_product_attention(queries, keys, values, mask)
    return weights, context


@_attending
def weights_transposed(queries, keys, values, mask):
    """Your weights are transposed before they meet the values. Use them as they are: weights @ values."""
    _, weights = scaled_dot_product_attention(queries, keys, values, mask)
    return swap(weights) @ values, weights


@_right_but
@also(
    lambda output, weights, X: (output, weights.sum(axis=-3)),
    lambda output, weights, X: (output, weights.mean(axis=-3, keepdims=True)),
)
def mha_weights_averaged(output, weights, X):
    """You return the weights averaged (or added up) over the heads, as PyTorch's MultiheadAttention does unless told
    otherwise. Here each head's weights are asked for: (..., n_heads, seq_len, seq_len)."""
    return output, weights.mean(axis=-3)


@_right_but
@also(head=(0,))
def mha_weights_of_one_head(output, weights, X, head=-1):
    """You return one head's weights, maybe those that a loop left in its variable. Collect the weights of all heads:
    (..., n_heads, seq_len, seq_len)."""
    return output, weights[..., head, :, :]


@_right_but
def mha_weights_before_batch(output, weights, X):
    """Your weights have their heads in front of the batch. They belong right before the queries: np.stack(..., axis=-3)
    puts them there."""
    return output, np.moveaxis(weights, -3, 0)


@_right_but
def mha_residual_added(output, weights, X):
    """You add X to the output. In a transformer that happens outside of attention; here return the output alone."""
    return output + X, weights


@_right_but
def returns_output_only(output, weights, X):
    """You return only the output. Return both: output, weights."""
    return output


@_right_but
def returns_weights_only(output, weights, X):
    """You return only the weights. Return both: output, weights."""
    return weights


@_right_but
def returns_swapped(output, weights, X):
    """Both are there, in the other order. Return the output first, then the weights."""
    return weights, output
