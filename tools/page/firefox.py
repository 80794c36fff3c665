"""Drive an installed Firefox over WebDriver BiDi.

Playwright 1.65 can be given one (channel "moz-firefox"), but opens no page in Debian's Firefox 153 ESR, which lacks the
command `emulation.setMediaFeaturesOverride` that Playwright begins each page with; its own Firefox is in no registry.

    with open_firefox(folder) as firefox:
        firefox.goto(url)
        firefox.evaluate("document.title")

It has those of Playwright's methods that `open_lite` and `run_all` call.
"""

import json
import re
import shutil
import subprocess
import time
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import websocket
from playwright.sync_api import TimeoutError

from tools.page.browser import NOTEBOOK_TIMEOUT, TIMEOUT

PROGRAMS = ("firefox-esr", "firefox")
# Nothing but this machine can be reached; no page of Firefox's own opens, nor asks.
PREFERENCES = {
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "dom.disable_beforeunload": True,
    "toolkit.startup.max_resumed_crashes": -1,
}
KEYS = {"ArrowRight": "\ue014", "ArrowDown": "\ue015"}  # WebDriver's codes


def find_firefox():
    """Return the path of an installed Firefox, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Firefox:
    """One page of a running Firefox; `asked` holds the addresses that it asked for, `errors` what its console said."""

    def __init__(self, address):
        self._socket = websocket.create_connection(f"{address}/session", suppress_origin=True, timeout=NOTEBOOK_TIMEOUT)
        self._numbers = count(1)
        self.asked, self.errors = [], []
        self._send("session.new", capabilities={})
        # Another tab than the first: there the address has the focus, and no page is told what of it gets it.
        self._context = self._send("browsingContext.create", type="tab")["context"]
        self._send("session.subscribe", events=["network.beforeRequestSent", "log.entryAdded"])

    def _send(self, method, **parameters):
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            said = json.loads(self._socket.recv())
            if said.get("id") == number:
                if said["type"] == "error":
                    raise RuntimeError(f"{method}: {said['message']}")
                return said["result"]
            self._note(said)

    def _note(self, event):
        parameters = event.get("params", {})
        if event.get("method") == "network.beforeRequestSent":
            self.asked.append(parameters["request"]["url"])
        elif event.get("method") == "log.entryAdded" and parameters["level"] == "error":
            self.errors.append(parameters["text"])

    def goto(self, url):
        self._send("browsingContext.navigate", context=self._context, url=url, wait="complete")

    def evaluate(self, expression, arg=None):
        """Return what an expression gives, or the function that it is given `arg`."""
        code = f"""Promise.resolve((0, eval)({json.dumps(expression)}))
            .then(one => typeof one === "function" ? one({json.dumps(arg)}) : one)
            .then(one => JSON.stringify(one ?? null) ?? "null")"""
        target = {"context": self._context}
        said = self._send("script.evaluate", expression=code, target=target, awaitPromise=True, resultOwnership="none")
        if said["type"] == "exception":
            raise RuntimeError(said["exceptionDetails"]["text"])
        return json.loads(said["result"]["value"])

    def wait_for_function(self, expression, *, arg=None, timeout=1000 * NOTEBOOK_TIMEOUT):
        """Wait until an expression, or function, gives something that is true; `timeout` in milliseconds."""
        end = time.monotonic() + timeout / 1000
        while not self.evaluate(expression, arg):
            if time.monotonic() > end:
                raise TimeoutError(f"not within {timeout} ms: {expression}")
            time.sleep(0.2)

    def press(self, key):
        actions = [{"type": kind, "value": KEYS.get(key, key)} for kind in ("keyDown", "keyUp")]
        keys = {"type": "key", "id": "keys", "actions": actions}
        self._send("input.performActions", context=self._context, actions=[keys])


@contextmanager
def open_firefox(folder):
    """Start Firefox without a window and with an empty profile.

    Parameters
    ----------
    folder : path
        For its profile.

    Yields
    ------
    Firefox
    """
    folder = Path(folder)
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items()]
    (folder / "user.js").write_text("\n".join(lines), encoding="utf-8")
    command = [find_firefox(), "--headless", "--no-remote", "--profile", folder, "--remote-debugging-port", "0"]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen([*command, "about:blank"], stdout=log, stderr=subprocess.STDOUT)
    try:
        yield Firefox(_address(folder / "log"))
    finally:
        process.terminate()
        try:
            process.wait(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _address(log):
    for _ in range(10 * TIMEOUT):
        if found := re.search(r"WebDriver BiDi listening on (ws://\S+)", log.read_text(errors="replace")):
            return found[1]
        time.sleep(0.1)
    raise RuntimeError(f"Firefox did not say where it listens:\n{log.read_text(errors='replace')}")
