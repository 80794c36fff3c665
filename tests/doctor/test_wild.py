"""Public implementations of attention: each gets the verdict that a careful reader gives it, at the first try."""

import os

import pytest

os.environ.setdefault("KERAS_BACKEND", "jax")

from wild.implementations import implementations

pytestmark = pytest.mark.slow
EVERY = implementations()


@pytest.mark.parametrize("one", EVERY, ids=lambda one: one.name)
def test_the_verdict_is_a_careful_readers(one, request):
    if one.missing:
        pytest.skip(one.missing)
    if one.remains:
        request.applymarker(pytest.mark.xfail(reason=one.remains, strict=True))
    report = one.examined()
    assert one.is_right(report), report
    assert not one.names or one.is_named(report), report


def test_there_are_many_from_many_places():
    assert len(EVERY) >= 90
    assert len({one.repository for one in EVERY}) >= 50
    assert sum(one.verdict == "sick" for one in EVERY) >= 12
    assert all(one.reason.endswith(".") for one in EVERY)
