"""`python -m tools solve`: every check accepts its solution, on a small notebook and on the whole course."""

import ast
import builtins
from types import SimpleNamespace

import pytest
from nbformat import v4

from mha_helpers import exercises
from tools.page.browser import find_browser
from tools.writing import hygiene, solve
from tools.writing.notebooks import (
    NOTEBOOKS,
    NotebookError,
    course_notebooks,
    parse,
    plain_python,
    read,
    tags,
    write,
)

# Of an empty course the tests fail for want of a file; with no case at all they would be skipped.
COURSE = course_notebooks() or [NOTEBOOKS / "any.ipynb"]
# What the kernel of the small notebook asks: the shape of `mha_helpers.exercises`, without its contents.
SETUP = """\
%matplotlib inline
from types import SimpleNamespace
class Said(str):
    __repr__ = str.__str__
def check(double):
    return Said("Not attempted yet" if double(2) is ... else "Correct: 4" if double(2) == 4 else "Not yet: it is not 4")
exercises = SimpleNamespace(
    double=SimpleNamespace(check=check),
    predict_double=SimpleNamespace(commit=lambda answer: Said("Right" if answer == 'vièr "4"' else "Not quite")),
)"""
STUB = """\
import functools  # kept
# Yours to write:
@functools.cache
def double(x):
    \"\"\"Return twice x.\"\"\"
    # é is two bytes
    return ...

exercises.double.check(double)  # kept too"""
SOLVED = """\
import functools  # kept
# Yours to write:
def double(x):
    return 2 * x

exercises.double.check(double)  # kept too"""
QUESTION = "answer = None  # None, 'a' or 'b'\nexercises.predict_double.commit(answer)"


def notebook_of(*tagged_sources):
    cells = [v4.new_markdown_cell("# Double"), v4.new_code_cell(SETUP)]
    for source, *labels in tagged_sources:
        cells.append(v4.new_code_cell(source, metadata={"tags": labels}))
    return v4.new_notebook(cells=cells)


@pytest.fixture
def course_exercises(monkeypatch):
    """Give the solver the exercises of the small notebook; yield the solution, to be made wrong."""
    solution = SimpleNamespace(source="def double(x):\n    return 2 * x\n")
    double = SimpleNamespace(solution=lambda: solution)
    monkeypatch.setattr(exercises, "double", double, raising=False)
    monkeypatch.setattr(exercises, "predict_double", SimpleNamespace(right='vièr "4"'), raising=False)
    return solution


@pytest.mark.slow
def test_fills_in_solutions_and_answers_and_keeps_every_other_line(course_exercises, tmp_path, capsys):
    path, folder = tmp_path / "double.ipynb", tmp_path / "new" / "solved"
    write(notebook_of((STUB, "exercise"), (QUESTION, "prediction"), ("double(21)",)), path)
    before = path.read_bytes()
    solve.main([str(folder), str(path)])
    assert path.read_bytes() == before
    assert capsys.readouterr().out == f"{folder / 'double.ipynb'}\n"
    exercise, prediction, use = read(folder / "double.ipynb").cells[2:]
    assert exercise.source == SOLVED
    assert prediction.source == QUESTION.replace("answer = None", 'answer = "vièr \\"4\\""')
    assert use.outputs[0].data["text/plain"] == "42"

    with pytest.raises(SystemExit, match="is not an empty folder; name a new one"):
        solve.main([str(folder), str(path)])
    with pytest.raises(SystemExit, match="is not an empty folder; name a new one"):
        solve.main([str(path), str(path)])
    with pytest.raises(SystemExit, match="2"):
        solve.main([str(tmp_path / "third"), str(path), str(path)])
    assert "have the same name" in capsys.readouterr().err


@pytest.mark.slow
def test_a_check_that_refuses_the_solution_is_an_error(course_exercises, tmp_path):
    course_exercises.source = "def double(x):\n    return 3 * x"
    path, folder = tmp_path / "double.ipynb", tmp_path / "solved"
    write(notebook_of((STUB, "exercise")), path)
    with pytest.raises(
        SystemExit,
        match=r"double.ipynb, which is not written: cell 3 `import functools.*`: solved, and yet .* Not yet: it",
    ):
        solve.main([str(folder), str(path)])
    assert not folder.exists()


def test_what_can_be_solved_is_written_although_another_notebook_fails(monkeypatch, tmp_path, capsys):
    def solved_unless_it_is_the_second(notebook, folder):
        if notebook.cells[0].source == "2":
            raise NotebookError("cell 1: it fails")
        return notebook

    paths = [tmp_path / f"{number}.ipynb" for number in (1, 2, 3)]
    for path in paths:
        write(v4.new_notebook(cells=[v4.new_markdown_cell(path.stem)]), path)
    monkeypatch.setattr(solve, "solve", solved_unless_it_is_the_second)
    folder = tmp_path / "solved"
    with pytest.raises(SystemExit, match=r"2.ipynb, which is not written: cell 1: it fails"):
        solve.main([str(folder), *map(str, paths)])
    assert sorted(path.name for path in folder.iterdir()) == ["1.ipynb", "3.ipynb"]
    assert capsys.readouterr().out.splitlines() == [str(folder / "1.ipynb"), str(folder / "3.ipynb")]


def test_an_outcome_that_is_not_shown_is_an_error(course_exercises, monkeypatch):
    monkeypatch.setattr(solve, "execute", lambda notebook, folder: notebook)  # whose cells show nothing
    with pytest.raises(NotebookError, match=r"cell 3 .* asks and does not show the outcome"):
        solve.solve(notebook_of((STUB, "exercise")))


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([("def double(x): ...", "exercise")], "cell 3 `def double.*` is never checked; add exercises.double.check"),
        ([("exercises.double.check(1)",), ("def double(x): ...", "exercise")], "cell 4 .* is never checked"),
        ([("def triple(x): ...", "exercise")], "cell 3 .* rename triple"),
        ([("double = ...", "exercise")], "cell 3 .* defines no function"),
        ([("def double(x)", "exercise")], "cell 3 .* is not valid Python"),
        ([("exercises.predict_double.commit('b')", "prediction")], "cell 3 .* give it one line `answer = None`"),
        ([("answer = None", "prediction")], r"cell 3 .* one call exercises.NAME.commit\(answer\)"),
    ],
)
def test_a_cell_that_cannot_be_solved_is_named(course_exercises, cells, message):
    with pytest.raises(NotebookError, match=message):
        solve.solve(notebook_of(*cells))


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_a_solution_uses_only_names_that_its_notebook_has(path):
    known = set(dir(builtins))
    for cell in solve.filled(read(path)).cells:
        if cell.cell_type != "code":
            continue
        nodes = list(ast.walk(parse(plain_python(cell.source))))
        known |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        known |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        known |= {node.asname or node.name for node in nodes if isinstance(node, ast.alias)}
        known |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
        if "exercise" in tags(cell):
            used = {node.id for node in nodes if isinstance(node, ast.Name)}
            assert used - known == set(), "import them in the notebook's first cell, or write the solution without"


@pytest.mark.slow
@pytest.mark.skipif(find_browser() is not None, reason="solved and run in the browser: test_browser.py")
@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_the_course_can_be_solved(path):
    # A learner who has solved everything sees a notebook as clean as the one that was handed out.
    assert hygiene.problems(solve.solve(read(path), path.parent)) == []
