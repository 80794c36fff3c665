"""One visual language: colours, sizes and number formats of figures, labs and messages.

How to use it. A colour has one meaning everywhere, and never carries it alone: its letter, name or number stands by.

- **Roles** say what a tensor is: X, queries, keys, values, and output (contexts, too: they are on their way there).
  `ROLES[role]` is for lines and frames, `role_text(role)` for its name, `role_colours(role)` fills its cells, pale
  enough for black numbers.
- **Heads** have colours of their own: `head_colour(i)` for lines and frames, `head_text(i)` for its name,
  `head_fill(i)` behind numbers, `head_weight_colours(i)` for its weights.
- **Tokens**, where it matters which token a cell comes from: `token_fill(i)` behind numbers. Neighbours differ in
  lightness, so that they stay apart in greyscale.
- **Weights** run from 0 (pale) to 1 (dark): `weight_colour`. It is head 0's ramp, since the notebooks before heads
  run on head 0. **Scores** diverge from 0: `score_colours(largest)`. What a mask hides is `HIDDEN`, without a number.
- Anything else is INK, QUIET (captions), GRID (hairlines), PANEL (quiet areas), ALARM (what differs) on PAPER.
- Cells are CELL_WIDTH by CELL_HEIGHT, numbers FONT_SIZE; text is never smaller than LEAST on the screen.

Role colours are Okabe and Ito's, output a darker one, which colour-blind readers can tell apart
(https://jfly.uni-koeln.de/color/).
"""

import functools
import math
from collections.abc import Callable, Sequence

ROLES = {
    "X": "#4d4d4d",
    "queries": "#0072b2",
    "keys": "#d55e00",
    "values": "#009e73",
    "output": "#c2569b",
}

HEADS = ("#6a4fb3", "#a87900", "#0f8b8d", "#b5344c")

# Dark and light by turns: tokens 0 and 1 stay apart in greyscale.
TOKENS = ("#74a5dc", "#f5e48f", "#e8835f", "#c3e7f7", "#4fb896", "#fbcdd8")

# Weights run from 0 (pale) to 1 (dark); scores diverge from 0 (pale) to either side.
SEQUENTIAL = ("#fbfaff", "#e3def5", "#bfb3e6", "#9482d0", "#6a4fb3", "#33196f")
DIVERGING = ("#8c510a", "#cf9a4e", "#eed9ac", "#f7f7f7", "#a9dbd3", "#4ba59b", "#01665e")

# How widely a head looks: dark where it looks at one token.
SPREAD = ("#0b4a4b", "#0f8b8d", "#5cb8b2", "#abdcd2", "#f2f7e9")

TINT = 0.3  # how much colour there is behind black numbers: paler, and colour-blind readers see only greys
_TINTS = {"X": 0.12, "output": 0.4}  # lighter and darker, so that they stay apart without the colours, too

INK = "#1a1a1a"  # text on PAPER: contrast 17 to 1
PAPER = "#ffffff"
PANEL = "#f5f5f7"
GRID = "#d0d0d5"
QUIET = "#5c5c5c"  # captions: contrast 6.6 to 1
HIDDEN = "#dcdce0"
ALARM = "#b00020"
FONT = "DejaVu Sans, Verdana, sans-serif"
CELL_WIDTH, CELL_HEIGHT = 52, 32  # of a matrix, in pixels
FONT_SIZE = 13
LEAST = 11  # pixels; no number is smaller on the screen


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


def head_colour(head: int) -> str:
    """Return a head's colour, for lines and frames; after the last colour they begin again."""
    return HEADS[head % len(HEADS)]


def head_text(head: int) -> str:
    """Return a head's colour, dark enough for its name on PAPER."""
    return blend((head_colour(head), INK), 0.28)


def head_fill(head: int) -> str:
    """Return the fill of a head's cells, pale enough for black numbers."""
    return tint(head_colour(head), 0.36)


def head_weight_colours(head: int) -> Callable[[float], str]:
    """Return a function that colours a head's weights, from 0 (pale) to 1 (dark)."""
    return _head_ramp(head % len(HEADS))


def token_fill(token: int) -> str:
    """Return the fill of a token's cells, pale enough for black numbers; after the last they begin again."""
    return TOKENS[token % len(TOKENS)]


def role_text(role: str) -> str:
    """Return a role's colour, darkened until text in it is easy to read on PAPER (4.5 to 1 at least).

    Parameters
    ----------
    role : str
        A key of ROLES.

    Examples
    --------
    >>> role_text("output")
    '#934577'
    """
    return blend((ROLES[role], INK), 0.28)


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


@functools.cache
def text_colour(background: str) -> str:
    """Return black or white, whichever is easier to read on `background` (4.5 to 1 at least, by WCAG 2).

    Parameters
    ----------
    background : str
        `"#rrggbb"`.

    Examples
    --------
    >>> text_colour("#f7f7f7"), text_colour("#08306b")
    ('#000000', '#ffffff')
    """
    return max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, background))


def weight_colour(value: float) -> str:
    """Return a weight's colour: 0 pale, 1 dark; NaN is left white."""
    return blend(SEQUENTIAL, value) if math.isfinite(value) else PAPER


def spread_colour(value: float) -> str:
    """Return the colour of how widely attention is spread: 0, all on one token, is dark, and 1, all alike, pale."""
    return blend(SPREAD, value) if math.isfinite(value) else PAPER


def score_colours(largest: float) -> Callable[[float], str]:
    """Return a function that colours scores: `largest` or more in size is darkest, either side of 0."""
    return lambda value: blend(DIVERGING, 0.5 + 0.5 * value / largest) if math.isfinite(value) else PAPER


def role_colours(role: str) -> Callable[[float], str]:
    """Return a function that gives every cell the pale form of a role's colour."""
    pale = tint(ROLES[role], _TINTS.get(role, TINT))
    return lambda value: pale


@functools.cache
def _head_ramp(head):
    """Return a ramp of a head's colour that is as pale and as dark as that of weights."""
    if head == 0:
        return weight_colour
    colour = HEADS[head]
    anchors = (tint(colour, 0.03), tint(colour, 0.2), tint(colour, 0.45), tint(colour, 0.72), colour)
    anchors += (blend((colour, "#000000"), 0.58),)
    return lambda value: blend(anchors, value) if math.isfinite(value) else PAPER


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
