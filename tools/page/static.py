"""Serve a folder of static files, as a public host would, and open the browser's edition of the course from it."""

import functools
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tools.page.browser import NOTEBOOK_TIMEOUT, Seen


@dataclass
class Site:
    """A folder that is being served; `served` holds the bytes of each answer by the path that was asked for."""

    url: str
    served: dict = field(default_factory=dict)


@contextmanager
def served(folder):
    """Serve a folder to this machine alone.

    Parameters
    ----------
    folder : path

    Yields
    ------
    Site
    """

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def send_response(self, code, message=None):
            super().send_response(code, message)
            file = Path(self.translate_path(self.path))
            site.served[self.path.partition("?")[0]] = file.stat().st_size if file.is_file() else 0

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
    site = Site(f"http://127.0.0.1:{server.server_port}/")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def open_site(browser, site, **options):
    """Open an empty page in a browser profile of its own, from which no other host can be reached.

    Parameters
    ----------
    browser : Browser
    site : Site
    **options
        Playwright's, for a new context.

    Yields
    ------
    Seen
    """
    with browser.new_context(**{"viewport": {"width": 1200, "height": 900}} | options) as context:
        context.set_default_timeout(1000 * NOTEBOOK_TIMEOUT)
        seen = Seen(context.new_page())

        def here_alone(route):
            if route.request.url.startswith((site.url, "data:", "blob:")):
                route.continue_()
            else:
                seen.other_hosts.append(route.request.url)
                route.abort()

        context.route("**/*", here_alone)

        def note_message(message):
            if message.type == "error":
                seen.console_errors.append(f"{message.text} ({message.location['url']})")

        seen.page.on("console", note_message)
        seen.page.on("pageerror", lambda error: seen.page_errors.append(error.stack or error.message))
        yield seen


def open_lite(page, site, name, *, folder="lite", kernel=True):
    """Open a notebook of the browser's edition, and wait for its cells, and for its kernel unless `kernel` is False.

    Parameters
    ----------
    page : Page
    site : Site
    name : str
        "01_self_attention.ipynb".
    folder : str, optional
        Where the edition is on the site.
    kernel : bool, optional
    """
    page.goto(f"{site.url}{folder}/notebooks/index.html?path={name}")
    wait_for_notebook(page, kernel=kernel)


def wait_for_notebook(page, *, kernel=True):
    """Wait for the cells of a notebook that is being opened, and for its kernel unless `kernel` is False."""
    page.wait_for_function("window.jupyterapp?.shell?.currentWidget?.content?.widgets?.length")
    page.evaluate("window.mhaPanel = jupyterapp.shell.currentWidget; mhaPanel.context.ready.then(() => null)")
    if kernel:
        page.wait_for_function("mhaPanel.sessionContext.session?.kernel?.status === 'idle'")


_SHOW = """begin => {
    const {content} = mhaPanel;
    content.scrollToItem(content.widgets.findIndex(cell => cell.model.sharedModel.source.includes(begin)));
    return null;
}"""


def show_cell(page, part):
    """Scroll to the first cell whose source holds a text: far from it, its outputs are not drawn.

    JupyterLab's own `scrollToCell` then gives its editor the focus, at some later moment, and takes it from a lab.
    """
    page.evaluate(_SHOW, part)


_ASK = """async code => {
    const said = [], future = mhaPanel.sessionContext.session.kernel.requestExecute({code});
    future.onIOPub = ({content}) => said.push(content.text ?? content.data?.["text/plain"] ?? content.evalue ?? "");
    await future.done;
    return said.join("");
}"""


def answered(page, code):
    """Return what the kernel of the notebook that was opened last answers to some code, as text."""
    return page.evaluate(_ASK, code)


_ANSWER = """async ([begin, source]) => {
    const notebook = mhaPanel.content;
    const place = notebook.widgets.findIndex(cell => cell.model.sharedModel.source.startsWith(begin));
    notebook.activeCellIndex = place;
    const cell = notebook.widgets[place], text = cell.model.sharedModel.source;
    cell.model.sharedModel.source = source + text.slice(text.indexOf("\\n\\n"));
    await jupyterapp.commands.execute("notebook:run-cell");
    await mhaPanel.context.save();
}"""


def hand_in(page, begin, source):
    """Write a function over the one in the cell that begins so, run the cell, and save the notebook.

    Parameters
    ----------
    page : Page
    begin : str
        "def softmax(".
    source : str
        The function; what stands in the cell after the first empty line stays.
    """
    page.evaluate(_ANSWER, [begin, source])


_KEPT = """([base, name]) => new Promise((answer, refuse) => {
    const asked = indexedDB.open(`JupyterLite Storage - ${base}`);
    asked.onerror = () => refuse(asked.error);
    asked.onsuccess = () => {
        const database = asked.result, stores = [...database.objectStoreNames];
        const got = stores.includes("files") ? database.transaction("files").objectStore("files").get(name) : null;
        const end = content => { database.close(); answer(content); };
        if (!got) return end(null);
        got.onerror = () => refuse(got.error);
        got.onsuccess = () => end(got.result?.content ?? null);
    };
})"""


def kept_in_browser(page, name, *, folder="lite"):
    """Return a notebook as the browser has stored it for the edition, or None where it has nothing.

    Parameters
    ----------
    page : Page
        One of the edition's.
    name : str
        "01_self_attention.ipynb".
    folder : str, optional
        Where the edition is on the site.
    """
    return page.evaluate(_KEPT, [f"/{folder}/", name])
