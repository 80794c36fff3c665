"""Functions as people published them: each is judged as it was expected before any check had run on it.

They stand in `published.txt`, a cell each, retold in NumPy, with what is expected of them: the verdict, what is wrong
in plain words, and the lines at which it may be said to be wrong. What each is `named` is what the check says.
"""

import linecache
import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from answers import EXERCISES

from function_judge.statements import statement_at
from mha_helpers import attention

POINTED = re.compile(r"^(?:It goes wrong|The mistake is) in .*", re.MULTILINE)
SLOW = ("blockwise_attention", "multi_head_attention")  # these take a third of the time


class Cell(NamedTuple):
    """What somebody wrote into a cell, and what is expected of it."""

    name: str
    exercise: str
    verdict: str
    told: dict
    source: str

    def function(self):
        path = f"<published-{self.name}>"
        linecache.cache[path] = (len(self.source), None, self.source.splitlines(keepends=True), path)
        namespace = {"np": np, "__name__": "__main__"} | _earlier_functions()
        exec(compile(self.source, path, "exec"), namespace)
        return namespace[EXERCISES[self.exercise].reference.__name__]

    @property
    def named(self):
        return None if self.told["named"] == "nothing" else self.told["named"]

    def may_be_pointed_at(self, number):
        """Whether a line is one of the expected ones, or the first of a statement that holds one."""
        path = f"<published-{self.name}>"
        expected = [int(line) for line in self.told["lines"].split(", ")]
        statement = statement_at(path, number)
        return any(line == number or statement_at(path, line) is statement for line in expected)


def _earlier_functions():
    public = {name: getattr(attention, name) for name in dir(attention) if not name.startswith("_")}
    return public | {exercise.reference.__name__: exercise.reference for exercise in EXERCISES.values()}


def _cells():
    text = Path(__file__).with_name("published.txt").read_text(encoding="utf-8")
    for part in re.split(r"^#### ", text, flags=re.MULTILINE)[1:]:
        head, *lines = part.splitlines()
        last = "# named: " if head.endswith("wrong") else "# source: "
        n_told = next(i for i, line in enumerate(lines, 1) if line.startswith(last))
        told = dict(line[2:].split(": ", 1) for line in lines[:n_told] if re.match(r"# (source|lines|named): ", line))
        yield Cell(*head.split(), told, "\n".join(lines[n_told:]).rstrip() + "\n")


CELLS = defaultdict(list)
for _cell in _cells():
    CELLS[_cell.exercise].append(_cell)
EACH_EXERCISE = [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in sorted(CELLS)]


@pytest.mark.parametrize("name", EACH_EXERCISE)
def test_each_is_judged_as_it_was_expected(name):
    for cell in CELLS[name]:
        result = EXERCISES[name].diagnosis(cell.function())
        assert result.status == {"right": "correct"}.get(cell.verdict, cell.verdict), cell
        if result.status == "wrong":
            assert ", ".join(filter(None, (result.mistake, result.also))) == (cell.named or ""), (cell, result)
            _assert_no_wrong_line(cell, result.message)


def _assert_no_wrong_line(cell, message):
    pointed = [int(number) for text in POINTED.findall(message) for number in re.findall(r"\bin line (\d+), `", text)]
    if "or between" in message:
        pointed = range(pointed[0], pointed[-1] + 1)
    assert not pointed or any(map(cell.may_be_pointed_at, pointed)), (cell, message)


def test_all_of_them_are_there():
    verdicts = [cell.verdict for cells in CELLS.values() for cell in cells]
    assert (verdicts.count("right"), verdicts.count("wrong")) == (78, 174)
    assert sum(cell.named is not None for cells in CELLS.values() for cell in cells if cell.verdict == "wrong") == 156
