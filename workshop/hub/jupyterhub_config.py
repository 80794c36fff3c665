"""A hub on one machine, as `jupyterhub --config=workshop/hub/jupyterhub_config.py` reads it; README.md says how."""

import os
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

COURSE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(COURSE))

from workshop.hub.homes import closed_to_others  # noqa: E402
from workshop.hub.learner_server import APART, SCRATCH  # noqa: E402
from workshop.hub.one_hub import occupy, refuse_used_ports  # noqa: E402
from workshop.hub.passwords import let_in  # noqa: E402

c = get_config()  # noqa: F821
settings = let_in(c, os.environ)
if not sys.platform.startswith("linux") or os.geteuid() != 0:
    sys.exit("The hub keeps learners apart by user ids of their own: start it on Linux, as root.")
for needed in (Path(sys.executable), Path(sys.prefix), COURSE, settings.folder.parent):
    if closed := closed_to_others(needed):
        sys.exit(f"Learners could not read {needed}: {closed} lets only its owner in. Install below /opt, say.")
    if own := next((place for place in SCRATCH if needed.is_relative_to(place)), None):
        sys.exit(f"Learners could not read {needed}: each has a {own} of their own. Put it below /opt or /srv.")
apart = subprocess.run([*APART, "true"], capture_output=True, text=True)
if apart.returncode:
    sys.exit(
        f"The hub cannot keep learners apart here ({apart.stderr.strip()}). A container usually lacks the rights for "
        "it: take a machine of its own, virtual or not."
    )

# The proxy, and what learners start in a terminal, are found beside this Python.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
settings.folder.chmod(0o711)  # learners pass through it to their own folders
(settings.folder / "learners.txt").chmod(0o600)
state = settings.folder / "state"
state.mkdir(mode=0o700, exist_ok=True)
occupy(state)

# --- What a learner gets ---
c.JupyterHub.spawner_class = "workshop.hub.spawner.LearnerSpawner"
c.LearnerSpawner.homes = str(settings.folder / "homes")
# `-I`: neither a learner's folder nor what they installed is where this Python looks for modules.
c.Spawner.cmd = [*APART, sys.executable, "-I", str(COURSE / "workshop/hub/learner_server.py")]
# Nor is it told by a file of theirs how to serve, and what to everybody. Their own settings of JupyterLab stay theirs.
c.Spawner.disable_user_config = True
c.Spawner.default_url = "/lab/tree/notebooks/01_self_attention.ipynb"
c.Spawner.args = [
    f"--config={COURSE / 'jupyter_server_config.py'}",
    # A kernel whose notebook is closed ends after half an hour; one that somebody looks at stays.
    "--MappingKernelManager.cull_idle_timeout=1800",
    # Whoever has a process on the machine can connect to a kernel's ports: nobody without the key reads along.
    "--KernelManager.transport_encryption=required",
    # What is deleted frees its space: nobody looks for a hidden folder of rubbish when theirs is full.
    "--FileContentsManager.delete_to_trash=False",
]
# For each process: the server, and each kernel. `learner_server.py` has it enforced; `limits.py`, what holds for all of
# a learner's together.
c.Spawner.mem_limit = "1G"
# One thread each: on a busy machine two threads of one learner wait for each other.
c.Spawner.environment = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
# JupyterLab asks nobody whether to fetch news. (What `jupyter_server_config.py` does to that end, JupyterHub replaces.)
c.Spawner.environment["JUPYTER_CONFIG_PATH"] = str(COURSE / "workshop/hub/jupyter")
c.Spawner.poll_interval = 5  # seconds until a server that died can be started again
# Seconds after SIGINT until SIGTERM: a hub that a shell started in the background bequeaths that SIGINT is ignored.
c.LocalProcessSpawner.interrupt_timeout = 5
c.Spawner.start_timeout = c.Spawner.http_timeout = 180  # a whole room starts at once

# --- The hub's own ---
c.JupyterHub.bind_url = "http://127.0.0.1:8000"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:8081"
c.TraefikProxy.traefik_api_url = "http://127.0.0.1:8099"
from jupyterhub.app import JupyterHub  # noqa: E402

told = deepcopy(c)
told.merge(JupyterHub.instance().cli_config)  # the command line, which goes before this file
refuse_used_ports((told.JupyterHub.bind_url, told.JupyterHub.hub_bind_url, told.TraefikProxy.traefik_api_url))
c.JupyterHub.proxy_class = "traefik_file"
c.TraefikProxy.static_config_file = str(state / "traefik.toml")
c.TraefikFileProviderProxy.dynamic_config_file = str(state / "rules.toml")
c.TraefikProxy.extra_static_config = {"global": {"checkNewVersion": False, "sendAnonymousUsage": False}}
c.JupyterHub.db_url = f"sqlite:///{state / 'jupyterhub.sqlite'}"
c.JupyterHub.cookie_secret_file = str(state / "cookie_secret")

# --- Servers that nobody has used for two hours end; what was saved stays ---
culler = "idle-culler"
scopes = ["list:users", "read:users:activity", "read:servers", "delete:servers"]
c.JupyterHub.load_roles = [{"name": culler, "scopes": scopes, "services": [culler]}]
c.JupyterHub.services = [
    {"name": culler, "command": [sys.executable, "-m", "jupyterhub_idle_culler", "--timeout=7200"]}
]
