"""Every notebook runs to its end in a browser's tab, with no other host to be reached, and judges as elsewhere."""

import base64
import json
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import expect

from mha_helpers import take_home
from tools.page.browser import BROWSER_ARGUMENTS, find_browser, run_all
from tools.page.static import answered, hand_in, open_lite, open_site, show_cell, wait_for_notebook
from tools.site.lite import patient
from tools.writing.notebooks import course_notebooks, read

pytestmark = [pytest.mark.browser, pytest.mark.slow]

COURSE = course_notebooks()
FIRST = COURSE[0].name
RIGHT = """def softmax(scores):
    exp = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exp / exp.sum(axis=-1, keepdims=True)
"""
SETUP = "import numpy as np\nfrom mha_helpers import attention, check_setup, course, doctor, exercises\n"
DATA = Path(__file__).parents[2] / "data"
# How many pictures stand below each cell that uses pyplot.
PICTURES = """() => mhaPanel.content.widgets.map(({model}) => model).filter(
    model => model.type === "code" && model.sharedModel.source.includes("plt.")
).map(model => model.outputs.toJSON().filter(output => output.data?.["text/html"]?.includes("<img ")).length)"""
TYPED = "mhaPanel.content.widgets[0].model.sharedModel.source"


def pictures(outputs):
    return [output for output in outputs if "<img " in output.get("data", {}).get("text/html", "")]


def ask(seen, code):
    return answered(seen.page, SETUP + code)


@pytest.fixture(scope="module")
def kernel(browser, site, opened):
    """One page with a kernel for all who only ask it: to start one takes a quarter of a minute."""
    with opened(browser, site) as seen:
        open_lite(seen.page, site, FIRST)
        yield seen


@pytest.mark.whole
@pytest.mark.parametrize("path", COURSE[1:], ids=lambda path: path.stem)
def test_the_notebook_runs_to_its_end(seen, site, path):
    open_lite(seen.page, site, path.name)
    assert run_all(seen.page) == []
    stored = [len(pictures(cell.outputs)) for cell in read(path).cells if "plt." in cell.source]
    assert seen.page.evaluate(PICTURES) == stored  # each below the cell that draws it


def test_answers_get_their_verdicts(kernel):
    assert "softmax is right on" in ask(kernel, f"{RIGHT}exercises.softmax.check(softmax)")
    wrong = RIGHT.replace("axis=-1", "axis=-2")
    assert "Not yet: softmax-over-queries" in ask(kernel, f"{wrong}exercises.softmax.check(softmax)")
    endless = "def softmax(scores):\n while True:\n  try:\n   scores + 1\n  except:\n   pass\n"
    said = ask(kernel, f"{endless}exercises.softmax.check(softmax)")
    assert "Not yet: never-ends" in said
    assert "has not come back after 2,000,000 calls and rounds of loops" in said  # there is no processor's time


def test_the_doctor_tells_a_right_function_from_a_wrong_one(kernel):
    examine = "report = doctor.examine(attention); print(report.healthy, report.names)"
    right = """def attention(queries, keys, values):
    scores = queries @ keys.swapaxes(-1, -2) / queries.shape[-1] ** 0.5
    exp = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exp / exp.sum(axis=-1, keepdims=True) @ values
"""
    assert ask(kernel, right + examine).startswith("True []")
    assert ask(kernel, right.replace("axis=-1", "axis=-2") + examine).startswith("False ['")


def test_the_front_pages_function_is_examined(seen, site):
    open_lite(seen.page, site, patient.NAME)
    assert run_all(seen.page) == []
    report = seen.page.locator(".jp-OutputArea-output").filter(has_text="sick")
    expect(report).to_contain_text("mha-split-without-transpose")
    expect(report).to_contain_text("mha-scale-d-model")


def test_check_setup_calls_this_browser_ready(kernel):
    *checks, ready = ask(kernel, "check_setup.main();").splitlines()
    assert ready == "Ready."
    assert all(line.startswith("ok ") for line in checks), checks


def test_a_plot_is_shown_and_saved(kernel):
    code = """from mha_helpers import figures
import matplotlib.pyplot as plt
drawn = figures.bars([1.0, 2.0], ["cat", "mat"])
drawn.figure.savefig("mine.pdf")
print(open("mine.pdf", "rb").read(4), sorted(drawn._repr_mimebundle_()), drawn)"""
    assert ask(kernel, code).strip() == "b'%PDF' ['text/html', 'text/plain'] Bars. cat: 1.00; mat: 2.00."


def test_a_fresh_kernel_says_which_cell_to_run_first(seen, site):
    open_lite(seen.page, site, FIRST)
    assert "Run the first code cell of this notebook first" in answered(seen.page, "labs.two_banks()")


def test_the_first_notebook_runs_a_lab_answers_to_the_keyboard_and_work_survives_a_reload(seen, site):
    open_lite(seen.page, site, FIRST)
    assert run_all(seen.page) == []
    show_cell(seen.page, "labs.word_order(")
    chosen = seen.page.get_by_role("radio", name="dog twice")
    lab = seen.page.locator(".mha-lab").filter(has=chosen)
    picture = lab.locator(".mha-picture svg, .mha-picture img").first
    before = picture.evaluate("one => one.outerHTML")
    expect(chosen).to_be_visible()  # the inputs are laid over the picture once it has been drawn
    first = lab.get_by_role("radio", name="none twice")
    first.focus()  # its cell becomes the active one
    expect(first).to_be_focused()
    active = seen.page.evaluate("mhaPanel.content.activeCellIndex")
    seen.page.keyboard.press("ArrowDown")
    expect(chosen).to_be_focused()
    seen.page.wait_for_function(
        "([one, before]) => !one.isConnected || one.outerHTML !== before", arg=[picture.element_handle(), before]
    )
    assert seen.page.evaluate("mhaPanel.content.activeCellIndex") == active, "the key went to the notebook, too"

    hand_in(seen.page, "def softmax(", RIGHT.rstrip())
    open_lite(seen.page, site, FIRST)
    typed = "mhaPanel.content.widgets.some(({model}) => model.sharedModel.source.includes('exp.sum(axis=-1'))"
    assert seen.page.evaluate(typed)
    assert "softmax: yours of" in ask(seen, "softmax = exercises.softmax.bring_back()")
    assert "'softmax': 'done'" in ask(seen, "from mha_helpers.learner import progress; print(progress.read())")
    open_lite(seen.page, site, COURSE[1].name)
    assert "softmax: yours of" in ask(seen, "softmax = exercises.softmax.bring_back()")
    assert "Ready to take home: attention.zip" in ask(seen, "course.take_home()")


def test_work_goes_into_the_tab_and_out_of_it(seen, site, tmp_path):
    """A zip from another machine is laid into the tab's course; the tab's own zip is a whole copy of the course."""
    notebook = json.loads(COURSE[0].read_text(encoding="utf-8"))
    cell = next(cell for cell in notebook["cells"] if "".join(cell["source"]).startswith("def softmax("))
    cell["source"] = f"# There\n{RIGHT}"
    answer = {"softmax": {"source": f"import numpy as np\n{RIGHT}", "name": "softmax", "day": "2026-05-03"}}
    with zipfile.ZipFile(tmp_path / "mine.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"attention/notebooks/{FIRST}", json.dumps(notebook))
        archive.writestr("attention/notebooks/.course/answers.json", json.dumps(answer))
    brought = base64.b64encode((tmp_path / "mine.zip").read_bytes()).decode()
    open_lite(seen.page, site, FIRST)
    put = "import base64, pathlib; pathlib.Path('/drive/mine.zip').write_bytes(base64.b64decode({!r}));"
    ask(seen, put.format(brought))
    assert "taken from the zip: nothing was written in the one here" in ask(seen, "course.unpack('mine.zip')")
    assert ask(seen, "exercises.softmax.bring_back();") == "softmax: yours of 3 May\n"
    open_lite(seen.page, site, FIRST)
    typed = "model => model.sharedModel.source.startsWith('# There')"
    assert seen.page.evaluate(f"mhaPanel.content.widgets.map(({{model}}) => model).some({typed})")
    assert "Ready to take home: attention.zip" in ask(seen, "course.take_home()")
    names = ask(seen, "import zipfile; print(*zipfile.ZipFile('/drive/attention.zip').namelist())").split()
    data = {f"data/{path.relative_to(DATA).as_posix()}" for path in DATA.rglob("*.safetensors")}
    own = {f"notebooks/{path.name}" for path in COURSE} | {"notebooks/.course/answers.json"}
    assert {f"attention/{name}" for name in {*data, *own, *take_home.BESIDE, "START.txt"}} <= set(names)


@pytest.mark.whole
def test_on_a_phone_the_front_page_leads_to_a_notebook_whose_lab_answers_to_a_finger(browser, site):
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    with open_site(browser, site, **phone) as seen:
        seen.page.goto(site.url)
        seen.page.get_by_role("link", name="Start in your browser").tap()
        wait_for_notebook(seen.page)
        assert run_all(seen.page) == []
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        show_cell(seen.page, "labs.word_order(")
        option = seen.page.get_by_role("radio", name="dog twice")
        option.tap()
        expect(option).to_be_checked()
        lab = seen.page.locator(".mha-lab").filter(has=option)
        expect(lab).to_contain_text("The two tokens “dog” get the same context")


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("delete window.WebAssembly", "This browser has no WebAssembly"),
        (
            "Object.defineProperty(Navigator.prototype, 'serviceWorker', {get() {}})",
            "This browser lets no service worker run here",
        ),
    ],
    ids=["no WebAssembly", "no service worker"],
)
def test_what_a_notebook_needs_and_has_not_is_said(browser, site, broken, said):
    with open_site(browser, site) as seen:
        seen.page.add_init_script(broken)
        seen.page.goto(f"{site.url}lite/notebooks/index.html?path={FIRST}")
        expect(seen.page.get_by_role("alert").filter(has_text=said)).to_be_visible()


def test_a_python_that_does_not_start_is_said(browser, site):
    with open_site(browser, site) as seen:
        seen.page.add_init_script("window.mhaPatience = 3000")
        seen.page.route("**/pyodide.asm.wasm", lambda route: None)  # it never comes
        seen.page.goto(f"{site.url}lite/notebooks/index.html?path={FIRST}")
        expect(seen.page.get_by_role("alert").filter(has_text="Python has not started yet")).to_be_visible()
        seen.page.unroute_all(behavior="ignoreErrors")


def test_that_notice_goes_when_python_has_started(browser, site):
    with open_site(browser, site) as seen:
        seen.page.add_init_script("window.mhaPatience = 1000")
        held = []
        seen.page.route("**/pyodide.asm.wasm", lambda route: held.append(route))
        seen.page.goto(f"{site.url}lite/notebooks/index.html?path={FIRST}")
        notice = seen.page.get_by_role("alert").filter(has_text="Python has not started yet")
        expect(notice).to_be_visible()
        expect(notice.get_by_role("button")).to_have_text("Save, and try again")
        seen.page.unroute("**/pyodide.asm.wasm")
        for route in held:
            route.continue_()
        wait_for_notebook(seen.page)
        expect(notice).to_have_count(0)


def test_a_storage_that_is_full_is_said_and_no_work_is_lost(browser, site):
    with open_site(browser, site) as seen:
        page, storage = seen.page, seen.page.context.new_cdp_session(seen.page)

        def allow(n_bytes):
            storage.send("Storage.overrideQuotaForOrigin", {"origin": site.url.rstrip("/"), "quotaSize": n_bytes})

        allow(4_000_000)  # enough to open the notebook
        open_lite(page, site, FIRST)
        page.evaluate(f"{TYPED} = '# my work' + 'x'.repeat(4_000_000); null")
        page.evaluate("() => { jupyterapp.commands.execute('docmanager:save'); }")
        notice = page.get_by_role("alert").filter(has_text="its storage is full or refused (QuotaExceededError)")
        expect(notice).to_be_visible()
        page.get_by_role("button", name="Close").click()  # JupyterLab's own dialog says that it could not be saved
        with page.expect_download() as download:
            notice.get_by_role("button").click()
        assert download.value.suggested_filename == FIRST
        assert '"# my workxxx' in Path(download.value.path()).read_text(encoding="utf-8")
        assert "xxx" in page.evaluate(TYPED)

        allow(1_000_000_000)
        page.evaluate(f"{TYPED} = '# my work'; null")
        page.evaluate("jupyterapp.commands.execute('docmanager:save')")
        open_lite(page, site, FIRST)
        assert page.evaluate(TYPED) == "# my work"


def test_where_the_browser_keeps_nothing_a_notebook_runs_and_that_is_said(browser, site, tmp_path):
    (tmp_path / "Default").mkdir()
    blocked = {"profile": {"default_content_setting_values": {"cookies": 2}}}  # "block all site data"
    (tmp_path / "Default/Preferences").write_text(json.dumps(blocked), encoding="utf-8")
    launch = browser.browser_type.launch_persistent_context
    with launch(tmp_path, executable_path=find_browser(), args=BROWSER_ARGUMENTS) as context:
        page = context.new_page()
        open_lite(page, site, FIRST)
        notice = page.get_by_role("alert").filter(has_text="This browser keeps nothing for this page")
        assert "softmax is right on" in answered(page, f"{SETUP}{RIGHT}exercises.softmax.check(softmax)")
        page.evaluate(f"{TYPED} = '# my work'; null")
        with page.expect_download() as download:
            notice.get_by_role("button").click()
        assert '"# my work"' in Path(download.value.path()).read_text(encoding="utf-8")
