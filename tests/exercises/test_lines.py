"""Checks and labs point at the line at which an answer leaves the equation, and never at one of a right answer."""

import inspect
import re
from functools import partial

import numpy as np
import pytest
from answers import ANSWERS, EXERCISES
from spelled import EACH_RIGHT, EACH_WRONG
from typed_out import EACH_WRONG as EACH_TYPED_OUT

from function_judge.lines import faulty_lines
from function_judge.source import as_written
from mha_helpers.attention import multi_head_attention as ours
from mha_helpers.attention import scaled_dot_product_attention, softmax, split_heads
from mha_helpers.labs.learner_function import run_for_lab

TOLD = ("It goes wrong in line ", "The mistake is in line ")


def multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    *batch, seq_len, _ = X.shape
    q, v = (split_heads(X @ W, n_heads) for W in (W_Q, W_V))
    k = (X @ W_K).reshape(*batch, n_heads, seq_len, -1)  # here
    context, weights = scaled_dot_product_attention(q, k, v, mask)
    return context.swapaxes(-2, -3).reshape(*batch, seq_len, -1) @ W_O, weights


def masked_attention(queries, keys, values, mask):
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    scores = np.where(mask, -1e30, scores)  # here
    weights = softmax(scores)
    return weights @ values, weights


def dot_product_attention(queries, keys, values):
    scores = queries @ keys.swapaxes(-1, -2)
    scores = scores / np.sqrt(queries.shape[-1])  # here: it isn't asked for yet
    weights = softmax(scores)
    return weights @ values, weights


def grouped_attention(queries, keys, values, mask=None):
    group = queries.shape[-3] // keys.shape[-3]
    keys = np.concatenate([keys] * group, axis=-3)  # here
    values = np.repeat(values, group, axis=-3)
    return scaled_dot_product_attention(queries, keys, values, mask=mask)


@pytest.mark.parametrize("function", [multi_head_attention, masked_attention, dot_product_attention, grouped_attention])
def test_a_check_points_at_the_line(function):
    message = EXERCISES[function.__name__].diagnosis(function).message
    [said] = [line for line in message.splitlines() if line.startswith(TOLD)]
    assert "# here" in said


def named(pair):
    return as_written(pair[1]).__name__


@pytest.mark.parametrize("pair", EACH_RIGHT, ids=named)
def test_a_right_answer_in_an_unusual_spelling_is_right(pair):
    name, function = pair
    assert EXERCISES[name].diagnosis(function).status == "correct"


@pytest.mark.parametrize("pair", [*EACH_WRONG, *EACH_TYPED_OUT], ids=named)
def test_no_line_is_pointed_at_but_the_faulty_one_or_a_few_with_it(pair):
    name, function = pair
    result = EXERCISES[name].diagnosis(function)
    assert result.status == "wrong"
    pointed = [int(number) for number in re.findall(r"in line (\d+), `", result.message)]
    source, first = inspect.getsourcelines(as_written(function))
    faulty = {first + i for i, line in enumerate(source) if line.rstrip().endswith("# here")}
    if "or between" in result.message:
        pointed = range(pointed[0], pointed[-1] + 1)
    assert not pointed or faulty & {*pointed}, result.message


@pytest.mark.parametrize(
    ("answers", "share"), [(EACH_WRONG, 5 / 6), (EACH_TYPED_OUT, 9 / 10)], ids=["unusual", "usual"]
)
def test_most_answers_have_a_line(answers, share):
    have = [bool(re.search(r"line \d+, `", EXERCISES[name].diagnosis(function).message)) for name, function in answers]
    assert sum(have) >= share * len(have)


def test_of_a_single_statement_nothing_is_said():
    result = EXERCISES["masked_attention"].diagnosis(lambda q, k, v, mask: scaled_dot_product_attention(q, k, v))
    assert result.mistake == "mask-ignored"
    assert not any(told in result.message for told in TOLD)


def test_a_lab_points_at_the_line():
    rng = np.random.default_rng(0)
    given = {"X": rng.normal(size=(5, 6)), **{f"W_{one}": rng.normal(size=(6, 6)) for one in "QKVO"}, "n_heads": 2}
    shown = run_for_lab(multi_head_attention, ours, given, ("output", "weights"))
    assert TOLD[0] in shown.notice
    assert "`k = (X @ W_K).reshape(*batch, n_heads, seq_len, -1)  # here`" in shown.notice
    assert TOLD[0] not in run_for_lab(ours, multi_head_attention, given, ("output", "weights")).notice


@pytest.mark.parametrize("name", sorted(EXERCISES))
def test_no_right_answer_is_accused(name):
    """A check never asks of a right answer; asked all the same, it says nothing."""
    exercise = EXERCISES[name]
    for function in [*ANSWERS[name].RIGHT, exercise.reference, *filter(None, [exercise.model_answer])]:
        for case in [case for case in exercise.cases if not (case.edge or case.error_is_fine)][:6]:
            given = case.copy()
            options = {key: given.pop(key) for key in case.options}
            known, is_right = exercise.on_the_way(case), partial(exercise.is_right, case=case)
            asked = {"options": options, "is_right": is_right, "subject": exercise.subject}
            found = faulty_lines(function, list(given.values()), known, **asked)
            assert not found.lines, (function, case.trait)
