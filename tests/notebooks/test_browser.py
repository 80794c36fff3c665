"""The course in a real JupyterLab, and in Notebook 7, in a real browser: what a learner sees there is right."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from nbformat import v4
from playwright.sync_api import Browser, expect

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

pytestmark = pytest.mark.browser

COURSE = course_notebooks()


def case(application, what):
    """Every run opens the first notebook alone; the others are opened where everything is run."""
    is_quick = (application, what) == ("jupyterlab", COURSE[0])
    shown = what if isinstance(what, str) else what.stem
    return pytest.param((application, what), marks=() if is_quick else pytest.mark.slow, id=f"{application}-{shown}")


in_each_notebook = pytest.mark.parametrize("seen", [case("jupyterlab", path) for path in COURSE], indirect=True)


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
    own = "TypeError: Cannot read properties of undefined (reading 'schema')" if in_notebook7(seen.page) else None
    page_errors = [error for error in seen.page_errors if first_line(error) != own]
    assert (seen.console_errors, page_errors, seen.other_hosts) == ([], [], [])


def first_line(error):
    """Return what an error says, without its stack."""
    return error.partition("\n")[0]


def notice_of(lab, function):
    if lab == "which_bug":  # opens at its worked example
        return f"“demo” is a worked example; A to J are the lab's own. Your {function} is the patient “yours”."
    return f"Running on your {function}."


@in_each_notebook
def test_the_solved_notebook_is_all_correct(seen):
    """A learner who has solved everything sees a notebook as clean as the one that was handed out."""
    cells = read(seen.file).cells
    for tag, heading in {"exercise": "Correct", "prediction": "Right: you committed to"}.items():
        wanted = [number for number, cell in enumerate(cells) if tag in tags(cell)]
        cells_shown = [seen.page.locator(".jp-Notebook .jp-Cell").nth(i) for i in wanted]
        panels = [cell.locator(".jp-OutputArea-output").last for cell in cells_shown]  # what a cell prints comes before
        assert [text_of(panel).lstrip("✓ ")[: len(heading)] for panel in panels] == [heading] * len(wanted)
    written = {stub(cell).name for cell in cells if "exercise" in tags(cell)}
    given = re.findall(r"^labs\.(\w+)\((\w+)", "\n".join(cell.source for cell in cells), re.MULTILINE)
    theirs = seen.page.locator(".mha-picture").filter(
        has_text=re.compile("Running on your|Your multi_head_attention is")
    )
    notices = [text_of(picture.locator("p").first) for picture in theirs.all()]
    assert notices == [notice_of(lab, function) for lab, function in given if function in written]
    assert_quiet(seen)
    seen.page.evaluate("mhaPanel.context.save()")
    assert hygiene.problems(verified(normalised(read(seen.file)))) == []


@pytest.mark.parametrize("seen", [case("jupyterlab", COURSE[0])], indirect=True)
def test_an_exercises_prompt_has_room_for_its_pencil_after_a_hundred_runs(seen):
    exercises = seen.page.locator(".jp-CodeCell:has(.mha-good) .jp-InputPrompt")
    assert exercises.count() > 3
    cut = """all => all.filter(prompt => {
        const number = prompt.textContent;
        prompt.textContent = "[100]:";
        const isCut = prompt.scrollWidth > prompt.clientWidth;
        prompt.textContent = number;
        return isCut;
    }).length"""
    assert exercises.evaluate_all(cut) == 0


@pytest.mark.parametrize("seen", [case("notebook", "mask_studio")], indirect=True)
def test_a_lab_is_clicked_in_notebook_7(seen):
    """What else the labs do, tests/labs looks at, in JupyterLab."""
    lab = seen.page.locator(".mha-lab")
    lab.get_by_role("checkbox", name="it sees cat", exact=True).click()
    expect(lab.locator(".mha-readout")).to_contain_text("11 of 25 cells hidden.")
    press_latency(seen.page, lab.get_by_label("mask", exact=True), lab.locator(".mha-picture"), "ArrowDown", 1)
    expect(lab.locator(".mha-readout")).to_contain_text("0 of 25 cells hidden.")
    assert_quiet(seen)


@pytest.mark.parametrize("seen", [case("jupyterlab", COURSE[0])], indirect=True)
def test_the_course_starts_jupyterlab_so_that_it_asks_nothing_of_the_network_or_the_learner(course, seen):
    expect(seen.page.locator(".Toastify__toast")).to_have_count(0)  # it came before the first cell ran
    expect(seen.page.get_by_text("Jupyter news")).to_have_count(0)
    assert '"news": {"disabled": true}' in course.server.request("lab").decode()
    assert course.server.request("lab/api/update") == b'{"notification": null}'


@pytest.mark.slow  # that each has its picture as PNG, every run asks of the files
@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
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
        own = "TypeError: Cannot read properties of null (reading 'kernel')"
        assert [error for error in seen.page_errors if first_line(error) != own] == []


@pytest.mark.slow
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
        assert [first_line(error) for error in seen.page_errors] == ["Error: thrown"]
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
