"""Show an instructor what a room got wrong, from the files that its learners handed in.

Learners make these files with `exercises.keep_results()`. Every `.jsonl` file in the folder or below it counts as one
learner, whatever its name. Lines that are no results are named and left out: after a crash the last may be half a line.

The files are strangers': no link is followed, nothing but an ordinary file of ordinary size is read, and folders that
only their owners may enter are passed by. It needs no root.
"""

import json
import os
import stat
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from mha_helpers.learner.results import STATUSES, SUFFIX
from tools.writing.notebooks import course_notebooks, read
from tools.writing.solve import ASK

MISTAKES_SHOWN = 4
LARGEST = 2**20  # bytes of a learner's file: about eight thousand lines
DEPTH = 4  # folders below the one that is named
COLUMNS = "{:28}  {:>8}  {:>10}  {:>11}  {:>11}  {:>13}  {:>7}  {}"
HEADER = ("exercise", "learners", "right away", "right later", "still wrong", "not attempted", "minutes", "mistakes")
LEGEND = """\
Each number counts learners; "right away" is at the first try. "minutes" is the median time from the first try to the
right one, or to the last wrong one, over those who tried more than once. After a mistake: how many learners met it."""


@dataclass
class Row:
    """What came of one exercise; each learner is in one of the first four counts."""

    right_away: int = 0
    right_later: int = 0
    still_wrong: int = 0
    not_attempted: int = 0
    minutes: list = field(default_factory=list)
    mistakes: Counter = field(default_factory=Counter)

    def add(self, results):
        """Count one learner's results, in the order in which they were kept."""
        tries = [result for result in results if result["status"] != "not attempted"]
        right = [number for number, result in enumerate(tries) if result["status"] == "correct"]
        until_right = tries[: right[0] + 1] if right else tries
        if not tries:
            self.not_attempted += 1
        elif right == []:
            self.still_wrong += 1
        elif right[0] == 0:
            self.right_away += 1
        else:
            self.right_later += 1
        if len(until_right) > 1:
            self.minutes.append(until_right[-1]["minutes"])
        self.mistakes.update({result["mistake"] for result in until_right} - {None})

    def cells(self):
        counts = [self.right_away, self.right_later, self.still_wrong, self.not_attempted]
        minutes = f"{median(self.minutes):.0f}" if self.minutes else ""
        # In order of the alphabet where the counts agree: the same files give the same table.
        frequent = sorted(self.mistakes.items(), key=lambda item: (-item[1], item[0]))[:MISTAKES_SHOWN]
        return [sum(counts), *counts, minutes, ", ".join(f"{slug} {count}" for slug, count in frequent)]


def read_results(content):
    """Read one learner's file.

    Parameters
    ----------
    content : bytes

    Returns
    -------
    results : list of dict
    broken : list of int
        The numbers of the lines that hold no result, counted from 1.
    """
    results, broken = [], []
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):  # broken JSON, bytes that are no text, a thousand brackets
            value = None
        if _is_result(value):
            results.append(value)
        else:
            broken.append(number)
    return results, broken


def handed_in(folder):
    """Find the learners' files in a folder and below it.

    Parameters
    ----------
    folder : path

    Returns
    -------
    files : dict of str to bytes
        What each file holds, by its path in the folder.
    left_out : list of str
        A sentence for each that was not read.
    """
    files, left_out = {}, []
    _look_into(Path(folder), "", DEPTH, files, left_out)
    return files, left_out


def _look_into(folder, shown, depth, files, left_out):
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        path = f"{shown}{entry.name}"
        try:
            if depth and entry.is_dir(follow_symlinks=False):
                _look_into(entry.path, f"{path}/", depth - 1, files, left_out)
            elif entry.name.endswith(SUFFIX):
                files[path] = _content(entry.path)
        except (OSError, ValueError) as error:
            # A folder that is closed to the reader is somebody's own: nothing was handed in there.
            if entry.name.endswith(SUFFIX):
                left_out.append(f"{path!r}: {getattr(error, 'strerror', None) or error}; left out")


def _content(path):
    # No link is opened, nor a pipe of a file's name waited for: nobody may be at its other end.
    ordinary = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, os.O_RDONLY | ordinary), "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise ValueError("no ordinary file")
        if about.st_size > LARGEST:
            raise ValueError(f"larger than {LARGEST // 2**20} MiB")
        return file.read(LARGEST)


def _is_result(value):
    match value:
        case {"exercise": str(exercise), "status": str(status), "mistake": mistake, "minutes": int() | float()}:
            # Handed-in text goes to a terminal: nothing in it may steer that.
            shown = isinstance(mistake, str | None) and f"{exercise}{mistake}".isprintable()
            return shown and status in STATUSES
    return False


def table(learners, order):
    """Count what came of each exercise.

    Parameters
    ----------
    learners : list of list of dict
        The results of each learner.
    order : iterable of str
        The names that come first; any others follow.

    Returns
    -------
    dict of str to Row
        Without the exercises of which nothing was kept.
    """
    rows = {name: Row() for name in order}
    for results in learners:
        for name in dict.fromkeys(result["exercise"] for result in results):
            rows.setdefault(name, Row()).add([result for result in results if result["exercise"] == name])
    return {name: row for name, row in rows.items() if row != Row()}


def course_order():
    """Return which notebook asks what, in the order of asking: `{"attention_scores": "01", ...}`."""
    asked = {}
    for path in course_notebooks():
        for cell in read(path).cells:
            for name, _ in ASK.findall(cell.source):
                asked.setdefault(name, path.name[:2])
    return asked
