"""Figures: what is drawn is the data, and the sentence says the same."""

import io

import numpy as np
import pytest
from PIL import Image

from mha_helpers.drawing import figures, style
from mha_helpers.drawing.figures import Matrix

TOKENS = ("it", "cat", "mat")
WEIGHTS = np.array([[0.1, 0.68, 0.22], [0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])


def texts(axes):
    return [text.get_text() for text in axes.texts]


def cell_colours(axes):
    return [tuple(round(255 * c) for c in patch.get_facecolor()[:3]) for patch in axes.patches]


def rgb(colour):
    return tuple(bytes.fromhex(colour[1:]))


def test_an_attention_map_draws_every_weight_with_its_colour():
    drawn = figures.attention_map(WEIGHTS, TOKENS)
    [axes] = drawn.figure.axes
    assert texts(axes)[:9] == [style.number(weight) for weight in WEIGHTS.flat]
    assert cell_colours(axes) == [rgb(style.weight_colour(weight)) for weight in WEIGHTS.flat]
    assert [label.get_text() for label in axes.get_yticklabels()] == list(TOKENS)
    assert [label.get_text() for label in axes.get_xticklabels()] == list(TOKENS)
    assert "query \\ key" in texts(axes), "the labels must say which are queries and which keys"


def test_an_attention_map_says_who_attends_to_whom():
    assert repr(figures.attention_map(WEIGHTS[:2], TOKENS[:2], TOKENS)) == (
        "Attention weights, 2 queries by 3 keys: “it” attends most to “cat” (0.68), “cat” attends most to “it” (0.50)."
    )


def test_weights_are_coloured_from_0_to_1_whatever_they_are():
    pale, dark = (figures.attention_map([[weight]], ["a"]).figure.axes[0] for weight in (0.0, 1.0))
    assert cell_colours(pale) == [rgb(style.SEQUENTIAL[0])]
    assert cell_colours(dark) == [rgb(style.SEQUENTIAL[-1])]


def test_nan_and_infinity_are_hatched_and_in_words():
    drawn = figures.matrices(Matrix("scores", [[np.nan, -np.inf, 1.0]], "scores", ("a",)))
    [axes] = drawn.figure.axes
    assert texts(axes) == ["NaN", "−inf", "1.00"]
    hatched = [patch.get_xy() for patch in axes.patches if patch.get_hatch()]
    assert hatched == [(0, 0), (1, 0)]
    assert repr(drawn) == "scores: a (NaN, −inf, 1.00)."


def test_every_text_in_a_cell_is_readable():
    def luminance(colour):
        channels = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in np.array(rgb(colour)) / 255]
        return np.dot([0.2126, 0.7152, 0.0722], channels)

    cells = [style.weight_colour(w) for w in np.linspace(0, 1, 101)]
    cells += [style.score_colours(1.0)(s) for s in np.linspace(-1, 1, 201)]
    for cell in cells:
        light, dark = sorted((luminance(cell), luminance(style.text_colour(cell))), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, f"{style.text_colour(cell)} on {cell}"


def test_bars_are_as_high_as_their_values():
    drawn = figures.weight_bars(TOKENS, {"softmax": WEIGHTS[0], "share": [-0.5, 1.2, 0.3]})
    heights = [[bar.get_height() for bar in axes.patches] for axes in drawn.figure.axes]
    assert heights == [list(WEIGHTS[0]), [-0.5, 1.2, 0.3]]
    assert repr(drawn) == "Bars. softmax: it 0.10, cat 0.68, mat 0.22; share: it −0.50, cat 1.20, mat 0.30."


def test_a_token_that_occurs_twice_has_two_bars():
    drawn = figures.weight_bars(("the", "cat", "the"), {"x": [0.1, 0.2, 0.7]})
    [axes] = drawn.figure.axes
    assert [bar.get_x() + bar.get_width() / 2 for bar in axes.patches] == pytest.approx([0, 1, 2])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["the", "cat", "the"]


def test_an_attention_map_says_where_there_is_nothing_to_say():
    assert repr(figures.attention_map([[np.nan, np.nan], [0, 0]], ("a", "b"))) == (
        "Attention weights, 2 queries by 2 keys: “a” has NaN or infinity, “b” attends to nothing."
    )


def test_moved_vectors_start_and_end_where_they_should():
    drawn = figures.moved_vectors({"bank": (1, 1), "river": (2, 0)}, {"bank, near": (1.5, 0.4)}, ("water", "money"))
    [axes] = drawn.figure.axes
    assert [tuple(line.get_xydata()[0]) for line in axes.lines] == [(1, 1), (2, 0), (1.5, 0.4)]
    arrow = next(note for note in axes.texts if note.arrow_patch is not None)
    assert (tuple(arrow.xyann), tuple(arrow.xy)) == ((1, 1), (1.5, 0.4))


@pytest.mark.parametrize(
    "drawn",
    [
        figures.attention_map(WEIGHTS, TOKENS),
        figures.weight_bars(TOKENS, {"softmax": WEIGHTS[0]}),
        figures.moved_vectors({"bank": (1, 1)}, {"bank, near": (2, 0)}, ("water", "money")),
    ],
    ids=["attention_map", "weight_bars", "moved_vectors"],
)
def test_the_png_carries_its_sentence(drawn):
    with Image.open(io.BytesIO(drawn.png())) as picture:
        assert picture.text["Description"] == repr(drawn)
    assert drawn._repr_mimebundle_()["text/plain"] == repr(drawn)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: figures.attention_map(WEIGHTS, TOKENS[:2]), "'weights' has shape .3, 3. and 2 row labels"),
        (lambda: figures.attention_map(WEIGHTS, TOKENS, TOKENS[:2]), "2 column labels; give one a column"),
        (lambda: figures.attention_map([WEIGHTS], TOKENS), "has shape .1, 3, 3."),
        (lambda: figures.matrices(Matrix("X", WEIGHTS, "query", TOKENS)), "role 'query'; give one of X, queries"),
        (
            lambda: figures.weight_bars(TOKENS, {"softmax": [1.0]}),
            "softmax has shape .1,.; give one number",
        ),
        (lambda: figures.moved_vectors({"bank": (1, 1)}, {"river": (0, 0)}, ("a", "b")), "begins with none of"),
    ],
    ids=["rows", "columns", "axes", "role", "bars", "points"],
)
def test_bad_input_is_refused_in_words(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


def test_curves_draw_what_they_are_given():
    panels = {
        "one": {"a": [1.0, 2.0, 3.0], "b": [3.0, 2.0, 1.0]},
        "wide": {"a": [1000.0, 1.0, 0.0004]},
        "below": {"a": [-1.0, 0.5, 2.0]},
    }
    drawn = figures.curves([1, 2, 4], panels, x_name="d_k")
    *shown, unused = drawn.figure.axes
    assert not unused.get_visible()
    for axes, (title, named) in zip(shown, panels.items(), strict=True):
        assert axes.get_title(loc="left") == title
        assert [list(line.get_ydata()) for line in axes.get_lines()] == list(named.values())
        looks = {(line.get_marker(), line.get_linestyle()) for line in axes.get_lines()}
        assert len(looks) == len(named), "two curves must differ in more than colour"
        assert axes.get_xscale() == "log"
        assert axes.get_yscale() == ("log" if title == "wide" else "linear")
    assert [text.get_text() for text in shown[0].get_legend().get_texts()] == ["a", "b"]
    assert shown[0].get_ylim()[0] == 0
    assert shown[2].get_ylim()[0] < -1
    assert drawn.text.startswith("Curves against d_k = 1, 2, 4. one: a 1.00, 2.00, 3.00, b 3.00, 2.00, 1.00; wide: a ")
    assert "wide: a 1e+03, 1, 0.0004;" in drawn.text


@pytest.mark.parametrize(
    ("panels", "message"),
    [
        ({}, "there are 0 panels against"),
        ({"one": {}}, "panel 'one' has 0 curves; give 1 to 2"),
        ({"one": {"a": [1.0]}}, "curve 'a' has 1 values for 2 values of d_k; give one for each"),
        ({"one": {name: [1.0, 2.0] for name in "abc"}}, "panel 'one' has 3 curves; give 1 to 2"),
    ],
)
def test_curves_that_do_not_fit_are_refused(panels, message):
    with pytest.raises(ValueError, match=message):
        figures.curves([1, 2], panels, x_name="d_k")
