"""The labs of notebook 02's first half: a query that is pushed downhill, and walks of coin tosses."""

from importlib import import_module

import numpy as np
import pytest

from mha_helpers import attention, labs

cat = import_module("mha_helpers.labs.scaling.find_the_cat")
coins = import_module("mha_helpers.labs.scaling.coin_tosses")


def test_the_narrow_game_is_the_notebooks():
    rng = np.random.default_rng(1)
    query, keys, values = (rng.normal(size=(rows, 4)) for rows in (1, 8, 8))
    context, weights = attention.dot_product_attention(query, keys, values)
    np.testing.assert_allclose(cat.GAMES["narrow"].weights(0), weights[0])
    assert cat.GAMES["narrow"].loss(0) == pytest.approx(((context - values[0]) ** 2).sum())


@pytest.mark.parametrize("head", cat.WIDTHS)
@pytest.mark.parametrize("push", [-1.0, 0.0, 1.4, 1.6, 4.0])
def test_the_slope_is_how_fast_the_loss_grows(head, push):
    game, nudge = cat.GAMES[head], 1e-6
    grows = (game.loss(push + nudge) - game.loss(push - nudge)) / (2 * nudge)
    assert game.slope(push) == pytest.approx(grows, abs=1e-4)


def rolled(head):
    """Return the losses on the way of a query that takes steps downhill until it stays where it is."""
    lab = labs.find_the_cat()
    lab.set(head=head)
    pushes = [lab.state["push"]]
    while True:
        lab.buttons["One step downhill"].click()
        if lab.state["push"] == pushes[-1]:
            return [cat.GAMES[head].loss(push) for push in pushes]
        pushes.append(lab.state["push"])


def test_the_narrow_query_rolls_to_the_cat_and_the_wide_one_stays():
    narrow, wide = rolled("narrow"), rolled("wide")
    assert len(narrow) > 4
    assert narrow == sorted(narrow, reverse=True)
    assert narrow[-1] < 0.1 * narrow[0]
    assert len(wide) == 1


@pytest.mark.parametrize("head", cat.WIDTHS)
def test_an_arrow_is_drawn_where_a_step_moves_the_query_and_else_the_readout_says_why_not(head):
    said = {"the query has found the cat": 0, "the ground is level": 0}
    for push in cat.PUSHES:
        state = {"head": head, "push": push}
        result = cat.compute(state, None)
        moves, readout = cat.downhill(state)["push"] != push, cat.sentence(result)
        assert ('stroke-width="2.5"' in cat.render(result).svg) == moves, "an arrow's, and nothing else's"
        reasons = [reason for reason in said if reason in readout]
        assert len(reasons) == (not moves), readout
        assert len(readout.split()) <= 25
        for reason in reasons:
            said[reason] += 1
            assert (reason == "the query has found the cat") == (result.game.weights(push)[0] > 0.5)
    assert said["the query has found the cat"]
    assert bool(said["the ground is level"]) == (head == "wide")


def test_the_wide_query_would_find_the_cat_if_it_were_pushed_far_enough():
    assert cat.GAMES["wide"].loss(cat.PUSHES[-1]) < 0.01


def test_the_wide_head_is_not_seen_before_it_is_chosen():
    """The lab stands below the prediction of how it does."""
    shown = labs.find_the_cat().still
    assert ">1.00<" not in shown
    assert "slope 0.00" not in shown


@pytest.mark.parametrize("tosses", coins.AFTER)
def test_many_walks_are_typically_as_far_as_the_root_of_their_tosses(tosses):
    result = coins.compute({"walks": coins.THROWN[-1], "tosses": tosses}, None)
    assert result.spread == pytest.approx(tosses**0.5, rel=0.04)
    assert np.abs(result.places).max() <= coins.FARTHEST


def test_a_throw_adds_walks_until_all_are_thrown():
    lab = labs.coin_tosses()
    thrown = [lab.state["walks"]]
    while thrown[-1] < coins.THROWN[-1]:
        lab.buttons["Throw"].click()
        thrown.append(lab.state["walks"])
    assert thrown == [*coins.THROWN]
    assert "all there are" in lab.readout.value
    lab.buttons["Throw"].click()
    assert lab.state["walks"] == coins.THROWN[-1]


def test_each_bar_is_as_long_as_walks_are_there():
    result = coins.Result(5, 4)
    assert len(result.places) == 5
    assert coins.render(result).svg.count(f'height="{2 * coins.HIGH - 1:g}"') == len(set(result.places.tolist()))
