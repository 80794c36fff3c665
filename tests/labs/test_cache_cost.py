"""The lab on caches, driven without a browser."""

import html
import itertools
import json
import re
from importlib import import_module

import numpy as np
import pytest

from mha_helpers import decoder, exercises, labs
from mha_helpers.exercises.todays_heads.predictions import TRIED, windowed
from mha_helpers.exercises.what_a_cache_keeps.predictions import rounded
from mha_helpers.labs.what_a_cache_keeps.cache_cost import (
    BITS,
    FULL,
    LENGTHS,
    MODELS,
    SHARINGS,
    WINDOWS,
    WRITER,
    cache_cost,
    compute,
)

cost = import_module("mha_helpers.labs.what_a_cache_keeps.cache_cost")

OWN, SOME, MANY, ONE, SHORT = SHARINGS
ALL, WIDE, MIDDLE, NARROW = WINDOWS
FIRST = cache_cost().first_state
GIB = 2**30


def result(function=None, **changes):
    return compute(FIRST | changes, function)


def built(name, **changes):
    return result(model=name, **MODELS[name].built | changes)


@pytest.mark.parametrize("window", WINDOWS)
def test_a_window_costs_what_it_costs_the_model(window):
    text, attend = decoder.held_out_text()[TRIED], windowed({ALL: 256, WIDE: 64, MIDDLE: 32, NARROW: 8}[window])
    assert result(sharing=OWN, window=window).loss == pytest.approx(decoder.load().loss(text, attend), abs=1e-4)


@pytest.mark.parametrize("bits", BITS[1:])
def test_bits_cost_what_they_cost_the_model(bits):
    text = decoder.held_out_text()[TRIED]
    assert result(sharing=OWN, bits=bits).loss == pytest.approx(decoder.load().loss(text, rounded(bits)), abs=1e-4)


def test_rounded_numbers_keep_a_scale_for_each_head_and_token():
    whole = 4 * 256 * 384 * 2
    assert result(sharing=OWN).size == whole
    assert result(sharing=OWN, bits=4).size == whole / 4 + 4 * 256 * 12 * 2
    assert result(sharing=SHORT, bits=4).size == 4 * 256 * (128 / 2 + 2)


def test_the_sizes_are_those_that_the_models_have():
    """Of the notebook's first table, and of what the papers say."""
    assert built(WRITER).size == 2 * 4 * 6 * 32 * 256 * 2
    llama = "Llama 2 70B"
    assert built(llama).size == 1.25 * GIB
    assert built(llama, sharing=OWN).size == 10 * GIB
    assert built("Mistral 7B").size == GIB / 2
    assert built("Mistral 7B", window=ALL).size == GIB
    # DeepSeek-AI (2024), table 1: 4.5 d_head numbers for each token and layer.
    assert built("DeepSeek-V2").numbers == 4.5 * 128
    assert built("DeepSeek-V2", sharing=OWN).numbers == 32768


def test_sizes_and_shares_are_not_rounded_away():
    lab = cache_cost()
    lab.set(model="Llama 2 70B")
    assert "1.25 GiB, 12.5 % of the whole" in lab.readout.value


@pytest.mark.parametrize(("sharing", "n_tokens"), [(SOME, 256), (ONE, 64), (SHORT, 128)])
def test_what_is_stored_is_what_the_writer_loses(sharing, n_tokens):
    measured = cost.loss(cost.grouped_attention, sharing, MIDDLE, 4, n_tokens)
    assert cost.our_loss(sharing, MIDDLE, 4, n_tokens) == pytest.approx(measured, abs=1e-4)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("edge", "part", "axis"), [("sharing", "width", 0), ("window", "height", 1)])
def test_an_edge_stands_where_the_block_ends(name, edge, part, axis):
    lab = cache_cost()
    lab.set(model=name)
    for value in lab.controls[edge].options:
        lab.set(**{edge: value})
        drawn = lab.picture.value
        handle = html.unescape(re.search(rf'<g data-scrub="{edge}".*?>', drawn)[0])
        stops, track = (
            json.loads(re.search(rf'data-{kind}="(\[.*?\])" data-', handle)[1]) for kind in ("stops", "track")
        )
        block = re.search(r'<rect data-part="kept".*?/>', drawn)[0]
        long = float(re.search(rf' {part}="([^"]*)"', block)[1])
        assert track[stops.index({edge: value})][axis] == pytest.approx(cost.BLOCK[axis] + long, abs=0.1)


@pytest.mark.parametrize("name", [name for name in MODELS if name != WRITER])
def test_a_model_opens_as_it_was_built_and_the_writers_cache_stays(name):
    lab = cache_cost()
    lab.set(model=name)
    brings = re.search(rf'data-brings="([^"]*)" data-name="{name}"', lab.picture.value)[1]
    assert {name: lab.state[name] for name in ("sharing", "window", "bits")} == MODELS[name].built
    assert json.loads(html.unescape(brings)) == MODELS[name].built
    lab.set(sharing=ONE)
    lab.set(model=WRITER)
    assert lab.state["sharing"] == ONE


def test_what_the_notebook_says_of_it():
    caches = {
        cache: result(sharing=cache[0], window=cache[1], bits=cache[2])
        for cache in itertools.product(SHARINGS, WINDOWS, BITS)
    }
    small = {cache: found.size for cache, found in caches.items() if found.loss < 1.6}
    best, second, *_ = sorted(small, key=small.get)
    assert (best, round(caches[best].loss, 2)) == ((SHORT, WIDE, 4), 1.57)
    assert (caches[best].size, round(1 / caches[best].share)) == (16.5 * 2**10, 47)
    assert (second, round(caches[second].loss, 2), caches[second].size) == ((OWN, MIDDLE, 4), 1.6, 27 * 2**10)
    own, short = ([round(caches[sharing, ALL, bits].loss, 2) for bits in (FULL, 3)] for sharing in (OWN, SHORT))
    assert (own, short) == ([1.5, 1.5], [1.52, 1.69])
    some, many, shared = (result(sharing=sharing).loss for sharing in (SOME, MANY, ONE))
    assert some < many < np.log(65) < shared
    assert round(built("DeepSeek-V2").size / GIB, 2) == 8.44


@pytest.mark.parametrize("name", MODELS)
def test_a_smaller_knob_never_makes_a_larger_cache(name):
    for sharing, length in itertools.product(SHARINGS[:-1], LENGTHS):
        sizes = [result(model=name, sharing=sharing, length=length, window=window).size for window in WINDOWS]
        assert sizes == sorted(sizes, reverse=True)
    heads = [result(model=name, sharing=sharing).numbers for sharing in SHARINGS[:-1]]
    assert heads == sorted(heads, reverse=True)


@pytest.mark.parametrize("name", MODELS)
def test_it_goes_back_to_how_it_was_built(name):
    lab = cache_cost()
    lab.set(model=name, sharing=ONE, window=MIDDLE, bits=4)
    assert "That is how it was built." not in lab.readout.value
    lab.buttons["As it was built"].click()
    assert "That is how it was built." in lab.readout.value


def test_a_model_that_is_not_run_has_no_loss():
    lab = cache_cost(lambda *arguments, **named: 1 / 0)
    assert "ZeroDivisionError" in lab.picture.value
    lab.set(model="Llama 2 70B")
    assert "ZeroDivisionError" not in lab.picture.value


def test_a_mistake_shows_in_the_loss_where_it_changes_something():
    tiled = {mistake.slug: mistake.implementations[0] for mistake in exercises.grouped_attention.mistakes}[
        "kv-heads-tiled"
    ]
    lab = labs.cache_cost(tiled)
    assert "Loss 4." in lab.picture.value
    assert "≠ 3.32</text>" in lab.picture.value
    lab.set(sharing=OWN)
    assert "Loss 1.50</text>" in lab.picture.value, "with a head of keys for each there is nothing to line up"


def test_a_function_that_stops_halfway_leaves_the_courses_own():
    def without_batches(queries, keys, values, mask=None):
        if queries.ndim > 3:
            raise RuntimeError("only three axes")
        return exercises.grouped_attention.reference(queries, keys, values, mask)

    shown = result(without_batches)
    assert "only three axes" in shown.notice
    assert shown.loss == shown.right
