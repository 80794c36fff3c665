"""A lab of the course: what its stored picture and its page say, and how a learner's mistake is named."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from live_pictures import frame, page
from live_pictures.card import Picture
from mha_helpers.course_data import data_path
from mha_helpers.exercises.engine import Exercise

SHOWN_WITH = "Shown with the course's own"  # how the notice begins where the learner's function is not shown
STYLE_SHEET = Path(__file__).parent / "labs.css"


class Lab(frame.Lab):
    """As `live_pictures.frame.Lab`, and with the course's own texts.

    Parameters
    ----------
    function : callable or None
        The learner's function.
    exercise : Exercise, optional
        Its check names the mistake in `function`, as the panel does.
    **options
        Those of `live_pictures.frame.Lab`.
    """

    how_to_run = "Run all cells above, then this one, for the live lab."
    style_sheet = STYLE_SHEET

    def __init__(self, *, function: Callable | None, exercise: Exercise | None = None, **options) -> None:
        self.exercise = exercise  # before the first picture, which may show a mistake
        super().__init__(function=function, **options)

    def mistake(self) -> str | None:
        """Return what the check calls the learner's mistake, if it knows it: it takes a hundred calls."""
        return self.exercise.diagnosis(self.function).mistake if self.exercise else None

    def stored_picture(self) -> bytes:
        """Return `data/labs/<name>.png`, which `python -m tools refresh` takes."""
        return data_path(f"labs/{self.name}.png").read_bytes()

    def page_picture(self) -> Picture:
        """Return the picture without its notice: whose function it shows says the page, once."""
        picture = super().page_picture()
        return replace(picture, notice="") if picture.notice.startswith(SHOWN_WITH) else picture

    def on_page(self, runs: str) -> str:
        """Return the lab as it stands on a page without a kernel, as HTML.

        Parameters
        ----------
        runs : str
            HTML: where it runs, and what a sentence begins with: "Open the notebook".
        """
        if self.exercise:
            whose = "Here it shows the course's own function. "
            whose += f"{runs}, and it runs on the one that you write, mistakes and all."
        else:
            whose = "" if self.page.kernel_only else "All of it works here. "
            whose += f"{runs} to find out why, and to write the code yourself."
        return page.on_page(self, whose)


def page_layer() -> str:
    """Return what a page with labs of the course needs once."""
    return page.layer(STYLE_SHEET)
