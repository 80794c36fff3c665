"""A learner's last correct answers, so that no later notebook asks for them to be pasted.

One file in the course's folder holds, for each exercise, the text of the last right answer, what it calls the function,
and the day. Nothing is sent anywhere. `course.forget_progress()` deletes it together with the progress.
"""

import datetime
import linecache
from typing import NamedTuple

from mha_helpers.learner import folder, kept_file
from mha_helpers.learner.standalone import standalone

FILE = "answers.json"
AGAIN = "recall_"  # a warm-up asks for the same function once more


class KeptAnswer(NamedTuple):
    """A right answer, of today or of another day.

    Parameters
    ----------
    source : str
        All that it takes to run it: imports, the learner's own helpers and the function.
    name : str
        What the source calls the function.
    day : datetime.date
    """

    source: str
    name: str
    day: datetime.date

    @property
    def since(self):
        """The day as people say it: "3 May"."""
        return f"{self.day.day} {self.day:%B}"

    def function(self):
        """Run the source, and return the function; errors in the source are raised."""
        names, file = {"__name__": "__main__"}, f"<your {self.name} of {self.since}>"
        # Who reads a function's text, as the checks do, finds it there.
        linecache.cache[file] = len(self.source), None, self.source.splitlines(keepends=True), file
        exec(compile(self.source, file, "exec", dont_inherit=True), names)
        return names[self.name]

    def entry(self):
        """Return it as the file holds it."""
        return {"source": self.source, "name": self.name, "day": self.day.isoformat()}


def path():
    """Return where the answers are kept, or None where they are not."""
    place = folder.kept()
    return place and place / FILE


def written(function, name):
    """Return a learner's function as an answer of today, not kept yet.

    Parameters
    ----------
    function : callable
    name : str
        What to call it where it has no name of its own.

    Returns
    -------
    KeptAnswer

    Raises
    ------
    NotStandaloneError
        If something that it needs can't be written down.
    """
    return KeptAnswer(*standalone(function, name), datetime.date.today())


def keep(exercise, answer):
    """Keep a right answer in the place of an earlier one, or raise OSError.

    Parameters
    ----------
    exercise : str
        The exercise's name.
    answer : KeptAnswer
    """
    kept_file.add(path(), {exercise.removeprefix(AGAIN): answer.entry()})


def kept(exercise):
    """Return the last right answer to an exercise, or None.

    Parameters
    ----------
    exercise : str

    Returns
    -------
    KeptAnswer or None
    """
    return answers(kept_file.read(path())).get(exercise.removeprefix(AGAIN))


def answers(entries):
    """Return the valid answers in a file, by exercise.

    Parameters
    ----------
    entries : dict

    Returns
    -------
    dict of str to KeptAnswer
    """
    found = {}
    for exercise, entry in entries.items():
        try:
            day = datetime.date.fromisoformat(entry["day"])
            found[exercise] = KeptAnswer(str(entry["source"]), str(entry["name"]), day)
        except (KeyError, TypeError, ValueError):
            continue
    return found


def forget():
    """Delete the answers; return whether there were any."""
    return kept_file.forget(path())
