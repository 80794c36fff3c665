"""Each solution with one thing in it changed: what passes the check is right on other numbers, too."""

import ast
import copy
from dataclasses import replace

import numpy as np
import pytest
from answers import EXERCISES

from mha_helpers import attention

SWAPPED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


def changes(node):
    """Yield what a node may become, as functions that change it in place or return another in its place."""
    if isinstance(node, ast.BinOp) and type(node.op) in SWAPPED:
        yield lambda node: setattr(node, "op", SWAPPED[type(node.op)]())
        yield lambda node: node.left
        if isinstance(node.op, (ast.Sub, ast.Div, ast.MatMult)):
            yield lambda node: ast.BinOp(node.right, node.op, node.left)
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPPED:
        yield lambda node: setattr(node, "ops", [SWAPPED[type(node.ops[0])]()])
    if isinstance(node, ast.UnaryOp):
        yield lambda node: node.operand
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield lambda node: setattr(node, "value", not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield lambda node: setattr(node, "value", node.value + 1)
        yield lambda node: setattr(node, "value", node.value / 2)
    if isinstance(node, (ast.Tuple, ast.Call)):
        parts = "elts" if isinstance(node, ast.Tuple) else "args"
        if len(getattr(node, parts)) > 1:
            yield lambda node: setattr(node, parts, getattr(node, parts)[::-1])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield lambda node: node.func.value  # a method is not called: no swapaxes, no reshape, no copy
    if isinstance(node, ast.Call) and node.keywords:
        yield lambda node: setattr(node, "keywords", node.keywords[:-1])


class _Replacing(ast.NodeTransformer):
    def __init__(self, old, new):
        self.old, self.new = old, new

    def visit(self, node):
        return self.new if node is self.old else self.generic_visit(node)


def mutants(source):
    """Yield sources in which one node has become another."""
    tree = ast.parse(source)
    for i, node in enumerate(ast.walk(tree)):
        for change in changes(node):
            changed = copy.deepcopy(tree)
            old = list(ast.walk(changed))[i]
            new = change(old)
            yield ast.unparse(ast.fix_missing_locations(_Replacing(old, new).visit(changed) if new else changed))


def on_other_numbers(exercise):
    """Return the exercise with the numbers of each last axis in another order, and of each case twice."""
    rng = np.random.default_rng(0)

    def other(value):
        return rng.permuted(value, axis=-1) if isinstance(value, np.ndarray) and value.ndim else value

    cases = [
        replace(case, trait=f"{case.trait}, {again}", arguments={k: other(v) for k, v in case.arguments.items()})
        for again in ("again", "and again")
        for case in exercise.cases
    ]
    return replace(exercise, cases=(exercise.cases[0], *cases))


def answers_something(function, case):
    """Tell whether a function gets to its end: what stops with an error is wrong for certain, and often the same."""
    with np.errstate(all="ignore"):
        try:
            function(*case.copy().values())
        except Exception:
            return False
    return True


# A repair's solution is that of the exercise which it repeats; the others' changes run for seconds.
SLOW = ("attend_with_cache", "blockwise_attention", "rotate")


def tried(name):
    is_slow = name.startswith("mend_") or name in SLOW
    return pytest.param(name, marks=pytest.mark.slow if is_slow else ())


@pytest.mark.parametrize("name", [tried(name) for name in EXERCISES])
def test_a_changed_solution_that_passes_is_right_on_other_numbers(name):
    exercise, namespace = EXERCISES[name], {"np": np}
    for each in EXERCISES.values():
        exec(each.solution().source, namespace)
    if name == "multi_head_attention":
        namespace["scaled_dot_product_attention"] = attention.scaled_dot_product_attention
    found = {}
    for mutant in set(mutants(exercise.solution().source)):
        own = dict(namespace)
        exec(mutant, own)
        if answers_something(own[name], exercise.cases[0]):
            result = exercise.diagnosis(own[name])
            assert result.heading != "This check is broken", f"{mutant}\n{result}"
            found[mutant] = result.status
    assert "wrong" in found.values(), "nothing in the solution was changed"
    others = on_other_numbers(exercise)
    for mutant in (mutant for mutant, status in found.items() if status == "correct"):
        own = dict(namespace)
        exec(mutant, own)
        assert others.diagnosis(own[name]).status == "correct", mutant
