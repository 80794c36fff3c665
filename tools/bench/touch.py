"""Touch to painted picture: each lab with a kernel, near and far, and on a page without one."""

import socket
import tempfile
import threading
import time
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from statistics import median, quantiles
from urllib.parse import urlsplit

import ipywidgets
from nbformat import v4

from mha_helpers import labs
from mha_helpers.labs.lab import page_layer
from tools.page.browser import lab_server, open_browser, open_notebook, open_page, press_latency, rest, run_all
from tools.table import print_table
from tools.writing.notebooks import KERNELSPEC, write

N_PRESSES = 20
BLOCKS, IN_A_BLOCK = 6, 4  # of a lab's presses beside those of its form: so many, in turns
WORDS = ("cat", "sat", "mat", "because")  # of the mask studio: all of them hide "it" at first
DELAY = 0.05  # seconds each way, as to Binder or Colab
CONTROL = '.mha-over :is(input[type="radio"]:checked, input[type="range"], input[type="checkbox"])'

# From a pointer's event to the picture that it changes, painted; the listener sees the event before the lab does.
_MOVE = """([picture, kind]) => { window.mhaMove = new Promise(resolve => {
    addEventListener(kind, async event => {
        const observer = new MutationObserver(async () => {
            observer.disconnect();
            await new Promise(requestAnimationFrame);
            await new Promise(painted => {
                const channel = new MessageChannel();
                channel.port1.onmessage = painted;
                channel.port2.postMessage(null);
            });
            resolve(performance.now() - event.timeStamp);
        });
        observer.observe(picture, {childList: true, subtree: true, attributes: true, characterData: true});
    }, {capture: true, once: true});
}); }"""

# A handle that is set once in each animation frame; how many of them saw another picture before the next one.
_DRAG = """async ([lab, name, n]) => {
    const handle = lab.querySelector(`.mha-over input[data-mark="${name}"]`);
    const picture = lab.querySelector(".mha-picture");
    const [low, high, step] = [handle.min, handle.max, handle.step].map(Number);
    const steps = Math.min(20, Math.floor((high - low) / step));
    let changed = 0, isNew = false;
    const observer = new MutationObserver(() => { isNew = true; });
    observer.observe(picture, {childList: true, subtree: true, attributes: true, characterData: true});
    for (let i = 0; i < n; i++) {
        const way = i % (2 * steps);
        handle.value = String(low + step * (way < steps ? way : 2 * steps - way)); // another one each time
        handle.dispatchEvent(new Event("input", {bubbles: true}));
        await new Promise(requestAnimationFrame);
        changed += isNew;
        isNew = false;
    }
    observer.disconnect();
    return changed;
}"""


@contextmanager
def far(server):
    """Yield the server as if it were far away: every byte takes `DELAY` to come, either way."""
    at = urlsplit(server.url)
    listening = socket.create_server(("127.0.0.1", 0))

    def carry(source, sink):
        arrived, is_there = [], threading.Condition()

        def deliver():
            while True:
                with is_there:
                    is_there.wait_for(lambda: arrived)
                    due, data = arrived.pop(0)
                time.sleep(max(0, due - time.perf_counter()))
                try:
                    sink.sendall(data) if data else sink.shutdown(socket.SHUT_WR)
                except OSError:  # the other end has gone
                    return
                if not data:
                    return

        threading.Thread(target=deliver, daemon=True).start()
        data = b"-"
        while data:
            try:
                data = source.recv(65536)
            except OSError:
                data = b""
            with is_there:
                arrived.append((time.perf_counter() + DELAY, data))
                is_there.notify()

    def accept():
        while True:
            try:
                near, _ = listening.accept()
            except OSError:  # closed: it is over
                return
            there = socket.create_connection((at.hostname, at.port))
            for one in (near, there):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for ends in ((near, there), (there, near)):
                threading.Thread(target=carry, args=ends, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    with listening:
        yield replace(server, url=server.url.replace(str(at.port), str(listening.getsockname()[1])))


def touch():
    """Key press, sweep and drag to painted picture, for each lab, in three places and on a page."""
    header = ["", "median ms", "p95 ms", "blank frames", "n"]
    with open_browser() as browser:
        for where, application in (("JupyterLab", "jupyterlab"), ("Notebook 7", "notebook")):
            print_table(
                f"{where}: a key in the picture, and the same in the form", header, [*_beside(browser, application)]
            )
        for where, application, distance in (
            ("JupyterLab", "jupyterlab", nullcontext),
            ("Notebook 7", "notebook", nullcontext),
            (f"JupyterLab, {1000 * DELAY:g} ms away each way", "jupyterlab", far),
        ):
            with _opened(browser, application, distance) as page:
                print_table(f"{where}: touch to painted picture", header, [*_rows(page)])
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "labs.html")
            cards = "".join(getattr(labs, name)().on_page("") for name in labs.__all__)
            file.write_text(f"<!doctype html><title>Labs</title>{page_layer()}{cards}", encoding="utf-8")
            page = browser.new_page(viewport={"width": 1100, "height": 900})
            page.goto(file.as_uri())
            page.wait_for_function(_ALL_TOUCHED, arg=len(labs.__all__))
            print_table("A page without a kernel: touch to painted picture", header, [*_rows(page)])
            page.close()
    sizes = [len(getattr(labs, name)().on_page("")) / 1000 for name in labs.__all__]
    print_table("Frames", ["", "kB"], [*map(list, zip(labs.__all__, sizes, strict=True)), ["all", sum(sizes)]])


_KEYS = {ipywidgets.RadioButtons: ("ArrowRight", "ArrowLeft"), ipywidgets.Checkbox: " "}
_GOES_BACK = "control => control.type !== 'range' || Number(control.value) > Number(control.min)"
_ALL_TOUCHED = "n => document.querySelectorAll('.mha-touched[data-lab]').length === n"


@contextmanager
def _opened(browser, application, distance, shown="labs.{}()"):
    """Open a notebook with all labs."""
    sources = ["from mha_helpers import labs", *(shown.format(name) for name in labs.__all__)]
    cells = [v4.new_code_cell(source) for source in sources]
    with tempfile.TemporaryDirectory() as folder:
        write(v4.new_notebook(cells=cells, metadata={"kernelspec": KERNELSPEC}), Path(folder, "labs.ipynb"))
        with (
            lab_server(folder, application) as near,
            distance(near) as server,
            open_page(browser, server) as seen,
        ):
            open_notebook(seen.page, "labs.ipynb")
            if errors := run_all(seen.page):
                raise RuntimeError(f"the notebook of the benchmark stopped: {errors[0]}")
            if shown == "labs.{}()":
                seen.page.wait_for_function(_ALL_TOUCHED, arg=len(labs.__all__))
            yield seen.page


def _beside(browser, application):
    """Press the same control in the picture and, in another notebook, in the form that is there without the layer."""
    both = {"picture": [], "form": []}
    with (
        _opened(browser, application, nullcontext) as picture,
        _opened(browser, application, nullcontext, "labs.{}().widget") as form,
    ):
        for number, name in enumerate(labs.__all__):
            in_form = form.locator(".mha-lab").nth(number)
            pressed = [
                (one, in_form.locator(".mha-on-picture").filter(has=form.get_by_text(one, exact=True)), key)
                for one, control in getattr(labs, name)().controls.items()
                for kind, key in _KEYS.items()
                if isinstance(control, kind)
            ]
            in_picture = picture.locator(f'[data-lab="{name}"]')
            for one, its_form, keys in pressed:
                group = in_picture.get_by_role("radiogroup", name=one, exact=True).locator("input:checked")
                mark = group if len(keys) > 1 else in_picture.locator(f'.mha-over [data-mark="{one}"]')
                if mark.count() == 1 and its_form.count() == 1:
                    if len(keys) > 1 and its_form.locator("input").last.is_checked():
                        keys = keys[::-1]  # a form does not go on from the last to the first
                    break
            else:
                continue  # one is a drop-down or a number
            places = {
                "picture": (picture, in_picture, mark),
                "form": (form, in_form, its_form.locator("input:checked" if len(keys) > 1 else "input")),
            }
            times, blanks = {"picture": [], "form": []}, {"picture": 0, "form": 0}
            for block in range(BLOCKS + 1):
                for where in sorted(places, reverse=block % 2):
                    page, lab, control = places[where]
                    lab.scroll_into_view_if_needed()
                    found, blank = press_latency(page, control, lab.locator(".mha-picture"), keys, IN_A_BLOCK)
                    if block:  # the first is for warming up
                        times[where] += found
                        blanks[where] += blank
            for where, found in times.items():
                both[where] += found
                yield _row(f"{name}: {one}" if where == "picture" else "  in its form", found, blanks[where])
    for where, found in both.items():
        yield _row(f"all labs, {where}", found)


def _rows(page):
    for name in labs.__all__:
        lab = page.locator(f'[data-lab="{name}"]')
        lab.scroll_into_view_if_needed()
        control = lab.locator(CONTROL).first
        if not control.count():
            continue  # on a page it has buttons alone, which do not go back
        keys = ["ArrowLeft", "ArrowRight"] if control.evaluate(_GOES_BACK) else ["ArrowRight", "ArrowLeft"]
        if control.get_attribute("type") == "checkbox":
            keys = " "
        # What starts by itself stops at the first key.
        press_latency(page, control, lab.locator(".mha-picture"), keys, 2)
        times, blank = press_latency(page, control, lab.locator(".mha-picture"), keys, N_PRESSES)
        yield _row(name, times, blank)
    yield _row("a swept cell is marked", [*_sweeps(page)])
    for name, handle in (("two_banks", "bank, up"), ("qkv_workbench", "query of it, up")):
        yield _row(f"{name}: dragged", [*_drags(page, name, handle)])
        lab = page.locator(f'[data-lab="{name}"]')
        mark = lab.get_by_role("slider", name=handle).get_attribute("data-mark")
        seen = page.evaluate(_DRAG, [lab.element_handle(), mark, 240])
        yield [f"  pictures of 240 moves at 60 Hz: {seen}", "", "", "", 240]


def _row(title, times, blank=0):
    return [title, median(times), quantiles(times, n=20)[-1], blank, len(times)]


def _middle(locator):
    locator.scroll_into_view_if_needed()
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def _sweeps(page):
    """Sweep down a column of the mask studio, there and back."""
    lab = page.locator('[data-lab="mask_studio"]')
    picture = lab.locator(".mha-picture").element_handle()
    cells = [lab.get_by_role("checkbox", name=f"{query} sees it", exact=True) for query in WORDS]
    for turn in range(N_PRESSES // 4):
        for number, cell in enumerate(cells):
            place = _middle(cell)
            rest(page, picture, turn * len(cells) + number)
            page.evaluate(_MOVE, [picture, "pointermove" if number else "pointerdown"])
            page.mouse.move(*place)
            if not number:
                page.mouse.down()
            yield page.evaluate("mhaMove")
        page.mouse.up()


def _drags(page, name, handle):
    """Drag a handle up and down."""
    lab = page.locator(f'[data-lab="{name}"]')
    picture = lab.locator(".mha-picture").element_handle()
    x, y = _middle(lab.get_by_role("slider", name=handle))
    page.mouse.move(x, y)
    page.mouse.down()
    for number in range(2 * N_PRESSES):
        rest(page, picture, number)
        page.evaluate(_MOVE, [picture, "pointermove"])
        page.mouse.move(x + 10, y + (20 if number % 2 else -20))
        yield page.evaluate("mhaMove")
    page.mouse.up()
