"""The frame that all labs share: controls above, one picture below, Reset.

A lab is a pure `compute(state)` and a pure `render(result)`; the frame turns the controls' values into
the state and shows what `render` returns. Callbacks may run on a thread of their own, so nothing here
touches matplotlib or the learner's variables.
"""

import html
from base64 import b64encode
from dataclasses import dataclass

import ipywidgets
from IPython.display import display

from mha_helpers.course_data import data_path
from mha_helpers.drawing import style

CARD = (
    f"background:{style.PAPER}; color:{style.INK}; font-family:{style.FONT}; font-size:14px; line-height:1.45; "
    "padding:10px 14px; white-space:normal"
)

# JupyterLab reads letters that are typed on a slider or a button as commands; d d deletes the cell.
KEYS = (
    "Keys: Tab goes from control to control, arrows move a slider. On a slider or button, letters are notebook "
    "commands: press none."
)


def listed(numbers):
    """Write whole numbers as a sentence does.

    Parameters
    ----------
    numbers : iterable of int
        Rising; one at least.

    Returns
    -------
    str

    Examples
    --------
    >>> listed([2, 3]), listed([1, 3, 4, 5, 8])
    ('2 and 3', '1, 3 to 5 and 8')
    """
    runs = []
    for one in numbers:
        if runs and one == runs[-1][-1] + 1:
            runs[-1].append(one)
        else:
            runs.append([one])
    texts = []
    for run in runs:
        texts += [f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run)
    *others, last = texts
    return f"{', '.join(others)} and {last}" if others else last


def in_a_row(controls):
    """Arrange controls in a row that wraps where the page is narrow."""
    return ipywidgets.HBox([*controls], layout={"flex_flow": "row wrap"})


def say_on_or_off(toggles):
    """Let toggle buttons say whether they are on, after their names; call it when their lab is made.

    Parameters
    ----------
    toggles : dict of str to ipywidgets.ToggleButton
    """
    for name, toggle in toggles.items():

        def say(change, name=name):
            change["owner"].description = f"{name}: {'on' if change['new'] else 'off'}"

        say({"owner": toggle, "new": toggle.value})
        toggle.observe(say, "value")


@dataclass(frozen=True)
class Picture:
    """What a lab shows for one state.

    Parameters
    ----------
    svg : str
    sentence : str
        What is to be seen, in words: the read-out.
    notice : str
        Whose function was run.
    """

    svg: str
    sentence: str
    notice: str

    def html(self):
        return (
            f'<div style="{CARD}"><p style="margin:0 0 8px">{html.escape(self.notice)}</p>{self.svg}'
            f'<p role="status" aria-live="polite" style="margin:8px 0 0"><b>What you see:</b> '
            f"{html.escape(self.sentence)}</p></div>"
        )


class Lab:
    """Controls, a picture, and Reset.

    Parameters
    ----------
    name : str
        Its stored picture is `data/labs/<name>.png`.
    title, task : str
        What it is, and the one thing to try.
    controls : dict of str to ipywidgets.Widget
        Widgets with a `value`; together their values are the state.
    compute : callable
        From a state and the learner's function (or None) to a result. Pure.
    render : callable
        From a result to a Picture. Pure.
    function : callable or None
        The learner's function.
    actions : dict of str to callable, optional
        A button each: from the state to the values that change.
    layout : sequence of ipywidgets.Widget, optional
        How the controls are arranged: in a row unless given.
    buttons_first : bool, optional
        Whether the buttons stand above the other controls, so that Tab meets them first.

    Attributes
    ----------
    widget : ipywidgets.VBox
        The live lab.
    picture : ipywidgets.HTML
        What it shows now.
    buttons : dict of str to ipywidgets.Button
    """

    def __init__(
        self, *, name, title, task, controls, compute, render, function, actions=None, layout=None, buttons_first=False
    ):
        self.name, self.title, self.task = name, title, task
        self.controls, self.compute, self.render, self.function = controls, compute, render, function
        self.first_state = self.state
        self._n_settings = 0  # how many calls of `set` are under way: an observer may call it again
        self.picture = ipywidgets.HTML()
        self.picture.add_class("mha-picture")
        self.buttons = {}
        for label, change in ((actions or {}) | {"Reset": lambda state: self.first_state}).items():
            button = ipywidgets.Button(description=label, layout={"width": "auto"})
            button.on_click(lambda _, change=change: self.set(**change(self.state)))
            self.buttons[label] = button
        for control in controls.values():
            control.observe(lambda _: self.update(), "value")
        layout = layout or [in_a_row(controls.values())]
        buttons = ipywidgets.HBox([*self.buttons.values()])
        arranged = [buttons, *layout] if buttons_first else [*layout, buttons]
        self.widget = ipywidgets.VBox([ipywidgets.HTML(self.header()), *arranged, self.picture])
        self.widget.add_class("mha-lab")
        self.update()

    @property
    def state(self):
        return {name: control.value for name, control in self.controls.items()}

    def set(self, **values):
        """Set several controls, and draw once, when the last one is set."""
        self._n_settings += 1
        try:
            for name, value in values.items():
                self.controls[name].value = value
        finally:
            self._n_settings -= 1
        self.update()

    def draw(self, state, function):
        """Return the picture of a state."""
        return self.render(self.compute(state, function))

    def update(self):
        """Show the present state."""
        if self._n_settings:
            return
        try:
            self.picture.value = self.draw(self.state, self.function).html()
        except Exception as error:  # a widget's callback has nowhere else to say it
            self.picture.value = (
                f'<div style="{CARD}"><p role="status"><b>This lab stopped:</b> {html.escape(type(error).__name__)}: '
                f"{html.escape(str(error))}. Press Reset; if it stays, please report it.</p></div>"
            )
            raise

    def header(self):
        return (
            f'<div style="{CARD}; border-top:4px solid {style.ROLES["queries"]}"><b>Lab: {html.escape(self.title)}</b>'
            f'<br>{html.escape(self.task)}<br><span style="color:{style.QUIET}; font-size:12px">{KEYS}</span></div>'
        )

    @property
    def first_picture(self):
        """The picture of the first state on the course's own function: what is stored."""
        return self.draw(self.first_state, None)

    @property
    def description(self):
        """The lab in plain text: what nbval compares and a screen reader gets where the lab is not run."""
        return f"Lab: {self.title}. {self.first_picture.sentence} Run this cell to work it."

    def _ipython_display_(self):
        picture = data_path(f"labs/{self.name}.png").read_bytes()
        display(
            {
                "application/vnd.jupyter.widget-view+json": {
                    "model_id": self.widget.model_id,
                    "version_major": 2,
                    "version_minor": 0,
                },
                "image/png": b64encode(picture).decode(),
                "text/plain": self.description,
            },
            metadata={"image/png": {"width": 860}},
            raw=True,
        )
