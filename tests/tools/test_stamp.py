"""The repository's address: one in the whole course, and `python -m tools stamp`, which changes it."""

import re
import shutil
from urllib.parse import quote

import pytest

from tools.release import stamp
from tools.writing.notebooks import course_notebooks, read, serialised

REPOSITORY = stamp.repository()
NAMED = stamp.naming(REPOSITORY)
BINDER = f"https://mybinder.org/v2/gh/{REPOSITORY}/HEAD?urlpath=lab/tree/notebooks/"
COLAB = f"https://colab.research.google.com/github/{REPOSITORY}/blob/main/notebooks/"
NEW = "ada/some.attention_2"


@pytest.mark.parametrize("path", course_notebooks(), ids=lambda path: path.name)
def test_a_notebook_links_to_itself_in_its_first_cell_and_installs_in_its_second(path):
    first, second, *_ = read(path).cells
    for place, address in {"Binder": BINDER, "Colab": COLAB}.items():
        assert f"[{place}]({address}{quote(path.name)})" in first.source, f"add the link to {place}"
    install = re.escape(f"git+https://github.com/{REPOSITORY}")
    on_colab = rf'^if "google.colab" in sys.modules:.*\n    %pip install --quiet --no-deps {install}$'
    assert re.search(on_colab, second.source, re.MULTILINE)


def test_the_readme_links_to_the_first_notebook():
    text = (stamp.ROOT / "README.md").read_text(encoding="utf-8")
    for address in (BINDER, COLAB):
        assert address + course_notebooks()[0].name in text


@pytest.fixture
def clone(tmp_path, monkeypatch):
    for path in NAMED:
        (tmp_path / path.relative_to(stamp.ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, tmp_path / path.relative_to(stamp.ROOT))
    monkeypatch.setattr(stamp, "ROOT", tmp_path)
    return lambda: {path: path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()}


def test_stamping_changes_the_addresses_and_nothing_else(clone, capsys):
    before = clone()
    stamp.main([NEW])
    after = clone()
    assert after.keys() == before.keys()
    for path, content in after.items():
        assert content != before[path]
        assert content.replace(f"/{NEW}".encode(), f"/{REPOSITORY}".encode()) == before[path]
        if path.suffix == ".ipynb":
            assert content.decode() == serialised(read(path)), "as the course stores it"
    assert len(capsys.readouterr().out.splitlines()) == len(NAMED)
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
