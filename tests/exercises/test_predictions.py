"""Questions that take a committed answer before they show anything."""

import dataclasses
import re

import pytest

from mha_helpers import exercises, worked_examples

PREDICTIONS = [name for name in exercises.__all__ if hasattr(getattr(exercises, name), "commit")]


@pytest.fixture(params=PREDICTIONS)
def prediction(request):
    """A question that nobody has answered yet."""
    return dataclasses.replace(getattr(exercises, request.param))


@pytest.mark.parametrize("answer", [None, ..., "z", "", 2, ["b"]], ids=str)
def test_without_an_answer_the_result_stays_hidden(prediction, answer):
    prediction.evidence = lambda: pytest.fail("the result was computed before there was an answer")
    reply = prediction.commit(answer)
    assert reply.status == "not answered"
    assert repr(reply).startswith("Not answered yet")
    assert prediction.first_answer is None


def said_by(prediction):
    evidence = prediction.evidence()
    return evidence if isinstance(evidence, str) else evidence.text


def test_the_right_answer_shows_the_result(prediction):
    reply = prediction.commit(f" {prediction.right.upper()} ")
    assert reply.status == "right"
    assert repr(reply).startswith("Right: you committed to")
    assert said_by(prediction) in repr(reply)


def test_every_wrong_answer_is_told_why(prediction):
    for option, reaction in prediction.reactions.items():
        if option != prediction.right:
            reply = dataclasses.replace(prediction).commit(option)
            assert repr(reply).startswith("Not quite")
            assert reaction in repr(reply)
            assert (said_by(prediction) in repr(reply)) == prediction.shown_when_wrong


def test_the_first_answer_is_remembered(prediction):
    wrong = next(option for option in prediction.reactions if option != prediction.right)
    prediction.commit(wrong)
    assert f'Right: "{prediction.right}"; you first committed to "{wrong}"' in repr(prediction.commit(prediction.right))


def test_the_results_are_the_ones_that_the_answers_claim():
    constant = exercises.predict_constant.evidence().splitlines()
    assert constant[1] == constant[3], "adding a constant changes no weight"
    order = exercises.predict_order.evidence().splitlines()
    assert order[0].partition("[")[2] == order[1].partition("[")[2], "the context of 'bites' is the same"
    weights, context = (
        line.split(":")[1].split(", with 10 W_V ") for line in exercises.predict_values.evidence().splitlines()
    )
    assert weights[0].strip() == weights[1]
    assert context[0].strip() != context[1]


def test_the_slip_is_the_one_that_the_replay_finds():
    notes, right = exercises.find_slip.evidence().splitlines()
    assert (notes, right) == ("the notes: 33.4  39.1  28.9", "right:     33.43  39.05  27.52")
    assert sum(map(float, ("33.4", "39.1", "28.9"))) == pytest.approx(101.4)
    assert "27.52 %" in exercises.find_slip.reactions["play on football"]
    assert len(exercises.find_slip.reactions) == 9


def numbers_in(text):
    return [float(number) for number in re.findall(r"-?\d+\.\d+", text)]


def test_the_results_about_scaling_are_the_ones_that_the_answers_claim():
    narrow, wide = (numbers_in(line)[0] for line in exercises.predict_spread.evidence().splitlines())
    assert wide / narrow == pytest.approx(8, rel=0.03)
    saturated, scaled = (numbers_in(line) for line in exercises.predict_gradient.evidence().splitlines())
    assert saturated[0] < 0.001 < 0.3 < scaled[0]
    after, first, twice = (numbers_in(line) for line in exercises.predict_queries_first.evidence().splitlines())
    assert after == first != twice


def test_the_results_about_masks_are_the_ones_that_the_answers_claim():
    *_, hidden = numbers_in(exercises.predict_zero.evidence().splitlines()[1])
    assert hidden == max(numbers_in(exercises.predict_zero.evidence().splitlines()[1]))
    whole, after, before = (numbers_in(line) for line in exercises.predict_after.evidence().splitlines())
    assert whole[-1] == before[-1] == 1 > after[-1]
    assert after[0] / after[1] == pytest.approx(before[0] / before[1], rel=1e-3)
    assert exercises.predict_empty.evidence().endswith("[nan nan nan]")


def test_the_results_about_heads_are_the_ones_that_the_answers_claim():
    with_W_O, without = (numbers_in(line) for line in exercises.predict_without.evidence().splitlines())
    assert with_W_O == [1, 0, 1, 0]  # option b; without it, option a
    assert without == [0, 0, 1, 1]
    _, alike, alone = (numbers_in(line)[-1:] for line in exercises.predict_exchanged.evidence().splitlines())
    assert alike == [0]
    assert alone > [1]
    assert numbers_in(exercises.predict_mean.evidence())[1] > 1.3  # times as far as with zeros, which move it by 0.77


def test_one_head_of_full_width_nearly_loses_the_first_answer():
    text, picture = exercises.predict_one_head.evidence()
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
    undivided, merged, without_W_O = (numbers_in(line)[0] for line in exercises.predict_lightly.evidence().splitlines())
    assert undivided > 0.8 > 0.5 > max(merged, without_W_O)
    tired, soft = (numbers_in(line) for line in exercises.predict_soft.evidence().splitlines())
    assert abs(tired[0] - soft[0]) < 0.05 < 0.5 < soft[0]
    without = exercises.predict_all_out.evidence().splitlines()[1]
    assert without == "without any head:  8 of 8 pass, mean lead in cosine 0.256"
