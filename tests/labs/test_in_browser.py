"""The labs in a real JupyterLab, all in one notebook: what is seen, what keys do, what axe says of the controls."""

import re
from importlib import import_module

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from nbformat import v4
from playwright.sync_api import expect

from live_pictures import style
from mha_helpers import encoder, labs, running_example
from mha_helpers.exercises.self_attention.predictions import PROJECTIONS, WORD_VECTORS
from tools.page.browser import lab_server, open_notebook, open_page, press_latency, run_all, set_theme
from tools.writing.notebooks import KERNELSPEC, write

diagnosis = import_module("mha_helpers.labs.output_projection.which_bug")
heads = import_module("mha_helpers.labs.output_projection.sum_of_heads")
order = import_module("mha_helpers.labs.self_attention.word_order")
scaling = import_module("mha_helpers.labs.scaling.softmax_scaling")
splitting = import_module("mha_helpers.labs.splitting.split_lab")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PLANTED = """\
import ipywidgets
planted = ipywidgets.VBox([ipywidgets.IntSlider(), ipywidgets.Button(), ipywidgets.IntText()])
planted.add_class("planted")
planted"""
# Of a card: in JupyterLab at 1280 x 720 and 200 %, and 150 %, at 100 % with its side bars, and at most.
WIDTHS = (500, 658, 692, 790)
MAX_HEIGHT = 590  # what JupyterLab leaves of 1280 x 720 at 100 %
TAB_STOPS = {"mask_studio": 40}
RULES = ("aria-input-field-name", "button-name", "label", "select-name", "aria-command-name", "aria-toggle-field-name",
         "link-name", "svg-img-alt", "color-contrast", "duplicate-id-aria", "nested-interactive")  # fmt: skip


def cells():
    sources = ["from mha_helpers import labs", *(f"labs.{name}()" for name in labs.__all__), PLANTED]
    return [v4.new_code_cell(source) for source in sources]


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("labs")
    write(v4.new_notebook(cells=cells(), metadata={"kernelspec": KERNELSPEC}), folder / "labs.ipynb")
    with lab_server(folder) as server, open_page(browser, server, width=1100, height=900) as found:
        open_notebook(found.page, "labs.ipynb")
        assert run_all(found.page) == []
        assert errors_of(found) == []
        yield found


def errors_of(opened):
    opened.page.evaluate("null")  # an answer comes after all that the page has said before
    return opened.console_errors + opened.page_errors + opened.other_hosts


@pytest.fixture
def seen(opened):
    """The page; each test answers for its own errors, and not for those of a test before it."""
    for noted in (opened.console_errors, opened.page_errors, opened.other_hosts):
        noted.clear()
    yield opened
    assert errors_of(opened) == []


@pytest.fixture
def lab_of(seen):
    def find(name):
        return seen.page.locator(".mha-lab").filter(has_text=f"Lab: {getattr(labs, name)().title}.")

    yield find
    for reset in seen.page.locator(".mha-lab").get_by_role("button", name="Reset", exact=True).all():
        reset.click()
    answered(seen.page)


def answered(page):
    """Wait until the kernel has answered what was asked, and the page shows it: it answers one after the other."""
    page.evaluate("""async () => {
        await mhaPanel.sessionContext.session.kernel.requestKernelInfo();
        for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
    }""")


def expect_numbers(lab, *rows, decimals=2):
    """Wait until a lab's picture has these numbers, a row's in their order, with the 0 before the point or without."""
    wanted = ["|".join(re.sub(r"^0(?=\.)", "", style.number(value, decimals)) for value in row) for row in rows]
    shown = """([lab, rows]) => {
        const texts = [...lab.querySelectorAll(".mha-picture svg text")].map(text => text.textContent);
        const written = texts.map(text => text.replace(/^0(?=\\.)/, "")).join("|");
        return rows.every(row => written.includes(row));
    }"""
    lab.page.wait_for_function(shown, arg=[lab.element_handle(), wanted])


def softmax(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def weights_of(X, W_Q, W_K, divisor=1.0):
    return softmax(X @ W_Q @ (X @ W_K).T / divisor)


# ---- accessibility ---------------------------------------------------------------------------


def violations(page, inside):
    options = {"runOnly": {"type": "rule", "values": [*RULES]}, "resultTypes": ["violations"]}
    found = Axe().run(page, context=inside, options=options).response["violations"]
    return {rule["id"]: [node["html"][:160] for node in rule["nodes"]] for rule in found}


@pytest.mark.parametrize("name", labs.__all__)
def test_every_control_has_a_name_and_a_value(seen, lab_of, name):
    lab = lab_of(name)
    for fold in lab.get_by_role("checkbox", name=re.compile("^(Matrices|Very|Other)")).all():
        fold.check()
    lab.evaluate("(node, name) => node.classList.add(`axe-${name}`)", name)
    assert violations(seen.page, f".axe-{name}") == {}
    for fold in lab.get_by_role("checkbox", name=re.compile("^(Matrices|Very|Other)")).all():
        fold.uncheck()


def test_a_control_without_a_name_would_be_found(seen):
    found = violations(seen.page, ".planted")
    assert set(found) >= {"aria-input-field-name", "button-name", "label"}


@pytest.mark.parametrize("name", labs.__all__)
def test_few_tab_stops(lab_of, name):
    stops = lab_of(name).evaluate("""node => {
        const seen = [...node.querySelectorAll("button, input, select, textarea, [tabindex]")]
            .filter(node => node.tabIndex >= 0 && node.offsetParent !== null);
        const radios = seen.filter(node => node.type === "radio");
        const groups = new Set(radios.map(radio => radio.closest(".widget-radio-box")));
        return seen.length - radios.length + groups.size;
    }""")
    assert stops <= TAB_STOPS.get(name, 25)


@pytest.mark.parametrize("width", WIDTHS)
def test_every_lab_fits_its_page_with_numbers_that_can_be_read(seen, width):
    seen.page.emulate_media(reduced_motion="reduce")  # nothing begins to play by itself,
    seen.page.wait_for_function("() => !document.querySelector('.mha-plays')")  # and what has begun comes to its end
    seen.page.locator(".mha-lab").evaluate_all(
        """async (all, width) => {
            all.forEach(lab => lab.style.width = `${width}px`);
            // the layers over the pictures follow at the end of the next frame: a second one begins after it
            for (const _ of "12") await new Promise(requestAnimationFrame);
        }""",
        width,
    )
    sizes = seen.page.locator(".mha-lab").evaluate_all("""all => all.map(node => {
        const texts = [...node.querySelectorAll("svg text")].filter(text => text.getClientRects().length);
        const scroll = node.querySelector(".mha-picture"), {left, right} = scroll.getBoundingClientRect();
        return {
            name: node.querySelector("b").textContent,
            height: Math.round(node.getBoundingClientRect().height),
            overflow: scroll.scrollWidth - scroll.clientWidth,
            cut: texts.filter(text => {
                const place = text.getBoundingClientRect();
                return place.left < left - 1 || place.right > right + 1;
            }).map(text => text.textContent),
            smallest: Math.min(...texts.map(text => {
                const {a, b} = text.getScreenCTM();
                return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b);
            })),
        };
    })""")
    seen.page.locator(".mha-lab").evaluate_all("all => all.forEach(lab => lab.style.width = null)")
    seen.page.emulate_media(reduced_motion="no-preference")
    assert len(sizes) == len(labs.__all__)
    assert width < 692 or [card for card in sizes if card["height"] > MAX_HEIGHT] == []
    assert [card for card in sizes if card["overflow"] > 0] == []
    assert [card for card in sizes if card["cut"]] == []
    assert [card for card in sizes if card["smallest"] < style.MIN_SIZE - 0.01] == []


def test_one_dark_card_in_the_dark(seen):
    set_theme(seen.page)
    colours = seen.page.locator(".mha-lab").evaluate_all("""all => all.flatMap(node =>
        [node, ...node.querySelectorAll("div:not(.mha-tip)")].map(node => getComputedStyle(node).backgroundColor))""")
    inputs = seen.page.locator(".mha-lab input[type=number], .mha-lab select").evaluate_all(
        "all => all.map(node => [getComputedStyle(node).backgroundColor, getComputedStyle(node).color])"
    )
    set_theme(seen.page, "JupyterLab Light")
    assert set(colours) <= {"rgb(23, 23, 23)", "rgba(0, 0, 0, 0)"}
    assert {tuple(pair) for pair in inputs} == {("rgb(23, 23, 23)", "rgb(236, 239, 241)")}


def test_motion_ends_at_once_where_it_is_not_wanted(browser, seen, lab_of):
    """What the lab shows, on a page whose reader has asked for less motion from the beginning."""
    lab = lab_of("sum_of_heads")
    lab.get_by_role("checkbox", name="head 1").uncheck()
    expect(lab.locator(".mha-arrive").first).to_be_attached()
    shown = lab.evaluate("lab => lab.outerHTML")
    running = {}
    for motion in ("reduce", "no-preference"):
        page = browser.new_page(reduced_motion=motion)
        page.set_content(shown)
        arriving = page.locator(".mha-arrive").evaluate_all(
            "all => all.map(node => getComputedStyle(node).animationName)"
        )
        running[motion] = set(arriving)
        page.close()
    assert running["reduce"] == {"none"}
    assert "none" not in running["no-preference"]


# ---- keys ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", labs.__all__)
def test_each_kind_of_input_answers_a_key_and_the_focus_stays_in_the_lab(seen, lab_of, press_each_kind, name):
    press_each_kind(seen.page, lab_of(name))


def test_letters_on_a_control_are_no_commands_to_the_notebook(seen, lab_of):
    lab, count = lab_of("word_order"), seen.page.locator(".jp-Notebook .jp-Cell").count()
    for control in (lab.get_by_role("radio").first, lab.get_by_role("checkbox").first):
        control.focus()
        for key in ("b", "a", "x", "d", "d", "m", "0", "0"):
            control.press(key)
    expect(seen.page.locator(".jp-Notebook .jp-Cell")).to_have_count(count)
    assert seen.page.locator(".jp-Dialog").count() == 0


def test_letters_on_a_cell_are_commands_as_before(seen):
    cells = seen.page.locator(".jp-Notebook .jp-Cell")
    count = cells.count()
    cells.first.locator(".jp-InputPrompt").click()
    seen.page.keyboard.press("b")
    expect(cells).to_have_count(count + 1)
    seen.page.keyboard.press("d")
    seen.page.keyboard.press("d")
    expect(cells).to_have_count(count)


def test_what_the_page_computes_is_asked_for_once_when_the_hand_rests(lab_of):
    lab = lab_of("two_banks")
    handle = lab.get_by_role("slider", name="bank, up")
    n_asked, name, at = handle.evaluate("""handle => {
        const lab = handle.closest(".mha-lab");
        lab.nAsked = 0;
        lab.querySelector(".mha-message input").addEventListener("input", () => lab.nAsked++);
        for (let i = 0; i < 8; i++) {
            handle.stepUp();
            handle.dispatchEvent(new Event("input", {bubbles: true}));
        }
        return [lab.nAsked, handle.dataset.mark, handle.value];
    }""")
    assert n_asked == 0
    expect(lab.locator("[data-state]")).to_have_attribute("data-state", re.compile(f'"{name}": {at}[,}}]'))
    assert lab.evaluate("lab => lab.nAsked") == 1


def test_a_trail_outlives_the_kernels_pictures_until_reset(lab_of):
    lab = lab_of("be_the_head")
    handle, trail = lab.get_by_role("slider", name="query of head 0, across"), lab.locator("[data-trail]")
    for step in range(1, 4):
        handle.press("ArrowLeft")
        state = re.compile(f'"query 0 across": {1 - step / 10:g}[,}}]')
        expect(lab.locator("[data-state]")).to_have_attribute("data-state", state)
        expect(trail).to_have_attribute("d", re.compile(rf"^(M[0-9]+ [0-9]+h0){{{step + 1}}}$"))
    lab.get_by_role("button", name="Reset").click()
    expect(trail).to_have_attribute("d", re.compile("^M[0-9]+ [0-9]+h0$"))


# ---- numbers ---------------------------------------------------------------------------------


def test_the_workbench_shows_the_numbers_that_numpy_gives(seen, lab_of):
    lab, X = lab_of("qkv_workbench"), running_example.X
    W_Q, W_K, W_V = running_example.first_head()
    weights = weights_of(X, W_Q, W_K)
    expect_numbers(lab, *weights, *(weights @ X @ W_V))
    asked = lab.get_by_role("radiogroup", name="query").get_by_role("radio", name="query it")
    press_latency(seen.page, asked, lab.locator(".mha-picture"), "ArrowLeft", 1)
    expect(lab.get_by_role("status")).to_contain_text("“because” attends")
    expect_numbers(lab, *weights)
    lab.get_by_role("checkbox", name="Matrices").check()
    lab.get_by_role("radio", name="W_V").check()
    press_latency(seen.page, lab.get_by_label("W_V 0,0"), lab.locator(".mha-picture"), "ArrowUp", 2)  # a half each
    changed = W_V + np.array([[1.0, 0], [0, 0], [0, 0], [0, 0]])
    expect_numbers(lab, *weights, *(weights @ X @ changed))
    lab.get_by_role("checkbox", name="Matrices").uncheck()


def test_word_order_shows_the_numbers_that_numpy_gives(seen, lab_of):
    lab, now = lab_of("word_order"), [0, 1, 2]
    for name, places in order.ORDERS.items():
        for place, word in enumerate(places):
            if now[place] == word:
                continue
            now.remove(word)
            now.insert(place, word)
            lab.get_by_role("slider", name=f"place of {order.WORDS[word]}").fill(str(place))
            words = " ".join(order.WORDS[word] for word in now)
            state = lab.locator("[data-state]")
            expect(state).to_have_attribute("data-state", re.compile(f'"order": "{words}"'))
        expect(lab.locator(".mha-readout")).to_contain_text("both orders equal" if places == (0, 1, 2) else f"“{name}”")
        for X in WORD_VECTORS, WORD_VECTORS[list(places)]:
            weights = softmax(X @ PROJECTIONS["queries"] @ (X @ PROJECTIONS["keys"]).T)
            expect_numbers(lab, *weights, *(weights @ X @ PROJECTIONS["values"]))
    lab.get_by_role("checkbox", name="positions", exact=True).check()
    expect(lab.locator(".mha-readout")).to_contain_text("the order now matters")


def test_softmax_scaling_shows_the_numbers_that_numpy_gives(seen, lab_of):
    lab = lab_of("softmax_scaling")
    lab.get_by_role("slider", name="d_k").press("ArrowRight")  # the handle moves before the kernel has answered
    expect(lab.locator(".mha-readout")).to_contain_text("at d_k = 128")
    raw = scaling.sample_scores(1, 128)[0]
    for divisor, shown in (("none", raw), ("sqrt(d_k)", raw / np.sqrt(128))):
        lab.get_by_role("checkbox", name="divide by sqrt(d_k)", exact=True).set_checked(divisor != "none")
        expect(lab.locator(".mha-readout")).to_contain_text("Not divided" if divisor == "none" else "= 11.31")
        texts = lab.locator(".mha-picture svg text", has_text=re.compile(r"^\d\.\d\d$"))
        for place, weight in enumerate(softmax(shown)):
            expect(texts.nth(place)).to_have_text(f"{weight:.2f}")  # the picture may follow the read-out


def test_the_mask_studio_is_clicked_and_typed(seen, lab_of):
    lab = lab_of("mask_studio")
    W_Q, W_K, _ = running_example.first_head()
    scores = running_example.X @ W_Q @ (running_example.X @ W_K).T / np.sqrt(2)
    mask = np.tri(5, dtype=bool)

    def as_drawn():
        weights = softmax(np.where(mask, scores, -np.inf))
        return [row[visible] for row, visible in zip(weights, mask, strict=True)]

    expect_numbers(lab, *as_drawn())
    box = lab.get_by_role("checkbox", name="it sees cat", exact=True)
    box.click()  # refused where anything lies over it
    expect(lab.locator(".mha-readout")).to_contain_text("11 of 25 cells hidden")
    picture, place = lab.locator(".mha-picture svg").first.bounding_box(), box.bounding_box()
    assert picture["x"] <= place["x"] <= picture["x"] + picture["width"], "it lies on the picture"
    assert picture["y"] <= place["y"] <= picture["y"] + picture["height"]
    mask[4, 0] = False
    expect_numbers(lab, *as_drawn())
    press_latency(
        seen.page, lab.get_by_role("checkbox", name="sat sees mat", exact=True), lab.locator(".mha-picture"), " ", 1
    )
    mask[1, 2] = True
    expect_numbers(lab, *as_drawn())


def test_the_leak_detector_shows_what_moves(lab_of):
    lab = lab_of("leak_detector")
    lab.get_by_role("radio", name="one too far").check()
    expect(lab.locator(".mha-readout")).to_contain_text(
        "A leak: output “mat” comes before it. Over all tokens: 4 leaks"
    )
    expect(lab.get_by_text("LEAK", exact=True)).to_have_count(1)


def test_the_split_lab_shows_what_each_head_holds(seen, lab_of):
    lab = lab_of("split_lab")
    X = 100 * np.arange(5)[:, None] + np.arange(4)
    for head in (X[:, :2], X[:, 2:], X.reshape(2, 5, 2)[0], X.reshape(2, 5, 2)[1]):  # two right heads, two wrong ones
        entries = [str(value) for value in head.ravel()]
        texts = lab.locator(".mha-picture svg text").all_text_contents()
        assert set(entries) <= set(texts)
    lab.get_by_label("heads").select_option("3")
    expect(lab.locator(".mha-readout")).to_contain_text("is not divisible by n_heads=3")


def test_the_shape_tracer_grades_a_shape(lab_of):
    lab = lab_of("shape_tracer")
    lab.get_by_role("button", name="Start over").click()
    for chip, shape in (("B", "B"), ("S", "B, S"), ("h", "B, S, h")):
        lab.get_by_role("slider", name=chip, exact=True).press(" ")  # into the next slot
        expect(lab.locator("[data-state]")).to_have_attribute("data-state", re.compile(f'"shape": "{shape}"'))
    lab.get_by_role("slider", name="h", exact=True).press("Enter")
    expect(lab.locator(".mha-readout")).to_contain_text("Axis 2 of Q is not h")
    expect(lab.locator(".mha-picture")).to_contain_text("≠")
    chip, slot = lab.get_by_role("slider", name="h", exact=True), lab.locator("svg text", has_text="axis 0")
    chip.drag_to(slot, target_position={"x": 20, "y": 0}, force=True)  # the slot is above its name
    expect(lab.locator("[data-state]")).to_have_attribute("data-state", re.compile('"shape": "h, B, S"'))


def test_the_sum_of_heads_shows_what_each_head_adds(lab_of):
    lab = lab_of("sum_of_heads")
    for value in heads.FULL[running_example.TOKENS.index("it")]:
        expect(lab).to_contain_text(f"= {value:.2f}")
    lab.get_by_role("checkbox", name="head 1").uncheck()
    expect(lab.locator(".mha-readout")).to_contain_text("Head 1 is off (zero).")
    for value in heads.HEADS[0, running_example.TOKENS.index("it")] @ heads.W_O[:2]:
        expect(lab).to_contain_text(f"= {value:.2f}")


def test_which_bug_takes_a_diagnosis_by_keyboard(seen, lab_of):
    lab, picture = lab_of("which_bug"), lab_of("which_bug").locator(".mha-picture")
    press_latency(seen.page, lab.get_by_role("radio", name="patient A"), picture, "ArrowRight", 1)
    expect(lab.locator(".mha-readout")).to_contain_text("Patient B: no probe is shown yet.")
    press_latency(seen.page, lab.get_by_role("button", name="ask parity"), picture, " ", 1)
    truth = diagnosis.ward(1)["B"]
    lab.get_by_role("button", name=f"diagnosis: {truth}").press("Enter")
    expect(lab.locator(".mha-readout")).to_contain_text(f"Committed: {truth}. Right.")
    expect(lab.locator(".mha-readout")).to_contain_text("Score: 1 of 1 right, 1 probe used.")


def test_the_head_browser_shows_the_weights_of_a_typed_sentence(seen, lab_of):
    lab = lab_of("head_browser")
    lab.get_by_label("sentence").fill("<b>Rain</b> 🙂 fell on it")
    lab.get_by_label("sentence").press("Enter")
    expect(lab.locator(".mha-picture")).to_contain_text("fell")
    encoding = encoder.load().encode("<b>Rain</b> 🙂 fell on it")
    query = encoding.tokens.index("it")
    expect(lab.locator(".mha-readout")).to_contain_text(f"“it” (token {query})")
    expect(lab.get_by_role("radio", name=f"query {query}: it")).to_be_checked()
    for weight in encoding.weights[0, 2, query]:
        if weight >= 0.05:
            expect(lab).to_contain_text(style.number(weight, 2))
    lab.get_by_role("checkbox", name="knock out").check()
    moved = encoder.load().encode("<b>Rain</b> 🙂 fell on it", without=[(0, 2)]).vector @ encoding.vector
    expect(lab.locator(".mha-picture")).to_contain_text(style.number(moved, 4))
