"""Two mistakes at once: all pairs of the ten commonest, in the three functions that they are made in.

Each function is written once, with its steps as parameters, and a mistake is another choice of a step. What a mistake
is called alone is what one of the two names must be where it is made with another.
"""

import itertools

import numpy as np
import pytest
from answers import EXERCISES

from mha_helpers.attention import combine_heads, split_heads
from mha_helpers.exercises.mistakes.steps import joined_straight, split_straight, swap

# What to choose in place of a right step, by the function and by the mistake.
COMMONEST = {
    "masked_attention": {
        "fill -1e9": {"fill": -1e9},
        "fill -inf": {"fill": -np.inf},
        "fill 0": {"fill": 0},
        "mask after softmax": {"is_after": True},
        "mask inverted": {"is_inverted": True},
        "no scale": {"power": 0},
        "/ d": {"power": -1},
        "axis=-2": {"axis": -2},
        "whole array": {"axis": None},
        "mixes keys": {"mixed": "keys"},
    },
    "scaled_dot_product_attention": {
        "no scale": {"power": 0},
        "/ d": {"power": -1},
        "* sqrt(d)": {"power": 0.5},
        "scale ignored": {"is_scale_used": False},
        "axis=-2": {"axis": -2},
        "axis=0": {"axis": 0},
        "whole array": {"axis": None},
        "no maximum": {"is_shifted": False},
        "weights.T": {"is_turned": True},
        "mixes keys": {"mixed": "keys"},
    },
    "multi_head_attention": {
        "mask ignored": {"is_mask_used": False},
        "fill -1e9": {"fill": -1e9},
        "no scale": {"power": 0},
        "sqrt(d_model)": {"has_model_width": True},
        "axis=-2": {"axis": -2},
        "axis=-3": {"axis": -3},
        "split by reshape": {"split": split_straight},
        "both by reshape": {"split": split_straight, "combine": joined_straight},
        "W.T": {"is_transposed": True},
        "no W_O": {"is_projected": False},
    },
}


def _softmax(scores, axis=-1, is_shifted=True):
    exponentials = np.exp(scores - scores.max(axis=axis, keepdims=True) * is_shifted)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def _hidden(scores, mask, weigh, *, fill=None, is_after=False):
    """Return weights, hidden rightly unless a number to fill with is given."""
    if is_after:
        return weigh(scores) * mask
    weights = weigh(np.where(mask, scores, np.finfo(float).min if fill is None else fill))
    return np.where(mask, weights, 0) if fill is None else weights


def _with_steps(name, steps):
    """Return a function with other steps: most are names of keyword parameters of its maker."""
    return {
        "masked_attention": _masked_attention,
        "scaled_dot_product_attention": _scaled_attention,
        "multi_head_attention": _multi_head_attention,
    }[name](**steps)


def _masked_attention(power=-0.5, axis=-1, is_inverted=False, mixed="values", **hiding):
    def masked_attention(queries, keys, values, mask):
        scores = queries @ swap(keys) * queries.shape[-1] ** power
        weights = _hidden(scores, ~mask if is_inverted else mask, lambda scores: _softmax(scores, axis), **hiding)
        return weights @ (keys if mixed == "keys" else values), weights

    return masked_attention


def _scaled_attention(power=-0.5, axis=-1, is_shifted=True, is_scale_used=True, is_turned=False, mixed="values"):
    def scaled_dot_product_attention(queries, keys, values, scale=None):
        factor = scale if scale is not None and is_scale_used else queries.shape[-1] ** power
        weights = _softmax(queries @ swap(keys) * factor, axis, is_shifted)
        return (swap(weights) if is_turned else weights) @ (keys if mixed == "keys" else values), weights

    return scaled_dot_product_attention


def _multi_head_attention(
    power=-0.5,
    axis=-1,
    has_model_width=False,
    is_mask_used=True,
    is_transposed=False,
    is_projected=True,
    split=split_heads,
    combine=combine_heads,
    **hiding,
):
    def multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        queries, keys, values = (split(X @ (W.T if is_transposed else W), n_heads) for W in (W_Q, W_K, W_V))
        scores = queries @ swap(keys) * (X if has_model_width else queries).shape[-1] ** power
        if mask is None or not is_mask_used:
            weights = _softmax(scores, axis)
        else:
            weights = _hidden(scores, mask, lambda scores: _softmax(scores, axis), **hiding)
        combined = combine(weights @ values)
        return combined @ W_O if is_projected else combined, weights

    return multi_head_attention


def pairs(name):
    """Return the pairs of mistakes that can be made at once: not two in the same step."""
    mistakes = COMMONEST[name]
    together = itertools.combinations(mistakes, 2)
    return [(a, b) for a, b in together if not _touch(mistakes[a].keys(), mistakes[b].keys())]


# Whoever reshapes both ways has split by a reshape as well: beside another mistake, the check may say that alone.
TRUE_AS_WELL = {"both by reshape": {"mha-split-without-transpose"}}
HIDING = {"fill", "is_after", "is_mask_used"}  # whoever does without one of them has no other


def _touch(steps, others):
    return bool(steps & others or (steps & HIDING and others & HIDING))


def names_of(name, *mistakes):
    """Return the names that a check gives to a function with these mistakes: one, two or none."""
    steps = {step: choice for mistake in mistakes for step, choice in COMMONEST[name][mistake].items()}
    result = EXERCISES[name].diagnosis(_with_steps(name, steps))
    assert result.status == "wrong", mistakes
    return {result.mistake, result.also} - {None}


@pytest.mark.parametrize("name", COMMONEST)
def test_alone_each_has_one_name(name):
    for mistake in COMMONEST[name]:
        assert len(names_of(name, mistake)) == 1, mistake


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMONEST)
def test_of_all_pairs_most_are_named_and_none_falsely(name):
    alone = {mistake: names_of(name, mistake) for mistake in COMMONEST[name]}
    named = {pair: names_of(name, *pair) for pair in pairs(name)}
    for pair, found in named.items():
        print(f"{name}: {' and '.join(pair)}: {', '.join(sorted(found)) or '-'}")
    true = {mistake: names | TRUE_AS_WELL.get(mistake, set()) for mistake, names in alone.items()}
    false = {pair: found for pair, found in named.items() if found - true[pair[0]] - true[pair[1]]}
    assert not false
    n_one = sum(bool(found) for found in named.values())
    n_both = sum(all(found & alone[mistake] for mistake in pair) for pair, found in named.items())
    print(f"{name}: of {len(named)} pairs at least one is named in {n_one}, both in {n_both}")
    assert n_one >= 0.9 * len(named)
    assert n_both >= 0.6 * len(named)


def check(name, *mistakes):
    steps = {step: choice for mistake in mistakes for step, choice in COMMONEST[name][mistake].items()}
    return EXERCISES[name].check(_with_steps(name, steps))


def test_both_are_said_and_the_one_that_shows_everywhere_first():
    result = check("masked_attention", "fill -inf", "no scale")
    assert (result.mistake, result.also) == ("scale-missing", "mask-full-row-nan")
    assert result.panel.heading == "Not yet: scale-missing and mask-full-row-nan"
    first, second, *_ = result.message.split("\n")
    assert first.startswith("Two mistakes at once. The scores are not divided.")
    assert second.startswith("Second, once that is mended: Right except for a row in which everything is hidden")


def test_a_draft_without_a_mask_has_its_other_mistake_named_as_well():
    result = check("multi_head_attention", "mask ignored", "sqrt(d_model)")
    assert {result.mistake, result.also} == {"mha-scale-d-model", "mha-mask-ignored"}


def test_where_only_one_can_be_told_it_is_said_that_it_is_not_all():
    result = check("masked_attention", "fill 0", "axis=-2")
    assert (result.mistake, result.also) == ("softmax-over-queries", None)
    assert "That isn't all: with scattered holes, something else is wrong as well." in result.message
