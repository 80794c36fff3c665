"""Two banks: words to be dragged, and what "bank" takes from its neighbour in each of two sentences."""

from dataclasses import dataclass
from pathlib import Path

import ipywidgets
import numpy as np

from live_pictures import chips, marks, style, svg
from live_pictures.card import EDGE, Picture
from live_pictures.controls import NAMED
from live_pictures.options import Form, Script, StaticPage
from live_pictures.style import number
from mha_helpers import attention
from mha_helpers.labs.lab import Lab

START = {"bank": (1.0, 1.0), "river": (3.0, 0.0), "money": (0.0, 3.0)}
FEATURES = ("water", "money")  # of every vector: across and up
SENTENCES = {"river": "the bank of the river", "money": "the bank lends money"}  # by the neighbour that counts


@dataclass(frozen=True)
class Result:
    """What becomes of "bank" in each sentence."""

    vectors: dict  # of each word, (2,)
    scores: dict  # by neighbour: what "bank" scores with itself and with the neighbour
    weights: dict
    contexts: dict  # (2,)


def entry(word, feature):
    """Name the control of one number."""
    return f"{word}: {feature}"


def compute(state, function=None):
    """From the words' vectors to what "bank" becomes."""
    vectors = {word: np.array([state[entry(word, feature)] for feature in FEATURES]) for word in START}
    scores, weights, contexts = {}, {}, {}
    for near in SENTENCES:
        X = np.stack([vectors["bank"], vectors[near]])
        context, rows = attention.dot_product_attention(X, X, X)
        scores[near], weights[near], contexts[near] = (X @ X.T)[0], rows[0], context[0]
    return Result(vectors, scores, weights, contexts)


def sentence(result):
    """Describe the picture."""
    readout = []
    for near, (_, share) in result.weights.items():
        place = ", ".join(map(number, result.contexts[near]))
        readout.append(f"With “{near}”, “bank” becomes ({place}): {percent(share)} of it is “{near}”.")
    return " ".join(readout).replace("<", "less than").replace(">", "more than")


def percent(share):
    """Write a weight: the softmax makes none 0 or 1, so that none is written so.

    Examples
    --------
    >>> percent(0.731), percent(1e-9), percent(0.9999)
    ('73 %', '< 1 %', '> 99 %')
    """
    return "< 1 %" if share < 0.005 else "> 99 %" if share > 0.995 else f"{share:.0%}".replace("%", " %")


PLANE = (22, 30, 294, 302)  # left, top, right, bottom, in pixels
HIGHEST, STEP = 4, 0.1  # a vector's numbers go from 0 to 4
UNIT = (PLANE[2] - PLANE[0]) / HIGHEST
LEFT, BAR = 18, 300  # of the sentences: where they begin, and how long a bar is that stands for all of a vector


def place(vector):
    """Return where a vector's tip is in the plane."""
    x, y = PLANE[0] + UNIT * vector[0], PLANE[3] - UNIT * vector[1]
    return round(float(x), 1), round(float(y), 1)


def parts(result):
    """Return what changes while a word is dragged, by part and attribute: `two_banks.js` computes it, too."""
    found, (x0, y0) = {}, place(result.vectors["bank"])
    for word, vector in result.vectors.items():
        x, y = place(vector)
        found[f"dot {word}"] = {"cx": f"{x:g}", "cy": f"{y:g}"}
        found[f"arrow {word}"] = {"x2": f"{x:g}", "y2": f"{y:g}"}
        found[f"name {word}"] = {"x": f"{min(max(x, 26), 284):g}", "y": f"{round(y - 16, 1):g}"}  # inside the picture
    for near in SENTENCES:
        (own, its), (to_itself, to_it) = result.weights[near], result.scores[near]
        x, y = place(result.contexts[near])
        found[f"new {near}"] = {"cx": f"{x:g}", "cy": f"{y:g}"}
        found[f"called {near}"] = {"x": f"{min(max(x, 46), 270):g}", "y": f"{round(y + 19, 1):g}"}
        found[f"pull {near}"] = {"x1": f"{x0:g}", "y1": f"{y0:g}", "x2": f"{x:g}", "y2": f"{y:g}"}
        found[f"own {near}"] = {"width": f"{round(BAR * own, 1):g}"}
        found[f"its {near}"] = {"x": f"{round(LEFT + BAR * own, 1):g}", "width": f"{round(BAR * its, 1):g}"}
        scores = f"bank · bank = {number(to_itself)},  bank · {near} = {number(to_it)}"
        becomes = ", ".join(map(number, result.contexts[near]))
        found[f"scores {near}"] = {"text": scores}
        found[f"becomes {near}"] = {"text": f"{percent(own)} bank + {percent(its)} {near} = ({becomes})"}
    return found


def render(result):
    """Draw a result: the words in a plane, and the two sentences."""
    found, readout = parts(result), sentence(result)
    plane = svg.document(308, 356, _plane(result, found), label=readout)
    return Picture(plane + svg.document(336, 262, _sentences(found), label="The two sentences."), readout, "")


def _role(word):
    return "queries" if word == "bank" else "keys"


def _plane(result, found):
    left, top, right, bottom = PLANE
    for i in range(HIGHEST + 1):
        x, y = left + UNIT * i, bottom - UNIT * i
        yield svg.line(x, top, x, bottom, colour=style.GRID) + svg.line(left, y, right, y, colour=style.GRID)
        yield svg.text(x, bottom + 23, i, anchor="middle", size=11, colour=style.QUIET)
        yield svg.text(left - 13, y + 4, i, anchor="end", size=11, colour=style.QUIET)
    yield svg.text(right, bottom + 42, "water →", anchor="end", size=12, colour=style.QUIET)
    yield svg.text(left + 22, top - 16, "↑ money", size=12, colour=style.QUIET)
    back = {entry(word, feature): value for word in START for feature, value in zip(FEATURES, START[word], strict=True)}
    yield chips.button(left, bottom + 27, 132, "put them back", sets=back, name="put them back")
    for near in SENTENCES:
        pull = svg.segment(0, 0, 0, 0, colour=style.tint(style.HEADS[0], 0.35), width=9)
        yield marks.computed_part(pull, f"pull {near}", found)
    for word in reversed(START):
        colour = style.ROLES[_role(word)]
        yield marks.computed_part(svg.segment(left, bottom, 0, 0, colour=colour, width=2.5), f"arrow {word}", found)
    for near in SENTENCES:
        new = svg.circle(0, 0, 6, fill=style.ROLES["output"], stroke=style.PAPER)
        yield marks.computed_part(new, f"new {near}", found)
        called = svg.text(0, 0, f"by {near}", anchor="middle", size=11, bold=True, colour=style.role_text("output"))
        yield marks.computed_part(called, f"called {near}", found)
    for word in reversed(START):
        name = svg.text(0, 0, word, anchor="middle", bold=True, colour=style.role_text(_role(word)))
        yield marks.computed_part(name, f"name {word}", found)
    for word in START:
        dot = svg.circle(0, 0, 10, fill=style.ROLES[_role(word)], stroke=style.PAPER)
        yield marks.plane(
            marks.computed_part(dot, f"dot {word}", found), [entry(word, feature) for feature in FEATURES],
            edges=[left, top, right, bottom, 0, HIGHEST, 0, HIGHEST, STEP], name=word,
        )  # fmt: skip


def _sentences(found):
    for i, (near, words) in enumerate(SENTENCES.items()):
        y, x = 16 + 132 * i, LEFT
        for word in words.split():
            width, counts = 15 + 8.4 * len(word), word in ("bank", near)
            colour = style.ROLES[_role(word)]
            fill, edge = (style.tint(colour), colour) if counts else (style.PANEL, EDGE)
            yield svg.box(x, y, width, 28, fill=fill, stroke=edge)
            yield svg.text(x + width / 2, y + 19, word, anchor="middle", bold=counts)
            x += width + 4
        yield marks.computed_part(svg.text(LEFT, y + 50, "", size=12, colour=style.QUIET), f"scores {near}", found)
        blue, orange = (style.tint(style.ROLES[role], 0.55) for role in ("queries", "keys"))
        yield marks.computed_part(svg.box(LEFT, y + 60, 0, 24, fill=blue), f"own {near}", found)
        yield marks.computed_part(svg.box(0, y + 60, 0, 24, fill=orange), f"its {near}", found)
        yield svg.box(LEFT, y + 60, BAR, 24, stroke=style.INK)
        yield svg.circle(LEFT + 6, y + 101, 6, fill=style.ROLES["output"])
        becomes = svg.text(LEFT + 18, y + 106, "", bold=True, colour=style.role_text("output"))
        yield marks.computed_part(becomes, f"becomes {near}", found)


def two_banks() -> Lab:
    """Show two sentences with "bank", and let their words' vectors be dragged.

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
            value=value, min=0, max=HIGHEST, step=STEP, description=entry(word, feature), style=NAMED,
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
