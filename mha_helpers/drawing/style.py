"""The course's one visual language: colours, sizes and number formats of figures, labs and messages.

Role colours are Okabe and Ito's, which colour-blind readers can tell apart
(https://jfly.uni-koeln.de/color/); each always comes with its letter or name.
"""

import functools
import math

ROLES = {
    "X": "#4d4d4d",
    "queries": "#0072b2",
    "keys": "#d55e00",
    "values": "#009e73",
    "output": "#cc79a7",
}

# Fills below black numbers, for tokens and for heads: Paul Tol's light scheme (https://sronpersonalpages.nl/~pault/).
TOKENS = ("#77aadd", "#ee8866", "#eedd88", "#ffaabb", "#99ddff", "#44bb99")
HEADS = ("#77aadd", "#eedd88", "#ee8866", "#44bb99")

# Weights run from 0 (pale) to 1 (dark); scores diverge from 0 (pale) to either side.
SEQUENTIAL = ("#f7fbff", "#d2e3f3", "#9ac8e0", "#519ccc", "#1c6aaf", "#08306b")
DIVERGING = ("#8c510a", "#cf9a4e", "#eed9ac", "#f7f7f7", "#a9dbd3", "#4ba59b", "#01665e")

INK = "#1a1a1a"  # text on PAPER: contrast 17 to 1
PAPER = "#ffffff"
QUIET = "#5c5c5c"  # captions: contrast 6.6 to 1
ALARM = "#b00020"
FONT = "DejaVu Sans, Verdana, sans-serif"
CELL_WIDTH, CELL_HEIGHT = 52, 32  # of a matrix, in pixels
FONT_SIZE = 13


def role_text(role):
    """Return a role's colour, darkened until text in it is easy to read on PAPER (4.5 to 1 at least).

    Parameters
    ----------
    role : str
        A key of ROLES.

    Returns
    -------
    str

    Examples
    --------
    >>> role_text("output")
    '#9a5e80'
    """
    return blend((ROLES[role], INK), 0.28)


def number(value, decimals=2):
    """Write a number as every picture of the course does.

    Parameters
    ----------
    value : float
    decimals : int, optional
        At most this many decimals.

    Returns
    -------
    str
        A real minus sign, no negative zero; NaN and infinities as words.

    Examples
    --------
    >>> number(-0.25), number(-0.001), number(float("-inf"))
    ('−0.25', '0.00', '−inf')
    """
    text = f"{value:.{decimals}f}"
    if text.strip("-0.") == "":
        text = text.lstrip("-")
    return text.replace("-", "−").replace("nan", "NaN")


def blend(anchors, position):
    """Return the colour at `position` (0 to 1, clipped) along evenly spaced anchor colours.

    Parameters
    ----------
    anchors : sequence of str
        Two or more colours, `"#rrggbb"`.
    position : float

    Returns
    -------
    str

    Examples
    --------
    >>> blend(("#000000", "#ffffff"), 0.5)
    '#808080'
    """
    along = min(max(position, 0.0), 1.0) * (len(anchors) - 1)
    left = min(int(along), len(anchors) - 2)
    start, end = (bytes.fromhex(anchor[1:]) for anchor in anchors[left : left + 2])
    mixed = (round(a + (b - a) * (along - left)) for a, b in zip(start, end, strict=True))
    return "#" + bytes(mixed).hex()


@functools.cache
def text_colour(background):
    """Return black or white, whichever is easier to read on `background` (4.5 to 1 at least, by WCAG 2).

    Parameters
    ----------
    background : str
        `"#rrggbb"`.

    Returns
    -------
    str

    Examples
    --------
    >>> text_colour("#f7f7f7"), text_colour("#08306b")
    ('#000000', '#ffffff')
    """
    channels = (byte / 255 for byte in bytes.fromhex(background[1:]))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    # Where (luminance + 0.05) / 0.05 is 1.05 / (luminance + 0.05), both are equally easy.
    return "#000000" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "#ffffff"


def weight_colour(value):
    """Return a weight's colour: 0 pale, 1 dark; NaN is left white."""
    return blend(SEQUENTIAL, value) if math.isfinite(value) else PAPER


def score_colours(largest):
    """Return a function that colours scores: `largest` or more in size is darkest, either side of 0."""
    return lambda value: blend(DIVERGING, 0.5 + 0.5 * value / largest) if math.isfinite(value) else PAPER


def role_colours(role):
    """Return a function that gives every cell the pale form of a role's colour."""
    pale = blend((PAPER, ROLES[role]), 0.14)
    return lambda value: pale
