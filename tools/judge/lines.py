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
POINTING = re.compile(r"^(?:It goes wrong|The mistake is) in .*", re.MULTILINE)  # the line of an error is no guess
NUMBER = re.compile(r"\bin line (\d+), `")
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
    source = _plain(source)
    before = source.splitlines()
    for text in sorted(set(mutants(source))):
        after = text.splitlines()
        truth = _changed_lines(before, after)
        if truth and not after[min(truth) - 1].lstrip().startswith("def "):
            try:
                yield written(text, copy.copy(namespace), name), truth
            except Exception:
                continue


def _plain(source):
    """Return a source without docstrings, and without decorators such as `right`, which would take it into its list."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            if ast.get_docstring(node) and len(node.body) > 1:
                del node.body[0]
            node.decorator_list = [item for item in node.decorator_list if not isinstance(item, ast.Call)]
    return ast.unparse(tree)


def _changed_lines(before, after):
    """Return the numbers of the lines that differ, and of what a wrong condition lets run; none if some are missing."""
    if len(after) != len(before):
        return set()
    changed = {i for i, (old, new) in enumerate(zip(before, after, strict=True), 1) if old != new}
    return changed | {i + 1 for i in changed if after[i - 1].lstrip().startswith("if ")}


def exchanged(programs):
    """Yield the catalogue's programs that differ from others of the same code in a step, and where that is used."""
    together = {}
    for program in programs:
        if (code := code_of(program)) is not None and program.__closure__ and n_statements(code) > 1:
            together.setdefault(code, []).append(program)
    for code, group in together.items():
        usual = _usual_steps(group)
        for program in group if usual else ():
            truth = _lines_that_read(code, _other_steps(program, usual))
            if truth:
                yield program, truth


def _steps(program):
    return [cell.cell_contents for cell in program.__closure__]


def _usual_steps(group):
    """Return the ids of the steps that most programs of a code have; None where it isn't clear which are meant.

    Where several steps belong together, no step is usual.
    """
    usual = []
    for column in zip(*map(_steps, group), strict=True):
        first, *rest = Counter(map(id, column)).most_common(2)
        if rest and first[1] <= 2 * rest[0][1]:
            return None
        usual.append(first[0])
    return usual


def _other_steps(program, usual):
    names = code_of(program).co_freevars
    return {name for name, step, known in zip(names, _steps(program), usual, strict=True) if id(step) != known}


def _lines_that_read(code, names):
    numbers = {number for _, _, number in code.co_lines() if number and number > code.co_firstlineno}
    statements = {statement_at(code.co_filename, number) for number in numbers} - {None}
    return {statement.number for statement in statements if names & statement.reads}


def marked(functions):
    for function in functions:
        lines, first = inspect.getsourcelines(as_written(function))
        truth = {first + i for i, line in enumerate(lines) if "# here" in line}
        if truth:
            yield function, truth


def judged(exercise, program):
    """Return the numbers of the lines and the message; None where the mistake doesn't show in a plain call."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not _is_wrong_in_a_plain_call(exercise, program):
            return None
        result = exercise.diagnosis(program)
    if result.status != "wrong":
        return None
    numbers = [int(number) for text in POINTING.findall(result.message) for number in NUMBER.findall(text)]
    return numbers, result.message


def _is_wrong_in_a_plain_call(exercise, program):
    trials = []
    for case in exercise.cases:
        if not (case.edge or case.error_is_fine):
            trials.append(exercise.trial(program, case))
            if trials[-1].timed_out:
                return False
    if trials and trials[0].actual.error is not None:
        return False
    return any(
        not trial.is_right and trial.actual.error is None and trial.actual.arrays is not None for trial in trials
    )


def measure(name):
    """Return the counts of an exercise by kind, and what there is to read of each wrong or missing line."""
    _tests()
    warnings.simplefilter("ignore")
    from answers import EXERCISES

    exercise, counts, read = EXERCISES[name], Counter(), []
    for kind, program, truth in _wrong_answers(name, exercise):
        found = judged(exercise, program)
        if found is None:
            continue
        numbers, message = found
        what = _verdict_on(numbers, message, truth)
        counts[kind, what] += 1
        if what in ("wrong", "silent"):
            read.append((kind, what, _shown(program, truth, numbers), message))
    right = _right_answers(name, exercise)
    counts["right answers", "asked"] = len(right)
    counts["right answers", "accused"] = sum(exercise.diagnosis(function).status == "wrong" for function in right)
    return name, counts, read


def _wrong_answers(name, exercise):
    """Yield the kind, the program and the faulty lines of each wrong answer to an exercise."""
    import spelled
    import typed_out
    from answers import ANSWERS

    answers = ANSWERS[name]
    for base in bases(name, exercise, answers, spelled.RIGHT.get(name, ())):
        yield from (("changed", *pair) for pair in mutated(base))
    groups = [*(mistake.implementations for mistake in exercise.mistakes), *answers.WRONG.values()]
    yield from (("catalogue", *pair) for pair in exchanged(itertools.chain(*groups)))
    by_hand = [*spelled.WRONG.get(name, ()), *typed_out.WRONG.get(name, ())]
    yield from (("by hand", *pair) for pair in marked(by_hand))


def _right_answers(name, exercise):
    import spelled
    from answers import ANSWERS

    return [*ANSWERS[name].RIGHT, exercise.reference, *spelled.RIGHT.get(name, ())]


def _verdict_on(numbers, message, truth):
    """Tell whether the lines that are pointed at are right, some between which it is, wrong, or none: silent."""
    if not numbers:
        return "silent"
    named = range(numbers[0], numbers[-1] + 1) if "or between" in message else numbers
    if not truth.intersection(named):
        return "wrong"
    return "between" if len(numbers) > 1 else "right"


def _shown(program, truth, numbers):
    code = code_of(program)
    if code is not None and code.co_filename.startswith("<"):
        first, lines = 1, linecache.getlines(code.co_filename)
    else:
        lines, first = inspect.getsourcelines(as_written(program))
    shown = []
    for number, line in enumerate(lines, first):
        mark = ("*" if number in truth else " ") + (">" if number in numbers else " ")
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
    options = parser.parse_args(arguments)
    _tests()
    from answers import EXERCISES

    names = options.names or list(EXERCISES)
    total = Counter()
    with multiprocessing.get_context("spawn").Pool(options.workers) as pool:
        for name, counts, read in pool.imap_unordered(measure, names):
            total += counts
            print(f"{name:30}{_row(counts)}", flush=True)
            for kind, what, text, message in read:
                if (what == "wrong" and options.wrong) or (what == "silent" and options.silent):
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
