"""What importing costs, who may import whom, and that the data travel with the package."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "mha_helpers"

# A module may import what stands in its row, and what those may import.
ALLOWED = {
    "shapes": set(),
    "masks": {"shapes"},
    "attention": {"masks", "shapes"},
    "gradients": {"attention", "shapes"},
    "decoding": {"attention", "masks", "shapes"},
    "blockwise": {"attention", "masks", "shapes"},
    "fused": {"shapes"},
    "torch_listing": set(),
    "tasks": set(),
    "training": {"attention", "gradients", "masks", "measures", "shapes"},
    "mistaken": {"attention", "gradients", "masks"},
    "positions": {"shapes"},
    "measures": {"shapes"},
    "probes": {"shapes"},
    "course_data": set(),
    "experiments": {"attention", "shapes"},
    "running_example": {"attention", "masks"},
    "worked_examples": {"attention", "course_data", "masks", "positions"},
    "take_home": {"exercises"},
    "course": {"drawing", "exercises", "take_home"},
    "drawing": {"attention", "drawing", "running_example"},
    "model": {"attention", "course_data", "decoding", "masks", "mistaken", "model", "shapes", "tasks", "training"},
    "learner": {"learner"},
    "exercises": {
        "attention",
        "blockwise",
        "decoding",
        "drawing",
        "exercises",
        "experiments",
        "fused",
        "gradients",
        "learner",
        "masks",
        "measures",
        "model",
        "running_example",
        "shapes",
        "tasks",
        "training",
        "worked_examples",
    },
    "labs": {
        "attention",
        "course_data",
        "decoding",
        "drawing",
        "exercises",
        "labs",
        "learner",
        "masks",
        "measures",
        "model",
        "positions",
        "probes",
        "running_example",
        "tasks",
        "training",
        "worked_examples",
    },
    "doctor": {"doctor", "drawing"},
    "check_setup": {"attention", "drawing", "exercises", "labs", "model", "worked_examples"},
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
    assert not {"matplotlib", "ipywidgets", "IPython", "tokenizers"} & set(loaded)


def test_modules_are_there_when_asked_for():
    assert run("import mha_helpers; print(mha_helpers.attention.softmax([0.0, 0.0]))") == "[0.5 0.5]\n"
    assert "figures" in run("import mha_helpers; print(dir(mha_helpers))")
    with pytest.raises(subprocess.CalledProcessError):
        run("import mha_helpers; mha_helpers.attenton")


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_import_only_what_they_stand_on(path):
    room = path.relative_to(PACKAGE).with_suffix("").parts[0]
    if room == "__init__":
        return
    used = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("mha_helpers"):
            below = node.module.split(".")[1:2]
            used.update(below or [alias.name for alias in node.names])
    assert used <= ALLOWED[room]


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
