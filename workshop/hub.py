"""How the hub lets learners in and starts their servers; `jupyterhub_config.py` puts it together."""

import os

from jupyterhub.auth import Authenticator
from jupyterhub.spawner import LocalProcessSpawner
from traitlets import Any, Unicode

from workshop.homes import learner_home, user_id
from workshop.hub_passwords import may_log_in


class LearnerAuthenticator(Authenticator):
    """A learner of the list, with the password that is derived for them."""

    settings = Any(help="what `hub_passwords.read_settings` returned").tag(config=True)

    async def authenticate(self, handler, data):
        learner = self.normalize_username(data["username"])
        return learner if may_log_in(self.settings, learner, data["password"]) else None


class LearnerSpawner(LocalProcessSpawner):
    """A server as a process of the learner's own user id, in the learner's own folder."""

    homes = Unicode(help="the folder of all learners' folders").tag(config=True)

    def user_env(self, env):
        home = str(learner_home(self.homes, self.user.name))
        return env | {"USER": self.user.name, "LOGNAME": self.user.name, "HOME": home, "SHELL": "/bin/bash"}

    def make_preexec_fn(self, name):
        home = learner_home(self.homes, name)
        learner_id = user_id(home)

        def become_the_learner():
            os.setgroups([])
            os.setgid(learner_id)
            os.setuid(learner_id)
            os.umask(0o077)
            os.chdir(home)

        return become_the_learner
