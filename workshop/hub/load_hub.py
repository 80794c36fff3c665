"""The hub as it is configured, on loopback and in a folder of its own, for as long as it is tried out."""

import os
import secrets
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil

from workshop.hub.passwords import FOLDER, SECRET, Settings

CONFIG = Path(__file__).with_name("jupyterhub_config.py")
TIMEOUT = 300  # seconds, for the hub to start, and for it and everybody's servers to end


@dataclass(frozen=True)
class RunningHub:
    """A hub that answers; `url` ends with a slash."""

    url: str
    settings: Settings
    process: psutil.Process

    def home(self, learner):
        return self.settings.folder / "homes" / learner

    def processes_of(self, learner):
        """Return what a learner runs in this hub, the server and the kernels: another hub may use the same user id."""
        home = self.home(learner)
        owner = home.stat().st_uid
        found = []
        for process in psutil.process_iter(["uids"]):
            with suppress(psutil.NoSuchProcess):
                if process.info["uids"].real == owner and process.environ().get("HOME") == str(home):
                    found.append(process)
        return found

    def memory(self):
        """Return {learner: bytes of server and kernels} and, under None, those of hub, proxy and culler (PSS)."""
        there = [learner for learner in self.settings.learners if self.home(learner).exists()]
        owners = {self.home(learner).stat().st_uid: learner for learner in there}
        memory = dict.fromkeys([None, *owners.values()], 0)
        for process in [self.process, *self.process.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                memory[owners.get(process.uids().real)] += process.memory_full_info().pss
        return memory


@contextmanager
def running_hub(folder, learners):
    """Start the hub of `jupyterhub_config.py` in a folder, and end it with everything that learners ran in it.

    Parameters
    ----------
    folder : path
        Where others may enter.
    learners : sequence of str

    Yields
    ------
    RunningHub
    """
    settings = Settings(secrets.token_hex(16), Path(folder), tuple(learners))
    (settings.folder / "learners.txt").write_text("\n".join(learners) + "\n", encoding="utf-8")
    public, inner, api = free_ports(3)
    url = f"http://127.0.0.1:{public}/"
    command = [sys.executable, "-m", "jupyterhub", f"--config={CONFIG}", f"--JupyterHub.bind_url={url}"]
    command.append(f"--JupyterHub.hub_bind_url=http://127.0.0.1:{inner}")
    command.append(f"--TraefikProxy.traefik_api_url=http://127.0.0.1:{api}")
    environment = os.environ | {SECRET: settings.secret, FOLDER: str(folder)}
    log = settings.folder / "hub.log"
    with open(log, "wb") as file:
        process = subprocess.Popen(command, cwd=settings.folder, env=environment, stdout=file, stderr=subprocess.STDOUT)
    hub = RunningHub(url, settings, psutil.Process(process.pid))
    try:
        _wait_until_it_answers(hub, log)
        yield hub
    finally:
        left = []
        with suppress(psutil.NoSuchProcess):
            left += hub.process.children(recursive=True)
        process.terminate()
        try:
            process.wait(timeout=TIMEOUT)
        finally:
            process.kill()  # does nothing to a process that has ended
            left += [each for learner in learners if hub.home(learner).exists() for each in hub.processes_of(learner)]
            _, left = psutil.wait_procs(left, timeout=1)  # those that a signal has reached are ending
            for straggler in left:
                with suppress(psutil.NoSuchProcess):
                    straggler.kill()
            psutil.wait_procs(left, timeout=TIMEOUT)
    if left:
        raise RuntimeError(f"these outlived the hub: {left}")


def free_ports(number):
    """Return ports that nobody listens on now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _wait_until_it_answers(hub, log):
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        with suppress(psutil.TimeoutExpired):  # it is running, as it should
            hub.process.wait(timeout=1 / 10)
            break
        with suppress(httpx.TransportError):  # nobody listens yet
            if httpx.get(f"{hub.url}hub/health", timeout=TIMEOUT).is_success:
                return
    raise RuntimeError(f"the hub did not start:\n{log.read_text(encoding='utf-8')}")
