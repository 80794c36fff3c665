"""Frames for what may be wider than the screen: figures, formulas and tables, each of which scrolls within itself."""

import base64
import math
import re
from xml.etree import ElementTree

LEAST = 10  # pixels on the screen: no letter of a figure is smaller
COLUMN = 646  # pixels: what a frame as wide as the text, `--column` in `page.css`, leaves to a figure
IMAGE = re.compile(r'<img\b[^>]*?src="data:image/svg\+xml;base64,([^"]*)"[^>]*>')
FONT_SIZE = re.compile(r"font(?:-size)?: ?([\d.]+)px")
LETTERS_AS_PATHS = re.compile(r"scale\(([\d.]+) -[\d.]+\)")  # matplotlib draws letters of 100 units, and scales them


def framed(content, kind, *, element="div", looks=""):
    """Return HTML in a frame, within which it scrolls sideways where it is wider; in a paragraph it is a "span"."""
    style = f' style="{looks}"' if looks else ""
    inner = f'<{element} class="sideways"{style}>{content}</{element}>'
    return f'<{element} class="framed {kind}">{inner}</{element}>'


def with_figures(page):
    """Return a page whose figures stand in frames; those with text of their own stand in the page itself.

    An image is left an image where its letters are paths: its ids might be those of another on the page.
    """
    return IMAGE.sub(_figure, page)


def _figure(image):
    drawn = base64.b64decode(image[1]).decode()
    picture = ElementTree.fromstring(drawn)
    width = float(picture.get("viewBox").split()[2])
    least = width * LEAST / least_text(picture)
    in_page = 'id="' not in drawn
    if in_page:
        drawn = re.sub(r' style="[^"]*"', "", drawn, count=1)
    kind = "figure broad" if least > COLUMN else "figure"
    return framed(drawn if in_page else image[0], kind, looks=f"--own:{width:g}px;--least:{math.ceil(least) + 1}px")


def least_text(picture):
    """Return how large the smallest text of an SVG picture is, in the picture's own units.

    Parameters
    ----------
    picture : xml.etree.ElementTree.Element

    Examples
    --------
    >>> least_text(ElementTree.fromstring('<svg><text font-size="12">a</text><g transform="scale(0.11 -0.11)"/></svg>'))
    11.0
    """
    sizes = []
    for node in picture.iter():
        if "font-size" in node.attrib:
            sizes.append(float(node.get("font-size").removesuffix("px")))
        sizes += [float(size) for size in FONT_SIZE.findall(node.get("style", ""))]
        sizes += [100 * float(scale) for scale in LETTERS_AS_PATHS.findall(node.get("transform", ""))]
    return min(sizes, default=LEAST)
