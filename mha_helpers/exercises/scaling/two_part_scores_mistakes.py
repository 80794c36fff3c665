"""The mistakes that people make in `two_part_scores`."""

import numpy as np

from mha_helpers.exercises.engine import Mistake
from mha_helpers.exercises.steps import swap
from mha_helpers.maths.attention import attention_scores, softmax


def _divided(divide):
    """Return scores made as divide(content scores, position scores, d_content, d_position)."""

    def wrong_scores(content_queries, content_keys, position_queries, position_keys):
        content = attention_scores(content_queries, content_keys)
        position = attention_scores(position_queries, position_keys)
        return divide(content, position, content_queries.shape[-1], position_queries.shape[-1])

    return wrong_scores


TWO_PART_MISTAKES = (
    Mistake(
        "two-parts-each-by-its-root",
        "Each part is brought to a spread of 1, and then they are added. But variances add up: the sum of two parts "
        "with variance 1 has variance 2. Add first, and divide once.",
        (_divided(lambda content, position, c, p: content / c**0.5 + position / p**0.5),),
    ),
    Mistake(
        "two-parts-sum-of-roots",
        "You divide by the sum of the two roots. It's the variances that add up, so add the widths first, and take the "
        "root of the sum.",
        (_divided(lambda content, position, c, p: (content + position) / (c**0.5 + p**0.5)),),
    ),
    Mistake(
        "two-parts-content-width",
        "You divide by the root of the content's width alone. The products of the position are in the sum, too.",
        (
            _divided(lambda content, position, c, p: (content + position) / c**0.5),
            _divided(lambda content, position, c, p: content / c**0.5 + position),
        ),
    ),
    Mistake(
        "two-parts-position-width",
        "You divide by the root of the position's width alone. The products of the content are in the sum, too.",
        (
            _divided(lambda content, position, c, p: (content + position) / p**0.5),
            _divided(lambda content, position, c, p: content + position / p**0.5),
        ),
    ),
    Mistake(
        "two-parts-product",
        "You divide by both roots, one after the other. Variances add up, they don't multiply: one division, by the "
        "root of the sum of the widths.",
        (_divided(lambda content, position, c, p: (content + position) / (c * p) ** 0.5),),
    ),
    Mistake(
        "two-parts-no-root",
        "You divide by the sum of the widths, without the root. Scores spread like the root of the number of products.",
        (_divided(lambda content, position, c, p: (content + position) / (c + p)),),
    ),
    Mistake(
        "two-parts-twice-the-root",
        "You bring each part to a spread of 1, and then divide by 2. Two parts of variance 1 have a variance of 2 "
        "together, so the divisor would be sqrt(2), not 2. And a narrow part then counts as much as a wide one: add "
        "first, and divide once.",
        (_divided(lambda content, position, c, p: (content / c**0.5 + position / p**0.5) / 2),),
    ),
    Mistake(
        "two-parts-each-rescaled",
        "The spread is 1, as asked. But you divide each part on its own, so a narrow part counts as much as a wide "
        "one. Add the two first, and divide the sum by one number.",
        (_divided(lambda content, position, c, p: (content / c**0.5 + position / p**0.5) / 2**0.5),),
    ),
    Mistake(
        "two-parts-undivided",
        "The sum isn't divided at all. Count the products in one score, and divide by the root of their number.",
        (_divided(lambda content, position, c, p: content + position),),
    ),
    Mistake(
        "two-parts-one-divided",
        "Only one of the two parts is divided, because / binds tighter than +. Put brackets round the sum.",
        (
            _divided(lambda content, position, c, p: content + position / (c + p) ** 0.5),
            _divided(lambda content, position, c, p: content / (c + p) ** 0.5 + position),
        ),
    ),
    Mistake(
        "two-parts-softmax",
        "You take the softmax, too. What is asked for are the scores.",
        (_divided(lambda content, position, c, p: softmax((content + position) / (c + p) ** 0.5)),),
    ),
    Mistake(
        "scores-keys-by-queries",
        "You swapped queries and keys: your rows are keys, and your columns are queries. Rows ask, columns are asked.",
        (_divided(lambda content, position, c, p: swap(content + position) / (c + p) ** 0.5),),
    ),
    Mistake(
        "two-parts-one-missing",
        "One of the two parts is missing: each score is the content's dot product plus the position's.",
        (
            _divided(lambda content, position, c, p: content / c**0.5),
            _divided(lambda content, position, c, p: position / p**0.5),
            _divided(lambda content, position, c, p: content / (c + p) ** 0.5),
            _divided(lambda content, position, c, p: position / (c + p) ** 0.5),
        ),
    ),
    Mistake(
        "two-parts-multiplied",
        "You multiply the two parts. Each score is their sum.",
        (
            _divided(lambda content, position, c, p: content * position / (c * p) ** 0.5),
            _divided(lambda content, position, c, p: content * position),
            _divided(lambda content, position, c, p: content * position / (c + p) ** 0.5),
        ),
    ),
    Mistake(
        "two-parts-n-keys",
        "You divide by the root of the number of keys. A score is a sum over features, so count those.",
        (_divided(lambda content, position, c, p: (content + position) / np.shape(content)[-1] ** 0.5),),
    ),
)
