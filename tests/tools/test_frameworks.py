"""What `tools.release.frameworks` concludes from what a framework answers."""

import numpy as np
import pytest

from mha_helpers.maths.attention import masked_attention, scaled_dot_product_attention, softmax
from tools.release.frameworks import KEYS, QUERIES, VALUES, empty_row, meaning_of_true

GIVEN = QUERIES[0, 0], KEYS[0, 0], VALUES[0, 0]


def zeros(mask):
    return masked_attention(*GIVEN, mask)[0]


def hides_with(number):
    def attend(mask):
        with np.errstate(invalid="ignore"):
            return softmax(np.where(mask, GIVEN[0] @ GIVEN[1].T, number)) @ GIVEN[2]

    return attend


@pytest.mark.parametrize(
    ("attend", "true_means", "row"),
    [
        (zeros, "may attend", "zeros"),
        (hides_with(-np.inf), "may attend", "NaN"),
        (hides_with(-1e9), "may attend", "uniform"),
        (lambda mask: zeros(~mask), "hidden", "zeros"),
    ],
)
def test_it_concludes_what_true_means_and_what_an_empty_row_gets(attend, true_means, row):
    assert meaning_of_true(attend) == true_means
    assert empty_row(attend, true_means) == row


def test_a_framework_that_ignores_its_mask_is_neither():
    assert meaning_of_true(lambda mask: scaled_dot_product_attention(*GIVEN)[0]) == "neither"
