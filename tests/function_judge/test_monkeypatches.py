"""A package's functions as they were written, while a check runs."""

import sys
from types import ModuleType

import pytest

from function_judge import monkeypatches


@pytest.fixture
def module(monkeypatch):
    """A module of a package of tables, whose functions are remembered."""
    module = ModuleType("package_of_tables.sums")
    exec("def total(row):\n    return sum(row)\nlimit = 3", vars(module))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(monkeypatches, "_AS_WRITTEN", {})
    monkeypatches.remember("package_of_tables")
    return module


def test_what_was_replaced_is_itself_in_the_body_and_replaced_again_after_it(module):
    written, module.total = module.total, lambda row: 0
    theirs = module.total
    with monkeypatches.undone():
        assert module.total is written
        with monkeypatches.undone():
            assert module.total is written
        assert module.total is written
    assert module.total is theirs


def test_it_is_put_back_after_an_error(module):
    theirs = module.total = lambda row: 0
    with pytest.raises(KeyError), monkeypatches.undone():
        raise KeyError
    assert module.total is theirs


def test_only_functions_are_remembered(module):
    module.limit = 5
    with monkeypatches.undone():
        assert module.limit == 5


def test_what_is_remembered_first_is_what_was_written(module):
    written, module.total = module.total, lambda row: 0
    monkeypatches.remember("package_of_tables")
    with monkeypatches.undone():
        assert module.total is written


def test_of_another_package_nothing_is_touched(module):
    other = ModuleType("package_of_tables_too")
    other.total = theirs = lambda row: 1
    with monkeypatches.undone():
        assert other.total is theirs
