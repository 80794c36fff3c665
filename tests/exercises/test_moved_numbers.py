"""Every mistake that the course talks about moves a number of the running example far enough to be seen, or none."""

import numpy as np
import pytest
from answers import EXERCISES

from mha_helpers import attention, exercises
from mha_helpers.exercises.moved_numbers import VISIBLE, looked_at, moved_number
from mha_helpers.exercises.output_projection.exit_test import FAULTS, RIGHT

IN_THE_EXAMPLE = {name: exercise for name, exercise in EXERCISES.items() if name in looked_at()}
REPAIRS = {name: exercise for name, exercise in IN_THE_EXAMPLE.items() if exercise.broken_version}


@pytest.mark.parametrize("name", IN_THE_EXAMPLE)
def test_every_mistake_moves_a_number_far_enough_or_none(name):
    exercise = IN_THE_EXAMPLE[name]
    moved = {one.slug: moved_number(exercise, exercise.with_mistake(one.slug)) for one in exercise.mistakes}
    assert {slug: str(one) for slug, one in moved.items() if one is not None and one.shift < VISIBLE} == {}


@pytest.mark.parametrize("name", IN_THE_EXAMPLE)
def test_what_is_right_moves_nothing(name):
    assert moved_number(IN_THE_EXAMPLE[name], IN_THE_EXAMPLE[name].reference) is None


def test_the_running_example_has_nothing_to_do_with_other_exercises():
    assert moved_number(exercises.judge_step, lambda *given: 0) is None


@pytest.mark.parametrize(
    ("name", "slug", "right", "wrong"),
    [
        ("dot_product_attention", "softmax-over-queries", 0.83, 0.31),
        ("scaled_dot_product_attention", "scale-missing", 0.70, 0.83),
        ("scaled_dot_product_attention", "scale-d-model", 0.70, 0.57),
    ],
)
def test_the_numbers_are_those_of_the_notebooks(name, slug, right, wrong):
    moved = moved_number(getattr(exercises, name), getattr(exercises, name).with_mistake(slug))
    assert str(moved) == f"the weight of “it” on “cat” is {wrong:.2f} and should be {right:.2f}"


def test_under_a_causal_mask_the_first_word_shows_it_as_nothing_is_hidden_from_the_last():
    moved = moved_number(exercises.masked_attention, exercises.masked_attention.with_mistake("mask-after-softmax"))
    assert str(moved) == "the weight of “cat” on “cat”, under a causal mask, is 0.28 and should be 1.00"


@pytest.mark.parametrize("name", REPAIRS)
def test_a_function_to_repair_is_told_by_its_number_but_where_our_sentence_cannot_show_it(name):
    message = REPAIRS[name].check(REPAIRS[name].broken_version).message
    assert ("In the course's sentence, " in message) == (name != "mend_masked_attention")


@pytest.mark.parametrize(("line", "instead", "slug"), FAULTS)
def test_a_bug_of_the_exit_test_can_be_seen(line, instead, slug):
    namespace = {"np": np, "softmax_or_zeros": attention.softmax_or_zeros}
    exec(RIGHT.replace(line, instead), namespace)
    assert moved_number(exercises.multi_head_attention, namespace["layer"]).shift >= VISIBLE
