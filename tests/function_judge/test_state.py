"""What a function keeps between calls is told, by the name that it has there."""

import numpy as np

from function_judge.state import changed_since, kept_by
from function_judge.task import Case, Task
from function_judge.verdict import judge

ROWS = []
CASES = tuple(Case(f"a row of {n}", {"row": np.arange(n, 0.0, -1)}) for n in (2, 3))
SORTING = Task(reference=np.sort, outputs=("sorted",), cases=CASES, mistakes=(), seconds=5)


def collects(row, seen=[]):  # noqa: B006
    seen.append(row)
    return np.sort(np.concatenate(seen))


def collects_around(row):
    ROWS.append(row)
    return np.sort(np.stack(ROWS)[0])


def test_a_default_and_a_name_around_are_looked_at():
    assert kept_by(lambda row: row) == kept_by(np.sort) == {}
    before = kept_by(collects_around)
    assert before.keys() == {"ROWS"}
    assert changed_since(collects_around, before) == []
    collects_around(np.ones(1))
    assert changed_since(collects_around, before) == ["ROWS"]
    ROWS.clear()


def test_a_case_that_is_asked_twice_shows_what_a_default_keeps():
    verdict = judge(SORTING, collects)
    assert verdict.mistake == "not-repeatable"
    assert verdict.message.startswith(
        "Your function keeps something between calls, in `seen`. Called twice with the same arguments, it gives two "
        "different answers. Whatever it needs must come from its arguments."
    )


def test_what_stops_over_what_was_there_before_is_told_so_every_time():
    for _ in range(2):
        assert judge(SORTING, collects_around).message.startswith(
            "Your function keeps something between calls, in `ROWS`."
        )
    ROWS.clear()
