"""What people wrote is called what it is, and whoever follows the message to the letter has it right."""

import linecache

import numpy as np
import pytest
from answers import EXERCISES

from mha_helpers import attention

MASKED_BY_HAND = """
def masked_attention(queries, keys, values, mask):
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    scores = np.where(mask, scores, -np.inf)
    largest = np.maximum(scores.max(axis=-1, keepdims=True), -1e4)
    exponentials = np.exp(scores - largest)
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total == 0, 1, total)
    return weights @ values, weights
"""
MASKED = """
def masked_attention(queries, keys, values, mask):
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    weights = softmax_or_zeros(np.where(mask, scores, 1e9))
    return weights @ values, weights
"""
SOFTMAX = """
def softmax(scores):
    scores = scores - scores.max(axis=-1, keepdims=True)
    {}
"""
SHIFTED = "scores - scores.max(axis=-1, keepdims=True)"
RIGHT_QUOTIENT = "exponentials = np.exp(scores); return exponentials / exponentials.sum(axis=-1, keepdims=True)"
ROTATE = """
def rotate(X, start=0):
    d_head = X.shape[-1]
    angles = (start + np.arange(X.shape[-2]))[:, None] / 10_000 ** (np.arange(0, d_head, 2) / d_head)
    angles = {}
    partner = {}
    return X * np.cos(angles) + partner * np.sin(angles)
"""
IN_HALVES = "np.concatenate([angles, angles], axis=-1)"
SIDE_BY_SIDE = "np.repeat(angles, 2, axis=-1)"
OF_HALVES = "np.concatenate([-X[..., d_head // 2 :], X[..., : d_head // 2]], axis=-1)"
OF_NEIGHBOURS = "np.stack([-X[..., 1::2], X[..., 0::2]], axis=-1).reshape(X.shape)"
NEIGHBOURS_IN_HALVES = "np.concatenate([-X[..., 1::2], X[..., 0::2]], axis=-1)"
CACHED = """
def attend_with_cache(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    queries, keys, values = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
    if cache is not None:
        keys, values = np.concatenate([cache[0], keys], axis=-2), np.concatenate([cache[1], values], axis=-2)
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    n_new, n_all = scores.shape[-2:]
    if cache is None:
        scores = np.where(np.tri(n_new, dtype=bool), scores, -np.inf)
    return combine_heads(softmax(scores) @ values) @ W_O, (keys, values)
"""
KEPT_OUTSIDE = """
KEYS, VALUES = [], []

def attend_with_cache(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    queries, keys, values = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
    KEYS.append(keys)
    VALUES.append(values)
    keys, values = np.concatenate(KEYS, axis=-2), np.concatenate(VALUES, axis=-2)
    n_new, n_all = queries.shape[-2], keys.shape[-2]
    mask = np.tri(n_all, dtype=bool)[n_all - n_new :]
    heads, _ = scaled_dot_product_attention(queries, keys, values, mask)
    return combine_heads(heads) @ W_O, (keys, values)
"""
BEHIND_THE_ARGUMENT = (
    ("KEYS.append(keys)", "old_keys, old_values = cache or (keys[..., :0, :], values[..., :0, :])"),
    ("VALUES.append(values)", "pass"),
    ("KEYS, axis", "[old_keys, keys], axis"),
    ("VALUES, axis", "[old_values, values], axis"),
)
SAMPLED = """
def next_token_probabilities(logits, *, temperature=1.0, top_k=None):
    logarithms = np.log(softmax(logits))
    logarithms = logarithms / temperature
    if top_k is not None:
        lowest = np.sort(logarithms, axis=-1)[..., [-min(top_k, logits.shape[-1])]]
        logarithms = np.where(logarithms < lowest, -np.inf, logarithms)
    return np.exp(logarithms)
"""
KEPT_ALONE = """
def next_token_probabilities(logits, *, temperature=1.0, top_k=None):
    logits = logits / temperature
    if top_k is None:
        return softmax(logits)
    places = {}
    kept = softmax(np.take_along_axis(logits, places, axis=-1))
    return kept
"""
IN_ITS_PLACE = (
    "return kept",
    "everywhere = np.zeros(logits.shape); np.put_along_axis(everywhere, places, kept, axis=-1); return everywhere",
)
GRADIENTS = """
def attention_gradients(queries, keys, values, d_context, mask=None):
    _, weights = scaled_dot_product_attention(queries, keys, values, mask)
    d_context = np.ones_like(d_context)
    d_weights = d_context @ values.swapaxes(-1, -2)
    d_scores = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True)) / np.sqrt(queries.shape[-1])
    return d_scores @ keys, d_scores.swapaxes(-1, -2) @ queries, weights.swapaxes(-1, -2) @ d_context
"""
BLOCKWISE = """
def blockwise_attention(queries, keys, values, mask=None, *, block_size=128):
    top, total, context = np.full((*queries.shape[:-1], 1), -np.inf), 0, 0
    for start in range(0, keys.shape[-2], block_size):
        block = slice(start, start + block_size)
        scores = queries @ keys[..., block, :].swapaxes(-1, -2) / queries.shape[-1]
        if mask is not None:
            scores = np.where(mask[..., block], scores, -np.inf)
        new_top = np.maximum(top, scores.max(axis=-1, keepdims=True))
        shift = np.where(np.isneginf(new_top), 0, new_top)
        exponentials, correction = np.exp(scores - shift), np.exp(top - shift)
        total = total * correction + exponentials.sum(axis=-1, keepdims=True)
        context = context * correction + exponentials @ values[..., block, :]
        top = new_top
    return context / np.where(total == 0, 1, total)
"""
UPSIDE_DOWN = """
def blockwise_attention(queries, keys, values, mask=None, *, block_size=128):
    top, total, context = np.full((*queries.shape[:-1], 1), -1e9), 0, 0
    for start in range(0, keys.shape[-2], block_size):
        block = slice(start, start + block_size)
        scores = queries @ keys[..., block, :].swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
        if mask is not None:
            scores = np.where(mask[..., block], scores, -np.inf)
        new_top = np.maximum(top, scores.max(axis=-1, keepdims=True))
        top = new_top if start == 0 else top
        exponentials, correction = np.exp(scores - new_top), np.exp(new_top - top)
        total = total * correction + exponentials.sum(axis=-1, keepdims=True)
        context = context * correction + exponentials @ values[..., block, :]
        top = new_top
    return context / np.where(total == 0, 1, total)
"""
FIRST_BLOCK_HIDDEN = """
def blockwise_attention(queries, keys, values, mask=None, *, block_size=128):
    top, total, context = np.full((*queries.shape[:-1], 1), -np.inf), 0, 0
    for start in range(0, keys.shape[-2], block_size):
        block = slice(start, start + block_size)
        scores = queries @ keys[..., block, :].swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
        if mask is not None:
            scores = np.where(mask[..., block], scores, -np.inf)
        new_top = np.maximum(top, scores.max(axis=-1, keepdims=True))
        shift = new_top
        exponentials, correction = np.exp(scores - shift), np.exp(top - shift)
        total = total * correction + exponentials.sum(axis=-1, keepdims=True)
        context = context * correction + exponentials @ values[..., block, :]
        top = new_top
    return context / total
"""
MASKED_WEIGHTS = """
def masked_attention(queries, keys, values, mask):
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    weights = {}
    return weights @ values, weights
"""
HIDDEN_AND_CLEARED = "np.where(mask, softmax(np.where(mask, scores, -np.inf)), 0)"
RENORMALISED = """
def masked_attention(queries, keys, values, mask):
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    weights = softmax(scores) * mask
    weights = weights / (weights.sum(axis=-1, keepdims=True) + 1e-13)
    return weights @ values, weights
"""
UNSCALED = """
def dot_product_attention(queries, keys, values):
    weights = {}
    return {}, weights
"""
SCORES = "queries @ keys.swapaxes(-1, -2)"
SPLIT = """
def split_heads(X, n_heads):
    *batch, seq_len, d_model = X.shape
    X = X.reshape(*batch, {}, d_model // n_heads)
    return X.swapaxes(-3, -2)
"""
ROUND = """
def round_to_bits(X, bits):
    step = np.abs(X).max(axis=-1, keepdims=True) / (2 ** (bits - 1) - 1)
    step = {}
    return np.round(X / step) * step
"""
WITHOUT_HEAD = """
def without_head(W_Q, W_K, W_V, W_O, head, n_heads):
    d_head = W_Q.shape[1] // {}
    keep = [i for i in range(W_Q.shape[1]) if i // d_head != head]
    return W_Q[:, keep], W_K[:, keep], W_V[:, keep], W_O[keep]
"""
COUNTED = """
def attend_with_cache(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    queries, keys, values = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
    n_old = 0
    if cache is not None:
        n_old = cache[0].{}
        keys, values = np.concatenate([cache[0], keys], axis=-2), np.concatenate([cache[1], values], axis=-2)
    mask = np.tri(queries.shape[-2], keys.shape[-2], n_old, dtype=bool)
    heads, _ = scaled_dot_product_attention(queries, keys, values, mask)
    return combine_heads(heads) @ W_O, (keys, values)
"""
AXIS_LOST = GRADIENTS.replace("    d_context = np.ones_like(d_context)\n", "").replace(", keepdims=True", "")
# By name: the exercise, its source, and what the message says to write in place of what.
WRITTEN = [
    ("mask-maximum-clamped", "masked_attention", MASKED_BY_HAND, [("np.maximum(", ""), (", -1e4)", "\n    largest = "
     "np.where(np.isneginf(largest), 0, largest)")]),
    ("mask-minus-lost", "masked_attention", MASKED, [("1e9", "-np.inf")]),
    ("extra-argument", "softmax", SOFTMAX.format(RIGHT_QUOTIENT).replace("(scores):", "(self, scores):"),
     [("self, ", "")]),
    ("softmax-turned", "softmax", SOFTMAX.format("return (np.exp(scores).T / np.sum(np.exp(scores), axis=0)).T"),
     [("(np.exp(scores).T / np.sum(np.exp(scores), axis=0)).T", "np.exp(scores) / np.exp(scores).sum(axis=-1, "
      "keepdims=True)")]),
    ("softmax-divided-inside", "softmax", "def softmax(scores):\n    return np.exp(scores / scores.sum())",
     [("return np.exp(scores / scores.sum())", "scores = scores - scores.max(-1, keepdims=True); " + RIGHT_QUOTIENT)]),
    ("softmax-sum-of-scores", "softmax",
     "def softmax(scores):\n    return np.exp(scores) / scores.sum(axis=-1, keepdims=True)",
     [("return np.exp(scores) / scores.sum(axis=-1, keepdims=True)",
       "scores = scores - scores.max(-1, keepdims=True); " + RIGHT_QUOTIENT)]),
    ("rope-conventions-mixed", "rotate", ROTATE.format(IN_HALVES, OF_NEIGHBOURS), [(IN_HALVES, SIDE_BY_SIDE)]),
    ("rope-conventions-mixed", "rotate", ROTATE.format(SIDE_BY_SIDE, OF_HALVES), [(OF_HALVES, OF_NEIGHBOURS)]),
    ("rope-conventions-mixed", "rotate", ROTATE.format(IN_HALVES, NEIGHBOURS_IN_HALVES),
     [(IN_HALVES, SIDE_BY_SIDE), (NEIGHBOURS_IN_HALVES, OF_NEIGHBOURS)]),
    ("cache-mask-without-cache-only", "attend_with_cache", CACHED,
     [("    if cache is None:\n    ", ""), ("np.tri(n_new, dtype=bool)", "causal_mask(n_all)[n_all - n_new :]")]),
    ("not-repeatable", "attend_with_cache", KEPT_OUTSIDE, BEHIND_THE_ARGUMENT),
    ("temperature-on-log-softmax", "next_token_probabilities", SAMPLED,
     [("np.log(softmax(logits))", "logits"), ("np.exp(logarithms)", "softmax(logarithms)")]),
    ("top-k-order-lost", "next_token_probabilities",
     KEPT_ALONE.format("np.argpartition(logits, -min(top_k, logits.shape[-1]), axis=-1)[..., -top_k:]"),
     [IN_ITS_PLACE]),
    ("top-k-order-lost", "next_token_probabilities", KEPT_ALONE.format("np.argsort(-logits, axis=-1)[..., :top_k]"),
     [IN_ITS_PLACE]),
    ("gradients-context-ignored", "attention_gradients", GRADIENTS,
     [("    d_context = np.ones_like(d_context)\n", "")]),
    ("blockwise-scale-no-root", "blockwise_attention", BLOCKWISE, [("/ queries.shape[-1]", "/ queries.shape[-1] ** "
     "0.5")]),
    ("blockwise-correction-inverted", "blockwise_attention", UPSIDE_DOWN,
     [("np.exp(new_top - top)", "np.exp(top - new_top)")]),
    ("blockwise-hidden-block-nan", "blockwise_attention", FIRST_BLOCK_HIDDEN,
     [("shift = new_top", "shift = np.where(np.isneginf(new_top), 0, new_top)"),
      ("/ total", "/ np.where(total == 0, 1, total)")]),
    ("mask-after-softmax", "masked_attention", MASKED_WEIGHTS.format("softmax(scores) * mask"),
     [("softmax(scores) * mask", HIDDEN_AND_CLEARED)]),
    ("mask-added-boolean", "masked_attention", MASKED_WEIGHTS.format("softmax(scores + mask)"),
     [("softmax(scores + mask)", HIDDEN_AND_CLEARED)]),
    ("mask-ignored", "masked_attention", MASKED_WEIGHTS.format("softmax(scores)"),
     [("softmax(scores)", HIDDEN_AND_CLEARED)]),
    ("mask-not-low-enough", "masked_attention", MASKED_WEIGHTS.format("softmax(scores + (1 - mask) * -10.0)"),
     [("softmax(scores + (1 - mask) * -10.0)", HIDDEN_AND_CLEARED)]),
    ("mask-renormalised-safely", "masked_attention", RENORMALISED,
     [("softmax(scores) * mask", HIDDEN_AND_CLEARED)]),
    ("softmax-clipped", "softmax", SOFTMAX.replace(SHIFTED, "np.clip(scores, -500, 500)").format(RIGHT_QUOTIENT),
     [("np.clip(scores, -500, 500)", SHIFTED)]),
    ("softmax-other-shift", "softmax", SOFTMAX.replace("scores.max", "scores.mean").format(RIGHT_QUOTIENT),
     [("scores.mean", "scores.max")]),
    ("softmax-each-by-itself", "softmax", SOFTMAX.format(
     "exponentials = np.exp(scores); return exponentials / exponentials[..., None].sum(axis=-1)"),
     [("exponentials[..., None].sum(axis=-1)", "exponentials.sum(axis=-1, keepdims=True)")]),
    ("softmax-turned-in-a-batch", "softmax", SOFTMAX.format(
     "exponentials = np.exp(scores); return (exponentials.T / exponentials.sum(axis=-1)).T"),
     [("(exponentials.T / exponentials.sum(axis=-1)).T", "exponentials / exponentials.sum(axis=-1, keepdims=True)")]),
    ("softmax-axis-1", "softmax", """
def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum() if e.ndim == 1 else e / e.sum(axis=1, keepdims=True)
""", [("axis=1", "axis=-1")]),
    ("softmax-of-the-context", "dot_product_attention", UNSCALED.format(SCORES, "softmax(weights @ values)"),
     [(SCORES, f"softmax({SCORES})"), ("softmax(weights @ values)", "weights @ values")]),
    ("scores-turned-back", "dot_product_attention",
     UNSCALED.format("softmax(keys @ queries.swapaxes(-1, -2))", "weights.swapaxes(-1, -2) @ values"),
     [("keys @ queries.swapaxes(-1, -2)", SCORES), ("weights.swapaxes(-1, -2) @ values", "weights @ values")]),
    ("scale-divided-by", "scaled_dot_product_attention", """
def scaled_dot_product_attention(queries, keys, values, scale=None):
    scale = queries.shape[-1] ** -0.5 if scale is None else scale
    weights = softmax(queries @ keys.swapaxes(-1, -2) / scale)
    return weights @ values, weights
""", [("/ scale", "* scale")]),
    ("split-reshaped-in-the-wrong-order", "split_heads", SPLIT.format("n_heads, seq_len"),
     [("n_heads, seq_len", "seq_len, n_heads")]),
    ("round-step-at-least-1", "round_to_bits", ROUND.format("np.maximum(step, 1)"),
     [("np.maximum(step, 1)", "np.where(step == 0, 1, step)")]),
    ("without-head-width-of-the-rest", "without_head", WITHOUT_HEAD.format("(n_heads - 1)"),
     [("(n_heads - 1)", "n_heads")]),
    ("cache-old-miscounted", "attend_with_cache", COUNTED.format("shape[-3]"), [("shape[-3]", "shape[-2]")]),
    ("gradients-axis-lost", "attention_gradients", AXIS_LOST,
     [("(weights * d_weights).sum(axis=-1)", "(weights * d_weights).sum(axis=-1, keepdims=True)")]),
    ("softmax-over-queries", "weights_heads_last", """
def weights_heads_last(queries, keys):
    scores = np.einsum("bqhd,bkhd->bhqk", queries, keys) / np.sqrt(queries.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=2, keepdims=True)
""", [("axis=2", "axis=-1")]),
]  # fmt: skip
# By name: the slugs of the two, the exercise, and its source.
TWO = [
    ("variance-not-summed", "variance-standard-deviation", "dot_product_variance", """
def dot_product_variance(queries, keys):
    return np.std(queries * keys)
"""),
    ("qk-transposed", "qk-scale", "composed_QK", """
def composed_QK(E, W_V0, W_O0, W_Q1, W_K1):
    return (E @ W_V0 @ W_O0 @ W_K1) @ (E @ W_Q1).T / np.sqrt(E.shape[-1])
"""),
    ("temperature-multiplies", "top-k-logit-zero", "next_token_probabilities", """
def next_token_probabilities(logits, *, temperature=1.0, top_k=None):
    logits = logits * temperature
    if top_k is not None and top_k < logits.shape[-1]:
        logits = np.where(logits >= np.sort(logits, axis=-1)[..., [-top_k]], logits, 0)
    return softmax(logits)
"""),
    ("cache-mask-wrong-corner", "cache-overwritten", "attend_with_cache", """
def attend_with_cache(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    queries, *new = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
    keys, values = new if cache is None else (np.concatenate(pair, axis=-2) for pair in zip(cache, new))
    mask = np.tri(queries.shape[-2], keys.shape[-2], dtype=bool)
    heads, _ = scaled_dot_product_attention(queries, keys, values, mask)
    return combine_heads(heads) @ W_O, tuple(new)
"""),
    ("cache-mask-missing", "cache-split-without-transpose", "attend_with_cache", CACHED.replace(
     "if cache is None", "if False").replace("combine_heads(softmax(scores) @ values)",
     "(softmax(scores) @ values).reshape(X_new.shape)")),
    ("gradients-axis-lost", "gradients-scale-missing", "attention_gradients",
     AXIS_LOST.replace(" / np.sqrt(queries.shape[-1])", "")),
    ("sdpa-off-by-one", "sdpa-padding-of-queries", "sdpa_mask", """
def sdpa_mask(attention_mask, n_new):
    n_keys = attention_mask.shape[-1]
    is_token = attention_mask[:, None, n_keys - n_new :, None] == 1
    return is_token & np.tri(n_new, n_keys, n_keys - n_new - 1, dtype=bool)
"""),
]  # fmt: skip


def written(source, name):
    """Run a source as a cell is run, and return its function."""
    path = f"<names of {name}, {hash(source)}>"
    linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)
    used = ("softmax", "softmax_or_zeros", "split_heads", "combine_heads", "scaled_dot_product_attention")
    namespace = {"np": np, "causal_mask": EXERCISES["causal_mask"].reference}
    namespace |= {each: getattr(attention, each) for each in used}
    exec(compile(source, path, "exec"), namespace)
    return namespace[name]


@pytest.mark.parametrize(
    ("slug", "name", "source", "mended"), WRITTEN, ids=[f"{i}-{slug}" for i, (slug, *_) in enumerate(WRITTEN)]
)
def test_the_name_is_told_and_its_message_mends_it(slug, name, source, mended):
    assert EXERCISES[name].check(written(source, name)).mistake == slug
    for wrong, right in mended:
        assert wrong in source
        source = source.replace(wrong, right)
    result = EXERCISES[name].check(written(source, name))
    assert result.status == "correct", f"{source}\n{result}"


@pytest.mark.parametrize(("first", "second", "name", "source"), TWO, ids=["-".join(each[:2]) for each in TWO])
def test_two_at_once_are_both_named(first, second, name, source):
    result = EXERCISES[name].check(written(source, name))
    assert (result.mistake, result.also) == (first, second)


def test_what_is_kept_between_calls_is_said_at_every_check():
    function = written(KEPT_OUTSIDE, "attend_with_cache")
    for _ in range(2):
        message = EXERCISES["attend_with_cache"].check(function).message
        assert message.startswith("Your function keeps something between calls, in `KEYS` and `VALUES`.")


def test_an_answer_drawn_at_random_is_told_so():
    rng = np.random.default_rng(0)
    result = EXERCISES["softmax"].check(lambda scores: rng.random(scores.shape))
    assert result.mistake == "not-repeatable"
    assert "or draw random numbers?" in result.message


def test_a_mistake_in_another_spelling_is_not_said_to_be_two():
    assert (
        "That isn't all"
        not in EXERCISES["blockwise_attention"].check(written(UPSIDE_DOWN, "blockwise_attention")).message
    )


def test_no_line_is_blamed_behind_the_error_that_is_shown():
    source = """
def dot_product_attention(queries, keys, values):
    scores = queries @ keys.T
    weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    return weights @ values, weights
"""
    message = EXERCISES["dot_product_attention"].check(written(source, "dot_product_attention")).message
    assert "in the line `scores = queries @ keys.T`" in message
    assert "It goes wrong in line 3, `scores = queries @ keys.T`: up to there every number is right." in message


def test_a_step_is_not_said_to_make_every_number_smaller():
    result = EXERCISES["round_to_bits"].check(
        written(ROUND.format("np.where(step == 0, 1, step)").replace("np.round", "np.trunc"), "round_to_bits")
    )
    assert result.mistake == "round-towards-zero"
    assert "moves every number towards 0" in result.message


def test_a_number_too_high_is_not_said_to_make_nan():
    assert "NaN" not in EXERCISES["masked_attention"].check(written(MASKED, "masked_attention")).message


def test_a_right_function_is_told_which_of_those_it_calls_is_wrong():
    source = """
def softmax(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-2, keepdims=True)

def dot_product_attention(queries, keys, values):
    weights = softmax(queries @ keys.swapaxes(-1, -2))
    return weights @ values, weights
"""
    result = EXERCISES["dot_product_attention"].check(written(source, "dot_product_attention"))
    assert result.mistake == "wrong-helper"
    assert result.message == (
        "`dot_product_attention` itself is right; the `softmax` that it calls isn't. "
        "exercises.softmax.check(softmax) says what is wrong with it."
    )
    both = source.replace("return weights @ values", "return weights @ keys")
    assert EXERCISES["dot_product_attention"].check(written(both, "dot_product_attention")).mistake != "wrong-helper"


def test_a_function_that_passes_its_own_check_is_not_blamed():
    source = """
def scaled_dot_product_attention(queries, keys, values, scale=None):
    scale = 1 / np.sqrt(queries.shape[-1]) if scale is None else scale
    weights = softmax(queries @ keys.swapaxes(-1, -2) * scale)
    return weights @ values, weights

def multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    queries, keys, values = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    heads, weights = scaled_dot_product_attention(queries, keys, values, mask)
    return combine_heads(heads) @ W_O, weights
"""
    assert (
        EXERCISES["multi_head_attention"].check(written(source, "multi_head_attention")).mistake == "mha-mask-as-scale"
    )
