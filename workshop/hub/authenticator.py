"""How the hub lets a learner in."""

from jupyterhub.auth import Authenticator
from sqlalchemy.orm import object_session
from traitlets import Any

from workshop.hub.passwords import may_log_in, session


class LearnerAuthenticator(Authenticator):
    """A learner of the list, with the password that is derived for them.

    Nobody is made to wait after wrong ones: a room has one address, in which anybody could then keep anybody out, and a
    password's 60 random bits are not guessed, at a million a second not in a thousand years.
    """

    settings = Any(help="what `passwords.read_settings` returned").tag(config=True)

    def validate_username(self, username):
        return super().validate_username(username) and username in self.settings.learners

    def add_user(self, user):
        """End what somebody was logged in with under another password; called for everybody when the hub starts."""
        super().add_user(user)
        now = session(self.settings.secret, user.name, self.settings.learners[user.name])
        if user.cookie_id != now:
            user.cookie_id = now
            for token in user.api_tokens:
                object_session(token).delete(token)

    async def authenticate(self, handler, data):
        learner = self.normalize_username(data["username"])
        return learner if may_log_in(self.settings, learner, data["password"]) else None
