"""The frame that all labs share: one white card with controls, one picture, a read-out and Reset.

A lab is a pure `compute(state)` and a pure `render(result)`; the frame turns the controls' values into the state and
shows what `render` returns. Callbacks may run on a thread of their own, so nothing here touches the reader's variables.

The picture is touched where `render` marks it (`live_pictures.marks`): `touch.js` lays native inputs over the marks,
and hides the controls that they stand for. It asks through a hidden text field, and the lab answers with a new picture.
Where no script runs, the controls are there, and do the same. `README.md` beside this file is for lab authors.
"""

import html
import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache, cached_property, partial
from pathlib import Path

import ipywidgets
from traitlets import Unicode

from live_pictures import card
from live_pictures.card import Picture
from live_pictures.controls import in_a_row
from live_pictures.figure import image
from live_pictures.live import show_live
from live_pictures.marks import Values
from live_pictures.options import Form, Script, State, StaticPage

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
def code(name: str | Path) -> str:
    """Return the text of a file; a plain name such as "touch.js" is one beside this module."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def layer(*more: str) -> str:
    """Return the layer's code, after the code of other files."""
    return "".join(map(code, (*more, "pointing.js", "playing.js", "touch.js")))


def modules(script: Script | None, style_sheet: Path | None) -> str:
    """Return the layer's style and code, and a lab's own code, as scripts that do not run inside a widget."""
    style = f"<style>{code('touch.css')}{code(style_sheet) if style_sheet else ''}</style>"
    return f'{style}<script type="text/plain">{layer()}</script>{own_module(script)}'


def own_module(script: Script | None) -> str:
    """Return a lab's own code, if it has any, as a script that nothing runs until the layer does."""
    if not script:
        return ""
    data, own = html.escape(json.dumps(script.data, ensure_ascii=False)), code(script.file)
    return f'<script type="text/plain" data-live="{script.file.stem}" data-given="{data}">{own}</script>'


class _MessageField(ipywidgets.Text):
    """A text field that does not echo what the page has just sent: the echo would arrive before the picture."""

    value = Unicode().tag(sync=True, echo_update=False)


class Lab:
    """Controls, a picture, a read-out, and Reset.

    A subclass may say how a lab is brought to life, name a mistake in the reader's function, and find a stored picture.

    Parameters
    ----------
    name : str
        What a page knows it by.
    title, task : str
        What it is, and what to try first.
    extra_task : str, optional
        What to try then, with controls that a page without a kernel has not.
    controls : dict of str to ipywidgets.Widget
        Widgets with a `value`; together their values are the state.
    compute : callable
        From a state and the reader's function (or None) to a result. Pure.
    render : callable
        From a result to a Picture. Pure. With `shows_changes` it also takes the result before, or None.
    function : callable, optional
        The reader's function.
    actions : dict of str to callable, optional
        A button each: from the state to the values that change, or to several such steps, each of which is shown.
    form : Form, optional
        Where the controls stand, and which of them the picture's marks stand for.
    on_change : dict of str to callable, optional
        By a control's name: what sets other controls when this one changes, before anything is drawn. It takes the
        change.
    page : StaticPage, optional
        What a page without a kernel shows.
    script : Script, optional
        What the page computes while something is dragged.
    thumbnail_state : dict, optional
        What is set in the stored picture, where the first state shows too little by itself.
    shows_changes : bool, optional
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
    how_to_run = "Run this cell for the live lab."  # what is written beside a still picture
    style_sheet: Path | None = None  # further rules of CSS, for all labs of a class

    def __init__(
        self,
        *,
        name: str,
        title: str,
        task: str,
        controls: Mapping[str, ipywidgets.Widget],
        compute: Callable,
        render: Callable[..., Picture],
        function: Callable | None = None,
        actions: Mapping[str, Callable[[State], Values | Sequence[Values]]] | None = None,
        form: Form | None = None,
        on_change: Mapping[str, Callable[[dict], object]] | None = None,
        page: StaticPage | None = None,
        script: Script | None = None,
        thumbnail_state: Values | None = None,
        shows_changes: bool = False,
        extra_task: str = "",
    ) -> None:
        self.name, self.title, self.task, self.task_on_page = name, title, f"{task} {extra_task}".strip(), task
        self.controls, self.compute, self.render, self.function = dict(controls), compute, render, function
        self.form, self.page, self.script = form or Form(), page or StaticPage(), script
        self.on_change, self.shows_changes = on_change or {}, shows_changes
        self._n_asked = 0  # the last question's number
        self.first_state = self.state
        self.thumbnail_state = self.first_state | dict(thumbnail_state or {})
        self._n_settings = 0  # how many calls of `set` are under way: an observer may call it again
        self._before: object = None
        self.picture, self.readout = ipywidgets.HTML(), ipywidgets.HTML()
        self.picture.add_class("mha-picture")
        self.readout.add_class("mha-readout")
        self.buttons: dict[str, ipywidgets.Button] = {}
        self._actions = dict(actions or {}) | {"Reset": lambda state: self.first_state}
        for label, action in self._actions.items():
            button = ipywidgets.Button(description=label, layout={"width": "auto"})
            button.on_click(lambda _, action=action: self._take(action(self.state)))
            self.buttons[label] = button
        for name, control in self.controls.items():
            control.observe(partial(self._changed, self.on_change.get(name)), "value")
        self._message = _MessageField(description="what was touched")
        self._message.add_class("mha-message")
        self._message.observe(self._asked, "value")
        self.widget = ipywidgets.VBox([*self._top(), self.picture, self.readout, *self._bottom()])
        self.widget.add_class("mha-lab")
        self.update(role="status")

    def _top(self) -> list[ipywidgets.Widget]:
        """Return what stands above the picture: the heading, and rows of controls."""
        for name in self.form.on_picture:
            (self.controls | self.buttons)[name].add_class("mha-on-picture")
        buttons = in_a_row(self.buttons.values())
        rows = self.form.rows or [[*self.controls.values(), Lab.BUTTONS]]
        arranged = [in_a_row(buttons if widget is Lab.BUTTONS else widget for widget in row) for row in rows]
        return [ipywidgets.HTML(card.header(self.title, self.task)), *arranged]

    def _bottom(self) -> list[ipywidgets.Widget]:
        """Return what stands below the read-out, visible or not."""
        scripts = ipywidgets.HTML(modules(self.script, self.style_sheet))
        scripts.add_class("mha-modules")
        return [*self.form.below, self._message, scripts]

    @property
    def state(self) -> State:
        return {name: control.value for name, control in self.controls.items()}

    def _take(self, changes: Values | Sequence[Values]) -> None:
        for values in _steps(changes):
            self.set(**values)

    def _asked(self, change: dict) -> None:
        """Answer a touch of the picture. Every answer is a new picture, so the page never waits in vain."""
        question = json.loads(change["new"])
        with self.held():
            self._n_asked = question["n"]
            self.set(**question["set"])
            if "press" in question:
                self.buttons[question["press"]].click()

    def after(self, label: str, state: State) -> State:
        """Return what a button sets on a page without a kernel, at the end of its steps."""
        changes = (self._actions | dict(self.page.actions))[label](state)
        return {name: value for step in _steps(changes) for name, value in step.items()}

    def _changed(self, on_change: Callable | None, change: dict) -> None:
        if not on_change:
            self.update()
            return
        with self.held():
            on_change(change)

    def set(self, **values) -> None:
        """Set several controls and draw once, when all are set."""
        with self.held():
            for name, value in values.items():
                self.controls[name].value = value

    @contextmanager
    def held(self) -> Iterator[None]:
        """Draw once, after several controls have changed: the page gets the picture before the controls."""
        self._n_settings += 1
        with ExitStack() as until_drawn:
            for control in self.controls.values():
                until_drawn.enter_context(control.hold_sync())
            try:
                yield
            finally:
                self._n_settings -= 1
            self.update()

    def draw(self, state: State, function: Callable | None, before: object = None) -> Picture:
        """Return the picture of a state."""
        return self._drawn(self.compute(state, function), before)

    def _drawn(self, result: object, before: object) -> Picture:
        picture = self.render(result, before) if self.shows_changes else self.render(result)
        if picture.is_wrong and self._mistake:
            return replace(picture, notice=f"Not yet: {self._mistake}. {picture.notice}")
        return picture

    @cached_property
    def _mistake(self) -> str | None:
        return self.mistake()

    def mistake(self) -> str | None:
        """Return the name of the mistake in the reader's function, if it is a known one; called once."""
        return None

    def update(self, role: str = "alert") -> None:
        """Draw the current state."""
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

    def shown(self, picture: Picture, state: State | None = None) -> str:
        """Return a picture's HTML, with the data that `touch.js` needs."""
        state_text = html.escape(json.dumps(state or self.state, ensure_ascii=False))
        # What the page computes is right: where a mistake of the reader's is to be seen, it computes nothing.
        live = f' data-live="{self.script.file.stem}"' if self.script and not picture.is_wrong else ""
        about = f'data-picture-of="{self.name}" data-answer="{self._n_asked}"{live} data-state="{state_text}"'
        return f"<div {about}>{picture.html()}</div>"

    def page_picture(self) -> Picture:
        """Return the current state's picture, as a page without a kernel shows it."""
        return self.draw(self.state, self.function)

    @property
    def still_picture(self) -> Picture:
        """The picture that is stored: without a function of the reader's."""
        return self.draw(self.thumbnail_state, None)

    @property
    def still(self) -> str:
        """The lab as it is stored, as HTML."""
        return card.still(self.title, self.task, self.still_picture, note=card.still_note(self.how_to_run))

    @property
    def description(self) -> str:
        """The lab in plain text: what nbval compares and a screen reader gets where the lab is not run."""
        return f"Lab: {self.title}. {self.still_picture.sentence} {self.how_to_run}"

    def stored_picture(self) -> bytes | None:
        """Return the PNG that stands in the lab's place where it isn't run, or None."""
        return None

    def _ipython_display_(self) -> None:
        picture, still = self.stored_picture(), {"text/html": LOADER, "text/plain": self.description}
        if picture:
            shown = image("image/png", picture, card.STILL_WIDTH, self.description)
            still |= {"text/html": shown + LOADER, "image/png": b64encode(picture).decode()}
        show_live(self.widget, still, metadata={"image/png": {"width": card.STILL_WIDTH}})


def _steps(changes: Values | Sequence[Values]) -> Sequence[Values]:
    return [changes] if isinstance(changes, Mapping) else changes
