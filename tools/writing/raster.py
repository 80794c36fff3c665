"""A PNG beside each of the course's SVG pictures, in the stored notebooks alone: for viewers that show no SVG.

JupyterLab and Colab show the SVG. GitHub's viewer has shown none, or a broken one, again and again (in 2022 of every
notebook: https://github.com/xflr6/graphviz/issues/182, in 2025 still with black boxes:
https://github.com/jupyter/nbviewer/issues/1037); slides want a PNG, too.

What draws it knows what `svg` writes (boxes, lines, circles, text, groups that are moved and scaled) and no more.
"""

import base64
import io
import re
from xml.etree import ElementTree

from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyBboxPatch, PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.transforms import Affine2D

from mha_helpers.drawing import style

DPI = 144  # twice the 72 at which a point is a pixel: sharp on high-resolution screens
NUMBER = re.compile(r"-?\d*\.?\d+(?:e-?\d+)?")
PLACED = re.compile(r"translate\((\S+) (\S+)\) scale\((\S+)\)")
COMMAND = re.compile(r"([A-Za-z])([^A-Za-z]*)")
ANCHORS = {"start": "left", "middle": "center", "end": "right"}
IN_HTML = re.compile(r"data:image/svg\+xml;base64,([\w+/=]+)")


def add_pngs(notebook, stored):
    """Give each output that shows an SVG picture a PNG of it.

    Parameters
    ----------
    notebook : NotebookNode
        Executed; it is changed.
    stored : NotebookNode
        As it was before: a picture that has not changed keeps its PNG, which another machine may have drawn.
    """
    drawn = {data.get("text/html"): data["image/png"] for data in _shown(stored) if "image/png" in data}
    for data in _shown(notebook):
        picture = svg_in(data)
        if picture:
            page = data["text/html"]
            data["image/png"] = drawn.get(page) or base64.b64encode(png(picture, data["text/plain"])).decode()


def svg_in(data):
    """Return the SVG picture that an output shows as an image in its HTML, or None."""
    found = IN_HTML.search(data.get("text/html", ""))
    return base64.b64decode(found[1]).decode() if found else None


def _shown(notebook):
    return [output.data for cell in notebook.cells for output in cell.get("outputs", []) if "data" in output]


def png(picture, description):
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
    width, height = float(root.get("width")), float(root.get("height"))
    figure = Figure(figsize=(width / 72, height / 72), facecolor=style.PAPER)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.set_axis_off()
    for node in root:
        _draw(axes, node, {})
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI, metadata={"Description": description, "Software": None})
    return buffer.getvalue()


def _draw(axes, node, inherited):
    kind = node.tag.rpartition("}")[2]
    given = {**inherited, **node.attrib}
    if kind in ("g", "a"):
        own = {**given, "opacity": float(inherited.get("opacity", 1)) * float(node.get("opacity", 1))}
        if "transform" in node.attrib:
            own["place"] = tuple(map(float, PLACED.fullmatch(own.pop("transform")).groups()))
        for child in node:
            _draw(axes, child, own)
    elif kind in DRAWN:
        given["opacity"] = float(inherited.get("opacity", 1)) * float(node.get("opacity", 1))
        DRAWN[kind](axes, node, given)
    elif kind not in ("title", "desc", "style", "animate"):
        raise ValueError(f"the picture holds a <{kind}>, which has no PNG; draw with g, a, rect, path, circle or text")


def _looks(axes, given):
    x, y, scale = given.get("place", (0, 0, 1))
    fill, stroke = given.get("fill", style.INK), given.get("stroke", "none")
    dashes = [float(part) for part in NUMBER.findall(given.get("stroke-dasharray", ""))]
    width = float(given.get("stroke-width", 1))
    return {
        "facecolor": fill,
        "edgecolor": stroke,
        "linewidth": scale * width if stroke != "none" else 0,
        "linestyle": (0, [part / width for part in dashes]) if dashes else "-",
        "alpha": given["opacity"] * float(given.get("stroke-opacity", 1)),
        "zorder": 1,
        "capstyle": "butt",
        "joinstyle": "miter",
        "transform": Affine2D().scale(scale).translate(x, y) + axes.transData,
    }


def _number(node, name):
    return float(node.get(name, 0))


def _rect(axes, node, given):
    place, width, height = (_number(node, "x"), _number(node, "y")), _number(node, "width"), _number(node, "height")
    if node.get("rx"):
        rounding = f"round,pad=0,rounding_size={node.get('rx')}"
        looks = {**_looks(axes, given), "joinstyle": "round"}
        axes.add_patch(FancyBboxPatch(place, width, height, boxstyle=rounding, **looks))
    else:
        axes.add_patch(Rectangle(place, width, height, **_looks(axes, given)))


def _circle(axes, node, given):
    axes.add_patch(Circle((_number(node, "cx"), _number(node, "cy")), _number(node, "r"), **_looks(axes, given)))


def _path(axes, node, given):
    if node.get("class") == "mha-flow":  # only where it moves
        return
    axes.add_patch(PathPatch(path(node.get("d")), **_looks(axes, given)))


def path(drawn):
    """Read an SVG path of lines and curves as a matplotlib path."""
    points, codes, at = [], [], (0.0, 0.0)
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


def _text(axes, node, given):
    left, top, scale = given.get("place", (0, 0, 1))
    places = [[float(place) for place in node.get(axis, "0").split()] for axis in "xy"]
    written = [node.text] if len(places[0]) == 1 else node.text  # with many places, each character has one
    rotation = float(NUMBER.search(given["transform"])[0]) if "transform" in given else 0
    for x, y, text in zip(*places, written, strict=True):
        axes.text(
            left + scale * x, top + scale * y, text, color=given.get("fill", style.INK),
            fontweight=given.get("font-weight", "normal"), ha=ANCHORS[given.get("text-anchor", "start")],
            va="baseline", fontfamily="DejaVu Sans", fontsize=scale * float(given.get("font-size", style.FONT_SIZE)),
            alpha=given["opacity"], rotation=-rotation, rotation_mode="anchor", parse_math=False, zorder=2,
        )  # fmt: skip


DRAWN = {"rect": _rect, "path": _path, "circle": _circle, "text": _text}
