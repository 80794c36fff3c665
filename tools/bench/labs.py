"""Key press to changed picture, in JupyterLab: each lab beside the same numbers by `interact` and matplotlib."""

import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median

from nbformat import v4
from playwright.sync_api import Error

from mha_helpers import labs as mha_labs
from tools.page.browser import (
    lab_server,
    open_browser,
    open_notebook,
    open_page,
    press_latency,
    run_all,
    text_of,
)
from tools.table import print_table
from tools.writing.notebooks import KERNELSPEC, write

SWEEPS = 3  # of each control, there and back
SWITCH = ".mha-over input[type=checkbox]"
CONTROL = '.mha-over :is(input[type="radio"]:checked, input[type="range"]), [role="slider"]'

# A lab's numbers as one would draw them without the lab: `interact`, and a new matplotlib figure each time.
PLAIN = """\
import dataclasses
import numbers
import matplotlib.pyplot as plt
import numpy as np
from ipywidgets import SelectionSlider, interact
from mha_helpers import labs

MOST_ARRAYS, MOST_NUMBERS = 6, 100  # in a figure, and printed in an array: more could not be read

def arrays_of(found, name=""):
    if dataclasses.is_dataclass(found):
        found = vars(found)
    if isinstance(found, (list, tuple)) and found and all(isinstance(one, numbers.Real) for one in found):
        found = np.array(found)
    if isinstance(found, np.ndarray):
        return [(name, found)] if found.dtype.kind in "bif" and 1 <= found.ndim <= 3 and found.size else []
    inside = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, (list, tuple)) else ()
    return [each for key, value in inside for each in arrays_of(value, key if isinstance(key, str) else name)]

def draw(title, arrays):
    figure, axes = plt.subplots(1, max(1, len(arrays)), figsize=(10, 2.5), squeeze=False)
    figure.suptitle(title)
    for axis, (name, values) in zip(axes[0], arrays):
        axis.set_title(name)
        if values.ndim == 1 and values.size > MOST_NUMBERS:
            axis.plot(values)
            continue
        rows = values.reshape(-1, values.shape[-1])
        axis.imshow(rows, aspect="auto")
        if rows.size <= MOST_NUMBERS:
            for (i, j), value in np.ndenumerate(rows):
                axis.text(j, i, f"{value:.2f}", ha="center", va="center")
    plt.show()

def plain(lab):
    name, control = next((name, control) for name, control in lab.controls.items() if hasattr(control, "options"))
    @interact(chosen=SelectionSlider(options=control.options, value=control.value, description=name))
    def show(chosen):
        draw(f"{name}: {chosen}", arrays_of(lab.compute(lab.state | {name: chosen}, lab.function))[:MOST_ARRAYS])"""


def notebook_of(*sources):
    return v4.new_notebook(cells=[v4.new_code_cell(source) for source in sources], metadata={"kernelspec": KERNELSPEC})


def labs():
    """Key press to changed picture: each lab, in a notebook of its own, beside its numbers by `interact`."""
    header = ["", "median ms", "longest ms", "ratio", "blank frames", "presses"]
    with tempfile.TemporaryDirectory() as folder, lab_server(folder) as server, open_browser() as browser:
        for name in mha_labs.__all__:
            if not any(hasattr(control, "options") for control in getattr(mha_labs, name)().controls.values()):
                continue  # it is dragged alone: `interact` has nothing to choose from
            notebook = notebook_of(PLAIN, f"labs.{name}()", f"plain(labs.{name}())")
            write(notebook, Path(folder, f"{name}.ipynb"))
            with open_page(browser, server) as seen:
                open_notebook(seen.page, f"{name}.ipynb")
                if errors := run_all(seen.page):
                    raise RuntimeError(f"the notebook of the benchmark stopped: {errors[0]}")
                print_table("Key press to changed picture, in JupyterLab", header, _presses(seen.page, name))


def _steps(control):
    """Return how many steps a control is from its first value, and how many there are from the first to the last."""
    if control.get_attribute("role") == "slider":
        lowest, now, highest = (int(float(control.get_attribute(f"aria-value{end}"))) for end in ("min", "now", "max"))
        return now - lowest, highest - lowest
    return tuple(
        control.evaluate(
            """control => {
                if (control.type === "range") {
                    const {min, max, step, value} = control;
                    return [value - min, max - min].map(far => Math.round(far / step));
                }
                const all = [...control.closest("[role=radiogroup]").querySelectorAll("input")];
                return [all.indexOf(control), all.length - 1];
            }"""
        )
    )


def _presses(page, name):
    """Time a lab and its plain counterpart in turns, so that a busy moment of the machine meets both."""
    milliseconds, blank_frames = defaultdict(list), defaultdict(int)
    cells = page.locator(".jp-Notebook .jp-Cell")

    def press(title, cell, control, keys):
        picture = cell.locator(".mha-picture, .widget-output")
        try:
            times, blank = press_latency(page, control, picture, keys, len(keys))
        except Error as error:  # it stands for an error of Python, too, which the plain picture shows instead
            raise RuntimeError(f"{name}, {title.strip()}: {error.message}; it shows {text_of(picture)!r}") from error
        milliseconds[title] += times
        blank_frames[title] += blank

    titles = {name: 1, "  interact + matplotlib": 2}
    for _ in range(SWEEPS):
        for title, number in titles.items():
            control = cells.nth(number).locator(CONTROL).first
            before, there = _steps(control)
            onward, back = "ArrowRight", "ArrowLeft"
            picture = cells.nth(number).locator(".mha-picture, .widget-output")
            press_latency(page, control, picture, back, before)
            press(title, cells.nth(number), control, [onward] * there + [back] * there)
        for switch in cells.nth(1).locator(SWITCH).all()[:1]:
            press("  its first switch", cells.nth(1), switch, [" "] * 16)
    base = median(milliseconds[name])
    return [
        [title, median(found), max(found), median(found) / base, blank_frames[title], len(found)]
        for title, found in milliseconds.items()
    ]
