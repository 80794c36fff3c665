"""Split, right beside wrong: the entries of X travel to the heads, with the transpose and without it."""

import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from function_judge.compare import close
from live_pictures import marks, style, svg
from live_pictures.card import EDGE, MAX_WIDTH, Picture
from live_pictures.chips import PART, grip, player
from live_pictures.controls import dropdown, radio, whole_number
from live_pictures.options import Form, StaticPage
from live_pictures.style import number
from mha_helpers import attention, exercises
from mha_helpers.drawing import palette
from mha_helpers.labs.lab import Lab
from mha_helpers.labs.learner_function import run_for_lab, visibly_different
from mha_helpers.running_example import TOKENS

START, RESHAPE, SPLIT, MERGE = STEPS = ("1 X", "2 reshape", "3 transpose: split", "4 merge back")
HEADS, WIDTHS, LENGTHS = (1, 2, 3, 4, 6), (4, 6, 8), (2, 3, 4, 5)

CELL_HEIGHT, NARROW, WIDE = 20, 25, 36  # of a cell, in pixels
TRAIL = 14  # the height of X's cells, where it stays to be seen above what was made of it
BESIDE, LINE = 10, 16  # between two blocks; a line of text
NAMES, HEAD_NAMES = 62, 30  # room for the tokens' names, and the heads'
NAMED = 20  # from one line of blocks to the next, for the names of these
HEADING = 62  # the lines above the blocks


@dataclass(frozen=True)
class Block:
    """One matrix as a way shows it: a head, a token, or the whole of X."""

    values: np.ndarray
    name: str
    head: int | None  # whose frame it gets
    rows: tuple  # what its rows are called
    differs: np.ndarray | None = None


@dataclass(frozen=True)
class Shown:
    """What a way shows at one step: an array in blocks, and what it is in words."""

    blocks: tuple
    code: str
    about: str
    verdict: str
    is_good: bool | None  # None: nothing to be said yet


@dataclass(frozen=True)
class Result:
    """The ways of splitting one sequence, at one step."""

    step: str
    X: np.ndarray
    n_heads: int
    followed: tuple  # token and feature
    columns: dict  # from "right", "wrong" and perhaps "yours" to what each shows
    heads: dict  # from the same to its heads
    error: str  # the course's own, where the heads do not divide the width
    notice: str

    @property
    def entry(self):
        return self.X[self.followed]

    @property
    def d_head(self):
        return self.X.shape[1] // self.n_heads


def compute(state, function=None):
    """Compute the arrays of every way from the controls' values."""
    n_heads, tokens, d_model = state["heads"], state["tokens"], state["d_model"]
    X = 100.0 * np.arange(tokens)[:, None] + np.arange(d_model)
    followed = min(state["token"], tokens - 1), min(state["feature"], d_model - 1)
    if d_model % n_heads:
        try:
            attention.split_heads(X, n_heads)
        except ValueError as error:
            notice = f"Nothing is split: {n_heads} heads cannot share {d_model} features equally."
            return Result(state["step"], X, n_heads, followed, {}, {}, f"ValueError: {error}", notice)

    found = run_for_lab(function, attention.split_heads, {"X": X, "n_heads": n_heads}, ("heads",))
    heads = {
        "right": X.reshape(tokens, n_heads, -1).swapaxes(0, 1),
        "wrong": X.reshape(n_heads, tokens, -1),
    }
    if found.arrays is not found.right:
        heads["yours"] = found.arrays[0]
    columns = {way: show(state["step"], way, heads, X) for way in heads}
    return Result(state["step"], X, n_heads, followed, columns, heads, "", found.notice)


def show(step, way, heads, X):
    """Return what one way shows at a step."""
    array, tokens, words = heads[way], len(X), TOKENS[: len(X)]
    n_heads, _, d_head = heads["right"].shape
    if step == START:
        return Shown((Block(X, "X: a row a token", None, words),), "X", f"shape {X.shape}", "", None)
    if step == MERGE:
        return _merged(way, array, X)
    if way == "right" and step == RESHAPE:
        cut = X.reshape(tokens, n_heads, d_head)
        rows = tuple(f"h {head}" for head in range(n_heads))
        blocks = tuple(Block(cut[token], word, None, rows) for token, word in enumerate(words))
        about = f"shape {cut.shape}: token, head, feature"
        return Shown(blocks, f"X.reshape{cut.shape}", about, "A block for each token, a row for each head.", None)
    code = {
        "right": f"X.reshape({tokens}, {n_heads}, {d_head}).swapaxes(0, 1)",
        "wrong": f"X.reshape({n_heads}, {tokens}, {d_head})",
        "yours": f"split_heads(X, {n_heads})",
    }[way]
    marks = visibly_different(array, heads["right"], 0) if way == "yours" else np.zeros(array.shape, bool)
    blocks = tuple(Block(array[h], f"head {h}", h, _whose(array[h], X), marks[h]) for h in range(n_heads))
    is_good = all(holds_its_own(head, h, X, n_heads) for h, head in enumerate(array))
    verdict = "Each head: its own features of every token." if is_good else _mixed(array[0], X, n_heads)
    return Shown(blocks, code, f"shape {array.shape}", verdict, is_good)


def _whose(head, X):
    """Name the token that each row of a head is of; nothing where it is of several, or of none."""
    tokens = [np.unique(row // 100) if np.isin(row, X).all() else () for row in head]
    return tuple(TOKENS[int(found[0])] if len(found) == 1 else "" for found in tokens)


def _merged(way, heads, X):
    merged = attention.combine_heads(heads)
    is_good = bool(close(merged, X).all())
    marks = visibly_different(merged, X, 0) if way == "yours" else None
    verdict = "X again." if is_good else "Not X: tokens are mixed."
    if way == "wrong" and not is_good:
        verdict += " A merge without swapaxes gives X again, and hides it."
    block = Block(merged, "a row a token", None, TOKENS[: len(X)], marks)
    return Shown((block,), "combine_heads(heads)", f"shape {merged.shape}", verdict, is_good)


def holds_its_own(head, place, X, n_heads):
    """Say whether a head holds its features of every token."""
    d_head = X.shape[1] // n_heads
    return bool(close(head, X[:, place * d_head : (place + 1) * d_head]).all())


def _mixed(head, X, n_heads):
    """Say what the first of some wrong heads holds."""
    if not np.isin(head, X).all():
        return "Head 0 holds numbers that are not X's."
    words = [TOKENS[int(token)] for token in np.unique(head // 100)]
    if len(words) < len(X):
        return f"Head 0 holds only {' and '.join(words) if len(words) < 3 else ', '.join(words)}."
    return "Head 0 holds other heads' features."


def sentence(result):
    """Describe the picture."""
    token, feature = result.followed
    followed = f"ntry {number(result.entry, 0)} (“{TOKENS[token]}”, feature {feature})"  # after E or e
    if result.error:
        return f"{result.error}."
    if result.n_heads == 1:
        return "With one head there is nothing to cut: right and wrong are the same."
    if result.step == START:
        return (
            "X: a row a token. The colours say which head a feature is for, and the dashes where X will be cut. Step "
            f"on: where does e{followed} go?"
        )
    if result.step == RESHAPE:
        return (
            "Right: each token's row is cut into a block of its own, with a row for each head. Wrong: the numbers are "
            "counted on, row after row, into heads at once."
        )
    if result.step == MERGE:
        back = [way for way, shown in result.columns.items() if shown.is_good]
        readout = f"combine_heads gives X back from the {' and '.join(back)} heads" if back else "None gives X back"
        straight = "wrong split and a merge without swapaxes give X back, too: two mistakes hide each other."
        return f"{readout}, with all shapes right. A {straight}"
    places = {way: _place(heads, result.entry) for way, heads in result.heads.items()}
    right, wrong = places["right"][0], places["wrong"][0]
    first = [TOKENS[int(value)] for value in np.unique(result.heads["wrong"][0] // 100)]
    only = f"“{first[0]}” and compares it only with itself" if len(first) == 1 else f"{', '.join(first)} only"
    readout = f"Wrong: head 0 holds {only}. E{followed} is in head {right} "
    readout += "either way." if right == wrong else f"when right, in head {wrong} when wrong."
    if "yours" in places:
        mine = places["yours"]
        readout += f" Yours has it in head {mine[0]}." if mine else " Yours does not hold it."
    return readout


def _place(heads, entry):
    found = np.argwhere(heads == entry)
    return found[0].tolist() if len(found) else None


PACE = 1600  # milliseconds from step to step, when they follow each other
TOKEN_BY_TOKEN, FOLLOWED_LAST = 60, 550  # milliseconds until a token's entries set out, and the one that is followed
MARKS = {"right": ("✓", style.GOOD), "wrong": ("✗", style.ALARM), "yours": ("", style.INK)}


def render(result):
    """Draw a result; its cells are named, so that each travels from where it was."""
    readout = sentence(result)
    if result.error:
        lines = textwrap.wrap(result.error, 44)
        parts = [svg.text(0, 20 + LINE * k, line, bold=True, colour=style.ALARM) for k, line in enumerate(lines)]
        return Picture(svg.document(PART, 30 + LINE * len(lines), parts, label=readout), readout, result.notice)
    drawn = [_column(way, shown, result) for way, shown in result.columns.items()]
    parts = [svg.document(width, height, parts, label=readout) for parts, width, height in drawn]
    parts.append(svg.document(PART - 4, 66, _track(result), label="The steps."))
    parts.append(svg.document(MAX_WIDTH - PART, 66, _legend(result), label="What fills, frames and numbers mean."))
    return Picture("".join(parts), readout, result.notice)


def _track(result):
    """Draw the steps as a track, with a handle."""
    track, last = [(58 + k * 84, 22) for k in range(len(STEPS))], result.step == STEPS[-1]
    again = {"sets": {"step": START}} if last or result.step == SPLIT else {}  # all of it, also from where it opens
    yield player(1, 9, "play the split", press="Next", every=PACE, tip="Play.", **again)
    yield svg.line(*track[0], *track[-1], colour=EDGE, width=3)
    for step, (x, y) in zip(STEPS, track, strict=True):
        here = step == result.step
        yield svg.circle(x, y, 5, fill=style.PAPER, stroke=EDGE)
        for k, line in enumerate(re.split(": | (?=back)", step[2:])):
            anchor = "start" if step == START else "end" if step == MERGE else "middle"
            at = x - 10 if step == START else x + 14 if step == MERGE else x
            yield svg.text(at, y + 26 + 14 * k, line, anchor=anchor, size=12, bold=here)
    yield grip("step", track)
    x, y = track[STEPS.index(result.step)]
    handle = svg.circle(x, y, 12, fill=style.INK, stroke=style.PAPER)
    stops = [{"step": step} for step in STEPS]
    yield marks.track(handle, "step", stops=stops, points=track, part="step", tip="Drag: from X to the heads and back.")


def fill(head):
    """Return the fill of a head's cells, dark and light by turns: neighbours stay apart in greyscale."""
    return style.tint(palette.head_colour(head), 0.25 if head % 2 else 0.6)


def _legend(result):
    """Say what fills, frames and numbers mean."""
    yield svg.text(0, 14, "entry = 100 × token + feature", size=11, colour=style.QUIET)
    yield svg.box(0, 21, 14, 14, fill=fill(0))
    yield svg.text(20, 32, "fill: the head it belongs to", size=11, colour=style.QUIET)
    if any(block.head is not None for shown in result.columns.values() for block in shown.blocks):
        yield svg.box(1, 41, 12, 12, stroke=palette.head_colour(0), stroke_width=3)
        yield svg.text(20, 51, "frame: the head it ends up in", size=11, colour=style.QUIET)


def _column(way, shown, result):
    """Draw one way of splitting: its code, its blocks, and a verdict."""
    width = _width(result)
    places, height = _places(shown, width, result)
    sign, colour = MARKS[way]
    parts = [
        svg.text(0, 15, f"{sign} {way.upper()}".strip(), bold=True, colour=style.blend((colour, style.INK), 0.2)),
        svg.text(78, 15, shown.about, size=11, colour=style.QUIET),
        svg.text(0, 34, shown.code, size=11),
    ]
    if result.step != START:
        parts += _trail(way, result, width)
    for block, (x, y, cell) in zip(shown.blocks, places, strict=True):
        parts += _frame(block, x, y, cell)
    first, last = shown.blocks[0], shown.blocks[-1]
    left = _left(first)
    for top in sorted({y for _, y, _ in places}):
        parts += _row_names(first, left - 7, "end", top)
    x, top, cell = places[-1]
    right = x + last.values.shape[1] * cell + 7
    if last.rows != first.rows and right + NAMES <= width + 7:
        parts += _row_names(last, right, "start", top)
    over = []
    for block, place in zip(shown.blocks, places, strict=True):
        for (i, j), (value, (x, y, cell)) in zip(np.ndindex(block.values.shape), _entries(block, *place), strict=True):
            followed = value == result.entry
            drawn = _to_follow(_cell(value, x, y, cell, result, followed), value, way, result)
            (over if followed else parts).append(drawn)
            if block.differs is not None and block.differs[i, j]:
                over.append(svg.difference(x, y, cell, CELL_HEIGHT))
    if result.step == START:
        over.append(_cuts(way, result, places[0][2], places[0][1], CELL_HEIGHT))
    below = HEADING + height + 21
    if shown.verdict:
        tone = {True: style.GOOD, False: style.ALARM, None: style.INK}[shown.is_good]
        lines = textwrap.wrap(shown.verdict, width // 7)
        for k, line in enumerate(lines):
            text_colour = style.blend((tone, style.INK), 0.3)
            parts.append(svg.text(0, below + LINE * k, line, size=12, bold=True, colour=text_colour))
    return parts + over, width, below + LINE + 6


def _to_follow(cell, value, way, result):
    """Let an entry be followed: by a button in the first way, which the keyboard reaches, and by a press in others."""
    if value not in result.X:
        return cell
    token, feature = (int(digit) for digit in divmod(value, 100))
    after = FOLLOWED_LAST if value == result.entry else TOKEN_BY_TOKEN * token
    entry = {"token": token, "feature": feature}
    if way == "right":
        name = f"{TOKENS[token]}, feature {feature}: entry {value:.0f}"
        return marks.radio(cell, entry, name=name, part=f"{way} {value:.0f}", after=after)
    return marks.alias(cell, entry, part=f"{way} {value:.0f}", after=after)


def _width(result):
    """Return a column's width: as many stand side by side as there is room for."""
    n_heads, d_model = result.n_heads, result.X.shape[1]
    needed = NAMES + d_model * NARROW + (n_heads - 1) * BESIDE + 4
    return max(needed, (MAX_WIDTH - 16 * (len(result.columns) - 1)) // len(result.columns) if needed < 330 else needed)


def _places(shown, width, result):
    """Return where each block stands, and its cells' width; and how high all is at any step, below the heading."""
    n_tokens, d_model = result.X.shape
    trail = n_tokens * TRAIL + 6  # of X, the height, and what it leaves to the names of the blocks
    top = HEADING if result.step == START else HEADING + trail
    # The same at every step: what keeps its size travels.
    cell = min(WIDE, (width - NAMES - BESIDE * (result.n_heads - 1)) // d_model)
    n_lines = -(-n_tokens // _per_line(TOKENS[:n_tokens], result.d_head * cell, width - HEAD_NAMES))
    cut = n_lines * (result.n_heads * CELL_HEIGHT + NAMED) - NAMED  # the height of a block for each token

    blocks, left = shown.blocks, _left(shown.blocks[0])
    n_rows, n_features = blocks[0].values.shape
    names = [_name(block, 0) for block in blocks]
    per_line = _per_line(names, n_features * cell, width - left)
    places = []
    for place in range(len(blocks)):
        line, in_line = divmod(place, per_line)
        x, y = left + in_line * _pitch(names, n_features * cell), top + line * (n_rows * CELL_HEIGHT + NAMED)
        places.append((x, y, cell))
    return places, trail + max(n_tokens * CELL_HEIGHT, cut)


def _left(block):
    """Return where blocks begin: beside the names of heads, or of tokens."""
    return HEAD_NAMES if block.rows[0].startswith("h ") else NAMES


def _pitch(names, width):
    """Return how far it is from one block to the next."""
    return max(width, *(7 * len(name) for name in names), 0) + BESIDE


def _per_line(names, block, width):
    """Return how many blocks of a width fit side by side."""
    return max(1, (width + BESIDE) // _pitch(names, block))


def _entries(block, x, y, cell):
    """Yield each entry with its place."""
    for (i, j), value in np.ndenumerate(block.values):
        yield value, (x + j * cell, y + i * CELL_HEIGHT, cell)


def _frame(block, x, y, cell):
    """Draw a block's name and frame."""
    rows, columns = block.values.shape
    width, height = columns * cell, rows * CELL_HEIGHT
    colour = style.INK if block.head is None else palette.head_text(block.head)
    parts = [svg.text(x, y - 7, _name(block, width), size=12, bold=True, colour=colour)]
    if block.head is not None:
        edge = palette.head_colour(block.head)
        parts.append(svg.box(x - 3, y - 3, width + 6, height + 6, stroke=edge, stroke_width=3))
    return parts


def _name(block, width):
    return block.name if width >= 42 else block.name.replace("head ", "h ")


def _row_names(block, x, anchor, top):
    """Draw which token each of a block's rows is of."""
    return [svg.text(x, top + i * CELL_HEIGHT + 15, row, anchor=anchor, size=12) for i, row in enumerate(block.rows)]


def _trail(way, result, width):
    """Draw X as it was before, and where each way cuts it."""
    tokens, d_model = result.X.shape
    cell, top = min(WIDE, (width - NAMES) // d_model), HEADING - 20
    parts = [svg.text(NAMES - 7, top + 11 + TRAIL * i, word, anchor="end", size=11, colour=style.QUIET)
             for i, word in enumerate(TOKENS[:tokens])]  # fmt: skip
    for (i, j), value in np.ndenumerate(result.X):
        x, y = NAMES + j * cell, top + i * TRAIL
        parts.append(svg.box(x, y, cell, TRAIL, fill=fill(j // result.d_head), stroke=style.PAPER))
        parts.append(
            svg.text(x + cell / 2, y + 11, number(value, 0), anchor="middle", size=11, bold=value == result.entry)
        )
    token, feature = result.followed
    parts.append(svg.box(NAMES + feature * cell, top + token * TRAIL, cell, TRAIL, stroke=style.INK, stroke_width=2))
    return [*parts, _cuts(way, result, cell, top, TRAIL)]


def _cuts(way, result, cell, top, high):
    """Draw the lines along which X is cut: between features, or after a fixed count of numbers."""
    cuts = "".join(_lines(way, result, cell, top, high))
    return f'<path d="{cuts}" fill="none" stroke="{MARKS[way][1]}" stroke-width="3" stroke-dasharray="6 2"/>'


def _lines(way, result, cell, top, high):
    tokens, d_model = result.X.shape
    right, bottom = NAMES + d_model * cell, top + tokens * high
    for head in range(1, result.n_heads if way != "yours" else 1):
        if way == "right":
            yield f"M{NAMES + head * result.d_head * cell} {top}V{bottom}"
        else:
            row, column = divmod(head * tokens * result.d_head, d_model)
            x, y = NAMES + column * cell, top + row * high
            yield f"M{NAMES} {y + high}H{x}V{y}H{right}" if column else f"M{NAMES} {y}H{right}"


def _cell(value, x, y, cell, result, followed):
    """Draw an entry in the colour of the head that its feature is for."""
    is_entry = value in result.X
    colour = fill(int(value % 100) // result.d_head) if is_entry else style.PAPER
    label = number(value, 0 if value == np.round(value) else 1)
    drawn = svg.box(x, y, cell, CELL_HEIGHT, fill=colour, stroke=style.PAPER)
    if followed:
        drawn += svg.box(x + 1, y + 1, cell - 2, CELL_HEIGHT - 2, stroke=style.INK, stroke_width=3)
    label = label if len(label) < 5 else "…"
    return drawn + svg.text(x + cell / 2, y + 14, label, anchor="middle", size=11, bold=followed)


def split_lab(function: Callable | None = None) -> Lab:
    """Show the split lab: heads cut out with a transpose, and without.

    Parameters
    ----------
    function : callable, optional
        The learner's `split_heads(X, n_heads) -> (n_heads, seq_len, d_head)`, shown in a third column. While
        it is a stub there are two, and the lab says so.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Examples
    --------
    >>> lab = split_lab()
    >>> lab.set(step="3 transpose: split", token=1, feature=3)
    >>> "Entry 103 (“sat”, feature 3) is in head 1 when right, in head 0 when wrong." in lab.readout.value
    True
    """
    controls = {
        # Who looks at a function of theirs sees at once what it makes; others are asked first.
        "step": radio("step", STEPS, START if function is None else SPLIT),
        "heads": dropdown("heads", HEADS, 2, width="110px"),
        "d_model": dropdown("d_model", WIDTHS, 4, width="130px"),
        "tokens": dropdown("tokens", LENGTHS, 5, width="120px"),
        "token": whole_number("follow token", 1, 0, 4, width="140px"),
        "feature": whole_number("feature", 2, 0, 3, width="110px"),
    }
    step, *sizes, _, _ = controls.values()

    def end(field):
        """Return what keeps a field within the size that was chosen."""
        return lambda change: setattr(field, "max", change["new"] - 1)

    return Lab(
        name="split_lab",
        title="split, right beside wrong",
        task="Let it play, or drag the handle. Press a number to follow it: which head does it belong to?",
        controls=controls,
        actions={"Next": lambda state: {"step": STEPS[min(STEPS.index(state["step"]) + 1, len(STEPS) - 1)]}},
        form=Form(
            rows=([step, controls["token"], controls["feature"]], [*sizes, Lab.BUTTONS]),
            on_picture=("step", "token", "feature", "Next"),
        ),
        compute=compute,
        render=render,
        function=function,
        exercise=exercises.split_heads,
        on_change={"tokens": end(controls["token"]), "d_model": end(controls["feature"])},
        page=StaticPage(kernel_only="other sizes"),
        thumbnail_state={"step": SPLIT},  # a still of the question shows nothing
    )
