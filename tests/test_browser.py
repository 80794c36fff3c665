"""The course in a real JupyterLab in a real browser: what a learner sees there is right."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

from mha_helpers import worked_examples
from mha_helpers.exercises.self_attention.predictions import PROJECTIONS, WORD_VECTORS
from mha_helpers.labs import order
from tools.browser import (
    Server,
    find_browser,
    is_trusted,
    lab_server,
    open_browser,
    open_notebook,
    open_page,
    press_latency,
    run_all,
    text_of,
)
from tools.notebooks import NOTEBOOKS, read, tags

pytestmark = pytest.mark.browser

NAME = "01_self_attention.ipynb"
NUMBER = re.compile(r"[-−]?(\d+\.\d+|inf)|NaN")


@dataclass
class Course:
    """A folder that JupyterLab shows, and a browser to look with."""

    folder: Path
    server: Server
    browser: Browser

    def page(self):
        return open_page(self.browser, self.server)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    if find_browser() is None:
        reason = "no Chromium, Chrome or Edge: install one, or set MHA_BROWSER to its path"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    folder = tmp_path_factory.mktemp("course")
    with lab_server(folder) as server, open_browser() as browser:
        yield Course(folder, server, browser)


@pytest.fixture(scope="module")
def as_given(course):
    """Notebook 01 after Run All with every exercise still a stub, and the errors that gave."""
    shutil.copytree(NOTEBOOKS, course.folder / "as_given")
    with course.page() as seen:
        open_notebook(seen.page, f"as_given/{NAME}")
        yield seen, run_all(seen.page)


def assert_quiet(seen):
    assert (seen.console_errors, seen.page_errors, seen.other_hosts) == ([], [], [])


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


def test_the_notebook_runs_as_given(as_given):
    seen, errors = as_given
    assert errors == []
    assert_quiet(seen)


def test_the_workbench_shows_the_numbers_that_numpy_gives(as_given):
    seen, _ = as_given
    lab = lab_called(seen.page, "Q, K, V workbench")
    picture = lab.locator(".mha-picture")
    example = worked_examples.load("play_football")
    X, W_Q, W_K, W_V = (np.array(example.inputs[name]) for name in ("X", "W_Q", "W_K", "W_V"))
    queries, keys = X @ W_Q, X @ W_K
    assert_shows(picture, X, queries, keys, X @ W_V, *attention(queries, keys, X @ W_V))

    press_latency(seen.page, lab.get_by_role("slider").first, picture, "ArrowRight", 1)
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


def test_word_order_shows_the_numbers_that_numpy_gives(as_given):
    seen, _ = as_given
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


def test_the_course_starts_jupyterlab_so_that_it_asks_nothing_of_the_network(course):
    assert '"news": {"disabled": true}' in course.server.request("lab").decode()
    assert course.server.request("lab/api/update") == b'{"notification": null}'


def test_the_solved_notebook_is_all_correct(course):
    command = [sys.executable, "-m", "tools.solve", str(course.folder / "solved"), str(NOTEBOOKS / NAME)]
    subprocess.run(command, cwd=NOTEBOOKS.parent, check=True)
    cells = read(NOTEBOOKS / NAME).cells
    with course.page() as seen:
        open_notebook(seen.page, f"solved/{NAME}")
        assert run_all(seen.page) == []
        for tag, heading in {"exercise": "Correct", "prediction": "Right: you committed to"}.items():
            wanted = [number for number, cell in enumerate(cells) if tag in tags(cell)]
            outputs = [
                seen.page.locator(".jp-Notebook .jp-Cell").nth(i).locator(".jp-OutputArea-output") for i in wanted
            ]
            assert [text_of(output)[: len(heading)] for output in outputs] == [heading] * len(wanted)
        notice = "Running on your dot_product_attention."
        expect(seen.page.locator(".mha-picture").filter(has_text=notice)).to_have_count(2)
        assert_quiet(seen)


def test_the_stored_notebook_shows_every_picture_untrusted_and_without_a_kernel(course):
    shutil.copytree(NOTEBOOKS, course.folder / "stored")
    outputs = [output for cell in read(NOTEBOOKS / NAME).cells for output in cell.get("outputs", [])]
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert pictures
    with course.page() as seen:
        open_notebook(seen.page, f"stored/{NAME}", kernel=False)
        assert not is_trusted(seen.page)
        images = seen.page.locator('.jp-OutputArea-output img[src^="data:image/png"]')
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
