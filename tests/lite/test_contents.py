"""The notebooks' copies for the browser: texts in one piece, trusted where nothing in them runs, and with a version."""

import json

import pytest
from nbformat import from_dict, v4

from live_pictures.frame import LOADER
from live_pictures.live import STYLE
from tools.site.lite import build, contents, patient
from tools.writing.notebooks import course_notebooks, read

IMAGE = '<img alt="two" src="data:image/png;base64,AAAA">'


def copy_of(notebook):
    return json.loads(contents.served(notebook))


def with_output(html):
    output = v4.new_output("display_data", data={"text/html": html, "text/plain": "two"})
    return v4.new_notebook(cells=[v4.new_code_cell("two", outputs=[output])])


def lists(notebook):
    """Return the texts of a notebook that are lists of lines, each as its cell's number and its kind."""
    texts = [(number, "source", cell["source"]) for number, cell in enumerate(notebook["cells"])]
    for number, cell in enumerate(notebook["cells"]):
        for output in cell.get("outputs", []):
            texts += [(number, "text", output.get("text"))]
            texts += [(number, *pair) for pair in output.get("data", {}).items() if not pair[0].endswith("json")]
    return [(number, kind) for number, kind, text in texts if isinstance(text, list)]


@pytest.mark.parametrize("path", course_notebooks(), ids=lambda path: path.stem)
def test_a_copy_is_whole_and_asks_for_no_trust(path):
    stored, copy = json.loads(path.read_text(encoding="utf-8")), copy_of(read(path))
    assert lists(stored), "there is nothing to be joined"
    assert lists(copy) == []
    asks = [
        cell["source"] for cell in copy["cells"] if cell["cell_type"] == "code" and not cell["metadata"].get("trusted")
    ]
    assert asks == []
    assert [cell["source"] for cell in copy["cells"]] == [cell.source for cell in read(path).cells]


@pytest.mark.parametrize(
    "html",
    [
        "<script>parent.two()</script><p>two</p>",
        '<script type="module">two()</script><p>two</p>',
        '<img src="data:image/png;base64,AAAA" onload="two()">',
        '<img src="https://example.org/two.png">',
        '<a href=" JavaScript:two()">two</a>',
        '<iframe src="data:image/png;base64,AAAA"></iframe>',
        "<svg><rect/></svg>",
        "<style>p { color: red }</style><p>two</p>",
    ],
)
def test_what_runs_or_fetches_or_is_shown_otherwise_untrusted_keeps_its_warning(html):
    [cell] = copy_of(with_output(html))["cells"]
    assert "trusted" not in cell["metadata"]
    assert cell["outputs"][0]["data"]["text/html"] == html


@pytest.mark.parametrize(
    "type", ["application/javascript", "image/svg+xml", "application/vnd.jupyter.widget-view+json"]
)
def test_so_does_what_is_not_known_to_be_inert(type):
    notebook = with_output(IMAGE)
    notebook.cells[0].outputs[0].data[type] = from_dict({}) if type.endswith("json") else "two"
    assert "trusted" not in copy_of(notebook)["cells"][0]["metadata"]


@pytest.mark.parametrize(
    "html",
    [IMAGE, '<div style="color: red">two</div><script type="application/json">{}</script>', '<a href="02.ipynb">2</a>'],
)
def test_what_cannot_do_anything_is_trusted(html):
    assert copy_of(with_output(html))["cells"][0]["metadata"] == {"trusted": True}


def test_what_only_a_lab_that_runs_needs_stays_behind():
    notebook = with_output(f'{STYLE}<div class="mha-still">{IMAGE}</div>{LOADER}')
    notebook.cells[0].outputs += with_output(LOADER).cells[0].outputs
    [cell] = copy_of(notebook)["cells"]
    assert [output["data"]["text/html"] for output in cell["outputs"]] == [f'<div class="mha-still">{IMAGE}</div>']
    assert cell["metadata"] == {"trusted": True}


def test_the_version_is_that_of_the_text():
    notebook = patient.notebook()
    first = copy_of(notebook)["metadata"]["course"]["version"]
    assert copy_of(patient.notebook())["metadata"]["course"]["version"] == first
    notebook.cells[1].outputs = with_output(IMAGE).cells[0].outputs
    assert copy_of(notebook)["metadata"]["course"]["version"] == first
    notebook.cells[1].source += " "
    assert copy_of(notebook)["metadata"]["course"]["version"] != first


def test_it_is_saved_within_ten_seconds():
    [setting] = build.SAVING.values()
    assert setting["autosaveInterval"] + 1 < 10  # a second for the save
