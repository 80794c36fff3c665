"""Find the cat: the reader pushes a query in a narrow head and in a wide one, and sees what goes downhill."""

from dataclasses import dataclass

import numpy as np

from live_pictures import chips, marks, style, svg
from live_pictures.card import Picture
from live_pictures.controls import dropdown, radio
from live_pictures.options import Form
from live_pictures.style import number
from mha_helpers.attention import attention_scores, softmax
from mha_helpers.drawing import palette
from mha_helpers.labs.lab import Lab

N_KEYS, D_VALUE = 8, 4
NAMES = ("cat", *(f"other {key}" for key in range(1, N_KEYS)))
WIDTHS = {"narrow": 4, "wide": 512}
SEEDS = {"narrow": 1, "wide": 6}  # the notebook's own game, and one that is lost in the wide head
PUSHES = tuple(round(-1 + 0.1 * stop, 1) for stop in range(51))  # how far towards the cat's key
RATE = 0.5  # of a step downhill, as in the thousand games


@dataclass(frozen=True)
class Game:
    """A query and keys as they are drawn: the scores, and how fast each grows as the query is pushed."""

    scores: np.ndarray  # (n_keys,)
    growth: np.ndarray  # (n_keys,)
    values: np.ndarray  # (n_keys, d_value)

    def weights(self, push):
        return softmax(self.scores + push * self.growth)

    def loss(self, push):
        """The squared distance between the context and the cat's value."""
        return float(((self.weights(push) @ self.values - self.values[0]) ** 2).sum())

    def slope(self, push):
        """How fast the loss grows as the query is pushed."""
        weights = self.weights(push)
        by_weight = 2 * self.values @ (weights @ self.values - self.values[0])
        return float((weights * (by_weight - weights @ by_weight)) @ self.growth)


def drawn_game(seed, width, values=None):
    """Draw a game as the notebook does; the direction is that of the first key."""
    rng = np.random.default_rng(seed)
    query, keys = rng.normal(size=(1, width)), rng.normal(size=(N_KEYS, width))
    drawn = rng.normal(size=(N_KEYS, D_VALUE))
    towards = keys[:1] / np.linalg.norm(keys[0])
    return Game(
        attention_scores(query, keys)[0], attention_scores(towards, keys)[0], drawn if values is None else values
    )


_NARROW = drawn_game(SEEDS["narrow"], WIDTHS["narrow"])
GAMES = {"narrow": _NARROW, "wide": drawn_game(SEEDS["wide"], WIDTHS["wide"], _NARROW.values)}


@dataclass(frozen=True)
class Result:
    """Where a query has been pushed in one of the heads."""

    head: str
    push: float

    @property
    def game(self):
        return GAMES[self.head]


def compute(state, _):
    """Find the head, and how far its query has been pushed."""
    return Result(state["head"], state["push"])


def downhill(state):
    """Take one step of training along the line: as far as the slope is steep, to the nearest place."""
    aim = state["push"] - RATE * GAMES[state["head"]].slope(state["push"])
    return {"push": min(PUSHES, key=lambda push: abs(push - aim))}


def sentence(result):
    """Describe the picture."""
    loss, slope = number(result.game.loss(result.push)), number(result.game.slope(result.push))
    what = f"The {result.head} head's loss is {loss}, and the slope {slope}"
    if downhill({"head": result.head, "push": result.push})["push"] != result.push:
        return f"{what}."
    if result.game.weights(result.push)[0] > 0.5:
        return f"{what}: the query has found the cat."
    return f"{what}: the ground is level, and a step leaves the query where it is."


SIZES, HEIGHT = ((344, 288), (292, 288)), 288
LEFT, RIGHT, FLOOR, UNIT = 34, 328, 216, 26  # of the hill: its sides, where the loss is 0, and a 1's pixels
TRACK = FLOOR + 26
ROW, BARS, BAR_LEFT, BAR_UNIT = 22, 74, 66, 150
MAX_LOSS = 6.2
CHIP = 160


def _x(push):
    return round(LEFT + (RIGHT - LEFT) * (push - PUSHES[0]) / (PUSHES[-1] - PUSHES[0]), 1)


def _y(loss):
    return round(FLOOR - UNIT * min(loss, MAX_LOSS), 1)


def render(result):
    """Draw a result: the hill with the query on it, and what it attends to there."""
    readout = sentence(result)
    hill = svg.document(SIZES[0][0], HEIGHT, _hill(result), label=readout)
    return Picture(hill + svg.document(SIZES[1][0], HEIGHT, _weights(result), label="What it attends to."), readout, "")


def _hill(result):
    game, push, colour = result.game, result.push, palette.ROLES["queries"]
    for k, (head, width) in enumerate(WIDTHS.items()):
        drawn = chips.chip(1 + k * (CHIP + 6), 1, CHIP, f"{head}: {width} numbers", chosen=head == result.head)
        yield marks.radio(drawn, {"head": head}, also_sets={"push": 0.0}, name=head)
    yield svg.text(0, 46, "loss", size=12, colour=style.QUIET)
    for loss in range(7):
        yield svg.line(LEFT, _y(loss), RIGHT, _y(loss), colour=style.INK if loss == 0 else style.GRID)
        yield svg.text(LEFT - 6, _y(loss) + 4, loss, anchor="end", size=11, colour=style.QUIET)
    fine = np.linspace(PUSHES[0], PUSHES[-1], 101)
    yield svg.polyline([(_x(at), _y(game.loss(at))) for at in fine], colour=style.INK)
    x, y = _x(push), _y(game.loss(push))
    aim = min(max(push - RATE * game.slope(push), PUSHES[0]), PUSHES[-1])
    if downhill({"head": result.head, "push": push})["push"] != push:
        yield svg.arrow(x, y - 18, _x(aim), y - 18, colour=style.INK)
    yield svg.line(x, y, x, TRACK, colour=style.QUIET)
    yield marks.part(svg.circle(x, y, 8, fill=colour, stroke=style.PAPER), "query")
    points = [(_x(stop), TRACK) for stop in PUSHES]
    yield svg.line(*points[0], *points[-1], colour=style.QUIET, width=3) + chips.grip("push", points)
    stops = [{"push": stop} for stop in PUSHES]
    handle = svg.circle(x, TRACK, 12, fill=style.INK, stroke=style.PAPER)
    yield marks.track(handle, "push", stops=stops, points=points, name="push of the query")
    yield svg.text(LEFT, TRACK + 30, "push the query: towards the cat's key →", size=12, colour=style.QUIET)


def _weights(result):
    game, push = result.game, result.push
    yield chips.player(1, 1, "roll downhill", press="One step downhill", every=500)
    yield chips.button(34, 1, 150, "one step downhill", press="One step downhill")
    yield svg.text(0, 50, f"slope {number(game.slope(push))}", bold=True)
    yield svg.text(104, 50, f"a step: {number(-RATE * game.slope(push))}", size=12, colour=style.QUIET)
    for key, (name, weight) in enumerate(zip(NAMES, game.weights(push).tolist(), strict=True)):
        y, is_cat = BARS + ROW * key, key == 0
        yield svg.text(BAR_LEFT - 6, y + 13, name, anchor="end", size=12, bold=is_cat)
        yield svg.box(BAR_LEFT, y, BAR_UNIT, ROW - 5, fill=style.PANEL)
        fill = palette.ROLES["keys"] if is_cat else style.tint(palette.ROLES["keys"], 0.5)
        yield svg.box(BAR_LEFT, y, round(BAR_UNIT * weight, 1), ROW - 5, fill=fill)
        yield svg.text(BAR_LEFT + BAR_UNIT + 6, y + 13, number(weight), size=12, bold=is_cat)
    yield svg.text(BAR_LEFT, BARS + ROW * N_KEYS + 16, "what the query attends to", size=12, colour=style.QUIET)


def find_the_cat() -> Lab:
    """Show a query that is pushed towards the cat's key, in a narrow head or a wide one, and how its loss slopes.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Examples
    --------
    >>> lab = find_the_cat()
    >>> lab.set(head="wide")
    >>> "a step leaves the query where it is" in lab.readout.value
    True
    """
    controls = {"head": radio("head", WIDTHS), "push": dropdown("push", PUSHES, 0.0)}
    return Lab(
        name="find_the_cat",
        title="find the cat",
        task="Push the query, or let it roll downhill, as training does. Then try the wide head.",
        controls=controls,
        actions={"One step downhill": downhill},
        form=Form(on_picture=("head", "push", "One step downhill")),
        compute=compute,
        render=render,
        function=None,
    )
