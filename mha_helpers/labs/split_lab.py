"""Split, right beside wrong: where each entry of X goes, with the transpose and without it."""

import math
from dataclasses import dataclass

import ipywidgets
import numpy as np

from mha_helpers import attention
from mha_helpers.drawing import style, svg
from mha_helpers.drawing.style import number
from mha_helpers.labs.frame import Lab, Picture
from mha_helpers.learner.answer import answer
from mha_helpers.learner.calling import close

MEMORY, RESHAPE, SPLIT, MERGE = STEPS = ("1 X as memory", "2 reshape", "3 transpose: split", "4 merge back")
HEADS, WIDTHS, LENGTHS = (1, 2, 3, 4, 6), (4, 6, 8, 12), (2, 3, 4, 5, 6)

LEFT, GAP, TOTAL = 6, 12, 860
CELL_HEIGHT, LINE, SMALL = 20, 15, 11
NARROWEST, WIDEST, BESIDE = 21, 34, 6  # a cell's width, and the room between two blocks
A_CAPTION = 87  # "of every token"
PER_ROW = 24  # entries in a line of the memory strip


@dataclass(frozen=True)
class Shown:
    """One array as a column shows it: in blocks along its first axis, or in one."""

    array: np.ndarray
    lines: tuple  # its code, shape and strides
    captions: tuple  # of each block, its lines
    differs: tuple | None = None  # the learner's first wrong cell


@dataclass(frozen=True)
class Result:
    """The ways of splitting one sequence, at one step."""

    step: str
    X: np.ndarray
    n_heads: int
    followed: tuple  # token and feature
    columns: dict  # from "Right", "Wrong" and perhaps "Yours" to what each shows
    heads: dict  # from the same to its heads
    error: str  # the course's own, where the heads do not divide the width
    notice: str

    @property
    def entry(self):
        return self.X[self.followed]


def compute(state, function=None):
    """From the controls' values to the arrays of every way."""
    n_heads, tokens, d_model = state["heads"], state["tokens"], state["d_model"]
    X = 100.0 * np.arange(tokens)[:, None] + np.arange(d_model)
    followed = min(state["token"], tokens - 1), min(state["feature"], d_model - 1)
    if d_model % n_heads:
        try:
            attention.split_heads(X, n_heads)
        except ValueError as error:
            notice = f"Nothing is split: {n_heads} heads cannot share {d_model} features equally."
            return Result(state["step"], X, n_heads, followed, {}, {}, f"ValueError: {error}", notice)

    found = answer(function, attention.split_heads, {"X": X, "n_heads": n_heads}, ("heads",))
    d_head = d_model // n_heads
    by_token = X.reshape(tokens, n_heads, d_head)
    heads = {"Right": by_token.swapaxes(0, 1), "Wrong": X.reshape(n_heads, tokens, d_head)}
    if found.arrays is not found.right:
        heads["Yours"] = found.arrays[0]
    columns = {way: _column(state["step"], way, heads, X, by_token) for way in heads}
    return Result(state["step"], X, n_heads, followed, columns, heads, "", found.notice)


def _column(step, way, heads, X, by_token):
    """Return what one way shows at a step."""
    array = heads[way]
    if step == MERGE:
        return _merges(array, X, way)
    captions = tuple((f"head {i} holds", *holds(head, X)) for i, head in enumerate(array))
    if way == "Yours":
        lines = f"split_heads(X, {len(array)})", f"shape {array.shape}", "what it returns, at steps 1 to 3"
        return (Shown(array, lines, captions, _first_wrong(array, heads["Right"])),)
    if step == MEMORY:
        array, axes, code, captions = X, ("token", "feature"), "X", (("a row is a token",),)
    elif way == "Wrong":
        axes, code = ("head", "row", "feature"), f"X.reshape{array.shape}{' and no swapaxes' * (step == SPLIT)}"
    elif step == RESHAPE:
        array, axes, code = by_token, ("token", "head", "feature"), f"X.reshape{by_token.shape}"
        captions = tuple((f"token {i}:", "a row a head") for i in range(len(X)))
    else:
        axes, code = ("head", "token", "feature"), f"X.reshape{by_token.shape}.swapaxes(0, 1)"
    strides = (f"{axis} +{stride // array.itemsize}" for axis, stride in zip(axes, array.strides, strict=True))
    owner = "X itself" if array is X else "a view of X"
    return (Shown(array, (code, f"shape {array.shape}, {owner}", f"strides: {', '.join(strides)}"), captions),)


def _merges(heads, X, way):
    """Put one way's heads together again, rightly and without the transpose."""
    shown = []
    for code, merged in (
        ("combine_heads(heads)", attention.combine_heads(heads)),
        (f"heads.reshape{X.shape}, no transpose", heads.reshape(X.shape)),
    ):
        owner = "a view of X" if np.may_share_memory(merged, X) else "a copy"
        wrong = _first_wrong(merged, X)
        lines = code, f"shape {X.shape}, {'from your heads' if way == 'Yours' else owner}"
        marked = wrong if way == "Yours" and not shown else None  # the other merge is wrong itself
        shown.append(Shown(merged, lines, (("not X" if wrong else "X again",),), marked))
    return tuple(shown)


def _first_wrong(got, wanted):
    wrong = np.argwhere(~close(got, wanted))
    return tuple(int(i) for i in wrong[0]) if len(wrong) else None


def holds(head, X):
    """Say in two short lines which entries of X a head holds."""
    if not np.isin(head, X).all():
        return "numbers that", "are not X's"
    tokens, features = np.unique(head // 100), np.unique(head % 100).astype(int)
    if len(tokens) == len(X) and len(np.unique(head)) == head.size == len(tokens) * len(features):
        return f"feature{'s' * (len(features) > 1)} {_written(features)}", "of every token"
    return _set_of(tokens), "" if head.size == len(tokens) * X.shape[1] else "(in part)"


def _written(features):
    first, *_, last = features if len(features) > 1 else (*features, *features)
    if last - first + 1 == len(features):
        return f"{first}–{last}" if last > first else f"{first}"
    return ", ".join(map(str, features)) if len(features) < 4 else f"{first}, {features[1]}, …"


def _set_of(tokens):
    return f"token{'s' * (len(tokens) > 1)} {{{', '.join(f'{token:.0f}' for token in tokens)}}}"


def sentence(result):
    """Say what is to be seen."""
    token, feature = result.followed
    followed = f"ntry {number(result.entry, 0)} (token {token}, feature {feature})"  # after E or e
    if result.error:
        return f"{result.error}."
    if result.step == MEMORY:
        return (
            f"In memory X is one row of {result.X.size} numbers, token after token. E{followed} is number "
            f"{token * result.X.shape[1] + feature} of them, counted from 0. Both ways start here."
        )
    if result.n_heads == 1:
        return f"With one head there is nothing to cut: right and wrong are the same. E{followed} stays where it is."
    places = {way: _place(heads, result.entry) for way, heads in result.heads.items()}
    (right, _, at), wrong = places["Right"], places["Wrong"]
    if result.step == RESHAPE:
        return (
            f"A reshape moves nothing in memory: it only counts anew. E{followed} is at {[token, right, at]} (token, "
            f"head, feature) when right, and at {wrong} when wrong, read as (head, token, feature)."
        )
    if result.step == MERGE:
        combined, straight = (shown.array for shown in result.columns["Right"])
        lost = _place(straight, result.entry)
        where = "stays in place" if lost == [token, feature] else "lands at token {}, feature {}".format(*lost)
        said = (
            "Right split and combine_heads give X back. So do both wrong ones, the split and the merge without "
            f"transpose: every shape is right, and X is there again. Right split, wrong merge: e{followed} {where}."
        )
        if "Yours" in result.columns:
            back = _first_wrong(result.columns["Yours"][0].array, combined) is None
            said += f" Your split and combine_heads {'give X back' if back else 'do not'}."
        return said
    first = np.unique(result.heads["Wrong"][0] // 100)
    only = "only these" if len(first) > 1 else "it only with itself"
    said = f"Wrong: head 0 holds {_set_of(first)}, so it can compare {only}. E{followed} is in head {right} "
    said += "either way." if right == wrong[0] else f"when right, in head {wrong[0]} when wrong."
    if "Yours" in places:
        mine = places["Yours"]
        said += f" Yours has it in head {mine[0]}." if mine else " Yours does not hold it."
    return said


def _place(heads, entry):
    found = np.argwhere(heads == entry)
    return found[0].tolist() if len(found) else None


def _colour(value):
    return style.TOKENS[int(value // 100)] if 0 <= value < 100 * len(style.TOKENS) else style.PAPER


def _label(value):
    label = number(value, 0 if value == np.round(value) else 1)
    return label if len(label) < 5 else "…"


def _grid(values, x, y, width, entry, differs=None):
    """Draw cells that are `width` wide, with the followed entry framed."""
    size, over = SMALL if width > 24 else SMALL - 1, []
    parts = []
    for (i, j), value in np.ndenumerate(values):
        left, top = x + j * width, y + i * CELL_HEIGHT
        parts.append(svg.box(left, top, width, CELL_HEIGHT, fill=_colour(value), stroke=style.PAPER))
        parts.append(svg.text(left + width / 2, top + 14, _label(value), anchor="middle", size=size))
        if value == entry:
            over.append(svg.box(left, top, width, CELL_HEIGHT, stroke=style.INK, stroke_width=3))
    if differs is not None:
        left, top = x + differs[1] * width, y + differs[0] * CELL_HEIGHT
        over.append(svg.box(left, top, width, CELL_HEIGHT, stroke=style.ALARM, stroke_width=4, dashed=True))
        over.append(svg.box(left - 7, top - 6, 14, 12, fill=style.ALARM))
        over.append(svg.text(left, top + 4, "≠", anchor="middle", bold=True, colour=style.PAPER, size=SMALL))
    return "".join(parts + over)


def _draw(shown, x, y, width, entry):
    """Draw an array's text and blocks; return the picture and where it ends."""
    parts = [svg.text(x, y + LINE * (i + 1), line, size=SMALL) for i, line in enumerate(shown.lines)]
    y += LINE * len(shown.lines) + 6
    blocks = shown.array if shown.array.ndim == 3 else shown.array[None]
    n_blocks, n_rows, n_columns = blocks.shape
    fit = int((width + BESIDE) // (max(n_columns * NARROWEST, A_CAPTION) + BESIDE))
    lines = math.ceil(n_blocks / fit)
    beside = math.ceil(n_blocks / lines)
    slot = (width + BESIDE) / beside
    cell = min(WIDEST, (slot - BESIDE) // n_columns)
    captions = LINE * len(shown.captions[0])
    height = captions + n_rows * CELL_HEIGHT + 16
    for i, (block, caption) in enumerate(zip(blocks, shown.captions, strict=True)):
        left, top = x + i % beside * slot, y + i // beside * height
        for k, line in enumerate(caption):
            parts.append(svg.text(left, top + LINE * (k + 1) - 3, line, bold=k == 0, size=SMALL))
        differs = None
        if shown.differs is not None and (blocks is not shown.array or shown.differs[0] == i):
            differs = shown.differs[-2:]
        parts.append(_grid(block, left, top + captions + 6, cell, entry, differs))
    return "".join(parts), y + lines * height


def _memory(result, y):
    """Draw X's numbers as they lie in memory, and what the colours mean."""
    said = f"Memory of X: {result.X.size} numbers in a row" + (", here in lines" * (result.X.size > PER_ROW))
    parts = [svg.text(LEFT, y + 14, said, bold=True)]
    for token in range(len(result.X)):
        left = TOTAL - 72 * (len(result.X) - token)
        parts.append(svg.box(left, y + 4, 12, 12, fill=style.TOKENS[token], stroke=style.QUIET))
        parts.append(svg.text(left + 17, y + 14, f"token {token}", size=SMALL))
    flat = result.X.ravel()
    for line in range(0, flat.size, PER_ROW):
        y_line = y + 24 + line // PER_ROW * (CELL_HEIGHT + 3)
        parts.append(_grid(flat[None, line : line + PER_ROW], LEFT, y_line, 35, result.entry))
    return "".join(parts), y_line + CELL_HEIGHT + 10


NOTES = {
    "Right": "a head: some features of every token",
    "Wrong": "X's memory, cut straight",
    "Yours": "your split_heads",
}


def render(result):
    """Draw a result."""
    drawn, y = _memory(result, 4)
    parts, ends, said = [drawn], [y], sentence(result)
    if result.error:
        parts.append(svg.text(LEFT, y + 20, result.error, bold=True, colour=style.ALARM))
        ends.append(y + 34)
    n_columns = max(len(result.columns), 1)
    width = (TOTAL - 2 * LEFT - GAP * (n_columns - 1)) / n_columns
    for i, (way, shown) in enumerate(result.columns.items()):
        x, below = LEFT + i * (width + GAP), y + 20
        parts.append(svg.text(x, y + 14, way.upper(), bold=True))
        parts.append(svg.text(x + 66, y + 14, NOTES[way], colour=style.QUIET, size=SMALL))
        for one in shown:
            drawn, below = _draw(one, x, below, width, result.entry)
            parts.append(drawn)
        ends.append(below)
    end = max(ends)
    if result.columns:
        note = "Strides in numbers, not bytes: how far on in memory the next of each axis is."
        if result.step == MERGE:
            note = "In the model the context is merged: new numbers in head order, so there the reshape copies."
        parts.append(svg.text(LEFT, end + 10, note, colour=style.QUIET, size=SMALL))
    return Picture(svg.document(TOTAL, end + 18, parts, label=said), said, result.notice)


def split_lab(function=None):
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
    >>> lab.set(token=1, feature=3)
    >>> "Entry 103 (token 1, feature 3) is in head 1 when right, in head 0 when wrong." in lab.picture.value
    True
    """
    controls = {
        "heads": _slider("heads", HEADS, 2),
        "d_model": _slider("d_model", WIDTHS, 4),
        "tokens": _slider("tokens", LENGTHS, 4),
        "step": _slider("step", STEPS, SPLIT, width="480px"),  # so that its names are not cut off
        "token": ipywidgets.IntSlider(value=1, min=0, max=3, description="follow token"),
        "feature": ipywidgets.IntSlider(value=2, min=0, max=3, description="its feature"),
    }
    lab = Lab(
        name="split_lab",
        title="split, right beside wrong",
        task="Follow an entry that is in different heads when right and wrong. Then try the pairs of split and merge.",
        controls=controls,
        compute=compute,
        render=render,
        function=function,
    )

    def end(slider, control):
        slider.max = control.value - 1

    # After the lab's own observers, so that the picture is the first to go to the browser.
    controls["tokens"].observe(lambda change: end(controls["token"], change["owner"]), "value")
    controls["d_model"].observe(lambda change: end(controls["feature"], change["owner"]), "value")
    return lab


def _slider(description, options, value, width="300px"):
    return ipywidgets.SelectionSlider(options=options, value=value, description=description, layout={"width": width})
