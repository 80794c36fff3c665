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
from mha_helpers.drawing.block import CELL, HEIGHT, TENSORS, WIDTH, block, wire
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


CUT = 352  # on a phone the block's halves stand one below the other, and so do those of an equation
MAX_HALF = 360  # pixels: of a half, which a phone shrinks to 344
SEAM = 2  # pixels left free on both sides of the cut, so that it clips no frame
PANEL, ROOM = 190, 140  # the height of what is below the block, and of the equation in it
TRACK, STOP = 46, 21  # of the steps: where the first stands, and from one to the next
PACE = 2200  # milliseconds: what it takes to see a step when they follow each other
CHIP = 67  # a token's width


def render(result):
    """Draw a result: the block, the step's equation below it, and what is touched."""
    step, tour = STEPS[result.step], result.tour
    readout, last = sentence(result), WIDTH - 292
    halves = [
        *(((left, right), HEIGHT, _half(result, left, right)) for left, right in ((0, CUT), (CUT, WIDTH))),
        *((span, PANEL, drawn) for span, drawn in _panel(step, tour)),
        ((0, WIDTH - last), 38, _track(result, 20)),
        ((0, last), 38, _choices(tour, 7)),
    ]
    labels = readout, "The block goes on.", "The step in numbers.", "The numbers go on.", "The steps.", "The queries."
    drawn = (
        svg.document(right - left, height, [f'<g transform="translate({-left:g} 0)">{"".join(parts)}</g>'], label=label)
        for ((left, right), height, parts), label in zip(halves, labels, strict=True)
    )
    return Picture("".join(drawn), readout, result.notice)


def _half(result, left, right):
    """Draw a half of the block, with the beam that joins what is lit to the panel below."""
    lit, tour = STEPS[result.step].lit(result.tour.head), result.tour
    yield _beam(lit, left, right)
    yield from block(
        lit, row=tour.row, wrong=result.wrong, weights=tour.stages.weights, output=tour.stages.output, moving=True,
        span=(left, right),
    )  # fmt: skip
    yield _traveller(result.step, tour, left, right)
    yield from _openings(tour, left, right)


def _beam(lit, left, right):
    boxes = [TENSORS[name] for name in lit if name in TENSORS and left <= TENSORS[name][0] < right]
    if not boxes:
        return ""
    start = min(x for x, _, _, _ in boxes) - 4
    end = max(x + columns * CELL[0] for x, _, (_, columns), _ in boxes) + 4
    bottom = max(y + rows * CELL[1] for _, y, (rows, _), _ in boxes) + 6
    return f'<path d="M{start:g} {bottom:g}H{end:g}L{right - 1} {HEIGHT + 9}H{left + 1}Z" fill="{style.PANEL}"/>'


def _panel(step, tour):
    """Draw the step's formula and its equation, in two halves; yield from where to where each is, and its parts."""
    parts, head = step.parts(tour), formula(14, 42, step.formula.format(h=tour.head), head=tour.head)
    widths = [width_of(part) for part in parts]
    n = next(n for n in range(1, len(parts) + 1) if sum(widths[n:]) <= MAX_HALF)
    taken, after = sum(widths[:n]) + SEAM, sum(widths[n:]) + SEAM
    middle = (WIDTH - taken - after) / 2 + taken
    words = max(20 + 7.5 * len(step.formula), 20 + 7.8 * len(step.title))
    cut = min(max(middle, taken, WIDTH - MAX_HALF, words), MAX_HALF, WIDTH - after)
    drawn = [
        *equation(parts, cut - taken, 48, ROOM)[:n],
        *equation(parts, cut - taken + 2 * SEAM, 48, ROOM)[n:],
    ]
    title = svg.text(14, 21, step.title, bold=True)
    shape = svg.text(WIDTH - 14, 21, step.shape, anchor="end", size=12, colour=style.QUIET)
    yield (0, cut), [_frame(cut, 0.5), title, head, *drawn[:n]]
    yield (cut, WIDTH), [_frame(cut, WIDTH - 0.5), shape, *drawn[n:]]


def _frame(start, end):
    """Draw half a panel, which is open where the other half follows."""
    outline = f'd="M{start:g} 0.5H{end:g}V{PANEL - 1}H{start:g}" fill="{style.PANEL}" stroke="{style.GRID}"'
    return f"<path {outline}/>"


# Where the chosen word's row has come to, by step.
ARRIVED = ("X", "X", "Q", "K", "V", "Q", "weights", "weights", "context", "concat", "output", "output")
RING = (52, 16)  # it has one size everywhere, and so glides from tensor to tensor


def _traveller(step, tour, left, right):
    """Draw a ring round the chosen word's row, which travels through the block with the steps."""
    before, name = (
        tensor + (f" {tour.head}" if tensor in ("weights", "context") else "")
        for tensor in (ARRIVED[max(step - 1, 0)], ARRIVED[step])
    )
    if not left <= TENSORS[name][0] < right:
        return ""
    start, middle = (
        (x + columns * CELL[0] / 2, y + (tour.row + 0.5) * CELL[1])
        for x, y, (_, columns), _ in (TENSORS[before], TENSORS[name])
    )
    place = f'x="{middle[0] - RING[0] / 2:g}" y="{middle[1] - RING[1] / 2:g}" width="{RING[0]}" height="{RING[1]}"'
    ring = f'<rect {place} rx="{RING[1] / 2:g}" fill="none" stroke="{style.INK}" stroke-width="2.5"/>'
    way = [start, *wire(before, name), middle] if before != name else None
    return marks.part(ring, "traveller", way=way)


def _openings(tour, left, right):
    """Let a press on weights choose their head; on another tensor, open the first step in which it is lit."""
    for name, (x, y, (rows, columns), _) in TENSORS.items():
        if not left <= x < right:
            continue
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
    handle = svg.circle(x, y, 12, fill=palette.ROLES["queries"], stroke=style.PAPER)
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
