"""The lab "be the head": how far one row of weights goes, what a second one adds, and the dots that a query leaves."""

import itertools
import re
from importlib import import_module

import numpy as np
import pytest
from playwright.sync_api import expect

from mha_helpers import attention, labs, running_example
from mha_helpers.labs.lab import page_layer

head_lab = import_module("mha_helpers.labs.splitting.be_the_head")

FIRST = labs.be_the_head().first_state
IT = running_example.TOKENS.index("it")
OWN = attention.split_heads(running_example.X @ running_example.W_Q, 2)[:, IT]


def queries(*vectors):
    """Return the controls' values that set each head's query."""
    set_to = {}
    for head, vector in enumerate(vectors):
        for axis, value in zip(("across", "up"), vector, strict=True):
            set_to[head_lab.entry(head, axis)] = float(value)
    return set_to


def computed(*vectors, heads=head_lab.ONE):
    return head_lab.compute(FIRST | queries(*vectors) | {"heads": heads})


def grid():
    return itertools.product(
        *(np.linspace(low, high, 21) for low, high in zip(head_lab.LOW, head_lab.HIGH, strict=True))
    )


def test_with_its_own_queries_it_attends_as_in_the_notebook():
    Q, K, V = (running_example.X @ matrix for matrix in (running_example.W_Q, running_example.W_K, running_example.W_V))
    split = (attention.split_heads(matrix, 2) for matrix in (Q, K, V))
    _, weights = attention.scaled_dot_product_attention(*split)
    np.testing.assert_allclose(computed(*OWN, heads=head_lab.TWO).weights, weights[:, IT])


def test_it_begins_with_the_query_of_head_0():
    np.testing.assert_array_equal(head_lab.START[0], OWN[0])


@pytest.mark.parametrize("head", [0, 1])
def test_one_head_comes_close_to_a_sum_of_1_and_never_has_enough_of_both(monkeypatch, head):
    monkeypatch.setattr(head_lab, "KEYS", head_lab.KEYS[[head, 1 - head]])
    found = [computed(query) for query in grid()]
    sums = [result.total.sum() for result in found]
    assert max(sums) <= 1 + 1e-12
    assert max(sums) > 0.99
    assert not any(all(result.is_enough) for result in found)


def test_a_second_head_gives_enough_of_both_and_does_not_by_itself():
    lab = labs.be_the_head()
    lab.set(heads=head_lab.TWO)
    assert "“It” needs 0.60 of each." in lab.readout.value
    lab.set(**queries(*OWN))
    assert "Two heads bring 0.76 of “cat” and 1.06 of “sat”. That is enough of both." in lab.readout.value
    assert "✓ enough of both" in lab.picture.value


def test_what_is_written_as_enough_is_enough():
    result = head_lab.Result(np.zeros((1, 2)), np.array([[0.596, 0.594, 0, 0, 0]]), "", np.zeros(2, bool))
    assert result.is_enough == [True, False]
    changes = head_lab.parts(result)
    assert (changes["total cat"]["text"], changes["total sat"]["text"]) == ("0.60 ✓", "0.59")


def test_the_readout_has_at_most_25_words():
    for heads, query in itertools.product((head_lab.ONE, head_lab.TWO), itertools.islice(grid(), 0, None, 10)):
        assert len(head_lab.sentence(computed(query, OWN[1], heads=heads)).split()) <= 25


def test_the_point_is_the_sum_of_what_the_heads_give():
    changes = head_lab.parts(computed((1, 1), (0, 1), heads=head_lab.TWO))
    origin = np.array(head_lab.ORIGIN)
    first, second, both = (
        np.array([float(changes[name]["cx"]), float(changes[name]["cy"])]) - origin
        for name in ("point 0", "point 1", "together")
    )
    np.testing.assert_allclose(first + second, both, atol=0.15)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e9])
def test_a_learners_weights_may_be_anything(value):
    lab = labs.be_the_head(lambda queries, keys, values, mask: (queries * value, np.full((1, 1, 5), value)))
    numbers = re.findall(r' (?:cx|cy|x|y|width|stroke-width)="([^"]*)"', lab.picture.value)
    assert all(-500 <= float(number) <= 500 for number in numbers)
    assert "This lab stopped" not in lab.picture.value


def test_a_wrong_number_is_marked_and_the_others_are_not():
    def sat_first(queries, keys, values, mask):
        context, weights = attention.masked_attention(queries, keys, values, mask)
        return context, weights * [1, 1.5, 1, 1, 1]

    result = head_lab.compute(FIRST, sat_first)
    assert result.differs.tolist() == [False, True]
    assert head_lab.render(result).svg.count("≠") == 1


@pytest.mark.parametrize("heads", [head_lab.ONE, head_lab.TWO])
def test_what_the_keys_have_is_written_above_the_query_that_is_turned_there(heads):
    drawn = head_lab.render(computed(*head_lab.START, heads=heads)).svg
    for head in range(1 + (heads == head_lab.TWO)):
        query = drawn.index(f'data-part="query {head}"')
        assert all(drawn.index(f'data-part="share {head} {token}"') > query for token in head_lab.WANTED)


# ---- on a page -------------------------------------------------------------------------------


@pytest.fixture
def page(browser, tmp_path):
    file = tmp_path / "lab.html"
    shown = labs.be_the_head().on_page("")
    file.write_text(f'<!doctype html><meta charset="utf-8">{page_layer()}{shown}', encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    expect(page.locator(".mha-touched")).to_have_count(1)
    yield page
    page.close()


def dots(page, part):
    """Return where a part has left dots, as shares of the two words."""
    written = page.locator(f'[data-trail="{part}"]').get_attribute("d")
    pixels = np.array([[float(x), float(y)] for x, y in re.findall(r"M(\d+) (\d+)h0", written)])
    return np.abs(pixels - head_lab.ORIGIN) / head_lab.SHARE


def turn(page, head, *keys):
    page.get_by_role("slider", name=f"query of head {head}, across").focus()
    for key in keys:
        page.keyboard.press(key)


@pytest.mark.browser
@pytest.mark.slow
def test_by_keys_a_query_leaves_a_trail_that_stops_at_1_until_a_second_head_is_there(page):
    turn(page, 0, *["ArrowRight"] * 30, *["ArrowDown"] * 20, *["ArrowLeft"] * 20)
    trail = dots(page, "point 0")
    half_a_pixel = 1 / head_lab.SHARE
    assert len(trail) > 30
    assert 0.98 < trail.sum(axis=1).max() <= 1 + half_a_pixel
    page.get_by_role("button", name="+ a second head").click()
    expect(page.locator("[data-trail=together]")).to_have_count(1)
    assert len(dots(page, "point 0")) == len(trail), "what was tried stays"
    turn(page, 1, *["ArrowRight"] * 40)
    together = dots(page, "together")
    assert together.sum(axis=1).max() > 1.4
    assert dots(page, "point 1").sum(axis=1).max() <= 1 + half_a_pixel
    page.get_by_role("button", name="Reset").click()
    expect(page.locator("[data-trail=together]")).to_have_count(0)
    assert len(dots(page, "point 0")) == 1, "Reset sweeps it away"
    turn(page, 0, "ArrowRight")
    assert len(dots(page, "point 0")) == 2


@pytest.mark.browser
@pytest.mark.slow
def test_the_picture_is_called_what_the_readout_says_while_a_query_is_turned(page):
    page.get_by_role("button", name="+ a second head").click()
    turn(page, 1, *["ArrowRight"] * 20)
    readout = head_lab.sentence(computed(head_lab.START[0], (1, 1), heads=head_lab.TWO))
    expect(page.get_by_role("status")).to_have_text(f"What you see: {readout}")
    expect(page.get_by_role("img").first).to_have_attribute("aria-label", readout)


@pytest.mark.browser
@pytest.mark.slow
def test_removing_the_second_head_and_adding_it_again_keeps_its_query(page):
    add = page.get_by_role("button", name="+ a second head")
    add.click()
    turn(page, 1, "ArrowRight", "ArrowRight")
    page.get_by_role("button", name="remove head 1").click()
    expect(add).to_be_visible()
    add.click()
    expect(page.get_by_role("slider", name="query of head 1, across")).to_have_value("-0.8")
    shown = page.locator('[data-part="query 1"]').get_attribute("cx")
    assert float(shown) == head_lab.place(1, (-0.8, 1))[0]
