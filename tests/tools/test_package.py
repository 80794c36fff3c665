"""What importing costs, who may import whom, and that the data travel with the package."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tools import rooms

PACKAGE = Path(__file__).parents[2] / "mha_helpers"

# What the modules of each room import from the other rooms: all of it, and only from rooms that stand above it here.
IMPORTS = {
    "course_data": set(),
    "originals": {"course_data"},
    "judge": set(),
    "merging": set(),
    "update": {"merging"},
    "maths": {"course_data"},
    "wrong": {"judge", "maths"},
    "model": {"course_data", "maths", "wrong"},
    "drawing": {"maths"},
    "learner": {"course_data", "drawing"},
    "doctor": {"drawing", "judge", "wrong"},
    "exercises": {"drawing", "judge", "learner", "maths", "model", "originals", "wrong"},
    "labs": {"course_data", "drawing", "exercises", "judge", "maths", "model"},
    "take_home": {"course_data", "drawing", "learner"},
    "unpack": {"course_data", "drawing", "learner", "merging", "take_home", "update"},
    "course": {"course_data", "drawing", "exercises", "learner", "originals", "take_home", "unpack"},
    "check_setup": {"learner", "drawing", "exercises", "labs", "maths", "model"},
}


def run(code, **options):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, **options).stdout


def test_importing_loads_no_widgets_and_no_tokenizer():
    modules = ("model.encoder", "exercises", "worked_examples", "doctor")
    names = ", ".join(["mha_helpers", *(f"mha_helpers.{module}" for module in modules)])
    loaded = run(f"import sys, {names}; print(*{{name.partition('.')[0] for name in sys.modules}})").split()
    assert not {"matplotlib", "ipywidgets", "IPython", "tokenizers"} & set(loaded)


def test_modules_are_there_when_asked_for():
    code = """
import mha_helpers
print(mha_helpers.attention.softmax([0.0, 0.0]), "figures" in dir(mha_helpers), hasattr(mha_helpers, "attenton"))
import mha_helpers.masks
from mha_helpers.attention import softmax
from mha_helpers import attention, masks
print(masks is mha_helpers.masks, softmax is attention.softmax)
"""
    assert run(code) == "[0.5 0.5] True False\nTrue True\n"


def test_rooms_import_what_the_table_says_and_nothing_else():
    assert rooms.imported() == IMPORTS


def test_imports_point_upwards_in_the_table():
    above = set()
    for room, used in IMPORTS.items():
        assert used <= above, room
        above.add(room)


# What the doctor is made of: it needs nothing else of the package, and no name of it.
DOCTOR = (
    "doctor",
    "judge",
    "wrong/__init__.py",
    "wrong/forms",
    "wrong/names",
    "drawing/__init__.py",
    "drawing/style.py",
)


def test_the_doctor_stands_alone_under_another_name(tmp_path):
    for part in DOCTOR:
        source, copy = PACKAGE / part, tmp_path / "elsewhere" / part
        copy.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copyfile)(source, copy)
    code = """
import sys
import numpy as np
from elsewhere import doctor
def unscaled(queries, keys, values):
    scores = np.exp(queries @ keys.swapaxes(-1, -2))
    return scores / scores.sum(-1, keepdims=True) @ values
report = doctor.examine(unscaled)
print(*report.names, report._repr_html_().startswith("<div"), "mha_helpers" in sys.modules)
"""
    assert run(code, cwd=tmp_path) == "scale-missing softmax-no-max True False\n"


@pytest.mark.slow
def test_the_data_travel_inside_the_wheel(tmp_path):
    """Installed without the repository around it, as on Colab, the package finds its data."""
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir"]
    subprocess.run([*build, str(tmp_path), str(PACKAGE.parent)], check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(tmp_path / "site")]
    subprocess.run([*install, str(wheel)], check=True, capture_output=True)
    code = """
import sys; sys.path.insert(0, "site")
import mha_helpers
from mha_helpers.model import encoder
from mha_helpers import labs, worked_examples
from mha_helpers.course_data import data_path
print(mha_helpers.__file__, data_path("labs/qkv_workbench.png"), worked_examples.load("play_football").tokens[1])
print(*encoder.load().encode("Play football!").tokens)
"""
    (tmp_path / "own").mkdir()
    (tmp_path / "own/01_self_attention.ipynb").write_text("{}")
    code += "from mha_helpers import course; course.take_home('own')\n"
    module, picture, token, *read = run(code, cwd=tmp_path).split()
    assert "site" in Path(module).parts
    assert "site" in Path(picture).parts
    assert token == "play"
    assert read == ["[CLS]", "play", "football", "!", "[SEP]"]
    with zipfile.ZipFile(tmp_path / "own/attention.zip") as archive:
        taken = set(archive.namelist())
    course = {"pyproject.toml", "requirements.txt", "jupyter_server_config.py", "data/jupyter/custom.css"}
    assert {f"attention/{name}" for name in {*course, "mha_helpers/course.py", "notebooks/B_pytorch.ipynb"}} <= taken
    assert not any(name.startswith(("attention/mha_helpers/data", "attention/mha_helpers/beside")) for name in taken)
