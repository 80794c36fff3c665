"""The judge on a task that has nothing to do with attention: named, pointed at, and without a word of the course."""

import ast
import doctest
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import tables

import function_judge
from function_judge.error_text import Cause
from function_judge.subject import Subject
from function_judge.verdict import judge

FOLDER = Path(function_judge.__file__).parent
# What belongs to attention or to the course, as words in names, texts and comments.
FOREIGN = re.compile(
    r"\b(quer(y|ies)|keys?|heads?|masks?|masked|softmax|attention|tokens?|mha_helpers|attention_doctor|live_pictures)\b"
)
# Python's own words: a sorted call's argument.
PYTHONS = re.compile(r"\bkey=")


def test_right_is_right():
    assert judge(tables.TASK, tables.standardized).status == "correct"


@pytest.mark.parametrize(
    ("function", "slug"),
    [(tables.by_rows, "by-rows"), (tables.by_n_minus_1, "n-minus-1")],
    ids=["by rows", "by n - 1"],
)
def test_a_known_mistake_is_named(function, slug):
    verdict = judge(tables.TASK, function)
    assert (verdict.status, verdict.mistake) == ("wrong", slug)
    assert "scores[0, 0] should be 0.4274" in verdict.message


@pytest.mark.parametrize(
    ("function", "line"),
    [
        (tables.spread_of_what_is_not_centred, "spread = np.sqrt((table**2).mean(axis=0))"),
        (tables.centred_by_the_median, "middle = np.median(table, axis=0)"),
    ],
    ids=["spread", "median"],
)
def test_the_line_of_an_unknown_one_is_pointed_at(function, line):
    verdict = judge(tables.TASK, function)
    assert (verdict.status, verdict.mistake) == ("wrong", None)
    assert f"`{line}`: up to there every number is right." in verdict.message


def test_a_subject_knows_what_lies_behind_an_error():
    def unequal(table):
        return table @ table

    own = Cause("mismatch in its core dimension", "a table can't be multiplied by itself.")
    task = replace(tables.TASK, subject=Subject(causes=(own,)))
    assert "Likely cause: the inner axes of a product differ" in judge(tables.TASK, unequal).message
    assert judge(task, unequal).message.endswith("Likely cause: a table can't be multiplied by itself.")


def test_a_cause_of_a_new_phrase_is_asked_first():
    def unknown(table):
        return tables_by_name["a"]  # noqa: F821

    own = Cause("name 'tables_by_name'", "there is no such book.")
    task = replace(tables.TASK, subject=Subject(causes=(own,)))
    assert judge(task, unknown).message.endswith("Likely cause: there is no such book.")


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.name)
def test_no_module_speaks_of_attention_or_the_course(path):
    text = path.read_text(encoding="utf-8")
    found = {match[0] for match in FOREIGN.finditer(PYTHONS.sub("", text))}
    assert not found


def test_importing_it_loads_nothing_of_the_course():
    modules = sorted(f"function_judge.{path.stem}" for path in FOLDER.glob("*.py") if path.stem != "__init__")
    code = f"import sys, {', '.join(modules)}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"mha_helpers", "attention_doctor", "live_pictures"} & {name.partition(".")[0] for name in loaded}


def test_it_imports_no_engine():
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert node.module.partition(".")[0] not in {"mha_helpers", "attention_doctor", "live_pictures"}, path


def test_what_its_readme_shows_is_what_happens():
    failed, tried = doctest.testfile(str(FOLDER / "README.md"), module_relative=False)
    assert tried
    assert not failed
