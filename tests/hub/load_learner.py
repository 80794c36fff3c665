"""One learner, as the hub sees them: what their browser asks of it, from logging in to saving what cells show."""

import asyncio
import json
import re
import time
import uuid
from contextlib import suppress
from urllib.parse import urlsplit

import httpx
import nbformat
from nbformat.v4 import output_from_msg
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

TIMEOUT = 300  # seconds, for anything on a machine that many share
SAVE_EVERY = 10  # cells; JupyterLab saves by itself every two minutes
RELOADS = 30  # of a page, one a second
ASKED_AGAIN = 5  # seconds until a kernel is asked again whether it is there
SHOWN = {"stream", "display_data", "execute_result", "error"}


class TroubleError(Exception):
    """What a learner met that they should not have."""


class KernelRestartedError(Exception):
    """The server has started the notebook's kernel anew: what it knew is gone."""


class ServerGoneError(Exception):
    """The learner's server does not answer any more."""


class CellNumbers:
    """The numbers under which a kernel runs one notebook's cells: none is lost, none runs twice.

    Parameters
    ----------
    stray : int
        Cells that were asked of a kernel before it was killed: the one in its place may run them, at any time.
    """

    def __init__(self, stray):
        self.stray = stray
        self.last = None

    def note(self, number):
        """Note the next cell's number; one that the cells so far do not explain is a TroubleError."""
        if self.last is not None:
            between = number - self.last - 1
            if not 0 <= between <= self.stray:
                raise TroubleError(f"a cell ran as number {number} after number {self.last}: a cell was lost")
            self.stray -= between
        self.last = number


class Learner:
    """A browser with one learner's cookies.

    Parameters
    ----------
    hub : RunningHub
    name : str
    password : str, optional
        Theirs, unless another is given.
    """

    def __init__(self, hub, name, password=None):
        self.url = hub.url
        self.name = name
        self.password = hub.passwords()[name] if password is None else password
        self.own = hub.own(name)
        self.latencies = []  # seconds from sending a cell to its last message
        self.pages = []  # seconds until a page came, and its path
        self.unanswered = 0  # cells that a kernel was asked to run, and of which it said nothing before it was killed
        self.client = httpx.AsyncClient(timeout=TIMEOUT, follow_redirects=True)

    async def log_in(self):
        page = await self._get(f"{self.url}hub/login")
        form = {"username": self.name, "password": self.password, "_xsrf": self._xsrf("/hub/")}
        page = await self.client.post(f"{self.url}hub/login", data=form)
        if page.status_code == 403:
            raise TroubleError("the hub does not take the password")
        page.raise_for_status()

    async def start_server(self):
        """Ask for the server, wait until it is ready, and open JupyterLab as the hub's page would."""
        await self._get(f"{self.url}hub/spawn/{self.name}")
        progress = f"{self.url}hub/api/users/{self.name}/server/progress"
        async with self.client.stream("GET", progress, headers=self._headers("/hub/")) as events:
            async for line in events.aiter_lines():
                event = json.loads(line.partition(":")[2]) if line.startswith("data:") else {}
                if event.get("failed"):
                    raise TroubleError(f"the server did not start: {event['message']}")
                if event.get("ready"):
                    break
            else:
                raise TroubleError(f"the hub says nothing of the server: {events.status_code}")
        page = await self._get(f"{self.own}lab")
        for script in re.findall(r'<script[^>]* src="([^"]+)"', page.text):
            await self._get(httpx.URL(str(page.url)).join(script))

    async def run_notebook(self, path, *, pause=0.0, halfway=None):
        """Open a notebook, run it from top to bottom in a kernel of its own, and save what it shows.

        Parameters
        ----------
        path : str
            In the learner's folder.
        pause : float
            Seconds of thought after each cell.
        halfway : callable, optional
            Called with the kernel's id when half of the cells have run and are saved.

        Raises
        ------
        TroubleError
            If anything is not as it should be.
        KernelRestartedError, ServerGoneError
            If the notebook's kernel or the whole server has ended meanwhile.
        """
        notebook = await self.read(path)
        code_cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        for cell in code_cells:
            cell.update(outputs=[], execution_count=None)
        wish = {"path": path, "name": path, "type": "notebook", "kernel": {"name": "python3"}}
        session = await self._api("POST", "sessions", wish)
        kernel = session["kernel"]["id"]
        channels = await self._channels(kernel)
        numbers = CellNumbers(stray=self.unanswered)
        try:
            await self._wait_for_kernel(channels)
            for number, cell in enumerate(code_cells, 1):
                reply = await self._run(channels, cell)
                numbers.note(reply["execution_count"])
                if reply["status"] != "ok" and "raises-exception" not in cell.metadata.get("tags", []):
                    raise TroubleError(f"code cell {number}: {reply.get('ename')}: {reply.get('evalue')}")
                if number % SAVE_EVERY == 0:
                    await self.save(path, notebook)
                if halfway and number == len(code_cells) // 2:
                    await self.save(path, notebook)
                    halfway(kernel)
                await self._think(channels, pause)
            await self.save(path, notebook)
        finally:
            channels.close()
        if (await self.read(path)).cells != notebook.cells:
            raise TroubleError("what was saved is not what the cells showed")
        await self._api("DELETE", f"sessions/{session['id']}")

    async def read(self, path):
        content = (await self._api("GET", f"contents/{path}"))["content"]
        return nbformat.from_dict(content)

    async def save(self, path, notebook):
        await self._api("PUT", f"contents/{path}", {"type": "notebook", "format": "json", "content": notebook})

    async def close(self):
        await self.client.aclose()

    async def _run(self, channels, cell):
        """Run a cell, put into it what it shows, and return the kernel's reply."""
        content = {"code": cell.source, "silent": False, "store_history": True, "allow_stdin": False}
        content |= {"user_expressions": {}, "stop_on_error": False}
        begun = time.perf_counter()
        request = await self._ask(channels, "execute_request", content)
        self.unanswered += 1
        reply, idle = None, False
        while reply is None or not idle:
            answer = await asyncio.wait_for(self._hear(channels), TIMEOUT)
            kind, said = answer["msg_type"], answer["content"]
            if answer["parent_header"].get("msg_id") != request:
                continue
            if kind == "execute_reply":
                reply = said
                self.unanswered -= 1
            elif kind == "status":
                idle = said["execution_state"] == "idle"
            elif kind in SHOWN:
                cell.outputs.append(output_from_msg(answer))
        self.latencies.append(time.perf_counter() - begun)
        cell.execution_count = reply["execution_count"]
        return reply

    async def _ask(self, channels, kind, content):
        """Send the kernel a message, and return its id."""
        header = {"msg_id": uuid.uuid4().hex, "msg_type": kind, "username": self.name, "version": "5.3"}
        header |= {"session": uuid.uuid4().hex, "date": ""}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
        await channels.write_message(json.dumps(message))
        return header["msg_id"]

    async def _wait_for_kernel(self, channels):
        """Wait until the kernel answers, and what it publishes comes: one that starts anew may lose either at first."""
        async with asyncio.timeout(TIMEOUT):
            while True:
                request = await self._ask(channels, "kernel_info_request", {})
                with suppress(TimeoutError):
                    async with asyncio.timeout(ASKED_AGAIN):
                        while True:
                            answer = await self._hear(channels)
                            is_its = answer["parent_header"].get("msg_id") == request
                            if is_its and answer["content"].get("execution_state") == "idle":
                                return

    async def _think(self, channels, pause):
        """Wait so many seconds, and notice meanwhile what a page would."""
        with suppress(TimeoutError):
            async with asyncio.timeout(pause):
                while True:
                    await self._hear(channels)

    async def _hear(self, channels):
        """Return the kernel's next message; its end, or the server's, is an error."""
        message = await channels.read_message()
        if message is None:
            raise ServerGoneError("the server was killed")
        answer = json.loads(message)
        if answer["content"].get("execution_state") in ("restarting", "autorestarting", "dead"):
            raise KernelRestartedError("the kernel was killed")
        return answer

    async def _channels(self, kernel):
        address = f"{self.own}api/kernels/{kernel}/channels?session_id={uuid.uuid4().hex}"
        cookies = self.client.build_request("GET", address).headers["cookie"]
        address = "ws" + address.removeprefix("http")
        return await websocket_connect(
            HTTPRequest(address, headers={"Cookie": cookies}, connect_timeout=TIMEOUT, request_timeout=TIMEOUT)
        )

    async def _api(self, method, path, content=None):
        """Ask the learner's own server, as the page does."""
        headers = self._headers(urlsplit(self.own).path)
        answer = await self.client.request(method, f"{self.own}api/{path}", json=content, headers=headers)
        if answer.is_error:
            raise TroubleError(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
        return answer.json() if answer.content else None

    async def _get(self, address):
        for _ in range(RELOADS):
            begun = time.perf_counter()
            answer = await self.client.get(address)
            self.pages.append((time.perf_counter() - begun, answer.url.path))
            if answer.status_code not in (502, 504):
                break
            await asyncio.sleep(1)  # a server died, and the hub has not looked yet: a learner reloads the page
        if answer.is_error:
            raise TroubleError(f"GET {address}: {answer.status_code}")
        return answer

    def _xsrf(self, path):
        return next(cookie.value for cookie in self.client.cookies.jar if (cookie.name, cookie.path) == ("_xsrf", path))

    def _headers(self, path):
        return {"X-XSRFToken": self._xsrf(path)}
