"""The replay finds the sources' slips: exactly these, and each of them as what it is."""

import dataclasses
from decimal import Decimal

import numpy as np
import pytest

from mha_helpers.attention import multi_head_attention
from mha_helpers.masks import padding_mask
from mha_helpers.worked_examples import EXAMPLES, Example, Row, Step, load, replay, right_values, slips, table

SLIPS = {
    "play_football": [("weights in percent", "play")],
    "cat_sat": [
        ("head 1 weights", "the"),
        ("head 1 weights", "cat"),
        ("head 1 weights", "sat"),
        ("head 1 context", "cat"),
        ("head 2 scaled scores", "the"),
        ("head 2 scaled scores", "cat"),
        ("head 2 scaled scores", "sat"),
        ("head 2 weights", "the"),
        ("head 2 weights", "cat"),
        ("head 2 weights", "sat"),
        ("head 2 context", "cat"),
        ("output", "the"),
        ("output", "cat"),
        ("output", "sat"),
    ],
    "eight_tokens": [("W_Q as stated", "shape"), ("W_K as stated", "shape"), ("W_V as stated", "shape")],
}
CARRIED = {
    "cat_sat": [
        ("head 1 terms of 'the'", "the"),
        ("head 1 terms of 'the'", "cat"),
        ("head 1 terms of 'the'", "sat"),
        ("head 1 context", "the"),
        ("head 2 terms of 'the'", "the"),
        ("head 2 terms of 'the'", "cat"),
        ("head 2 terms of 'the'", "sat"),
        ("head 2 context", "the"),
        ("concatenation", "the"),
        ("concatenation", "cat"),
    ],
}
# Right to the printed digits, although the step before it is not and gives another number.
BY_LUCK = {"cat_sat": [("head 1 context", "sat")]}

# Example B from where it slips: what is printed, and what is right to four decimals.
PRINTED_AND_RIGHT = {
    "head 1 weights": [
        (".43 .29 .28", ".3458 .2327 .4215"),
        (".38 .20 .42", ".3446 .1850 .4704"),
        (".39 .29 .32", ".3442 .2594 .3965"),
    ],
    "head 2 scaled scores": [
        ("1.06 2.11 .88", "1.6405 2.3759 1.2728"),
        ("2.11 2.76 1.63", "1.1314 1.6405 .8768"),
        (".88 1.63 .77", "1.8950 2.7436 1.4708"),
    ],
    "head 2 weights": [
        (".24 .66 .10", ".2646 .5521 .1832"),
        (".30 .57 .13", ".2908 .4838 .2254"),
        (".27 .56 .17", ".2506 .5854 .1640"),
    ],
    "head 1 context": [(".43 .43", ".4044 .4044"), (".34 .34", ".3900 .3900"), (".41 .41", ".4122 .4122")],
    "head 2 context": [
        ("1.322 1.322", "1.2921 1.2921"),
        ("1.36 1.36", "1.2742 1.2742"),
        ("1.30 1.30", "1.3007 1.3007"),
    ],
    "output": [
        ("2.63 2.92 3.2 3.5", "3.0853 3.4246 3.7639 4.1032"),
        ("2.67 2.97 3.27 3.57", "3.0373 3.3701 3.7029 4.0358"),
        ("2.58 2.87 3.16 3.45", "3.1089 3.4515 3.7940 4.1366"),
    ],
}


def places(rows):
    return [(row.step, row.label) for row in rows]


def find(rows, step, label=None):
    [row] = [row for row in rows if row.step == step and label in (None, row.label)]
    return row


def change_step(example, name, **changes):
    steps = [dataclasses.replace(step, **changes) if step.name == name else step for step in example.steps]
    return dataclasses.replace(example, steps=tuple(steps))


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_row_has_its_verdict(name):
    rows = replay(name)
    assert rows
    assert places(slips(name)) == SLIPS.get(name, [])
    assert places(row for row in rows if row.verdict == "carried") == CARRIED.get(name, [])
    assert places(row for row in rows if row.agrees and not row.follows) == BY_LUCK.get(name, [])
    assert {row.verdict for row in rows} <= {"agrees", "carried", "wrong here"}


@pytest.mark.parametrize("step", PRINTED_AND_RIGHT)
def test_example_b_is_right_to_four_decimals_where_the_notes_are_not(step):
    rows = [row for row in replay("cat_sat") if row.step == step]
    assert [row.label for row in rows] == ["the", "cat", "sat"]
    for row, (printed, right) in zip(rows, PRINTED_AND_RIGHT[step], strict=True):
        assert [number.removeprefix("0") for number in row.printed] == printed.split()
        assert [f"{number:.4f}".removeprefix("0") for number in row.right] == right.split()


def test_example_b_ends_where_multi_head_attention_does():
    inputs = load("cat_sat").inputs
    W_Q, W_K, W_V = (np.hstack([inputs[f"{W}_1"], inputs[f"{W}_2"]]) for W in ("W_Q", "W_K", "W_V"))
    output, weights = multi_head_attention(inputs["X"], W_Q, W_K, W_V, inputs["W_O"], n_heads=2)
    values = right_values("cat_sat")
    np.testing.assert_allclose(values["output"], output)
    np.testing.assert_allclose([values["head 1 weights"], values["head 2 weights"]], weights)


def test_given_is_computed_from_the_printed_numbers():
    rows = replay("cat_sat")
    # .38 (.4) + .20 (.6) + .42 (.3), and the concatenation of "the" times W_O
    assert find(rows, "head 1 context", "cat").given == pytest.approx((0.398, 0.398))
    assert find(rows, "output", "the").given == pytest.approx((3.1664, 3.5168, 3.8672, 4.2176))
    # Head 2's scores are not printed: queries, keys and the 1.414 below the fraction are.
    printed_root = [1.4 * 0.8 + 1.2 * 1.0, 1.4 * 1.2 + 1.2 * 1.4, 1.4 * 0.6 + 1.2 * 0.8] / np.float64(1.414)
    assert find(rows, "head 2 scaled scores", "the").given == pytest.approx(printed_root)


def test_the_share_of_28_9_percent_belongs_to_the_row_below():
    rows = replay("play_football")
    slip, below = (find(rows, "weights in percent", token) for token in ("play", "football"))
    assert slip.printed[2] == below.printed[2] == "28.9"
    assert (round(slip.right[2], 1), round(below.right[2], 1)) == (27.5, 28.9)


def test_the_slide_contradicts_itself_and_slices_of_the_input_are_block_diagonal_projections():
    rows, values = replay("eight_tokens"), right_values("eight_tokens")
    for matrix in ("W_Q", "W_K", "W_V"):
        stated, used = find(rows, f"{matrix} as stated"), find(rows, f"{matrix} as used")
        assert (stated.printed, stated.right, stated.given) == (("4", "2"), (2, 2), (2, 2))
        assert (used.printed, used.verdict) == (("2", "2"), "agrees")
    with pytest.raises(ValueError, match="mismatch"):
        values["head 1 slice"] @ np.ones((4, 2))

    def block_diagonal(W):
        zeros = np.zeros((2, 2))
        return np.block([[values[f"{W}_1"], zeros], [zeros, values[f"{W}_2"]]])

    output, _ = multi_head_attention(
        values["X"], block_diagonal("W_Q"), block_diagonal("W_K"), block_diagonal("W_V"), values["W_O"], n_heads=2
    )
    np.testing.assert_allclose(values["output"], output)


def test_six_heads_are_refused_and_eight_would_not_be():
    refusal = find(replay("six_heads"), "six heads")
    assert refusal.label == "error"
    assert refusal.printed == ("16 / 6 is not an integer",)
    assert refusal.right[0].startswith("d_model=16 is not divisible by n_heads=6")
    assert refusal.verdict == "agrees"
    with_eight = change_step(load("six_heads"), "six heads", arguments=("X", 8))
    assert find(replay(with_eight), "six heads").verdict == "wrong here"
    with pytest.raises(ValueError, match="n_heads=6"):
        replay(change_step(load("six_heads"), "eight heads", arguments=("X", 6)))


def test_heads_folded_into_the_batch_are_the_four_axis_form():
    values = right_values("ids_through_a_batch")
    mask = padding_mask(values["attention_mask"])
    W_Q, W_K, W_V = (values[name] for name in ("W_Q", "W_K", "W_V"))
    output, weights = multi_head_attention(values["X"], W_Q, W_K, W_V, np.eye(8), 4, mask)
    np.testing.assert_allclose(values["output"], output)
    np.testing.assert_allclose(values["weights"], weights[0])
    # Every head of the second sentence comes after every head of the first.
    np.testing.assert_array_equal(
        values["folded queries, two sentences"][6], values["queries, two sentences"][1, :, 4:6]
    )
    np.testing.assert_array_equal(
        values["decoder's mask in the scores' shape"][3],
        [[True, False, False, False], [True, True, False, False], [True, True, True, False], [True, True, True, False]],
    )


def test_the_inputs_are_the_sources():
    football, cat, identity = (load(name).inputs for name in ("play_football", "cat_sat", "identity"))
    np.testing.assert_array_equal(football["X"], [[0.2, 0.4, 0.6], [0.8, 0.3, 0.3], [0.1, 0.2, 0.5]])
    np.testing.assert_array_equal(football["W_K"], [[0.5, -0.5], [1, 0], [0, 1]])
    np.testing.assert_array_equal(cat["X"], [[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0]])
    np.testing.assert_array_equal(cat["W_K_1"], [[0.8, 0.7], [0.6, 0.5], [0.4, 0.3], [0.2, 0.1]])
    np.testing.assert_array_equal(cat["W_V_2"], [[0.5, 0.5], [0.6, 0.6], [0.7, 0.7], [0.8, 0.8]])
    np.testing.assert_allclose(cat["W_O"], np.arange(1, 17).reshape(4, 4) / 10)
    np.testing.assert_array_equal([identity[name] for name in "QKV"], [np.eye(2)] * 3)
    X = load("eight_tokens").inputs["X"]
    np.testing.assert_array_equal(X[[0, 7]], [[0.2, 0.5, 0.1, 0.8], [0.1, 0.9, 0.7, 0.6]])
    batch = load("ids_through_a_batch").inputs
    np.testing.assert_array_equal(batch["ids"], [[101, 98, 102, 0]])
    np.testing.assert_array_equal(batch["attention_mask"], [[1, 1, 1, 0]])
    assert all(array.dtype == np.float64 for name in EXAMPLES for array in load(name).inputs.values())


def test_made_up_inputs_are_named_and_were_made_as_they_say():
    example = load("eight_tokens")
    assert list(example.made_up) == [name for name in example.inputs if name != "X"]
    generator = np.random.default_rng(5)
    for name, how in example.made_up.items():
        size, scale = ((4, 4), 1) if name == "W_O" else ((2, 2), 2)
        assert f"scale={scale}, size={size}" in how
        np.testing.assert_array_equal(example.inputs[name], generator.normal(scale=scale, size=size).round(2))

    example = load("ids_through_a_batch")
    assert list(example.made_up) == [name for name in example.inputs if name not in ("ids", "attention_mask")]
    generator = np.random.default_rng(0)
    for name, size, scale in [("embeddings", (4, 8), 1), *((f"W_{W}", (8, 8), 0.35) for W in "QKV")]:
        assert f"scale={scale}, size={size}" in example.made_up[name]
        np.testing.assert_array_equal(example.inputs[name], generator.normal(scale=scale, size=size).round(2))

    example = load("six_heads")
    assert list(example.made_up) == ["X"]
    np.testing.assert_allclose(example.inputs["X"], [[token + f / 100 for f in range(1, 17)] for token in (1, 2, 3)])
    assert not any(load(name).made_up for name in ("play_football", "cat_sat", "identity", "model_sizes"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_two_things_of_an_example_share_a_name(name):
    example = load(name)
    names = [*example.inputs, *(step.name for step in example.steps)]
    assert len(names) == len(set(names))
    assert example.title
    assert example.source


def bump(text, units):
    """Move the last printed digit."""
    number = Decimal(text)
    return str(number + units * Decimal(1).scaleb(number.as_tuple().exponent))


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_changed_digit_is_noticed_wherever_it_is_printed(name):
    example = load(name)
    before = replay(example)
    for place, row in enumerate(before):
        if row.label == "error":
            continue
        step = next(step for step in example.steps if step.name == row.step)
        for column, (text, right) in enumerate(zip(row.printed, row.right, strict=True)):
            # A wrong number is moved away from the right one: towards it, it might be repaired.
            for unit in (-1, 1) if row.agrees else (1 if Decimal(text) > right else -1,):
                changed = (*row.printed[:column], bump(text, unit), *row.printed[column + 1 :])
                if row.label == "shape":
                    mutant = change_step(example, step.name, shape=changed)
                else:
                    index = step.labels.index(row.label)
                    printed = (*step.printed[:index], changed, *step.printed[index + 1 :])
                    mutant = change_step(example, step.name, printed=printed)
                with np.errstate(all="ignore"):  # a printed 1, bumped to 0, may be what the next step divides by
                    found = replay(mutant)[place]
                assert found.printed == changed
                assert found.verdict != "agrees"


def test_a_number_agrees_up_to_exactly_half_a_unit():
    def agrees(printed, numerator, denominator):
        step = Step("ratio", "divide", (numerator, denominator), printed=((printed,),), labels=("",))
        return find(replay(one_example(step)), "ratio").agrees

    assert all(agrees(printed, 1, 4) for printed in ("0.25", "0.2", "0.3", "0"))
    assert not any(agrees(printed, 1, 4) for printed in ("0.26", "0.251", "0.4", "1"))
    # In float64 0.2 - 0.15 is above 0.05.
    assert agrees("0.1", 3, 20)
    assert agrees("0.2", 3, 20)


def one_example(*steps):
    return Example("made up", "", "", (), {"one": np.array(1.0)}, {}, (), steps)


def test_unprinted_digits_of_a_right_argument_count_and_no_others():
    def row_of_tenfold(printed_argument, divisor, printed):
        argument = Step("argument", "divide", ("one", divisor), printed=((printed_argument,),), labels=("",))
        tenfold = Step("tenfold", "multiply", ("argument", 10), printed=((printed,),), labels=("",))
        return find(replay(one_example(argument, tenfold)), "tenfold")

    # 1/3 is printed as 0.3, and ten times it is 3.33 or, from the printed digit, 3.
    assert row_of_tenfold("0.3", 3, "3.33").follows
    assert row_of_tenfold("0.3", 3, "3.00").follows
    assert not row_of_tenfold("0.3", 3, "3.35").follows
    # 1/2 has no digits after 0.5.
    assert not row_of_tenfold("0.5", 2, "5.3").follows
    # Of a wrong 0.6, everything from 0.55 to 0.65 may have been meant.
    assert row_of_tenfold("0.6", 2, "6.4").verdict == "carried"
    assert row_of_tenfold("0.6", 2, "6.7").verdict == "wrong here"


def test_unprinted_digits_pass_through_steps_that_are_not_printed():
    third = Step("third", "divide", ("one", 3), printed=(("0.3",),), labels=("",))
    unprinted = Step("tenfold", "multiply", ("third", 10))
    last = Step("hundredfold", "multiply", ("tenfold", 10), printed=(("33.33",),), labels=("",))
    row = find(replay(one_example(third, unprinted, last)), "hundredfold")
    assert (row.given, row.follows) == (pytest.approx((30,)), True)


@pytest.mark.parametrize("name", EXAMPLES)
def test_replaying_changes_nothing(name):
    example, untouched = load(name), load(name)
    assert replay(example) == replay(example) == replay(name)
    for array in right_values(example).values():
        if isinstance(array, np.ndarray):
            array[...] = 0
    assert example.steps == untouched.steps
    for key, array in untouched.inputs.items():
        np.testing.assert_array_equal(example.inputs[key], array)
    for array in example.inputs.values():
        array[...] = 0
    for key, array in load(name).inputs.items():
        np.testing.assert_array_equal(array, untouched.inputs[key])


@pytest.mark.parametrize("function", [load, replay, slips, right_values])
@pytest.mark.parametrize("name", ["dog_sat", None, ["cat_sat"]])
def test_an_unknown_example_is_refused_with_the_known_ones(function, name):
    with pytest.raises(ValueError, match=r"is not a worked example; choose one of play_football, cat_sat, .*batch$"):
        function(name)


def test_a_table_says_where_a_row_agrees_by_luck_and_names_examples_when_there_are_several():
    rows = replay("cat_sat")
    lines = table(rows).splitlines()
    assert len(lines) == 1 + len(rows)
    assert lines[0].split() == ["step", "row", "printed", "right", "from", "the", "step", "before", "verdict"]
    assert sum(line.endswith("agrees, by luck") for line in lines) == 1
    both = table(slips("cat_sat") + slips("play_football")).splitlines()
    assert both[0].startswith("example")
    assert both[-1].startswith("play_football")
    assert table([]) == "step  row  printed  right  from the step before  verdict"
    assert table(rows[0]) == table(rows[:1])


def test_a_table_has_four_decimals_at_most_and_no_negative_zero():
    row = Row("made up", "step", "row", ("0.1234567",), (-1e-9, 2 / 3), (float("-inf"), 1234.5), True, True)
    assert table([row]).splitlines()[1].split() == [
        "step",
        "row",
        "0.1234567",
        "0",
        "0.6667",
        "-inf",
        "1234.5",
        "agrees",
    ]


@pytest.mark.parametrize("rows", ["cat_sat", [1], None])
def test_a_table_of_something_else_is_refused(rows):
    with pytest.raises(ValueError, match="give the rows that replay or slips returns"):
        table(rows)
