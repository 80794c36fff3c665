"""The head browser, driven without a browser."""

import html
import itertools
import re
import warnings
from importlib import import_module
from xml.etree import ElementTree

import numpy as np
import pytest

from mha_helpers import attention, encoder, measures
from mha_helpers.drawing.arcs import ROW
from mha_helpers.labs import head_browser
from mha_helpers.labs.real_model import head_browser_picture as browser_picture
from mha_helpers.labs.real_model import head_browser_runs as runs
from mha_helpers.labs.real_model.head_browser import SENTENCE, Runs, Unavailable
from mha_helpers.labs.real_model.head_browser_runs import FIXED, KINDS, MAX_TOKENS, OURS, TWINS

browser = import_module("mha_helpers.labs.real_model.head_browser")

FIRST = head_browser().first_state
SVG = "{http://www.w3.org/2000/svg}"
TOGGLES = ("random twin", "knock out")
LONG = " ".join(["The", *["cat"] * 40, "sat."])


def computed(function=None, **state):
    return browser.compute(FIRST | {name.replace("_", " "): value for name, value in state.items()}, function)


def readout(function=None, **state):
    return browser.sentence(computed(function, **state))


def drawn(result):
    """Draw without a widget, as ipywidgets 7 warns of its own accord, and read the picture as XML."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page = browser.render(result).html()
    assert len(page) < 250_000
    page.encode()  # whatever was typed, it can be sent
    return ElementTree.fromstring(f"<div>{browser.render(result).svg}</div>")


def texts(picture):
    return [element.text for element in picture.iter(f"{SVG}text")]


# ---- numbers ---------------------------------------------------------------------------------


def test_every_head_is_the_models():
    encoding = encoder.load().encode(SENTENCE)
    for layer, head in np.ndindex(encoding.weights.shape[:2]):
        result = computed(layer=layer, head=head)
        np.testing.assert_array_equal(result.weights, encoding.weights[layer, head])
        np.testing.assert_array_equal(result.row, encoding.weights[layer, head, 8])
    assert result.tokens == encoding.tokens
    assert (layer + 1, head + 1) == (runs.N_LAYERS, runs.N_HEADS)


def test_mean_weights_are_means_over_the_queries_that_have_such_a_key():
    weights = np.random.default_rng(0).dirichlet(np.ones(5), size=(2, 3, 5))
    for head in np.ndindex(2, 3):
        of = weights[head]
        wanted = [
            np.mean([of[i, i - 1] for i in range(1, 5)]),
            np.mean([of[i, i + 1] for i in range(4)]),
            np.mean([of[i, i] for i in range(5)]),
            np.mean([of[i, 0] for i in range(5)]),
            np.mean([of[i, 4] for i in range(5)]),
        ]
        np.testing.assert_allclose(runs.mean_weights(weights)[head], wanted)
    np.testing.assert_allclose(runs.mean_weights(weights)[..., 0], measures.previous_token_score(weights))


@pytest.mark.parametrize(
    ("layer", "head", "label"), [(0, 2, "prev"), (1, 8, "next"), (2, 7, "[CLS]"), (5, 11, "unclear"), (0, 0, "unclear")]
)
def test_a_label_stands_only_above_the_threshold(layer, head, label):
    result = computed(layer=layer, head=head)
    assert result.label == label
    assert (result.means.max() >= 0.5) == (label != "unclear")
    assert f"Label: {label}" in browser.sentence(result)
    assert {f"label: {label}", "0.5: gets a label"} <= {*texts(drawn(result))}


def test_the_map_has_the_labels_of_the_heads():
    labels = [computed(layer=layer, head=head).label for layer, head in np.ndindex(6, 12)]
    picture = ElementTree.fromstring(f"<svg>{browser_picture._labels(OURS.encode(SENTENCE))}</svg>")
    shown = [element.text for element in picture.iter("text")]
    short = {kind: kind[1] if kind.startswith("[") else kind for kind in KINDS}
    assert [text for text in shown if text in short.values()] == [short[label] for label in labels if label in short]


@pytest.mark.parametrize("query", [3, 8])
def test_the_arcs_are_the_weights_of_the_chosen_query(query):
    weights = OURS.encode(SENTENCE).weights[5, 11]
    page = drawn(computed(layer=5, head=11, query=query))
    tokens = OURS.encode(SENTENCE).tokens
    [title] = [element.text for element in page.iter(f"{SVG}title") if element.text.startswith(f"{tokens[query]} to ")]
    weighty = {f"{token}: {weight:.2f}" for token, weight in zip(tokens, weights[query].round(2), strict=True)}
    weighty -= {f"{token}: {weight:.2f}" for token in tokens for weight in (0, 0.01)}
    assert set(title.removeprefix(f"{tokens[query]} to ").split(", ")) == weighty
    shown = [text for text in texts(page) if text in {f"{weight:.2f}" for weight in weights[query] if weight >= 0.045}]
    assert shown[: sum(weights[query].round(2) >= 0.05)] == [f"{w:.2f}" for w in weights[query] if w.round(2) >= 0.05]


@pytest.mark.parametrize(
    ("preset", "kind"), [("the token before", "prev"), ("the token after", "next"), ("[CLS]", "[CLS]")]
)
def test_presets_show_what_they_say(preset, kind):
    layer, head = browser.PRESETS[preset]
    assert computed(layer=layer, head=head).label == kind


def test_a_preset_looks_at_nouns():
    layer, head = browser.PRESETS["a noun"]
    weights = OURS.encode(SENTENCE).weights[layer, head]
    nouns = [OURS.encode(SENTENCE).tokens.index(noun) for noun in ("cat", "mat")]
    assert weights[1:-1, nouns].sum(axis=1).mean() > 0.7


@pytest.mark.parametrize(("layer", "head"), [(0, 0), (2, 6), (4, 11), (5, 11)])
def test_knocking_out_is_what_the_encoder_does(layer, head):
    model = encoder.load()
    whole, *fixed = (encoding.vector for encoding in model.encode([SENTENCE, *FIXED]))
    without, *fixed_without = (
        encoding.vector for encoding in model.encode([SENTENCE, *FIXED], without=[(layer, head)])
    )
    found = computed(layer=layer, head=head, knock_out=True).knock_out
    assert found.cosine == pytest.approx(whole @ without, abs=1e-5)
    np.testing.assert_allclose(found.before, np.stack(fixed) @ whole, atol=1e-5)
    np.testing.assert_allclose(found.after, np.stack(fixed_without) @ without, atol=1e-5)
    page = drawn(computed(layer=layer, head=head, knock_out=True))
    for before, after in zip(found.before, found.after, strict=True):
        assert f"{before:.2f} → {after:.2f}".replace("-", "−") in texts(page)
    assert f"cosine {found.cosine:.4f}" in readout(layer=layer, head=head, knock_out=True)


def test_knocking_out_cuts_the_ribbons_and_the_frame_in_the_map():
    whole, cut = (browser.render(computed(layer=2, head=6, knock_out=off)).svg for off in (False, True))
    ribbons = re.compile(r'<g class="mha-arcs">.*?</g></g></g>')
    assert ribbons.search(whole)[0] == ribbons.search(cut)[0], "they stay, and dashes are cut out of them"
    assert (whole.count("mix-blend-mode"), cut.count("mix-blend-mode")) == (0, 1)
    frame = re.compile(r'<rect data-part="open head"[^>]*stroke-dasharray')
    assert (len(frame.findall(whole)), len(frame.findall(cut))) == (0, 1)


def test_the_fixed_sentences_need_no_mask():
    assert len({len(encoder.load().tokens(sentence)) for sentence in FIXED}) == 1


def test_the_twin_stands_beside():
    result = computed(random_twin=True, layer=3, head=4)
    twin = encoder.random_twin(seed=0).encode(SENTENCE).weights[3, 4]
    np.testing.assert_array_equal(result.twin, twin)
    page = texts(drawn(result))
    start = page.index("twin") + 1
    assert page[start : start + 13] == [f"{weight:.2f}" for weight in twin[8]]
    assert f"at most {twin[8].max():.2f}, to" in browser.sentence(result)
    assert [text for text in texts(drawn(computed())) if "twin" in text] == ["random twin"], "its switch"


# ---- sentence --------------------------------------------------------------------------------


def test_what_is_stored_does_not_depend_on_the_machine():
    """Six layers in float32 differ by up to 2e-6 from one BLAS to another."""
    result = computed()
    for numbers in (result.weights, result.means):
        assert abs(100 * np.float64(numbers) % 1 - 0.5).min() > 2e-4
    assert abs(runs.mean_weights(result.encoding.weights).max(axis=-1) - runs.THRESHOLD).min() > 1e-4


def test_every_state_is_drawn():
    for layer, head, query, twin, off in itertools.product((0, 3, 5), (0, 11), (0, 12), (False, True), (False, True)):
        result = computed(layer=layer, head=head, query=query, random_twin=twin, knock_out=off)
        picture = drawn(result)
        for part in picture:
            for element in part.iter(f"{SVG}text"):
                assert 0 <= float(element.get("x")) <= float(part.get("width"))
                assert 0 < float(element.get("y")) <= float(part.get("height"))


# ---- what is typed ---------------------------------------------------------------------------

TYPED = {
    "nothing": ("", ("[CLS]", "[SEP]"), "There is nothing to read here"),
    "blanks": (" \t ", ("[CLS]", "[SEP]"), "There is nothing to read here"),
    "control characters": ("\x00\x07\x1b", ("[CLS]", "[SEP]"), "There is nothing to read here"),
    "one character": ("a", ("[CLS]", "a", "[SEP]"), ""),
    "half a character": ("\ud800x", ("[CLS]", "x", "[SEP]"), ""),
    "emoji": ("🙂 ok", ("[CLS]", "[UNK]", "ok", "[SEP]"), ""),
    "right to left": ("שלום", ("[CLS]", "ש", "##ל", "##ו", "##ם", "[SEP]"), ""),
    "other scripts": ("世 мир", ("[CLS]", "世", "м", "##и", "##р", "[SEP]"), ""),
    "tags": ("<b>&amp;", ("[CLS]", "<", "b", ">", "&", "amp", ";", "[SEP]"), ""),
    "a comment": ("<!-- -->", ("[CLS]", "<", "!", "-", "-", "-", "-", ">", "[SEP]"), ""),
    "a long word": ("x" * 3000, ("[CLS]", "[UNK]", "[SEP]"), ""),
    "special tokens": ("[SEP] [MASK]", ("[CLS]", "[SEP]", "[MASK]", "[SEP]"), ""),
    "2000 words": ("word " * 2000, ("[CLS]", *["word"] * 22, "[SEP]"), "has 2002 tokens, of which the model reads 24"),
}


@pytest.mark.parametrize("toggled", [False, True])
@pytest.mark.parametrize(("typed", "tokens", "message"), TYPED.values(), ids=TYPED)
def test_whatever_is_typed_is_drawn(typed, tokens, message, toggled):
    result = computed(sentence=typed, **{name.replace(" ", "_"): toggled for name in TOGGLES})
    assert result.tokens == tokens
    assert message in result.notice
    assert bool(message) == (result.notice != "Shown with the course's own multi_head_attention.")
    shown = texts(drawn(result))
    assert all(browser_picture.shortened(token) in shown for token in tokens)


def test_what_is_longer_is_cut_and_said_to_be():
    result = computed(sentence=LONG)
    assert len(result.tokens) == MAX_TOKENS
    assert result.tokens[-1] == "[SEP]"


@pytest.mark.parametrize(
    "sentence", [LONG, "Misunderstandings complicated " * 6 + "everything", "it was " * 11 + "complicated"]
)
@pytest.mark.parametrize("query", [0, 12, 23])
def test_every_word_has_its_row_inside_the_picture(sentence, query):
    arcs, *_ = drawn(computed(sentence=sentence, query=query))
    words = [browser_picture.shortened(token) for token in OURS.encode(sentence).tokens]
    placed = [(element.text, float(element.get("x")), float(element.get("y"))) for element in arcs.iter(f"{SVG}text")]
    for place in (min, max):  # of queries, and of keys
        x = place(x for text, x, _ in placed if text == "[CLS]")
        column = [(text, y) for text, at, y in placed if at == x]
        assert [text for text, _ in column] == words
        assert np.diff([y for _, y in column]).tolist() == [ROW] * (len(words) - 1)
        assert ROW * len(words) < float(arcs.get("height"))


def test_tokens_are_escaped():
    page = browser.render(computed(sentence="<script>alert('&')</script>", query=1)).html()
    assert "“&lt;” (token 1)" in page
    assert not re.findall(r"<script|<(?!/?(div|p|svg|g|path|rect|text|title|style|b)\b)", page)


def test_no_label_where_one_key_is_of_several_kinds():
    for typed in ("", "a"):
        assert not {*texts(drawn(computed(sentence=typed)))} & {"prev", "next", "self", "CLS"}


# ---- controls --------------------------------------------------------------------------------


def test_queries_are_chosen_by_their_words():
    lab = head_browser()
    query = lab.controls["query"]
    assert (query.label, query.value, len(query.options)) == ("it (token 8)", 8, 13)
    lab.controls["sentence"].value = "Hello there"
    assert [label for label, _ in query.options] == [
        "[CLS] (token 0)",
        "hello (token 1)",
        "there (token 2)",
        "[SEP] (token 3)",
    ]
    assert query.label == "hello (token 1)"
    lab.controls["sentence"].value = "I said hello"
    assert query.label == "hello (token 3)", "the word is kept where it is there, too"
    lab.buttons["Reset"].click()
    assert query.label == "it (token 8)"


def test_a_new_sentence_is_drawn_without_a_stale_query(monkeypatch):
    lab = head_browser()
    drawn_results = []
    render = lab.render
    monkeypatch.setattr(lab, "render", lambda result: drawn_results.append(result) or render(result))
    lab.controls["sentence"].value = "Hello there"
    assert [result.query < len(result.tokens) for result in drawn_results] == [True]


# ---- the learner's function ------------------------------------------------------------------


def right(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    return attention.multi_head_attention(*map(np.float64, (X, W_Q, W_K, W_V, W_O)), n_heads, mask)


def unscaled(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    d_head = W_Q.shape[1] // n_heads
    return attention.multi_head_attention(X, W_Q * d_head**0.5, W_K, W_V, W_O, n_heads, mask)


def transposed(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    return attention.multi_head_attention(X, W_Q, W_K, W_V, W_O.T, n_heads, mask)


def after_a_while(instead):
    """Return a function that is right in the first layer, where it is called twice, and then does something else."""
    calls = itertools.count()

    def function(X, *others):
        return right(X, *others) if next(calls) < 2 else instead(X, *others)

    return function


def test_a_right_function_runs_the_model():
    result = computed(right, knock_out=True)
    assert (result.cosine, result.mark, result.difference) == (None, None, "")
    assert result.weights.dtype == np.float32
    assert result.knock_out.cosine == pytest.approx(computed(knock_out=True).knock_out.cosine, abs=1e-5)


@pytest.mark.parametrize("function", [unscaled, transposed])
def test_a_wrong_function_is_run_and_marked(function):
    ours, theirs = (encoder.load().encode(SENTENCE, attend) for attend in (attention.multi_head_attention, function))
    result = computed(function, layer=5, head=11)
    np.testing.assert_array_equal(result.encoding.weights, theirs.weights)
    np.testing.assert_array_equal(result.mark, abs(theirs.weights - ours.weights)[5, 11] > 1e-3)
    assert result.cosine == pytest.approx(ours.vector @ theirs.vector)
    assert f"The sentence's vector has cosine {result.cosine:.4f} with the right one." in browser.sentence(result)
    got, wanted = (found.weights[5, 11][result.mark][0] for found in (theirs, ours))
    assert result.difference.endswith(f": {got:.4f}, and should be {wanted:.4f}")
    assert texts(drawn(result)).count("≠") == result.mark[8].sum()


def test_a_head_that_is_right_all_the_same_is_not_marked():
    result = computed(transposed, layer=0)
    assert result.mark is None
    assert "≠ This head's weights are right; the difference is elsewhere." in " ".join(texts(drawn(result)))


def test_a_function_that_goes_wrong_later_is_noticed():
    result = computed(after_a_while(unscaled), layer=5, head=11)
    assert result.notice.startswith("Your multi_head_attention is right in layer 0, and not in all layers (marked ≠).")
    assert result.mark.any()


@pytest.mark.parametrize(
    ("instead", "why"),
    [
        pytest.param(lambda *arguments: 1 / 0, "raised ZeroDivisionError: division by zero", id="raises"),
        pytest.param(lambda *arguments: ..., "returned ellipsis", id="stub"),
        pytest.param(lambda X, *others: (X, X), "returned weights of shape (1, 13, 384)", id="shape"),
    ],
)
def test_a_function_that_stops_later_is_replaced(instead, why):
    result = computed(after_a_while(instead))
    assert result.notice.startswith("Shown with the course's own multi_head_attention: yours stopped in a later layer.")
    assert why in result.notice
    assert (result.cosine, result.mark, result.difference) == (None, None, "")
    assert result.encoding is OURS.encode(SENTENCE)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -5, 1e30, 1.234])
@pytest.mark.parametrize("typed", [SENTENCE, "The cat sat."])
def test_numbers_of_any_kind_are_drawn(bad, typed):
    def function(*arguments):
        output, weights = right(*arguments)
        return np.full_like(output, bad), np.full_like(weights, bad)

    result = computed(function, sentence=typed, knock_out=True, random_twin=True)
    shown = texts(drawn(result))
    assert np.isfinite(bad) or "NaN or infinite" in browser.sentence(result)
    assert max(len(text) for text in shown if re.fullmatch(r"−?[\d.]+(e[+−]\d+)?", text)) <= 7


def test_a_right_function_cannot_change_the_model():
    def destroys(X, *others):
        found = right(X, *others)
        X[:] = 99
        return found

    result = computed(destroys)
    assert "yours stopped in a later layer" in result.notice
    assert "read-only" in result.notice


# ---- what is run how often -------------------------------------------------------------------


def test_a_slider_that_moves_runs_nothing_again():
    calls = []
    lab = head_browser(lambda *arguments: calls.append(1) or right(*arguments))
    once = len(calls)
    lab.set(layer=2, head=3, query=4)
    lab.controls["head"].value = 7
    lab.controls["random twin"].value = True
    assert len(calls) == once, "by the learner's function"
    lab.controls["knock out"].value = True
    with_head_off = len(calls)
    assert with_head_off > once
    lab.controls["head"].value = 8
    lab.controls["head"].value = 7
    more = len(calls) - with_head_off
    lab.controls["head"].value = 8
    assert len(calls) == with_head_off + more, "a head that was off before is off at once"


def test_what_a_learner_defines_anew_is_run_anew():
    scale = 1.0

    def function(X, W_Q, *others):
        return right(X, scale * W_Q, *others)

    assert "Running on your" in head_browser(function).picture.value
    scale = 2.0
    assert "is not right yet" in head_browser(function).picture.value


def test_sentences_and_maps_are_made_once():
    assert computed(layer=1).encoding is computed(head=2, query=3).encoding
    encoding = computed().encoding
    assert browser_picture._labels(encoding) is browser_picture._labels(encoding)
    assert TWINS.encoder() is TWINS.encoder()


# ---- without the model -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [ImportError("no tokenizers <here>"), ValueError("damaged"), OSError("cannot be read")]
)
def test_a_model_that_cannot_be_loaded_is_a_message(monkeypatch, error):
    broken = True

    def load():
        if broken:
            raise error
        return encoder.load()

    monkeypatch.setattr(browser, "OURS", Runs(attention.multi_head_attention, load))
    for function in (None, right):
        lab = head_browser(function)
        assert html.escape(f"The trained model could not be loaded: {error}") in lab.picture.value
        assert "could not be loaded" in lab.description
        lab.controls["sentence"].value = "Still nothing"
        lab.controls["knock out"].value = True
    broken = False
    lab.buttons["Reset"].click()
    assert "“it” (token 8)" in lab.picture.value


def test_a_twin_that_cannot_be_loaded_is_a_message(monkeypatch):
    def load():
        raise ValueError("damaged in the meantime")

    monkeypatch.setattr(browser, "TWINS", Runs(attention.multi_head_attention, load))
    lab = head_browser()
    assert "“it” (token 8)" in lab.picture.value
    lab.controls["random twin"].value = True
    assert "damaged in the meantime" in lab.picture.value
    assert isinstance(lab.compute(lab.state), Unavailable)
