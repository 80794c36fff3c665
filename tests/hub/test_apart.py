"""Attacks on a real hub, each as it once succeeded: by a learner's own files, by the network, by taking all there is.

Needs `workshop/hub/requirements.txt`, root, and an image of the course. Anna attacks, Bert works, Carl arrives later.
"""

import asyncio
import inspect
import json
import shutil
import socket
import subprocess
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psutil
import pytest
from nbformat import v4

pytest.importorskip("pwd", reason="the hub runs on Linux")
from tools.page.browser import open_browser
from tools.writing.notebooks import course_notebooks

pytestmark = pytest.mark.hub


@pytest.fixture(scope="module")
def hub():
    """Start a hub in which Anna has put files of hers wherever Jupyter and Python look for some."""
    from tests.hub.load_hub import running_hub

    with running_hub(["anna", "bert", "carl"], plant) as hub:
        asyncio.run(start_servers(hub, "anna", "bert"))
        yield hub


async def start_servers(hub, *names):
    for name in names:
        learner = await visitor(hub, name)
        await learner.start_server()
        await learner.close()


async def start_anew(hub, learner):
    """Kill a learner's server, and start it when the hub has noticed."""
    command = ["podman", "kill", f"{hub.room.name}-{learner.name}-server"]
    subprocess.run(command, check=True, capture_output=True)
    for _ in range(60):
        status = await learner.client.get(f"{hub.url}hub/api/users/{learner.name}")
        if status.is_success and not status.json()["servers"]:
            break
        await asyncio.sleep(0.5)
    await learner.start_server()


async def visitor(hub, name):
    from tests.hub.load_learner import Learner

    learner = Learner(hub, name)
    await learner.log_in()
    return learner


async def _as(hub, name, ask):
    learner = await at_work(hub, name)
    try:
        return await ask(learner)
    finally:
        await learner.close()


async def at_work(hub, name):
    learner = await visitor(hub, name)
    await learner._get(f"{learner.own}lab")
    return learner


def run_cell(hub, name, code):
    """Return what a learner's cell prints, or None if its kernel was ended meanwhile."""
    return asyncio.run(_as(hub, name, lambda learner: cell_of(learner, code)))


async def cell_of(learner, code):
    from tests.hub.load_learner import KernelRestartedError

    path = "attack.ipynb"
    await learner.save(path, v4.new_notebook(cells=[v4.new_code_cell(code)]))
    try:
        await learner.run_notebook(path)
    except KernelRestartedError:
        return None
    [cell] = (await learner.read(path)).cells
    return "".join(output.text for output in cell.outputs)


# --- by files of her own ---

IMPORTED = """
from pathlib import Path
Path.home().joinpath(f"ran {Path(__file__)}".replace("/", ":")).touch()
"""
CONFIGURED = ("jupyter", "jupyter_server", "jupyter_lab", "jupyter_notebook", "jupyter_application")
# What nbconvert shows of a notebook, with a line that runs in the server.
TEMPLATE = "{{ cycler.__init__.__globals__.os.system('touch ~/ran-template') }}"
TEMPLATES = ("lab", "classic", "base", "html")
BELOW = ("", "notebooks/", ".jupyter/", ".jupyter/templates/", ".local/share/jupyter/nbconvert/templates/")
SERVED = (".jupyter/custom", ".jupyter/nbextensions", ".jupyter/lab/static", ".jupyter/lab/themes", "static", "custom")
SERVED += tuple(
    f".local/share/jupyter/{place}"
    for place in ("nbextensions", "labextensions/free/static", "lab/static", "lab/themes/free", "kernels/free")
)
ASKED = ("free", "static/free.html", "static/lab/free.html", "custom/free.html", "nbextensions/free.html")
ASKED += ("lab/extensions/free/static/free.html", "lab/api/themes/free/free.html", "kernelspecs/free/free.html")
ASKED += ("files/notebooks/free.html", "view/notebooks/free.html", "nbconvert/html/notebooks/free.html")
ASKED += ("nbconvert/html/notebooks/01_self_attention.ipynb",)


def plant(room):
    home = room.home("anna") / "home"
    site = ".local/lib/python3.11/site-packages"
    files = {f"{site}/free.pth": "import free_pth\n", f"{site}/free_pth.py": IMPORTED}
    for place in ("", ".jupyter/", ".local/etc/jupyter/", "notebooks/"):
        files |= {f"{place}{name}_config.py": IMPORTED for name in CONFIGURED}
        files |= {f"{place}{name}.py": IMPORTED for name in ("sitecustomize", "usercustomize", "jupyterhub", "tornado")}
    for place in (f"{below}{name}" for below in BELOW for name in TEMPLATES):
        files |= {f"{place}/index.html.j2": TEMPLATE, f"{place}/conf.json": json.dumps({"base_template": "base"})}
    files |= {f"{place}/free.html": "Free pizza" for place in (*SERVED, "notebooks")}
    for name, content in files.items():
        file = home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    owner = home.stat().st_uid
    subprocess.run(["chown", "-R", f"{owner}:{owner}", str(home)], check=True)


def test_no_file_of_a_learner_runs_in_their_server_or_is_shown_to_anybody_else(hub):
    async def visit():
        anna, bert = await at_work(hub, "anna"), await visitor(hub, "bert")
        for path in ASKED:
            await anna.client.get(anna.own + path)
        shown = []
        async with httpx.AsyncClient() as nobody:
            for path in ASKED:
                for client in (nobody, bert.client):
                    answer = await client.get(anna.own + path)
                    if answer.is_success and "pizza" in answer.text:
                        shown.append(path)
        files = await bert.client.get(anna.own + "api/contents")
        await anna.close()
        await bert.close()
        return shown, files.status_code

    assert asyncio.run(visit()) == ([], 403)
    assert [path.name for path in hub.home("anna").glob("ran*")] == []


FROM_ANNAS_ORIGIN = """async (own) => {
  const came = {};
  try { came.read = (await fetch(own + "api/contents", {credentials: "include"})).status; }
  catch (error) { came.read = error.name; }
  const frame = document.createElement("iframe");
  frame.src = own + "lab";
  document.body.append(frame);
  await new Promise((done) => { frame.onload = frame.onerror = done; });
  try { came.frame = frame.contentWindow.document.cookie; }
  catch (error) { came.frame = error.name; }
  came.made = await fetch(own + "api/terminals", {method: "POST", mode: "no-cors", credentials: "include"})
    .then((answer) => answer.type, (error) => error.name);
  return came;
}"""


def test_what_runs_in_one_learners_page_cannot_act_in_anothers(hub):
    with open_browser() as browser, browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{hub.url}hub/login?next=/hub/user/bert/lab")
        page.fill("[name=username]", "bert")
        page.fill("[name=password]", hub.passwords()["bert"])
        page.click("#login_submit")
        page.wait_for_url(f"{hub.own('bert')}lab*")
        # As if Anna had a page of her own there: whatever she makes her server say comes from this origin.
        page.goto(f"{hub.own('anna')}api")
        came = page.evaluate(FROM_ANNAS_ORIGIN, hub.own("bert"))
        page.goto(f"{hub.own('bert')}api/terminals")
        assert json.loads(page.inner_text("body")) == []
    assert (came["read"], came["frame"]) == ("TypeError", "SecurityError"), came
    assert came["made"] in ("opaque", "TypeError"), came  # sent or not: no terminal was made


# --- by the network and the machine ---

REACH = """
import json, os, socket
def knock(host, port):
    with socket.socket() as attempt:
        attempt.settimeout(2)
        try:
            attempt.connect((host, port))
        except OSError as error:
            return type(error).__name__ if not error.errno else os.strerror(error.errno)
        return "open"
def way(host, family):
    # Nothing is sent: a datagram socket is told where it would send, and Linux whether there is a way.
    with socket.socket(family, socket.SOCK_DGRAM) as attempt:
        try:
            attempt.connect((host, 9))
        except OSError as error:
            return os.strerror(error.errno)
        return "there is a way"
print(json.dumps({{
    "near": [f"{{host}}:{{port}}" for host in {near} for port in {ports} if knock(host, port) == "open"],
    "far": sorted({{way(host, socket.AF_INET) for host in {far}}}),
    "far6": sorted({{way(host, socket.AF_INET6) for host in {far6}}}),
    "interfaces": open("/proc/net/if_inet6").read(),
}}))
"""
PORTS = (22, 53, 80, 111, 443, 2375, 8000, 8001, 8080, 8081, 8082, 8099, 8888)


def test_a_learner_reaches_the_hubs_interface_and_nothing_else(hub):
    anna, bert = hub.room.place("anna"), hub.room.place("bert")
    their = subprocess.run(
        ["podman", "inspect", "--format", "{{json .NetworkSettings.Networks}}", f"{hub.room.name}-bert-server"],
        capture_output=True,
        check=True,
    )
    bert_there = json.loads(their.stdout)[bert.network]["IPAddress"]
    far = [
        bert_there,
        bert.hub,
        *(f"{hub.room.subnets}.0.{host}" for host in (1, 2, 3)),
        "169.254.169.254",
        "192.0.2.1",
    ]
    far6 = ["fd00:ec2::254", "2001:db8::1", "fe80::1"]
    said = run_cell(hub, "anna", REACH.format(near=[anna.hub, anna.proxy], ports=PORTS, far=far, far6=far6))
    came = json.loads(said)
    assert came["near"] == [f"{anna.proxy}:8081"]
    assert came["far"] == ["Network is unreachable"]
    assert "there is a way" not in came["far6"]
    assert came["interfaces"] == ""


ASK_THE_HUB = """
import json, os, urllib.error, urllib.request
api, token = os.environ["JUPYTERHUB_API_URL"], os.environ["JUPYTERHUB_API_TOKEN"]
def ask(path, method="GET", **headers):
    headers = {"Authorization": f"token {token}", **headers}
    try:
        return urllib.request.urlopen(urllib.request.Request(api + path, method=method, headers=headers)).status
    except urllib.error.HTTPError as error:
        return error.code
forged = {"X-Forwarded-For": "10.0.0.9", "X-Scheme": "https"}
print(json.dumps({
    "own": ask("/user"),
    "others": [ask("/users"), ask("/users/bert"), ask("/users/bert/server", "DELETE"), ask("/users/bert/tokens"),
               ask("/proxy"), ask("/shutdown", "POST"), ask("/services"), ask("/groups")],
    "login": [ask("/../login"), ask("/../login", "POST", **forged), ask("/../spawn/bert")],
}))
"""


def test_a_kernel_asks_the_hub_about_itself_alone_and_reaches_no_log_in(hub):
    came = json.loads(run_cell(hub, "anna", ASK_THE_HUB))
    assert came["own"] == 200
    assert set(came["others"]) <= {403, 404, 405}, came
    assert set(came["login"]) <= {404, 405}, came


NOSY = """
import ctypes, os, subprocess
for command in ("unshare -U true", "unshare -Urm true", "mount -t tmpfs none /mnt", "sudo -n true", "chroot / true"):
    done = subprocess.run(command, shell=True, capture_output=True)
    print(command, done.returncode != 0)
status = open("/proc/self/status").read()
shown = ("CapEff", "CapBnd", "NoNewPrivs", "Seccomp:")
print([line.split()[1] for line in status.splitlines() if line.startswith(shown)])
owners = {os.stat(f"/proc/{number}").st_uid for number in os.listdir("/proc") if number.isdigit()}
print(owners == {os.getuid()}, os.listdir("/home"), [name for name in os.environ if name.startswith("MHA_")])
for place in ("/", "/etc", "/opt/attention", "/usr", "/root", "/proc/sys/kernel", "/sys"):
    try:
        open(place + "/mine", "wb")
    except OSError as error:
        print(place, error.strerror)
print([name for name in ("/state", "/rules", "/proxy", "/engine", "/run/podman") if os.path.exists(name)])
"""


def test_a_learner_has_no_rights_and_sees_nothing_of_anybody_else(hub):
    lines = run_cell(hub, "anna", NOSY).splitlines()
    assert [line.endswith(" True") for line in lines[:5]] == [True] * 5, lines
    assert lines[5] == "['0000000000000000', '0000000000000000', '1', '2']"
    assert lines[6] == "True ['learner'] []"
    refused = ("Read-only file system", "Permission denied", "No such file or directory")
    assert [line for line in lines[7:-1] if line.split(" ", 1)[1] not in refused] == []
    assert len(lines) == 15, "one line for each place"
    assert lines[-1] == "[]"


NAMES = """
import os
found = []
for place, _, files in os.walk("/sys"):
    for path in (os.path.join(place, name) for name in files):
        try:
            with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
                found += [path] * ({folder!r}.encode() in file.read(65536))
        except OSError:
            pass
print(found)
"""


def test_the_machines_disks_do_not_tell_a_learner_the_others_names(hub):
    assert run_cell(hub, "anna", NAMES.format(folder=str(hub.room.folder))) == "[]\n"


def test_a_wish_for_another_image_is_not_heard_and_keeps_nobody_from_starting(hub):
    inspect_it = ["podman", "inspect", "--format", "{{.ImageName}} {{.Config.Cmd}} {{len .Mounts}}"]

    def started():
        return subprocess.run([*inspect_it, f"{hub.room.name}-anna-server"], capture_output=True, check=True).stdout

    async def wish(anna):
        before, own = started(), f"{hub.url}hub/api/users/anna/server"
        await anna.client.delete(own, headers=anna._headers("/hub/"))
        while (await anna.client.get(f"{hub.url}hub/api/users/anna")).json()["servers"]:
            await asyncio.sleep(0.5)
        options = {"image": "localhost/debian-python", "cmd": ["sh"], "volumes": {"/": "/machine"}}
        answer = await anna.client.post(own, json=options, headers=anna._headers("/hub/"))
        await anna.start_server()
        return answer.is_success, started() == before

    assert asyncio.run(_as(hub, "anna", wish)) == (True, True)


HAND_IN = """
!cp notebooks/01_self_attention.ipynb /handed_in/
import os
print(os.listdir("/handed_in"))
"""


def test_what_somebody_hands_in_the_instructor_reads_and_no_other_learner(hub):
    assert run_cell(hub, "anna", HAND_IN) == "['01_self_attention.ipynb']\n", "the guide's line"
    folder = hub.room.home("anna") / "handed_in"
    assert (folder / "01_self_attention.ipynb").read_bytes() == course_notebooks()[0].read_bytes()
    assert folder.stat().st_mode & 0o7777 == 0o2750
    assert run_cell(hub, "bert", 'import os\nprint(os.listdir("/handed_in"))') == "[]\n"


# --- by taking all there is ---

SCRATCH = """
for place in ("/tmp", "/var/tmp", "/dev/shm"):
    file = open(place + "/full", "wb", buffering=0)
    try:
        while True:
            file.write(bytes(2**20))
    except OSError as error:
        print(place, file.tell() // 2**20, error.strerror)
    file.truncate(0)
"""
MEMORY = {
    "one array": "import numpy\ntry:\n    numpy.ones(2**28)\nexcept MemoryError:\n    print('MemoryError')",
    "shared pages": (
        "import mmap\nheld = mmap.mmap(-1, 3 * 2**30)\nfor at in range(0, len(held), 4096):\n    held[at] = 1"
    ),
    "a memfd": "import os\nfor _ in range(14):\n    os.write(os.memfd_create('x'), bytes(200 * 2**20))",
    "System V": (
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nimport os\n"
        "parts = [libc.shmget(key, 10 * 2**20, 0o1600) for key in range(1, 250)]\n"
        "print(sum(part >= 0 for part in parts) <= 6, os.strerror(ctypes.get_errno()))\n"
        "_ = [libc.shmctl(part, 0, None) for part in parts if part >= 0]"
    ),
    "forks": (
        "import os, select\nchildren = []\nfor _ in range(4):\n    children.append(os.fork())\n"
        "    if not children[-1]:\n        held = bytearray(700 * 2**20)\n"
        "        held[::4096] = b'x' * len(held[::4096])\n        select.select([], [], [])\n"
        "ended, status = os.wait()\nprint(os.waitstatus_to_exitcode(status))\n"
        "for child in children:\n    if child != ended:\n        os.kill(child, 9)"
    ),
}


def most_memory(process):
    """Return the most memory that a process's container has had, in bytes, as Linux counted it."""
    for line in Path(f"/proc/{process.pid}/cgroup").read_text(encoding="utf-8").splitlines():
        _, controllers, place = line.split(":", 2)
        if "memory" in controllers.split(","):
            return int(Path(f"/sys/fs/cgroup/memory{place}/memory.max_usage_in_bytes").read_text(encoding="utf-8"))
        if controllers == "" and Path(f"/sys/fs/cgroup{place}/memory.peak").exists():
            return int(Path(f"/sys/fs/cgroup{place}/memory.peak").read_text(encoding="utf-8"))
    raise AssertionError("no control group for memory")


@pytest.mark.parametrize("way", MEMORY)
def test_no_way_leads_beyond_a_learners_memory(hub, way):
    said = run_cell(hub, "anna", MEMORY[way])
    refused = {"one array": "MemoryError\n", "forks": "-9\n", "System V": "True No space left on device\n"}
    assert said == refused.get(way), "None: the kernel was ended"
    assert most_memory(hub.processes_of("anna")[0]) <= 2 * 2**30
    assert run_cell(hub, "anna", "print('I can work again')") == "I can work again\n"


def test_scratch_folders_are_small_and_ones_own(hub):
    lines = [line.split(" ", 2) for line in run_cell(hub, "anna", SCRATCH).splitlines()]
    assert [(place, why) for place, _, why in lines] == [
        (place, "No space left on device") for place in ("/tmp", "/var/tmp", "/dev/shm")
    ]
    for (_, size, _), most in zip(lines, (128, 64, 64), strict=True):
        assert most - 4 <= int(size) <= most, "a little of it is the server's own"


DISK = """
import os
def fill(path, most=2000):
    with open(path, "wb", buffering=0) as file:
        held.append(os.dup(file.fileno()))
        try:
            for _ in range(most):
                file.write(bytes(2**20))
        except OSError as error:
            return file.tell() // 2**20, error.strerror
    return most, "written"
held, said = [], []
os.chdir(os.path.expanduser("~"))
print(*fill("too-large"))
os.unlink("too-large")
total = 256
for number in range(12):  # unlinked and open: nothing shows them, and they take space all the same
    written, why = fill(f"large-{number}", 200)
    os.unlink(f"large-{number}")
    total += written
    if why != "written":
        break
print(total < 1024, why)
try:
    for number in range(30_000):
        open(f"many-{number}", "w").close()
except OSError as error:
    print(number < 20_000, error.strerror)
for number in range(number):
    os.unlink(f"many-{number}")
for file in held:
    os.close(file)
for number in range(40):
    fill(f"full-{number}", 50)
"""


def test_a_full_disk_is_full_for_its_owner_alone_and_can_be_tidied(hub):
    async def evening(anna):
        from tests.hub.load_learner import TroubleError

        said = await cell_of(anna, DISK)
        with pytest.raises(TroubleError, match=r"more\.ipynb: 5"):
            await anna.save("more.ipynb", v4.new_notebook(cells=[v4.new_code_cell("x" * 10**6)]))
        await start_anew(hub, anna)  # on the full disk
        for file in (await anna._api("GET", "contents/"))["content"]:
            if file["name"].startswith("full-"):
                await anna._api("DELETE", f"contents/{file['path']}")
        return said, await cell_of(anna, "print('I can work again')")

    said, again = asyncio.run(_as(hub, "anna", evening))
    assert said.splitlines() == ["256 File too large", "True No space left on device", "True No space left on device"]
    assert again == "I can work again\n"


PROCESSES = """
import os, subprocess
started = []
try:
    for _ in range(500):
        started.append(subprocess.Popen(["sleep", "3600"], start_new_session=True))
except OSError as error:
    print(len(started) < 300, error.strerror)
for each in started:
    each.kill()
    each.wait()
"""
NEST = """
import os
os.chdir("/home/learner")
for _ in range(3000):
    os.mkdir("d")
    os.chdir("d")
print("nested")
"""
BUSY = """
import os, subprocess
loop = ["python", "-c", "while True: pass"]
loops = [subprocess.Popen(loop, start_new_session=True) for _ in range(100)]
print(len(loops))
"""
IDLE = """
import os, select, socket
host, port = os.environ["JUPYTERHUB_API_URL"].split("/")[2].split(":")
held, why = [], ""
try:
    for _ in range(1200):
        held.append(socket.create_connection((host, int(port)), timeout=5))
except OSError as error:
    why = error.strerror
open_still = 0
for each in held:
    readable, _, _ = select.select([each], [], [], 0.02)
    open_still += not readable
print(len(held) < 1024, why, open_still <= 40)
"""


def test_processes_end_at_their_number(hub):
    assert run_cell(hub, "anna", PROCESSES) == "True Resource temporarily unavailable\n"


def test_connections_to_the_hub_end_at_their_number_and_others_go_on(hub):
    async def meanwhile():
        anna = await at_work(hub, "anna")
        holding = asyncio.create_task(cell_of(anna, IDLE))
        await start_servers(hub, "carl")
        said = await holding
        await anna.close()
        return said

    assert asyncio.run(meanwhile()) == "True Too many open files True\n"


def test_busy_loops_leave_others_the_processor_and_nested_folders_the_limits(hub):
    assert run_cell(hub, "anna", NEST) == "nested\n"
    assert run_cell(hub, "anna", BUSY) == "100\n"
    mine = hub.processes_of("anna")

    def used():
        return sum(sum(process.cpu_times()[:2]) for process in mine if process.is_running())

    async def work(bert):
        await bert._get(f"{hub.url}hub/home")
        await bert.run_notebook(f"notebooks/{course_notebooks()[0].name}")

    before, begun = used(), time.monotonic()
    asyncio.run(_as(hub, "bert", work))
    share = (used() - before) / (time.monotonic() - begun)
    assert share < 1.2, "a learner has one processor"

    async def stop(anna):
        own = f"{hub.url}hub/api/users/anna/server"
        answer = await anna.client.delete(own, headers=anna._headers("/hub/"))
        while (await anna.client.get(f"{hub.url}hub/api/users/anna")).json()["servers"]:
            await asyncio.sleep(0.5)
        return answer.status_code

    assert asyncio.run(_as(hub, "anna", stop)) in (202, 204)
    assert psutil.wait_procs(mine, timeout=60)[1] == [], "everything ends with the server"
    asyncio.run(start_servers(hub, "anna"))


PTYS = """
import os, select
opened = 0
for _ in range(8):  # a process may have a thousand files open, and so may each of its children
    out, into = os.pipe()
    if not os.fork():
        count = 0
        try:
            while True:
                os.openpty()
                count += 1
        except OSError:
            os.write(into, str(count).encode())
        select.select([], [], [], 30)
        os._exit(0)
    opened += int(os.read(out, 20))
print(0 < opened <= 64)
"""


def test_terminals_end_at_their_number_and_others_have_theirs(hub):
    async def meanwhile():
        anna, bert = await at_work(hub, "anna"), await at_work(hub, "bert")
        printed = [await cell_of(anna, PTYS)]
        printed += [await cell_of(bert, code) for code in ("import os\nprint(len(os.openpty()))", "!echo a shell")]
        await anna.close()
        await bert.close()
        return [line.strip() for line in printed]

    assert asyncio.run(meanwhile()) == ["True", "2", "a shell"]


# --- by what Linux offers ---

SOCKETS = """
import socket
def opens(family, protocol):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        try:
            socket.socket(family, kind, protocol).close()
            return True
        except OSError:
            pass
    return False
families = [family for family in range(1, 60) if opens(family, 0)]
print([families, [protocol for protocol in range(32) if opens(socket.AF_NETLINK, protocol)]])
"""


def test_a_learner_opens_sockets_of_four_families_alone(hub):
    families, of_netlink = json.loads(run_cell(hub, "anna", SOCKETS))
    assert set(families) <= {socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK}
    assert of_netlink == [0], "a kernel asks it for its addresses"


FLOOD = """
import os, socket
host, port = os.environ["JUPYTERHUB_API_URL"].split("/")[2].split(":")
for _ in range(100):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as each:
        for other in range(10_000, 10_100):
            try:
                each.sendto(b"x", (host, other))
            except OSError:
                pass
for _ in range(500):
    socket.create_connection((host, int(port))).close()
print("sent")
"""
CONNECTIONS = Path("/proc/sys/net/netfilter/nf_conntrack_count")


@pytest.mark.skipif(not CONNECTIONS.exists(), reason="this Linux keeps no list of connections")
def test_what_a_learner_sends_does_not_fill_the_machines_list_of_connections(hub):
    before = int(CONNECTIONS.read_text(encoding="utf-8"))
    assert run_cell(hub, "anna", FLOOD) == "sent\n"
    assert int(CONNECTIONS.read_text(encoding="utf-8")) - before < 300


# --- at the door ---

BODY = 90 * 2**20


def send_bodies(address, requests):
    """Send requests whose bodies are large and never end, all at once, and return how much of them was taken."""
    taken = 0
    with ExitStack() as held:
        for method, host, path in requests:
            connection = held.enter_context(socket.create_connection(address))
            connection.settimeout(5)
            try:
                head = f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {BODY}\r\n\r\n"
                connection.sendall(head.encode())
                for _ in range(BODY // 2**20 - 1):
                    connection.sendall(bytes(2**20))
                    taken += 2**20
            except OSError:
                pass
    return taken


def test_large_bodies_are_refused_before_anybody_logs_in(hub):
    parts = [hub.main_process(part) for part in ("hub", "proxy")]
    before = [most_memory(part) for part in parts]
    where = urlsplit(hub.url)
    own = urlsplit(hub.own("dora"))  # nobody's: such a request is the hub's
    to_the_hub = [("POST", where.netloc, "/hub/login"), ("GET", where.netloc, "/"), ("PUT", own.netloc, own.path)]
    send_bodies(("127.0.0.1", where.port), 3 * to_the_hub)
    attack = f"BODY = {BODY}\n" + "import os, socket\nfrom contextlib import ExitStack\n"
    attack += inspect.getsource(send_bodies)
    attack += 'host, port = os.environ["JUPYTERHUB_API_URL"].split("/")[2].split(":")\n'
    attack += 'send_bodies((host, int(port)), 8 * [("POST", "hub", "/hub/api/users/anna/activity")])\nprint("sent")'
    assert run_cell(hub, "anna", attack) == "sent\n"
    grown = [most_memory(part) - least for part, least in zip(parts, before, strict=True)]
    assert max(grown) < 64 * 2**20, f"hub and proxy grew by {grown} bytes"
    for part in ("hub", "proxy"):
        limit = ["podman", "inspect", "--format", "{{.HostConfig.Memory}}", f"{hub.room.name}-{part}"]
        assert 0 < int(subprocess.run(limit, capture_output=True, check=True).stdout) <= 2**30
    run_cell(hub, "bert", "print()")


def test_connections_from_outside_end_at_their_number(hub):
    [proxy] = hub.main_process("proxy").children()
    with ExitStack() as held:
        for _ in range(5000):
            try:
                held.enter_context(socket.create_connection(("127.0.0.1", urlsplit(hub.url).port), timeout=5))
            except OSError:  # nobody takes it
                break
        assert proxy.num_fds() <= 4096
    assert proxy.is_running()
    asyncio.run(start_servers(hub, "bert"))  # a page is shown again, and a server


LOG_IN_AT_THE_HUB = """
import json, os, urllib.error, urllib.request
api = os.environ["JUPYTERHUB_API_URL"]
def ask(learner, password, path="tokens"):
    body = json.dumps({{"auth": {{"username": learner, "password": password}}, "note": "n" * 10_000}}).encode()
    try:
        return urllib.request.urlopen(urllib.request.Request(f"{{api}}/users/{{learner}}/{{path}}", body)).status
    except urllib.error.HTTPError as error:
        return error.code
print([ask(learner, password, path) for learner, password in {known} for path in ("tokens", "tokens/", "%74okens")])
"""


def test_nobody_gets_a_token_for_ever_and_a_kernel_none_at_all(hub):
    known = list(hub.passwords().items())[:2]
    said = run_cell(hub, "anna", LOG_IN_AT_THE_HUB.format(known=known))
    assert set(json.loads(said)) <= {403, 404, 405}, said

    async def by_cookie(anna):
        address = f"{hub.url}hub/api/users/anna/tokens"
        answer = await anna.client.post(address, json={"note": "n" * 10_000}, headers=anna._headers("/hub/"))
        return answer.status_code

    assert asyncio.run(_as(hub, "anna", by_cookie)) == 403


def test_what_the_hub_keeps_has_a_disk_of_fixed_size(hub):
    state = hub.room.folder / "state"
    assert state.is_mount()
    assert shutil.disk_usage(state).total <= 256 * 2**20


def test_the_right_password_is_let_in_whatever_others_have_tried(hub):
    from tests.hub.load_learner import Learner, TroubleError

    async def evening():
        for _ in range(30):
            guess = Learner(hub, "anna", "a guess")
            with pytest.raises(TroubleError, match="does not take the password"):
                await guess.log_in()
            await guess.close()
        await (await visitor(hub, "anna")).close()

    asyncio.run(evening())


def test_heads_of_requests_that_never_end_leave_the_proxy_its_memory(hub):
    proxy = hub.main_process("proxy")
    before = most_memory(proxy)
    where = ("127.0.0.1", urlsplit(hub.url).port)
    with ExitStack() as held:
        connections = [held.enter_context(socket.create_connection(where)) for _ in range(600)]
        for each in connections:
            each.sendall(b"GET / HTTP/1.1\r\n")
            each.setblocking(False)
        for _ in range(100):
            for each in connections:
                with suppress(OSError):  # it is refused
                    each.send(b"X: " + 9000 * b"x" + b"\r\n")
        assert proxy.is_running()
        assert most_memory(proxy) - before < 128 * 2**20
