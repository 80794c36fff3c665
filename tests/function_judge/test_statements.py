"""The statements of a file: which one a line belongs to, what it reads and stores, and of which kind it is."""

import ast
import linecache

import pytest

from function_judge.statements import Statement, lines_that_set, n_statements, statement_at, statements_of


def statement(text, in_loop=False):
    return Statement(ast.parse(text).body[0], Statement(ast.parse("while True: pass").body[0]) if in_loop else None)


def cell(path, text):
    """Make a text's lines those of a cell, and return its namespace."""
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    namespace = {}
    exec(compile(text, path, "exec"), namespace)
    return namespace


@pytest.mark.parametrize(
    ("text", "reads", "stores"),
    [
        ("total = row @ other", {"row", "other"}, {"total"}),
        ("total += row", {"total", "row"}, {"total"}),
        ("rows[i] = self.table[i]", {"rows", "i", "self", "self.table"}, {"rows", "i"}),
        ("room = np.zeros_like(table)", set(), {"room"}),
        ("n = table.shape[0]", set(), {"n"}),
        ("for row in table: pass", {"table"}, {"row"}),
        ("if total: row = 1", {"total"}, set()),
        ("with opened(path) as file: pass", {"opened", "path"}, set()),
        ("def inner(): return row", set(), set()),
    ],
)
def test_what_it_reads_the_numbers_of_and_what_it_stores(text, reads, stores):
    found = statement(text)
    assert found.reads == reads
    assert found.stores == stores


@pytest.mark.parametrize(
    ("kind", "of_it", "others"),
    [
        ("only_names", ["return row, table", "row = table"], ["return row + 1", "return row, row"]),
        ("is_alias", ["row = table"], ["row = table.T", "row[0] = table"]),
        ("unpacks_a_shape", ["n, d = table.shape"], ["n = table.shape", "n, d = table"]),
        ("unpacks_backwards", ["n, *rest = table.shape"], ["*batch, n = table.shape"]),
        ("counts", ["i = np.arange(n)[:, None]", "i = np.arange(n).reshape(-1)"], ["i = np.arange(1, n)", "i = n"]),
        ("makes_room", ["room = np.zeros(3)", "room = np.empty_like(row)"], ["room = np.eye(3)"]),
        ("leaves_garbage", ["room = np.empty(3)"], ["room = np.zeros(3)"]),
        ("is_a_step", ["row = row.swapaxes(0, 1)", "row = other * 2"], ["row = np.asarray(other)", "row = other"]),
        ("is_nothing", ["row = None"], ["row = other if n else None", "row = 0", "return"]),
        ("wraps_a_function", ["f = np.vectorize(lambda x: x)"], ["f = lambda x: x", "row = f(other)"]),
        (
            "collects_slices",
            ["rows = [a[i] for i in b]", "rows.append(row)"],
            ["rows = [f(i) for i in b]", "row = a"],
        ),
        ("stores_a_constant", ["row[i:] = 0", "row[i] = -np.inf"], ["row[i] = row[0]", "row = 0"]),
    ],
)
def test_of_which_kind_it_is(kind, of_it, others):
    assert [bool(getattr(statement(text), kind)) for text in of_it + others] == [True] * len(of_it) + [False] * len(
        others
    )


def test_what_should_turn_a_variable_into_something_else():
    assert statement("row = row.swapaxes(0, 1)").turns == {"row"}
    assert statement("row = row * 1").turns == {"row"}
    assert statement("row = other.T").turns == statement("row = f(row)").turns == set()


def test_conditions_that_might_have_been_met():
    text = "if n > 2:\n    row = table\n    return row"
    [guard, end] = ast.parse(f"{text}\nreturn table").body
    assert Statement(guard).would_end_before(Statement(end))
    assert not Statement(guard).would_end_before(Statement(guard.body[-1]))
    assert Statement(guard).would_set({"row", "other"})
    assert not Statement(guard).would_set({"table"})
    assert not Statement(end).would_end_before(Statement(guard))


def test_one_row_is_filled_in_each_round():
    loop = ast.parse("for i in range(n): pass").body[0]

    def fills(text):
        return Statement(ast.parse(text).body[0], Statement(loop)).fills_rows

    assert fills("rows[i] = row")
    assert fills("rows[i, :] = row")
    assert not fills("rows[:, i] = row")
    assert not statement("rows[i] = row").fills_rows


def test_adding_up_happens_in_loops():
    assert statement("total += row", in_loop=True).adds_up
    assert statement("total = total + row", in_loop=True).adds_up
    assert not statement("total = total + row").adds_up
    assert not statement("rows[i] = rows[i] + row", in_loop=True).adds_up


TEXT = """\
def f(table):
    total = (
        table.sum()
    )
    for row in table:
        if row.any():
            total = total + row
    def inner():
        return total
    return inner()
"""


def test_a_line_belongs_to_the_innermost_statement():
    f = cell("<statements>", TEXT)["f"]
    assert [statement_at("<statements>", line).number for line in (2, 3, 4, 5, 7)] == [2, 2, 2, 5, 7]
    assert statement_at("<statements>", 99) is None
    added = statement_at("<statements>", 7)
    assert (added.in_loop, added.in_if, added.adds_up) == (True, True, True)
    assert not statement_at("<statements>", 9).in_loop
    assert [found.number for found in statements_of(f.__code__)] == [2, 5, 6, 7, 8, 10]
    assert n_statements(f.__code__) == 6


def test_what_cannot_be_read_has_no_statements():
    linecache.cache["<magic>"] = (5, None, ["%time f()\n"], "<magic>")
    assert statement_at("<magic>", 1) is None
    assert lines_that_set("row", "<magic>", 1) == []


def test_the_lines_of_a_class_that_set_an_attribute():
    cell(
        "<class>", "class Table:\n    def __init__(self, row):\n        self.row = row\n        self.n = 2\n\nrow = 1\n"
    )
    assert lines_that_set("row", "<class>", 4) == [3]
    assert lines_that_set("row", "<class>", 6) == []
