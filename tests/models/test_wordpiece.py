"""WordPiece in Python reads every text as the package `tokenizers` does, or refuses it."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from mha_helpers.course_data import data_path
from mha_helpers.model.data import TOKENIZER, checked_content, load_tokenizer
from mha_helpers.model.wordpiece import WordPiece
from tools.writing.notebooks import course_notebooks, read

CONTENT = checked_content(TOKENIZER).decode("utf-8")
OURS, THEIRS = WordPiece(CONTENT), Tokenizer.from_str(CONTENT)
REFUSED = "cannot be read here as the model was taught"


def assert_alike(text):
    ours, theirs = OURS.encode(text), THEIRS.encode(text)
    assert (ours.tokens, ours.ids) == (theirs.tokens, theirs.ids), ascii(text)


def without_what_is_refused(characters):
    kept = []
    for character in characters:
        try:
            OURS.encode(character)
        except ValueError:  # its sentence is tested below
            continue
        kept.append(character)
    return kept


def test_the_courses_own_texts():
    texts = [cell.source for path in course_notebooks() for cell in read(path).cells]
    texts += data_path("writer/shakespeare.txt").read_text(encoding="utf-8").splitlines()[::20]
    assert len(texts) > 1000
    for text in texts:
        assert_alike(text)


@settings(deadline=None, derandomize=True, max_examples=500)
@given(st.lists(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from([*"abcXYZ .,+-", "[MASK]"]))))
def test_texts_of_all_writings(characters):
    assert_alike("".join(without_what_is_refused(characters)))


@pytest.mark.parametrize(
    "text",
    ["", " ", "un" * 50, "un" * 51, "ΟΔΟΣ ΟΔΟΣ", "naïve ÉCOLE", "I\u0307stanbul", "東京tower", "a\u200bb\x07c", "👍🏽"],
)
def test_what_is_easily_got_wrong(text):
    assert_alike(text)


@pytest.mark.parametrize("character", ["\u2e55", "\u166d"])
def test_a_character_that_would_be_read_otherwise_is_refused(character):
    with pytest.raises(ValueError, match=REFUSED):
        OURS.encode(f"a{character}b")


@pytest.mark.slow
def test_every_single_character():
    plain = [chr(number) for number in range(sys.maxunicode + 1) if not 0xD800 <= number < 0xE000]
    kept = without_what_is_refused(plain)
    assert len(plain) - len(kept) < 3000
    for start in range(0, len(kept), 50):
        assert_alike(" ".join(f"a{character}b" for character in kept[start : start + 50]))


def test_without_the_package_the_model_reads_with_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    assert isinstance(load_tokenizer(), WordPiece)
