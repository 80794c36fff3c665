"""The repository's address: one in the whole course, and `python -m tools.release.stamp`, which changes it."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tools.release import stamp
from tools.writing.notebooks import course_notebooks, read, write

REPOSITORY = tomllib.loads((stamp.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"][
    "Repository"
].removeprefix("https://github.com/")
FORMS = stamp.forms()
NEW = "ada/some.attention_2"


def relative(path):
    return str(path.relative_to(stamp.ROOT))


@pytest.mark.parametrize(("path", "addresses"), FORMS.items(), ids=map(relative, FORMS))
def test_every_file_names_the_repository_of_pyproject(path, addresses):
    text = path.read_text(encoding="utf-8")
    for form in addresses:
        assert form.replace("{repository}", REPOSITORY) in text
    assert stamp.stamped(text, addresses, REPOSITORY) == text


@pytest.mark.parametrize("path", course_notebooks(), ids=lambda path: path.name)
def test_a_notebook_links_to_itself_in_its_first_cell_and_installs_in_its_second(path):
    first, second, *_ = read(path).cells
    binder, colab = (form.format(repository=REPOSITORY, notebook=path.name) for form in (stamp.BINDER, stamp.COLAB))
    assert f"[Open in Binder]({binder}) ·\n[Open in Colab]({colab})\n" in first.source
    install = stamp.INSTALL.format(repository=REPOSITORY)
    on_colab = rf'^if "google.colab" in sys.modules:.*\n    %pip install --quiet --no-deps {re.escape(install)}$'
    assert re.search(on_colab, second.source, re.MULTILINE)


def test_no_other_file_names_the_repository():
    """Otherwise it would be wrong in a fork: `tools.release.stamp` would have to know it."""
    # Without its index, git searches what it does not ignore, in a clone or not.
    search = ["git", "grep", "--no-index", "--exclude-standard", "-z", "-lF", f"/{REPOSITORY}"]
    found = subprocess.run(search, cwd=stamp.ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    assert sorted(filter(None, found)) == sorted(path.relative_to(stamp.ROOT).as_posix() for path in FORMS)


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A clone of the course that `tools.release.stamp` works on; returns the bytes of its files."""
    root = tmp_path / "clone"
    for path in FORMS:
        (root / path.relative_to(stamp.ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, root / path.relative_to(stamp.ROOT))
    monkeypatch.setattr("tools.writing.notebooks.NOTEBOOKS", root / "notebooks")
    monkeypatch.setattr(stamp, "ROOT", root)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)  # it may rewrite addresses
    git(root, "init", "--quiet")
    return lambda: {path: path.read_bytes() for path in stamp.forms()}


def git(folder, *arguments):
    subprocess.run(["git", *arguments], cwd=folder, check=True)


def refused(copy, *arguments):
    """Run the command, which must stop and change nothing, and return what it says."""
    before = copy()
    with pytest.raises(SystemExit) as stop:
        stamp.main(arguments)
    assert copy() == before
    assert stop.value.code.endswith("\nNothing was written.")
    return stop.value.code


def test_stamping_changes_the_addresses_and_nothing_else(copy, capsys):
    before = copy()
    stamp.main([NEW])
    after = copy()
    for path, addresses in stamp.forms().items():
        wanted = before[path].decode()
        for form in addresses:
            old, new = (form.replace("{repository}", repository) for repository in (REPOSITORY, NEW))
            wanted = wanted.replace(old, new)
        assert after[path].decode() == wanted
    assert [line.partition(": ")[2] for line in capsys.readouterr().out.splitlines()] == [NEW] * len(before)
    stamp.main([NEW])
    assert copy() == after
    assert set(re.findall(r": (.*)", capsys.readouterr().out)) == {"unchanged"}
    stamp.main([REPOSITORY])
    assert copy() == before


def test_a_stamped_notebook_is_stored_as_the_course_stores_it(copy):
    stamp.main([NEW])
    for path in course_notebooks():
        before = path.read_bytes()
        write(read(path), path)
        assert path.read_bytes() == before, path.name


def test_files_that_disagree_agree_afterwards(copy):
    stamp.main([NEW])
    notebook = course_notebooks()[-1]
    notebook.write_bytes(notebook.read_bytes().replace(NEW.encode(), b"someone/else"))
    stamp.main([NEW])
    assert b"someone/else" not in notebook.read_bytes()


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/ada/some.attention",
        "https://github.com/ada/some.attention.git",
        "https://github.com/ada/some.attention/",
        "https://ada:secret@github.com/ada/some.attention.git",
        "git@github.com:ada/some.attention.git",
        "ssh://git@github.com/ada/some.attention.git",
        "ssh://git@ssh.github.com:443/ada/some.attention.git",
    ],
)
def test_without_a_name_it_is_where_origin_is(copy, address):
    git(stamp.ROOT, "remote", "add", "origin", address)
    stamp.main([])
    setting = tomllib.loads((stamp.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert setting["project"]["urls"]["Repository"] == "https://github.com/ada/some.attention"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://gitlab.com/ada/attention.git", "https://gitlab.com/ada/attention.git"),
        ("https://ada:secret@gitlab.com/ada/attention", "https://gitlab.com/ada/attention"),
        ("https://github.com.example.org/ada/attention", "https://github.com.example.org/ada/attention"),
        ("git@gitlab.com:ada/attention.git", "git@gitlab.com:ada/attention.git"),
        ("https://github.com/ada", "https://github.com/ada"),
        ("https://github.com/ada/attention/tree/main", "https://github.com/ada/attention/tree/main"),
        ("../github.com/ada/attention", "../github.com/ada/attention"),
    ],
)
def test_an_origin_elsewhere_is_refused(copy, address, shown):
    git(stamp.ROOT, "remote", "add", "origin", address)
    said = refused(copy)
    assert f"the git remote `origin` is {shown}, which is not a repository on GitHub; {stamp.SAY_IT}" in said


def test_no_origin_is_refused(copy):
    said = refused(copy)
    assert "there is no git remote `origin`" in said
    assert stamp.SAY_IT in said


def test_no_git_is_refused(copy, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "git is not installed; install it, or name the repository" in refused(copy)


@pytest.mark.parametrize(
    "name",
    [
        *("", "ada", "ada/", "/attention", "ada/attention/main", "ada/..", "ada/.", "-ada/attention"),
        *("ada lovelace/attention", "adä/attention", "ada/att(en", "ada/attention?x", "ada/attention\n"),
        "https://github.com/ada/attention",
    ],
)
def test_a_name_that_github_does_not_know_is_refused(copy, name):
    arguments = ["--", name] if name.startswith("-") else [name]
    assert f"{name!r} is not a repository on GitHub; write OWNER/REPOSITORY" in refused(copy, *arguments)


@pytest.mark.parametrize(
    ("file", "form", "change", "times"),
    [
        ("notebooks/01_self_attention.ipynb", stamp.BINDER, lambda address: "", 0),
        ("notebooks/06_real_model.ipynb", stamp.COLAB, lambda address: "", 0),
        ("notebooks/02_scaling.ipynb", stamp.COLAB, lambda address: address.replace("02_", "03_"), 0),
        ("notebooks/03_masking.ipynb", stamp.INSTALL, lambda address: "", 0),
        ("notebooks/03_masking.ipynb", stamp.INSTALL, lambda address: f"{address} {address}", 2),
        ("README.md", stamp.BINDER, lambda address: "", 0),
        ("pyproject.toml", stamp.SETTING, lambda address: "", 0),
    ],
)
def test_a_file_without_an_address_or_with_two_stops_everything(copy, file, form, change, times):
    path = stamp.ROOT / file
    notebook = course_notebooks()[0].name if file == "README.md" else path.name
    address = form.format(repository=REPOSITORY, notebook=notebook)
    path.write_bytes(path.read_bytes().replace(address.encode(), change(address).encode()))
    wanted = form.format(repository="OWNER/REPOSITORY", notebook=notebook)
    assert refused(copy, NEW).startswith(f"{path.name} holds the address {wanted} {times} times")


def test_a_file_that_cannot_be_written_undoes_the_others(copy, monkeypatch):
    last = course_notebooks()[-1]
    original = Path.write_bytes

    def write_bytes(path, content):
        if path == last:
            raise PermissionError(f"no permission to write {path.name}")
        return original(path, content)

    monkeypatch.setattr(Path, "write_bytes", write_bytes)
    assert f"no permission to write {last.name}" in refused(copy, NEW)
