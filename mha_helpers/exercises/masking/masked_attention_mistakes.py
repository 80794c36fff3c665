"""The mistakes that people make in `masked_attention`: every other way to hide a key, and what each leaves unhidden."""

import numpy as np

from mha_helpers.exercises.engine import Mistake
from mha_helpers.exercises.scaling.scaled_dot_product_attention_mistakes import SCALE_MISTAKES
from mha_helpers.exercises.self_attention.attention_scores_mistakes import SCORE_MISTAKES
from mha_helpers.exercises.self_attention.dot_product_attention_mistakes import WEIGHTS
from mha_helpers.exercises.self_attention.softmax_mistakes import SOFTMAX_MISTAKES
from mha_helpers.exercises.steps import normalised, swap
from mha_helpers.maths import attention
from mha_helpers.maths.attention import attention_scores, scaled_dot_product_attention, softmax
from mha_helpers.maths.masks import apply_mask


def _scaled(queries, keys):
    return attention_scores(queries, keys) / np.sqrt(queries.shape[-1])


def _mixed(weights, values):
    return weights @ values, weights


def _hiding(hide, *, weigh=softmax, clear=False):
    """Return attention that hides with hide(scores, mask), and may put zeros where the mask hides."""

    def wrong_attention(queries, keys, values, mask):
        weights = weigh(hide(_scaled(queries, keys), mask))
        return _mixed(np.where(mask, weights, 0) if clear else weights, values)

    return wrong_attention


def _empty_rows_cleared(hide):
    def wrong_attention(queries, keys, values, mask):
        weights = softmax(hide(_scaled(queries, keys), mask)) * mask.any(axis=-1, keepdims=True)
        return _mixed(weights, values)

    return wrong_attention


def _replaced_by(number):
    return lambda scores, mask: np.where(mask, scores, number)


def _added(number):
    return lambda scores, mask: scores + np.where(mask, 0, number)


HIDING = (_replaced_by, _added)


def _weights_changed(change):
    """Return attention whose weights, made without a mask, are changed by change(weights, mask)."""

    def wrong_attention(queries, keys, values, mask):
        return _mixed(change(softmax(_scaled(queries, keys)), mask), values)

    return wrong_attention


def _cleared_too_late(wrong):
    """Attention that puts zeros where the mask hides, but after the values are mixed."""

    def wrong_attention(queries, keys, values, mask):
        context, weights = wrong(queries, keys, values, mask)
        return context, np.where(mask, weights, 0)

    return wrong_attention


def _context_cleared(wrong):
    """Attention in which only the context is mended."""

    def wrong_attention(queries, keys, values, mask):
        context, weights = wrong(queries, keys, values, mask)
        return np.nan_to_num(context), weights

    return wrong_attention


def _exp_shares(scores):
    """Softmax as a learner writes it: it takes any array, and fails on an empty one in NumPy's words."""
    return normalised(np.exp(scores - scores.max(axis=-1, keepdims=True)), -1)


def _exponentials_hidden(queries, keys, values, mask):
    scores = _scaled(queries, keys)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True)) * mask
    return _mixed(exponentials / np.maximum(exponentials.sum(axis=-1, keepdims=True), 1e-300), values)


def _right_but(change):
    """Return right attention, of which change(context, weights, queries, keys, values) is returned."""
    return lambda queries, keys, values, mask: change(
        *attention.masked_attention(queries, keys, values, mask), queries, keys, values
    )


def _visible_sum(weights, mask):
    return (weights * mask).sum(axis=-1, keepdims=True)


def _first_changed(pair, factor):
    context, weights = pair
    return context * factor, weights


def _other_mask(change):
    return lambda queries, keys, values, mask: attention.masked_attention(queries, keys, values, change(mask))


def _scaled_wrongly(mistake):
    """A wrong divisor of notebook 02, with the right mask."""

    def masked(wrong):
        def wrong_attention(queries, keys, values, mask):
            # The logarithms of weights differ as their scores do, and softmax sees only differences.
            scores = np.log(wrong(queries, keys, values)[WEIGHTS])
            return _mixed(attention.softmax_or_zeros(apply_mask(scores, mask)), values)

        return wrong_attention

    return Mistake(mistake.slug, mistake.message, tuple(masked(wrong) for wrong in mistake.implementations), WEIGHTS)


def _weighed_wrongly(mistake):
    """A mistake in the softmax itself, between a right mask and right zeros for empty rows."""

    def masked(wrong):
        return _hiding(_replaced_by(-np.inf), weigh=wrong, clear=True)

    implementations = tuple(masked(wrong) for wrong in mistake.implementations)
    return Mistake(mistake.slug, f"Inside your attention: {mistake.message}", implementations, WEIGHTS)


def _zeros_unless_all_is_seen(low, clear):
    def wrong_attention(queries, keys, values, mask):
        weights = softmax(np.where(mask, _scaled(queries, keys), low))
        return _mixed(clear(weights, mask.all(axis=-1, keepdims=True)), values)

    return wrong_attention


def _all_rows_at_once(is_empty, hide):
    """Attention that asks is_empty(weights, mask) once, of all rows together, and then gives zeros to all of them."""

    def wrong_attention(queries, keys, values, mask):
        weights = softmax(hide(_scaled(queries, keys), mask))
        return _mixed(np.zeros_like(weights) if is_empty(weights, mask) else weights, values)

    return wrong_attention


def _weights_become_one_number(queries, keys, values, mask):
    weights = softmax(np.where(mask, _scaled(queries, keys), -np.inf))
    if np.isnan(weights).any():
        weights = np.array(0)
    return _mixed(weights, values)


LOWEST = np.finfo(np.float64).min
CLEARING = (lambda weights, seen: np.where(seen, weights, 0), lambda weights, seen: weights * seen)


def _with_the_past(choose):
    """Return attention whose mask is choose(mask, past), where the past is what a causal mask shows."""

    def wrong_attention(queries, keys, values, mask):
        past = np.tril(np.ones((queries.shape[-2], keys.shape[-2]), bool))
        return attention.masked_attention(queries, keys, values, choose(mask, past))

    return wrong_attention


def _compared_wrongly(mistake):
    """A mistake in the scores, under a right mask."""

    def masked(wrong):
        def wrong_attention(queries, keys, values, mask):
            scores = wrong(queries, keys) / np.sqrt(queries.shape[-1])
            return _mixed(attention.softmax_or_zeros(np.where(mask, scores, -np.inf)), values)

        return wrong_attention

    implementations = tuple(masked(wrong) for wrong in mistake.implementations)
    return Mistake(mistake.slug, f"Inside your attention: {mistake.message}", implementations, WEIGHTS)


COMPARING = (
    "scores-keys-by-queries",
    "scores-reversed-axes",
    "scores-transpose-order",
    "scores-no-transpose",
    "scores-axes-from-front",
    "scores-reshaped-keys",
)
# Wrong divisors that show without a `scale`, and that no other one equals.
DIVISORS = {
    mistake.slug: mistake
    for mistake in SCALE_MISTAKES
    if mistake.slug
    not in {
        "scale-twice",
        "scale-ignored",
        "scale-on-top",
        "scale-divides",
        "scale-zero-as-none",
        "scale-after-softmax",
    }
}


def _in_brackets(number, *, clear):
    """Attention that writes into scores[~mask], which takes only a mask of the scores' own shape."""

    def hide(scores, mask):
        scores[~mask] = number
        return scores

    def wrong_attention(queries, keys, values, mask):
        weights = softmax(hide(_scaled(queries, keys), mask))
        return _mixed(np.where(mask, weights, 0) if clear else weights, values)

    return wrong_attention


HIDDEN_FOR_CERTAIN = _hiding(_replaced_by(-np.inf))  # and an empty row is NaN
FINITE = (-1e9, -1e10, -1e6, -1e5, -1e4, -1e3)
SEES_NOTHING = (
    "Such a query attends to nothing: give it zeros, before the values are mixed, for example with "
    "np.where(mask, weights, 0). (Choose, don't multiply: 0 * NaN is still NaN.)"
)

MASKED_MISTAKES = (
    Mistake(
        "mask-rows-emptied",
        "Every row in which anything is hidden comes out as zeros. Only a row that sees *nothing* should: find it "
        "with mask.any(axis=-1), not with mask.all(axis=-1). (You get the same zeros if you hide what may be seen, "
        "and then clear the rest.)",
        (
            *(_zeros_unless_all_is_seen(low, clear) for low in (-np.inf, LOWEST, -1e9) for clear in CLEARING),
            _hiding(lambda scores, mask: scores + mask * -1e9, clear=True),
        ),
    ),
    Mistake(
        "mask-causal-instead",
        "You hide the future, and don't use the mask. Only `mask` says which keys may be seen.",
        (_with_the_past(lambda mask, past: past),),
    ),
    Mistake(
        "mask-causal-on-top",
        "You hide the future on top of what the mask hides. If the caller wants that, it is in the mask already: hide "
        "what the mask says, and nothing else.",
        (_with_the_past(lambda mask, past: mask & past),),
    ),
    Mistake(
        "mask-ignored",
        "The mask is not used: hidden keys get weight like all the others.",
        (_other_mask(np.ones_like),),
    ),
    Mistake(
        "mask-inverted",
        'You hide what may be seen, and show what should be hidden. True means "may attend", so in np.where(mask, '
        "scores, ...) the scores come first.",
        (
            _other_mask(np.logical_not),
            _hiding(lambda scores, mask: np.where(mask, -np.inf, scores)),
            *(_hiding(lambda scores, mask, low=low: np.where(mask, low, scores)) for low in (-1e9, LOWEST)),
            *(_hiding(lambda scores, mask, low=low: scores + mask * low) for low in (-1e9, -1e10, -1e5, -1e4)),
            *(_hiding(lambda s, mask, low=low: np.where(mask, low, s), clear=True) for low in (-np.inf, -1e9)),
        ),
    ),
    Mistake(
        "mask-score-zero",
        "You set hidden scores to 0. But e^0 is 1, not 0: a hidden key still gets weight, often more than a visible "
        "one. A hidden score must be -inf, for e^-inf = 0.",
        (
            _hiding(lambda scores, mask: scores * mask),
            _hiding(lambda scores, mask: scores * mask, clear=True),
        ),
    ),
    Mistake(
        "mask-full-row-all-at-once",
        "You ask about all rows at once, as `if not mask.any():` and `if np.isnan(weights).any():` do. But single rows "
        "can see nothing while others see something. " + SEES_NOTHING,
        (
            *(
                _all_rows_at_once(lambda weights, mask: not mask.any(), _replaced_by(number))
                for number in (-np.inf, LOWEST, -1e9, -1e10)
            ),
            _all_rows_at_once(lambda weights, mask: np.isnan(weights).any(), _replaced_by(-np.inf)),
            _weights_become_one_number,
        ),
    ),
    Mistake(
        "mask-full-row-nan",
        "Right except for a row in which everything is hidden: there you subtract -inf from -inf, or divide 0 by 0, "
        "and both give NaN. " + SEES_NOTHING,
        (
            HIDDEN_FOR_CERTAIN,
            _hiding(lambda scores, mask: scores + np.log(mask)),
            _cleared_too_late(HIDDEN_FOR_CERTAIN),
            _context_cleared(HIDDEN_FOR_CERTAIN),
        ),
    ),
    Mistake(
        "mask-full-row-uniform",
        "Right except for a row in which everything is hidden: it shares out its attention evenly, because its scores "
        "are all equally low. " + SEES_NOTHING,
        (
            *(_hiding(_replaced_by(number)) for number in (LOWEST, -1e30, -1e9, -1e10, -1e5, -1e4)),
            *(_hiding(_added(number)) for number in (LOWEST, -1e30)),
            *(_cleared_too_late(_hiding(_replaced_by(number))) for number in (LOWEST, -1e9)),
        ),
    ),
    Mistake(
        "mask-full-row-unmasked",
        "Right except for a row in which everything is hidden: it comes out as if nothing were hidden. Adding the "
        "same number to all its scores changes nothing, because softmax sees only their differences. " + SEES_NOTHING,
        (
            *(_hiding(_added(number)) for number in (-1e9, -1e10, -1e5, -1e4)),
            _cleared_too_late(_hiding(_added(-1e9))),
            _other_mask(lambda mask: mask | ~mask.any(axis=-1, keepdims=True)),
        ),
    ),
    Mistake(
        "mask-tiny-number",
        "You hide with a finite number. -1e-9 is nearly 0 and hides nothing, and -1e4 or -1e9 hides only as long as "
        "no visible score is lower still: then the hidden keys take all the weight. e^-inf is exactly 0.",
        (
            *(_hiding(hide(number), clear=True) for hide in HIDING for number in FINITE),
            *(_empty_rows_cleared(hide(number)) for hide in HIDING for number in FINITE),
            *(_hiding(hide(-100.0), clear=clear) for hide in HIDING for clear in (False, True)),
            *(_hiding(hide(number)) for hide in HIDING for number in (-1e-9, 1e-9)),
        ),
    ),
    Mistake(
        "mask-after-softmax",
        "You hide weights after the softmax has shared everything out. What the hidden keys were given is lost, and "
        "the rows no longer sum to 1. Hide the scores, before the softmax.",
        (_weights_changed(lambda weights, mask: weights * mask),),
    ),
    Mistake(
        "mask-after-softmax-infinite",
        "You put -inf among the weights, after the softmax. It belongs among the scores, before it.",
        (
            _weights_changed(lambda weights, mask: np.where(mask, weights, -np.inf)),
            _weights_changed(lambda weights, mask: np.where(mask, weights, -1e9)),
        ),
    ),
    Mistake(
        "mask-softmax-again",
        "You mask the weights and take the softmax once more. Mask the scores, and take it once.",
        (
            _weights_changed(lambda weights, mask: softmax(np.where(mask, weights, -np.inf))),
            _weights_changed(lambda weights, mask: np.where(mask, softmax(np.where(mask, weights, -np.inf)), 0)),
        ),
    ),
    Mistake(
        "mask-renormalised",
        "You hide weights, or exponentials, and divide by the sum of the others. That gives the same numbers, until a "
        "row sees nothing, or a hidden score is so far above the visible ones that their exponentials round to 0: "
        "you are left with 0/0. Hide scores, before the softmax takes their maximum.",
        (
            _weights_changed(lambda weights, mask: normalised(weights * mask, -1)),
            _exponentials_hidden,
            _weights_changed(lambda weights, mask: np.nan_to_num(normalised(weights * mask, -1))),
            _weights_changed(lambda weights, mask: weights * mask / (_visible_sum(weights, mask) + 1e-12)),
            _weights_changed(lambda weights, mask: weights * mask / np.maximum(_visible_sum(weights, mask), 1e-9)),
        ),
    ),
    Mistake(
        "mask-added-boolean",
        "scores + mask adds 1 or 0, and hides nothing. Choose between two: np.where(mask, scores, -np.inf).",
        (
            _hiding(lambda scores, mask: scores + mask),
            _hiding(lambda scores, mask: scores - ~mask),
            _hiding(lambda scores, mask: scores + mask, clear=True),
        ),
    ),
    Mistake(
        "mask-minus-minus-inf",
        "Hidden scores become +inf (two minus signs cancel) or NaN, and then their whole row is NaN. Hide with "
        "-np.inf.",
        (
            _hiding(_replaced_by(np.inf)),
            _hiding(_replaced_by(np.nan)),
            _hiding(_added(np.inf)),
            _hiding(_replaced_by(np.inf), clear=True),
            *(_hiding(lambda scores, mask, low=low: np.where(mask, scores, -low)) for low in (-1e9, -1e4)),
        ),
    ),
    Mistake(
        "mask-zero-times-inf",
        "Everything visible comes out as NaN, because 0 * inf is NaN. Instead of multiplying, choose: np.where(mask, "
        "scores, -np.inf). (You also get NaN if you hide everything: `mask is True` is False for any array.)",
        (
            _hiding(lambda scores, mask: scores - np.inf),
            _hiding(lambda scores, mask: scores + ~mask * -np.inf),
            _hiding(lambda scores, mask: scores + (1 - mask.astype(float)) * -np.inf, clear=True),
            _hiding(lambda scores, mask: scores + mask * -np.inf),
        ),
    ),
    Mistake(
        "mask-transposed",
        "You swapped the mask's axes. Its rows are queries and its columns are keys, as in the scores: use it as it "
        "is.",
        (_other_mask(swap), _other_mask(np.transpose)),
    ),
    Mistake(
        "mask-as-index",
        "scores[mask] puts the visible scores into one long list, and you can no longer tell which row they came "
        "from. Keep the shape: np.where(mask, scores, -np.inf).",
        (
            lambda queries, keys, values, mask: _mixed(_exp_shares(_scaled(queries, keys)[mask]), values),
            lambda queries, keys, values, mask: _mixed(softmax(_scaled(queries, keys))[mask], values),
        ),
    ),
    Mistake(
        "mask-in-brackets",
        "scores[~mask] takes only a mask of the scores' own shape. A mask may have fewer axes, or axes of length 1, "
        "which then stand for all queries, heads or sentences. np.where(mask, scores, -np.inf) takes any mask that "
        "broadcasts.",
        tuple(_in_brackets(number, clear=clear) for number in (-np.inf, -1e9) for clear in (False, True)),
    ),
    Mistake(
        "mask-axes-added",
        "You add axes to the mask. It comes ready to broadcast: (n_queries, n_keys), or with all of the scores' axes.",
        (_other_mask(lambda mask: mask[:, None]), _other_mask(lambda mask: mask[:, None, None])),
    ),
    Mistake(
        "mask-on-the-context",
        "You mask the values or the context. A mask hides keys from queries: apply it to the scores, before the "
        "softmax.",
        (
            lambda queries, keys, values, mask: scaled_dot_product_attention(
                queries, keys, values * mask.any(axis=-2)[..., None]
            ),
            lambda queries, keys, values, mask: _first_changed(
                scaled_dot_product_attention(queries, keys, values), mask.any(axis=-1, keepdims=True)
            ),
        ),
    ),
    Mistake(
        "mask-context-unmasked",
        "The weights that you return are masked, but you made the context with other weights. Mix the values with the "
        "masked ones.",
        (
            lambda queries, keys, values, mask: (
                scaled_dot_product_attention(queries, keys, values)[0],
                attention.masked_attention(queries, keys, values, mask)[1],
            ),
        ),
    ),
    Mistake(
        "returns-weights-only",
        "You return only the weights. Return both: context, weights.",
        (_right_but(lambda context, weights, *given: weights), lambda *given: HIDDEN_FOR_CERTAIN(*given)[1]),
    ),
    Mistake(
        "returns-context-only",
        "You return only the context. Return both: context, weights.",
        (_right_but(lambda context, weights, *given: context), lambda *given: HIDDEN_FOR_CERTAIN(*given)[0]),
    ),
    Mistake(
        "returns-swapped",
        "Both are there, in the other order. Return context first, then weights.",
        (_right_but(lambda context, weights, *given: (weights, context)),),
    ),
    Mistake(
        "values-are-keys",
        "You mix the keys. What gets mixed is the values: weights @ values.",
        (_right_but(lambda context, weights, queries, keys, values: (weights @ keys, weights)),),
    ),
    Mistake(
        "values-are-queries",
        "You mix the queries. What gets mixed is the values: weights @ values.",
        (_right_but(lambda context, weights, queries, keys, values: (weights @ queries, weights)),),
    ),
    Mistake(
        "weights-transposed",
        "Your weights are transposed before they meet the values. Use them as they are: weights @ values.",
        (_right_but(lambda context, weights, queries, keys, values: (swap(weights) @ values, weights)),),
    ),
    Mistake(
        "scale-after-softmax",
        "You divide the weights or the context, after the softmax. Divide the scores.",
        (
            _right_but(
                lambda context, weights, queries, *given: (
                    context / np.sqrt(queries.shape[-1]),
                    weights / np.sqrt(queries.shape[-1]),
                )
            ),
            _right_but(lambda context, weights, queries, *given: (context / np.sqrt(queries.shape[-1]), weights)),
        ),
    ),
    *(_scaled_wrongly(mistake) for mistake in DIVISORS.values()),
    *(_compared_wrongly(mistake) for mistake in SCORE_MISTAKES if mistake.slug in COMPARING),
    *(_weighed_wrongly(mistake) for mistake in SOFTMAX_MISTAKES),
)
