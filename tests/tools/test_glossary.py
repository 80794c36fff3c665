"""CONTRIBUTING lists the words of our own: few enough to learn, and each in one line."""

from pathlib import Path

PAGE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
MAX_WORDS = 30


def test_the_words_of_our_own_are_few_and_each_is_explained_once():
    table = PAGE.partition("<!-- words -->")[2].partition("<!-- end words -->")[0].strip().splitlines()
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table[2:]]
    words = [row[0] for row in rows]
    assert all(len(row) == 2 and all(row) for row in rows)
    assert 0 < len(words) == len(set(words)) <= MAX_WORDS
