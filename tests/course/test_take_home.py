"""What a learner takes home runs there, and is laid into a course that is there already without a loss."""

import json
import os
import shutil
import signal
import subprocess
import sys
import types
import zipfile
from pathlib import Path

import pytest

from mha_helpers import course, take_home, unpack
from mha_helpers.learner import folder as learners
from mha_helpers.update import swap
from mha_helpers.update.merging import source

ROOT = Path(__file__).parents[2]
FIRST = "01_self_attention.ipynb"
STUB = "21-def-softmax-scores"
DAY = "2026-05-03"


@pytest.fixture
def small(monkeypatch):
    """Leave the course out of the zip: it takes seconds to compress."""
    monkeypatch.setattr(take_home, "_course", dict)


def learner(place, name, answer=None, day=DAY, done=("softmax",), own=None):
    """Make a folder of a learner who has written an answer into the first notebook, and return it."""
    folder = place / name
    folder.mkdir()
    notebook = json.loads((ROOT / "data/originals" / FIRST).read_text(encoding="utf-8"))
    if answer:
        next(cell for cell in notebook["cells"] if cell["id"] == STUB)["source"] = answer
        (folder / ".course").mkdir()
        entry = {"source": answer, "name": "softmax", "day": day}
        (folder / ".course/answers.json").write_text(json.dumps({"softmax": entry}))
        (folder / ".course/progress.json").write_text(json.dumps(dict.fromkeys(done, "done")))
    if own:
        cell = {"cell_type": "code", "id": own, "metadata": {}, "source": own, "outputs": [], "execution_count": None}
        notebook["cells"].insert(5, cell)
    (folder / FIRST).write_text(json.dumps(notebook), encoding="utf-8")
    return folder


def texts(folder, name=FIRST):
    return [source(cell) for cell in json.loads((folder / name).read_text(encoding="utf-8"))["cells"]]


def kept(folder, name):
    return json.loads((folder / ".course" / name).read_text())


def files(folder):
    found = (path for path in folder.rglob("*") if path.is_file() and ".update" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def zipped(path, *entries):
    """Write a zip of (name, content), as a stranger may."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return path


# ---- the zip -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_is_unpacked_is_a_copy_of_the_course_with_what_is_kept(tmp_path):
    here = learner(tmp_path, "here", "mine")
    (here / "mine.py").write_text("x = 1")
    assert "1 notebook as last saved, 1 file beside them, your progress" in repr(course.take_home(here))
    with zipfile.ZipFile(here / "attention.zip") as archive:
        archive.extractall(tmp_path / "home")
    [home] = (tmp_path / "home").iterdir()
    came = files(home / "notebooks")
    assert {name: content for name, content in files(here).items() if name != "attention.zip"}.items() <= came.items()
    assert (home / "notebooks/B_pytorch.ipynb").is_file(), "the others come as they were"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = [line.strip() for line in (home / "START.txt").read_text().splitlines() if "--config=" in line]
    assert len(commands) == 2
    for command in commands:
        assert command in readme.splitlines()
        for file in command.replace("\\", "/").split():
            if file.endswith((".txt", ".ipynb")):
                assert (home / file).is_file()
    code = (
        "import json, sys, mha_helpers; from mha_helpers import course_data, exercises, labs\n"
        "from mha_helpers.learner import folder; folder.STARTED_IN = folder.Path('notebooks').absolute()\n"
        "data = [str(course_data.data_path(name)) for name in ('worked_examples.json', 'labs/word_order.png')]\n"
        "print(json.dumps([mha_helpers.__file__, str(folder.notebooks()), *data]))"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=home, capture_output=True, text=True, check=True)
    assert all(Path(place).is_relative_to(home) for place in json.loads(ran.stdout))
    config = {"c": types.SimpleNamespace(**{n: types.SimpleNamespace() for n in ("LabApp", "ServerApp")})}
    text = (home / "jupyter_server_config.py").read_text(encoding="utf-8")
    exec(text, {"get_config": lambda: config["c"], "__file__": str(home / "jupyter_server_config.py")})
    [styles] = config["c"].ServerApp.tornado_settings["static_custom_path"]
    assert Path(styles, "custom.css").is_file()
    assert Path(styles, "labconfig/default_setting_overrides.json").is_file()


def test_a_second_zip_leaves_the_first_as_it_is(tmp_path, small):
    here = learner(tmp_path, "here")
    (here / "attention.zip").write_text("mine")
    assert "attention-2.zip" in repr(course.take_home(here))
    assert (here / "attention.zip").read_text() == "mine"


def test_git_does_not_take_it():
    ignored = ["notebooks/attention.zip", "notebooks/attention-2.zip", "notebooks/.course/answers.json"]
    done = subprocess.run(["git", "check-ignore", *ignored], cwd=ROOT, capture_output=True, text=True)
    if done.returncode == 128:
        pytest.skip("not a clone")
    assert done.stdout.split() == ignored


def test_it_is_written_beside_the_notebooks_wherever_a_cell_went(tmp_path, small, monkeypatch):
    here = learner(tmp_path, "here")
    monkeypatch.setattr(learners, "STARTED_IN", here)
    monkeypatch.chdir(tmp_path)
    course.take_home()
    assert (here / "attention.zip").is_file()


def test_a_folder_without_notebooks_is_told(tmp_path):
    with pytest.raises(ValueError, match="holds no notebooks; name the folder"):
        course.take_home(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_stays_is_said_with_its_reason(tmp_path, small, monkeypatch):
    here = learner(tmp_path, "here")
    (here / "old.csv").write_text("1970")
    os.utime(here / "old.csv", (0, 0))
    (here / "old.zip").write_text("")
    (here / ".secret").write_text("")
    (here / "before_update").mkdir()
    (here / "before_update" / FIRST).write_text("")
    monkeypatch.setattr(take_home, "MAX_FILE", 1000)
    monkeypatch.setattr(take_home, "MAX_FILES", 1500)
    for name, size in (("giant.npy", 1001), ("a.npy", 900), ("b.npy", 900)):
        (here / name).write_bytes(bytes(size))
    left = {
        "b.npy": "all files together are above 0 MB",
        "giant.npy": "0 MB; files above 0 MB stay where they are",
        "old.zip": "a zip",
    }
    if os.name != "nt":
        (here / "dangling.csv").symlink_to("nowhere")
        (here / "linked").symlink_to(tmp_path)
        (here / "a:b.csv").write_text("")
        left |= {
            "a:b.csv": "a name that not every system can have",
            "dangling.csv": "a link that leads nowhere",
            "linked": "a link to a folder",
        }
    note = course.take_home(here).panel.paragraphs[1]
    assert sorted(note.splitlines()) == sorted(["Left out:", *(f"{name}: {why}" for name, why in left.items())])
    with zipfile.ZipFile(here / "attention.zip") as archive:
        names = set(archive.namelist()) - {"attention/START.txt"}
    assert names == {f"attention/notebooks/{name}" for name in (FIRST, "a.npy", "old.csv")}


def test_a_file_that_cannot_be_read_is_named(tmp_path, small, monkeypatch):
    here = learner(tmp_path, "here")

    def refused(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refused)
    with pytest.raises(ValueError, match=rf"{FIRST}' can't be read \(Permission denied\), so nothing was written"):
        course.take_home(here)
    assert sorted(path.name for path in here.iterdir()) == [FIRST]


def test_a_full_disk_is_said_and_leaves_nothing_behind(tmp_path, small, monkeypatch):
    here = learner(tmp_path, "here")

    def full(path, content):
        with open(path, "wb") as file:
            file.write(content[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(ValueError, match=r"cannot be written \(No space left on device\); make room"):
        course.take_home(here)
    assert sorted(path.name for path in here.iterdir()) == [FIRST]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root makes a small disk")
def test_a_disk_that_is_really_full(tmp_path, small):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1500k", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("a container without the right to mount")
    try:
        here = learner(disk, "here", "mine")
        (here / "noise.npy").write_bytes(os.urandom(800_000))
        (disk / "rest").write_bytes(bytes(100_000))
        before = files(here)
        with pytest.raises(ValueError, match=r"cannot be written \(No space left on device\); make room"):
            course.take_home(here)
        assert files(here) == before
        zip_of_much = zipped(tmp_path / "much.zip", ("notebooks/noise.csv", os.urandom(900_000)))
        with pytest.raises(ValueError, match=r"\(No space left on device\); make room.* Nothing was unpacked"):
            course.unpack(zip_of_much, here)
        assert files(here) == before
    finally:
        subprocess.run(["umount", disk], check=True)


def test_on_colab_the_open_notebook_is_asked_of_the_page(tmp_path, small, monkeypatch):
    notebook = json.loads((ROOT / "data/originals" / FIRST).read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["metadata"]["id"] = cell.pop("id")  # where Colab has it
    next(cell for cell in notebook["cells"] if cell["metadata"]["id"] == STUB)["source"] = ["mine\n", "on Colab"]
    notebook["metadata"]["colab"] = {"name": FIRST}
    message = types.SimpleNamespace(blocking_request=lambda what, **options: {"ipynb": notebook})
    monkeypatch.setitem(sys.modules, "google.colab", types.SimpleNamespace(_message=message))
    content = tmp_path / "content"
    (content / "drive").mkdir(parents=True)
    (content / "drive/everything.csv").write_text("")
    assert "In the files at the left" in repr(course.take_home(content))
    here = learner(tmp_path, "here", "here")
    course.unpack(content / "attention.zip", here)
    assert any("mine\non Colab" in text for text in texts(here))
    assert "here" in texts(here)
    assert not (here / "drive").exists()


# ---- laid into a course that is there already --------------------------------------------------


def test_what_was_written_on_either_side_is_there(tmp_path, small):
    there = learner(tmp_path, "there", "def softmax(scores): 'there'", done=["softmax", "a"], own="cell_of_there")
    here = learner(tmp_path, "here", "def softmax(scores): 'here'", done=["b"], own="cell_of_here")
    course.take_home(there)
    note = repr(course.unpack(there / "attention.zip", here))
    assert "01_self_attention: merged: what was written in either is in it." in note
    found = texts(here)
    place = found.index("def softmax(scores): 'here'")
    assert "In the zip it reads as follows" in found[place + 1]
    assert "def softmax(scores): 'there'" in found[place + 1]
    assert {"cell_of_there", "cell_of_here"} <= set(found)
    assert kept(here, "progress.json") == {"softmax": "done", "a": "done", "b": "done"}
    assert "of 3 May that is here counts, and not the zip's of 3 May" in note
    assert kept(here, "answers.json")["softmax"]["source"] == "def softmax(scores): 'here'"
    once = files(here)
    again = repr(course.unpack(there / "attention.zip", here))
    assert "as it was here, and what was written in the zip's is in it" in again
    assert files(here) == once


@pytest.mark.parametrize(("day", "source"), [("2026-05-04", "there"), ("2026-05-02", "here"), (DAY, "here")])
def test_of_two_answers_the_later_one_counts_and_both_are_said(tmp_path, small, day, source):
    there, here = learner(tmp_path, "there", "there", day=day), learner(tmp_path, "here", "here")
    course.take_home(there)
    assert "Your answer to softmax is on both sides:" in repr(course.unpack(there / "attention.zip", here))
    assert kept(here, "answers.json")["softmax"]["source"] == source


def test_where_one_side_wrote_nothing_the_other_is_taken(tmp_path, small):
    there, here = learner(tmp_path, "there", "mine"), learner(tmp_path, "here")
    untouched = files(here)[FIRST]
    course.take_home(there)
    note = repr(course.unpack(there / "attention.zip", here))
    assert "taken from the zip: nothing was written in the one here" in note
    assert "mine" in texts(here)
    (here / "attention.zip").unlink(missing_ok=True)
    run = json.loads(untouched)
    shown = {"output_type": "stream", "name": "stdout", "text": "run"}
    next(cell for cell in run["cells"] if cell["cell_type"] == "code")["outputs"] = [shown]
    (there / FIRST).write_text(json.dumps(run))
    (there / "attention.zip").unlink()
    course.take_home(there)
    assert "nothing was written in the other" in repr(course.unpack(there / "attention.zip", here))
    assert "mine" in texts(here)


def test_a_zip_of_another_version_brings_what_was_written_and_no_old_text(tmp_path):
    original = json.loads((ROOT / "data/originals" / FIRST).read_text(encoding="utf-8"))
    title, stub = original["cells"][0], next(cell for cell in original["cells"] if cell["id"] == STUB)
    title["source"] = "# An old title"
    shipped = json.dumps(original)
    stub["source"] = "def softmax(scores): 'there'"
    entries = (f"attention/notebooks/{FIRST}", json.dumps(original)), (f"attention/data/originals/{FIRST}", shipped)
    here = learner(tmp_path, "here", own="cell_of_here")
    course.unpack(zipped(tmp_path / "old.zip", *entries), here)
    assert {"def softmax(scores): 'there'", "cell_of_here"} <= set(texts(here))
    assert not any("An old title" in text for text in texts(here))


def test_other_files_stand_beside_each_other(tmp_path, small):
    there, here = learner(tmp_path, "there"), learner(tmp_path, "here")
    for folder, name, content in ((there, "mine.py", "1"), (here, "mine.py", "2"), (there, "tries/own.ipynb", "{}")):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    (there / "same.csv").write_text("a")
    (here / "same.csv").write_text("a")
    course.take_home(there)
    for _ in range(2):
        note = repr(course.unpack(there / "attention.zip", here))
        assert "mine.py: another one of that name is here, so it is now mine-2.py." in note
        came = {name: content for name, content in files(here).items() if name != FIRST}
        assert came == {"mine.py": b"2", "mine-2.py": b"1", "same.csv": b"a", "tries/own.ipynb": b"{}"}


def test_a_notebook_that_cannot_be_read_is_put_beside(tmp_path, small):
    there, here = learner(tmp_path, "there", "mine"), learner(tmp_path, "here")
    (here / FIRST).write_text('{"cells": [<<<<<<<')
    course.take_home(there)
    course.unpack(there / "attention.zip", here)
    assert "mine" in texts(here, "01_self_attention-2.ipynb")
    assert (here / FIRST).read_text() == '{"cells": [<<<<<<<'


def test_the_command_line(tmp_path, small, monkeypatch, capsys):
    there, here = learner(tmp_path, "there", "mine"), learner(tmp_path, "here")
    monkeypatch.setattr(learners, "STARTED_IN", here)
    course.take_home(there)
    assert unpack.main([str(there / "attention.zip")]) == 0
    assert "taken from the zip" in capsys.readouterr().out
    assert unpack.main(["nothing.zip"]) == 1
    assert "there is no file 'nothing.zip'; put the zip" in capsys.readouterr().err
    assert unpack.main([]) == 2


# ---- a zip from anybody ------------------------------------------------------------------------

LINK = zipfile.ZipInfo("notebooks/link.csv")
LINK.external_attr = 0o120777 << 16


@pytest.mark.parametrize(("entry", "why"), [
    ("../evil.py", "leads out of the folder"),
    ("notebooks/../../evil.py", "leads out of the folder"),
    ("/tmp/evil.py", "leads out of the folder"),
    ("notebooks/C:evil.py", "leads out of the folder"),
    ("C:/evil.py", "leads out of the folder"),
    ("notebooks/..\\evil.py", "leads out of the folder"),
    ("notebooks/aux.csv", "leads out of the folder"),
    (LINK, "is a link"),
    (f"notebooks/{FIRST.upper()}", "twice"),
])  # fmt: skip
def test_a_zip_that_would_write_elsewhere_is_refused(tmp_path, entry, why):
    here = learner(tmp_path, "here")
    before = files(tmp_path)
    path = zipped(tmp_path / "a.zip", (f"notebooks/{FIRST}", "{}"), (entry, "evil"))
    with pytest.raises(ValueError, match=why):
        course.unpack(path, here)
    path.unlink()
    assert files(tmp_path) == before


@pytest.mark.parametrize(("name", "why"), [
    ("numpy.py", "it would take the place of the module numpy"),
    ("mha_helpers/__init__.py", "it would take the place of the module mha_helpers"),
    ("random.py", "it would take the place of the module random"),
    ("jupyter_server_config.py", "Jupyter would run it when it starts"),
    (".course/evil.py", "hidden"),
    (".update/journal.json", "hidden"),
    ("program.exe", "not of a kind that is expected"),
    ("answers.pkl", "not of a kind that is expected"),
])  # fmt: skip
def test_what_would_run_unasked_stays_in_the_zip(tmp_path, name, why):
    here = learner(tmp_path, "here")
    path = zipped(tmp_path / "a.zip", (f"x/notebooks/{name}", "evil"), ("x/notebooks/good.py", "x = 1"))
    assert f"{name}: {why}" in repr(course.unpack(path, here))
    assert set(files(here)) == {FIRST, "good.py"}


def test_the_courses_code_stays_what_is_installed(tmp_path):
    here = learner(tmp_path, "here")
    names = ("mha_helpers/course.py", "data/weights.py", "requirements.txt")
    entries = [(f"attention/{name}", "evil") for name in names]
    course.unpack(zipped(tmp_path / "a.zip", ("attention/notebooks/mine.md", "mine"), *entries), here)
    assert set(files(here)) == {FIRST, "mine.md"}
    assert set(files(tmp_path)) == {"a.zip", f"here/{FIRST}", "here/mine.md"}


@pytest.mark.skipif(os.name == "nt", reason="links are for administrators there")
def test_a_link_that_is_here_does_not_lead_it_out(tmp_path):
    here = learner(tmp_path, "here")
    (tmp_path / "out").mkdir()
    (here / "sub").symlink_to(tmp_path / "out")
    path = zipped(tmp_path / "a.zip", ("notebooks/sub/mine.csv", "x"), ("notebooks/mine.csv", "x"))
    assert "sub/mine.csv: a link that is here leads it out of the folder" in repr(course.unpack(path, here))
    assert list((tmp_path / "out").iterdir()) == []


def test_what_is_kept_is_read_for_what_it_says(tmp_path):
    here = learner(tmp_path, "here")
    progress = {"softmax": "done", "a": "evil", "b": ["done"]}
    answers = {"softmax": {"source": 3, "name": "softmax", "day": "soon"}, "b": 3}
    entries = [(f"notebooks/.course/{name}.json", json.dumps(what)) for name, what in
               (("progress", progress), ("answers", answers))]  # fmt: skip
    course.unpack(zipped(tmp_path / "a.zip", *entries), here)
    assert kept(here, "progress.json") == {"softmax": "done"}
    assert not (here / ".course/answers.json").exists()


def test_a_bomb_is_refused(tmp_path, monkeypatch):
    here = learner(tmp_path, "here")
    path = zipped(tmp_path / "a.zip", *((f"notebooks/{number}.csv", bytes(10_000)) for number in range(20)))
    monkeypatch.setattr(unpack, "MAX_BYTES", 100_000)
    with pytest.raises(ValueError, match=r"would unpack to more than 0 MB"):
        course.unpack(path, here)
    monkeypatch.setattr(unpack, "MAX_BYTES", 1_000_000)
    monkeypatch.setattr(unpack, "MAX_ENTRIES", 10)
    with pytest.raises(ValueError, match=r"or 10 files"):
        course.unpack(path, here)
    assert set(files(here)) == {FIRST}


@pytest.mark.parametrize("half", [True, False])
def test_what_is_no_whole_zip_is_said(tmp_path, small, half):
    there, here = learner(tmp_path, "there", "mine"), learner(tmp_path, "here")
    course.take_home(there)
    path = there / "attention.zip"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2] if half else b"no zip")
    with pytest.raises(ValueError, match=r"is no whole zip \(.*\); bring it over once more"):
        course.unpack(path, here)
    assert set(files(here)) == {FIRST}


def test_a_zip_of_something_else_is_said(tmp_path):
    with pytest.raises(ValueError, match="that zip holds no notebooks of the course"):
        course.unpack(zipped(tmp_path / "a.zip", ("photos/a.png", "x")), learner(tmp_path, "here"))


# ---- interrupted -------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a process that can be killed half way")
@pytest.mark.parametrize("calls", range(11))
def test_killed_at_any_moment_it_leaves_the_old_or_the_new(tmp_path, small, calls, monkeypatch):
    """Killed before the n-th file is written or replaced; the next set-up cell finishes what was begun."""
    there, here = learner(tmp_path, "there", "mine", own="own"), learner(tmp_path, "here")
    (there / "mine.csv").write_text("1")
    course.take_home(there)
    before = files(here)
    if not (child := os.fork()):
        left = [calls]

        def counted(function):
            def counting(*given, **options):
                if not left[0]:
                    os.kill(os.getpid(), signal.SIGKILL)
                left[0] -= 1
                return function(*given, **options)

            return counting

        for module, name in ((Path, "write_bytes"), (os, "replace"), (shutil, "copy2")):
            setattr(module, name, counted(getattr(module, name)))
        course.unpack(there / "attention.zip", here)
        os._exit(0)
    os.waitpid(child, 0)
    monkeypatch.setattr(learners, "STARTED_IN", here)
    course.map("01_self_attention")
    found = files(here)
    assert not (here / swap.AREA / swap.JOURNAL).exists()
    if found != before:
        assert {FIRST, "mine.csv", ".course/answers.json", ".course/progress.json"} == set(found)
        assert {"mine", "own"} <= set(texts(here))
