import inspect
import re

import hypothesis.strategies as st
import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from strategies import (
    BATCHES,
    GENERATORS,
    KINDS,
    attention_inputs,
    different_sizes,
    masked_attention_inputs,
    multi_head_inputs,
    self_attention_inputs,
)

from mha_helpers import attention
from mha_helpers.attention import (
    attention_scores,
    combine_heads,
    dot_product_attention,
    folded_attention,
    head_contributions,
    knock_out,
    masked_attention,
    multi_head_attention,
    scaled_dot_product_attention,
    softmax,
    softmax_jacobian,
    softmax_or_zeros,
    split_heads,
)
from mha_helpers.masks import causal_mask, padding_mask

BOTH_FLOAT_TYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def assert_same(results, expected):
    """Compare two tuples of arrays: (context, weights), (output, weights) or the one result there is."""
    for number, (result, wanted) in enumerate(zip(results, expected, strict=True)):
        assert_allclose(result, wanted, rtol=1e-10, atol=1e-12, err_msg=f"result {number + 1} of {len(results)}")


# --- softmax ---

SCORES = hnp.arrays(
    np.float64, hnp.array_shapes(max_dims=3, max_side=4), elements=st.floats(-50, 50) | st.sampled_from([-np.inf, 1e4])
)


@BOTH_FLOAT_TYPES
@given(scores=SCORES)
def test_softmax_or_zeros_agrees_with_the_loops_without_a_warning(dtype, scores):
    scores = scores.astype(dtype)
    with np.errstate(all="raise", under="ignore"):
        weights = softmax_or_zeros(scores)
    assert_allclose(weights, oracle.softmax(scores), rtol=100 * np.finfo(dtype).eps, atol=np.finfo(dtype).tiny)


@given(SCORES)
def test_softmax_rows_sum_to_1_and_are_nan_where_everything_is_hidden(scores):
    something_visible = (scores > -np.inf).any(axis=-1)
    with np.errstate(invalid="ignore"):
        sums = softmax(scores).sum(axis=-1)
    assert_allclose(sums, np.where(something_visible, 1, np.nan))
    assert_allclose(softmax_or_zeros(scores).sum(axis=-1), something_visible)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_softmax_shows_nan_and_inf_in_their_own_row_only(bad):
    with np.errstate(invalid="ignore"):
        weights = softmax([[0, bad, -np.inf], [0, 1, 2]])
    assert_array_equal(np.isnan(weights), [[True] * 3, [False] * 3])


ONE_ROW = hnp.arrays(np.float64, st.integers(1, 6), elements=st.floats(-4, 4))


@given(ONE_ROW)
def test_softmax_jacobian_agrees_with_finite_differences(scores):
    steps = 1e-5 * np.eye(len(scores))
    differences = (softmax(scores + steps) - softmax(scores - steps)) / 2e-5
    assert_allclose(softmax_jacobian(softmax(scores)), differences.T, atol=1e-8)


# --- one head ---


@given(attention_inputs())
def test_attention_scores_are_dot_products(inputs):
    queries, keys = inputs["queries"], inputs["keys"]
    scores = attention_scores(queries, keys)
    assert scores.shape == (*queries.shape[:-1], keys.shape[-2])
    for *batch, i, j in np.ndindex(scores.shape):
        assert_allclose(scores[*batch, i, j], sum(queries[*batch, i] * keys[*batch, j]), atol=1e-12)


@given(attention_inputs())
def test_dot_product_attention_agrees_with_the_loops(inputs):
    assert_same(dot_product_attention(**inputs), oracle.attention(**inputs, scale=1))


@given(masked_attention_inputs(), st.booleans(), st.sampled_from([None, 0.3, 2]))
def test_scaled_dot_product_attention_agrees_with_the_loops(inputs, is_causal, scale):
    with np.errstate(all="raise"):  # also where a query sees nothing
        found = scaled_dot_product_attention(**inputs, is_causal=is_causal, scale=scale)
    assert_same(found, oracle.attention(**inputs, is_causal=is_causal, scale=scale))


@given(masked_attention_inputs().filter(lambda inputs: inputs["mask"] is not None))
def test_masked_attention_agrees_with_the_loops(inputs):
    assert_same(masked_attention(**inputs), oracle.attention(**inputs))


@given(masked_attention_inputs(batches_differ=True))
def test_batch_axes_broadcast(inputs):
    context, weights = scaled_dot_product_attention(**inputs)
    wanted = oracle.attention(**inputs)
    assert_same((context, np.broadcast_to(weights, wanted[1].shape)), wanted)


@BOTH_FLOAT_TYPES
def test_scores_of_ten_thousand_give_finite_attention(dtype):
    queries, keys = np.array([[1e4, 0]], dtype), np.array([[1, 0], [-1, 0], [1, 5]], dtype)
    context, weights = scaled_dot_product_attention(queries, keys, np.eye(3, dtype=dtype), scale=1)
    assert_array_equal(weights, [[0.5, 0, 0.5]])
    assert_array_equal(context, weights)


# --- masks ---


def hidden_by_a_mask(n):
    return {"mask": causal_mask(n)}


def hidden_by_is_causal(n):
    return {"is_causal": True}


@pytest.mark.parametrize("hide_the_future", [hidden_by_a_mask, hidden_by_is_causal])
@given(inputs=self_attention_inputs(), data=st.data())
def test_the_future_does_not_leak(hide_the_future, inputs, data):
    X = inputs["X"]
    seq_len = X.shape[-2]
    present = data.draw(st.integers(0, seq_len - 1))
    changed = np.concatenate([X[..., : present + 1, :], 100 - X[..., present + 1 :, :]], axis=-2)
    output, weights = multi_head_attention(**inputs, **hide_the_future(seq_len))
    output_changed, weights_changed = multi_head_attention(**inputs | {"X": changed}, **hide_the_future(seq_len))
    earlier = np.s_[..., : present + 1, :]
    assert_same((output_changed[earlier], weights_changed[earlier]), (output[earlier], weights[earlier]))
    assert_array_equal(weights[..., present, present + 1 :], 0)


@given(self_attention_inputs(), GENERATORS)
def test_a_padding_mask_is_as_good_as_leaving_the_padding_out(inputs, random):
    X = random.normal(size=(2, 5, inputs["X"].shape[-1]))
    output, weights = multi_head_attention(**inputs | {"X": X}, mask=padding_mask([[1, 1, 1, 0, 0], [1] * 5]))
    output_short, weights_short = multi_head_attention(**inputs | {"X": X[0, :3]})
    assert_same((output[0, :3], weights[0, :, :3, :3]), (output_short, weights_short))
    assert_array_equal(weights[0, :, :, 3:], 0)


# --- many heads ---


@given(self_attention_inputs())
def test_split_heads_gives_each_head_its_own_columns(inputs):
    X, n_heads = inputs["W_Q"], inputs["n_heads"]
    d_head = X.shape[-1] // n_heads
    heads = split_heads(X, n_heads)
    assert heads.shape == (n_heads, len(X), d_head)
    for head in range(n_heads):
        assert_array_equal(heads[head], X[:, head * d_head : (head + 1) * d_head])


@st.composite
def stacks_of_heads(draw):
    return draw(GENERATORS).normal(size=(*draw(BATCHES), *draw(different_sizes(3))))


@given(stacks_of_heads())
def test_combine_heads_and_split_heads_undo_each_other(heads):
    n_heads, seq_len, d_head = heads.shape[-3:]
    combined = combine_heads(heads)
    assert combined.shape == (*heads.shape[:-3], seq_len, n_heads * d_head)
    assert_array_equal(split_heads(combined, n_heads), heads)
    assert_array_equal(combine_heads(split_heads(combined, n_heads)), combined)


@given(stacks_of_heads(), GENERATORS)
def test_a_head_contributes_what_is_left_without_the_others(heads, random):
    n_heads, _, d_head = heads.shape[-3:]
    W_O = random.normal(size=(n_heads * d_head, 4))
    for head in range(n_heads):
        alone = np.zeros_like(heads)
        alone[..., head, :, :] = heads[..., head, :, :]
        contribution = head_contributions(heads, W_O)[..., head, :, :]
        assert_allclose(contribution, combine_heads(alone) @ W_O, atol=1e-12)


@given(stacks_of_heads(), GENERATORS, st.data())
def test_heads_that_are_knocked_out_contribute_nothing_and_the_others_what_they_did(heads, random, data):
    n_heads, _, d_head = heads.shape[-3:]
    W_O = random.normal(size=(n_heads * d_head, 4))
    off = data.draw(st.lists(st.integers(0, n_heads - 1)))
    expected = head_contributions(heads, W_O)
    expected[..., off, :, :] = 0
    assert_array_equal(head_contributions(heads, knock_out(W_O, off, n_heads)), expected)
    assert_array_equal(knock_out(W_O, np.array(off, dtype=np.uint8), n_heads), knock_out(W_O, off, n_heads))


def test_what_is_knocked_out_is_0_even_where_it_was_not_finite():
    W_O = np.array([[np.nan, np.inf], [1, 2]])
    assert_array_equal(knock_out(W_O, [0], 2), [[0, 0], [1, 2]])


@given(different_sizes(4), GENERATORS)
def test_folded_attention_with_the_projections_around_it_is_multi_head_attention(sizes, random):
    batch, seq_len, n_heads, d_head = sizes
    d_model = n_heads * d_head
    X = random.normal(size=(batch, seq_len, d_model))
    *projections, W_O = random.normal(size=(4, d_model, d_model)) * d_model**-0.5
    context = folded_attention(*(X @ W for W in projections), n_heads)
    output, _ = multi_head_attention(X, *projections, W_O, n_heads)
    assert_allclose(context @ W_O, output, atol=1e-10)


@given(multi_head_inputs())
def test_multi_head_attention_agrees_with_the_loops(inputs):
    with np.errstate(all="raise"):
        found = multi_head_attention(**inputs)
    assert_same(found, oracle.multi_head_attention(**inputs))


def test_cross_attention_to_itself_is_self_attention():
    X, *matrices = np.random.default_rng(2).normal(size=(5, 6, 6))
    assert_same(multi_head_attention(X, *matrices, 3, context_X=X), multi_head_attention(X, *matrices, 3))


# --- every function, whatever it is given ---


def change_arrays(arguments, change, but=()):
    return {
        name: change(value) if isinstance(value, np.ndarray) and name not in but else value
        for name, value in arguments.items()
    }


def locked(array):
    array.flags.writeable = False
    return array


def every_call():
    """Return one call or more of each public function: (label, function, arguments), its arrays read-only."""
    random = np.random.default_rng(3)
    normal = random.normal
    one_head = {"queries": normal(size=(2, 3, 4)), "keys": normal(size=(2, 5, 4)), "values": normal(size=(2, 5, 6))}
    visible = random.random((3, 5)) < 0.7
    numbers = np.where(visible, normal(size=(3, 5)), -np.inf)
    plain = {name: normal(size=(4, 4)) for name in ("W_Q", "W_K", "W_V", "W_O")} | {"n_heads": 2}
    plain["X"] = normal(size=(3, 2, 4))
    cross = {
        "context_X": normal(size=(3, 5, 7)),
        "W_K": normal(size=(7, 4)),
        "W_V": normal(size=(7, 6)),
        "W_O": normal(size=(6, 5)),
        "b_Q": normal(size=4),
        "b_K": normal(size=4),
        "b_V": normal(size=6),
        "b_O": normal(size=5),
    }
    heads = normal(size=(2, 3, 4, 5))
    calls = [
        ("softmax", softmax, {"scores": normal(size=(2, 3, 5))}),
        ("softmax_or_zeros", softmax_or_zeros, {"scores": normal(size=(2, 3, 5))}),
        ("softmax_jacobian", softmax_jacobian, {"p": normal(size=5)}),
        ("attention_scores", attention_scores, {"queries": one_head["queries"], "keys": one_head["keys"]}),
        ("dot_product_attention", dot_product_attention, one_head),
        ("scaled", scaled_dot_product_attention, one_head),
        ("scaled, causal", scaled_dot_product_attention, one_head | {"is_causal": True, "scale": 0.3}),
        ("scaled, float mask", scaled_dot_product_attention, one_head | {"mask": numbers, "is_causal": True}),
        ("masked, bool", masked_attention, one_head | {"mask": visible}),
        ("masked, float", masked_attention, one_head | {"mask": numbers}),
        ("split_heads", split_heads, {"X": normal(size=(2, 3, 6)), "n_heads": 2}),
        ("combine_heads", combine_heads, {"heads": heads}),
        (
            "folded_attention",
            folded_attention,
            {name: normal(size=(2, 3, 6)) for name in ("queries", "keys", "values")} | {"n_heads": 2},
        ),
        ("head_contributions", head_contributions, {"heads": heads, "W_O": normal(size=(15, 4))}),
        ("knock_out", knock_out, {"W_O": normal(size=(15, 4)), "heads": [0, 2], "n_heads": 5}),
        ("multi-head", multi_head_attention, plain),
        ("multi-head, cross", multi_head_attention, plain | cross | {"mask": visible[:2]}),
        ("multi-head, float mask", multi_head_attention, plain | cross | {"mask": numbers[:2], "is_causal": True}),
    ]
    return [(label, function, change_arrays(arguments, locked)) for label, function, arguments in calls]


EVERY_CALL = pytest.mark.parametrize(
    ("function", "arguments"), [pytest.param(*call, id=label) for label, *call in every_call()]
)


def arrays_in(arguments):
    """Return the names of the arguments that are arrays of numbers."""
    return [name for name, value in arguments.items() if isinstance(value, np.ndarray) and name != "mask"]


def call(function, arguments):
    """Call, and return the results as a tuple, also where there is only one."""
    results = function(**arguments)
    return results if isinstance(results, tuple) else (results,)


def test_every_public_function_is_called():
    public = {
        function
        for name, function in inspect.getmembers(attention, inspect.isfunction)
        if function.__module__ == attention.__name__ and not name.startswith("_")
    }
    assert {function for _, function, _ in every_call()} == public


@EVERY_CALL
def test_the_floating_point_type_is_kept(function, arguments):
    for dtype in (np.float32, np.float64):
        converted = change_arrays(arguments, lambda array, dtype=dtype: array.astype(dtype), but=["mask"])
        for result, expected in zip(call(function, converted), call(function, arguments), strict=True):
            assert result.dtype == dtype
            assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


def test_a_float64_scale_leaves_float32_alone():
    ones = np.ones((2, 4), np.float32)
    context, weights = scaled_dot_product_attention(ones, ones, ones, scale=1 / np.sqrt(4))
    assert (context.dtype, weights.dtype) == (np.float32, np.float32)


@EVERY_CALL
def test_inputs_are_never_changed(function, arguments):
    copies = change_arrays(arguments, np.copy)
    before = change_arrays(arguments, np.copy)
    call(function, copies)
    for name in arguments:
        assert_array_equal(copies[name], before[name], err_msg=name)


@EVERY_CALL
def test_read_only_arrays_are_accepted(function, arguments):
    copies = change_arrays(arguments, np.copy)
    assert_same(call(function, arguments), call(function, copies))


@EVERY_CALL
def test_lists_are_read_as_arrays(function, arguments):
    lists = change_arrays(arguments, np.ndarray.tolist)
    assert_same(call(function, lists), call(function, arguments))


@EVERY_CALL
def test_integers_are_read_as_float64(function, arguments):
    for integer in (int, np.int8, np.uint8, bool):
        integers = change_arrays(arguments, lambda array, to=integer: (3 * abs(array)).astype(to), but=["mask"])
        floats = change_arrays(integers, lambda array: array.astype(np.float64), but=["mask"])
        results = call(function, integers)
        assert_same(results, call(function, floats))
        assert {result.dtype for result in results} == {np.dtype(np.float64)}, integer


LAYOUTS = (
    np.asfortranarray,
    lambda array: np.flip(np.flip(array).copy()),
    lambda array: np.repeat(array, 2, axis=-1)[..., ::2],
    lambda array: array.astype(array.dtype.newbyteorder()),
)


@EVERY_CALL
def test_the_layout_in_memory_does_not_matter(function, arguments):
    expected = call(function, arguments)
    for relayout in LAYOUTS:
        assert_same(call(function, change_arrays(arguments, relayout)), expected)


# --- NaN stays visible, and where it belongs ---


def only(index, shape):
    expected = np.zeros(shape, bool)
    expected[index] = True
    return expected


@pytest.mark.parametrize("name", ["queries", "keys", "values", "mask"])
@given(data=st.data(), is_causal=st.booleans())
def test_nan_spoils_what_is_made_of_it_and_nothing_else(name, data, is_causal):
    inputs = data.draw(masked_attention_inputs(kinds=["float"] if name == "mask" else KINDS))
    inputs[name].flat[data.draw(st.integers(0, inputs[name].size - 1))] = np.nan
    found = scaled_dot_product_attention(**inputs, is_causal=is_causal)
    assert_same(found, oracle.attention(**inputs, is_causal=is_causal))


def test_nan_in_a_token_spoils_its_batch_item_only():
    X = np.random.default_rng(5).normal(size=(2, 3, 4))
    X[0, 1, 2] = np.nan
    output, weights = multi_head_attention(X, *np.ones((4, 4, 4)), n_heads=2)
    assert_array_equal(np.isnan(output), only(0, (2, 3, 4)))
    assert_array_equal(np.isnan(weights), only(0, (2, 2, 3, 3)))


@EVERY_CALL
def test_nan_in_any_argument_shows_in_a_result(function, arguments):
    for name in arrays_in(arguments):
        results = call(function, arguments | {name: np.full_like(arguments[name], np.nan)})
        assert np.isnan(results[0]).any(), name


# --- bad input ---


NO_NUMBERS = {
    "holds <U1 entries; give real numbers": [["a", "b"]],
    "holds complex128 entries; give real numbers": [[1, 1j]],
    "holds object entries; give real numbers": [[1, None]],
    "cannot be read as an array: give rows of equal length": [[1, 2], [3]],
    "has shape (); its axes must be (": 1.5,
}


def assert_refused(function, arguments, message):
    """The arguments of this function stand in a failure's report: they say what was not refused."""
    with pytest.raises(ValueError, match=f"^{message}"):
        function(**arguments)


@EVERY_CALL
def test_what_is_not_an_array_of_real_numbers_is_refused(function, arguments):
    for name in arrays_in(arguments):
        for complaint, bad in NO_NUMBERS.items():
            assert_refused(function, arguments | {name: bad}, f"{name} {re.escape(complaint)}")


@EVERY_CALL
def test_an_empty_last_axis_is_refused(function, arguments):
    for name in arrays_in(arguments):
        empty = arguments[name][..., :0]
        message = rf"{name} has shape {re.escape(str(empty.shape))}, so [\w*]+=0; give at least one$"
        assert_refused(function, arguments | {name: empty}, message)


def zeros(*shapes):
    return [np.zeros(shape) for shape in shapes]


PLAIN = zeros((3, 4), (4, 6), (4, 6), (4, 6), (6, 5))  # X, W_Q, W_K, W_V, W_O


UNFIT = [
    (softmax_jacobian, zeros((1, 3)), "p has shape (1, 3); its axes must be (n_keys)"),
    (split_heads, [*zeros(4), 2], "X has shape (4,); its axes must be (..., seq_len, d_model)"),
    (split_heads, [*zeros((0, 4)), 2], "X has shape (0, 4), so seq_len=0; give at least one"),
    (combine_heads, zeros((3, 4)), "heads has shape (3, 4); its axes must be (..., n_heads, seq_len, d_head)"),
    (combine_heads, zeros((0, 3, 4)), "heads has shape (0, 3, 4), so n_heads=0; give at least one"),
    (
        folded_attention,
        [*zeros((3, 4), (3, 4), (3, 4)), 2],
        "queries has shape (3, 4); its axes must be (batch, seq_len, d_model)",
    ),
    (
        folded_attention,
        [*zeros((2, 3, 4), (2, 5, 4), (2, 5, 4)), 2],
        "keys has shape (2, 5, 4), so seq_len=5, but queries with shape (2, 3, 4) has seq_len=3; "
        "give both the same seq_len",
    ),
    (attention_scores, zeros((2, 3), 3), "keys has shape (3,); its axes must be (..., n_keys, d_head)"),
    (attention_scores, zeros((2, 3), (0, 3)), "keys has shape (0, 3), so n_keys=0; give at least one"),
    (
        attention_scores,
        zeros((2, 3), (3, 2)),
        "keys has shape (3, 2), so d_head=2, but queries with shape (2, 3) has d_head=3; give both the same d_head",
    ),
    (
        attention_scores,
        zeros((2, 5, 3), (4, 5, 3)),
        "keys has shape (4, 5, 3), whose leading axes do not go with (2,) of the arguments before it; "
        "make them equal, or 1",
    ),
    (
        head_contributions,
        zeros((2, 3, 4), (6, 5)),
        "W_O has shape (6, 5), so n_heads*d_head=6, but heads with shape (2, 3, 4) has n_heads*d_head=8; "
        "give both the same n_heads*d_head",
    ),
]
WITH_VALUES = ((dot_product_attention,), (scaled_dot_product_attention,), (masked_attention, np.ones((2, 5), bool)))
FEWER = "values has shape (4, 3), so n_keys=4, but keys with shape (5, 3) has n_keys=5; give both the same n_keys"
UNFIT += [(function, [*zeros((2, 3), (5, 3), (4, 3)), *mask], FEWER) for function, *mask in WITH_VALUES]


@pytest.mark.parametrize(("function", "arguments", "message"), UNFIT)
def test_shapes_that_do_not_fit_are_explained(function, arguments, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        function(*arguments)


UNFIT_MATRICES = [
    ({"W_Q": (5, 6)}, "W_Q has shape (5, 6), so d_model=5, but X with shape (3, 4) has d_model=4"),
    ({"W_K": (4, 8)}, "W_K has shape (4, 8), so d_inner=8, but W_Q with shape (4, 6) has d_inner=6"),
    (
        {"W_O": (4, 5)},
        "W_O has shape (4, 5), so d_inner_values=4, but W_V with shape (4, 6) has d_inner_values=6",
    ),
    ({"b_Q": 4}, "b_Q has shape (4,), so d_inner=4, but W_Q with shape (4, 6) has d_inner=6"),
    ({"b_V": 4}, "b_V has shape (4,), so d_inner_values=4, but W_V with shape (4, 6) has d_inner_values=6"),
    ({"b_O": 6}, "b_O has shape (6,), so d_output=6, but W_O with shape (6, 5) has d_output=5"),
    (
        {"context_X": (2, 7)},
        "W_K has shape (4, 6), so d_context=4, but context_X with shape (2, 7) has d_context=7",
    ),
    (
        {"context_X": (2, 7), "W_K": (7, 6)},
        "W_V has shape (4, 6), so d_context=4, but context_X with shape (2, 7) has d_context=7",
    ),
    ({"W_V": (2, 4, 6)}, "W_V has shape (2, 4, 6); its axes must be (d_context, d_inner_values)"),
    ({"b_K": (1, 6)}, "b_K has shape (1, 6); its axes must be (d_inner)"),
]


@pytest.mark.parametrize(("changes", "message"), UNFIT_MATRICES)
def test_multi_head_attention_explains_matrices_that_do_not_fit(changes, message):
    arguments = dict(zip(["X", "W_Q", "W_K", "W_V", "W_O"], PLAIN, strict=True))
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        multi_head_attention(**arguments | {name: np.zeros(shape) for name, shape in changes.items()}, n_heads=2)


BAD_NUMBERS_OF_HEADS = [
    (6, "d_model=16 is not divisible by n_heads=6; choose 1, 2, 4, 8 or 16 heads"),
    (17, "d_model=16 is not divisible by n_heads=17; choose 1, 2, 4, 8 or 16 heads"),
    (0, "n_heads=0 is not possible; give an int of 1 or more"),
    (-1, "n_heads=-1 is not possible; give an int of 1 or more"),
    (2.0, "n_heads=2.0 is not a whole number; give an int of 1 or more"),
    ("2", "n_heads='2' is not a whole number; give an int of 1 or more"),
    (None, "n_heads=None is not a whole number; give an int of 1 or more"),
    (True, "n_heads=True is not a whole number; give an int of 1 or more"),
]


@pytest.mark.parametrize(("n_heads", "message"), BAD_NUMBERS_OF_HEADS)
def test_impossible_numbers_of_heads_are_refused(n_heads, message):
    match = f"^{re.escape(message)}$"
    with pytest.raises(ValueError, match=match):
        split_heads(np.zeros((3, 16)), n_heads)
    with pytest.raises(ValueError, match=match):
        folded_attention(*zeros((2, 3, 16), (2, 3, 16), (2, 3, 16)), n_heads)
    with pytest.raises(ValueError, match=match):
        knock_out(np.zeros((16, 16)), [0], n_heads)
    with pytest.raises(ValueError, match=match):
        multi_head_attention(*zeros((3, 16), (16, 16), (16, 16), (16, 16), (16, 16)), n_heads)


def test_a_numpy_integer_is_a_number_of_heads():
    assert split_heads(np.zeros((3, 16)), np.int64(4)).shape == (4, 3, 4)


def test_a_width_that_does_not_divide_is_called_by_its_own_name():
    X, W_Q, W_K, W_V, W_O = PLAIN
    with pytest.raises(ValueError, match=r"^d_inner=6 is not divisible by n_heads=4; choose 1, 2, 3 or 6 heads$"):
        multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads=4)
    with pytest.raises(ValueError, match=r"^d_inner_values=9 is not divisible by n_heads=2; choose 1, 3 or 9 heads$"):
        multi_head_attention(X, W_Q, W_K, *zeros((4, 9), (9, 5)), n_heads=2)


@pytest.mark.parametrize("scale", ["2", 1j, [0.5], np.ones((2, 1))], ids=["string", "complex", "list", "array"])
def test_a_scale_that_is_not_a_number_is_refused(scale):
    with pytest.raises(ValueError, match=f"^{re.escape(f'scale={scale!r} is not a number; give a float')}$"):
        scaled_dot_product_attention(*zeros((2, 3), (2, 3), (2, 3)), scale=scale)


BAD_MASKS = pytest.mark.parametrize(
    ("mask", "message"),
    [
        (np.ones((5, 5), int), "the mask holds int64 entries; give booleans"),
        (np.ones((5, 5)), "the mask holds only 1.0 and 0.0, which would be added"),
        ("causal", "the mask holds <U6 entries; give booleans"),
        (
            np.ones((2, 5, 5), bool),
            "the mask has shape (2, 5, 5) and the scores (2, 3, 5, 5); give it two axes (n_queries, n_keys) "
            "or all of the scores' axes",
        ),
        (np.ones((5, 4), bool), "the mask has shape (5, 4), which does not broadcast to the scores' (2, 3, 5, 5)"),
    ],
)


@BAD_MASKS
def test_bad_masks_are_refused_by_every_function_that_takes_one(mask, message):
    heads = np.zeros((2, 3, 5, 4))
    match = f"^{re.escape(message)}"
    with pytest.raises(ValueError, match=match):
        scaled_dot_product_attention(heads, heads, heads, mask)
    with pytest.raises(ValueError, match=match):
        masked_attention(heads, heads, heads, mask)
    with pytest.raises(ValueError, match=match):
        multi_head_attention(*zeros((2, 5, 6), (6, 6), (6, 6), (6, 6), (6, 6)), 3, mask)
