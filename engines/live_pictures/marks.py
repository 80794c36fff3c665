"""What can be touched in a lab's picture: data attributes, over which `touch.js` lays native inputs.

A mark says what a touch *sets*: a dict of the lab's own controls and their new values. Nothing of it is seen in the
picture, and where no script runs it does nothing.
"""

import html
import json
import re

_ONE_ELEMENT = re.compile(r"<(\w+)(?=[ />])[^<>]*(?:/>|>[^<>]*</\1>)\Z")


def mark(
    fragment, *, choose=None, brings=None, also=None, switch=None, off=None, sweep=None, press=None, sets=None,
    play=None, every=None, starts=None, scrub=None, stops=None, track=None, carried=None, hold=None, slots=None,
    enter=None, grip=None, drag=None, glance=None, plane=None, name=None, tip=None, lights=(), part=None, way=None,
):  # fmt: skip
    """Say what a touch of a fragment does.

    One of `choose`, `also`, `switch`, `press`, `sets`, `play`, `scrub`, `grip` and `drag`, or none.

    Parameters
    ----------
    fragment : str
        SVG. Its outline is where the input lies: 24 pixels each way or more.
    choose : dict, optional
        One of several: a radio button, in one group with all that sets the same controls.
    brings : dict, optional
        What is set with it when it is chosen or switched, or its handle is moved, and may be changed after.
    also : dict, optional
        Sets the same under a pointer, and needs no input of its own: its twin has one.
    switch : str or dict, optional
        A control that is on or off, or what is set where it is on: a check box.
    off : dict, optional
        What is set where it is off, unless that is False.
    sweep : str, optional
        Check boxes of one such name are set, and radio buttons chosen, by pressing one and sweeping over others.
    press : str, optional
        The label of one of the lab's buttons: a button.
    sets : dict, optional
        A button that sets these; or, of what is played, what is set before it begins.
    play : str, optional
        The label of one of the lab's buttons that is pressed again and again until the lab is touched, or nothing
        changes any more: a button. `labs.chips.player` draws one.
    every : int, optional
        Milliseconds from one press of it to the next, at least.
    starts : int, optional
        How often it is pressed by itself as soon as it is seen, if its reader has not asked for less motion. Then
        the lab is as it was; a touch stops it where it is.
    scrub : str, optional
        The name of a handle on a track: a slider.
    stops : sequence of dict, optional
        What the handle sets at each of its places, in their order.
    track : sequence of tuple, optional
        Where it then stands: a point for each stop, in the picture's own pixels.
    carried : bool, optional
        Whether the handle stays under the pointer while it is dragged, and glides to its place when it is dropped; an
        outline shows where that is. It must be a part.
    hold : bool, optional
        Of a piece of a handle: whether it is taken there, and not everywhere.
    slots : bool, optional
        Whether the first stop is its home and the others are slots: the nearest one counts, across and up, and a plain
        press puts it into the last or takes it home.
    enter : str, optional
        The label of one of the lab's buttons, which Enter presses while the handle has the focus.
    grip : str, optional
        The name of a handle (of a plane: of the first of its numbers) that comes to where this is pressed.
    drag : tuple of str, optional
        Two numbers, across and up, that a handle in a plane sets: two sliders.
    glance : bool, optional
        Of one of several: whether it is shown while a mouse is over it, and then what was chosen again.
    plane : sequence of float, optional
        Of that plane: left, top, right and bottom in the picture's own pixels, the lowest and highest number across,
        the same up, and the step.
    name : str, optional
        What a screen reader calls it; what it sets unless given.
    tip : str, optional
        What is written beside it while it is pointed at, or has the focus.
    lights : sequence of str, optional
        The parts that light up meanwhile.
    part : str, optional
        What it is called, from picture to picture: it glides from its old place to its new one, and can light up.
    way : sequence of tuple, optional
        Of a part: the points along which it glides, if it comes from where the first of them is.

    Returns
    -------
    str
        The fragment with data attributes; several elements are put into a group, which carries them.

    Examples
    --------
    >>> mark('<rect width="30" height="24"/>', choose={"query": "it"})
    '<rect data-choose="{&quot;query&quot;: &quot;it&quot;}" width="30" height="24"/>'
    >>> mark("<path/><path/>", part="it")
    '<g data-part="it"><path/><path/></g>'
    """
    about = {
        "choose": choose, "brings": brings or None, "also": also, "switch": switch, "off": off, "sweep": sweep,
        "press": press, "sets": sets, "play": play, "every": every, "starts": starts, "scrub": scrub, "stops": stops,
        "track": track, "carried": carried, "hold": hold, "slots": slots, "enter": enter, "grip": grip, "drag": drag,
        "glance": glance, "plane": plane, "name": name, "tip": tip, "lights": list(lights) or None, "part": part,
        "way": way,
    }  # fmt: skip
    attributes = "".join(
        f' data-{key}="{html.escape(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))}"'
        for key, value in about.items()
        if value is not None
    )
    if not _ONE_ELEMENT.match(fragment):
        return f"<g{attributes}>{fragment}</g>"
    return re.sub(r"<\w+", lambda tag: tag[0] + attributes, fragment, count=1)


def part(name, parts, fragment):
    """Name an element as a part, and give it what a lab's `parts` say of it.

    Parameters
    ----------
    name : str
    parts : dict of str to dict
        By part: its attributes, and its "text".
    fragment : str
        One element of SVG, which has each of these attributes already.

    Examples
    --------
    >>> part("bar", {"bar": {"width": "7"}}, '<rect width="0" height="24"/>')
    '<rect data-part="bar" width="7" height="24"/>'
    """
    for attribute, value in parts[name].items():
        pattern, shown = (r">[^<]*<", f">{html.escape(value)}<") if attribute == "text" else (
            rf' {attribute}="[^"]*"', f' {attribute}="{value}"'
        )  # fmt: skip
        fragment = re.sub(pattern, lambda _, shown=shown: shown, fragment, count=1)
    return mark(fragment, part=name)


def each_part(draw, result, *names):
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
    return {name: mark("".join(draw[name](result)), part=name) for name in names}
