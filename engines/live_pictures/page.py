"""A lab on a page without a kernel: every picture that it offers, drawn beforehand and packed into the page.

The pictures are those of a lab without a function of its reader's. `frames.js` unpacks them, and `touch.js` lays its
layer over them, as in a notebook.
"""

import base64
import html
import itertools
import json
import math
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import ipywidgets

from live_pictures import card, frame
from live_pictures.frame import Lab
from live_pictures.marks import Value
from live_pictures.options import State

MAX_STATES = 1100  # a page is not to be heavier than it is worth
FIRST_LETTER, MAX_LETTERS = 0x100, 0xD700  # none that JSON would have to escape; above them come half characters


def offered(lab: Lab) -> dict[str, list[Value]]:
    """Return what a page can set: the controls' names, and the values of each."""
    names: Iterable[str]
    if lab.page.pieces:
        names = dict.fromkeys(name for names in lab.page.pieces for name in names)
    elif lab.page.offers is not None:
        names = lab.page.offers
    else:
        names = [name for name in lab.form.on_picture if name in lab.controls]
    return {name: [*_offered_values(lab, name)] for name in names}


def _offered_values(lab: Lab, name: str) -> Iterable[Value]:
    values = (lab.page.offers or {}).get(name)
    return _values(lab.controls[name]) if values is None else values() if callable(values) else values


def _values(control: ipywidgets.Widget) -> Iterable[Value]:
    if hasattr(control, "options"):
        return [option[1] if isinstance(option, tuple) else option for option in control.options]
    if isinstance(control.value, bool):
        return [False, True]
    return [*range(control.min, control.max + 1)]


def _states(axes: Mapping[str, Sequence[Value]]) -> Iterator[State]:
    """Go through every combination of the values of some controls, the last of which changes fastest."""
    for values in itertools.product(*axes.values()) if axes else ():
        yield dict(zip(axes, values, strict=True))


Shown = str | Mapping[str, str]  # a picture's HTML, or that of a piece's parts
Frame = tuple[Shown, str, dict[str, State]]


def frames(lab: Lab) -> list[list[Frame]]:
    """Draw every state that a lab offers on a page.

    Parameters
    ----------
    lab : Lab
        Without a function of its reader's; it is reset at the end.

    Returns
    -------
    list of list of tuple
        Of each piece of the picture, and each of its states: HTML, a sentence, and by button in the picture what a
        press of it sets. Most labs have one piece, the picture; of others each is a dict of parts, and the first
        knows what the buttons set.

    Raises
    ------
    ValueError
        If there are more states than a page can hold.

    Examples
    --------
    >>> from live_pictures.controls import radio
    >>> from live_pictures.options import Form
    >>> lab = Lab(
    ...     name="lamp", title="lamp", task="Switch it on.", controls={"lamp": radio("lamp", ["off", "on"])},
    ...     compute=lambda state, function: state["lamp"],
    ...     render=lambda lamp: card.Picture("", f"The lamp is {lamp}.", ""), form=Form(on_picture=["lamp"]),
    ... )
    >>> (drawn,) = frames(lab)
    >>> [sentence for _, sentence, _ in drawn]
    ['The lamp is off.', 'The lamp is on.']
    """
    offers = offered(lab)
    if lab.page.pieces:
        buttons = [label for label in lab.buttons if label in lab.form.on_picture]
        (names, draw), *others = lab.page.pieces.items()
        first = [*_piece(lab, offers, names, draw, buttons)]
        return [first, *([*_piece(lab, offers, names, draw)] for names, draw in others)]
    n_states = math.prod(map(len, offers.values()))
    if n_states > MAX_STATES:
        raise ValueError(
            f"{n_states} states are offered, and a page holds {MAX_STATES}; name fewer in the page's `offers`"
        )
    with lab.held():
        drawn = [*_whole(lab, offers)]
        lab.set(**lab.first_state)
    return [drawn]


def _piece(
    lab: Lab, offers: dict[str, list[Value]], names: Iterable[str], draw: Callable, buttons: Collection[str] = ()
) -> Iterator[Frame]:
    for known in _states({name: offers[name] for name in names}):
        drawn, sentence = draw(lab.compute(lab.first_state | known, lab.function))
        yield drawn, sentence, _changes_by_button(lab, buttons, known, offers)


def _whole(lab: Lab, offers: dict[str, list[Value]]) -> Iterator[Frame]:
    for known in _states(offers):
        lab.set(**known)
        picture = lab.page_picture()
        shown = lab.shown(picture)
        yield shown, picture.sentence, _changes_by_button(lab, _buttons(shown), known, offers)


def _buttons(shown: str) -> set[str]:
    return {html.unescape(label) for label in re.findall(r' data-(?:press|play)="([^"]*)"', shown)}


def _changes_by_button(
    lab: Lab, buttons: Iterable[str], known: State, offers: dict[str, list[Value]]
) -> dict[str, State]:
    """Return, by button, what a press changes among the values that a page can show; `known` is the state before it."""
    after = {label: lab.after(label, lab.first_state | known) for label in buttons}
    return {
        label: {
            name: value
            for name, value in sets.items()
            if value in offers.get(name, ()) and (name not in known or value != known[name])
        }
        for label, sets in after.items()
    }


def _shared(drawn: list[list[Frame]]) -> list:
    """Store each tag and sentence once, and a frame as one letter for each of them: a tenth of the size.

    They are sorted, because deflate sees no further back than 32 kB: a sixth less. Letters, not numbers: a twentieth.
    """
    used: set[str] = set()

    def each(do, shown):
        return {part: do(fragment) for part, fragment in shown.items()} if isinstance(shown, dict) else do(shown)

    def split(shown):
        pieces = re.split(r"(?=<)|(?<=\. )", shown)
        used.update(pieces)
        return pieces

    def lettered(pieces):
        return "".join(letters[piece] for piece in pieces)

    frames = [[(each(split, shown), split(words), sets) for shown, words, sets in piece] for piece in drawn]
    if len(used) > MAX_LETTERS:
        raise ValueError(
            f"{len(used)} tags and sentences, and there are {MAX_LETTERS} letters for them; offer fewer states"
        )
    letters = {text: chr(FIRST_LETTER + number) for number, text in enumerate(sorted(used))}
    frames = [[(each(lettered, shown), lettered(words), sets) for shown, words, sets in piece] for piece in frames]
    return [[*letters], frames]


def on_page(lab: Lab, note: str = "") -> str:
    """Write a lab as it stands on a page without a kernel.

    Parameters
    ----------
    lab : Lab
    note : str, optional
        HTML that stands below it: where it runs, for example.

    Returns
    -------
    str
    """
    drawn = frames(lab)
    packed = zlib.compress(json.dumps(_shared(drawn), ensure_ascii=False, separators=(",", ":")).encode(), 9)
    pressed = sorted({label for piece in drawn for *_, after in piece for label, sets in after.items() if sets})
    offers = offered(lab)
    pieces = [*map(list, lab.page.pieces)] or [[*offers]]
    turns = {name: [*others] for name, others in lab.page.remember_per_value.items()}
    known = {"offers": offers, "pieces": pieces, "pressed": pressed, "turns": turns, "n_bytes": len(packed)}
    known["frames"] = base64.b85encode(packed, pad=True).decode()  # a sixteenth less than base64
    data = json.dumps(known, ensure_ascii=False).replace("</", r"<\/")
    picture = lab.page_picture()
    content = '<div class="widget-html-content">{}</div>'
    if lab.page.kernel_only:
        note += f" Only there: {lab.page.kernel_only}."
    return (
        f'<section class="mha-lab" aria-label="Lab: {html.escape(lab.title)}">'
        f"{card.heading(lab.title, lab.task_on_page)}"
        f'<div class="mha-picture">{content.format(lab.shown(picture))}</div>'
        f'<div class="mha-readout">{content.format(card.readout(picture.sentence, role="note"))}</div>'
        f'<p class="mha-live-at"><button type="button" class="mha-reset">Reset</button> {note}</p>'
        f'<div class="mha-modules">{frame.own_module(lab.script)}</div>'
        f'<script type="application/json" class="mha-frames">{data}</script></section>'
    )


def layer(*style_sheets: Path) -> str:
    """Return what a page with labs needs once: all style sheets, and the layer's code."""
    styles = "".join(map(frame.code, ("touch.css", "page.css", *style_sheets)))
    return f'{card.STYLE_SHEET}<style>{styles}</style><script type="module">{frame.layer("frames.js")}</script>'
