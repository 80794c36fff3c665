"""The notebooks as the course ships them, without outputs: what an exercise, or a whole notebook, is restored to."""

import json

from mha_helpers.course_data import data_path

INDEX = "asked_in.json"  # in which notebook each exercise is asked first


def original(name):
    """Return a notebook as the course ships it.

    Parameters
    ----------
    name : str
        The notebook's file, without `.ipynb`.

    Returns
    -------
    bytes
        The file's content.

    Raises
    ------
    ValueError
        If the course has no such notebook.

    Examples
    --------
    >>> original("02_scaling")[:1]
    b'{'
    """
    return data_path(f"originals/{name}.ipynb").read_bytes()


def stub(exercise):
    """Return the text of an exercise's cell as the course ships it.

    Parameters
    ----------
    exercise : str
        The exercise's name in `mha_helpers.exercises`.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If no notebook asks for it.

    Examples
    --------
    >>> print(stub("softmax"))
    def softmax(scores):
        # scores (..., n_keys)  ->  weights of the same shape; the last axis sums to 1
        return ...
    <BLANKLINE>
    <BLANKLINE>
    exercises.softmax.check(softmax)
    """
    notebook = json.loads(data_path(INDEX).read_bytes()).get(exercise)
    if notebook is None:
        raise ValueError(f"no notebook asks for {exercise!r}, so it has no original to go back to")
    texts = ("".join(cell["source"]) for cell in json.loads(original(notebook))["cells"] if asks(cell, exercise))
    return next(texts)


def asks(cell, exercise):
    """Say whether a notebook's cell asks for an exercise."""
    return "exercise" in cell["metadata"].get("tags", []) and f"exercises.{exercise}.check(" in "".join(cell["source"])
