"""Restore an exercise's original text in the notebook's cell that asks for it, and save what was there."""

import datetime

from live_pictures.panel import Note, Panel
from mha_helpers.learner import kept_file, progress

FILE = "before_starting_over.py"


def path():
    """Return the file to which a cell's text is added before the cell starts over; None where nothing is kept."""
    file = progress.path()
    return file and file.with_name(FILE)


def forget():
    """Delete the file; return whether there was one."""
    return kept_file.forget(path())


def start_over(exercise, original):
    """Replace the running cell's text by an exercise's original.

    Parameters
    ----------
    exercise : str
    original : str

    Returns
    -------
    Note
        What the cell held, and the original to copy where the editor doesn't replace a cell's text.

    Raises
    ------
    ValueError
        If this is not run in a notebook's cell.
    """
    from IPython import get_ipython  # only here: importing the exercises must stay cheap

    shell = get_ipython()
    if shell is None:
        raise ValueError(f"only a notebook's cell can start over; run exercises.{exercise}.start_over() in one")
    held = shell.history_manager.input_hist_raw[-1].strip()
    # As `set_next_input(original, replace=True)`, which would let the classic notebook clear what is shown here.
    # JupyterLab, Notebook 7 and VS Code replace the cell's text; Colab ignores it (googlecolab/colabtools, issue 1619).
    shell.payload_manager.write_payload(
        {"source": "set_next_input", "text": original, "replace": True, "clear_output": False}
    )
    copy = (("Does the cell still hold the old text? Copy the original from here", original),)
    if len(held.splitlines()) == 1:
        where = "This cell holds the original now. If your answer is in another cell, it is there as before."
        return Note(Panel("info", f"{exercise} starts over", (where,), folds=copy))
    paragraphs = (f"This cell holds the original now; run it when you have filled it in. {_keep(exercise, held)}",)
    return Note(Panel("info", f"{exercise} starts over", paragraphs, code=held, folds=copy))


def _keep(exercise, text):
    """Add a text to the file, and return a sentence that says where it is."""
    file = path()
    if file is None:
        return "It held the following."
    now = datetime.datetime.now()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "a", encoding="utf-8") as kept:
            kept.write(f"# {exercise}, before it started over on {now:%d %B %Y, %H:%M}\n{text}\n\n\n")
    except OSError as error:
        return f"It held the following, which could not be kept in {file} ({error.strerror})."
    return f"It held the following, which is kept in {file}, too."
