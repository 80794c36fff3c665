"""What a learner's checks leave in a file: nothing without consent, and with it one line each."""

import json
import os
import subprocess
import sys
from itertools import chain

import pytest
from nbformat import v4

from mha_helpers import attention, exercises
from mha_helpers.learner import results
from tools.writing.notebooks import course_notebooks, execute


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in an empty folder, and keep nothing once the test is over."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    exercises.stop_keeping()


@pytest.fixture
def clock(monkeypatch):
    """Give the seconds that pass between looks at the clock."""
    seconds = [0.0]
    monkeypatch.setattr(results.time, "monotonic", lambda: seconds[0])
    return seconds


def kept(file="my_results.jsonl"):
    with open(file, encoding="utf-8", newline="") as lines:
        return [json.loads(line) for line in lines if line != "\n"]


def stub(scores):
    return ...


def no_exp(scores):
    return scores / scores.sum(-1, keepdims=True)


def ask_everything():
    for function in (stub, no_exp, attention.softmax):
        exercises.softmax.check(function)
    for answer in (None, "a", " B "):
        exercises.predict_constant.commit(answer)


def test_without_consent_not_a_byte_is_written(folder):
    ask_everything()
    assert list(folder.iterdir()) == []


def test_with_consent_each_outcome_is_a_line(clock):
    exercises.keep_results()
    ask_everything()
    outcomes = [(line["exercise"], line["status"], line["mistake"]) for line in kept()]
    assert outcomes == [
        ("softmax", "not attempted", None),
        ("softmax", "wrong", "softmax-no-exp"),
        ("softmax", "correct", None),
        ("predict_constant", "not attempted", None),
        ("predict_constant", "wrong", "a"),
        ("predict_constant", "correct", None),
    ]
    assert set(chain(*kept())) == {"exercise", "status", "mistake", "minutes"}, "nothing else is kept"


def test_minutes_count_from_the_first_try_at_an_exercise(clock):
    exercises.keep_results()
    for seconds, ask in (
        (0, lambda: exercises.softmax.check(stub)),
        (600, lambda: exercises.softmax.check(no_exp)),
        (700, lambda: exercises.predict_constant.commit("a")),
        (690, lambda: exercises.softmax.check(attention.softmax)),
    ):
        clock[0] = seconds
        ask()
    assert [line["minutes"] for line in kept()] == [0, 0, 0, 1.5]


def test_every_exercise_and_prediction_is_kept_under_its_own_name():
    exercises.keep_results()
    asked = []
    for name in exercises.__all__:
        question = getattr(exercises, name)
        for ask in ("check", "commit"):
            if hasattr(question, ask):
                getattr(question, ask)(None)
                asked.append(name)
    assert [line["exercise"] for line in kept()] == asked
    assert len(asked) > 30


def test_choosing_what_the_cells_below_run_on_is_no_check():
    exercises.keep_results()
    exercises.softmax.working_version(stub)
    assert kept() == []


def test_consent_says_what_is_kept_and_how_to_stop():
    note = exercises.keep_results("mine.jsonl")
    for text in (repr(note), note._repr_html_()):
        for said in ("mine.jsonl", "Nothing is sent", "exercises.stop_keeping()", "Not kept: your name, your code"):
            assert said in text
    exercises.softmax.check(no_exp)
    (line,) = kept("mine.jsonl")
    example = json.loads(repr(note).split("`")[1])
    assert example | {"minutes": 0} == line, "the example is what such a check writes"


def test_after_stopping_nothing_is_written_and_the_file_stays():
    exercises.keep_results()
    exercises.softmax.check(no_exp)
    assert "my_results.jsonl stays as it is" in repr(exercises.stop_keeping())
    ask_everything()
    assert len(kept()) == 1


@pytest.mark.parametrize("before", [b'{"a": 1}\n', b'{"a": 1}'], ids=["whole", "last line cut off"])
def test_what_is_there_stays_and_new_lines_follow(folder, before):
    (folder / "my_results.jsonl").write_bytes(before)
    exercises.keep_results()
    exercises.softmax.check(no_exp)
    content = (folder / "my_results.jsonl").read_bytes()
    assert content.startswith(b'{"a": 1}\n{"exercise": "softmax"')
    assert content.count(b"\n") == 2
    assert b"\r" not in content


def test_the_file_stays_the_same_when_cells_change_the_folder(folder, monkeypatch):
    exercises.keep_results()
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    exercises.softmax.check(no_exp)
    assert len(kept(folder / "my_results.jsonl")) == 1


def test_a_name_beyond_ascii_is_written_as_utf_8():
    exercises.keep_results("é.jsonl")
    results.keep("übung", "wrong", "w-ö")
    assert kept("é.jsonl")[0]["mistake"] == "w-ö"


@pytest.mark.parametrize("file", ["missing/mine.jsonl", "a_folder.jsonl"])
def test_a_file_that_cannot_be_written_is_said_at_once(folder, file):
    (folder / "a_folder.jsonl").mkdir()
    with pytest.raises(ValueError, match=r"cannot be written .*; name a file in a folder that exists"):
        exercises.keep_results(file)
    ask_everything()
    assert [path.name for path in folder.iterdir()] == ["a_folder.jsonl"]


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 1)() == 0, reason="root may write everywhere")
def test_a_read_only_file_is_said_at_once(folder):
    (folder / "mine.jsonl").touch(mode=0o444)
    with pytest.raises(ValueError, match="cannot be written"):
        exercises.keep_results("mine.jsonl")


def test_a_notebook_is_never_written_to(folder):
    (folder / "01.ipynb").write_text("{}")
    with pytest.raises(ValueError, match=r"ends in \.jsonl; given '01\.ipynb'"):
        exercises.keep_results("01.ipynb")
    assert (folder / "01.ipynb").read_text() == "{}"


def test_a_refused_consent_leaves_the_one_before():
    exercises.keep_results()
    with pytest.raises(ValueError, match="cannot be written"):
        exercises.keep_results("missing/mine.jsonl")
    exercises.softmax.check(no_exp)
    assert len(kept()) == 1


def test_a_failure_to_write_is_said_beside_the_result(folder, capsys):
    (folder / "usb").mkdir()
    exercises.keep_results("usb/mine.jsonl")
    (folder / "usb/mine.jsonl").unlink()
    (folder / "usb").rmdir()
    assert exercises.softmax.check(no_exp).mistake == "softmax-no-exp"
    assert exercises.predict_constant.commit("b").status == "right"
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 2
    for sentence in said:
        assert "could not be kept in" in sentence
        assert "mine.jsonl" in sentence


def test_two_notebooks_write_to_one_file(folder):
    code = """
from mha_helpers import exercises
from mha_helpers.learner import results
exercises.keep_results()
print("ready", flush=True)
input()
for number in range(300):
    results.keep("softmax", "wrong", "m" * (number % 50))
"""
    start = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "cwd": folder, "text": True}
    root = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    environment = os.environ | {"PYTHONPATH": root}
    both = [subprocess.Popen([sys.executable, "-c", code], env=environment, **start) for _ in range(2)]
    for one in both:
        assert one.stdout.readline() == "ready\n"
    for one in both:
        one.stdin.write("\n")
        one.stdin.flush()
    for one in both:
        one.communicate()
        assert one.returncode == 0
    lengths = sorted(len(line["mistake"]) for line in kept())
    assert lengths == sorted([number % 50 for number in range(300)] * 2)


@pytest.mark.slow
def test_in_a_notebook_it_is_the_cell_that_consents(folder):
    checks = "from mha_helpers import exercises\nexercises.predict_constant.commit('b')"
    for cells, files in (([checks], []), ([checks, "exercises.keep_results()", checks], ["my_results.jsonl"])):
        execute(v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in cells]), folder)
        assert [path.name for path in folder.iterdir()] == files
    assert len(kept()) == 1


def test_running_all_cells_of_the_course_consents_to_nothing():
    for path in course_notebooks():
        assert "keep_results" not in path.read_text(encoding="utf-8")
