"""What a function is asked to do: cases, what is right for them, and trials."""

from dataclasses import replace

import numpy as np
import pytest
import tables

from function_judge.task import Case, Task

ROW = {"row": np.array([3.0, 1.0, 2.0])}


def ranked(row, step=2, *, places=None):
    return np.sort(row)[::step]


def refuses(row):
    raise ValueError("no")


def task(reference=ranked, *cases):
    return Task(reference=reference, outputs=("ranks",), cases=cases or (Case("a row", ROW),), mistakes=())


def test_how_it_is_called_has_the_options_that_are_tried():
    assert task().call == "ranked(row)"
    assert task(ranked, Case("a row", ROW, options={"step": 1})).call == "ranked(row, step=2)"


def test_a_copy_of_a_case_has_arrays_of_its_own():
    case = Case("a row", ROW, options={"pair": (np.zeros(1), 2)})
    copy = case.copy()
    copy["row"][0] = copy["pair"][0][0] = 7.0
    assert case.arguments["row"][0] == 3.0
    assert case.options["pair"][0][0] == 0.0


def test_a_trial_is_right_where_it_gives_what_is_wanted():
    asked = task()
    case = asked.cases[0]
    assert asked.trial(lambda row: [1, 3], case).is_right
    wrong = asked.trial(lambda row: [1, 2], case)
    assert (wrong.is_right, wrong.is_comparable, wrong.timed_out) == (False, True, False)
    assert not asked.trial(lambda row: [1], case).is_comparable
    assert asked.is_right([1, 3], case)
    assert not asked.is_right("13", case)


def test_an_error_may_be_as_good_as_an_answer():
    asked = task(ranked, Case("whole numbers", ROW, error_is_fine=True))
    assert asked.trial(refuses, asked.cases[0]).is_right
    assert not asked.trial(lambda row: row, asked.cases[0]).is_right


def test_an_endless_function_is_stopped_and_is_not_right():
    def endless(row):
        while True:
            pass

    asked = replace(task(ranked, Case("whole numbers", ROW, error_is_fine=True)), seconds=0.02)
    trial = asked.trial(endless, asked.cases[0])
    assert trial.timed_out
    assert not trial.is_right


def test_the_courses_own_functions_run_once_for_each_case():
    calls = []

    def counted(row):
        calls.append(row)
        return row

    asked = task(counted)
    assert asked.expected(asked.cases[0]) is asked.expected(asked.cases[0])
    assert len(calls) == 1


def test_a_reference_may_refuse_but_not_fail():
    assert isinstance(task(refuses).expected(task().cases[0]).error, ValueError)
    with pytest.raises(RuntimeError, match="the course's own <lambda> can't run here on a row, IndexError"):
        task(lambda row: row[9]).expected(task().cases[0])


def test_numbers_on_the_way_are_read_from_the_references_source():
    names = {stage.name for stage in tables.TASK.on_the_way(tables.CASE)}
    assert {"scores", "table", "centred", "spread", "table.mean(axis=0)"} <= names
    assert task(np.sort).on_the_way(task().cases[0]) == []
