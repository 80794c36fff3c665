"""Write solved copies of notebooks, for instructors, and prove that the checks accept the solutions.

Each exercise's stub becomes its solution and each prediction's `answer = None` the right answer.
The copies are executed. A notebook in which a check does not say that it is right is not written, and the command
fails once the others are.
"""

import argparse
import ast
import copy
import json
import re
import sys

from mha_helpers import exercises
from mha_helpers.exercises.engine import Exercise
from tools.writing.notebooks import (
    NOTEBOOKS,
    NotebookError,
    execute,
    folder_and_notebooks,
    label,
    parse,
    plain_python,
    read,
    tags,
    write,
)

ASK = re.compile(r"exercises\.(\w+)\.(check|commit)")
RIGHT = ("Correct", "Right")
OTHERWISE = ("Not attempted yet", "Not yet", "Not answered yet", "Not quite")


def solve(notebook, folder=NOTEBOOKS):
    """Solve a notebook's exercises and predictions, run it, and see every check accept.

    Parameters
    ----------
    notebook : NotebookNode
    folder : path, optional
        Where the kernel works.

    Returns
    -------
    NotebookNode
        A solved copy, executed.

    Raises
    ------
    NotebookError
        If a tagged cell cannot be solved, an exercise is never checked, a cell raises, or a check's
        outcome is not shown or is not that the answer is right.
    """
    return verified(execute(filled(notebook), folder))


def filled(notebook):
    """Return a copy with solutions and right answers filled in, not run; a NotebookError says what cannot be."""
    solved = copy.deepcopy(notebook)
    asked = []
    code_cells = [pair for pair in enumerate(solved.cells, 1) if pair[1].cell_type == "code"]
    for number, cell in reversed(code_cells):  # from the end, so that `asked` holds what the cells below ask
        try:
            asked = _asks(cell) + asked
            if "exercise" in tags(cell):
                _fill_stub(cell, asked)
            if "prediction" in tags(cell):
                _fill_answer(cell)
        except NotebookError as error:
            raise NotebookError(f"{label(number, cell)} {error}") from error
    return solved


def verified(solved):
    """Return a solved notebook that was run, in which every check accepts; a NotebookError names one that does not."""
    for number, cell in enumerate(solved.cells, 1):
        if cell.cell_type == "code":
            _verify(number, cell)
    return solved


def stub(cell):
    """Find what a cell tagged `exercise` asks for.

    Parameters
    ----------
    cell : NotebookNode

    Returns
    -------
    ast.FunctionDef
        The one function it defines.

    Raises
    ------
    NotebookError
        If it does not define exactly one, or none that `mha_helpers.exercises` asks for.
    """
    functions = [node for node in parse(cell.source).body if isinstance(node, ast.FunctionDef)]
    if len(functions) != 1:
        names = ", ".join(function.name for function in functions) or "no function"
        raise NotebookError(f"is tagged exercise and defines {names}; define exactly one function")
    found = {name: each for name in dir(exercises) if hasattr(each := getattr(exercises, name), "solution")}
    # A repair or a warm-up is called something else than the function that it asks for.
    wanted = {each.reference.__name__ for each in found.values() if isinstance(each, Exercise)}
    if functions[0].name not in wanted | found.keys():
        raise NotebookError(f"is tagged exercise; rename {functions[0].name} to an exercise of mha_helpers.exercises")
    return functions[0]


def _asks(cell):
    """Return (exercise, "check" or "commit", argument) for each question that a cell puts to `exercises`."""
    tree = parse(plain_python(cell.source))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    asked = [(ASK.fullmatch(ast.unparse(call.func)), ", ".join(map(ast.unparse, call.args))) for call in calls]
    return [(*match.groups(), argument) for match, argument in asked if match]


def _fill_stub(cell, asked):
    function = stub(cell)
    checks = [name for name, question, argument in asked if (question, argument) == ("check", function.name)]
    if not checks:
        raise NotebookError(f"is never checked; add exercises.{function.name}.check({function.name})")
    exercise = getattr(exercises, checks[0], None)
    if not hasattr(exercise, "solution"):
        raise NotebookError(f"is checked by exercises.{checks[0]}, which there is not; name one that there is")
    first = min(node.lineno for node in (function, *function.decorator_list))
    lines = cell.source.split("\n")
    lines[first - 1 : function.end_lineno] = [exercise.solution().source.rstrip("\n")]
    cell.source = "\n".join(lines)


def _fill_answer(cell):
    blanks = [node for node in parse(cell.source).body if ast.unparse(node) == "answer = None"]
    names = [name for name, question, _ in _asks(cell) if question == "commit"]
    if len(blanks) != 1 or len(names) != 1:
        raise NotebookError(
            "is tagged prediction; give it one line `answer = None` and one call exercises.NAME.commit(answer)"
        )
    lines = cell.source.split("\n")
    right = json.dumps(getattr(exercises, names[0]).right, ensure_ascii=False)
    lines[blanks[0].lineno - 1] = lines[blanks[0].lineno - 1].replace("None", right, 1)
    cell.source = "\n".join(lines)


def _verify(number, cell):
    texts = [output.data.get("text/plain", "") for output in cell.outputs if "data" in output]
    for text in texts:
        if text.startswith(OTHERWISE):
            raise NotebookError(f"{label(number, cell)}: solved, and yet it says: {text}")
    if sum(text.startswith(RIGHT) for text in texts) < len(_asks(cell)):
        raise NotebookError(f"{label(number, cell)} asks and does not show the outcome; make the call its last line")


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tools solve", description=__doc__)
    arguments = folder_and_notebooks(parser, argv)
    failures = []
    for path in arguments.notebooks:
        try:
            solved = solve(read(path), path.parent)
        except NotebookError as error:
            failures.append(f"{path.name}, which is not written: {error}")
            continue
        arguments.folder.mkdir(parents=True, exist_ok=True)
        write(solved, arguments.folder / path.name)
        print(arguments.folder / path.name, flush=True)
    if failures:
        sys.exit("\n".join(failures))
