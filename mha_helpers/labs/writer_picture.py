"""The writer's picture: the text shaded by what a head looks at, the likeliest characters, and the time for each."""

from collections import defaultdict

import numpy as np

from mha_helpers.drawing import style, svg
from mha_helpers.drawing.style import number
from mha_helpers.labs.card import NARROWEST

TINY, SMALL = 11, 12  # font sizes
PITCH, LINE, PER_LINE = 8, 19, 80  # a character's width and height, and how many stand in a line
FIXED = "DejaVu Sans Mono, Menlo, Consolas, monospace"  # for the text: each character has its own cell
APART = 3  # between the text and its last character, which has a frame
N_BARS, BAR, LONGEST = 10, 15, 96  # how many bars, from bar to bar, and how long the longest is
PANELS = (0, 206, 432)  # left edges
CHART = (34, 108)  # its left edge in the panel, and its height
LOOKS = {True: ("with the cache", style.ROLES["queries"]), False: ("without", style.ROLES["keys"])}
AWAITED = (
    "Write something: each character",
    "adds a dot. The higher the dot, the",
    "longer it took; the further right,",
    "the longer the text already was.",
)
SIGNS = {" ": "␣", "\n": "↵"}


def draw(result, said):
    """Draw what the writer shows; `said` is its sentence."""
    parts, top = _text(result)
    beside = "temperature 1, all" if result.twin == "none" else f"twin: {result.twin}"
    panels = (
        (result.probabilities, result.knobs, style.ROLES["output"], result.differs),
        (result.beside, beside, style.QUIET, None),
    )
    largest = max(_drawable(probabilities).max() for probabilities, *_ in panels) or 1  # one scale for both
    for x, panel in zip(PANELS, panels, strict=False):
        parts += _bars(result.alphabet, *panel, x, top, LONGEST / largest)
    parts += _chart(result, PANELS[2], top)
    return svg.document(NARROWEST, top + 24 + N_BARS * BAR + 4, parts, label=said)


def draw_message(message):
    """Draw that there is nothing to be drawn."""
    return svg.document(NARROWEST, 40, [svg.text(0, 24, "The model can't read this text.", bold=True)], label=message)


def _text(result):
    """Draw the text that the model sees, each character shaded by its weight; return the parts and where they end."""
    weights = np.nan_to_num(np.asarray(result.weights, float), nan=0, posinf=0, neginf=0).clip(0)
    largest, colours = weights.max() or 1, style.head_weight_colours(result.head)
    last_one, head = SIGNS.get(result.text[-1], result.text[-1]), f"layer {result.layer}, head {result.head}"
    parts = [
        svg.text(0, 14, f"What the last character, “{last_one}”, looks at ({head})", bold=True),
        svg.text(NARROWEST, 14, f"the darkest has weight {number(largest)}", anchor="end", size=TINY,
                 colour=style.QUIET),
    ]  # fmt: skip
    filled, written, last = [], defaultdict(list), len(result.text) - 1
    for i, (character, weight) in enumerate(zip(result.text, weights.round(2).tolist(), strict=True)):
        x, y = round(PITCH * (i % PER_LINE) + APART * (i == last), 1), 22 + LINE * (i // PER_LINE)
        fill = colours(0.85 * weight / largest)
        if weight >= 0.01:
            filled.append((x, y, fill))
        if character != " " or weight >= 0.01:
            looks = style.text_colour(fill) if weight >= 0.01 else style.INK, TINY if character in SIGNS else 13
            written[looks].append((x + PITCH / 2, y + 13, SIGNS.get(character, character)))
    text = "".join(svg.letters(placed, colour=ink, size=size) for (ink, size), placed in written.items())
    parts.append(f'<g font-family="{FIXED}">{svg.boxes(filled, PITCH, LINE - 2)}{text}</g>')
    parts.append(svg.box(x, y, PITCH, LINE - 2, stroke=style.INK, stroke_width=2))
    return parts, y + LINE + 8


def _drawable(probabilities):
    """Make of a learner's numbers, which may be any, some that can be lengths."""
    return np.nan_to_num(probabilities, nan=0, posinf=1, neginf=0).clip(0, 1)


def _bars(alphabet, probabilities, title, colour, differs, x, top, unit):
    """Draw the likeliest characters, `unit` pixels for a probability of 1."""
    order = np.argsort(-np.nan_to_num(probabilities, nan=-1), kind="stable")[:N_BARS]
    lengths = unit * _drawable(probabilities)
    parts = [svg.text(x, top + 13, title, bold=x == 0, size=SMALL)]
    for row, code in enumerate(order):
        y, probability = top + 24 + BAR * row, probabilities[code]
        character, wide = alphabet[code], round(float(lengths[code]), 1)
        is_wrong = differs is not None and differs[code]
        parts += [
            svg.text(x + 18, y + 12, SIGNS.get(character, character), anchor="middle", size=SMALL, bold=True),
            svg.box(x + 34, y + 2, wide, BAR - 4, fill=style.tint(colour, 0.6), stroke=colour),
            svg.text(
                x + 40 + wide, y + 12, svg.short(probability, 2) + (" ≠" if is_wrong else ""), size=SMALL,
                colour=style.ALARM if is_wrong else style.INK, bold=is_wrong,
            ),
        ]  # fmt: skip
    return parts


def _chart(result, x, top):
    """Draw how long each character took, by how many stood before it, and how the next one will be written."""
    left, bottom, width = x + CHART[0], top + 22 + CHART[1], NARROWEST - x - CHART[0] - 12
    parts = [svg.text(x, top + 13, "Milliseconds by length of text", bold=True, size=SMALL)]
    for tick in (0, 64, 128, 192, 256):
        at = left + width * tick / 256
        parts.append(svg.text(at, bottom + 14, tick, anchor="middle", size=TINY, colour=style.QUIET))
    at = x
    for cached in sorted({*result.times, result.cached}, reverse=True):
        name, colour = LOOKS[cached]
        dot = (
            svg.circle(at + 4, bottom + 26, 4, fill=colour) if cached else svg.box(at, bottom + 22, 8, 8, stroke=colour)
        )
        is_next = cached == result.cached
        label = f"next: {name}" if is_next else name
        parts += [dot, svg.text(at + 12, bottom + 30, label, size=TINY, bold=is_next)]
        at += 152 if is_next else 104
    all_times = [ms for times in result.times.values() for _, ms in times]
    if not all_times:
        for i, line in enumerate(AWAITED):
            parts.append(svg.text(x, top + 40 + 17 * i, line, size=SMALL, colour=style.QUIET))
        return [*parts, svg.line(left, bottom, left + width, bottom, colour=style.GRID)]
    # A single slow moment of the machine must not flatten all others.
    highest = max(1.0, 1.3 * float(np.quantile(all_times, 0.97)))
    step = next(step for step in (0.5, 1, 2, 5, 10, 20, 50, 100, 1000) if highest / step <= 4)
    for tick in np.arange(0, highest, step):
        y = round(bottom - CHART[1] * tick / highest, 1)
        parts.append(svg.line(left, y, left + width, y, colour=style.GRID))
        parts.append(svg.text(left - 6, y + 4, f"{tick:g}", anchor="end", size=TINY, colour=style.QUIET))
    for cached, times in result.times.items():
        for n, ms in times:
            px, py = round(left + width * n / 256, 1), round(bottom - CHART[1] * min(ms / highest, 1), 1)
            colour = LOOKS[cached][1]
            dot = svg.circle(px, py, 2, fill=colour) if cached else svg.box(px - 2, py - 2, 4, 4, stroke=colour)
            parts.append(dot)
    return parts
