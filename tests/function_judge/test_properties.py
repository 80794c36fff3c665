"""What must hold of any right answer."""

import numpy as np

from function_judge import properties

BATCH = np.arange(12.0).reshape(3, 2, 2)


def asked(property_that_must_hold, function, **arguments):
    """Return what a property says of a function of these arguments."""

    def call(**changed):
        return (function(**(arguments | changed)),)

    return property_that_must_hold(call, arguments, call())


def test_what_is_not_finite_is_told_with_its_place():
    sentence, place = asked(properties.not_finite, lambda table: np.where(table == 3, np.nan, table), table=BATCH)
    assert sentence.startswith("It holds NaN or infinity.")
    assert place == (0, 1, 1)
    assert asked(properties.not_finite, lambda table: table, table=BATCH) is None


def test_batch_items_are_what_they_are_alone():
    unmixed = properties.batch_mixed()
    assert asked(unmixed, lambda table: table - table.mean(axis=-1, keepdims=True), table=BATCH) is None
    assert "The batch items are mixed" in asked(unmixed, lambda table: table - table.mean(), table=BATCH)
    assert asked(unmixed, lambda table: table - table.mean(), table=BATCH[0]) is None


def test_only_the_arguments_that_are_named_have_batch_axes():
    unmixed = properties.batch_mixed("table")
    assert asked(unmixed, lambda table, shift: table + shift, table=BATCH, shift=np.ones(2)) is None


def test_numbers_that_only_move():
    moved_only = properties.not_the_same_numbers("the table")
    assert asked(moved_only, lambda table: table.swapaxes(0, 1), table=BATCH) is None
    assert "other numbers than the table" in asked(moved_only, lambda table: table * 2, table=BATCH)


def test_where_something_moves_when_an_entry_grows():
    def sums(table):
        return table.sum(axis=0)

    arguments, arrays = {"table": BATCH[0]}, (sums(BATCH[0]),)
    grows = properties.moved_along(0, lambda **changed: (sums(**changed),), arguments, arrays, table=(0, 1))
    assert grows == [1]
    assert properties.moved_along(0, lambda **changed: None, arguments, arrays, table=(0, 1)) is None


def test_what_belongs_to_the_first_place_changes_nothing_elsewhere():
    rows_apart = properties.moves_others("Row 0 changes row {}.", 0, table=(0,))
    assert asked(rows_apart, lambda table: table * 2, table=BATCH[0]) is None
    assert asked(rows_apart, lambda table: table - table.mean(axis=0), table=BATCH[0]) == "Row 0 changes row 1."


def test_the_first_cell_that_is_marked():
    told = properties.first_marked(np.array([[False, False], [True, True]]), "cell {}, {}".format)
    assert told == ("cell 1, 0", (1, 0))
    assert properties.first_marked(np.zeros(2, bool), "cell {}".format) is None


def test_raising_leaves_the_array_as_it_was():
    row = np.zeros(2)
    assert properties.raised(row, 1).tolist() == [0.0, 1.0]
    assert not row.any()
