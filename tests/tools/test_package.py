"""What importing costs, who may import whom, and that the data travel with the package."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "mha_helpers"

# What the modules of each room import from the other rooms: all of it, and only from rooms that stand above it here.
IMPORTS = {
    "course_data": set(),
    "judge": set(),
    "learner": {"judge"},
    "maths": {"course_data"},
    "mistaken": {"maths"},
    "model": {"course_data", "maths", "mistaken"},
    "drawing": {"maths"},
    "doctor": {"drawing"},
    "exercises": {"drawing", "judge", "learner", "maths", "model"},
    "labs": {"course_data", "drawing", "exercises", "judge", "learner", "maths", "model"},
    "take_home": {"exercises"},
    "course": {"drawing", "exercises", "take_home"},
    "check_setup": {"drawing", "exercises", "labs", "maths", "model"},
}


def run(code, **options):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, **options).stdout


@pytest.mark.parametrize(
    "modules",
    [
        "mha_helpers",
        "mha_helpers.model.encoder",
        "mha_helpers.exercises",
        "mha_helpers.worked_examples",
        "mha_helpers.doctor",
    ],
)
def test_importing_loads_nothing_that_draws_or_reads_sentences(modules):
    loaded = run(f"import sys, {modules}; print(*{{name.partition('.')[0] for name in sys.modules}})").split()
    assert not {"ipywidgets", "IPython", "tokenizers"} & set(loaded)


def test_modules_are_there_when_asked_for():
    assert run("import mha_helpers; print(mha_helpers.attention.softmax([0.0, 0.0]))") == "[0.5 0.5]\n"
    assert "figures" in run("import mha_helpers; print(dir(mha_helpers))")
    code = "from mha_helpers.attention import softmax; from mha_helpers import attention; import mha_helpers.attention"
    assert run(f"{code}; print(attention is mha_helpers.attention, softmax is attention.softmax)") == "True True\n"
    with pytest.raises(subprocess.CalledProcessError):
        run("import mha_helpers; mha_helpers.attenton")


def imported_rooms():
    """Return, for each room, the other rooms that its modules import from."""
    rooms = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).with_suffix("").parts[0]
        used = rooms.setdefault(room, set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("mha_helpers"):
                used.update(node.module.split(".")[1:2] or [alias.name for alias in node.names])
    return {room: used - {room} for room, used in rooms.items() if room != "__init__"}


def test_rooms_import_what_the_table_says_and_nothing_else():
    assert imported_rooms() == IMPORTS


def test_imports_point_upwards_in_the_table():
    above = set()
    for room, used in IMPORTS.items():
        assert used <= above, room
        above.add(room)


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
    module, picture, token, *read = run(code, cwd=tmp_path).split()
    assert "site" in Path(module).parts
    assert "site" in Path(picture).parts
    assert token == "play"
    assert read == ["[CLS]", "play", "football", "!", "[SEP]"]
