"""What the source alone says: lines that have no effect, and those that only look so."""

# ruff: noqa: F841, B015  (that is what they are about)

import linecache

import numpy as np
import pytest

from function_judge.source_hints import (
    certain_cause,
    names_of_a_shape,
    never_used,
    no_return,
    overwritten,
    return_in_loop,
    thrown_away,
    why_none,
    zero_times_infinity,
)


def one_is_not_used(scores):
    shifted = scores - scores.max()
    return scores


def used_in_an_inner_function(scores):
    shifted = scores - scores.max()

    def shown():
        return shifted

    return shown()


def used_by_a_lambda_above(scores):
    shown = lambda: shifted  # noqa: E731
    shifted = scores - scores.max()
    return shown()


def used_in_the_next_round(scores):
    total = scores[0]
    for score in scores:
        scores = total + score
        total = scores * 2
    return scores


def two_names_at_once(scores):
    first = second = scores - scores.max()
    return second


def names_taken_apart(scores):
    first, second = scores.sum(), scores.max()
    return second


def global_name(scores):
    global kept
    kept = scores - scores.max()
    return scores


def test_a_line_that_nothing_uses_is_said():
    assert "`shifted` isn't used after it" in never_used(one_is_not_used)


def test_what_is_used_elsewhere_or_may_be_is_not():
    for function in (
        used_in_an_inner_function,
        used_by_a_lambda_above,
        used_in_the_next_round,
        two_names_at_once,
        names_taken_apart,
        global_name,
    ):
        assert never_used(function) is None, function.__name__
        assert overwritten(function) is None, function.__name__


def test_a_name_that_is_overwritten_in_vain():
    def rows_stay(table):
        for row in table:
            row = row - row.mean()
        return table

    def argument_again(row, table):
        total = row.sum()
        row = table.sum()
        return total

    assert "what you loop over stays as it was" in overwritten(rows_stay)
    assert "`row` isn't used after it" in overwritten(argument_again)


def sorted_in_vain(row):
    np.sort(row)
    return row


def turned_in_vain(table):
    table.reshape(-1)
    return table


def compared_in_vain(row):
    row[0] == 1
    return row


def added_in_vain(row):
    row + 1
    return row


def helper(row):
    return row * 2


def helped_in_vain(row):
    helper(row)
    return row


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (sorted_in_vain, "sort returns a new array, and row stays as it was. Keep the new one: row = np.sort(...)."),
        (turned_in_vain, "reshape returns a new array, and table stays as it was."),
        (compared_in_vain, "== only compares."),
        (added_in_vain, "its result isn't kept."),
        (helped_in_vain, "its result isn't kept."),
    ],
)
def test_a_line_whose_result_is_thrown_away(function, why):
    assert why in thrown_away(function)


def test_a_line_that_changes_something_or_has_a_look_is_not():
    def fills(row):
        np.exp(row, out=row)
        np.fill_diagonal(row, 0)
        row.sort()
        np.max(row)
        print(row)
        return row

    assert thrown_away(fills) is None


def test_an_argument_that_is_used_only_where_it_is_none():
    def turned_round(row, step=None):
        if step is None:
            row = row + step
        return row

    def right_way_round(row, step=None):
        if step is not None:
            row = row + step
        return row

    slug, sentence = certain_cause(turned_round)
    assert slug == "wrong-condition"
    assert "Turn the condition `step is None` round." in sentence
    assert certain_cause(right_way_round) == (None, None)


def test_rows_that_are_one_list():
    def multiplied(n):
        rows = [[0] * n] * n
        rows[0][0] = 1
        return rows

    def appended(table):
        rows, row = [], [0] * len(table)
        for i in range(len(table)):
            row[i] = 1
            rows.append(row)
        return rows

    def new_in_each_round(table):
        rows = []
        for i in range(len(table)):
            row = [0] * len(table)
            row[i] = 1
            rows.append(row)
        return rows

    assert certain_cause(multiplied)[0] == "one-list-for-all-rows"
    assert "append row.copy()" in certain_cause(appended)[1]
    assert certain_cause(new_in_each_round) == (None, None)


def test_a_return_in_a_loop():
    def first_round(table):
        for row in table:
            return row.sum()

    def found(table):
        for row in table:
            if row.any():
                return row
        return None

    assert "inside the loop" in return_in_loop(first_round)
    assert return_in_loop(found) is None


def test_a_product_with_infinity():
    def multiplied(table, where):
        return table + where * -np.inf

    def ones(table):
        return np.ones(3) * np.inf

    assert "`where * -np.inf` holds NaN" in zero_times_infinity(multiplied)
    assert zero_times_infinity(ones) is None


def forgets(row):
    total = row.sum()


def relies(row):
    return forgets(row) + 1


def test_a_helper_without_a_return():
    assert no_return(relies) == "`forgets` has no `return`, so what it gives is None."
    assert no_return(helped_in_vain) is None


def test_why_something_is_none():
    def in_place(row):
        return row.sort()

    def shown(row):
        return print(row)

    def sometimes(row):
        if row.any():
            return row

    assert why_none(in_place).startswith("row.sort changes what it is given, and returns None.")
    assert why_none(shown).startswith("print only shows something")
    assert why_none(sometimes).startswith("is its `return` inside an `if`")
    assert why_none(forgets) == "is the `return` line missing?"


def test_the_names_of_all_sizes_of_a_shape():
    text = "b, n, d = X.shape\n*batch, n, d = X.shape\nb, n, d = sizes\n"
    linecache.cache["<sizes>"] = (len(text), None, text.splitlines(keepends=True), "<sizes>")
    assert [names_of_a_shape("<sizes>", line) for line in (1, 2, 3, 4)] == [["b", "n", "d"], [], [], []]
