"""The course in a real JupyterLab, and in Notebook 7, in a real browser: what a learner sees there is right."""

import re
import shutil
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from nbformat import v4
from playwright.sync_api import Browser, expect

from mha_helpers import worked_examples
from mha_helpers.drawing import style
from mha_helpers.exercises.self_attention.predictions import PROJECTIONS, WORD_VECTORS
from mha_helpers.model import encoder
from tools.page.browser import (
    Server,
    in_notebook7,
    is_trusted,
    lab_server,
    open_notebook,
    open_page,
    press_latency,
    run_all,
    text_of,
)
from tools.writing import hygiene
from tools.writing.notebooks import KERNELSPEC, course_notebooks, normalised, read, tags, write
from tools.writing.solve import filled, stub, verified

diagnosis = import_module("mha_helpers.labs.which_bug")
heads = import_module("mha_helpers.labs.sum_of_heads")
order = import_module("mha_helpers.labs.word_order")
scaling = import_module("mha_helpers.labs.softmax_scaling")
studio = import_module("mha_helpers.labs.mask_studio")

pytestmark = pytest.mark.browser

COURSE = course_notebooks()
NUMBER = re.compile(r"[-−]?(\d+\.\d+|inf)|NaN")


def quick_if(condition):
    """Every run opens the first notebook alone; the others are opened where everything is run."""
    return () if condition else pytest.mark.slow


def case(application, what):
    quick = (application, what) == ("jupyterlab", COURSE[0])
    shown = what if isinstance(what, str) else what.stem
    return pytest.param((application, what), marks=quick_if(quick), id=f"{application}-{shown}")


in_each_notebook = pytest.mark.parametrize("seen", [case("jupyterlab", path) for path in COURSE], indirect=True)
stored = [pytest.param(path, marks=quick_if(path == COURSE[0]), id=path.stem) for path in COURSE]


def with_lab(name, *, also_in_notebook7=False):
    """Run a test on the first notebook that shows a lab, and in Notebook 7 on the lab alone."""
    shows = (path for path in COURSE if f"labs.{name}(" in path.read_text(encoding="utf-8"))
    cases = [case("jupyterlab", next(shows, name)), *([case("notebook", name)] if also_in_notebook7 else [])]
    return pytest.mark.parametrize("seen", cases, indirect=True)


@dataclass
class Course:
    """A folder that JupyterLab or Notebook 7 shows, and a browser to look with."""

    folder: Path
    server: Server
    browser: Browser

    def page(self):
        return open_page(self.browser, self.server)


@pytest.fixture(scope="module")
def course(browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("course")
    with lab_server(folder) as server:
        yield Course(folder, server, browser)


@pytest.fixture(scope="module")
def course_in_notebook7(browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebook7")
    with lab_server(folder, "notebook") as server:
        yield Course(folder, server, browser)


@pytest.fixture(scope="module")
def seen(request):
    """What a page shows after Run All: a notebook with every answer filled in (`file`), or a lab alone."""
    application, what = request.param
    course = request.getfixturevalue("course" if application == "jupyterlab" else "course_in_notebook7")
    if isinstance(what, str):
        cells = [v4.new_code_cell("from mha_helpers import labs"), v4.new_code_cell(f"labs.{what}()")]
        notebook, name = v4.new_notebook(cells=cells, metadata={"kernelspec": KERNELSPEC}), f"{what}.ipynb"
    else:
        notebook, name = filled(read(what)), what.name
    write(notebook, course.folder / name)
    with course.page() as opened:
        open_notebook(opened.page, name)
        assert run_all(opened.page) == []
        opened.file = course.folder / name
        yield opened


def assert_quiet(seen):
    # Notebook 7.6.5's own: any page of it says so, also an empty one, when its shortcuts are read too early.
    own = "Cannot read properties of undefined (reading 'schema')" if in_notebook7(seen.page) else None
    page_errors = [error for error in seen.page_errors if error != own]
    assert (seen.console_errors, page_errors, seen.other_hosts) == ([], [], [])


def lab_called(page, title):
    return page.locator(".mha-lab").filter(has_text=f"Lab: {title}")


def positions(lab):
    """Return which option each slider of a lab stands at, counted from 0."""
    return [int(float(slider.get_attribute("aria-valuenow"))) for slider in lab.get_by_role("slider").all()]


def number(text):
    return float(text.replace("−", "-"))


def numbers_in(picture):
    """Return the numbers in a picture's matrices, in the order in which they are drawn.

    They are the texts that are one number each; those within a sentence are not among them.
    """
    texts = picture.locator("svg text").all_text_contents()
    return [number(text) for text in texts if NUMBER.fullmatch(text)]


def assert_shows(picture, *matrices):
    # Two decimals are shown, so half of the last one may be lost.
    expected = np.concatenate([np.ravel(matrix) for matrix in matrices])
    np.testing.assert_allclose(numbers_in(picture), expected, rtol=0, atol=0.005 + 1e-9)


def attention(queries, keys, values):
    """Dot-product attention on a few small numbers, written out again."""
    scores = queries @ keys.T
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return scores, weights, weights @ values


@in_each_notebook
def test_the_solved_notebook_is_all_correct(seen):
    """A learner who has solved everything sees a notebook as clean as the one that was handed out."""
    cells = read(seen.file).cells
    for tag, heading in {"exercise": "Correct", "prediction": "Right: you committed to"}.items():
        wanted = [number for number, cell in enumerate(cells) if tag in tags(cell)]
        outputs = [seen.page.locator(".jp-Notebook .jp-Cell").nth(i).locator(".jp-OutputArea-output") for i in wanted]
        assert [text_of(output)[: len(heading)] for output in outputs] == [heading] * len(wanted)
    written = {stub(cell).name for cell in cells if "exercise" in tags(cell)}
    given = re.findall(r"^labs\.\w+\((\w+)\)", "\n".join(cell.source for cell in cells), re.MULTILINE)
    running = seen.page.locator(".mha-picture").filter(has_text="Running on your")
    notices = [text_of(picture.locator("p").first) for picture in running.all()]
    assert notices == [f"Running on your {function}." for function in given if function in written]
    assert_quiet(seen)
    seen.page.evaluate("mhaPanel.context.save()")
    assert hygiene.problems(verified(normalised(read(seen.file)))) == []


@with_lab("qkv_workbench", also_in_notebook7=True)
def test_the_workbench_shows_the_numbers_that_numpy_gives(seen):
    lab = lab_called(seen.page, "Q, K, V workbench")
    picture = lab.locator(".mha-picture")
    example = worked_examples.load("play_football")
    X, W_Q, W_K, W_V = (np.array(example.inputs[name]) for name in ("X", "W_Q", "W_K", "W_V"))
    queries, keys = X @ W_Q, X @ W_K
    assert_shows(picture, X, queries, keys, X @ W_V, *attention(queries, keys, X @ W_V))

    # Notebook 7 looks at keys before a control does (jupyter/notebook#7716): arrows never reach a slider there.
    onward = "PageUp" if in_notebook7(seen.page) else "ArrowRight"
    press_latency(seen.page, lab.get_by_role("slider").first, picture, onward, 1)
    query, key = positions(lab)
    assert query == example.tokens.index("play") + 1
    worked_out = text_of(picture.locator("svg text", has_text="query · key"))
    assert worked_out.startswith(f"score({example.tokens[query]}, {example.tokens[key]})")
    assert number(worked_out.split("= ")[-1]) == pytest.approx(queries[query] @ keys[key], abs=0.00005 + 1e-9)

    # The third matrix of fields is W_V; the up key adds 0.1.
    press_latency(seen.page, lab.get_by_label("V 1,1"), picture, "ArrowUp", 3)
    W_V[0, 0] += 0.3
    assert_shows(picture, X, queries, keys, X @ W_V, *attention(queries, keys, X @ W_V))
    assert_quiet(seen)


@with_lab("word_order")
def test_word_order_shows_the_numbers_that_numpy_gives(seen):
    lab = lab_called(seen.page, "word order")
    picture = lab.locator(".mha-picture")
    slider = lab.get_by_role("slider").first
    orders = list(order.ORDERS.values())
    slider.press("Home")
    expect(picture).to_contain_text("both orders equal")
    for step in range(1, len(orders)):
        press_latency(seen.page, slider, picture, "ArrowRight", 1)
        assert positions(lab)[0] == step
        shown = []
        for X in WORD_VECTORS, WORD_VECTORS[list(orders[step])]:
            _, *weights_and_context = attention(*(X @ PROJECTIONS[name] for name in ("queries", "keys", "values")))
            shown += weights_and_context
        assert_shows(picture, *shown)
        assert "largest difference 0.0000" in text_of(picture)
    assert_quiet(seen)


def shows_in_a_row(picture, values, decimals):
    """Say whether a picture has these numbers one after the other."""
    texts = "|".join(picture.locator("svg text").all_text_contents())
    return "|".join(style.number(value, decimals) for value in values) in texts


def softmax(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


@with_lab("softmax_scaling")
def test_softmax_scaling_shows_the_numbers_that_numpy_gives(seen):
    lab = lab_called(seen.page, "softmax and sqrt(d_k)")
    picture = lab.locator(".mha-picture")
    d_k, divisor, *_ = lab.get_by_role("slider").all()
    press_latency(seen.page, d_k, picture, "ArrowRight", 1)  # from 64 to 128
    raw = scaling.sample_scores(1, 128)[0]
    assert shows_in_a_row(picture, raw, 2)
    assert shows_in_a_row(picture, softmax(raw), 3)
    press_latency(seen.page, divisor, picture, "ArrowRight", 1)
    assert shows_in_a_row(picture, softmax(raw / np.sqrt(128)), 3)
    assert "Divided by sqrt(d_k) = 11.31, at d_k = 128" in text_of(picture)
    before = text_of(picture)
    lab.get_by_role("button", name="Resample").click()
    expect(picture).not_to_have_text(before)
    assert_quiet(seen)


@with_lab("mask_studio", also_in_notebook7=True)
def test_the_mask_studio_shows_the_numbers_that_numpy_gives(seen):
    lab = lab_called(seen.page, "mask studio")
    picture = lab.locator(".mha-picture")
    scores = attention(*studio.TOKEN_VECTORS[0])[0]  # of the first sentence
    scores = (scores - np.outer(*studio.TOKEN_VECTORS[0][:2, :, -1])) / 2  # whose last feature the lab sets to 1 and 0
    cells = lab.locator("button.jupyter-widgets.widget-toggle-button")
    expect(cells).to_have_count(64)
    mask = np.ones((8, 8), bool)
    for query, key in ((1, 0), (1, 5)):
        cells.nth(8 * query + key).click()
        mask[query, key] = False
        expect(picture).to_contain_text(f"{(~mask).sum()} of 64 cells hidden")
        assert cells.nth(8 * query + key).inner_text() == "F"
        assert shows_in_a_row(picture, softmax(np.where(mask, scores, -np.inf))[query], 2)
    press_latency(seen.page, cells.nth(8 * 1 + 5), picture, "Enter", 1)  # by keyboard, and back
    expect(picture).to_contain_text("1 of 64 cells hidden")
    lab.get_by_role("button", name="Causal").click()
    expect(picture).to_contain_text("28 of 64 cells hidden")
    weights = softmax(np.where(np.tri(8, dtype=bool), scores, -np.inf))
    for row in weights:
        assert shows_in_a_row(picture, row, 2)
    assert_quiet(seen)


@with_lab("leak_detector")
def test_the_leak_detector_shows_what_moves(seen):
    lab = lab_called(seen.page, "leak detector")
    picture = lab.locator(".mha-picture")
    token, mask = lab.get_by_role("slider").all()
    assert shows_in_a_row(picture, [0, 0, 0, 0], 2), "nothing above the diagonal moves"
    press_latency(seen.page, token, picture, "ArrowLeft", 1)
    expect(picture).to_contain_text("No leak: changing “sat” (token 3) moves only outputs 3 to 8.")
    press_latency(seen.page, mask, picture, "ArrowRight", 1)
    expect(picture).to_contain_text("A leak: output 2 “cat” comes before it. Over all tokens: 7 leaks")
    assert picture.locator("svg text", has_text="LEAK").count() == 7 + 1 + 1  # the cells, the bar, and the legend
    assert_quiet(seen)


@with_lab("split_lab")
def test_the_split_lab_shows_what_each_head_holds(seen):
    lab = lab_called(seen.page, "split, right beside wrong")
    picture = lab.locator(".mha-picture")
    X = 100 * np.arange(4)[:, None] + np.arange(4)
    for head in (X[:, :2], X[:, 2:], X[:2].reshape(4, 2), X[2:].reshape(4, 2)):  # two right heads, two wrong ones
        assert shows_in_a_row(picture, head.ravel(), 0)
    heads = lab.get_by_role("slider").first
    press_latency(seen.page, heads, picture, "ArrowRight", 1)
    expect(picture).to_contain_text("is not divisible by n_heads=3")
    press_latency(seen.page, heads, picture, "ArrowRight", 1)
    expect(picture).to_contain_text("Wrong: head 0 holds token {0}, so it can compare it only with itself.")
    assert_quiet(seen)


@with_lab("shape_tracer")
def test_the_shape_tracer_grades_a_shape(seen):
    lab = lab_called(seen.page, "shape tracer")
    picture = lab.locator(".mha-picture")
    before = text_of(picture)
    lab.get_by_role("button", name="Show").click()
    expect(picture).not_to_have_text(before)
    lab.get_by_role("button", name="Reset").click()
    assert text_of(picture) == before
    assert_quiet(seen)


@with_lab("sum_of_heads")
def test_the_sum_of_heads_shows_what_each_head_adds(seen):
    lab = lab_called(seen.page, "sum of heads")
    picture = lab.locator(".mha-picture")
    token = heads.WORDS.index("sees")
    added = [heads.HEADS[h, token] @ heads.W_O[2 * h : 2 * h + 2] for h in range(4)]
    for vector in (*added, sum(added)):
        assert shows_in_a_row(picture, vector, 2)
    press_latency(seen.page, lab.get_by_role("button", name="head 3"), picture, "Enter", 1)
    expect(picture).to_contain_text("Head 3 is off (zero).")
    for vector in (added[0] + added[1] + added[3], added[2]):  # the output, and what is missing
        assert shows_in_a_row(picture, vector, 2)
    order_of_heads = lab.get_by_role("slider").nth(2)
    press_latency(seen.page, order_of_heads, picture, "ArrowRight", 1)
    expect(picture).to_contain_text("and not the rows of W_O changes the output by up to")
    press_latency(seen.page, lab.get_by_role("slider").nth(3), picture, "ArrowRight", 1)
    expect(picture).to_contain_text("together with their rows of W_O changes nothing")
    assert_quiet(seen)


@with_lab("which_bug")
def test_which_bug_takes_a_diagnosis_by_keyboard(seen):
    lab = lab_called(seen.page, "which bug is it")
    picture = lab.locator(".mha-picture")
    patient, diagnosis_slider = lab.get_by_role("slider").all()
    press_latency(seen.page, patient, picture, "ArrowRight", 1)
    expect(picture).to_contain_text("Patient A: no probe is shown yet.")
    press_latency(seen.page, lab.get_by_role("button", name="parity"), picture, "Enter", 1)
    expect(picture).to_contain_text("Patient A: parity:")
    truth = diagnosis.ward(1)["A"]
    press_latency(seen.page, diagnosis_slider, picture, "ArrowRight", list(diagnosis.BUGS).index(truth))
    lab.get_by_role("button", name="Commit").press("Enter")
    expect(picture).to_contain_text(f"Committed: {truth}. Right.")
    expect(picture).to_contain_text("Score: 1 of 1 right, 1 probe used.")
    assert_quiet(seen)


@with_lab("head_browser")
def test_the_head_browser_shows_the_weights_of_a_typed_sentence(seen):
    lab = lab_called(seen.page, "head browser")
    picture = lab.locator(".mha-picture")
    typed = "<b>Rain</b> 🙂 fell"
    lab.get_by_role("textbox").fill(typed)
    lab.get_by_role("textbox").press("Enter")
    expect(picture).to_contain_text("fell")
    encoding = encoder.load().encode(typed)
    for token in encoding.tokens:
        assert picture.locator("svg text", has_text=token).count()
    query = positions(lab)[2]
    for weight in encoding.weights[5, 11, query]:
        assert style.number(weight, 2) in text_of(picture)
    press_latency(seen.page, lab.get_by_role("slider").nth(1), picture, "ArrowLeft", 1)
    expect(picture).to_contain_text("Layer 5, head 10")
    press_latency(seen.page, lab.get_by_role("button", name="knock out"), picture, "Enter", 1)
    moved = encoder.load().encode(typed, without=[(5, 10)]).vector @ encoding.vector
    expect(picture).to_contain_text(style.number(moved, 4))
    assert_quiet(seen)


@pytest.mark.parametrize("seen", [case("jupyterlab", COURSE[0])], indirect=True)
def test_the_course_starts_jupyterlab_so_that_it_asks_nothing_of_the_network_or_the_learner(course, seen):
    expect(seen.page.locator(".Toastify__toast")).to_have_count(0)  # it came before the first cell ran
    expect(seen.page.get_by_text("Jupyter news")).to_have_count(0)
    assert '"news": {"disabled": true}' in course.server.request("lab").decode()
    assert course.server.request("lab/api/update") == b'{"notification": null}'


@pytest.mark.parametrize("path", stored)
def test_the_stored_notebook_shows_every_picture_untrusted_and_without_a_kernel(course, path):
    (course.folder / "stored").mkdir(exist_ok=True)
    shutil.copy(path, course.folder / "stored")
    outputs = [output for cell in read(path).cells for output in cell.get("outputs", [])]
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert pictures
    with course.page() as seen:
        open_notebook(seen.page, f"stored/{path.name}", kernel=False)
        assert not is_trusted(seen.page)
        images = seen.page.locator('.jp-OutputArea-output img[src^="data:image/"]')
        expect(images).to_have_count(len(pictures))
        for image in images.all():
            image.evaluate("image => image.decode()")  # raises where there is nothing to be seen
            assert image.is_visible()
        assert (seen.console_errors, seen.other_hosts) == ([], [])
        # jupyter-widgets/ipywidgets#3970: its JupyterLab extension takes for granted that there is a kernel.
        assert set(seen.page_errors) <= {"Cannot read properties of null (reading 'kernel')"}


def test_what_goes_wrong_in_a_page_is_noticed(course):
    """Otherwise the lists that stay empty above would prove nothing."""
    with course.page() as seen:
        with seen.page.expect_console_message(lambda message: message.text == "heard"):
            seen.page.evaluate("""() => {
                fetch("http://elsewhere.invalid/").catch(() => console.error("heard"));
                new WebSocket("ws://elsewhere.invalid/socket");
                setTimeout(() => { throw new Error("thrown"); });
            }""")
        seen.page.wait_for_function("true")
        assert any(line.startswith("heard") for line in seen.console_errors)
        assert seen.page_errors == ["thrown"]
        assert set(seen.other_hosts) == {"http://elsewhere.invalid/", "ws://elsewhere.invalid/socket"}


def test_a_picture_that_vanishes_for_a_while_is_noticed(course):
    page = course.browser.new_page()
    page.set_content("""<input type="range"><div><svg width="9" height="9"></svg></div><script>
        const picture = document.querySelector("div");
        document.querySelector("input").oninput = event => {
            picture.innerHTML = "";
            setTimeout(() => {
                picture.innerHTML = `<svg width="9" height="9"><text>${event.target.value}</text></svg>`;
            }, 100);
        };
    </script>""")
    milliseconds, blank_frames = press_latency(page, page.locator("input"), page.locator("div"), "ArrowRight", 3)
    page.close()
    assert min(milliseconds) >= 100
    assert blank_frames >= 3
