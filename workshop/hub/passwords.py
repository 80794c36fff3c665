"""Who may log in to the hub, and with which password: `python -m workshop.hub.passwords` prints the list to hand out.

Passwords are derived from one secret and the learner's name: nothing is stored, and the list can be printed again.
"""

import argparse
import base64
import hashlib
import hmac
import os
import re
from dataclasses import dataclass
from pathlib import Path

SECRET = "MHA_HUB_SECRET"
FOLDER = "MHA_HUB_FOLDER"
SHORTEST_SECRET = 20
# It names a folder, stands in addresses, and is typed by hand: nothing that needs explaining.
NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
LINE = re.compile(rf"({NAME.pattern})(?:\s+([1-9][0-9]?))?")  # with a number, it is another password


class HubError(SystemExit):
    """What keeps the hub from starting, in words for the instructor.

    It ends a program: after an ordinary exception in its configuration, a hub would start with what it has by default.
    """


@dataclass(frozen=True)
class Settings:
    """The secret, and who learns: {name: number of the password}."""

    secret: str
    learners: dict

    def passwords(self):
        """Return {learner: password}."""
        return {learner: password(self.secret, learner, number) for learner, number in self.learners.items()}


def folder_of(environment):
    return Path(environment.get(FOLDER) or "/srv/mha-hub").absolute()


def read_settings(environment):
    """Read the learners from the hub's folder, and the secret from there or from the environment.

    Parameters
    ----------
    environment : mapping
        `MHA_HUB_FOLDER` unless it is /srv/mha-hub, and `MHA_HUB_SECRET` unless the folder has a file `secret`.

    Returns
    -------
    Settings

    Raises
    ------
    HubError
        If there is no secret or a short one, or no list of learners, or a name in it that will not do.
    """
    folder = folder_of(environment)
    learners, kept = read_learners(folder / "learners.txt"), folder / "secret"
    secret = environment.get(SECRET) or (kept.read_text(encoding="utf-8").strip() if kept.is_file() else "")
    if len(secret) < SHORTEST_SECRET:
        raise HubError(
            f"{SECRET} has {len(secret)} characters and wants {SHORTEST_SECRET} or more: every password comes from it. "
            f"Make one with `openssl rand -hex 16 > {kept}`, and keep it."
        )
    return Settings(secret, learners)


def read_learners(file):
    """Return {name: number of the password} from a file, a name a line; what follows `#` does not count.

    `anna 2` is Anna with her second password; without a number it is the first.
    """
    if not file.is_file():
        raise HubError(f"there is no {file}; write the learners' names into it, one a line")
    learners, lines = {}, {}
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        entry = line.partition("#")[0].strip()
        if not entry:
            continue
        match = LINE.fullmatch(entry)
        if not match:
            raise HubError(
                f"{file}, line {number}: {entry!r} will not do as a name; take small letters a to z, "
                "digits and hyphens, a letter first, at most 31; after a space, 2 to 99 for another password"
            )
        name = match[1]
        if name in learners:
            raise HubError(f"{file}, line {number}: {name} stands in line {lines[name]} already; tell them apart")
        learners[name], lines[name] = int(match[2] or 1), number
    if not learners:
        raise HubError(f"{file} names nobody; write the learners' names into it, one a line")
    return learners


def password(secret, learner, number=1):
    """Return a learner's password: 60 bits in three groups of letters and digits, such as `k4wq-z2hn-7tbe`."""
    letters = base64.b32encode(_derive(secret, learner if number == 1 else f"{learner} {number}")).decode().lower()
    return "-".join(letters[start : start + 4] for start in (0, 4, 8))


def session(secret, learner, number):
    """Return what a learner's log-ins are known by, for as long as they have this password."""
    return _derive(secret, f"{learner} {number} is logged in").hex()


def _derive(secret, text):
    return hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest()


def may_log_in(settings, learner, given):
    """Say whether this is a learner's own password; how long it takes tells nothing about it."""
    right = password(settings.secret, learner, settings.learners.get(learner, 1))
    return hmac.compare_digest(given.encode(), right.encode()) and learner in settings.learners


def let_in(c, settings):
    """Configure a hub, by the `c` of its configuration file, to let in these learners and nobody else."""
    c.JupyterHub.authenticator_class = "workshop.hub.authenticator.LearnerAuthenticator"
    c.LearnerAuthenticator.settings = settings
    c.Authenticator.allowed_users = set(settings.learners)
    # Whoever is taken off the list is out: the hub forgets them when it starts, and what they were logged in with.
    c.Authenticator.allow_existing_users = False
    c.Authenticator.delete_invalid_users = True
    # What JupyterHub gives its users, less tokens and shares: nobody here needs one, and each takes room for good.
    scopes = ["read:users!user", "users:activity!user", "servers!user", "access:servers!user"]
    c.JupyterHub.load_roles.append({"name": "user", "scopes": scopes})
    c.JupyterHub.cookie_max_age_days = 1
    c.JupyterHub.token_expires_in_max_seconds = 24 * 60 * 60


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m workshop.hub.passwords", description=__doc__.partition("\n")[0])
    parser.parse_args(argv)
    for learner, word in read_settings(os.environ).passwords().items():
        print(f"{learner:31}  {word}")


if __name__ == "__main__":
    main()
