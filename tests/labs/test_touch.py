"""What the pictures offer to touch: every mark sets what the lab has, as its form does."""

import html
import json
import re

import pytest

from live_pictures import marks as touchable
from mha_helpers import labs

MARKED = [name for name in labs.__all__ if getattr(labs, name)().form.on_picture]


@pytest.fixture(params=MARKED)
def lab(request):
    return getattr(labs, request.param)()


def marks(lab, kind):
    """Return what the marks of a kind hold, in the picture that a lab shows now."""
    return [html.unescape(found) for found in re.findall(rf' data-{kind}="([^"]*)"', lab.picture.value)]


def ways_to_set(lab):
    """Return every set of values that a touch of the picture can bring about, but for those of a plane."""
    chosen = [json.loads(marked) for kind in ("choose", "also") for marked in marks(lab, kind)]
    switched = [{name: not lab.state[name]} for name in marks(lab, "switch") if not name.startswith("{")]
    chosen += [json.loads(marked) for marked in marks(lab, "switch") if marked.startswith("{")]
    chosen += [json.loads(marked) for marked in marks(lab, "sets")]
    return chosen + switched + [stop for stops in marks(lab, "stops") for stop in json.loads(stops)]


def ask(lab, number, changes, **more):
    """Do as the layer does."""
    lab._message.value = json.dumps({"n": number, "set": changes, **more})


def test_a_touch_sets_the_labs_own_controls_and_is_answered(lab):
    ways = ways_to_set(lab)
    assert ways or marks(lab, "drag")
    for number, changes in enumerate(ways, 1):
        ask(lab, number, changes)
        assert {name: lab.state[name] for name in changes} == changes
        assert f'data-answer="{number}"' in lab.picture.value, "an answer is not waited for in vain"
        lab.buttons["Reset"].click()


def test_a_button_in_the_picture_is_the_labs_own(lab):
    for number, label in enumerate(marks(lab, "press") + marks(lab, "play") + marks(lab, "enter"), 1):
        ask(lab, number, {}, press=label)
        assert f'data-answer="{number}"' in lab.picture.value


def touched(lab):
    """Return the controls and buttons that the marks of the picture stand for."""
    found = {name for changes in ways_to_set(lab) for name in changes} | {*marks(lab, "press")}
    if marks(lab, "scrub"):  # which goes back and forth as buttons do
        found |= {*lab.buttons}
    found |= {name for pair in marks(lab, "drag") for name in json.loads(pair)}
    # What is played goes on as long as the button of that name does.
    return found | {*re.findall(r'data-play="[^"]*" [^>]*?data-name="([^"]*)"', lab.picture.value)}


def test_what_leaves_the_form_is_in_the_picture(lab):
    found = touched(lab)
    for changes in ways_to_set(lab):  # a patient that is diagnosed has no stamps
        lab.set(**changes)
        found |= touched(lab)
    assert found >= {*lab.form.on_picture}


def test_a_mark_with_a_handle_says_where_it_goes(lab):
    for stops, track in zip(marks(lab, "stops"), marks(lab, "track"), strict=True):
        assert len(json.loads(stops)) == len(json.loads(track))
    for plane in marks(lab, "plane"):
        left, top, right, bottom, x0, x1, y0, y1, step = json.loads(plane)
        assert left < right
        assert top < bottom
        assert x0 < x1
        assert y0 < y1
        assert step > 0


def test_a_learners_words_stay_words_in_a_mark():
    marked = touchable.radio("<rect/>", {"query": '<b>"'}, tip="a < b")
    assert marked.count("<") == 1
    assert json.loads(html.unescape(re.search(r'data-choose="([^"]*)"', marked)[1])) == {"query": '<b>"'}
