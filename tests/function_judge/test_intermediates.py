"""The numbers that a right function has on its way, read from its source."""

import numpy as np

from function_judge.intermediates import MAX_KNOWN, numbers_inside

ROW = {"row": np.array([1.0, 2.0, 4.0, 9.0])}


def found(*lines, outputs=("result",), arguments=ROW, **options):
    body = "\n    ".join(lines)
    return numbers_inside(f"def f({', '.join([*arguments, *options])}):\n    {body}", {}, arguments, options, outputs)


def ranks(*lines, **asked):
    return {stage.name: stage.rank for stage in found(*lines, **asked)}


def test_outputs_variables_and_expressions_have_their_ranks():
    assert ranks("half = row / 2", "return half - half.mean()") == {
        "result": 2,
        "row": 1,
        "half": 1,
        "half.mean()": 0,
    }


def test_the_outputs_come_first_and_have_the_layout_that_they_have_there():
    first, *_ = found("return row[:, None] + row")
    assert (first.name, first.array.shape, first.exact) == ("result", (4, 4), True)


def test_the_same_numbers_are_kept_once_and_other_numbers_of_a_name_get_a_mark():
    assert ranks("half = row / 2", "same = half.copy()", "half = half - 1", "return half * 3") == {
        "result": 2,
        "row": 1,
        "half": 1,
        "half'": 1,
    }


def test_several_outputs_and_options_have_their_own_names():
    names = ranks("return row + step, row * 2", outputs=("sums", "products"), step=np.array([0.5] * 4))
    assert names == {"sums": 2, "products": 2, "row": 1, "step": 1}


def test_a_function_that_cannot_run_has_no_numbers():
    assert found("return row + missing") == []


def test_what_an_uninitialised_array_holds_is_not_left_to_chance():
    room = next(stage for stage in found("room = np.empty(4)", "return room + row") if stage.name == "room")
    assert not room.array.any()


def test_comprehensions_indices_and_texts_go_on_working():
    lines = ('label = f"{row[0]}"', "parts = [x * 2 for x in row[1:3]]", "return row[::2, None] @ np.array([parts])")
    assert found(*lines)[0].array.tolist() == [[4.0, 8.0], [16.0, 32.0]]


def test_there_is_an_end_of_them():
    assert len(found("for i in range(100):", "    row = row * 1.5", "return row")) == MAX_KNOWN
