"""The head browser's picture: small maps of all heads, one of them open, and what becomes of it."""

import functools

import numpy as np

from mha_helpers.drawing import style, svg
from mha_helpers.drawing.style import number
from mha_helpers.labs import head_browser_runs as runs

WIDTH, SMALL, TINY = 860, 12, 11  # the last two are font sizes
LEFT, RIGHT, BELOW = 8, 474, 406  # where the halves begin, and the lower ones
BAR = style.blend(style.SEQUENTIAL, 0.7)
PITCH = 18  # from bar to bar
OPEN = style.ROLES["keys"]

# The small maps have one shade for weights from each of these up.
STEPS = (0.05, 0.15, 0.3, 0.5, 0.75)
SHADES = (None, *(style.weight_colour(weight) for weight in (0.18, 0.36, 0.56, 0.76, 1)))
THUMBNAIL, ACROSS, DOWN = 31, 34, 46  # the side of one, and from one to the next
FIRST_X, FIRST_Y = 58, 38

# The open head's map has one for each weight that is written differently.
HUNDREDTHS = tuple(style.weight_colour(weight / 100) for weight in range(101))
ROW_LABELS, COLUMN_LABELS, LONGEST_SIDE, LARGEST_CELL = 68, 74, 304, 36
NUMBERED = 10  # tokens: of more, only the query's row has room for numbers

MARKS = {"##": "continues the word before it", "[UNK]": "stands for what is not in the model's vocabulary"}


def draw(result, said):
    """Draw what the head browser shows; `said` is its sentence."""
    place = f"layer {result.layer}, head {result.head}"
    trained, _ = _map(result, result.weights, f"trained: {place}", 0, mark=result.mark)
    bars, left_end = _bars(result)
    if result.twin is None:
        others, right_end = _means(result)
    else:
        others, right_end = _map(result, result.twin, f"random twin: {place}", BELOW)
    parts = [thumbnails(result.encoding), _frame(result), *trained, *bars, *others]
    if result.difference:
        parts.append(svg.text(LEFT, BELOW - 20, f"≠ {result.difference}", size=SMALL, colour=style.ALARM))
    if result.knock_out and result.twin is None:
        drawn, right_end = _knock_out(result, RIGHT, right_end + 30)
        parts += drawn
    elif result.knock_out:
        drawn, left_end = _knock_out(result, LEFT, left_end + 30)
        parts += drawn
    return svg.document(WIDTH, max(left_end, right_end) + 8, parts, label=said)


def draw_message(message):
    """Draw that there is nothing to be drawn."""
    text = svg.text(LEFT, 24, "The trained model could not be loaded.", bold=True)
    return svg.document(WIDTH, 40, [text], label=message)


def shortened(token, longest=9):
    """Cut a token for which there is no room."""
    return token if len(token) <= longest else token[: longest - 1] + "…"


def _rounded(weights):
    """Round to what is written: nothing drawn depends on digits that vary by machine."""
    return np.asarray(weights, np.float64).round(2)


def _bar(share, x, y, longest, *, fill=BAR):
    """Draw a share as a bar, and return where it ends; a learner's may be anything."""
    length = longest * float(np.nan_to_num(share, nan=0).clip(0, 1))
    return svg.box(x, y, length, PITCH - 7, fill=fill, stroke=style.INK), x + length


@functools.lru_cache(8)
def thumbnails(encoding):
    """Draw the maps of all heads, each with its label where it has one."""
    places = [*np.ndindex(encoding.weights.shape[:2])]
    corners = [(FIRST_X + head * ACROSS, FIRST_Y + layer * DOWN) for layer, head in places]
    n_tokens = len(encoding.tokens)
    levels = np.digitize(np.nan_to_num(encoding.weights, nan=0), STEPS).reshape(-1, n_tokens, n_tokens)
    parts = [svg.text(LEFT, 14, f"All {len(places)} heads. Rows: queries. Columns: keys.", bold=True)]
    for (layer, head), (x, y) in zip(places, corners, strict=True):
        middle = x + THUMBNAIL / 2
        if layer == 0:
            parts.append(svg.text(middle, y - 6, head if head else "head 0", anchor="middle", size=TINY))
        if head == 0:
            parts.append(svg.text(x - 6, y + 20, layer if layer else "layer 0", anchor="end", size=TINY))
        if (label := runs.label(encoding.weights[layer, head])) != runs.UNCLEAR:
            parts.append(svg.text(middle, y + THUMBNAIL + 10, label, anchor="middle", size=9))
    parts.append(svg.heat_maps(levels, SHADES, corners, cell=THUMBNAIL / n_tokens))
    outlines = "".join(f"M{x} {y}h{THUMBNAIL}v{THUMBNAIL}h-{THUMBNAIL}z" for x, y in corners)
    parts.append(f'<path d="{outlines}" fill="none" stroke="#8c8c8c"/>')
    notes = (
        f"A label: what gets {number(runs.THRESHOLD)} or more of the weight, mean over the queries.",
        f"White: below {number(STEPS[0])}. Darkest: {number(STEPS[-1])} or more.",
    )
    below = corners[-1][1] + DOWN + 12
    parts += [svg.text(LEFT, below + 15 * i, note, colour=style.QUIET, size=TINY) for i, note in enumerate(notes)]
    return "".join(parts)


def _frame(result):
    x, y = FIRST_X + result.head * ACROSS, FIRST_Y + result.layer * DOWN
    return svg.box(x - 1, y - 1, THUMBNAIL + 2, THUMBNAIL + 2, stroke=OPEN, stroke_width=3)


def _map(result, weights, title, top, *, mark=None):
    """Draw one head's weights large, in the right half; return the drawing, and where it ends."""
    n_tokens, rounded = len(result.tokens), _rounded(weights)
    cell = min(LARGEST_CELL, LONGEST_SIDE // n_tokens)
    x, y, side = RIGHT + ROW_LABELS, top + COLUMN_LABELS, n_tokens * cell
    levels = (100 * np.nan_to_num(rounded, nan=0).clip(0, 1)).round().astype(int)
    gaps = "".join(f"M0 {i * cell}h{side}M{i * cell} 0v{side}" for i in range(1, n_tokens))
    parts = [
        svg.text(RIGHT, top + 14, title, bold=True),
        svg.heat_maps([levels], HUNDREDTHS, [(x, y)], cell=cell),
        f'<path d="{gaps}" transform="translate({x} {y})" stroke="{style.PAPER}"/>',
    ]
    for i, token in enumerate(map(shortened, result.tokens)):
        middle, chosen = (i + 0.5) * cell, i == result.query
        parts.append(svg.text(x - 5, y + middle + 4, token, anchor="end", bold=chosen, size=TINY))
        parts.append(svg.text(x + middle + 3, y - 5, token, size=TINY, rising=50))
    write, size = (_two_decimals, TINY) if n_tokens <= NUMBERED else (_without_zero, 9)
    for i in range(n_tokens) if n_tokens <= NUMBERED else [result.query]:
        for j, weight in enumerate(rounded[i]):
            at = x + (j + 0.5) * cell, y + (i + 0.5) * cell + 4
            colour = style.text_colour(HUNDREDTHS[levels[i, j]])
            parts.append(svg.text(*at, write(weight), anchor="middle", colour=colour, size=size))
    parts.append(svg.box(x, y + result.query * cell, side, cell, stroke=OPEN, stroke_width=2))
    if mark:
        parts.append(svg.difference(x + mark[1] * cell, y + mark[0] * cell, cell, cell))
    if result.twin is not None:
        means = zip(runs.KINDS, map(_two_decimals, runs.mean_weights(weights)), strict=True)
        line = "mean weight: " + ", ".join(f"{kind} {mean}" for kind, mean in means)
        parts.append(svg.text(RIGHT, y + side + 17, line, size=TINY))
    return parts, y + side + 20


def _two_decimals(weight):
    return svg.short(weight, 2)


def _without_zero(weight):
    """Write a weight in as little room as a small cell has: .68, 0 or 1."""
    written = _two_decimals(weight)
    written = {"0.00": "0", "1.00": "1"}.get(written, written.removeprefix("0"))
    return written if len(written) <= 3 else "…"  # no weight: it stands beside the bars


def _bars(result):
    """Draw the query's row as bars, in the order of the sentence."""
    x, right, first = LEFT + 142, RIGHT - 40, BELOW + 42
    query = shortened(result.tokens[result.query], 18)
    parts = [
        svg.text(LEFT, BELOW + 14, f"“{query}” (token {result.query}) attends to", bold=True),
        svg.text(x, first - 6, "trained", size=TINY),
    ]
    if result.twin is not None:
        parts.append(svg.text(right, first - 6, "random twin", size=TINY, anchor="end"))
    row = _rounded(result.row)
    most = np.nan_to_num(row, nan=-1).argmax()
    for key, (token, weight) in enumerate(zip(result.tokens, row, strict=True)):
        y, bold = first + key * PITCH, key == most
        bar, end = _bar(weight, x, y + 1, 180)
        parts += [
            svg.text(LEFT + 18, y + 11, key, anchor="end", size=SMALL, bold=bold),
            svg.text(x - 6, y + 11, shortened(token, 15), anchor="end", size=SMALL, bold=bold),
            bar,
            svg.text(end + 5, y + 11, _two_decimals(weight), size=SMALL, bold=bold),
        ]
        if result.twin is not None:
            twins = _two_decimals(result.twin[result.query, key])
            parts.append(svg.text(right, y + 11, twins, size=SMALL, anchor="end"))
    end = first + len(row) * PITCH
    for mark, meaning in MARKS.items():
        if any(token.startswith(mark) for token in result.tokens):
            end += 15
            parts.append(svg.text(LEFT, end, f"{mark} {meaning}", colour=style.QUIET, size=TINY))
    return parts, end


def _means(result):
    """Draw how much weight goes to each kind of key, and what a label needs."""
    x, first, longest = RIGHT + 152, BELOW + 42, 170
    parts = [svg.text(RIGHT, BELOW + 14, "where its weight goes, mean over the queries", bold=True)]
    for i, ((kind, key), mean) in enumerate(zip(runs.KINDS.items(), _rounded(result.means), strict=True)):
        y = first + i * PITCH
        bar, _ = _bar(mean, x, y + 1, longest)
        parts += [
            svg.text(RIGHT, y + 11, f"{kind}: {key}", size=SMALL),
            bar,
            svg.text(x + longest + 8, y + 11, _two_decimals(mean), size=SMALL),
        ]
    needed, end = x + runs.THRESHOLD * longest, first + len(runs.KINDS) * PITCH
    parts.append(f'<path d="M{needed:g} {first - 4}V{end}" stroke="{style.INK}" stroke-dasharray="5 3"/>')
    parts.append(svg.text(needed, first - 8, f"label from {number(runs.THRESHOLD)}", anchor="middle", size=TINY))
    parts.append(svg.text(RIGHT, end + 16, f"label: {result.label}", bold=True))
    return parts, end + 18


def _knock_out(result, left, top):
    """Draw what becomes of the sentence's vector without the head."""
    found, x = result.knock_out, left + 216
    cosine = number(found.cosine, 4)
    parts = [
        svg.text(left, top, f"without layer {result.layer}, head {result.head}", bold=True),
        svg.text(left, top + 19, f"The sentence's vector: cosine {cosine} with what it was.", size=SMALL),
        svg.text(left, top + 42, "cosine of your sentence with", size=TINY, colour=style.QUIET),
        svg.text(x, top + 42, "blue: before, white: without", size=TINY, colour=style.QUIET),
    ]
    for i, (sentence, *cosines) in enumerate(zip(runs.FIXED, found.before, found.after, strict=True)):
        y = top + 50 + 34 * i
        parts.append(svg.text(left, y + 17, sentence, size=SMALL))
        for cosine, fill in zip(cosines, (BAR, style.PAPER), strict=True):
            bar, end = _bar(cosine, x, y, 110, fill=fill)
            parts += [bar, svg.text(end + 5, y + 10, number(cosine, 4), size=SMALL)]
            y += 13
    return parts, top + 50 + 34 * len(runs.FIXED)
