"""Every colour that is written down in the course has one meaning, and stands here with it."""

import re
from collections import Counter
from pathlib import Path

from live_pictures import style
from mha_helpers.drawing import palette

TOP = Path(__file__).parents[2]
SOURCES = (
    *(TOP / "mha_helpers" / "drawing").glob("*.py"),
    *(TOP / "mha_helpers" / "labs").rglob("*.py"),
    *(TOP / "mha_helpers" / "labs").rglob("*.css"),
    *(TOP / "engines" / "live_pictures").glob("*.py"),
    *(TOP / "engines" / "live_pictures").glob("*.css"),
    *(TOP / "tools" / "site").glob("*.css"),
    *(TOP / "tools" / "site" / "look").glob("*.css"),
    TOP / "data" / "jupyter" / "custom.css",
)
MEANINGS = {
    "text, lines, and what can be touched": (style.INK, "#000000"),
    "the same on dark paper": ("#eceff1",),
    "captions": (style.QUIET,),
    "captions on dark paper": ("#b4b9be",),
    "paper": (style.PAPER,),
    "dark paper: what turning a picture over makes of white, a page's, and JupyterLab's": ("#171717", "#111111"),
    "quiet areas": (style.PANEL, "#f2f2f2"),
    "quiet areas on dark paper": ("#202529", "#2a2d31"),
    "hairlines": (style.GRID, "#c8c8d0"),
    "hairlines on dark paper": ("#454c52",),
    "edges of controls": ("#767676", "#767680"),
    "edges of controls on dark paper": ("#8a9096",),
    "links": ("#00548a",),
    "links on dark paper": ("#8cc8f0",),
    "text on a button that is a link, on dark paper": ("#10151a",),
    "found by the search": ("#fff3b0", "#4d4413"),
    "right": (style.GOOD,),
    "wrong": (style.ALARM,),
    "wrong, on dark paper": ("#ff8f9c",),
    "hidden by a mask": (style.HIDDEN,),
    "attention: its weights, and head 0": (*palette.SEQUENTIAL, palette.HEADS[0]),
    "heads 1 to 5": palette.HEADS[1:],
    "the words' vectors": (palette.ROLES["X"],),
    "queries": (palette.ROLES["queries"],),
    "keys": (palette.ROLES["keys"],),
    "values": (palette.ROLES["values"],),
    "output": (palette.ROLES["output"],),
    "below zero, in a matrix of a role or a head": (palette.NEGATIVE,),
    "tokens, axes, and kinds that only differ": palette.TOKENS,
    "scores and changes, below and above zero": palette.DIVERGING,
    "how widely a head looks": palette.SPREAD,
    "code on light paper: numbers, operators, comments": ("#006b00", "#8400c9", "#2f6b6b"),
    "code on dark paper": ("#7fc98b", "#c792ff", "#8ab8b8"),
}
EXAMPLES = {"#808080", "#934577", "#e8e8e8", "#f7f7f7", "#08306b", "#a9a9a9", "#6e6e6e"}  # in docstrings


def test_every_colour_that_is_written_down_has_a_meaning():
    found = {
        colour for path in SOURCES for colour in re.findall(r"#[0-9a-f]{6}\b", path.read_text(encoding="utf-8").lower())
    }
    known = {colour.lower() for colours in MEANINGS.values() for colour in colours}
    assert sorted(found - known - EXAMPLES) == [], "give it a meaning, or take one of the palette's"
    assert sorted(known - found) == [], "nobody uses it any more"


def test_no_colour_has_two_meanings():
    counted = Counter(colour for colours in MEANINGS.values() for colour in {*colours})
    assert [colour for colour, n in counted.items() if n > 1] == []
