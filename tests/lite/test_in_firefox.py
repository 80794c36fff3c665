"""What a second browser may do otherwise: the front page, the first notebook, a lab and a reload in Firefox."""

import pytest

from tools.page.browser import run_all
from tools.page.firefox import find_firefox, open_firefox
from tools.page.static import answered, hand_in, open_lite, show_cell
from tools.writing.notebooks import course_notebooks

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_firefox() is None, reason="needs Firefox: `apt-get install firefox-esr`, or its like"),
]

FIRST, SECOND = (path.name for path in course_notebooks()[:2])
FILM = "document.querySelector('.hero .mha-lab').dataset.film"
RIVER = """document.querySelector('.hero [data-mark="river: water"]')"""
RIGHT = """def softmax(scores):
    exp = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exp / exp.sum(axis=-1, keepdims=True)"""
CELL = "begin => mhaPanel.content.widgets.findIndex(one => one.model.sharedModel.source.includes(begin))"
# The options of the lab of word order, and its picture, once they can be seen.
LAB = """() => {
    const options = [...document.querySelectorAll('.mha-lab input[type=radio][aria-label$=" twice"]')];
    if (!options[0]?.getClientRects().length) return null;
    const chosen = options.findIndex(one => one.checked);
    return {chosen, drawn: options[0].closest(".mha-lab").querySelector(".mha-picture").innerHTML};
}"""
FOCUS = """document.querySelector('.mha-lab input[aria-label="none twice"]').focus()"""


@pytest.fixture
def firefox(site, tmp_path):
    with open_firefox(tmp_path) as firefox:
        yield firefox
    others = [url for url in firefox.asked if not url.startswith((site.url, "data:", "blob:"))]
    assert (others, firefox.errors) == ([], [])


def test_the_front_page_plays_its_film_and_is_moved_by_a_key(firefox, site):
    firefox.goto(site.url)
    firefox.wait_for_function(f"{FILM} === 'over'")
    firefox.evaluate(f"{RIVER}.focus()")
    before = firefox.evaluate(f"Number({RIVER}.value)")
    firefox.press("ArrowRight")
    assert firefox.evaluate(f"Number({RIVER}.value)") == pytest.approx(before + 0.1)


def test_the_first_notebook_runs_a_lab_answers_and_work_survives_a_reload(firefox, site):
    open_lite(firefox, site, FIRST)
    assert run_all(firefox) == []
    show_cell(firefox, "labs.word_order(")
    firefox.wait_for_function(LAB)
    before = firefox.evaluate(LAB)
    firefox.evaluate(FOCUS)
    firefox.press("ArrowDown")
    firefox.wait_for_function(f"before => ({LAB})().drawn !== before", arg=before["drawn"])
    assert firefox.evaluate(LAB)["chosen"] == before["chosen"] + 1

    hand_in(firefox, "def softmax(", RIGHT)
    open_lite(firefox, site, FIRST)
    assert firefox.evaluate(CELL, "exp.sum(axis=-1") >= 0
    open_lite(firefox, site, SECOND)
    code = "from mha_helpers import exercises\nsoftmax = exercises.softmax.bring_back()"
    assert "softmax: yours of" in answered(firefox, code)
