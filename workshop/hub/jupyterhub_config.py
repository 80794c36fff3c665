"""The hub on one machine, in a container of its own: the room that `machine.py` made, as JupyterHub's configuration."""

import os
import secrets
import sys
import tomllib
from pathlib import Path

import bcrypt
from tornado.httpserver import HTTPServer

from workshop.hub.machine import read_room
from workshop.hub.passwords import let_in

c = get_config()  # noqa: F821
room = read_room(os.environ)
let_in(c, room)

# --- What a learner gets ---
c.JupyterHub.spawner_class = "docker"
c.DockerSpawner.image = room.image
c.DockerSpawner.remove = True
c.DockerSpawner.use_internal_ip = True
c.DockerSpawner.name_template = f"{room.name}-{{raw_username}}-server"
# Of all of a learner's processes together, and what they keep in memory as files counts; beyond it the largest ends.
c.DockerSpawner.mem_limit = "2G"
c.DockerSpawner.cpu_limit = 1.0
scratch = {"/tmp": 128, "/var/tmp": 64, "/run": 8}  # MiB, in memory; they end with the server
limits = {
    "nofile": 1024,
    "data": 2**30,  # of one process: beyond it Python raises MemoryError, and the kernel goes on
    "fsize": 2**28,
    "core": 0,
    # Of the user id, on the whole machine, which only this learner has: `pids_limit` is what holds.
    "nproc": 4096,
}
c.DockerSpawner.extra_host_config = {
    "mem_reservation": "512m",
    "memswap_limit": "2g",
    "cpu_shares": 128,  # where processors run short: an eighth of what others have, and a thirtieth of the hub
    "pids_limit": 300,  # and threads: a kernel has about ten
    "shm_size": "64m",
    "ulimits": [{"Name": name, "Soft": most, "Hard": most} for name, most in limits.items()],
    "read_only": True,
    "tmpfs": {place: f"size={size}m,mode=1777,nosuid,nodev" for place, size in scratch.items()},
    "cap_drop": ["ALL"],
    # Masked are the machine's disks, whose files have learners' names.
    "security_opt": ["no-new-privileges", f"seccomp={room.folder / 'seccomp.json'}", "mask=/sys/devices/virtual/block"],
    "sysctls": {
        "net.ipv6.conf.all.disable_ipv6": "1",  # by which a network's members would find the machine itself
        "kernel.shmall": "16384",  # pages: what stays when its program has ended would end the server
    },
    "oom_score_adj": 500,
    "init": True,  # what outlives its parent is waited for, and counts no more
    "log_config": {"Type": "k8s-file", "Config": {"max-size": "10m"}},
}
# `-I`: neither a learner's folder nor what they installed is where this Python looks for modules.
c.Spawner.cmd = ["/opt/venv/bin/python", "-I", "/opt/attention/workshop/hub/server.py"]
c.Spawner.notebook_dir = "/home/learner"
c.Spawner.default_url = "/lab/tree/notebooks/01_self_attention.ipynb"
# No file of a learner's tells their server how to serve. Their own settings of JupyterLab stay theirs.
c.Spawner.disable_user_config = True
c.Spawner.args = [
    "--config=/opt/attention/jupyter_server_config.py",
    "--TemplateExporter.extra_template_basedirs=[]",
    # A kernel that nobody looks at ends, but not while a laptop sleeps over lunch.
    "--MappingKernelManager.cull_idle_timeout=5400",
    # What is deleted frees its space: nobody looks for a hidden folder of rubbish when theirs is full.
    "--FileContentsManager.delete_to_trash=False",
]
# One thread each: on a busy machine two threads of one learner wait for each other.
c.Spawner.environment = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
# JupyterLab asks nobody whether to fetch news. (What `jupyter_server_config.py` does to that end, JupyterHub replaces.)
c.Spawner.environment |= {"JUPYTER_CONFIG_PATH": "/opt/attention/workshop/hub/jupyter", "SHELL": "/bin/bash"}
c.Spawner.environment["JUPYTER_RUNTIME_DIR"] = "/tmp/jupyter"  # a kernel starts on a full disk, too
c.Spawner.poll_interval = 5  # seconds until a server that died can be started again
c.Spawner.start_timeout = c.Spawner.http_timeout = 300  # a whole room starts at once


def take_place(spawner):
    """Give a server the learner's own user id, network and disk, and the way to the hub from there."""
    # What a request for a server wishes for is not heard. Refused, it would be so at each start to come.
    spawner.user_options = {}
    name = spawner.user.name
    place, home = room.place(name), room.home(name)
    spawner.network_name = place.network
    spawner.hub_connect_url = f"http://{place.proxy}:8081"
    spawner.extra_create_kwargs = {
        "working_dir": "/opt/attention",
        "user": f"{place.user_id}:{place.user_id}",
        "labels": {"of": room.name, "learner": f"{name} {room.learners[name]}"},
    }
    # The folders inside the disk: if it is not mounted they are not there, and Podman says so.
    spawner.mounts = [
        {"type": "bind", "source": str(home / "home"), "target": "/home/learner"},
        {"type": "bind", "source": str(home / "handed_in"), "target": "/handed_in"},
        {"type": "bind", "source": str(room.terminals(name)), "target": "/dev/pts"},
    ]
    spawner.environment = c.Spawner.environment | {"HOME": "/home/learner", "USER": name, "LOGNAME": name}


c.Spawner.pre_spawn_hook = take_place

# --- The hub's own ---
# A request has hundreds of bytes; a longer one is refused unread. JupyterHub passes none of this on, Tornado keeps it.
HTTPServer.configure(None, max_body_size=2**16, max_buffer_size=2**20)
c.JupyterHub.bind_url = room.url
c.JupyterHub.hub_bind_url = f"http://{room.hub}:8081"
if not room.one_origin:
    c.JupyterHub.subdomain_host = room.url
    # So that no page under a learner's address can put another's log-in in the place of one's own; browsers want https.
    c.JupyterHub.cookie_host_prefix_enabled = room.is_encrypted
c.JupyterHub.db_url = "sqlite:////state/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = "/state/cookie_secret"
# Podman keeps servers and proxy: they go on while the hub starts anew.
c.JupyterHub.cleanup_servers = c.JupyterHub.cleanup_proxy = False

# --- The proxy, a container of its own ---
rules = Path("/rules/rules.toml")
try:
    tomllib.loads(rules.read_text(encoding="utf-8") if rules.exists() else "")
except ValueError:  # half of it, from before a power cut: the hub writes it anew
    rules.unlink()
c.JupyterHub.proxy_class = "traefik_file"
c.TraefikFileProviderProxy.dynamic_config_file = str(rules)
c.TraefikProxy.should_start = False
c.TraefikProxy.traefik_entrypoint = "public"
c.TraefikProxy.traefik_api_url = f"http://{room.proxy}:8099"
c.TraefikProxy.traefik_api_username = "hub"
word = c.TraefikProxy.traefik_api_password = secrets.token_hex(16)
hashed = bcrypt.hashpw(word.encode(), bcrypt.gensalt()).decode()
# Here, so that it takes the place of one that an earlier start has left.
c.TraefikProxy.extra_dynamic_config = {
    "http": {"middlewares": {"auth_api": {"basicAuth": {"users": [f"hub:{hashed}"]}}}}
}

# --- Servers that nobody has used for two hours end; what was saved stays ---
culler = "idle-culler"
scopes = ["list:users", "read:users:activity", "read:servers", "delete:servers"]
c.JupyterHub.load_roles.append({"name": culler, "scopes": scopes, "services": [culler]})
c.JupyterHub.services = [
    {"name": culler, "command": [sys.executable, "-m", "jupyterhub_idle_culler", "--timeout=7200"]}
]
