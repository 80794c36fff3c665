"""What Python said of a function, as a sentence with the likely cause."""

import numpy as np
import pytest

from function_judge.error_text import (
    Cause,
    PythonError,
    describe_error,
    error_in_brief,
    likely_cause,
    met_a_stub,
    run_together,
)

ASKED = "ranked(row, places=None)"


def error_of(function, *arguments):
    with pytest.raises(Exception) as raised:  # noqa: PT011  (whichever it is)
        function(*arguments)
    return raised.value


@pytest.mark.parametrize(
    ("text", "line", "cause"),
    [
        ("name 'inf' is not defined", "", "np.inf"),
        ("name 'torch' is not defined", "", "uses NumPy"),
        ("Unable to avoid copy while creating an array as requested.", "", "since NumPy 2, copy=False"),
        ("module 'numpy' has no attribute 'bool8'", "np.bool8", "NumPy 2 has no np.bool8 any more; it is np.bool_."),
        ("axis -3 is out of bounds for array of dimension 1", "row.sum(axis=-3)", "has only 1 axis"),
        ("axis 1 is out of bounds for array of dimension 1", "row.transpose(0, 1)", "swapaxes(1, 2)"),
        ("f() got an unexpected keyword argument 'dim'", "f(row, dim=1)", "PyTorch says dim"),
        ("f() got an unexpected keyword argument 'size'", "f(row, size=1)", "It has none called size."),
        ("not enough values to unpack (expected 2, got 1)", "a, b = row", "taken apart along its first axis"),
        ("not enough values to unpack (expected 2, got 1)", "a, b = row.shape", "fewer axes than expected"),
        ("only integer scalar arrays can be converted", "np.concatenate(a, b)", "come as one list"),
        ("'NoneType' object is not iterable", "row = row.append(1)", "changes a in place"),
        ("unsupported operand for 'NoneType'", "row + places", "where no places is given, `places` is None"),
        ("The truth value of an array is ambiguous", "if places:", "`places is not None`"),
        ("could not be broadcast together with shapes (3,4) (3,)", "row / row.sum(axis=1)", "keepdims=True"),
        ("could not be broadcast together with shapes (2,3) (4,)", "np.where(a, b, c)", "np.where(condition, a, b)"),
        ("'numpy.ndarray' object has no attribute 'mm'", "", "mm is PyTorch's"),
        ("'numpy.ndarray' object has no attribute 'exp'", "", "np.exp(a, ...)"),
        ("module 'numpy' has no attribute 'astype_'", "", "is it misspelt?"),
    ],
)
def test_the_likely_cause(text, line, cause):
    assert cause in likely_cause(PythonError(text, ASKED, line))


def test_what_nobody_knows_has_no_cause():
    assert likely_cause(PythonError("the moon is full", ASKED)) is None


def test_arguments_that_do_not_fit_outside_are_those_of_the_first_line():
    text = "f() takes 1 positional argument but 2 were given"
    assert ASKED in likely_cause(PythonError(text, ASKED, inside=False))
    assert "in that line" in likely_cause(PythonError(text, ASKED))


def test_a_subjects_cause_takes_the_place_of_a_general_one():
    own = Cause("is not defined", "no such quantity.")
    assert likely_cause(PythonError("name 'spread' is not defined", ASKED), (own,)) == "no such quantity."


def stops(table):
    return table @ table


def test_a_description_has_the_error_the_line_and_the_cause():
    error = error_of(stops, np.ones((2, 3)))
    described = describe_error(error, stops, "stops(table)")
    assert described.startswith("Python said ValueError: matmul: the last axis on the left has length 3, and the axis ")
    assert "gufunc" not in described
    assert ", in the line `return table @ table`. Likely cause: the inner axes of a product differ" in described


def test_a_cause_that_is_known_or_not_wanted():
    error = error_of(stops, np.ones((2, 3)))
    assert describe_error(error, stops, "", cause="it rains.").endswith("Likely cause: it rains.")
    assert "Likely cause" not in describe_error(error, stops, "", with_cause=False)
    assert describe_error(error, stops, "", in_batch=True) == "It stops in the line `return table @ table`."


def test_an_exception_whose_text_fails_is_named_all_the_same():
    class Broken(Exception):
        def __str__(self):
            raise RuntimeError

    def raises(row):
        raise Broken

    assert describe_error(error_of(raises, 1), raises, "").startswith("Python said Broken, in the line `raise Broken`.")


def test_an_error_of_an_ellipsis_comes_of_a_stub():
    assert met_a_stub(error_of(lambda: ... + 1))
    assert not met_a_stub(error_of(lambda: None + 1))
    assert not met_a_stub(None)


def test_in_brief():
    assert error_in_brief(error_of(stops, np.ones((2, 3))), stops) == "ValueError in the line “return table @ table”"


def test_a_list_that_takes_rows_apart():
    def appended(table):
        rows = []
        for row in table:
            rows += row
        return rows

    assert "rows.append(...) puts in the row" in run_together(appended)
    assert run_together(stops) is None
