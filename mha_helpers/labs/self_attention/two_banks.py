"""Two banks: the reader drags words' vectors, and sees what "bank" becomes in each of two sentences."""

from dataclasses import dataclass
from pathlib import Path

import ipywidgets
import numpy as np

from live_pictures import marks, style, svg
from live_pictures.card import EDGE, Picture
from live_pictures.controls import NAMED
from live_pictures.options import Form, Script, StaticPage
from live_pictures.style import number
from mha_helpers import attention
from mha_helpers.drawing import palette
from mha_helpers.labs.lab import Lab

START = {"bank": (1.0, 1.0), "river": (3.0, 0.0), "money": (0.0, 3.0)}
FEATURES = ("water", "money")  # what a vector's two numbers stand for: across, and up
# By the neighbour, the one word that "bank" attends to besides itself.
SENTENCES = {"river": "the bank of the river", "money": "the bank lends money"}


@dataclass(frozen=True)
class Result:
    """What becomes of "bank" in each sentence."""

    vectors: dict  # by word, of shape (2,)
    scores: dict  # by neighbour, as all that follow: of "bank" with itself, and with the neighbour
    weights: dict  # in the same order
    contexts: dict  # of shape (2,)


def entry(word, feature):
    """Return the name of the control for one number of a word's vector."""
    return f"{word}: {feature}"


def compute(state, function=None):
    """Compute what "bank" becomes from the words' vectors."""
    vectors = {word: np.array([state[entry(word, feature)] for feature in FEATURES]) for word in START}
    scores, weights, contexts = {}, {}, {}
    for neighbour in SENTENCES:
        X = np.stack([vectors["bank"], vectors[neighbour]])
        context, rows = attention.dot_product_attention(X, X, X)
        scores[neighbour], weights[neighbour], contexts[neighbour] = (X @ X.T)[0], rows[0], context[0]
    return Result(vectors, scores, weights, contexts)


def sentence(result):
    """Describe the picture."""
    readout = []
    for neighbour, (_, share) in result.weights.items():
        context = ", ".join(map(number, result.contexts[neighbour]))
        readout.append(f"With “{neighbour}”, “bank” becomes ({context}): {percent(share)} of it is “{neighbour}”.")
    return " ".join(readout).replace("<", "less than").replace(">", "more than")


def percent(share):
    """Write a weight, never as 0 % or 100 %: the softmax makes no weight 0 or 1.

    Examples
    --------
    >>> percent(0.731), percent(1e-9), percent(0.9999)
    ('73 %', '< 1 %', '> 99 %')
    """
    return "< 1 %" if share < 0.005 else "> 99 %" if share > 0.995 else f"{share:.0%}".replace("%", " %")


PLANE = (22, 30, 294, 302)  # left, top, right, bottom, in pixels
MAX_VALUE, STEP = 4, 0.1  # a vector's numbers go from 0 to 4
UNIT = (PLANE[2] - PLANE[0]) / MAX_VALUE
LEFT, BAR = 18, 300  # of the sentences: their left edge, and the length of the bar that two weights share


def place(vector):
    """Return where a vector's tip is in the plane."""
    x, y = PLANE[0] + UNIT * vector[0], PLANE[3] - UNIT * vector[1]
    return round(float(x), 1), round(float(y), 1)


def parts(result):
    """Return the SVG attributes that change while a word is dragged, by part; `two_banks.js` computes the same."""
    changes, tips, names, (x0, y0) = {}, [], [], place(result.vectors["bank"])
    for word, vector in result.vectors.items():
        x, y = place(vector)
        changes[f"dot {word}"] = {"cx": f"{x:g}", "cy": f"{y:g}"}
        changes[f"arrow {word}"] = {"x2": f"{x:g}", "y2": f"{y:g}"}
        inside = min(max(x, 26), 284)  # so that no name is cut off at the picture's edge
        changes[f"name {word}"] = {"x": f"{inside:g}", "y": f"{round(y - 16, 1):g}"}
        tips.append((x, y))
        names.append((inside, round(y - 16, 1)))
    for neighbour in SENTENCES:
        (own_weight, weight), (own_score, score) = result.weights[neighbour], result.scores[neighbour]
        x, y = place(result.contexts[neighbour])
        changes[f"new {neighbour}"] = {"cx": f"{x:g}", "cy": f"{y:g}"}
        at, up = _beside(x, y, tips, names)
        changes[f"called {neighbour}"] = {"x": f"{round(at, 1):g}", "y": f"{round(up, 1):g}"}
        names.append((at, up))
        changes[f"pull {neighbour}"] = {"x1": f"{x0:g}", "y1": f"{y0:g}", "x2": f"{x:g}", "y2": f"{y:g}"}
        changes[f"own {neighbour}"] = {"width": f"{round(BAR * own_weight, 1):g}"}
        boundary = round(LEFT + BAR * own_weight, 1)
        changes[f"its {neighbour}"] = {"x": f"{boundary:g}", "width": f"{round(BAR * weight, 1):g}"}
        scores = f"bank · bank = {number(own_score)},  bank · {neighbour} = {number(score)}"
        context = ", ".join(map(number, result.contexts[neighbour]))
        becomes = f"{percent(own_weight)} bank + {percent(weight)} {neighbour} = ({context})"
        changes[f"scores {neighbour}"] = {"text": scores}
        changes[f"becomes {neighbour}"] = {"text": becomes}
    return changes


def _beside(x, y, tips, names):
    """Return where what a new vector is called stands: right, above, below or left of it, clear of arrows and names."""
    called = min(max(x, 54), 266)  # clear of the axis on its left, and of the picture's edge
    above = called, y - 11
    for at, up in ((x + 37, y + 4), above, (called, y + 19), (x - 37, y + 4), (x - 37, y - 11)):
        is_inside = 54 <= at <= 280 and up < PLANE[3] - 4
        touches_name = any(abs(name - at) < 46 and abs(line - up) < 13 for name, line in names)
        if is_inside and not touches_name and not any(_meets(at, up, *tip) for tip in tips):
            return at, up
    return above


def _meets(at, up, x, y):
    """Tell whether a vector's arrow runs through what is written there, or its dot touches it."""
    left, _, _, bottom = PLANE
    along = ((left + (x - left) * k / 16, bottom + (y - bottom) * k / 16) for k in range(17))
    through = any(abs(across - at) < 30 and abs(down - (up - 4)) < 9 for across, down in along)
    return through or (abs(x - at) < 38 and abs(y - (up - 4)) < 16)


def render(result):
    """Draw a result: the words in a plane, and the two sentences."""
    changes, readout = parts(result), sentence(result)
    plane = svg.document(308, 356, _plane(result, changes), label=readout)
    return Picture(plane + svg.document(336, 262, _sentences(changes), label="The two sentences."), readout, "")


def _role(word):
    return "queries" if word == "bank" else "keys"


def _plane(result, changes):
    left, top, right, bottom = PLANE
    for i in range(MAX_VALUE + 1):
        x, y = left + UNIT * i, bottom - UNIT * i
        yield svg.line(x, top, x, bottom, colour=style.GRID) + svg.line(left, y, right, y, colour=style.GRID)
        yield svg.text(x, bottom + 23, i, anchor="middle", size=11, colour=style.QUIET)
        yield svg.text(left - 13, y + 4, i, anchor="end", size=11, colour=style.QUIET)
    yield svg.text(right, bottom + 42, "water →", anchor="end", size=12, colour=style.QUIET)
    yield svg.text(left + 22, top - 16, "↑ money", size=12, colour=style.QUIET)
    for neighbour in SENTENCES:
        pull = svg.segment(0, 0, 0, 0, colour=style.tint(palette.HEADS[0], 0.35), width=9)
        yield marks.computed_part(pull, f"pull {neighbour}", changes)
    for word in reversed(START):
        colour = palette.ROLES[_role(word)]
        yield marks.computed_part(svg.segment(left, bottom, 0, 0, colour=colour, width=2.5), f"arrow {word}", changes)
    for neighbour in SENTENCES:
        new = svg.circle(0, 0, 6, fill=palette.ROLES["output"], stroke=style.PAPER)
        yield marks.computed_part(new, f"new {neighbour}", changes)
        label = svg.text(
            0, 0, f"by {neighbour}", anchor="middle", size=11, bold=True, colour=palette.role_text("output")
        )
        yield marks.computed_part(label, f"called {neighbour}", changes)
    for word in reversed(START):
        name = svg.text(0, 0, word, anchor="middle", bold=True, colour=palette.role_text(_role(word)))
        yield marks.computed_part(name, f"name {word}", changes)
    for word in START:
        dot = svg.circle(0, 0, 10, fill=palette.ROLES[_role(word)], stroke=style.PAPER)
        yield marks.plane(
            marks.computed_part(dot, f"dot {word}", changes), [entry(word, feature) for feature in FEATURES],
            edges=[left, top, right, bottom, 0, MAX_VALUE, 0, MAX_VALUE, STEP], name=word,
        )  # fmt: skip


def _sentences(changes):
    for i, (neighbour, words) in enumerate(SENTENCES.items()):
        y, x = 16 + 132 * i, LEFT
        for word in words.split():
            width, counts = 15 + 8.4 * len(word), word in ("bank", neighbour)
            colour = palette.ROLES[_role(word)]
            fill, edge = (style.tint(colour), colour) if counts else (style.PANEL, EDGE)
            yield svg.box(x, y, width, 28, fill=fill, stroke=edge)
            yield svg.text(x + width / 2, y + 19, word, anchor="middle", bold=counts)
            x += width + 4
        yield marks.computed_part(
            svg.text(LEFT, y + 50, "", size=12, colour=style.QUIET), f"scores {neighbour}", changes
        )
        blue, orange = (style.tint(palette.ROLES[role], 0.55) for role in ("queries", "keys"))
        yield marks.computed_part(svg.box(LEFT, y + 60, 0, 24, fill=blue), f"own {neighbour}", changes)
        yield marks.computed_part(svg.box(0, y + 60, 0, 24, fill=orange), f"its {neighbour}", changes)
        yield svg.box(LEFT, y + 60, BAR, 24, stroke=style.INK)
        yield svg.circle(LEFT + 6, y + 101, 6, fill=palette.ROLES["output"])
        becomes = svg.text(LEFT + 18, y + 106, "", bold=True, colour=palette.role_text("output"))
        yield marks.computed_part(becomes, f"becomes {neighbour}", changes)


def two_banks() -> Lab:
    """Show two sentences with "bank", and what it becomes in each while the words' vectors are dragged.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Examples
    --------
    >>> lab = two_banks()
    >>> lab.controls["river: water"].value = 4.0
    >>> "88 % of it is “river”" in lab.readout.value
    True
    """
    controls = {
        entry(word, feature): ipywidgets.BoundedFloatText(
            value=value, min=0, max=MAX_VALUE, step=STEP, description=entry(word, feature), style=NAMED,
            layout={"width": "180px"},
        )
        for word, vector in START.items()
        for feature, value in zip(FEATURES, vector, strict=True)
    }  # fmt: skip
    return Lab(
        name="two_banks",
        title="two banks",
        task="Drag “river” farther out: what does “bank” become beside it? Then drag “bank” itself.",
        controls=controls,
        form=Form(on_picture=(*controls,)),
        compute=compute,
        render=render,
        function=None,
        page=StaticPage(offers={}),
        script=Script(
            file=Path(__file__).with_suffix(".js"),
            data={"words": [*START], "near": [*SENTENCES], "plane": PLANE, "unit": UNIT, "left": LEFT, "bar": BAR},
            parts=parts,
        ),
    )
