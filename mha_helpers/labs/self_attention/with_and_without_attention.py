"""With and without attention: a model that writes, and the same model where each letter attends to itself alone."""

import functools
import html
import itertools
import re
from dataclasses import dataclass

import ipywidgets
import numpy as np

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
STEP = 5  # a word: on a page the switch takes effect at the next of every so many letters
WORD = re.compile(r"[A-Za-z][A-Za-z']*")
ONE_LETTER = {"a", "i", "o"}  # the words of one; in the plays others are what an apostrophe has left


@dataclass(frozen=True)
class Text:
    """What the model has written: how it began, and after which letters its switch was thrown."""

    whole: str  # after the prompt
    began: bool  # whether with attention
    throws: tuple

    @property
    def since(self):
        """The letter at which the switch was thrown last."""
        return self.throws[-1] if self.throws else 0

    def attends(self, letter):
        """Say whether a letter was written with attention."""
        return self.began ^ (sum(thrown <= letter for thrown in self.throws) % 2)

    @functools.cached_property
    def words(self):
        """Each word, and whether it stands in the plays; not the last, if it may not be finished."""
        return {word: _is_known(word) for word in WORD.finditer(self.whole) if word.end() < len(self.whole)}

    def found(self, attends):
        """Return how many words that were ended one way stand in the plays, and how many there are."""
        known = [is_known for word, is_known in self.words.items() if self.attends(word.end() - 1) == attends]
        return sum(known), len(known)


@dataclass(frozen=True)
class Result:
    """Who speaks, what the model writes now, and what it writes the other way; that is None until it is asked for."""

    speaker: str
    attends: bool
    now: Text
    other: Text | None

    def found(self, attends):
        """Return how many words of how many stand in the plays, with attention or without; None where none is known."""
        texts = [text for text in (self.now, self.other) if text and text.found(attends)[1]]
        return texts[0].found(attends) if texts else None


@functools.cache
def vocabulary():
    """Return every word of the plays that the model has read."""
    words = WORD.findall(data_path("writer/shakespeare.txt").read_text(encoding="utf-8").lower())
    return frozenset(word for word in words if len(word) > 1) | ONE_LETTER


@functools.cache
def written(speaker, began, throws=()):
    """Let the model write; after each of the letters `throws` its attention is switched off, or on again.

    The letters are drawn with the same random numbers, place by place, so that only attention tells the texts apart.
    """
    so_far = written(speaker, began, throws[:-1])[: throws[-1]] if throws else ""
    draws = np.random.default_rng(0)
    draws.random(len(so_far))
    ways = {} if began ^ (len(throws) % 2) else {"attend": attend_to_itself}
    prompt, left = PROMPTS[speaker] + so_far, LENGTH - len(so_far)
    return so_far + decoder.load().write(prompt, left, temperature=0.7, seed=draws, **ways)


def compute(state, function=None):
    """Compute the text from the switch, when it was thrown, and the speaker; and what it is compared with."""
    speaker, attends = state["speaker"], state["attention"]
    throws = tuple(letter for letter in map(int, state["thrown"].split()) if letter)
    began = attends ^ (len(throws) % 2)
    other = None
    if state["thrown"]:  # what it would have written if the switch had been left alone; or the other text
        other = Text(written(speaker, began ^ (not throws)), began ^ (not throws), ())
    return Result(speaker, attends, Text(written(speaker, began, throws), began, throws), other)


def _is_known(word):
    """Whether a word stands in the plays; one letter before a colon is no word, but somebody's name."""
    is_name = len(word[0]) == 1 and word.string[word.end() :].startswith(":")
    return not is_name and word[0].lower() in vocabulary()


def sentence(result):
    """Describe the picture."""
    ways = [way for way in (result.attends, not result.attends) if result.found(way)]
    first, *others = [f"{WAYS[way].lower()}, {_of(result.found(way), ' words')}" for way in ways]
    rest = "".join(f"; {other}" for other in others)
    if result.now.throws:
        thrown = f"Switched {'on' if result.attends else 'off'} after “{_before(result.now)}”"
        return f"{thrown}: {first} stand somewhere in the plays{rest}."
    return f"{first[0].upper()}{first[1:]} that it writes stand somewhere in the plays{rest}."


def _of(found, things=""):
    return f"{found[0]} of {'the ' * bool(things)}{found[1]}{things}"


def _before(text):
    """Return the end of what was written before the switch was thrown last."""
    return " ".join(text.whole[: text.since].split()[-3:])


WIDTHS, HEIGHTS = (216, 344), (290, 324)
WAYS = {True: "With attention", False: "Without attention"}
# Letters of a line, and columns: what begins without attention has short lines.
LINE_WIDTH, COLUMNS = {True: 36, False: 21}, {True: 1, False: 2}
# Of what is written now, and of what it is compared with: top, rows, from one to the next, and the letters' size.
NOW, OTHER = (1, 9, 19, 14), (214, 5, 16, 12)


def render(result):
    """Draw the switch, what the model writes, with what is no word underlined, and faintly what to compare it with."""
    readout = sentence(result)
    control = svg.document(WIDTHS[0], HEIGHTS[0], _switch(result), label=readout)
    texts = [*_now(result), *_other(result)]
    return Picture(control + svg.document(WIDTHS[1], HEIGHTS[1], texts, label=result.now.whole), readout, "")


def _switch(result):
    purple = palette.HEADS[0]
    fill, edge, knob = (purple, purple, 62) if result.attends else (style.PAPER, EDGE, 20)
    track = f'<rect x="1" y="30" width="82" height="38" rx="19" fill="{fill}" stroke="{edge}" stroke-width="2"/>'
    handle = svg.circle(knob + 1, 49, 14, fill=style.PAPER if result.attends else EDGE, stroke=edge)
    yield svg.text(0, 16, "Attention", bold=True)
    yield marks.switch(track + marks.part(handle, "knob"), "attention", moment="thrown", name="attention")
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
        yield marks.radio(chip + name, {"speaker": speaker}, also_sets={"thrown": "0" if result.other else ""})
        x += width + 6
    yield svg.text(0, 202, "Words found in the plays", bold=True, size=12)
    for i, (way, name) in enumerate(WAYS.items()):
        bold, y, found = way == result.attends, 223 + 20 * i, result.found(way)
        yield svg.text(0, y, name, size=12, bold=bold)
        yield svg.text(132, y, _of(found) if found else "?", size=12, bold=bold)
    yield svg.text(0, 266, "underlined: not found", size=12, colour=style.QUIET)
    if result.now.throws:
        yield svg.text(0, 284, "", size=12).replace("><", f">{THROWN} where you threw the switch<")


def lines(text, most):
    r"""Break a text as a page does: where it says so, between words, or within one that has more letters than `most`.

    Returns
    -------
    list of tuple
        Of each line that isn't empty: which of the text's letters is its first, and the line.

    Examples
    --------
    >>> lines("O speak again,\nbright angel!", 10)
    [(0, 'O speak'), (8, 'again,'), (15, 'bright'), (22, 'angel!')]
    """
    broken, begins = [], 0
    for line in text.split("\n"):
        broken.append((begins, ""))
        for piece in re.finditer(rf" *[^ ]{{1,{most}}}", line):
            at, so_far = broken[-1]
            if len(so_far + piece[0]) > most:
                broken.append((begins + piece.end() - len(piece[0].lstrip()), piece[0].lstrip()))
            else:
                broken[-1] = at, so_far + piece[0]
        begins += len(line) + 1
    return [(at, line) for at, line in broken if line]


THROWN = f'<tspan fill="{palette.HEADS[0]}" font-weight="bold">|</tspan>'
MISTAKE = f'<tspan fill="{style.ALARM}" text-decoration="underline">'


def _now(result):
    """Draw what it writes now, letter by letter."""
    text, (top, n_rows, row, _) = result.now, NOW
    yield svg.box(
        12.5, top, WIDTHS[1] - 14, row * (n_rows + 1) + 12, fill=style.PANEL, stroke=palette.HEADS[0], stroke_width=2
    )
    yield _title(top, f"now {WAYS[result.attends].lower()}" if text.throws else WAYS[result.attends], bold=True)
    yield svg.text(24, top + 21, PROMPTS[result.speaker].rstrip("\n"), size=14, colour=style.QUIET)
    for begins, ends, drawn in _lines(text, NOW, style.INK):
        yield write(drawn, begins, ends, since=text.since)


def _other(result):
    """Draw what to compare it with: the other text, or what had been written, had the switch been left alone."""
    text, (top, n_rows, row, _) = result.other, OTHER
    yield svg.box(12.5, top, WIDTHS[1] - 14, row * (n_rows + 1) + 11, fill=style.PAPER, stroke=style.GRID)
    began = text.began if text else not result.attends
    yield _title(top, WAYS[began] + " all along" * bool(result.now.throws), bold=False)
    if not text:
        yield svg.text(24, top + 37, "?", size=14, colour=style.QUIET)
        return
    for _, _, drawn in _lines(text, OTHER, style.QUIET):
        yield drawn


def _title(top, title, *, bold):
    return svg.text(WIDTHS[1] - 10, top + 18, title, anchor="end", size=11, colour=style.QUIET, bold=bold)


def _lines(text, place, colour):
    """Yield the lines that there is room for below the first: their first letter, the end of the last, and the SVG."""
    top, n_rows, height, size = place
    shown = lines(text.whole, LINE_WIDTH[text.began])[: n_rows * COLUMNS[text.began]]
    wrong = [word.span() for word, is_known in text.words.items() if not is_known]
    for place, (begins, line) in enumerate(shown):
        column, row = divmod(place, n_rows)
        ends, ended = begins + len(line), shown[place - 1][0] + len(shown[place - 1][1]) if place else -1
        thrown = [max(each, begins) for each in text.throws if ended < each <= ends]
        written = ""
        for piece in re.finditer(r" *([^ ]+)", line):
            before, first, last = begins + piece.start(), begins + piece.start(1), begins + piece.end()
            is_wrong = any(first < end and start < last for start, end in wrong)
            here = [max(each - first, 0) for each in thrown if before < each <= last or each == before == begins]
            word = _with_marks(piece[1], here)
            written += " " * (piece.start(1) - piece.start()) + (f"{MISTAKE}{word}</tspan>" if is_wrong else word)
        at = svg.text(24 + 150 * column, top + 21 + height * (row + 1), "", size=size, colour=colour)
        yield begins, ends, at.replace("><", f">{written}<")


def _with_marks(word, places):
    """Write a word with a mark before each of these letters of it."""
    cuts = [0, *places, len(word)]
    return THROWN.join(html.escape(word[start:end]) for start, end in itertools.pairwise(cuts))


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
        "thrown": ipywidgets.Text(description="thrown after"),  # not shown: the switch sets it; "0" is a text anew
    }
    switch, speaker, _ = controls.values()
    return Lab(
        name="with_and_without_attention",
        title="with and without attention",
        task="Switch attention off and on, also while it writes. What changes, and what doesn't?",
        controls=controls,
        form=Form(
            rows=([switch, speaker, Lab.BUTTONS],),
            on_picture=("attention", "speaker"),
        ),
        compute=compute,
        render=render,
        function=None,
        page=StaticPage(
            kernel_only="the switch thrown more than once in a verse",
            offers=dict.fromkeys(controls) | {"thrown": ["", *map(str, range(0, LENGTH, STEP))]},
        ),
    )
