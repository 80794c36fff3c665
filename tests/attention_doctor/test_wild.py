"""Public implementations of attention: each gets the verdict that a careful reader gives it, at the first try."""

import os
import tarfile

import pytest

os.environ.setdefault("KERAS_BACKEND", "jax")

from wild.fetch import fetch
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


def test_a_repository_is_fetched_at_its_commit(tmp_path):
    written = tmp_path / "name-abc" / "package" / "model.py"
    written.parent.mkdir(parents=True)
    written.write_text("here = True\n", encoding="utf-8")
    served = tmp_path / "owner" / "name" / "tar.gz" / "abc"
    served.parent.mkdir(parents=True)
    with tarfile.open(served, "w:gz") as archive:
        archive.add(tmp_path / "name-abc", "name-abc")
    for _ in range(2):  # the second time it is there
        place = fetch("owner/name", "abc", tmp_path / "wild", host=tmp_path.as_uri())
    assert place == tmp_path / "wild" / "owner__name" / "abc"
    assert (place / "package" / "model.py").read_text(encoding="utf-8") == "here = True\n"
    assert list(place.parent.iterdir()) == [place]
