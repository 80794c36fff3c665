"""A PNG beside each SVG picture, for viewers that show no SVG.

JupyterLab and Colab show the SVG. GitHub's viewer has shown none, or a broken one, again and again (in 2022 of every
notebook: https://github.com/xflr6/graphviz/issues/182, in 2025 still with black boxes:
https://github.com/jupyter/nbviewer/issues/1037); slides want a PNG, too.

What draws it knows what `svg` writes (boxes, lines, circles, text, groups that are moved and scaled) and no more. It
draws on matplotlib's Agg without a figure, in a tenth of a figure's time, and touches neither pyplot nor rcParams: they
are the reader's. Importing this module loads matplotlib, which takes a second: `figure` does so for the first one.
"""

import io
import logging
import math
import re
from functools import cache
from xml.etree import ElementTree

from live_pictures import style, typeface

_notices = logging.getLogger("matplotlib")
_level = _notices.level
_notices.setLevel(logging.ERROR)  # once on each machine it makes a list of all fonts, and says so in the cell
try:
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.colors import to_rgb
    from matplotlib.font_manager import FontProperties, fontManager
    from matplotlib.path import Path
    from matplotlib.transforms import Affine2D
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo
finally:
    _notices.setLevel(_level)

for _file in typeface.FILES.values():
    fontManager.addfont(_file)

FAMILIES = [typeface.FAMILY, "DejaVu Sans"]  # matplotlib brings the second along, for signs that the first lacks
COLOURS = 64  # of a PNG: those of the cells, and shades of grey at the edges of letters
SHARPNESS = 2  # pixels of the PNG to one of the SVG, for high-resolution screens
NUMBER = re.compile(r"-?\d*\.?\d+(?:e-?\d+)?")
PLACED = re.compile(r"translate\((\S+) (\S+)\) scale\((\S+)\)")
COMMAND = re.compile(r"([A-Za-z])([^A-Za-z]*)")
BEFORE = {"start": 0, "middle": 0.5, "end": 1}  # by a text's anchor: how much of it stands left of its place


def png(picture: str, description: str) -> bytes:
    """Draw an SVG picture as a PNG of twice its size.

    Parameters
    ----------
    picture : str
        As `svg.document` returns it.
    description : str
        What it shows: kept in the PNG's text chunk of that name.

    Returns
    -------
    bytes

    Raises
    ------
    ValueError
        If the picture holds something that is not drawn here.
    """
    root = ElementTree.fromstring(picture)
    width, height = (int(SHARPNESS * float(root.attrib[side])) for side in ("width", "height"))
    canvas = RendererAgg(width, height, SHARPNESS * 72)  # there are 72 points to an inch, and a pixel is to be a point
    _fill(canvas, width, height, style.PAPER)
    for node in root:
        _draw(canvas, node, {})
    return encoded(Image.frombuffer("RGBA", (width, height), canvas.buffer_rgba()), description)


def encoded(image: Image.Image, description: str) -> bytes:
    """Return an image as a PNG that says what it shows, in few colours: it looks the same and is half as heavy."""
    chunks = PngInfo()
    chunks.add_itxt("Description", description)
    buffer = io.BytesIO()
    # Coverage keeps pale cells and thin lines in their colour.
    few = image.convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(buffer, "PNG", pnginfo=chunks, optimize=True)
    return buffer.getvalue()


def _fill(canvas, width, height, colour):
    pen = canvas.new_gc()
    pen.set_linewidth(0)
    canvas.draw_path(pen, Path.unit_rectangle(), Affine2D().scale(width, height), to_rgb(colour))


def _draw(canvas, node, inherited):
    kind = node.tag.rpartition("}")[2]
    attributes = {**inherited, **node.attrib}
    attributes["opacity"] = float(inherited.get("opacity", 1)) * float(node.get("opacity", 1))
    if kind in ("g", "a"):
        if "transform" in node.attrib:
            attributes["place"] = tuple(map(float, PLACED.fullmatch(attributes.pop("transform")).groups()))
        for child in node:
            _draw(canvas, child, attributes)
    elif kind in OUTLINES:
        _outline(canvas, OUTLINES[kind](node), attributes, rounded="rx" in node.attrib)
    elif kind == "text":
        _text(canvas, node, attributes)
    elif kind not in ("title", "desc", "style", "animate"):
        raise ValueError(f"the picture holds a <{kind}>, which has no PNG; draw with g, a, rect, path, circle or text")


def _pen(canvas, colour, attributes, opacity=1.0):
    pen = canvas.new_gc()
    pen.set_alpha(attributes["opacity"] * opacity)
    pen.set_foreground(colour)
    return pen


def _outline(canvas, outline, attributes, *, rounded):
    if attributes.get("class") == "mha-flow":  # only where it moves
        return
    x, y, scale = attributes.get("place", (0, 0, 1))
    fill, stroke = attributes.get("fill", style.INK), attributes.get("stroke", "none")
    pen = _pen(canvas, stroke, attributes, float(attributes.get("stroke-opacity", 1)))
    pen.set_linewidth(0 if stroke == "none" else scale * float(attributes.get("stroke-width", 1)))
    dashes = [scale * float(part) for part in NUMBER.findall(attributes.get("stroke-dasharray", ""))]
    pen.set_dashes(0, dashes or None)
    pen.set_capstyle("butt")
    pen.set_joinstyle("round" if rounded else "miter")
    scale *= SHARPNESS
    place = Affine2D.from_values(scale, 0, 0, -scale, SHARPNESS * x, canvas.height - SHARPNESS * y)  # Agg's y goes up
    canvas.draw_path(pen, outline, place, None if fill == "none" else to_rgb(fill))


def _box(node):
    x, y, width, height, r = (float(node.get(name, 0)) for name in ("x", "y", "width", "height", "rx"))
    if not r:
        right, bottom = x + width, y + height
        return Path([(x, y), (right, y), (right, bottom), (x, bottom), (x, y)], closed=True)
    across, down = width - 2 * r, height - 2 * r
    corners = f"h{across}q{r} 0 {r} {r}v{down}q0 {r} {-r} {r}h{-across}q{-r} 0 {-r} {-r}v{-down}q0 {-r} {r} {-r}Z"
    return path(f"M{x + r} {y}{corners}")


def _circle(node):
    return Path.circle((float(node.get("cx", 0)), float(node.get("cy", 0))), float(node.get("r", 0)))


OUTLINES = {"rect": _box, "path": lambda node: path(node.get("d")), "circle": _circle}


def path(drawn: str) -> Path:
    """Read an SVG path of lines and curves as a matplotlib path."""
    points: list[tuple[float, float]] = []
    codes, at = [], (0.0, 0.0)
    for letter, numbers in COMMAND.findall(drawn):
        values = [float(number) for number in NUMBER.findall(numbers)]
        upper, relative = letter.upper(), letter.islower()
        if upper == "Z":
            points.append(points[0])
            codes.append(Path.CLOSEPOLY)
            continue
        if upper in "HV":
            values = _both(upper, values, at, relative)
            upper, relative = "L", False
        length = {"M": 1, "L": 1, "Q": 2, "C": 3}[upper]
        pairs = list(zip(values[::2], values[1::2], strict=True))
        for first in range(0, len(pairs), length):
            piece = [(x + at[0], y + at[1]) if relative else (x, y) for x, y in pairs[first : first + length]]
            code = Path.LINETO if upper == "M" and first else CODES[upper]
            points += piece
            codes += [code] * length
            at = piece[-1]
    return Path(points, codes)


CODES = {"M": Path.MOVETO, "L": Path.LINETO, "Q": Path.CURVE3, "C": Path.CURVE4}


def _both(letter, values, at, relative):
    """Write horizontal and vertical lines with both coordinates."""
    found, (x, y) = [], at
    for value in values:
        if letter == "H":
            x = x + value if relative else value
        else:
            y = y + value if relative else value
        found += [x, y]
    return found


@cache
def _font(size, weight):
    return FontProperties(family=FAMILIES, size=size, weight=weight)


def _text(canvas, node, attributes):
    left, top, scale = attributes.get("place", (0, 0, 1))
    places = [[float(place) for place in node.get(axis, "0").split()] for axis in "xy"]
    written = [node.text or ""] if len(places[0]) == 1 else node.text  # with many places, each character has one
    rising = -float(NUMBER.search(attributes["transform"])[0]) if "transform" in attributes else 0
    font = _font(scale * float(attributes.get("font-size", style.FONT_SIZE)), attributes.get("font-weight", "normal"))
    before = BEFORE[attributes.get("text-anchor", "start")]
    pen = _pen(canvas, attributes.get("fill", style.INK), attributes)
    for x, y, text in zip(*places, written, strict=True):
        back = before and before * canvas.get_text_width_height_descent(text, font, False)[0]
        x = SHARPNESS * (left + scale * x) - back * math.cos(math.radians(rising))
        y = SHARPNESS * (top + scale * y) + back * math.sin(math.radians(rising))
        canvas.draw_text(pen, x, y, text, font, rising)
