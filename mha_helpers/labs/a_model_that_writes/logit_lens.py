"""Logit lens: what the writer would guess if it stopped after some of its blocks."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import ipywidgets
import numpy as np

from live_pictures import marks, style, svg
from live_pictures.card import EDGE, Picture
from live_pictures.chips import player
from live_pictures.controls import NAMED, radio, whole_number
from live_pictures.options import Form, StaticPage
from live_pictures.style import number
from mha_helpers import attention, decoder, exercises
from mha_helpers.decoding import embed_new
from mha_helpers.drawing import palette
from mha_helpers.labs.a_model_that_writes.writer import shown
from mha_helpers.labs.a_model_that_writes.writer_picture import FIXED
from mha_helpers.labs.lab import Lab
from mha_helpers.labs.learner_function import run_for_lab, visibly_different
from mha_helpers.masks import causal_mask
from mha_helpers.model.layers import call_attention

TEXT = "ROMEO:\nMy lord, I will not speak of him."
PER_LINE, MAX_LINES = 14, 3
MAX_CHARACTERS = PER_LINE * MAX_LINES  # characters: more could not be touched on a phone
N_BLOCKS = 4
N_LIKELIEST = 5


@dataclass(frozen=True)
class Result:
    """What the model expects for each character of a text, after each of its blocks."""

    text: str
    alphabet: str
    blocks: int  # how many have run where one is looked at
    place: int  # of the character that is looked at
    probabilities: np.ndarray  # (n_blocks + 1, n - 1, n_characters): row i is what is expected for character i + 1
    right: np.ndarray  # the same on the course's own attention
    came: np.ndarray  # (n - 1,): the codes of the characters that came
    notice: str
    is_wrong: bool  # whether the learner's attention was run and is not right

    @property
    def guesses(self):
        """The likeliest code for each character, after each block."""
        return self.probabilities.argmax(axis=-1)

    @property
    def losses(self):
        """The mean of -log(probability of what came), after each block."""
        return losses(self.probabilities, self.came)


def losses(probabilities, came):
    with np.errstate(all="ignore"):  # a learner's attention may have made anything
        return -np.log(probabilities[:, np.arange(len(came)), came]).mean(axis=-1)


def lens(model, codes, attend):
    """Return probabilities, (n_blocks + 1, n, n_characters), from the stream before, between and after the blocks.

    nostalgebraist (2020), "interpreting GPT: the logit lens".
    """
    mask = causal_mask(len(codes))

    def whole(X, *matrices):
        return call_attention(attend, X, matrices, model.n_heads, mask)

    streams = [embed_new(codes, model.characters, model.positions)]
    with np.errstate(all="ignore"):
        for block in model.blocks:
            streams.append(block(streams[-1], whole)[0])
        return attention.softmax(model.norm(np.stack(streams)) @ model.characters.T)


def readable(typed, alphabet):
    """Return as much of a text as can be shown, and a remark about the rest."""
    remarks, known = [], "".join(character for character in typed if character in alphabet)
    if len(known) < len(typed):
        remarks.append("What the model has never seen is left out.")
    if len(known) < 2:
        return TEXT, " ".join([*remarks, "There is nothing to guess, so here is the first text again."])
    if len(known) > MAX_CHARACTERS:
        remarks.append(f"Of {len(known)} characters the last {MAX_CHARACTERS} are read.")
    return known[-MAX_CHARACTERS:], " ".join(remarks)


@lru_cache(maxsize=8)
def _right(text):
    """Run the course's own attention once on a text: most controls only say where to look."""
    model = decoder.load()
    return lens(model, model.codes(text), attention.multi_head_attention)[:, :-1]


def compute(state, function=None):
    """Compute what the model expects after each block from the controls' values."""
    model = decoder.load()
    text, remark = readable(state["text"], model.alphabet)
    codes, block = model.codes(text), model.blocks[0]
    X = block.attention_norm(embed_new(codes, model.characters, model.positions))
    matrices = dict(zip(("W_Q", "W_K", "W_V", "W_O"), block.matrices, strict=True))
    arguments = {"X": X} | matrices | {"n_heads": model.n_heads, "mask": causal_mask(len(codes))}
    found = run_for_lab(function, attention.multi_head_attention, arguments, ("output", "weights"))
    right = _right(text)
    probabilities = lens(model, codes, function)[:, :-1] if found.is_theirs else right
    return Result(
        text, model.alphabet, state["blocks"], min(state["place"], len(codes) - 1), probabilities, right, codes[1:],
        f"{found.notice} {remark}".strip(), bool(found.differs),
    )  # fmt: skip


def blocks_in_words(count):
    return "before the first block" if not count else f"after {count} block{'' if count == 1 else 's'}"


def sentence(result):
    """Describe the picture."""
    right = int((result.guesses[result.blocks] == result.came).sum())
    when = blocks_in_words(result.blocks)
    readout = (
        f"{when.capitalize()}, {right} of {len(result.came)} guesses are right, and the loss is "
        f"{number(result.losses[result.blocks])} nats a character (guessing: {number(np.log(len(result.alphabet)))})."
    )
    row = result.probabilities[result.blocks, result.place - 1]
    before = "".join(map(shown, result.text[max(0, result.place - 8) : result.place]))
    if not np.isfinite(row).all():
        return f"{readout} After “{before}” there are NaN or infinite numbers."
    likeliest = int(row.argmax())
    came = result.came[result.place - 1]
    readout += f" After “{before}” it expects “{shown(result.alphabet[likeliest])}” most ({number(row[likeliest])})"
    if likeliest == came:
        return f"{readout}, which came."
    return f"{readout}; “{shown(result.alphabet[came])}” came ({number(row[came])})."


WIDTHS, HEIGHT = (344, 296), 282  # of the two pictures
TRACK, STOP = (60, 44), 62  # of the blocks: where its first value stands, and from one to the next
PACE = 1200  # milliseconds from block to block, when they follow each other
CELL, GAP = 24, 8  # a character's side, and what is between two lines of text
FIRST_LINE = 102  # where the text begins
ROW, LIKELY = 40, 42  # of the likeliest: a block's row, and a character's column
LABEL = 66
RIGHT, EXPECTED = style.GOOD, palette.ROLES["output"]


def render(result):
    """Draw the blocks and the text, with what is guessed under each character; and one character's likeliest."""
    readout = sentence(result)
    text = svg.document(WIDTHS[0], HEIGHT, [*_ruler(result), *_text(result)], label=readout)
    likeliest = svg.document(WIDTHS[1], HEIGHT, _likeliest(result), label="What is likeliest after each block.")
    return Picture(text + likeliest, readout, result.notice)


def _ruler(result):
    """Draw a ruler of blocks, with a handle, and below each the loss of the text."""
    x, y = TRACK
    track = [(x + STOP * count, y) for count in range(N_BLOCKS + 1)]
    ours = losses(result.right, result.came)
    again = {"sets": {"blocks": 0}} if result.blocks == N_BLOCKS else {}
    yield svg.text(0, 14, "Stop after so many blocks", bold=True)
    yield player(
        4, y - 13, "play the blocks", press="Next block", every=PACE, starts=N_BLOCKS, tip="Play the blocks.", **again
    )
    yield svg.line(x, y, track[-1][0], y, colour=EDGE, width=3)
    for count, (at, _) in enumerate(track):
        bold = count == result.blocks
        loss, differs = result.losses[count], result.is_wrong and visibly_different(result.losses, ours)[count]
        yield svg.line(at, y - 5, at, y + 5, colour=EDGE)
        yield svg.text(at, y - 14, count, anchor="middle", size=12, bold=bold)
        yield svg.text(
            at, y + 27, svg.short(loss, 2) + (" ≠" if differs else ""), anchor="middle", size=12, bold=bold or differs,
            colour=style.ALARM if differs else style.INK,
        )  # fmt: skip
    yield svg.text(0, y + 27, "loss", size=11, colour=style.QUIET)
    handle = svg.circle(*track[result.blocks], 11, fill=style.INK, stroke=style.PAPER)
    stops = [{"blocks": count} for count in range(N_BLOCKS + 1)]
    yield marks.track(handle, "blocks", stops=stops, points=track, part="blocks", tip="Drag: how many blocks have run.")
    yield svg.text(0, y + 47, "Upper row: the text. Lower row: what was guessed for it.", size=11, colour=style.QUIET)


def _text(result):
    """Draw the text, and under each character the guess that was made for it; what is touched is chosen."""
    guesses = result.guesses[result.blocks]
    differs = result.is_wrong & (guesses != result.right[result.blocks].argmax(axis=-1))
    for i, character in enumerate(result.text):
        x, y = 1 + CELL * (i % PER_LINE), FIRST_LINE + (2 * CELL + GAP) * (i // PER_LINE)
        chosen = i == result.place
        parts = [_letter(x, y, character, fill=style.PANEL, bold=chosen)]
        if i:
            code = guesses[i - 1]
            is_right = code == result.came[i - 1]
            fill = style.tint(RIGHT) if is_right else style.PAPER
            parts.append(_letter(x, y + CELL, result.alphabet[code], fill=fill, bold=is_right, quiet=not is_right))
        if chosen:
            parts.append(svg.box(x + 1, y + 1, CELL - 2, 2 * CELL - 2, stroke=style.INK, stroke_width=3))
        cell = "".join(parts)
        yield marks.radio(cell, {"place": i}, glance=True, name=f"character {i}, {shown(character)}") if i else cell
        if i and differs[i - 1]:
            yield svg.difference(x, y + CELL, CELL, CELL)
    yield svg.box(1, HEIGHT - 14, 10, 10, fill=style.tint(RIGHT), stroke=style.INK)
    yield svg.text(16, HEIGHT - 5, "bold on green: guessed right", size=11, colour=style.QUIET)


def _letter(x, y, character, *, fill, bold=False, quiet=False):
    written = svg.text(
        x + CELL / 2, y + 17, shown(character), anchor="middle", bold=bold, size=14,
        colour=style.QUIET if quiet else style.INK,
    )  # fmt: skip
    return svg.box(x, y, CELL, CELL, fill=fill, stroke=style.GRID) + f'<g font-family="{FIXED}">{written}</g>'


def _likeliest(result):
    """Draw what is likeliest for the chosen character after each block; what came has a frame."""
    came = result.came[result.place - 1]
    yield svg.text(0, 14, f"What it expects for “{shown(result.alphabet[came])}”, likeliest first", bold=True)
    yield svg.text(0, 31, "framed: the character that came", size=11, colour=style.QUIET)
    for count in range(N_BLOCKS + 1):
        y, row = 42 + ROW * count, result.probabilities[count, result.place - 1]
        chosen = count == result.blocks
        yield svg.text(0, y + 22, f"{count} block{'' if count == 1 else 's'}", bold=chosen, size=12)
        order = np.argsort(-np.nan_to_num(row, nan=-1), kind="stable")[:N_LIKELIEST]
        for k, code in enumerate(order):
            x, probability = LABEL + LIKELY * k, float(np.nan_to_num(row[code]))
            fill = style.ramp((style.PAPER, EXPECTED))(probability)
            ink = style.text_colour(fill)
            yield svg.box(x, y, LIKELY - 4, ROW - 6, fill=fill, stroke=style.GRID)
            if code == came:
                yield svg.box(x, y, LIKELY - 4, ROW - 6, stroke=style.INK, stroke_width=3)
            yield svg.text(x + LIKELY / 2 - 2, y + 16, shown(result.alphabet[code]), anchor="middle", bold=True,
                           colour=ink, size=14)  # fmt: skip
            yield svg.text(x + LIKELY / 2 - 2, y + 29, svg.short(row[code], 2), anchor="middle", colour=ink, size=11)
    y = 42 + ROW * (N_BLOCKS + 1)
    chances = ", ".join(number(chance) for chance in result.probabilities[:, result.place - 1, came])
    yield svg.text(0, y + 14, f"“{shown(result.alphabet[came])}” itself gets, block after block:", size=12)
    yield svg.text(0, y + 32, chances, size=12, bold=True)


def logit_lens(function: Callable | None = None) -> Lab:
    """Show the logit lens: what the writer would guess if it stopped after 0, 1, 2, 3 or all 4 of its blocks.

    Parameters
    ----------
    function : callable, optional
        The learner's `multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask) -> (output, weights)`. While it is a
        stub the course's own is shown, and the lab says so.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Examples
    --------
    >>> lab = logit_lens()
    >>> lab.controls["blocks"].value = 0
    >>> "Before the first block, 1 of 39 guesses are right" in lab.readout.value
    True
    """
    text = ipywidgets.Textarea(
        TEXT, description="text", continuous_update=False, rows=2, style=NAMED, layout={"width": "420px"}
    )
    blocks, place = radio("blocks", range(N_BLOCKS + 1), N_BLOCKS), whole_number("place", 11, 1, MAX_CHARACTERS - 1)
    return Lab(
        name="logit_lens",
        title="logit lens",
        task="Drag the knob from 4 blocks back to 0: which guesses go first? Press a character to see its likeliest.",
        controls={"text": text, "blocks": blocks, "place": place},
        actions={"Next block": lambda state: {"blocks": min(state["blocks"] + 1, N_BLOCKS)}},
        form=Form(
            rows=([blocks, place], [text, Lab.BUTTONS]),
            on_picture=("blocks", "place", "Next block"),
        ),
        compute=compute,
        render=render,
        function=function,
        exercise=exercises.multi_head_attention,
        page=StaticPage(
            kernel_only="a text of your own",
            offers={"blocks": range(N_BLOCKS + 1), "place": range(1, len(TEXT))},
        ),
    )
