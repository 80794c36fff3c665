"""Measure what the course promises to keep small, each beside something to compare it with.

Usage: python -m tools.page.benchmark [--only labs|imports|gate|checks|heads|attention|writing|memory]

Medians of one run. Nothing is asserted: the numbers depend on the machine, the ratios less so.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from statistics import median

import numpy as np
from nbclient import NotebookClient
from nbformat import v4
from playwright.sync_api import Error

from mha_helpers import exercises
from mha_helpers import labs as mha_labs
from mha_helpers.maths import attention
from tools.model import speed
from tools.page.browser import (
    NO_BROWSER,
    lab_server,
    open_browser,
    open_notebook,
    open_page,
    press_latency,
    run_all,
    text_of,
)
from tools.release.table import print_table
from tools.writing.notebooks import KERNELSPEC, NOTEBOOKS, course_notebooks, read, write

IMPORTS = [
    "import numpy",
    "import mha_helpers",
    "from mha_helpers import attention, masks, exercises",
    "from mha_helpers import attention, masks, exercises, figures, labs",
]
IMPORT_RUNS = 15
HEAD_RUNS = 31
SWEEPS = 3  # of each control, there and back
SWITCH = ".mha-lab input[type=checkbox]:not(.mha-fold input)"

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
                if (control.tagName === "SELECT") return [control.selectedIndex, control.options.length - 1];
                const all = [...control.closest(".widget-radio-box").querySelectorAll("input")];
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
            control = cells.nth(number).locator('[role="slider"], input[type="radio"]:checked, select').first
            before, there = _steps(control)
            is_list = control.evaluate('control => control.tagName === "SELECT"')
            onward, back = ("ArrowDown", "ArrowUp") if is_list else ("ArrowRight", "ArrowLeft")
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


def imports():
    """Import times in fresh interpreters, beside NumPy's."""
    seconds = defaultdict(list)
    for _ in range(IMPORT_RUNS + 1):
        for statement in IMPORTS:
            code = f"import time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
            command = [sys.executable, "-c", code]
            done = subprocess.run(command, cwd=NOTEBOOKS.parent, capture_output=True, text=True, check=True)
            seconds[statement].append(float(done.stdout))
    # The first of each may have had to compile.
    medians = {statement: 1000 * median(found[1:]) for statement, found in seconds.items()}
    rows = [[statement, found, found / medians[IMPORTS[0]]] for statement, found in medians.items()]
    print_table(f"Imports, {IMPORT_RUNS} fresh interpreters each", ["", "median ms", "ratio"], rows)


def gate():
    """How long the gate on all notebooks takes: nbval, hygiene, and solved."""
    # Without the tests of the gate's own tools on bad notebooks.
    gate_tests = ("test_hygiene.py::test_the_course_is_clean", "test_solved.py::test_the_course_can_be_solved")
    command = [sys.executable, "-m", "pytest", "-q", "-m", "", "notebooks"]
    command += [f"tests/notebooks/{test}" for test in gate_tests]
    start = time.perf_counter()
    done = subprocess.run(
        command, cwd=NOTEBOOKS.parent, env=os.environ | {"MHA_BROWSER": NO_BROWSER}, capture_output=True, text=True
    )
    seconds = time.perf_counter() - start
    outcome = done.stdout.strip().rpartition("\n")[2].strip("= ")
    count = len(course_notebooks())
    rows = [[f"{count} notebook{'s' if count != 1 else ''}: {outcome}", seconds, seconds / max(count, 1)]]
    print_table("The notebook gate", ["", "seconds", "per notebook"], rows)


def checks():
    """How long a learner waits for a check."""
    milliseconds = defaultdict(list)
    for name in exercises.__all__:
        exercise = getattr(exercises, name)
        if not hasattr(exercise, "check"):
            continue  # a prediction
        wrong = [implementation for mistake in exercise.mistakes for implementation in mistake.implementations]
        for status, functions in {
            "not attempted": [lambda *arguments: ...],
            "correct": [exercise.reference],
            "wrong": wrong,
        }.items():
            found = []
            for function in functions:
                start = time.perf_counter()
                result = exercise.check(function)
                found.append(1000 * (time.perf_counter() - start))
                if result.status != status:
                    raise RuntimeError(f"{name}.check says {result.status} where it should say {status}")
            milliseconds[status].append((median(found), max(found), name))
    rows = []
    for status, found in milliseconds.items():
        longest = max(found, key=lambda one: one[1])
        rows.append([status, median(one[0] for one in found), longest[1], longest[2]])
    print_table("One check, over all exercises", ["", "median ms", "longest ms", "in"], rows)


def heads():
    """Multi-head attention of width 512 with one head and with eight, on the same input."""
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(128, 512)), rng.normal(scale=512**-0.5, size=(4, 512, 512))
    milliseconds = defaultdict(list)
    for _ in range(HEAD_RUNS + 1):  # in turns
        for n_heads in (1, 8, 64):
            start = time.perf_counter()
            attention.multi_head_attention(X, *weights, n_heads)
            milliseconds[n_heads].append(1000 * (time.perf_counter() - start))
    medians = {n_heads: median(found[1:]) for n_heads, found in milliseconds.items()}
    rows = [[f"{n} of {512 // n}", found, found / medians[1]] for n, found in medians.items()]
    print_table("Multi-head attention, 128 tokens of width 512", ["heads", "median ms", "ratio"], rows)


def memory():
    """Resident memory of a learner's kernel at the end of each notebook."""
    figure = "import ipywidgets\nimport matplotlib.pyplot as plt\nimport numpy as np\nplt.imshow(np.eye(3))"
    notebooks = {"nothing": notebook_of("pass"), "numpy, ipywidgets and a matplotlib figure": notebook_of(figure)}
    notebooks |= {path.name: read(path) for path in course_notebooks()}
    sizes = {}
    for title, notebook in notebooks.items():
        notebook.cells.append(v4.new_code_cell("import psutil\nprint(psutil.Process().memory_info().rss)"))
        NotebookClient(notebook, resources={"metadata": {"path": str(NOTEBOOKS)}}).execute()
        sizes[title] = int(notebook.cells[-1].outputs[0].text) / 2**20
    rows = [[title, size, size / sizes["nothing"]] for title, size in sizes.items()]
    print_table("Resident memory of the kernel", ["after", "MiB", "ratio"], rows)


SECTIONS = {
    "labs": labs,
    "imports": imports,
    "gate": gate,
    "checks": checks,
    "heads": heads,
    "attention": speed.attention,
    "writing": speed.writing,
    "memory": memory,
}


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tools.page.benchmark", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=SECTIONS, help="one section (default: all)")
    only = parser.parse_args(argv).only
    print(f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} processors")
    for name, section in SECTIONS.items():
        if only in (None, name):
            section()


if __name__ == "__main__":
    main()
