"""What is kept of a learner's progress: names and states, on their own disk, and nothing while tests run."""

import json
import os

import pytest

from mha_helpers import attention, course, exercises
from mha_helpers.learner import progress


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Keep progress as for a learner, in a folder of the test's own; return what the file holds."""
    monkeypatch.delenv("PYTEST_VERSION", raising=False)
    monkeypatch.delenv("MHA_PROGRESS", raising=False)
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    return lambda: json.loads((tmp_path / "data" / progress.FILE).read_text(encoding="utf-8"))


def no_exp(scores):
    return scores / scores.sum(-1, keepdims=True)


def test_nothing_is_kept_while_tests_run_or_where_it_is_off(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    assert os.environ["PYTEST_VERSION"]
    exercises.softmax.check(attention.softmax)
    monkeypatch.delenv("PYTEST_VERSION")
    monkeypatch.setenv("MHA_PROGRESS", "off")
    exercises.softmax.check(attention.softmax)
    assert list(tmp_path.iterdir()) == []
    assert progress.read() == {}


def test_names_and_states_are_kept_and_never_an_answer(kept, tmp_path):
    exercises.softmax.check(lambda scores: ...)
    assert not (tmp_path / "data").exists(), "running all cells of a new notebook is no try"
    exercises.softmax.check(no_exp)
    assert kept() == {"softmax": "tried"}
    exercises.softmax.check(attention.softmax)
    wrong = next(option for option in exercises.predict_order.reactions if option != exercises.predict_order.right)
    exercises.predict_order.commit(wrong)
    assert kept() == {"softmax": "done", "predict_order": "done"}
    assert [file.name for file in (tmp_path / "data").iterdir()] == [progress.FILE]


def test_what_is_done_stays_done(kept):
    exercises.softmax.check(attention.softmax)
    exercises.softmax.check(no_exp)
    assert kept() == {"softmax": "done"}


@pytest.mark.parametrize("broken", ["", "[1]", '{"softmax": 3}', "\x00"])
def test_a_broken_file_counts_as_none_and_is_written_anew(kept, broken):
    progress.path().parent.mkdir(parents=True)
    progress.path().write_text(broken)
    assert progress.read() == {}
    exercises.softmax.check(attention.softmax)
    assert kept() == {"softmax": "done"}


def test_a_disk_that_cannot_be_written_to_is_said_once(kept, tmp_path, capsys):
    (tmp_path / "data").write_text("a file where the folder would be")
    for function in (no_exp, attention.softmax):
        assert exercises.softmax.check(function).status != "not attempted"
    assert capsys.readouterr().out.count("Your progress could not be kept") == 1


def test_the_line_says_how_far_the_learner_is(kept):
    here = course.progress("01_self_attention")
    functions, predictions = course.asked(course.NOTEBOOKS[0])
    assert here.sentence() == (f"0 of {len(functions)} exercises right, 0 of {len(predictions)} predictions committed.")
    progress.note("softmax", "correct")
    for name in predictions:
        progress.note(name, "wrong")
    assert here.sentence() == (f"1 of {len(functions)} exercises right, all {len(predictions)} predictions committed.")
    assert "Finished: none yet." in here.html()
    for name in functions:
        progress.note(name, "correct")
    assert "Finished: Self-attention." in here.html()
    assert here.html().count("✓") == 1


def test_one_exercise_is_counted_as_one(kept, monkeypatch):
    monkeypatch.setitem(exercises.EXERCISES, "pytorch", ("weights_from_torch",))
    progress.note("weights_from_torch", "correct")
    assert course.progress("B_pytorch").sentence() == "1 of 1 exercise right, 0 of 1 prediction committed."


def test_what_is_stored_in_the_notebook_is_the_same_for_everybody(kept, monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, **more: shown.append(data))
    exercises.softmax.check(attention.softmax)
    course.progress("01_self_attention")._ipython_display_()
    [bundle] = shown
    assert set(bundle) == {"application/vnd.jupyter.widget-view+json", "text/plain"}
    assert bundle["text/plain"] == "Run this cell to see how far you are."


def test_one_command_forgets(kept):
    exercises.softmax.check(attention.softmax)
    assert repr(course.forget_progress()).startswith("Your progress is forgotten")
    assert progress.read() == {}
    assert repr(course.forget_progress()) == "There was nothing to forget"


def test_every_folder_of_exercises_belongs_to_a_notebook():
    assert set(exercises.EXERCISES) == {each.folder for each in course.NOTEBOOKS + course.WORKSHOPS if each.folder}
