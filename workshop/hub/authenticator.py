"""How the hub lets a learner in."""

import asyncio
from collections import Counter, defaultdict

from jupyterhub.auth import Authenticator
from traitlets import Any

from workshop.hub.passwords import may_log_in

FREE_TRIES = 5
LONGEST_WAIT = 16  # seconds


class LearnerAuthenticator(Authenticator):
    """A learner of the list, with the password that is derived for them; who guesses has to wait."""

    settings = Any(help="what `passwords.read_settings` returned").tag(config=True)

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._wrong = Counter()  # how often in a row, for each name and address
        self._turns = defaultdict(asyncio.Lock)

    async def authenticate(self, handler, data):
        learner = self.normalize_username(data["username"])
        if learner not in self.settings.learners:
            return None
        # Tries for one name from one address take turns: else a thousand at once would wait no longer than one.
        who = learner, handler.request.remote_ip
        async with self._turns[who]:
            wrong_before = self._wrong[who]
            if wrong_before >= FREE_TRIES:
                await asyncio.sleep(min(2 ** (wrong_before - FREE_TRIES), LONGEST_WAIT))
            if may_log_in(self.settings, learner, data["password"]):
                del self._wrong[who]
                return learner
            self._wrong[who] += 1
            return None
