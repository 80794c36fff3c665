"""A folder for each learner that nobody else can look into, and the user id that owns it.

Learners have no accounts on the machine: a number that nobody else has is enough to keep their files and their
processes apart, and nobody can log in with it anywhere but through the hub. Which number is whose is written
nowhere but on the folder itself.
"""

import os
import pwd
from pathlib import Path

# Above the accounts that people have, and below 65536, the last one in many containers.
FIRST_USER_ID = 40_000


def learner_home(homes, learner):
    """Return a learner's own folder, made when it is not there yet: mode 700, and a user id of its own.

    Parameters
    ----------
    homes : path
        The folder of all learners' folders.
    learner : str

    Returns
    -------
    Path
    """
    homes = Path(homes)
    homes.mkdir(mode=0o711, parents=True, exist_ok=True)
    home = homes / learner
    if not home.exists():
        user_id = _next_user_id(homes)
        home.mkdir(mode=0o700)
        os.chown(home, user_id, user_id)
    return home


def user_id(home):
    """Return the user id that owns a learner's folder.

    Raises
    ------
    PermissionError
        If it is an account of the machine: a folder that was copied back without its owner, say.
    """
    owner = os.stat(home).st_uid
    if owner < FIRST_USER_ID or _is_account(owner):
        raise PermissionError(
            f"{home} belongs to user id {owner}, an account of this machine, and not to a learner; "
            f"give it back with `chown -R {_next_user_id(home.parent)} {home}`"
        )
    return owner


def _next_user_id(homes):
    taken = {entry.stat(follow_symlinks=False).st_uid for entry in os.scandir(homes)}
    candidate = max(taken | {FIRST_USER_ID - 1}) + 1
    while _is_account(candidate):
        candidate += 1
    return candidate


def _is_account(number):
    try:
        pwd.getpwuid(number)
    except KeyError:
        return False
    return True


def closed_to_others(path):
    """Return the first folder on the way to a path, or the path, that learners may not enter or read; or None."""
    path = Path(path).resolve()
    for place in (*reversed(path.parents), path):
        wanted = 0o005 if place == path and place.is_dir() else 0o001 if place.is_dir() else 0o004
        if place.stat().st_mode & wanted != wanted:
            return place
    return None
