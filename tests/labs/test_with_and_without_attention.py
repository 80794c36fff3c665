"""The switch thrown in the middle of a verse: the model itself writes what comes, letter by letter."""

from importlib import import_module

import numpy as np
import pytest

from live_pictures import page
from mha_helpers import decoder, labs
from mha_helpers.exercises.self_attention.predictions import attend_to_itself

lab_module = import_module("mha_helpers.labs.self_attention.with_and_without_attention")
LENGTH = lab_module.LENGTH


def next_letter(text, place, attends):
    """Let the model draw a letter, reading the whole text anew: no cache, no stream."""
    model = decoder.load()

    def alone(*arguments):
        return attend_to_itself(*arguments[:-1])[0], np.zeros((arguments[5], len(text), len(text)))

    logits, _ = model.predict(text, **({} if attends else {"attend": alone}))
    chances = np.exp((logits[-1] - logits[-1].max()) / 0.7)
    drawn = np.random.default_rng(0).random(LENGTH)[place] * chances.sum()
    return model.alphabet[int(np.searchsorted(chances.cumsum(), drawn, side="right"))]


@pytest.mark.parametrize(("began", "throws"), [(True, (33,)), (False, (50,)), (True, (33, 50))])
def test_what_has_been_written_stays_and_the_model_writes_what_comes(began, throws):
    before, *_, last = lab_module.written("ROMEO", began, throws[:-1]), *throws
    whole = lab_module.written("ROMEO", began, throws)
    assert len(whole) == LENGTH
    assert whole[:last] == before[:last]
    attends = began ^ (len(throws) % 2)
    for place in range(last, last + 4):
        text = lab_module.PROMPTS["ROMEO"] + whole[:place]
        assert whole[place] == next_letter(text, place, attends)
    assert whole[last:] != before[last:]


def test_the_same_letter_at_the_same_place_is_followed_by_the_same_letters_without_attention():
    one, other = (lab_module.written("KING", True, (letter,)) for letter in (20, 40))
    [meets, *_] = [place for place in range(40, LENGTH) if one[place] == other[place]]
    assert one[meets:] == other[meets:]


def test_words_are_counted_for_who_ended_them():
    text = lab_module.Text("the batt of xyzzy", True, (6,))
    assert {word[0]: (text.attends(word.end() - 1), known) for word, known in text.words.items()} == {
        "the": (True, True),
        "batt": (False, False),
        "of": (False, True),
    }
    assert text.found(True) == (1, 1)
    assert text.found(False) == (1, 2)


@pytest.mark.parametrize("thrown", ["5", "60", "105"])
@pytest.mark.parametrize("attends", [True, False])
def test_the_mark_stands_where_the_switch_was_thrown_and_letters_follow(thrown, attends):
    result = lab_module.compute({"attention": attends, "speaker": "ROMEO", "thrown": thrown})
    drawn = "".join(fragment for _, _, fragment in lab_module._lines(result.now, lab_module.NOW, "black"))
    assert drawn.count(lab_module.THROWN) == 1
    picture = lab_module.render(result).svg
    assert picture.count("data-write") >= 1
    first = min(int(begins) for begins in lab_module.re.findall(r'data-write="\[(\d+)', picture))
    assert int(thrown) <= first <= int(thrown) + 2, "what was there is not written anew"


def test_a_page_can_show_the_switch_thrown_once_in_every_word():
    thrown = page.offered(labs.with_and_without_attention())["thrown"]
    assert thrown[:2] == ["", "0"]
    assert max(np.diff([int(letter) for letter in thrown[1:]])) == lab_module.STEP
