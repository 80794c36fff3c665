"""Keeping the outcomes of checks in a file, for a learner who asks for it.

`exercises.keep_results()` is the consent: before it no outcome is written, and nothing is ever sent. (Which exercises
are done is kept apart from that, for the learner alone: `progress`.)
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from live_pictures.panel import Note, Panel
from mha_helpers.learner import progress

STATUSES = ("correct", "wrong", "not attempted")
SUFFIX = ".jsonl"  # one JSON value a line; a notebook, named by mistake, does not end so
_keeper = None


def keep_results(file: str | Path = "my_results.jsonl") -> Note:
    """Append the outcome of every check and every committed answer to a file, from here on.

    A line holds the exercise, its status, the mistake that the check named (or the wrong option that was
    chosen), and the minutes since the first try at that exercise. No name, no code, no date.

    Parameters
    ----------
    file : path, optional
        Ends in `.jsonl`. Lines that are there already stay, and new ones follow them.

    Returns
    -------
    Note
        What is kept, where, and how to stop.

    Raises
    ------
    ValueError
        If the file cannot be written, or its name does not end in `.jsonl`.

    Examples
    --------
    >>> exercises.keep_results()  # doctest: +SKIP
    """
    global _keeper
    path = Path(file)
    if path.suffix != SUFFIX:
        raise ValueError(f"results are kept in a file that ends in {SUFFIX}; given {str(file)!r}: rename it")
    keeper = _Keeper(path)
    try:
        keeper.append("")
    except OSError as error:
        raise ValueError(
            f"{str(file)!r} cannot be written ({error.strerror}); name a file in a folder that exists and is yours"
        ) from error
    _keeper = keeper
    example = _line("softmax", "wrong", "softmax-no-exp", 2.5)
    paragraphs = (
        "Each check, and each answer that you commit, adds a line: the exercise, whether it was right, the mistake "
        "that the check named or the wrong option that you chose, and the minutes since your first try. For example:",
        f"`{example.strip()}`",
        "Not kept: your name, your code, the date, anything about this computer. Nothing is sent anywhere: the file is "
        "plain text, and yours to read, to hand in or to delete.",
        "To stop: `exercises.stop_keeping()`. Restarting the kernel stops it, too.",
    )
    return Note(Panel("info", f"Your results are kept in {path} from now on", paragraphs))


def stop_keeping() -> Note:
    """Stop saving results; the file stays as it is.

    Returns
    -------
    Note

    Examples
    --------
    >>> from mha_helpers import exercises
    >>> exercises.stop_keeping()
    No results are kept
    Nothing is written until you run exercises.keep_results().
    """
    global _keeper
    stopped, _keeper = _keeper, None
    stays = (f"{stopped.shown} stays as it is.",) if stopped else ()
    paragraphs = (*stays, "Nothing is written until you run exercises.keep_results().")
    return Note(Panel("info", "No results are kept", paragraphs))


def keep(exercise: str, status: str, mistake: str | None) -> None:
    """Note the learner's progress, and append the outcome to their file if they asked for it.

    Every outcome of a check or a committed answer passes here, and nowhere else.

    A failure is printed beside the outcome, which is shown all the same.

    Parameters
    ----------
    exercise : str
    status : {"correct", "wrong", "not attempted"}
    mistake : str or None
    """
    progress.note(exercise, status)
    if _keeper is None:
        return
    try:
        _keeper.append(_line(exercise, status, mistake, _keeper.minutes_at(exercise, status)))
    except OSError as error:
        print(
            f"This result could not be kept in {_keeper.shown} ({error.strerror}). "
            "Run exercises.keep_results() with another file, or exercises.stop_keeping()."
        )


class _Keeper:
    """The file, and when each exercise was first tried."""

    def __init__(self, path):
        self.shown = path  # as the learner wrote it
        self._path = path.absolute()  # the cells may change the working folder
        self._first_tries = {}

    def minutes_at(self, exercise, status):
        now = time.monotonic()
        # Running all cells asks every exercise while it is a stub: that is no try.
        first = now if status == "not attempted" else self._first_tries.setdefault(exercise, now)
        return round((now - first) / 60, 1)

    def append(self, line):
        """Write in one piece, at the end: another notebook may be writing to the same file.

        What it is writing may look cut off for a moment: that gives an empty line, which means nothing.
        """
        with open(self._path, "a+b", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - 1, 0))
            cut_off = size > 0 and file.read(1) != b"\n"  # by a crash, or by an editor
            file.write(b"\n" * cut_off + line.encode())


def _line(exercise, status, mistake, minutes):
    entry = {"exercise": exercise, "status": status, "mistake": mistake, "minutes": minutes}
    return json.dumps(entry, ensure_ascii=False) + "\n"
