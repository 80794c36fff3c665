"""How the hub starts a learner's server on one machine."""

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path

from jupyterhub.spawner import LocalProcessSpawner
from traitlets import Unicode

from workshop.hub.homes import learner_home, user_id
from workshop.hub.limits import enforce


class LearnerSpawner(LocalProcessSpawner):
    """A server as processes of the learner's own user id, in the learner's own folder and namespaces."""

    homes = Unicode(help="the folder of all learners' folders").tag(config=True)

    def user_env(self, env):
        home = learner_home(self.homes, self.user.name)
        user_id(home)  # an account's folder is refused here, before anything runs
        return env | {"USER": self.user.name, "LOGNAME": self.user.name, "HOME": str(home), "SHELL": "/bin/bash"}

    def make_preexec_fn(self, name):
        return None  # `learner_server.py` becomes the learner when it has done what only root may

    async def poll(self):
        status = await super().poll()
        if status is None:
            await self._keep_within_limits()
        return status

    async def _keep_within_limits(self):
        try:
            # In a thread: it looks at files and processes, and everybody else's pages wait for the hub.
            sentence = await asyncio.to_thread(enforce, Path(self.homes, self.user.name), self.pid)
        except OSError:
            self.log.exception("Nothing limits %s at the moment", self.user.name)  # and the server can still be stopped
            return
        if sentence:
            self.log.warning("%s: %s", self.user.name, sentence)

    async def _signal(self, sig):
        """Tell the first process of the learner's own: `unshare`, which waits for it, hears nothing but SIGKILL."""
        if sig in (signal.SIGINT, signal.SIGTERM):
            with suppress(FileNotFoundError):  # it has ended; what follows says so
                for child in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split():
                    with suppress(ProcessLookupError):
                        os.kill(int(child), sig)
            sig = 0
        return await super()._signal(sig)
