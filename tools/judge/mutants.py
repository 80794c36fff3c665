"""`python -m tools mutants` changes one thing in the code, again and again, and counts how often tests notice.

A mutant has one operator, constant, axis or comparison changed, inside a function. Each is tried against the tests of
its own room alone (those that call the function, quickest first; none that needs a browser), until the first failure.
A survivor is a line that no test asks about. Seeded: the same code has the same mutants.

    python -m tools mutants                       # 60 a room, into mutants.json
    python -m tools mutants --rooms functions --count 20
    python -m tools mutants --again before.json   # the same mutants after a change: a fair comparison

The tests are collected once; for each mutant a forked process takes the changed code in place of the old: POSIX only.

It is here because mutmut changes no function that has a decorator, which most of the maths have, and cosmic-ray no `@`;
cosmic-ray also starts pytest anew for each mutant, on the files themselves, where this needs half a second.
"""

import argparse
import ast
import copy
import functools
import gc
import json
import os
import random
import signal
import sys
import threading
import time
import types
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
MORE_SECONDS = 60  # than three times what the tests take without a mutant: then it hangs, and that is noticed, too
ROOMS = {  # by room: where its code is, and where its tests are
    "functions": (["mha_helpers/*.py"], ["tests/functions"]),
    "judge": (
        ["mha_helpers/exercises/engine.py", "engines/function_judge/*.py", "mha_helpers/learner/*.py"],
        ["tests/function_judge", "tests/exercises", "tests/attention_doctor"],  # the last two stand on it
    ),
    "doctor": (["engines/attention_doctor/**/*.py"], ["tests/attention_doctor"]),
    "labs": (["mha_helpers/labs/**/*.py"], ["tests/labs"]),
}
ONLY_IN = {"labs": "compute"}  # the only functions of a room that are changed

ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mod}
ARITHMETIC |= {ast.Mod: ast.FloorDiv, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.MatMult: ast.Mult}
LOGIC = {ast.And: ast.Or, ast.Or: ast.And}
COMPARISONS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq}
COMPARISONS |= {ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}


def changed(node):
    """Return (kind, node with one thing changed), or None where there is nothing to change."""
    new = copy.deepcopy(node)
    match node:
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in ARITHMETIC:
            new.op = ARITHMETIC[type(op)]()
            return "operator", new
        case ast.BoolOp(op=op):
            new.op = LOGIC[type(op)]()
            return "operator", new
        case ast.UnaryOp(ast.Not(), operand):
            return "operator", copy.deepcopy(operand)
        case ast.Compare(ops=[op]) if type(op) in COMPARISONS:
            new.ops = [COMPARISONS[type(op)]()]
            return "comparison", new
        case ast.UnaryOp(ast.USub(), ast.Constant(int(size))) if size in (1, 2, 3):
            new.operand.value = {1: 2, 2: 1, 3: 2}[size]
            return "axis", new
        case ast.Constant(bool(value)):
            new.value = not value
            return "constant", new
        case ast.Constant(int() | float() as value):
            new.value = value + 1
            return "constant", new
    return None


def mutants_of(file, only_in):
    """Yield (line, kind, text, function, index of the node) for each mutant of a file's functions."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree))
    index = {node: i for i, node in enumerate(nodes)}
    seen, inner_axes = set(), set()
    for function in (node for node in nodes if isinstance(node, ast.FunctionDef)):
        if only_in and function.name != only_in:
            continue
        for node in (part for statement in function.body for part in ast.walk(statement)):
            if node in seen or node in inner_axes:
                continue
            seen.add(node)
            if found := changed(node):
                if found[0] == "axis":
                    inner_axes.add(node.operand)
                text = f"{ast.unparse(node)} -> {ast.unparse(found[1])}"
                yield node.lineno, found[0], text, function.name, index[node]


def mutated(file, place):
    """Return a file's code with the node at a place changed."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    node = list(ast.walk(tree))[place]
    _, new = changed(node)

    class Change(ast.NodeTransformer):
        def visit(self, other):
            return ast.copy_location(new, node) if other is node else super().visit(other)

    return compile(ast.fix_missing_locations(Change().visit(tree)), str(file), "exec", dont_inherit=True)


def codes_in(code):
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from codes_in(constant)


def _key(code):
    return code.co_qualname, code.co_firstlineno


def put_in_place(file, place):
    """Give every function of a file the code of its mutant, and forget what was computed with the old one."""
    new = {_key(code): code for code in codes_in(mutated(file, place))}
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType) and thing.__code__.co_filename == str(file):
            code = new.get(_key(thing.__code__))
            if code is not None and code.co_freevars == thing.__code__.co_freevars:
                thing.__code__ = code
        elif isinstance(thing, functools._lru_cache_wrapper) and str(thing.__module__).startswith("mha_helpers"):
            thing.cache_clear()


def found_again(mutants, possible):
    """Return those of an earlier run that the code still has: the same change, near to where it was."""
    left, found = list(possible), []
    for old in mutants:
        path, _, line = old["where"].partition(":")
        same = [one for one in left if (one[2], one[3]) == (old["kind"], old["change"])]
        if same:
            nearest = min(same, key=lambda one: (one[0].name != Path(path).name, abs(one[1] - int(line))))
            found.append(nearest)
            left.remove(nearest)
    print(f"{len(found)} of {len(mutants)} mutants are still possible")
    return found


class Trials:
    """A plugin that runs the collected tests once for every mutant, each time in a process of its own."""

    def __init__(self, room, count, seed, again=()):
        self.room, self.results = room, []
        patterns, _ = ROOMS[room]
        files = sorted({file for pattern in patterns for file in REPOSITORY.glob(pattern)})
        found = [(file, *one) for file in files for one in mutants_of(file, ONLY_IN.get(room))]
        self.n_possible = len(found)
        drawn = random.Random(seed).sample(found, min(count, len(found)))
        self.mutants = found_again([old for old in again if old["room"] == room], found) if again else drawn

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        self.items = [item for item in session.items if "browser" not in getattr(item, "fixturenames", ())]
        calls = self.in_a_child(lambda: self.measure(session), seconds=3600)[1]
        self.took = {i: seconds for i, (seconds, _, passed) in calls.items() if passed}
        self.callers = {}  # by place of a function: the tests that call it
        for i, (_, places, passed) in calls.items():
            for place in places if passed else ():
                self.callers.setdefault(tuple(place), []).append(i)
        left_out = [self.items[i].nodeid for i in calls if i not in self.took]
        print(f"\n{self.room}: {len(self.took)} tests, {self.n_possible} possible mutants; left out: {left_out}")
        for file, line, kind, text, name, place in self.mutants:
            began = time.monotonic()
            noticed, by, n_tests = self.try_out(session, file, line, name, place)
            where = f"{file.relative_to(REPOSITORY)}:{line}"
            seconds = round(time.monotonic() - began, 1)
            result = {"room": self.room, "where": where, "kind": kind, "change": text, "killed": noticed, "by": by}
            self.results.append(result | {"tests": n_tests, "seconds": seconds})
            print(
                f"{'killed  ' if noticed else 'SURVIVED'} {where} {kind}: {text} ({seconds} s, {n_tests})", flush=True
            )
        return True

    def measure(self, session):
        """Run all tests without a mutant: what each takes, calls, and whether it passes."""
        found, here = {}, str(REPOSITORY)
        for i in range(len(self.items)):
            places = set()

            def look(frame, event, argument, places=places):
                if event == "call" and frame.f_code.co_filename.startswith(here):
                    places.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))

            before, began = session.testsfailed, time.monotonic()
            threading.setprofile(look)  # the doctor examines in a thread of its own
            sys.setprofile(look)
            try:
                self.run(session, i)
            finally:
                sys.setprofile(None)
                threading.setprofile(None)
            found[i] = (time.monotonic() - began, sorted(places), session.testsfailed == before)
        return found

    def run(self, session, i, following=None):
        item = self.items[i]
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following and self.items[following])

    def try_out(self, session, file, line, name, place):
        """Return whether the tests notice a mutant, which did, and how many there were to ask."""
        spans = [
            min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            if isinstance(node, ast.FunctionDef) and node.lineno <= line <= node.end_lineno
        ]
        asked = {i for first in spans for i in self.callers.get((str(file), first), ())}
        # Nobody sees who calls what runs inside a trace function: then all are asked.
        order = sorted(asked or self.took, key=lambda i: self.took[i])

        def trial():
            put_in_place(file, place)
            for i, following in zip(order, [*order[1:], None], strict=True):
                before = session.testsfailed
                self.run(session, i, following)
                if session.testsfailed > before:
                    return self.items[i].nodeid
            return None

        ended, by = self.in_a_child(trial, seconds=3 * sum(self.took[i] for i in order) + MORE_SECONDS)
        return not ended or by is not None, by if ended else "it hangs or breaks off", len(order)

    def in_a_child(self, job, seconds):
        """Return whether a job ended in time and as it should, and what it returned."""
        here, there = os.pipe()
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, 1)
            os.dup2(nothing, 2)
            try:
                told = json.dumps(job(), default=str).encode()
                with os.fdopen(there, "wb") as pipe:
                    pipe.write(told)
                os._exit(0)
            except BaseException:
                os._exit(3)
        os.close(there)
        end, told = time.monotonic() + seconds, b""
        os.set_blocking(here, False)
        while True:
            try:
                piece = os.read(here, 1 << 20)
                if not piece:
                    break
                told += piece
            except BlockingIOError:
                if time.monotonic() > end:
                    os.killpg(child, signal.SIGKILL)
                    break
                time.sleep(0.01)
        os.close(here)
        _, status = os.waitpid(child, 0)
        if status or not told:
            return False, None
        answer = json.loads(told)
        return True, {int(i): one for i, one in answer.items()} if isinstance(answer, dict) else answer


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m tools mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=list(ROOMS))
    parser.add_argument("--count", type=int, default=60, help="mutants a room")
    parser.add_argument("--slow", action="store_true", help="ask the slow tests, too: an hour for the doctor's corpus")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", help="an earlier run's output: its mutants, as far as the code still has them")
    parser.add_argument("--output", default="mutants.json", help="where each mutant and its fate is written")
    given = parser.parse_args(arguments)
    results, again = [], json.loads(Path(given.again).read_text(encoding="utf-8")) if given.again else ()
    for room in given.rooms:
        child = os.fork()  # each room's modules and tests are loaded in a process that knows no other room's
        part = Path(f"{given.output}.{room}")
        if child == 0:
            trials = Trials(room, given.count, given.seed, again)
            paths = [path for path in ROOMS[room][1] if (REPOSITORY / path).exists()]
            pytest.main(
                [
                    "-q",
                    "-n",
                    "0",
                    "-m",
                    "" if given.slow else "not slow",
                    "-p",
                    "no:cacheprovider",
                    "--capture=no",
                    *paths,
                ],
                plugins=[trials],
            )
            part.write_text(json.dumps(trials.results), encoding="utf-8")
            os._exit(0)
        os.waitpid(child, 0)
        results += json.loads(part.read_text(encoding="utf-8"))
        part.unlink()
    Path(given.output).write_text(json.dumps(results, indent=1), encoding="utf-8")
    for room in given.rooms:
        mine = [result for result in results if result["room"] == room]
        killed = sum(result["killed"] for result in mine)
        print(f"{room}: {killed} of {len(mine)} killed ({killed / max(len(mine), 1):.0%})")
    killed = sum(result["killed"] for result in results)
    print(f"all: {killed} of {len(results)} killed ({killed / len(results):.0%})")


if __name__ == "__main__":
    main()
