"""The labs, driven without a browser: set a control, press a button, read the picture."""

import html
import io
import re
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import ipywidgets
import nbformat
import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from PIL import Image

from live_pictures import card, style
from live_pictures.card import MAX_WIDTH, Picture
from mha_helpers import attention, exercises, labs, masks, running_example
from tools.page.pictures import fingerprint, stored_picture

order = import_module("mha_helpers.labs.self_attention.word_order")
workbench = import_module("mha_helpers.labs.self_attention.qkv_workbench")

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
OUTPUTS = ("context", "weights")


def softmax_over_queries(queries, keys, values):
    scores = queries @ keys.T
    weights = np.exp(scores) / np.exp(scores).sum(axis=0)
    return weights @ values, weights


class Learner(NamedTuple):
    """What a learner may hand to a lab: a right function, and a wrong one that can be shown."""

    right: object
    wrong: object


MULTI_HEAD_ATTENTION = Learner(
    attention.multi_head_attention,
    lambda X, W_Q, W_K, W_V, W_O, n_heads, mask=None: attention.multi_head_attention(
        X, W_Q, W_K, W_V, W_O.T, n_heads, mask
    ),
)
SELF_ATTENTION = Learner(attention.dot_product_attention, softmax_over_queries)
READ_ONLY = ipywidgets.HTML, ipywidgets.Label
LEARNERS = {
    "block_tour": MULTI_HEAD_ATTENTION,
    "head_browser": MULTI_HEAD_ATTENTION,
    "leak_detector": Learner(masks.causal_mask, lambda n: np.tri(n, k=1, dtype=bool)),
    "mask_studio": Learner(
        attention.masked_attention, lambda queries, keys, values, mask: softmax_over_queries(queries, keys, values)
    ),
    "qkv_workbench": SELF_ATTENTION,
    "split_lab": Learner(attention.split_heads, lambda X, n_heads: X.reshape(n_heads, X.shape[0], -1)),
    "sum_of_heads": Learner(attention.head_contributions, lambda heads, W_O: heads @ W_O[:2]),
    "which_bug": MULTI_HEAD_ATTENTION,
    "softmax_scaling": Learner(attention.softmax, lambda scores: np.exp(scores) / np.exp(scores).sum(axis=0)),
    "word_order": SELF_ATTENTION,
}


def learner_of(name):
    """Find what a learner may hand to a lab: its exercise's own function, and the first mistake that it marks."""
    make = getattr(labs, name)
    named = re.search(r"the course's own (\w+)", make().still_picture.notice)
    if named is None:
        return None
    exercise = getattr(exercises, named[1])
    wrong = (function for mistake in exercise.mistakes for function in mistake.implementations)
    return Learner(exercise.reference, next(function for function in wrong if "≠" in make(function).picture.value))


LEARNERS |= {name: found for name in labs.__all__ if name not in LEARNERS and (found := learner_of(name))}


@pytest.fixture(params=labs.__all__)
def make_lab(request):
    return getattr(labs, request.param)


@pytest.fixture(params=LEARNERS)
def make_learners_lab(request):
    """A lab that runs on the learner's function, and shows it."""

    def make(*function):
        lab = getattr(labs, request.param)(*function)
        if request.param == "which_bug":  # where it is one of the patients
            lab.set(patient="yours", **{"row sums": True})
        return lab

    make.__name__ = request.param
    return make


# ---- the frame -------------------------------------------------------------------------------


def test_reset_brings_back_the_first_picture(make_lab):
    lab = make_lab()
    first = lab.picture.value
    chosen = {name: control for name, control in lab.controls.items() if hasattr(control, "options")} or lab.controls
    lab.set(**{name: another_value(control) for name, control in chosen.items()})
    assert lab.picture.value != first
    lab.buttons["Reset"].click()
    assert lab.picture.value == first


def test_every_other_lab_runs_on_a_learners_function():
    """Or on a training that ran on it, or before there is one, or on no attention at all."""
    without = {"shape_tracer", "training_run", "two_banks", "with_and_without_attention"}
    without |= {"a_trained_head", "coin_tosses", "find_the_cat", "row_times_column", "the_future_hidden"}
    assert set(labs.__all__) - set(LEARNERS) == without, "a lab that runs on no function is named in `without`"


@pytest.mark.parametrize(("folder", "names"), labs.LABS.items())
def test_every_lab_stands_in_the_notebook_of_its_folder_and_in_no_other(folder, names):
    [notebook] = NOTEBOOKS.glob(f"[0-9][0-9]_{folder}*.ipynb")
    code = "\n".join(cell.source for cell in nbformat.read(notebook, 4).cells if cell.cell_type == "code")
    assert sorted(re.findall(r"\blabs\.(\w+)\(", code)) == sorted(names)


def test_several_controls_are_drawn_once(make_lab, monkeypatch):
    lab = make_lab()
    drawn = []
    render = lab.render
    monkeypatch.setattr(lab, "render", lambda *results: drawn.append(1) or render(*results))
    lab.set(**{name: another_value(control) for name, control in lab.controls.items()})
    assert len(drawn) == 1


def test_one_control_is_drawn_once(make_lab, monkeypatch):
    """Also where it sets others: half of them would be drawn in between."""
    lab = make_lab()
    drawn = []
    render = lab.render
    monkeypatch.setattr(lab, "render", lambda *results: drawn.append(1) or render(*results))
    for name, control in lab.controls.items():
        drawn.clear()
        control.value = another_value(control)
        assert len(drawn) <= 1, name  # a probe that is switched off stays on


def another_value(control):
    """Return a value that a control has not now: without the guard each such change would be drawn."""
    if hasattr(control, "options"):
        values = [option[1] if isinstance(option, tuple) else option for option in control.options]
    elif isinstance(control.value, str):
        return control.value  # text may have a form that only its lab knows
    elif isinstance(control.value, bool):
        values = [not control.value]
    else:
        values = [getattr(control, "min", control.value - 1), getattr(control, "max", control.value + 1)]
    return next(value for value in values if value != control.value)


def children(widget):
    """Return a widget and all that stands in it, in the order of the page."""
    inner = (inner for child in getattr(widget, "children", ()) for inner in children(child))
    return [widget, *inner]


def test_a_lab_is_one_card_with_everything_in_it(make_lab):
    lab = make_lab()
    found = children(lab.widget)
    assert "mha-lab" in lab.widget._dom_classes
    assert f"Lab: {html.escape(lab.title)}." in lab.widget.children[0].value
    assert found.index(lab.picture) < found.index(lab.readout)
    for button in lab.buttons.values():
        assert found.count(button) == 1


def test_no_picture_is_wider_than_the_narrowest_card(make_lab):
    for width in re.findall(r'<svg [^>]*?width="([\d.]+)"', make_lab().picture.value):
        assert float(width) <= MAX_WIDTH


def test_no_text_is_smaller_than_can_be_read(make_lab):
    assert min(float(size) for size in re.findall(r'font-size="([\d.]+)"', make_lab().picture.value)) >= style.MIN_SIZE


def test_what_cannot_be_named_is_not_a_control(make_lab):
    """Core ipywidgets cannot name a slider, and of a toggle button it cannot say whether it is on."""
    for widget in children(make_lab().widget):
        assert "Slider" not in type(widget).__name__
        assert not isinstance(widget, ipywidgets.ToggleButton)
        if isinstance(widget, ipywidgets.DOMWidget) and hasattr(widget, "value") and not isinstance(widget, READ_ONLY):
            assert widget.description


def test_a_right_function_is_run(make_learners_lab):
    right = LEARNERS[make_learners_lab.__name__].right
    lab = make_learners_lab(lambda *arguments, **named: right(*arguments, **named))
    assert f"Running on your {right.__name__}." in lab.picture.value
    assert "≠" not in lab.picture.value


def test_the_courses_own_function_is_not_called_the_learners(make_learners_lab):
    right = LEARNERS[make_learners_lab.__name__].right
    assert html.escape(f"Shown with the course's own {right.__name__}.") in make_learners_lab(right).picture.value


def test_a_wrong_function_is_run_and_marked(make_learners_lab):
    page = make_learners_lab(LEARNERS[make_learners_lab.__name__].wrong).picture.value
    assert "is not right yet (marked ≠): " in page
    assert page.count("≠") > 1, "marked in the notice and on the picture"


@pytest.mark.parametrize(
    ("function", "notice"),
    [
        pytest.param(None, html.escape("Shown with the course's own"), id="none"),
        pytest.param(lambda *arguments, **named: ..., "yours is not written yet", id="stub"),
        pytest.param(lambda *arguments, **named: 1 / 0, "yours stopped with ZeroDivisionError", id="raises"),
        pytest.param(lambda *arguments, **named: np.zeros(1), "in the right shapes", id="shapes"),
        pytest.param(lambda *arguments, **named: "right", "in the right shapes", id="text"),
        pytest.param(3, "what was given is not a function but int", id="no function"),
    ],
)
def test_what_cannot_be_shown_is_said(make_learners_lab, function, notice):
    page = make_learners_lab(function).picture.value
    assert notice in page
    assert "≠" not in page


def test_a_wrong_function_is_marked_where_it_visibly_differs():
    result = workbench.compute(labs.qkv_workbench().first_state, softmax_over_queries)
    arguments = (result.queries, result.keys, result.values)
    for name, got, want in zip(
        OUTPUTS, softmax_over_queries(*arguments), attention.dot_product_attention(*arguments), strict=True
    ):
        np.testing.assert_array_equal(result.differs[name], got.round(2) != want.round(2))


def test_the_mistake_has_the_panels_name():
    page = labs.qkv_workbench(softmax_over_queries).picture.value
    assert "Not yet: softmax-over-queries. Your dot_product_attention is not right yet (marked ≠)" in page


def test_a_learners_function_cannot_change_the_lab():
    def destroys(queries, keys, values):
        context, weights = attention.dot_product_attention(queries, keys, values)
        for array in (queries, keys, values):
            array[:] = 99
        return context, weights

    lab, own = (
        labs.qkv_workbench(destroys),
        labs.qkv_workbench(lambda *arguments: attention.dot_product_attention(*arguments)),
    )
    assert lab.picture.value == own.picture.value


def test_a_notice_on_a_function_that_is_not_right_takes_two_lines(make_learners_lab):
    def stops(*arguments, **named):
        return "a line of yours may be as long as this one is", sum(arguments, start="and what Python says, too")

    for function in (stops, LEARNERS[make_learners_lab.__name__].wrong):
        lab = make_learners_lab(function)
        assert len(re.search(r">([^<]+)</p>", lab.picture.value)[1]) <= 200


def test_an_exception_in_a_callback_is_shown_in_the_lab(make_lab, monkeypatch):
    lab = make_lab()
    monkeypatch.setattr(lab, "compute", lambda *arguments: [][1])
    with pytest.raises(IndexError):
        lab.update()
    assert "This lab stopped:</b> IndexError" in lab.picture.value
    assert 'role="alert"' in lab.picture.value


def test_text_from_a_learner_is_escaped():
    assert "<script>" not in card.still("<script>", "<script>", Picture("", "<script>", "<script>"), note="")


def test_a_still_says_that_it_is_one_in_a_line_that_can_be_read(make_lab):
    line = "Still picture. Run all cells above, then this one, for the live lab."
    assert f'color:var(--mha-quiet)">{line}<' in make_lab().still


@pytest.mark.parametrize("theme", [card.LIGHT, card.DARK])
def test_a_cards_text_can_be_read_in_every_theme(theme):
    colours = dict(re.findall(r"--mha-(\w+): (#\w+);", theme))
    for ink in ("ink", "quiet", "alarm"):
        assert min(style.contrast(colours[ink], colours[ground]) for ground in ("paper", "panel")) >= 4.5, ink


def test_text_and_background_are_coloured_for_any_theme(make_lab):
    lab = make_lab()
    assert "--mha-ink: #1a1a1a" in lab.widget.children[0].value


def test_the_sentence_is_the_readout_and_the_pictures_name(make_lab):
    lab = make_lab()
    sentence = html.escape(lab.draw(lab.state, None).sentence)
    assert f"<b>What you see:</b> {sentence}" in lab.readout.value
    assert f'aria-label="{sentence}"' in lab.picture.value


def test_in_plain_text_it_is_its_still_pictures_sentence(make_lab):
    lab = make_lab()
    words = f"Lab: {lab.title}. {lab.still_picture.sentence} Run all cells above, then this one, for the live lab."
    assert lab.description == words


def test_a_change_is_announced(make_lab):
    lab = make_lab()
    assert 'role="status"' in lab.readout.value
    lab.update()
    assert 'role="alert"' in lab.readout.value


def test_two_labs_on_a_page_share_no_ids(make_lab):
    assert not re.findall(r"\bid=", make_lab().picture.value)


def test_it_is_shown_as_its_picture_and_alive(make_learners_lab, monkeypatch):
    shown = []
    monkeypatch.setattr("live_pictures.live.display", lambda data, **more: shown.append(data))
    lab = make_learners_lab(LEARNERS[make_learners_lab.__name__].wrong)
    InteractiveShell.instance().display_formatter.format(lab)
    bundle, view = shown
    assert set(bundle) == {"text/html", "image/png", "text/plain"}
    assert f'<div class="mha-still"><img alt="{html.escape(bundle["text/plain"])}"' in bundle["text/html"]
    assert bundle["image/png"] in bundle["text/html"]
    more = bundle["text/html"].replace(bundle["image/png"], "").replace(html.escape(bundle["text/plain"]), "")
    assert len(more) < 1200, "the layer's code comes with the widgets, and is stored in no notebook"
    assert view["application/vnd.jupyter.widget-view+json"]["model_id"] == lab.widget.model_id
    assert view["text/plain"] == "", "what is stored of it, and shown where no widget is"
    assert bundle["text/plain"] == make_learners_lab().description, "what nbval compares must not depend on the learner"


def test_the_stored_picture_is_up_to_date(make_lab):
    lab = make_lab()
    with Image.open(io.BytesIO(stored_picture(lab.name).read_bytes())) as picture:
        carried = {key: picture.text[key] for key in ("Description", "Source")}
    assert carried == fingerprint(lab), "run python -m tools refresh"


# ---- Q, K, V workbench -----------------------------------------------------------------------


def test_the_workbench_starts_with_the_running_example():
    result = workbench.compute(labs.qkv_workbench().first_state)
    context, weights = attention.dot_product_attention(
        *(running_example.X @ matrix for matrix in running_example.first_head())
    )
    np.testing.assert_array_equal(result.weights, weights)
    np.testing.assert_array_equal(result.context, context)


@pytest.mark.parametrize("draw", range(5))
def test_scores_are_symmetric_only_when_tied(draw):
    lab = labs.qkv_workbench()
    rng = np.random.default_rng(draw)
    for matrix in workbench.MATRICES:
        lab.set(**workbench.entries(matrix, rng.normal(size=workbench.SHAPE).round(2)))
    assert "The scores are not symmetric" in lab.picture.value
    lab.buttons["Tie W_K = W_Q"].click()
    scores = workbench.compute(lab.state).scores
    np.testing.assert_allclose(scores, scores.T)
    assert "The scores are symmetric" in lab.picture.value


def test_weights_do_not_depend_on_values():
    lab = labs.qkv_workbench()
    before = workbench.compute(lab.state)
    lab.controls["W_V[0,0]"].value = -7.5
    after = workbench.compute(lab.state)
    np.testing.assert_array_equal(before.weights, after.weights)
    assert after.moved["context"] > 0.5


def test_swapping_turns_the_scores_over_their_diagonal():
    lab = labs.qkv_workbench()
    before = workbench.compute(lab.state).scores
    lab.buttons["Swap W_Q and W_K"].click()
    np.testing.assert_allclose(workbench.compute(lab.state).scores, before.T)


def test_the_identity_hands_over_the_first_features():
    lab = labs.qkv_workbench()
    lab.buttons["W_V = identity"].click()
    np.testing.assert_array_equal(workbench.compute(lab.state).values, workbench.X[:, :2])


def test_the_dot_product_and_the_mixture_are_written_out():
    page = labs.qkv_workbench().picture.value
    assert ">score(it, cat)<" in page
    assert ">= 1 × 2 + 3 × 0 = 2<" in page
    texts = re.findall(r">([^<]+)</text>", page)
    start = texts.index("context", texts.index("context") + 1)  # after its name in the plane
    assert texts[start : start + 4] == ["context", "0.95", "1.75", "= 0.83 × [1, 2] + 0.11 × [1, 0] + …"]


def test_a_context_that_is_not_the_mixture_of_its_values_is_not_said_to_be():
    def backwards(queries, keys, values):
        context, weights = attention.dot_product_attention(queries, keys, values)
        return context[::-1], weights

    texts = re.findall(r">([^<]+)</text>", labs.qkv_workbench(backwards).picture.value)
    start = texts.index("context", texts.index("context") + 1)  # after its name in the plane
    assert texts[start : start + 4] == ["context", "0.92", "0.52", "≠ 0.83 × [1, 2] + 0.11 × [1, 0] + …"]


def test_what_has_changed_flashes():
    lab = labs.qkv_workbench()
    assert "mha-flash" not in lab.picture.value
    lab.controls["W_V[0,0]"].value += 1
    assert "mha-flash" in lab.picture.value


@pytest.mark.parametrize("extreme", [-10, 10])
def test_a_dragged_query_asks_as_the_maths_says(extreme):
    lab = labs.qkv_workbench()
    lab.set(**{"query across": 1.0, "query up": extreme / 20})
    result, (W_Q, W_K, W_V) = workbench.compute(lab.state), running_example.first_head()
    queries = np.vstack([running_example.X @ W_Q, [1, extreme / 20]])
    context, weights = attention.dot_product_attention(queries, running_example.X @ W_K, running_example.X @ W_V)
    np.testing.assert_allclose(result.asked_weights, weights[-1])
    np.testing.assert_allclose(result.asked_context, context[-1])
    np.testing.assert_allclose(result.weights[:-1], weights[:-2], err_msg="the others ask with their own")
    np.testing.assert_allclose(result.weights[-1], weights[-1], err_msg="its row follows it")
    lab.controls["query"].value = "cat"
    np.testing.assert_array_equal(workbench.compute(lab.state).asked, queries[0], "a chosen token asks with its own")


@pytest.mark.parametrize("extreme", [-10, 10])
def test_extreme_entries_stay_readable(extreme):
    lab = labs.qkv_workbench()
    lab.set(**{name: extreme for name in lab.controls if "[" in name})
    numbers = re.findall(r">(−?[\d.]+(?:e[+−]\d+)?)</text>", lab.picture.value)
    assert max(map(len, numbers)) <= 7, "a number must fit its cell"


# ---- word order -------------------------------------------------------------------------


@pytest.mark.parametrize("copy", [order.NO_COPY, *order.WORDS])
@pytest.mark.parametrize("words", order.ORDERS)
def test_without_positions_the_rows_are_only_permuted(words, copy):
    result = order.compute({"order": words, "copy": copy, "positions": False})
    np.testing.assert_allclose(result.context, result.first_context[result.order], atol=1e-12)
    assert result.differences.max() < 1e-12
    assert copy == order.NO_COPY or result.copy_difference < 1e-12


@pytest.mark.parametrize("words", [words for words in order.ORDERS if words != "dog bites man"])
def test_with_positions_the_order_matters(words):
    result = order.compute({"order": words, "copy": "dog", "positions": True})
    assert result.differences.max() > 0.1
    assert result.copy_difference > 0.01


def test_words_that_are_alike_in_greyscale_have_unlike_lines():
    assert labs.word_order().picture.value.count("stroke-dasharray") == 1


def test_a_position_dependent_function_is_noticed():
    """A learner's function that looks at places breaks the symmetry, and the lab shows it."""

    def causal(queries, keys, values):
        return attention.scaled_dot_product_attention(queries, keys, values, is_causal=True, scale=1.0)

    lab = labs.word_order(causal)
    lab.controls["order"].value = "man bites dog"
    assert "≠" in lab.picture.value
    assert "the order now matters" in lab.picture.value


def test_the_map_of_heads_shows_where_the_chosen_word_goes():
    lab, picture = labs.head_browser(), import_module("mha_helpers.labs.real_model.head_browser_picture")
    finds = lab.picture.value.partition('data-part="finds"')[2].partition("</g>")[0]
    corner = picture.MAP_LEFT, picture.MAP_TOP
    x, y = (start + k * size for start, k, size in zip(corner, (11, 5), picture.MAP_CELL, strict=True))
    word = rf'x="{x + picture.MAP_CELL[0] / 2:g}" y="{y + 16}"[^>]*>cat</text>'
    assert re.search(word, finds), "layer 5, head 11: from “it” to “cat”"
    lab.set(query=2)
    assert not re.search(word, lab.picture.value), "not from “cat”"


def test_a_number_of_the_block_says_how_it_came_about():
    lab = labs.block_tour()
    lab.controls["step"].value = next(option for option in lab.controls["step"].options if option.startswith("7."))
    assert 'data-tip="score(because, sat) = (0 × 3 + 1 × −1) / √2 = −0.71"' in lab.picture.value


def test_how_much_keys_are_told_apart_tells_one_divisor_from_another():
    lab = labs.softmax_scaling()
    assert "&gt; 999</text>" in lab.picture.value
    lab.controls["divisor"].value = "sqrt(d_k)"
    assert ">17</text>" in lab.picture.value
    lab.controls["divisor"].value = "d_k"
    assert ">1.4</text>" in lab.picture.value


def test_code_in_a_notice_looks_like_code():
    html = Picture("", "", "It goes wrong in line 2, `scores * 2 < 1`.").html()
    assert ">scores * 2 &lt; 1</code>." in html
    assert "`" not in html
