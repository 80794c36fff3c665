"""With and without attention: a model that writes, and the same model where each letter attends to itself alone."""

import functools
import html
import re
from dataclasses import dataclass

from live_pictures import marks, style, svg
from live_pictures.card import EDGE, Picture
from live_pictures.controls import check_box, radio
from live_pictures.motion import write
from live_pictures.options import Form, StaticPage
from mha_helpers import decoder
from mha_helpers.course_data import data_path
from mha_helpers.drawing import palette
from mha_helpers.exercises.self_attention.predictions import attend_to_itself
from mha_helpers.labs.lab import Lab

PROMPTS = {"ROMEO": "ROMEO:\n", "JULIET": "JULIET:\n", "KING": "KING RICHARD III:\n"}
LENGTH = 110  # characters: a fraction of a second
WORD = re.compile(r"[A-Za-z][A-Za-z']*")
ONE_LETTER = {"a", "i", "o"}  # the words of one; in the plays others are what an apostrophe has left


@dataclass(frozen=True)
class Text:
    """What the model has written."""

    whole: str  # after the prompt
    lines: list  # of it that there is room for
    known: tuple  # of each word in these: whether it stands in the plays

    def __str__(self):
        return f"{sum(self.known)} of the {len(self.known)} words"


@dataclass(frozen=True)
class Result:
    """Who speaks, and what the model has written, with attention and without it; what was not asked for is None."""

    speaker: str
    attends: bool
    texts: dict


@functools.cache
def vocabulary():
    """Return every word of the plays that the model has read."""
    words = WORD.findall(data_path("writer/shakespeare.txt").read_text(encoding="utf-8").lower())
    return frozenset(word for word in words if len(word) > 1) | ONE_LETTER


@functools.cache
def written(speaker, attends):
    """Let the model write. The seed is the same, so that only attention tells the two texts apart."""
    ways = {} if attends else {"attend": attend_to_itself}
    return decoder.load().write(PROMPTS[speaker], LENGTH, temperature=0.7, seed=0, **ways)


def compute(state, function=None):
    """Compute the text from the switch and the speaker, and the other text once both have been asked for."""
    speaker, attends = state["speaker"], state["attention"]
    texts = {way: read(speaker, way) if way == attends or state["both"] else None for way in (True, False)}
    return Result(speaker, attends, texts)


def read(speaker, attends):
    """Look at what the model writes as a reader does: what there is room for, and which words there are."""
    text = written(speaker, attends)
    every = [line for line in lines(text.strip(), LINE_WIDTH[attends]) if line]
    shown = every[: ROWS[attends] * COLUMNS[attends]]
    words = list(WORD.finditer("\n".join(shown)))
    if shown == every:
        words = words[:-1]  # the last may not be finished
    return Text(text, shown, tuple(map(_is_known, words)))


def _is_known(word):
    """Whether a word stands in the plays; one letter before a colon is no word, but somebody's name."""
    is_name = len(word[0]) == 1 and word.string[word.end() :].startswith(":")
    return not is_name and word[0].lower() in vocabulary()


def sentence(result):
    """Describe the picture."""
    ways = [way for way in (result.attends, not result.attends) if result.texts[way]]
    first, *others = [f"{WAYS[way].lower()}, {result.texts[way]}" for way in ways]
    readout = f"{first} that it writes stand somewhere in the plays"
    return f"{readout[0].upper()}{readout[1:]}{''.join(f'; {other}' for other in others)}."


WIDTHS, HEIGHTS, LINE = (216, 344), (274, 324), 19
WAYS = {True: "With attention", False: "Without attention"}
LINE_WIDTH, COLUMNS = {True: 36, False: 21}, {True: 1, False: 2}  # letters of a line; without attention lines are short
ROWS, TOPS = {True: 5, False: 8}, {True: 1, False: 137}


def render(result):
    """Draw the switch, and the texts with what is no word underlined: what it writes now, and faintly the other."""
    readout = sentence(result)
    control = svg.document(WIDTHS[0], HEIGHTS[0], _switch(result), label=readout)
    texts = [part for way in WAYS for part in _text(result, way)]
    return Picture(
        control + svg.document(WIDTHS[1], HEIGHTS[1], texts, label=result.texts[result.attends].whole), readout, ""
    )


def _switch(result):
    purple = palette.HEADS[0]
    fill, edge, knob = (purple, purple, 62) if result.attends else (style.PAPER, EDGE, 20)
    track = f'<rect x="1" y="30" width="82" height="38" rx="19" fill="{fill}" stroke="{edge}" stroke-width="2"/>'
    handle = svg.circle(knob + 1, 49, 14, fill=style.PAPER if result.attends else EDGE, stroke=edge)
    yield svg.text(0, 16, "Attention", bold=True)
    yield marks.switch(track + marks.part(handle, "knob"), "attention", also_sets={"both": True}, name="attention")
    yield svg.text(94, 54, "on" if result.attends else "off", bold=True, size=16)
    with_it, without = ("each letter reads all", "the letters before it"), ("each letter reads", "itself alone")
    for i, line in enumerate(with_it if result.attends else without):
        yield svg.text(0, 90 + 17 * i, line, size=12, colour=style.QUIET)
    yield svg.text(0, 132, "Who speaks", bold=True)
    x = 1
    for speaker in PROMPTS:
        width, chosen = 20 + 8 * len(speaker), speaker == result.speaker
        chip = svg.box(x, 140, width, 28, fill=style.tint(purple) if chosen else style.PANEL, stroke=EDGE)
        name = svg.text(x + width / 2, 159, speaker, anchor="middle", bold=chosen, size=12)
        yield marks.radio(chip + name, {"speaker": speaker})
        x += width + 6
    yield svg.text(0, 202, "Words found in the plays", bold=True, size=12)
    for i, (way, text) in enumerate(result.texts.items()):
        bold, y = way == result.attends, 223 + 20 * i
        yield svg.text(0, y, WAYS[way], size=12, bold=bold)
        yield svg.text(132, y, f"{sum(text.known)} of {len(text.known)}" if text else "?", size=12, bold=bold)
    yield svg.text(0, 266, "underlined: not found", size=12, colour=style.QUIET)


def lines(text, most):
    r"""Break a text as a page does: where it says so, between words, or within one that has more letters than `most`.

    Examples
    --------
    >>> lines("O speak again,\nbright angel!", 10)
    ['O speak', 'again,', 'bright', 'angel!']
    """
    broken = []
    for line in text.split("\n"):
        broken.append("")
        for piece in re.findall(rf" *[^ ]{{1,{most}}}", line):
            if len(broken[-1] + piece) > most:
                broken.append("")
                piece = piece.lstrip()
            broken[-1] += piece
    return broken


def _text(result, attends):
    """Draw what it writes one way, in a box of its own."""
    text, now, y = result.texts[attends], attends == result.attends, TOPS[attends]
    colour, quiet = (style.INK, style.QUIET) if now else (style.QUIET, EDGE)
    edge, wide = (palette.HEADS[0], 2) if now else (style.GRID, 1)
    fill = style.PANEL if now else style.PAPER
    yield svg.box(12.5, y, WIDTHS[1] - 14, LINE * (ROWS[attends] + 1) + 15, fill=fill, stroke=edge, stroke_width=wide)
    yield svg.text(WIDTHS[1] - 10, y + 18, WAYS[attends], anchor="end", size=11, colour=style.QUIET, bold=now)
    yield svg.text(24, y + 21, PROMPTS[result.speaker].rstrip("\n"), size=14, colour=quiet)
    if not text:
        yield svg.text(24, y + 21 + LINE, "?", size=14, colour=style.QUIET)
        return
    n_words = n_letters = 0
    for place, line in enumerate(text.lines):
        column, row = divmod(place, ROWS[attends])
        written = ""
        for piece in re.finditer(r" *[^ ]+", line):
            here = len(WORD.findall(piece[0]))
            is_word = all(text.known[n_words : n_words + here])
            n_words += here
            mistake = f' fill="{style.ALARM}" text-decoration="underline"'
            word = html.escape(piece[0].lstrip())
            written += " " * (len(piece[0]) - len(piece[0].lstrip())) + (
                word if is_word else f"<tspan{mistake}>{word}</tspan>"
            )
        at = svg.text(24 + 124 * column, y + 21 + LINE * (row + 1), "", size=14, colour=colour)
        drawn = at.replace("><", f">{written}<")
        yield write(drawn, len(line), n_letters) if now else drawn
        n_letters += len(line)


def with_and_without_attention() -> Lab:
    """Show a model that writes, with a switch that takes its attention out.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Examples
    --------
    >>> lab = with_and_without_attention()
    >>> lab.controls["attention"].value = False
    >>> "Without attention" in lab.readout.value
    True
    """
    controls = {
        "attention": check_box("attention", True),
        "speaker": radio("speaker", PROMPTS),
        "both": check_box("both texts", False),  # not shown: the switch sets it
    }
    switch, speaker, _ = controls.values()
    return Lab(
        name="with_and_without_attention",
        title="with and without attention",
        task="Switch attention off and on. What changes in what it writes, and what doesn't?",
        controls=controls,
        form=Form(
            rows=([switch, speaker, Lab.BUTTONS],),
            on_picture=("attention", "speaker"),
        ),
        compute=compute,
        render=render,
        function=None,
        page=StaticPage(offers=dict.fromkeys(controls)),
    )
