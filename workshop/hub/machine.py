"""The hub on one machine: `python3 -m workshop.hub.machine up` checks the machine, makes what is missing, and starts.

It runs as root beside an engine that keeps containers, Podman or Docker, and tells the engine what to run; it holds
nothing itself and ends. `up` may be said again at any time: after a name was added, a crash or a restart of the
machine. What runs already goes on. `down` ends everything; what learners saved stays.
"""

import argparse
import grp
import hashlib
import http.client
import json
import os
import pwd
import resource
import secrets
import shutil
import socket
import sqlite3
import ssl
import subprocess
import sys
import time
import tomllib
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from urllib.parse import urlsplit

from workshop.hub.passwords import DEFAULT_FOLDER, FOLDER, SECRET, HubError, read_learners, read_settings

IMAGE = "localhost/attention-course"
URL = "http://hub.localhost:8000"
SUBNETS = "10.213"  # of which the hub takes one, and each learner a small one
DISK = 2**30  # bytes of a learner's own disk; with a file system in it, about 5 % less
FILES = 20_000
TERMINALS = 64
STATE_DISK = 2**28  # bytes for what the hub itself keeps: names and who is logged in, some hundred KiB
FIRST_USER_ID = 40_000  # above the accounts that people have, and below 65536, the last one in many containers
MOST_LEARNERS = 16 * 250  # for which there are addresses
PYTHON = "/opt/venv/bin/python"
SETTINGS = {"url", "certificate", "key", "one_origin", "readers", "subnets", "image"}
PODMAN_SOCKET = Path("/run/podman/podman.sock")
DOCKER_SOCKET = Path("/run/docker.sock")
CONTROLLERS = {"memory", "cpu", "pids"}
PATIENCE = 120  # seconds, for the hub to answer
# System calls with which a program gets a namespace of its own, and with it rights that open other parts of Linux.
# Docker's own list refuses them to whoever has no rights; Podman's allows them.
NAMESPACES = {"unshare", "setns", "mount", "umount2", "pivot_root", "fsopen", "fsmount", "open_tree", "move_mount"}
CLONE_NEWUSER = 0x10000000
# The arguments of sockets that learners may open: not AF_VSOCK, say, which no network namespace holds, and of netlink
# what a kernel asks for its addresses. `socketcall`, by which old programs open any, is left out.
SOCKETS = ({0: socket.AF_UNIX}, {0: socket.AF_INET}, {0: socket.AF_INET6}, {0: socket.AF_NETLINK, 2: 0})


@dataclass(frozen=True)
class Place:
    """What a learner has of the machine: a user id that nobody else has, a network and a disk."""

    name: str
    user_id: int
    network: str
    subnet: str
    hub: str
    proxy: str


@dataclass(frozen=True)
class Room:
    """What the instructor set: a folder with the learners' names, a secret, and what `hub.toml` says."""

    folder: Path
    secret: str
    learners: dict
    url: str = URL
    certificate: str = ""
    key: str = ""
    one_origin: bool = False
    readers: str = ""
    subnets: str = SUBNETS
    image: str = IMAGE

    @property
    def name(self):
        """Of the hub's container and its network; the proxy's and the learners' begin with it."""
        return self.folder.name

    def address(self, host):
        return f"{self.subnets}.0.{host}"

    def disk(self, learner):
        return self.folder / "disks" / f"{learner}.img"

    def home(self, learner):
        """Return where a learner's disk is mounted: `home` and `handed_in` are in it."""
        return self.folder / "homes" / learner

    def terminals(self, learner):
        return self.folder / "terminals" / learner

    def place(self, learner):
        user_id = self.disk(learner).stat().st_uid
        third, sixteenth = divmod(user_id - FIRST_USER_ID, 16)
        own = f"{self.subnets}.{1 + third}."
        first = 16 * sixteenth
        network = f"{self.name}-{learner}"
        return Place(learner, user_id, network, f"{own}{first}/28", f"{own}{first + 13}", f"{own}{first + 14}")


def read_room(environment):
    """Read the hub's folder, and make the secret when there is none.

    Raises
    ------
    HubError
        With a sentence that says what to do.
    """
    folder = Path(environment.get(FOLDER) or DEFAULT_FOLDER).absolute()
    read_learners(folder / "learners.txt")
    secret = folder / "secret"
    if not environment.get(SECRET) and not secret.exists():
        with open(os.open(secret, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(secrets.token_hex(16))
    settings = read_settings(environment)
    own = _read_toml(folder / "hub.toml")
    if unknown := sorted(set(own) - SETTINGS):
        raise HubError(f"{folder / 'hub.toml'}: {unknown[0]} is no setting; there are {', '.join(sorted(SETTINGS))}")
    return Room(folder, settings.secret, settings.learners, **own)


def _read_toml(file):
    try:
        return tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    except tomllib.TOMLDecodeError as error:
        raise HubError(f"{file} cannot be read: {error}") from error


# --- what is looked at before anything starts ---


def check_machine():
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        raise HubError("the hub mounts disks and keeps containers: start it on Linux, as root (`sudo -s`)")
    for program in ("mkfs.ext4", "mount", "e2fsck", "openssl", "iptables"):
        if shutil.which(program) is None:
            raise HubError(f"{program} is missing: `apt-get install e2fsprogs mount openssl iptables` brings it")


def check_names(room):
    """Refuse an address under which learners would not be kept apart, or would not be found."""
    parts = urlsplit(room.url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
        raise HubError(f"url = {room.url!r} will not do; write, say, https://hub.example.org")
    encrypted = parts.scheme == "https"
    if encrypted != bool(room.certificate and room.key):
        raise HubError(
            "https takes a certificate and its key, http neither: see *Into the room's network* in README.md"
        )
    local = parts.hostname == "localhost" or parts.hostname.endswith(".localhost")
    learner = f"{next(iter(room.learners))}.{parts.hostname}"
    if not room.one_origin and not local:
        try:
            socket.getaddrinfo(learner, None)
        except OSError:
            raise HubError(
                f"{learner} is the address of nobody. Each learner has a name of their own: ask who keeps your names "
                f"for *.{parts.hostname}, pointing to this machine; or read *Without a wildcard name* in README.md"
            ) from None
    names = [parts.hostname] if room.one_origin else [parts.hostname, learner]
    for name in names if encrypted else ():
        said = subprocess.run(
            ["openssl", "x509", "-noout", "-checkhost", name, "-in", room.certificate], capture_output=True, text=True
        )
        if said.returncode or "does match" not in said.stdout:
            raise HubError(f"{room.certificate} is no certificate for {name}; {said.stderr.strip() or 'ask for one'}")


def check_room(room):
    if len(room.learners) > MOST_LEARNERS:
        raise HubError(f"{len(room.learners)} names: there are addresses for {MOST_LEARNERS}")
    if room.readers and room.readers not in {group.gr_name for group in grp.getgrall()}:
        raise HubError(f"hub.toml: there is no group {room.readers}; `groupadd {room.readers}` makes one")


def find_engine():
    """Return the command of the engine that is there."""
    for engine in ("podman", "docker"):
        if shutil.which(engine):
            return engine
    raise HubError(
        "there is no engine for containers: `apt-get install podman runc iptables netavark catatonit` brings one"
    )


def ask(*command, told=None):
    """Run a command and return what it printed; what it complains of is a sentence for the instructor."""
    # Elsewhere: what looks after a container leaves a file where it was started.
    done = subprocess.run(command, capture_output=True, text=True, cwd="/run", input=told)
    if done.returncode:
        raise HubError(f"`{' '.join(map(str, command[:3]))} ...` failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout.strip()


def check_engine(engine):
    """Refuse an engine that could not hold learners to their limits."""
    about = json.loads(ask(engine, "info", "--format", "{{json .}}"))
    if engine == "podman":
        missing = CONTROLLERS - set(about["host"]["cgroupControllers"])
    else:
        has = {"memory": about["MemoryLimit"], "cpu": about["CpuCfsQuota"], "pids": about["PidsLimit"]}
        missing = {name for name, there in has.items() if not there}
    if missing:
        raise HubError(
            f"Linux {os.uname().release} gives {engine} no control group for {', '.join(sorted(missing))}: nothing "
            "would limit a learner. Take a newer system (Debian 12 does), or a machine rather than a container"
        )


def for_learners(profile):
    """Return a profile of system calls in which nobody gets a user namespace, nor a socket that leads elsewhere."""
    replaced = {*NAMESPACES, "clone", "clone3", "socket", "socketcall"}
    calls = []
    for group in profile["syscalls"]:
        if names := [name for name in group["names"] if name not in replaced]:
            calls.append(group | {"names": names})
    for wanted in SOCKETS:
        arguments = [{"index": at, "value": value, "valueTwo": 0, "op": "SCMP_CMP_EQ"} for at, value in wanted.items()]
        calls.append({"names": ["socket"], "action": "SCMP_ACT_ALLOW", "args": arguments})
    no_user = {"index": 0, "value": CLONE_NEWUSER, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}
    calls.append({"names": ["clone"], "action": "SCMP_ACT_ALLOW", "args": [no_user]})
    # Programs then take `clone`, of which the flags can be looked at.
    calls.append({"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38, "args": []})
    calls.append({"names": sorted(NAMESPACES), "action": "SCMP_ACT_ERRNO", "errnoRet": 1, "args": []})
    return profile | {"syscalls": calls}


def write_profile(room, engine):
    """Write the profile of system calls for learners, and return its path; None where the engine's own will do."""
    if engine != "podman":
        return None
    own = Path("/usr/share/containers/seccomp.json")
    if not own.exists():
        raise HubError(f"{own} is missing: `apt-get install golang-github-containers-common` brings it")
    profile = room.folder / "seccomp.json"
    write(profile, json.dumps(for_learners(json.loads(own.read_text(encoding="utf-8")))))
    return str(profile)


def try_it(room, engine, profile):
    """Start a container as strict as a learner's, and see that it is."""
    command = [engine, "run", "--rm", "--network=none", "--read-only", "--cap-drop=all", "--user=40000:40000"]
    command += ["--memory=64m", "--pids-limit=20", "--cpus=1", *ulimits(1024), "--security-opt=no-new-privileges"]
    command += [f"--security-opt=seccomp={profile}"] if profile else []
    said = ask(*command, room.image, "sh", "-c", "unshare -U true 2> /dev/null && echo open || echo closed")
    if said != "closed":
        raise HubError(
            f"{engine} lets learners make user namespaces: `sysctl -w user.max_user_namespaces=0` forbids it"
        )


def memory(size):
    """Return the options that limit a container's memory; there is no more of it on disk."""
    return [f"--memory={size}", f"--memory-swap={size}"]


def ulimits(descriptors):
    # Named, since an engine's own may be more than a machine allows.
    most = min(descriptors, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    return [f"--ulimit=nofile={most}:{most}", "--ulimit=nproc=4096:4096"]


# --- what is made ---


def write(file, content):
    """Write a file that only root can read, whole or not at all."""
    part = file.with_name(f".{file.name}")
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as opened:
        opened.write(content)
    part.rename(file)


def make_disk(room, learner):
    """Make a learner's disk: what they write can fill nothing else."""
    disk = room.disk(learner)
    if disk.exists():
        return
    taken = {entry.stat().st_uid for entry in os.scandir(disk.parent)}
    user_id = next(number for number in count(FIRST_USER_ID) if number not in taken and not is_account(number))
    make_file_system(disk, DISK, FILES, user_id)


def make_file_system(disk, size, files, user_id=0):
    """Make a disk, a file of fixed size that belongs to a user, with an empty file system in it."""
    part = disk.with_suffix(".part")
    part.unlink(missing_ok=True)
    part.touch(mode=0o600)
    try:
        with open(part, "r+b") as file:
            os.posix_fallocate(file.fileno(), 0, size)  # the room is taken now, not when somebody saves
    except OSError as error:
        part.unlink()
        raise HubError(f"there is no room for {disk}, {size // 2**20} MiB ({error.strerror})") from error
    ask("mkfs.ext4", "-q", "-m", "0", "-N", str(files), str(part))
    os.chown(part, user_id, user_id)
    part.rename(disk)


def is_account(number):
    try:
        pwd.getpwuid(number)
    except KeyError:
        return False
    return True


def mount(room, learner):
    """Mount a learner's disk, with the folders that their server is given."""
    home = room.home(learner)
    mount_disk(room.disk(learner), home)
    user_id = room.disk(learner).stat().st_uid
    readers = grp.getgrnam(room.readers).gr_gid if room.readers else 0
    for folder, group, mode in (("home", user_id, 0o700), ("handed_in", readers, 0o2750)):
        (home / folder).mkdir(exist_ok=True)
        os.chown(home / folder, user_id, group)
        (home / folder).chmod(mode)


def mount_disk(disk, folder):
    """Mount a disk, and repair it first where a power cut left it half written."""
    folder.mkdir(parents=True, exist_ok=True)
    if os.path.ismount(folder):
        return
    checked = subprocess.run(["e2fsck", "-p", str(disk)], capture_output=True, text=True)
    if checked.returncode > 1:
        raise HubError(f"{disk} is damaged: {checked.stdout.strip()}; `e2fsck -y` mends what can be, a backup the rest")
    try:
        ask("mount", "-o", "loop,nosuid,nodev,noatime", str(disk), str(folder))
    except HubError as error:
        raise HubError(
            f"a disk of fixed size cannot be mounted here, and without it nothing limits what a learner writes "
            f"({error}). A container usually may not: take a machine, virtual or not"
        ) from error


def mount_state(room):
    """Give what the hub writes a disk of its own: no learner's request fills the machine's."""
    disk, folder = room.folder / "state.img", room.folder / "state"
    if not disk.exists():
        make_file_system(disk, STATE_DISK, 1000)
    mount_disk(disk, folder)
    folder.chmod(0o700)


def mount_terminals(room, learner):
    """Give a learner terminals of a number of their own: all others' come out of the machine's."""
    folder = room.terminals(learner)
    folder.mkdir(parents=True, exist_ok=True)
    if not os.path.ismount(folder):
        options = f"newinstance,max={TERMINALS},ptmxmode=0666,mode=0620,gid=5,nosuid,noexec"
        ask("mount", "-t", "devpts", "-o", options, "devpts", str(folder))


def proxy_files(room):
    """Return what Traefik reads: {name: content}. JSON is YAML, too."""
    parts = urlsplit(room.url)
    public = {"address": f"{room.address(3)}:8000"}
    if parts.scheme == "https":
        public["http"] = {"tls": {}}
    static = {
        "global": {"checkNewVersion": False, "sendAnonymousUsage": False},
        "log": {"level": "ERROR"},
        "api": {},
        "providers": {"file": {"directory": "/proxy/rules", "watch": True}, "providersThrottleDuration": "0s"},
        # A server that is gone is "Bad Gateway" soon.
        "serversTransport": {"forwardingTimeouts": {"dialTimeout": "3s"}},
        "entryPoints": {
            # Learners' networks reach none of these but the third, and of the hub its interface alone. A learner has
            # 40 connections to it at once, so that nobody takes them all.
            "public": public,
            "auth_api": {"address": f"{room.address(3)}:8099"},
            "learners": {"address": ":8081"},
            "interface": {"address": "127.0.0.1:8082"},
        },
    }
    hub = {"loadBalancer": {"servers": [{"url": f"http://{room.address(2)}:8081"}]}}
    rules = {
        "tcp": {
            "routers": {
                "learners": {
                    "entryPoints": ["learners"],
                    "rule": "HostSNI(`*`)",
                    "middlewares": ["few"],
                    "service": "interface",
                }
            },
            "middlewares": {"few": {"inFlightConn": {"amount": 40}}},
            "services": {"interface": {"loadBalancer": {"servers": [{"address": "127.0.0.1:8082"}]}}},
        },
        "http": {
            "routers": {
                "interface": {
                    "entryPoints": ["interface"],
                    # With a name and a password in it, a request for a token is a log-in: learners' programs send none.
                    "rule": "(Path(`/hub/api`) || PathPrefix(`/hub/api/`)) && !PathRegexp(`/tokens/?$`)",
                    "service": "interface",
                }
            },
            "services": {"interface": hub},
        },
    }
    files = {"traefik.yaml": json.dumps(static)}
    if parts.scheme == "https":
        files |= {
            "rules/hub.pem": Path(room.certificate).read_text(encoding="utf-8"),
            "rules/hub.key": Path(room.key).read_text(encoding="utf-8"),
        }
        certificate = {"certFile": "/proxy/rules/hub.pem", "keyFile": "/proxy/rules/hub.key"}
        rules["tls"] = {"stores": {"default": {"defaultCertificate": certificate}}}
    return files | {"rules/course.yaml": json.dumps(rules)}


def told_to_hub(room, profile):
    """Return what `jupyterhub_config.py` reads."""
    places = {learner: room.place(learner) for learner in room.learners}
    learners = {
        learner: {
            "password": room.learners[learner],
            "user_id": place.user_id,
            "network": place.network,
            "proxy": place.proxy,
            "home": str(room.home(learner)),
            "terminals": str(room.terminals(learner)),
        }
        for learner, place in places.items()
    }
    return {
        "secret": room.secret,
        "url": room.url,
        "one_origin": room.one_origin,
        "image": room.image,
        "name": room.name,
        "hub": room.address(2),
        "proxy": room.address(3),
        "seccomp": profile,
        "learners": learners,
    }


# --- what runs ---


def start_service(engine):
    """See that the engine answers the hub; Podman does so through a service of its own."""
    if engine == "docker":
        return DOCKER_SOCKET
    if not answers(PODMAN_SOCKET):
        if Path("/run/systemd/system").exists():
            ask("systemctl", "enable", "--now", "podman.socket", "podman-restart.service")
        else:
            PODMAN_SOCKET.parent.mkdir(parents=True, exist_ok=True)
            PODMAN_SOCKET.unlink(missing_ok=True)
            command = ["podman", "system", "service", "--time=0", f"unix://{PODMAN_SOCKET}"]
            log = open("/run/podman/service.log", "ab")  # noqa: SIM115
            subprocess.Popen(
                command, cwd="/run/podman", start_new_session=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        wait_until(lambda: answers(PODMAN_SOCKET), "Podman's service does not answer; /run/podman/service.log says why")
    return PODMAN_SOCKET.parent  # the folder: a service that starts anew makes a new socket


def answers(path):
    with socket.socket(socket.AF_UNIX) as attempt:
        try:
            attempt.connect(str(path))
        except OSError:
            return False
    return True


def wait_until(happened, sentence):
    deadline = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > deadline:
            raise HubError(sentence)
        time.sleep(0.2)


def make_network(engine, room, name, subnet, *options):
    if subprocess.run([engine, "network", "inspect", name], capture_output=True).returncode:
        ask(engine, "network", "create", f"--label=of={room.name}", *options, f"--subnet={subnet}", name)


def closed(engine):
    """Return the options of a network in which nobody reaches anybody but the hub and the proxy, nor this machine."""
    if engine == "podman":  # without names the machine itself has no address in it
        return ["--internal", "--disable-dns"]
    return ["--internal", "--opt=com.docker.network.bridge.gateway_mode_ipv4=isolated"]


def keep_off_connections(room):
    """Let learners' networks carry what they are for, and have Linux keep no list of it.

    Else what one learner sends fills the machine's list of connections, and then nobody gets a new one.
    """
    work = "-p tcp -m multiport --ports 8081,8888"  # the hub's interface, and the servers'
    rules = [f"-s {room.subnets}.0.0/24 -j RETURN", f"{work} -j CT --notrack", f"{work} -j RETURN", "-j DROP"]
    own_chain = jump(room)[-1]
    lines = ["*raw", f":{own_chain} - [0:0]", *(f"-A {own_chain} {rule}" for rule in rules), "COMMIT\n"]
    ask("iptables-restore", "--wait", "--noflush", told="\n".join(lines))
    if subprocess.run(["iptables", "--wait", "-t", "raw", "-C", *jump(room)], capture_output=True).returncode:
        ask("iptables", "--wait", "-t", "raw", "-I", *jump(room))


def jump(room):
    return ["PREROUTING", "-s", f"{room.subnets}.0.0/16", "-j", room.name[:28]]  # a chain's name is no longer


def mend_database(engine, room):
    """Put the hub's database aside if it is damaged: the hub makes a new one, and all that is lost are log-ins."""
    database = room.folder / "state/jupyterhub.sqlite"
    if not database.exists() or is_sound(database):
        return
    aside = database.with_suffix(".sqlite.damaged")
    end_servers(engine, room, servers_of(engine, room))  # a new database knows none of them
    database.rename(aside)
    print(
        f"{database} is damaged and was put aside as {aside.name}. All log in anew and start their servers; "
        "what they saved is there, what their kernels held is gone."
    )


def is_sound(database):
    with closing(sqlite3.connect(database, timeout=60)) as connection:
        try:
            return connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]
        except sqlite3.OperationalError as error:
            raise HubError(f"{database} cannot be read: {error}") from error
        except sqlite3.DatabaseError:
            return False


def end_servers(engine, room, servers):
    """End servers, and before them the hub, which would let people start them again; `run` starts it anew."""
    hub = ask(engine, "ps", "--all", "--quiet", "--filter", f"name=^{room.name}-hub$")
    for container in [*hub.split(), *servers]:
        ask(engine, "rm", "--force", container)


def servers_of(engine, room):
    """Return {container: learner and number of the password} of all servers."""
    ids = ask(engine, "ps", "--all", "--quiet", "--filter", f"label=of={room.name}", "--filter", "label=learner")
    whose = '{{index .Config.Labels "learner"}}'
    return {each: ask(engine, "inspect", "--format", whose, each) for each in ids.split()}


def end_servers_of_nobody(engine, room):
    """End the servers of who is off the list by now, or has another password."""
    current = {f"{learner} {number}" for learner, number in room.learners.items()}
    if strangers := [each for each, whose in servers_of(engine, room).items() if whose not in current]:
        end_servers(engine, room, strangers)


def run(engine, room, name, host, options, command, told=""):
    """Have the engine run a container for ever; one that runs already as it should goes on.

    It is connected to the networks of all learners, each time: somebody may have been added.
    """
    image = ask(engine, "image", "inspect", "--format", "{{.Id}}", room.image)
    create = [*options, *command, image, told]
    as_told = hashlib.sha256("\n".join(create).encode()).hexdigest()
    there = subprocess.run(
        [engine, "container", "inspect", "--format", '{{index .Config.Labels "told"}}', name],
        capture_output=True,
        text=True,
    )
    if there.stdout.strip() != as_told:
        if there.returncode == 0:
            ask(engine, "rm", "--force", name)
        ask(
            *[
                engine,
                "create",
                "--name",
                name,
                "--restart=always",
                "--stop-timeout=30",  # the proxy waits ten seconds for who is connected
                f"--label=told={as_told}",
                f"--label=of={room.name}",
            ],
            *[f"--network={room.name}", f"--ip={room.address(host)}"],
            *["--security-opt=no-new-privileges", "--cpu-shares=4096", "--init", "--log-opt=max-size=10m"],
            *[*options, room.image, *command],
        )
    connected = json.loads(ask(engine, "container", "inspect", name))[0]["NetworkSettings"]["Networks"]
    for learner in room.learners:
        place = room.place(learner)
        if place.network not in connected:
            address = place.hub if host == 2 else place.proxy
            ask(engine, "network", "connect", f"--ip={address}", place.network, name)
    ask(engine, "start", name)


def up(environment):
    """Make what is missing, start what does not run, and return the room when the hub answers."""
    check_machine()
    room = read_room(environment)
    engine = find_engine()
    check_engine(engine)
    check_names(room)
    check_room(room)
    if subprocess.run([engine, "image", "inspect", room.image], capture_output=True).returncode:
        raise HubError(f"there is no image {room.image}: `podman build` in README.md makes it")
    room.folder.chmod(0o711)
    for folder in ("disks", "proxy", "proxy/rules"):
        (room.folder / folder).mkdir(mode=0o700, exist_ok=True)
    profile = write_profile(room, engine)
    try_it(room, engine, profile)
    mount_state(room)
    for learner in room.learners:
        make_disk(room, learner)
        mount(room, learner)
        mount_terminals(room, learner)
    for name, content in proxy_files(room).items():
        write(room.folder / "proxy" / name, content)
    end_servers_of_nobody(engine, room)
    mend_database(engine, room)
    told = json.dumps(told_to_hub(room, profile))
    write(room.folder / "state/told.json", told)
    socket_place = start_service(engine)
    make_network(engine, room, room.name, f"{room.subnets}.0.0/24", *(["--disable-dns"] if engine == "podman" else []))
    for learner in room.learners:
        place = room.place(learner)
        make_network(engine, room, place.network, place.subnet, *closed(engine))
    keep_off_connections(room)
    parts = urlsplit(room.url)
    local = parts.hostname.endswith("localhost")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    publish = f"--publish={'127.0.0.1:' if local else ''}{port}:8000"
    # Who opens connections for nothing meets this number before the memory ends.
    options = [publish, *memory("512m"), *ulimits(2**12), "--read-only", f"--volume={room.folder / 'proxy'}:/proxy:ro"]
    static = (room.folder / "proxy/traefik.yaml").read_text()
    run(engine, room, f"{room.name}-proxy", 3, options, ["traefik", "--configFile=/proxy/traefik.yaml"], static)
    options = [*memory("1g"), *ulimits(2**16), f"--volume={room.folder / 'state'}:/state"]
    options += [f"--volume={room.folder / 'proxy/rules'}:/rules"]
    options += [f"--volume={socket_place}:/engine{'.sock' if engine == 'docker' else ''}"]
    options += [f"--env=DOCKER_HOST=unix:///engine{'.sock' if engine == 'docker' else '/podman.sock'}"]
    command = ["jupyterhub", "--config=/opt/attention/workshop/hub/jupyterhub_config.py"]
    run(engine, room, f"{room.name}-hub", 2, options, command, told)
    wait_until(
        lambda: healthy(room), f"the hub does not answer at {room.url}; `{engine} logs {room.name}-hub` says why"
    )
    return room


def healthy(room):
    """Say whether the hub answers where browsers ask, on this machine."""
    parts = urlsplit(room.url)
    if parts.scheme == "https":  # whose certificate it is was looked at before
        any_name = ssl._create_unverified_context()
        open_to = http.client.HTTPSConnection("127.0.0.1", parts.port, context=any_name, timeout=5)
    else:
        open_to = http.client.HTTPConnection("127.0.0.1", parts.port, timeout=5)
    try:
        open_to.request("GET", "/hub/health", headers={"Host": parts.netloc})
        return open_to.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        open_to.close()


def down(environment):
    """End the hub, all servers and the networks, and take the disks off; what is saved stays."""
    check_machine()
    room = read_room(environment)
    engine = find_engine()
    mine = f"label=of={room.name}"
    for container in ask(engine, "ps", "--all", "--quiet", "--filter", mine).split():
        ask(engine, "rm", "--force", container)
    for network in ask(engine, "network", "ls", "--quiet", "--filter", mine).split():
        ask(engine, "network", "rm", network)
    own_chain = jump(room)[-1]
    for undo in (["-D", *jump(room)], ["-F", own_chain], ["-X", own_chain]):  # what is not there needs no undoing
        subprocess.run(["iptables", "--wait", "-t", "raw", *undo], capture_output=True)
    own = (room.folder.glob(f"{kind}/*") for kind in ("homes", "terminals"))  # of those, too, who are off the list
    for folder in (room.folder / "state", *chain(*own)):
        if os.path.ismount(folder):
            ask("umount", str(folder))
    return room


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python3 -m workshop.hub.machine", description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["up", "down"])
    try:
        if parser.parse_args(argv).what == "up":
            print(f"The hub answers at {up(os.environ).url}")
        else:
            down(os.environ)
    except HubError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
