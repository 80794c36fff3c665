"""The page on the ways to lose work names tests that exist, and every number in it leads to some."""

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = (TESTS / "LOST_WORK.md").read_text(encoding="utf-8")


def test_every_test_that_it_names_exists():
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    written = "".join(path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py"))
    assert named
    assert named - set(re.findall(r"^def (test_\w+)", written, re.MULTILINE)) == set()


def test_every_number_leads_to_tests_and_every_place_is_spoken_of():
    rows = [line.strip("|").split("|") for line in PAGE.splitlines() if line.startswith("|")]
    assert {len(row) for row in rows} == {7}
    assert all(cell.strip() for row in rows[1:] for cell in row)
    led = {int(number) for number in re.findall(r"\[(\d+)\]", PAGE)}
    assert led == {int(number) for number in re.findall(r"^(\d+)\. `test_", PAGE, re.MULTILINE)}
