"""The glossary: each word that a notebook lists as met for the first time, where that is, and what it means.

Words and places are the notebooks'. The sentence on each is typed into the page, and stays as it is.
"""

import re

from tools.writing.notebooks import NOTEBOOKS, NotebookError, course_notebooks, read

PAGE = NOTEBOOKS.parent / "reference" / "words.md"
LIST = re.compile(r"\*\*Words met for the first time:\*\* (.*?)\.\n", re.DOTALL)
ROW = re.compile(r"^\| (.+?) \| .+? \| (.+?) \|$", re.MULTILINE)
HEADER = "| word | first met in | what it means |\n|---|---|---|\n"


def first_met():
    """Return each word and the path of the notebook that lists it, in reading order."""
    found = {}
    for path in course_notebooks():
        text = "\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")
        for words in LIST.findall(text):
            found |= dict.fromkeys(" ".join(words.split()).split(", "), path)
    return found


def written(text):
    """Return the page with a row for each word, in alphabetical order.

    Raises
    ------
    NotebookError
        If a word has no sentence yet, or a sentence's word stands in no notebook's list.
    """
    head, rows = text.split(HEADER, 1)
    sentences, places = dict(ROW.findall(rows)), first_met()
    for word in places.keys() ^ sentences.keys():
        do = "write a row for it" if word in places else "take its row out, or list it in a notebook"
        raise NotebookError(f"reference/words.md and the notebooks' lists differ in {word!r}; {do}")
    lines = (
        f"| {word} | [{places[word].stem.partition('_')[0]}](../notebooks/{places[word].name}) | {sentences[word]} |\n"
        for word in sorted(places, key=_letters)
    )
    return head + HEADER + "".join(lines)


def _letters(word):
    """Return what a word is sorted by: `$d_k$` stands among the words with d."""
    return re.sub(r"[^a-z]", "", word.lower()), word
