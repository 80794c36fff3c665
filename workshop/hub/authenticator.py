"""How the hub lets a learner in."""

import math
import time
from collections import defaultdict, deque

from jupyterhub.auth import Authenticator
from tornado.web import HTTPError
from traitlets import Any

from workshop.hub.passwords import may_log_in

TRIES, WITHIN = 20, 60  # wrong ones, seconds


class LearnerAuthenticator(Authenticator):
    """A learner of the list, with the password that is derived for them.

    Who has given 20 wrong ones for a name within a minute, from one address, is told to wait, at once: nobody queues,
    and other names and addresses are let in meanwhile. The address is the one that the proxy saw: learners' networks
    don't reach the hub's log-in, and what a browser says of its own address is not believed.
    """

    settings = Any(help="what `passwords.read_settings` returned").tag(config=True)

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._wrong = defaultdict(lambda: deque(maxlen=TRIES))  # when, for each name and address

    async def authenticate(self, handler, data):
        learner = self.normalize_username(data["username"])
        if learner not in self.settings.learners:
            return None
        wrong, now = self._wrong[learner, handler.request.remote_ip], time.monotonic()
        if len(wrong) == TRIES and now - wrong[0] < WITHIN:
            wait = math.ceil(WITHIN - (now - wrong[0]))
            raise HTTPError(
                429, f"Too many wrong passwords for {learner}. Wait {wait} seconds, or ask for a spare name."
            )
        if may_log_in(self.settings, learner, data["password"]):
            wrong.clear()
            return learner
        wrong.append(now)
        return None
