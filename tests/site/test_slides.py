"""The notebooks as slides: what is on them, that it fits, and that the page needs nothing but itself."""

import re

import pytest
from bs4 import BeautifulSoup
from nbformat import v4

from mha_helpers import exercises
from tools.site import command, pages, slides
from tools.writing.notebooks import (
    NOTEBOOKS,
    NotebookError,
    course_notebooks,
    normalised,
    read,
    slide_type,
    tags,
)

# Of an empty course the tests fail for want of a file; with no case at all they would be skipped.
COURSE = course_notebooks() or [NOTEBOOKS / "any.ipynb"]
WIDTH, HEIGHT = 1280, 720
READABLE, READABLE_CODE, READABLE_PRINT = 18, 15, 22  # pixels of text at that size
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
LONG = "word " * 50

each_notebook = pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)


def cell(source, kind="-", *, code=False, tags=(), outputs=()):
    metadata = {"tags": list(tags)} | ({} if kind == "-" else {"slideshow": {"slide_type": kind}})
    if code:
        return v4.new_code_cell(source, metadata=metadata, outputs=list(outputs), execution_count=1)
    return v4.new_markdown_cell(source, metadata=metadata)


def notebook_of(*cells):
    return v4.new_notebook(cells=list(cells))


def page_of(notebook):
    return BeautifulSoup(slides.slides(notebook), "html.parser")


def cut(*cells):
    return [(slide_type(one), one.source) for one in slides.cut(notebook_of(*cells)).cells]


def test_a_slide_begins_at_its_heading_and_what_stands_before_are_notes():
    remark = cell("It was so.\n\n## Next\n\nText", "slide")
    assert cut(cell("# Title", "slide"), remark)[1:] == [("notes", "It was so."), ("slide", "## Next\n\nText")]


def test_a_subslide_begins_at_the_cell_under_the_heading_of_its_section():
    pieces = cut(cell(f"# Title\n\n{LONG}", "slide"), cell("## One", "slide"), cell(f"{LONG}\n\n### More", "subslide"))
    assert pieces[2:] == [("subslide", "## One"), ("-", LONG.strip()), ("subslide", "### More")]


def test_each_heading_begins_a_slide_but_a_short_piece_goes_with_the_next():
    source = f"## One\n\n{LONG}\n\n## Two\n\n### Three\n\nText"
    assert cut(cell(source, "slide")) == [
        ("slide", f"## One\n\n{LONG.strip()}"),
        ("slide", "## Two\n\n### Three\n\nText"),
    ]


@pytest.mark.parametrize(("text", "kind"), [("Drag a word.", "-"), (2 * LONG, "subslide")])
def test_a_labs_picture_stands_on_the_slide_that_says_what_to_do_with_it(text, kind):
    picture = v4.new_output("display_data", {"image/png": PNG, "text/plain": "a lab"})
    lab = cell("labs.two_banks()", "subslide", code=True, outputs=[picture])
    pieces = cut(cell(f"### Lab\n\n{text}", "slide"), lab)
    assert pieces[-1] == (kind, "labs.two_banks()")


@pytest.mark.parametrize("kind", ["notes", "skip", "fragment", "-"])
def test_other_cells_stay_whole(kind):
    assert cut(cell("# Title", "slide"), cell("Before\n\n## Heading", kind))[1:] == [(kind, "Before\n\n## Heading")]


def test_the_notebook_itself_stays_as_it_is():
    notebook = notebook_of(cell("# Title", "slide"), cell("f()", code=True, tags=["exercise"]))
    before = str(notebook)
    slides.cut(notebook)
    assert str(notebook) == before


def test_of_code_what_fits_is_shown():
    picture = v4.new_output("display_data", {"image/png": PNG, "text/plain": 'a "picture" & <more>'})
    printed = v4.new_output("stream", text="1 < 2")
    page = page_of(
        notebook_of(
            cell("# Title", "slide"),
            cell("draw_it()", code=True, outputs=[v4.new_output("stream", text="beside it"), picture]),
            cell("short_code()", code=True, outputs=[printed]),
            cell("long_code()\n" * 6, code=True, outputs=[printed]),
            cell("left_out()", "skip", code=True, outputs=[v4.new_output("stream", text="left out")]),
            cell("def stub():\n" + "    ...\n" * 9, code=True, tags=["exercise"], outputs=[printed]),
        )
    )
    picture, text = page.find("img"), page.find("main").get_text()
    assert picture["src"] == f"data:image/png;base64,{PNG}"
    assert picture["alt"] == 'a "picture" & <more>'
    for shown in ("short_code()", "def stub()"):
        assert shown in text
    for hidden in ("draw_it()", "beside it", "long_code()", "left_out()", "left out"):
        assert hidden not in text
    assert text.count("1 < 2") == 2, "of the short and the long code, not of the exercise"


def test_of_a_live_widget_only_what_stands_in_its_place_is_shown():
    outputs = [v4.new_output("display_data", {"text/html": "<p>Run this.</p>", "text/plain": "Run this."})]
    outputs.append(v4.new_output("display_data", {"text/plain": ""}))
    page = page_of(notebook_of(cell("# Title", "slide"), cell("lab", code=True, outputs=outputs)))
    assert [shown.get_text() for shown in page.find_all("pre", class_="output")] == ["Run this."]


def test_slide_types_survive_a_refresh():
    notebook = notebook_of(cell("# Title", "slide"), cell("Text", "notes"), cell("Text"))
    notebook.cells[2].metadata["slideshow"] = {"slide_type": "-"}
    metadata = [one.metadata for one in normalised(notebook).cells]
    assert metadata == [{"slideshow": {"slide_type": "slide"}}, {"slideshow": {"slide_type": "notes"}}, {}]


@each_notebook
def test_every_question_has_a_slide_and_no_answer_and_nothing_is_loaded(path):
    notebook = slides.cut(read(path))
    asking = [one for one in notebook.cells if {"exercise", "prediction"} & set(tags(one))]
    assert asking
    for one in asking:
        assert slide_type(one) not in ("skip", "notes"), one.source
        assert one.metadata.code, one.source
        assert one.outputs == [], one.source
        if "prediction" in tags(one):
            assert slide_type(one) == "fragment", f"the question stands before {one.source}"
    html = slides.slides(read(path))
    assert set(re.findall(r'(?:src|srcset|data)="(.{5})', html)) <= {"data:"}, "the page loads something"
    assert not re.search(r"<link(?! href=.data:)|<iframe|<object|@import|url\(|import\(", html)
    sections = [section.get_text() for section in BeautifulSoup(html, "html.parser")("section")]
    for name in re.findall(r"exercises\.(\w+)\.commit", "".join(one.source for one in asking)):
        question = getattr(exercises, name)
        [asked] = [i for i, text in enumerate(sections) if f"{name}.commit" in text]
        reactions = [re.sub(r"[`$*]", "", reaction)[:40] for reaction in question.reactions.values()]
        assert not any(reaction in text for reaction in reactions for text in sections[: asked + 1])


def test_the_answer_to_a_prediction_is_open_on_the_slide_after_it():
    fold = "<details>\n<summary>Reading without running? The answer</summary>\n\n**b**: so it is.\n\n</details>"
    pieces = cut(
        cell("# Title", "slide"),
        cell("exercises.predict_order.commit(None)", "fragment", code=True, tags=["prediction"]),
        cell(f"<!-- answer: predict_order -->\n{fold}", "notes"),
    )
    assert pieces[2] == ("subslide", "### The answer\n\n**b**: so it is.")


def test_an_answer_whose_evidence_is_a_picture_shows_it():
    notebook = read(NOTEBOOKS / "02_scaling.ipynb")
    source = "\n".join(cell.source for cell in notebook.cells)
    [words] = re.findall(r"^Curves against d_k .* measured .*", source, re.MULTILINE)
    [answer] = [section for section in page_of(notebook)("section") if "random pairs for each" in section.text]
    assert words not in answer.text
    assert [image["alt"] for image in answer("img")] == [words]


def test_a_figure_is_shown_sharp():
    image = '<img alt="arcs" width="664" src="data:image/svg+xml;base64,PHN2Zz48L3N2Zz4=">'
    figure = v4.new_output("display_data", {"text/html": image, "image/png": PNG, "text/plain": "arcs"})
    page = page_of(notebook_of(cell("# Title", "slide"), cell("draw()", code=True, outputs=[figure])))
    [shown] = page("img")
    assert (shown["src"][:18], shown["alt"]) == ("data:image/svg+xml", "arcs")


def test_a_labs_still_picture_leads_to_the_live_lab_on_the_page_beside():
    still = v4.new_output("display_data", {"image/png": PNG, "text/plain": "Lab: banks. Drag."})
    lab = cell("labs.two_banks()", code=True, outputs=[still])
    notebook = notebook_of(cell("# Title", "slide"), lab)
    page = BeautifulSoup(slides.slides(notebook, "01_self_attention"), "html.parser")
    assert page.select_one(".live a")["href"] == f"../01_self_attention.html#cell-id={lab.id}"
    assert BeautifulSoup(pages.export(notebook, "01_self_attention"), "html.parser").find(id=f"cell-id={lab.id}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pages = tmp_path_factory.mktemp("site")
    command.main([str(pages)])
    return pages / "slides"


@pytest.fixture
def opened(browser, folder, path):
    """A notebook's page, with its requests and errors."""
    with browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}) as context:
        page = context.new_page()
        page.wrong = []
        page.on("console", lambda message: page.wrong.append(message.text))
        page.on("pageerror", lambda error: page.wrong.append(error.message))
        context.on("request", lambda request: page.wrong.append(request.url))
        page.goto((folder / f"{path.stem}.html").as_uri())
        page.wait_for_selector("html[data-fitted]", state="attached")
        page.wrong = [one for one in page.wrong if not one.startswith((page.url.partition("#")[0], "data:"))]
        yield page


@pytest.mark.slow
@pytest.mark.browser
@each_notebook
def test_every_slide_fits_and_can_be_read(opened):
    found = opened.evaluate(
        """() => sections.map((section, i) => {
            const inside = section.getBoundingClientRect();
            const sizes = nodes => [...nodes].map(node => parseFloat(getComputedStyle(node).fontSize));
            const parts = [...section.querySelectorAll(".body *")].filter(node => !node.closest("aside"))
                .map(node => node.getBoundingClientRect());
            return {
                number: i + 1,
                right: Math.max(...parts.map(part => part.right)) - inside.right,
                bottom: Math.max(...parts.map(part => part.bottom)) - byId("back").getBoundingClientRect().top,
                text: Math.min(...sizes([section])),
                code: Math.min(...sizes(section.querySelectorAll(".code pre"))),
                print: Math.min(...sizes(section.querySelectorAll("pre:not(.code pre)"))),
                pictures: [...section.querySelectorAll("img")].map(picture => picture.clientWidth),
            };
        })"""
    )
    assert len(found) >= 15
    for slide in found:
        assert slide["right"] < 0, slide
        assert slide["bottom"] < 0, slide
        assert slide["text"] >= READABLE, slide
        assert slide["code"] is None or slide["code"] >= READABLE_CODE, slide
        assert slide["print"] is None or slide["print"] >= READABLE_PRINT, slide
        assert all(width > 300 for width in slide["pictures"]), slide
    assert opened.wrong == []


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("path", COURSE[:1], ids=lambda path: path.stem)
def test_keys_buttons_and_addresses_move(opened):
    def seen():
        """Return the slide's number, and how many fragments it shows."""
        assert opened.locator("section:visible").count() == 1
        number, of = opened.locator("#number").inner_text().split(" of ")
        assert opened.url.endswith(f"#{number}")
        assert int(of) == opened.locator("section").count()
        return int(number), opened.locator(".fragment:visible").count()

    def press(*keys):
        for key in keys:
            opened.keyboard.press(key)
        return seen()

    last = opened.locator("section").count()
    counts = opened.evaluate("sections.map(section => section.querySelectorAll('.fragment').length)")
    steps = [(number, shown) for number, count in enumerate(counts, 1) for shown in range(count + 1)]
    asking = 1 + opened.evaluate("sections.findIndex(section => section.querySelector('.fragment'))")
    assert seen() == (1, 0)
    assert press("ArrowRight") == (2, 0)
    assert press("Space", "PageDown", "ArrowDown") == steps[4]
    assert press("ArrowLeft", "ArrowUp", "PageUp", "Shift+Space") == (1, 0)
    assert press("ArrowLeft") == (1, 0)
    assert press("End", "ArrowRight") == (last, 0)
    assert press("Home") == (1, 0)
    assert press(*["ArrowRight"] * (asking - 1)) == (asking, 0), "the question first"
    assert press("ArrowRight") == (asking, 1)
    assert press("ArrowRight") == (asking + 1, 0)
    assert press("ArrowLeft") == (asking, 1), "backwards it is there already"
    assert press("ArrowLeft") == (asking, 0)
    assert press("Control+ArrowRight") == (asking, 0), "the browser's own keys stay its own"
    opened.get_by_role("button", name="Next").click()
    assert seen() == (asking, 1)
    opened.get_by_role("button", name="Back").focus()
    assert press("Space") == (asking, 0), "a button takes the space bar for itself"
    other = asking + 2
    opened.evaluate(f"location.hash = '#{other}'")
    opened.wait_for_function(f"byId('number').textContent.startsWith('{other} ')")
    assert seen() == (other, 0)
    assert opened.wrong == []


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("path", COURSE[:1], ids=lambda path: path.stem)
def test_notes_come_on_demand(opened):
    notes = opened.locator("#notes")
    opened.evaluate("show(sections.findIndex(section => section.querySelector('aside')), false)")
    assert not notes.is_visible()
    opened.keyboard.press("n")
    assert notes.is_visible()
    stored = opened.locator("section.now aside").all_text_contents()
    assert notes.text_content() == "".join(stored) != ""
    opened.keyboard.press("n")
    assert not notes.is_visible()


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("path", COURSE[:1], ids=lambda path: path.stem)
def test_the_stage_fills_any_window_and_the_theme_is_the_reader_s(opened):
    colours = {}
    for scheme in ("light", "dark"):
        opened.emulate_media(color_scheme=scheme)
        colours[scheme] = opened.evaluate(
            "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
        )
    assert colours["light"] == ["rgb(255, 255, 255)", "rgb(26, 26, 26)"]
    assert colours["dark"] == ["rgb(22, 24, 29)", "rgb(236, 236, 236)"]
    for width, height in ((640, 480), (1920, 1080)):
        opened.set_viewport_size({"width": width, "height": height})
        opened.wait_for_function(
            "width => Math.abs(byId('stage').getBoundingClientRect().width - width) < 1",
            arg=min(width, height * WIDTH / HEIGHT),
        )
        assert not opened.evaluate("document.scrollingElement.scrollHeight > innerHeight")


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("path", COURSE[:1], ids=lambda path: path.stem)
def test_printing_gives_every_slide_a_page_with_its_fragments(opened):
    count = opened.locator("section").count()
    opened.emulate_media(media="print")
    assert opened.locator("section:visible").count() == count
    assert opened.locator(".fragment:visible").count() == opened.locator(".fragment").count() > 0
    pages = opened.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", pages)) == count


def test_links_lead_to_the_pages_beside_and_other_links_stay():
    links = ["02_scaling.ipynb", "02_scaling.ipynb#Why", "../README.md#start", "https://mybinder.org/a.ipynb"]
    page = page_of(notebook_of(cell("# Title\n\n" + " ".join(f"[one]({link})" for link in links), "slide")))
    found = [link["href"] for link in page.select("p a")]
    assert found == ["../02_scaling.html", "../02_scaling.html#Why", "../index.html#start", links[3]]


def test_what_cannot_be_shown_is_said():
    with pytest.raises(NotebookError, match="has the formula"):
        slides.slides(notebook_of(cell(r"# Title $\frac$", "slide")))
    with pytest.raises(NotebookError, match="has no slides; give its cells slide types"):
        slides.slides(notebook_of(cell("# Title")))
