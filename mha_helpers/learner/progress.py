"""How far a learner is: which exercises are right and which predictions are committed, on their own disk.

One file in Jupyter's data folder (in a browser: in its storage, beside the notebooks) holds names and states,
`{"softmax": "correct"}`, and never an answer, a mistake, a name or a date: right answers have a file of their own
(`kept_answers`). Nothing is sent anywhere. `course.forget_progress()` deletes both. While tests run, and where the
environment variable MHA_PROGRESS is "off", nothing is written or read.
"""

import functools
import os
import sys
from pathlib import Path

from mha_helpers.learner import kept_file

BROWSERS_STORAGE = Path("/drive")  # where JupyterLite keeps what is written: the notebooks, too
FILE = "mha_course_progress.json"
STATES = ("tried", "done")  # in rising order: what is done stays done


def path():
    """Return where the progress is kept, or None where it is not."""
    # pytest sets the first, also for the kernels of notebooks that it runs.
    if "PYTEST_VERSION" in os.environ or os.environ.get("MHA_PROGRESS") == "off":
        return None
    return _folder() / FILE


def _folder():
    if sys.platform == "emscripten":
        return BROWSERS_STORAGE
    from jupyter_core.paths import jupyter_data_dir

    return Path(jupyter_data_dir())


def read():
    """Return the states by exercise or prediction; a file that cannot be read counts as none.

    Returns
    -------
    dict of str to str
    """
    return {name: state for name, state in kept_file.read(path()).items() if state in STATES}


def note(name, status):
    """Keep that an exercise was tried or is right, or that a prediction was committed.

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
        _say_once(f"Your progress could not be kept in {file} ({error.strerror}); everything else works as ever.")


@functools.cache
def _say_once(sentence):
    print(sentence)


def forget():
    """Delete the file; return whether there was one."""
    return kept_file.forget(path())
