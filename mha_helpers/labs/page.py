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

from mha_helpers.labs import card, frame
from mha_helpers.labs.chips import PART

MOST = 1100  # states: a page is not to be heavier than it is worth


def offered(lab):
    """Return what a page can set: the controls' names, and the values of each."""
    if lab.offers is not None:
        return {name: [*(values() if callable(values) else values)] for name, values in lab.offers.items()}
    return {name: _values(lab.controls[name]) for name in lab.on_picture if name in lab.controls}


def _values(control):
    if hasattr(control, "options"):
        return [option[1] if isinstance(option, tuple) else option for option in control.options]
    if isinstance(control.value, bool):
        return [False, True]
    return [*range(control.min, control.max + 1)]


def _states(axes):
    """Go through every combination of the values of some controls, the last of which changes fastest."""
    n_states = math.prod(map(len, axes.values())) if axes else 0
    if n_states > MOST:
        raise ValueError(f"{n_states} states are offered, and a page holds {MOST}; name fewer in the lab's `offers`")
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
        press of it sets. Most labs have one piece, the picture; a mask studio has its rows, each a dict of parts.

    Raises
    ------
    ValueError
        If there are more states than a page can hold.

    Examples
    --------
    >>> from mha_helpers import labs
    >>> (drawn,) = frames(labs.qkv_workbench())
    >>> len(drawn), drawn[0][1][:27]
    (25, '“cat” attends most to “sat”')
    """
    with lab.held():
        if lab.pieces:
            drawn = [[*_piece(lab, axes, draw)] for axes, draw in zip(pieces(lab), lab.pieces.values(), strict=True)]
        else:
            drawn = [[*_whole(lab, axes)] for axes in pieces(lab)]
        lab.set(**lab.first_state)
    return drawn


def pieces(lab):
    """Return what is set of each piece of a lab's picture: the controls' names, and their values."""
    return [{name: _values(lab.controls[name]) for name in names} for names in lab.pieces] or [offered(lab)]


def _piece(lab, axes, draw):
    for state in _states(axes):
        yield (*draw(lab.compute(lab.first_state | state, lab.function)), {})


def _whole(lab, axes):
    for state in _states(axes):
        lab.set(**state)
        picture = lab.draw(lab.state, lab.function)
        shown = lab.shown(picture)
        yield shown, picture.sentence, {label: _goes(lab, label, axes) for label in _buttons(shown)}


def _buttons(shown):
    return {html.unescape(label) for label in re.findall(r' data-(?:press|play)="([^"]*)"', shown)}


def _goes(lab, label, axes):
    return {name: value for name, value in lab.after(label).items() if value in axes.get(name, ())}


def _shared(drawn):
    """Write each tag of all frames once, and a frame as the numbers of its tags: a tenth of the weight."""
    numbers = {}

    def numbered(text):
        return [numbers.setdefault(tag, len(numbers)) for tag in re.split("(?=<)", text)]

    frames = [
        [
            (
                {part: numbered(one) for part, one in shown.items()} if isinstance(shown, dict) else numbered(shown),
                *said,
            )
            for shown, *said in piece
        ]
        for piece in drawn
    ]
    return [[*numbers], frames]


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
    packed = base64.b64encode(zlib.compress(json.dumps(_shared(drawn), ensure_ascii=False).encode(), 9)).decode()
    pressed = sorted({label for piece in drawn for _, _, goes in piece for label, sets in goes.items() if sets})
    known = {"pieces": [[*axes.items()] for axes in pieces(lab)], "pressed": pressed, "frames": packed}
    data = json.dumps(known, ensure_ascii=False).replace("</", r"<\/")
    picture = lab.draw(lab.state, lab.function)
    content = '<div class="widget-html-content">{}</div>'
    own = f"Here it shows the course's own function. {runs} to run it on yours."
    whose = own if lab.exercise else f"{runs} to read what it shows."
    widest = max(float(width) for width in re.findall(r'<svg [^>]*?width="([\d.]+)"', picture.svg))
    # What cannot be broken in two scrolls within its card on a phone, and the keyboard reaches it.
    region = f' tabindex="0" role="region" aria-label="Picture: {html.escape(lab.title)}"'
    wide, scrolls = (" mha-wide", region) if widest > PART else ("", "")
    return (
        f'<section class="mha-lab{wide}" aria-label="Lab: {html.escape(lab.title)}">{card.heading(lab.title, lab.task)}'
        f'<p class="mha-live-at">{whose}</p>'
        f'<div class="mha-picture"{scrolls}>{content.format(lab.shown(picture))}</div>'
        f'<div class="mha-readout">{content.format(card.readout(picture.sentence, role="note"))}</div>'
        f'<div class="mha-modules">{frame.own_module(lab.live, lab.given)}</div>'
        f'<script type="application/json" class="mha-frames">{data}</script></section>'
    )


def layer():
    """Return what a page with labs needs once: the card's style, the layer's, and its code."""
    return (
        f"{card.STYLE_SHEET}<style>{frame.code('touch.css')}{frame.code('page.css')}</style>"
        f'<script type="module">{frame.code("touch.js")}</script>'
    )
