"""What a lab may have beside its picture: a form, a script, and what a page without a kernel shows of it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import ipywidgets

from live_pictures.marks import Value, Values

State = dict[str, Value]


@dataclass(frozen=True)
class Form:
    """Where the controls stand.

    Parameters
    ----------
    rows : sequence of sequence of ipywidgets.Widget, optional
        The rows of controls above the picture, with `Lab.BUTTONS` where the buttons are to stand; all in one row
        unless given.
    on_picture : collection of str, optional
        The controls and buttons that the picture's marks stand for: they leave the form while it can be touched.
    below : sequence of ipywidgets.Widget, optional
        Controls that stand below the picture: what few need.
    """

    rows: Sequence[Sequence[object]] = ()
    on_picture: Collection[str] = ()
    below: Sequence[ipywidgets.Widget] = ()


@dataclass(frozen=True)
class Script:
    """What the page computes by itself while something is dragged.

    Parameters
    ----------
    file : pathlib.Path
        The lab's JavaScript. It sets `mhaLive.NAME`, where NAME is the file's: from a state and `data` to `parts`, and
        to the `sentence`.
    parts : callable
        The same in Python: from a result to attributes and texts, by part.
    data : dict, optional
        What the script needs to know beside the state.
    """

    file: Path
    parts: Callable[..., Mapping[str, Mapping[str, str]]]
    data: Mapping[str, object] | None = None


@dataclass(frozen=True)
class StaticPage:
    """What a page without a kernel shows of a lab.

    Parameters
    ----------
    offers : dict of str to sequence, optional
        By a control's name: the values that the page can show, in every combination, or a function that returns them.
        All values of the form's `on_picture` unless given.
    pieces : dict of tuple to callable, optional
        Where the picture has too many states for a page: the controls on which a piece of it depends, and what draws
        it, from a result to its parts' SVG, by name, and a sentence. What buttons do depends on those of the first.
    actions : dict of str to callable, optional
        By a button's label: what it sets on the page, from the state, where its own action would do more.
    remember_per_value : dict of str to collection of str, optional
        By a control's name: the controls whose values are kept apart for each of its values, and shown again; at first
        what is offered first.
    kernel_only : str, optional
        What the page cannot set, in its reader's words.
    """

    offers: Mapping[str, Sequence[Value] | Callable[[], Sequence[Value]] | None] | None = None
    pieces: Mapping[tuple[str, ...], Callable[..., tuple[Mapping[str, str], str]]] = field(default_factory=dict)
    actions: Mapping[str, Callable[[State], Values | Sequence[Values]]] = field(default_factory=dict)
    remember_per_value: Mapping[str, Collection[str]] = field(default_factory=dict)
    kernel_only: str = ""
