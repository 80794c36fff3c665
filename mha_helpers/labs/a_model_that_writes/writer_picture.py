"""The writer's picture: the text shaded by what a head looks at, the likeliest characters, and the time for each."""

import math
from collections import defaultdict

import numpy as np

from live_pictures import marks, style, svg
from live_pictures.card import EDGE
from live_pictures.chips import button, grip, player, tick_box
from live_pictures.marks import each_part
from live_pictures.style import number
from mha_helpers.drawing import palette

TINY, SMALL = 11, 12  # font sizes
WIDTHS, HEIGHT, ASIDE = (340, 304), 376, 14  # of the two pictures: what is written, and what may come next
PITCH, LINE, PER_LINE, MAX_LINES = 8, 19, 41, 8  # a character's width and height, and how many stand in a line
FIXED = "DejaVu Sans Mono, Menlo, Consolas, monospace"  # for the text: each character has its own cell
PAGE, PRESSED, HEADS = 22, 184, 248  # where the text begins, the buttons stand, and the map of heads
MAP_CELL = (28, 24)
CHART = (226, 84)  # its left edge, and its height
N_BARS, BAR, MAX_BAR = 10, 24, 48  # how many bars at most, from bar to bar, and how long one of probability 1 is
MIN_PROBABILITY = 0.005  # of a bar: it would be written as 0.00
COLUMNS, KNOB, BARS = (0, 154), 30, 74  # the left edges of the bars, and where the temperature and the bars stand
CUT = 278  # where the handle of top-k stands
LOOKS = {True: ("with the cache", style.INK), False: ("without", style.QUIET)}
SIGNS = {" ": "␣", "\n": "↵"}
CALLED = {" ": "a space", "\n": "a new line"}
SHADES, STRONGEST = 8, 0.6  # of the text: a page without a kernel keeps them all, and black letters can be read on each
MIN_SEEN = 0.05  # of a letter's weight: less would hardly be seen
PACE = 130  # milliseconds from letter to letter
LETTERS = 36  # so many it writes by itself when it is opened, and then it rests where it began


def draw(result, readout):
    """Draw what the writer shows; `readout` is its sentence."""
    drawn = each_part(DRAWN, result, *DRAWN)
    written = [drawn["text"], *_buttons(result), drawn["heads"], drawn["head"], *_chart(result)]
    comes = [f'<g transform="translate({ASIDE} 0)">', drawn["temperature"], drawn["next"], "</g>"]
    left = svg.document(WIDTHS[0], HEIGHT, written, label=readout)
    return left + svg.document(WIDTHS[1], HEIGHT, comes, label="What may come next.")


def draw_message(message):
    """Draw a message in the picture's place."""
    return svg.document(WIDTHS[0], 40, [svg.text(0, 24, "The model can't read this text.", bold=True)], label=message)


def placed(text):
    r"""Return the line and the column of each character: a line ends where the text says so, or where it is full.

    Examples
    --------
    >>> placed("O\nbe")
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    places, line, column = [], 0, 0
    for character in text:
        places.append((line, column))
        line, column = (line + 1, 0) if character == "\n" or column == PER_LINE - 1 else (line, column + 1)
    return places


def _text(result):
    """Draw the end of the text, each character shaded by its weight, with a handle on the one that looks."""
    weights = np.nan_to_num(np.asarray(result.weights, float), nan=0, posinf=0, neginf=0).clip(0)
    largest, colours = weights.max() or 1, palette.head_weight_colours(result.head)
    looking, places = SIGNS.get(result.text[result.asked], result.text[result.asked]), placed(result.text)
    first = max(0, places[-1][0] - MAX_LINES + 1)
    yield svg.text(0, 14, f"What “{looking}” looks at", bold=True)
    yield svg.text(
        WIDTHS[0], 14, f"the strongest has weight {number(largest)}", anchor="end", size=TINY, colour=style.QUIET
    )
    yield svg.box(0, PAGE, WIDTHS[0], LINE * MAX_LINES, fill=style.PANEL)
    filled, written, stops, track = [], defaultdict(list), [], []
    for i, (character, weight, (line, column)) in enumerate(
        zip(result.text, weights.round(2).tolist(), places, strict=True)
    ):
        if line < first:
            continue
        x, y = PITCH * column + 3, PAGE + LINE * (line - first)
        stops.append({"back": len(result.text) - 1 - i})
        track.append((x + PITCH / 2, y + LINE / 2 - 1))
        if weight >= MIN_SEEN:
            filled.append((x, y, colours(STRONGEST * math.ceil(SHADES * weight / largest) / SHADES)))
        if character != " " or weight >= MIN_SEEN:
            written[TINY if character in SIGNS else 13].append((x + PITCH / 2, y + 13, SIGNS.get(character, character)))
    at_end = svg.text(
        WIDTHS[0] - 4, PAGE + LINE * MAX_LINES - 6, "The stored text ends here. ↺: again", anchor="end",
        size=TINY, colour=style.QUIET,
    )  # fmt: skip
    yield f'<g class="mha-at-end" display="none">{at_end}</g>'  # a page shows it, where it can write no further
    text = "".join(svg.letters(placed, colour=style.INK, size=size) for size, placed in written.items())
    yield f'<g font-family="{FIXED}">{svg.boxes(filled, PITCH, LINE - 2)}{text}</g>'
    yield marks.grip(svg.box(0, PAGE, WIDTHS[0], LINE * MAX_LINES, fill="transparent"), "the letter that looks")
    x, y = track[stops.index({"back": len(result.text) - 1 - result.asked})]
    ring = svg.box(x - 5, y - LINE / 2, 10, LINE, stroke=style.INK, stroke_width=2)
    yield marks.track(ring, "the letter that looks", stops=stops, points=track, slots=True)


def _buttons(result):
    """Draw what starts it writing, and how it writes."""
    yield player(1, PRESSED, "Write on", press="One character", every=PACE, starts=LETTERS, tip="Write on, or stop.")
    yield svg.text(32, PRESSED + 18, "write on", bold=True, size=SMALL)
    again = svg.box(92, PRESSED, 26, 26, fill=style.PANEL, stroke=EDGE)
    again += svg.text(105, PRESSED + 18, "↺", anchor="middle", bold=True)
    yield marks.button(
        again, sets={"text": result.start}, name="start again", tip="Go back to where many letters are likely."
    )
    yield button(122, PRESSED, 76, "1 letter", press="One character")
    yield button(202, PRESSED, 76, "time both", press="Time both")
    cache = tick_box(282, PRESSED, "cache", on=result.wants_cache)
    yield marks.switch(cache + svg.box(280, PRESSED, 60, 26, fill="transparent"), "cache")


def _heads(result):
    """Draw a map of the heads: in each cell the letter that it looks at most."""
    wide, high = MAP_CELL
    yield svg.text(0, HEADS - 20, "What each head looks at", size=SMALL, bold=True)
    n_layers, n_heads = result.looks_at.shape
    for layer in range(n_layers):
        for head in range(n_heads):
            x, y = 20 + wide * head, HEADS + high * layer
            character, fill = result.text[result.looks_at[layer, head]], style.tint(palette.head_colour(head), 0.25)
            cell = svg.box(x + 1, y + 1, wide - 2, high - 2, fill=fill, stroke=EDGE)
            sign = svg.text(x + wide / 2, y + 17, SIGNS.get(character, character), anchor="middle")
            yield marks.radio(
                cell + sign,
                {"layer": layer, "head": head},
                sweep="heads",
                glance=True,
                name=f"layer {layer}, head {head}",
            )
        yield svg.text(2, HEADS + high * layer + 17, layer, size=TINY, colour=style.QUIET)
    for head in range(n_heads):
        yield svg.text(20 + wide * (head + 0.5), HEADS - 4, head, anchor="middle", size=TINY, colour=style.QUIET)
    yield svg.text(0, HEADS + high * n_layers + 16, "row: layer · column: head", size=TINY, colour=style.QUIET)


def _head(result):
    """Draw a frame round the head that is chosen."""
    (wide, high), x, y = MAP_CELL, 20 + MAP_CELL[0] * result.head, HEADS + MAP_CELL[1] * result.layer
    yield svg.box(x + 1, y + 1, wide - 2, high - 2, stroke=style.INK, stroke_width=2.5)


def _temperature(result):
    """Draw the temperature as a handle on a track."""
    yield svg.text(0, 14, "temperature", bold=True, size=SMALL)
    track = [(14 + 60 * k, KNOB) for k in range(len(result.temperatures))]
    at = track[result.temperatures.index(result.temperature)]
    yield svg.line(*track[0], *track[-1], colour=EDGE, width=3)
    for (x, y), value in zip(track, result.temperatures, strict=True):
        yield svg.circle(x, y, 4, fill=style.PAPER, stroke=EDGE)
        yield svg.text(x, y + 25, f"{value:g}", anchor="middle", size=TINY, bold=value == result.temperature)
    yield grip("temperature", track)
    handle = svg.circle(*at, 11, fill=style.INK, stroke=style.PAPER)
    stops = [{"temperature": value} for value in result.temperatures]
    yield marks.track(handle, "temperature", stops=stops, points=track, tip="Drag: hot is daring, cold is dull.")


def _next(result):
    """Draw the likeliest characters, which are pressed to be written, beside those of the twin or of temperature 1."""
    compared_with = "temperature 1" if result.twin == "none" else result.twin
    panels = (
        (result.probabilities, "press: write it", palette.ROLES["output"], result.differs),
        (result.comparison, compared_with, style.QUIET, None),
    )
    for x, panel in zip(COLUMNS, panels, strict=True):
        yield from _bars(result, *panel, x)
    why = svg.text(0, BARS + BAR * N_BARS + 19, "faint: only in the notebook", size=TINY, colour=style.QUIET)
    yield f'<g class="mha-why-pale" display="none">{why}</g>'  # the page shows it, if there is a pale one
    last = [BARS + BAR * min(int(k) if k.isdigit() else N_BARS + 1, N_BARS + 1) for k in result.top_ks]
    order = sorted(range(len(last)), key=last.__getitem__)
    track = [(CUT, last[k]) for k in order]
    stops = [{"top-k": result.top_ks[k]} for k in order]
    at = track[stops.index({"top-k": result.top_k})]
    yield svg.line(CUT, track[0][1], CUT, track[-1][1], colour=EDGE, width=3)
    yield svg.line(0, at[1], CUT, at[1], colour=style.INK, width=1.5)
    yield svg.text(CUT + 9, BARS - 4, "top-k", anchor="end", size=SMALL, bold=True)
    yield grip("top-k", track)
    handle = svg.circle(*at, 12, fill=style.INK, stroke=style.PAPER)
    handle += svg.text(at[0], at[1] + 4, result.top_k, anchor="middle", size=TINY, bold=True, colour=style.PAPER)
    yield marks.track(handle, "top-k", stops=stops, points=track, tip="Drag: what lies below is never written.")


def _drawable(probabilities):
    """Make of a learner's numbers, which may be any, some that can be lengths."""
    return np.nan_to_num(probabilities, nan=0, posinf=1, neginf=0).clip(0, 1)


def _bars(result, probabilities, title, colour, differs, x):
    """Draw the likeliest characters; those at the left write what is pressed."""
    order = np.argsort(-np.nan_to_num(probabilities, nan=-1), kind="stable")[:N_BARS]
    if differs is None:  # what is hardly ever written is no choice
        order = [code for code in order if probabilities[code] >= MIN_PROBABILITY]
    lengths = MAX_BAR * _drawable(probabilities)
    yield svg.text(x + 4, BARS - 4, title, bold=x == 0, size=SMALL)
    yield svg.boxes([(x + 30, BARS + BAR * row + 4, style.HIDDEN) for row in range(len(order))], MAX_BAR, BAR - 8)
    for row, code in enumerate(order):
        y, probability = BARS + BAR * row, probabilities[code]
        character, wide = result.alphabet[code], round(float(lengths[code]), 1)
        is_wrong = differs is not None and differs[code]
        bar = [
            svg.box(x, y, COLUMNS[1] - 14, BAR, fill="transparent"),
            svg.text(x + 14, y + 17, SIGNS.get(character, character), anchor="middle", size=SMALL, bold=True),
            svg.box(x + 30, y + 4, wide, BAR - 8, fill=style.tint(colour, 0.6), stroke=colour),
            svg.text(
                x + 36 + MAX_BAR, y + 17, svg.short(probability, 2) + (" ≠" if is_wrong else ""), size=SMALL,
                colour=style.ALARM if is_wrong else style.INK, bold=is_wrong,
            ),
        ]  # fmt: skip
        name = f"write {CALLED.get(character, character)}"
        yield "".join(bar) if x else marks.button("".join(bar), sets={"text": result.whole + character}, name=name)


def _chart(result):
    """Draw how long each character took, by how many stood before it, and how the next one will be written."""
    if not result.times:
        return
    left, bottom, width = CHART[0], HEADS + CHART[1], WIDTHS[0] - CHART[0] - 14
    yield svg.text(left - 26, HEADS - 20, "Milliseconds a letter", bold=True, size=SMALL)
    for tick in (0, 128, 256):
        at = left + width * tick / 256
        yield svg.text(at, bottom + 14, tick, anchor="middle", size=TINY, colour=style.QUIET)
    for row, cached in enumerate(sorted({*result.times, result.cached}, reverse=True)):
        (name, colour), y = LOOKS[cached], bottom + 25 + 13 * row
        dot = svg.circle(left - 22, y - 4, 4, fill=colour) if cached else svg.box(left - 26, y - 8, 8, 8, stroke=colour)
        is_next = cached == result.cached
        yield dot + svg.text(left - 14, y, f"next: {name}" if is_next else name, size=TINY, bold=is_next)
    all_times = [ms for times in result.times.values() for _, ms in times]
    yield svg.line(left, bottom, left + width, bottom, colour=style.GRID)
    # A single slow moment of the machine must not flatten all others.
    highest = max(1.0, 1.3 * float(np.quantile(all_times, 0.97))) if all_times else 1.0
    step = next(step for step in (0.5, 1, 2, 5, 10, 20, 50, 100, 1000) if highest / step <= 4)
    for tick in np.arange(0, highest, step):
        y = round(bottom - CHART[1] * tick / highest, 1)
        yield svg.line(left, y, left + width, y, colour=style.GRID)
        yield svg.text(left - 6, y + 4, f"{tick:g}", anchor="end", size=TINY, colour=style.QUIET)
    for cached, times in result.times.items():
        for n, ms in times:
            px, py = round(left + width * n / 256, 1), round(bottom - CHART[1] * min(ms / highest, 1), 1)
            colour = LOOKS[cached][1]
            yield svg.circle(px, py, 2, fill=colour) if cached else svg.box(px - 2, py - 2, 4, 4, stroke=colour)


DRAWN = {"text": _text, "heads": _heads, "head": _head, "temperature": _temperature, "next": _next}
