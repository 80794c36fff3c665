"""With and without attention: a model that writes, and the same model where each letter attends to itself alone."""

import functools
import html
import re
from dataclasses import dataclass

from mha_helpers.course_data import data_path
from mha_helpers.drawing import style, svg
from mha_helpers.drawing.marks import mark
from mha_helpers.exercises.self_attention.predictions import attend_to_itself
from mha_helpers.labs.card import EDGE, Picture
from mha_helpers.labs.controls import check_box, radio
from mha_helpers.labs.frame import Lab
from mha_helpers.model import decoder

PROMPTS = {"ROMEO": "ROMEO:\n", "JULIET": "JULIET:\n", "KING": "KING RICHARD III:\n"}
LENGTH = 110  # characters: a fraction of a second
WORD = re.compile(r"[A-Za-z][A-Za-z']+")


@dataclass(frozen=True)
class Result:
    """What the model has written."""

    speaker: str
    attends: bool
    text: str  # after the prompt
    shown: list  # the lines of it that there is room for
    known: tuple  # of each word in these: whether it stands in the plays


@functools.cache
def vocabulary():
    """Return every word of the plays that the model has read."""
    return frozenset(WORD.findall(data_path("writer/shakespeare.txt").read_text(encoding="utf-8").lower()))


@functools.cache
def written(speaker, attends):
    """Let the model write. The seed is the same, so that only attention tells the two texts apart."""
    ways = {} if attends else {"attend": attend_to_itself}
    return decoder.load().write(PROMPTS[speaker], LENGTH, temperature=0.7, seed=0, **ways)


def compute(state, function=None):
    """From the switch and the speaker to a text."""
    speaker, attends = state["speaker"], state["attention"]
    text = written(speaker, attends)
    every = [line for line in lines(text.strip()) if line]
    shown = every[:MOST_LINES]
    words = WORD.findall("\n".join(shown))
    if shown == every:
        words = words[:-1]  # the last may not be finished
    return Result(speaker, attends, text, shown, tuple(word.lower() in vocabulary() for word in words))


def sentence(result):
    """Say what is to be seen."""
    switch = "With attention" if result.attends else "Without attention"
    return (
        f"{switch}, {sum(result.known)} of the {len(result.known)} words that it writes stand somewhere in the plays."
    )


WIDTHS, LINE, MOST_LINES = (216, 344), 19, 10
MOST = 36  # letters of a line


def render(result):
    """Draw the switch, and the text with what is no word underlined."""
    said = sentence(result)
    control = svg.document(WIDTHS[0], 236, _switch(result), label=said)
    return Picture(control + svg.document(WIDTHS[1], 236, _page(result), label=result.text), said, "")


def _switch(result):
    purple = style.HEADS[0]
    fill, edge, knob = (purple, purple, 62) if result.attends else (style.PAPER, EDGE, 20)
    track = f'<rect x="1" y="30" width="82" height="38" rx="19" fill="{fill}" stroke="{edge}" stroke-width="2"/>'
    handle = svg.circle(knob + 1, 49, 14, fill=style.PAPER if result.attends else EDGE, stroke=edge)
    yield svg.text(0, 16, "Attention", bold=True)
    yield mark(track + mark(handle, part="knob"), switch="attention", name="attention")
    yield svg.text(94, 54, "on" if result.attends else "off", bold=True, size=16)
    with_it, without = ("each letter reads all", "the letters before it"), ("each letter reads", "itself alone")
    for i, line in enumerate(with_it if result.attends else without):
        yield svg.text(0, 90 + 17 * i, line, size=12, colour=style.QUIET)
    yield svg.text(0, 144, "Who speaks", bold=True)
    x = 1
    for speaker in PROMPTS:
        width, chosen = 16 + 8 * len(speaker), speaker == result.speaker
        chip = svg.box(x, 152, width, 28, fill=style.tint(purple) if chosen else style.PANEL, stroke=EDGE)
        name = svg.text(x + width / 2, 171, speaker, anchor="middle", bold=chosen, size=12)
        yield mark(chip + name, choose={"speaker": speaker})
        x += width + 6
    yield svg.text(0, 208, f"{sum(result.known)} of its {len(result.known)} words", bold=True)
    yield svg.text(0, 226, "stand in the plays (underlined: not)", size=12, colour=style.QUIET)


def lines(text):
    r"""Break a text as a page does: where it says so, between words, or within one that is too long.

    Examples
    --------
    >>> lines("O speak again,\nbright angel!")
    ['O speak again,', 'bright angel!']
    """
    broken = []
    for line in text.split("\n"):
        broken.append("")
        for piece in re.findall(rf" *[^ ]{{1,{MOST}}}", line):
            if len(broken[-1] + piece) > MOST:
                broken.append("")
                piece = piece.lstrip()
            broken[-1] += piece
    return broken


def _page(result):
    yield svg.box(12.5, 0.5, WIDTHS[1] - 14, 232, fill=style.PANEL, stroke=style.GRID)
    prompt, y = PROMPTS[result.speaker].rstrip("\n"), 22
    yield svg.text(24, y, prompt, size=14, colour=style.QUIET)
    n_words = 0
    for line in result.shown:
        y += LINE
        written = ""
        for piece in re.finditer(r" *[^ ]+", line):
            here = len(WORD.findall(piece[0]))
            is_word = all(result.known[n_words : n_words + here])
            n_words += here
            mistake = f' fill="{style.ALARM}" text-decoration="underline"'
            word = html.escape(piece[0].lstrip())
            written += " " * (len(piece[0]) - len(piece[0].lstrip())) + (
                word if is_word else f"<tspan{mistake}>{word}</tspan>"
            )
        yield svg.text(24, y, "", size=14).replace("><", f">{written}<")


def with_and_without_attention():
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
    controls = {"attention": check_box("attention", True), "speaker": radio("speaker", PROMPTS)}
    return Lab(
        name="with_and_without_attention",
        title="with and without attention",
        task="Switch attention off. Which part of what it had learned is gone?",
        controls=controls,
        on_picture=(*controls,),
        compute=compute,
        render=render,
        function=None,
    )
