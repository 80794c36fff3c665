"""`python -m tools.judge.lines` says for how many wrong answers a check points at a line, and at the faulty one.

Where the fault is, is known of three kinds of wrong answers, all of several statements:

- a right answer (an exercise's solution, the tests' right answers, the spellings of tests/exercises/spelled.py) with
  one thing in it changed: the fault is in the line that differs;
- a program of the catalogue in which one step was exchanged: it is where the step is used;
- a function of tests/exercises/spelled.py or typed_out.py whose faulty line ends with `# here`.

Counted is what shows in a plain call: it ends, and is wrong on a case that isn't at the edge.

    python -m tools.judge.lines                 # every exercise
    python -m tools.judge.lines softmax         # this one
    python -m tools.judge.lines --wrong         # with each line that is not the one that was changed
    python -m tools.judge.lines --silent        # with each that nothing is said of
"""

import argparse
import ast
import copy
import inspect
import itertools
import linecache
import multiprocessing
import re
import sys
import textwrap
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from function_judge.source import as_written, code_of
from function_judge.statements import n_statements, statement_at

REPOSITORY = Path(__file__).parents[2]
TOLD = re.compile(r"(?:in|up to|from) line (\d+), `")
_numbers = itertools.count()


def _tests():
    sys.path[:0] = [str(REPOSITORY / "tests" / "exercises")]


def written(source, namespace, name):
    """Run a source as a cell is run, so that its lines can be read, and return the function of that name."""
    path = f"<lines-{next(_numbers)}>"
    linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)
    exec(compile(source, path, "exec"), namespace)
    return namespace[name]


def bases(name, exercise, answers, unusual):
    """Yield right answers of several statements: their source, what they use, their name."""
    namespace = {"np": np, "__name__": "__main__"}
    from answers import EXERCISES

    for each in EXERCISES.values():  # a learner has the earlier exercises' functions at hand
        written(each.solution().source, namespace, each.reference.__name__)
    from mha_helpers import attention

    if name in ("multi_head_attention", "attention_gradients", "grouped_attention", "mend_rotary_attention"):
        namespace["scaled_dot_product_attention"] = attention.scaled_dot_product_attention
    yield exercise.solution().source, namespace, name
    for function in [*answers.RIGHT, *unusual]:
        code = code_of(function)
        if code is None or code.co_name == "<lambda>" or code.co_freevars or n_statements(code) < 2:
            continue
        yield textwrap.dedent(inspect.getsource(function)), dict(function.__globals__), function.__name__


def mutated(base):
    """Yield the right answer with one thing changed, and the lines that differ."""
    from test_mutations import mutants

    source, namespace, name = base
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) and len(node.body) > 1:
            del node.body[0]
        if isinstance(node, ast.FunctionDef):  # `right` would take it into its list
            node.decorator_list = [one for one in node.decorator_list if not isinstance(one, ast.Call)]
    source = ast.unparse(tree)
    before = source.splitlines()
    for text in sorted(set(mutants(source))):
        after = text.splitlines()
        if len(after) != len(before):
            continue
        truth = {i for i, (one, other) in enumerate(zip(before, after, strict=True), 1) if one != other}
        truth |= {i + 1 for i in truth if after[i - 1].lstrip().startswith("if ")}  # what a wrong condition lets run
        if truth and not after[min(truth) - 1].lstrip().startswith("def "):
            try:
                yield written(text, copy.copy(namespace), name), truth
            except Exception:
                continue


def exchanged(programs):
    """Yield the catalogue's programs that differ from others of the same code in a step, and where that is used."""
    together = {}
    for program in programs:
        if (code := code_of(program)) is not None and program.__closure__ and n_statements(code) > 1:
            together.setdefault(code, []).append(program)
    for code, group in together.items():
        cells = [[cell.cell_contents for cell in program.__closure__] for program in group]
        columns = [Counter(map(id, column)).most_common(2) for column in zip(*cells, strict=True)]
        usual = [(column[0][0], len(column) < 2 or column[0][1] > 2 * column[1][1]) for column in columns]
        if not all(is_clear for _, is_clear in usual):
            continue  # several steps belong together, and who knows which is meant
        for program, contents in zip(group, cells, strict=True):
            other = {
                free
                for free, content, (known, _) in zip(code.co_freevars, contents, usual, strict=True)
                if id(content) != known
            }
            numbers = {number for _, _, number in code.co_lines() if number and number > code.co_firstlineno}
            found = {one for number in numbers if (one := statement_at(code.co_filename, number)) is not None}
            truth = {one.number for one in found if other & one.reads}
            if truth:
                yield program, truth


def marked(functions):
    for function in functions:
        lines, first = inspect.getsourcelines(as_written(function))
        truth = {first + i for i, line in enumerate(lines) if "# here" in line}
        if truth:
            yield function, truth


def judged(exercise, program):
    """Return "beside" where it doesn't show in a plain call, else the number of the line or None, and the message."""
    trials = []
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in exercise.cases:
            if not (case.edge or case.error_is_fine):
                trials.append(exercise.trial(program, case))
                if trials[-1].timed_out:
                    return "beside", ""
        if not any(not one.is_right and one.actual.error is None and one.actual.arrays is not None for one in trials):
            return "beside", ""
        if any(one.actual.error is not None for one in trials[:1]):
            return "beside", ""
        result = exercise.diagnosis(program)
    if result.status != "wrong":
        return "beside", ""
    said = [int(number) for number in TOLD.findall(result.message)]
    return said, result.message


def measure(name):
    """Return the counts of an exercise by kind, and what there is to read of each wrong or missing line."""
    _tests()
    warnings.simplefilter("ignore")
    import spelled
    import typed_out
    from answers import ANSWERS, EXERCISES

    exercise, answers = EXERCISES[name], ANSWERS[name]
    programs = [program for mistake in exercise.mistakes for program in mistake.implementations]
    programs += [program for group in answers.WRONG.values() for program in group]
    kinds = {
        "changed": [
            one for base in bases(name, exercise, answers, spelled.RIGHT.get(name, ())) for one in mutated(base)
        ],
        "catalogue": list(exchanged(programs)),
        "by hand": list(marked([*spelled.WRONG.get(name, ()), *typed_out.WRONG.get(name, ())])),
    }
    counts, read = Counter(), []
    for kind, group in kinds.items():
        for program, truth in group:
            said, message = judged(exercise, program)
            if said == "beside":
                continue
            named = set(range(said[0], said[-1] + 1)) if said and "or between" in message else set(said)
            is_there = bool(named & truth)
            what = "silent" if not said else "wrong" if not is_there else "between" if len(said) > 1 else "right"
            counts[kind, what] += 1
            if what not in ("right", "between"):
                read.append((kind, what, _shown(program, truth, said), message))
    accused = 0
    for function in [*answers.RIGHT, exercise.reference, *spelled.RIGHT.get(name, ())]:
        counts["right answers", "asked"] += 1
        if exercise.diagnosis(function).status == "wrong":
            accused += 1
    counts["right answers", "accused"] = accused
    return name, counts, read


def _shown(program, truth, said):
    code = code_of(program)
    if code is not None and code.co_filename.startswith("<"):
        first, lines = 1, linecache.getlines(code.co_filename)
    else:
        lines, first = inspect.getsourcelines(as_written(program))
    shown = []
    for number, line in enumerate(lines, first):
        mark = ("*" if number in truth else " ") + (">" if number in said else " ")
        shown.append(f"  {mark} {line.rstrip()}")
    return "\n".join(shown)


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m tools.judge.lines", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="exercises; all unless given")
    parser.add_argument("--wrong", action="store_true", help="print each wrong line (>) beside the changed one (*)")
    parser.add_argument("--silent", action="store_true", help="print each answer that nothing is said of")
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args(arguments)
    _tests()
    from answers import EXERCISES

    names = given.names or list(EXERCISES)
    total = Counter()
    with multiprocessing.get_context("spawn").Pool(given.workers) as pool:
        for name, counts, read in pool.imap_unordered(measure, names):
            total += counts
            print(f"{name:30}{_row(counts)}", flush=True)
            for kind, what, text, message in read:
                if (what == "wrong" and given.wrong) or (what == "silent" and given.silent):
                    print(f"\n  {what} ({kind}): {message.splitlines()[0][:100] if message else ''}\n{text}")
    print(f"{'all':30}{_row(total)}")
    return 0


def _row(counts):
    parts = []
    for kind in ("changed", "catalogue", "by hand"):
        n = {what: counts[kind, what] for what in ("right", "between", "wrong", "silent")}
        if sum(n.values()):
            there = f"{n['right'] + n['between']} of {sum(n.values())} ({n['between']} between two lines)"
            parts.append(f"{kind}: {there}, {n['wrong']} wrong")
    parts.append(f"right: {counts['right answers', 'asked']}, {counts['right answers', 'accused']} accused")
    return "; ".join(parts)


if __name__ == "__main__":
    sys.exit(main())
