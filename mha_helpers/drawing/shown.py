"""A plot of matplotlib's as a notebook shows it: an SVG with a sentence, and a PNG.

Importing this module loads matplotlib, which takes a second: the first plot does so.
"""

import functools
import io
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple
from weakref import WeakKeyDictionary

from live_pictures import raster  # first: it keeps matplotlib's notice about its fonts out of the cell

# isort: split
import matplotlib
from matplotlib import style as sheets
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.text import Text
from PIL import Image

from live_pictures import style, typeface
from live_pictures.figure import Figure

SHEET = "mha_helpers.course"
PIXELS = 96  # of a page to an inch
# Letters stay letters: as paths they would double a notebook's size. No date and no random ids, since it is stored.
STORED = {"svg.fonttype": "none", "svg.hashsalt": SHEET, "font.family": raster.FAMILIES}
WITHOUT = dict.fromkeys(("Creator", "Date", "Format", "Type"))

_sentences: WeakKeyDictionary[Axes, Callable[[str], str]] = WeakKeyDictionary()


class Plot(Figure):
    """A figure of matplotlib's as the course shows it.

    Parameters
    ----------
    drawn : matplotlib.axes.Axes or matplotlib.figure.Figure
        Axes stand for the whole figure that they are in.

    Examples
    --------
    >>> from mha_helpers import figures
    >>> Plot(figures.attention_map([[0.3, 0.7]], ["it"], ["cat", "mat"]))
    Attention weights, 1 queries by 2 keys: “it” attends most to “mat” (0.70).
    """

    def __init__(self, drawn: Axes | Drawing) -> None:
        self.drawing = drawn if isinstance(drawn, Drawing) else drawn.figure
        self.text = " ".join(_sentences[ax](_title(ax)) for ax in self.drawing.axes if ax in _sentences)
        self.width = round(self.drawing.get_figwidth() * PIXELS)

    @functools.cached_property
    def svg(self) -> str:
        """The figure as matplotlib writes it."""
        written = io.StringIO()
        self.savefig(written, format="svg", metadata=WITHOUT)
        return typeface.embedded(_compact(written.getvalue()))

    def savefig(self, path, **kwargs) -> None:
        """Write the figure to a file, in any format that matplotlib knows, and in the figures' typeface."""
        for text in self.drawing.findobj(Text):
            if text.get_fontfamily() == ["sans-serif"]:  # nobody has chosen another
                text.set_fontfamily(raster.FAMILIES)
        with matplotlib.rc_context(STORED):
            self.drawing.savefig(path, **kwargs)

    def _painted(self, description):
        painted = io.BytesIO()
        self.savefig(painted, format="png", dpi=raster.SHARPNESS * PIXELS)
        return raster.encoded(Image.open(painted), description)


def _compact(picture):
    """Leave out line breaks, turns by nothing, and digits that nobody sees, and say once what the typeface is.

    That is half of what a notebook would store.
    """
    tags = re.compile(r"<[^>]+>")
    picture = re.sub(r"\s*\n\s*", " ", picture).replace("> <", "><")
    picture = re.sub(r' transform="rotate\(-0 [^"]*\)"', "", picture)
    picture = re.sub(r" font-family: 'Inter Figures', [^;\"]*;?", "", picture)
    picture = re.sub(r"^.*?<svg", f'<svg font-family="{style.FONT}"', picture)
    return tags.sub(lambda tag: re.sub(r"(\.\d\d)\d+", r"\1", tag[0]), picture)


class CourseAxes(Axes):
    """Axes of a figure of their own: as a cell's last line they show it."""

    def __repr__(self):
        return Plot(self).text

    __str__ = __repr__

    def _repr_mimebundle_(self, **kwargs):
        return Plot(self)._repr_mimebundle_(**kwargs)


def wrapped(title: str, ax: Axes) -> str:
    """Break a title into lines that have room above its axes, whose rows' names will take some of their width."""
    inches = ax.figure.get_figwidth() * ax.get_position().width
    return textwrap.fill(title, max(10, int(9.2 * inches)), break_long_words=False, break_on_hyphens=False)


@contextmanager
def axes(ax: Axes | None, width: float, height: float, title: str) -> Iterator[Axes]:
    """Give the axes to draw on: those that are there, or new ones, on which is drawn in the course's style.

    Their figure is none of pyplot's, which would show it again below the cell. Sizes are in inches; a title takes the
    lines that it needs.
    """
    if ax is not None:
        yield ax
        return
    with sheets.context(SHEET):
        drawing = Drawing(figsize=(width, height))
        ax = drawing.add_subplot(axes_class=CourseAxes)
        drawing.set_figheight(height + 0.18 * len(wrapped(title, ax).splitlines()))
        yield ax


def say(ax: Axes, title: str, sentence: Callable[[str], str]) -> Axes:
    """Give a plot its title, keep what it shows, as a function of the title, and return its axes.

    A figure of pyplot's that holds such a plot is then shown with its sentences, too.
    """
    if title:
        ax.set_title(wrapped(title, ax), loc="left")
    _sentences[ax] = sentence
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    if shell:
        _register(shell.display_formatter)
    return ax


def _title(ax):
    return (ax.get_title(loc="left") or ax.get_title()).replace("\n", " ")


def _register(shown):
    """Let IPython show figures that hold a plot of the course's as `Plot`, and others as before."""
    shown.mimebundle_formatter.for_type(Drawing, _bundle)
    painter = shown.formatters["image/png"]
    if Drawing in painter and not isinstance(painter.lookup_by_type(Drawing), _Painter):  # Jupyter's for pyplot
        painter.for_type(Drawing, _Painter(painter.lookup_by_type(Drawing)))


def _bundle(drawing, **kwargs):
    plot = Plot(drawing)
    return plot._repr_mimebundle_(**kwargs) if plot.text else None


class _Painter(NamedTuple):
    before: Callable[[Drawing], object]

    def __call__(self, drawing):
        plot = Plot(drawing)
        return plot.png() if plot.text else self.before(drawing)
