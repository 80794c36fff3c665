"""The site's search, in a browser: a learner's questions lead to the notebook that answers them."""

import functools
import http.server
import re
import threading

import pytest
from axe_playwright_python.sync_playwright import Axe

from tools.site import command

pytestmark = [pytest.mark.slow, pytest.mark.browser]

# What a learner types, and a page that must be among the first three.
QUESTIONS = {
    "why divide by the square root of d_k": "02_scaling.html",
    "causal mask": "03_masking.html",
    "softmax axis": "03_masking.html",
    "padding mask": "03_masking.html",
    "how do I find a leak?": "03_masking.html",
    "do more heads need more parameters": "04_splitting_heads.html",
    "What does W_O do?": "05_output_projection.html",
    "induction head": "07_heads_that_learn.html",
    "temperature and top-k": "08_a_model_that_writes.html",
    "rotary position embedding": "09_todays_heads.html",
    "kv cache": "08_a_model_that_writes.html",
    "how does a model know the order of words": "01_self_attention.html",
    "mask-after-softmax": "reference/sheet.html",
    "VS Code": "reference/vscode.html",
}
FIRST = 3
ANSWERED = "question => document.querySelector('[role=status]').dataset.asked === question"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The whole site's folder."""
    folder = tmp_path_factory.mktemp("site") / "site"
    command.main([str(folder)])
    return folder


@pytest.fixture(scope="module")
def served(site):
    """The address of the site on a static host, as any."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def found(page, question):
    """Type a question, wait for its answer, and return the pages in order."""
    page.get_by_role("searchbox").fill(question)
    page.wait_for_function(ANSWERED, arg=question)
    return [link.get_attribute("href").partition("#")[0].lstrip("/") for link in page.locator("ol h2 a").all()]


def test_ten_questions_of_a_learner_lead_to_their_answers_and_no_other_host_hears_of_them(browser, served):
    asked = []
    with browser.new_context() as context:
        context.on("request", lambda request: asked.append(request.url))
        page = context.new_page()
        page.goto(f"{served}/search.html")
        page.wait_for_selector("input:enabled")
        answers = {question: found(page, question) for question in QUESTIONS}
        missed = {
            question: answers[question]
            for question, wanted in QUESTIONS.items()
            if wanted not in answers[question][:FIRST]
        }
        assert missed == {}
        assert not [url for url in asked if not url.startswith((served, "blob:"))]
        for unknown in ("xylophone", "zzz"):
            assert found(page, unknown) == []
            assert page.get_by_role("status").inner_text() == f"No page has “{unknown}”. Try another word."


def test_what_is_typed_before_the_index_has_come_is_kept_and_waits_for_it(browser, served):
    held = []
    with browser.new_page() as page:
        page.route("**/pagefind.js", lambda route: held.append(route))
        page.goto(f"{served}/search.html", wait_until="commit")
        page.get_by_role("searchbox").press_sequentially("causal mask")
        page.wait_for_function("document.querySelector('[role=status]').textContent === 'Searching…'")
        assert page.locator("ol li").count() == 0
        held.pop().continue_()
        page.wait_for_function(ANSWERED, arg="causal mask")
        assert page.get_by_role("searchbox").input_value() == "causal mask"
        assert page.locator("ol li").count() > 0


def test_the_page_that_is_called_so_comes_first_and_no_minutes_run_into_words(browser, served):
    with browser.new_page() as page:
        page.goto(f"{served}/search.html")
        assert found(page, "causal mask")[0] == "03_masking.html"
        shown = page.locator("ol").inner_text()
    assert "Exercise: causal_mask" in shown
    assert not re.search(r"causal_mask \d|\d min\b", shown)


def test_a_search_can_be_linked_and_its_results_lead_to_a_heading(browser, served):
    with browser.new_page() as page:
        page.goto(f"{served}/search.html?q=induction%20head")
        page.locator("ol .where a").first.click()
        page.wait_for_url("**/07_heads_that_learn.html#*")
        place = page.evaluate("decodeURIComponent(location.hash.slice(1))")
        assert page.evaluate("place => document.getElementById(place) !== null", place)


def test_the_instructors_notes_are_not_searched(browser, served):
    with browser.new_page() as page:
        page.goto(f"{served}/search.html")
        page.wait_for_selector("input:enabled")
        assert not [name for name in found(page, "mask") if name.startswith("workshop")]


def test_from_a_folder_the_page_says_what_it_needs(browser, site):
    with browser.new_page() as page:
        page.goto((site / "search.html").as_uri())
        page.wait_for_selector("input:disabled")
        assert "works once the site stands on a web server" in page.get_by_role("status").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_everybody_can_use_it(browser, served, width, scheme):
    with browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme) as page:
        page.goto(f"{served}/search.html?q=causal%20mask")
        page.wait_for_selector("ol li")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        result = Axe().run(page)
        assert result.response["violations"] == [], result.generate_report()
