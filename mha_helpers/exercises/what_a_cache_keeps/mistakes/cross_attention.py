"""The mistakes that people make in `cross_attention`: which sequence goes where, and what is hidden."""

import numpy as np

from function_judge.catalogue import Mistake
from mha_helpers.attention import (
    combine_heads,
    masked_attention,
    scaled_dot_product_attention,
    softmax,
    softmax_or_zeros,
    split_heads,
)
from mha_helpers.exercises.masking.mistakes import masked_attention as in_notebook_03
from mha_helpers.exercises.mistakes import in_each_head
from mha_helpers.exercises.mistakes.catalogue import also, inside, maker, mistake_of, mistakes_in
from mha_helpers.exercises.mistakes.steps import (
    HIDING_NUMBERS,
    added,
    attention_with,
    every_nth,
    heads_not_moved,
    joined_features_first,
    joined_straight,
    replaced_by,
    root,
    split_straight,
    swap,
    where_masked,
)
from mha_helpers.masks import padding_mask


def _padding(context_mask, X, context_X):
    return padding_mask(context_mask)


def _layer(
    *,
    sources=lambda X, context_X: (X, context_X, context_X),
    matrices=lambda *W: W,
    split=split_heads,
    hidden=_padding,
    attend=scaled_dot_product_attention,
    combine=combine_heads,
    finish=lambda combined, W_O: combined @ W_O,
):
    """Return cross-attention in which a step or two is done in another way."""

    def wrong_attention(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
        *W, W_O = matrices(W_Q, W_K, W_V, W_O)
        heads = (split(tokens @ each, n_heads) for tokens, each in zip(sources(X, context_X), W, strict=True))
        mask = None if context_mask is None else hidden(np.asarray(context_mask), X, context_X)
        found, weights = attend(*heads, mask)
        return finish(combine(found), W_O), weights

    return wrong_attention


def _nothing_hidden(context_mask, X, context_X):
    return None


# With the source's padding hidden, and without: it may not fit the other sequence.
_of_sources = maker(
    lambda sources: _layer(sources=sources),
    lambda sources: _layer(sources=sources, hidden=_nothing_hidden),
)
_hiding = maker(lambda hidden: _layer(hidden=hidden))
_attending = maker(lambda attend: _layer(attend=attend))
_combining = maker(lambda combine: _layer(combine=combine))
_splitting = maker(lambda split: _layer(split=split))
_finishing = maker(lambda finish: _layer(finish=finish))
_with_matrices = maker(lambda matrices: _layer(matrices=matrices))


def _in_each_head(**steps):
    return _layer(attend=attention_with(**{"weigh": softmax_or_zeros} | steps))


_weighing = maker(lambda weigh: _in_each_head(weigh=weigh))
_scaling = maker(lambda factor: _in_each_head(factor=factor))

# A mask in the course's attention, and in a learner's own, which refuses none.
_hiding_by_hand = maker(
    lambda hidden: _layer(hidden=hidden),
    lambda hidden: _layer(hidden=hidden, attend=attention_with(weigh=softmax_or_zeros)),
)


def _right_but(change):
    """Return right cross-attention, of which change(output, weights, X) is returned."""
    return lambda X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None: change(
        *_layer()(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask), X
    )


# ---- which sequence goes where


@_of_sources
def cross_sources_swapped(X, context_X):
    """The two sequences are swapped: your queries come from context_X, and keys and values from X. The one that is
    being written asks, so queries are X @ W_Q; keys and values are context_X @ W_K and context_X @ W_V."""
    return context_X, X, X


@_of_sources
def cross_attends_to_itself(X, context_X):
    """Keys and values come from X, so it attends to itself, and context_X isn't used. They are made from the other
    sequence: context_X @ W_K and context_X @ W_V."""
    return X, X, X


@_of_sources
def cross_queries_from_the_source(X, context_X):
    """Your queries come from context_X, so the source attends to itself, and X isn't used. X asks: X @ W_Q."""
    return context_X, context_X, context_X


@_of_sources
@also(lambda X, context_X: (X, context_X, X))
def cross_keys_and_values_apart(X, context_X):
    """Of keys and values, one comes from X and the other from context_X. They belong to the same tokens, those of the
    source: context_X @ W_K and context_X @ W_V."""
    return X, X, context_X


def _joined(first, second):
    return np.concatenate([first, second], axis=-2)


@_of_sources
@also(lambda X, context_X: (X, _joined(X, context_X), _joined(X, context_X)))
def cross_both_joined(X, context_X):
    """You attend to both sequences, joined into one. In cross-attention only the source has keys and values; X attends
    to itself in another layer."""
    return X, _joined(context_X, X), _joined(context_X, X)


# ---- what is hidden


def _past(X, context_X):
    return np.tri(X.shape[-2], context_X.shape[-2], dtype=bool)


def _old(queries, keys):
    """The causal mask of a cache, which ends in the lower right corner."""
    n_queries, n_keys = queries.shape[-2], keys.shape[-2]
    return np.tri(n_queries, n_keys, n_keys - n_queries, dtype=bool)


@also(
    _layer(hidden=lambda context_mask, X, context_X: _past(X, context_X), attend=lambda q, k, v, mask:
        scaled_dot_product_attention(q, k, v, np.tri(q.shape[-2], k.shape[-2], dtype=bool))),
    _layer(attend=lambda q, k, v, mask: scaled_dot_product_attention(q, k, v, is_causal=True)),
    _layer(hidden=lambda context_mask, X, context_X: padding_mask(context_mask) & _past(X, context_X)),
    _layer(attend=lambda q, k, v, mask: scaled_dot_product_attention(q, k, v, mask, is_causal=mask is None)),
    *(
        _layer(attend=lambda q, k, v, mask, join=join: scaled_dot_product_attention(q, k, v, join(_old(q, k), mask)))
        for join in (lambda past, mask: past if mask is None else past & mask, lambda past, mask: past)
    ),
)  # fmt: skip
@_attending
def cross_causal(queries, keys, values, mask):
    """You hide part of the source by a causal mask. The source was finished before anything was written, so every new
    word may attend to all of it. Hide its padding, and nothing else."""
    return scaled_dot_product_attention(queries, keys, values, mask, is_causal=True)


@_hiding_by_hand
@also(
    lambda context_mask, X, context_X: swap(padding_mask(context_mask)),
    lambda context_mask, X, context_X: swap(padding_mask(context_mask[:, : X.shape[-2]])),
)
def cross_padding_on_queries(context_mask, X, context_X):
    """Your mask lies along the queries, (batch, 1, n, 1). But the padding is the source's, and the source is what is
    attended to: hide keys, (batch, 1, 1, n_keys), as padding_mask does."""
    return context_mask.astype(bool)[:, None, :, None]


@_hiding_by_hand
@also(
    lambda context_mask, X, context_X: context_mask.astype(bool)[:, None, :],
    lambda context_mask, X, context_X: context_mask.astype(bool)[None, :, None],
    lambda context_mask, X, context_X: context_mask.astype(bool)[None, None],
)
def padding_no_head_axis(context_mask, X, context_X):
    """Your mask lacks an axis for the heads, or one for the queries, or has them in the wrong place. Broadcasting lines
    up axes from the right, so that sentences are taken for heads or for queries. padding_mask(context_mask) is (batch,
    1, 1, n_keys)."""
    return context_mask.astype(bool)


@_hiding
@also(
    lambda context_mask, X, context_X: context_mask[:, None, None],
    lambda context_mask, X, context_X: context_mask.astype(float)[:, None, None],
)
def cross_mask_as_given(context_mask, X, context_X):
    """You hand on context_mask as it is, a 1 or a 0 for each token. scaled_dot_product_attention takes True and False,
    and needs axes for the heads and the queries: padding_mask(context_mask) makes both."""
    return context_mask


@_hiding_by_hand
@also(
    lambda context_mask, X, context_X: swap(padding_mask(context_mask)) & padding_mask(context_mask),
    lambda context_mask, X, context_X: context_mask[:, :, None] & context_mask[:, None] == 1,
)
def cross_mask_square(context_mask, X, context_X):
    """Your mask is square, the padding along the queries as well as along the keys. But context_mask tells of the
    source alone, and the queries are those of X: hide keys only, (batch, 1, 1, n_keys), as padding_mask does."""
    return swap(padding_mask(context_mask)) | padding_mask(context_mask)


@_hiding_by_hand
def padding_inverted(context_mask, X, context_X):
    """You hide the source's tokens and show its padding. 1 marks a token, and True means "may attend"."""
    return ~padding_mask(context_mask)


@_hiding
def mha_mask_ignored(context_mask, X, context_X):
    """The source's padding gets weight like its tokens: context_mask isn't used. Make a mask of it with
    padding_mask(context_mask), and hand it to scaled_dot_product_attention."""
    return None


@_hiding
def cross_mask_of_first_sentence(context_mask, X, context_X):
    """Every sentence gets the padding of the first one. Each has its own: padding_mask(context_mask) keeps the batch
    axis."""
    return padding_mask(context_mask[:1])


def cross_padding_zeroed(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    """You set the padding's rows to 0. A key of zeros still has a score, 0, and softmax gives it a weight. Hide the
    padding's keys with a mask: padding_mask(context_mask)."""
    if context_mask is not None:
        context_X = context_X * np.asarray(context_mask)[..., None]
    return _layer(hidden=_nothing_hidden)(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask)


@_attending
def cross_values_zeroed(queries, keys, values, mask):
    """You set the padding's values to 0, but its keys still get weight, which the source's tokens are then short of.
    Hide the keys, before the softmax: padding_mask(context_mask) in scaled_dot_product_attention."""
    return scaled_dot_product_attention(queries, keys, values if mask is None else values * swap(mask))


@_attending
def cross_mask_added_as_numbers(queries, keys, values, mask):
    """You add the mask to the scores, as 1 and 0, so that the padding's are only a little lower. Give
    padding_mask(context_mask) to scaled_dot_product_attention, or choose: np.where(mask, scores, -np.inf)."""
    return attention_with(weigh=softmax_or_zeros, hide=lambda scores, mask: scores + mask)(queries, keys, values, mask)


@maker(lambda hide: _layer(attend=attention_with(weigh=softmax_or_zeros, hide=hide)))
@also(
    *(lambda scores, mask, high=high: scores + np.where(mask, 0, high) for high in (1e10, 1e5, 1e4)),
    *(lambda scores, mask, high=high: scores - np.where(mask, high, 0) for high in (1e9, 1e10, 1e5, 1e4)),
    *(lambda scores, mask, high=high: np.where(mask, scores, high) for high in (1e9, 1e10, 1e5, 1e4)),
)
def cross_padding_raised(scores, mask):
    """The padding's scores are the highest of all, so it gets all of the weight. What hides must be negative, and
    stand where context_mask is 0: np.where(padding_mask(context_mask), scores, -np.inf)."""
    return scores + np.where(mask, 0, 1e9)


@maker(lambda hide: _layer(attend=attention_with(weigh=softmax, hide=hide)))
def mask_minus_minus_inf(scores, mask):
    """Hidden scores become +inf (two minus signs cancel) or NaN, and then their whole row is NaN. Hide with -np.inf."""
    return np.where(mask, scores, np.inf)


def _cut_off(n_kept):
    def wrong_attention(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
        if context_mask is not None:
            context_X = context_X[:, : n_kept(np.asarray(context_mask))]
        return _layer(hidden=_nothing_hidden)(X, context_X, W_Q, W_K, W_V, W_O, n_heads)

    return wrong_attention


@maker(_cut_off)
@also(
    lambda context_mask: int(context_mask.sum(axis=-1).max()),
    lambda context_mask: max(int(context_mask.sum(axis=-1).min()), 1),
)
def cross_padding_cut_off(context_mask):
    """You cut the padding off, at one place for all sentences. Each source has its own length, some are padded on the
    left, and padding has its column in the weights, too, with zeros. Hide it: padding_mask(context_mask)."""
    return int(context_mask[0].sum())


CROSS_FULL_ROW = Mistake(
    "mask-full-row-nan",
    "Right except for a source that is only padding: there is nothing to attend to, and -inf minus -inf, or 0 divided "
    "by 0, is NaN. Give such rows weights of 0, as scaled_dot_product_attention does. (Choose, don't multiply: 0 * NaN "
    "is still NaN.)",
    (_layer(attend=attention_with()),),
)
CROSS_FULL_ROW_UNIFORM = Mistake(
    "mask-full-row-uniform",
    "Right except for a source that is only padding: it is attended to evenly, because a finite number hides nothing "
    "where every score has it. There is nothing to attend to: give such rows weights of 0, or hide with -inf and let "
    "scaled_dot_product_attention do it.",
    tuple(
        _layer(attend=attention_with(hide=lambda scores, mask, low=low: np.where(mask, scores, low)))
        for low in HIDING_NUMBERS
    ),
)
CROSS_NOT_LOW_ENOUGH = Mistake(
    "cross-not-low-enough",
    "The number that is to hide the padding isn't low enough, so that the padding still gets a little weight. Take "
    "-inf: e^-inf is 0, whatever the other scores are.",
    tuple(
        _layer(attend=attention_with(weigh=softmax_or_zeros, hide=hide(number)))
        for number in (-10, -2, -3, -5)
        for hide in (replaced_by, added)
    ),
)
EARLIER = tuple(
    inside(lambda wrong: _layer(attend=where_masked(wrong)), mistake)
    for mistake in mistakes_in(
        in_notebook_03,
        "mask-score-zero",
        "mask-full-row-unmasked",
        "mask-after-softmax",
        "mask-softmax-again",
    )
)


def _without_a_question(weigh):
    """Return attention that calls weigh(scores, mask) where the mask is None, too: np.where(None, a, b) is b."""

    def attend(queries, keys, values, mask):
        weights = weigh(queries @ swap(keys) * root(queries), mask)
        return weights @ values, weights

    return attend


def _asked_for_any(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    context_mask.any()
    return _layer()(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask)


def _always_padded(X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None):
    heads = (split_heads(tokens @ W, n_heads) for tokens, W in ((X, W_Q), (context_X, W_K), (context_X, W_V)))
    found, weights = scaled_dot_product_attention(*heads, padding_mask(context_mask))
    return combine_heads(found) @ W_O, weights


MHA_MASK_NONE = Mistake(
    "mha-mask-none",
    "It goes wrong where no mask is given: context_mask is None then. Ask first whether there is one, `if context_mask "
    "is not None:`. (scaled_dot_product_attention takes None as its mask, padding_mask doesn't.)",
    (
        _always_padded,
        _asked_for_any,
        _layer(attend=masked_attention),
        *(
            _layer(attend=_without_a_question(weigh))
            for weigh in (
                lambda scores, mask: softmax_or_zeros(np.where(mask, scores, -np.inf)),
                lambda scores, mask: softmax(np.where(mask, scores, -1e9)),
            )
        ),
    ),
)


# ---- the rest of a layer


@_with_matrices
@also(
    lambda W_Q, W_K, W_V, W_O: (W_Q, W_V, W_V, W_O),
    lambda W_Q, W_K, W_V, W_O: (W_K, W_K, W_V, W_O),
    lambda W_Q, W_K, W_V, W_O: (W_Q, W_Q, W_V, W_O),
    lambda W_Q, W_K, W_V, W_O: (W_V, W_K, W_V, W_O),
    lambda W_Q, W_K, W_V, W_O: (W_Q, W_K, W_Q, W_O),
)
def mha_same_matrix(W_Q, W_K, W_V, W_O):
    """Two of queries, keys and values come from the same matrix. Each has one of its own: X @ W_Q, context_X @ W_K and
    context_X @ W_V."""
    return W_Q, W_K, W_K, W_O


@_with_matrices
@also(
    lambda W_Q, W_K, W_V, W_O: (W_K, W_Q, W_V, W_O),
    lambda W_Q, W_K, W_V, W_O: (W_V, W_K, W_Q, W_O),
    lambda W_Q, W_K, W_V, W_O: (W_K, W_V, W_Q, W_O),
    lambda W_Q, W_K, W_V, W_O: (W_V, W_Q, W_K, W_O),
)
def mha_matrices_swapped(W_Q, W_K, W_V, W_O):
    """You mixed up W_Q, W_K and W_V. Queries are X @ W_Q, keys context_X @ W_K, and values context_X @ W_V. Check the
    order in which you pass them on, too: queries, keys, values."""
    return W_Q, W_V, W_K, W_O


@_splitting
def mha_split_without_transpose(X, n_heads):
    """Your heads are made by a reshape straight to (n_heads, n_tokens, d_head), which mixes tokens. Use split_heads."""
    return split_straight(X, n_heads)


@_combining
def mha_combine_without_transpose(heads):
    """Your heads are right, but you reshape them straight back to (n_tokens, d_model), which mixes tokens. Use
    combine_heads."""
    return joined_straight(heads)


@maker(lambda combine: _layer(combine=combine, split=split_straight))
def mha_both_without_transpose(heads):
    """You reshape straight to (n_heads, n_tokens, d_head), and straight back. Every shape is right, but each head
    attends to pieces of mixed tokens. Use split_heads and combine_heads."""
    return joined_straight(heads)


@also(_layer(split=every_nth, combine=joined_features_first))
@_splitting
def mha_strided(X, n_heads):
    """Head i gets columns i, i + n_heads, and so on. Here a head's columns are neighbours: use split_heads (and
    combine_heads)."""
    return every_nth(X, n_heads)


@_combining
def mha_combine_interleaved(heads):
    """The features of the heads are interleaved before W_O. Keep each head's together, as combine_heads does."""
    return joined_features_first(heads)


@maker(lambda split: _layer(split=split, combine=lambda heads: heads.reshape(*heads.shape[:-2], -1)))
def mha_heads_not_moved(X, n_heads):
    """Your heads come after the tokens, (..., n_tokens, n_heads, d_head), so the heads of one token attend to each
    other. Attention works on the last two axes: swap heads and tokens first, as split_heads does."""
    return heads_not_moved(X, n_heads)


@_combining
def mha_heads_not_combined(heads):
    """The heads meet W_O one by one, each only d_head wide. Put them side by side first: combine_heads(heads) @ W_O."""
    return heads


@also(weights_of=(lambda weights, n_heads: np.repeat(weights, n_heads, -3), lambda weights, _: weights[..., 0, :, :]))
def mha_no_split(
    X, context_X, W_Q, W_K, W_V, W_O, n_heads, context_mask=None, weights_of=lambda weights, n_heads: weights
):
    """That is one head over all d_model features, whatever n_heads is. Split queries, keys and values with
    split_heads."""
    output, weights = _layer()(X, context_X, W_Q, W_K, W_V, W_O, 1, context_mask)
    return output, weights_of(weights, n_heads)


@_finishing
def mha_no_output_projection(combined, W_O):
    """You don't use W_O. Side by side, each head only fills its own columns. Multiply the combined heads by W_O."""
    return combined


@_finishing
def mha_output_projection_transposed(combined, W_O):
    """You multiply by W_O.T. With row vectors it is combined @ W_O."""
    return combined @ W_O.T


@_attending
@also(reduce=(np.sum,))
def mha_mean_heads(queries, keys, values, mask, reduce=np.mean):
    """You average the heads, or add them up, before W_O: then it cannot tell them apart. Put them side by side with
    combine_heads; W_O has rows for each of them."""
    found, weights = scaled_dot_product_attention(queries, keys, values, mask)
    return np.broadcast_to(reduce(found, axis=-3, keepdims=True), found.shape), weights


@_scaling
@also(lambda queries, keys, values: (keys.shape[-3] * keys.shape[-1]) ** -0.5)
def mha_scale_d_model(queries, keys, values):
    """You divide by sqrt(d_model). In a head each dot product adds up d_head terms only: divide by sqrt(d_head), the
    width of the split queries."""
    return (queries.shape[-3] * queries.shape[-1]) ** -0.5


SCALES = tuple(mistake_of(_scaling(step)) for step in in_each_head.SCALES)
SOFTMAXES = tuple(mistake_of(_weighing(step)) for step in in_each_head.SOFTMAXES)


@_attending
def weights_transposed(queries, keys, values, mask):
    """Your weights are transposed before they meet the values. Use them as they are: weights @ values."""
    _, weights = scaled_dot_product_attention(queries, keys, values, mask)
    return swap(weights) @ values, weights


@_attending
def cross_asked_backwards(queries, keys, values, mask):
    """You give the keys to attention where the queries belong. Queries come first:
    scaled_dot_product_attention(queries, keys, values, mask)."""
    return scaled_dot_product_attention(keys, queries, values, mask)


@maker(lambda returned: _layer(attend=returned))
@also(
    lambda queries, keys, values, mask: (
        scaled_dot_product_attention(queries, keys, values, mask)[0],
        queries @ swap(keys),
    ),
    lambda queries, keys, values, mask: (
        scaled_dot_product_attention(queries, keys, values, mask)[0],
        queries @ swap(keys) * root(queries),
    ),
)
def returns_scores(queries, keys, values, mask):
    """The output is right, but beside it you return the scores. Return output, weights: what softmax made of them."""
    scores = queries @ swap(keys) * root(queries)
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    return scaled_dot_product_attention(queries, keys, values, mask)[0], scores


@_attending
def mha_attention_taken_apart_swapped(queries, keys, values, mask):
    """You take what attention returns in the wrong order, so your heads are joined from its weights. It returns the
    context first and the weights second: heads, weights = scaled_dot_product_attention(...)."""
    context, weights = scaled_dot_product_attention(queries, keys, values, mask)
    return weights, context


@maker(_right_but)
@also(
    lambda output, weights, X: (output, weights.sum(axis=-3)),
    lambda output, weights, X: (output, weights.mean(axis=-3, keepdims=True)),
)
def mha_weights_averaged(output, weights, X):
    """You return the weights averaged (or added up) over the heads. Each head's weights are asked for: (..., n_heads,
    n_queries, n_keys)."""
    return output, weights.mean(axis=-3)


@maker(_right_but)
@also(lambda output, weights, X: (output, weights[..., 0, :, :]))
def mha_weights_of_one_head(output, weights, X):
    """You return one head's weights, maybe those that a loop left in its variable. Collect the weights of all heads:
    (..., n_heads, n_queries, n_keys)."""
    return output, weights[..., -1, :, :]


@maker(_right_but)
def mha_residual_added(output, weights, X):
    """You add X to the output. In a transformer that happens outside of attention; here return the output alone."""
    return output + X, weights


@maker(_right_but)
def returns_output_only(output, weights, X):
    """You return only the output. Return both: output, weights."""
    return output


@maker(_right_but)
def returns_weights_only(output, weights, X):
    """You return only the weights. Return both: output, weights."""
    return weights


@maker(_right_but)
def returns_swapped(output, weights, X):
    """Both are there, in the other order. Return the output first, then the weights."""
    return weights, output
