"""The training run's picture: the loss with the step marked, a map of each head, and the guesses along a sequence."""

import numpy as np

from mha_helpers.drawing import style, svg
from mha_helpers.drawing.style import number
from mha_helpers.labs.card import NARROWEST

TINY, SMALL = 11, 12  # font sizes
CURVE = (34, 26, 206, 112)  # left, top, width and height of the loss's panel
MAPS, TALLEST, GAP = 292, 98, 9  # where the maps begin, the largest of them, and what is between them
HEADLINE, ROW = 30, 138  # above each map, and from one layer's maps to the next's
MEANINGS = (
    "maps: a row for each query",
    "before: on the token before, first half",
    "followed: on what followed",
    "dashed: nobody can know yet",
)
STEP_MEAN = 10  # steps of which the curve shows the mean
GUESSING = np.log(16)


def draw(result, said):
    """Draw what the training run shows; `said` is its sentence."""
    maps, bottom = _maps(result)
    top = bottom + 10
    strip, height = _strip(result, top)
    return svg.document(NARROWEST, height, [*_curve(result), *_measured(result), *maps, *strip], label=said)


def _curve(result):
    """Draw the loss of every step, with this one marked."""
    left, top, width, height = CURVE
    losses = np.asarray(result.losses, float)
    last = max(len(losses), 1)

    def place(step, loss):
        return round(left + width * step / last, 1), round(top + height * (1 - min(loss, 3) / 3), 1)

    parts = [svg.text(0, 14, "Loss of each step, in nats", bold=True)]
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
    here = max(0, min(result.step, last) // STEP_MEAN - 1)
    x, y = place(result.step, means[here] if means else GUESSING)
    parts.append(svg.line(x, top, x, top + height, colour=style.ROLES["keys"], width=2))
    parts.append(svg.circle(x, y, 5, fill=style.ROLES["keys"], stroke=style.INK))
    for step in (0, last):
        x, _ = place(step, 0)
        parts.append(svg.text(x, top + height + 15, step, anchor="middle", size=TINY, colour=style.QUIET))
    return parts


def _measured(result):
    """Write what the model can do at this step."""
    measured, y = result.measured, CURVE[1] + CURVE[3] + 36
    lines = [(f"Step {result.step}, on new sequences", True), (f"loss {number(measured.loss)}", False)]
    lines.append((f"right guesses: {100 * measured.right:.0f} %", False))
    if measured.leaks:
        lines.append((f"right when it writes: {100 * measured.right_when_writing:.0f} %", True))
    if result.off:
        lines.append((f"without {result.off_name}", True))
    return [svg.text(0, y + 16 * i, line, bold=bold, size=SMALL) for i, (line, bold) in enumerate(lines)]


def _maps(result):
    """Draw a map of each head on the typed sequence; return the fragments and where they end."""
    n_layers, n_heads, n, _ = result.weights.shape
    side = min(TALLEST, (NARROWEST - MAPS) / n_heads - GAP)
    pitch = (NARROWEST - MAPS) / max(n_heads, 3)
    is_causal = not np.triu(result.weights, 1).any()
    parts = []
    for layer in range(n_layers):
        y = layer * ROW + HEADLINE
        parts.append(svg.text(MAPS - 32, y + side / 2 + 24, f"layer {layer}", bold=True, size=SMALL, rising=90))
        parts += [
            # Rows are lower than letters: every other one stands farther out.
            svg.text(MAPS - 6 - 10 * (i % 2), round(y + (i + 0.5) * side / n + 4, 1), letter, anchor="end", size=TINY)
            for i, letter in enumerate(result.letters)
        ]
        for head in range(n_heads):
            x, is_off = MAPS + head * pitch, (layer, head) in result.off
            parts.append(svg.text(x, y - 18, f"head {head}", bold=True, size=SMALL, colour=style.head_text(head)))
            scores = {name: getattr(result.measured, name)[layer, head] for name in ("before", "followed")}
            most = max(scores, key=scores.get)
            said = "knocked out" if is_off else f"{most} {number(scores[most])}"
            parts.append(svg.text(x, y - 4, said, size=TINY))
            shown = None if is_off else result.weights[layer, head]
            parts.append(_map(shown, x, y, side, n, style.head_weight_colours(head), is_causal))
    bottom = n_layers * ROW
    for i, meaning in enumerate(MEANINGS):
        parts.append(svg.text(0, bottom - 14 * (len(MEANINGS) - 1 - i) - 2, meaning, size=TINY, colour=style.QUIET))
    return parts, bottom


def _map(weights, x, y, side, n, colours, is_causal):
    """Draw a head's weights, queries down and keys across, without what is too little to be seen."""
    pitch = side / n
    parts = [svg.box(x, y, side, side, fill=style.HIDDEN if weights is None else style.PAPER)]
    if weights is not None:
        if is_causal:
            steps = "".join(f"v{pitch:g}h{pitch:g}" for _ in range(n - 1))
            parts.append(f'<path d="M{x + pitch:g} {y:g}{steps}V{y:g}z" fill="{style.HIDDEN}"/>')
        weights = np.nan_to_num(np.asarray(weights, float)).round(2).clip(0, 1)
        filled = (
            (round(x + j * pitch, 1), round(y + i * pitch, 1), colours(float(weights[i, j])))
            for i, j in np.argwhere(weights >= 0.02).tolist()
        )
        parts.append(svg.boxes(filled, round(pitch, 1), round(pitch, 1)))
    return "".join([*parts, svg.box(x, y, side, side, stroke=style.QUIET)])


def _strip(result, y):
    """Draw the sequence, and below each letter what the model guesses next; return the fragments and the height."""
    left, letters = 108, result.letters
    step = min(46, (NARROWEST - left) / len(letters))
    rows = [("it sees", letters, None)]
    guesses = "".join(letter for letter, _ in result.guesses)
    rows.append(("it guesses next", guesses, [probability for _, probability in result.guesses]))
    if result.measured.leaks:
        rows.append(("… when it writes", result.when_writing, None))
    parts = []
    for row, (name, shown, probabilities) in enumerate(rows):
        parts.append(svg.text(left - 8, y + 15, name, anchor="end", size=SMALL))
        for i, letter in enumerate(shown):
            x = left + i * step
            is_right = row > 0 and i + 1 < len(letters) and letter == letters[i + 1]
            fill = style.role_colours("X")(0) if row == 0 else style.tint(style.ROLES["values"]) if is_right else "none"
            goes_on = i + 1 == len(letters)  # the one guess that nothing below or above has answered yet
            stroke, dashed = (style.ROLES["X"], False) if row == 0 or is_right or goes_on else (style.QUIET, True)
            parts.append(svg.box(x + 2, y, step - 4, 20, fill=fill, stroke=stroke, dashed=dashed))
            parts.append(svg.text(x + step / 2, y + 15, letter, anchor="middle", bold=not dashed))
            if probabilities and not dashed:
                parts.append(svg.text(x + step / 2, y + 33, number(probabilities[i]), anchor="middle", size=TINY))
        y += 40 if probabilities else 24
    return parts, y + 2
