"""The neutral part of a visual language: colours, sizes and number formats.

What a colour means beyond that, a package that draws says itself; PALETTE is for kinds that only differ.

- INK is for text and lines, QUIET for captions, GRID for hairlines, PANEL for quiet areas, all on PAPER; HIDDEN fills
  a cell whose number is not shown.
- INK is what can be touched, too: a handle, a button, what is chosen. GOOD and ALARM say what is right and what is not.
  No colour says it alone: a sign or a word stands by.
- Cells are CELL_WIDTH by CELL_HEIGHT, numbers FONT_SIZE; text is never smaller than MIN_SIZE on the screen.

Most of these colours are Okabe and Ito's, which colour-blind readers can tell apart (https://jfly.uni-koeln.de/color/).
"""

import functools
from collections.abc import Callable, Sequence

PALETTE = ("#6a4fb3", "#a87900", "#0f8b8d", "#7b4a2f", "#5d7f1a", "#3b4a7a")
GOOD = "#2e7d32"
ALARM = "#b00020"
TINT = 0.3  # how much colour there is behind black numbers: paler, and colour-blind readers see only greys

# HTML beside pictures takes its colours from the page's theme, which JupyterLab, Notebook and nbconvert name so.
THEME_INK = "var(--jp-content-font-color0, #1a1a1a)"
THEME_PAPER = "var(--jp-layout-color1, #ffffff)"
THEME_ALARM = "var(--jp-error-color1, #b00020)"
THEME_PANEL = "var(--jp-layout-color2, #f2f2f2)"

INK = "#1a1a1a"  # text on PAPER: contrast 17 to 1
PAPER = "#ffffff"
PANEL = "#f5f5f7"
GRID = "#d0d0d5"
QUIET = "#5c5c5c"  # captions: contrast 6.6 to 1
HIDDEN = "#dcdce0"
FONT = "Inter Figures, DejaVu Sans, Verdana, sans-serif"  # the first is in `typeface`; one of the others fills in
CELL_WIDTH, CELL_HEIGHT = 52, 32  # of a matrix, in pixels
FONT_SIZE = 13
MIN_SIZE = 11  # pixels; no text is smaller on the screen


def tint(colour: str, share: float = TINT) -> str:
    """Return a colour's pale form, to stand behind black numbers.

    Parameters
    ----------
    colour : str
        `"#rrggbb"`.
    share : float, optional
        How much of the colour there is, from 0 to 1; the rest is PAPER.

    Examples
    --------
    >>> tint("#000000", 0.5)
    '#808080'
    """
    return blend((PAPER, colour), share)


def number(value: float, decimals: int = 2) -> str:
    """Write a number as every picture does.

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


def blend(anchors: Sequence[str], position: float) -> str:
    """Return the colour at `position` (0 to 1, clipped) along evenly spaced anchor colours.

    Parameters
    ----------
    anchors : sequence of str
        Two or more colours, `"#rrggbb"`.
    position : float

    Examples
    --------
    >>> blend(("#000000", "#ffffff"), 0.5)
    '#808080'
    """
    # Rounded: the last bits of a number must not show in a stored picture.
    return _blended(tuple(anchors), round(min(max(position, 0.0), 1.0), 6))


@functools.lru_cache(maxsize=1 << 14)  # a picture has hundreds of cells, and most of its colours were in the one before
def _blended(anchors, position):
    along = position * (len(anchors) - 1)
    left = min(int(along), len(anchors) - 2)
    start, end = (bytes.fromhex(anchor[1:]) for anchor in anchors[left : left + 2])
    mixed = (round(a + (b - a) * (along - left)) for a, b in zip(start, end, strict=True))
    return "#" + bytes(mixed).hex()


# A dark theme turns pictures over: lightness alone, so that hues stay. The filter of CSS, and what it does to a colour.
TURNED = "invert(0.91) hue-rotate(180deg)"
_INVERTED = 0.91
_HUES = (
    (-0.574, 1.43, 0.144),
    (0.426, 0.43, 0.144),
    (0.426, 1.43, -0.856),
)  # by the Filter Effects Module, 180 degrees


def turned(colour: str) -> str:
    """Return what a dark theme makes of a colour.

    Parameters
    ----------
    colour : str
        `"#rrggbb"`.

    Examples
    --------
    >>> turned("#ffffff"), turned("#000000")
    ('#171717', '#e8e8e8')
    """
    channels = [byte * (1 - 2 * _INVERTED) + 255 * _INVERTED for byte in bytes.fromhex(colour[1:])]
    mixed = (sum(share * channel for share, channel in zip(row, channels, strict=True)) for row in _HUES)
    return "#" + bytes(round(min(max(channel, 0), 255)) for channel in mixed).hex()


@functools.cache
def text_colour(background: str) -> str:
    """Return black or white, whichever is easier to read on `background`, here and where a dark theme turns it over.

    Parameters
    ----------
    background : str
        `"#rrggbb"`.

    Examples
    --------
    >>> text_colour("#f7f7f7"), text_colour("#08306b")
    ('#000000', '#ffffff')
    """
    return max(("#000000", "#ffffff"), key=lambda ink: _least_contrast(ink, background))


def _least_contrast(ink, background):
    return min(contrast(ink, background), contrast(turned(ink), turned(background)))


@functools.cache
def ramp(anchors: tuple[str, ...]) -> Callable[[float], str]:
    """Return a function that colours numbers from 0 to 1, so that what stands on them can be read (4.5 to 1 at least).

    Halfway between pale and dark are colours on which neither black nor white can be read both as they are and where a
    dark theme turns them over. They are left out, so that there is a step between pale and dark.

    Parameters
    ----------
    anchors : tuple of str
        From pale to dark or from dark to pale, `"#rrggbb"`.

    Examples
    --------
    >>> grey = ramp(("#ffffff", "#000000"))
    >>> grey(0), grey(0.4), grey(0.5), grey(1)
    ('#ffffff', '#a9a9a9', '#6e6e6e', '#000000')
    """
    shades = [blend(anchors, step / _STEPS) for step in range(_STEPS + 1)]
    left_out = [step for step, shade in enumerate(shades) if _least_contrast(text_colour(shade), shade) < 4.5]
    if not left_out:
        return functools.partial(blend, anchors)
    before, after = (left_out[0] - 1) / _STEPS, (left_out[-1] + 1) / _STEPS
    middle = (before + after) / 2

    def shade(position):
        if position < middle:
            return blend(anchors, position * before / middle)
        return blend(anchors, 1 - (1 - position) * (1 - after) / (1 - middle))

    return shade


_STEPS = 200  # of a ramp: so finely it is looked through


def contrast(colour: str, other: str) -> float:
    """Return how well two colours can be told apart by their lightness, from 1 (not at all) to 21.

    Text needs 4.5 on its background, lines and frames 3 (WCAG 2.2, success criteria 1.4.3 and 1.4.11).

    Parameters
    ----------
    colour, other : str
        `"#rrggbb"`.

    Examples
    --------
    >>> contrast("#000000", "#ffffff")
    21.0
    """
    lighter, darker = sorted((_luminance(colour), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour):
    channels = (byte / 255 for byte in bytes.fromhex(colour[1:]))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
