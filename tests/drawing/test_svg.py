"""The labs' pictures as strings."""

import re

import numpy as np
import pytest

from mha_helpers.drawing import svg


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


def test_heat_maps_have_each_cell_once_and_leave_out_what_has_no_colour():
    maps = np.random.default_rng(0).integers(3, size=(2, 4, 6))
    corners = [(10, 20), (50, 20)]
    page = svg.heat_maps(maps, [None, "#111111", "#222222"], corners, cell=5)
    assert 'stroke-width="5"' in page
    found = np.zeros_like(maps)
    for lines, colour in re.findall(r'<path d="([^"]+)" stroke="([^"]+)"/>', page):
        for x, y, length in np.array(re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)", lines), float):
            which = int(x >= 50)
            column, row = (x - corners[which][0]) / 5, (y - 20) / 5 - 0.5
            assert column == int(column)
            assert row == int(row)
            found[which, int(row), int(column) : int(column + length / 5)] += int(colour[1])
    np.testing.assert_array_equal(found, maps)


def test_text_rises_about_its_own_place():
    assert 'transform="rotate(-50 3 4)"' in svg.text(3, 4, "up", rising=50)
    assert "transform" not in svg.text(3, 4, "level")
