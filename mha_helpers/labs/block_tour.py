"""Block tour: multi-head attention whole, one operation after another, with the learner's function inside."""

import functools
from dataclasses import dataclass

from mha_helpers import exercises
from mha_helpers.drawing import style, svg
from mha_helpers.drawing.block import CELL, HEIGHT, TENSORS, WIDTH, block
from mha_helpers.drawing.equation import equation, formula
from mha_helpers.drawing.marks import mark
from mha_helpers.labs.block_tour_steps import STEPS, Tour, differing
from mha_helpers.labs.card import EDGE, Picture
from mha_helpers.labs.chips import chip, grip, player
from mha_helpers.labs.controls import dropdown
from mha_helpers.labs.frame import Lab
from mha_helpers.labs.shown import run_for_lab
from mha_helpers.maths import attention
from mha_helpers.maths import running_example as example

NAMES = tuple(f"{i + 1}. {step.title}" for i, step in enumerate(STEPS))
ARGUMENTS = {"X": example.X, "W_Q": example.W_Q, "W_K": example.W_K, "W_V": example.W_V, "W_O": example.W_O}


@dataclass(frozen=True)
class Result:
    """Where the tour stands, and what it shows there."""

    step: int
    tour: Tour
    notice: str
    wrong: set  # tensors of the block


def compute(state, function=None, causes=frozenset):
    """From the controls' values to the numbers of the tour; `causes()` is asked where the learner's differ."""
    right = example.stages()
    found = run_for_lab(
        function, attention.multi_head_attention, ARGUMENTS | {"n_heads": example.N_HEADS}, ("output", "weights")
    )
    output, weights = found.arrays
    stages = right._replace(output=output, weights=weights)
    tour = Tour(stages, right, int(state["head"]), example.TOKENS.index(state["query"]))
    wrong = wrong_tensors(tour)
    return Result(NAMES.index(state["step"]), tour, found.notice, wrong | causes() if wrong else wrong)


def wrong_tensors(tour):
    """Return the tensors of the block where the learner's weights and output are not the course's."""
    wrong = {f"weights {head}" for head in range(example.N_HEADS) if _differ(tour, "weights", head)}
    return wrong | ({"output"} if _differ(tour, "output") else set())


def _differ(tour, name, head=slice(None)):
    return differing(getattr(tour.stages, name)[head], getattr(tour.right, name)[head]).any()


# Where a mistake is made, by the first of these words in its name; it shows in weights or output, too.
MADE_AT = {
    "both-without": {"Q", "K", "V", "concat"},
    "split": {"Q", "K", "V"},
    "strided": {"Q", "K", "V"},
    "combine": {"concat"},
    "mean-heads": {"concat"},
    "output-projection": {"W_O"},
    "projection-per-head": {"W_O"},
    "block-diagonal": {"W_O"},
    "projection": {"W_Q", "W_K", "W_V"},
    "shared-head": {"W_Q", "W_K", "W_V"},
    "same-matrix": {"W_Q", "W_K", "W_V"},
    "matrices-swapped": {"W_Q", "W_K", "W_V"},
}


def made_at(mistake):
    """Return the tensors at which a mistake of the catalogue is made, beside those in which it shows."""
    return next((tensors for word, tensors in MADE_AT.items() if word in (mistake or "")), set())


def sentence(result):
    """Say what is to be seen."""
    step, tour = STEPS[result.step], result.tour
    marked = sorted(result.wrong & step.lit(tour.head))
    differs = f" Yours is not right here: {', '.join(marked)}." if marked else ""
    return f"Step {result.step + 1} of {len(STEPS)}. {step.title}. {step.number(tour)}.{differs}"


PANEL, ROOM = 190, 140  # the height of what is below the block, and of the equation in it
TRACK, STOP = 46, 21  # of the steps: where the first stands, and from one to the next
PACE = 2200  # milliseconds: what it takes to see a step when they follow each other
CHIP = 67  # a token's width


def render(result):
    """Draw a result."""
    step, tour = STEPS[result.step], result.tour
    lit = step.lit(tour.head)
    top, said = HEIGHT + 2, sentence(result)
    parts = [
        _magnifier(lit, top),
        *block(
            lit, row=tour.row, wrong=result.wrong, weights=tour.stages.weights, output=tour.stages.output, moving=True
        ),
        svg.text(14, top + 21, f"{result.step + 1}  {step.title}", bold=True, size=14),
        formula(14, top + 42, step.formula.format(h=tour.head), head=tour.head),
        svg.text(WIDTH - 14, top + 42, step.shape, anchor="end", size=12, colour=style.QUIET),
        equation(step.parts(tour), WIDTH, top + 48, ROOM),
        _traveller(result.step, tour),
        *_openings(tour),
        *_track(result, top + PANEL + 20),
        *_choices(tour, top + PANEL + 7),
    ]  # fmt: skip
    return Picture(svg.document(WIDTH, top + PANEL + 38, parts, label=said), said, result.notice)


# Where the chosen word's row has come to, by step.
ARRIVED = ("X", "X", "Q", "K", "V", "Q", "weights", "weights", "context", "concat", "output", "output")
RING = (60, 16)  # it has one size everywhere, and so glides from tensor to tensor


def _traveller(step, tour):
    """Draw a ring round the chosen word's row, which travels through the block with the steps."""
    name = ARRIVED[step] + (f" {tour.head}" if ARRIVED[step] in ("weights", "context") else "")
    x, y, (_, columns), _ = TENSORS[name]
    middle = x + columns * CELL[0] / 2, y + (tour.row + 0.5) * CELL[1]
    place = f'x="{middle[0] - RING[0] / 2:g}" y="{middle[1] - RING[1] / 2:g}" width="{RING[0]}" height="{RING[1]}"'
    ring = f'<rect {place} rx="{RING[1] / 2:g}" fill="none" stroke="{style.INK}" stroke-width="2.5"/>'
    return mark(ring, part="traveller")


def _openings(tour):
    """Let a press on weights choose their head; on another tensor, open the first step in which it is lit."""
    for name, (x, y, (rows, columns), _) in TENSORS.items():
        opening = svg.box(x - 3, y - 3, columns * CELL[0] + 6, rows * CELL[1] + 6, fill="transparent")
        head = name.removeprefix("weights ")
        if head != name:
            yield mark(opening, choose={"head": head}, name=f"head {head}", tip=f"Follow head {head}.")
            continue
        # The other head's own tensors are lit in no step of this one.
        first = next((k for k, step in enumerate(STEPS) if k and name in step.lit(tour.head)), None)
        if first is not None:
            yield mark(opening, also={"step": NAMES[first]}, tip=STEPS[first].title)


def _track(result, y):
    """Draw the steps as a track, with a handle."""
    track, last = [(TRACK + k * STOP, y) for k in range(len(STEPS))], result.step == len(STEPS) - 1
    again = {"sets": {"step": NAMES[0]}} if last else {}
    yield player(1, y - 13, "play the tour", play="Next", every=PACE, tip="Play.", **again)
    yield svg.line(*track[0], *track[-1], colour=EDGE, width=3)
    for x, _ in track:
        yield svg.circle(x, y, 4, fill=style.PAPER, stroke=EDGE)
    yield grip("step", track)
    x, _ = track[result.step]
    handle = svg.circle(x, y, 12, fill=style.ROLES["queries"], stroke=style.PAPER)
    handle += svg.text(x, y + 5, result.step + 1, anchor="middle", bold=True, colour=style.PAPER)
    stops = [{"step": name} for name in NAMES]
    yield mark(handle, scrub="step", stops=stops, track=track, part="step", tip="Drag: from the words to the output.")


def _choices(tour, y):
    """Draw the queries to choose from."""
    for i, token in enumerate(example.TOKENS):
        drawn = chip(
            WIDTH - 1 - (len(example.TOKENS) - i) * (CHIP + 2),
            y,
            CHIP,
            token,
            chosen=i == tour.row,
            colour=style.ROLES["queries"],
        )
        yield mark(drawn, choose={"query": token}, name=f"query {token}")


def _magnifier(lit, top):
    """Draw the panel of numbers, and the beam that joins it to what is lit."""
    boxes = [TENSORS[name] for name in lit if name in TENSORS]
    left = min(x for x, _, _, _ in boxes) - 4
    right = max(x + columns * 11 for x, _, (_, columns), _ in boxes) + 4
    bottom = max(y + rows * 8 for _, y, (rows, _), _ in boxes) + 6
    return (
        f'<path d="M{left:g} {bottom:g}H{right:g}L{WIDTH - 1} {top + 8:g}H1Z" fill="{style.PANEL}"/>'
        f'<rect x="0.5" y="{top}" width="{WIDTH - 1}" height="{PANEL - 1}" rx="8" fill="{style.PANEL}" '
        f'stroke="{style.GRID}"/>'
    )


def block_tour(function=None):
    """Show the block tour: multi-head attention from the words to the output, step by step, in numbers.

    Parameters
    ----------
    function : callable, optional
        The learner's `multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads) -> (output, weights)`. While it is a
        stub the course's own is shown, and the lab says so.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Examples
    --------
    >>> lab = block_tour()
    >>> lab.buttons["Next"].click()
    >>> lab.controls["step"].value
    '2. Words become vectors'
    """
    step, query, head = (
        dropdown("step", NAMES, width="350px"),
        dropdown("query", example.TOKENS, "it", width="120px"),
        dropdown("head", ["0", "1"], width="90px"),
    )
    causes = functools.cache(lambda: made_at(exercises.multi_head_attention.diagnosis(function).mistake))
    return Lab(
        name="block_tour",
        title="the whole block",
        task="Let it play, or drag the handle. Then press another word: which numbers are its own?",
        controls={"step": step, "query": query, "head": head},
        layout=([step, query, head], [Lab.BUTTONS]),
        on_picture=("step", "query", "head", "Back", "Next"),
        compute=lambda state, function: compute(state, function, causes),
        render=render,
        function=function,
        exercise=exercises.multi_head_attention,
        actions={"Back": lambda state: _moved(state, -1), "Next": lambda state: _moved(state, 1)},
    )


def _moved(state, by):
    at = NAMES.index(state["step"]) + by
    return {"step": NAMES[max(0, min(at, len(NAMES) - 1))]}
