"""Drive the course in a real JupyterLab, or Notebook 7, in a real browser: for tests, pictures and benchmarks.

    with lab_server("notebooks") as server, open_browser() as browser, open_page(browser, server) as seen:
        open_notebook(seen.page, "01_self_attention.ipynb")
        run_all(seen.page)
        screenshot(seen.page, "notebook.png")

The browser is an installed Chromium, Chrome or Edge: Playwright downloads none.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, cycle, islice
from pathlib import Path

from playwright.sync_api import Page, TimeoutError, sync_playwright

from tools.writing.notebooks import ONE_THREAD

BROWSERS = [
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge", "msedge"),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    *(
        os.path.join(os.environ[folder], program)
        for folder in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")
        if folder in os.environ
        for program in ("Google/Chrome/Application/chrome.exe", "Microsoft/Edge/Application/msedge.exe")
    ),
]
NO_BROWSER = "none"
BROWSER_ARGUMENTS = ["--disable-gpu", "--disable-quic", "--no-first-run"]
# These keep the browser itself off the network.
BROWSER_ARGUMENTS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
if hasattr(os, "geteuid") and os.geteuid() == 0:
    BROWSER_ARGUMENTS.append("--no-sandbox")  # Chromium will not put root into its sandbox

LAB_SETTINGS = {
    # Draw every cell, also far below the viewport, and no empty page after the last one.
    "notebook-extension/tracker": {"windowingMode": "none", "scrollPastEnd": False},
}
LAB_OPTIONS = [
    *("--no-browser", "--allow-root", "--expose-app-in-browser", "--ServerApp.ip=127.0.0.1", "--ServerApp.port=0"),
]
COURSE_CONFIG = f"--config={Path(__file__).parents[2] / 'jupyter_server_config.py'}"  # the README's command has it too
TIMEOUT = 180  # seconds, for everything that is waited for, however busy the machine, ...
NOTEBOOK_TIMEOUT = 600  # ... but a whole notebook
_workspaces = map("course-{}".format, count())


def find_browser():
    """Return the path of an installed Chromium, Chrome or Edge, or None.

    The environment variable `MHA_BROWSER` goes before everything else; "none" is to do without.
    """
    named = os.environ.get("MHA_BROWSER")
    return None if named == NO_BROWSER else named or next(filter(None, map(shutil.which, BROWSERS)), None)


@dataclass(frozen=True)
class Server:
    """A running JupyterLab or Notebook 7; `url` ends with a slash."""

    url: str
    token: str
    application: str

    def request(self, path, method="GET"):
        """Ask its REST interface: `server.request("api/status")`."""
        headers = {"Authorization": f"token {self.token}"}
        request = urllib.request.Request(self.url + path, headers=headers, method=method)
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            return answer.read()


@contextmanager
def lab_server(folder, application="jupyterlab", *, plain=False):
    """Run JupyterLab or Notebook 7 on a folder, and end it together with its kernels.

    Settings, workspaces and the record of trusted notebooks are in a temporary folder: the
    user's are neither read nor changed, and every notebook is untrusted until it has run.

    Parameters
    ----------
    folder : path
        The root of the file browser. Notebooks opened here are saved here.
    application : str, optional
        "jupyterlab", or "notebook" for Notebook 7.
    plain : bool, optional
        Whether it is started as somebody starts it who has not read the README: without the course's configuration,
        and with its own settings.

    Yields
    ------
    Server
    """
    with tempfile.TemporaryDirectory() as own:
        own = Path(own)
        for name, settings in () if plain else LAB_SETTINGS.items():
            file = own / f"config/lab/user-settings/@jupyterlab/{name}.jupyterlab-settings"
            file.parent.mkdir(parents=True)
            file.write_text(json.dumps(settings))
        places = {f"JUPYTER_{place.upper()}_DIR": str(own / place) for place in ("config", "data", "runtime")}
        environment = os.environ | places | ONE_THREAD | {"IPYTHONDIR": str(own / "ipython")}
        # Not `-m jupyter lab`: on Windows that is a second process, which would outlive the first.
        options = LAB_OPTIONS if plain else [COURSE_CONFIG, *LAB_OPTIONS]
        command = [sys.executable, "-m", application, *options, f"--ServerApp.root_dir={Path(folder).resolve()}"]
        with open(own / "log", "wb") as log:
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            server = _started(process, own, application)
            try:
                yield server
            finally:
                server.request("api/shutdown", method="POST")
                process.wait(timeout=TIMEOUT)
        finally:
            process.kill()  # does nothing to a process that has ended
            process.wait()


def _started(process, own, application):
    """Wait until the server answers; a server that ends instead is an error, with what it said."""
    for _ in range(20 * TIMEOUT):
        try:
            process.wait(timeout=1 / 20)
            break
        except subprocess.TimeoutExpired:  # it is running, as it should
            pages = list(own.glob("runtime/jpserver-*-open.html"))
        if pages:  # written after the .json, so that one is complete by now
            (file,) = own.glob("runtime/jpserver-*.json")
            info = json.loads(file.read_text())
            server = Server(info["url"], info["token"], application)
            try:
                server.request("api/status")
                return server
            except urllib.error.URLError as error:
                if not isinstance(error.reason, ConnectionRefusedError):
                    raise  # a refusal is no error: it listens last
    raise RuntimeError(f"{application} did not start:\n{(own / 'log').read_text()}")


@contextmanager
def open_browser():
    """Start the installed browser without a window, and yield Playwright's `Browser`."""
    path = find_browser()
    if path is None:
        raise RuntimeError("no Chromium, Chrome or Edge found; install one, or set MHA_BROWSER to its path")
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=path, args=BROWSER_ARGUMENTS) as browser,
    ):
        yield browser


@dataclass
class Seen:
    """A page, and what happened in it that should not: each list should stay empty."""

    page: Page
    console_errors: list = field(default_factory=list)
    page_errors: list = field(default_factory=list)
    other_hosts: list = field(default_factory=list)


_RESTORED = "window.jupyterapp && jupyterapp.restored.then(() => true)"


@contextmanager
def open_page(browser, server, *, width=1100, height=900):
    """Open JupyterLab, in a fresh workspace, or Notebook 7 in a browser profile of its own; its kernels end with it.

    Yields
    ------
    Seen
    """
    with browser.new_context(viewport={"width": width, "height": height}) as context:
        context.set_default_timeout(1000 * TIMEOUT)
        seen = Seen(context.new_page())

        def note_address(request):
            if not request.url.startswith((server.url, server.url.replace("http", "ws", 1), "data:", "blob:")):
                seen.other_hosts.append(request.url)

        def note_message(message):
            if message.type == "error":
                seen.console_errors.append(f"{message.text} ({message.location['url']})")

        context.on("request", note_address)
        seen.page.on("websocket", note_address)
        seen.page.on("console", note_message)
        seen.page.on("pageerror", lambda error: seen.page_errors.append(error.stack or error.message))
        try:
            # "doc" is JupyterLab with one document and no side bars, "tree" is Notebook 7's list of files.
            first = "tree?" if server.application == "notebook" else f"doc/workspaces/{next(_workspaces)}?reset&"
            seen.page.goto(f"{server.url}{first}token={server.token}")
            seen.page.wait_for_function(_RESTORED)
            yield seen
        finally:
            # A kernel left running would be taken up again by the next page that opens the notebook.
            for session in json.loads(server.request("api/sessions")):
                server.request(f"api/sessions/{session['id']}", method="DELETE")


def in_notebook7(page):
    """Say whether a page is Notebook 7's, not JupyterLab's."""
    return page.evaluate("jupyterapp.name") == "Jupyter Notebook"


def open_notebook(page, path, *, kernel=True):
    """Open a notebook and wait for its cells, and for its kernel unless `kernel` is False.

    Parameters
    ----------
    page : Page
    path : str
        Relative to the server's folder, with forward slashes.
    kernel : bool, optional
        False is the file browser's "Open With > Notebook (no kernel)", which Notebook 7 has not.
    """
    if in_notebook7(page):  # it has a page for each notebook
        page.goto(page.url.partition("/tree")[0] + f"/notebooks/{path}")
        page.wait_for_function(_RESTORED)
        page.evaluate("window.mhaPanel = jupyterapp.shell.currentWidget; null")
    else:
        page.evaluate(
            "async arguments => { window.mhaPanel = await jupyterapp.commands.execute('docmanager:open', arguments); }",
            {"path": path, "factory": "Notebook"}
            | ({} if kernel else {"kernelPreference": {"shouldStart": False, "shouldReuse": False}}),
        )
    page.evaluate("""() => {
        mhaPanel.revealed.then(() => mhaPanel.sessionContext.ready).then(() => { mhaPanel.mhaReady = true; });
    }""")
    page.wait_for_function("mhaPanel.mhaReady")
    if kernel:
        page.wait_for_function("mhaPanel.sessionContext.session?.kernel?.status === 'idle'")


# How far a run is. Cells without source never get an execution count.
_RUN = """() => {
    const cells = mhaPanel.content.widgets.map(cell => cell.model)
        .filter(cell => cell.type === "code" && cell.sharedModel.source.trim());
    const outputs = cells.flatMap(cell => cell.sharedModel.outputs.map(output => ({...output, cell})));
    const views = outputs.filter(output => output.data?.["application/vnd.jupyter.widget-view+json"]);
    const busy = cells.some(cell => cell.executionState === "running");
    return {
        started: busy || cells.some(cell => cell.executionCount),
        running: busy || mhaPanel.sessionContext.session?.kernel?.status !== "idle",
        complete: cells.every(cell => cell.executionCount)
            && views.length === mhaPanel.node.querySelectorAll(".jp-OutputArea-output > .jupyter-widgets").length,
        errors: outputs.filter(output => output.output_type === "error")
            .filter(({cell}) => !(cell.getMetadata("tags") || []).includes("raises-exception"))
            .map(({ename, evalue}) => `${ename}: ${evalue}`),
    };
}"""


def run_all(page):
    """Run every cell, and wait until all have run and their widgets are drawn.

    Returns
    -------
    list of str
        The errors in cells that are not tagged `raises-exception`: JupyterLab stops at the first.
    """
    # Without the stored execution counts a count means that the cell has run now.
    page.evaluate("jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
    for _ in range(3):
        page.evaluate("() => { jupyterapp.commands.execute('notebook:run-all-cells'); }")
        try:
            page.wait_for_function(f"({_RUN})().started", timeout=30_000)
            break
        except TimeoutError:
            continue  # now and then a request to run is lost although the kernel is idle
    page.wait_for_function(
        f"() => {{ const run = ({_RUN})(); return !run.running && (run.complete || run.errors.length); }}",
        timeout=1000 * NOTEBOOK_TIMEOUT,
    )
    return page.evaluate(_RUN)["errors"]


def is_trusted(page):
    """Say whether JupyterLab trusts the outputs of every code cell: of others it draws no SVG."""
    return page.evaluate("mhaPanel.content.widgets.every(cell => cell.model.type !== 'code' || cell.model.trusted)")


def text_of(locator):
    """Return the text of an element as it is seen, each run of white space as one space."""
    return " ".join(locator.evaluate("node => node.innerText ?? node.textContent").split())  # an SVG has no innerText


def set_theme(page, name="JupyterLab Dark"):
    """Switch the theme. Pages of this server that are opened later have it, too."""
    page.evaluate("name => jupyterapp.commands.execute('apputils:change-theme', {theme: name})", name)
    page.wait_for_function("name => document.body.dataset.jpThemeName === name", arg=name)
    # JupyterLab takes its splash screen away 200 ms after a switch: another switch before makes it do so twice, which
    # fails ("removeChild").
    page.locator("#jupyterlab-splash").wait_for(state="detached")


# What a hand does comes when it likes, not always right after a paint, and mostly when nothing moves any more: what
# glides is brought to its end, and then a part of a frame goes by.
_REST = """async ([picture, milliseconds]) => {
    const ends = one => one.effect.getComputedTiming().endTime < Infinity;
    for (const one of picture.getAnimations({subtree: true}).filter(ends)) one.finish();
    for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
    await new Promise(rested => setTimeout(rested, milliseconds));
}"""
FRAME = 1000 / 60  # milliseconds


def rest(page, picture, number):
    """Bring what moves in a picture to its end, and wait for a part of a frame that is another for each number."""
    page.evaluate(_REST, [picture, number * 0.618 % 1 * FRAME])


# One key press, measured inside the page: from the key event until the new picture is painted. Whether it is new is
# looked at after each paint, or the looking would be measured, too.
_PRESS = """([picture, limit]) => {
    const drawn = () => [...picture.querySelectorAll("svg, img, table")].filter(one =>
        one.getBoundingClientRect().height > 0 && (one.tagName !== "IMG" || one.complete && one.naturalWidth > 0));
    const look = () => drawn().map(one => one.outerHTML).join() + picture.textContent;
    const painted = async () => {
        await new Promise(requestAnimationFrame);  // the last thing before the paint,
        await new Promise(done => {  // and a task posted from there is the first thing after it
            const channel = new MessageChannel();
            channel.port1.onmessage = done;
            channel.port2.postMessage(null);
        });
        return performance.now();
    };
    const before = look();
    window.mhaPress = new Promise((resolve, reject) => addEventListener("keydown", async () => {
        const start = performance.now();
        let blank = 0, isTouched = false;
        const touched = () => { isTouched = true; };
        const observer = new MutationObserver(touched);
        observer.observe(picture, {childList: true, subtree: true, characterData: true, attributes: true});
        picture.addEventListener("load", touched, true);  // an image that was there gets its pixels
        for (let now = start; now - start < limit;) {
            now = await painted();
            blank += !drawn().length;
            if (!isTouched) continue;
            isTouched = false;
            if (!drawn().length || look() === before) continue;
            observer.disconnect();  // one left behind would slow every later press
            picture.removeEventListener("load", touched, true);
            resolve([now - start, blank]);
            return;
        }
        reject(new Error(`no new picture within ${limit} ms of the key press`));
    }, {capture: true, once: true}));
}"""


def press_latency(page, control, picture, key, times):
    """Press a key on a control again and again, and time how long the new picture takes.

    Parameters
    ----------
    page : Page
    control : Locator
        What gets the key.
    picture : Locator
        What holds the picture: an SVG, an image or a table.
    key : str or sequence of str
        "ArrowRight", for example; several keys are pressed in turn.
    times : int
        How many presses. Each must change the picture, and comes when the one before is painted and nothing glides.

    Returns
    -------
    milliseconds : list of float
        From the key event to the painted picture, for each press.
    blank_frames : int
        How many animation frames there were without a picture, over all presses.
    """
    place = picture.element_handle()
    presses = []
    for number, one in enumerate(islice(cycle([key] if isinstance(key, str) else key), times)):
        rest(page, place, number)
        page.evaluate(_PRESS, [place, 1000 * TIMEOUT])
        control.press(one)
        presses.append(page.evaluate("mhaPress"))
    return [milliseconds for milliseconds, _ in presses], sum(blank for _, blank in presses)
