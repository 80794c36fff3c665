"""The course on a machine that behaves as Windows does, as far as another system can be made to: `windows_like/`.

What is run here is in a folder with spaces and umlauts, has no alarms, and reads in cp1252 what names no encoding.
"""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from nbformat import v4

from tools.writing.notebooks import NOTEBOOKS, execute, read

LIKE_WINDOWS = Path(__file__).with_name("windows_like")
SOFTMAX = """
def softmax(scores):
    exp = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exp / exp.sum(axis=-1, keepdims=True)
"""


@pytest.fixture
def folder(tmp_path):
    """A folder as learners have them."""
    folder = tmp_path / "Müller Kurs 2" / "Multi head"
    folder.mkdir(parents=True)
    shutil.copy(NOTEBOOKS / "01_self_attention.ipynb", folder)  # by which the course knows where a learner works
    return folder


@pytest.fixture
def environment(folder):
    """What makes a process, and every process that it starts, behave so; it keeps progress in a folder of its own."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return inherited | {
        "MHA_LIKE_WINDOWS": "yes",
        "PYTHONPATH": str(LIKE_WINDOWS),
        "PYTHONUTF8": "0",
        "PYTHONIOENCODING": "cp1252",
        "PYTHONWARNDEFAULTENCODING": "1",
        "JUPYTER_DATA_DIR": str(folder / "Jupyters Ordner für Läufe"),
    }


@pytest.fixture
def run(folder, environment):
    """Run a script as a learner's cell, and return what it prints; an error in it fails the test.

    The files that are named after it are held by another program.
    """

    def run(code, *locked):
        code = f"import numpy as np\nfrom mha_helpers import exercises\n{code}"
        (folder / "cell.py").write_text(code, encoding="utf-8")
        held = {"LOCKED": os.pathsep.join(str(folder / name) for name in locked)}
        command = [sys.executable, "cell.py"]
        done = subprocess.run(command, cwd=folder, env=environment | held, capture_output=True, encoding="cp1252")
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_it_is_like_windows(run):
    """Otherwise the other tests would pass without having seen anything."""
    code = """
import os, signal
print(hasattr(signal, "setitimer"))
open("new.txt", "w").write("ü")
print(open("new.txt", "rb").read())
for change in (lambda: os.replace("new.txt", "held.txt"), lambda: os.remove("held.txt")):
    try:
        change()
    except PermissionError as error:
        print(error.strerror)
"""
    assert run(code, "held.txt").splitlines() == ["False", r"b'\xfc'", "Access is denied", "Access is denied"]


def test_a_check_judges_and_ends_what_never_ends(run):
    assert "softmax is right on" in run(f"{SOFTMAX}\nprint(exercises.softmax.check(softmax))")
    wrong = SOFTMAX.replace("axis=-1", "axis=-2")
    assert "Not yet: softmax-over-queries" in run(f"{wrong}\nprint(exercises.softmax.check(softmax))")
    endless = "def softmax(scores):\n    while True:\n        pass"
    assert "Not yet: never-ends" in run(f"{endless}\nprint(exercises.softmax.check(softmax))")


def test_progress_and_answers_are_kept_and_brought_back(run):
    run(f"{SOFTMAX}\n# für später\nexercises.softmax.check(softmax)")
    assert "softmax: yours of" in run("exercises.softmax.bring_back()")


def test_a_progress_file_that_another_program_holds_is_told_and_the_check_judges(run, folder):
    assert "softmax is right on" in run(f"{SOFTMAX}\nprint(exercises.softmax.check(softmax))")
    kept = sorted((folder / ".course").glob("*.json"))
    before = [path.read_bytes() for path in kept]
    said = run(f"{SOFTMAX}\nprint(exercises.softmax.check(softmax))", *(path.relative_to(folder) for path in kept))
    assert "softmax is right on" in said
    assert "(Access is denied): neither how far you are nor your right answers" in said
    assert [path.read_bytes() for path in kept] == before != []


def test_take_home_writes_every_notebook(run, folder):
    (folder / "01_self_attention.ipynb").rename(folder / "01 für mich.ipynb")
    shutil.copy(NOTEBOOKS / "02_scaling.ipynb", folder)
    assert "Ready to take home: attention.zip" in run("from mha_helpers import course\nprint(course.take_home())")
    with zipfile.ZipFile(folder / "attention.zip") as archive:
        assert archive.read("attention/notebooks/01 für mich.ipynb") == (folder / "01 für mich.ipynb").read_bytes()


UPDATE = """
from mha_helpers import update
try:
    print(*update.update("neu", "Kurs"))
except ValueError as error:
    print(error)
"""


def test_an_update_keeps_what_was_written_and_goes_on_when_a_held_file_is_let_go(run, folder):
    def version(name, title):
        cells = [v4.new_markdown_cell(title, id="title"), v4.new_code_cell("...", id="exercise")]
        notebook = v4.writes(v4.new_notebook(cells=cells)) + "\n"
        files = {f"{place}/01_one.ipynb": notebook for place in ("notebooks", "data/originals")}
        files |= {"mha_helpers/__init__.py": "", "requirements.txt": "pytest\n", "pyproject.toml": f"# {title}\n"}
        for path, text in files.items():
            (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / name / path).write_text(text, encoding="utf-8")

    version("Kurs", "Für alle")
    version("neu", "Für alle, besser")
    notebook = folder / "Kurs/notebooks/01_one.ipynb"
    notebook.write_text(notebook.read_text(encoding="utf-8").replace("...", "schön = 1"), encoding="utf-8")
    assert "run this again: it goes on from there" in run(UPDATE, "Kurs/notebooks/01_one.ipynb")
    run(UPDATE)
    written = [cell.source for cell in v4.reads(notebook.read_text(encoding="utf-8")).cells]
    assert written == ["Für alle, besser", "schön = 1"]


def test_the_doctor_prints_its_report(folder, environment):
    attention = "def attention(queries, keys, values):\n    return softmax(queries @ keys.swapaxes(-1, -2)) @ values\n"
    (folder / "model.py").write_text(f"import numpy as np\n{SOFTMAX}\n\n{attention}", encoding="utf-8")
    command = [sys.executable, "-m", "mha_helpers.doctor", "model.py:attention"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="cp1252")
    assert (done.returncode, done.stderr) == (1, "")
    assert "scale-missing" in done.stdout


@pytest.mark.slow
def test_check_setup_calls_the_machine_ready(folder, environment):
    command = [sys.executable, "-m", "mha_helpers.check_setup"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="cp1252")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "Ready."), done.stdout


@pytest.mark.slow
def test_the_first_notebook_runs_to_its_end(folder, environment, monkeypatch):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    notebook = read(folder / "01_self_attention.ipynb")
    execute(notebook, folder)
