"""The front page: it leads everywhere, is alive without a kernel, and loads nothing from elsewhere."""

import posixpath
import re
from xml.etree import ElementTree

import pytest
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup

from mha_helpers import course
from tools.page.pictures import PREVIEW_PICTURE
from tools.release import launch
from tools.site import front, pages, thumbnails
from tools.site.lite import patient
from tools.writing.hygiene import REMOTE
from tools.writing.notebooks import course_notebooks, read

COURSE = course_notebooks()
LITE = "lite/notebooks/index.html?path="
MOST = 1_500_000  # bytes


@pytest.fixture(scope="module")
def text():
    return front.front(COURSE, LITE)


@pytest.fixture(scope="module")
def address(text, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    (folder / "index.html").write_text(text, encoding="utf-8")
    (folder / "icon.svg").write_text(thumbnails.icon(), encoding="utf-8")
    return (folder / "index.html").as_uri()


def test_each_notebook_can_be_read_run_and_shown(text):
    page = BeautifulSoup(text, "html.parser")
    for path, stop in zip(COURSE, page.select(".stops li"), strict=True):
        links = {link["href"] for link in stop("a")}
        assert links == {f"{path.stem}.html", f"{LITE}{path.name}", f"slides/{path.stem}.html"}
        assert stop.select_one("p").text.endswith("?")
        assert stop.svg["aria-label"]


def test_the_maps_stops_have_words_minutes_and_both_links(text):
    stops = BeautifulSoup(text, "html.parser").select(".line li")
    assert len(stops) == len(course.NOTEBOOKS)
    for path, stop in zip(COURSE, stops, strict=False):
        assert [link["href"] for link in stop("a")] == [f"{path.stem}.html", f"{LITE}{path.name}"]
        assert re.match(r"\d+\. [A-Z].* \d+ min · run$", stop.text)


def test_each_lab_leads_to_the_notebook_that_has_it(text):
    shown = BeautifulSoup(text, "html.parser").select("section.mha-lab")
    leads = {lab["aria-label"].removeprefix("Lab: "): lab.select_one(".mha-live-at a")["href"] for lab in shown}
    assert list(leads)[:2] == ["two banks", "be the head"]
    for title, page in leads.items():
        call = f"labs.{title.replace(' ', '_')}("
        [path] = (path for path in COURSE if f"{path.stem}.html" == page)
        assert any(call in cell.source for cell in read(path).cells), title


def test_who_has_a_function_of_their_own_can_have_it_examined(text):
    page = BeautifulSoup(text, "html.parser")
    assert [link["href"] for link in page.select("#doctor .ways a")] == [f"{LITE}{patient.NAME}"]


def test_the_start_is_the_readmes(text):
    readme = launch.README.read_text(encoding="utf-8")
    commands = [command.text for command in BeautifulSoup(text, "html.parser").select("#start pre")]
    assert len(commands) == 2
    assert all("01_self_attention.ipynb" in command and command in readme for command in commands)


def test_it_says_how_long_the_course_takes(text):
    times = re.findall(r"(\d+) minutes, (\d+):(\d\d) h in all", text)
    sums = [sum(int(minutes) for minutes, _, _ in times[: i + 1]) for i in range(len(times))]
    assert len(times) == len(course.NOTEBOOKS)
    assert [60 * int(hours) + int(minutes) for _, hours, minutes in times] == sums


def test_it_is_light_and_loads_only_its_icon(text):
    page = BeautifulSoup(text, "html.parser")
    assert len(text.encode()) + PREVIEW_PICTURE.stat().st_size < MOST
    assert [link["href"] for link in page("link")] == ["icon.svg"]
    assert not page(["iframe", "object", "embed", "base"])
    assert all(not script.has_attr("src") for script in page("script"))
    assert all(image["src"].startswith("data:") for image in page("img"))
    assert not any(re.search(REMOTE, re.sub(r"(?s)/\*.*?\*/", "", style.text)) for style in page("style"))


def test_who_made_it_which_version_and_under_which_licence_is_said(text):
    said = " ".join(BeautifulSoup(text, "html.parser").select_one(".who").text.split())
    assert re.match(r"Version \d+\.\d+\.\d+, by the authors .* · code BSD-3-Clause, text and pictures CC BY 4\.0", said)


def test_each_mistake_of_the_example_has_its_source(text):
    links = {link["href"] for link in BeautifulSoup(text, "html.parser").select("#doctor > p a")}
    assert {*front.SEEN.values()} <= links


def test_the_courses_texts_are_there_and_their_links_lead_somewhere(text):
    documents = pages.documents()
    found = {name: BeautifulSoup(page, "html.parser") for name, page in documents.items()}
    assert {link["href"] for link in BeautifulSoup(text, "html.parser").select("#teach a")} <= found.keys()
    known = {*documents, "index.html", "search.html", *(f"{path.stem}.html" for path in COURSE)}
    for name, page in found.items():
        assert page.title.text == page.h1.find(string=True)
        for link in page("a", href=True):
            if ":" in link["href"]:
                continue
            target, _, place = link["href"].partition("#")
            where = posixpath.normpath(posixpath.join(posixpath.dirname(name), target)) if target else name
            assert where in known, (name, link["href"])
            # The index of exercises, which has links into notebooks, has a test of its own.
            assert not place or where not in found or found[where].find(id=place), (name, link["href"])


def test_without_the_browser_edition_reading_comes_first():
    page = BeautifulSoup(front.front(COURSE), "html.parser")
    assert [link["href"] for link in page.select(".ways a.first")] == [f"{COURSE[0].stem}.html"]
    assert "lite/" not in str(page)


def test_until_it_is_published_nothing_leads_to_nobody(monkeypatch, text):
    assert "OWNER" not in text
    assert front.sitemap(["a.html"]) is None
    monkeypatch.setattr(launch, "repository", lambda: "ada/attention")
    page = BeautifulSoup(front.front(COURSE, LITE), "html.parser")
    hrefs = [link["href"] for link in page.select(".ways a")]
    assert hrefs[0] == f"{LITE}{COURSE[0].name}"
    assert [*launch.links(COURSE[0].name, "ada/attention").values()][1:] == hrefs[2:4]
    assert page.find("meta", property="og:image")["content"] == "https://ada.github.io/attention/preview.png"
    places = [place.text for place in ElementTree.fromstring(front.sitemap(["a.html"])).iter() if place.text]
    assert places == ["https://ada.github.io/attention/", "https://ada.github.io/attention/a.html"]


@pytest.fixture
def page(request, browser, address):
    options = {"viewport": {"width": 1280, "height": 800}, "offline": True} | getattr(request, "param", {})
    complaints = []
    with browser.new_context(**options) as context:
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        if "reduced_motion" not in options:  # the film's time is the test's
            page.clock.install(time=0)
            page.clock.pause_at(1)
        page.goto(address)
        page.wait_for_selector(".hero [data-mark]", state="attached")
        yield page
    assert complaints == []


CALM = {"reduced_motion": "reduce"}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
FILM = "document.querySelector('.hero .mha-lab').dataset.film"
HALF, REST = 1500, 4000  # milliseconds of the film: "river" is on its way, and all is over
VALUE = "Number(document.querySelector('.hero [data-mark=\"river: water\"]').value)"


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("page", [{}, PHONE], indirect=True, ids=["wide", "phone"])
def test_the_film_moves_the_words_once_and_ends_where_the_page_began(page):
    page.wait_for_function(f"{FILM} === 'plays'")
    page.clock.run_for(HALF)
    assert 2 < page.evaluate(VALUE) < 3
    for word in ("river", "money"):  # the sentence keeps in step with the picture
        becomes = page.locator(f'.hero [data-part="becomes {word}"]').text_content()
        [share] = re.findall(rf"\+ (.*) {word}", becomes)
        assert f"{share} of it is “{word}”" in page.locator(".hero [role=status]").text_content()
    page.clock.run_for(REST)
    assert page.evaluate(f"[{FILM}, {VALUE}]") == ["over", 3]


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(
    "page", [{"viewport": {"width": 844, "height": 390}}], indirect=True, ids=["phone on its side"]
)
def test_the_film_waits_until_the_lab_is_seen(page):
    page.evaluate(
        "new Promise(seen => new IntersectionObserver(seen).observe(document.querySelector('.hero .mha-lab')))"
    )
    assert page.evaluate(FILM) is None
    page.mouse.wheel(0, 300)
    page.wait_for_function(f"{FILM} === 'plays'")
    page.mouse.wheel(0, 20)
    page.clock.run_for(HALF)
    assert 2 < page.evaluate(VALUE) < 3


@pytest.mark.slow
@pytest.mark.browser
def test_a_touch_ends_the_film_at_once(page):
    page.wait_for_function(f"{FILM} === 'plays'")
    page.keyboard.press("Tab")
    assert page.evaluate(f"[{FILM}, {VALUE}]") == ["over", 3]


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("page", [CALM], indirect=True)
def test_who_wants_no_motion_sees_none_and_drags(page):
    assert page.evaluate(FILM) is None
    handle = page.locator('.hero [data-mark="river: water"]')
    handle.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert page.evaluate(VALUE) == pytest.approx(3.5)
    page.wait_for_function("document.querySelector('.hero [role=status]').textContent.includes('82 %')")


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("page", [CALM], indirect=True)
def test_what_was_moved_can_be_put_back(page):
    handle = page.locator('.hero [data-mark="river: water"]')
    for value in ("4", "0.5"):
        handle.fill(value)
        assert page.evaluate(VALUE) == float(value)
        page.locator(".hero").get_by_role("button", name="Reset").click()
        assert page.evaluate(VALUE) == 3
        page.wait_for_function("document.querySelector('.hero [role=status]').textContent.includes('73 %')")


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(
    "page", [CALM | {"viewport": {"width": width, "height": 800}} for width in (1280, 1366, 1440, 1920)], indirect=True
)
def test_the_first_lab_and_what_it_says_are_above_the_fold(page):
    plane, sentences = (part.bounding_box() for part in page.locator(".hero .mha-parts > svg").all())
    assert sentences["y"] == plane["y"], "side by side"
    says = page.locator(".hero [role=status]").bounding_box()
    assert says["y"] + says["height"] <= 800


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("page", [CALM | PHONE], indirect=True)
def test_on_a_phone_the_hand_and_all_that_it_moves_are_on_the_first_screen(page):
    for shown in page.locator(".hero .mha-parts > svg").all():
        box = shown.bounding_box()
        assert (box["x"] >= 0, box["x"] + box["width"] <= 390, box["y"] + box["height"] <= 844) == (True, True, True)


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(
    "page",
    [CALM | one for one in ({}, {"color_scheme": "dark"}, PHONE, PHONE | {"color_scheme": "dark"})],
    indirect=True,
    ids=["wide", "wide, dark", "phone", "phone, dark"],
)
def test_it_fits_and_everybody_can_use_it(page):
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    found = Axe().run(page)
    assert found.response["violations"] == [], found.generate_report()


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("page", [CALM | PHONE], indirect=True)
def test_a_finger_moves_what_it_drags_and_a_tap_moves_nothing(page):
    handle = page.locator('.hero [data-mark="river: water"]')
    handle.scroll_into_view_if_needed()
    place = handle.bounding_box()
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    height = "Number(document.querySelector('.hero [data-mark=\"river: money\"]').value)"
    page.touchscreen.tap(x, y)
    assert page.evaluate(f"[{VALUE}, {height}]") == [3, 0]
    client = page.context.new_cdp_session(page)
    for kind, points in (("touchStart", [x]), ("touchMove", [x - 30]), ("touchMove", [x - 60]), ("touchEnd", [])):
        client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": at, "y": y} for at in points]})
    page.wait_for_function(f"{VALUE} < 2.3")
    assert page.evaluate(height) == 0
