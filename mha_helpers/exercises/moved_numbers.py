"""The number of the running example that shows a mistake.

A mistake that figures, labs, repairs and the instructor's guide talk about moves a number of the running example far
enough to be seen, or none at all: then it takes a batch, or other scores, to show it.
"""

import functools
from typing import NamedTuple

import numpy as np

from function_judge.task import Case
from mha_helpers import attention
from mha_helpers.masks import causal_mask
from mha_helpers.running_example import N_HEADS, TOKENS, W_K, W_O, W_Q, W_V, X, first_head, stages

VISIBLE = 0.1  # a number that moves by less looks the same in a picture
NOTHING = 1e-9  # what rounding may move
UNDER_A_MASK = ", under a causal mask,"
IT = TOKENS.index("it")  # the word that the course follows


class Moved(NamedTuple):
    """The number that shows a mistake.

    Parameters
    ----------
    place : str
        "the weight of “it” on “cat”", "feature 1 of the output of “it”".
    right, wrong : float
        The number, and what the mistake makes of it.
    """

    place: str
    right: float
    wrong: float

    @property
    def shift(self):
        """How far the number moves; infinitely far where it becomes NaN."""
        return np.inf if np.isnan(self.wrong) else abs(self.wrong - self.right)

    def __str__(self):
        right, wrong = (f"{value + 0.0:.2f}" for value in np.round([self.right, self.wrong], 2))
        return f"{self.place} is {wrong} and should be {right}"


@functools.cache
def looked_at():
    """Return, for each function, what it is called with, and what to look at in what it returns."""
    queries, keys, values = (X @ W for W in first_head())
    one_head = {"queries": queries, "keys": keys, "values": values}
    projected = {name: X @ W for name, W in zip(one_head, (W_Q, W_K, W_V), strict=True)}
    in_heads = {name: attention.split_heads(array, N_HEADS)[None] for name, array in projected.items()}
    causal = causal_mask(len(TOKENS))
    layer = {"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V, "W_O": W_O, "n_heads": N_HEADS, "mask": causal}
    whole = {"weight": lambda found: found[1], "context": lambda found: found[0]}
    of_head_0 = {"weight": lambda found: found[1][0, 0], "context": lambda found: found[0][0, 0]}
    of_layer = {"weight in head 0": lambda found: found[1][0], "output": lambda found: found[0]}

    def under(mask):
        return attention.masked_attention(*one_head.values(), mask.astype(bool))[1]

    return {
        "attention_scores": ({"queries": queries, "keys": keys}, {"score": lambda found: found[0]}),
        "softmax": ({"scores": queries @ keys.T}, {"weight": lambda found: found[0]}),
        "dot_product_attention": (one_head, whole),
        "mend_attention": (one_head, whole),
        # A width of all heads together is only seen where there is an axis of heads.
        "scaled_dot_product_attention": (in_heads, of_head_0),
        "mend_scaled_attention": (in_heads, of_head_0),
        "causal_mask": ({"n": len(TOKENS)}, {"weight": lambda found: under(found[0])}),
        "masked_attention": (one_head | {"mask": causal}, whole),
        "mend_masked_attention": (one_head | {"mask": causal}, whole),
        "split_heads": ({"X": X @ W_V, "n_heads": N_HEADS}, {"values": lambda found: found[0][0]}),
        "combine_heads": ({"heads": stages().contexts}, {"concatenation": lambda found: found[0]}),
        "folded_attention": (
            {name: np.stack([array, array[::-1]]) for name, array in projected.items()} | {"n_heads": N_HEADS},
            {"context": lambda found: found[0][0]},
        ),
        "multi_head_attention": (layer, of_layer),
        "mend_multi_head_attention": (layer, of_layer),
        "head_contributions": (
            {"heads": stages().contexts, "W_O": W_O},
            {"output": lambda found: found[0].sum(axis=0)},
        ),
    }


def moved_number(exercise, function):
    """Return the number of the running example that a wrong function moves farthest.

    “It” is looked at before the other words, and weights before what is made of them.

    Parameters
    ----------
    exercise : Exercise
        What asks for the function.
    function : callable

    Returns
    -------
    Moved or None
        None where nothing moves, where the function returns no numbers of the right shape, and for an exercise that
        the running example has nothing to do with.

    Examples
    --------
    >>> from mha_helpers import exercises
    >>> exercise = exercises.dot_product_attention
    >>> print(moved_number(exercise, exercise.with_mistake("softmax-over-queries")))
    the weight of “it” on “cat” is 0.31 and should be 0.83
    """
    arguments, looks = looked_at().get(exercise.reference.__name__, ({}, {}))
    if not looks:
        return None
    case = Case("the course's sentence", arguments)
    right, wrong = exercise.expected(case).arrays, exercise.run(function, case).arrays
    if wrong is None or [array.shape for array in wrong] != [array.shape for array in right]:
        return None
    found = [
        _farthest(quantity, look(right), look(wrong), rows, UNDER_A_MASK if "mask" in arguments else "")
        for quantity, look in looks.items()
        for rows in ([IT], range(len(TOKENS)))
    ]
    seen = next((moved for moved in found if moved.shift >= VISIBLE), max(found, key=lambda moved: moved.shift))
    return seen if seen.shift > NOTHING else None


def _farthest(quantity, right, wrong, rows, seen_where):
    """Return the number in some rows that is farthest from the right one."""
    moved = []
    for i in rows:
        for j, pair in enumerate(zip(right[i], wrong[i], strict=True)):
            place = f"feature {j} of the {quantity} of “{TOKENS[i]}”"
            if quantity.startswith(("score", "weight")):
                place = f"the {quantity} of “{TOKENS[i]}” on “{TOKENS[j]}”"
            moved.append(Moved(place + seen_where, *map(float, pair)))
    return max(moved, key=lambda number: number.shift)
