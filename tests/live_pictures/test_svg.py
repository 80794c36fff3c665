"""The labs' pictures as strings."""

import numpy as np
import pytest

from live_pictures import style, svg


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


def test_a_hidden_cell_is_plain_grey_without_a_number():
    page = drawn(0.5, hidden=np.array([[True]]))
    assert "0.50" not in page
    assert f'fill="{style.HIDDEN}"' in page


def test_the_first_cell_that_differs_has_the_sign_and_all_others_a_wash():
    differs = np.array([[True, False, True], [False, True, False]])
    page = svg.matrix(np.zeros((2, 3)), 0, 0, title="", colours=lambda value: "#ffffff", differs=differs)
    assert page.count(">≠</text>") == 1
    assert page.count(f'fill="{style.ALARM}" fill-opacity="0.12"') == differs.sum() - 1


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


def test_text_rises_about_its_own_place():
    assert 'transform="rotate(-50 3 4)"' in svg.text(3, 4, "up", rising=50)
    assert "transform" not in svg.text(3, 4, "level")
