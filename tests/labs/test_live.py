"""What the page computes while something is dragged, held against what Python draws on 200 random states."""

import html
import json
import re

import numpy as np
import pytest

from mha_helpers import labs

N_STATES = 200
LIVE = [name for name in labs.__all__ if getattr(labs, name)().script]


@pytest.fixture(params=LIVE)
def lab(request):
    return getattr(labs, request.param)()


@pytest.fixture
def computed(browser, lab):
    page = browser.new_page()
    page.add_script_tag(path=lab.script.file)
    yield lambda states: page.evaluate(
        "([name, states, data]) => states.map(state => mhaLive[name](state, data))",
        [lab.script.file.stem, states, lab.script.data],
    )
    page.close()


def random_state(lab, rng):
    """Return a state that the planes of a lab offer, from one that its other marks offer."""
    lab.buttons["Reset"].click()
    for name in lab.form.on_picture:
        options = getattr(lab.controls[name], "options", ())
        if options:
            lab.controls[name].value = str(rng.choice(options))
    drawn = lab.picture.value
    pairs = [json.loads(html.unescape(pair)) for pair in re.findall(r'data-drag="([^"]*)"', drawn)]
    planes = [json.loads(plane) for plane in re.findall(r'data-plane="([^"]*)"', drawn)]
    for (across, up), (*_, x0, x1, y0, y1, step) in zip(pairs, planes, strict=True):
        for name, low, high in ((across, x0, x1), (up, y0, y1)):
            lab.controls[name].value = round(float(rng.integers(round(low / step), round(high / step) + 1)) * step, 6)
    return dict(lab.state)


@pytest.mark.browser
@pytest.mark.slow
def test_the_page_computes_what_python_draws(lab, computed):
    rng = np.random.default_rng(0)
    states = [random_state(lab, rng) for _ in range(N_STATES)]
    assert len({json.dumps(state) for state in states}) > N_STATES / 2
    for state, answer in zip(states, computed(states), strict=True):
        assert answer["parts"] == lab.script.parts(lab.compute(state, None)), state
        assert answer["sentence"] in lab.draw(state, None).sentence


def test_a_learners_mistake_is_not_drawn_over(lab):
    assert f'data-live="{lab.script.file.stem}"' in lab.picture.value
    wrong = lab.draw(lab.state, None)
    object.__setattr__(wrong, "notice", "marked ≠")
    assert "data-live" not in lab.shown(wrong)


def test_every_part_that_is_computed_is_in_the_picture(lab):
    assert {*lab.script.parts(lab.compute(lab.state, None))} <= {*re.findall(r'data-part="([^"]*)"', lab.picture.value)}
