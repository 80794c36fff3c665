"""Notebooks as files, and how to tell a file that somebody changed."""

import hashlib
import json


def parse(content):
    """Return the notebook in a file's bytes; a ValueError where there is none."""
    notebook = json.loads(content)
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise ValueError("there is no notebook in it")
    return notebook


def serialised(notebook):
    """Return a notebook's bytes, as Jupyter writes them."""
    return (json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def blob(content):
    r"""Return Git's id of a content, with line ends as the course stores them.

    Examples
    --------
    >>> blob(b"one line\r\n") == blob(b"one line\n")
    True
    """
    if b"\0" not in content:
        content = content.replace(b"\r\n", b"\n")
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
