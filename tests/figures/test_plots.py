"""Plots: what matplotlib draws is the data, on anybody's axes, and notebooks show it as they show other figures."""

import base64
import io
import re
import subprocess
import sys

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure as Drawing
from PIL import Image

from live_pictures import style
from mha_helpers import figures
from mha_helpers.drawing import palette
from mha_helpers.drawing.shown import PIXELS, SHEET, Plot

TOKENS = ("it", "cat", "mat")
WEIGHTS = np.array([[0.1, 0.68, 0.22], [0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])
LONG = "a name that takes more than a single line"
PLOTS = {
    "attention_map": lambda **options: figures.attention_map(WEIGHTS, TOKENS, **options),
    "layer_map": lambda **options: figures.layer_map(np.tile(WEIGHTS, 4), **options),
    "bars": lambda **options: figures.bars(
        [[0.7, 0.1], [-0.1, np.nan]], ["tired", LONG], series=["cat", "mat"], lines={"guessing": 0.5}, **options
    ),
    "curves": lambda **options: figures.curves([1, 2, 4], [[1, 2, 3], [3, 2, 1]], ["a", "b"], x_name="d_k", **options),
    "losses": lambda **options: figures.curves(
        range(250, 1250, 250), [[2.58, 1.94, 1.5, 1.26], [2.2, 1.87, 1.6, 1.48]], ["seen", "new"], **options
    ),
}


@pytest.fixture(params=PLOTS)
def draw(request):
    return PLOTS[request.param]


@pytest.fixture
def axes():
    fig, axes = plt.subplots(1, 2)
    yield axes
    plt.close(fig)


# ---- what all of them do ---------------------------------------------------------------------


def test_a_plot_draws_on_the_axes_that_it_is_given(draw, axes):
    left, right = axes
    assert draw(ax=left, title="mine") is left
    assert left.get_title(loc="left") == "mine"
    assert left.has_data()
    assert not right.has_data()


def test_a_plot_alone_has_a_figure_that_pyplot_does_not_know(draw):
    settings = dict(matplotlib.rcParams)
    drawn = draw()
    assert isinstance(drawn, matplotlib.axes.Axes)
    assert not plt.get_fignums(), "it would be shown twice, and kept"
    assert dict(matplotlib.rcParams) == settings, "the learner's settings are changed"


def test_a_plot_alone_shows_itself_as_svg_with_words_and_a_png(draw):
    drawn = draw(title="mine")
    bundle = drawn._repr_mimebundle_()
    assert bundle["text/plain"] == repr(drawn) == str(drawn)
    assert "mine" in repr(drawn)
    assert f'alt="{bundle["text/plain"]}"' in bundle["text/html"]
    picture = base64.b64decode(re.search(r"svg\+xml;base64,([\w+/=]+)", bundle["text/html"])[1]).decode()
    assert "<dc:date>" not in picture
    with Image.open(io.BytesIO(base64.b64decode(bundle["image/png"]))) as png:
        assert png.text["Description"] == repr(drawn)


def test_a_new_title_is_said(draw):
    drawn = draw(title="mine")
    drawn.set_title("yours", loc="left")
    assert "yours" in repr(drawn)
    assert "mine" not in repr(drawn)


def test_a_stored_plot_is_the_same_every_time(draw):
    assert Plot(draw()).html() == Plot(draw()).html()


def test_letters_are_large_enough_on_a_phone(draw):
    """The room for a picture is 344 pixels there."""
    drawing = Plot(draw(title="a title that takes more room than there is above a plot, and goes on below")).drawing
    shrunk = min(1, 344 / (PIXELS * drawing.get_figwidth()))
    points = {text.get_fontsize() for text in drawing.findobj(matplotlib.text.Text) if text.get_text()}
    assert min(points) * PIXELS / 72 * shrunk >= 10


def test_all_words_stand_inside_the_figure(draw):
    drawing = Plot(draw(title="a title that takes more room than there is above a plot, and goes on below")).drawing
    drawing.draw_without_rendering()
    width, height = drawing.get_size_inches()
    box = drawing.get_tightbbox()
    assert -0.01 <= box.x0 < box.x1 <= width + 0.01
    assert -0.01 <= box.y0 < box.y1 <= height + 0.01


def test_noise_in_the_last_digits_is_not_seen():
    noise = 1e-9 * np.array([1, -1, 1])
    drawings = (
        lambda more: figures.attention_map(WEIGHTS + more, TOKENS),
        lambda more: figures.bars(WEIGHTS[0] + more, TOKENS),
        lambda more: figures.curves([1, 2, 4], WEIGHTS[0] + more),
        lambda more: figures.curves([1, 2, 4], np.array([1000, 1, 0.0004]) * (1 + more)),
    )
    for draw in drawings:
        assert Plot(draw(0)).html() == Plot(draw(noise)).html()


def test_a_plot_is_saved_as_matplotlib_saves_it(draw, tmp_path):
    drawn = draw()
    drawn.figure.savefig(tmp_path / "mine.pdf")
    Plot(drawn).savefig(tmp_path / "mine.svg")
    assert (tmp_path / "mine.pdf").read_bytes().startswith(b"%PDF")
    assert "<svg" in (tmp_path / "mine.svg").read_text(encoding="utf-8")


def test_importing_figures_does_not_load_matplotlib():
    code = "import sys\nfrom mha_helpers import figures\nprint('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_the_style_sheet_has_the_courses_colours():
    with plt.style.context(SHEET):
        colours = [look["color"].lower() for look in plt.rcParams["axes.prop_cycle"]]
    wanted = [style.INK, palette.HEADS[0], palette.ROLES["keys"], palette.ROLES["values"]]
    assert [f"#{colour.removeprefix('#')}" for colour in colours] == wanted


# ---- figures of pyplot's ---------------------------------------------------------------------

SHOWN_BY_JUPYTER = """
import os
os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
import matplotlib.pyplot as plt
from mha_helpers import figures
{draw}
shown, _ = shell.display_formatter.format(plt.gcf())
print(sorted(shown), shown["text/plain"], b"Description" in bytes(shown["image/png"]) if "text/html" in shown else "")
"""


TWO_OF_THE_COURSES = "for ax in plt.subplots(1, 2)[1]: figures.bars([0.5], ['cat'], title='share', ax=ax)"
ONE_OF_A_LEARNERS = "figures.bars([0.5], ['cat'])\nplt.subplots()"


@pytest.mark.parametrize(
    ("draw", "shown"),
    [
        (TWO_OF_THE_COURSES, "['image/png', 'text/html', 'text/plain'] share. cat: 0.50. share. cat: 0.50. True\n"),
        (ONE_OF_A_LEARNERS, "['image/png', 'text/plain'] <Figure size 640x480 with 1 Axes> \n"),
    ],
    ids=["the course's plots", "a learner's own"],
)
def test_a_figure_of_pyplots_has_the_words_of_the_plots_in_it(draw, shown):
    code = SHOWN_BY_JUPYTER.format(draw=draw)
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == shown


# ---- maps ------------------------------------------------------------------------------------


def written(drawn):
    return [text.get_text() for text in drawn.texts]


def colours(drawn):
    [image] = drawn.images
    return [to_hex(colour) for row in image.to_rgba(image.get_array()) for colour in row]


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_an_attention_map_draws_every_weight_with_its_colour():
    drawn = figures.attention_map(WEIGHTS, TOKENS)
    assert written(drawn) == [style.number(weight) for weight in WEIGHTS.flat]
    assert colours(drawn) == [palette.weight_colour(weight) for weight in WEIGHTS.flat]
    assert (ticks(drawn.xaxis), ticks(drawn.yaxis)) == (list(TOKENS), list(TOKENS))
    assert (drawn.get_xlabel(), drawn.get_ylabel()) == ("", "query \\ key")
    gold = figures.attention_map(WEIGHTS, TOKENS, head=1)
    assert colours(gold) == [palette.head_weight_colours(1)(weight) for weight in WEIGHTS.flat]


def test_an_attention_map_says_who_attends_to_whom():
    assert repr(figures.attention_map(WEIGHTS[:2], TOKENS[:2], TOKENS)) == (
        "Attention weights, 2 queries by 3 keys: “it” attends most to “cat” (0.68), “cat” attends most to “it” (0.50)."
    )
    assert repr(figures.attention_map([[np.nan, np.nan], [0, 0]], ("a", "b"))) == (
        "Attention weights, 2 queries by 2 keys: “a” has NaN or infinity, “b” attends to nothing."
    )
    assert repr(figures.attention_map([[0.4, 0.4, 0.2], [1 / 3] * 3], ("a", "b"), "abc")).endswith(
        "“a” attends most to “a” and “b” (0.40 each), “b” attends to all equally (0.33)."
    )


def test_many_weights_of_nearly_zero_are_left_blank():
    """A map of a real head has a number where it looks, and is not a sheet of zeros."""
    drawn = figures.attention_map(np.eye(13, k=-1), [f"w{i}" for i in range(13)])
    assert (written(drawn).count("1"), written(drawn).count("")) == (12, 157)


def test_a_map_of_all_heads_has_a_number_for_each():
    sharp = figures.layer_map(np.eye(6, 12))
    assert (written(sharp).count("1"), written(sharp).count(".00")) == (6, 66)


@pytest.mark.parametrize("keys", [TOKENS, ("a key with a long name", *"abcdefghijk")], ids=["level", "turned"])
def test_the_corner_stands_beside_the_names_and_on_none(keys):
    drawn = figures.attention_map(np.full((3, len(keys)), 0.1), TOKENS, keys)
    drawn.figure.draw_without_rendering()
    corner = drawn.yaxis.label.get_window_extent()
    names = [*drawn.get_xticklabels(), *drawn.get_yticklabels()]
    assert not [name.get_text() for name in names if name.get_window_extent().overlaps(corner)]


def test_keywords_go_on_to_the_artist():
    [image] = figures.attention_map(WEIGHTS, TOKENS, vmax=0.7, cmap="viridis").images
    assert image.get_clim() == (0, 0.7)
    assert image.get_cmap().name == "viridis"
    [bar, *_] = figures.bars([1.0], ["cat"], color="red").patches
    assert to_hex(bar.get_facecolor()) == "#ff0000"
    [line] = figures.curves([1, 2], [1.0, 2.0], linewidth=7).lines
    assert line.get_linewidth() == 7


def test_where_a_head_looks_at_one_token_the_map_of_spreads_is_dark():
    sharp, wide = colours(figures.layer_map([[0.0, 1.0]], "entropy", spread=True))
    assert (sharp, wide) == (palette.SPREAD[0], palette.SPREAD[-1])


# ---- bars and curves -------------------------------------------------------------------------


def test_bars_are_as_long_as_their_values_and_a_sign_has_a_colour():
    positive, negative = figures.bars([0.3, -0.6], ["one", "two"]).patches
    assert (positive.get_width(), negative.get_width()) == (0.3, -0.6)
    assert positive.get_facecolor() != negative.get_facecolor()


def test_where_there_is_no_value_there_is_no_bar():
    drawn = figures.bars([[1.0, 2.0], [np.nan, 3.0]], ["one", "two"], series=["a", "b"])
    assert [bar.get_width() for bar in drawn.patches] == [1, 2, 3]
    assert repr(drawn) == "Bars. one: a 1.00, b 2.00; two: b 3.00."
    alone = drawn.patches[2]
    assert alone.get_y() + alone.get_height() / 2 == pytest.approx(1), "it stands beside its name"


def test_no_line_runs_through_a_number():
    drawn = figures.bars([1.67, 4.0, 15.94], ["one", "two", "three"], lines={"guessing": 4.17, "a coin": 0.7})
    drawn.figure.draw_without_rendering()
    lines = [line.get_window_extent().x1 for line in drawn.lines]
    assert min(number.get_window_extent().x0 for number in drawn.texts) > max(lines)


def test_a_token_that_occurs_twice_has_two_bars():
    assert len(figures.bars([0.1, 0.2, 0.7], ("the", "cat", "the")).patches) == 3


def test_curves_draw_what_they_are_given():
    drawn = figures.curves([1, 2, 4], [[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]], ["a", "b"], x_name="d_k", doubling=True)
    a, b = drawn.lines
    assert a.get_xydata().tolist() == [[1, 1], [2, 2], [4, 3]]
    assert b.get_ydata().tolist() == [3, 2, 1]
    assert drawn.get_xscale() == "log"
    assert ticks(drawn.xaxis) == ["1", "2", "4"]
    assert repr(drawn) == "Curves against d_k = 1, 2, 4. a 1.00, 2.00, 3.00, b 3.00, 2.00, 1.00."


@pytest.mark.parametrize("height", [2.0, 5.0])
def test_a_legend_stands_below_the_axis_name(height):
    drawn = figures.curves([1, 2], [[1.0, 2.0], [2.0, 1.0]], ["a", "b"], x_name="steps")
    drawn.figure.set_figheight(height)
    drawn.figure.draw_without_rendering()
    assert drawn.get_legend().get_window_extent().y1 < drawn.xaxis.label.get_window_extent().y0


def test_two_curves_differ_in_more_than_colour():
    a, b = figures.curves([1, 2], [[1.0, 2.0], [2.0, 1.0]], ["a", "b"]).lines
    assert a.get_linestyle() != b.get_linestyle()
    assert a.get_marker() != b.get_marker()


def test_curves_that_span_much_are_drawn_on_a_logarithmic_scale():
    drawn = figures.curves([1, 2, 4], [1000.0, 1.0, 0.0004], ["a"])
    assert drawn.get_yscale() == "log"
    assert repr(drawn).endswith("a 1e+03, 1, 0.0004.")


def test_curves_that_share_an_axis_are_all_seen():
    left, right = Drawing().subplots(1, 2, sharey=True)
    figures.curves([1, 2], [0.0, 2.0], ax=left)
    figures.curves([1, 2], [0.0, 6.0], ax=right)
    low, high = left.get_ylim()
    assert low == 0
    assert high > 6


def test_many_points_are_said_by_three():
    drawn = figures.curves(range(101), [100 - i for i in range(101)], ["a"], x_name="step", title="loss")
    assert repr(drawn) == "Curves against step = 0, 50, 100. loss: a 100.00, 50.00, 0.00."


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (
            lambda: figures.attention_map(WEIGHTS, TOKENS[:2]),
            "weights have shape .3, 3. for 2 queries and 2 keys; give",
        ),
        (lambda: figures.attention_map(WEIGHTS, TOKENS, TOKENS[:2]), "for 3 queries and 2 keys; give one for each"),
        (lambda: figures.attention_map([WEIGHTS], TOKENS), "weights have shape .1, 3, 3.; give two axes"),
        (lambda: figures.layer_map([1.0]), "values have shape .1,.; give two axes"),
        (lambda: figures.bars([1.0], TOKENS), "values have shape .1,. for 3 labels and 0 series; give one number"),
        (
            lambda: figures.bars([], []),
            "values have shape .0,. for 0 labels and 0 series; give one number for each of them",
        ),
        (lambda: figures.bars([[np.nan]], ["a"]), "and at least one"),
        (lambda: figures.bars([[1.0, 2.0]], ["a"], series=["x"]), "for 1 labels and 1 series"),
        (lambda: figures.curves([1, 2], []), "values have shape .1, 0. for 2 x and 0 names; give one value for each x"),
        (lambda: figures.curves([1, 2], [[1, 2], [3, 4]], ["a"]), "and a name for each curve"),
        (lambda: figures.curves([0, 2], [1.0, 2.0], doubling=True), "x begins at 0, and doubles; give only numbers"),
    ],
)
def test_bad_input_is_refused_in_words(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
