"""The mistakes that people make in `two_part_scores`."""

import numpy as np

from mha_helpers.attention import attention_scores, softmax
from mha_helpers.exercises.mistakes.catalogue import also, maker
from mha_helpers.exercises.mistakes.steps import swap


@maker
def _divided(divide):
    """Return scores made as divide(content scores, position scores, d_content, d_position)."""

    def wrong_scores(content_queries, content_keys, position_queries, position_keys):
        content = attention_scores(content_queries, content_keys)
        position = attention_scores(position_queries, position_keys)
        return divide(content, position, content_queries.shape[-1], position_queries.shape[-1])

    return wrong_scores


@_divided
def two_parts_each_by_its_root(content, position, c, p):
    """Each part is brought to a spread of 1, and then they are added. But variances add up: the sum of two parts with
    variance 1 has variance 2. Add first, and divide once."""
    return content / c**0.5 + position / p**0.5


@_divided
def two_parts_sum_of_roots(content, position, c, p):
    """You divide by the sum of the two roots. It's the variances that add up, so add the widths first, and take the
    root of the sum."""
    return (content + position) / (c**0.5 + p**0.5)


@_divided
@also(lambda content, position, c, p: content / c**0.5 + position)
def two_parts_content_width(content, position, c, p):
    """You divide by the root of the content's width alone. The products of the position are in the sum, too."""
    return (content + position) / c**0.5


@_divided
@also(lambda content, position, c, p: content + position / p**0.5)
def two_parts_position_width(content, position, c, p):
    """You divide by the root of the position's width alone. The products of the content are in the sum, too."""
    return (content + position) / p**0.5


@_divided
def two_parts_product(content, position, c, p):
    """You divide by both roots, one after the other. Variances add up, they don't multiply: one division, by the root
    of the sum of the widths."""
    return (content + position) / (c * p) ** 0.5


@_divided
def two_parts_no_root(content, position, c, p):
    """You divide by the sum of the widths, without the root. Scores spread like the root of the number of products."""
    return (content + position) / (c + p)


@_divided
def two_parts_twice_the_root(content, position, c, p):
    """You bring each part to a spread of 1, and then divide by 2. Two parts of variance 1 have a variance of 2
    together, so the divisor would be sqrt(2), not 2. And a narrow part then counts as much as a wide one: add first,
    and divide once."""
    return (content / c**0.5 + position / p**0.5) / 2


@_divided
def two_parts_each_rescaled(content, position, c, p):
    """The spread is 1, as asked. But you divide each part on its own, so a narrow part counts as much as a wide one.
    Add the two first, and divide the sum by one number."""
    return (content / c**0.5 + position / p**0.5) / 2**0.5


@_divided
def two_parts_undivided(content, position, c, p):
    """The sum isn't divided at all. Count the products in one score, and divide by the root of their number."""
    return content + position


@_divided
@also(lambda content, position, c, p: content / (c + p) ** 0.5 + position)
def two_parts_one_divided(content, position, c, p):
    """Only one of the two parts is divided, because / binds tighter than +. Put brackets round the sum."""
    return content + position / (c + p) ** 0.5


@_divided
def two_parts_softmax(content, position, c, p):
    """You take the softmax, too. What is asked for are the scores."""
    return softmax((content + position) / (c + p) ** 0.5)


@_divided
def scores_keys_by_queries(content, position, c, p):
    """You swapped queries and keys: your rows are keys, and your columns are queries. Rows ask, columns are asked."""
    return swap(content + position) / (c + p) ** 0.5


@_divided
@also(
    lambda content, position, c, p: position / p**0.5,
    lambda content, position, c, p: content / (c + p) ** 0.5,
    lambda content, position, c, p: position / (c + p) ** 0.5,
)
def two_parts_one_missing(content, position, c, p):
    """One of the two parts is missing: each score is the content's dot product plus the position's."""
    return content / c**0.5


@_divided
@also(
    lambda content, position, c, p: content * position,
    lambda content, position, c, p: content * position / (c + p) ** 0.5,
)
def two_parts_multiplied(content, position, c, p):
    """You multiply the two parts. Each score is their sum."""
    return content * position / (c * p) ** 0.5


@_divided
def two_parts_n_keys(content, position, c, p):
    """You divide by the root of the number of keys. A score is a sum over features, so count those."""
    return (content + position) / np.shape(content)[-1] ** 0.5
