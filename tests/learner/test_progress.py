"""What is kept of a learner's progress: names and states, on their own disk, and nothing while tests run."""

import json
import os
import signal

import pytest

from mha_helpers import attention, check_setup, course, exercises
from mha_helpers.learner import folder, progress, session


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Keep progress as for a learner, in a folder of the test's own; return what the file holds."""
    monkeypatch.delenv("PYTEST_VERSION", raising=False)
    monkeypatch.delenv("MHA_PROGRESS", raising=False)
    (tmp_path / "01_self_attention.ipynb").touch()
    monkeypatch.setattr(folder, "STARTED_IN", tmp_path)
    monkeypatch.setattr(session, "_told", set())
    return lambda: json.loads((tmp_path / ".course" / progress.FILE).read_text(encoding="utf-8"))


def no_exp(scores):
    return scores / scores.sum(-1, keepdims=True)


def test_nothing_is_kept_while_tests_run_or_where_it_is_off(tmp_path, monkeypatch):
    (tmp_path / "01_self_attention.ipynb").touch()
    monkeypatch.setattr(folder, "STARTED_IN", tmp_path)
    assert os.environ["PYTEST_VERSION"]
    exercises.softmax.check(attention.softmax)
    monkeypatch.delenv("PYTEST_VERSION")
    monkeypatch.setenv("MHA_PROGRESS", "off")
    exercises.softmax.check(attention.softmax)
    assert not (tmp_path / ".course").exists()
    assert progress.read() == {}


def test_looking_whether_a_machine_is_ready_is_no_progress(kept, tmp_path):
    check_setup.exercise()
    assert not (tmp_path / ".course").exists()


def test_names_and_states_are_kept_and_never_an_answer(kept, tmp_path):
    exercises.softmax.check(lambda scores: ...)
    assert not (tmp_path / ".course").exists(), "running all cells of a new notebook is no try"
    exercises.softmax.check(no_exp)
    assert kept() == {"softmax": "tried"}
    exercises.softmax.check(attention.softmax)
    wrong = next(option for option in exercises.predict_order.reactions if option != exercises.predict_order.right)
    exercises.predict_order.commit(wrong)
    assert kept() == {"softmax": "done", "predict_order": "done"}
    assert [file.name for file in (tmp_path / ".course").iterdir()] == [progress.FILE]


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
    (tmp_path / ".course").write_text("a file where the folder would be")
    for function in (no_exp, attention.softmax):
        assert exercises.softmax.check(function).status != "not attempted"
    assert capsys.readouterr().out.count("Nothing can be kept in") == 1


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
    monkeypatch.setattr("live_pictures.live.display", lambda data, **more: shown.append(data))
    exercises.softmax.check(attention.softmax)
    course.progress("01_self_attention")._ipython_display_()
    still, view = shown
    assert set(still) == {"text/html", "text/plain"}
    assert still["text/plain"] == "Run this cell to see how far you are."
    assert still["text/plain"] in still["text/html"]
    assert view["text/plain"] == ""


def test_one_command_forgets_and_says_what_it_deletes(kept):
    exercises.softmax.check(attention.softmax)
    said = repr(course.forget_progress())
    assert said.startswith(f"Your progress is forgotten\nDeleted: {progress.path()}, which")
    assert progress.read() == {}
    assert repr(course.forget_progress()) == "There was nothing to forget"


# ---- where it is kept --------------------------------------------------------------------------


def started_in(folder_, monkeypatch):
    monkeypatch.setattr(folder, "STARTED_IN", folder_)
    return folder.notebooks()


def test_it_is_kept_beside_the_notebooks_wherever_a_cell_goes(kept, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    exercises.softmax.check(attention.softmax)
    assert kept() == {"softmax": "done"}


def test_two_copies_of_the_course_do_not_mix_and_a_moved_one_takes_its_own_along(kept, tmp_path, monkeypatch):
    exercises.softmax.check(attention.softmax)
    other = tmp_path / "other"
    other.mkdir()
    (other / "02_scaling.ipynb").touch()
    assert started_in(other, monkeypatch) == other
    assert progress.read() == {}
    tmp_path.rename(moved := tmp_path.with_name(f"{tmp_path.name}-moved"))
    assert started_in(moved, monkeypatch) == moved
    assert progress.read() == {"softmax": "done"}


def test_a_notebook_of_ones_own_in_a_folder_below_keeps_with_the_course(kept, tmp_path, monkeypatch):
    (tmp_path / "mine/tries").mkdir(parents=True)
    assert started_in(tmp_path / "mine/tries", monkeypatch) == tmp_path


def test_a_script_started_elsewhere_keeps_with_the_notebooks_beside_the_package(tmp_path, monkeypatch):
    beside = folder.PACKAGE.parent / "notebooks"
    assert started_in(tmp_path, monkeypatch) == beside
    assert started_in(None, monkeypatch) == beside, "its folder has been deleted"


def test_without_any_notebooks_as_on_colab_it_is_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(folder, "PACKAGE", tmp_path / "site-packages/mha_helpers")
    assert started_in(tmp_path, monkeypatch) == tmp_path


def test_in_a_browser_it_is_its_storage(monkeypatch):
    monkeypatch.setattr(folder.sys, "platform", "emscripten")
    assert folder.notebooks().as_posix() == "/drive"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a process that can be killed half way")
def test_killed_while_writing_the_file_is_the_old_or_the_new(kept):
    exercises.softmax.check(attention.softmax)
    before, path = kept(), progress.path()
    for place in ("write_bytes", "replace"):
        if not (child := os.fork()):
            # Half of the new file, or all of it under another name, and the process is gone.
            def killed(file, *content):
                if content and isinstance(content[0], bytes):
                    with open(file, "wb") as written:
                        written.write(content[0][:5])
                os.kill(os.getpid(), signal.SIGKILL)

            setattr(type(path), place, killed)
            progress.note("attention_scores", "correct")
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        assert kept() == before
    progress.note("attention_scores", "correct")
    assert kept() == {"attention_scores": "done", "softmax": "done"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a second process")
def test_two_kernels_that_write_at_once_leave_a_whole_file(kept):
    progress.note("softmax", "correct")
    children = []
    for kernel in "ab":
        if not (child := os.fork()):
            for number in range(50):
                progress.note(f"{kernel}{number}", "correct")
            os._exit(0)
        children.append(child)
    while children:
        assert kept()["softmax"] == "done"
        children = [child for child in children if os.waitpid(child, os.WNOHANG) == (0, 0)]
    assert {"a49", "b49"} & kept().keys()
    assert [path.name for path in progress.path().parent.iterdir()] == [progress.FILE]


def test_a_file_that_something_else_was_written_into_is_set_aside(kept, tmp_path):
    exercises.softmax.check(attention.softmax)
    progress.path().write_text('{"softmax": "do')
    progress.note("attention_scores", "correct")
    assert kept() == {"attention_scores": "done"}
    assert progress.path().with_suffix(".broken").read_text() == '{"softmax": "do'


def test_on_a_machine_that_ends_with_the_session_the_map_says_so(kept, monkeypatch):
    assert "take_home" not in course.progress("01_self_attention").html()
    monkeypatch.setenv("BINDER_LAUNCH_HOST", "https://mybinder.org/")
    for _ in range(2):
        assert "end with this session on Binder. <code" in course.progress("01_self_attention").html()


def test_every_folder_of_exercises_belongs_to_a_notebook():
    assert set(exercises.EXERCISES) == {each.folder for each in course.NOTEBOOKS + course.WORKSHOPS if each.folder}
