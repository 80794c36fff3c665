"""What a learner waits for: imports, checks, the gate on all notebooks; one head beside eight; the kernel's memory."""

import os
import subprocess
import sys
import time
from collections import defaultdict
from statistics import median

import numpy as np
from nbclient import NotebookClient
from nbformat import v4

from mha_helpers import attention, exercises
from tools.bench.labs import notebook_of
from tools.page.browser import NO_BROWSER
from tools.table import print_table
from tools.writing.notebooks import NOTEBOOKS, course_notebooks, read

IMPORTS = [
    "import numpy",
    "import mha_helpers",
    "from mha_helpers import attention, masks, exercises",
    "from mha_helpers import attention, masks, exercises, figures, labs",
]
IMPORT_RUNS = 15
HEAD_RUNS = 31


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
