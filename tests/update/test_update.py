"""`python -m mha_helpers.update` brings the new version, whole or not at all, and keeps what the learner wrote."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from mha_helpers import update
from mha_helpers.update import swap

PACKAGE = Path(update.__file__).parents[1]
STUB = "def softmax(scores):\n    return ..."
ANSWER = "def softmax(scores):\n    e = np.exp(scores)\n    return e / e.sum()"
# The learner's, in 01: what each version says, and what they wrote in the first.
FIRST = {"title": "# 1. Attention", "softmax": STUB, "end": "The end."}
SECOND = {"title": "# 1. Attention, better", "softmax": STUB, "end": "The very end."}
MINE = FIRST | {"softmax": ANSWER, "own": "x = 1"}
HERS = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]


def notebook(cells):
    made = []
    for name, text in cells.items():
        made.append((v4.new_code_cell if text.startswith(("def", "x")) else v4.new_markdown_cell)(text, id=name))
    return v4.writes(v4.new_notebook(cells=made)) + "\n"


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def version(folder, one, **others):
    """Write a small course: its own package, two notebooks, and a few other files."""
    two = {"title": "# 2. Scaling"}
    own = ["__init__.py", *(f"update/{path.name}" for path in (PACKAGE / "update").glob("*.py"))]
    write(folder, {f"mha_helpers/{name}": (PACKAGE / name).read_text(encoding="utf-8") for name in own})
    for name, cells in (("01_one", one), ("02_two", two)):
        write(folder, {f"{place}/{name}.ipynb": notebook(cells) for place in ("notebooks", "data/originals")})
    address = '[project]\nurls.Repository = "https://github.com/OWNER/attention"\n'
    write(folder, {"requirements.txt": "pytest\n--editable .\n", "pyproject.toml": address} | others)
    ignored = "__pycache__/\n.update/\nnotebooks/before_update/\n"  # as in the course's own
    write(folder, {".gitignore": ignored, ".gitattributes": "notebooks/*.ipynb -merge\n"})
    return folder


@pytest.fixture
def second(tmp_path):
    return version(tmp_path / "second", SECOND, **{"mha_helpers/labs/new.py": "new = 1\n", "README.md": "second\n"})


def first(folder):
    return version(folder, FIRST, **{"mha_helpers/old/gone.py": "old = 1\n", "README.md": "first\n"})


@pytest.fixture
def copy(tmp_path):
    """A downloaded copy of the first version, in which the learner has written."""
    folder = first(tmp_path / "copy ü")
    write(folder, {"notebooks/01_one.ipynb": notebook(MINE), "notebooks/mine.py": "mine = 1\n"})
    return folder


def git(folder, *arguments):
    done = subprocess.run(["git", *HERS, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path, second):
    """A bare repository whose first commit is the first version, and its second the second."""
    work, bare = tmp_path / "work", tmp_path / "course.git"
    git(tmp_path, "init", "--quiet", "--bare", "-b", "main", str(bare))
    git(tmp_path, "clone", "--quiet", str(bare), str(work))
    git(work, "checkout", "--quiet", "-B", "main")
    for number, folder in enumerate((first(tmp_path / "first"), second)):
        for path in work.iterdir():
            if path.name != ".git":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copytree(folder, work, dirs_exist_ok=True)
        git(work, "add", "--all")
        git(work, "commit", "--quiet", "-m", f"Version {number + 1}")
        git(work, "push", "--quiet", "origin", f"HEAD:refs/heads/v{number + 1}")
    git(bare, "update-ref", "refs/heads/main", "v1")
    return bare


@pytest.fixture
def clone(tmp_path, repository):
    """A clone of the first version, of which the second is out by now."""
    folder = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(repository), str(folder))
    for key, value in (("user.name", "Ada"), ("user.email", "ada@example.org")):
        git(folder, "config", key, value)
    git(repository, "update-ref", "refs/heads/main", "v2")
    return folder


def texts(folder, name="01_one"):
    read = nbformat.read(folder / f"notebooks/{name}.ipynb", as_version=4)
    nbformat.validate(read)
    return {cell.id: cell.source for cell in read.cells}


def is_new(folder):
    assert texts(folder) == SECOND | {"softmax": ANSWER, "own": "x = 1"}
    assert (folder / "README.md").read_text() == "second\n"
    assert (folder / "mha_helpers/labs/new.py").exists()
    assert list(texts(folder, "before_update/01_one")) == list(MINE)
    return True


def state(folder):
    """Return the content of every file but for those that git ignores."""
    files = (path for path in folder.rglob("*") if path.is_file())
    names = ((path.relative_to(folder).as_posix(), path) for path in files)
    hidden = (
        ".update",
        ".git/",
        "notebooks/before_update",
        "mha_helpers/__pycache__",
        "mha_helpers/update/__pycache__",
    )
    return {name: path.read_bytes() for name, path in names if not name.startswith(hidden)}


def zipped(folder, file, top=""):
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in state(folder).items():
            archive.writestr(f"{top}{name}", content)
    return file


@pytest.mark.parametrize("kind", ["folder", "zip", "zip of GitHub", "bare repository"])
def test_a_downloaded_copy_is_updated_from(kind, copy, second, tmp_path, request):
    source = second
    if kind.startswith("zip"):
        source = zipped(second, tmp_path / "new.zip", "attention-main/" if "GitHub" in kind else "")
    elif kind == "bare repository":
        source = request.getfixturevalue("repository")
        git(source, "update-ref", "refs/heads/main", "v2")
    said = update.update(str(source), copy)
    assert is_new(copy)
    assert (copy / "notebooks/mine.py").read_text() == "mine = 1\n"
    assert said[0].startswith("The course is updated: ")
    assert "01_one: 2 cells that you wrote or changed came along." in said
    assert "File > Reload Notebook from Disk" in said[-1]
    assert (copy / ".update/old/README.md").read_text() == "first\n"
    before = state(copy)
    assert update.update(str(source), copy) == ["The course is up to date."]
    assert state(copy) == before


def test_the_second_update_of_a_copy_knows_what_the_first_one_brought(copy, second, tmp_path):
    update.update(str(second), copy)
    (copy / "mha_helpers/labs/new.py").write_text("mine = 1\n")
    third = version(tmp_path / "third", SECOND | {"end": "Third."}, **{"mha_helpers/labs/new.py": "new = 1\n"})
    update.update(str(third), copy)
    assert not (copy / "README.md").exists(), "the third version has none"
    assert (copy / "mha_helpers/labs/new.py").read_text() == "mine = 1\n", "only the learner changed it"
    assert texts(copy) == SECOND | {"end": "Third.", "softmax": ANSWER, "own": "x = 1"}
    fourth = version(tmp_path / "fourth", SECOND, **{"mha_helpers/labs/new.py": "new = 2\n"})
    before = state(copy)
    with pytest.raises(ValueError, match=r"you changed mha_helpers/labs/new.py, and so does the new version"):
        update.update(str(fourth), copy)
    assert state(copy) == before


def test_a_clone_follows_to_the_new_commit(clone, repository):
    write(clone, {"notebooks/01_one.ipynb": notebook(MINE), "notebooks/mine.py": "mine = 1\n"})
    update.update(str(repository), clone)
    assert is_new(clone)
    assert not (clone / "mha_helpers/old").exists()
    assert git(clone, "rev-parse", "HEAD") == git(repository, "rev-parse", "v2")
    assert git(clone, "status", "--porcelain").splitlines() == ["M notebooks/01_one.ipynb", "?? notebooks/mine.py"]
    assert update.update(str(repository), clone) == ["The course is up to date."]


def test_a_shallow_clone_is_updated(tmp_path, repository):
    folder = tmp_path / "shallow"
    git(repository, "update-ref", "refs/heads/main", "v1")
    git(tmp_path, "clone", "--quiet", "--depth=1", repository.as_uri(), str(folder))
    git(repository, "update-ref", "refs/heads/main", "v2")
    write(folder, {"notebooks/01_one.ipynb": notebook(MINE)})
    update.update(repository.as_uri(), folder)
    assert is_new(folder)
    assert git(folder, "rev-parse", "HEAD") == git(repository, "rev-parse", "v2")


def test_a_clone_with_commits_of_its_own_is_merged(clone, repository):
    write(clone, {"notebooks/01_one.ipynb": notebook(MINE), "notebooks/mine.py": "mine = 1\n"})
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "-m", "My answers")
    mine = git(clone, "rev-parse", "HEAD")
    write(clone, {"notebooks/01_one.ipynb": notebook(MINE | {"more": "x = 2"})})
    update.update(str(repository), clone)
    assert texts(clone) == SECOND | {"softmax": ANSWER, "own": "x = 1", "more": "x = 2"}
    assert git(clone, "rev-parse", "HEAD^1", "HEAD^2").split() == [mine, git(repository, "rev-parse", "v2")]
    assert git(clone, "status", "--porcelain").splitlines() == ["M notebooks/01_one.ipynb"]
    git(clone, "stash", "--quiet")
    assert texts(clone) == SECOND | {"softmax": ANSWER, "own": "x = 1"}
    assert (clone / "README.md").read_text() == "second\n"
    assert (clone / "notebooks/mine.py").exists()


@pytest.mark.parametrize("committed", [False, True])
def test_a_file_that_both_changed_stops_the_update_before_it_begins(clone, repository, committed):
    write(clone, {"README.md": "mine\n", "notebooks/01_one.ipynb": notebook(MINE)})
    if committed:
        git(clone, "commit", "--quiet", "--all", "-m", "Mine")
    before, head = state(clone), git(clone, "rev-parse", "HEAD")
    with pytest.raises(ValueError, match=r"README.md, and so does the new version.*Nothing was changed"):
        update.update(str(repository), clone)
    assert state(clone) == before
    assert git(clone, "rev-parse", "HEAD") == head


def test_a_changed_file_that_the_new_version_leaves_alone_stays(clone, repository):
    write(clone, {"pyproject.toml": "# mine\n", "mha_helpers/old/gone.py": "mine = 1\n"})
    git(clone, "add", "pyproject.toml")
    update.update(str(repository), clone)
    assert (clone / "pyproject.toml").read_text() == "# mine\n"
    assert (clone / "mha_helpers/old/gone.py").read_text() == "mine = 1\n"
    assert "# mine" in git(clone, "show", "refs/before-update:pyproject.toml")


def test_an_own_file_in_the_new_version_s_place_stops_the_update(clone, repository):
    write(clone, {"mha_helpers/labs/new.py": "mine = 1\n"})
    with pytest.raises(ValueError, match=r"you changed mha_helpers/labs/new\.py"):
        update.update(str(repository), clone)


def test_a_clone_is_updated_from_a_zip_and_then_from_its_repository(clone, repository, second, tmp_path):
    write(clone, {"notebooks/01_one.ipynb": notebook(MINE)})
    between = version(tmp_path / "between", SECOND | {"end": "Between."}, **{"README.md": "between\n"})
    update.update(str(zipped(between, tmp_path / "between.zip")), clone)
    assert texts(clone)["end"] == "Between."
    update.update(str(repository), clone)
    assert is_new(clone)
    assert git(clone, "status", "--porcelain").splitlines() == ["M notebooks/01_one.ipynb"]


@pytest.mark.parametrize("how", ["stash", "commit", "rebase"])
def test_git_pull_leaves_a_notebook_that_opens_and_an_update_settles_it(clone, repository, how):
    write(clone, {"notebooks/01_one.ipynb": notebook(MINE)})
    if how == "stash":
        git(clone, "stash", "--quiet")
        git(clone, "pull", "--quiet")
        said = update.update(str(repository), clone)
        assert said == [
            "The course is up to date.",
            "Git's stash holds notebooks of yours. To have them back: git stash pop, and then this command once more. "
            "If you have them already: git stash drop",
        ]
        commands = ["stash", "pop"]
    else:
        git(clone, "commit", "--quiet", "--all", "-m", "My answers")
        commands = ["pull", "--quiet", "--rebase" if how == "rebase" else "--no-rebase"]
    stuck = subprocess.run(["git", *commands], cwd=clone, capture_output=True, text=True)
    assert stuck.returncode != 0
    assert "conflict" in (stuck.stdout + stuck.stderr).lower()
    texts(clone)  # it can be read

    said = "\n".join(update.update(str(repository), clone))
    assert "What Git left in conflict is put together, with what you wrote: notebooks/01_one.ipynb." in said
    assert texts(clone) == SECOND | {"softmax": ANSWER, "own": "x = 1"}
    if how == "stash":
        assert "git stash drop" in said
        assert "git stash pop" not in said
        assert git(clone, "status", "--porcelain") == "M notebooks/01_one.ipynb"
    elif how == "rebase":
        assert "git -c core.editor=true rebase --continue" in said
        git(clone, "-c", "core.editor=true", "rebase", "--continue")
    assert how == "stash" or git(clone, "status", "--porcelain") == ""
    assert texts(clone) == SECOND | {"softmax": ANSWER, "own": "x = 1"}
    assert git(clone, "merge-base", "HEAD", "origin/main") == git(repository, "rev-parse", "v2")


def test_a_conflict_in_another_file_is_the_learner_s_to_decide(clone, repository):
    write(clone, {"README.md": "mine\n"})
    git(clone, "commit", "--quiet", "--all", "-m", "Mine")
    subprocess.run(["git", "pull", "--quiet", "--no-rebase"], cwd=clone, capture_output=True)
    with pytest.raises(ValueError, match=r"conflict in README\.md, which only you can decide"):
        update.update(str(repository), clone)


def test_a_broken_notebook_is_kept_aside(copy, second):
    broken = '{"cells": [\n<<<<<<< Updated upstream\n'
    write(copy, {"notebooks/01_one.ipynb": broken, "notebooks/01_one.broken.ipynb": "an older one"})
    said = "\n".join(update.update(str(second), copy))
    assert "notebooks/01_one.ipynb can't be read" in said
    assert "01_one.broken-2.ipynb" in said
    assert (copy / "notebooks/01_one.broken-2.ipynb").read_text() == broken
    assert (copy / "notebooks/01_one.broken.ipynb").read_text() == "an older one"
    assert texts(copy) == SECOND


def test_a_notebook_that_says_the_same_as_before_stays_with_what_it_shows(copy, second):
    two = json.loads(notebook({"title": "# 2. Scaling", "own": "x = 2"}))
    two["cells"][1] |= {"execution_count": 5, "outputs": [{"output_type": "stream", "name": "stdout", "text": "mine"}]}
    write(copy, {"notebooks/02_two.ipynb": json.dumps(two)})
    update.update(str(second), copy)
    assert json.loads((copy / "notebooks/02_two.ipynb").read_text()) == two


@pytest.mark.parametrize("written", [False, True])
def test_a_notebook_that_leaves_the_course_goes_unless_the_learner_wrote_in_it(copy, second, written):
    for place in ("notebooks", "data/originals"):
        (second / place / "02_two.ipynb").unlink()
    if written:
        write(copy, {"notebooks/02_two.ipynb": notebook({"title": "# 2. Scaling", "own": "x = 2"})})
    said = update.update(str(second), copy)
    assert (copy / "notebooks/02_two.ipynb").exists() == written
    assert ("02_two is no longer part of the course; you wrote in it, so it stays." in said) == written


def test_the_old_notebooks_stay_until_the_next_update(copy, second, tmp_path):
    update.update(str(second), copy)
    write(copy, {"notebooks/before_update/notes.txt": "mine"})
    third = version(tmp_path / "third", SECOND)
    write(third, {f"{place}/02_two.ipynb": notebook({"a": "# Two"}) for place in ("notebooks", "data/originals")})
    update.update(str(third), copy)
    assert {path.name for path in (copy / "notebooks/before_update").iterdir()} == {"02_two.ipynb", "notes.txt"}


def test_old_text_that_an_open_editor_saves_over_the_update_gives_way_again(clone, repository):
    write(clone, {"notebooks/01_one.ipynb": notebook(MINE)})
    update.update(str(repository), clone)
    assert texts(clone) == SECOND | {"softmax": ANSWER, "own": "x = 1"}
    write(clone, {"notebooks/01_one.ipynb": notebook(MINE | {"own": "x = 2"})})  # Overwrite, in JupyterLab
    said = update.update(str(repository), clone)
    assert "01_one: the old text had been saved over the last update; the new one is back." in said
    assert texts(clone) == SECOND | {"softmax": ANSWER, "own": "x = 2"}
    assert update.update(str(repository), clone) == ["The course is up to date."]


def test_old_text_that_was_saved_over_the_update_is_not_taken_for_the_learners(copy, second, tmp_path):
    update.update(str(second), copy)
    write(copy, {"notebooks/01_one.ipynb": notebook(MINE)})
    third = version(tmp_path / "third", SECOND | {"end": "The very last end."})
    said = update.update(str(third), copy)
    assert "01_one: 2 cells that you wrote or changed came along." in said
    assert texts(copy) == SECOND | {"end": "The very last end.", "softmax": ANSWER, "own": "x = 1"}


# ---- killed at any moment ----------------------------------------------------------------------


class Killed(BaseException):
    """No error that anybody catches."""


def test_killed_at_any_moment_it_leaves_the_old_version_or_the_new_one(copy, second, tmp_path, monkeypatch):
    calls = ("replace", "unlink", "mkdir", "copy2", "copyfile", "rmtree", "write_text", "write_bytes")
    places = {name: os if name == "replace" else Path if hasattr(Path, name) else shutil for name in calls}
    old = state(copy)
    moments, outcomes = 0, set()
    while True:
        folder = tmp_path / f"killed {moments}"
        shutil.copytree(copy, folder)
        left = moments

        def counted(really):
            def call(*arguments, **options):
                nonlocal left
                if left == 0:
                    raise Killed
                left -= 1
                return really(*arguments, **options)

            return call

        with monkeypatch.context() as patched:
            for name, place in places.items():
                patched.setattr(place, name, counted(getattr(place, name)))
            try:
                update.update(str(second), folder)
                break
            except Killed:
                pass
        begun = (folder / ".update/journal.json").exists()
        if not begun:
            new = state(folder) != old
            assert not new or is_new(folder)
        # Whoever imports the package next has the new version, if anything of it is there.
        subprocess.run([sys.executable, "-c", "import mha_helpers"], cwd=folder, check=True, capture_output=True)
        assert not (folder / ".update/journal.json").exists()
        assert is_new(folder) if begun or new else state(folder) == old
        outcomes.add(begun)
        update.update(str(second), folder)
        assert is_new(folder)
        moments += 1
    assert outcomes == {False, True}
    assert moments > 30


def test_killed_from_outside_while_it_swaps(copy, second, tmp_path):
    """The same by a real end of the process: nothing of Python's runs any more."""
    code = (
        "import os, sys; from mha_helpers import update; really, left = os.replace, int(sys.argv[2])\n"
        "def replace(*paths):\n"
        "    global left\n"
        "    if left == 0: os._exit(9)\n"
        "    left -= 1; really(*paths)\n"
        "os.replace = replace; update.update(sys.argv[1])"
    )
    command = [sys.executable, "-c", code, str(second), "3"]
    assert subprocess.run(command, cwd=copy).returncode == 9
    assert (copy / ".update/journal.json").exists()
    again = subprocess.run([sys.executable, "-c", "import mha_helpers"], cwd=copy, capture_output=True, text=True)
    assert again.stdout == "An update of the course that was interrupted is finished now.\n"
    assert is_new(copy)


def test_a_clone_killed_before_its_branch_follows_is_finished(clone, repository, monkeypatch):
    write(clone, {"notebooks/01_one.ipynb": notebook(MINE)})
    really, head = subprocess.run, git(clone, "rev-parse", "HEAD")

    def run(command, **options):
        if "update of the course" in command:
            raise Killed
        return really(command, **options)

    with monkeypatch.context() as patched:
        patched.setattr(subprocess, "run", run)
        with pytest.raises(Killed):
            update.update(str(repository), clone)
    assert git(clone, "rev-parse", "HEAD") == head
    subprocess.run([sys.executable, "-c", "import mha_helpers"], cwd=clone, check=True)
    assert is_new(clone)
    assert git(clone, "rev-parse", "HEAD") == git(repository, "rev-parse", "v2")
    assert git(clone, "status", "--porcelain") == "M notebooks/01_one.ipynb"


def test_a_file_that_cannot_be_replaced_is_told_and_the_next_run_goes_on(copy, second, monkeypatch):
    really = os.replace

    def replace(source, target):
        if Path(target).name == "01_one.ipynb" and Path(target).parent.name == "notebooks":
            raise PermissionError(13, "in use", str(target))
        really(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", replace)
        with pytest.raises(ValueError, match=r"01_one\.ipynb can't be .* \(in use\). Close what uses it.*goes on"):
            update.update(str(second), copy)
    assert update.update(str(second), copy)[0] == "An update that was interrupted is finished."
    assert is_new(copy)


def test_a_full_disk_is_told_and_changes_nothing(copy, second, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device", "somewhere")

    before = state(copy)
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(ValueError, match=r"No space left on device.*nothing was changed"):
        update.update(str(second), copy)
    assert state(copy) == before


def test_two_at_once_do_not_mix(copy, second):
    with swap.alone(copy), pytest.raises(ValueError, match=r"another update of .* is running; wait for it"):
        update.update(str(second), copy)


# ---- what is asked, and what is said -----------------------------------------------------------


def test_the_command_says_what_it_did_and_what_it_could_not(copy, second, tmp_path):
    def run(*arguments):
        command = [sys.executable, "-m", "mha_helpers.update", *map(str, arguments)]
        return subprocess.run(command, cwd=copy, capture_output=True, text=True)

    nowhere = run()
    assert nowhere.returncode == 2
    assert nowhere.stderr.startswith("Not updated: this copy of the course doesn't say where new versions come from; ")
    for source, said in (
        ("nowhere.zip", "there is no file or folder 'nowhere.zip'"),
        (tmp_path / "copy ü", "is this copy of the course itself"),
        (tmp_path, "is not this course, or not the whole of it: it has no mha_helpers/__init__.py"),
        (copy / "README.md", "is no whole zip"),
    ):
        failed = run(source)
        assert failed.returncode == 2, failed
        assert said in failed.stderr
        assert "Traceback" not in failed.stderr
    done = run(second)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("The course is updated: ")
    assert is_new(copy)


def test_an_installed_package_is_no_copy_of_the_course(tmp_path):
    with pytest.raises(ValueError, match="is not a copy of the course: it has no notebooks"):
        update.update("anything", tmp_path)


def test_the_default_is_where_the_course_was_published(copy):
    text = (copy / "pyproject.toml").read_text().replace("OWNER", "ada")
    (copy / "pyproject.toml").write_text(text)
    assert update.source.default(copy) == "https://github.com/ada/attention"


def test_what_the_requirements_ask_for_is_installed(copy, second, monkeypatch):
    write(second, {"requirements.txt": "pytest\nno-such-package==1.2; python_version > '3'\n--editable .\n"})
    ran = []

    def run(command, **options):
        ran.append(command)
        return subprocess.CompletedProcess(command, len(ran) == 1, "", "WARNING: x\nERROR: no network\n")

    with monkeypatch.context() as patched:
        patched.setattr(subprocess, "run", run)
        [sentence] = [line for line in update.update(str(second), copy) if "no-such-package" in line]
        assert "needs no-such-package==1.2, and that could not be installed (ERROR: no network)" in sentence
        assert sentence.endswith(f"in {copy}: {sys.executable} -m pip install -r requirements.txt")
        assert update.update(str(second), copy)[0] == (
            "Installed, because the new version needs it: no-such-package==1.2."
        )
    assert ran[0][:4] == [sys.executable, "-m", "pip", "install"]
