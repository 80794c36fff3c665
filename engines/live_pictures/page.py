"""A lab on a page without a kernel: every picture that it offers, drawn beforehand and packed into the page.

The pictures are those of the course's own function. `touch.js` unpacks them and lays its layer over them, as in a
notebook.
"""

import base64
import html
import itertools
import json
import math
import re
import zlib
from dataclasses import replace

from live_pictures import card, frame

MOST = 1100  # states: a page is not to be heavier than it is worth
FIRST_LETTER, MOST_LETTERS = 0x100, 0xD700  # none that JSON would have to escape; above them come half characters


def offered(lab):
    """Return what a page can set: the controls' names, and the values of each."""
    if lab.pieces:
        names = dict.fromkeys(name for names in lab.pieces for name in names)
    else:
        names = lab.offers if lab.offers is not None else [name for name in lab.on_picture if name in lab.controls]
    return {name: [*_given(lab, name)] for name in names}


def _given(lab, name):
    values = (lab.offers or {}).get(name)
    return _values(lab.controls[name]) if values is None else values() if callable(values) else values


def _values(control):
    if hasattr(control, "options"):
        return [option[1] if isinstance(option, tuple) else option for option in control.options]
    if isinstance(control.value, bool):
        return [False, True]
    return [*range(control.min, control.max + 1)]


def _states(axes):
    """Go through every combination of the values of some controls, the last of which changes fastest."""
    for values in itertools.product(*axes.values()) if axes else ():
        yield dict(zip(axes, values, strict=True))


def frames(lab):
    """Draw every state that a lab offers on a page.

    Parameters
    ----------
    lab : Lab
        On the course's own function; it is reset at the end.

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
    >>> from mha_helpers import labs
    >>> (drawn,) = frames(labs.qkv_workbench())
    >>> len(drawn), drawn[0][1][:27]
    (30, '“cat” attends most to “sat”')
    """
    offers = offered(lab)
    if lab.pieces:
        buttons = [label for label in lab.buttons if label in lab.on_picture]
        first, *others = lab.pieces.items()
        return [[*_piece(lab, offers, *first, buttons)], *([*_piece(lab, offers, *other)] for other in others)]
    n_states = math.prod(map(len, offers.values()))
    if n_states > MOST:
        raise ValueError(f"{n_states} states are offered, and a page holds {MOST}; name fewer in the lab's `offers`")
    with lab.held():
        drawn = [*_whole(lab, offers)]
        lab.set(**lab.first_state)
    return [drawn]


def _piece(lab, offers, names, draw, buttons=()):
    for known in _states({name: offers[name] for name in names}):
        drawn, said = draw(lab.compute(lab.first_state | known, lab.function))
        yield drawn, said, _goes(lab, buttons, known, offers)


def _whole(lab, offers):
    for known in _states(offers):
        lab.set(**known)
        picture = _picture(lab)
        shown = lab.shown(picture)
        yield shown, picture.sentence, _goes(lab, _buttons(shown), known, offers)


def _picture(lab):
    """Draw what is set; whose function it shows says the page."""
    picture = lab.draw(lab.state, lab.function)
    return replace(picture, notice="") if picture.notice.startswith("Shown with the course's own") else picture


def _buttons(shown):
    return {html.unescape(label) for label in re.findall(r' data-(?:press|play)="([^"]*)"', shown)}


def _goes(lab, buttons, known, offers):
    """Return, by button, what of that which a page can show its press changes; `known` is what is set."""
    after = {label: lab.after(label, lab.first_state | known) for label in buttons}
    return {
        label: {
            name: value
            for name, value in sets.items()
            if value in offers.get(name, ()) and (name not in known or value != known[name])
        }
        for label, sets in after.items()
    }


def _shared(drawn):
    """Write each tag and sentence of all frames once, and a frame as a letter for each: a tenth of the weight.

    They are sorted, because deflate sees no further back than 32 kB: a sixth less. Letters, not numbers: a twentieth.
    """
    used = set()

    def each(do, shown):
        return {part: do(one) for part, one in shown.items()} if isinstance(shown, dict) else do(shown)

    def split(shown):
        pieces = re.split(r"(?=<)|(?<=\. )", shown)
        used.update(pieces)
        return pieces

    def lettered(pieces):
        return "".join(letters[one] for one in pieces)

    frames = [[(each(split, shown), split(said), goes) for shown, said, goes in piece] for piece in drawn]
    if len(used) > MOST_LETTERS:
        raise ValueError(
            f"{len(used)} tags and sentences, and there are {MOST_LETTERS} letters for them; offer fewer states"
        )
    letters = {one: chr(FIRST_LETTER + number) for number, one in enumerate(sorted(used))}
    frames = [[(each(lettered, shown), lettered(said), goes) for shown, said, goes in piece] for piece in frames]
    return [[*letters], frames]


def on_page(lab, runs):
    """Write a lab as it stands on a page without a kernel.

    Parameters
    ----------
    lab : Lab
    runs : str
        HTML: where it runs, and what a sentence begins with: "Open the notebook".

    Returns
    -------
    str
    """
    drawn = frames(lab)
    packed = zlib.compress(json.dumps(_shared(drawn), ensure_ascii=False, separators=(",", ":")).encode(), 9)
    pressed = sorted({label for piece in drawn for _, _, goes in piece for label, sets in goes.items() if sets})
    offers = offered(lab)
    pieces = [*map(list, lab.pieces)] or [[*offers]]
    turns = {name: [*others] for name, others in lab.turns.items()}
    known = {"offers": offers, "pieces": pieces, "pressed": pressed, "turns": turns, "n_bytes": len(packed)}
    known["frames"] = base64.b85encode(packed, pad=True).decode()  # a sixteenth less than base64
    data = json.dumps(known, ensure_ascii=False).replace("</", r"<\/")
    picture = _picture(lab)
    content = '<div class="widget-html-content">{}</div>'
    if lab.exercise:
        whose = "Here it shows the course's own function. "
        whose += f"{runs}, and it runs on the one that you write, mistakes and all."
    else:
        whose = "" if lab.only_there else "All of it works here. "
        whose += f"{runs} to find out why, and to write the code yourself."
    if lab.only_there:
        whose += f" Only there: {lab.only_there}."
    return (
        f'<section class="mha-lab" aria-label="Lab: {html.escape(lab.title)}">'
        f"{card.heading(lab.title, lab.task_on_page)}"
        f'<div class="mha-picture">{content.format(lab.shown(picture))}</div>'
        f'<div class="mha-readout">{content.format(card.readout(picture.sentence, role="note"))}</div>'
        f'<p class="mha-live-at"><button type="button" class="mha-reset">Reset</button> {whose}</p>'
        f'<div class="mha-modules">{frame.own_module(lab.live, lab.given)}</div>'
        f'<script type="application/json" class="mha-frames">{data}</script></section>'
    )


def layer():
    """Return what a page with labs needs once: the card's style, the layer's, and its code."""
    return (
        f"{card.STYLE_SHEET}<style>{frame.code('touch.css')}{frame.code('page.css')}</style>"
        f'<script type="module">{frame.layer("frames.js")}</script>'
    )
