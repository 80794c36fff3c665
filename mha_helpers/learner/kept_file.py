"""A small file of a learner's own: names and what is kept of each, as JSON."""

import json
import os


def read(file):
    """Return what a file keeps, by name; one that can't be read, or that is None, counts as empty."""
    try:
        found = json.loads(file.read_text(encoding="utf-8")) if file else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def add(file, entries):
    """Write what a file keeps anew, with these entries, or raise OSError."""
    file.parent.mkdir(parents=True, exist_ok=True)
    written = file.with_suffix(f".{os.getpid()}")  # whole or not at all: another notebook may be writing, too
    written.write_text(json.dumps(read(file) | entries, indent=1, sort_keys=True), encoding="utf-8")
    written.replace(file)


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
