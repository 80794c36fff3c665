"""The exit test of notebook 05: three bugs, each of them real, none of them named."""

import re
from pathlib import Path

import numpy as np
import pytest

from mha_helpers import exercises
from mha_helpers.attention import multi_head_attention, softmax_or_zeros
from mha_helpers.exercises.output_projection.exit_test import FAULTS, RIGHT
from tools.writing.notebooks import read


def made(source, name="layer"):
    names = {"np": np, "softmax_or_zeros": softmax_or_zeros}
    exec(source, names)
    return names[name]


def faulty_line(test, number):
    _, instead, _ = test.faults[number - 1]
    [place] = [i for i, line in enumerate(test.source(number).splitlines(), 1) if instead in line]
    return place


@pytest.mark.parametrize("seed", range(1, 8))
def test_one_right_function_does_not_pass_the_layers(seed):
    test = exercises.exit_test(seed)
    for number in (1, 2, 3):
        told = repr(test.check(number, made(RIGHT)))
        assert told.startswith(f"Exit test, layer {number}: one thing is missing")
        assert test.tries[number] == 0
        wrong = next(line for line in range(2, 12) if line != faulty_line(test, number))
        told = repr(test.check(number, made(RIGHT), line=wrong))
        assert f"line {wrong} of layer {number} as it was given has no bug" in told
        assert not test.right[number]
        test.check(number, made(RIGHT), line=faulty_line(test, number))
        assert test.right[number]


def test_the_layer_without_a_bug_is_right():
    assert exercises.multi_head_attention.check(made(RIGHT)).status == "correct"


@pytest.mark.parametrize(("line", "instead", "slug"), FAULTS, ids=[slug for *_, slug in FAULTS])
def test_every_bug_has_the_catalogues_name(line, instead, slug):
    assert RIGHT.count(line) == 1
    result = exercises.multi_head_attention.check(made(RIGHT.replace(line, instead)))
    assert (result.status, result.mistake) == ("wrong", slug)


def test_a_seed_gives_the_same_three_different_bugs():
    for seed in range(30):
        test = exercises.exit_test(seed)
        assert test.faults == exercises.exit_test(seed).faults
        assert len({line for line, *_ in test.faults}) == 3
    assert len({exercises.exit_test(seed).faults for seed in range(30)}) > 15


def test_a_wrong_layer_is_told_without_its_name_and_a_mended_one_counts():
    test = exercises.exit_test(seed=2)
    *_, slug = test.faults[1]
    told = repr(test.check(2, made(test.source(2).replace("heads = weights @ V", "heads = V"), "layer_2")))
    assert told.startswith("Exit test, layer 2: not yet")
    assert slug not in told
    line, instead, _ = test.faults[1]
    found = f"The bug: it said `{instead}` where `{line}` belongs."
    assert repr(test.check(2, made(RIGHT), line=faulty_line(test, 2))) == f"Exit test, layer 2: right\n{found}"
    assert repr(test.check("memory", multi_head_attention)) == "Exit test, from memory: right"
    assert repr(test.result()).splitlines() == [
        "Exit test 2: 2 of 4 right",
        "from memory: right, 1 try",
        "layer 1: not attempted",
        "layer 2: right, 2 tries",
        "layer 3: not attempted",
    ]


@pytest.mark.parametrize("seed", range(1, 5))
def test_a_layer_as_it_was_given_is_no_try(seed):
    test = exercises.exit_test(seed)
    for number in (1, 2, 3):
        told = repr(test.check(number, made(test.source(number) + "\n# a remark\n", f"layer_{number}")))
        assert told.startswith(f"Exit test, layer {number}: not attempted yet")
        assert told.endswith(f"This is still layer {number} as given: find its bug, and fix it.")
    assert repr(test.check("memory", lambda *given, mask=None: ...)).endswith("not attempted yet")
    assert all(line.endswith("not attempted") for line in repr(test.result()).splitlines()[1:])
    test.check(1, made(test.source(2), "layer_2"))  # another layer is an answer, and a wrong one
    assert "layer 1: not right yet, 1 try" in repr(test.result())


@pytest.mark.parametrize(("line", "instead", "said"), [
    (
        "d_head = W_Q.shape[-1] // n_heads", "d_head = X.shape[-1] // n_heads",
        "You take the heads' width from X. It is right as long as n_heads * d_head is d_model",
    ),
    ("n_heads, mask=None", "mask=None, n_heads=2", "Your function's first line has its arguments in another order"),
    ("softmax_or_zeros(scores)", "without_maximum(scores)", "Right for ordinary scores; it goes wrong when they are"),
])  # fmt: skip
def test_what_only_unusual_input_shows_is_said(line, instead, said):
    def without_maximum(scores):
        powers = np.exp(scores)
        return powers / np.maximum(powers.sum(axis=-1, keepdims=True), 1e-300)

    names = {"np": np, "softmax_or_zeros": softmax_or_zeros, "without_maximum": without_maximum}
    exec(RIGHT.replace(line, instead), names)
    test = exercises.exit_test(seed=1)
    for part in ("memory", 1):
        told = repr(test.check(part, names["layer"]))
        assert "not yet" in told.splitlines()[0]
        assert said in told
        assert "Likely cause" not in told


def test_what_is_shown_is_what_can_be_copied():
    test = exercises.exit_test(seed=3)
    for number in (1, 2, 3):
        assert [one for one in (1, 2, 3) if test.source(one) in repr(test)] == [number], "each alone, and the next then"
        test.check(number, made(RIGHT), line=faulty_line(test, number))
    assert repr(test) == "Exit test 3: all three layers are right"
    assert all(slug in repr(test.solution()) for *_, slug in test.faults)


@pytest.mark.parametrize(("call", "message"), [
    (lambda: exercises.exit_test("1"), "seed='1' is not a whole number"),
    (lambda: exercises.exit_test(1).check(4, None), "the exit test has no part 4; give one of 'memory', 1, 2, 3"),
])  # fmt: skip
def test_what_is_not_there_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_layer_that_stops_is_told_where_and_why():
    test = exercises.exit_test(seed=1)
    names = {"np": np}  # softmax_or_zeros is not there, as in a notebook that doesn't import it
    exec(RIGHT, names)
    told = repr(test.check(1, names["layer"]))
    assert told.startswith("Exit test, layer 1: not yet")
    assert "Python said NameError: name 'softmax_or_zeros' is not defined" in told
    assert "weights = softmax_or_zeros(scores)" in told or "in the line" not in told


@pytest.mark.parametrize(("source", "said"), [
    (RIGHT.replace("return joined @ W_O, weights", "return joined @ W_O"), "weights"),
    (RIGHT.replace("return joined @ W_O, weights", "return joined @ W_O, weights[..., :1, :, :]"), "weights of shape"),
    (RIGHT.replace("softmax_or_zeros", "softmax"), "A row in which everything is hidden must give zeros"),
    (RIGHT.replace("/ np.sqrt(d_head)", ""), "It runs, and the shapes are right, but the numbers aren't yet"),
])  # fmt: skip
def test_what_nobody_could_guess_is_said(source, said):
    source = source.replace("    d_head =", "    from mha_helpers.attention import softmax\n    d_head =")
    assert said in repr(exercises.exit_test(seed=1).check(1, made(source)))


def test_the_notebook_has_everything_that_a_layer_calls():
    notebook = read(Path(__file__).parents[2] / "notebooks" / "05_output_projection.ipynb")
    imports = re.findall(r"^(?:import|from) .*", "\n".join(cell.source for cell in notebook.cells), re.MULTILINE)
    names = {}
    exec("\n".join(line for line in imports if "mha_helpers.attention" in line or "numpy" in line), names)
    for seed in range(5):
        test = exercises.exit_test(seed)
        for number in (1, 2, 3):
            exec(test.source(number), names)
            assert "Python said" not in repr(test.check(number, names[f"layer_{number}"]))
