"""What importing costs, who may import whom, and that the data travel with the package."""

import subprocess
import sys
import zipfile
from pathlib import Path

import jedi
import pytest

from tools import rooms
from tools.writing import stubs

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "mha_helpers"

# What the modules of each room import from the other rooms: all of it, and only from rooms that stand above it here.
IMPORTS = {
    "function_judge": set(),
    "live_pictures": set(),
    "attention_doctor": {"function_judge", "live_pictures"},
    "functions": set(),
    "update": set(),
    "models": {"functions"},
    "figures": {"functions", "live_pictures"},
    "learner": {"functions", "live_pictures"},
    "exercises": {"attention_doctor", "figures", "function_judge", "functions", "learner", "live_pictures", "models"},
    "labs": {"exercises", "figures", "function_judge", "functions", "live_pictures", "models"},
    "course": {
        "attention_doctor", "exercises", "figures", "function_judge", "functions", "labs", "learner", "live_pictures",
        "models", "update",
    },
}  # fmt: skip


EDITORS_PROJECT = jedi.Project(ROOT, added_sys_path=[str(ROOT / "engines")])


def run(code, **options):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, **options).stdout


def test_every_room_has_its_tests_in_a_folder_of_its_name():
    assert {*IMPORTS} <= {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()}


def test_importing_loads_no_widgets_and_no_tokenizer():
    modules = ("encoder", "exercises", "worked_examples", "doctor")
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


COMPLETED = {
    "from mha_helpers.attention import sof": "softmax",
    "from mha_helpers import attention; attention.multi_": "multi_head_attention",
    "import mha_helpers.masks as masks; masks.pad": "padding_mask",
    "from mha_helpers import exercises; exercises.soft": "softmax",
    "from mha_helpers import exercises; exercises.recall_sp": "recall_split_heads",
    "from mha_helpers import exercises; exercises.predict_or": "predict_order",
    "from mha_helpers import exercises; exercises.softmax.che": "check",
    "from mha_helpers import labs; labs.mask": "mask_studio",
    "from mha_helpers import figures; figures.whole": "whole_block",
    "from mha_helpers import encoder; encoder.lo": "load",
    "from mha_helpers import doctor; doctor.exa": "examine",
}
DEFINED = {
    "from mha_helpers.attention import softmax": "mha_helpers/attention.py",
    "from mha_helpers import exercises; exercises.softmax": "mha_helpers/exercises/self_attention/softmax.py",
    "from mha_helpers import exercises; exercises.recall_split_heads": "mha_helpers/exercises/splitting/split_heads.py",
    "from mha_helpers import exercises; exercises.predict_order": "mha_helpers/exercises/self_attention/predictions.py",
    "from mha_helpers import labs; labs.mask_studio": "mha_helpers/labs/masking/mask_studio.py",
    "from mha_helpers import figures; figures.whole_block": "mha_helpers/figures.py",
    "from mha_helpers import doctor; doctor.examine": "engines/attention_doctor/api.py",
}


@pytest.mark.parametrize(("typed", "wanted"), COMPLETED.items())
def test_an_editor_completes_a_public_name(typed, wanted):
    """Without running anything, as jedi does it for JupyterLab, VS Code's Python and vim."""
    script = jedi.Script(typed, path=ROOT / "typed.py", project=EDITORS_PROJECT)
    assert wanted in [found.name for found in script.complete()]


@pytest.mark.parametrize(("typed", "file"), DEFINED.items())
def test_an_editor_leads_from_a_public_name_to_its_definition(typed, file):
    script = jedi.Script(typed, path=ROOT / "typed.py", project=EDITORS_PROJECT)
    found = script.goto(column=len(typed), follow_imports=True, follow_builtin_imports=True)
    assert [Path(name.module_path).relative_to(ROOT).as_posix() for name in found] == [file]


def test_the_stubs_of_lazy_packages_are_as_refresh_writes_them():
    for path, text in stubs.written().items():
        assert path.read_text(encoding="utf-8") == text, "run `python -m tools refresh --no-run`"


@pytest.mark.slow
def test_the_data_travel_inside_the_wheel(tmp_path):
    """Installed without the repository around it, as on Colab, the package finds its data."""
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir"]
    for project in (ROOT / "engines", ROOT):
        subprocess.run([*build, str(tmp_path), str(project)], check=True, capture_output=True)
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(tmp_path / "site")]
    subprocess.run([*install, *map(str, tmp_path.glob("*.whl"))], check=True, capture_output=True)
    code = """
import sys; sys.path.insert(0, "site")
import mha_helpers
from mha_helpers import encoder
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
    engines = {"engines/pyproject.toml", "engines/attention_doctor/api.py", "engines/live_pictures/touch.js"}
    assert {
        f"attention/{name}" for name in {*course, "mha_helpers/course.py", "notebooks/B_pytorch.ipynb", *engines}
    } <= taken
    assert not any(name.startswith(("attention/mha_helpers/data", "attention/mha_helpers/beside")) for name in taken)
