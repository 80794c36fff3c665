"""The writer, driven without a browser."""

import html
import json
import re
from importlib import import_module
from xml.etree import ElementTree

import numpy as np
import pytest

from live_pictures import style
from mha_helpers import attention, decoder
from mha_helpers.decoding import attend_with_cache, next_token_probabilities
from mha_helpers.drawing import palette
from mha_helpers.labs import writer
from mha_helpers.labs.a_model_that_writes import writer_picture
from mha_helpers.labs.a_model_that_writes.writer_pace import Pace, window

lab_of = import_module("mha_helpers.labs.a_model_that_writes.writer")
MODEL = decoder.load()
FIRST = writer().first_state
SVG = "{http://www.w3.org/2000/svg}"


def computed(function=None, **state):
    return lab_of.compute(FIRST | {name.replace("_", "-"): value for name, value in state.items()}, function)


def drawn(result):
    """Return the two pictures of a result."""
    return [*ElementTree.fromstring(f"<div>{lab_of.render(result).svg}</div>")]


def texts(result):
    return [element.text for picture in drawn(result) for element in picture.iter(f"{SVG}text")]


def test_what_is_stored_does_not_depend_on_the_machine():
    result = computed()
    for shown in (np.sort(result.probabilities), np.sort(result.comparison)):
        assert abs(100 * np.float64(shown[-10:]) % 1 - 0.5).min() > 2e-3
        assert np.diff(shown[-11:]).min() > 1e-4, "the bars keep their order"


@pytest.mark.parametrize(("temperature", "top_k"), [(0.8, "10"), (0.1, "all"), (1.5, "3")])
def test_bars_are_the_models_probabilities(temperature, top_k):
    result = computed(temperature=temperature, top_k=top_k)
    logits, weights = MODEL.predict(FIRST["text"])
    wanted = next_token_probabilities(logits[-1], temperature=temperature, top_k=None if top_k == "all" else int(top_k))
    np.testing.assert_allclose(result.probabilities, wanted)
    np.testing.assert_allclose(result.comparison, next_token_probabilities(logits[-1]))
    np.testing.assert_array_equal(result.weights, weights[3, 1, -1])
    shown = texts(result)
    for probability in np.sort(wanted)[-10:]:
        assert f"{probability:.2f}" in shown or probability < 0.005
    assert "0.00" not in shown


@pytest.mark.parametrize("temperature", [0.1, 0.8, 1.5])
def test_both_panels_bars_have_one_scale(temperature):
    result = computed(temperature=temperature)
    picture = writer_picture.draw(result, "")
    for probabilities, colour in ((result.probabilities, palette.ROLES["output"]), (result.comparison, style.QUIET)):
        lengths = [
            float(width) for width in re.findall(rf'width="([\d.]+)" height="16"[^>]* stroke="{colour}"', picture)
        ]
        wanted = np.sort(probabilities)[:-11:-1]
        wanted = writer_picture.MAX_BAR * wanted[wanted >= 0.005]
        np.testing.assert_allclose(np.float64(lengths), wanted, atol=0.051)


def test_the_letter_that_looks_and_the_head_are_chosen():
    result = computed(text="To be,", layer=1, head=2, back=2)
    assert "What “b” looks at" in texts(result)
    _, weights = MODEL.predict("To be,")
    np.testing.assert_array_equal(result.weights, weights[1, 2, 3])
    np.testing.assert_array_equal(result.looks_at, weights[:, :, 3].argmax(axis=-1))
    assert computed(text="O\n" * 100, back=255).asked == 200 - 2 * writer_picture.MAX_LINES, "what is seen looks"


def test_a_pressed_bar_writes_its_letter_and_the_last_letter_looks_again():
    lab = writer()
    lab.set(back=3)
    assert f'data-sets="{html.escape(json.dumps({"text": FIRST["text"] + "W"}))}"' in lab.picture.value
    lab.set(text=FIRST["text"] + "W")
    assert lab.controls["back"].value == 0


def _told(n_most, **settings):
    """Press "1 letter" as a page without a kernel does; the knobs stay where they are."""
    lab = writer()
    lab.set(**settings)
    for _ in range(n_most):
        after = lab.after("One character", lab.state)
        assert after.keys() <= {"text"}
        lab.set(**after)
    return lab.state["text"][len(FIRST["text"]) :]


@pytest.mark.parametrize("temperature", lab_of.TEMPERATURES)
def test_a_page_without_a_kernel_writes_what_is_written_here(temperature):
    n = lab_of.PATHS[temperature]
    wanted = MODEL.write(FIRST["text"], n, temperature=temperature, top_k=10, seed=[1, len(FIRST["text"])])
    assert _told(n, temperature=temperature) == wanted


def test_words_fall_apart_on_a_page_where_all_letters_may_come_and_it_is_hot():
    settings, draw, n = lab_of.HOTTEST
    wanted = MODEL.write(FIRST["text"], n, temperature=1.5, seed=[draw, len(FIRST["text"])])
    assert _told(n, **settings) == wanted == "I devy pagla!"


def test_a_page_never_writes_what_its_knobs_exclude():
    # At the fork "T" is drawn, which is not the likeliest letter.
    assert _told(1) == "T"
    assert _told(1, **{"top-k": "1"}) == "I"
    assert _told(9, text=FIRST["text"] + "The pr") == "The prince ", "at its end it stops"


@pytest.mark.parametrize("letter", lab_of.FORK)
def test_two_words_come_of_each_letter_at_the_fork(letter):
    readout = _told(30, text=FIRST["text"] + letter, **{"top-k": "1"})
    assert len(readout.split()) >= 2, readout


def test_all_along_the_likeliest_letter_can_be_pressed_on_a_page():
    texts = lab_of.written_beforehand()
    assert texts[0] == FIRST["text"]
    for text in (FIRST["text"] + lab_of.path(0.8)[:n] for n in range(lab_of.LETTERS)):
        likeliest = MODEL.alphabet[MODEL.predict(text)[0][-1].argmax()]
        assert text + likeliest in texts
    assert {text[-1] for text in texts if text[:-1] == FIRST["text"]} == set(lab_of.FORK)


def test_the_twin_is_a_model_with_that_mistake_and_writes():
    lab = writer()
    lab.set(twin="W_O left out")
    wrong = lab_of.TWINS["W_O left out"]
    wanted = next_token_probabilities(MODEL.predict(FIRST["text"], wrong)[0][-1], temperature=0.8, top_k=10)
    result = computed(twin="W_O left out")
    np.testing.assert_allclose(result.comparison, wanted)
    lab.buttons["Write on"].click()
    written = lab.controls["text"].value[len(FIRST["text"]) :]
    assert written == MODEL.write(
        FIRST["text"], len(written), temperature=0.8, top_k=10, seed=[1, len(FIRST["text"])], cached=False, attend=wrong
    )
    assert MODEL.loss(written + "..") > 3


def test_a_line_comes_character_by_character_and_goes_on_with_the_next():
    lab, seen = writer(), []
    lab.controls["text"].observe(lambda change: seen.append(change["new"]), "value")
    lab.buttons["Write on"].click()
    first = lab.controls["text"].value
    assert [len(text) for text in seen] == list(range(len(FIRST["text"]) + 1, len(first) + 1))
    assert first.endswith("\n") or len(first) == len(FIRST["text"]) + lab_of.MAX_LINE
    lab.buttons["One character"].click()
    written = lab.controls["text"].value[len(FIRST["text"]) :]
    assert written == MODEL.write(FIRST["text"], len(written), temperature=0.8, top_k=10, seed=[1, len(FIRST["text"])])
    lab.buttons["Reset"].click()
    assert lab.controls["text"].value == FIRST["text"]
    lab.set(draw=2)
    lab.buttons["Write on"].click()
    assert lab.controls["text"].value != first


def test_with_and_without_a_cache_the_same_is_written_and_both_are_timed():
    written = {}
    for cached in (True, False):
        lab = writer()
        lab.set(cache=cached)
        lab.buttons["Write on"].click()
        written[cached] = lab.controls["text"].value
        assert f"ms {'with the cache' if cached else 'without'} (median)" in lab.readout.value
    assert written[True] == written[False]


def test_both_are_timed_over_the_context_and_forgotten_on_reset():
    lab = writer()
    lab.buttons["Time both"].click()
    assert "ms with the cache and" in lab.readout.value
    lab.buttons["Reset"].click()
    assert "ms with the cache" not in lab.readout.value


def test_it_goes_on_beyond_the_context():
    text = decoder.held_out_text()[:250]
    lab = writer()
    lab.set(text=text)
    for _ in range(20):
        lab.buttons["One character"].click()
    written = lab.controls["text"].value
    assert written == text + MODEL.write(text, 20, temperature=0.8, top_k=10, seed=[1, 250])
    result = lab.compute(lab.state)
    assert result.text == written[-len(window(written, 256)) :]
    assert "Of 270 characters the model sees the last 141." in result.notice


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("", "The text is empty. Give at least one character"),
        ("naïve €", "The model has never seen 'ï', '€'. It knows the letters from A to Z"),
        ("<script>#", "The model has never seen '#', '<', '>'"),
    ],
)
def test_what_cannot_be_read_is_said_and_nothing_is_lost(typed, why):
    lab = writer()
    lab.set(text=typed)
    for name in ("One character", "Write on"):
        lab.buttons[name].click()
    assert lab.controls["text"].value == typed
    assert f"your text is still there. {html.escape(why)}" in lab.readout.value
    lab.set(text="To be")
    assert "After “To␣be”" in lab.readout.value


@pytest.mark.parametrize("text", ["a", "\n", "a" * 256, "To be\n" * 100, decoder.held_out_text()[:256]])
def test_every_text_is_drawn_inside_its_picture(text):
    for twin in ("none", "softmax over the queries"):
        for picture in drawn(computed(text=text, twin=twin)):
            for element in picture.iter(f"{SVG}text"):
                assert all(0 <= float(x) <= float(picture.get("width")) for x in element.get("x").split())
                assert all(0 < float(y) <= float(picture.get("height")) for y in element.get("y").split())


def test_it_writes_with_the_learners_function():
    def backwards(logits, *, temperature=1.0, top_k=None):
        return next_token_probabilities(-np.asarray(logits))

    lab = writer(backwards)
    assert "≠" in lab.picture.value
    lab.buttons["Write on"].click()
    written = lab.controls["text"].value[len(FIRST["text"]) :]
    assert written == MODEL.write(FIRST["text"], len(written), seed=[1, len(FIRST["text"])], choose=backwards)


def test_a_function_that_stops_while_it_writes_is_said():
    calls = []

    def stops(logits, *, temperature=1.0, top_k=None):
        calls.append(1)
        if len(calls) == 5:  # the second time that it is asked for writing: it is asked for each picture, too
            raise KeyError("no more")
        return next_token_probabilities(logits, temperature=temperature, top_k=top_k)

    lab = writer(stops)
    lab.buttons["Write on"].click()
    assert "Nothing more was written: next_token_probabilities, called with 65 logits" in lab.picture.value
    assert lab.controls["text"].value.startswith(FIRST["text"])


def test_it_runs_on_the_learners_cache():
    lengths = []

    def noted(X_new, *arguments):
        lengths.append(len(X_new))
        return attend_with_cache(X_new, *arguments)

    lab = writer(None, noted)
    for _ in range(3):
        lab.buttons["One character"].click()
    assert lengths == [len(FIRST["text"])] * 4 + [1] * 8


def test_a_changed_text_or_knob_starts_anew():
    pace, options = Pace(), {"temperature": 1.0, "top_k": 1}
    settings = {"cached": True, "attend": None, "choose": next_token_probabilities, "draw": 1}
    first = pace.next("To be, or not to b", options, **settings)
    assert first == "e"
    assert pace.times == [], "the first reads the whole text"
    pace.next("To be, or not to be", options, **settings)
    assert len(pace.times) == 1
    assert pace.next("To be, or not to b", options, **settings) == "e"
    assert len(pace.times) == 1


def test_the_cache_box_says_how_the_next_character_is_written():
    twin = computed(twin="W_O left out")
    assert "A twin writes without the cache." in twin.notice
    lab = writer()
    assert "Milliseconds" not in lab.picture.value, "nothing was timed yet"
    assert (computed().cached, computed(cache=False).cached, twin.cached) == (True, False, False)
    for cached in (False, True):
        lab.set(cache=cached)
        lab.buttons["One character"].click()
    for readout in (">without<", ">next: with the cache<"):
        assert readout in lab.picture.value


def test_without_the_model_there_is_a_message(monkeypatch):
    def load():
        raise ValueError("damaged")

    monkeypatch.setattr(decoder, "load", load)
    lab = writer()
    assert "Damaged" in lab.readout.value
    lab.buttons["Write on"].click()
    assert lab.controls["text"].value == FIRST["text"]


def test_the_head_shown_looks_at_the_last_speakers_name():
    """What the notebook says of the start text."""
    text = FIRST["text"]
    _, weights = MODEL.predict(text, attention.multi_head_attention)
    assert weights[3, 1, -1, text.index("?")] > 0.9
    assert weights[3, 5, text.index("\nJULIET"), text.index("M")] > 0.9
