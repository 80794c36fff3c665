"""The frame that all labs share: one white card with controls, one picture, a read-out and Reset.

A lab is a pure `compute(state)` and a pure `render(result)`; the frame turns the controls' values into
the state and shows what `render` returns. Callbacks may run on a thread of their own, so nothing here
touches the learner's variables.

The picture is touched where `render` marks it (`live_pictures.marks`): `touch.js` lays native inputs over the
marks, and hides the controls that they stand for. It asks through a hidden text field, and the lab answers with a new
picture. Where no script runs, the controls are there, and do the same. `README.md` beside this file is for who makes a
lab.
"""

import html
import json
from base64 import b64encode
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache, cached_property, partial
from pathlib import Path

import ipywidgets
from traitlets import Unicode

from live_pictures import card
from live_pictures.controls import in_a_row
from live_pictures.live import show_live
from live_pictures.shown import image

# The layer's code comes with the lab's widgets, and is in no notebook; what is stored there only sets it off.
LOADER = """<script type="module">
if (!window.mhaLoader) {
  const run = () => {
    const code = document.querySelector(".mha-modules script:not([data-live])");
    if (!code) return;
    window.mhaLoader.disconnect();
    document.head.append(Object.assign(document.createElement("script"), { type: "module", text: code.text }));
  };
  window.mhaLoader = new MutationObserver(run);
  window.mhaLoader.observe(document.body, { childList: true, subtree: true });
  run();
}
</script>"""


@cache
def code(name):
    """Return what stands in one of the files beside this one: "touch.js", for example."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def layer(*more):
    """Return the layer's code, after that of other files."""
    return "".join(map(code, (*more, "pointing.js", "playing.js", "touch.js")))


def modules(live, given):
    """Return the layer's style and code, and a lab's own code: scripts that a widget holds are not run there."""
    style = f"<style>{code('touch.css')}</style>"
    return f'{style}<script type="text/plain">{layer()}</script>{own_module(live, given)}'


def own_module(live, given):
    """Return a lab's own code, if it has any, as a script that nothing runs until the layer does."""
    if not live:
        return ""
    known, own = html.escape(json.dumps(given, ensure_ascii=False)), live.read_text(encoding="utf-8")
    return f'<script type="text/plain" data-live="{live.stem}" data-given="{known}">{own}</script>'


class _Wish(ipywidgets.Text):
    """A text field of which the page is not told what it has just said: that would go before the picture."""

    value = Unicode().tag(sync=True, echo_update=False)


class Lab:
    """Controls, a picture, a read-out, and Reset.

    Parameters
    ----------
    name : str
        What a page knows it by.
    title, task : str
        What it is, and the one thing to try.
    further : str, optional
        What to try then, with controls that a page without a kernel has not.
    only_there : str, optional
        What such a page cannot set, as it says there.
    controls : dict of str to ipywidgets.Widget
        Widgets with a `value`; together their values are the state.
    compute : callable
        From a state and the learner's function (or None) to a result. Pure.
    render : callable
        From a result to a Picture. Pure. Where `moves` is set it is also given the result before, or None.
    function : callable or None
        The learner's function.
    exercise : Exercise, optional
        Its check names the learner's mistake, as the panel does.
    actions : dict of str to callable, optional
        A button each: from the state to the values that change, or to several such steps, each of which is shown.
    layout : sequence of sequence of ipywidgets.Widget, optional
        The rows of controls above the picture, with `Lab.BUTTONS` where the buttons are to stand; all in one row
        unless given.
    on_picture : collection of str, optional
        The controls and buttons that the picture's marks stand for: they leave the form while it can be touched.
    offers : dict of str to sequence, optional
        By a control's name: the values that a page without a kernel can show, in every combination, or what returns
        them. Those of the controls in `on_picture` unless given.
    goes : dict of str to callable, optional
        By a button's label: what it sets on such a page, from the state, where its own action would do more.
    live : pathlib.Path, optional
        The lab's file of JavaScript that computes what moves while something is dragged.
    given : dict, optional
        What it needs to know beside the state.
    parts : callable, optional
        What it computes, in Python: from a result to attributes and texts, by part.
    pieces : dict of tuple to callable, optional
        Where the picture has too many states for a page: the controls on which a piece of it depends, and what draws
        it, from a result to its parts' SVG, by name, and a sentence. On those of the first depends what buttons do.
    below : sequence of ipywidgets.Widget, optional
        Controls that stand below the picture: what few need.
    follows : dict of str to callable, optional
        By a control's name: what sets other controls when this one changes, before anything is drawn. It is given
        the change.
    turns : dict of str to collection of str, optional
        By a control's name: what a page without a kernel keeps for each of its values apart, and shows again; at first
        what is offered first.
    still : dict, optional
        What is set in the stored picture, where the first state shows too little by itself.
    moves : bool, optional
        Whether the picture shows what has changed, and so needs the result before.

    Attributes
    ----------
    widget : ipywidgets.VBox
        The live lab.
    picture, readout : ipywidgets.HTML
        What it shows now, and says.
    buttons : dict of str to ipywidgets.Button
    """

    BUTTONS = object()

    def __init__(
        self, *, name, title, task, controls, compute, render, function, exercise=None, actions=None, layout=None,
        on_picture=(), offers=None, goes=None, live=None, given=None, parts=None, pieces=None, below=(),
        follows=None, still=None, moves=False, further="", turns=None, only_there="",
    ):  # fmt: skip
        self.name, self.title, self.task, self.task_on_page = name, title, f"{task} {further}".strip(), task
        self.controls, self.compute, self.render, self.function = controls, compute, render, function
        self.exercise, self.follows, self.moves = exercise, follows or {}, moves
        self.on_picture, self.offers, self._goes = on_picture, offers, goes or {}
        self.live, self.given, self.parts, self.pieces = live, given, parts, pieces or {}
        self.turns, self.only_there = turns or {}, only_there
        self._n_asked = 0  # the last question's number
        self.first_state = self.state
        self.still_state = self.first_state | (still or {})
        self._n_settings = 0  # how many calls of `set` are under way: an observer may call it again
        self._before = None
        self.picture, self.readout = ipywidgets.HTML(), ipywidgets.HTML()
        self.picture.add_class("mha-picture")
        self.readout.add_class("mha-readout")
        self.buttons, self._changes = {}, (actions or {}) | {"Reset": lambda state: self.first_state}
        for label, change in self._changes.items():
            button = ipywidgets.Button(description=label, layout={"width": "auto"})
            button.on_click(lambda _, change=change: self._take(change(self.state)))
            self.buttons[label] = button
        for name, control in controls.items():
            control.observe(partial(self._changed, self.follows.get(name)), "value")
        buttons = in_a_row(self.buttons.values())
        rows = layout or [[*controls.values(), Lab.BUTTONS]]
        arranged = [in_a_row(buttons if one is Lab.BUTTONS else one for one in row) for row in rows]
        header = ipywidgets.HTML(card.header(title, self.task))
        for one in on_picture:
            (self.controls | self.buttons)[one].add_class("mha-on-picture")
        self._wish = _Wish(description="what was touched")
        self._wish.add_class("mha-wish")
        self._wish.observe(self._asked, "value")
        scripts = ipywidgets.HTML(modules(live, given))
        scripts.add_class("mha-modules")
        shown = [header, *arranged, self.picture, self.readout, *below, self._wish, scripts]
        self.widget = ipywidgets.VBox(shown)
        self.widget.add_class("mha-lab")
        self.update(role="status")

    @property
    def state(self):
        return {name: control.value for name, control in self.controls.items()}

    def _take(self, changes):
        for values in [changes] if isinstance(changes, dict) else changes:
            self.set(**values)

    def _asked(self, change):
        """Answer what was touched in the picture: every answer is a new picture, so that none is waited for in vain."""
        question = json.loads(change["new"])
        with self.held():
            self._n_asked = question["n"]
            self.set(**question["set"])
            if "press" in question:
                self.buttons[question["press"]].click()

    def after(self, label, state):
        """Return what a button sets on a page without a kernel, at the end of its steps."""
        changes = (self._changes | self._goes)[label](state)
        steps = [changes] if isinstance(changes, dict) else changes
        return {name: value for step in steps for name, value in step.items()}

    def _changed(self, follow, change):
        if not follow:
            self.update()
            return
        with self.held():
            follow(change)

    def set(self, **values):
        """Set several controls, and draw once, when the last one is set."""
        with self.held():
            for name, value in values.items():
                self.controls[name].value = value

    @contextmanager
    def held(self):
        """Draw nothing while several things change, and then once: the page gets the picture before the controls."""
        self._n_settings += 1
        with ExitStack() as until_drawn:
            for control in self.controls.values():
                until_drawn.enter_context(control.hold_sync())
            try:
                yield
            finally:
                self._n_settings -= 1
            self.update()

    def draw(self, state, function, before=None):
        """Return the picture of a state."""
        return self._drawn(self.compute(state, function), before)

    def _drawn(self, result, before):
        picture = self.render(result, before) if self.moves else self.render(result)
        if picture.is_wrong and self._mistake:
            return replace(picture, notice=f"Not yet: {self._mistake}. {picture.notice}")
        return picture

    @cached_property
    def _mistake(self):
        """What the check calls the learner's mistake, if it knows it. Asked once: it takes a hundred calls."""
        return self.exercise and self.exercise.diagnosis(self.function).mistake

    def update(self, role="alert"):
        """Show the present state."""
        if self._n_settings:
            return
        try:
            result = self.compute(self.state, self.function)
            picture = self._drawn(result, self._before)
            self._before = result
            self.picture.value, self.readout.value = self.shown(picture), card.readout(picture.sentence, role=role)
        except Exception as error:  # a widget's callback has nowhere else to say it
            self.picture.value = (
                f'<p role="alert"><b>This lab stopped:</b> {html.escape(type(error).__name__)}: '
                f"{html.escape(str(error))}. Press Reset; if it stays, please report it.</p>"
            )
            raise

    def shown(self, picture, state=None):
        """Return a picture's HTML, with what `touch.js` is to know of it."""
        state = html.escape(json.dumps(state or self.state, ensure_ascii=False))
        # What the page computes is the course's own: where a mistake is to be seen, it computes nothing.
        live = f' data-live="{self.live.stem}"' if self.live and not picture.is_wrong else ""
        about = f'data-picture-of="{self.name}" data-answer="{self._n_asked}"{live} data-state="{state}"'
        return f"<div {about}>{picture.html()}</div>"

    @property
    def still_picture(self):
        """The picture on the course's own function that is stored."""
        return self.draw(self.still_state, None)

    @property
    def still(self):
        """The lab as it is stored, as HTML."""
        return card.still(self.title, self.task, self.still_picture)

    @property
    def description(self):
        """The lab in plain text: what nbval compares and a screen reader gets where the lab is not run."""
        return f"Lab: {self.title}. {self.still_picture.sentence} {card.TO_LIFE}"

    def stored_picture(self):
        """Return the PNG that stands in the lab's place where it isn't run, or None."""
        return None

    def _ipython_display_(self):
        picture, still = self.stored_picture(), {"text/html": LOADER, "text/plain": self.description}
        if picture:
            shown = image("image/png", picture, card.STILL_WIDTH, self.description)
            still |= {"text/html": shown + LOADER, "image/png": b64encode(picture).decode()}
        show_live(self.widget, still, metadata={"image/png": {"width": card.STILL_WIDTH}})
