"""The hygiene gate: one good notebook, and every way in which it can go bad."""

import base64
import copy
import io
import re

import pytest
from nbformat import v4
from PIL import Image, PngImagePlugin

from tools.writing import hygiene, lint
from tools.writing.notebooks import KERNELSPEC, LANGUAGE_INFO, NOTEBOOKS, WIDGET_VIEW, course_notebooks, read, write

# Of an empty course the tests fail for want of a file; with no case at all they would be skipped.
COURSE = course_notebooks() or [NOTEBOOKS / "any.ipynb"]
SENTENCE = "Attention weights: 'it' attends most to 'cat' (0.6812), not to 'mât'"


def png(description=None, shade=255):
    chunks = PngImagePlugin.PngInfo()
    if description:
        chunks.add_text("Description", description)
    stream = io.BytesIO()
    Image.new("L", (2, 2), shade).save(stream, "PNG", pnginfo=chunks)
    return base64.b64encode(stream.getvalue()).decode()


def stdout(text):
    return v4.new_output("stream", text=text)


def shown(**data):
    """Return a displayed bundle; `text_plain` stands for the MIME type text/plain."""
    return v4.new_output("display_data", {mime.replace("_", "/", 1): content for mime, content in data.items()})


def figure(text, description=None, shade=255):
    return shown(image_png=png(description or text, shade), text_plain=text)


def error(evalue="no", traceback="ValueError: no"):
    return v4.new_output("error", ename="ValueError", evalue=evalue, traceback=[traceback])


def good_notebook():
    code = [
        ("import numpy as np", [], []),
        ("def softmax(scores):\n    return ...", [], ["exercise"]),
        ("print(0.1235)", [stdout("0.1235\n")], []),
        ("show(weights)", [figure(SENTENCE)], []),
        ("show(scores)", [figure("Scores", shade=0)], []),
        ("raise ValueError('no')", [error()], ["raises-exception"]),
    ]
    cells = [v4.new_markdown_cell("# Attention\n\n[Open on Binder](https://mybinder.org/v2/gh/a/b)")]
    for number, (source, outputs, tags) in enumerate(code, 1):
        cells.append(v4.new_code_cell(source, outputs=outputs, execution_count=number, metadata={"tags": tags}))
    cells.append(v4.new_markdown_cell("## What to remember"))
    return v4.new_notebook(cells=cells, metadata={"kernelspec": dict(KERNELSPEC), "language_info": dict(LANGUAGE_INFO)})


# Cells as messages count them: 1 is the title, 2 the first code cell.
def source(number, text):
    return lambda notebook: notebook.cells[number - 1].update(source=text)


def code(text):
    return source(2, text)


def output(*outputs):
    return lambda notebook: notebook.cells[1].update(outputs=list(outputs))


def tagged(number, *tags):
    return lambda notebook: notebook.cells[number - 1].metadata.update(tags=list(tags))


def in_cell(number, **fields):
    return lambda notebook: notebook.cells[number - 1].update(fields)


def stripped(notebook):
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None)


def run_out_of_order(notebook):
    notebook.cells[2].execution_count, notebook.cells[3].execution_count = 3, 2


def swap_pictures(notebook):
    one, other = (notebook.cells[index].outputs[0].data for index in (4, 5))
    one["image/png"], other["image/png"] = other["image/png"], one["image/png"]


def swap_all_but_pictures(notebook):
    one, other = (notebook.cells[index].outputs[0].data for index in (4, 5))
    one["text/plain"], other["text/plain"] = other["text/plain"], one["text/plain"]


def repeat_id(notebook):
    notebook.cells[3].id = notebook.cells[1].id


def store_widgets(notebook):
    notebook.metadata.widgets = {"application/vnd.jupyter.widget-state+json": {"state": {}}}


def html(text):
    return output(shown(text_html=text, text_plain="twin"))


BAD = {
    "stripped": (stripped, r"^cell 2 `import numpy as np` was not run; run python -m tools refresh"),
    "one cell not run": (in_cell(4, execution_count=None), r"^cell 4 .*was not run"),
    "counts out of order": (run_out_of_order, r"^cell 3 .*has execution count 3 where 2 is due"),
    "count skipped": (in_cell(7, execution_count=9), r"^cell 7 .*has execution count 9 where 6 is due"),
    "empty code cell": (code(" \n"), r"^cell 2 is empty; delete it"),
    "stderr": (
        output(v4.new_output("stream", name="stderr", text="RuntimeWarning")),
        "^cell 2 .*to stderr: 'RuntimeWarning'",
    ),
    "untagged error": (output(error()), r"^cell 2 .*raises ValueError: no; repair it"),
    "tagged and no error": (tagged(2, "raises-exception"), r"^cell 2 .*raises nothing; remove the tag"),
    "widget state": (store_widgets, r"^notebook stores widget state"),
    "widget view": (
        output(v4.new_output("display_data", {WIDGET_VIEW: {"model_id": "1"}, "text/plain": "a lab"})),
        r"^cell 2 .*stores a widget view",
    ),
    "trailing semicolon": (code("np.ones(2);"), r"^cell 2 .*ends in ';'"),
    "trailing semicolon and comment": (code("x = 1\n(np.ones('é') ) ; # quiet"), r"^cell 2 .*ends in ';'"),
    "trailing semicolon after a magic": (code("%pip install numpy\nnp.ones(2);"), r"^cell 2 .*ends in ';'"),
    "interact": (code("widgets.interact(draw, x=2)"), r"^cell 2 .*uses interact,"),
    "interact as decorator": (code("@interact\ndef draw(x): pass"), r"^cell 2 .*uses interact,"),
    "interactive_output": (code("interactive_output(draw, {})"), r"^cell 2 .*uses interactive_output,"),
    "Output": (code("from ipywidgets import Output as Box"), r"^cell 2 .*uses Output,"),
    "clear_output": (code("display.clear_output()"), r"^cell 2 .*uses clear_output,"),
    "updated display": (code("display(1, display_id=True)"), r"^cell 2 .*uses display_id,"),
    "address in an output": (
        output(shown(text_plain="<Exercise at 0x7f3a9c2b1d00>")),
        r"^cell 2 .*memory address 0x7f3a9c2b1d00,",
    ),
    "address in code": (code("assert id(x) == 0x7F3A9C2B1D00"), r"^cell 2 .*memory address 0x7F3A9C2B1D00,"),
    "path in code": (code("open('/home/me/data.json')"), r"^cell 2 .*names /home/me"),
    "path in prose": (source(8, "Look into `/Users/me/course`."), r"^cell 8 .*names /Users/me"),
    "path in stdout": (output(stdout("saved /tmp/x.png")), r"^cell 2 .*names /tmp/x.png"),
    "path in an error": (
        in_cell(7, outputs=[error(traceback="File /home/ada/course/masks.py:3")]),
        r"^cell 7 .*names /home/ada",
    ),
    "path in HTML": (html('<a href="file:///tmp/x">x</a>'), r"^cell 2 .*names /tmp/x"),
    "path of Windows": (code(r"open('C:\\Users\\me')"), r"^cell 2 .*names C:\\"),
    "nbval tag": (tagged(2, "nbval-ignore-output"), r"^cell 2 .*steers nbval by 'nbval-ignore-output'"),
    "nbval skip tag": (tagged(2, "nbval-skip"), r"^cell 2 .*steers nbval by 'nbval-skip'"),
    "nbval comment": (code("# NBVAL_IGNORE_OUTPUT\nprint(1)"), r"^cell 2 .*steers nbval by '# NBVAL_IGNORE_OUTPUT'"),
    "nbval skip comment": (code("print(1)  # nbval_skip"), r"^cell 2 .*steers nbval by '# nbval_skip'"),
    "old nbval comment": (code("#PYTEST_VALIDATE_IGNORE_OUTPUT"), r"^cell 2 .*steers nbval"),
    "SVG without PNG": (
        html('<img alt="cat" src="data:image/svg+xml;base64,PHN2Zy8+">'),
        r"^cell 2 .*shows an SVG without a PNG beside it, which GitHub needs; run python -m",
    ),
    "PNG without text": (output(shown(image_png=png(SENTENCE))), r"^cell 2 .*shows a PNG without words"),
    "PNG with a bare repr": (output(figure("<Figure size 640x480 with 1 Axes>")), r"^cell 2 .*PNG without words"),
    "PNG without Description": (
        output(shown(image_png=png(), text_plain=SENTENCE)),
        r"^cell 2 .*Description is None beside",
    ),
    "swapped PNGs": (swap_pictures, r"^cell 5 .*Description is 'Scores' beside the text \"Attention"),
    "swapped texts": (swap_all_but_pictures, r"^cell 6 .*Description is 'Scores' beside the text \"Attention"),
    "broken PNG": (
        output(shown(image_png=png("a")[:40], text_plain="a")),
        r"^cell 2 .*a PNG that cannot be read",
    ),
    "not a PNG": (output(shown(image_png="bm90", text_plain="a")), r"^cell 2 .*a PNG that cannot be read"),
    "JPEG": (output(shown(image_jpeg="bm90", text_plain="a")), r"^cell 2 .*shows an image/jpeg; show a PNG"),
    "remote image": (source(8, "![](https://example.com/badge.svg)"), r"^cell 8 .*loads https://example.com/badge.svg"),
    "remote image by reference": (
        source(8, "![badge][1]\n\n[1]: http://example.com/a.png"),
        r"^cell 8 .*loads http://example.com/a.png",
    ),
    "remote image in a link": (
        source(8, "[![](https://a.org/b.svg)](https://a.org)"),
        r"^cell 8 .*loads https://a.org/b.svg",
    ),
    "remote image tag in prose": (source(8, '<img src="//a.org/b.png">'), r"^cell 8 .*loads //a.org/b.png"),
    "remote image in HTML": (html('<img src="https://a.org/b.png">'), r"^cell 2 .*loads https://a.org/b.png"),
    "remote script": (html('<script src="https://a.org/b.js"></script>'), r"^cell 2 .*loads https://a.org/b.js"),
    "remote script by code": (html("<script>import('https://a.org/b.js')</script>"), r"^cell 2 .*from another host"),
    "remote style sheet": (html('<link href="https://a.org/b.css"/>'), r"^cell 2 .*loads https://a.org/b.css"),
    "remote background": (html('<p style="background:url(https://a.org/b)">'), r"^cell 2 .*from another host"),
    "no id": (lambda notebook: notebook.cells[2].pop("id"), r"^cell 3 .*has no id; run"),
    "repeated id": (repeat_id, r"^cell 4 .*shares its id"),
    "another kernel": (
        lambda notebook: notebook.metadata.kernelspec.update(name="conda"),
        r"^notebook .*kernel python3",
    ),
    "no kernel": (lambda notebook: notebook.metadata.clear(), r"^notebook .*kernel python3"),
    "another Python": (
        lambda notebook: notebook.metadata.language_info.update(version="3.9.1"),
        r"^notebook does not describe Python as JupyterLab does",
    ),
    "five decimals in stdout": (output(stdout("0.12345\n")), r"^cell 2 .*prints 0.12345; round"),
    "five decimals in a result": (
        output(shown(text_plain="array([[-.30000000000000004]])")),
        r"prints \.30000000000000004",
    ),
    "five decimals in HTML": (html("<td>1.0</td><td>0.12345</td>"), r"^cell 2 .*prints 0.12345"),
    "five decimals before an exponent": (output(stdout("1.00000e-16")), r"^cell 2 .*prints 1.00000e-16"),
    "five decimals in an error": (output(error("sum is 0.99999")), r"^cell 2 .*prints 0.99999"),
    "no title": (source(1, "## Attention"), r"^cell 1 .*has 0 first-level headings; begin"),
    "two titles in one cell": (source(1, "# A\n\nB\n="), r"^cell 1 .*has 2 first-level headings"),
    "a second title": (source(8, "# More"), r"^cell 8 .*first-level heading, which is for the title"),
    "a title too late": (lambda notebook: notebook.cells.insert(0, notebook.cells.pop()), r"^cell 1 .*has 0 first"),
    "not Python": (code("def"), r"^cell 2 .*is not valid Python"),
    "exercise without a function": (source(3, "softmax = None"), r"^cell 3 .*defines no function; define exactly one"),
    "exercise with two": (
        source(3, "def softmax(): ...\ndef b(): ..."),
        r"^cell 3 .*defines softmax, b; define exactly",
    ),
    "exercise by another name": (source(3, "def soft_max(): ..."), r"^cell 3 .*rename soft_max to an exercise"),
}

GOOD = {
    "as it is": lambda notebook: None,
    "semicolon in a string": code("'a;'"),
    "semicolon in a comment": code("print(1)  # not quiet;"),
    "semicolon between statements": code("x = 1; print(x)"),
    "semicolon in a loop": code("for x in range(2): print(x);"),
    "semicolon after an assignment": code("x = np.ones(2);"),
    "magics": code("%matplotlib inline\nif 0:\n    %pip install numpy\n!ls"),
    "forbidden words that are not code": code("output = 'interact('  # no Output() here"),
    "address in prose": source(8, "Such as `<object at 0x7f3a9c2b1d00>`."),
    "short hexadecimal": output(shown(text_plain="'0xff'")),
    "data address that looks like a path": html('<img src="data:image/png;base64,iV/tmp/a/0x7f3a9c2b//uQ">'),
    "path inside a URL": source(8, "[docs](https://example.com/home/me) and `data/tmp/x`, ~/tmp/x"),
    "line breaks after a letter": code(r"print('Q:\nqueries', 'K:\nkeys')"),
    "four decimals": output(stdout("0.1235 [1.0000, -2.5]\n")),
    "scientific notation": output(stdout("1.0e-16 2.2204e-16 1e-05 100000\n")),
    "digits of identifiers": html('arXiv:1706.03762, <a href="https://arxiv.org/abs/1706.03762">there</a>'),
    "digits of styles": html('<td style="width:33.33333%">1</td>'),
    "neighbours in a table": html("<td>0.1234</td><td>5</td>"),
    "a picture of the notebook's own": html('<img src="data:image/png;base64,AAAA"><a href="#x">x</a>'),
    "picture attached": in_cell(8, source="![](attachment:a.png)", attachments={"a.png": {"image/png": "AAAA"}}),
    "a remote address that is not loaded": source(8, "`![](https://a.org/b.png)` and <https://a.org>"),
    "a heading that is code": source(8, "```python\n# not a title\n```"),
    "SVG": html('<svg xmlns="http://www.w3.org/2000/svg"><text>0.5</text></svg>'),
    "exercise with comments and a check": source(
        3, "# Yours:\ndef softmax(scores):\n    return ...\n\nexercises.softmax.check(softmax)"
    ),
}


@pytest.mark.parametrize("change", GOOD.values(), ids=GOOD)
def test_no_false_alarm(change):
    notebook = good_notebook()
    change(notebook)
    assert hygiene.problems(notebook) == []


@pytest.mark.parametrize(("change", "message"), BAD.values(), ids=BAD)
def test_names_the_cell_and_what_to_do(change, message):
    notebook = good_notebook()
    change(notebook)
    before = copy.deepcopy(notebook)
    found = hygiene.problems(notebook)
    assert [problem for problem in found if re.search(message, problem)], found
    assert all(";" in problem for problem in found)  # what is wrong; what to do
    assert notebook == before


def test_reads_ids_as_they_are_stored(tmp_path):
    notebook = good_notebook()
    repeat_id(notebook)
    path = tmp_path / "copied.ipynb"
    path.write_text(v4.writes(notebook), encoding="utf-8")
    assert len(hygiene.problems(read(path))) == 2


def test_command_line(tmp_path, capsys):
    good, bad = tmp_path / "good.ipynb", tmp_path / "bad.ipynb"
    notebook = good_notebook()
    write(notebook, good)
    stripped(notebook)
    write(notebook, bad)
    with pytest.raises(SystemExit) as ended:
        lint.main([str(good)])
    assert ended.value.code == 0
    with pytest.raises(SystemExit) as ended:
        lint.main([str(good), str(bad)])
    assert ended.value.code == 1
    assert "bad.ipynb: cell 2 `import numpy as np` was not run" in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        lint.main([str(tmp_path / "none.ipynb")])
    assert ended.value.code == 2


def test_an_empty_course_is_an_error(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("tools.writing.notebooks.NOTEBOOKS", tmp_path)
    with pytest.raises(SystemExit) as ended:
        lint.main([])
    assert ended.value.code == 2
    assert "required: NOTEBOOK" in capsys.readouterr().err


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_the_course_is_clean(path):
    assert hygiene.problems(read(path)) == []
    assert [*hygiene.long_lines(read(path))] == []


def test_a_line_that_a_cell_cuts_off_is_named():
    notebook = v4.new_notebook(cells=[v4.new_code_cell(f"x = {'1' * n}") for n in (101, 102)])
    [found] = hygiene.long_lines(notebook)
    assert found.startswith("cell 2 ")
    assert found.endswith("has a line of 106 letters, where a cell shows 105; break it")
