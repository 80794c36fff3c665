"""The mistakes that people make in `causal_mask`."""

import numpy as np

from mha_helpers.exercises.engine import Mistake
from mha_helpers.exercises.masking.boolean_masks import (
    ASKS_FOR_BOOLEANS,
    HIDING_NUMBERS,
    as_addends,
    as_numbers,
)
from mha_helpers.maths.masks import causal_mask

CAUSAL_MISTAKES = (
    Mistake(
        "causal-inverted",
        "Your mask is True where a key is *hidden*. In this course, as in PyTorch's scaled_dot_product_attention, "
        "True means: may attend. Put ~ before it. (As it is, each query sees only the future.)",
        (lambda n: ~causal_mask(n), lambda n: np.triu(np.ones((n, n), bool), k=1)),
    ),
    Mistake(
        "causal-transposed",
        "Each query sees itself and the *future*, which is above the diagonal (np.triu). The past is below it: "
        "np.tril, or j <= i. (Rows are queries, columns are keys.)",
        (lambda n: causal_mask(n).T, lambda n: np.triu(np.ones((n, n), bool))),
    ),
    Mistake(
        "causal-strict",
        "You hide the diagonal, too: a token may attend to itself. As it is, the first row is empty, and has nothing "
        "to average.",
        (lambda n: np.tri(n, k=-1, dtype=bool),),
    ),
    Mistake(
        "causal-off-by-one",
        "Each query sees one key of the future, the token right after it: the diagonal is shifted by one. For "
        "predicting the next word that gives the answer away.",
        (lambda n: np.tri(n, k=1, dtype=bool),),
    ),
    Mistake(
        "causal-additive",
        f"Those are numbers to be added to the scores, 0 and -inf (or very low). Give a boolean mask: "
        f"{ASKS_FOR_BOOLEANS}.",
        (
            *(as_addends(causal_mask, hiding) for hiding in HIDING_NUMBERS),
            lambda n: np.triu(np.full((n, n), -np.inf), k=1),
        ),
    ),
    Mistake(
        "causal-zero-times-inf",
        "0 * inf is NaN, so the visible places hold NaN. Instead of multiplying, choose with np.where, and "
        f"give a boolean mask: {ASKS_FOR_BOOLEANS}.",
        (
            lambda n: ~causal_mask(n) * -np.inf,
            lambda n: causal_mask(n) * -np.inf,
            lambda n: np.tril(np.ones((n, n))) * -np.inf,
            lambda n: (1 - np.tri(n)) * -np.inf,
        ),
    ),
    Mistake(
        "causal-numbers",
        f"The pattern is right, but it is made of the numbers 1 and 0. Give booleans, {ASKS_FOR_BOOLEANS}: "
        "numbers would be added to the scores by PyTorch, and hide nothing. `.astype(bool)`, or dtype=bool.",
        (as_numbers(causal_mask, float), as_numbers(causal_mask, int)),
    ),
    Mistake(
        "causal-everything",
        "Your mask hides nothing. Query i may attend to keys 0 to i only.",
        (lambda n: np.ones((n, n), bool),),
    ),
    Mistake(
        "causal-diagonal-only",
        "Each token sees only itself. It may also see everything before it.",
        (lambda n: np.eye(n, dtype=bool),),
    ),
    Mistake(
        "causal-one-row",
        "You return one row. Every query needs a row of its own: (n, n).",
        (lambda n: np.arange(n) <= n - 1, lambda n: np.ones(n, bool), lambda n: (np.arange(n) <= n - 1)[None]),
    ),
    Mistake(
        "causal-extra-axes",
        "The pattern is right, but there are axes of length 1 in front. Give (n, n); two axes broadcast over batch "
        "and heads by themselves.",
        (lambda n: causal_mask(n)[None, None], lambda n: causal_mask(n)[None]),
    ),
)
