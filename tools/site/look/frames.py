"""Frames for what may be wider than text or the screen: code, figures, and formulas and tables that scroll."""

import base64
import html
import math
import re
from xml.etree import ElementTree

LEAST = 10  # pixels on the screen: no letter of a figure is smaller
COLUMN = 646  # pixels: what a frame as wide as the text, `--column` in `page.css`, leaves to a figure
LETTERS = 80  # of code: what a frame as wide as the text has room for
CODE = re.compile(r'(?s)(<div class="highlight[^"]*)(">.*?</div>)')
IMAGE = re.compile(r'<img\b[^>]*?src="data:image/svg\+xml;base64,([^"]*)"[^>]*>')
FONT_SIZE = re.compile(r"font(?:-size)?: ?([\d.]+)px")


def framed(content, kind, *, element="div", looks=""):
    """Return HTML in a frame, within which it scrolls sideways where it is wider; in a paragraph it is a "span"."""
    style = f' style="{looks}"' if looks else ""
    inner = f'<{element} class="sideways"{style}>{content}</{element}>'
    return f'<{element} class="framed {kind}">{inner}</{element}>'


def with_figures(page):
    """Return a page whose figures stand in frames; those with text of their own stand in the page itself.

    One with ids is left an image: they might be those of another on the page.
    """
    return IMAGE.sub(_figure, page)


def with_code(page):
    """Return a page on which code has the broad frame if one of its lines needs it."""
    return CODE.sub(_code, page)


def _code(block):
    lines = html.unescape(re.sub("<[^>]*>", "", block[2][2:])).splitlines()
    return f"{block[1]} broad{block[2]}" if max(map(len, lines)) > LETTERS else block[0]


def _figure(image):
    drawn = base64.b64decode(image[1]).decode()
    picture = ElementTree.fromstring(drawn)
    in_page = 'id="' not in drawn
    if in_page:
        drawn = re.sub(r' style="[^"]*"|<style>.*?</style>', "", drawn, count=2)  # the page has its typeface
    kind = "figure broad" if least_width(picture) > COLUMN else "figure"
    return framed(drawn if in_page else image[0], kind, looks=widths(picture))


def widths(picture):
    """Return the style that tells a frame how wide a picture is by itself, and how narrow it may become."""
    return f"--own:{float(picture.get('viewBox').split()[2]):g}px;--least:{math.ceil(least_width(picture)) + 1}px"


def least_width(picture):
    return float(picture.get("viewBox").split()[2]) * LEAST / least_text(picture)


def least_text(picture):
    """Return how large the smallest text of an SVG picture is, in the picture's own units.

    Parameters
    ----------
    picture : xml.etree.ElementTree.Element

    Examples
    --------
    >>> least_text(ElementTree.fromstring('<svg><text font-size="12"/><text style="font: 11px b"/></svg>'))
    11.0
    """
    sizes = []
    for node in picture.iter():
        if "font-size" in node.attrib:
            sizes.append(float(node.get("font-size").removesuffix("px")))
        sizes += [float(size) for size in FONT_SIZE.findall(node.get("style", ""))]
    return min(sizes, default=LEAST)
