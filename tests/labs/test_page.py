"""The labs on a page without a kernel, in a real browser: what is pressed, dragged and swept, on a phone."""

import itertools
import json
import re
from dataclasses import replace
from importlib import import_module

import pytest
from axe_playwright_python.sync_playwright import Axe
from ipywidgets import Text
from playwright.sync_api import expect

from live_pictures import page as lab_page
from live_pictures.motion import WRITES
from live_pictures.options import StaticPage
from mha_helpers import labs
from mha_helpers.labs.lab import page_layer

bugs = import_module("mha_helpers.labs.output_projection.which_bug")
splitting = import_module("mha_helpers.labs.splitting.split_lab")
verse = import_module("mha_helpers.labs.self_attention.with_and_without_attention")

TOUCHED = [name for name in labs.__all__ if getattr(labs, name)().form.on_picture]
PHONE = {"width": 390, "height": 844}
MAX_MEAN = 76_500  # bytes of a lab's pictures, in the mean of all labs
MIN_TEXT = 10.5  # pixels: of a text in a picture


def test_a_frame_is_what_the_lab_draws():
    (drawn,) = lab_page.frames(labs.qkv_workbench())
    lab = labs.qkv_workbench()
    for number, (query, key) in enumerate((q, k) for q in lab.page.offers["query"] for k in lab.page.offers["key"]):
        lab.set(query=query, key=key)
        assert drawn[number][1] == lab.draw(lab.state, None).sentence
        picture = lab.draw(lab.state, None)
        assert picture.notice == "Shown with the course's own dot_product_attention."
        assert drawn[number][0] == lab.shown(replace(picture, notice="")), "a page says itself whose function it is"


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("mask_studio", {"it sees cat": False, "sat sees because": True, "length": 4}),
        ("shape_tracer", {"record": "2x5x12x3; found; found", "wrong": "B, S, h", "shape": "S, B"}),
    ],
)
def test_a_piece_of_a_frame_is_in_the_labs_own_picture(name, state):
    lab, drawn = getattr(labs, name)(), lab_page.frames(getattr(labs, name)())
    lab.set(**state)
    offers = lab_page.offered(lab)
    for names, frames in zip(lab.page.pieces, drawn, strict=True):
        states = [*itertools.product(*(offers[control] for control in names))]
        assert len(frames) == len(states)
        parts, _, _ = frames[states.index(tuple(lab.state[control] for control in names))]
        assert [part for part, fragment in parts.items() if fragment not in lab.picture.value] == []


def test_too_many_states_are_refused():
    lab = labs.qkv_workbench()
    lab.page = StaticPage(offers={"query": range(40), "key": range(40)})
    with pytest.raises(ValueError, match="1600 states are offered"):
        lab_page.frames(lab)


def test_a_page_says_where_the_controls_are_that_it_has_not():
    for name in TOUCHED:
        lab = getattr(labs, name)()
        lacks = {*lab.controls} - {*lab_page.offered(lab), *lab.form.on_picture}
        lacks |= {control for control in lab.controls.values() if isinstance(control, Text)}  # it may say anything
        assert bool(lab.page.kernel_only) == bool(lacks), name
        assert f" Only there: {lab.page.kernel_only}." in lab.on_page("") or not lacks


def test_all_labs_together_weigh_no_more_than_a_page_may():
    weights = {name: len(getattr(labs, name)().on_page("").encode()) for name in TOUCHED}
    assert sum(weights.values()) <= MAX_MEAN * len(weights), weights


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    shown = "".join(getattr(labs, name)().on_page("") for name in TOUCHED)
    file = tmp_path_factory.mktemp("page") / "labs.html"
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Labs</title>'
    file.write_text(
        f'<!doctype html><html lang="en"><head>{head}{page_layer()}</head><body style="margin:16px">'
        f"<main><h1>Labs</h1>{shown}</main></body></html>",
        encoding="utf-8",
    )
    return file.as_uri()


@pytest.fixture(scope="module")
def phone(browser, written):
    with browser.new_context(viewport=PHONE, has_touch=True) as context:
        page = context.new_page()
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(written)
        expect(page.locator(".mha-touched")).to_have_count(len(TOUCHED))
        yield page
        assert errors == []


def lab_of(page, name):
    return page.locator(f'[data-lab="{name}"]')


def start_over(lab):
    """Press Reset, and take the mouse off the lab: a scroll would bring it over a mark that is chosen at a glance."""
    lab.locator(".mha-reset").click()
    lab.page.mouse.move(0, 0)


def expect_state(lab, **values):
    """Wait until a picture of these values is shown."""
    for name, value in values.items():
        known = re.escape(json.dumps(value, ensure_ascii=False))
        expect(lab.locator("[data-state]")).to_have_attribute("data-state", re.compile(rf'"{name}": ?{known}[,}}]'))


pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_nothing_scrolls_sideways_and_all_can_be_read(phone):
    assert phone.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    seen = phone.locator(".mha-lab").evaluate_all("""all => all.map(lab => {
        const picture = lab.querySelector(".mha-picture");
        const sizes = [...lab.querySelectorAll("svg text")].filter(text => text.getClientRects().length).map(text => {
            const {a, b} = text.getScreenCTM();
            return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b);
        });
        return [lab.dataset.lab, picture.scrollWidth - picture.clientWidth, Math.min(...sizes)];
    })""")
    assert [name for name, over, _ in seen if over > 0] == []
    assert [name for name, _, smallest in seen if smallest < MIN_TEXT] == []


@pytest.mark.parametrize("name", TOUCHED)
def test_a_press_shows_another_picture(phone, name):
    lab = lab_of(phone, name)
    pressed = lab.locator(".mha-over :is(input[type=radio]:not(:checked), input[type=checkbox])")
    if not pressed.count():
        pytest.skip("nothing in it is pressed: it is dragged")
    before = lab.locator("[data-state]").get_attribute("data-state")
    pressed.first.click()
    expect(lab.locator("[data-state]")).not_to_have_attribute("data-state", before)


# Inputs whose middle is not that of what they lie over, but for what shakes.
STRAY = """lab => {
    const middle = ({left, top, width, height}) => [left + width / 2, top + height / 2];
    return [...lab.querySelectorAll(".mha-over :is(input, button)")].filter(input => {
        const mark = input.mark.querySelector("[data-hold]") ?? input.mark;
        const [x, y] = middle(input.getBoundingClientRect()), [at, up] = middle(mark.getBoundingClientRect());
        return Math.hypot(x - at, y - up) > 4;
    }).map(input => input.dataset.mark);
}"""

# When what glides has arrived, and two pictures more are painted.
ARRIVED = """async lab => {
    const gliding = lab.getAnimations({subtree: true}).filter(animation => !(animation instanceof CSSAnimation));
    await Promise.allSettled(gliding.map(animation => animation.finished));
    for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
}"""


@pytest.mark.parametrize("name", TOUCHED)
def test_what_is_touched_lies_where_it_is_seen_also_when_lines_come_and_parts_glide(phone, name):
    lab = lab_of(phone, name)
    unchosen = lab.locator(".mha-over input[type=radio]:not(:checked)")
    others = unchosen.evaluate_all("all => all.map(input => input.dataset.mark)")
    for other in others[:: max(1, len(others) // 4)]:
        before = lab.locator("[data-state]").get_attribute("data-state")
        lab.locator(f'[data-mark="{other}"]').click()
        expect(lab.locator("[data-state]")).not_to_have_attribute("data-state", before)
        lab.evaluate(ARRIVED)
        assert lab.evaluate(STRAY) == []


def expect_readout(lab, text):
    """Await a text in a lab's read-out, in what is shown of it and what is behind "more"."""
    shown = 'card => [".mha-status", ".mha-more p"].map(each => card.querySelector(each).textContent).join(" ")'
    lab.page.wait_for_function(f"([card, text]) => ({shown})(card).includes(text)", arg=[lab.element_handle(), text])


def test_the_ring_round_what_has_the_focus_is_not_cut_off(phone):
    cut = phone.locator(".mha-lab").evaluate_all("""all => all.flatMap(lab => {
        const {left, top} = lab.querySelector(".mha-picture").getBoundingClientRect(), ring = 5;  // 3 wide, 2 away
        return [...lab.querySelectorAll(".mha-over :is(input, button)")].filter(input => {
            const at = input.getBoundingClientRect();
            return at.left - ring < left || at.top - ring < top;
        }).map(input => `${lab.dataset.lab}: ${input.ariaLabel}`);
    })""")
    assert cut == []


def test_nothing_that_is_pressed_is_smaller_than_24_pixels(phone):
    small = phone.locator(".mha-lab").evaluate_all("""all => all.flatMap(lab =>
        [...lab.querySelectorAll("input, button, summary")].filter(one => {
            const {width, height} = one.getBoundingClientRect();
            return Math.min(width, height) < 24 && width;
        }).map(one => `${lab.dataset.lab}: ${one.ariaLabel ?? one.textContent}`))""")
    assert small == []


def test_up_and_down_go_by_columns_where_choices_have_rows_and_columns(phone):
    lab = lab_of(phone, "row_times_column")
    start_over(lab)
    lab.get_by_role("radio", name="it, column 0", exact=True).check()
    ways = [("ArrowUp", "because, column 0"), ("ArrowDown", "it, column 0"), ("ArrowDown", "cat, column 0")]
    for key, name in (*ways, ("ArrowUp", "it, column 0"), ("ArrowLeft", "because, column 1")):
        phone.keyboard.press(key)
        number = lab.get_by_role("radio", name=name, exact=True)
        expect(number).to_be_checked()
        expect(number).to_be_focused()
    row, column = name.split(", column ")
    expect_state(lab, row=row, column=column)
    start_over(lab)


def test_what_is_shown_is_what_python_draws(phone):
    lab, drawn = lab_of(phone, "qkv_workbench"), labs.qkv_workbench()
    lab.get_by_role("radio", name="query sat", exact=True).check()
    lab.get_by_role("radio", name="key mat", exact=True).check()
    drawn.set(query="sat", key="mat")
    expect_readout(lab, drawn.draw(drawn.state, None).sentence)
    weights = re.findall(r'data-part="weight [^"]*"[^>]*>([^<]+)', drawn.draw(drawn.state, None).svg)
    assert lab.locator('[data-part^="weight "]').all_text_contents() == weights


# The picture and its state, as they are at one moment: what plays goes on while Python draws what is wanted.
TAKEN = """lab => {
    lab.taken = lab.querySelector(".mha-picture .widget-html-content").cloneNode(true);
    return JSON.parse(lab.taken.querySelector("[data-state]").dataset.state);
}"""

# Where the picture that was taken, or a part of it, is not what it would be if it were drawn anew, but for what the
# layer notes in it.
UNLIKE = """(lab, [part, drawn]) => {
    const notes = ["answer", "kept", "ends", "state", "grip"].map(name => `data-${name}`), noted = node => {
        const attributes = () => [...node.attributes].filter(({name, value}) =>
            !notes.includes(name) && value !== "" && !(name === "d" && "trail" in node.dataset));
        const classes = (node.getAttribute("class") ?? "").replace(/mha-(idle|lit|wet)/g, "").trim();
        node.style.translate = "";
        node.setAttribute("class", classes);
        return node.nodeName + JSON.stringify(attributes().map(({name, value}) => [name, value]).sort());
    };
    const picture = lab.taken, svg = part !== null;
    const now = (svg ? picture.querySelector(`[data-part="${part}"]`) : picture.firstChild).cloneNode(true);
    const range = document.createRange();
    range.selectNodeContents(svg ? picture.querySelector("svg") : picture);
    const anew = range.createContextualFragment(drawn).firstChild;
    const lines = root => [root, ...root.querySelectorAll("*")].map(node =>
        noted(node) + [...node.childNodes].filter(child => child.nodeType === Node.TEXT_NODE).map(child => child.data));
    const [shown, wanted] = [lines(now), lines(anew)];
    return Array.from({length: Math.max(shown.length, wanted.length)}, (_, i) => [shown[i], wanted[i]])
        .filter(([line, other]) => line !== other);
}"""


@pytest.mark.parametrize("name", [name for name in TOUCHED if name != "two_banks"])  # all of that the page computes
def test_a_picture_that_becomes_another_is_as_if_drawn_anew(phone, name):
    lab, drawn = lab_of(phone, name), getattr(labs, name)()
    start_over(lab)
    pressed = lab.locator(".mha-over :is(input[type=radio]:not(:checked), input[type=checkbox], button)")
    dragged = lab.locator(".mha-over input[type=range]:not([data-mark*=across])")
    kinds = [pressed] if drawn.script else [pressed, dragged]  # or the page computes it
    marks = [mark for some in kinds for mark in some.evaluate_all("all => all.map(one => one.dataset.mark)")]
    seen = []
    if len(marks) == 1:  # a lab with one handle: what it shows before is its other picture
        seen.append(json.loads(lab.locator("[data-state]").get_attribute("data-state")))
    for mark in marks[:: max(1, len(marks) // 6)]:
        control = lab.locator(f'.mha-over [data-mark="{mark}"]').first
        if not control.count():
            continue  # it went with another's press
        control.focus()
        answered = lab.locator("[data-answer]").get_attribute("data-answer")
        kind, plays = control.get_attribute("type"), control.get_attribute("aria-pressed") is not None  # it may go
        control.press("ArrowRight" if kind == "range" else " ")
        if kind != "range" and not plays:  # a slider may be at its end
            expect(lab.locator("[data-answer]")).not_to_have_attribute("data-answer", answered)
        lab.evaluate(ARRIVED)
        state = lab.evaluate(TAKEN)
        seen.append(state)
        if drawn.page.pieces:
            known = drawn.first_state | state
            result = drawn.compute(known, drawn.function)
            parts = [part for draw in drawn.page.pieces.values() for part in draw(result)[0].items()]
        else:
            drawn.set(**{name: value for name, value in state.items() if name in drawn.controls})
            parts = [(None, drawn.shown(drawn.page_picture()))]
        for part in parts:
            assert lab.evaluate(UNLIKE, part) == [], mark
    assert seen[0] != seen[-1]
    start_over(lab)  # the other tests begin here


def test_a_query_stays_where_it_was_dragged_while_keys_are_chosen(phone):
    lab = lab_of(phone, "qkv_workbench")
    lab.get_by_role("radio", name="query it", exact=True).check()
    expect_state(lab, query="it")
    across, back = (lab.get_by_role("slider", name="query of it, across"), lab.get_by_role("button", name="back to"))
    across.press("ArrowLeft")
    weights = lab.locator('[data-part^="weight "]').all_text_contents()
    lab.get_by_role("radio", name="key sat", exact=True).check()
    expect(lab.locator("[data-kept]")).to_have_attribute("data-state", re.compile('"key":"sat".*"query across":0.5'))
    assert lab.locator('[data-part^="weight "]').all_text_contents() == weights
    in_cells = [weight.removeprefix("0") for weight in weights]  # which have no room for it
    assert lab.locator('[data-part^="in cell "]').all_text_contents() == in_cells  # the row of all queries follows it
    lab.get_by_role("radio", name="query cat", exact=True).check()  # which has the same number across
    expect(lab.locator("[data-kept]")).to_have_attribute("data-kept", "")
    lab.get_by_role("radio", name="query it", exact=True).check()
    expect_state(lab, query="it")
    across.press("ArrowLeft")
    back.click()
    expect(across).to_have_value("1")


def test_a_sweep_goes_over_many_cells(phone):
    lab = lab_of(phone, "mask_studio")
    cells = [lab.get_by_role("checkbox", name=f"{word} sees it") for word in ("cat", "sat", "mat", "because")]
    places = []
    cells[0].scroll_into_view_if_needed()
    for cell in cells:
        box = cell.bounding_box()
        places.append((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2))
    finger(phone, places)
    for cell in cells:
        expect(cell).to_be_checked()


def test_a_word_and_the_padding_hide_columns(phone):
    lab = lab_of(phone, "mask_studio")
    column, handle = lab.get_by_role("checkbox", name="all see because"), lab.get_by_role("slider")
    column.check()
    expect(lab.get_by_role("checkbox", name="cat sees because")).to_be_checked()
    column.uncheck()
    expect(lab.get_by_role("checkbox", name="it sees because")).not_to_be_checked()
    handle.press("ArrowLeft")
    expect(lab.locator('[data-part="keys of the weights"]')).to_have_text("catsatmatbecausepad")


def test_chips_are_checked_and_the_walk_goes_on(phone):
    lab = lab_of(phone, "shape_tracer")
    lab.get_by_role("button", name="Start over").click()
    expect_state(lab, record="")
    for chip, shape in (("B", "B"), ("S", "B, S"), ("h", "B, S, h")):  # each picture says where the next chip may go
        lab.get_by_role("slider", name=chip, exact=True).press(" ")
        expect_state(lab, shape=shape)
    lab.get_by_role("slider", name="h", exact=True).press("Enter")
    expect_readout(lab, "Not (B, S, h). Axis 2 of Q is not h: it counts a token's features")
    expect(lab.locator('[data-part="slots"]')).to_contain_text("≠")
    for chip, shape in (("h", "B, S"), ("d_model", "B, S, d_model")):
        lab.get_by_role("slider", name=chip, exact=True).press(" ")
        expect_state(lab, shape=shape)
    lab.get_by_role("button", name="Check").click()
    expect_readout(lab, "Q is (2, 5, 12): a product changes the last axis only. Stage 2 of 9")
    expect(lab.locator('[data-part="slots"]')).not_to_contain_text("≠")


# Keeps which handles begin to glide, and from where: under load a glide may have ended before a test looks.
NOTE_GLIDES = """() => {
    const {animate} = Element.prototype;
    window.glides = [];
    Element.prototype.animate = function (frames, ...how) {
        const {scrub, part, leaves} = this.dataset, [{duration, delay = 0}] = how;
        window.glides.push([scrub, frames[0].translate, part, leaves, delay + duration]);
        return animate.call(this, frames, ...how);
    };
    window.noMoreNotes = () => { Element.prototype.animate = animate; };
}"""


@pytest.fixture
def paused(phone):
    """Let nothing go on by itself: what begins to move stays at its beginning, until a test says how far it is."""
    phone.evaluate("""() => {
        window.pauses = document.createElement("style");
        pauses.textContent = ".mha-picture * { animation-play-state: paused !important }";
        document.head.append(pauses);
    }""")
    yield phone
    phone.evaluate("pauses.remove()")


# What moves by its style sheet, by name; what has come to its end is not among it.
MOVES = """lab => {
    const names = lab.getAnimations({subtree: true}).map(({animationName}) => animationName);
    return [...new Set(names.filter(Boolean))];
}"""


def written_so_far(lab, letters):
    """Let a text be written up to a letter."""
    lab.evaluate(
        "(lab, time) => lab.getAnimations({subtree: true}).forEach(move => { move.currentTime = time })",
        WRITES * letters + 1,
    )


def test_the_switch_is_thrown_in_the_middle_of_a_verse(paused):
    lab = lab_of(paused, "with_and_without_attention")
    start_over(lab)
    switch = lab.get_by_role("checkbox", name="attention")
    written_so_far(lab, 33)
    switch.uncheck()
    expect_state(lab, attention=False, thrown="35")  # the next that a page knows
    result = verse.compute({"attention": False, "speaker": "ROMEO", "thrown": "35"})
    expect_readout(lab, verse.sentence(result))
    lines = lab.locator("svg:nth-of-type(2) text").all_text_contents()
    assert lines[2] == result.now.whole[:34]
    assert lab.locator("[data-write]").first.get_attribute("data-write").startswith("[35, ")
    written_so_far(lab, 12)
    switch.check()  # a second time in a verse: it is written anew
    expect_state(lab, attention=True, thrown="0")
    assert lab.locator("[data-write]").first.get_attribute("data-write").startswith("[0, ")
    lab.evaluate("lab => lab.getAnimations({subtree: true}).forEach(move => move.finish())")
    switch.uncheck()  # all is written: the other text
    expect_state(lab, attention=False, thrown="0")
    start_over(lab)


def test_a_right_shape_is_cut_and_turned_before_the_next_question_and_a_key_ends_that(paused):
    lab = lab_of(paused, "shape_tracer")
    start_over(lab)
    paused.evaluate(NOTE_GLIDES)
    lab.get_by_role("button", name="Show").click()
    expect_readout(lab, "cut is (2, 5, 3, 4)")
    assert lab.evaluate(MOVES) == ["mha-cut", "mha-later"]
    assert lab.locator('[data-part^="slab"]').evaluate_all("all => all.map(slab => slab.dataset.after)") == ["300"] * 6
    lab.get_by_role("slider", name="B", exact=True).press(" ")
    assert lab.evaluate(MOVES) == []
    expect_state(lab, shape="B")
    lab.get_by_role("button", name="Show").click()
    expect_readout(lab, "queries is (2, 3, 5, 4)")
    assert lab.evaluate(MOVES) == ["mha-later"]
    turned = "() => glides.filter(([, , part]) => part?.startsWith('slab')).map(([, way]) => way)"
    paused.wait_for_function(f"({turned})().length >= 8")
    paused.evaluate("noMoreNotes()")
    lab.get_by_role("button", name="Show").click()
    expect_readout(lab, "scores is (2, 3, 5, 5)")
    assert lab.evaluate(MOVES) == ["mha-reveal", "mha-later"]
    start_over(lab)


def test_a_hidden_keys_weight_flows_to_the_others_of_its_row(phone):
    lab = lab_of(phone, "mask_studio")
    start_over(lab)
    phone.evaluate(NOTE_GLIDES)
    lab.get_by_role("checkbox", name="it sees cat", exact=True).uncheck()
    phone.wait_for_function("glides.filter(([, , , leaves]) => leaves).length")
    flown = phone.evaluate("glides.filter(([, , , leaves]) => leaves).map(([, way, , leaves]) => [leaves, way])")
    assert flown == [["it sees cat", f"{-48 * (key + 1)}px 0px"] for key in range(4)]
    lab.get_by_role("checkbox", name="it sees cat", exact=True).check()
    expect(lab.get_by_role("status")).to_contain_text("What you see:")
    phone.evaluate("noMoreNotes()")
    assert phone.evaluate("glides.filter(([, , , leaves]) => leaves).length") == 4, "what is shown again takes it back"
    start_over(lab)


def test_the_split_takes_a_second_and_the_entry_that_is_followed_goes_last(phone):
    lab = lab_of(phone, "split_lab")
    start_over(lab)
    phone.evaluate(NOTE_GLIDES)
    lab.get_by_role("slider", name="step").press("ArrowRight")
    expect_state(lab, step=splitting.RESHAPE)
    phone.wait_for_function("glides.some(([, , part]) => part === 'right 102')")
    phone.evaluate("noMoreNotes()")
    ends = dict(
        phone.evaluate("glides.filter(([, , part]) => part?.startsWith('right')).map(([, , part, , at]) => [part, at])")
    )
    assert max(ends, key=ends.get) == "right 102"
    assert ends["right 102"] == 1000
    assert max(at for part, at in ends.items() if part != "right 102") < 800
    start_over(lab)


@pytest.mark.parametrize(
    ("name", "press"),
    [("shape_tracer", ("button", "Show")), ("mask_studio", ("checkbox", "it sees cat")),
     ("with_and_without_attention", ("checkbox", "attention"))],
)  # fmt: skip
def test_all_is_there_at_once_where_less_motion_is_wanted(phone, name, press):
    phone.emulate_media(reduced_motion="reduce")
    lab = lab_of(phone, name)
    start_over(lab)
    answered = lab.locator("[data-answer]").get_attribute("data-answer")
    lab.get_by_role(press[0], name=press[1], exact=True).click()
    expect(lab.locator("[data-answer]")).not_to_have_attribute("data-answer", answered)
    assert lab.evaluate("lab => lab.getAnimations({subtree: true}).length") == 0
    phone.emulate_media(reduced_motion="no-preference")
    start_over(lab)


def test_a_diagnosis_is_stamped_and_judged(phone):
    lab = lab_of(phone, "which_bug")
    lab.get_by_role("radio", name="patient B").check()
    truth = bugs.ward(1)["B"]
    wrong = next(bug for bug in bugs.BUGS if bug != truth)
    lab.get_by_role("button", name=f"diagnosis: {wrong}").click()
    expect(lab.get_by_role("status")).to_contain_text(f"Committed: {wrong}. Wrong: patient B is “{truth}”.")
    expect(lab.locator('[data-part="patient B"]')).to_contain_text("wrong")
    lab.get_by_role("radio", name="patient C").check()
    expect(lab.get_by_role("status")).to_contain_text("C: no probe is shown yet.")
    expect(lab.locator('[data-part="patient C"]')).to_have_text("C–")  # nothing is told of whom nobody has asked
    assert "q5 -5" not in lab.locator('[data-part="patient C"]').inner_html()
    lab.get_by_role("button", name=f"diagnosis: {bugs.ward(1)['C']}").click()
    expect(lab.locator('[data-part="patient C"]')).to_contain_text("right")
    expect(lab.locator('[data-part="patient B"]')).to_contain_text("wrong")  # it is remembered
    lab.get_by_role("radio", name="patient B").check()
    expect(lab.get_by_role("status")).to_contain_text(f"Committed: {wrong}. Wrong")


def test_each_patient_has_the_probes_that_were_put_to_it(phone):
    lab = lab_of(phone, "which_bug")
    ask, coins = lab.get_by_role("button", name="ask entropy"), lab.locator('[data-part="coins"]')
    lab.get_by_role("radio", name="patient E").check()
    expect(coins).to_have_text(re.compile("coins spent on .*: 0"))
    ask.click()
    expect(coins).to_have_text(re.compile("coins spent on .*: 1"))
    expect(ask).to_have_count(0)  # a coin is spent for good
    lab.get_by_role("radio", name="patient F").check()
    expect(coins).to_have_text(re.compile("coins spent on .*: 0"))
    expect(lab.locator('circle[data-part="paid for E"]')).to_have_count(1)  # and is seen when one has left
    expect(lab.locator('[data-part="card entropy"]')).to_contain_text("Press to ask")
    lab.get_by_role("radio", name="patient E").check()
    expect(ask).to_have_count(0)
    expect(lab.locator('[data-part="card entropy"]')).not_to_contain_text("Press to ask")


def test_a_switch_pulls_the_scores_back(phone):
    lab = lab_of(phone, "softmax_scaling")
    dots = lab.locator('[data-part^="dot "]')
    far = "dots => { const xs = dots.map(dot => +dot.getAttribute('cx')); return Math.max(...xs) - Math.min(...xs); }"
    handle, wide = lab.get_by_role("slider", name="d_k"), []
    switch = lab.get_by_role("checkbox", name="divide by sqrt(d_k)", exact=True)
    switch.set_checked(False)
    for key, d_k in (("Home", 1), ("End", 512)):
        handle.press(key)
        expect(lab.locator("[data-state]")).to_have_attribute("data-state", re.compile(f'"d_k": {d_k},'))
        wide.append(dots.evaluate_all(far))
    assert wide[1] > 10 * wide[0]
    switch.check()
    expect_state(lab, divisor="sqrt(d_k)")
    assert dots.evaluate_all(far) < 0.2 * wide[1]
    switch.uncheck()
    expect(lab.get_by_role("status")).to_contain_text("Not divided")


def test_a_page_begins_anew(phone):
    lab = lab_of(phone, "mask_studio")
    picture, cell = lab.locator(".mha-picture .widget-html-content"), lab.get_by_role("checkbox", name="cat sees mat")
    reset, status = lab.get_by_role("button", name="Reset"), lab.get_by_role("status")
    reset.click()
    readout = "What you see: 10 of 25 cells hidden. Each row still sums to 1."
    expect(status).to_have_text(readout)  # it speaks no more often than three times a second
    first = picture.inner_html()
    cell.check()
    expect(status).to_have_text(re.compile("“cat” gives .* to cat"))
    reset.click()
    expect(cell).not_to_be_checked()
    expect(status).to_have_text(readout)
    assert re.sub('data-answer="[^"]*"', "", picture.inner_html()) == re.sub('data-answer="[^"]*"', "", first)
    cell.check()
    expect(status).to_have_text(re.compile("“cat” gives .* to cat"))  # and goes on answering


def test_what_a_page_cannot_do_says_so(phone):
    lab = lab_of(phone, "writer")
    lab.get_by_role("button", name="Reset").click()
    lab.get_by_role("button", name="write T").click()
    expect_state(lab, text=labs.writer().first_state["text"] + "T")
    lab.locator("[data-sets].mha-idle").first.tap()
    expect(lab.locator(".mha-tip")).to_have_text("Only in the notebook.")


def test_a_letter_is_written_at_the_temperature_that_is_set(phone):
    lab = lab_of(phone, "writer")
    knob, bars = lab.get_by_role("slider", name="temperature"), lab.locator('[data-part="next"]')
    lab.get_by_role("button", name="start again").click()  # it may have written to its end while other labs were tested
    expect_state(lab, text=labs.writer().first_state["text"])
    knob.press("End")
    expect_state(lab, temperature=1.5)
    hot = bars.text_content()
    knob.press("Home")
    expect(bars).not_to_have_text(hot)
    expect(knob).to_have_attribute("aria-valuetext", "0.1")
    lab.get_by_role("button", name="One character").click()
    expect(
        lab.get_by_role("button", name="write ␣").or_(lab.get_by_role("button", name="write a space"))
    ).to_have_count(1)
    expect(knob).to_have_attribute("aria-valuetext", "0.1")


def test_knocking_out_and_the_twin(phone):
    lab = lab_of(phone, "head_browser")
    lab.get_by_role("checkbox", name="knock out").check()
    expect_readout(lab, "Without this head the sentence's vector has cosine")
    expect(lab.locator('[data-part="cut"]')).to_contain_text("cut")
    expect(lab.locator('[data-part="cut"] [stroke-dasharray]')).to_have_count(1)
    lab.get_by_role("checkbox", name="random twin").check()
    expect(lab.locator('[data-part="twin"]')).to_contain_text("twin")


def test_a_finger_drags_and_the_page_stays_where_it_is(phone):
    lab = lab_of(phone, "two_banks")
    handle = lab.get_by_role("slider", name="bank, up")
    handle.scroll_into_view_if_needed()
    box, at = handle.bounding_box(), lab.bounding_box()["y"]
    start = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    finger(phone, [(start[0] + 4 * i, start[1] - 8 * i) for i in range(12)])
    expect(handle).to_have_value(re.compile(r"^(2\.\d|[34])"))
    expect(lab.locator('[data-part="scores river"]')).not_to_contain_text("bank · bank = 2.00")
    assert lab.bounding_box()["y"] == pytest.approx(at, abs=1)


@pytest.mark.parametrize(
    ("name", "carried", "way"),
    [
        ("word_order", "place of dog", (0, 70)),
        ("shape_tracer", "d_model", (-170, -60)),
        ("sum_of_heads", "place of head 1", (0, -110)),
        ("cache_cost", "window", (0, -100)),
    ],
)
def test_what_is_carried_stays_under_the_pointer_and_glides_to_its_place(phone, name, carried, way):
    handle = lab_of(phone, name).get_by_role("slider", name=carried, exact=True)
    start, drop = middle_of(handle), lab_of(phone, name).locator(".mha-drop")
    place = """input => { const {x, y, width, height} = input.getBoundingClientRect();
                          return [x + width / 2, y + height / 2]; }"""
    phone.mouse.move(*start)
    phone.mouse.down()
    for step in range(1, 11):
        at = [now + step / 10 * far for now, far in zip(start, way, strict=True)]
        phone.mouse.move(*at)
        phone.evaluate("() => new Promise(requestAnimationFrame)")
        assert handle.evaluate(place) == pytest.approx(at, abs=1)
    expect(drop).to_have_count(1)
    phone.evaluate(NOTE_GLIDES)
    phone.mouse.up()
    expect(drop).to_have_count(0)
    phone.wait_for_function("handle => glides.some(([name, way]) => name === handle && way !== '0px 0px')", arg=carried)
    phone.evaluate("noMoreNotes()")
    expect(handle).to_be_focused()


@pytest.mark.parametrize(
    ("name", "handle", "key", "axis", "way"),
    [
        ("word_order", "place of dog", "ArrowDown", 1, 1),
        ("word_order", "place of man", "ArrowUp", 1, -1),
        ("cache_cost", "heads of keys and values", "ArrowLeft", 0, -1),
        ("training_run", "step", "ArrowLeft", 0, -1),
    ],
)
def test_an_arrow_key_moves_a_handle_where_it_points(phone, name, handle, key, axis, way):
    lab = lab_of(phone, name)
    start_over(lab)
    slider = lab.get_by_role("slider", name=handle, exact=True)
    before = middle_of(slider)
    answered = lab.locator("[data-answer]").get_attribute("data-answer")
    slider.press(key)
    expect(lab.locator("[data-answer]")).not_to_have_attribute("data-answer", answered)  # what is carried moves then
    lab.evaluate(ARRIVED)
    assert (middle_of(slider)[axis] - before[axis]) * way > 10
    start_over(lab)


def test_a_tap_on_a_track_brings_the_handle(phone):
    lab = lab_of(phone, "softmax_scaling")
    track = lab.locator('[data-grip="d_k"]')
    track.tap(position={"x": 16, "y": 13})
    expect(lab.get_by_role("slider", name="d_k")).to_have_attribute("aria-valuetext", "1")


def test_a_press_that_moves_goes_from_head_to_head(phone):
    lab = lab_of(phone, "head_browser")
    cells = [lab.locator(f'.mha-over [data-mark="layer and head={layer}, 3"]') for layer in range(6)]
    cells[0].scroll_into_view_if_needed()
    boxes = [cell.bounding_box() for cell in cells]
    finger(phone, [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes])
    expect(cells[-1]).to_be_checked()
    expect(lab.get_by_role("status")).to_contain_text("Layer 5, head 3")


def test_a_head_is_shown_at_a_glance_and_kept_by_a_press(phone):
    lab = lab_of(phone, "head_browser")
    heads = "0, 2", "2, 7", "5, 11"
    first, other, third = (lab.locator(f'.mha-over [data-mark="layer and head={head}"]') for head in heads)
    first.check()
    title = lab.locator('[data-part="arcs"]')
    phone.mouse.move(*middle_of(other))
    expect(title).to_contain_text("Layer 2, head 7:")
    phone.mouse.move(0, 0)
    expect(title).to_contain_text("Layer 0, head 2:")
    phone.mouse.move(*middle_of(third))
    phone.mouse.down()
    phone.mouse.up()
    phone.mouse.move(0, 0)
    expect(lab.get_by_role("status")).to_contain_text("Layer 5, head 11")
    expect(third).to_be_checked()
    phone.mouse.move(*middle_of(other))
    expect(title).to_contain_text("Layer 2, head 7:")
    other.press(" ")  # a key keeps it, too
    phone.mouse.move(0, 0)
    expect(title).to_contain_text("Layer 2, head 7:")
    expect(other).to_be_checked()


def middle_of(mark):
    mark.scroll_into_view_if_needed()
    box = mark.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_tip_does_not_lie_over_what_is_dragged(phone):
    lab = lab_of(phone, "softmax_scaling")
    tip, handle = lab.locator(".mha-tip"), lab.get_by_role("slider", name="d_k")
    handle.press("End")  # wherever a test before left it, it can go to the left
    expect(lab.locator("[data-state]")).to_have_attribute("data-state", re.compile('"d_k": 512'))
    lab.evaluate("lab => Promise.all(lab.getAnimations({subtree: true}).map(animation => animation.finished))")
    x, y = middle_of(handle)
    phone.mouse.move(x, y)
    expect(tip).to_be_visible()
    box, its = handle.bounding_box(), tip.bounding_box()
    assert its["y"] + its["height"] < box["y"] or its["y"] > box["y"] + box["height"]
    phone.mouse.down()
    expect(tip).to_be_hidden()
    before = lab.locator("[data-state]").get_attribute("data-state")
    phone.mouse.move(x - 60, y)
    expect(lab.locator("[data-state]")).not_to_have_attribute("data-state", before)
    phone.mouse.up()
    expect(tip).to_be_hidden()
    phone.mouse.move(0, 0)
    phone.mouse.move(*middle_of(handle))
    expect(tip).to_be_visible()
    phone.mouse.move(0, 0)
    handle.tap()
    expect(tip).to_be_hidden()


def test_what_shakes_is_what_the_token_held_moves(phone):
    lab = lab_of(phone, "leak_detector")
    tokens = [lab.get_by_role("radio", name=f"token {word}", exact=True) for word in ("sat", "because")]
    lit = lab.locator(".mha-lit")
    lab.get_by_role("radio", name="mask: causal", exact=True).check()
    phone.mouse.move(*middle_of(tokens[0]))
    expect(lab.locator(".mha-tip")).to_be_hidden()
    phone.mouse.down()
    for token, n_outputs in zip(tokens, (4, 2), strict=True):
        phone.mouse.move(*middle_of(token))
        expect(token).to_be_checked()
        expect(lit).to_have_count(1 + n_outputs)
    phone.mouse.up()
    phone.mouse.move(0, 0)
    expect(lit).to_have_count(0)
    expect(tokens[1]).to_be_checked()
    tokens[0].tap()
    expect(tokens[0]).to_be_checked()
    expect(lit).to_have_count(0)


def test_what_plays_goes_on_until_it_is_touched(phone):
    lab = lab_of(phone, "block_tour")
    button, step = lab.get_by_role("button", name="play the tour"), lab.get_by_role("slider", name="step")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(step).to_have_attribute("aria-valuetext", re.compile(r"^3\."))
    step.press("ArrowLeft")
    expect(button).to_have_attribute("aria-pressed", "false")
    expect(step).to_have_attribute("aria-valuetext", re.compile(r"^2\."))


def test_the_writer_writes_when_it_is_seen_and_rests_where_it_began(browser, written):
    page = browser.new_page()
    page.goto(written)
    lab = lab_of(page, "writer")
    first = json.dumps(labs.writer().first_state["text"])[1:-1]
    button, state = lab.get_by_role("button", name="Write on"), lab.locator("[data-state]")
    more, rests = re.compile(re.escape(first) + '[^"]'), re.compile(re.escape(first) + '"')
    lab.locator(".mha-picture").scroll_into_view_if_needed()
    expect(state).to_have_attribute("data-state", more)
    expect(button).to_have_attribute("aria-pressed", "false")
    expect(state).to_have_attribute("data-state", rests)
    expect(lab.get_by_role("button", name=re.compile("^write "))).to_have_count(10)  # all that are likely
    expect(lab.locator('[data-name^="write "]')).to_have_count(10)
    button.click()
    expect(state).to_have_attribute("data-state", more)
    expect(button).to_have_attribute("aria-pressed", "true")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    expect(state).to_have_attribute("data-state", more)  # a touch stops it where it is
    page.close()


@pytest.mark.parametrize(("name", "n_stops"), [("training_run", 10), ("logit_lens", 5)])
def test_what_has_a_course_is_played_once_when_it_is_seen(browser, written, name, n_stops):
    page = browser.new_page()
    page.goto(written)
    lab = lab_of(page, name)
    button, shown = lab.get_by_role("button", name=re.compile("^play")), lab.locator("[data-state]")
    first = shown.get_attribute("data-state")
    lab.locator(".mha-picture").scroll_into_view_if_needed()
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(button).to_have_attribute("aria-pressed", "false")
    assert shown.get_attribute("data-answer") == str(n_stops), "each stop is shown once"
    assert shown.get_attribute("data-state") == first
    page.close()


def test_a_readout_has_25_words_at_most_and_the_rest_is_behind_more(phone):
    shown = {}
    for name in TOUCHED:
        lab = lab_of(phone, name)
        start_over(lab)
        sentence = getattr(labs, name)().page_picture().sentence
        status, more = lab.get_by_role("status"), lab.locator(".mha-more")
        expect(status).to_have_text(re.compile(rf"^What you see: {re.escape(sentence[:12])}"))
        seen, rest = status.text_content(), more.locator("p").text_content()
        assert f"{seen} {rest}".strip() == f"What you see: {sentence}", name
        shown[name] = len(re.findall(r"\S*\w\S*", seen.removeprefix("What you see: ")))
        assert ("mha-empty" in more.get_attribute("class")) == (not rest), name
    assert max(shown.values()) <= 25, shown
    lab = lab_of(phone, "sum_of_heads")
    rest = lab.locator(".mha-more p")
    expect(rest).to_be_hidden()
    lab.get_by_text("more", exact=True).click()
    expect(rest).to_be_visible()
    lab.get_by_text("more", exact=True).click()


# Which texts of a lab's pictures lie over each other; not a number that has moved onto itself.
# A line's box is higher than its letters: a fifth at each end is air.
OVERLAPPING = """lab => {
  const found = [];
  for (const svg of lab.querySelectorAll(".mha-picture svg")) {
    const written = [...svg.querySelectorAll("text:not([x*=' '])")]; // one with many places has letters all over
    const texts = written.filter(text => text.textContent.trim() && text.checkVisibility());
    const boxes = texts.map(text => text.getBoundingClientRect());
    const across = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const down = (a, b) => Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) - 0.2 * (a.height + b.height);
    boxes.forEach((a, i) => boxes.slice(0, i).forEach((b, j) => {
      const [one, other] = [texts[i].textContent, texts[j].textContent];
      if (one !== other && across(a, b) > 1.5 && down(a, b) > 1) found.push(`${one} | ${other}`);
    }));
  }
  return found;
}"""


def test_no_label_lies_on_another(phone):
    for name in TOUCHED:
        start_over(lab_of(phone, name))
    found = {name: lab_of(phone, name).evaluate(OVERLAPPING) for name in TOUCHED}
    assert {name: pairs for name, pairs in found.items() if pairs} == {}
    lab = lab_of(phone, "two_banks")
    for name, key in (("bank, across", "ArrowLeft"), ("bank, up", "ArrowUp"), ("river, across", "ArrowRight")):
        handle = lab.get_by_role("slider", name=name, exact=True)
        for _ in range(15 if key == "ArrowUp" else 6):
            handle.press(key)
            assert lab.evaluate(OVERLAPPING) == [], f"{name} at {handle.input_value()}"
    start_over(lab)


def test_the_writer_says_where_it_can_write_no_further(browser, written):
    page = browser.new_page(reduced_motion="reduce")
    page.goto(written)
    lab = lab_of(page, "writer")
    end, again = lab.get_by_text("The stored text ends here"), lab.get_by_role("button", name="start again")
    expect(end).to_be_hidden()
    lab.get_by_role("button", name="write I").click()
    lab.get_by_role("button", name="Write on").click()
    expect(end).to_be_visible()
    assert json.loads(lab.locator("[data-state]").get_attribute("data-state"))["text"].endswith("I will not be")
    again.click()
    expect(end).to_be_hidden()
    page.close()


def test_the_writer_rests_where_less_motion_is_wanted(browser, written):
    page = browser.new_page(reduced_motion="reduce")
    page.goto(written)
    lab = lab_of(page, "writer")
    lab.locator(".mha-picture").scroll_into_view_if_needed()
    state, first = lab.locator("[data-state]"), labs.writer().first_state["text"]
    lab.get_by_role("button", name="Write on").click()  # had it begun, this press would stop it
    expect(state).to_have_attribute("data-state", re.compile(re.escape(json.dumps(first)[1:-1]) + '[^"]'))
    page.close()


def finger(page, places):
    """Press, move and lift a finger: real touch events."""
    client = page.context.new_cdp_session(page)
    for number, (x, y) in enumerate(places):
        kind = "touchMove" if number else "touchStart"
        client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    client.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    client.detach()


def test_keys_reach_what_a_pointer_does(phone):
    """One drag by keys alone ends where one by mouse does, and the focus is kept through every picture."""
    lab = lab_of(phone, "two_banks")
    across, up = (lab.get_by_role("slider", name=f"money, {axis}") for axis in ("across", "up"))
    across.focus()
    for key in ["ArrowRight"] * 12 + ["ArrowDown"] * 8:
        phone.keyboard.press(key)
    expect(across).to_have_value("1.2")
    expect(up).to_have_value("2.2")
    expect(up).to_be_focused()
    expect(lab.locator('[data-part="dot money"]')).to_have_attribute("cx", "103.6")
    assert lab.evaluate(STRAY) == [], "an input follows its mark"


@pytest.mark.parametrize("name", TOUCHED)
def test_each_kind_of_input_answers_a_key_and_the_focus_stays_in_the_lab(phone, press_each_kind, name):
    press_each_kind(phone, lab_of(phone, name))


@pytest.mark.parametrize("name", TOUCHED)
def test_a_group_is_one_tab_stop_and_keeps_the_focus(phone, name):
    lab = lab_of(phone, name)
    group = lab.get_by_role("radiogroup").first
    if not lab.get_by_role("radiogroup").count():
        pytest.skip("nothing in it is chosen")
    group.get_by_role("radio").first.focus()
    for _ in range(20):
        phone.keyboard.press("ArrowRight")
    assert phone.evaluate("document.activeElement.closest('[role=radiogroup]')?.getAttribute('aria-label')") == (
        group.get_attribute("aria-label")
    )
    assert phone.evaluate("document.activeElement.checked")
    phone.keyboard.press("Tab")
    assert not phone.evaluate(
        "name => document.activeElement.closest('[role=radiogroup]')?.getAttribute('aria-label') === name",
        group.get_attribute("aria-label"),
    )


def test_arrows_go_through_a_group_whatever_is_drawn_last(phone):
    lab = lab_of(phone, "split_lab")  # the cell that is followed is drawn over all others
    cells = lab.get_by_role("radiogroup", name="token and feature").get_by_role("radio")
    cells.first.focus()
    walked = set()
    for _ in range(cells.count()):
        phone.keyboard.press("ArrowRight")
        now = phone.evaluate("document.activeElement.dataset.mark")
        token, feature = now.rpartition("=")[2].split(", ")
        wanted = rf'"token": ?"?{token}"?,.*"feature": ?"?{feature}"?[,}}]'
        expect(lab.locator("[data-state]")).to_have_attribute("data-state", re.compile(wanted))
        walked.add(now)
    assert len(walked) == cells.count() > 10


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(phone, scheme):
    phone.emulate_media(color_scheme=scheme)
    violations = Axe().run(phone, options={"resultTypes": ["violations"]}).response["violations"]
    assert {rule["id"]: [node["html"][:160] for node in rule["nodes"]][:3] for rule in violations} == {}


def test_what_is_chosen_and_has_the_focus_is_seen_in_forced_colours(phone):
    phone.emulate_media(forced_colors="active")
    padded = phone.locator(".mha-picture").first.evaluate("each => getComputedStyle(each).boxShadow")
    assert padded == "rgb(255, 255, 255) 0px 0px 0px 6px", "its paper goes on to the card's edge"
    chosen, other = (
        lab_of(phone, "qkv_workbench").get_by_role("radio", name=f"query {word}") for word in ("it", "cat")
    )
    chosen.check()
    phone.locator("h1").click()  # so that no pointer is on it
    outline = "input => getComputedStyle(input).outlineStyle"
    assert [radio.evaluate(outline) for radio in (chosen, other)] == ["solid", "none"]
    chosen.press("Shift")
    assert (
        chosen.evaluate("input => input.matches(':focus-visible') && getComputedStyle(input).outlineStyle") == "solid"
    )
    phone.emulate_media(forced_colors="none")


@pytest.mark.parametrize("name", TOUCHED)
def test_at_twice_the_size_nothing_scrolls_sideways_and_inputs_lie_on_their_marks(phone, name):
    lab = lab_of(phone, name)
    lab.evaluate("""lab => Promise.all(lab.getAnimations({subtree: true})
        .filter(animation => animation.effect.getComputedTiming().endTime < Infinity) // not what shakes
        .map(animation => animation.finished))""")
    phone.set_viewport_size({"width": 640, "height": 450})  # of 1280 by 900 pixels
    found = lab.evaluate("""async lab => {
        await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))); // the layer follows
        const middle = node => { const {x, y, width, height} = node.getBoundingClientRect();
                                 return [x + width / 2, y + height / 2]; };
        const picture = lab.querySelector(".mha-picture");
        const off = [...lab.querySelectorAll(".mha-over :is(input, button)")].map(input =>
            Math.hypot(...middle(input).map((at, i) =>
                at - middle(input.mark.querySelector("[data-hold]") ?? input.mark)[i])));
        return [picture.scrollWidth - picture.clientWidth, Math.max(...off)];
    }""")
    phone.set_viewport_size(PHONE)
    assert found[0] <= 0
    assert found[1] < 1


def test_nothing_glides_where_less_motion_is_wanted(browser, written):
    moving = {}
    for motion in ("reduce", "no-preference"):
        page = browser.new_page(reduced_motion=motion)
        page.goto(written)
        lab = lab_of(page, "with_and_without_attention")
        page.evaluate("""() => {
            const animate = Element.prototype.animate;
            window.moved = 0;
            Element.prototype.animate = function (...how) { window.moved++; return animate.apply(this, how); };
        }""")
        lab.get_by_role("checkbox", name="attention").uncheck()
        expect_state(lab, attention=False)
        moving[motion] = page.evaluate("moved")
        page.close()
    assert moving["reduce"] == 0
    assert moving["no-preference"] > 0


def test_the_packed_states_are_all_there_are():
    lab = labs.sum_of_heads()
    html = lab.on_page("")
    known = json.loads(re.search(r'class="mha-frames">(.*?)</script>', html)[1])
    assert {name for names in known["pieces"] for name in names} == {*known["offers"]} <= {*lab.controls}
