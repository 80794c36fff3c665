"""Block tour: multi-head attention whole, one operation after another, with the learner's function inside."""

import functools
from collections.abc import Callable
from dataclasses import dataclass

from live_pictures import marks, style, svg
from live_pictures.card import EDGE, Picture
from live_pictures.chips import chip, grip, player
from live_pictures.controls import dropdown
from live_pictures.options import Form
from mha_helpers import attention, exercises
from mha_helpers import running_example as example
from mha_helpers.drawing import palette
from mha_helpers.drawing.block import CELL, STANDING, block
from mha_helpers.drawing.equation import equation, formula, width_of
from mha_helpers.labs.lab import Lab
from mha_helpers.labs.learner_function import run_for_lab
from mha_helpers.labs.output_projection.block_tour_steps import STEPS, Tour, differing

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
    """Compute the numbers of the tour; `causes()` is asked where the learner's differ."""
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
    """Describe the picture."""
    step, tour = STEPS[result.step], result.tour
    marked = sorted(result.wrong & step.lit(tour.head))
    differs = f" Yours is not right here: {', '.join(marked)}." if marked else ""
    return f"Step {result.step + 1} of {len(STEPS)}. {step.title}. {step.number(tour)}.{differs}"


BLOCK, BESIDE = STANDING.width, 360  # the widths of the two parts: a phone shrinks the second to 344
CONTROLS, PANEL = 76, 340  # the heights of what is touched beside the block, and of the step's numbers below it
FIRST_LINE, LINE = 62, 138  # of the equation in the panel: where its lines begin, and how high they are
TRACK, STOP = 46, 27  # of the steps: where the first stands, and from one to the next
PACE = 2200  # milliseconds: what it takes to see a step when they follow each other
CHIP = 68  # a token's width


def render(result):
    """Draw a result: the block, and beside it what is touched, and the step in numbers."""
    step, tour = STEPS[result.step], result.tour
    readout = sentence(result)
    parts = [
        (BLOCK, STANDING.height, _block(result), readout),
        (BESIDE, CONTROLS, [*_track(result, 19), *_choices(tour, 42)], "The steps and the queries."),
        (BESIDE, PANEL, _panel(step, tour), "The step in numbers."),
    ]
    block_part, *beside = (svg.document(width, height, drawn, label=label) for width, height, drawn, label in parts)
    return Picture(f'{block_part}<div class="mha-beside">{"".join(beside)}</div>', readout, result.notice)


def _block(result):
    """Draw the block, with the ring that travels through it and what can be pressed."""
    lit, tour = STEPS[result.step].lit(result.tour.head), result.tour
    yield from block(
        lit, STANDING, row=tour.row, wrong=result.wrong, weights=tour.stages.weights, output=tour.stages.output,
        moving=True,
    )  # fmt: skip
    yield _traveller(result.step, tour)
    yield from _openings(tour)


def _panel(step, tour):
    """Draw the step's title, its formula and shapes, and its equation on two lines."""
    parts = step.parts(tour)
    widths = [width_of(part) for part in parts]
    n = next(n for n in range(1, len(parts) + 1) if sum(widths[n:]) <= BESIDE)
    yield svg.box(0.5, 0.5, BESIDE - 1, PANEL - 1, fill=style.PANEL, stroke=style.GRID)
    yield svg.text(14, 21, step.title, bold=True)
    yield formula(14, 41, step.formula.format(h=tour.head), head=tour.head)
    yield svg.text(14, 60, step.shape, size=12, colour=style.QUIET)
    for line, (these, room) in enumerate(((parts[:n], widths[:n]), (parts[n:], widths[n:]))):
        if these:
            yield from equation(these, (BESIDE - sum(room)) / 2, FIRST_LINE + line * LINE, LINE)


# Where the chosen word's row has come to, by step.
ARRIVED = ("X", "X", "Q", "K", "V", "Q", "weights", "weights", "context", "concat", "output", "output")
RING = (52, 16)  # it has one size everywhere, and so glides from tensor to tensor


def _traveller(step, tour):
    """Draw a ring round the chosen word's row, which travels through the block with the steps."""
    before, name = (
        tensor + (f" {tour.head}" if tensor in ("weights", "context") else "")
        for tensor in (ARRIVED[max(step - 1, 0)], ARRIVED[step])
    )
    start, middle = (
        (x + columns * CELL[0] / 2, y + (tour.row + 0.5) * CELL[1])
        for x, y, (_, columns), _ in (STANDING.tensors[before], STANDING.tensors[name])
    )
    place = f'x="{middle[0] - RING[0] / 2:g}" y="{middle[1] - RING[1] / 2:g}" width="{RING[0]}" height="{RING[1]}"'
    ring = f'<rect {place} rx="{RING[1] / 2:g}" fill="none" stroke="{style.INK}" stroke-width="2.5"/>'
    way = [start, *STANDING.wire(before, name), middle] if before != name else None
    return marks.part(ring, "traveller", way=way)


def _openings(tour):
    """Let a press on weights choose their head; on another tensor, open the first step in which it is lit."""
    for name, (x, y, (rows, columns), _) in STANDING.tensors.items():
        opening = svg.box(x - 3, y - 3, columns * CELL[0] + 6, rows * CELL[1] + 6, fill="transparent")
        head = name.removeprefix("weights ")
        if head != name:
            yield marks.radio(opening, {"head": head}, name=f"head {head}", tip=f"Follow head {head}.")
            continue
        # The other head's own tensors are lit in no step of this one.
        first = next((k for k, step in enumerate(STEPS) if k and name in step.lit(tour.head)), None)
        if first is not None:
            yield marks.alias(opening, {"step": NAMES[first]}, tip=STEPS[first].title)


def _track(result, y):
    """Draw the steps as a track, with a handle."""
    track, last = [(TRACK + k * STOP, y) for k in range(len(STEPS))], result.step == len(STEPS) - 1
    again = {"sets": {"step": NAMES[0]}} if last else {}
    yield player(1, y - 13, "play the tour", press="Next", every=PACE, tip="Play.", **again)
    yield svg.line(*track[0], *track[-1], colour=EDGE, width=3)
    for x, _ in track:
        yield svg.circle(x, y, 4, fill=style.PAPER, stroke=EDGE)
    yield grip("step", track)
    x, _ = track[result.step]
    handle = svg.circle(x, y, 12, fill=style.INK, stroke=style.PAPER)
    handle += svg.text(x, y + 5, result.step + 1, anchor="middle", bold=True, colour=style.PAPER)
    stops = [{"step": name} for name in NAMES]
    yield marks.track(handle, "step", stops=stops, points=track, part="step", tip="Drag: from the words to the output.")


def _choices(tour, y):
    """Draw the queries to choose from."""
    for i, token in enumerate(example.TOKENS):
        drawn = chip(
            1 + i * (CHIP + 2),
            y,
            CHIP,
            token,
            chosen=i == tour.row,
            colour=palette.ROLES["queries"],
        )
        yield marks.radio(drawn, {"query": token}, name=f"query {token}")


def block_tour(function: Callable | None = None) -> Lab:
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
        actions={"Back": lambda state: _moved(state, -1), "Next": lambda state: _moved(state, 1)},
        form=Form(
            rows=([step, query, head], [Lab.BUTTONS]),
            on_picture=("step", "query", "head", "Back", "Next"),
        ),
        compute=lambda state, function: compute(state, function, causes),
        render=render,
        function=function,
        exercise=exercises.multi_head_attention,
    )


def _moved(state, by):
    at = NAMES.index(state["step"]) + by
    return {"step": NAMES[max(0, min(at, len(NAMES) - 1))]}
