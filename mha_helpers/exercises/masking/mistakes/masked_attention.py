"""The mistakes that people make in `masked_attention`: every other way to hide a key, and what each leaves unhidden."""

import numpy as np

from function_judge.catalogue import Mistake
from mha_helpers import attention
from mha_helpers.attention import attention_scores, scaled_dot_product_attention, softmax, softmax_or_zeros
from mha_helpers.exercises.mistakes.catalogue import also, inside, maker, mistakes_in
from mha_helpers.exercises.mistakes.steps import (
    WEIGHTS,
    added,
    as_they_are,
    attention_with,
    empty_rows_cleared,
    exp_shares,
    normalised,
    replaced_by,
    root,
    swap,
    zero_where_hidden,
)
from mha_helpers.exercises.scaling.mistakes import scaled_dot_product_attention as scaled
from mha_helpers.exercises.self_attention.mistakes import attention_scores as wrong_scores
from mha_helpers.exercises.self_attention.mistakes import softmax as wrong_softmax
from mha_helpers.masks import apply_mask

_hiding = maker(lambda hide: attention_with(hide=hide))

LOWEST = np.finfo(np.float64).min


@maker
def _with_mask(change):
    """Return attention that hides, rightly, by another mask: change(mask)."""
    return lambda queries, keys, values, mask: attention.masked_attention(queries, keys, values, change(mask))


@maker
def _right_but(change):
    """Return right attention, of which change(context, weights, queries, keys, values) is returned."""
    return lambda queries, keys, values, mask: change(
        *attention.masked_attention(queries, keys, values, mask), queries, keys, values
    )


def _cleared_too_late(wrong):
    """Return attention that puts zeros where the mask hides, but after the values are mixed."""

    def wrong_attention(queries, keys, values, mask):
        context, weights = wrong(queries, keys, values, mask)
        return context, np.where(mask, weights, 0)

    return wrong_attention


def _unhidden(scores, mask):
    return scores


_after_softmax = maker(lambda clear: attention_with(clear=clear, hide=_unhidden))


def _past(queries, keys):
    return np.tri(queries.shape[-2], keys.shape[-2], dtype=bool)


@maker(lambda clear: attention_with(clear=clear))
@also(lambda weights, mask: weights * mask.all(axis=-1, keepdims=True))
def mask_rows_emptied(weights, mask):
    """Every row in which anything is hidden comes out as zeros. Only a row that sees *nothing* should: find it with
    mask.any(axis=-1), not with mask.all(axis=-1). (You get the same zeros if you hide what may be seen, or hide with
    +1e9, and then clear the rest.)"""
    return np.where(mask.all(axis=-1, keepdims=True), weights, 0)


def mask_causal_instead(queries, keys, values, mask):
    """You hide the future, and don't use the mask. Only `mask` says which keys may be seen."""
    return attention.masked_attention(queries, keys, values, _past(queries, keys))


def mask_causal_on_top(queries, keys, values, mask):
    """You hide the future on top of what the mask hides. If the caller wants that, it is in the mask already: hide what
    the mask says, and nothing else."""
    return attention.masked_attention(queries, keys, values, mask & _past(queries, keys))


@_with_mask
def mask_ignored(mask):
    """The mask is not used: hidden keys get weight like all the others. Hide their scores, before the softmax, and give
    zeros to a row that sees nothing."""
    return np.ones_like(mask)


@also(
    *(
        attention_with(hide=lambda scores, mask, low=low: np.where(mask, low, scores), clear=clear)
        for low in (-np.inf, -1e9)
        for clear in (as_they_are, zero_where_hidden)
    ),
    attention_with(hide=lambda scores, mask: scores + mask * -1e9),
)
@_with_mask
def mask_inverted(mask):
    """You hide what may be seen, and show what should be hidden. True means "may attend", so in np.where(mask, scores,
    ...) the scores come first."""
    return ~mask


@also(*(attention_with(hide=np.multiply, clear=clear) for clear in (zero_where_hidden, empty_rows_cleared)))
@_hiding
def mask_score_zero(scores, mask):
    """You set hidden scores to 0. But e^0 is 1, not 0: a hidden key still gets weight, often more than a visible one. A
    hidden score must be -inf, for e^-inf = 0. A row that sees nothing gets zeros."""
    return scores * mask


@also(
    attention_with(
        hide=replaced_by(LOWEST), clear=lambda weights, mask: weights if mask.any() else np.zeros_like(weights)
    )
)
@maker(lambda clear: attention_with(clear=clear))
@also(
    lambda weights, mask: np.zeros_like(weights) if np.isnan(weights).any() else weights,
    lambda weights, mask: np.array(0) if np.isnan(weights).any() else weights,
)
def mask_full_row_all_at_once(weights, mask):
    """You ask about all rows at once, as `if not mask.any():` and `if np.isnan(weights).any():` do. But single rows can
    see nothing while others see something. Such a query attends to nothing: give it zeros, before the values are mixed.
    (Choose, don't multiply: 0 * NaN is still NaN.)"""
    return weights if mask.any() else np.zeros_like(weights)


def _context_cleared(queries, keys, values, mask):
    context, weights = attention_with()(queries, keys, values, mask)
    return np.nan_to_num(context), weights


@also(_cleared_too_late(attention_with()), _context_cleared)
def mask_full_row_nan(queries, keys, values, mask):
    """Right except for a row in which everything is hidden: there you subtract -inf from -inf, or divide 0 by 0, and
    both give NaN. Such a query attends to nothing: give it zeros, before the values are mixed. (Choose, don't multiply:
    0 * NaN is still NaN. And nothing == NaN, not even NaN: ask the mask, or np.isnan.)"""
    return attention_with()(queries, keys, values, mask)


@also(_cleared_too_late(attention_with(hide=replaced_by(LOWEST))))
@_hiding
def mask_full_row_uniform(scores, mask):
    """Right except for a row in which everything is hidden: it shares out its attention evenly, because its scores are
    all equally low. Such a query attends to nothing: give it zeros, before the values are mixed. (Choose, don't
    multiply: 0 * NaN is still NaN.)"""
    return np.where(mask, scores, LOWEST)


@also(_cleared_too_late(attention_with(hide=added(-1e9))))
@_hiding
def mask_full_row_unmasked(scores, mask):
    """Right except for a row in which everything is hidden: it comes out as if nothing were hidden. Adding the same
    number to all its scores changes nothing, because softmax sees only their differences. Such a query attends to
    nothing: give it zeros, before the values are mixed. (Choose, don't multiply: 0 * NaN
    is still NaN.)"""
    return scores + np.where(mask, 0, -1e9)


MASK_NOT_LOW_ENOUGH = Mistake(
    "mask-not-low-enough",
    "You hide with a number that isn't low enough, so that hidden keys keep some weight. e^-inf alone is exactly 0: "
    "hide with -np.inf, and give zeros to a row that sees nothing.",
    tuple(
        attention_with(hide=hide)
        for hide in (replaced_by(-1.0), replaced_by(-5.0), replaced_by(-10.0), added(-5.0), added(-10.0))
    ),
)


MASK_TINY_NUMBER = Mistake(
    "mask-tiny-number",
    "You hide with a finite number. -1e-9 is nearly 0 and hides nothing, and -1e4 or -1e9 hides only as long as "
    "no visible score is lower still: then the hidden keys take all the weight. e^-inf is exactly 0: hide with "
    "-np.inf, and give zeros to a row that sees nothing.",
    (
        *(
            attention_with(hide=replaced_by(number), clear=clear)
            for number in (-1e9, -1e4, -100.0)
            for clear in (zero_where_hidden, empty_rows_cleared)
        ),
        *(attention_with(hide=replaced_by(number), clear=empty_rows_cleared) for number in (-20.0, -1e-9)),
        *(
            attention_with(hide=hide(number))
            for hide in (replaced_by, added)
            for number in (-1000.0, -100.0, -50.0, -20.0, -1e-9, 1e-9)
        ),
    ),
)


@_after_softmax
def mask_after_softmax(weights, mask):
    """You hide weights after the softmax has shared everything out. What the hidden keys were given is lost, and the
    rows no longer sum to 1. Hide the scores, before the softmax, and give zeros to a row that sees nothing."""
    return weights * mask


@_after_softmax
@also(low=(-1e9,))
def mask_after_softmax_infinite(weights, mask, low=-np.inf):
    """You put -inf among the weights, after the softmax. It belongs among the scores, before it."""
    return np.where(mask, weights, low)


@_after_softmax
@also(lambda weights, mask: np.where(mask, softmax(np.where(mask, weights, -np.inf)), 0))
def mask_softmax_again(weights, mask):
    """You mask the weights and take the softmax once more. Mask the scores, and take it once."""
    return softmax(np.where(mask, weights, -np.inf))


def _powers(scores):
    return np.exp(scores - scores.max(axis=-1, keepdims=True))


@_after_softmax
def mask_renormalised(weights, mask):
    """You hide weights, or exponentials, and divide by the sum of the others. That gives the same numbers, until a row
    sees nothing, or a hidden score is so far above the visible ones that their exponentials round to 0: you are left
    with 0/0. Hide scores, before the softmax takes their maximum, and give zeros to a row that sees nothing."""
    return normalised(weights * mask)


@also(
    attention_with(
        hide=_unhidden,
        weigh=_powers,
        clear=lambda powers, mask: powers * mask / np.maximum((powers * mask).sum(axis=-1, keepdims=True), 1e-300),
    )
)
@_after_softmax
@also(lambda weights, mask: weights * mask / ((weights * mask).sum(axis=-1, keepdims=True) + 1e-12))
def mask_renormalised_safely(weights, mask):
    """You hide weights, or exponentials, and divide by the sum of the others. That gives the same numbers, until a
    hidden score is so far above the visible ones that their exponentials round to 0, and nothing is left of the row.
    Hide scores, before the softmax takes their maximum, and give zeros to a row that sees nothing."""
    total = (weights * mask).sum(axis=-1, keepdims=True)
    return weights * mask / np.where(total == 0, 1, total)


@also(*(attention_with(hide=np.add, clear=clear) for clear in (zero_where_hidden, empty_rows_cleared)))
@_hiding
def mask_added_boolean(scores, mask):
    """scores + mask adds 1 or 0, and hides nothing. Choose between two: np.where(mask, scores, -np.inf). And give zeros
    to a row that sees nothing."""
    return scores + mask


@also(attention_with(hide=replaced_by(np.inf), clear=zero_where_hidden))
@_hiding
def mask_minus_minus_inf(scores, mask):
    """Hidden scores become +inf (two minus signs cancel) or NaN, and then their whole row is NaN. Hide with -np.inf."""
    return np.where(mask, scores, np.inf)


@_hiding
def mask_minus_lost(scores, mask):
    """Hidden scores become 1e9 or another number that is higher than all others, so that the hidden keys take all the
    weight. A minus sign is missing (or two of them cancel): hide with -np.inf."""
    return np.where(mask, scores, 1e9)


def _with_maximum_above(low):
    """Return a softmax that subtracts a maximum which is never below a number."""

    def weigh(scores):
        exponentials = np.exp(scores - np.maximum(scores.max(axis=-1, keepdims=True), low))
        total = exponentials.sum(axis=-1, keepdims=True)
        return exponentials / np.where(total == 0, 1, total)

    return weigh


@maker(lambda weigh: attention_with(weigh=weigh))
@also(_with_maximum_above(-1e9))
def mask_maximum_clamped(scores):
    """The maximum that you subtract is not allowed below some number, such as -1e4. If all scores of a row lie far
    below that number, their exponentials round to 0, and nothing is left of the row. Subtract each row's own maximum,
    however low it is, and 0 only where that is -inf."""
    return _with_maximum_above(-1e4)(scores)


@also(attention_with(hide=lambda scores, mask: scores + (1.0 - mask) * -np.inf, clear=zero_where_hidden))
@_hiding
def mask_zero_times_inf(scores, mask):
    """Everything visible comes out as NaN, because 0 * inf is NaN. Instead of multiplying, choose: np.where(mask,
    scores, -np.inf). (You also get NaN if you hide everything: `mask is True` is False for any array.)"""
    return scores - np.inf


@_with_mask
@also(np.transpose)
def mask_transposed(mask):
    """You swapped the mask's axes. Its rows are queries and its columns are keys, as in the scores: use it as it is."""
    return swap(mask)


@also(attention_with(hide=_unhidden, clear=lambda weights, mask: weights[mask]))
@maker(lambda hide: attention_with(hide=hide, weigh=exp_shares))
def mask_as_index(scores, mask):
    """scores[mask] puts the visible scores into one long list, and you can no longer tell which row they came from.
    Keep the shape: np.where(mask, scores, -np.inf)."""
    return scores[mask]


def _in_brackets(scores, mask):
    scores[~mask] = -np.inf
    return scores


def _in_last_brackets(scores, mask):
    scores[..., ~mask] = -np.inf
    return scores


def _put(scores, mask):
    np.putmask(scores, ~mask, -np.inf)
    return scores


@also(*(attention_with(hide=hide, clear=zero_where_hidden) for hide in (_in_brackets, _in_last_brackets, _put)))
@_hiding
@also(_in_last_brackets, _put, number=(-1e9,))
def mask_in_brackets(scores, mask, number=-np.inf):
    """scores[~mask] = ... needs a mask of exactly the scores' shape, and so does np.putmask. But one row of a mask may
    stand for all queries, and one matrix for all heads and sentences. np.where(mask, scores, -np.inf) stretches such a
    mask by itself; brackets don't."""
    scores[~mask] = number
    return scores


@_with_mask
@also(lambda mask: mask[:, None, None])
def mask_axes_added(mask):
    """You add axes to the mask. It comes ready to broadcast: (n_queries, n_keys), or with all of the scores' axes."""
    return mask[:, None]


def _queries_masked(queries, keys, values, mask):
    context, weights = scaled_dot_product_attention(queries, keys, values)
    return context * mask.any(axis=-1, keepdims=True), weights


@also(_queries_masked)
def mask_on_the_context(queries, keys, values, mask):
    """You mask the values or the context. A mask hides keys from queries: apply it to the scores, before the
    softmax."""
    return scaled_dot_product_attention(queries, keys, values * mask.any(axis=-2)[..., None])


def mask_context_unmasked(queries, keys, values, mask):
    """The weights that you return are masked, but you made the context with other weights. Mix the values with the
    masked ones."""
    context, _ = scaled_dot_product_attention(queries, keys, values)
    return context, attention.masked_attention(queries, keys, values, mask)[1]


@also(lambda *arguments: attention_with()(*arguments)[1])
@_right_but
def returns_weights_only(context, weights, *arguments):
    """You return only the weights. Return both: context, weights."""
    return weights


@also(lambda *arguments: attention_with()(*arguments)[0])
@_right_but
def returns_context_only(context, weights, *arguments):
    """You return only the context. Return both: context, weights."""
    return context


@_right_but
def returns_swapped(context, weights, *arguments):
    """Both are there, in the other order. Return context first, then weights."""
    return weights, context


@_right_but
def values_are_keys(context, weights, queries, keys, values):
    """You mix the keys. What gets mixed is the values: weights @ values."""
    return weights @ keys, weights


@_right_but
def values_are_queries(context, weights, queries, keys, values):
    """You mix the queries. What gets mixed is the values: weights @ values."""
    return weights @ queries, weights


@_right_but
def weights_transposed(context, weights, queries, keys, values):
    """Your weights are transposed before they meet the values. Use them as they are: weights @ values."""
    return swap(weights) @ values, weights


@_right_but
@also(lambda context, weights, queries, *arguments: (context * root(queries), weights))
def scale_after_softmax(context, weights, queries, *arguments):
    """You divide the weights or the context, after the softmax. Divide the scores."""
    return context * root(queries), weights * root(queries)


def _in_the_scores(wrong):
    """Return attention with wrong scores under a right mask."""
    return attention_with(compare=wrong, weigh=softmax_or_zeros)


def _in_the_scale(wrong):
    """Return attention with a wrong scale under a right mask."""

    def wrong_attention(queries, keys, values, mask):
        # The logarithms of weights differ as their scores do, and softmax sees only differences. Where scores lie far
        # apart, some weights are 0, and have none: they are brought together first.
        smaller = max(1, np.abs(attention_scores(queries, keys)).max())
        scores = smaller * np.log(wrong(queries / smaller, keys, values)[WEIGHTS])
        weights = softmax_or_zeros(apply_mask(scores, mask))
        return weights @ values, weights

    return wrong_attention


def _in_the_softmax(wrong):
    """Return attention with a wrong softmax between a right mask and right zeros for empty rows."""
    return attention_with(weigh=wrong, clear=zero_where_hidden)


_COMPARING = {"keys-by-queries", "reversed-axes", "transpose-order", "no-transpose", "axes-from-front", "reshaped-keys"}
EARLIER = (
    *(inside(_in_the_scale, mistake) for mistake in scaled.without_scale()),
    *(
        inside(_in_the_scores, mistake, "Inside your attention: ")
        for mistake in mistakes_in(wrong_scores)
        if mistake.slug.removeprefix("scores-") in _COMPARING
    ),
    *(
        inside(_in_the_softmax, mistake, "Inside your attention: ")
        for mistake in mistakes_in(wrong_softmax)
        if mistake.slug != "softmax-other-shift"  # between scores of -inf it makes NaN, as other mistakes do
    ),
)
