"""The labs' pictures as strings."""

import numpy as np
import pytest

from mha_helpers import svg


def drawn(value, **more):
    return svg.matrix(np.array([[value]]), 0, 0, title="", colours=lambda value: "#ffffff", **more)


@pytest.mark.parametrize(
    ("value", "label"),
    [
        (0.5, "0.50"),
        (-1234.5, "−1234"),
        (123456.7, "123457"),
        (1234567.0, "1e+06"),
        (-1e-300, "0.00"),
        (np.nan, "NaN"),
        (-np.inf, "−inf"),
    ],
)
def test_a_number_is_shortened_until_it_fits_its_cell(value, label):
    assert f">{label}</text>" in drawn(value)


@pytest.mark.parametrize("text", ["", "−inf", "longer than a number"])
def test_what_is_written_in_a_hatched_cell_is_written_as_it_is(text):
    page = drawn(0.5, hatched=np.array([[True]]), hatched_text=text)
    assert f">{text}</text>" in page.rpartition("<rect")[2]
    assert "0.50" not in page
    assert "<path" in page


def test_a_hatched_cell_keeps_its_number_where_no_text_is_given():
    page = drawn(0.5, hatched=np.array([[True]]))
    assert ">0.50</text>" in page
    assert "<path" in page


@pytest.mark.parametrize(("value", "hatched"), [(0.5, False), (np.nan, True), (np.inf, True)])
def test_what_is_not_finite_is_hatched(value, hatched):
    assert ("<path" in drawn(value)) == hatched


def test_the_size_is_that_of_what_is_drawn():
    cell = (46, 40)
    width, height = svg.matrix_size(3, 5, label_width=20, headed=True, cell=cell)
    assert (width, height) == (20 + 5 * 46, svg.TITLE_HEIGHT + svg.HEADER_HEIGHT + 3 * 40 + svg.CAPTION_HEIGHT)
    page = svg.matrix(
        np.zeros((3, 5)), 0, 0, title="", colours=lambda value: "#ffffff", column_labels="abcde", label_width=20,
        cell=cell,
    )  # fmt: skip
    last = f'<rect x="{width - 46}" y="{height - svg.CAPTION_HEIGHT - 40}" width="46" height="40"'
    assert last in page
