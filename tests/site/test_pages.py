"""`python -m tools site`: pages that hold everything and load nothing."""

import base64
import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup
from nbformat import v4
from playwright.sync_api import expect

from mha_helpers import course
from tools.site import command, pages
from tools.site.look.frames import LEAST
from tools.site.look.typeface import make
from tools.writing.hygiene import REMOTE
from tools.writing.notebooks import NOTEBOOKS, course_notebooks, read, write

pytestmark = pytest.mark.slow

COURSE = course_notebooks()
HEAVIEST = 1_000_000  # bytes, of a page with its labs' pictures, to which nothing else is loaded
LOADING = ("src", "srcset", "data", "poster", "style", "xlink:href")
# Elements with something to the right of what they show; what a cell prints may scroll.
TOO_WIDE = """[...document.querySelectorAll("*")]
    .filter(one => !one.closest("math, svg, .mha-over, .jp-RenderedText") && one.scrollWidth > one.clientWidth + 1)
    .filter(one => one.checkVisibility() && getComputedStyle(one).display !== "inline")
    .map(one => `${one.tagName}.${one.className}: ${one.textContent.slice(0, 40)}`)"""
# How bright text and its background are, from 0 to 255: the red part, as both are grey.
BRIGHTNESS = """["color", "backgroundColor"].map((property, i) =>
    parseInt(getComputedStyle(i ? document.body : document.querySelector("p"))[property].match(/\\d+/)[0]))"""
# Letters to a full line of running text, by paragraph: how many fit into its width, at the mean width of those shown.
CHARACTERS_A_LINE = """[...document.querySelectorAll(".jp-RenderedMarkdown > p")].map(one => {
    const walker = document.createTreeWalker(one, NodeFilter.SHOW_TEXT), range = document.createRange()
    let letters = 0, width = 0
    while (walker.nextNode()) {
        range.selectNodeContents(walker.currentNode)
        const shown = [...range.getClientRects()].reduce((sum, box) => sum + box.width, 0)
        if (shown) { letters += walker.currentNode.length; width += shown }
    }
    return [letters, letters / width * one.getBoundingClientRect().width]
}).filter(([letters, line]) => letters > 200).map(([letters, line]) => line)"""
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The whole course as pages."""
    folder = tmp_path_factory.mktemp("export") / "new" / "pages"
    command.main([str(folder)])
    return folder


def test_each_page_has_a_title_of_its_own_an_icon_no_link_to_nobody_and_is_no_heavier_than_it_may_be(folder):
    titles = []
    for path in folder.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        page = BeautifulSoup(text, "html.parser")
        titles.append(page.title.text)
        assert page.find("link", rel="icon"), path
        assert not [link["href"] for link in page("a", href=True) if "OWNER" in link["href"]], path
        assert len(text.encode()) < HEAVIEST, path
    assert len({*titles}) == len(titles) > 2 * len(COURSE)
    assert sum((folder / name).stat().st_size for name in ("index.html", "icon.svg", "preview.png")) < 1_500_000


@pytest.fixture(scope="module", params=COURSE, ids=lambda path: path.name)
def exported(request, folder):
    """A stored notebook, and the page that was made of it."""
    html = (folder / f"{request.param.stem}.html").read_text(encoding="utf-8")
    return read(request.param), BeautifulSoup(html, "html.parser")


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.name)
def test_a_browser_shows_the_page_from_its_file_alone(browser, folder, path, scheme):
    asked, complaints = [], []
    address = (folder / f"{path.stem}.html").as_uri()
    with browser.new_context(viewport={"width": 1100, "height": 900}, color_scheme=scheme, offline=True) as context:
        context.on("request", lambda request: asked.append(request.url))
        context.on("weberror", lambda error: complaints.append(error.error))
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.goto(address)
        assert {url for url in asked if not url.startswith("data:")} == {address}
        assert complaints == []
        drawings = page.locator("main img, .figure svg")
        widths = drawings.evaluate_all("all => all.map(each => each.naturalWidth ?? each.clientWidth)")
        assert widths
        assert min(widths) > 100
        assert page.evaluate(TOO_WIDE) == []
        formulas = page.locator("math").evaluate_all("all => all.map(one => one.getBoundingClientRect().width)")
        assert min(formulas) > 0
        ink, paper = page.evaluate(BRIGHTNESS)
        assert (ink < 80 and paper > 230) if scheme == "light" else (ink > 200 and paper < 40)


def page_of(*cells):
    return BeautifulSoup(pages.export(v4.new_notebook(cells=list(cells)), "a page"), "html.parser")


def test_the_page_loads_nothing(exported):
    _, page = exported
    assert not page(["iframe", "object", "embed", "base"])
    assert [link["rel"] for link in page("link")] == [["icon"]]
    assert page.link["href"].startswith("data:image/svg+xml;base64,")
    assert all(not script.has_attr("src") for script in page("script")), "a lab's code stands in the page"
    loads = [tag[name] for tag in page(True) for name in LOADING if tag.has_attr(name)]
    # The style sheets name their sources in comments.
    loads += [re.sub(r"(?s)/\*.*?\*/", "", style.text) for style in page("style")]
    assert len(loads) > len(page("img"))
    assert [re.findall(REMOTE, load) for load in loads if re.search(REMOTE, load)] == []
    assert all(re.match(r"data:image/(png|svg\+xml);base64,", image["src"]) for image in page("img"))
    assert all(re.match(r"url\(['\"]?data:", url) for load in loads for url in re.findall(r"url\(.{9}", load))


def test_every_picture_is_there_with_its_words(exported):
    notebook, page = exported
    data = [output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", [])]
    data = [one for one in data if not one.get("text/plain", "").startswith("Lab: ") or not _is_touched(one, page)]
    course_map, *pictures = [_picture(one) for one in data if "image/png" in one]
    assert pictures
    assert page.select_one(".map svg")["aria-label"] == course_map[1]
    drawn = [node for node in page.select("main img, main .figure:not(.map) svg") if not node.find_parent("details")]
    shown = [_shown(node) for node in drawn]
    assert [words for _, words in shown] == [words for _, words in pictures]
    for (drawn, _), (stored, words) in zip(shown, pictures, strict=True):
        assert drawn == (_texts(base64.b64decode(stored)) if isinstance(drawn, list) else stored), words


def test_a_folded_answer_shows_its_picture(folder):
    page = BeautifulSoup((folder / "02_scaling.html").read_text(encoding="utf-8"), "html.parser")
    pictures = [node for node in page.select("main .figure :is(svg, img)") if node.find_parent("details")]
    assert len(pictures) == 3
    words = [_shown(node)[1] for node in pictures]
    assert all(said.startswith("Curves against") for said in words)
    assert not [said for said in words if said in page.main.text]


def _shown(node):
    """Return what a picture of a page shows, the texts of one that stands in the page itself, and its words."""
    if node.name == "img":
        return node["src"].partition(",")[2], node["alt"]
    return [text.text for text in node("text")], node["aria-label"]


def _texts(drawn):
    return [text.text for text in BeautifulSoup(drawn, "html.parser")("text")]


def _is_touched(data, page):
    """Say whether a lab is more than a picture on a page."""
    title = data["text/plain"].removeprefix("Lab: ").partition(".")[0]
    return any(lab["aria-label"].startswith(f"Lab: {title}") for lab in page.select("section.mha-lab"))


def _picture(data):
    """Return what the page shows of an output: its SVG where there is one, and its words."""
    if "text/html" not in data:
        return data["image/png"].strip(), data["text/plain"]
    [image] = BeautifulSoup(data["text/html"], "html.parser")("img")
    assert image["alt"] == data["text/plain"]
    return image["src"].partition(",")[2], image["alt"]


def test_the_map_leads_to_every_other_notebook(exported):
    _, page = exported
    links = [link["href"] for link in page.select(".map a")]
    others = [each for each in course.NOTEBOOKS if not page.title.text.startswith(f"{int(each.number)}.")]
    assert links == [f"{each.name}.html" for each in others]


# How large the smallest link of the map is, and how far the map goes on to the right of what is in sight.
MAP = """() => {
    const boxes = [...document.querySelectorAll(".map a")].map(link => link.getBoundingClientRect());
    const { scrollWidth, clientWidth } = document.querySelector(".map > .sideways");
    return [Math.min(...boxes.flatMap(box => [box.width, box.height])), scrollWidth - clientWidth];
}"""


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 390])
def test_all_of_the_map_is_in_sight_and_its_links_are_large_enough_for_a_finger(browser, folder, width):
    with browser.new_context(viewport={"width": width, "height": 844}, offline=True) as context:
        page = context.new_page()
        page.goto((folder / "08_a_model_that_writes.html").as_uri())
        smallest, hidden = page.evaluate(MAP)
        assert smallest >= 24
        assert hidden == 0
        page.locator(".map a").nth(2).click()
        assert page.url.endswith("03_masking.html")


WORDS = """() => [...document.querySelectorAll(".mha-picture text[fill='#1a1a1a']")]
    .map(text => getComputedStyle(text).fill)"""


@pytest.mark.browser
def test_words_of_a_lab_are_as_bright_as_they_can_be_on_dark_paper(browser, folder):
    with browser.new_context(color_scheme="dark", offline=True) as context:
        page = context.new_page()
        page.goto((folder / "04_splitting_heads.html").as_uri())
        # Black, before the picture is turned over.
        assert {*page.evaluate(WORDS)} == {"rgb(0, 0, 0)"}
        page.emulate_media(color_scheme="light")
        assert {*page.evaluate(WORDS)} == {"rgb(26, 26, 26)"}


def test_every_formula_is_typeset(exported):
    _, page = exported
    texts = page.select(".jp-RenderedMarkdown")
    assert any(text.find("math") for text in texts)
    for text in texts:
        assert "$" not in "".join(part for part in text.strings if not part.find_parent(["code", "pre"]))


def test_every_cell_is_there(exported):
    notebook, page = exported
    assert [page.find(id=f"cell-id={cell.id}") is not None for cell in notebook.cells] == [True] * len(notebook.cells)


def test_a_page_has_its_notebooks_title_and_leads_on(folder):
    page = BeautifulSoup((folder / "02_scaling.html").read_text(encoding="utf-8"), "html.parser")
    title = read(NOTEBOOKS / "02_scaling.ipynb").cells[0].source.splitlines()[0].removeprefix("# ")
    assert page.title.text == title
    site, contents, neighbours = page("nav")
    assert [link["href"] for link in site("a")] == [*pages.EVERYWHERE.values()]
    assert [link["href"] for link in neighbours("a")] == ["01_self_attention.html", "03_masking.html"]
    sections = {heading["id"] for heading in page("h2")}
    assert [link["href"].removeprefix("#") in sections for link in contents("a")] == [True] * len(sections)


@pytest.mark.browser
def test_lines_are_about_75_characters_long(browser, folder):
    with browser.new_context(viewport={"width": 1400, "height": 900}, offline=True) as context:
        page = context.new_page()
        page.goto((folder / "02_scaling.html").as_uri())
        lengths = page.evaluate(CHARACTERS_A_LINE)
    assert len(lengths) >= 10
    assert 62 <= sum(lengths) / len(lengths) <= 80, lengths


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_everybody_can_use_every_page(browser, folder, width, scheme):
    found = {}
    looks = {"viewport": {"width": width, "height": 844}, "color_scheme": scheme, "reduced_motion": "reduce"}
    with browser.new_context(**looks, offline=True) as context:
        page = context.new_page()
        for path in sorted(folder.rglob("*.html")):
            page.goto(path.as_uri())
            for violation in Axe().run(page).response["violations"]:
                nodes = [node["html"][:200] for node in violation["nodes"]]
                found[f"{path.relative_to(folder)}: {violation['id']}"] = nodes
    assert found == {}


def test_an_empty_header_cell_heads_nothing():
    page = page_of(v4.new_markdown_cell("| | b |\n|---|---|\n| c | d |"))
    assert [cell.text for cell in page("th")] == ["b"]
    assert [cell.text for cell in page("td")] == ["", "c", "d"]


def test_a_cell_that_is_folded_in_a_notebook_is_folded_on_its_page():
    folded = v4.new_code_cell("import numpy", metadata={"jupyter": {"source_hidden": True}})
    page = page_of(v4.new_markdown_cell("# One"), folded, v4.new_code_cell("shown"))
    [fold] = page("details")
    assert "numpy" in fold.text
    assert "shown" not in fold.text


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("# Run this first: it loads the course", "Code of the set-up"),
        ("# Draws “it” & the cat", "Code that draws “it” & the cat"),
    ],
)
def test_folded_code_is_called_what_its_first_line_says(line, said):
    folded = v4.new_code_cell(f"{line}\n1 + 1", metadata={"jupyter": {"source_hidden": True}})
    assert page_of(v4.new_markdown_cell("# One"), folded).select_one("details > summary").text == said


def test_what_the_reader_is_to_do_is_marked():
    page = page_of(v4.new_markdown_cell("# One"), v4.new_code_cell("...", metadata={"tags": ["exercise"]}))
    assert page.select(".celltag_exercise .jp-InputPrompt")
    assert ".celltag_exercise" in "".join(style.text for style in page("style"))


def test_a_link_to_a_notebook_leads_to_its_page_and_other_links_stay():
    links = [
        "02_scaling.ipynb",
        "02_scaling.ipynb#Why",
        "https://mybinder.org/a.ipynb",
        "https://arxiv.org/abs/1",
        "#a",
    ]
    page = page_of(v4.new_markdown_cell(" ".join(f"[one]({link})" for link in links)))
    assert [link["href"] for link in page.main("a")] == ["02_scaling.html", "02_scaling.html#Why", *links[2:]]


def test_words_of_a_picture_may_hold_any_sign():
    words = "weights of \"<b>\" & 'it': 0.5"
    output = v4.new_output("display_data", {"image/png": DOT + "\n", "text/plain": words})
    (image,) = page_of(v4.new_code_cell("draw()", outputs=[output]))("img")
    assert image["alt"] == words


def test_overwrites_nothing_and_writes_nothing_when_a_formula_is_wrong(folder, tmp_path, capsys):
    path = tmp_path / "wrong.ipynb"
    write(v4.new_notebook(cells=[v4.new_markdown_cell("# One"), v4.new_markdown_cell(r"See $\unheard$")]), path)
    with pytest.raises(SystemExit, match="is not an empty folder; name a new one"):
        command.main([str(folder), str(path)])
    with pytest.raises(SystemExit, match=r"(?s)wrong.ipynb: cell 2 `See .* has the formula .*Nothing was written"):
        command.main([str(tmp_path / "new"), str(COURSE[0]), str(path)])
    assert not (tmp_path / "new").exists()
    assert capsys.readouterr().out == ""


# Whether each fold of the text is open, and how many navigations, labs' controls and pictures, and folds of code show.
ON_PAPER = """() => {
    const seen = found => [...document.querySelectorAll(found)].filter(each => each.checkVisibility()).length;
    return [[...document.querySelectorAll("main details:not(.folded)")].map(fold => fold.open),
            seen("nav"), seen(".mha-lab button, .mha-lab input"), seen(".mha-lab svg"), seen("details.folded")];
}"""


@pytest.mark.slow
@pytest.mark.browser
def test_on_paper_folds_are_open_and_labs_are_pictures(browser, tmp_path):
    (tmp_path / "page.html").write_text(pages.export(read(COURSE[0]), COURSE[0].stem), encoding="utf-8")
    with browser.new_page() as page:
        page.goto((tmp_path / "page.html").as_uri())
        folds, navigations, controls, pictures, code = page.evaluate(ON_PAPER)
        assert folds
        assert not any(folds)
        assert min(navigations, controls, pictures, code) > 0
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        folds, *others = page.evaluate(ON_PAPER)
        assert all(folds)
        assert others == [0, 0, pictures, 0]
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert not any(page.evaluate(ON_PAPER)[0])


@pytest.mark.browser
def test_the_sheet_is_one_page_on_paper(browser, tmp_path):
    (tmp_path / "page.html").write_text(pages.documents()["reference/sheet.html"], encoding="utf-8")
    with browser.new_page() as page:
        page.goto((tmp_path / "page.html").as_uri())
        pdf = page.pdf(format="A4", prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 1


# How small the smallest text of each drawing is on the screen, and what it says.
TEXTS = """() => {
    const size = drawing => {
        const texts = [...drawing.querySelectorAll("text")].filter(text => text.checkVisibility());
        if (drawing.localName === "svg") return texts.map(text => {
            const { a, b } = text.getScreenCTM();
            return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b); // turned text, too
        });
        const [, data] = drawing.src.split("data:image/svg+xml;base64,");
        if (!data) return [];
        const picture = new DOMParser().parseFromString(atob(data), "image/svg+xml").documentElement;
        const scale = drawing.clientWidth / picture.getAttribute("viewBox").split(" ")[2];
        return [...picture.querySelectorAll("text")].map(text =>
            scale * parseFloat(text.getAttribute("font-size") ?? text.style.fontSize));
    };
    return [...document.querySelectorAll("svg, img")].filter(each => each.checkVisibility())
        .map(each => [Math.min(...size(each)), (each.alt ?? each.getAttribute("aria-label") ?? "").slice(0, 60)]);
}"""
# What is wider than its place and neither scrolls nor says so, and how wide the page is.
CUT = """() => [document.documentElement.scrollWidth, ...[...document.querySelectorAll("body *")]
    .filter(each => !each.closest("math, svg, .mha-over") && each.checkVisibility() && each.clientWidth)
    .filter(each => each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).display !== "inline")
    .filter(each => !(each.tabIndex === 0 && getComputedStyle(each).overflowX === "auto"
        && each.parentElement.matches(".more-right, .more-left")))
    .map(each => `${each.localName}.${each.className}: ${each.textContent.trim().slice(0, 40)}`)]"""


@pytest.mark.browser
def test_on_a_phone_every_letter_is_large_enough_and_what_is_wide_scrolls_within_itself(browser, folder):
    small, cut = {}, {}
    with browser.new_context(viewport={"width": 390, "height": 844}, offline=True) as context:
        page = context.new_page()
        for path in sorted(folder.rglob("*.html")):
            name = path.relative_to(folder).as_posix()
            if name.startswith("slides/"):  # for a projector
                continue
            page.goto(path.as_uri())
            page.evaluate("() => document.querySelectorAll('details').forEach(fold => fold.open = true)")
            page.evaluate("() => Promise.all([...document.images].map(image => image.decode()))")
            page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
            small |= {
                f"{name}: {words}": size for size, words in page.evaluate(TEXTS) if size is not None and size < LEAST
            }
            width, *others = page.evaluate(CUT)
            cut |= {name: others} if others or width > 390 else {}
    assert small == {}
    assert cut == {}


# Tables of four columns and more that go on to the right of what is in sight, or whose cells have no names.
CUT_TABLES = """() => [...document.querySelectorAll("table:has(th:nth-child(4))")]
    .filter(table => table.parentElement.scrollWidth > table.parentElement.clientWidth
        || [...table.querySelectorAll("td")].some(cell => cell.checkVisibility() && !cell.dataset.column))
    .map(table => table.textContent.trim().slice(0, 60))"""


@pytest.mark.browser
@pytest.mark.parametrize(
    "name",
    [
        *(f"workshop/{day}" for day in ("two_hours", "half_day", "full_day", "by_notebook")),
        "engines/attention_doctor/NAMES",
    ],
)
def test_on_a_phone_a_row_of_a_long_table_is_a_list(browser, folder, name):
    with browser.new_context(viewport={"width": 390, "height": 844}, offline=True) as context:
        page = context.new_page()
        page.goto((folder / f"{name}.html").as_uri())
        assert page.locator("tr:has(td:nth-child(4))").count() > 10
        assert page.evaluate(CUT_TABLES) == []


@pytest.mark.browser
def test_text_code_and_figures_end_at_common_edges(browser, folder):
    with browser.new_context(viewport={"width": 1280, "height": 900}, offline=True) as context:
        page = context.new_page()
        page.goto((folder / "05_output_projection.html").as_uri())
        edges = page.locator("main :is(p, .figure, .jp-InputArea-editor, section.mha-lab)").evaluate_all(
            "all => all.filter(each => each.checkVisibility() && !each.closest('li, blockquote, .try'))"
            ".filter(each => !each.parentElement.closest('.mha-lab'))"
            ".map(each => Math.round(each.getBoundingClientRect().right))"
        )
    assert len({*edges}) == 2, "the text's, and that of what is broader"


# Code and print whose lines break, and code that goes on to the right of what is in sight.
BROKEN = """() => {
    document.querySelectorAll("details").forEach(fold => fold.open = true);
    return [...document.querySelectorAll(".highlight > pre, .jp-RenderedText > pre")]
        .filter(each => getComputedStyle(each).whiteSpace !== "pre"
            || each.matches(".jp-InputArea-editor pre") && each.scrollWidth > each.clientWidth)
        .map(each => each.textContent.trim().slice(0, 60));
}"""


@pytest.mark.browser
def test_no_line_of_code_or_print_breaks_and_all_code_is_in_sight(browser, folder):
    broken = []
    with browser.new_context(viewport={"width": 1280, "height": 900}, offline=True) as context:
        page = context.new_page()
        for path in COURSE:
            page.goto((folder / f"{path.stem}.html").as_uri())
            broken += page.evaluate(BROKEN)
    assert broken == []


@pytest.mark.browser
def test_the_contents_mark_the_section_that_is_read(browser, folder):
    with browser.new_context(viewport={"width": 1280, "height": 900}, offline=True) as context:
        page = context.new_page()
        page.goto((folder / "01_self_attention.html").as_uri())
        for link in page.locator(".contents ol a").all():
            link.click()
            expect(page.locator(".contents [aria-current]")).to_have_text(link.text_content())


def test_an_exercise_on_a_page_says_where_it_can_be_tried(folder):
    page = BeautifulSoup((folder / "04_splitting_heads.html").read_text(encoding="utf-8"), "html.parser")
    assert page.select(".celltag_exercise .try, .celltag_prediction .try")
    assert "Not attempted yet" not in page.text
    assert "Not answered yet" not in page.text


def test_labs_and_exercises_lead_to_where_the_notebook_runs_or_how_it_is_started(exported):
    notebook, page = exported
    binder = pages.BINDER.search(notebook.cells[0].source)
    places = page.select(".mha-live-at, .try")
    assert places
    assert {place.a["href"] for place in places} == {binder[0] if binder else pages.START}


def test_nothing_is_said_to_somebody_who_ran_a_cell(exported):
    _, page = exported
    printed = "".join(output.text for output in page.select(".jp-OutputArea-output"))
    assert not re.findall(r".*(?:yours is not|is not right yet|Run this cell to).*", printed)


def test_of_what_a_cell_prints_only_what_it_says_to_its_runner_is_left_out():
    says = "softmax: the course's version (yours is not written yet)\n"
    cells = [v4.new_code_cell("", outputs=[v4.new_output("stream", text=text)]) for text in (says, says + "0.5\n")]
    assert [output.text.strip() for output in page_of(*cells).select(".jp-OutputArea-output")] == ["0.5"]


def test_the_typeface_is_the_one_that_its_origin_describes():
    assert make.checksum(make.TYPEFACE) == json.loads(make.ORIGIN.read_text(encoding="utf-8"))["sha256"]
    assert make.TYPEFACE.stat().st_size < 45_000
