"""The hub as it is configured, on loopback and in a folder of its own, for as long as it is tried out."""

import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from workshop.hub import machine
from workshop.hub.passwords import FOLDER


@dataclass(frozen=True)
class RunningHub:
    """A hub that answers."""

    room: machine.Room
    environment: dict

    @property
    def url(self):
        """Of the hub's own pages; ends with a slash."""
        return f"{self.room.url}/"

    def own(self, learner):
        """Return the address of a learner's server, with an origin of its own; ends with a slash."""
        parts = urlsplit(self.room.url)
        return f"{parts.scheme}://{learner}.{parts.netloc}/user/{learner}/"

    def passwords(self):
        return self.room.passwords()

    def home(self, learner):
        return self.room.home(learner) / "home"

    def up(self):
        """Have what is missing made again, as an instructor does after a crash."""
        machine.up(self.environment)

    def processes_of(self, learner):
        """Return what a learner runs, the server and the kernels."""
        owner = self.room.place(learner).user_id
        found = []
        for process in psutil.process_iter(["uids"]):
            if process.info["uids"] and process.info["uids"].real == owner:
                found.append(process)
        return found

    def main_process(self, part):
        """Return the process that a container of the hub, "hub" or "proxy", began with."""
        command = ["podman", "inspect", "--format", "{{.State.Pid}}", f"{self.room.name}-{part}"]
        return psutil.Process(int(subprocess.run(command, capture_output=True, check=True).stdout))

    def memory(self):
        """Return {learner: bytes of server and kernels} and, under None, those of hub, proxy and culler (PSS)."""
        memory = {}
        with suppress(psutil.NoSuchProcess, subprocess.CalledProcessError):
            parts = [self.main_process(part) for part in ("hub", "proxy")]
            memory[None] = _pss([each for part in parts for each in (part, *part.children(recursive=True))])
        for learner in self.room.learners:
            if processes := self.processes_of(learner):
                memory[learner] = _pss(processes)
        return memory


def _pss(processes):
    total = 0
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            total += process.memory_full_info().pss
    return total


@contextmanager
def running_hub(learners, prepare=None, encrypted=False):
    """Start the hub in a folder of its own, and end it with everything that learners ran in it.

    Parameters
    ----------
    learners : sequence of str
    prepare : callable, optional
        Called with the room when the learners' disks are there, before anything starts.
    encrypted : bool
        Whether it answers by https, with a certificate that nobody has signed.

    Yields
    ------
    RunningHub
    """
    with tempfile.TemporaryDirectory(dir="/srv", prefix="mha-trial-", ignore_cleanup_errors=True) as folder:
        (port,) = free_ports(1)
        subnets = secrets.choice([f"10.{number}" for number in range(100, 250) if not _in_use(f"10.{number}.")])
        Path(folder, "learners.txt").write_text("\n".join(learners) + "\n", encoding="utf-8")
        toml = f'url = "http{"s" * encrypted}://hub.localhost:{port}"\nsubnets = "{subnets}"\n'
        if encrypted:
            certificate, key = make_certificate(folder)
            toml += f'certificate = "{certificate}"\nkey = "{key}"\n'
        Path(folder, "hub.toml").write_text(toml, encoding="utf-8")
        environment = {FOLDER: folder}
        try:
            room = machine.read_room(environment)
            if prepare:
                (room.folder / "disks").mkdir()
                for learner in learners:
                    machine.make_home(room, learner)
                prepare(room)
            with names_below_localhost():
                yield RunningHub(machine.up(environment), environment)
        except BaseException:
            log = subprocess.run(["podman", "logs", f"{Path(folder).name}-hub"], capture_output=True)
            sys.stderr.write((log.stdout + log.stderr).decode(errors="replace")[-20_000:])
            raise
        finally:
            machine.down(environment)
            shutil.rmtree(folder)


def make_certificate(folder):
    """Make a certificate for the hub and its learners, and return its file and its key's."""
    files = Path(folder, "hub.pem"), Path(folder, "hub.key")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    command += ["-subj", "/CN=hub", "-addext", "subjectAltName=DNS:hub.localhost,DNS:*.hub.localhost"]
    subprocess.run([*command, "-out", files[0], "-keyout", files[1]], check=True, capture_output=True)
    return files


def _in_use(beginning):
    return any(address.address.startswith(beginning) for each in psutil.net_if_addrs().values() for address in each)


@contextmanager
def names_below_localhost():
    """Let names such as anna.hub.localhost mean this machine, as browsers do (RFC 6761) and not every C library."""
    look_up = socket.getaddrinfo

    def look_up_or_here(host, *arguments, **options):
        name = host.decode() if isinstance(host, bytes) else host
        return look_up("127.0.0.1" if name and name.endswith(".localhost") else host, *arguments, **options)

    socket.getaddrinfo = look_up_or_here
    try:
        yield
    finally:
        socket.getaddrinfo = look_up


def free_ports(number):
    """Return ports that nobody listens on now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
