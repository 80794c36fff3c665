"""The mistakes that people make in `blockwise_attention`: in the running maximum, in the sums, and in the blocks."""

import numpy as np

from mha_helpers.exercises.engine import Mistake
from mha_helpers.maths.attention import attention_scores, scaled_dot_product_attention, softmax


def _blocks(n_keys, block_size):
    return [slice(start, start + block_size) for start in range(0, n_keys, block_size)]


def _scores(queries, keys, mask, block, scale):
    scores = attention_scores(queries, keys[..., block, :]) * scale
    return scores if mask is None else np.where(mask[..., block], scores, -np.inf)


def _online(
    correct_total=True,
    correct_context=True,
    correction_of=lambda top, new_top: np.exp(top - new_top),
    top_of=np.maximum,
    safe=lambda top: np.where(np.isneginf(top), 0, top),
    blocks=_blocks,
    scale_of=lambda queries: queries.shape[-1] ** -0.5,
    mask_of=lambda mask, block: (mask, block),
    finish=lambda context, total: context / total,
):
    """Return block-by-block attention in which one thing is done otherwise."""

    def wrong_attention(queries, keys, values, mask=None, *, block_size=128):
        top, total, context = -np.inf, 0.0, 0.0
        scale = scale_of(queries)
        for block in blocks(keys.shape[-2], block_size):
            scores = attention_scores(queries, keys[..., block, :]) * scale
            if mask is not None:
                whole, part = mask_of(mask, block)
                scores = scores if whole is None else np.where(whole[..., part], scores, -np.inf)
            new_top = top_of(top, scores.max(axis=-1, keepdims=True))
            shift = safe(new_top)
            exponentials = np.exp(scores - shift)
            correction = correction_of(top, shift)
            total = total * (correction if correct_total else 1) + exponentials.sum(axis=-1, keepdims=True)
            context = context * (correction if correct_context else 1) + exponentials @ values[..., block, :]
            top = new_top
        return finish(context, total)

    return wrong_attention


def _softmax_in_each(combine):
    """Return attention that finishes in each block, and combines the blocks' contexts."""

    def wrong_attention(queries, keys, values, mask=None, *, block_size=128):
        scale, contexts = queries.shape[-1] ** -0.5, []
        for block in _blocks(keys.shape[-2], block_size):
            weights = softmax(_scores(queries, keys, mask, block, scale))
            contexts.append(np.nan_to_num(weights) @ values[..., block, :])
        return combine(contexts)

    return wrong_attention


def _without_maximum(queries, keys, values, mask=None, *, block_size=128):
    scale, total, context = queries.shape[-1] ** -0.5, 0.0, 0.0
    for block in _blocks(keys.shape[-2], block_size):
        exponentials = np.exp(_scores(queries, keys, mask, block, scale))
        total = total + exponentials.sum(axis=-1, keepdims=True)
        context = context + exponentials @ values[..., block, :]
    return context / total


def _divided_in_each(queries, keys, values, mask=None, *, block_size=128):
    """The context is divided by the sum so far in every block, and never multiplied back."""
    scale, top, total, context = queries.shape[-1] ** -0.5, -np.inf, 0.0, 0.0
    for block in _blocks(keys.shape[-2], block_size):
        scores = _scores(queries, keys, mask, block, scale)
        new_top = np.maximum(top, scores.max(axis=-1, keepdims=True))
        shift = np.where(np.isneginf(new_top), 0, new_top)
        exponentials, correction = np.exp(scores - shift), np.exp(top - shift)
        total = total * correction + exponentials.sum(axis=-1, keepdims=True)
        context = (context * correction + exponentials @ values[..., block, :]) / np.where(total == 0, 1, total)
        top = new_top
    return context


def _hiding_all(hide):
    """Return attention in whose blocks the scores become hide(scores, mask), with all of the mask."""

    def wrong_attention(queries, keys, values, mask=None, *, block_size=128):
        scale, total, context = queries.shape[-1] ** -0.5, 0.0, 0.0
        for block in _blocks(keys.shape[-2], block_size):
            scores = _scores(queries, keys, None, block, scale)
            exponentials = np.exp(scores if mask is None else hide(scores, mask))
            total = total + exponentials.sum(axis=-1, keepdims=True)
            context = context + exponentials @ values[..., block, :]
        return context / total

    return wrong_attention


def _all_at_once(queries, keys, values, mask=None, *, block_size=128):
    return scaled_dot_product_attention(queries, keys, values, mask)[0]


def _all_scores_in_blocks(queries, keys, values, mask=None, *, block_size=128):
    """All scores are there before the loop over blocks begins."""
    scores = attention_scores(queries, keys) * queries.shape[-1] ** -0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    blocks = _blocks(keys.shape[-2], block_size)
    context = sum(exponentials[..., block] @ values[..., block, :] for block in blocks)
    return context / exponentials.sum(axis=-1, keepdims=True)


ALL_AT_ONCE = Mistake(
    "blockwise-all-at-once",
    "The numbers are right, but your function has all scores in memory at once, a number for every pair of tokens. "
    "Compute each block's scores inside the loop, and keep three things of each query: its top, total and context.",
    (_all_at_once, _all_scores_in_blocks),
)

BLOCKWISE_MISTAKES = (
    Mistake(
        "blockwise-no-correction",
        "When a block brings a higher score, what was added up before stays too large. Multiply both sums by exp("
        "old top - new top) before you add to them.",
        (_online(correct_total=False, correct_context=False),),
    ),
    Mistake(
        "blockwise-total-not-corrected",
        "The context is corrected when a higher score comes, and the sum of the exponentials is not. Both were added "
        "up with the old top.",
        (_online(correct_total=False),),
    ),
    Mistake(
        "blockwise-context-not-corrected",
        "The sum of the exponentials is corrected when a higher score comes, and the context is not. Both were added "
        "up with the old top.",
        (_online(correct_context=False),),
    ),
    Mistake(
        "blockwise-correction-inverted",
        "The correction is upside down. The old sums were made with a lower top, and are too large: multiply by exp("
        "old top - new top), which is at most 1.",
        (
            _online(correction_of=lambda top, new: np.where(np.isneginf(top), 0, np.exp(new - top))),
            _online(correction_of=lambda top, new: np.exp(new - top)),
        ),
    ),
    Mistake(
        "blockwise-no-max",
        "Right until the scores are large or very low: then exp overflows, or all of it is 0. Subtract the highest "
        "score so far.",
        (_without_maximum,),
    ),
    Mistake(
        "blockwise-own-top",
        "You subtract each block's own highest score, even where an earlier block had a higher one; the correction "
        "then overflows. Use the highest so far: np.maximum(top, ...).",
        (_online(top_of=lambda top, new: new), _online(top_of=lambda top, new: new, safe=lambda top: top)),
    ),
    Mistake(
        "blockwise-hidden-block-nan",
        "Right except for a row whose first block is hidden: there -inf minus the top so far, -inf, is NaN, and stays "
        "NaN. Subtract 0 while a row has seen nothing.",
        (_online(safe=lambda top: top),),
    ),
    Mistake(
        "blockwise-softmax-in-each",
        "You finish the softmax in each block, and add up (or average) the contexts. A block full of unlikely keys "
        "then counts as much as any other. Add up exponentials, and divide once, at the end.",
        (
            _softmax_in_each(lambda contexts: sum(contexts)),
            _softmax_in_each(lambda contexts: np.mean(contexts, axis=0)),
        ),
    ),
    Mistake(
        "blockwise-last-block-only",
        "Only the last block is left: each one overwrites what was before it. Add to total and context. (If you do, is "
        "the correction always 0? It is if the top stays at -inf: end each round with top = new_top.)",
        (
            _softmax_in_each(lambda contexts: contexts[-1]),
            _online(correction_of=lambda top, new: 0.0),
        ),
    ),
    Mistake(
        "blockwise-rest-dropped",
        "The last block is left out where it is not full. range(0, n_keys, block_size) reaches it, and a slice that "
        "goes too far stops at the end.",
        (
            _online(blocks=lambda n, size: [slice(i * size, (i + 1) * size) for i in range(n // size)]),
            _online(blocks=lambda n, size: _blocks(n, size)[: max(1, n // size)]),
        ),
    ),
    Mistake(
        "blockwise-not-divided",
        "The division is missing: at the end the context is divided by the sum of the exponentials.",
        (_online(finish=lambda context, total: context),),
    ),
    Mistake(
        "blockwise-divided-in-each",
        "You divide in every block. The context so far is then an average already, and no longer the sum that the next "
        "block adds to. Divide once, at the end.",
        (_divided_in_each,),
    ),
    Mistake(
        "blockwise-scale-missing",
        "The scores are not divided by sqrt(d_head).",
        (_online(scale_of=lambda queries: 1.0),),
    ),
    Mistake(
        "blockwise-mask-ignored",
        "The mask is not used.",
        (_online(mask_of=lambda mask, block: (None, None)),),
    ),
    Mistake(
        "blockwise-mask-not-moved",
        "Every block is hidden by the mask's first columns. Cut the mask as you cut the keys: mask[..., block].",
        (
            _online(mask_of=lambda mask, block: (mask, slice(0, min(block.stop, mask.shape[-1]) - block.start))),
            _online(mask_of=lambda mask, block: (mask, slice(0, block.stop - block.start))),
        ),
    ),
    Mistake(
        "blockwise-mask-not-cut",
        "The whole mask meets the scores of one block, which has fewer columns. Cut the mask as you cut the keys: "
        "mask[..., block].",
        (
            _online(mask_of=lambda mask, block: (mask, slice(None))),
            _hiding_all(lambda scores, mask: scores + np.where(mask, 0, -np.inf)),
            _hiding_all(lambda scores, mask: np.where(~mask, -np.inf, scores)),
        ),
    ),
    ALL_AT_ONCE,
)
