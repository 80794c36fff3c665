"""How the hub lets a learner in."""

from jupyterhub.auth import Authenticator
from traitlets import Any

from workshop.hub.passwords import may_log_in


class LearnerAuthenticator(Authenticator):
    """A learner of the list, with the password that is derived for them.

    Nobody is made to wait after wrong ones: a room has one address, in which anybody could then keep anybody out, and a
    password's 60 random bits are not guessed, at a million a second not in a thousand years.
    """

    settings = Any(help="what `passwords.read_settings` returned").tag(config=True)

    async def authenticate(self, handler, data):
        learner = self.normalize_username(data["username"])
        return learner if may_log_in(self.settings, learner, data["password"]) else None
