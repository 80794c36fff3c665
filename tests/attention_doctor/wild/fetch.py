"""`MHA_WILD=FOLDER python tests/attention_doctor/wild/fetch.py`: bring what listed.toml lists into it, from GitHub.

Each repository comes as the archive of its commit. This has been tried with archives on a disk alone, as the machine
that it was written on reaches no other host. With the same MHA_WILD, `python tests/attention_doctor/wild` examines
them, too.
"""

import io
import os
import sys
import tarfile
import urllib.request
from pathlib import Path

HOST = "https://codeload.github.com"


def fetch(repository, commit, folder, host=HOST):
    """Write a repository as of a commit to folder/owner__name/commit, unless it is there.

    Returns
    -------
    Path
    """
    place = Path(folder) / repository.replace("/", "__") / commit
    if not place.exists():
        with urllib.request.urlopen(f"{host}/{repository}/tar.gz/{commit}") as answer:
            archive = io.BytesIO(answer.read())
        partly = place.with_name(f"{commit}.part")
        with tarfile.open(fileobj=archive) as files:
            files.extractall(partly, filter="data")
        [top] = partly.iterdir()  # name-commit
        top.rename(place)
        partly.rmdir()
    return place


if __name__ == "__main__":
    from implementations import ELSEWHERE, implementations

    if ELSEWHERE not in os.environ:
        sys.exit(f"Set {ELSEWHERE} to the folder where they should lie.")
    listed = (one for one in implementations() if not one.is_release)
    for repository, commit in dict.fromkeys((one.repository, one.at) for one in listed):
        print(fetch(repository, commit, os.environ[ELSEWHERE]))
