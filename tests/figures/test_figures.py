"""Figures: what is drawn is the data, the sentence says the same, and viewers of every kind get both."""

import base64
import io
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from live_pictures import style
from mha_helpers import decoder, figures
from mha_helpers.attention import softmax
from mha_helpers.drawing import palette
from mha_helpers.drawing.gpt import CHARACTERS, NEXT
from mha_helpers.figures import Matrix

TOKENS = ("it", "cat", "mat")
WEIGHTS = np.array([[0.1, 0.68, 0.22], [0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])
FIGURES = {
    "matrices": figures.matrices(Matrix("Q", WEIGHTS, "queries", TOKENS), "×", Matrix("K", WEIGHTS, "keys", TOKENS)),
    "arcs": figures.arcs(WEIGHTS, TOKENS, query="it"),
    "heads_apart": figures.heads_apart([[0, 1], [100, 101]], TOKENS[:2]),
    "whole_block": figures.whole_block(),
    "backwards": figures.backwards(),
    "cache": figures.cache(),
    "clock_hands": figures.clock_hands(),
    "repeats": figures.repeats(np.tile([3, 1, 2], 2), np.tile([1, 2, 3], 2), np.arange(6) > 2),
    "induction": figures.induction(np.tile([3, 1, 2], 2), np.arange(6) > 2),
}  # fmt: skip
# Three of them have every kind of mark between them: the others are drawn as PNG where everything is run.
QUICK = ("matrices", "clock_hands", "arcs")
DRAWN_AGAIN = [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in FIGURES]


@pytest.fixture(params=FIGURES)
def figure(request):
    return FIGURES[request.param]


def nodes(figure, kind):
    return [node for node in ElementTree.fromstring(figure.svg).iter() if node.tag.endswith("}" + kind)]


def texts(figure):
    return ["".join(node.itertext()) for node in nodes(figure, "text")]


def fills(figure):
    return [node.get("fill") for node in nodes(figure, "rect") if node.get("fill") != "none"]


# ---- what every viewer gets ------------------------------------------------------------------


class Images(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        assert tag == "img", "nothing but an image survives in a page that is not trusted"
        self.found.append(dict(attrs))


def test_a_figure_is_a_sharp_image_with_words(figure):
    bundle = figure._repr_mimebundle_()
    [image] = Images(bundle["text/html"]).found
    assert image["alt"] == bundle["text/plain"] == repr(figure)
    kind, _, data = image["src"].partition(",")
    assert kind == "data:image/svg+xml;base64"
    assert base64.b64decode(data).decode() == figure.svg


@pytest.mark.parametrize("figure", DRAWN_AGAIN, indirect=True)
def test_a_stored_png_is_twice_as_large_and_carries_its_sentence(figure):
    with Image.open(io.BytesIO(figure.png())) as picture:
        assert picture.text["Description"] == repr(figure)
        size = [2 * float(ElementTree.fromstring(figure.svg).get(name)) for name in ("width", "height")]
        assert picture.size == pytest.approx(size, abs=2)
        colours = picture.convert("RGB").getcolors(maxcolors=1 << 24)
        assert len(colours) > 10, "the picture is empty"


def test_numbers_and_words_are_never_too_small(figure):
    assert min(float(node.get("font-size")) for node in nodes(figure, "text")) >= style.MIN_SIZE


def test_a_table_of_numbers_has_letters_of_12_pixels_all_over():
    table = Matrix("Q", np.ones((2, 12)), "queries", ("it", "cat"), range(12))
    assert {node.get("font-size") for node in nodes(figures.matrices(table), "text")} == {"12"}


def test_everything_stands_inside_the_picture(figure):
    root = ElementTree.fromstring(figure.svg)
    width, height = float(root.get("width")), float(root.get("height"))
    assert width <= 860, "wider than a page: its numbers would be shrunk"
    for node in nodes(figure, "text"):
        x, y, long = (
            float(node.get("x")),
            float(node.get("y")),
            0.62 * float(node.get("font-size")) * len(node.text or ""),
        )
        if "transform" in node.attrib:
            continue
        left = x - long * {"start": 0, "middle": 0.5, "end": 1}[node.get("text-anchor", "start")]
        assert left >= -4, node.text
        assert left + long <= width + 4, node.text
        assert 8 <= y <= height, node.text


def test_a_stored_figure_is_the_same_on_every_machine():
    """What the last bits of a number change must not change the page that nbval compares."""
    noise = WEIGHTS + 1e-9 * np.array([1, -1, 1])
    assert figures.arcs(WEIGHTS, TOKENS).html() == figures.arcs(noise, TOKENS).html()


def test_a_figure_is_saved_as_svg_or_png_and_says_so(tmp_path):
    drawn = FIGURES["arcs"]
    drawn.savefig(tmp_path / "mine.svg")
    drawn.savefig(tmp_path / "mine.PNG")
    assert (tmp_path / "mine.svg").read_text(encoding="utf-8") == drawn.svg
    with Image.open(tmp_path / "mine.PNG") as picture:
        assert picture.format == "PNG"
    with pytest.raises(ValueError, match=r"'mine.pdf' ends in '.pdf'; this picture is an SVG: save it as .svg or .png"):
        drawn.savefig(tmp_path / "mine.pdf")


# ---- matrices --------------------------------------------------------------------------------


def test_weights_are_coloured_from_0_to_1_whatever_they_are():
    weights = Matrix("weights", [[0.0, 1.0]], "weights", ["a"])
    assert fills(figures.matrices(weights)) == [palette.SEQUENTIAL[0], palette.SEQUENTIAL[-1]]


def test_many_weights_of_nearly_zero_are_left_blank():
    """A map of a real head has a number where it looks, and is not a sheet of zeros."""
    previous = Matrix("weights", np.eye(13, k=-1), "weights", [f"w{i}" for i in range(13)])
    written = texts(figures.matrices(previous))
    assert (written.count("1.00"), written.count("0.00")) == (12, 0)


def test_nan_and_infinity_are_words_without_a_colour():
    drawn = figures.matrices(Matrix("scores", [[np.nan, -np.inf, 1.0]], "scores", ("a",)))
    assert texts(drawn)[-3:] == ["NaN", "−inf", "1.00"]
    assert fills(drawn)[:2] == [style.PAPER, style.PAPER]
    assert repr(drawn) == "scores: a (NaN, −inf, 1.00)."


def test_a_role_is_stronger_where_a_number_is_larger():
    none, small, large = fills(figures.matrices(Matrix("out", [[0, -1, 4]], "output", ("a",))))
    contrasts = [style.contrast(colour, style.PAPER) for colour in (none, small, large)]
    assert contrasts == sorted(contrasts)
    assert contrasts[0] < 1.2, "zeros are dim"


@pytest.mark.parametrize("role", [*palette.ROLES, "scores", "heads", "heads in rows", "head 1"])
def test_a_sign_has_a_colour_and_is_written(role):
    drawn = figures.matrices(Matrix("signs", [[2, 2, -2, -2]] * 2, role, ("a", "b"), decimals=0))
    above, _, below, _ = fills(drawn)[:4]
    assert above != below
    assert texts(drawn)[-4:] == ["2", "2", "−2", "−2"]


def test_what_rounds_to_0_has_no_sign():
    nearly, none = fills(figures.matrices(Matrix("X", [[-1e-9, 0.0, 1.0]], "X", ("a",))))[:2]
    assert nearly == none


def test_heads_colour_their_columns_or_their_rows():
    ones = np.ones((2, 2))
    by_column = fills(figures.matrices(Matrix("concat", ones, "heads", ("a", "b"))))
    by_row = fills(figures.matrices(Matrix("W_O", ones, "heads in rows", ("a", "b"))))
    assert by_column == [by_column[0], by_column[1]] * 2
    assert by_row == [by_column[0]] * 2 + [by_column[1]] * 2


def test_a_wrong_split_is_seen_by_its_tokens():
    Q = np.array([[0, 1, 2, 3], [100, 101, 102, 103], [200, 201, 202, 203]])
    wrong = figures.heads_apart(Q, TOKENS, heads=Q.reshape(2, 3, 2))
    cat, mat, _ = map(palette.token_fill, (0, 1, 2))
    cells = [fill for fill in fills(wrong) if fill in palette.TOKENS][12:18]
    assert cells == [cat, cat, cat, cat, mat, mat]


def test_a_right_split_has_the_heads_colours_and_may_hold_a_number_twice():
    drawn = figures.heads_apart([[1, 1], [1, 1]], TOKENS[:2])
    one, two = fills(drawn)[:2]
    assert one != two
    assert fills(drawn) == [one, two, one, two, one, one, two, two]
    with pytest.raises(ValueError, match="a number occurs twice in Q, so it cannot be followed; give numbers all"):
        figures.heads_apart([[0, 1], [1, 0]], TOKENS[:2], heads=[[[0], [0]], [[1], [1]]])


def test_matrices_that_have_no_room_beside_each_other_go_on_below():
    wide = Matrix("wide", np.ones((1, 12)), "X", ("a",))
    one, two = figures.matrices(wide), figures.matrices(wide, wide)
    assert two.width == one.width


def test_matrices_go_on_below_where_somebody_wants_it():
    small = Matrix("small", np.ones((1, 1)), "X", ("a",))
    for between, n_columns, n_rows in (([], 2, 1), (["\n"], 1, 2)):
        titles = nodes(figures.matrices(small, *between, small), "text")
        titles = [title for title in titles if title.text == "small"]
        places = [{title.get(side) for title in titles} for side in ("x", "y")]
        assert [*map(len, places)] == [n_columns, n_rows]


def test_titles_beside_each_other_stand_on_one_line_and_cells_below_each_other_in_one_column():
    named = Matrix("named", np.ones((2, 1)), "X", ("a", "b"), ("column",))
    plain = Matrix("plain", np.ones((1, 1)), "X", ("a longer name",))
    titles = [node for node in nodes(figures.matrices(named, "×", plain), "text") if node.get("font-weight") == "bold"]
    assert len({title.get("y") for title in titles}) == 1
    titles = [node for node in nodes(figures.matrices(named, "\n", plain), "text") if node.get("font-weight") == "bold"]
    assert len({title.get("x") for title in titles}) == 1


# ---- words and the whole ---------------------------------------------------------------------


def arcs_of(figure, looks):
    """Return what is said of each arc, by query and key: those of one look are one path."""
    found = {}
    for node in nodes(figure, "path"):
        for arc in node.get("d").split("M")[1:]:
            (_, start), *_, (_, end) = re.findall(r"([\d.]+) ([\d.]+)", arc)
            found[float(start), float(end)] = float(node.get(looks))
    return np.array([found[place] for place in sorted(found)]).reshape(WEIGHTS.shape)


def test_arcs_are_as_thick_as_their_weights():
    widths = arcs_of(figures.arcs(WEIGHTS, TOKENS), "stroke-width")
    assert widths == pytest.approx(9 * WEIGHTS, abs=0.01)


def test_a_chosen_query_stands_out_with_its_shares():
    drawn = figures.arcs(WEIGHTS, TOKENS, query="it")
    opacities = arcs_of(drawn, "stroke-opacity")
    assert opacities[0].min() > 3 * opacities[1:].max()
    assert {"0.10", "0.68", "0.22"} <= set(texts(drawn))
    assert repr(drawn) == "Attention arcs: “it” attends most to “cat” (0.68), then to “mat” (0.22) and “it” (0.10)."


def test_the_gpt_expects_what_the_courses_decoder_expects():
    model = decoder.load()
    probabilities = softmax(model.predict(CHARACTERS)[0][-1])
    likeliest = np.argsort(-probabilities)[: len(NEXT)]
    found = [(model.alphabet[code].replace(" ", "␣"), style.number(probabilities[code])) for code in likeliest]
    assert found == [(character, style.number(probability)) for character, probability in NEXT]


def test_words_are_escaped_and_a_figure_waits_for_no_pointer():
    drawn = figures.arcs([[1.0]], ["<b>"])
    assert ":hover" not in drawn.svg, "an image doesn't know where the pointer is; what hover shows is for labs"
    assert "&lt;b&gt; to &lt;b&gt;: 1.00" in drawn.svg
    assert "script" not in drawn.svg


def test_the_whole_block_names_its_tensors_and_says_where_it_looks():
    drawn = figures.whole_block()
    assert {"X", "W_Q", "Q", "weights 0", "weights 1", "concat", "W_O", "output"} <= set(texts(drawn))
    assert repr(drawn).endswith("In head 0 “it” looks mostly at “cat”; in head 1 “it” looks mostly at “sat”.")


def test_hidden_cells_are_grey_without_a_number_and_red_where_there_is_something_all_the_same():
    weights, hidden = [[1.0, 0.0], [0.4, 0.6]], [[False, True], [False, True]]
    drawn = figures.matrices(Matrix("weights", weights, "weights", ("cat", "sat"), ("cat", "sat"), hidden=hidden))
    assert repr(drawn) == "weights: cat (1.00, hidden), sat (0.40, 0.60 though hidden)."
    assert "0.00" not in texts(drawn)
    assert drawn.svg.count(style.HIDDEN) == 1
    assert drawn.svg.count(style.ALARM) == 1


def test_hidden_has_the_shape_of_its_matrix():
    with pytest.raises(ValueError, match="give one for each cell"):
        figures.matrices(Matrix("weights", [[1.0, 0.0]], "weights", ("cat",), hidden=[[True]]))


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: figures.matrices(Matrix("X", WEIGHTS, "query", TOKENS)), "role 'query'; give one of X, queries"),
        (lambda: figures.arcs(WEIGHTS, TOKENS[:2]), "weights have shape .3, 3. for 2 queries and 2 keys"),
        (lambda: figures.arcs(WEIGHTS, TOKENS, query="dog"), "there is no query 'dog'; give one of it, cat, mat"),
        (lambda: figures.heads_apart(WEIGHTS, TOKENS), "Q has shape .3, 3.; give"),
    ],
)
def test_bad_input_is_refused_in_words(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
