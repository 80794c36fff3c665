"""The mistakes that people make in `blockwise_attention`: in the running maximum, in the sums, and in the blocks."""

import numpy as np

from mha_helpers.attention import attention_scores, scaled_dot_product_attention, softmax
from mha_helpers.exercises.mistakes.catalogue import also, maker
from mha_helpers.exercises.mistakes.steps import root


def _blocks(n_keys, block_size):
    return [slice(start, start + block_size) for start in range(0, n_keys, block_size)]


def _cut_and_hidden(scores, mask, block):
    return np.where(mask[..., block], scores, -np.inf)


def _hidden_by_a_number(scores, mask, block):
    return np.where(mask[..., block], scores, -1e9)


def _online(
    correct_total=lambda total, correction: total * correction,
    correct_context=lambda context, correction: context * correction,
    correction=lambda top, new_top: np.exp(top - new_top),
    top_of=np.maximum,
    safe=lambda top: np.where(np.isneginf(top), 0, top),
    blocks=_blocks,
    scale=root,
    hide=_cut_and_hidden,
    start=lambda queries, values: (0.0, 0.0),
    finish=lambda context, total: context / np.where(total == 0, 1, total),
):
    """Return block-by-block attention in which one thing is done otherwise."""

    def wrong_attention(queries, keys, values, mask=None, *, block_size=128):
        top, (total, context) = -np.inf, start(queries, values)
        for block in blocks(keys.shape[-2], block_size):
            scores = attention_scores(queries, keys[..., block, :]) * scale(queries)
            scores = scores if mask is None else hide(scores, mask, block)
            new_top = top_of(top, scores.max(axis=-1, keepdims=True))
            shift = safe(new_top)
            exponentials, factor = np.exp(scores - shift), correction(top, shift)
            total = correct_total(total, factor) + exponentials.sum(axis=-1, keepdims=True)
            context = correct_context(context, factor) + exponentials @ values[..., block, :]
            top = new_top
        return finish(context, total)

    return wrong_attention


def _divided(context, total):
    return context / total


def _either_way(place, **steps):
    """Take a wrong step in attention that gives zeros to a query which sees nothing, and NaN."""
    return maker(
        lambda step: _online(**{place: step}, **steps),
        lambda step: _online(**{place: step}, **steps, finish=_divided),
    )


def _uncorrected(total, correction):
    return total


def _weighed_in_each(weigh):
    """Return a make that finishes the softmax in each block by weigh(scores, mask, block)."""

    def make(combine):
        """Combine the blocks' contexts and shares of the keys."""

        def wrong_attention(queries, keys, values, mask=None, *, block_size=128):
            contexts, widths = [], []
            for block in _blocks(keys.shape[-2], block_size):
                scores = attention_scores(queries, keys[..., block, :]) * root(queries)
                contexts.append(weigh(scores, mask, block) @ values[..., block, :])
                widths.append(scores.shape[-1] / keys.shape[-2])
            return combine(contexts, widths)

        return wrong_attention

    return make


def _masked(scores, mask, block):
    return softmax(scores if mask is None else _cut_and_hidden(scores, mask, block))


def _masked_by_a_number(scores, mask, block):
    return softmax(scores if mask is None else _hidden_by_a_number(scores, mask, block))


_softmax_in_each = maker(
    _weighed_in_each(lambda *arguments: np.nan_to_num(_masked(*arguments))),
    _weighed_in_each(_masked),
    _weighed_in_each(_masked_by_a_number),
    _weighed_in_each(lambda scores, mask, block: softmax(scores)),
)


@_either_way("correct_total", correct_context=_uncorrected)
def blockwise_no_correction(total, correction):
    """When a block brings a higher score, what was added up before stays too large. Multiply both sums by exp(old top -
    new top) before you add to them."""
    return total


@_either_way("correct_total")
def blockwise_total_not_corrected(total, correction):
    """The context is corrected when a higher score comes, and the sum of the exponentials is not. Both were added up
    with the old top."""
    return total


@_either_way("correct_context")
def blockwise_context_not_corrected(context, correction):
    """The sum of the exponentials is corrected when a higher score comes, and the context is not. Both were added up
    with the old top."""
    return context


@also(_online(correction=lambda top, new_top: np.exp(new_top - top)))
@_either_way("correction")
def blockwise_correction_inverted(top, new_top):
    """The correction is upside down. The old sums were made with a lower top, and are too large: multiply by exp(old
    top - new top), which is at most 1."""
    return np.where(np.isneginf(top), 0, np.exp(new_top - top))


@_either_way("top_of", correction=lambda top, new_top: 1)
def blockwise_no_max(top, new_top):
    """Right until the scores are large or very low: then exp overflows, or all of it is 0. Subtract the highest score
    so far."""
    return np.zeros_like(new_top)


@_either_way("top_of")
def blockwise_top_starts_at_0(top, new_top):
    """Right until all scores of a row are far below 0. Your highest score so far starts at 0, which is no score of the
    row, and with it subtracted every exponential is 0. Start at -inf."""
    return np.maximum(np.maximum(top, new_top), 0)


def _of_the_block(top, new_top):
    return new_top


@also(_online(top_of=_of_the_block, safe=lambda top: top))
@_either_way("top_of")
def blockwise_own_top(top, new_top):
    """You subtract each block's own highest score, even where an earlier block had a higher one; the correction then
    overflows. Use the highest so far: np.maximum(top, ...)."""
    return new_top


@also(
    _online(correct_total=_uncorrected, correct_context=_uncorrected, top_of=_of_the_block, safe=lambda top: top),
    _online(correct_total=_uncorrected, correct_context=_uncorrected, top_of=_of_the_block, hide=_hidden_by_a_number),
)
@_either_way("top_of", correct_total=_uncorrected, correct_context=_uncorrected)
def blockwise_own_top_not_corrected(top, new_top):
    """You subtract each block's own highest score, and add up what comes of it as it stands, although each block was
    measured from another height. Subtract the highest score so far; when it rises, multiply both sums by exp(old top -
    new top)."""
    return new_top


@maker(lambda safe: _online(safe=safe))
def blockwise_hidden_block_nan(top):
    """Right except for a row whose first block is hidden: there -inf minus the top so far, -inf, is NaN, and stays NaN.
    Subtract 0 while a row has seen nothing, and divide by 1 where its total is still 0 at the end: np.where(total == 0,
    1, total)."""
    return top


@_softmax_in_each
@also(lambda contexts, widths: np.mean(contexts, axis=0), lambda contexts, widths: np.tensordot(widths, contexts, 1))
def blockwise_softmax_in_each(contexts, widths):
    """You finish the softmax in each block, and add up (or average) the contexts. A block full of unlikely keys then
    counts as much as any other. Add up exponentials, and divide once, at the end."""
    return sum(contexts)


@also(
    _online(correction=lambda top, new_top: 0.0),
    _online(top_of=_of_the_block, correction=lambda top, new_top: 0.0, safe=lambda top: top),
)
@_softmax_in_each
def blockwise_last_block_only(contexts, widths):
    """Only the last block is left: each one overwrites what was before it. Add to total and context. (If you do, is the
    correction always 0? It is if the top stays at -inf: end each round with top = new_top.)"""
    return contexts[-1]


def _full_blocks(n_keys, block_size):
    return [slice(i * block_size, (i + 1) * block_size) for i in range(n_keys // block_size)]


def _full_blocks_or_one(n_keys, block_size):
    return _blocks(n_keys, block_size)[: max(1, n_keys // block_size)]


def _sums_of_0(queries, values):
    return np.zeros((*queries.shape[:-1], 1)), np.zeros((*queries.shape[:-1], values.shape[-1]))


@also(
    *(
        _online(blocks=_full_blocks, start=start, **finish, **safe)
        for start in (_sums_of_0, lambda queries, values: (_sums_of_0(queries, values)[0], 0.0))
        for finish in ({}, {"finish": _divided})
        for safe in ({}, {"safe": lambda top: top})
    ),
    # With one block at least, it makes no difference where the sums start.
    _online(blocks=_full_blocks_or_one, start=_sums_of_0),
    _online(blocks=_full_blocks_or_one, start=_sums_of_0, safe=lambda top: top),
    _online(blocks=_full_blocks_or_one, start=_sums_of_0, finish=_divided),
)
@_either_way("blocks")
@also(_full_blocks_or_one)
def blockwise_rest_dropped(n_keys, block_size):
    """The last block is left out where it is not full. range(0, n_keys, block_size) reaches it, and a slice that goes
    too far stops at the end."""
    return _full_blocks(n_keys, block_size)


@maker(lambda finish: _online(finish=finish))
def blockwise_sees_nothing_nan(context, total):
    """Right except for a query that may attend to nothing: its total is 0, and 0/0 is NaN. Such a query takes nothing
    from any value: give it zeros, for example with context / np.where(total == 0, 1, total)."""
    return context / total


@maker(lambda finish: _online(finish=finish, safe=lambda top: top))
@also(lambda context, total: np.where(np.isnan(context / total), 0, context / total))
def blockwise_nan_made_zero(context, total):
    """Right except for a row whose first block is hidden: -inf minus the top so far, -inf, is NaN, which spreads to all
    that is added later, and at the end you make it 0. Subtract 0 while a row has seen nothing."""
    return np.nan_to_num(context / total)


@_either_way("hide")
def mask_full_row_uniform(scores, mask, block):
    """Right except for a query that may attend to nothing: it mixes all values evenly, as it does where a finite number
    hides, so that all its scores are equally low. Hide with -inf, and subtract 0 while a row has seen nothing. Then its
    total is 0, and it gets zeros if you divide by np.where(total == 0, 1, total)."""
    return _hidden_by_a_number(scores, mask, block)


@_either_way("hide")
def mask_full_row_unmasked(scores, mask, block):
    """Right except for a query that may attend to nothing: it comes out as if nothing were hidden. Adding the same
    number to all its scores changes nothing, because softmax sees only their differences. Hide with -inf, and subtract
    0 while a row has seen nothing. Then its total is 0, and it gets zeros if you divide by np.where(total == 0, 1,
    total)."""
    return scores + np.where(mask[..., block], 0, -1e9)


@maker(lambda finish: _online(finish=finish))
def blockwise_not_divided(context, total):
    """The division is missing: at the end the context is divided by the sum of the exponentials."""
    return context


def blockwise_divided_in_each(queries, keys, values, mask=None, *, block_size=128):
    """You divide in every block. The context so far is then an average already, and no longer the sum that the next
    block adds to. Divide once, at the end."""
    top, total, context = -np.inf, 0.0, 0.0
    for block in _blocks(keys.shape[-2], block_size):
        scores = attention_scores(queries, keys[..., block, :]) * root(queries)
        scores = scores if mask is None else _cut_and_hidden(scores, mask, block)
        new_top = np.maximum(top, scores.max(axis=-1, keepdims=True))
        shift = np.where(np.isneginf(new_top), 0, new_top)
        exponentials, correction = np.exp(scores - shift), np.exp(top - shift)
        total = total * correction + exponentials.sum(axis=-1, keepdims=True)
        context = (context * correction + exponentials @ values[..., block, :]) / np.where(total == 0, 1, total)
        top = new_top
    return context


@_either_way("scale")
def blockwise_scale_missing(queries):
    """The scores are not divided by sqrt(d_head)."""
    return 1.0


@_either_way("scale")
def blockwise_scale_no_root(queries):
    """You divide by d_head itself, or by its root twice. Divide by sqrt(d_head), once."""
    return 1 / queries.shape[-1]


@_either_way("hide")
def mask_inverted(scores, mask, block):
    """You hide what may be seen, and show what should be hidden. True means "may attend", so in np.where(mask, scores,
    ...) the scores come first."""
    return np.where(mask[..., block], -np.inf, scores)


@_either_way("hide")
def mask_score_zero(scores, mask, block):
    """You set hidden scores to 0. But e^0 is 1, not 0: a hidden key still gets weight, often more than a visible one. A
    hidden score must be -inf, for e^-inf = 0."""
    return np.where(mask[..., block], scores, 0)


@maker(lambda hide: _online(hide=hide))
def blockwise_mask_ignored(scores, mask, block):
    """The mask is not used."""
    return scores


@also(
    _online(hide=lambda scores, mask, block: _cut_and_hidden(scores, mask, slice(block.stop - block.start))),
)
@_either_way("hide")
def blockwise_mask_not_moved(scores, mask, block):
    """Every block is hidden by the mask's first columns. Cut the mask as you cut the keys: mask[..., block]."""
    return _cut_and_hidden(scores, mask, slice(scores.shape[-1]))


@maker(lambda hide: _online(hide=hide))
@also(
    lambda scores, mask, block: scores + np.where(mask, 0, -np.inf),
    lambda scores, mask, block: np.where(~mask, -np.inf, scores),
)
def blockwise_mask_not_cut(scores, mask, block):
    """The whole mask meets the scores of one block, which has fewer columns. Cut the mask as you cut the keys:
    mask[..., block]."""
    return np.where(mask, scores, -np.inf)


def blockwise_all_at_once(queries, keys, values, mask=None, *, block_size=128):
    """The numbers are right, but your function has all scores in memory at once, a number for every pair of tokens.
    Compute each block's scores inside the loop, and keep three things of each query: its top, total and context."""
    return scaled_dot_product_attention(queries, keys, values, mask)[0]
