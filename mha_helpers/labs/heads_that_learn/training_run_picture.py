"""The training run's picture: the loss with the step marked, a map of each head, and the guesses along a sequence."""

import math
from collections import defaultdict

import numpy as np

from live_pictures import marks, style, svg
from live_pictures.chips import PART, grip, player
from live_pictures.style import number
from mha_helpers.drawing import palette

TINY, SMALL = 11, 12  # font sizes
LETTER = 8  # pixels: how wide one is, about
WIDTHS = (292, PART)  # of the two pictures above
CURVE = (24, 26, 250, 112)  # left, top, width and height of the loss's panel
MAPS, GAP = 40, 12  # where the maps begin, and what is between two of them
ROW = 187  # from one layer's maps to the next's: twelve letters have room beside a map, and the lab on a screen
MAX_MAP = 180  # of a map
HEADLINES = {True: 42, False: 54}  # above each map, if it is wide: its title in two lines or in three, and the letters
STRIP, HALF = 106, 6  # where the letters begin, and how many stand in one picture
# What a guess is, with its fill and edge.
GUESSES = {
    "✓": (style.tint(style.GOOD), style.INK),
    "✗": (style.PAPER, style.ALARM),
    "?": (style.PAPER, style.INK),
    None: (style.PAPER, style.QUIET),
}
LOOKED_AT = {"before": ("on the", "token before"), "followed": ("on what", "followed")}  # one line, or two
PACE = 700  # milliseconds from step to step, when they follow each other
STEP_MEAN = 10  # steps of which the curve shows the mean
GUESSING = np.log(16)


def draw(result, readout, moments, knock_outs):
    """Draw what the training run shows.

    Parameters
    ----------
    result : Result
    readout : str
        Its sentence.
    moments : sequence of int
        The steps that can be shown.
    knock_outs : dict of str to list
        What can be knocked out, by name; the first is nothing.

    Returns
    -------
    str
    """
    measured, below = _measured(result)
    maps, bottom = _maps(result, knock_outs)
    about = [
        svg.text(0, below + 14 * (i + 1), note, size=TINY, colour=style.QUIET) for i, note in enumerate(_notes(result))
    ]
    shown = ""
    for first in range(0, len(result.letters), HALF):  # above the knob: on a phone, too, both are seen
        strip, width, high = _strip(result, first)
        shown += svg.document(width, high, strip, label="The guesses go on." if first else readout)
    curve = [*_curve(result, moments), *measured, *about]
    shown += svg.document(WIDTHS[0], below + 14 * len(about) + 8, curve, label="The loss of each step.")
    return shown + svg.document(WIDTHS[1], bottom, maps, label="A map of each head.")


def _curve(result, moments):
    """Draw the loss of every step, with this one marked."""
    left, top, width, height = CURVE
    losses = np.asarray(result.losses, float)
    last = max(len(losses), 1)

    def place(step, loss):
        return round(left + width * step / last, 1), round(top + height * (1 - min(loss, 3) / 3), 1)

    again = {"sets": {"step": moments[0]}} if result.step == moments[-1] else {}
    parts = [svg.text(0, 14, "Loss of each step, in nats", bold=True)]
    parts.append(
        player(
            200, 0, "play the training", press="Later", every=PACE, starts=len(moments) - 1,
            tip="Play the training.", **again,
        )
    )  # fmt: skip
    for loss in (0, 1, 2, 3):
        _, y = place(0, loss)
        parts.append(svg.line(left, y, left + width, y, colour=style.GRID))
        parts.append(svg.text(left - 8, y + 4, loss, anchor="end", size=TINY, colour=style.QUIET))
    guessing = place(0, GUESSING)[1]
    parts.append(svg.polyline([(left, guessing), (left + width, guessing)], colour=style.QUIET, width=1, dashes="5 3"))
    parts.append(svg.text(left + width - 4, guessing + 14, "guessing", anchor="end", size=TINY, colour=style.QUIET))
    means = [losses[i : i + STEP_MEAN].mean() for i in range(0, len(losses), STEP_MEAN)]
    points = [place(min((i + 0.5) * STEP_MEAN, last), mean) for i, mean in enumerate(means)]
    if len(points) > 1:
        parts.append(svg.polyline(points, colour=style.INK))

    def on_curve(step):
        return place(step, means[max(0, min(step, last) // STEP_MEAN - 1)] if means else GUESSING)

    x, y = on_curve(result.step)
    parts += [svg.circle(*on_curve(step), 2.5, fill=style.INK) for step in moments]
    parts.append(grip("step", [on_curve(step) for step in moments]))
    parts.append(marks.part(svg.line(x, top, x, top + height, colour=style.INK, width=2), "time"))
    parts.append(
        marks.track(
            svg.circle(x, y, 9, fill=style.INK, stroke=style.PAPER), "step", part="step",
            stops=[{"step": step} for step in moments], points=[on_curve(step) for step in moments],
            tip="Drag it along the loss.",
        )
    )  # fmt: skip
    if result.off:
        parts += _without(place(result.step, result.measured.loss), y, result)
    for step in (0, last):
        x, _ = place(step, 0)
        parts.append(svg.text(x, top + height + 21, step, anchor="middle", size=TINY, colour=style.QUIET))
    return parts


def _without(at, y, result):
    """Draw where the loss is without what is knocked out, above where training left it; off the scale, at its end."""
    (x, up), (left, top, width, _) = at, CURVE
    side = -1 if x > left + width / 2 else 1
    readout = f"without: {number(result.measured.loss)}{' ↑' if up <= top else ''}"
    yield marks.part(svg.line(x, y, x, up, colour=style.ALARM, width=3), "lost")
    yield marks.part(svg.circle(x, up, 7, fill=style.PAPER, stroke=style.ALARM), "without")
    between = (up + y) / 2 if y - up > 40 else up - 12  # clear of the curve
    yield svg.text(x + 9 * side, between, readout, anchor="start" if side > 0 else "end", size=SMALL, bold=True)


def _measured(result):
    """Write what the model can do at this step; return the fragments and where they end."""
    measured, y = result.measured, CURVE[1] + CURVE[3] + 40
    lines = [(f"Step {result.step}, on new sequences", True), (f"loss {number(measured.loss)}", False)]
    lines.append((f"right guesses: {100 * measured.right:.0f} %", False))
    if measured.leaks:
        lines.append((f"right when it writes: {100 * measured.right_when_writing:.0f} %", True))
    if result.off:
        lines.append((f"without {result.off_name}", True))
    parts = [svg.text(0, y + 16 * i, line, bold=bold, size=SMALL) for i, (line, bold) in enumerate(lines)]
    return parts, y + 16 * len(lines)


def _notes(result):
    """Return remarks on the maps and on the guesses."""
    notes = ["maps: query ↓ key →"]
    if has_two_marks(result):
        notes += ["a row with two marks:", "its letter came twice before"]
    if any(verdict is None for verdict in verdicts(result.letters, [letter for letter, _ in result.guesses])):
        notes.append("dashed: nobody can know yet")
    return [*notes, "?: no answer yet"]


def has_two_marks(result):
    """Say whether a map shows a letter that came twice before looking at what followed it, both times."""
    shown = [result.weights[head] for head in np.ndindex(result.weights.shape[:2]) if head not in result.off]
    for i, letter in enumerate(result.letters):
        after = [k + 1 for k in range(i) if result.letters[k] == letter]
        if len(after) == 2 and any(row[i, after].min() > 0.1 and row[i, after].sum() > 0.5 for row in shown):
            return True
    return False


def verdicts(letters, guesses):
    """Return what the sequence says of each guess of the next letter.

    Parameters
    ----------
    letters, guesses : sequence of str
        The same number of each.

    Returns
    -------
    list of str or None
        "✓" and "✗"; None for one that is wrong where nothing before tells; "?" for the last, which nothing answers.

    Examples
    --------
    >>> verdicts("ababa", "xaxaa")
    [None, '✓', '✗', '✓', '?']
    """
    found = []
    for i, guess in enumerate(guesses[:-1]):
        came_before = letters[i : i + 2] in letters[: i + 1]
        found.append("✓" if guess == letters[i + 1] else "✗" if came_before else None)
    return [*found, "?"]


def _maps(result, knock_outs):
    """Draw a map of each head on the typed sequence; return the fragments and where they end."""
    n_layers, n_heads, n, _ = result.weights.shape
    pitch = (WIDTHS[1] - MAPS + GAP) / n_heads
    wide = min(pitch - GAP, MAX_MAP)
    is_wide = wide > 100
    headline = HEADLINES[is_wide]
    side = ROW - headline - 8
    is_causal = not np.triu(result.weights, 1).any()
    parts = []
    for layer in range(n_layers):
        y = layer * ROW + headline
        name = svg.box(0, y + side / 2 - 34, 22, 68, fill=style.PANEL, stroke=style.QUIET)
        name += svg.text(15, y + side / 2 + 24, f"layer {layer}", bold=True, size=SMALL, rising=90)
        parts.append(_to_knock_out(name, [(layer, head) for head in range(n_heads)], result, knock_outs))
        down = ((MAPS - 12, round(y + (i + 0.5) * side / n + 4, 1), letter) for i, letter in enumerate(result.letters))
        parts.append(svg.letters(down, size=TINY))
        for head in range(n_heads):
            x, is_off = MAPS + head * pitch, (layer, head) in result.off
            scores = {name: getattr(result.measured, name)[layer, head] for name in LOOKED_AT}
            most = max(scores, key=scores.get)
            first, second = ("knocked out", "") if is_off else LOOKED_AT[most]
            second = second and f"{second}: {number(scores[most])}"
            if not is_wide and not is_off:
                first, second = f"{most}:", number(scores[most])
            top = y - headline + 12
            title = svg.text(x, top, f"head {head}", bold=True, size=SMALL, colour=palette.head_text(head))
            title += svg.box(x, y - headline, wide, headline + side, fill="transparent")  # and its map
            parts.append(_to_knock_out(title, [(layer, head)], result, knock_outs))
            parts.append(svg.text(x + 50 if is_wide else x, top if is_wide else top + 13, first, size=TINY))
            parts.append(svg.text(x, top + (13 if is_wide else 25), second, size=TINY))
            every = math.ceil(LETTER * n / wide)  # else letters would touch
            across = (
                (round(x + (j + 0.5) * wide / n, 1), y - 4, letter)
                for j, letter in enumerate(result.letters)
                if j % every == 0
            )
            parts.append(svg.letters(across, size=TINY))
            shown = None if is_off else result.weights[layer, head]
            parts.append(_map(shown, x, y, (wide, side), n, palette.head_weight_colours(head), is_causal))
    return parts, n_layers * ROW


def _to_knock_out(fragment, heads, result, knock_outs):
    """Let a press knock out heads, and another bring them back."""
    [nothing, *_] = knock_outs
    name = next(name for name, off in knock_outs.items() if off == heads)
    tip = f"Bring back {name}." if result.off == heads else None
    return marks.switch(fragment, {"knock out": name}, {"knock out": nothing}, name=f"knock out {name}", tip=tip)


def _map(weights, x, y, size, n, colours, is_causal):
    """Draw a head's weights, queries down and keys across, without what is too little to be seen."""
    (wide, high), parts = size, []
    edge = svg.box(x, y, wide, high, stroke=style.QUIET)
    if weights is None:
        return svg.box(x, y, wide, high, fill=style.HIDDEN) + edge
    if is_causal:
        parts.append(f'<path d="M1 0{"v1h1" * (n - 1)}V0z" fill="{style.HIDDEN}"/>')
    # A weight's width and height are 1: what is written of it is short, and a browser reads it the sooner.
    weights = np.nan_to_num(np.asarray(weights, float)).round(2).clip(0, 1)
    filled = ((j, i, colours(weights[i, j].item())) for i, j in np.argwhere(weights >= 0.02).tolist())
    parts.append(svg.boxes(filled, 1, 1))
    place = f'transform="translate({x:g} {y:g}) scale({wide / n:g} {high / n:g})"'
    return f"<g {place}>{''.join(parts)}</g>{edge}"


def _strip(result, first):
    """Draw half of the sequence, and below each letter what the model guesses next.

    Returns
    -------
    list of str, float, float
        The fragments, and the picture's width and height.
    """
    letters, shown = result.letters, slice(first, first + HALF)
    left, step = (STRIP, (PART - 2 - STRIP) / HALF) if first == 0 else (0, 46)
    lefts = [left + i * step for i in range(len(letters[shown]))]
    y, parts = 4, []

    def name(words):
        if first == 0:
            parts.append(svg.text(STRIP - 8, y + 15, words, anchor="end", size=SMALL))

    name("it sees")
    parts += [
        svg.box(x + 2, y, step - 4, 20, fill=palette.role_colours("X")(0), stroke=palette.ROLES["X"]) for x in lefts
    ]
    written = defaultdict(list)  # by whether it is bold, and its colour
    written[True, style.INK] += (
        (x + step / 2, y + 15, letter) for x, letter in zip(lefts, letters[shown], strict=True)
    )
    y += 24
    rows = [("it guesses next", *zip(*result.guesses, strict=True))]
    if result.measured.leaks:
        rows.append(("… when it writes", result.when_writing, ()))
    for words, guesses, probabilities in rows:
        name(words)
        found = verdicts(letters, guesses)[shown]
        for i, (x, guess, mark_) in enumerate(zip(lefts, guesses[shown], found, strict=True)):
            fill, edge = GUESSES[mark_]
            parts.append(svg.box(x + 2, y, step - 4, 20, fill=fill, stroke=edge, dashed=mark_ is None))
            aside = 5 if mark_ else 0  # room for the mark
            written[mark_ is not None, style.INK].append((x + step / 2 - aside, y + 15, guess))
            if mark_:
                written[True, edge].append((x + step - 11, y + 15, mark_))
            if mark_ and probabilities:
                probability = number(probabilities[first + i])
                parts.append(svg.text(x + step / 2, y + 33, probability, anchor="middle", size=TINY))
        y += 36 if probabilities else 24
    parts += [svg.letters(placed, bold=bold, colour=colour) for (bold, colour), placed in written.items()]
    return parts, max(lefts) + step + 2, y + 2
