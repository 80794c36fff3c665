"""The exercise `packed_mask`: which mask for several texts in one row?"""

import numpy as np

from function_judge.properties import first_marked
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.masking.boolean_masks import not_of_ones_and_zeros, sees_the_future
from mha_helpers.exercises.masking.mistakes import packed_mask as wrong
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.masks import causal_mask, packed_mask


def _case(trait, *numbers):
    return Case(trait, {"text_numbers": np.array(numbers)})


CASES = (
    # Rolled by one, as the last part of a check does, each text still stands in one piece.
    _case("three texts", 0, 0, 0, 1, 1, 2),
    _case("two texts", 0, 0, 0, 1, 1),
    _case("one text", 0, 0, 0, 0),
    _case("texts of one token", 0, 1, 2),
    _case("texts that are numbered 7 and 3", 7, 7, 3, 3, 3, 3),
    _case("one token", 0),
)


def _sees_another_text(call, arguments, arrays):
    numbers = arguments["text_numbers"]
    others = (arrays[0] != 0) & (numbers[:, None] != numbers)
    return first_marked(others, lambda query, key: f"Query {query} sees key {key}, which belongs to another text.")


def _misses_its_own_past(call, arguments, arrays):
    def say(query, key):
        which = "itself" if query == key else f"key {key}, which comes before it in the same text"
        return f"Query {query} does not see {which}."

    numbers = arguments["text_numbers"]
    return first_marked((arrays[0] == 0) & (numbers[:, None] == numbers) & causal_mask(len(numbers)), say)


exercise = Exercise(
    reference=packed_mask,
    outputs=("mask",),
    cases=CASES,
    mistakes=mistakes_in(wrong),
    properties=(not_of_ones_and_zeros, _sees_another_text, sees_the_future, _misses_its_own_past),
    hints=(
        "Two things must hold, and a key may be seen only if both do: it isn't in the future, and it is in the same "
        "text.",
        "For the second one, compare the text number of every query with that of every key: a table of (n, n) answers. "
        "Two loops do it.",
        "text_numbers[:, None] == text_numbers is that table; combine it with a causal mask by &.",
    ),
    on_success="You can train on several short texts in one row, and none of them will read another.",
)
