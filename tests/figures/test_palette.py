"""The course's colours can be read, and told apart by readers who see fewer of them."""

import itertools

import numpy as np
import pytest

from live_pictures import style
from mha_helpers.drawing import palette, tables

# What a reader without the cones for green sees, in linear RGB: Machado, Oliveira and Fernandes (2009), severity 1.
DEUTERANOPIA = np.array(
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
)
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def seen(colour, eye=None):
    """Where a colour stands in CIELAB, in which differences are as large as they look."""
    channels = np.array([*bytes.fromhex(colour[1:])]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    linear = linear if eye is None else (eye @ linear).clip(0, 1)
    x, y, z = np.cbrt(TO_XYZ @ linear / [0.9505, 1.0, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def nearest(colours, eye):
    return min(np.linalg.norm(seen(a, eye) - seen(b, eye)) for a, b in itertools.combinations(colours, 2))


FAMILIES = {
    "roles": palette.ROLES.values(),
    "role tints": [palette.role_colours(role)(0) for role in palette.ROLES],
    "heads": palette.HEADS,
    "head fills": [palette.head_fill(head) for head in range(2)],
    "heads and the alarm": [*palette.HEADS, style.ALARM],
    "tokens": palette.TOKENS,
}


@pytest.mark.parametrize("eye", [None, DEUTERANOPIA], ids=["full colour", "deuteranopia"])
def test_colours_of_a_family_can_be_told_apart(eye):
    assert [family for family, colours in FAMILIES.items() if nearest(colours, eye) < 7] == []


def test_neighbouring_tokens_stay_apart_in_greyscale():
    for colour, other in itertools.pairwise(palette.TOKENS):
        assert abs(seen(colour)[0] - seen(other)[0]) >= 15, f"{colour} and {other} are equally light"


def test_lines_and_frames_stand_out_from_the_page():
    colours = [*palette.ROLES.values(), *palette.HEADS]
    assert [colour for colour in colours if style.contrast(colour, style.PAPER) < 3] == []


NAMES = [*map(palette.role_text, palette.ROLES), *map(palette.head_text, range(4))]


@pytest.mark.parametrize("ground", [style.PAPER, style.PANEL])
def test_names_can_be_read(ground):
    assert [colour for colour in NAMES if style.contrast(colour, ground) < 4.5] == []


RAMPS = {
    **{f"weights of head {head}": palette.head_weight_colours(head) for head in range(len(palette.HEADS))},
    "scores": lambda share: palette.score_colours(1)(2 * share - 1),
    "spread": palette.spread_colour,
}


@pytest.mark.parametrize("ramp", RAMPS.values(), ids=RAMPS)
def test_numbers_can_be_read_on_every_fill_in_both_themes(ramp):
    for fill in map(ramp, np.linspace(0, 1, 501)):
        ink = style.text_colour(fill)
        assert style.contrast(ink, fill) >= 4.5, fill
        assert style.contrast(style.turned(ink), style.turned(fill)) >= 4.5, fill


def test_numbers_on_pale_fills_are_black():
    pale = [*map(palette.head_fill, range(4)), *palette.TOKENS, *FAMILIES["role tints"], style.HIDDEN]
    assert {style.text_colour(fill) for fill in pale} == {"#000000"}
    assert min(style.contrast("#000000", fill) for fill in pale) >= 4.5
    assert min(style.contrast(style.turned("#000000"), style.turned(fill)) for fill in pale) >= 4.5


def test_weights_grow_darker_all_the_way():
    for head in range(4):
        lightness = [seen(palette.head_weight_colours(head)(weight))[0] for weight in np.linspace(0, 1, 21)]
        assert (np.diff(lightness) < -1).all()


@pytest.mark.parametrize("eye", [None, DEUTERANOPIA], ids=["full colour", "deuteranopia"])
@pytest.mark.parametrize("size", [0.25, 1])
def test_a_negative_cell_differs_from_every_positive_one(size, eye):
    shades = [tables.by_size(colour, 1) for colour in (*palette.ROLES.values(), *palette.HEADS)]
    assert min(nearest([shade(-size), shade(size)], eye) for shade in shades) > 9
