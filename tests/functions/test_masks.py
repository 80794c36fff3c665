import re

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from mha_helpers.masks import apply_mask, causal_mask, convert_mask, padding_mask

INF = np.inf
SCORES = hnp.arrays(
    np.float64, hnp.array_shapes(min_dims=2, max_dims=4, max_side=4), elements=st.floats(-9, 9, width=32)
)


@given(st.integers(1, 9))
def test_causal_mask_shows_what_is_not_later(n):
    mask = causal_mask(n)
    assert mask.dtype == bool
    assert mask.tolist() == [[j <= i for j in range(n)] for i in range(n)]


def test_causal_mask_takes_a_numpy_integer():
    assert_array_equal(causal_mask(np.int64(3)), causal_mask(3))


@pytest.mark.parametrize("n", [0, -1, 2.0, "2", True, None])
def test_causal_mask_refuses_what_is_not_a_length(n):
    with pytest.raises(ValueError, match=f"^n={n!r} is not (possible|a whole number); give an int of 1 or more$"):
        causal_mask(n)


@given(hnp.arrays(bool, hnp.array_shapes(min_dims=2, max_dims=2)), st.sampled_from([bool, int, float, np.uint8]))
def test_padding_mask_gives_axes_to_heads_and_queries(tokens, kind):
    mask = padding_mask(tokens.astype(kind))
    assert mask.dtype == bool
    assert mask.shape == (len(tokens), 1, 1, tokens.shape[1])
    assert_array_equal(mask[:, 0, 0], tokens)


def test_padding_mask_takes_lists_and_changes_nothing():
    tokens = np.array([[1, 1, 0], [1, 0, 0]])
    tokens.flags.writeable = False
    assert_array_equal(padding_mask(tokens), padding_mask(tokens.tolist()))


@pytest.mark.parametrize(
    ("attention_mask", "message"),
    [
        ([1, 1, 0], "attention_mask has shape (3,); its axes must be (batch, n_keys)"),
        ([[[1, 0]]], "attention_mask has shape (1, 1, 2); its axes must be (batch, n_keys)"),
        ([[1, 1], [1]], "attention_mask cannot be read as an array: give rows of equal length"),
        ([["1", "0"]], "attention_mask holds <U1 entries; give real numbers"),
        *(
            ([[1, entry]], "attention_mask has entries other than 1 (token) and 0 (padding); give only these")
            for entry in (2, -1, 0.5, np.nan, -INF)
        ),
    ],
)
def test_padding_mask_refuses_what_does_not_mark_tokens(attention_mask, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        padding_mask(attention_mask)


@st.composite
def scores_and_masks(draw, dtype, elements):
    """Scores, and a mask with the last two or all of their axes, some of length 1."""
    scores = draw(SCORES)
    shape = tuple(draw(st.sampled_from([1, size])) for size in scores.shape)
    mask = draw(hnp.arrays(dtype, draw(st.sampled_from([shape, shape[-2:]])), elements=elements))
    return scores, mask


@given(scores_and_masks(bool, st.booleans()))
def test_a_boolean_mask_hides_where_it_is_false(scores_and_mask):
    scores, mask = scores_and_mask
    masked = apply_mask(scores, mask)
    visible = np.broadcast_to(mask, scores.shape)
    assert masked.shape == scores.shape
    assert_array_equal(masked[visible], scores[visible])
    assert_array_equal(masked[~visible], -INF)


@given(scores_and_masks(float, st.sampled_from([-INF, -2.5, 0, 3])))
def test_a_float_mask_is_added(scores_and_mask):
    scores, mask = scores_and_mask
    assert_array_equal(apply_mask(scores, mask), scores + mask)


@given(SCORES)
def test_minus_infinity_hides_as_false_does(scores):
    visible = causal_mask(4)[: scores.shape[-2], : scores.shape[-1]]
    assert_array_equal(apply_mask(scores, np.where(visible, 0, -INF)), apply_mask(scores, visible))


@given(SCORES)
def test_two_masks_one_after_the_other_are_their_conjunction(scores):
    n_queries, n_keys = scores.shape[-2:]
    earlier, odd = causal_mask(4)[:n_queries, :n_keys], np.arange(n_keys) % 2 == np.zeros((n_queries, 1))
    assert_array_equal(apply_mask(apply_mask(scores, earlier), odd), apply_mask(scores, earlier & odd))


def test_padding_and_causal_masks_combine():
    mask = padding_mask([[1, 1, 0], [0, 1, 1]]) & causal_mask(3)
    assert mask.shape == (2, 1, 3, 3)
    assert_array_equal(mask[0, 0], [[1, 0, 0], [1, 1, 0], [1, 1, 0]])
    assert_array_equal(mask[1, 0], [[0, 0, 0], [0, 1, 0], [0, 1, 1]])
    assert_array_equal(apply_mask(np.zeros((2, 4, 3, 3)), mask) == 0, np.repeat(mask, 4, axis=1))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("mask", [[[True, False]], np.array([[0, -INF]], np.float32), np.array([[0.5, -INF]])])
def test_masked_scores_keep_their_type(dtype, mask):
    assert apply_mask(np.zeros((2, 2), dtype), mask).dtype == dtype


@pytest.mark.parametrize("mask", [np.array([[True, False]]), np.array([[0.5, -INF]])], ids=["bool", "float"])
def test_apply_mask_changes_neither_scores_nor_mask(mask):
    scores, mask_before = np.ones((2, 2)), mask.copy()
    for array in (scores, mask):
        array.flags.writeable = False
    apply_mask(scores, mask)[...] = 7
    assert_array_equal(scores, 1)
    assert_array_equal(mask, mask_before)


def test_nan_in_a_float_mask_stays_nan():
    assert_array_equal(apply_mask(np.ones((1, 3)), [[np.nan, 0, -INF]]), [[np.nan, 1, -INF]])


def test_a_hidden_nan_score_is_hidden():
    assert_array_equal(apply_mask(np.array([[np.nan, 1]]), [[False, True]]), [[-INF, 1]])


def test_a_float_mask_of_zeros_hides_nothing():
    assert_array_equal(apply_mask(np.ones((2, 2)), np.zeros((2, 2))), 1)


KIND = "give booleans (True may attend) or floats (added to the scores); for 1 and 0, use np.asarray(mask, bool)"
ONES = (
    "the mask holds only 1.0 and 0.0, which would be added to the scores and hide nothing; "
    "where 1 means 'may attend', use np.asarray(mask, bool)"
)
AXES = (
    "give it two axes (n_queries, n_keys) or all of the scores' axes, with length 1 where it is the same for all "
    "(for one mask a batch item under several heads: mask[:, None])"
)
LAST = "its last two axes are (n_queries, n_keys)"


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        ([[1, 0, 1, 1]], f"the mask holds int64 entries; {KIND}"),
        (np.ones((3, 4), np.uint8), f"the mask holds uint8 entries; {KIND}"),
        (np.ones((3, 4), complex), f"the mask holds complex128 entries; {KIND}"),
        ("causal", f"the mask holds <U6 entries; {KIND}"),
        ([[None] * 4], f"the mask holds object entries; {KIND}"),
        (np.tri(3, 4), ONES),
        (np.ones((3, 4), np.float32), ONES),
        (True, f"the mask has shape () and the scores (2, 5, 3, 4); {AXES}"),
        ([True] * 4, f"the mask has shape (4,) and the scores (2, 5, 3, 4); {AXES}"),
        (np.zeros((2, 3, 4)), f"the mask has shape (2, 3, 4) and the scores (2, 5, 3, 4); {AXES}"),
        (np.zeros((1, 2, 5, 3, 4)), f"the mask has shape (1, 2, 5, 3, 4) and the scores (2, 5, 3, 4); {AXES}"),
        (np.zeros((4, 3)), f"the mask has shape (4, 3), which does not broadcast to the scores' (2, 5, 3, 4); {LAST}"),
        (
            np.zeros((5, 2, 3, 4)),
            f"the mask has shape (5, 2, 3, 4), which does not broadcast to the scores' (2, 5, 3, 4); {LAST}",
        ),
        (np.zeros((0, 4)), f"the mask has shape (0, 4), which does not broadcast to the scores' (2, 5, 3, 4); {LAST}"),
    ],
)
def test_bad_masks_are_explained(mask, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        apply_mask(np.zeros((2, 5, 3, 4)), mask)


def test_a_mask_may_not_enlarge_the_scores():
    message = "the mask has shape (3, 4), which does not broadcast to the scores' (1, 4)"
    with pytest.raises(ValueError, match=re.escape(message)):
        apply_mask(np.zeros((1, 4)), np.ones((3, 4), bool))


def test_a_ragged_mask_is_explained():
    with pytest.raises(ValueError, match=r"^the mask cannot be read as an array: give rows of equal length$"):
        apply_mask(np.zeros((2, 2)), [[True], [True, False]])


@pytest.mark.parametrize("scores", [[[0, 0]], np.zeros((1, 2), int)], ids=["list", "integers"])
def test_lists_and_integers_are_read_as_scores(scores):
    assert_array_equal(apply_mask(scores, [[0.5, -INF]]), [[0.5, -INF]])
    assert_array_equal(apply_mask(scores, [[True, False]]), [[0, -INF]])


IN_EACH_CONVENTION = {
    "may attend": lambda visible: visible,
    "hidden": lambda visible: ~visible,
    "additive": lambda visible: np.where(visible, 0.0, -INF),
    "ones": lambda visible: visible.astype(int),
}
CONVENTIONS = st.sampled_from(sorted(IN_EACH_CONVENTION))


@given(hnp.arrays(bool, hnp.array_shapes(max_side=4)), CONVENTIONS, CONVENTIONS)
def test_every_convention_becomes_every_other(visible, given_as, wanted):
    converted = convert_mask(IN_EACH_CONVENTION[given_as](visible), given=given_as, wanted=wanted)
    assert_array_equal(converted, IN_EACH_CONVENTION[wanted](visible))
    assert converted.dtype.kind == {"additive": "f", "ones": "i"}.get(wanted, "b")


@given(scores_and_masks(bool, st.booleans()))
def test_a_converted_mask_hides_the_same(scores_and_mask):
    scores, mask = scores_and_mask
    additive = convert_mask(mask, given="may attend", wanted="additive")
    assert_array_equal(apply_mask(scores, additive), apply_mask(scores, mask))


def test_only_minus_infinity_can_be_read_in_one_way():
    assert_array_equal(convert_mask(np.array([0, -INF], np.float32)), [True, False])


def test_whole_numbers_as_floats_are_ones_too():
    assert_array_equal(convert_mask([1.0, 0.0], given="ones"), [True, False])


TWO_WAYS = "can be read in two ways"
ADDITIVE = "the convention 'additive' there are only 0.0 (may attend) and -inf (hidden)"
OUTRUN = "a finite number can be outrun by scores: to hide for certain, np.where(mask < 0, -np.inf, 0)"


@pytest.mark.parametrize(
    ("mask", "convention", "message"),
    [
        ([True, False], None, f"this mask of bool entries {TWO_WAYS}: True may mean"),
        ([1, 0], None, f"this mask of int64 entries {TWO_WAYS}: 1 may mean 'may attend'"),
        ([0.0, 0.0], None, f"this mask of float64 entries {TWO_WAYS}: without a -inf"),
        ([1.0, 0.0], None, f"this mask of float64 entries {TWO_WAYS}"),
        ([1, 0], "hidden", "the mask holds int64 entries, and in the convention 'hidden' they are False and True"),
        ([True], "ones", "the mask holds bool entries, and in the convention 'ones' they are 1 and 0"),
        ([0.0, -1e4], "additive", f"the mask holds -10000.0, and in {ADDITIVE}; {OUTRUN}"),
        ([0.0, -INF, 1.0], None, "the mask holds 1.0, and in the convention 'additive'"),
        ([0.0, -1e9], None, "the mask holds -1000000000.0, and in the convention 'additive'"),
        ([0.0, np.nan], "additive", f"the mask holds nan, and in {ADDITIVE}"),
        (["1", "0"], "ones", "the mask holds <U1 entries; give booleans or numbers"),
        (None, None, "the mask holds object entries; give booleans or numbers"),
        ([True], ["hidden"], "there is no convention ['hidden']"),
        ([2, 0], "ones", "the mask holds 2, and in the convention 'ones'"),
        ([True], "true", "there is no convention 'true'; give one of 'may attend', 'hidden'"),
        ([[1], [1, 0]], "ones", "the mask cannot be read as an array"),
    ],
)
def test_a_mask_that_is_not_clear_is_refused(mask, convention, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        convert_mask(mask, given=convention)


def test_an_unknown_wanted_convention_is_refused():
    with pytest.raises(ValueError, match="there is no convention 'added'"):
        convert_mask([True], given="hidden", wanted="added")
