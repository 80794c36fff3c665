"""What a function was given, and what it returned in place of arrays of numbers."""

import numpy as np
import pytest

from function_judge.call import Outcome, arrays_in
from function_judge.returned import (
    describe_returned,
    holds_objects,
    one_row_repeated,
    safe_repr,
    shapes_of,
)

MATRIX = np.ones((2, 2))


def described(returned, *outputs):
    return describe_returned(Outcome(returned, arrays_in(returned, len(outputs))), outputs)


def test_arguments_are_told_by_their_shapes_and_numbers_by_themselves():
    arguments = {"table": MATRIX, "places": np.array([0, 2]), "scale": 0.3, "pair": (MATRIX, np.ones(3))}
    assert shapes_of(arguments) == "table (2, 2), places=[0, 2], scale=0.3, pair ((2, 2), (3,))"


@pytest.mark.parametrize(
    ("returned", "outputs", "sentence"),
    [
        ((MATRIX, ...), ("sums", "means"), "Part of it is there; still to compute: means."),
        ((MATRIX, None, ...), ("sums", "means", "spreads"), "still to compute: means and spreads."),
        (MATRIX, ("sums", "means"), "Expected 2, `return sums, means`; got one array."),
        ((1, 2, 3), ("sums", "means"), "Expected 2, `return sums, means`; got 3 arrays."),
        ([MATRIX] * 3, ("sums", "means"), "Expected 2, `return sums, means`; got a list of 3."),
        ((MATRIX, "text"), ("sums",), "It returned 2 things; `return sums` and nothing else."),
        ((x for x in MATRIX), ("sums",), "It returned a generator"),
        (np.sum, ("sums",), "are the brackets missing that call it?"),
        ([[1, 2], [3]], ("sums",), "The rows of your sums have different lengths, 2 and 1"),
        ([MATRIX, np.ones((3, 3))], ("sums",), "don't fit into one: their shapes are (2, 2) and (3, 3)."),
        ({}, ("sums",), "It returned a dict, which cannot be read as numbers; `return sums`."),
        (range, ("sums",), "It returned a function"),
        (np.array(["a"]), ("sums",), "It returned an array of <U1, which cannot be read"),
    ],
    ids=[
        *("one is missing", "two are missing", "one array", "three", "a list of three", "two for one", "generator"),
        *("uncalled", "ragged", "other shapes", "dict", "type", "text"),
    ],
)
def test_what_cannot_be_read_as_the_outputs(returned, outputs, sentence):
    assert sentence in described(returned, *outputs)


def test_any_object_can_be_shown():
    class Broken:
        def __repr__(self):
            raise RuntimeError

    assert safe_repr(Broken()) == "an object of type Broken"
    assert len(safe_repr("long" * 100)) == 60


def test_a_list_that_holds_one_row_several_times():
    assert "[[0] * n] * n repeats one row" in one_row_repeated([[0] * 3] * 2)
    assert one_row_repeated([[0], [0]]) is None
    assert one_row_repeated(MATRIX) is None


def test_arrays_of_objects():
    assert holds_objects((MATRIX, np.array([True], dtype=object)))
    assert not holds_objects(MATRIX)


def test_a_tensor_that_records_gradients_has_to_be_detached():
    class Tensor:
        requires_grad = True

        def detach(self):
            return self

    message = describe_returned(Outcome(Tensor()), ("weights",))
    assert "Call .detach() on it" in message
