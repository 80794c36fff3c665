"""What can be touched in a picture: data attributes, over which `touch.js` lays native inputs.

There is a function for each kind of mark. Most say what a touch *sets*: a dict of the lab's own controls and their new
values. Nothing of a mark is seen in the picture, and where no script runs it does nothing. A fragment's outline is
where the input lies: 24 pixels each way or more.

Kinds share these arguments:

name : str, optional
    What a screen reader calls it; what it sets unless given.
also_sets : dict, optional
    What is set together with it, and may be changed after.
tip : str, optional
    What is written beside it while it is pointed at, or has the focus.
lights : sequence of str, optional
    The parts that light up meanwhile.
part : str, optional
    Its name from picture to picture, see `part`.
after : int, optional
    For how many milliseconds a part waits before it glides, so that not everything moves at once.
"""

import html
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

Value = str | float | bool
Values = Mapping[str, Value]
Result = TypeVar("Result")  # of a lab's `compute`

_ONE_ELEMENT = re.compile(r"<(\w+)(?=[ />])[^<>]*(?:/>|>[^<>]*</\1>)\Z")


def radio(
    fragment: str,
    sets: Values,
    *,
    also_sets: Values | None = None,
    sweep: str | None = None,
    glance: bool = False,
    name: str | None = None,
    tip: str | None = None,
    lights: Iterable[str] = (),
    part: str | None = None,
    after: int | None = None,
) -> str:
    """Make a fragment one of several choices: a radio button, in one group with all that set the same controls.

    Parameters
    ----------
    fragment : str
    sets : dict
    sweep : str, optional
        Radio buttons of one such name are chosen by pressing one and sweeping over others.
    glance : bool, optional
        Whether it is shown while a mouse is over it, and then what was chosen again.

    Examples
    --------
    >>> radio('<rect width="30" height="24"/>', {"planet": "Mars"})
    '<rect data-choose="{&quot;planet&quot;: &quot;Mars&quot;}" width="30" height="24"/>'
    """
    return _marked(
        fragment, choose=sets, brings=also_sets or None, sweep=sweep, glance=glance or None, name=name, tip=tip,
        lights=list(lights) or None, part=part, after=after,
    )  # fmt: skip


def alias(
    fragment: str, sets: Values, *, tip: str | None = None, part: str | None = None, after: int | None = None
) -> str:
    """Let a press of a fragment set what another mark does: it needs no input of its own, as its twin has one."""
    return _marked(fragment, also=sets, tip=tip, part=part, after=after)


def switch(
    fragment: str,
    on: str | Values,
    off: Values | None = None,
    *,
    also_sets: Values | None = None,
    moment: str | None = None,
    sweep: str | None = None,
    name: str | None = None,
    tip: str | None = None,
) -> str:
    """Make a fragment a check box.

    Parameters
    ----------
    fragment : str
    on : str or dict
        A control that is True or False, or what is set where it is on.
    off : dict, optional
        What is set where it is off, if `on` is a dict. Then a `name` is needed, too.
    moment : str, optional
        The control of text that is told when it is pressed, while `motion.write` reveals a text: the number of the
        letter that comes next, after those of earlier presses. It is "0" once all is written, or where that can't be
        shown.
    sweep : str, optional
        Check boxes of one such name are set by pressing one and sweeping over others.
    """
    return _marked(
        fragment, brings=also_sets or None, moment=moment, switch=on, off=off, sweep=sweep, name=name, tip=tip
    )


def button(
    fragment: str,
    *,
    press: str | None = None,
    sets: Values | None = None,
    name: str | None = None,
    tip: str | None = None,
    part: str | None = None,
) -> str:
    """Make a fragment a button.

    Parameters
    ----------
    fragment : str
    press : str, optional
        The label of the lab's button that it presses.
    sets : dict, optional
        What it sets, before it presses anything. Then a `name` is needed.
    """
    return _marked(fragment, press=press, sets=sets, name=name, tip=tip, part=part)


def player(
    fragment: str,
    press: str,
    *,
    every: int,
    starts: int | None = None,
    sets: Values | None = None,
    name: str,
    tip: str | None = None,
) -> str:
    """Make a fragment a button that presses one of the lab's again and again; `chips.player` draws one.

    It goes on until the lab is touched, or nothing changes any more.

    Parameters
    ----------
    fragment : str
    press : str
        The label of the lab's button.
    every : int
        Milliseconds from one press to the next, at least.
    starts : int, optional
        How often it is pressed by itself as soon as it is seen, if its reader has not asked for less motion. Then
        the lab is as it was; a touch stops it where it is.
    sets : dict, optional
        What is set before it begins.
    """
    return _marked(fragment, sets=sets, play=press, every=every, starts=starts, name=name, tip=tip)


def track(
    fragment: str,
    handle: str,
    *,
    stops: Sequence[Values],
    points: Sequence[tuple[float, float]],
    also_sets: Values | None = None,
    carried: bool = False,
    slots: bool = False,
    enter: str | None = None,
    name: str | None = None,
    tip: str | None = None,
    part: str | None = None,
) -> str:
    """Make a fragment a handle on a track: a slider.

    Parameters
    ----------
    fragment : str
    handle : str
        What it is known by, and called unless it has a `name`.
    stops : sequence of dict
        What it sets at each of its places, in their order.
    points : sequence of tuple
        Where it then stands: a point for each stop, in the picture's own pixels. A track may bend.
    carried : bool, optional
        Whether it stays under the pointer while it is dragged, and glides to its place when it is dropped; an outline
        shows where that is. It must be a part.
    slots : bool, optional
        Whether the first stop is its home and the others are slots: the nearest one counts, across and up, and a plain
        press puts it into the last or takes it home.
    enter : str, optional
        The label of the lab's button that Enter presses while it has the focus.
    """
    return _marked(
        fragment, brings=also_sets or None, scrub=handle, stops=stops, track=points, carried=carried or None,
        slots=slots or None, enter=enter, name=name, tip=tip, part=part,
    )  # fmt: skip


def plane(
    fragment: str,
    sets: tuple[str, str],
    edges: Sequence[float],
    *,
    name: str,
    also_sets: Values | None = None,
    tip: str | None = None,
) -> str:
    """Make a fragment a handle in a plane: two sliders.

    Parameters
    ----------
    fragment : str
    sets : tuple of str
        The two numbers, across and up, that it sets.
    edges : sequence of float
        Left, top, right and bottom in the picture's own pixels, the lowest and highest number across, the same up, and
        the step.
    """
    return _marked(fragment, brings=also_sets or None, drag=sets, plane=edges, name=name, tip=tip)


def grip(fragment: str, handle: str) -> str:
    """Let a handle come to where a fragment, its track or its plane, is pressed.

    Parameters
    ----------
    fragment : str
    handle : str
        Which handle; of a plane, the first of its two numbers.
    """
    return _marked(fragment, grip=handle)


def hold(fragment: str) -> str:
    """Make a fragment the piece of a handle by which it is taken: the rest of it lets a finger scroll the page."""
    return _marked(fragment, hold=True)


def tip(fragment: str, text: str) -> str:
    """Give a fragment a tip, which is shown while the pointer is on it."""
    return _marked(fragment, tip=text)


def trail(fragment: str, of: str) -> str:
    """Leave dots where a part has been since the lab was last reset: a path without a line, which they are drawn with.

    Parameters
    ----------
    fragment : str
        A `<path>` with an empty `d`; its stroke is what the dots look like.
    of : str
        The part, a circle that a lab's script moves.
    """
    return _marked(fragment, trail=of)


def leaving(fragment: str, switched_off: str, start: tuple[float, float]) -> str:
    """Let a fragment come from `start` when a control is switched off: what that gives to others.

    Parameters
    ----------
    fragment : str
        Drawn where it arrives, with `opacity="0"`: otherwise it isn't seen.
    switched_off : str
        The control.
    start : tuple
        How far from there it begins.
    """
    return _marked(fragment, leaves=switched_off, **{"from": start})


def part(
    fragment: str, name: str, *, way: Sequence[tuple[float, float]] | None = None, after: int | None = None
) -> str:
    """Give a fragment a name: it glides from its place in one picture to that in the next, and can light up.

    Parameters
    ----------
    fragment : str
        It glides if its size stays the same.
    name : str
    way : sequence of tuple, optional
        The points along which it glides, if it comes from where the first of them is.

    Returns
    -------
    str
        The fragment with data attributes; several elements are put into a group, which carries them.

    Examples
    --------
    >>> part("<path/><path/>", "moon")
    '<g data-part="moon"><path/><path/></g>'
    """
    return _marked(fragment, part=name, way=way, after=after)


def computed_part(fragment: str, name: str, computed: Mapping[str, Mapping[str, str]]) -> str:
    """Give an element a name, and what a lab's script computes of it.

    Parameters
    ----------
    fragment : str
        One element of SVG, which has each of these attributes already.
    name : str
    computed : dict of str to dict
        By part: its attributes, and its "text".

    Examples
    --------
    >>> computed_part('<rect width="0" height="24"/>', "bar", {"bar": {"width": "7"}})
    '<rect data-part="bar" width="7" height="24"/>'
    """
    for attribute, value in computed[name].items():
        is_text = attribute == "text"
        old = r">[^<]*<" if is_text else rf' {attribute}="[^"]*"'
        new = f">{html.escape(value)}<" if is_text else f' {attribute}="{value}"'
        fragment = re.sub(old, new.replace("\\", r"\\"), fragment, count=1)
    return part(fragment, name)


def each_part(draw: Mapping[str, Callable[[Result], Iterable[str]]], result: Result, *names: str) -> dict[str, str]:
    """Draw some parts of a picture.

    Parameters
    ----------
    draw : dict of str to callable
        By a part's name: from a result to its fragments.
    result : object
    *names : str

    Returns
    -------
    dict of str to str
        By name.

    Examples
    --------
    >>> each_part({"dot": lambda result: ["<circle/>"] * result}, 2, "dot")
    {'dot': '<g data-part="dot"><circle/><circle/></g>'}
    """
    return {name: part("".join(draw[name](result)), name) for name in names}


def _marked(fragment: str, **data: object) -> str:
    """Write what `touch.js` reads into a fragment's tag, or round it if it has several elements."""
    attributes = "".join(
        f' data-{name}="{html.escape(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))}"'
        for name, value in data.items()
        if value is not None
    )
    if not _ONE_ELEMENT.match(fragment):
        return f"<g{attributes}>{fragment}</g>"
    return re.sub(r"<\w+", lambda tag: tag[0] + attributes, fragment, count=1)
