"""The hub on one machine: `python3 -m workshop.hub.machine up` makes what is missing, and starts it.

It runs as root beside Podman, tells Podman what to run, and ends. Podman and Linux limit learners; what is made here is
what they haven't: a disk of fixed size for each learner, a network that leads to the hub alone, and a start that says
in a sentence what is wrong. `up` may be said again at any time: servers and kernels go on. `down` ends everything; what
learners saved stays.
"""

import grp
import os
import pwd
import secrets
import shutil
import sqlite3
import ssl
import subprocess
import sys
import time
import tomllib
import urllib.request
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

from workshop.hub.passwords import FOLDER, HubError, Settings, folder_of, read_settings

HERE = Path(__file__).parent
DISK, FILES = 2**30, 20_000  # of a learner's own disk; the file system in it takes about 5 %
STATE_DISK = 2**28  # what the hub itself keeps has some hundred KiB
TERMINALS = 64
FIRST_USER_ID = 40_000  # above the accounts that people have, and below 65536, the last one in many containers
SOCKET = Path("/run/podman/podman.sock")
PROGRAMS = ("podman", "mkfs.ext4", "e2fsck", "mount", "openssl", "iptables-restore")


@dataclass(frozen=True)
class Place:
    """What a learner has of the machine: a user id and a network, each of their own."""

    user_id: int
    network: str
    subnet: str
    hub: str  # the addresses there
    proxy: str


@dataclass(frozen=True, kw_only=True)
class Room(Settings):
    """The hub's folder, with the learners' names and the secret, and what `hub.toml` in it says."""

    folder: Path
    url: str = "http://hub.localhost:8000"
    certificate: str = ""
    key: str = ""
    one_origin: bool = False
    readers: str = ""
    subnets: str = "10.213"  # of which the hub takes one, and each learner a small one
    image: str = "localhost/attention-course"

    @property
    def name(self):
        """Of the hub's network; the containers' and the learners' names begin with it."""
        return self.folder.name

    network = name

    @property
    def hub(self):
        return f"{self.subnets}.0.2"

    @property
    def proxy(self):
        return f"{self.subnets}.0.3"

    @property
    def is_encrypted(self):
        return self.url.startswith("https:")

    @property
    def port(self):
        return urlsplit(self.url).port or (443 if self.is_encrypted else 80)

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
        own, first = f"{self.subnets}.{1 + third}.", 16 * sixteenth
        return Place(user_id, f"{self.name}-{learner}", f"{own}{first}/28", f"{own}{first + 13}", f"{own}{first + 14}")


def read_room(environment):
    """Read the hub's folder, and make the secret when there is none."""
    folder = folder_of(environment)
    if folder.is_dir() and not (folder / "secret").exists():
        (folder / "secret").touch(mode=0o600)
        (folder / "secret").write_text(secrets.token_hex(16), encoding="utf-8")
    settings = read_settings({FOLDER: str(folder)})
    file = folder / "hub.toml"
    try:
        own = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    except tomllib.TOMLDecodeError as error:
        raise HubError(f"{file} cannot be read: {error}") from error
    known = set(Room.__annotations__) - {"folder"}
    if unknown := sorted(set(own) - known):
        raise HubError(f"{file}: {unknown[0]} is no setting; there are {', '.join(sorted(known))}")
    return Room(secret=settings.secret, learners=settings.learners, folder=folder, **own)


# --- what is looked at before anything starts ---


def check_machine():
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        raise HubError("the hub mounts disks and keeps containers: start it on Linux, as root (`sudo -s`)")
    for program in PROGRAMS:
        if shutil.which(program) is None:
            raise HubError(f"{program} is missing: README.md says which packages the hub wants (`apt-get install`)")
    controllers = ask("podman", "info", "--format", "{{.Host.CgroupControllers}}")
    if missing := {"memory", "cpu", "pids"} - set(controllers.strip("[]").split()):
        raise HubError(
            f"Linux {os.uname().release} gives Podman no control group for {', '.join(sorted(missing))}: nothing "
            "would limit a learner. Take a newer system (Debian 12 does), or a machine rather than a container"
        )


def check_url(room):
    parts = urlsplit(room.url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
        raise HubError(f"url = {room.url!r} will not do; write, say, https://hub.example.org")
    if room.is_encrypted != bool(room.certificate and room.key):
        raise HubError("https takes a certificate and its key, http neither: *Into the room's network* in README.md")


def check_room(room):
    """Refuse settings under which learners would not be kept apart, or would not be found."""
    check_url(room)
    host = urlsplit(room.url).hostname
    names = [host] if room.one_origin else [host, f"{next(iter(room.learners))}.{host}"]
    if not f".{host}".endswith(".localhost") and not succeeds("getent", "ahosts", names[-1]):
        raise HubError(
            f"{names[-1]} is the address of nobody. Each learner has a name of their own: ask who keeps your names "
            f"for *.{host}, pointing to this machine; or read *Without a wildcard name* in README.md"
        )
    for name in names if room.is_encrypted else ():
        if "does match" not in ask("openssl", "x509", "-noout", "-checkhost", name, "-in", room.certificate):
            raise HubError(f"{room.certificate} is no certificate for {name}: ask for one")
    if room.readers and room.readers not in {group.gr_name for group in grp.getgrall()}:
        raise HubError(f"hub.toml: there is no group {room.readers}; `groupadd {room.readers}` makes one")


def succeeds(*command):
    return subprocess.run(list(map(str, command)), capture_output=True).returncode == 0


def ask(*command, stdin=None):
    """Run a command and return what it printed; what it complains of is a sentence for the instructor."""
    # Elsewhere: what looks after a container leaves a file where it was started.
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd="/run", input=stdin)
    if done.returncode:
        raise HubError(f"`{' '.join(map(str, command[:3]))} ...` failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout.strip()


# --- what Podman has not: disks of fixed size, terminals of a fixed number ---


def make_disk(disk, size, files, user_id=0):
    """Make a file of fixed size that belongs to a user, with an empty file system in it, unless it is there.

    Its room is taken now, not when somebody saves: that of a file from a backup, too, which has holes.
    """
    is_new = not disk.exists()
    part = disk.with_suffix(".part") if is_new else disk
    if is_new:
        part.touch(mode=0o600)
    try:
        with open(part, "r+b") as file:
            os.posix_fallocate(file.fileno(), 0, size)
    except OSError as error:
        if is_new:
            part.unlink()
        raise HubError(f"there is no room for {disk}, {size // 2**20} MiB ({error.strerror})") from error
    if is_new:
        # Without `nodiscard`, mkfs gives back to the machine what was just taken.
        ask("mkfs.ext4", "-q", "-F", "-m", "0", "-E", "nodiscard", "-N", files, part)
        os.chown(part, user_id, user_id)
        part.rename(disk)


def free_user_id(room):
    accounts = {account.pw_uid for account in pwd.getpwall()}
    accounts |= {entry.stat().st_uid for entry in os.scandir(room.folder / "disks")}
    return next(number for number in count(FIRST_USER_ID) if number not in accounts)


def mount_disk(disk, folder):
    """Mount a disk, and repair it first where a power cut left it half written."""
    folder.mkdir(parents=True, exist_ok=True)
    if os.path.ismount(folder):
        return
    checked = subprocess.run(["e2fsck", "-p", str(disk)], capture_output=True, text=True)
    if checked.returncode > 1:
        raise HubError(f"{disk} is damaged: {checked.stdout.strip()}; `e2fsck -y` mends what can be, a backup the rest")
    if not succeeds("mount", "-o", "loop,nosuid,nodev,noatime", disk, folder):
        raise HubError(
            f"{disk} cannot be mounted, and without a disk of fixed size nothing limits what a learner writes. "
            "A container usually may not mount: take a machine, virtual or not"
        )


def make_home(room, learner):
    """Make and mount a learner's disk, with the folders that their server is given, and their terminals."""
    make_disk(room.disk(learner), DISK, FILES, free_user_id(room))
    mount_disk(room.disk(learner), room.home(learner))
    user_id = room.disk(learner).stat().st_uid
    readers = grp.getgrnam(room.readers).gr_gid if room.readers else 0
    for name, group, mode in (("home", user_id, 0o700), ("handed_in", readers, 0o2750)):
        folder = room.home(learner) / name
        folder.mkdir(exist_ok=True)
        os.chown(folder, user_id, group)
        folder.chmod(mode)
    terminals = room.terminals(learner)
    terminals.mkdir(parents=True, exist_ok=True)
    if not os.path.ismount(terminals):  # without their own, they would come out of the machine's
        options = f"newinstance,max={TERMINALS},ptmxmode=0666,mode=0620,gid=5,nosuid,noexec"
        ask("mount", "-t", "devpts", "-o", options, "devpts", terminals)


# --- networks ---


def make_network(room, name, subnet, *options):
    if not succeeds("podman", "network", "exists", name):
        # Without names the machine itself has no address in an internal network.
        options = (*options, "--disable-dns", f"--label=of={room.name}", f"--subnet={subnet}")
        ask("podman", "network", "create", *options, name)


def jump(room):
    return ["PREROUTING", "-s", f"{room.subnets}.0.0/16", "-j", room.name[:28]]  # a chain's name is no longer


def keep_off_connections(room):
    """Let learners' networks carry what they are for, and have Linux keep no list of it.

    Else what one learner sends fills the machine's list of connections, and then nobody gets a new one.
    """
    work = "-p tcp -m multiport --ports 8081,8888"  # the hub's interface, and the servers'
    rules = [f"-s {room.subnets}.0.0/24 -j RETURN", f"{work} -j CT --notrack", f"{work} -j RETURN", "-j DROP"]
    chain = jump(room)[-1]
    lines = ["*raw", f":{chain} - [0:0]", *(f"-A {chain} {rule}" for rule in rules), "COMMIT\n"]
    ask("iptables-restore", "--wait", "--noflush", stdin="\n".join(lines))
    if not succeeds("iptables", "--wait", "-t", "raw", "-C", *jump(room)):
        ask("iptables", "--wait", "-t", "raw", "-I", *jump(room))


# --- what runs ---


def start_service():
    """See that Podman answers the hub, which it does through a service of its own."""
    ask_it = ("podman", "--url", f"unix://{SOCKET}", "version")
    if succeeds(*ask_it):
        return
    if Path("/run/systemd/system").exists():
        ask("systemctl", "enable", "--now", "podman.socket", "podman-restart.service")
    else:
        SOCKET.parent.mkdir(parents=True, exist_ok=True)
        SOCKET.unlink(missing_ok=True)
        ask("sh", "-c", f"setsid podman system service --time=0 unix://{SOCKET} > {SOCKET.parent}/service.log 2>&1 &")
    wait_until(lambda: succeeds(*ask_it), "Podman's service does not answer; /run/podman/service.log says why")


def wait_until(happened, sentence):
    for _ in range(600):
        if happened():
            return
        time.sleep(0.2)
    raise HubError(sentence)


def run(room, part, memory, files, *options):
    """Have Podman run the hub or the proxy for ever, in all networks, in the place of one that runs already."""
    limits = [f"--memory={memory}", f"--memory-swap={memory}", f"--ulimit=nofile={files}:{files}", "--cpu-shares=4096"]
    limits += ["--ulimit=nproc=4096:4096", "--security-opt=no-new-privileges", "--log-opt=max-size=10m"]
    named = [f"--name={room.name}-{part}", f"--label=of={room.name}"]
    joined = [f"--network={each.network}:ip={getattr(each, part)}" for each in (room, *map(room.place, room.learners))]
    ask("podman", "run", "--detach", "--replace", "--init", "--restart=always", *named, *joined, *limits, *options)


def run_proxy(room):
    """Run Traefik, whose rules are `proxy.yaml` and those that the hub writes beside it."""
    parts = urlsplit(room.url)
    folder = room.folder / "proxy"
    copied = {"course.yaml": HERE / "proxy.yaml"}
    if room.is_encrypted:
        copied |= {"tls.yaml": HERE / "tls.yaml", "hub.pem": room.certificate, "hub.key": room.key}
    for name, file in copied.items():
        shutil.copyfile(file, folder / name)
    here = "127.0.0.1:" if parts.hostname.endswith("localhost") else ""
    # Learners' networks reach no entry point but "learners". "Bad Gateway" comes soon, where a server is gone. Heads of
    # requests end at 16 KiB, and `fastProxy`, which reads into buffers of fixed size, refuses large heads of answers:
    # who sends many of them would take the proxy's memory.
    command = f"""
        traefik --global.checkNewVersion=false --global.sendAnonymousUsage=false --log.level=ERROR --api=true
        --experimental.fastProxy=true --providers.file.directory=/proxy --providers.providersThrottleDuration=0s
        --serversTransport.forwardingTimeouts.dialTimeout=3s
        --entryPoints.public.address={room.proxy}:8000 --entryPoints.public.http.tls={str(room.is_encrypted).lower()}
        --entryPoints.public.transport.lifeCycle.graceTimeOut=1s --entryPoints.public.http.maxHeaderBytes=16384
        --entryPoints.auth_api.address={room.proxy}:8099
        --entryPoints.learners.address=:8081 --entryPoints.interface.address=127.0.0.1:8082
        --entryPoints.interface.http.maxHeaderBytes=16384
    """.split()
    options = [f"--publish={here}{room.port}:8000", f"--volume={folder}:/proxy:ro", f"--env=HUB={room.hub}"]
    # Who opens connections for nothing meets the number of files before the memory ends.
    run(room, "proxy", "512m", 2**12, "--read-only", *options, room.image, *command)


def run_hub(room):
    """Run JupyterHub, which reads the room as `up` did, and learners' servers find in each of their networks."""
    options = [f"--volume={room.folder}:{room.folder}:ro,bind", f"--env={FOLDER}={room.folder}"]
    # A folder inside the disk: where that is not mounted, Podman starts nothing.
    options += [f"--volume={room.folder}/state/kept:/state", f"--volume={room.folder}/proxy:/rules"]
    options += [f"--volume={SOCKET.parent}:/engine", f"--env=DOCKER_HOST=unix:///engine/{SOCKET.name}"]
    command = ["jupyterhub", "--config=/opt/attention/workshop/hub/jupyterhub_config.py"]
    run(room, "hub", "1g", 2**14, *options, "--env=PYTHONPATH=/opt/attention", room.image, *command)


def end_servers_of_nobody(room):
    """End the servers of who is off the list by now or has another password, or all where the hub has to forget them.

    The hub ends before, which would let people start them again.
    """
    ask("podman", "rm", "--force", "--ignore", f"{room.name}-hub")
    current = set() if put_damaged_aside(room) else {f"{name} {number}" for name, number in room.learners.items()}
    listed = ["--filter", f"label=of={room.name}", "--filter", "label=learner"]
    servers = ask("podman", "ps", "--all", *listed, "--format", '{{.ID}} {{index .Labels "learner"}}').splitlines()
    for container, _, whose in (server.partition(" ") for server in servers):
        if whose not in current:
            ask("podman", "rm", "--force", container)


def put_damaged_aside(room):
    """Say whether the hub's database was damaged: it is put aside, and all that the hub forgets are log-ins."""
    database = room.folder / "state/kept/jupyterhub.sqlite"
    if not database.exists():
        return False
    try:
        with closing(sqlite3.connect(database)) as connection:
            if connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]:
                return False
    except sqlite3.DatabaseError:
        pass
    aside = database.rename(database.with_suffix(".sqlite.damaged"))
    print(
        f"{database} is damaged and was put aside as {aside.name}. All log in anew and start their servers; "
        "what they saved is there, what their kernels held is gone."
    )
    return True


def is_healthy(room):
    """Say whether the hub answers where browsers ask, on this machine."""
    parts = urlsplit(room.url)
    here = f"{parts.scheme}://127.0.0.1:{room.port}/hub/health"
    any_name = ssl._create_unverified_context()  # whose certificate it is was looked at before
    request = urllib.request.Request(here, headers={"Host": parts.netloc})
    try:
        return urllib.request.urlopen(request, timeout=5, context=any_name).status == 200
    except OSError:
        return False


def up(environment):
    """Make what is missing, start the hub, and return the room when it answers."""
    check_machine()
    room = read_room(environment)
    check_room(room)
    if not succeeds("podman", "image", "exists", room.image):
        raise HubError(f"there is no image {room.image}: `podman build` in README.md makes it")
    room.folder.chmod(0o711)
    for folder in ("disks", "proxy"):
        (room.folder / folder).mkdir(mode=0o700, exist_ok=True)
    shutil.copyfile(HERE / "seccomp.json", room.folder / "seccomp.json")
    make_disk(room.folder / "state.img", STATE_DISK, 1000)
    mount_disk(room.folder / "state.img", room.folder / "state")
    (room.folder / "state/kept").mkdir(mode=0o700, exist_ok=True)
    for learner in room.learners:
        make_home(room, learner)
    end_servers_of_nobody(room)
    start_service()
    make_network(room, room.name, f"{room.subnets}.0.0/24")
    for place in map(room.place, room.learners):
        make_network(room, place.network, place.subnet, "--internal")
    keep_off_connections(room)
    run_proxy(room)
    run_hub(room)
    sentence = f"the hub does not answer at {room.url}; `podman logs {room.name}-hub` says why"
    wait_until(lambda: is_healthy(room), sentence)
    return room


def down(environment):
    """End the hub, all servers and the networks, and take the disks off; what is saved stays."""
    check_machine()
    room = read_room(environment)
    mine = f"label=of={room.name}"
    for container in ask("podman", "ps", "--all", "--quiet", "--filter", mine).split():
        ask("podman", "rm", "--force", container)
    for network in ask("podman", "network", "ls", "--quiet", "--filter", mine).split():
        ask("podman", "network", "rm", network)
    chain = jump(room)[-1]
    for undo in (["-D", *jump(room)], ["-F", chain], ["-X", chain]):  # what is not there needs no undoing
        succeeds("iptables", "--wait", "-t", "raw", *undo)
    # Of those, too, who are off the list.
    for folder in (room.folder / "state", *room.folder.glob("homes/*"), *room.folder.glob("terminals/*")):
        if os.path.ismount(folder):
            ask("umount", folder)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["up"]:
            print(f"The hub answers at {up(os.environ).url}")
        case ["down"]:
            down(os.environ)
        case _:
            sys.exit(__doc__)
