"""A notebook that a learner solved, changed, ran and saved in JupyterLab goes through an update, and runs.

`saved_in_jupyterlab.ipynb` is what JupyterLab saved of `FIRST` after `learn`. The slow test does all of that anew, and
says so when JupyterLab saves another text.
"""

import json
import shutil
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from mha_helpers import update
from tools.page.browser import lab_server, open_notebook, open_page, run_all, text_of
from tools.writing.notebooks import KERNELSPEC, execute, read, write

SAVED = Path(__file__).with_name("saved_in_jupyterlab.ipynb")
NAME = "01_small.ipynb"

SCORES = """\
def attention_scores(queries, keys):
    return ...


exercises.attention_scores.check(attention_scores)"""
SOFTMAX = """\
def softmax(scores):
    return ...


exercises.softmax.check(softmax)"""
RECEIVED = """\
def attention_received(weights):
    return ...


exercises.attention_received.check(attention_received)"""
ATTENTION = """\
def dot_product_attention(queries, keys, values):
    return ..., ...


exercises.dot_product_attention.check(dot_product_attention)"""
FIRST = {
    "title": "# 1. Small",
    "set-up": "import numpy as np\n\nfrom mha_helpers import attention, exercises",
    "scores": "## Scores\n\nWrite them.",
    "scores-exercise": SCORES,
    "softmax": "## Softmax",
    "softmax-exercise": SOFTMAX,
    "predict": "### Predict\n\n- **a** every weight grows\n- **b** nothing at all",
    "prediction": "answer = None\nexercises.predict_constant.commit(answer)",
    "aside": "An aside.",
    "numbers": "print(attention.softmax(np.array([2.0, 0.0])))",
    "received": RECEIVED,
    "attention": ATTENTION,
    "use": "print(dot_product_attention(np.eye(2), np.eye(2), np.eye(2))[0])",
    "end": "The end.",
}
# Another text, another stub, another name, a new cell.
SECOND = {}
for _key, _text in FIRST.items():
    SECOND[_key] = {
        "title": "# 1. Small, and better",
        "scores": "## Scores\n\nWrite all of them.",
        "softmax-exercise": SOFTMAX.replace("return", "# scores (..., n_keys)\n    return"),
        "numbers": "print(attention.softmax(np.array([3.0, 0.0])))",
        "received": RECEIVED.replace("return", "# weights (..., n_queries, n_keys)\n    return"),
        "attention": ATTENTION.replace("def dot_product", "def plain").replace("(dot_product", "(plain"),
        "use": _text.replace("dot_product", "plain"),
    }.get(_key, _text)
    SECOND |= {"new": "x = 1"} if _key == "numbers" else {}

ANSWERS = {
    "scores-exercise": SCORES.replace("...", "queries @ keys.swapaxes(-1, -2)"),
    "softmax-exercise": SOFTMAX.replace(
        "    return ...",
        "    e = np.exp(scores - scores.max(-1, keepdims=True))\n    return e / e.sum(-1, keepdims=True)",
    ),
    "prediction": 'answer = "b"\nexercises.predict_constant.commit(answer)',
    "attention": ATTENTION.replace(
        "    return ..., ...",
        "    weights = softmax(attention_scores(queries, keys))\n    return weights @ values, weights",
    ),
}
FUNCTION, CHECK = ANSWERS["attention"].split("\n\n\n")
OWN = ["mine = softmax(np.array([1.0, 2.0]))", "My **note** on it."]


def notebook(cells):
    code = ("import", "def", "answer", "print", "x =")
    made = [
        (v4.new_code_cell if text.startswith(code) else v4.new_markdown_cell)(text, id=name)
        for name, text in cells.items()
    ]
    return v4.new_notebook(cells=made, metadata={"kernelspec": KERNELSPEC, "language_info": {"name": "python"}})


def version(folder, cells):
    """Write a course of one notebook, stored as it ran."""
    for place in ("notebooks", "data/originals", "mha_helpers"):
        (folder / place).mkdir(parents=True)
    stored = execute(notebook(cells), folder)
    write(stored, folder / "notebooks" / NAME)
    write(notebook(cells), folder / "data/originals" / NAME)
    for name in ("mha_helpers/__init__.py", "requirements.txt"):
        (folder / name).touch()
    (folder / "pyproject.toml").write_text("[project]\n")
    return folder


def learn(page):
    """Answer, add, delete, move, cut and paste, split, run and save: all by JupyterLab's own commands."""

    def do(command, cell=None, **arguments):
        if cell:
            page.evaluate(
                "id => { mhaPanel.content.activeCellIndex = mhaPanel.content.widgets"
                ".findIndex(cell => cell.model.sharedModel.getId() === id); }",
                cell,
            )
        page.evaluate("([name, more]) => jupyterapp.commands.execute(name, more)", [f"notebook:{command}", arguments])

    def put(text):
        page.evaluate("text => mhaPanel.content.activeCell.model.sharedModel.setSource(text)", text)

    for cell, text in ANSWERS.items():
        do("enter-command-mode", cell)
        put(text)
    do("insert-cell-below", "softmax-exercise")
    put(OWN[0])
    do("insert-cell-below")
    do("change-cell-to-markdown")
    put(OWN[1])
    do("delete-cell", "aside")
    do("move-cell-up", "received")
    do("move-cell-up")
    do("cut-cell", "numbers")
    do("paste-cell-below", "end")
    do("enter-edit-mode", "attention")
    line = ANSWERS["attention"].count("\n")
    page.evaluate("line => mhaPanel.content.activeCell.editor.setCursorPosition({line, column: 0})", line)
    do("split-cell-at-cursor")
    assert run_all(page) == []
    page.evaluate("mhaPanel.context.save()")  # what its command for saving calls


def updated(saved, first, folder):
    """Return the merged notebook: the first version, as it was saved, becomes the second by a zip."""
    second = version(folder / "second", SECOND)
    with zipfile.ZipFile(folder / "second.zip", "w") as archive:
        for path in second.rglob("*"):
            archive.write(path, Path("course-main", path.relative_to(second)))
    shutil.copy(saved, first / "notebooks" / NAME)
    update.update(str(folder / "second.zip"), first)
    return read(first / "notebooks" / NAME)


def is_whole(merged):
    assert len({cell.id for cell in merged.cells}) == len(merged.cells)
    nbformat.validate(merged)
    sources = [cell.source for cell in merged.cells]
    answers = {key: text for key, text in ANSWERS.items() if key != "attention"}
    for text in (*answers.values(), *OWN):
        assert sources.count(text) == 1, text
    pieces = [number for number, text in enumerate(sources) if text in (FUNCTION, CHECK)]
    assert [sources[number] for number in range(pieces[0], pieces[1])] == [FUNCTION, sources[pieces[0] + 1]]
    assert sources[pieces[0] + 1].startswith("plain_attention = dot_product_attention")
    by_id = {cell.id: cell.source for cell in merged.cells}
    left_alone = SECOND.keys() - ANSWERS.keys() - {"aside"}
    assert {key: by_id[key] for key in left_alone} == {key: SECOND[key] for key in left_alone}
    assert "An aside." not in sources, "deleted, and the same in the new version"
    own = sources.index(OWN[0])
    assert sources[own - 2 : own + 2] == [ANSWERS["softmax-exercise"], by_id["softmax-exercise-newer"], *OWN]


def runs(merged, folder):
    ran = execute(merged, folder)
    said = "".join(str(output) for cell in ran.cells for output in cell.get("outputs", []))
    assert said.count("Correct\\n") == 3, "scores, softmax and attention"
    assert "Right: you committed" in said
    assert "[0.73105858 0.26894142]" in said, "the learner's attention, by its new name"


@pytest.fixture
def first(tmp_path):
    return version(tmp_path / "first", FIRST)


def test_a_notebook_saved_by_jupyterlab_goes_through_an_update_and_runs(first, tmp_path):
    merged = updated(SAVED, first, tmp_path)
    is_whole(merged)
    runs(merged, tmp_path)


@pytest.mark.browser
@pytest.mark.slow
def test_the_same_live(first, tmp_path, browser):
    with lab_server(first / "notebooks") as server:
        with open_page(browser, server) as seen:
            open_notebook(seen.page, NAME)
            learn(seen.page)
        saved = shutil.copy(first / "notebooks" / NAME, tmp_path / "saved.ipynb")
        live, stored = (
            [
                (cell["cell_type"], cell["source"])
                for cell in json.loads(Path(path).read_text(encoding="utf-8"))["cells"]
            ]
            for path in (saved, SAVED)
        )
        assert live == stored, f"JupyterLab saves another text now: cp {saved} {SAVED}"
        merged = updated(saved, first, tmp_path)
        is_whole(merged)
        runs(merged, tmp_path)
        with open_page(browser, server) as seen:
            open_notebook(seen.page, NAME)
            assert "You changed the cell above" in text_of(seen.page.locator("details summary").first)
            assert run_all(seen.page) == []
            seen.page.screenshot(path=tmp_path / "updated.png", full_page=True)
