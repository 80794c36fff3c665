"""The mistakes that people make in `multi_head_attention`: one step done in another way, or two."""

import itertools

import numpy as np

from mha_helpers.exercises.engine import Mistake
from mha_helpers.exercises.inputs import NEEDS_THE_ROWS_MAXIMUM
from mha_helpers.exercises.masking.masked_attention_mistakes import MASKED_MISTAKES
from mha_helpers.exercises.steps import (
    cut,
    cut_straight,
    every_nth,
    joined_features_first,
    joined_straight,
    normalised,
    reversed_heads,
    swap,
)
from mha_helpers.maths.attention import (
    combine_heads,
    masked_attention,
    multi_head_attention,
    scaled_dot_product_attention,
    softmax,
    softmax_or_zeros,
    split_heads,
)
from mha_helpers.maths.masks import apply_mask

WEIGHTS = 1  # the place of the weights among what multi_head_attention returns


def _product(array, W):
    return array @ W


def _through(
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


def _per_head(project):
    """Return multi-head attention whose queries, keys and values are project(X, W, n_heads), heads and all."""

    def wrong_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        heads, weights = scaled_dot_product_attention(*(project(X, W, n_heads) for W in (W_Q, W_K, W_V)), mask)
        return combine_heads(heads) @ W_O, weights

    return wrong_attention


def _brought_together(join):
    """Return multi-head attention whose output is join(heads, W_O)."""
    return _through(combine=lambda heads: heads, finish=join)


def _right_but(change):
    """Return right multi-head attention, of which change(output, weights, X) is returned."""

    def wrong_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        return change(*multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask), X)

    return wrong_attention


def _matrices(choose):
    """Return multi-head attention whose four matrices are choose(W_Q, W_K, W_V, W_O)."""

    def wrong_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        return multi_head_attention(X, *choose(W_Q, W_K, W_V, W_O), n_heads, mask)

    return wrong_attention


def _scores_of(queries, keys, mask, factor):
    scores = queries @ swap(keys) * factor
    return scores if mask is None else apply_mask(scores, mask)


def _scaled_by(factor):
    """Return attention in heads whose scores are multiplied by factor(queries)."""
    return lambda queries, keys, values, mask: scaled_dot_product_attention(
        queries, keys, values, mask, scale=factor(queries)
    )


def _weighing(weigh):
    """Return attention in heads whose weights are weigh(scores)."""

    def attend(queries, keys, values, mask):
        weights = weigh(_scores_of(queries, keys, mask, queries.shape[-1] ** -0.5))
        return weights @ values, weights

    return attend


def _mixing(mix):
    """Return attention in heads whose contexts are mix(weights, queries, keys, values)."""

    def attend(queries, keys, values, mask):
        weights = scaled_dot_product_attention(queries, keys, values, mask)[1]
        return mix(weights, queries, keys, values), weights

    return attend


def _masked_by(wrong):
    """A wrong masked attention of notebook 03, in each head."""

    def attend(queries, keys, values, mask):
        if mask is None:
            return scaled_dot_product_attention(queries, keys, values)
        return wrong(queries, keys, values, mask)

    return attend


def _masked_by_more_axes(place, attend):
    """Attention whose mask is mask[place], with more axes of length 1."""
    return lambda queries, keys, values, mask: attend(queries, keys, values, None if mask is None else mask[place])


def _attend_by_hand(queries, keys, values, mask):
    scores = queries @ swap(keys) / np.sqrt(queries.shape[-1])
    weights = softmax_or_zeros(scores if mask is None else np.where(mask, scores, -np.inf))
    return weights @ values, weights


def _head_by_head(queries, keys, values, mask):
    """Attention in a loop over heads, each of which gets the whole mask."""
    found = [
        scaled_dot_product_attention(*(array[..., i, :, :] for array in (queries, keys, values)), mask)
        for i in range(queries.shape[-3])
    ]
    contexts, weights = zip(*found, strict=True)
    return np.stack(contexts, axis=-3), np.stack(weights, axis=-3)


def _past_only(queries, keys, values, mask):
    return scaled_dot_product_attention(queries, keys, values, mask, is_causal=True)


def _past_and_no_mask(queries, keys, values, mask):
    return scaled_dot_product_attention(queries, keys, values, is_causal=True)


def _never_without_a_mask(weigh):
    """Attention that calls weigh(scores, mask) also where the mask is None: np.where(None, a, b) is b everywhere."""

    def attend(queries, keys, values, mask):
        weights = weigh(queries @ swap(keys) / np.sqrt(queries.shape[-1]), mask)
        return weights @ values, weights

    return attend


def _mask_as_scale(queries, keys, values, mask):
    """The mask lands where a function expects the scale."""
    return (
        scaled_dot_product_attention(queries, keys, values)
        if mask is None
        else _scaled_by_it(queries, keys, values, mask)
    )


def _scaled_by_it(queries, keys, values, mask):
    weights = softmax(queries @ swap(keys) * mask)
    return weights @ values, weights


# What `scores / d ** 1 / 2` and `scores / (d ** 1 / 2)` multiply by.
HALVES = (lambda heads: 1 / (2 * heads.shape[-1]), lambda heads: 2 / heads.shape[-1])


def _over(axis):
    """The softmax over another axis; where all are hidden it gives zeros."""
    return lambda scores: np.moveaxis(softmax_or_zeros(np.moveaxis(scores, axis, -1)), -1, axis)


def _block(W, n_heads, row, column):
    d_head = len(W) // n_heads
    return W[row * d_head : (row + 1) * d_head, column * d_head : (column + 1) * d_head]


def _slices_through(block):
    """Project head i's slice of X through block(W, n_heads, i)."""

    def project(X, W, n_heads):
        slices = split_heads(X, n_heads)
        return np.stack([slices[..., i, :, :] @ block(W, n_heads, i) for i in range(n_heads)], axis=-3)

    return project


def _first_columns(X, W, n_heads):
    first = X @ W[:, : W.shape[1] // n_heads]
    return np.stack([first] * n_heads, axis=-3)


def _own_columns(X, W, n_heads):
    return split_heads(X @ W, n_heads)


def _shared(which):
    """Return multi-head attention in which every head has head 0's columns of the chosen matrices."""

    def wrong_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        projected = (
            (_first_columns if shared else _own_columns)(X, W, n_heads)
            for W, shared in zip((W_Q, W_K, W_V), which, strict=True)
        )
        heads, weights = scaled_dot_product_attention(*projected, mask)
        return combine_heads(heads) @ W_O, weights

    return wrong_attention


def _first_context(queries, keys, values, mask):
    """Every head's context is head 0's."""
    context, weights = scaled_dot_product_attention(queries, keys, values, mask)
    return np.repeat(context[..., :1, :, :], context.shape[-3], axis=-3), weights


def _averaged(heads, W_O):
    """All heads replaced by their mean, so that W_O still fits."""
    return combine_heads(np.broadcast_to(heads.mean(axis=-3, keepdims=True), heads.shape)) @ W_O


def _summed(heads, W_O):
    return combine_heads(np.broadcast_to(heads.sum(axis=-3, keepdims=True), heads.shape)) @ W_O


def _mean_through_first_rows(heads, W_O):
    return heads.mean(axis=-3) @ W_O[: heads.shape[-1]]


def _mean_repeated(heads, W_O):
    return np.repeat(heads.mean(axis=-3), heads.shape[-3], axis=-1) @ W_O


def _first_rows_for_all(heads, W_O):
    return heads.sum(axis=-3) @ W_O[: heads.shape[-1]]


def _first_block_for_all(heads, W_O):
    return combine_heads(heads @ _block(W_O, heads.shape[-3], 0, 0))


def _block_of_each(heads, W_O):
    n_heads = heads.shape[-3]
    return combine_heads(np.stack([heads[..., i, :, :] @ _block(W_O, n_heads, i, i) for i in range(n_heads)], axis=-3))


def _whole_width(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """One head over all d_model features, whatever n_heads is."""
    queries, keys, values = ((X @ W)[..., None, :, :] for W in (W_Q, W_K, W_V))
    context, weights = scaled_dot_product_attention(queries, keys, values, mask if _for_all_heads(mask) else None)
    return context[..., 0, :, :] @ W_O, weights


def _for_all_heads(mask):
    return mask is None or mask.ndim < 3 or mask.shape[-3] == 1


def _whole_width_repeated(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    output, weights = _whole_width(X, W_Q, W_K, W_V, W_O, n_heads, mask)
    return output, np.repeat(weights, n_heads, axis=-3)


def _whole_width_without_axis(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    output, weights = _whole_width(X, W_Q, W_K, W_V, W_O, n_heads, mask)
    return output, weights[..., 0, :, :]


def _never_split(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    context, weights = scaled_dot_product_attention(X @ W_Q, X @ W_K, X @ W_V, mask)
    return context @ W_O, weights


def _never_split_yet_combined(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    context, weights = scaled_dot_product_attention(X @ W_Q, X @ W_K, X @ W_V, mask)
    return combine_heads(context) @ W_O, weights


def _some_split(which):
    """Return multi-head attention that splits only some of queries, keys and values."""

    def wrong_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        projected = (
            split_heads(X @ W, n_heads) if is_split else X @ W
            for W, is_split in zip((W_Q, W_K, W_V), which, strict=True)
        )
        heads, weights = scaled_dot_product_attention(*projected, mask)
        return combine_heads(heads) @ W_O, weights

    return wrong_attention


def _never_moved(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    heads, weights = scaled_dot_product_attention(*(cut(X @ W, n_heads) for W in (W_Q, W_K, W_V)), mask)
    return heads.reshape(*X.shape[:-1], -1) @ W_O, weights


def _never_moved_nor_masked(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    return _never_moved(X, W_Q, W_K, W_V, W_O, n_heads)


def _heads_meet_W_O(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    heads, weights = scaled_dot_product_attention(*(split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V)), mask)
    return heads @ W_O, weights


def _every_head_whole(collect):
    """Return multi-head attention whose heads take all columns, as in a loop that takes out none."""

    def wrong_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        context, weights = scaled_dot_product_attention(X @ W_Q, X @ W_K, X @ W_V, mask)
        return np.concatenate([context] * n_heads, axis=-1) @ W_O, collect(weights, n_heads)

    return wrong_attention


def _slices_meet_matrices(split, then=lambda projected, n_heads: projected):
    """Return multi-head attention that splits X itself, and may split again what comes out of the projections."""
    return _per_head(lambda X, W, n_heads: then(split(X, n_heads) @ W, n_heads))


def _matrices_chosen(choice):
    return _matrices(lambda *W: (*(W[i] for i in choice), W[3]))


def _matrices_turned(turned):
    return _matrices(lambda *W: (*(M.T if turn else M for M, turn in zip(W[:3], turned, strict=True)), W[3]))


CHOICES = [choice for choice in itertools.product(range(3), repeat=3) if choice != (0, 1, 2)]
IN_EACH_HEAD = {mistake.slug: mistake for mistake in MASKED_MISTAKES}


def _as_in_notebook_03(slug):
    mistake = IN_EACH_HEAD[slug]
    implementations = tuple(_through(attend=_masked_by(wrong)) for wrong in mistake.implementations)
    return Mistake(slug, f"Inside your heads: {mistake.message}", implementations, WEIGHTS)


MULTI_HEAD_MISTAKES = (
    Mistake(
        "mha-no-output-projection",
        "You don't use W_O. Side by side, each head only fills its own columns. Multiply the combined heads by W_O.",
        (_through(finish=lambda combined, W_O: combined),),
    ),
    Mistake(
        "mha-output-projection-transposed",
        "You multiply by W_O.T. With row vectors it is combined @ W_O. (PyTorch's Linear stores its matrix "
        "transposed; this course doesn't.)",
        (_through(finish=lambda combined, W_O: combined @ W_O.T),),
    ),
    Mistake(
        "mha-projection-transposed",
        "You multiply by W_Q.T, W_K.T or W_V.T. With row vectors it is X @ W_Q. (PyTorch's Linear stores its matrix "
        "transposed; this course doesn't.)",
        (
            *(_matrices_turned(turned) for turned in itertools.product((True, False), repeat=3) if any(turned)),
            _matrices(lambda *W: tuple(M.T for M in W)),
        ),
    ),
    Mistake(
        "mha-split-input",
        "You cut X first and project each slice. Then a head sees only its slice of the features. Every head reads all "
        "of X: project first, X @ W_Q, and split the result.",
        (
            _per_head(_slices_through(lambda W, n_heads, i: _block(W, n_heads, i, i))),
            _per_head(_slices_through(lambda W, n_heads, i: _block(W, n_heads, 0, 0))),
            _per_head(_slices_through(lambda W, n_heads, i: _block(W, n_heads, i, 0))),
            _per_head(_slices_through(lambda W, n_heads, i: _block(W, n_heads, 0, i))),
        ),
    ),
    Mistake(
        "mha-width-mismatch",
        "Something d_head wide meets a matrix with d_model rows. Did you split X itself? W_Q, W_K and W_V expect whole "
        "rows of X: project first, X @ W_Q, and split the result. Did you split the queries, but not the keys? "
        "Split all three. W_O expects the heads side by side: use combine_heads, and don't add or average them.",
        (
            _slices_meet_matrices(split_heads),
            _slices_meet_matrices(split_heads, split_heads),
            _slices_meet_matrices(cut),
            _slices_meet_matrices(cut, swap),
            _heads_meet_W_O,
        ),
    ),
    Mistake(
        "mha-one-not-split",
        "Of queries, keys and values, some are split into heads and some are not. Split all three: X @ W_Q, X @ W_K "
        "and X @ W_V.",
        tuple(_some_split(which) for which in itertools.product((True, False), repeat=3) if len(set(which)) > 1),
    ),
    Mistake(
        "mha-full-width-heads",
        "Every head is d_model wide, so side by side they are too wide for W_O. The heads share out the columns of "
        "X @ W_Q, X @ W_K and X @ W_V: each is d_model // n_heads wide.",
        (
            _every_head_whole(lambda weights, n_heads: np.stack([weights] * n_heads, axis=-3)),
            _every_head_whole(lambda weights, n_heads: weights),
            _per_head(lambda X, W, n_heads: np.stack([X @ W] * n_heads, axis=-3)),
        ),
    ),
    Mistake(
        "mha-no-projections",
        "You split X itself and don't use W_Q, W_K and W_V, so queries, keys and values are all the same. Split X @ "
        "W_Q, X @ W_K and X @ W_V.",
        (_through(project=lambda X, W: X), _through(project=lambda X, W: X, finish=lambda combined, W_O: combined)),
    ),
    Mistake(
        "mha-shared-head",
        "Every head uses head 0's columns, in at least one of the projections. Head i has columns of its own, i * "
        "d_head to (i + 1) * d_head: split_heads gives it those.",
        (
            *(_shared(which) for which in itertools.product((True, False), repeat=3) if any(which)),
            _through(attend=_first_context),
        ),
    ),
    Mistake(
        "mha-same-matrix",
        "Two of queries, keys and values come from the same matrix, or you mix the keys instead of the values. Each "
        "has a matrix of its own: X @ W_Q, X @ W_K, X @ W_V.",
        tuple(_matrices_chosen(choice) for choice in CHOICES if len(set(choice)) < 3),
    ),
    Mistake(
        "mha-matrices-swapped",
        "You mixed up W_Q, W_K and W_V. Queries are X @ W_Q, keys X @ W_K, and values X @ W_V. Check the order in "
        "which you pass them on, too: queries, keys, values.",
        tuple(_matrices_chosen(choice) for choice in CHOICES if len(set(choice)) == 3),
    ),
    Mistake(
        "mha-no-split",
        "That is one head over all d_model features, whatever n_heads is. Split queries, keys and values with "
        "split_heads.",
        (_whole_width, _whole_width_repeated, _whole_width_without_axis, _never_split, _never_split_yet_combined),
    ),
    Mistake(
        "mha-split-without-transpose",
        "Your heads are made by a reshape straight to (n_heads, seq_len, d_head), which mixes tokens. Use split_heads.",
        (_through(split=cut_straight),),
    ),
    Mistake(
        "mha-heads-not-moved",
        "Your heads come after the tokens, (..., seq_len, n_heads, d_head), so the heads of one token attend to each "
        "other. Attention works on the last two axes: swap heads and tokens first, as split_heads does.",
        (_never_moved, _never_moved_nor_masked),
    ),
    Mistake(
        "mha-combine-without-transpose",
        "Your heads are right, but you reshape them straight back to (seq_len, d_model), which mixes tokens. Use "
        "combine_heads.",
        (_through(combine=joined_straight),),
    ),
    Mistake(
        "mha-both-without-transpose",
        "You reshape straight to (n_heads, seq_len, d_head), and straight back. Every shape is right, but each head "
        "attends to pieces of mixed tokens. Use split_heads and combine_heads.",
        (_through(split=cut_straight, combine=joined_straight),),
    ),
    Mistake(
        "mha-strided",
        "Head i gets columns i, i + n_heads, and so on. Here a head's columns are neighbours, i * d_head to (i + 1) * "
        "d_head: use split_heads (and combine_heads).",
        (_through(split=every_nth), _through(split=every_nth, combine=joined_features_first)),
    ),
    Mistake(
        "mha-combine-interleaved",
        "The features of the heads are interleaved before W_O. Keep each head's together, as combine_heads does: the "
        "first d_head rows of W_O are head 0's.",
        (_through(combine=joined_features_first),),
    ),
    Mistake(
        "mha-combine-reversed",
        "The heads meet W_O in reverse order. The first d_head rows of W_O are head 0's.",
        (_through(combine=lambda heads: combine_heads(reversed_heads(heads))),),
    ),
    Mistake(
        "mha-mean-heads",
        "You average the heads, or add them up, before W_O: then it cannot tell them apart. Put them side by side with "
        "combine_heads; W_O has rows for each of them.",
        tuple(_brought_together(join) for join in (_averaged, _summed, _mean_through_first_rows, _mean_repeated)),
    ),
    Mistake(
        "mha-projection-per-head",
        "One block of W_O serves every head. Head i has its own rows of it, i * d_head to (i + 1) * d_head; "
        "combine_heads(heads) @ W_O brings each to its own.",
        (_brought_together(_first_rows_for_all), _brought_together(_first_block_for_all)),
    ),
    Mistake(
        "mha-block-diagonal",
        "Each head goes through a small block of W_O and fills d_head columns of the output, so that heads never meet. "
        "Every head may add to every column: combine_heads(heads) @ W_O, with all of W_O.",
        (_brought_together(_block_of_each),),
    ),
    Mistake(
        "mha-scale-d-model",
        "You divide by sqrt(d_model). In a head each dot product adds up d_head terms only: divide by sqrt(d_head), "
        "the width of the split queries.",
        (_through(attend=_scaled_by(lambda heads: (heads.shape[-3] * heads.shape[-1]) ** -0.5)),),
        WEIGHTS,
    ),
    Mistake(
        "scale-missing",
        "The scores are not divided. Divide them by sqrt(d_head); scaled_dot_product_attention does it.",
        (_through(attend=_scaled_by(lambda heads: 1.0)),),
        WEIGHTS,
    ),
    Mistake(
        "scale-no-root",
        "You divide by d_head itself (or by its root twice, once before scaled_dot_product_attention, which does it). "
        "Divide by the root of d_head, once.",
        (_through(attend=_scaled_by(lambda heads: 1 / heads.shape[-1])),),
        WEIGHTS,
    ),
    Mistake(
        "scale-multiplied",
        "You multiply by sqrt(d_head). The scores are already too large: divide.",
        (_through(attend=_scaled_by(lambda heads: heads.shape[-1] ** 0.5)),),
        WEIGHTS,
    ),
    Mistake(
        "scale-precedence",
        "`d ** 1 / 2` is (d ** 1) / 2, half of d: the power binds first. Write d ** 0.5, or np.sqrt(d).",
        tuple(_through(attend=_scaled_by(factor)) for factor in HALVES),
        WEIGHTS,
    ),
    Mistake(
        "scale-n-keys",
        "You divide by the root of the number of tokens. Divide by that of the number of features: sqrt(d_head).",
        (_through(attend=_scaled_by(lambda heads: heads.shape[-2] ** -0.5)),),
        WEIGHTS,
    ),
    Mistake(
        "scale-n-heads",
        "You divide by the root of the number of heads. Divide by that of the width of a head: sqrt(d_head).",
        (_through(attend=_scaled_by(lambda heads: heads.shape[-3] ** -0.5)),),
        WEIGHTS,
    ),
    Mistake(
        "mha-softmax-over-heads",
        "Your softmax runs over the heads, so that for each query and key, the heads' weights sum to 1. Each head "
        "shares out its own attention over the keys: axis=-1.",
        (_through(attend=_weighing(_over(-3))),),
        WEIGHTS,
    ),
    Mistake(
        "softmax-over-queries",
        "Your softmax runs over the queries. Each query shares out its own attention: over the keys, axis=-1.",
        (_through(attend=_weighing(_over(-2))),),
        WEIGHTS,
    ),
    Mistake(
        "softmax-axis-from-front",
        "Your softmax counts its axis from the front. How many batch axes there are decides what axis=1 or axis=2 "
        "means; the keys are always axis=-1.",
        (_through(attend=_weighing(_over(0))), *(_through(attend=_weighing(_over(axis))) for axis in (1, 2))),
        WEIGHTS,
    ),
    Mistake(
        "softmax-no-max",
        NEEDS_THE_ROWS_MAXIMUM,
        (
            _through(
                attend=_weighing(
                    lambda scores: np.where(
                        np.isneginf(scores).all(-1, keepdims=True), 0, normalised(np.exp(scores), -1)
                    )
                )
            ),
        ),
    ),
    Mistake(
        "mha-mask-none",
        "It goes wrong where no mask is given: `mask` is None then. (np.where(None, a, b) takes b everywhere, so that "
        "every key counts as hidden.) Ask first whether there is one, `if mask is not None:`; or call "
        "scaled_dot_product_attention(queries, keys, values, mask), which takes None, too.",
        (
            _through(attend=masked_attention),
            *(
                _through(attend=_never_without_a_mask(weigh))
                for weigh in (
                    lambda scores, mask: softmax_or_zeros(np.where(mask, scores, -np.inf)),
                    lambda scores, mask: softmax(np.where(mask, scores, -np.inf)),
                    lambda scores, mask: softmax(np.where(mask, scores, -1e9)),
                    lambda scores, mask: np.where(mask, softmax(np.where(mask, scores, -1e9)), 0),
                    lambda scores, mask: np.where(mask, softmax(scores), 0),
                )
            ),
        ),
        WEIGHTS,
    ),
    Mistake(
        "mha-mask-as-scale",
        "Where there is a mask, your scores are multiplied by it and by nothing else, as if it were the scale. Is it "
        "the fourth argument of your scaled_dot_product_attention from notebook 02? There, the fourth is `scale`. In "
        "the one that the set-up cell imports it is the mask: take yours out, and run that cell again.",
        (_through(attend=_mask_as_scale),),
        WEIGHTS,
    ),
    Mistake(
        "mha-mask-ignored",
        "Hidden keys get weight like all the others: the mask does not reach your weights. Pass it on to the attention "
        "that you call, as its fourth argument or as mask=mask: scaled_dot_product_attention(queries, keys, values, "
        "mask). If you compute the weights yourself, use it before the softmax: np.where(mask, scores, -np.inf).",
        (_through(attend=lambda queries, keys, values, mask: scaled_dot_product_attention(queries, keys, values)),),
        WEIGHTS,
    ),
    *map(
        _as_in_notebook_03,
        (
            "mask-inverted",
            "mask-score-zero",
            "mask-full-row-nan",
            "mask-full-row-uniform",
            "mask-full-row-unmasked",
            "mask-after-softmax",
            "mask-added-boolean",
            "mask-zero-times-inf",
            "mask-transposed",
        ),
    ),
    Mistake(
        "mha-always-causal",
        "You hide the future, whether or not a mask says so. Hide what the mask hides, and without a mask, nothing.",
        (_through(attend=_past_only), _through(attend=_past_and_no_mask)),
        WEIGHTS,
    ),
    Mistake(
        "mha-mask-axis-added",
        "You add axes to the mask. It already fits the weights' axes, (..., n_heads, seq_len, seq_len), or is a "
        "single (seq_len, seq_len) mask for all heads: pass it on as it is.",
        tuple(
            _through(attend=_masked_by_more_axes(place, attend))
            for place in (
                (..., None, slice(None), slice(None)),
                (None,),
                (None, None),
                (slice(None), None),
                (slice(None), None, None),
            )
            for attend in (scaled_dot_product_attention, _attend_by_hand)
        ),
    ),
    Mistake(
        "mha-mask-in-a-loop",
        "It is right as long as one mask serves all heads and sentences. But you loop over the heads, and the mask has "
        "an axis for them, too, so that it doesn't fit a single one. Attention takes all heads at once: give it "
        "queries, keys and values with their axis of heads, and the mask as it is.",
        (_through(attend=_head_by_head),),
    ),
    Mistake(
        "mha-mask-first-sentence",
        "Every sentence gets the first one's mask. Pass the mask on as it is; it broadcasts by itself.",
        (
            _through(
                attend=lambda queries, keys, values, mask: scaled_dot_product_attention(
                    queries, keys, values, mask[(0,) * (mask.ndim - 3)] if mask is not None and mask.ndim > 3 else mask
                )
            ),
        ),
        WEIGHTS,
    ),
    Mistake(
        "weights-transposed",
        "Your weights are transposed before they meet the values. Use them as they are: weights @ values.",
        (_through(attend=_mixing(lambda weights, queries, keys, values: swap(weights) @ values)),),
    ),
    Mistake(
        "mha-weights-averaged",
        "You return the weights averaged (or added up) over the heads, as PyTorch's MultiheadAttention does unless "
        "told otherwise. Here each head's weights are asked for: (..., n_heads, seq_len, seq_len).",
        (
            _right_but(lambda output, weights, X: (output, weights.mean(axis=-3))),
            _right_but(lambda output, weights, X: (output, weights.sum(axis=-3))),
            _right_but(lambda output, weights, X: (output, weights.mean(axis=-3, keepdims=True))),
        ),
    ),
    Mistake(
        "mha-weights-of-one-head",
        "You return one head's weights, maybe those that a loop left in its variable. Collect the weights of all "
        "heads: (..., n_heads, seq_len, seq_len).",
        (
            _right_but(lambda output, weights, X: (output, weights[..., -1, :, :])),
            _right_but(lambda output, weights, X: (output, weights[..., 0, :, :])),
        ),
    ),
    Mistake(
        "mha-weights-before-batch",
        "Your weights have their heads in front of the batch. They belong right before the queries: np.stack(..., "
        "axis=-3) puts them there.",
        (_right_but(lambda output, weights, X: (output, np.moveaxis(weights, -3, 0))),),
    ),
    Mistake(
        "mha-residual-added",
        "You add X to the output. In a transformer that happens outside of attention; here return the output alone.",
        (_right_but(lambda output, weights, X: (output + X, weights)),),
    ),
    Mistake(
        "returns-output-only",
        "You return only the output. Return both: output, weights.",
        (_right_but(lambda output, weights, X: output),),
    ),
    Mistake(
        "returns-weights-only",
        "You return only the weights. Return both: output, weights.",
        (_right_but(lambda output, weights, X: weights),),
    ),
    Mistake(
        "returns-swapped",
        "Both are there, in the other order. Return the output first, then the weights.",
        (_right_but(lambda output, weights, X: (weights, output)),),
    ),
)
