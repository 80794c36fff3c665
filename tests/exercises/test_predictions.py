"""Questions that take a committed answer before they show anything."""

import dataclasses
import re

import nbformat.v4
import pytest

from mha_helpers import exercises, worked_examples
from mha_helpers.learner import session
from tools.writing.answers import fill
from tools.writing.notebooks import NotebookError, course_notebooks, read

PREDICTIONS = [name for name in exercises.__all__ if hasattr(getattr(exercises, name), "commit")]


def evidence_of(name):
    return getattr(exercises, name).evidence()


def unanswered(name, evidence=None):
    """A question that nobody has answered yet."""
    session.first_answers.pop(name, None)
    prediction = getattr(exercises, name)
    return dataclasses.replace(prediction, evidence=evidence or prediction.evidence)


def said_by(name):
    evidence = evidence_of(name)
    return evidence if isinstance(evidence, str) else evidence.text


@pytest.mark.parametrize("name", PREDICTIONS)
def test_without_an_answer_the_result_stays_hidden(name):
    prediction = unanswered(name, lambda: pytest.fail("the result was computed before there was an answer"))
    for answer in (None, ..., "z", "", 2, ["b"]):
        reply = prediction.commit(answer)
        assert reply.status == "not answered"
        assert repr(reply).startswith("Not answered yet")
        assert name not in session.first_answers


@pytest.mark.parametrize("name", PREDICTIONS)
def test_every_answer_is_told_why_and_the_first_is_remembered(name):
    right = unanswered(name).right
    for option, reaction in unanswered(name).reactions.items():
        prediction = unanswered(name)
        reply = prediction.commit(f" {option.upper()} ")
        assert reaction in repr(reply)
        if option == right:
            assert reply.status == "right"
            assert repr(reply).startswith("Right: you committed to")
            assert said_by(name) in repr(reply)
        else:
            assert repr(reply).startswith("Not quite")
            assert (said_by(name) in repr(reply)) == prediction.shown_when_wrong
            assert f'Right: "{right}"; you first committed to "{option}"' in repr(prediction.commit(right))


def test_the_results_are_the_ones_that_the_answers_claim():
    constant = evidence_of("predict_constant").splitlines()
    assert constant[1] == constant[3], "adding a constant changes no weight"
    order = evidence_of("predict_order").splitlines()
    assert order[0].partition("[")[2] == order[1].partition("[")[2], "the context of 'bites' is the same"
    weights, context = (
        line.split(":")[1].split(", with 10 W_V ") for line in evidence_of("predict_values").splitlines()
    )
    assert weights[0].strip() == weights[1]
    assert context[0].strip() != context[1]


def test_the_slip_is_the_one_that_the_replay_finds():
    notes, right = evidence_of("find_slip").splitlines()
    assert (notes, right) == ("the notes: 33.4  39.1  28.9", "right:     33.43  39.05  27.52")
    assert sum(map(float, ("33.4", "39.1", "28.9"))) == pytest.approx(101.4)
    assert "27.52 %" in exercises.find_slip.reactions["play on football"]
    assert len(exercises.find_slip.reactions) == 9


def numbers_in(text):
    return [float(number) for number in re.findall(r"-?\d+\.\d+", text)]


def test_the_results_about_scaling_are_the_ones_that_the_answers_claim():
    narrow, wide = (numbers_in(line)[0] for line in said_by("predict_spread").splitlines())
    assert wide / narrow == pytest.approx(8, rel=0.03)
    saturated, scaled = (numbers_in(line) for line in said_by("predict_gradient").splitlines())
    assert saturated[0] < 0.001 < 0.3 < scaled[0]
    after, first, twice = (numbers_in(line) for line in evidence_of("predict_queries_first").splitlines())
    assert after == first != twice


def test_the_results_about_masks_are_the_ones_that_the_answers_claim():
    *_, hidden = numbers_in(evidence_of("predict_zero").splitlines()[1])
    assert hidden == max(numbers_in(evidence_of("predict_zero").splitlines()[1]))
    whole, after, before = (numbers_in(line) for line in evidence_of("predict_after").splitlines())
    assert whole[-1] == before[-1] == 1 > after[-1]
    assert after[0] / after[1] == pytest.approx(before[0] / before[1], rel=1e-3)
    assert evidence_of("predict_empty").endswith("[nan nan nan]")


def test_the_results_about_heads_are_the_ones_that_the_answers_claim():
    with_W_O, without = (numbers_in(line) for line in evidence_of("predict_without").splitlines())
    assert with_W_O == [1, 0, 1, 0]  # option b; without it, option a
    assert without == [0, 0, 1, 1]
    _, alike, alone = (numbers_in(line)[-1:] for line in evidence_of("predict_exchanged").splitlines())
    assert alike == [0]
    assert alone > [1]
    assert numbers_in(evidence_of("predict_mean"))[1] > 1.3  # times as far as with zeros, which move it by 0.77


def test_one_head_of_full_width_nearly_loses_the_first_answer():
    text, picture = evidence_of("predict_one_head")
    cat, sat, *_ = numbers_in(text)
    assert cat < 0.3
    assert sat > 0.6
    assert "“it” attends most to “sat”" in picture.text


def test_the_first_slip_is_the_one_that_the_replay_finds():
    slips = worked_examples.slips("cat_sat")
    assert exercises.find_first_slip.right == slips[0].step
    reactions = exercises.find_first_slip.reactions
    steps = {row.step: set() for row in worked_examples.replay("cat_sat") if row.step in reactions}
    assert steps.keys() == reactions.keys()
    for row in worked_examples.replay("cat_sat"):
        steps.get(row.step, set()).add(row.verdict)
    for step, reaction in reactions.items():
        assert (steps[step] == {"agrees"}) == ("notes are right there" in reaction)
        assert ("wrong here" not in steps[step] and "carried" in steps[step]) == ("only carries" in reaction)
    assert slips[0].printed == ("0.43", "0.29", "0.28")
    assert ".43, .29, .28" in reactions[slips[0].step]
    assert slips[0].given[2] == max(slips[0].given), "the largest score is the third, whose weight the notes print last"


def test_the_results_about_the_trained_model_are_the_ones_that_the_answers_claim():
    undivided, merged, without_W_O = (numbers_in(line)[0] for line in evidence_of("predict_lightly").splitlines())
    assert undivided > 0.8 > 0.5 > max(merged, without_W_O)
    tired, soft = (numbers_in(line) for line in evidence_of("predict_soft").splitlines())
    assert abs(tired[0] - soft[0]) < 0.05 < 0.5 < soft[0]
    without = evidence_of("predict_all_out").splitlines()[1]
    assert without == "without any head:  8 of 8 pass, mean lead in cosine 0.256"


def test_the_results_about_caches_are_the_ones_that_the_answers_claim():
    _, *lines = evidence_of("predict_source").splitlines()
    own, of_source = zip(
        *([int(n) for n in re.findall(r"(\d+) (?:vectors|of the source)", line)] for line in lines), strict=True
    )
    assert list(own) == sorted(set(own))
    assert len(set(of_source)) == 1
    trained, eight, four, three, two = numbers_in(evidence_of("predict_bits"))
    assert max(eight, four, three) - trained < 0.01
    assert two - trained > 0.4
    whole, mean, weighted = (numbers_in(line) for line in evidence_of("predict_merge").splitlines())
    assert whole == weighted
    assert whole != mean


# Folded, where nobody commits: here, since the evidence is at hand.


def notebook_of(source):
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(source)])


def test_an_answer_is_folded_and_says_what_committing_says():
    [cell] = fill(notebook_of("<!-- answer: predict_order -->\nwhat it said before")).cells
    first, *_, last = cell.source.splitlines()
    assert (first, last) == ("<!-- answer: predict_order -->", "</details>")
    prediction = exercises.predict_order
    for said in (prediction.reactions[prediction.right], prediction.evidence()):
        assert said in cell.source
    assert fill(notebook_of(cell.source)).cells[0].source == cell.source


def test_an_answer_to_no_prediction_is_an_error():
    with pytest.raises(NotebookError, match=r"cell 1 .* there is no prediction exercises.predict_nothing"):
        fill(notebook_of("<!-- answer: predict_nothing -->"))


@pytest.mark.parametrize("path", course_notebooks(), ids=lambda path: path.stem)
def test_the_notebooks_hold_the_answers_as_they_are_now(path):
    notebook = read(path)
    for stored, written in zip(notebook.cells, fill(notebook).cells, strict=True):
        assert stored.source == written.source, "run python -m tools refresh"
