"""What each colour means in the course: in its figures, labs and messages.

How to use it. A colour has one meaning everywhere, and never carries it alone: its letter, name or number stands by.

- **Roles** say what a tensor is: X, queries, keys, values, and output (contexts, too: they are on their way there).
  `ROLES[role]` is for lines and frames, `role_text(role)` for its name, `role_colours(role)` fills its cells, pale
  enough for black numbers.
- **Heads** have colours of their own: `head_colour(i)` for lines and frames, `head_text(i)` for its name,
  `head_fill(i)` behind numbers, `head_weight_colours(i)` for its weights.
- **Tokens**, where it matters which token a cell comes from: `token_fill(i)` behind numbers. Neighbours differ in
  lightness, so that they stay apart in greyscale. Axes and other kinds that only differ have the same fills.
- **Weights** run from 0 (pale) to 1 (dark): `weight_colour`. It is head 0's ramp, since the notebooks before heads
  run on head 0. **Scores** diverge from 0: `score_colours(largest)`. What a mask hides is `style.HIDDEN`, without a
  number.
- **Signs**: in a matrix of a role or a head, what is below 0 is `NEGATIVE`, the stronger the further below.
- What can be touched is ink. Anything else has one of the neutral colours of `live_pictures.style`.

Role colours are Okabe and Ito's, output a darker one, which colour-blind readers can tell apart
(https://jfly.uni-koeln.de/color/).
"""

import functools
import math
from collections.abc import Callable

from live_pictures.style import INK, PALETTE, PAPER, TINT, blend, ramp, tint

ROLES = {
    "X": "#4d4d4d",
    "queries": "#0072b2",
    "keys": "#d55e00",
    "values": "#009e73",
    "output": "#c2569b",
}
_TINTS = {"X": 0.12, "output": 0.4}  # lighter and darker, so that they stay apart without the colours, too

# As a tint far from the tints of all roles and heads, for colour-blind readers, too.
NEGATIVE = "#ffd000"

HEADS = PALETTE

# Earth and stone, which no role has; dark and light by turns, so that neighbours stay apart in greyscale.
TOKENS = ("#c09a7c", "#f5e48f", "#96a0b0", "#ecdccb", "#b9b23c", "#dbe2ea")

# Weights run from 0 (pale) to 1 (dark); scores diverge from 0 (pale) to either side.
SEQUENTIAL = ("#fbfaff", "#e3def5", "#bfb3e6", "#9482d0", "#6a4fb3", "#33196f")
DIVERGING = ("#8c510a", "#cf9a4e", "#eed9ac", "#f7f7f7", "#a9dbd3", "#4ba59b", "#01665e")

# How widely a head looks: dark where it looks at one token.
SPREAD = ("#0b4a4b", "#1b7f86", "#5cb8b2", "#abdcd2", "#f2f7e9")


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


def weight_colour(value: float) -> str:
    """Return a weight's colour: 0 pale, 1 dark; NaN is left white."""
    return ramp(SEQUENTIAL)(value) if math.isfinite(value) else PAPER


def spread_colour(value: float) -> str:
    """Return the colour of how widely attention is spread: 0, all on one token, is dark, and 1, all alike, pale."""
    return ramp(SPREAD)(value) if math.isfinite(value) else PAPER


def score_colours(largest: float) -> Callable[[float], str]:
    """Return a function that colours scores: `largest` or more in size is darkest, either side of 0."""
    below, above = ramp(DIVERGING[3::-1]), ramp(DIVERGING[3:])
    return lambda value: (above if value > 0 else below)(abs(value) / largest) if math.isfinite(value) else PAPER


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
    return lambda value: ramp(anchors)(value) if math.isfinite(value) else PAPER
