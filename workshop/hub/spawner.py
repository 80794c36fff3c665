"""How the hub starts a learner's server on one machine."""

import os

from jupyterhub.spawner import LocalProcessSpawner
from traitlets import Unicode

from workshop.hub.homes import learner_home, user_id


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
