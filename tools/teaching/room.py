"""Show an instructor what a room got wrong, from the files that its learners handed in.

Learners make these files with `exercises.keep_results()`. A `.jsonl` file in the folder is a learner, whatever its
name, and so is a folder in it: of several files there the newest is read. Lines that are no results are counted and
left out: after a crash the last may be half a line.

The files are strangers': no link is followed, nothing but an ordinary file of ordinary size is read, and folders that
only their owners may enter are passed by. Nothing that learners wrote is shown: exercises and mistakes are those of
the course. It needs no root.
"""

import json
import os
import stat
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from statistics import median

from mha_helpers import exercises
from mha_helpers.exercises.output_projection import exit_test
from mha_helpers.learner.results import STATUSES, SUFFIX
from tools.writing.notebooks import course_notebooks, read
from tools.writing.solve import ASK

MISTAKES_SHOWN = 4
EXIT_TEST = "05"  # the notebook that it ends
MAX_BYTES = 2**20  # of a learner's file: about eight thousand lines
MAX_DEPTH = 4  # folders below the one that is named
MAX_ENTRIES = 1000  # looked at in a learner's folder
MAX_MINUTES = 60 * 24 * 31  # a kernel may live for weeks
MAX_TOLD = 3  # lines, and files, of one learner's that are left out
# What checks name beside the mistakes of the catalogue.
MORE_MISTAKES = (
    "arguments-order", "class-itself", "extra-argument", "fixed-axes", "float16", "folded-never-folded",
    "fractions-lost", "held-as-objects", "input-changed", "never-ends", "not-repeatable", "one-list-for-all-rows",
    "other-default", "outside-array", "result-thrown-away", "return-in-loop", "wrong-condition", "wrong-helper",
    "zero-times-inf",
)  # fmt: skip
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


class Known:
    """The names that a result may hold: the course's exercises, in the order of asking, and its mistakes.

    Attributes
    ----------
    notebook_of : dict of str to str
        Which notebook asks it: `{"attention_scores": "01", ...}`.
    mistakes : set of str
        And the options of predictions, of which all but one are wrong.
    """

    def __init__(self):
        self.notebook_of = course_order()
        self.mistakes = set(MORE_MISTAKES)
        for name in self.notebook_of:
            exercise = getattr(exercises, name)
            self.mistakes.update(getattr(exercise, "reactions", ()))
            self.mistakes.update(mistake.slug for mistake in getattr(exercise, "mistakes", ()))
            alone = (case.when_only_these_fail for case in getattr(exercise, "cases", ()))
            self.mistakes.update(slug for slug, _ in filter(None, alone))
        tests = {f"exit_test {part}": EXIT_TEST for part in exit_test.NAMES.values()}
        self.notebook_of = dict(sorted((self.notebook_of | tests).items(), key=lambda item: item[1]))

    def result(self, value):
        """Return what a line of a learner's file holds, or None where it is no result of this course's.

        The name of a mistake that only another edition of the course has is left out: anything could stand there.
        """
        match value:
            case {
                "exercise": str(exercise),
                "status": str(status),
                "mistake": str() | None as mistake,
                "minutes": minutes,
            }:
                is_known = exercise in self.notebook_of and status in STATUSES
                is_time = type(minutes) in (int, float) and 0 <= minutes <= MAX_MINUTES  # which NaN isn't
                if is_known and is_time:
                    mistake = mistake if mistake in self.mistakes else None
                    return {"exercise": exercise, "status": status, "mistake": mistake, "minutes": minutes}
        return None


def read_results(content, known):
    """Read one learner's file.

    Parameters
    ----------
    content : bytes
    known : Known

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
            result = known.result(json.loads(line))
        except (ValueError, RecursionError):  # broken JSON, bytes that are no text, a thousand brackets
            result = None
        if result is None:
            broken.append(number)
        else:
            results.append(result)
    return results, broken


def by_exercise(results):
    """Group one learner's results by exercise, in the order in which they were kept."""
    groups = {}
    for result in results:
        groups.setdefault(result["exercise"], []).append(result)
    return groups


def handed_in(folder):
    """Find the learners' files in a folder and below it, one a learner.

    Parameters
    ----------
    folder : path

    Returns
    -------
    files : dict of str to bytes
        What a learner's file holds, by the name of the file, or of the learner's folder in this one.
    left_out : list of str
        A sentence for each that was not read.
    """
    files, left_out = {}, []
    for entry in _entries(folder):
        learner, problems = entry.name, []
        found = _found_below(entry, problems)
        for path in found[-1:]:
            with _telling(path, problems):
                files[learner] = _content(os.path.join(folder, path))
        left_out += problems[:MAX_TOLD]
        if len(problems) > MAX_TOLD:
            left_out.append(f"{learner!r}: {len(problems) - MAX_TOLD} more; left out")
    return files, left_out


def _found_below(learner, problems):
    """Return the paths of the files below an entry of the folder, or its own, the newest last."""
    found, looked_at, waiting = [], 0, [(learner, learner.name, MAX_DEPTH)]
    while waiting and looked_at < MAX_ENTRIES:
        entry, path, depth = waiting.pop(0)
        looked_at += 1
        with _telling(path, problems):
            if entry.is_dir(follow_symlinks=False):
                below = _entries(entry.path, MAX_ENTRIES) if depth else ()
                waiting += [(one, f"{path}/{one.name}", depth - 1) for one in below]
            elif path.endswith(SUFFIX):
                about = entry.stat(follow_symlinks=False)
                _look_at(about)
                found.append((about.st_mtime_ns, path))
    if waiting:
        problems.insert(0, f"{learner.name!r}: more than {MAX_ENTRIES} files and folders; the rest left out")
    if len(found) > 1:
        problems.insert(0, f"{learner.name!r}: {len(found)} files of one learner; all but the newest left out")
    return [path for _, path in sorted(found)]


def _entries(folder, most=None):
    with os.scandir(folder) as entries:
        return sorted(islice(entries, most), key=lambda entry: entry.name)


@contextmanager
def _telling(path, left_out):
    """Let a file that can't be read be a sentence, and a folder nothing: one that is closed is somebody's own."""
    try:
        yield
    except (OSError, ValueError) as error:
        if path.endswith(SUFFIX):
            left_out.append(f"{path!r}: {getattr(error, 'strerror', None) or error}; left out")


def _look_at(about):
    if stat.S_ISLNK(about.st_mode):
        raise ValueError("a link")
    if not stat.S_ISREG(about.st_mode):
        raise ValueError("no ordinary file")
    if about.st_size > MAX_BYTES:
        raise ValueError(f"larger than {MAX_BYTES // 2**20} MiB")


def _content(path):
    # No link is opened, nor a pipe of a file's name waited for: nobody may be at its other end.
    ordinary = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, os.O_RDONLY | ordinary), "rb") as file:
        _look_at(os.fstat(file.fileno()))  # what is open now: it may be another than a moment ago
        return file.read(MAX_BYTES)


def lines_left_out(learner, broken):
    """Return the sentence on a learner's lines that are no results."""
    named = ", ".join(map(str, broken[:MAX_TOLD]))
    more = f" and {len(broken) - MAX_TOLD} more" if len(broken) > MAX_TOLD else ""
    return f"{learner!r}, line{'s' * (len(broken) > 1)} {named}{more}: no result; left out"


def table(learners, order):
    """Count what came of each exercise.

    Parameters
    ----------
    learners : list of list of dict
        The results of each learner.
    order : iterable of str
        The exercises, in the order of the rows.

    Returns
    -------
    dict of str to Row
        Without the exercises of which nothing was kept.
    """
    rows = {name: Row() for name in order}
    for results in learners:
        for name, group in by_exercise(results).items():
            rows[name].add(group)
    return {name: row for name, row in rows.items() if row != Row()}


def course_order():
    """Return which notebook asks what, in the order of asking: `{"attention_scores": "01", ...}`."""
    asked = {}
    for path in course_notebooks():
        for cell in read(path).cells:
            for name, _ in ASK.findall(cell.source):
                asked.setdefault(name, path.name[:2])
    return asked
