"""The repository's address: one in the whole course, and `python -m tools stamp`, which changes it."""

import re
import shutil

import pytest

from tools.release import launch, stamp
from tools.writing.notebooks import course_notebooks, read, serialised

REPOSITORY = stamp.repository()
NAMED = stamp.naming(REPOSITORY)
WITH_LINKS = sorted({*NAMED, *launch.all_written(REPOSITORY)})
NEW = "ada/some.attention_2"


@pytest.mark.parametrize("path", course_notebooks(), ids=lambda path: path.name)
def test_a_notebook_says_in_its_first_cell_where_it_opens_and_installs_in_its_second(path):
    first, second, *_ = read(path).cells
    assert f"{launch.line(path.name, REPOSITORY)}\n\n" in first.source, "run `python -m tools refresh --no-run`"
    install = re.escape(f"git+https://github.com/{REPOSITORY}")
    on_colab = rf'^if "google.colab" in sys.modules:.*\n    %pip install --quiet --no-deps {install}$'
    assert re.search(on_colab, second.source, re.MULTILINE)


def test_the_readme_says_where_the_first_notebook_opens():
    assert f"{launch.line(course_notebooks()[0].name, REPOSITORY)} ·\n" in launch.README.read_text(encoding="utf-8")


def test_while_the_course_has_no_owner_no_link_leads_to_one():
    assert launch.links("a.ipynb", "OWNER/attention") == {}
    assert "](" not in launch.line("a.ipynb", "OWNER/attention")


@pytest.fixture
def clone(tmp_path, monkeypatch):
    for path in WITH_LINKS:
        (tmp_path / path.relative_to(stamp.ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, tmp_path / path.relative_to(stamp.ROOT))
    monkeypatch.setattr(stamp, "ROOT", tmp_path)
    monkeypatch.setattr(launch, "ROOT", tmp_path)
    monkeypatch.setattr(launch, "README", tmp_path / "README.md")
    monkeypatch.setattr(launch, "course_notebooks", lambda: sorted(tmp_path.glob("notebooks/*.ipynb")))
    return lambda: {path: path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()}


def test_stamping_changes_the_addresses_and_nothing_else(clone, capsys):
    before = clone()
    stamp.main([NEW])
    after = clone()
    assert after.keys() == before.keys()
    for path, content in after.items():
        assert content != before[path]
        if path.suffix == ".ipynb":
            assert content.decode() == serialised(read(path)), "as the course stores it"
            opens = launch.links(path.name, NEW)
            assert all(f"[{where}]({url})" in read(path).cells[0].source for where, url in opens.items())
            assert f"git+https://github.com/{NEW}\n" in read(path).cells[1].source
    assert len(capsys.readouterr().out.splitlines()) == len(WITH_LINKS)
    stamp.main([REPOSITORY])
    assert clone() == before


def test_a_repository_of_a_longer_name_is_another_one(clone):
    other = stamp.ROOT / "other.md"
    other.write_text(f"https://github.com/{REPOSITORY}-notes and https://github.com/{REPOSITORY}.git")
    stamp.main([NEW])
    assert other.read_text() == f"https://github.com/{REPOSITORY}-notes and https://github.com/{NEW}.git"


@pytest.mark.parametrize(
    "name", ["", "ada", "ada/", "/attention", "ada/attention/main", "ada/..", "ada lovelace/attention", "adä/attention"]
)
def test_a_name_that_github_does_not_know_is_refused(clone, name, capsys):
    before = clone()
    with pytest.raises(SystemExit, match="2"):
        stamp.main([name])
    assert f"{name!r} is not a repository on GitHub; write OWNER/REPOSITORY" in capsys.readouterr().err
    assert clone() == before
