"""A small file of the learner's: names, and what is saved under each, as JSON."""

import json
import os


def read(file):
    """Return a file's entries by name; one that can't be read, or that is None, counts as empty."""
    try:
        return parsed(file.read_bytes()) if file else {}
    except OSError:
        return {}


def parsed(content):
    """Parse the content of such a file; anything invalid counts as empty."""
    try:
        found = json.loads(content)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def serialised(entries):
    """Return the content of such a file."""
    return json.dumps(entries, indent=1, sort_keys=True).encode()


def add(file, entries):
    """Rewrite a file with these entries added, or raise OSError.

    A file that holds something else, which a crash or an editor may have left, is kept under another name.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    content = file.read_bytes() if file.exists() else b""
    before = parsed(content)
    if content and not before:
        file.replace(file.with_suffix(".broken"))
    written = file.with_suffix(f".{os.getpid()}")  # whole or not at all: another notebook may be writing, too
    try:
        written.write_bytes(serialised(before | entries))
        written.replace(file)
    except OSError:
        written.unlink(missing_ok=True)
        raise


def forget(file):
    """Delete a file; return whether there was one.

    Parameters
    ----------
    file : Path or None
    """
    if file is None or not file.exists():
        return False
    file.unlink()
    return True
