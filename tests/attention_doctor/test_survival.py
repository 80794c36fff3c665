"""Whatever is given, a report comes back."""

import functools
import unittest.mock

import made_up
import numpy as np
import pytest

from mha_helpers import attention, doctor


def interrupted(queries, keys, values):
    raise KeyboardInterrupt


def leaves(queries, keys, values):
    raise SystemExit(3)


def endlessly_deep(queries, keys, values):
    return endlessly_deep(queries, keys, values)


def one_by_one(queries, keys, values):
    yield queries


async def later(queries, keys, values):
    return queries


class Answers:
    """An answer that is no array, and doesn't like to be asked."""

    shape = "round"

    def __array__(self, *_):
        raise RuntimeError("no")

    def items(self):
        raise RuntimeError("no")


class OfADictionary:
    """Looks its attributes up as no attribute may be: what isn't there is a KeyError."""

    def __getattr__(self, name):
        return {}[name]


def strange(queries, keys, values):
    return Answers()


def only_for_few_samples(queries, keys, values, mask=None):
    """Gives another shape in some calls."""
    if mask is not None and mask.shape[0] > 2:
        return queries[:1]
    return attention.dot_product_attention(queries, keys, values)[0]


def nothing(*given, **named):
    return None


NOTHING_OF_ATTENTION = {
    "a builtin": len, "a class": dict, "numpy.dot": np.dot, "a ufunc": np.exp, "vectorized": np.vectorize(abs),
    "None": None, "a number": 3, "a word": "attention", "an array": np.eye(3), "a mock": unittest.mock.MagicMock(),
    "no arguments": lambda: None, "any arguments": nothing, "a generator": one_by_one, "a coroutine": later,
    "no AttributeError": OfADictionary(),
} | {function.__name__: function for function in (leaves, endlessly_deep, strange)}  # fmt: skip


@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.parametrize("thing", NOTHING_OF_ATTENTION)
def test_what_is_no_attention_is_not_examined_and_says_why(thing):
    report = doctor.examine(NOTHING_OF_ATTENTION[thing], seconds=20)
    assert report.healthy is None, report
    assert report.reason
    assert "our fault" not in report.reason


def test_an_interruption_is_the_users_own():
    with pytest.raises(KeyboardInterrupt):
        doctor.examine(interrupted)


def test_calls_that_fail_now_and_then_do_not_stop_it():
    report = doctor.examine(only_for_few_samples)
    assert report.healthy is False, report
    assert "our fault" not in str(report)


def test_a_function_with_a_part_given_is_still_one():
    report = doctor.examine(functools.partial(attention.multi_head_attention, is_causal=False))
    assert report.healthy, report


def test_its_own_mistake_is_said_to_be_its_own(monkeypatch):
    def stops(session, masks):
        raise RuntimeError("a slip")

    monkeypatch.setattr("attention_doctor.questions.large_scores.ask", stops)
    report = doctor.examine(attention.scaled_dot_product_attention)
    assert report.healthy is None
    assert "our fault: RuntimeError: a slip" in report.reason
    report = doctor.examine(attention.dot_product_attention)  # what was found before stands
    assert report.names == ["scale-missing"]
    assert any("our fault" in note for note in report.notes)


def test_a_search_that_did_not_come_to_its_end_says_so(monkeypatch):
    monkeypatch.setattr("attention_doctor.questions.session.SEARCH_STEPS", 0)
    report = doctor.examine(made_up.three_at_once)
    assert report.healthy is False
    assert "some combinations of two and three mistakes: there are too many to try them all" in report.untested


def test_masks_that_are_not_asked_about_are_said_to_be_untested(monkeypatch):
    monkeypatch.setattr("attention_doctor.questions.session.MAX_CALLS", 0)
    report = doctor.examine(attention.masked_attention)
    assert any(text.startswith("the argument mask, as ") for text in report.untested), report
