"""The mask studio, driven without a browser: click a cell, move a slider, read the picture."""

import html
import itertools
import re
import warnings
from importlib import import_module

import numpy as np
import pytest

from live_pictures import style
from mha_helpers import running_example
from mha_helpers.labs.masking.mask_studio import (
    AFTER,
    AS_IT_IS,
    BEFORE,
    CONSTANTS,
    HIDING,
    PRESETS,
    WRITTEN_AS,
    N,
    entry,
)

studio = import_module("mha_helpers.labs.masking.mask_studio")

FIRST = studio.mask_studio().first_state
EVERYTHING = np.ones((N, N), bool)
CAUSAL = np.tril(EVERYTHING)
ROW_3_EMPTY = CAUSAL.copy()
ROW_3_EMPTY[3] = False


def state(mask=EVERYTHING, **changes):
    return FIRST | studio.cells(mask) | {name.replace("_", " "): value for name, value in changes.items()}


def readout(mask=EVERYTHING, function=None, **changes):
    return studio.sentence(studio.compute(state(mask, **changes), function))


def softmax(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def written_out(state, mask):
    """Compute the weights cell by cell, from the settings as they are named."""
    inputs = studio.attention_inputs(state)
    weights = np.zeros((N, N))
    for i in range(N):
        scores = np.array([sum(inputs["queries"][i] * inputs["keys"][j]) / np.sqrt(8) for j in range(N)])
        if state["when"] == AFTER:
            weights[i] = softmax(scores) * mask[i]
        elif mask[i].any() or state["hiding value"] != "−inf":
            weights[i] = softmax(np.where(mask[i], scores, HIDING[state["hiding value"]]))
    return weights


def alarms_in(page):
    return re.findall(r">([^<>]*)</text><text[^>]*>not 1</text>", page)


# ---- numbers ---------------------------------------------------------------------------------

SETTINGS = {
    "when": (BEFORE, AFTER),
    "hiding value": tuple(HIDING),
    "added to all scores": tuple(CONSTANTS),
    "convention": tuple(WRITTEN_AS),
    "handed over": ("converted", AS_IT_IS),
    "length": (N, 3),
}


@pytest.mark.parametrize("mask", [EVERYTHING, ROW_3_EMPTY], ids=["all", "row 3 empty"])
@pytest.mark.parametrize("hiding", HIDING)
@pytest.mark.parametrize("when", SETTINGS["when"])
def test_every_setting_gives_the_numbers_that_numpy_gives(mask, when, hiding):
    rest = [name for name in SETTINGS if name not in ("when", "hiding value")]
    for values in itertools.product(*(SETTINGS[name] for name in rest)):
        now = state(mask) | {"when": when, "hiding value": hiding} | dict(zip(rest, values, strict=True))
        visible = mask & (np.arange(N) < now["length"])
        turned = now["handed over"] == AS_IT_IS and now["convention"] in ("True hides", "add 0 or −inf")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = studio.compute(now)
            page = studio.render(result).html()
        expected = written_out(now, ~visible if turned else visible)
        np.testing.assert_allclose(result.weights, expected, atol=1e-9)
        sums, sees = expected.sum(axis=1), (~visible if turned else visible).any(axis=1)
        off = (np.abs(sums - 1) > 1e-3) & (sees | (np.abs(sums) > 1e-3))
        assert len(alarms_in(page)) == off.sum(), "an alarm on the rows that do not sum to 1, though they see something"
        misplaced = np.where(visible, 0, expected).sum(axis=1)[(~visible if turned else visible).any(axis=1)]
        assert ("Hidden keys get" in page) == (misplaced.max(initial=0) > 1e-9)
        assert ("wrong way round" in page) == turned


def test_a_constant_changes_no_weights_where_hidden_is_minus_infinity():
    with_it, without = (
        studio.compute(state(CAUSAL, added_to_all_scores=constant)).weights for constant in ("−15000", "0")
    )
    np.testing.assert_allclose(with_it, without, atol=1e-9)


def test_the_numbers_are_the_running_examples():
    queries, keys, _ = (running_example.X @ matrix for matrix in running_example.first_head())
    scores = np.where(CAUSAL, queries @ keys.T / np.sqrt(2), -np.inf)
    np.testing.assert_allclose(studio.compute(FIRST).weights, softmax(scores))


def test_the_first_state_is_causal():
    np.testing.assert_array_equal(studio.compute(FIRST).mask, CAUSAL)


@pytest.mark.parametrize("length", range(1, N + 1))
def test_padding_hides_keys(length):
    result = studio.compute(state(CAUSAL, length=length))
    np.testing.assert_array_equal(result.mask, CAUSAL & (np.arange(N) < length))
    assert result.words[length:] == ("pad",) * (N - length)
    assert "pad" not in result.words[:length]


# ---- the grid --------------------------------------------------------------------------------

PATTERNS = {
    "causal": ["10000", "11000", "11100", "11110", "11111"],
    "nothing hidden": ["11111"] * 5,
    "padding": ["11100"] * 5,
    "causal and padding": ["10000", "11000", "11100", "11100", "11100"],
    "window of two": ["10000", "11000", "01100", "00110", "00011"],
    "prefix of two": ["11000", "11000", "11100", "11110", "11111"],
    "everything hidden": ["00000"] * 5,
}


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_exact_whatever_was_clicked_before(name):
    lab = studio.mask_studio()
    lab.controls["mask"].value = next(other for other in PRESETS if other != name)
    lab.set(**studio.cells(np.eye(N)))
    lab.controls["mask"].value = name
    mask = studio.compute(lab.state).mask
    assert ["".join(map(str, row.astype(int))) for row in mask] == PATTERNS[name]


@pytest.mark.parametrize("place", range(N))
def test_a_word_shows_its_row_or_column_and_hides_it(place):
    for line, whole in (({"queries": [place]}, (place, slice(None))), ({"keys": [place]}, (slice(None), place))):
        lab, expected = studio.mask_studio(), CAUSAL.copy()
        for seen in (True, False):
            lab.set(**studio.line(seen, **line))
            expected[whole] = seen
            np.testing.assert_array_equal(studio.compute(lab.state).mask, expected)


def test_a_click_hides_one_cell():
    lab = studio.mask_studio()
    lab.controls[entry(4, 2)].value = False
    expected = CAUSAL.copy()
    expected[4, 2] = False
    np.testing.assert_array_equal(studio.compute(lab.state).mask, expected)
    assert studio.compute(lab.state).weights[4, 2] == 0


def test_cells_are_switches():
    """Each cell of the grid is marked with the name of its check box, row after row."""
    switches = re.findall(r'<rect data-switch="([^"]*)" data-sweep="mask"', studio.mask_studio().picture.value)
    assert [name for name in switches if name in FIRST] == [entry(i, j) for i, j in np.ndindex(N, N)]


def test_reset_brings_back_the_first_picture():
    lab = studio.mask_studio()
    first = lab.picture.value
    lab.controls["mask"].value = "prefix of two"
    for name in SETTINGS:
        lab.controls[name].value = SETTINGS[name][-1]
    assert lab.picture.value != first
    lab.buttons["Reset"].click()
    assert lab.picture.value == first


# ---- the read-out ----------------------------------------------------------------------------


def test_a_sum_near_1_is_written_so_that_it_does_not_look_like_1():
    assert studio._sum(0.9961) == "0.9961"


@pytest.mark.parametrize("convention", WRITTEN_AS)
def test_a_mask_handed_over_as_it_is_may_be_read_the_wrong_way_round(convention):
    result = studio.compute(state(CAUSAL, convention=convention, handed_over=AS_IT_IS))
    turned = convention in ("True hides", "add 0 or −inf")
    np.testing.assert_array_equal(result.mask, ~CAUSAL if turned else CAUSAL)
    np.testing.assert_array_equal(studio.compute(state(CAUSAL, convention=convention)).mask, CAUSAL)


# ---- the learner's function ------------------------------------------------------------------


def right(queries, keys, values, mask):
    scores = np.where(mask, queries @ keys.T / np.sqrt(8), -np.inf)
    empty = ~mask.any(axis=1, keepdims=True)
    weights = np.where(empty, 0, softmax(np.where(empty, 0, scores)))
    return weights @ values, weights


def in_float32(queries, keys, values, mask):
    return right(*(array.astype(np.float32) for array in (queries, keys, values)), mask)


def with_minus_1e4(queries, keys, values, mask):
    weights = softmax(np.where(mask, queries @ keys.T / np.sqrt(8), -1e4))
    return weights @ values, weights


def plain(queries, keys, values, mask):
    weights = softmax(np.where(mask, queries @ keys.T / np.sqrt(8), -np.inf))
    return weights @ values, weights


def after_the_softmax(queries, keys, values, mask):
    weights = softmax(queries @ keys.T / np.sqrt(8)) * mask
    return weights @ values, weights


def inverted(queries, keys, values, mask):
    return right(queries, keys, values, ~mask)


def only_context_wrong(queries, keys, values, mask):
    context, weights = right(queries, keys, values, mask)
    return context + 1, weights


def destroys(queries, keys, values, mask):
    found = right(queries, keys, values, mask)
    for array in (queries, keys, values, mask):
        array[:] = 0
    return found


def infinite(queries, keys, values, mask):
    weights = np.where(mask, np.inf, -np.inf)
    return values, weights


RUNNING = "Running on your masked_attention."


@pytest.mark.parametrize("function", [right, in_float32, destroys])
@pytest.mark.parametrize("constant", CONSTANTS)
def test_a_right_function_is_run(function, constant):
    result = studio.compute(state(ROW_3_EMPTY, added_to_all_scores=constant), function)
    assert (result.notice, result.differs) == (RUNNING, {})
    np.testing.assert_allclose(result.weights, studio.compute(result.state).weights, atol=1e-5)


@pytest.mark.parametrize("function", [plain, after_the_softmax, inverted, only_context_wrong, infinite, with_minus_1e4])
def test_a_wrong_function_is_marked_where_it_visibly_differs(function):
    now = state(ROW_3_EMPTY)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = studio.compute(now, function)
        page = studio.render(result).html()
    n_rows = result.differs["weights"].any(axis=-1).sum() if "weights" in result.differs else 1
    assert page.count("≠") == 1 + n_rows, "the first cell of each row that is not right, and the notice"
    if function is not only_context_wrong:
        with np.errstate(all="ignore"):
            got = function(*studio.attention_inputs(now).values(), ROW_3_EMPTY)[1]
        np.testing.assert_array_equal(result.differs["weights"], got.round(2) != written_out(now, ROW_3_EMPTY).round(2))


def test_nan_of_a_learners_function_is_said_and_raises_the_alarm():
    result = studio.compute(state(ROW_3_EMPTY), plain)
    assert alarms_in(studio.render(result).svg) == ["NaN"]


def test_minus_1e4_in_a_learners_function_shows_only_when_it_is_outrun():
    assert studio.compute(state(CAUSAL), with_minus_1e4).notice == RUNNING
    outrun = studio.compute(state(CAUSAL, added_to_all_scores="−15000"), with_minus_1e4)
    assert "weights" in outrun.differs


@pytest.mark.parametrize(
    ("function", "notice"),
    [
        pytest.param(lambda queries, keys, values, mask: (..., ...), "yours is not written yet", id="stub"),
        pytest.param(lambda queries, keys, values, mask: 1 / 0, "yours stopped with ZeroDivisionError", id="raises"),
        pytest.param(
            lambda queries, keys, values: (values, keys), "yours stopped with TypeError", id="other arguments"
        ),
        pytest.param(lambda queries, keys, values, mask: values, "in the right shapes", id="one array"),
        pytest.param(lambda queries, keys, values, mask: (values, mask[:3]), "in the right shapes", id="shapes"),
        pytest.param(lambda queries, keys, values, mask: ("a", "b"), "in the right shapes", id="texts"),
        pytest.param(3, "what was given is not a function but int", id="no function"),
    ],
)
def test_a_function_that_cannot_be_shown_is_replaced(function, notice):
    lab = studio.mask_studio(function)
    lab.controls["mask"].value = "window of two"
    assert "Shown with the course&#x27;s own masked_attention: " in lab.picture.value
    assert html.escape(notice) in lab.picture.value
    np.testing.assert_array_equal(studio.compute(lab.state, function).weights, studio.compute(lab.state).weights)


@pytest.mark.parametrize("changes", [{"when": AFTER}, {"hiding_value": "−1e9"}, {"hiding_value": "0"}])
def test_a_learners_function_is_not_blamed_for_the_labs_variations(changes):
    result = studio.compute(state(CAUSAL, **changes), plain)
    assert "Shown is a variation of the lab's own" in result.notice
    assert "≠" not in studio.render(result).html()


# ---- the page --------------------------------------------------------------------------------


@pytest.mark.parametrize("hiding", HIDING)
def test_hidden_scores_are_grey_and_the_hiding_value_is_said(hiding):
    svg = studio.render(studio.compute(state(CAUSAL, hiding_value=hiding))).svg
    assert (f"grey: hidden, {hiding} instead" in svg) == (hiding != "−inf"), "the usual way shows no scores"
    assert ("Red frame: hidden, but still gets weight." in svg) == (">hidden</text>" in svg)
    assert {">query ↓</text>", ">key →</text>"} <= set(re.findall(r">\w+ [↓→]</text>", svg))
    weights, scores = svg.split("</svg>")[:2]
    assert scores.count(f'fill="{style.HIDDEN}"') == (10 if hiding != "−inf" else 0)
    visible = {"−inf", "−1e9", "−1e4"}
    assert weights.count(f'fill="{style.HIDDEN}"') == (10 if hiding in visible else 0)
    assert weights.count(">hidden</text>") == (0 if hiding in visible else 10)


def shares(kind, function=None, mask=CAUSAL, **changes):
    """Return the widths of the pieces of each row's bar, as parts of its length; those too narrow to be seen are 0."""
    result = studio.compute(state(mask, **changes), function)
    found = np.zeros((N, N))
    for i, word in enumerate(studio.WORDS):
        drawn = studio._shares(result)[f"shares {word}"]
        for j, key in enumerate(studio.WORDS):
            width = re.search(rf'data-part="{word}: what {key} {kind} given"[^>]* width="([\d.]+)"', drawn)
            found[i, j] = float(width[1]) / studio.SHARE[0] if width else 0
    return found


def test_each_row_is_a_bar_that_its_weights_share():
    everything, causal = (written_out(FIRST, mask) for mask in (EVERYTHING, CAUSAL))
    np.testing.assert_allclose(shares("is"), causal, atol=0.005)
    np.testing.assert_allclose(shares("was"), everything, atol=0.005)


def test_the_share_that_a_wrong_function_loses_is_missing():
    def after(queries, keys, values, mask):
        weights = softmax(queries @ keys.T / np.sqrt(queries.shape[-1])) * mask
        return weights @ values, weights

    np.testing.assert_allclose(
        shares("is", after).sum(axis=1), (written_out(FIRST, EVERYTHING) * CAUSAL).sum(axis=1), atol=0.01
    )


def test_what_is_shared_out_to_nobody_is_said():
    drawn = studio._shares(studio.compute(state(ROW_3_EMPTY)))
    assert ["to nobody" in drawn[f"shares {word}"] for word in studio.WORDS] == [False, False, False, True, False]
    nan = studio._shares(studio.compute(state(ROW_3_EMPTY), lambda q, k, v, mask: (v, np.full((N, N), np.nan))))
    assert all("not a number" in row for row in nan.values())


def test_after_the_softmax_no_score_is_hidden():
    svg = studio.render(studio.compute(state(CAUSAL, when=AFTER))).svg
    weights, scores = svg.split("</svg>")[:2]
    assert (weights.count(f'fill="{style.HIDDEN}"'), scores.count(f'fill="{style.HIDDEN}"')) == (10, 0)


# ---- what flows ------------------------------------------------------------------------------

DROP = re.compile(
    r'data-leaves="(?P<switch>[^"]+)" data-from="\[(?P<way>-?\d+), 0\]" opacity="0" [^>]* r="(?P<r>[\d.]+)"'
)


@pytest.mark.parametrize("length", [N, 3])
def test_what_a_hidden_key_had_goes_to_the_others_of_its_row_and_no_more(length):
    now = state(CAUSAL, length=length)
    before, drops = studio.compute(now), DROP.finditer(studio.render(studio.compute(now)).svg)
    areas = {}
    for drop in drops:
        areas.setdefault(html.unescape(drop["switch"]), []).append((float(drop["r"]) / studio.DROP) ** 2)
    hidden = {entry(i, j): (i, j) for i, j in np.argwhere(~CAUSAL) if j < length}
    assert areas.keys() == hidden.keys()
    for switch, (i, j) in hidden.items():
        had = studio.compute(now | {switch: True}).weights
        gained = before.weights[i] - had[i]
        assert sum(areas[switch]) == pytest.approx(had[i, j], abs=0.02)
        np.testing.assert_allclose(areas[switch], np.delete(gained, j)[before.mask[i][np.arange(N) != j]], atol=0.01)


@pytest.mark.parametrize("changes", [{"when": AFTER}, {"hiding_value": "−1e4"}, {"handed_over": AS_IT_IS}])
def test_nothing_flows_where_the_weight_is_not_shared_out_anew(changes):
    assert "data-leaves" not in studio.render(studio.compute(state(CAUSAL, **changes))).svg


def test_nothing_flows_from_a_wrong_function():
    result = studio.compute(state(CAUSAL), lambda queries, keys, values, mask: (values, mask / N))
    assert "weights" in result.differs
    assert "data-leaves" not in studio.render(result).svg
