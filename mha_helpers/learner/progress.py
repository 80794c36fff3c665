"""A learner's progress, saved on their disk: which exercises are right and which predictions are committed.

One file in the course's folder holds names and states, `{"softmax": "correct"}`, and never an answer, a mistake, a name
or a date: right answers have a file of their own (`kept_answers`). Nothing is sent anywhere.
`course.forget_progress()` deletes both.
"""

from mha_helpers.learner import folder, kept_file, session

FILE = "progress.json"
STATES = ("tried", "done")  # in rising order: what is done stays done


def path():
    """Return where the progress is kept, or None where it is not."""
    place = folder.kept()
    return place and place / FILE


def read():
    """Return the states by exercise or prediction; a file that cannot be read counts as none.

    Returns
    -------
    dict of str to str
    """
    return states(kept_file.read(path()))


def states(entries):
    """Return the valid states in a file, by exercise or prediction."""
    return {name: state for name, state in entries.items() if state in STATES}


def note(name, status):
    """Record that an exercise was tried or is right, or that a prediction was committed.

    A failure is printed once, beside the outcome of the check, which is shown all the same.

    Parameters
    ----------
    name : str
        A prediction's begins with "predict_"; it is done once it is committed, right or wrong.
    status : {"correct", "wrong", "not attempted"}
    """
    file = path()
    if file is None or status == "not attempted":
        return
    state = "done" if status == "correct" or name.startswith("predict_") else "tried"
    if read().get(name) in (state, "done"):
        return
    try:
        kept_file.add(file, {name: state})
    except OSError as error:
        if sentence := session.once(folder.cannot_be_written(error)):
            print(sentence)


def forget():
    """Delete the file; return whether there was one."""
    return kept_file.forget(path())
