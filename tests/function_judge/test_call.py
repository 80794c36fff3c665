"""What a call gave, compared with what another gave."""

import numpy as np
import pytest

from function_judge.call import Outcome, same

ROWS = [np.ones(2), np.ones(3)]  # fit into no single array


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (None, None, True),
        (ROWS, [np.ones(2), np.ones(3)], True),
        (ROWS, [np.ones(2), np.zeros(3)], False),
        (ROWS, ROWS[:1], False),
        (ROWS, [*ROWS, np.ones(4)], False),
        (ROWS, None, False),
        (None, ROWS, False),
        (ROWS, ["a", "b"], False),
        ("a", "a", False),
    ],
)
def test_what_cannot_be_read_is_the_same_only_part_by_part(one, other, alike):
    assert same(Outcome(returned=one), Outcome(returned=other)) is alike
