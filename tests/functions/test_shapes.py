import inspect
import re

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp

from mha_helpers.shapes import as_float_array, check_count, check_heads, check_n_heads, check_number, checked


@checked(left="... rows inner", right="... inner columns")
def product(left, right):
    """Multiply two stacks of matrices."""
    return left @ right


@checked(X="... seq_len d_model", W="d_model d_output", b="d_output", factor="number")
def with_defaults(X, W=None, note=None, *, b=0, factor=None):
    return X, W, note, b, factor


@checked(X="... seq_len d_model", W_K="d_model keys", W_V="d_model values", n_heads="divides keys values")
def with_widths(X, W_K, W_V, n_heads):
    return n_heads


@checked(heads="... n_heads d_head", W="n_heads*d_head d_output")
def merge(heads, W):
    return heads.shape, W.shape


@checked(X="... seq_len d_model", context_X="... n_keys d_context or X", W="d_context d_inner")
def from_context(X, W, *, context_X=None):
    return X, context_X, W


SHAPES = hnp.array_shapes(min_dims=1, max_dims=4, max_side=3)


def is_accepted(function, *arguments):
    try:
        function(*arguments)
    except ValueError:
        return False
    return True


@given(SHAPES, SHAPES)
def test_checked_accepts_what_a_product_of_matrices_accepts(left, right):
    arrays = np.ones(left), np.ones(right)
    wanted = min(len(left), len(right)) >= 2 and is_accepted(np.matmul, *arrays)
    assert is_accepted(product, *arrays) == wanted


@pytest.mark.parametrize(
    "call", [lambda f, a, b: f(a, b), lambda f, a, b: f(right=b, left=a)], ids=["by place", "by name"]
)
def test_checked_hands_on_floating_point_arrays(call):
    @checked(left="n", right="n")
    def both(left, right):
        return left, right

    left, right = call(both, [1, 2], np.ones(2, np.float32))
    assert (left.tolist(), left.dtype, right.dtype) == ([1, 2], np.float64, np.float32)


def test_checked_keeps_name_docstring_and_signature():
    assert product.__name__ == "product"
    assert product.__doc__ == "Multiply two stacks of matrices."
    assert list(inspect.signature(product).parameters) == ["left", "right"]


def test_checked_leaves_missing_and_unknown_arguments_to_python():
    with pytest.raises(TypeError, match="missing a required argument: 'right'"):
        product([[1]])
    with pytest.raises(TypeError, match="unexpected keyword argument 'middle'"):
        product([[1]], [[1]], middle=[[1]])


def test_checked_does_not_look_at_defaults_nor_at_what_has_no_specification():
    X, *others = with_defaults([[1, 2]], note="anything")
    assert (X.tolist(), others) == ([[1, 2]], [None, "anything", 0, None])


def test_checked_looks_at_what_replaces_a_default():
    _, W, _, b, factor = with_defaults([[1, 2]], [[1], [2]], b=[3], factor=np.float64(4))
    assert (W.dtype, b.tolist(), type(factor)) == (np.float64, [3], float)
    with pytest.raises(ValueError, match=r"^b has shape \(2,\), so d_output=2, but W with shape .* has d_output=1; "):
        with_defaults([[1, 2]], [[1], [2]], b=[3, 4])


def test_a_product_of_axes_needs_the_sizes_of_both():
    assert merge(np.ones((5, 2, 3)), np.ones((6, 4))) == ((5, 2, 3), (6, 4))
    message = (
        "W has shape (5, 4), so n_heads*d_head=5, but heads with shape (2, 3) has n_heads*d_head=6; "
        "give both the same n_heads*d_head"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        merge(np.ones((2, 3)), np.ones((5, 4)))


def test_another_arguments_axes_stand_in_for_none():
    _, context_X, W = from_context([[1, 2]], np.ones((2, 3)))
    assert context_X is None
    assert W.shape == (2, 3)
    with pytest.raises(ValueError, match=r"so d_context=3, but X with shape .* has d_context=2; give both"):
        from_context([[1, 2]], np.ones((3, 3)))


def test_what_is_given_is_not_stood_in_for():
    _, context_X, _ = from_context([[1, 2]], np.ones((3, 3)), context_X=[[3, 4, 5]])
    assert context_X.tolist() == [[3, 4, 5]]


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ((2,), (2, 2), "left has shape (2,); its axes must be (..., rows, inner)"),
        ((2, 2), (), "right has shape (); its axes must be (..., inner, columns)"),
        ((0, 2), (2, 2), "left has shape (0, 2), so rows=0; give at least one"),
        ((2, 0), (0, 2), "left has shape (2, 0), so inner=0; give at least one"),
        (
            (1, 2),
            (3, 1),
            "right has shape (3, 1), so inner=3, but left with shape (1, 2) has inner=2; give both the same inner",
        ),
        (
            (2, 1, 1, 1),
            (3, 4, 1, 1),
            "right has shape (3, 4, 1, 1), whose leading axes do not go with (2, 1) of the arguments before it; "
            "make them equal, or 1",
        ),
    ],
)
def test_checked_explains_what_does_not_fit(left, right, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        product(np.ones(left), np.ones(right))


def test_axes_without_dots_are_all_there_are():
    @checked(row="n")
    def one_row(row):
        return row

    with pytest.raises(ValueError, match=r"^row has shape \(1, 2\); its axes must be \(n\)$"):
        one_row([[1, 2]])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_as_float_array_keeps_floating_point_types(dtype):
    assert as_float_array("X", np.ones(2, dtype)).dtype == dtype


@pytest.mark.parametrize("given_type", [bool, np.int8, np.uint8, np.int64, np.uint64])
def test_as_float_array_reads_whole_numbers_as_float64(given_type):
    array = as_float_array("X", np.array([0, 1], given_type))
    assert (array.dtype, array.tolist()) == (np.float64, [0, 1])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("abc", "X holds <U3 entries; give real numbers"),
        ([1, 1j], "X holds complex128 entries; give real numbers"),
        (None, "X holds object entries; give real numbers"),
        (..., "X holds object entries; give real numbers"),
        ([np.datetime64("2017-06-12")], "X holds datetime64[D] entries; give real numbers"),
        ([[1, 2], [3]], "X cannot be read as an array: give rows of equal length"),
    ],
)
def test_as_float_array_refuses_what_is_not_real_numbers(value, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        as_float_array("X", value)


@given(st.integers(1, 40), st.integers(1, 50))
def test_check_n_heads_names_every_number_that_divides(size, n_heads):
    divisors = [number for number in range(1, size + 1) if size % number == 0]
    if n_heads in divisors:
        assert check_n_heads(n_heads, "width", size) == n_heads
    else:
        with pytest.raises(ValueError, match=f"^width={size} is not divisible by n_heads={n_heads}; ") as caught:
            check_n_heads(n_heads, "width", size)
        assert [int(number) for number in re.findall(r"\d+", str(caught.value).partition("choose")[2])] == divisors


@pytest.mark.parametrize(
    ("size", "choices"), [(16, "1, 2, 4, 8 or 16 heads"), (7, "1 or 7 heads"), (6, "1, 2, 3 or 6 heads")]
)
def test_check_n_heads_lists_the_choices_in_english(size, choices):
    with pytest.raises(ValueError, match=f"^d_model={size} is not divisible by n_heads=99; choose {choices}$"):
        check_n_heads(99, "d_model", size)


def test_n_heads_divides_every_axis_that_is_named():
    assert with_widths(np.ones((1, 4)), np.ones((4, 8)), np.ones((4, 6)), np.int8(2)) == 2
    with pytest.raises(ValueError, match=r"^d_model=4 is not divisible by n_heads=3; "):
        with_widths(np.ones((1, 4)), np.ones((4, 4)), np.ones((4, 6)), 3)
    with pytest.raises(ValueError, match=r"^values=6 is not divisible by n_heads=4; "):
        with_widths(np.ones((1, 4)), np.ones((4, 8)), np.ones((4, 6)), 4)


@pytest.mark.parametrize("count", [4, np.int8(4), np.array(4)], ids=["int", "NumPy integer", "array without axes"])
def test_check_count_returns_a_python_int(count):
    assert check_count("n", count) == 4
    assert type(check_count("n", count)) is int


@pytest.mark.parametrize("count", [2.0, "2", None, [2], True], ids=repr)
def test_check_count_wants_an_int(count):
    message = f"n={count!r} is not a whole number; give an int of 1 or more"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check_count("n", count)


@pytest.mark.parametrize("count", [0, -1, -16])
def test_check_count_wants_at_least_one(count):
    with pytest.raises(ValueError, match=f"^n={count} is not possible; give an int of 1 or more$"):
        check_count("n", count)


@pytest.mark.parametrize("heads", [[], [2], (2, 0, 2), range(3), np.array([1, 2], np.uint8)], ids=repr)
def test_check_heads_returns_an_array_of_ints(heads):
    checked_heads = check_heads("heads", heads, 3)
    assert checked_heads.dtype == int
    assert checked_heads.tolist() == list(heads)


@pytest.mark.parametrize(
    ("heads", "n_heads", "message"),
    [
        ([0, 4], 4, "heads holds 4; heads count from 0, and with n_heads=4 give 0 to 3"),
        ([-1], 4, "heads holds -1; heads count from 0, and with n_heads=4 give 0 to 3"),
        ([1], 1, "heads holds 1; heads count from 0, and with n_heads=1 give 0"),
        ([0.5], 4, "heads holds float64 entries; give whole numbers, the heads counted from 0"),
        ([True, False], 2, "heads holds bool entries; give whole numbers, the heads counted from 0"),
        (3, 4, "heads has shape (); give a list of heads, such as [0]"),
        ({3}, 4, "heads has shape (); give a list of heads, such as [0]"),
        ([[0, 1]], 4, "heads has shape (1, 2); give a list of heads, such as [0]"),
        ([[0], [1, 2]], 4, "heads cannot be read as an array: give rows of equal length"),
    ],
)
def test_check_heads_says_what_is_possible(heads, n_heads, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check_heads("heads", heads, n_heads)


@pytest.mark.parametrize("number", [2, 2.0, np.float32(2), np.float64(2), np.int8(2)], ids=repr)
def test_check_number_returns_a_python_float(number):
    assert check_number("scale", number) == 2
    assert type(check_number("scale", number)) is float


@pytest.mark.parametrize("value", ["2", 1j, None, [2], np.ones(1)], ids=repr)
def test_check_number_refuses_what_is_not_a_number(value):
    message = f"scale={value!r} is not a number; give a float"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check_number("scale", value)


def test_a_number_of_heads_divides_an_axis_of_any_name():
    @checked(columns="... width", n_heads="divides width")
    def cut(columns, n_heads):
        return n_heads

    assert cut(np.ones((3, 6)), 2) == 2
    with pytest.raises(ValueError, match=r"^width=6 is not divisible by n_heads=4; choose 1, 2, 3 or 6 heads$"):
        cut(np.ones((3, 6)), 4)
