"""Two banks, and the model with and without attention: what they draw is what the maths and the model say."""

from importlib import import_module

import numpy as np
import pytest

from mha_helpers import attention, decoder, labs

banks = import_module("mha_helpers.labs.self_attention.two_banks")
switch = import_module("mha_helpers.labs.self_attention.with_and_without_attention")


@pytest.mark.parametrize("near", banks.SENTENCES)
def test_bank_becomes_what_attention_makes_of_it(near):
    lab = labs.two_banks()
    lab.set(**{"bank: water": 0.5, f"{near}: money": 2.5})
    X = np.array([[0.5, 1.0], [lab.state[banks.entry(near, feature)] for feature in banks.FEATURES]])
    context, weights = attention.dot_product_attention(X, X, X)
    drawn = banks.parts(banks.compute(lab.state))
    x, y = banks.place(context[0])
    assert drawn[f"new {near}"] == {"cx": f"{x:g}", "cy": f"{y:g}"}
    assert drawn[f"its {near}"]["width"] == f"{banks.BAR * weights[0, 1]:.1f}".removesuffix(".0")
    assert f"{banks.percent(weights[0, 1])} {near}" in drawn[f"becomes {near}"]["text"]


def test_no_name_is_cut_off():
    lab = labs.two_banks()
    for x, y in ((0.0, 0.0), (0.0, 4.0), (4.0, 0.0), (4.0, 4.0)):
        lab.set(
            **{
                banks.entry(word, feature): value
                for word in banks.START
                for feature, value in zip(banks.FEATURES, (x, y), strict=True)
            }
        )
        drawn = banks.parts(banks.compute(lab.state))
        for word in banks.START:
            name = drawn[f"name {word}"]
            assert 4.5 * len(word) < float(name["x"]) < 308 - 4.5 * len(word)
            assert float(name["y"]) > 12


@pytest.mark.parametrize("reach", [2.0, 2.5, 3.0, 4.0])
def test_no_arrow_runs_through_what_a_new_vector_is_called(reach):
    lab = labs.two_banks()
    lab.set(**{"river: water": reach, "money: money": reach})
    drawn = banks.parts(banks.compute(lab.state))
    x0, y0 = banks.PLANE[0], banks.PLANE[3]
    for near in banks.SENTENCES:
        at, baseline = (float(drawn[f"called {near}"][axis]) for axis in "xy")
        for word in banks.START:
            tip = drawn[f"arrow {word}"]
            along = np.linspace((x0, y0), (float(tip["x2"]), float(tip["y2"])), 50)
            apart = np.abs(along - (at, baseline - 4)) - (26, 5)
            assert apart.max(axis=1).min() > 0, (near, word)


@pytest.mark.parametrize("speaker", switch.PROMPTS)
def test_without_attention_words_fall_apart(speaker):
    result = switch.compute({"speaker": speaker, "attention": True, "thrown": "0"})
    prompt = switch.PROMPTS[speaker]
    assert result.now.whole == decoder.load().write(prompt, switch.LENGTH, temperature=0.7, seed=0)
    with_it, n_with = result.now.found(True)
    without, n_without = result.other.found(False)
    assert with_it > 0.8 * n_with
    assert without < 0.5 * n_without
    count = f"{with_it} of the {n_with} words that it writes stand somewhere in the plays"
    assert switch.sentence(result) == f"With attention, {count}; without attention, {without} of the {n_without} words."


def test_the_switch_is_where_it_stands():
    lab = labs.with_and_without_attention()
    on = lab.picture.value
    lab.controls["attention"].value = False
    assert ">on</text>" in on
    assert ">off</text>" in lab.picture.value


def test_the_other_text_is_not_told_before_it_was_asked_for():
    lab = labs.with_and_without_attention()
    assert "proti" in switch.written("ROMEO", False)
    assert "proti" not in lab.picture.value
    lab.set(attention=True, thrown="0")
    assert ">proti</tspan>" in lab.picture.value
