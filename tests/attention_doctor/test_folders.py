"""The doctor's folders: each imports only from folders that stand above it in this table, and nothing of the course."""

import ast
import subprocess
import sys
from pathlib import Path

import attention_doctor

PACKAGE = Path(attention_doctor.__file__).parent
# From the bottom up, as the README's "Where things are" has them; "" is what else stands at the top of the package.
ORDER = (
    "vocabulary",
    "names", "calls", "equation", "forms", "readers", "frameworks", "reports", "subjects", "questions", "",
)  # fmt: skip
ENGINES = {"function_judge", "live_pictures"}  # which the doctor stands on


def folder_of(path):
    part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return part if part in ORDER or path.parent != PACKAGE else ""


def imported(path):
    """The dotted names that a file imports from, those inside of functions included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def imports():
    """Yield (file, its folder, the folder that it imports from)."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for name in imported(path):
            package, *parts = name.split(".")
            if package == "attention_doctor":
                yield path.name, folder_of(path), parts[0] if parts[0] in ORDER else ""


def test_every_folder_is_in_the_table():
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and any(path.glob("*.py"))}
    assert folders == set(ORDER) - {"", "vocabulary"}


def test_imports_go_one_way():
    backwards = [(name, here, other) for name, here, other in imports() if ORDER.index(other) > ORDER.index(here)]
    assert backwards == []


def test_the_doctor_knows_nothing_of_the_course():
    for path in PACKAGE.rglob("*.py"):
        assert "mha_helpers" not in path.read_text(encoding="utf-8"), path
    packages = {name.partition(".")[0] for path in PACKAGE.rglob("*.py") for name in imported(path)}
    assert {"mha_helpers", "tools", "tests"}.isdisjoint(packages)
    assert packages >= ENGINES


def test_the_readme_says_where_things_are():
    text = (PACKAGE.parent / "README.md").read_text(encoding="utf-8").partition("## Where things are")[2]
    places = [text.index("`vocabulary.py`"), *(text.index(f"`{folder}/`") for folder in ORDER[1:] if folder)]
    assert places == sorted(places)


EXAMPLES = """
import doctest, importlib, pkgutil, sys
sys.modules["mha_helpers"] = None  # importing it is an error
import attention_doctor
names = [module.name for module in pkgutil.walk_packages(attention_doctor.__path__, "attention_doctor.")]
results = [doctest.testmod(importlib.import_module(name)) for name in ["attention_doctor", *names]
           if not name.endswith("__main__")]
print(sum(result.failed for result in results), sum(result.attempted for result in results) > 10)
"""


def test_its_examples_run_without_the_course():
    ended = subprocess.run([sys.executable, "-c", EXAMPLES], cwd=PACKAGE.parent, capture_output=True, text=True)
    assert ended.stdout == "0 True\n", ended.stdout + ended.stderr
