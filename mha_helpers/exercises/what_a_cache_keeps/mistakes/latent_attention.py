"""The mistakes that people make in `latent_attention`: what is unfolded, and where, and by what scores are divided."""

import numpy as np

from mha_helpers.attention import scaled_dot_product_attention, softmax
from mha_helpers.exercises.masking.mistakes import masked_attention as in_notebook_03
from mha_helpers.exercises.mistakes import in_each_head
from mha_helpers.exercises.mistakes.catalogue import also, inside, maker, mistake_of, mistakes_in
from mha_helpers.exercises.mistakes.steps import attention_with, root, swap


def _plain(queries, keys, values, mask):
    """Attention whose scores have been divided already."""
    return scaled_dot_product_attention(queries, keys, values, mask, scale=1)


def _for_all_heads(kept):
    return kept[..., None, :, :]


def _latent(
    *,
    factor=lambda queries, kept, unfold_K: root(queries),
    ask=lambda queries, unfold_K: queries @ swap(unfold_K),
    share=_for_all_heads,
    attend=_plain,
    unfold=lambda mixed, unfold_V: mixed @ unfold_V,
    matrices=lambda unfold_K, unfold_V: (unfold_K, unfold_V),
):
    """Return attention to short vectors in which a step or two is done in another way."""

    def wrong_attention(queries, kept, unfold_K, unfold_V, mask=None):
        scale = factor(queries, kept, unfold_K)
        unfold_K, unfold_V = matrices(unfold_K, unfold_V)
        kept = share(kept)
        mixed, weights = attend(scale * ask(queries, unfold_K), kept, kept, mask)
        return unfold(mixed, unfold_V), weights

    return wrong_attention


_attending = maker(lambda attend: _latent(attend=attend))
_with_matrices = maker(lambda matrices: _latent(matrices=matrices))
_scaled_by = maker(lambda factor: _latent(factor=factor))
_asking = maker(lambda ask: _latent(ask=ask))
_unfolding = maker(lambda unfold: _latent(unfold=unfold))
_sharing = maker(lambda share: _latent(share=share))


def _weighing(weigh):
    """Return the mistake of weights that are weigh(scores), the scores divided already."""
    return maker(lambda step: _latent(attend=attention_with(factor=lambda *_: 1, weigh=step)))(weigh)


def latent_unfolded(queries, kept, unfold_K, unfold_V, mask=None):
    """The numbers are right, but you unfold the keys or the values of all the tokens, for each new one. That is what is
    to be saved: let the queries meet what is kept, queries @ unfold_K.swapaxes(-1, -2), and unfold the mixture, not the
    values."""
    kept = _for_all_heads(kept)
    return scaled_dot_product_attention(queries, kept @ unfold_K, kept @ unfold_V, mask)


@_scaled_by
@also(lambda queries, kept, unfold_K: unfold_K.shape[-2] ** -0.5, lambda queries, kept, unfold_K: 1 / kept.shape[-1])
def latent_scale_kept(queries, kept, unfold_K):
    """You divide by the short vector's width or, as scaled_dot_product_attention does by itself, by its root. But the
    scores are those of the unfolded keys, which have d_head features: scale=1 / np.sqrt(queries.shape[-1])."""
    return kept.shape[-1] ** -0.5


@_scaled_by
def latent_scaled_twice(queries, kept, unfold_K):
    """The scores are divided twice: by you, and once more by scaled_dot_product_attention, which takes the short
    vector's width for that of a head. Hand it the scale instead: scale=1 / np.sqrt(queries.shape[-1])."""
    return root(queries) * kept.shape[-1] ** -0.5


@_scaled_by
def latent_scale_corrected(queries, kept, unfold_K):
    """You hand over the scale times the root of the short vector's width, as if scaled_dot_product_attention still
    divided by that. With scale= it divides by nothing of its own: scale=1 / np.sqrt(queries.shape[-1])."""
    return root(queries) * kept.shape[-1] ** 0.5


def latent_scale_values(queries, kept, unfold_K, unfold_V, mask=None):
    """You divide by the root of the values' width. Scores add up the features of queries and keys, d_head of them:
    scale=1 / np.sqrt(queries.shape[-1])."""
    return _latent(factor=lambda *_: unfold_V.shape[-1] ** -0.5)(queries, kept, unfold_K, unfold_V, mask)


SCALES = tuple(
    mistake_of(maker(lambda step: _latent(factor=lambda queries, kept, unfold_K: step(queries, kept, kept)))(step))
    for step in (
        in_each_head.scale_missing,
        in_each_head.scale_d_model,
        in_each_head.scale_no_root,
        in_each_head.scale_multiplied,
        in_each_head.scale_n_keys,
        in_each_head.scale_n_heads,
        in_each_head.scale_precedence,
    )
)


@_with_matrices
def latent_unfolds_exchanged(unfold_K, unfold_V):
    """unfold_K and unfold_V are exchanged. Keys decide who is attended to, so unfold_K belongs to the queries; what is
    mixed goes through unfold_V."""
    return unfold_V, unfold_K


@_with_matrices
@also(lambda unfold_K, unfold_V: (unfold_V, unfold_V))
def latent_one_unfold_for_both(unfold_K, unfold_V):
    """One matrix serves keys and values. Each has its own: unfold_K for the queries, unfold_V for what is mixed."""
    return unfold_K, unfold_K


@_asking
def latent_not_transposed(queries, unfold_K):
    """You multiply the queries by unfold_K as it is. It makes keys of what is kept, (d_kept, d_head); the queries go
    the other way, so swap its last two axes: queries @ unfold_K.swapaxes(-1, -2)."""
    return queries @ unfold_K


@_asking
@also(lambda queries, unfold_K: queries @ unfold_K.transpose(), lambda queries, unfold_K: queries @ unfold_K.T)
def latent_all_axes_reversed(queries, unfold_K):
    """.T and transpose() reverse all the axes, that of the heads, too. Swap the last two: unfold_K.swapaxes(-1, -2)."""
    return queries @ unfold_K.T


@_asking
def latent_queries_not_changed(queries, unfold_K):
    """The queries meet what is kept without unfold_K. They are as wide as a head, and ask for keys; unfold_K makes them
    ask for what is kept: queries @ unfold_K.swapaxes(-1, -2)."""
    return queries


@_unfolding
def latent_context_not_unfolded(mixed, unfold_V):
    """Your context is a mixture of short vectors. Unfold it: mixed @ unfold_V."""
    return mixed


@_unfolding
@also(lambda mixed, unfold_V: mixed @ unfold_V.mean(axis=0), lambda mixed, unfold_V: mixed @ unfold_V.sum(axis=0))
def latent_first_heads_values(mixed, unfold_V):
    """All heads' contexts go through one matrix. Each head has its own: mixed @ unfold_V multiplies head by head."""
    return mixed @ unfold_V[0]


@_asking
@also(
    lambda queries, unfold_K: queries @ swap(unfold_K.mean(axis=0)),
    lambda queries, unfold_K: queries @ swap(unfold_K.sum(axis=0)),
)
def latent_first_heads_keys(queries, unfold_K):
    """All heads' queries go through one matrix. Each head has its own: queries @ unfold_K.swapaxes(-1, -2) multiplies
    head by head."""
    return queries @ swap(unfold_K[0])


@_with_matrices
@also(
    lambda unfold_K, unfold_V: (unfold_K[::-1], unfold_V),
    lambda unfold_K, unfold_V: (unfold_K, unfold_V[::-1]),
)
def latent_heads_reversed(unfold_K, unfold_V):
    """The heads meet the matrices in reverse order. Head i belongs to unfold_K[i] and unfold_V[i]."""
    return unfold_K[::-1], unfold_V[::-1]


@_sharing
@also(lambda kept: kept[None], lambda kept: kept[:, None], lambda kept: kept[..., None])
def latent_kept_without_an_axis(kept):
    """What is kept has no axis for the heads, or has it in the wrong place. Broadcasting lines up axes from the right,
    so that a batch or the tokens are taken for heads. Put an axis of length 1 before the last two: kept[..., None, :,
    :]."""
    return kept


@_unfolding
@also(lambda mixed, unfold_V: np.swapaxes(mixed @ unfold_V, -3, -2).reshape(*mixed.shape[:-3], mixed.shape[-2], -1))
def latent_heads_joined(mixed, unfold_V):
    """You bring the heads together, by a sum or side by side. Each head's context is asked for: (..., n_heads,
    n_queries, d_value)."""
    return (mixed @ unfold_V).sum(axis=-3)


@_unfolding
@also(lambda mixed, unfold_V: np.moveaxis(mixed @ unfold_V, -3, -1))
def latent_heads_moved(mixed, unfold_V):
    """You move the heads behind the tokens at the end. Leave them where they are: (..., n_heads, n_queries,
    d_value)."""
    return np.swapaxes(mixed @ unfold_V, -3, -2)


@_attending
def latent_attention_taken_apart_swapped(queries, keys, values, mask):
    """You take what attention returns in the wrong order. It returns the context first and the weights second: mixed,
    weights = scaled_dot_product_attention(...)."""
    mixed, weights = _plain(queries, keys, values, mask)
    return weights, mixed


def _unweighed(queries, keys, mask):
    scores = queries @ swap(keys)
    return scores if mask is None else np.where(mask, scores, -np.inf)


@also(_latent(attend=lambda queries, keys, values, mask: (queries @ swap(keys) @ values, queries @ swap(keys))))
@_attending
def scores_for_weights(queries, keys, values, mask):
    """You mix what is kept with the scores themselves; the softmax between them is missing."""
    scores = _unweighed(queries, keys, mask)
    return scores @ values, scores


@_attending
def returns_scores(queries, keys, values, mask):
    """The context is right, but beside it you return the scores. Return context, weights: what softmax made of them."""
    return _plain(queries, keys, values, mask)[0], _unweighed(queries, keys, mask)


SOFTMAXES = tuple(
    mistake_of(_weighing(step)) for step in (in_each_head.softmax_over_queries, in_each_head.mha_softmax_over_heads)
)


@_attending
def softmax_no_max(queries, keys, values, mask):
    """Right for ordinary scores; it goes wrong when they are very large or very low. Subtract each row's own largest
    score before exp."""
    return attention_with(factor=lambda *_: 1, weigh=in_each_head.softmax_no_max)(queries, keys, values, mask)


def _masked(wrong):
    """Return the latent attention of a masked attention of notebook 03, which divides by the root of the width."""

    def attend(queries, keys, values, mask):
        return wrong(queries * queries.shape[-1] ** 0.5, keys, values, mask)

    return _latent(attend=lambda q, k, v, mask: _plain(q, k, v, mask) if mask is None else attend(q, k, v, mask))


EARLIER = tuple(
    inside(_masked, mistake)
    for mistake in mistakes_in(
        in_notebook_03,
        "mask-ignored",
        "mask-inverted",
        "mask-score-zero",
        "mask-after-softmax",
        "mask-softmax-again",
        "mask-transposed",
        "mask-added-boolean",
    )
)


@maker(lambda hide: _latent(attend=attention_with(factor=lambda *_: 1, hide=hide)))
def mask_minus_minus_inf(scores, mask):
    """Hidden scores become +inf (two minus signs cancel) or NaN, and then their whole row is NaN. Hide with -np.inf."""
    return np.where(mask, scores, np.inf)


@_attending
def latent_always_causal(queries, keys, values, mask):
    """You hide the future, whether or not a mask says so. Hide what the mask hides, and without a mask, nothing."""
    return scaled_dot_product_attention(queries, keys, values, mask, is_causal=True, scale=1)


def _without_a_question(queries, kept, unfold_K, unfold_V, mask=None):
    kept = _for_all_heads(kept)
    scores = queries @ swap(unfold_K) @ swap(kept) * root(queries)
    with np.errstate(all="ignore"):
        weights = softmax(np.where(mask, scores, -1e9))
    return weights @ kept @ unfold_V, weights


def mha_mask_none(queries, kept, unfold_K, unfold_V, mask=None):
    """It goes wrong where no mask is given: `mask` is None then. (np.where(None, a, b) takes b everywhere.) Ask first
    whether there is one, `if mask is not None:`, or hand it to scaled_dot_product_attention, which takes None, too."""
    return _without_a_question(queries, kept, unfold_K, unfold_V, mask)


@_attending
def weights_transposed(queries, keys, values, mask):
    """Your weights are transposed before they meet what is kept. Use them as they are: weights @ kept."""
    _, weights = _plain(queries, keys, values, mask)
    return swap(weights) @ values, weights


def _right_but(change):
    """Return right latent attention, of which change(context, weights) is returned."""
    return lambda queries, kept, unfold_K, unfold_V, mask=None: change(
        *_latent()(queries, kept, unfold_K, unfold_V, mask)
    )


@maker(_right_but)
def returns_output_only(context, weights):
    """You return only the context. Return both: context, weights."""
    return context


@maker(_right_but)
def returns_weights_only(context, weights):
    """You return only the weights. Return both: context, weights."""
    return weights


@maker(_right_but)
def returns_swapped(context, weights):
    """Both are there, in the other order. Return the context first, then the weights."""
    return weights, context
