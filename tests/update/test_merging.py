"""A new version of a notebook keeps what the learner wrote in the old one, whatever they did to its cells."""

import copy

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat import v4

from mha_helpers.update.merging import END, HEADING, merge_notebook, written_cells

STUB = "def softmax(scores):\n    return ...\n\n\nexercises.softmax.check(softmax)"
ANSWER = "def softmax(scores):\n    e = np.exp(scores)\n    return e / e.sum()\n\n\nexercises.softmax.check(softmax)"
BASE = {
    "title": "# Attention",
    "set-up": "import numpy as np",
    "text": "Write it.",
    "softmax": STUB,
    "why": "Why?",
    "guess": "answer = None\ncommit(answer)",
    "end": "The end.",
}
KERNEL = {"name": "python3", "display_name": "Python 3"}
NEW = {key: text if text.startswith(("def", "import")) else f"{text} (new)" for key, text in BASE.items()}


def notebook(cells):
    """Return a notebook of texts by id; what starts like code is code."""
    made = []
    for name, text in cells.items():
        code = text.startswith(("def", "import", "answer", "x", "soft_max", "exercises"))
        made.append(v4.new_code_cell(text) if code else v4.new_markdown_cell(text))
        made[-1].id = name
    return v4.new_notebook(cells=made)


def merge(mine, new=NEW, base=BASE):
    base, mine, new = (cells if "cells" in cells else notebook(cells) for cells in (base, mine, new))
    before = copy.deepcopy((base, mine, new))
    merged = merge_notebook(base, mine, new)
    assert (base, mine, new) == before, "what is given was changed"
    nbformat.validate(merged)
    assert len({cell.id for cell in merged.cells}) == len(merged.cells)
    v4.writes(merged)
    return merged


def texts(merged):
    return {cell.id: cell.source for cell in merged.cells}


def inserted(cells, after, **more):
    """Return cells with more of them behind one."""
    result = {}
    for key, text in cells.items():
        result[key] = text
        result |= more if key == after else {}
    return result


def test_an_untouched_notebook_becomes_the_new_one():
    assert merge(BASE) == notebook(NEW)


def test_an_answer_stays_and_everything_else_is_new():
    assert texts(merge(BASE | {"softmax": ANSWER})) == NEW | {"softmax": ANSWER}


def test_a_changed_cell_keeps_its_outputs_and_the_others_get_the_new_ones():
    mine, new = notebook(BASE | {"softmax": ANSWER}), notebook(NEW)
    for made, said in ((mine, "mine"), (new, "new")):
        for cell in made.cells:
            if cell.cell_type == "code":
                cell.outputs = [v4.new_output("stream", text=said)]
    new.cells[3].metadata.tags = ["exercise"]
    mine.cells[3].metadata.scrolled = True
    merged = merge(mine, new)
    assert [cell.outputs[0].text for cell in merged.cells if cell.cell_type == "code"] == ["new", "mine", "new"]
    assert merged.cells[3].metadata == {"tags": ["exercise"], "scrolled": True}


def test_an_own_cell_stays_below_the_cell_that_it_stood_below():
    mine = inserted(BASE, "why", a="x = 1", b="My note")
    assert list(texts(merge(mine)).items()) == list(inserted(NEW, "why", a="x = 1", b="My note").items())
    new = {key: NEW[key] for key in ("title", "why", "set-up", "text", "softmax", "guess", "end")}
    assert list(texts(merge(mine, new)))[:4] == ["title", "why", "a", "b"]
    gone = {key: text for key, text in NEW.items() if key != "why"}
    assert list(texts(merge(mine, gone)))[3:6] == ["softmax", "a", "b"]
    assert list(texts(merge({"a": "x = 1"} | BASE)))[:2] == ["a", "title"]


def test_a_cell_that_both_changed_shows_the_new_text_folded_below():
    new = NEW | {"softmax": STUB.replace("return", "# (n)\n    return")}
    merged = texts(merge(BASE | {"softmax": ANSWER}, new))
    assert merged["softmax"] == ANSWER
    assert list(merged)[3:5] == ["softmax", "softmax-newer"]
    assert f"```python\n{new['softmax']}\n```\n\n</details>" in merged["softmax-newer"]


def test_the_note_goes_and_comes_with_what_it_is_about():
    second = NEW | {"why": "Why then?"}
    mine = merge(BASE | {"why": "Because.", "softmax": ANSWER})
    assert texts(merge(mine, NEW, NEW)) == texts(mine), "no new version, no change"
    assert "Why then?" in texts(merge(mine, second, NEW))["why-newer"]
    mine.cells[5].source += "\nI see."
    [kept] = [cell.source for cell in merge(mine, second, NEW).cells if "I see." in cell.source]
    assert "Why? (new)" in kept
    answer_again = notebook(texts(mine) | {"why": NEW["why"]})
    answer_again.cells.pop(5)
    assert "why-newer" not in texts(merge(answer_again, second, NEW))


def test_a_function_with_a_new_name_has_both():
    new = NEW | {"softmax": STUB.replace("softmax", "soft_max"), "use": "soft_max([1.0])"}
    merged = texts(merge(BASE | {"softmax": ANSWER}, new))
    assert list(merged)[3:6] == ["softmax", "softmax-renamed", "softmax-newer"]
    assert merged["softmax"] == ANSWER
    names = {}
    exec(merged["softmax"].partition("\n\n\n")[0] + "\n" + merged["softmax-renamed"], names)
    assert names["soft_max"] is names["softmax"]
    function, check = ANSWER.split("\n\n\n")
    split = {key: text for key, text in BASE.items() if key != "softmax"}
    merged = list(merge(inserted(split, "text", one=function, two=check), new).cells)
    sources = [cell.source for cell in merged]
    places = [
        sources.index(text)
        for text in (new["softmax"], function, "soft_max = softmax  # the new version's name for it")
    ]
    assert places == sorted(places)
    renamed_too = BASE | {"softmax": ANSWER.replace("softmax", "soft_max")}
    assert "softmax-renamed" not in texts(merge(renamed_too, new))


def test_a_deleted_cell_stays_deleted_unless_it_says_something_new():
    mine = {key: text for key, text in BASE.items() if key not in ("softmax", "why")}
    assert list(texts(merge(mine))) == ["title", "set-up", "text", "why", "guess", "end"]


def test_a_moved_cell_stays_where_it_was_moved_to_and_gets_the_new_text():
    mine = {key: BASE[key] for key in ("title", "set-up", "why", "text", "softmax", "guess", "end")}
    merged = merge(mine | {"softmax": ANSWER})
    assert list(texts(merged)) == list(mine)
    assert texts(merged) == NEW | {"softmax": ANSWER}


def test_a_moved_cell_is_known_when_its_id_is_not():
    mine = {"title": BASE["title"], "pasted": BASE["why"], **{k: BASE[k] for k in list(BASE)[1:] if k != "why"}}
    merged = texts(merge(mine))
    assert list(merged)[:2] == ["title", "why"]
    assert merged == NEW


@pytest.mark.parametrize("ids", [("softmax", "piece"), ("piece", "softmax"), ("one", "two")])
def test_a_cell_split_in_two_runs_as_the_learner_left_it(ids):
    function, check = ANSWER.split("\n\n\n")
    mine = {}
    for key, text in BASE.items():
        mine |= {ids[0]: function, ids[1]: check} if key == "softmax" else {key: text}
    for new in (NEW, NEW | {"softmax": STUB.replace("return", "# (n)\n    return")}):
        merged = merge(mine, new)
        sources = [cell.source for cell in merged.cells]
        assert sources.index(function) < sources.index(check)
        if new["softmax"] in sources:  # a stub behind the answer would undo it
            assert sources.index(new["softmax"]) < sources.index(function)


def test_a_changed_cell_that_the_new_version_no_longer_has_stands_at_the_end():
    new = {key: text for key, text in NEW.items() if key not in ("softmax", "text")}
    mine = merge(BASE | {"softmax": ANSWER, "guess": "answer = 'b'\ncommit(answer)"}, new)
    assert list(texts(mine).items())[-3:] == [("end", NEW["end"]), (END, HEADING), ("softmax", ANSWER)]
    assert texts(mine)["guess"] == "answer = 'b'\ncommit(answer)"
    again = merge(mine, {key: text for key, text in new.items() if key != "guess"}, new)
    assert list(texts(again))[-3:] == [END, "softmax", "guess"], "one heading for both"


def test_without_ids_cells_are_known_by_text_and_place():
    mine = notebook(inserted(BASE | {"softmax": ANSWER}, "why", own="x = 1"))
    for cell in mine.cells:
        del cell["id"]
    mine.nbformat_minor = 4
    merged = texts(merge(mine))
    assert list(merged) == ["title", "set-up", "text", "softmax", "why", "own-1", "guess", "end"]
    assert merged == NEW | {"softmax": ANSWER, "own-1": "x = 1"}


def test_colab_s_ids_are_in_the_metadata():
    mine = notebook(dict(reversed((BASE | {"softmax": ANSWER}).items())))
    for cell in mine.cells:
        cell.metadata.id = cell.pop("id")
    mine.nbformat_minor = 4
    assert texts(merge(mine)) == NEW | {"softmax": ANSWER}


def test_repeated_ids_become_different():
    mine = notebook(BASE)
    mine.cells.insert(4, v4.new_code_cell("x = 2", id="softmax"))
    merged = merge(mine)
    assert [cell.source for cell in merged.cells][3:5] == [STUB, "x = 2"]


def test_a_picture_pasted_into_a_cell_is_a_change():
    mine = notebook(BASE)
    mine.cells[4].attachments = {"a.png": {"image/png": "AAAA"}}
    assert merge(mine).cells[4].attachments == mine.cells[4].attachments


def test_the_learner_s_kernel_stays_and_what_belongs_to_a_run_goes():
    mine, base, new = notebook(BASE), notebook(BASE), notebook(NEW)
    for made, version in ((mine, "3.11.7"), (base, None), (new, None)):
        made.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
        made.metadata.language_info |= {"version": version} if version else {}
    mine.metadata.widgets, mine.metadata.authors = {}, [{"name": "Ada"}]
    assert merge(mine, new, base).metadata == new.metadata | {"authors": [{"name": "Ada"}]}
    mine.metadata.kernelspec.name = "conda"
    assert merge(mine, new, base).metadata.kernelspec.name == "conda"


@pytest.mark.parametrize("wrong", [{}, [], {"cells": None, "nbformat": 4}, {"worksheets": [], "nbformat": 3}])
def test_what_is_no_notebook_is_told(wrong):
    with pytest.raises(ValueError, match="mine is not a notebook of format 4; open it in JupyterLab"):
        merge_notebook(notebook(BASE), wrong, notebook(NEW))


@st.composite
def versions(draw):
    """Draw a notebook, and two others that somebody made of it: cells deleted, changed, added and moved."""
    base = {f"c{number}": f"text {number}" for number in range(draw(st.integers(0, 6)))}

    def changed(who):
        cells = {}
        for number, (key, text) in enumerate(draw(st.permutations(list(base.items())))):
            what = draw(st.sampled_from(["same", "same", "deleted", "changed", "added"]))
            if what != "deleted":
                cells[key] = f"{text} {who}" if what == "changed" else text
            if what == "added":
                cells[f"{who}{number}"] = f"{who}'s own {number}"
        return cells

    return base, changed("mine"), changed("new")


@given(versions())
def test_nothing_is_lost_whatever_was_done(drawn):
    base, mine, new = drawn
    merged = merge(mine, new, base)
    sources = [cell.source for cell in merged.cells]
    for cell in written_cells(notebook(base), notebook(mine)):
        assert sources.count(cell.source) == 1
    for key, text in new.items():  # and nothing new is missing
        kept = mine.get(key)
        if kept == base.get(key) and kept is not None:
            assert texts(merged)[key] == text
        elif base.get(key) != text:
            assert any(text in found for found in sources)


@given(versions())
def test_the_same_version_again_changes_nothing(drawn):
    base, mine, new = drawn
    merged = merge(mine, new, base)
    assert merge(merged, new, new) == merged
