"""Seeing what runs in a call, and nothing that Python runs in between."""

import gc
import sys

import pytest

from function_judge.tracing import traced


def called(row):
    return sorted(row)


def names_seen(body):
    seen = []

    def look(frame, event, argument):
        seen.append((frame.f_code.co_name, event))

    with traced(look):
        body()
    return seen


def test_the_calls_in_the_body_are_seen():
    assert ("called", "call") in names_seen(lambda: called([2, 1]))


def test_after_the_body_everything_is_as_it_was():
    before = sys.gettrace()
    with pytest.raises(KeyError), traced(lambda *seen: None):
        raise KeyError
    assert sys.gettrace() is before
    assert gc.isenabled()


def test_no_garbage_is_collected_meanwhile():
    with traced(lambda *seen: None):
        assert not gc.isenabled()
    gc.disable()
    try:
        with traced(lambda *seen: None):
            pass
        assert not gc.isenabled(), "it was off before"
    finally:
        gc.enable()


def test_what_is_deleted_in_the_body_is_seen_as_its_own():
    class Kept:
        def __del__(self):
            called([1])

    def makes_a_cycle():
        kept = Kept()
        kept.itself = kept

    assert ("__del__", "call") not in names_seen(makes_a_cycle)
    gc.collect()
