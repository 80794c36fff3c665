"""An exercise, or a notebook, goes back to its original, and what the learner wrote is kept."""

import shutil

import pytest
from IPython.core.interactiveshell import InteractiveShell
from nbformat import v4

from mha_helpers import course, exercises
from mha_helpers.learner import originals, progress, starting_over
from tools.page.browser import lab_server, open_notebook, open_page, run_all
from tools.writing.notebooks import KERNELSPEC, NOTEBOOKS, read, write

ANSWER = originals.stub("softmax").replace("return ...", "return scores / scores.sum()")
CALL = "exercises.softmax.start_over()"


@pytest.fixture
def shell(monkeypatch):
    """The shell of a kernel, in whose cell the test runs."""
    shell = InteractiveShell()
    shell.run_cell("from mha_helpers import exercises; import numpy as np", store_history=True)
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    return shell


def payload(shell):
    [found] = shell.payload_manager.read_payload()
    shell.payload_manager.clear_payload()
    return found


@pytest.mark.parametrize("name", ["softmax", "mend_attention", "recall_dot_product_attention"])
def test_the_cell_holds_the_original_and_its_text_is_kept(shell, name, tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "path", lambda: tmp_path / "kept" / "progress.json")
    held = f"{ANSWER}\nexercises.{name}.start_over()"
    note = shell.run_cell(held, store_history=True).result
    found = payload(shell)
    assert (found["source"], found["text"], found["replace"]) == ("set_next_input", originals.stub(name), True)
    assert note.source == held
    assert originals.stub(name).splitlines()[0] in note._repr_html_(), "to copy where the editor can't do it"
    shell.run_cell(held, store_history=True)
    kept = starting_over.path()
    assert kept.parent == tmp_path / "kept"
    assert kept.read_text(encoding="utf-8").count(ANSWER) == 2
    assert str(kept) in repr(note)
    course.forget_progress()
    assert not kept.exists()


def test_alone_in_a_cell_it_leaves_the_answer_where_it_is(shell):
    note = shell.run_cell(CALL, store_history=True).result
    assert payload(shell)["text"] == originals.stub("softmax")
    assert "If your answer is in another cell, it is there as before." in repr(note)


def test_what_cannot_be_kept_is_shown_all_the_same(shell, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(progress, "path", lambda: tmp_path / "file" / "progress.json")
    note = shell.run_cell(f"{ANSWER}\n{CALL}", store_history=True).result
    assert "could not be kept in" in repr(note)
    assert ANSWER in note.source


def test_the_hints_start_over_too(shell):
    first = repr(exercises.softmax.hint())
    exercises.softmax.hint()
    shell.run_cell(CALL, store_history=True)
    assert repr(exercises.softmax.hint()) == first


def test_outside_a_notebook_it_is_told():
    with pytest.raises(ValueError, match="only a notebook's cell can start over"):
        exercises.softmax.start_over()


def test_a_notebook_starts_over_and_the_old_file_is_kept(tmp_path):
    path = tmp_path / "02_scaling.ipynb"
    for number, aside in enumerate(("02_scaling.mine.ipynb", "02_scaling.mine-2.ipynb")):
        path.write_text(f"mine {number}")
        assert aside in repr(course.start_over("02_scaling", tmp_path))
        assert (tmp_path / aside).read_text() == f"mine {number}"
        assert path.read_bytes() == originals.original("02_scaling")
    assert len(list(tmp_path.iterdir())) == 3


def test_a_notebook_that_cannot_start_over_is_as_it_was(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="the course has no notebook '02'"):
        course.start_over("02", tmp_path)
    with pytest.raises(ValueError, match=r"there is no 02_scaling\.ipynb in"):
        course.start_over("02_scaling", tmp_path)

    def full(*_):
        raise OSError(28, "No space left on device")

    (tmp_path / "02_scaling.ipynb").write_text("mine")
    monkeypatch.setattr(shutil, "copy2", full)
    with pytest.raises(ValueError, match=r"can't start over here \(No space left on device\); its file is as it was"):
        course.start_over("02_scaling", tmp_path)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("02_scaling.ipynb", "mine")]


@pytest.mark.browser
@pytest.mark.slow
def test_in_jupyterlab_the_cell_changes_and_a_notebook_is_reloaded(browser, tmp_path):
    setup = "import numpy as np\n\nfrom mha_helpers import course, exercises"
    cells = [v4.new_code_cell(setup), v4.new_code_cell(f"{ANSWER}\n{CALL}")]
    write(v4.new_notebook(cells=cells, metadata={"kernelspec": KERNELSPEC}), tmp_path / "small.ipynb")
    shutil.copy(NOTEBOOKS / "02_scaling.ipynb", tmp_path)
    with lab_server(tmp_path) as server, open_page(browser, server) as seen:
        open_notebook(seen.page, "small.ipynb")
        assert run_all(seen.page) == []
        seen.page.wait_for_function(
            "text => mhaPanel.content.widgets[1].model.sharedModel.getSource() === text", arg=originals.stub("softmax")
        )
        assert ANSWER.splitlines()[2].strip() in seen.page.locator(".mha-info").inner_text()
        seen.page.screenshot(path=tmp_path / "started over.png")

        open_notebook(seen.page, "02_scaling.ipynb")
        seen.page.evaluate("mhaPanel.content.model.sharedModel.getCell(2).setSource('mine')")
        seen.page.evaluate("mhaPanel.context.save()")
        course.start_over("02_scaling", tmp_path)
        seen.page.evaluate("mhaPanel.context.revert()")  # File > Reload Notebook from Disk
        first = read(NOTEBOOKS / "02_scaling.ipynb").cells[2].source
        seen.page.wait_for_function("text => mhaPanel.content.model.sharedModel.getCell(2).source === text", arg=first)
    assert "mine" in [cell.source for cell in read(tmp_path / "02_scaling.mine.ipynb").cells]
