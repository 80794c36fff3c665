"""The head browser's picture: the open head's weights as arcs over the words, and a map of what all heads rest on."""

import functools
import textwrap

import numpy as np

from live_pictures import marks, style, svg
from live_pictures.card import MAX_WIDTH
from live_pictures.chips import PART, tick_box
from live_pictures.marks import each_part
from live_pictures.style import number
from mha_helpers.drawing import palette
from mha_helpers.drawing.arcs import ROW, SHARE, TOP, arcs, areas, middle, shortened, width_of_words
from mha_helpers.labs.real_model import head_browser_runs as runs

SMALL, TINY = 12, 11  # font sizes
WORDS, TITLE = MAX_WIDTH - PART, 34  # how wide the arcs with their words are, and how high the lines above them
# The kinds of key that a head may rest on, in colours that say nothing but that they are different.
KIND_COLOURS = dict(zip(runs.KINDS, palette.TOKENS, strict=False))
MAP_CELL, MAP_LEFT, MAP_TOP = (27, 24), 16, 60
BELOW, PARTS = 210, 168  # what stands under the map: how far down, and how high
PITCH = 18  # from bar to bar
TWIN = 40  # of the random twin's weights, behind the others
TURNS, BESIDE, MAX_CHANGE = (4, 122), 152, 0.1  # of a head knocked out: where the vectors begin, and what is like them
LETTERS = 3  # of a word, in a cell of the map
FOUND = 0.2  # of its weight: what a word attends to, on the map
MARKS = {"##": "continues the word before it", "[UNK]": "stands for what is not in the model's vocabulary"}


def draw(result, readout):
    """Draw what the head browser shows, in parts; `said` is its sentence."""
    n, label = len(result.tokens), "What each head rests on, and where the open head's weight goes."
    notes = _notes(result, TITLE + TOP + n * ROW + 2)
    words = [*each_part(DRAWN, result, "arcs", "cut", "twin").values(), *_words(result), *notes]
    left = svg.document(WORDS, TITLE + TOP + n * ROW + 6 + 16 * len(notes), words, label=readout)
    right = [_labels(result.encoding), *each_part(DRAWN, result, "finds", "beside", "switches").values()]
    return left + svg.document(PART, BELOW + PARTS, right, label=label)


def draw_message(message):
    """Draw a message in the picture's place."""
    text = svg.text(0, 24, "The trained model could not be loaded.", bold=True)
    return svg.document(MAX_WIDTH, 40, [text], label=message)


def _rounded(weights):
    """Round to what is written: nothing drawn depends on digits that vary by machine."""
    return np.asarray(weights, np.float64).round(2)


def _arcs(result):
    """Draw the open head's weights as arcs, the chosen query's in front."""
    weights = np.nan_to_num(_rounded(result.weights), nan=0).clip(0, 1)
    differs = () if result.mark is None else np.flatnonzero(result.mark[result.query])
    tokens = result.tokens
    drawn, _ = arcs(weights, tokens, tokens, chosen=result.query, differs=differs, width=WORDS - TWIN)
    yield svg.text(0, 14, f"Layer {result.layer}, head {result.head}:", bold=True)
    yield svg.text(0, 30, f"what does “{shortened(tokens[result.query])}” attend to?", bold=True)
    yield f'<g transform="translate(0 {TITLE})">{drawn}</g>'


def _cut(result):
    """Cut the ribbons of a head that is knocked out: grey dashes are left of them."""
    if not result.knock_out:
        return
    box, high = width_of_words(result.tokens), len(result.tokens) * ROW
    left, right, middle_of_all = box + 2, WORDS - TWIN - SHARE - box - 2, TITLE + TOP + high / 2
    line = f'd="M{left:g} {middle_of_all:g}H{right:g}" stroke-width="{high}" pointer-events="none"'
    yield f'<path {line} stroke="{style.QUIET}" style="mix-blend-mode: saturation"/>'
    yield f'<path {line} stroke="{style.PAPER}" stroke-dasharray="5 7"/>'
    at = (left + right) / 2, TITLE + TOP - 6
    yield svg.text(*at, "cut", anchor="middle", bold=True, size=SMALL, colour=style.ALARM)


def _twin(result):
    """Write the random twin's weights behind those of the open head."""
    if result.twin is None:
        return
    box, start = width_of_words(result.tokens), middle(result.query)
    left, right = box + 2, WORDS - TWIN - SHARE - box - 2
    for key, weight in enumerate(_rounded(result.twin[result.query]).clip(0, 1)):
        look = f'stroke="{style.INK}" stroke-width="{max(0.6, 9 * weight):g}" stroke-dasharray="4 3"'
        bend = f"M{left:g} {start:g}C{(left + right) / 2:g} {start:g} {(left + right) / 2:g} {middle(key):g} "
        yield f'<path transform="translate(0 {TITLE})" d="{bend}{right:g} {middle(key):g}" fill="none" {look}/>'
    yield svg.text(WORDS - 6, TITLE + TOP - 6, "twin", anchor="end", size=TINY, bold=True)
    for key, weight in enumerate(_rounded(result.twin[result.query])):
        yield svg.text(WORDS - 6, TITLE + middle(key) + 4, svg.short(weight, 2), anchor="end", size=TINY)


def _words(result):
    """Let the words be pressed that ask."""
    for i, word in enumerate(areas(result.tokens, result.tokens, TITLE)):
        yield marks.radio(word, {"query": i}, name=f"query {i}: {result.tokens[i]}")


def _notes(result, below):
    """Write what is wrong with the weights, or else what the tokens' signs mean."""
    signs = [f"{sign} {meaning}" for sign, meaning in MARKS.items() if any(sign in token for token in result.tokens)]
    lines = textwrap.wrap(f"≠ {result.difference}" if result.difference else "; ".join(signs), 44)
    colour = style.ALARM if result.difference else style.QUIET
    return [
        svg.text(0, below + 16 * (k + 1), line, size=TINY, colour=colour, bold=bool(result.difference))
        for k, line in enumerate(lines)
    ]


def _open_head(result):
    """Draw a frame round the open head in the map, and below it where its weight goes."""
    x = MAP_LEFT + result.head * MAP_CELL[0]
    y = MAP_TOP + result.layer * MAP_CELL[1]
    look = {"stroke": style.ALARM, "dashed": True} if result.knock_out else {"stroke": style.INK}  # it is cut, too
    yield marks.part(svg.box(x, y, *MAP_CELL, stroke_width=3, **look), "open head")
    below = _knock_out(result) if result.knock_out else _means(result)
    yield f'<g transform="translate(0 {BELOW})">{"".join(below)}</g>'


@functools.lru_cache(8)
def _labels(encoding):
    """Draw what each head rests on, in a grid of layers and heads."""
    n_layers, n_heads = encoding.weights.shape[:2]
    parts = [
        svg.text(0, 12, "What each of the 72 heads mostly attends to", bold=True, size=SMALL),
    ]
    parts += [
        svg.text(MAP_LEFT + (head + 0.5) * MAP_CELL[0], MAP_TOP - 5, head, anchor="middle", size=TINY)
        for head in range(n_heads)
    ]
    places, labels, cells = [], [], []
    for layer in range(n_layers):
        y = MAP_TOP + layer * MAP_CELL[1]
        parts.append(svg.text(MAP_LEFT - 5, y + 16, layer, anchor="end", size=TINY))
        for head in range(n_heads):
            kind, x = runs.label(encoding.weights[layer, head]), MAP_LEFT + head * MAP_CELL[0]
            cell = svg.box(x, y, *MAP_CELL, fill="transparent")
            name = f"layer {layer}, head {head}: {kind}"
            cells.append(marks.radio(cell, {"layer": layer, "head": head}, sweep="heads", glance=True, name=name))
            if kind != runs.UNCLEAR:
                places.append((x, y, KIND_COLOURS[kind]))
                short, colour = (kind[1], style.QUIET) if kind.startswith("[") else (kind, style.INK)
                labels.append(svg.text(x + MAP_CELL[0] / 2, y + 16, short, anchor="middle", size=TINY, colour=colour))
    wide, tall = n_heads * MAP_CELL[0], n_layers * MAP_CELL[1]
    rows = "".join(f"M{MAP_LEFT} {MAP_TOP + layer * MAP_CELL[1]}h{wide}" for layer in range(n_layers + 1))
    columns = "".join(f"M{MAP_LEFT + head * MAP_CELL[0]} {MAP_TOP}v{tall}" for head in range(n_heads + 1))
    grid = f'<path d="{rows}{columns}" stroke="{style.GRID}"/>'
    return "".join([*parts, svg.boxes(places, *MAP_CELL), grid, *labels, *cells])


def _finds(result):
    """Write into the cells of heads without a label the word that the chosen one attends to most there."""
    tokens, query = result.tokens, result.query
    asks = shortened(tokens[query])
    legend = (
        "down: layers; across: heads; C: [CLS]; prev: one before",
        f"violet: what “{asks}” attends to, its first {LETTERS} letters",
    )
    for k, line in enumerate(legend):
        yield svg.text(0, 26 + 14 * k, line, size=TINY, colour=style.QUIET)
    for layer, head in np.ndindex(result.encoding.weights.shape[:2]):
        weights = _rounded(result.encoding.weights[layer, head])
        key = int(np.nan_to_num(weights[query], nan=0).argmax())
        weight = float(np.nan_to_num(weights[query, key], nan=0).clip(0, 1))
        is_word = key not in (0, query, len(tokens) - 1)
        if runs.label(result.encoding.weights[layer, head]) != runs.UNCLEAR or not is_word or weight < FOUND:
            continue
        x, y = MAP_LEFT + head * MAP_CELL[0], MAP_TOP + layer * MAP_CELL[1]
        fill = style.ramp((style.PAPER, palette.HEADS[0]))(weight)
        yield svg.box(x + 1, y + 1, MAP_CELL[0] - 2, MAP_CELL[1] - 2, fill=fill)
        yield svg.text(
            x + MAP_CELL[0] / 2,
            y + 16,
            tokens[key][:LETTERS],
            anchor="middle",
            size=TINY,
            colour=style.text_colour(fill),
        )


def _switches(result):
    """Draw what can be switched: the same head knocked out, and that of a model that was never trained."""
    y = BELOW + PARTS - 27
    switches = (
        ("knock out", result.knock_out, "Leave this head out: what becomes of the sentence?"),
        ("random twin", result.twin is not None, "Beside it, the same head of a model that was never trained."),
    )
    for k, (name, on, tip) in enumerate(switches):
        x = 108 * k
        drawn = tick_box(x, y, name, on=bool(on))
        yield marks.switch(drawn + svg.box(x, y + 1, 100, 24, fill="transparent"), name, tip=tip)


def _means(result):
    """Draw how much weight goes to each kind of key, and what a label needs."""
    x, longest, first = 52, 124, 30
    needed, end = x + runs.THRESHOLD * longest, first + len(runs.KINDS) * PITCH
    enough = f"{runs.THRESHOLD:g}: gets a label"
    parts = [
        svg.text(0, 13, "Its weight by kind (kinds overlap)", bold=True, size=TINY),
        svg.text(needed, first - 3, enough, anchor="middle", size=TINY, colour=style.QUIET),
        f'<path d="M{needed:g} {first}V{end}" stroke="{style.INK}" stroke-dasharray="5 3"/>',
    ]
    for i, ((kind, key), mean) in enumerate(zip(runs.KINDS.items(), _rounded(result.means), strict=True)):
        y = first + i * PITCH
        wide = longest * float(np.nan_to_num(mean, nan=0).clip(0, 1))
        name = key.replace("the token ", "").replace("the ", "").replace("first token", "[CLS]")
        if x + wide < needed < x + wide + 34:  # the dashed line cuts no number
            parts.append(svg.box(x + wide + 2, y + 2, 30, PITCH - 6, fill=style.PAPER))
        parts += [
            svg.text(x - 6, y + 13, name.replace("last token", "[SEP]"), anchor="end", size=SMALL),
            svg.box(x, y + 2, wide, PITCH - 6, fill=KIND_COLOURS[kind], stroke=style.INK),
            svg.text(x + wide + 4, y + 13, svg.short(mean, 2), size=SMALL),
        ]
    return [*parts, svg.text(0, end + 15, f"label: {result.label}", bold=True, size=SMALL)]


def _knock_out(result):
    """Draw what becomes of the sentence's vector without the head: its rotation and nearest neighbour."""
    found, purple = result.knock_out, palette.HEADS[0]
    angle = float(np.degrees(np.arccos(np.nan_to_num(np.clip(found.cosine, -1, 1), nan=1))))
    turned, (x, y), long = np.radians(round(angle, 1)), TURNS, min(118, 62 / max(np.sin(np.radians(angle)), 0.1))
    tip = round(float(x + long * np.cos(turned)), 1), round(float(y - long * np.sin(turned)), 1)
    yield svg.text(0, 13, "Without this head", bold=True, size=SMALL)
    yield svg.text(0, 28, "the vector turns by", size=SMALL)
    yield svg.text(0, 52, f"{angle:.0f}°", bold=True, size=20, colour=palette.head_text(0))
    wedge = f"M{x} {y}L{x + 0.5 * long:.1f} {y}A{0.5 * long:.1f} {0.5 * long:.1f} 0 0 0"
    middle_of_it = f"{(x + tip[0]) / 2:.1f} {(y + tip[1]) / 2:.1f}"
    yield f'<path d="{wedge} {middle_of_it}z" fill="{style.tint(purple, 0.3)}"/>'
    yield svg.arrow(x, y, x + long, y, colour=style.QUIET) + svg.arrow(x, y, *tip, colour=purple)
    yield svg.text(0, y + 15, f"cosine {number(found.cosine, 4)}", size=TINY, colour=style.QUIET)
    yield svg.text(BESIDE, 13, "Its cosine with others", bold=True, size=SMALL)
    yield svg.text(BESIDE, 28, "before → without", size=TINY, colour=style.QUIET)
    yield svg.text(PART - 2, 28, "less − + more", anchor="end", size=TINY, colour=style.QUIET)
    zero = PART - 52
    for i, (sentence, before, after) in enumerate(zip(runs.FIXED, found.before, found.after, strict=True)):
        y, change = 46 + 33 * i, float(np.nan_to_num(after - before, nan=0))
        wide = round(50 * min(abs(change) / MAX_CHANGE, 1), 1)
        fill = palette.DIVERGING[-2] if change > 0 else palette.DIVERGING[1]
        yield svg.text(BESIDE, y, sentence, size=TINY)
        yield svg.text(BESIDE, y + 14, f"{number(before)} → {number(after)}", size=SMALL, bold=True)
        yield svg.box(zero - wide * (change < 0), y + 4, wide, 14, fill=fill)
        yield svg.line(zero, y + 2, zero, y + 20, colour=style.INK)


DRAWN = {"arcs": _arcs, "cut": _cut, "twin": _twin, "finds": _finds, "beside": _open_head, "switches": _switches}
