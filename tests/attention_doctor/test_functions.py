"""Functions: right ones are healthy in any style, and altered ones get the names of what was altered."""

import itertools
import threading

import numpy as np
import pytest

from attention_doctor.equation.stages import Input, compute
from attention_doctor.forms import FORMS
from attention_doctor.forms.masks import BUILT_IN
from attention_doctor.names import WORDS
from mha_helpers import attention, doctor


def names(function, **options):
    report = doctor.examine(function, **options)
    assert report.healthy is not None, report
    return report.names


@pytest.mark.parametrize(
    "function",
    [
        attention.multi_head_attention,
        attention.scaled_dot_product_attention,
        attention.masked_attention,
        attention.folded_attention,
    ],
)
def test_the_courses_own_are_healthy(function):
    report = doctor.examine(function)
    assert report.healthy, report
    assert report.asked > 8


def altered(*forms):
    """Multi-head attention with some of its steps done in another form."""

    def multi_head(X, W_Q, W_K, W_V, W_O, n_heads, context_X=None):
        matrices = {"Q": W_Q, "K": W_K, "V": W_V, "O": W_O}
        output = compute(Input(X, X if context_X is None else context_X, matrices, n_heads, n_heads), forms)[0]
        if output is None:
            raise ValueError("these do not go together")
        return output

    return multi_head


def explains(name, report):
    return any(name in (finding.name, *finding.also) for finding in report.findings if finding.is_sick)


COMMON = [form for form in [*FORMS, *BUILT_IN] if not form.rare and "+" not in form.slug]
# These need what a function of X and four matrices does not have.
NEEDS_MORE = {"kv-heads-tiled", "bias-left-out"}


@pytest.mark.slow
@pytest.mark.parametrize("form", COMMON, ids=lambda form: f"{form.step}: {form.slug}: {form.text}")
def test_a_single_mistake_is_named(form):
    if form.slug in NEEDS_MORE:
        pytest.skip("needs another signature")
    report = doctor.examine(altered(form))
    assert report.healthy is False, report
    assert explains(form.slug, report), report


PAIRS = [
    ("mha-scale-d-model", "mha-no-output-projection"),
    ("scale-missing", "softmax-over-queries"),
    ("mha-residual-added", "mha-split-without-transpose"),
    ("causal-strict", "values-are-keys"),
    ("mask-after-softmax", "scale-no-root"),
]


def form_named(slug):
    return next(form for form in COMMON if form.slug == slug)


@pytest.mark.parametrize("pair", PAIRS, ids="+".join)
def test_two_mistakes_at_once_are_both_named(pair):
    report = doctor.examine(altered(*map(form_named, pair)))
    assert all(explains(name, report) for name in pair), report


def test_three_mistakes_at_once_are_all_named():
    three = ("mha-scale-d-model", "softmax-over-queries", "mha-combine-without-transpose")
    report = doctor.examine(altered(*map(form_named, three)))
    assert all(explains(name, report) for name in three), report


def test_no_two_common_mistakes_are_confused():
    """On the first question, forms with different names give different numbers, but for those that are one thing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2, 5, 12))
    matrices = {letter: rng.normal(size=(12, 12)) * 0.35 for letter in "QKVO"}
    case = Input(X, X, matrices, 3, 3)
    outputs = [(form, compute(case, [form])[0]) for form in COMMON if form.slug not in NEEDS_MORE]
    same = {
        frozenset((one.slug, other.slug))
        for (one, a), (other, b) in itertools.combinations(outputs, 2)
        if a is not None and b is not None and a.shape == b.shape and np.allclose(a, b) and one.slug != other.slug
    }
    assert same == {
        frozenset(("cross-attends-to-itself", "cross-sources-swapped")),  # the first question has no other sequence
        frozenset(("mha-matrices-swapped", "scores-keys-by-queries")),
        frozenset(("mha-same-matrix", "scores-queries-only")),
        frozenset(("mha-same-matrix", "scores-keys-only")),
        frozenset(("mha-same-matrix", "values-are-keys")),
        frozenset(("scale-no-root", "scale-twice")),
    }


def test_every_name_is_in_the_vocabulary():
    for form in [*FORMS, *BUILT_IN]:
        assert set(form.slug.split("+")) <= set(WORDS), form


def softmax_out_of_nothing(scores):
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def with_mask(hide):
    def attention_with_mask(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        queries, keys, values = (attention.split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
        scores = queries @ keys.swapaxes(-1, -2) / queries.shape[-1] ** 0.5
        weights = softmax_out_of_nothing(scores) if mask is None else hide(scores, mask)
        return attention.combine_heads(weights @ values) @ W_O

    return attention_with_mask


@pytest.mark.parametrize(
    ("name", "hide"),
    [
        ("mask-after-softmax", lambda scores, mask: softmax_out_of_nothing(scores) * mask),
        ("mask-score-zero", lambda scores, mask: softmax_out_of_nothing(scores * mask)),
        ("mask-inverted", lambda scores, mask: attention.softmax_or_zeros(np.where(mask, -np.inf, scores))),
        ("mask-ignored", lambda scores, mask: softmax_out_of_nothing(scores)),
        ("mask-added-boolean", lambda scores, mask: softmax_out_of_nothing(scores + mask)),
        ("mask-tiny-number", lambda scores, mask: softmax_out_of_nothing(np.where(mask, scores, -10))),
        ("", lambda scores, mask: softmax_out_of_nothing(np.where(mask, scores, -1e9))),
        (None, lambda scores, mask: attention.softmax_or_zeros(np.where(mask, scores, -np.inf))),
    ],
)
def test_masks(name, hide):
    report = doctor.examine(with_mask(hide))
    if not name:
        assert report.healthy, report
        assert not report.has_notes
    else:
        assert explains(name, report), report
        assert len(report.names) == 1, report


def test_nan_for_a_row_that_sees_nothing_is_a_note():
    report = doctor.examine(with_mask(lambda scores, mask: softmax_out_of_nothing(np.where(mask, scores, -np.inf))))
    assert report.healthy
    assert report.verdict == "healthy, with notes: mask-full-row-nan"


def test_a_position_says_what_names_do_not():
    def unnamed(a, b, c, d, e, n):
        return attention.multi_head_attention(a, b, c, d, e, n)[0]

    assert doctor.examine(unnamed).healthy


def projecting(axis):
    def attention_of_three(q, k, v, Wq, Wk, Wv, Wo, mask=None, h=8):
        queries, keys, values = (attention.split_heads(X @ W, h) for X, W in ((q, Wq), (k, Wk), (v, Wv)))
        scores = queries @ keys.swapaxes(-1, -2) / queries.shape[-1] ** 0.5
        scores = scores if mask is None else np.where(mask, scores, -1e9)
        weights = np.exp(scores - scores.max(axis, keepdims=True))
        weights = weights / weights.sum(axis, keepdims=True)
        return attention.combine_heads(weights @ values) @ Wo, weights

    return attention_of_three


@pytest.mark.parametrize(("axis", "found"), [(-1, []), (-2, ["softmax-over-queries"])])
def test_three_sequences_beside_matrices_are_tokens_to_be_projected(axis, found):
    assert names(projecting(axis)) == found


def test_what_cannot_be_told_is_asked_for():
    def strange(first, second, third, fourth):
        return first

    report = doctor.examine(strange)
    assert report.healthy is None
    assert "names={" in report.reason


def test_assert_healthy_shows_the_report():
    with pytest.raises(AssertionError, match="scale-missing"):
        doctor.assert_healthy(attention.dot_product_attention)


def test_an_endless_loop_ends():
    over = threading.Event()

    def endless(queries, keys, values):
        while not over.is_set():  # a thread cannot be ended from outside: without this it would burn on after the test
            pass

    try:
        report = doctor.examine(endless, seconds=0.3)
    finally:
        over.set()
    assert report.healthy is None
    assert "endless" in report.reason


def test_prints_and_writes_are_survived(capsys):
    def noisy(queries, keys, values):
        print("noise")
        queries *= keys.shape[-1] ** -0.5
        return attention.softmax(queries @ keys.swapaxes(-1, -2)) @ values

    assert names(noisy) == ["input-changed"]
    assert "noise" not in capsys.readouterr().out


def grouped(share):
    """Return attention that takes fewer heads of keys and values, and gives each to several heads of queries."""

    def attend(queries, keys, values, mask=None):
        group = queries.shape[-3] // keys.shape[-3]
        return attention.scaled_dot_product_attention(queries, share(keys, group), share(values, group), mask)

    return attend


@pytest.mark.parametrize(
    ("share", "found"),
    [
        pytest.param(lambda array, group: np.repeat(array, group, axis=-3), [], id="neighbours"),
        pytest.param(lambda array, group: np.concatenate([array] * group, axis=-3), ["kv-heads-tiled"], id="tiled"),
        pytest.param(lambda array, group: np.repeat(array, group, axis=-3)[..., ::-1, :, :], [None], id="last first"),
    ],
)
def test_a_function_that_shares_heads_is_asked_who_shares(share, found):
    report = doctor.examine(grouped(lambda array, group: share(array, group) if group > 1 else array))
    assert [finding.name for finding in report.findings] == found
    assert ("neighbouring heads of queries share one" in str(report)) == (not found)


NUM_HEADS, SETTINGS = 4, {"n_head": 2}


def of_a_global(X, W_Q, W_K, W_V, W_O):
    queries, keys, values = (attention.split_heads(X @ W, NUM_HEADS) for W in (W_Q, W_K, W_V))
    return attention.combine_heads(softmax_out_of_nothing(queries @ keys.mT / queries.shape[-1] ** 0.5) @ values) @ W_O


def of_settings(X, W_Q, W_K, W_V, W_O):
    queries, keys, values = (attention.split_heads(X @ W, SETTINGS["n_head"]) for W in (W_Q, W_K, W_V))
    return attention.combine_heads(softmax_out_of_nothing(queries @ keys.mT / queries.shape[-1] ** 0.5) @ values) @ W_O


def of_a_line(X, W_Q, W_K, W_V, W_O):
    n_heads = 3
    queries, keys, values = (attention.split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    return attention.combine_heads(softmax_out_of_nothing(queries @ keys.mT / X.shape[-1] ** 0.5) @ values) @ W_O


@pytest.mark.parametrize(
    ("function", "found"), [(of_a_global, []), (of_settings, []), (of_a_line, ["mha-scale-d-model"])]
)
def test_the_number_of_heads_may_stand_in_the_code(function, found):
    assert names(function) == found


def times_a_large_number(queries, keys, values, mask=None):
    scores = queries @ keys.mT / keys.shape[-1] ** 0.5
    return softmax_out_of_nothing(scores if mask is None else scores + (mask * -1e9)) @ values


def filled_where_true(queries, keys, values, mask=None):
    scores = queries @ keys.mT / keys.shape[-1] ** 0.5
    return softmax_out_of_nothing(scores if mask is None else np.where(mask, -1e9, scores)) @ values


def filled_though_true_is_kept(queries, keys, values, mask=None):
    """In the mask, True means that a query may attend to a key."""
    scores = queries @ keys.mT / keys.shape[-1] ** 0.5
    return softmax_out_of_nothing(scores if mask is None else np.where(mask, -1e9, scores)) @ values


def one_less_the_mask(queries, keys, values, mask=None):
    scores = queries @ keys.mT / keys.shape[-1] ** 0.5
    return softmax_out_of_nothing(scores if mask is None else scores + (1 - mask) * -1e9) @ values


def added_as_it_is(queries, keys, values, mask=None):
    scores = queries @ keys.mT / keys.shape[-1] ** 0.5
    return softmax_out_of_nothing(scores if mask is None else scores + mask) @ values


@pytest.mark.parametrize(
    ("function", "found", "read_as"),
    [
        (times_a_large_number, [], "hides"),
        (filled_where_true, [], "hides"),
        (filled_though_true_is_kept, ["mask-inverted"], ""),
        (one_less_the_mask, [], ""),
        (added_as_it_is, [], "added"),
    ],
)
def test_what_a_mask_means_is_read_in_the_source(function, found, read_as):
    report = doctor.examine(function)
    assert report.names == found, report
    assert read_as in " ".join(report.notes)


def test_where_more_is_wrong_the_proof_says_what_mending_this_alone_would_give():
    def attention(X, W_Q, W_K, W_V, W_O, n_heads):
        batch, tokens, d_model = X.shape
        Q, K, V = ((X @ W).reshape(batch, n_heads, tokens, d_model // n_heads) for W in (W_Q, W_K, W_V))
        powers = np.exp(Q @ K.swapaxes(-1, -2) / np.sqrt(d_model))
        context = powers / powers.sum(axis=-1, keepdims=True) @ V
        return context.swapaxes(1, 2).reshape(batch, tokens, d_model) @ W_O

    proofs = {one.name: one.evidence for one in doctor.examine(attention).findings}
    for name in ("mha-split-without-transpose", "mha-scale-d-model"):
        assert proofs[name].endswith("with only this repaired."), proofs
