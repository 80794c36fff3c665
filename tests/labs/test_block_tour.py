"""The block tour: its numbers are NumPy's, at every step, for every word and head."""

import html
import json
import re
from importlib import import_module
from itertools import combinations, pairwise, product

import numpy as np
import pytest

from live_pictures import style
from live_pictures.card import MAX_WIDTH
from mha_helpers import attention, exercises, labs
from mha_helpers import running_example as example
from mha_helpers.drawing.block import CELL, STANDING

tour = import_module("mha_helpers.labs.output_projection.block_tour")
steps = import_module("mha_helpers.labs.output_projection.block_tour_steps")
PARTS = re.compile(r'<svg xmlns="[^"]*" width="([\d.]+)" height="([\d.]+)"')
EVERY_STATE = [
    {"step": step, "query": query, "head": head} for step, query, head in product(tour.NAMES, example.TOKENS, "01")
]


def written(page):
    return [html.unescape(text) for text in re.findall(r">([^<>]*)</text>", page)]


def test_there_are_at_most_twelve_steps_and_each_lights_something_else():
    assert len(steps.STEPS) <= 12
    lit = [frozenset(step.lit(0)) for step in steps.STEPS]
    assert len(set(lit)) == len(lit)
    for head in range(2):
        for step in steps.STEPS:
            assert step.lit(head) <= steps.EVERYTHING


@pytest.mark.parametrize("state", EVERY_STATE, ids=lambda state: " ".join(state.values()))
def test_every_step_shows_its_numbers_in_words_large_enough(state):
    picture = tour.render(tour.compute(state))
    step, result = steps.STEPS[tour.NAMES.index(state["step"])], tour.compute(state)
    grids = [part for part in step.parts(result.tour) if isinstance(part, steps.Grid)]
    shown = written(picture.svg)
    for grid in grids:
        assert {steps.written(value) for value in grid.values.flat} <= set(shown)
    assert min(map(float, re.findall(r'font-size="([\d.]+)"', picture.svg))) >= style.MIN_SIZE
    sizes = [(float(width), float(height)) for width, height in PARTS.findall(picture.svg)]
    (block_width, block_height), *beside = sizes
    assert max(width for width, _ in sizes) <= 360, "a phone shrinks it to 344 pixels"
    assert block_width + max(width for width, _ in beside) <= MAX_WIDTH, "side by side they fit a card"
    assert max(block_height, sum(height for _, height in beside)) <= 430, "with its heading it must fit 590 pixels"


@pytest.mark.parametrize("step", steps.STEPS, ids=lambda step: step.title)
def test_both_lines_of_an_equation_fit_beside_the_block(step):
    for row, head in product(range(5), range(2)):
        result = tour.compute({"step": tour.NAMES[0], "query": example.TOKENS[row], "head": str(head)})
        drawn = "".join(tour._panel(step, result.tour))
        edges = [
            float(x) + float(width) for x, width in re.findall(r'<rect x="([\d.]+)" y="[^"]*" width="([\d.]+)"', drawn)
        ]
        assert max(edges) <= tour.BESIDE


def test_no_tensor_of_the_standing_block_lies_on_another():
    places = [
        (x, y, x + columns * CELL[0], y + rows * CELL[1]) for x, y, (rows, columns), _ in STANDING.tensors.values()
    ]
    assert all(
        min(x, y) >= 0 and right <= STANDING.width and bottom <= STANDING.height for x, y, right, bottom in places
    )
    for (x, y, right, bottom), (x2, y2, right2, bottom2) in combinations(places, 2):
        assert right < x2 or right2 < x or bottom < y2 or bottom2 < y


def test_its_last_numbers_are_the_layers_own():
    output, weights = attention.multi_head_attention(*tour.ARGUMENTS.values(), example.N_HEADS)
    result = tour.compute({"step": tour.NAMES[-1], "query": "it", "head": "1"})
    np.testing.assert_allclose(result.tour.stages.output, output)
    np.testing.assert_allclose(result.tour.stages.weights, weights)
    np.testing.assert_allclose(result.tour.stages.contributions.sum(axis=0), output)


@pytest.mark.parametrize("step", steps.STEPS, ids=lambda step: step.title)
def test_the_number_that_is_written_out_is_right(step):
    """What stands left of the last "=" is what Python makes of it."""
    for row, head in product(range(5), range(2)):
        readout = step.number(steps.Tour(example.stages(), example.stages(), head, row))
        assert example.TOKENS[row] in readout or "row" in readout or "next to" in readout
        match = re.search(r"= ([^=]*) = (−?[\d.]+)$", readout)
        if match is None:
            continue
        terms = match[1].replace("×", "*").replace("−", "-").replace("√2", "np.sqrt(2)").replace("exp", "np.exp")
        assert eval(terms) == pytest.approx(float(match[2].replace("−", "-")), abs=0.06), readout


def test_next_and_back_go_through_it_and_stop_at_its_ends():
    lab = labs.block_tour()
    lab.buttons["Back"].click()
    assert lab.controls["step"].value == tour.NAMES[0]
    for _ in range(20):
        lab.buttons["Next"].click()
    assert lab.controls["step"].value == tour.NAMES[-1]
    lab.buttons["Back"].click()
    assert lab.controls["step"].value == tour.NAMES[-2]


def test_another_word_has_other_numbers():
    lab = labs.block_tour()
    lab.set(step=tour.NAMES[7], query="sat", head="1")
    assert "weight(sat, cat)" in lab.picture.value


def without_scale(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    queries, keys, values = (attention.split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    context, weights = attention.scaled_dot_product_attention(queries, keys, values, mask, scale=1.0)
    return attention.combine_heads(context) @ W_O, weights


def combined_without_transpose(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    heads = (attention.split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    context, weights = attention.scaled_dot_product_attention(*heads, mask)
    return context.reshape(X.shape) @ W_O, weights


def without_output_projection(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    return attention.multi_head_attention(X, W_Q, W_K, W_V, np.eye(len(W_O)), n_heads, mask)


@pytest.mark.parametrize(
    ("function", "step", "marked"),
    [
        (without_scale, 7, "weights 0"),
        (without_scale, 10, "output"),
        (without_output_projection, 10, "W_O, output"),
        (combined_without_transpose, 9, "concat"),
        (combined_without_transpose, 11, "concat, output"),
    ],
)
def test_what_differs_is_marked_at_its_stage(function, step, marked):
    lab = labs.block_tour(function)
    lab.set(step=tour.NAMES[step])
    assert f"Yours is not right here: {marked}." in lab.picture.value
    assert lab.picture.value.count(">≠</text>") >= marked.count(",") + 1


def test_the_learners_number_stands_beside_the_right_one():
    lab = labs.block_tour(without_output_projection)
    lab.set(step=tour.NAMES[10])
    assert "= 1.82 (yours: 0.87)" in lab.picture.value


def test_every_mistake_of_the_catalogue_that_is_made_somewhere_is_made_in_the_block():
    slugs = [mistake.slug for mistake in exercises.multi_head_attention.mistakes]
    assert all(tour.made_at(slug) <= set(STANDING.tensors) for slug in slugs)
    assert all(any(word in slug for slug in slugs) for word in tour.MADE_AT), "a word fits no mistake"
    assert tour.made_at(None) == tour.made_at("scale-missing") == set()


def test_nan_and_huge_numbers_can_be_shown():
    def odd(*arguments):
        output, weights = attention.multi_head_attention(*arguments)
        return output * 1e9, weights * np.nan

    lab = labs.block_tour(odd)
    for name in tour.NAMES:
        lab.set(step=name)
        assert "This lab stopped" not in lab.picture.value
        assert max(map(len, re.findall(r">(−?[\d.]+(?:e[+−]\d+)?)</text>", lab.picture.value))) <= 7


def test_what_travels_keeps_to_the_wires():
    ways = 0
    for step, (before, name) in enumerate(pairwise(tour.ARRIVED), 1):
        drawn = tour.render(tour.compute(EVERY_STATE[0] | {"step": tour.NAMES[step]})).svg
        ring = re.search(r'<rect data-part="traveller"(?: data-way="([^"]*)")? x="([^"]*)" y="([^"]*)"', drawn)
        if before == name:
            assert ring[1] is None
            continue
        _, *way, end = json.loads(ring[1])
        assert end == [float(ring[2]) + tour.RING[0] / 2, float(ring[3]) + tour.RING[1] / 2], "to where it is"
        wires = set(re.findall(r'd="M([\d.]+) ([\d.]+)C', drawn))
        on_wire = [point for point in way if (f"{point[0]:g}", f"{point[1]:g}") in wires]
        assert on_wire or name == "output", "along a wire that is drawn"
        ways += 1
    assert ways == 8
