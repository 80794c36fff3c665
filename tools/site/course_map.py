"""The course's map on a page: its discs and boxes are links, and on a phone one half stands below the other."""

import html
import re
from xml.etree import ElementTree

from live_pictures import svg
from mha_helpers import course
from mha_helpers.drawing.strip import halves
from tools.site.look.frames import framed, widths

STOPS = {notebook.number: notebook for notebook in course.NOTEBOOKS}


def course_map(here, label):
    """Draw the map.

    Parameters
    ----------
    here : str
        The two digits of the notebook where the reader is, or its letter; empty where they are in none.
    label : str
        What a screen reader calls it.

    Returns
    -------
    str
        HTML, for a page in the folder of the notebooks' pages.
    """

    def linked(number, fragment, place):
        if number == here:
            return fragment
        # What can be pressed is no smaller than a finger needs, though its disc is.
        x, y, width, height = place
        area = f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="none" pointer-events="all"/>'
        name = html.escape(f"{int(number)}. {STOPS[number].title}")
        return f'<a href="{STOPS[number].name}.html" aria-label="{name}">{area}{fragment}</a>'

    (inside, middle), (after, right), height = halves(here, linked=linked)
    moved = [f'<g transform="translate({-middle:g} 0)">', *after, "</g>"]
    block = _half(middle, height, inside, label)
    return framed(block + _half(round(right - middle, 1), height, moved, "After the block"), "figure broad map")


def _half(width, height, fragments, label):
    drawn = svg.document(width, height, fragments, label=label)
    drawn = re.sub(r'style="[^"]*"', f'style="{widths(ElementTree.fromstring(drawn))}"', drawn, count=1)
    return drawn.replace('role="img"', 'role="group"', 1)  # a screen reader finds no links in an image
