"""What nbval compares of a figure where another matplotlib draws than the one that drew what is stored."""

import re
from pathlib import Path

from nbval.plugin import get_sanitize_patterns

from mha_helpers import figures
from mha_helpers.drawing.shown import Plot

RULES = Path(__file__).parents[1] / "other_matplotlib.cfg"


def compared(shown):
    """Return of a cell's HTML what nbval compares."""
    for regex, replacement in get_sanitize_patterns(RULES.read_text(encoding="utf-8")):
        shown = re.sub(regex, replacement, shown)
    return shown


def test_how_a_figure_is_drawn_is_left_out_and_what_it_says_is_compared():
    drawn, otherwise = (Plot(figures.bars([0.5], ["cat"], color=colour)).html() for colour in ("red", "blue"))
    other_number = Plot(figures.bars([0.6], ["cat"], color="red")).html()
    assert drawn != otherwise
    assert compared(drawn) == compared(otherwise)
    assert compared(drawn) != compared(other_number)
