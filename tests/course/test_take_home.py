"""What a learner takes home runs there, from its own folder."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from mha_helpers import course

pytestmark = pytest.mark.slow

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


@pytest.fixture
def folder(tmp_path):
    source = (NOTEBOOKS / "01_self_attention.ipynb").read_text(encoding="utf-8")
    (tmp_path / "01_self_attention.ipynb").write_text(source.replace("import numpy", "mine = 1\\nimport numpy", 1))
    return tmp_path


def test_what_is_unpacked_runs_from_its_own_folder(folder):
    assert "attention.zip" in repr(course.take_home(folder))
    home = folder / "home"
    with zipfile.ZipFile(folder / "attention.zip") as archive:
        archive.extractall(home)
    [unpacked] = home.iterdir()
    assert (unpacked / "01_self_attention.ipynb").read_bytes() == (folder / "01_self_attention.ipynb").read_bytes()
    code = (
        "import json, mha_helpers; from mha_helpers import course_data, exercises, labs\n"
        "data = [str(course_data.data_path(name)) for name in ('worked_examples.json', 'labs/word_order.png')]\n"
        "print(json.dumps([mha_helpers.__file__, *data]))"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=unpacked, capture_output=True, text=True, check=True)
    assert all(Path(place).is_relative_to(unpacked) for place in json.loads(ran.stdout))
    assert (unpacked / "START.txt").exists()
    assert "numpy==" in (unpacked / "requirements.txt").read_text()


def test_a_second_zip_leaves_the_first_as_it_is(folder):
    (folder / "attention.zip").write_text("mine")
    assert "attention-2.zip" in repr(course.take_home(folder))
    assert (folder / "attention.zip").read_text() == "mine"


def test_a_folder_without_notebooks_is_told(tmp_path):
    with pytest.raises(ValueError, match="holds no notebooks; name the folder"):
        course.take_home(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_leaves_nothing_behind(folder, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(zipfile.ZipFile, "write", full)
    with pytest.raises(ValueError, match=r"cannot be written \(No space left on device\); make room"):
        course.take_home(folder)
    assert [path.name for path in folder.iterdir()] == ["01_self_attention.ipynb"]
