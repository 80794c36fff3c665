"""The course's map, which heads every notebook: where the reader is, what stands around it, and the way there.

A notebook's set-up cell imports what the notebook needs and ends with the map, its only output:

    import numpy as np

    from mha_helpers import course, exercises, figures, labs

    course.map("02_scaling")

The notebook's last cell is `course.progress("02_scaling")`: how far the learner is, here and on the map.
"""

from __future__ import annotations

import html
import shutil
import sys
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from live_pictures import style, svg
from live_pictures.figure import Figure
from live_pictures.panel import Note, Panel, with_code
from mha_helpers import exercises
from mha_helpers.course_data import data_path
from mha_helpers.drawing import in_a_tab
from mha_helpers.drawing.strip import strip
from mha_helpers.learner import folder, kept_answers, not_yet_run, originals, starting_over
from mha_helpers.learner import progress as kept

if TYPE_CHECKING:
    from mha_helpers.take_home import take_home as take_home
    from mha_helpers.unpack import unpack as unpack


def __getattr__(name):
    """Load what moves work between machines at its first use: most learners stay on one."""
    if name in ("take_home", "unpack"):
        return getattr(import_module(f"mha_helpers.{name}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class Notebook(NamedTuple):
    """A notebook of the course.

    Parameters
    ----------
    name : str
        Its file, without `.ipynb`.
    title : str
        What the map calls it.
    question : str
        The one question that it answers.
    folder : str
        Where its exercises are, in `mha_helpers/exercises/`; empty where it has none.
    sections : tuple of (str, int), optional
        The headings of its core path, each a place to stop at, and the minutes that they take.
    """

    name: str
    title: str
    question: str
    folder: str = ""
    sections: tuple = ()

    @property
    def number(self) -> str:
        return self.name.partition("_")[0]


NOTEBOOKS = (
    Notebook(
        "01_self_attention",
        "Self-attention",
        "How can one word mean different things in different sentences?",
        "self_attention",
        (
            ("A model without its attention", 5),
            ("Two banks", 7),
            ("Who is “it”?", 9),
            ("From scores to weights", 15),
            ("Context: what “it” takes home", 9),
        ),
    ),
    Notebook(
        "02_scaling",
        "Scaling",
        "Why do real models shrink their scores before the softmax, and by how much?",
        "scaling",
        (
            ("Find the cat", 8),
            ("How large does a score get?", 8),
            ("What large scores do to the weights", 9),
            ("One division", 10),
            ("Repair: two bugs behind one test", 7),
        ),
    ),
    Notebook(
        "03_masking",
        "Masks",
        "How do you keep a query from looking where it mustn't?",
        "masking",
        (
            ("One sentence, many guesses", 9),
            ("How to hide a key", 10),
            ("A row with nothing left", 11),
            ("Padding, and other masks", 7),
            ("Does it leak? Ask it", 5),
        ),
    ),
    Notebook(
        "04_splitting_heads",
        "Heads",
        "How can a transformer ask several questions at once, for the price of one?",
        "splitting",
        (
            ("Two questions, two rows of weights", 9),
            ("The same price", 5),
            ("From a loop to an axis", 5),
            ("All heads at once", 17),
            ("A mistake that even learns", 10),
        ),
    ),
    Notebook(
        "05_output_projection",
        "Output",
        "How do the heads' findings become one vector, and what does each head add to it?",
        "output_projection",
        (
            ("Two findings, and nowhere to put them", 10),
            ("All of it, from memory", 14),
            ("The output is a sum over heads", 11),
            ("Tired or soft?", 7),
        ),
    ),
    Notebook(
        "06_real_model",
        "A real model",
        "What do a trained model's heads attend to, and how would you know what they are for?",
        "real_model",
        (
            ("Run it on your function", 8),
            ("What a head attends to", 11),
            ("What “it” attends to", 8),
            ("One head follows", 10),
            ("Who would miss it?", 9),
        ),
    ),
    Notebook(
        "07_heads_that_learn",
        "Learning",
        "How do heads come to do what they do?",
        "heads_that_learn",
        (
            ("What comes next?", 6),
            ("Backwards through attention", 17),
            ("Train it", 6),
            ("Who does what?", 8),
            ("How the heads talk", 11),
        ),
    ),
    Notebook(
        "08_a_model_that_writes",
        "Writing",
        "What turns attention into a GPT, a model that writes?",
        "a_model_that_writes",
        (
            ("The whole model", 9),
            ("It runs on your attention", 10),
            ("Let it write", 12),
            ("Nothing twice", 18),
        ),
    ),
    Notebook(
        "09_todays_heads",
        "Today",
        "What did today's models change about attention, and why?",
        "todays_heads",
        (
            ("What a cache costs", 5),
            ("Shared keys and values", 13),
            ("Positions as angles", 17),
            ("A window that slides", 10),
        ),
    ),
    Notebook(
        "10_what_a_cache_keeps",
        "Caches",
        "What must a cache keep, and whose keys are they?",
        "what_a_cache_keeps",
        (
            ("Whose keys?", 15),
            ("Short vectors that stay short", 14),
            ("Fewer bits", 10),
            ("Who keeps a row in check?", 8),
        ),
    ),
)
WORKSHOPS = (
    Notebook("A_documents", "Five documents", "Which of these numbers is wrong in itself?"),
    Notebook(
        "B_pytorch",
        "PyTorch",
        "Can you read attention in PyTorch, and run its weights in NumPy?",
        "pytorch",
    ),
)


class Map(Figure):
    """The map, with links: an image cannot hold them. Its PNG is stored, so that a set-up cell loads no matplotlib."""

    def __init__(self, here: Notebook) -> None:
        fragments, width, height = strip(here.number)
        super().__init__(width, height, fragments, _says(here))
        self.here = here

    def html(self) -> str:
        """Return the map as an HTML image, and below it a link to each notebook."""
        notebooks = NOTEBOOKS if self.here in NOTEBOOKS else (*NOTEBOOKS, self.here)
        links = " · ".join(_link(notebook, self.here) for notebook in notebooks)
        parts = " · ".join(f"{html.escape(title)} ({minutes} min)" for title, minutes in self.here.sections)
        inside = f"<br>In this notebook: {parts}" if parts else ""
        return f'<div class="mha-map">{super().html()}<br>{links}{inside}</div>'

    def _painted(self, description):
        return data_path(f"maps/{self.here.name}.png").read_bytes()


def map(name: str) -> Map:
    """Show where the reader is in the course: the last line of a notebook's set-up cell.

    Parameters
    ----------
    name : str
        The notebook's file, without `.ipynb`: "02_scaling".

    Returns
    -------
    Map
        A picture with words, and links to the other notebooks.

    Raises
    ------
    ValueError
        If the course has no such notebook.

    Examples
    --------
    >>> map("03_masking")
    The course's map. You are in notebook 3 of 10, Masks: How do you keep a query from looking where it mustn't?
    """
    if (folder.notebooks() / ".update/journal.json").exists():  # an `unpack` was killed half way
        from mha_helpers.update import swap

        swap.finish(folder.notebooks())
    notebook = _named(name)
    not_yet_run.watch(name)
    in_a_tab.bring_matplotlib()
    return Map(notebook)


def _named(name):
    for notebook in (*NOTEBOOKS, *WORKSHOPS):
        if notebook.name == name:
            return notebook
    names = ", ".join(notebook.name for notebook in (*NOTEBOOKS, *WORKSHOPS))
    raise ValueError(f"the course has no notebook {name!r}; give one of {names}")


def _says(here):
    where = f"notebook {int(here.number)} of {len(NOTEBOOKS)}" if here in NOTEBOOKS else f"notebook {here.number}"
    return f"The course's map. You are in {where}, {here.title}: {here.question}"


def _link(notebook, here):
    name = html.escape(f"{notebook.number.lstrip('0')} {notebook.title}")
    if notebook == here:
        return f"<b>{name}</b>"
    return f'<a href="{address(notebook.name)}">{name}</a>'


def address(name: str) -> str:
    """Return a link to a notebook from another: beside it or, on Colab, which opens a single file, on GitHub."""
    if "google.colab" not in sys.modules:
        return f"{name}.ipynb"
    from importlib import metadata

    urls = dict(entry.split(", ", 1) for entry in metadata.metadata("mha_helpers").get_all("Project-URL") or ())
    repository = urls["Repository"].removeprefix("https://github.com/")
    return f"https://colab.research.google.com/github/{repository}/blob/main/notebooks/{name}.ipynb"


def start_over(name: str, place: str | Path | None = None) -> Note:
    """Restore a notebook to the course's original, without outputs; every other notebook stays as it is.

    One exercise starts over by `exercises.NAME.start_over()`, in its cell.

    Parameters
    ----------
    name : str
        The notebook's file, without `.ipynb`: "02_scaling".
    place : path, optional
        The folder that it is in: that of the learner's notebooks.

    Returns
    -------
    Note
        Where the old file is, and how to see the new one.

    Raises
    ------
    ValueError
        If the course has no such notebook, the folder doesn't hold it, or nothing can be written there.

    Examples
    --------
    >>> start_over("02_scaling")  # doctest: +SKIP
    """
    original = originals.original(_named(name).name)
    path = Path(folder.notebooks() if place is None else place, f"{name}.ipynb")
    if not path.exists():
        raise ValueError(f"there is no {path.name} in {path.parent.resolve()}; name the folder that it is in")
    paths = (path.with_name(f"{name}.mine{f'-{number}' if number > 1 else ''}.ipynb") for number in count(1))
    aside = next(path for path in paths if not path.exists())
    written = path.with_suffix(".new")  # whole or not at all
    try:
        shutil.copy2(path, aside)
        written.write_bytes(original)
        written.replace(path)
    except OSError as error:
        written.unlink(missing_ok=True)
        raise ValueError(f"{name} can't start over here ({error.strerror}); its file is as it was") from error
    paragraphs = (
        f"To see it: File > Reload Notebook from Disk. The notebook as you last saved it is {aside.name}, beside it.",
    )
    return Note(Panel("info", f"{name} starts over", paragraphs))


# ---- progress ------------------------------------------------------------------

IN_A_WORKSHOP = {"find_slip", "find_first_slip", "judge_step"}


def asked(notebook: Notebook) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of a notebook's exercises, and of its predictions.

    Parameters
    ----------
    notebook : Notebook

    Returns
    -------
    exercises, predictions : tuple of str
    """
    functions, predictions = (
        tuple(name for name in registry.get(notebook.folder, ()) if name not in IN_A_WORKSHOP)
        for registry in (exercises.EXERCISES, exercises.PREDICTIONS)
    )
    return functions, predictions


def progress(name: str) -> Progress:
    """Show the learner's progress, in this notebook and on the map: the last line of a notebook.

    Which exercises are right and which predictions are committed is kept on the learner's own disk, in the folder
    `.course` beside the notebooks. `forget_progress()` deletes it, and the right answers that are kept there.

    Parameters
    ----------
    name : str
        The notebook's file, without `.ipynb`.

    Returns
    -------
    Progress

    Raises
    ------
    ValueError
        If the course has no such notebook.

    Examples
    --------
    >>> progress("02_scaling")
    Run this cell to see how far you are.
    """
    return Progress(map(name).here)


def forget_progress() -> Note:
    """Delete what `progress` shows, and the answers that `bring_back` brings back, of this copy of the course.

    Returns
    -------
    Note
        Which files are deleted.

    Examples
    --------
    >>> forget_progress()
    There was nothing to forget
    """
    files = {file.path(): file.forget() for file in (kept, kept_answers, starting_over)}
    forgotten = [str(file) for file, done in files.items() if done]
    if not forgotten:
        return Note(Panel("info", "There was nothing to forget"))
    paragraphs = (
        f"Deleted: {' and '.join(forgotten)}, which held how far you were and your right answers.",
        "Your notebooks are as they were, with what you wrote in them.",
    )
    return Note(Panel("info", "Your progress is forgotten", paragraphs))


class Progress:
    """The learner's progress, as a widget: the notebook stores only a sentence that is the same for everybody."""

    def __init__(self, here: Notebook) -> None:
        self.here = here

    def __repr__(self):
        return "Run this cell to see how far you are."

    def sentence(self) -> str:
        """Describe the learner's progress in this notebook."""
        states = kept.read()
        functions, predictions = (
            (sum(states.get(name) == "done" for name in names), len(names)) for names in asked(self.here)
        )
        parts = []
        for (done, of), kind, what in ((functions, "exercise", "right"), (predictions, "prediction", "committed")):
            if of:
                counted = kind if of == 1 else f"{kind}s"
                parts.append(f"all {of} {counted} {what}" if done == of > 1 else f"{done} of {of} {counted} {what}")
        text = ", ".join(parts)
        return f"{text[:1].upper()}{text[1:]}." if text else "This notebook has no exercises."

    def html(self) -> str:
        """Return the sentence and the map, with a tick at each notebook whose exercises are all right."""
        states = kept.read()
        done = {
            notebook.number
            for notebook in NOTEBOOKS
            if (names := [*asked(notebook)[0], *asked(notebook)[1]]) and all(states.get(n) == "done" for n in names)
        }
        fragments, width, height = strip(self.here.number, done=done)
        ticked = [notebook.title for notebook in NOTEBOOKS if notebook.number in done]
        label = f"The course's map. Finished: {', '.join(ticked) or 'none yet'}."
        drawn = svg.document(width, height, fragments, label=label)
        ends = folder.ends_with_the_machine()
        ends = f"<br>{with_code(ends)}" if ends else ""
        return (
            f'<div class="mha-progress" style="background:{style.THEME_PAPER}; color:{style.THEME_INK}; '
            'padding:8px 12px; max-width:760px">'
            f"<b>{self.sentence()}</b><br>{drawn}{ends}</div>"
        )

    def _ipython_display_(self):
        import ipywidgets  # only here: importing the course must stay cheap

        from live_pictures.live import show_live

        show_live(ipywidgets.HTML(self.html()), {"text/html": repr(self), "text/plain": repr(self)})
