"""Wrong answers as learners and tutorials write them, a statement a step; the faulty line ends with `# here`.

Where a fault can be seen in either of two lines, both end so.
"""

import functools

import numpy as np

from mha_helpers.attention import combine_heads, scaled_dot_product_attention, softmax, split_heads

WRONG = {}


def wrong(name):
    return lambda function: WRONG.setdefault(name, []).append(function) or function


# ---- softmax


@wrong("softmax")
def softmax_three_lines_over_queries(scores):
    e = np.exp(scores)
    total = e.sum(axis=0)  # here
    return e / total


@wrong("softmax")
def softmax_three_lines_first_axis_kept(scores):
    exp_scores = np.exp(scores - np.max(scores))
    sums = np.sum(exp_scores, axis=0, keepdims=True)  # here
    probabilities = exp_scores / sums
    return probabilities


@wrong("softmax")
def softmax_whole_array(scores):
    e_x = np.exp(scores - np.max(scores))
    denominator = np.sum(e_x)  # here
    return e_x / denominator


@wrong("softmax")
def softmax_queries_of_a_batch(scores):
    m = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - m)
    total = e.sum(axis=-2, keepdims=True)  # here
    weights = e / total
    return weights


@wrong("softmax")
def softmax_without_exp(scores):
    shifted = scores - scores.min(axis=-1, keepdims=True)
    total = shifted.sum(axis=-1, keepdims=True)  # here
    return shifted / total  # here


@wrong("softmax")
def softmax_multiplied_by_the_sum(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    total = e.sum(axis=-1, keepdims=True)
    return e * total  # here


@wrong("softmax")
def softmax_mean_for_sum(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    total = e.mean(axis=-1, keepdims=True)  # here
    return e / total


@wrong("softmax")
def softmax_divided_by_the_maximum(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    total = e.max(axis=-1, keepdims=True)  # here
    return e / total


def timed(function):
    @functools.wraps(function)
    def wrapper(*arguments, **options):
        result = function(*arguments, **options)
        return result

    return wrapper


@wrong("softmax")
@timed
def softmax_timed(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    total = e.sum(axis=-2, keepdims=True)  # here
    return e / total


def softmax_along(scores, axis):
    top = scores.max(axis=axis, keepdims=True)
    e = np.exp(scores - top)
    total = e.sum()  # here
    return e / total


wrong("softmax")(functools.partial(softmax_along, axis=-1))


class Softmax:
    def __init__(self, axis):
        self.axis = axis

    def __call__(self, scores):
        e = np.exp(scores - scores.max(axis=self.axis, keepdims=True))
        total = e.mean(axis=self.axis, keepdims=True)  # here
        return e / total


wrong("softmax")(Softmax(-1))


class Layer:
    def softmax(self, scores):
        e = np.exp(scores - scores.max(axis=-1, keepdims=True))
        total = e.sum(axis=-1, keepdims=True)
        return e * total  # here


wrong("softmax")(Layer().softmax)


# ---- heads


@wrong("split_heads")
def split_by_reshape_alone(X, n_heads):
    *batch, seq_len, d_model = X.shape
    d_head = d_model // n_heads
    heads = X.reshape(*batch, n_heads, seq_len, d_head)  # here
    return heads


@wrong("split_heads")
def split_wrong_axes_swapped(X, n_heads):
    *batch, seq_len, d_model = X.shape
    X = X.reshape(*batch, seq_len, n_heads, d_model // n_heads)
    X = X.swapaxes(-1, -2)  # here
    return X  # here


@wrong("split_heads")
def split_stacked_behind(X, n_heads):
    d_head = X.shape[-1] // n_heads
    parts = [X[..., i * d_head : (i + 1) * d_head] for i in range(n_heads)]
    stacked = np.stack(parts, axis=-2)  # here
    return stacked  # here


@wrong("combine_heads")
def combine_by_reshape_alone(heads):
    *batch, n_heads, seq_len, d_head = heads.shape
    merged = heads.reshape(*batch, seq_len, n_heads * d_head)  # here
    return merged


@wrong("combine_heads")
def combine_turns_the_features(heads):
    *batch, n_heads, seq_len, d_head = heads.shape
    turned = heads.swapaxes(-1, -2)  # here
    merged = turned.reshape(*batch, seq_len, n_heads * d_head)  # here
    return merged


@wrong("combine_heads")
def combine_adds(heads):
    *batch, n_heads, seq_len, d_head = heads.shape
    turned = heads.swapaxes(-3, -2)
    merged = turned[..., ::-1, :].reshape(*batch, seq_len, n_heads * d_head)  # here
    return merged


# ---- attention


@wrong("dot_product_attention")
def plain_swaps_keys_and_values(queries, keys, values):
    scores = queries @ keys.swapaxes(-1, -2)
    weights = softmax(scores)
    context = weights @ keys  # here
    return context, weights


@wrong("dot_product_attention")
def plain_softmax_over_queries(queries, keys, values):
    scores = np.matmul(queries, keys.swapaxes(-1, -2))
    e = np.exp(scores - scores.max())
    weights = e / e.sum(axis=-2, keepdims=True)  # here
    context = np.matmul(weights, values)
    return context, weights


@wrong("dot_product_attention")
def plain_mixes_scores(queries, keys, values):
    scores = queries @ keys.swapaxes(-1, -2)
    weights = softmax(scores)
    context = scores @ values  # here
    return context, weights


@wrong("scaled_dot_product_attention")
def scaled_by_the_width(queries, keys, values, scale=None):
    d_k = queries.shape[-1]
    scores = queries @ keys.swapaxes(-1, -2)
    if scale is None:
        scale = 1 / d_k  # here
    scaled = scores * scale
    weights = softmax(scaled)
    return weights @ values, weights


@wrong("scaled_dot_product_attention")
def scaled_by_the_number_of_keys(queries, keys, values, scale=None):
    scale = 1 / np.sqrt(keys.shape[-2]) if scale is None else scale  # here
    scores = queries @ keys.swapaxes(-1, -2) * scale
    weights = softmax(scores)
    return weights @ values, weights


@wrong("scaled_dot_product_attention")
def scaled_after_the_softmax(queries, keys, values, scale=None):
    scale = 1 / np.sqrt(queries.shape[-1]) if scale is None else scale
    scores = queries @ keys.swapaxes(-1, -2)  # here
    weights = softmax(scores) * scale  # here
    return weights @ values, weights


@wrong("scaled_dot_product_attention")
def scaled_ignores_the_scale(queries, keys, values, scale=None):
    root = np.sqrt(queries.shape[-1])  # here
    scores = queries @ keys.swapaxes(-1, -2) / root  # here
    weights = softmax(scores)
    return weights @ values, weights


@wrong("scaled_dot_product_attention")
def scaled_by_its_own_default(queries, keys, values, scale=0.5):  # here
    scores = queries @ keys.swapaxes(-1, -2)
    scaled = scores * scale
    weights = softmax(scaled)
    return weights @ values, weights


@wrong("masked_attention")
def masked_by_adding_the_mask(queries, keys, values, mask):
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    scores = scores + mask * -1e9  # here
    weights = softmax(scores)
    return weights @ values, weights


@wrong("masked_attention")
def masked_by_adding_in_place(queries, keys, values, mask):
    d_k = queries.shape[-1]
    scaled_attention_logits = np.matmul(queries, keys.swapaxes(-1, -2)) / np.sqrt(d_k)
    if mask is not None:
        scaled_attention_logits += mask * -1e9  # here
    attention_weights = softmax(scaled_attention_logits)
    output = np.matmul(attention_weights, values)
    return output, attention_weights


@wrong("masked_attention")
def masked_by_a_bias(queries, keys, values, mask):
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    bias = mask * -1e9  # here
    scores = scores + bias
    weights = softmax(scores)
    return weights @ values, weights


@wrong("masked_attention")
def masked_the_other_way(queries, keys, values, mask):
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    scores = np.where(mask == 0, scores, -np.inf)  # here
    scores = scores - np.nan_to_num(scores.max(-1, keepdims=True), neginf=0)
    e = np.exp(scores)
    total = e.sum(-1, keepdims=True)
    weights = e / np.where(total == 0, 1, total)
    return weights @ values, weights


@wrong("masked_attention")
def masked_with_zero(queries, keys, values, mask):
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    scores = np.where(mask, scores, 0)  # here
    weights = softmax(scores)
    context = weights @ values
    return context, weights


@wrong("masked_attention")
def masked_and_unscaled(queries, keys, values, mask):
    scores = queries @ keys.swapaxes(-1, -2)  # here
    scores = np.where(mask, scores, -1e30)  # here
    weights = softmax(scores) * mask.any(axis=-1, keepdims=True)
    return weights @ values, weights


@wrong("masked_attention")
def masked_then_not_used(queries, keys, values, mask):
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    masked = np.where(mask, scores, -1e30)  # noqa: F841
    weights = softmax(scores)  # here
    return weights @ values, weights


@wrong("masked_attention")
def masked_of_a_turned_mask(queries, keys, values, mask):
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    if mask.shape[-1] == mask.shape[-2]:
        mask = mask.swapaxes(-1, -2)  # here
    scores = np.where(mask, scores, -1e30)
    weights = softmax(scores) * mask.any(axis=-1, keepdims=True)
    return weights @ values, weights


# ---- multi-head attention


@wrong("multi_head_attention")
def multi_head_joined_by_reshape(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    *batch, seq_len, _ = X.shape
    q = split_heads(X @ W_Q, n_heads)
    k = split_heads(X @ W_K, n_heads)
    v = split_heads(X @ W_V, n_heads)
    context, weights = scaled_dot_product_attention(q, k, v, mask)
    concat = context.reshape(*batch, seq_len, -1)  # here
    return concat @ W_O, weights


@wrong("multi_head_attention")
def multi_head_of_concatenated_heads(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    d_head = Q.shape[-1] // n_heads
    outputs, all_weights = [], []
    for i in range(n_heads):
        part = slice(i * d_head, (i + 1) * d_head)
        context, weights = scaled_dot_product_attention(Q[..., part], K[..., part], V[..., part], None)  # here
        outputs.append(context)
        all_weights.append(weights)
    concatenated = np.concatenate(outputs, axis=-1)
    return concatenated @ W_O, np.stack(all_weights, axis=-3)


@wrong("multi_head_attention")
def multi_head_concatenates_backwards(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    q, k, v = split_heads(X @ W_Q, n_heads), split_heads(X @ W_K, n_heads), split_heads(X @ W_V, n_heads)
    context, weights = scaled_dot_product_attention(q, k, v, mask)
    heads = [context[..., i, :, :] for i in range(n_heads)]
    concatenated = np.concatenate(heads[::-1], axis=-1)  # here
    return concatenated @ W_O, weights


@wrong("multi_head_attention")
def multi_head_every_nth_column(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    heads, all_weights = [], []
    for i in range(n_heads):
        q, k, v = Q[..., i::n_heads], K[..., i::n_heads], V[..., i::n_heads]  # here
        context, weights = scaled_dot_product_attention(q, k, v, mask)
        heads.append(context)
        all_weights.append(weights)
    return np.concatenate(heads, axis=-1) @ W_O, np.stack(all_weights, axis=-3)


@wrong("multi_head_attention")
def multi_head_scaled_by_the_model(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    d_model = X.shape[-1]
    q, k, v = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    scores = q @ k.swapaxes(-1, -2)
    scores = scores / np.sqrt(d_model)  # here
    if mask is not None:
        scores = np.where(mask, scores, -1e30)
    weights = softmax(scores)
    context = combine_heads(weights @ v)
    return context @ W_O, weights


@wrong("multi_head_attention")
def multi_head_without_the_output_projection(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    q, k, v = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    context, weights = scaled_dot_product_attention(q, k, v, mask)
    output = combine_heads(context)  # here
    return output, weights  # here


@wrong("multi_head_attention")
def multi_head_with_the_matrix_turned(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    q, k, v = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    context, weights = scaled_dot_product_attention(q, k, v, mask)
    concat = combine_heads(context)
    output = concat @ W_O.T  # here
    return output, weights


@wrong("multi_head_attention")
def multi_head_softmax_over_heads(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    q, k, v = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    e = np.exp(scores - scores.max(axis=-3, keepdims=True))
    weights = e / e.sum(axis=-3, keepdims=True)  # here
    return combine_heads(weights @ v) @ W_O, weights


@wrong("multi_head_attention")
def multi_head_queries_for_keys(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    q = split_heads(X @ W_Q, n_heads)
    k = split_heads(X @ W_Q, n_heads)  # here
    v = split_heads(X @ W_V, n_heads)
    context, weights = scaled_dot_product_attention(q, k, v, mask)
    return combine_heads(context) @ W_O, weights


def heads_of(rows, n_heads):
    *batch, seq_len, d_model = rows.shape
    apart = rows.reshape(*batch, seq_len, n_heads, d_model // n_heads)
    return apart.swapaxes(-3, -2)


@wrong("multi_head_attention")
def multi_head_splits_the_weights_too(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    q = heads_of(X @ W_Q, n_heads)
    k = heads_of(X @ W_K, n_heads)
    v = heads_of((X + 1) @ W_V, n_heads)  # here
    context, weights = scaled_dot_product_attention(q, k, v, mask)
    return combine_heads(context) @ W_O, weights


# ---- a Jacobian


def forward(row):
    e = np.exp(row - row.max())
    return e / e.sum()


@wrong("softmax_jacobian")
def jacobian_of_the_weights_once_more(p):
    s = forward(p)  # here
    return np.diag(s) - np.outer(s, s)


@wrong("softmax_jacobian")
def jacobian_with_a_plus(p):
    diagonal = np.diag(p)
    outer = np.outer(p, p)
    return diagonal + outer  # here


@wrong("softmax_jacobian")
def jacobian_in_loops(p):
    n = len(p)
    J = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i == j:
                J[i, j] = p[i] * (1 - p[i])
            else:
                J[i, j] = p[i] * p[j]  # here
    return J


# ---- blockwise attention


@wrong("blockwise_attention")
def blocks_without_correction(queries, keys, values, *, block_size=2, mask=None):
    scale = 1 / np.sqrt(queries.shape[-1])
    n_keys = keys.shape[-2]
    m = np.full((*queries.shape[:-1], 1), -np.inf)
    total = np.zeros((*queries.shape[:-1], 1))
    acc = np.zeros((*queries.shape[:-1], values.shape[-1]))
    for j in range(0, n_keys, block_size):
        k, v = keys[..., j : j + block_size, :], values[..., j : j + block_size, :]
        s = queries @ k.swapaxes(-1, -2) * scale
        if mask is not None:
            s = np.where(mask[..., j : j + block_size], s, -np.inf)
        m_new = np.maximum(m, s.max(-1, keepdims=True))
        safe = np.where(np.isfinite(m_new), m_new, 0)
        p = np.exp(s - safe)
        correction = np.exp(m - safe)
        total = total * correction + p.sum(-1, keepdims=True)
        acc = acc + p @ v  # here
        m = m_new
    return acc / np.where(total == 0, 1, total)


@wrong("blockwise_attention")
def blocks_without_the_root(queries, keys, values, *, block_size=2, mask=None):
    d_k = queries.shape[-1]
    m = np.full((*queries.shape[:-1], 1), -np.inf)
    total = np.zeros((*queries.shape[:-1], 1))
    acc = np.zeros((*queries.shape[:-1], values.shape[-1]))
    for j in range(0, keys.shape[-2], block_size):
        k, v = keys[..., j : j + block_size, :], values[..., j : j + block_size, :]
        s = queries @ k.swapaxes(-1, -2) / d_k  # here
        if mask is not None:
            s = np.where(mask[..., j : j + block_size], s, -np.inf)
        m_new = np.maximum(m, s.max(-1, keepdims=True))
        safe = np.where(np.isfinite(m_new), m_new, 0)
        p = np.exp(s - safe)
        correction = np.exp(m - safe)
        total = total * correction + p.sum(-1, keepdims=True)
        acc = acc * correction + p @ v
        m = m_new
    return acc / np.where(total == 0, 1, total)


@wrong("blockwise_attention")
def blocks_never_divided(queries, keys, values, *, block_size=2, mask=None):
    scale = queries.shape[-1] ** -0.5
    m = np.full((*queries.shape[:-1], 1), -np.inf)
    total = np.zeros((*queries.shape[:-1], 1))
    acc = np.zeros((*queries.shape[:-1], values.shape[-1]))
    for j in range(0, keys.shape[-2], block_size):
        k, v = keys[..., j : j + block_size, :], values[..., j : j + block_size, :]
        s = queries @ k.swapaxes(-1, -2) * scale
        if mask is not None:
            s = np.where(mask[..., j : j + block_size], s, -np.inf)
        m_new = np.maximum(m, s.max(-1, keepdims=True))
        safe = np.where(np.isfinite(m_new), m_new, 0)
        p = np.exp(s - safe)
        correction = np.exp(m - safe)
        total = total * correction + p.sum(-1, keepdims=True)
        acc = acc * correction + p @ v
        m = m_new
    return acc  # here


@wrong("blockwise_attention")
def blocks_each_with_its_own_softmax(queries, keys, values, *, block_size=2, mask=None):
    scale = queries.shape[-1] ** -0.5
    n_keys = keys.shape[-2]
    out = np.zeros((*queries.shape[:-1], values.shape[-1]))
    for j in range(0, n_keys, block_size):
        k, v = keys[..., j : j + block_size, :], values[..., j : j + block_size, :]
        s = queries @ k.swapaxes(-1, -2) * scale
        if mask is not None:
            s = np.where(mask[..., j : j + block_size], s, -1e30)
        weights = softmax(s)  # here
        out = out + weights @ v
    return out


@wrong("blockwise_attention")
def blocks_total_not_corrected(queries, keys, values, *, block_size=2, mask=None):
    scale = 1 / np.sqrt(queries.shape[-1])
    running_max = np.full((*queries.shape[:-1], 1), -1e30)
    denominator = np.zeros((*queries.shape[:-1], 1))
    numerator = np.zeros((*queries.shape[:-1], values.shape[-1]))
    for start in range(0, keys.shape[-2], block_size):
        end = start + block_size
        scores = queries @ keys[..., start:end, :].swapaxes(-1, -2) * scale
        if mask is not None:
            scores = np.where(mask[..., start:end], scores, -np.inf)
        new_max = np.maximum(running_max, scores.max(axis=-1, keepdims=True))
        weights = np.exp(scores - new_max)
        rescale = np.exp(running_max - new_max)
        denominator = denominator + weights.sum(axis=-1, keepdims=True)  # here
        numerator = numerator * rescale + weights @ values[..., start:end, :]
        running_max = new_max
    return numerator / np.where(denominator == 0, 1, denominator)


@wrong("blockwise_attention")
def blocks_mask_never_sliced(queries, keys, values, *, block_size=2, mask=None):
    scale = 1 / np.sqrt(queries.shape[-1])
    running_max = np.full((*queries.shape[:-1], 1), -1e30)
    denominator = np.zeros((*queries.shape[:-1], 1))
    numerator = np.zeros((*queries.shape[:-1], values.shape[-1]))
    for start in range(0, keys.shape[-2], block_size):
        end = start + block_size
        scores = queries @ keys[..., start:end, :].swapaxes(-1, -2) * scale  # here
        new_max = np.maximum(running_max, scores.max(axis=-1, keepdims=True))  # here
        weights = np.exp(scores - new_max)  # here
        rescale = np.exp(running_max - new_max)
        denominator = denominator * rescale + weights.sum(axis=-1, keepdims=True)
        numerator = numerator * rescale + weights @ values[..., start:end, :]
        running_max = new_max
    return numerator / denominator


# ---- rotation


@wrong("rotate")
def rotate_halves(X, start=0):
    seq_len, d_head = X.shape[-2:]
    half = d_head // 2
    frequencies = 1.0 / (10000 ** (np.arange(0, d_head, 2) / d_head))
    positions = np.arange(start, start + seq_len)
    angles = np.outer(positions, frequencies)
    cos, sin = np.cos(angles), np.sin(angles)
    x1, x2 = X[..., :half], X[..., half:]  # here
    return np.concatenate([x1 * cos - x2 * sin, x1 * sin + x2 * cos], axis=-1)  # here


@wrong("rotate")
def rotate_the_other_way_round(X, start=0):
    seq_len, d_head = X.shape[-2:]
    inv_freq = 1.0 / (10000 ** (np.arange(0, d_head, 2) / d_head))
    t = np.arange(start, start + seq_len)
    freqs = np.outer(t, inv_freq)
    cos, sin = np.cos(freqs), np.sin(freqs)
    even, odd = X[..., 0::2], X[..., 1::2]
    out = np.empty(X.shape)
    out[..., 0::2] = even * cos + odd * sin  # here
    out[..., 1::2] = -even * sin + odd * cos
    return out


@wrong("rotate")
def rotate_adds_both(X, start=0):
    seq_len, d_head = X.shape[-2:]
    inv_freq = 1.0 / (10000 ** (np.arange(0, d_head, 2) / d_head))
    freqs = np.outer(np.arange(start, start + seq_len), inv_freq)
    cos, sin = np.cos(freqs), np.sin(freqs)
    even, odd = X[..., 0::2], X[..., 1::2]
    first = even * cos + odd * sin  # here
    second = even * sin + odd * cos
    return np.stack([first, second], axis=-1).reshape(X.shape)


@wrong("rotate")
def rotate_frequency_exponent(X, start=0):
    seq_len, d_head = X.shape[-2:]
    theta = 1.0 / (10000 ** (np.arange(d_head // 2) / d_head))  # here
    positions = np.arange(start, start + seq_len)
    angles = positions[:, None] * theta
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = X[..., 0::2], X[..., 1::2]
    return np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1).reshape(X.shape)


@wrong("rotate")
def rotate_joins_the_halves(X, start=0):
    seq_len, d_head = X.shape[-2:]
    theta = 1.0 / (10000 ** (np.arange(0, d_head, 2) / d_head))
    angles = np.arange(start, start + seq_len)[:, None] * theta
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = X[..., 0::2], X[..., 1::2]
    first = even * cos - odd * sin
    second = even * sin + odd * cos
    return np.concatenate([first, second], axis=-1)  # here


@wrong("rotate")
def rotate_starts_at_one(X, start=1):  # here
    seq_len, d_head = X.shape[-2:]
    theta = 1.0 / (10000 ** (np.arange(0, d_head, 2) / d_head))
    angles = np.arange(start, start + seq_len)[:, None] * theta
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = X[..., 0::2], X[..., 1::2]
    return np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1).reshape(X.shape)


@wrong("rotate")
def rotate_conventions_mixed(X, start=0):
    seq_len, d_head = X.shape[-2:]
    inv_freq = 1.0 / (10000 ** (np.arange(0, d_head, 2) / d_head))
    freqs = np.outer(np.arange(start, start + seq_len), inv_freq)
    emb = np.concatenate([freqs, freqs], axis=-1)  # here
    turned = np.stack([-X[..., 1::2], X[..., 0::2]], axis=-1).reshape(X.shape)  # here
    return X * np.cos(emb) + turned * np.sin(emb)


# ---- grouped heads, a cache, a sampler


@wrong("grouped_attention")
def grouped_tiled(queries, keys, values, mask=None):
    n_rep = queries.shape[-3] // keys.shape[-3]
    keys = np.concatenate([keys] * n_rep, axis=-3)  # here
    values = np.concatenate([values] * n_rep, axis=-3)  # here
    context, weights = scaled_dot_product_attention(queries, keys, values, mask=mask)
    return context, weights


@wrong("grouped_attention")
def grouped_repeated_along_tokens(queries, keys, values, mask=None):
    n_rep = queries.shape[-3] // keys.shape[-3]
    k = np.tile(keys, (n_rep, 1, 1))  # here
    v = np.tile(values, (n_rep, 1, 1))  # here
    scores = queries @ k.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -1e30)
    weights = softmax(scores)
    return weights @ v, weights


@wrong("attend_with_cache")
def cache_without_a_mask(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    q, k, v = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
    if cache is not None:
        k = np.concatenate([cache[0], k], axis=-2)
        v = np.concatenate([cache[1], v], axis=-2)
    context, _ = scaled_dot_product_attention(q, k, v)  # here
    output = combine_heads(context) @ W_O
    return output, (k, v)


@wrong("attend_with_cache")
def cache_new_in_front(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    q, k, v = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
    if cache is not None:
        k = np.concatenate([k, cache[0]], axis=-2)  # here
        v = np.concatenate([v, cache[1]], axis=-2)  # here
    n_new, n_all = q.shape[-2], k.shape[-2]
    mask = np.tri(n_new, n_all, n_all - n_new, dtype=bool)
    context, _ = scaled_dot_product_attention(q, k, v, mask)
    return combine_heads(context) @ W_O, (k, v)


@wrong("next_token_probabilities")
def sampler_with_its_own_temperature(logits, *, temperature=0.7, top_k=None):  # here
    logits = logits / temperature
    if top_k is not None:
        kth = np.sort(logits, axis=-1)[..., [-min(top_k, logits.shape[-1])]]
        logits = np.where(logits < kth, -np.inf, logits)
    return softmax(logits)


@wrong("next_token_probabilities")
def sampler_with_its_own_top_k(logits, *, temperature=1.0, top_k=3):  # here
    logits = logits / temperature
    if top_k is not None:
        kth = np.sort(logits, axis=-1)[..., [-min(top_k, logits.shape[-1])]]
        logits = np.where(logits < kth, -np.inf, logits)
    return softmax(logits)


@wrong("next_token_probabilities")
def sampler_never_renormalised(logits, *, temperature=1.0, top_k=None):
    p = softmax(logits / temperature)
    if top_k is not None:
        kth = np.sort(p, axis=-1)[..., [-min(top_k, p.shape[-1])]]
        p = np.where(p < kth, 0, p)  # here
    return p  # here


@wrong("next_token_probabilities")
def sampler_heats_the_probabilities(logits, *, temperature=1.0, top_k=None):
    p = softmax(logits)  # here
    p = p / temperature  # here
    if top_k is not None:
        kth = np.sort(p, axis=-1)[..., [-min(top_k, p.shape[-1])]]
        p = np.where(p < kth, 0, p)
    return p / p.sum(axis=-1, keepdims=True)


@wrong("next_token_probabilities")
def sampler_heats_what_is_left(logits, *, temperature=1.0, top_k=None):
    if top_k is not None and top_k < logits.shape[-1]:
        cutoff = np.partition(logits, -top_k, axis=-1)[..., -top_k]
        logits = np.where(logits >= cutoff[..., None], logits, -np.inf)
    probs = softmax(logits) / temperature  # here
    return probs / probs.sum(axis=-1, keepdims=True)  # here


@wrong("next_token_probabilities")
def sampler_one_too_many(logits, *, temperature=1.0, top_k=None):
    scaled = logits / temperature
    if top_k is not None:
        k = min(top_k, scaled.shape[-1])
        kth = np.sort(scaled, axis=-1)[..., [-k - 1 if k < scaled.shape[-1] else -k]]  # here
        scaled = np.where(scaled >= kth, scaled, -np.inf)
    return softmax(scaled)


@wrong("next_token_probabilities")
def sampler_hides_with_zero(logits, *, temperature=1.0, top_k=None):
    scaled = logits / temperature
    if top_k is not None:
        k = min(top_k, scaled.shape[-1])
        kth = np.sort(scaled, axis=-1)[..., [-k]]
        scaled = np.where(scaled >= kth, scaled, 0)  # here
    return softmax(scaled)


# ---- masks and measures


@wrong("causal_mask")
def causal_above_the_diagonal(n):
    i = np.arange(n)[:, None]
    j = np.arange(n)[None, :]
    return j >= i  # here


@wrong("causal_mask")
def causal_without_the_diagonal(n):
    ones = np.ones((n, n))
    lower = np.tril(ones, k=-1)  # here
    return lower.astype(bool)


@wrong("padding_mask")
def padding_hides_the_tokens(lengths, max_len):
    positions = np.arange(max_len)
    mask = positions[None, :] >= np.asarray(lengths)[:, None]  # here
    return mask


@wrong("head_entropy")
def entropy_in_bits(weights):
    logarithms = np.log2(np.where(weights > 0, weights, 1))  # here
    entropies = -(weights * logarithms).sum(axis=-1)
    return entropies.mean(axis=-1)


@wrong("head_entropy")
def entropy_with_its_sign_lost(weights):
    logarithms = np.log(np.where(weights > 0, weights, 1))
    entropies = (weights * logarithms).sum(axis=-1)  # here
    return entropies.mean(axis=-1)


# ---- gradients


@wrong("attention_gradients")
def gradients_without_the_scale(queries, keys, values, d_context, mask=None):
    _, weights = scaled_dot_product_attention(queries, keys, values, mask=mask)
    d_values = weights.swapaxes(-1, -2) @ d_context
    d_weights = d_context @ values.swapaxes(-1, -2)
    d_scores = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
    d_queries = d_scores @ keys  # here
    d_keys = d_scores.swapaxes(-1, -2) @ queries  # here
    return d_queries, d_keys, d_values


@wrong("attention_gradients")
def gradients_keep_the_mean(queries, keys, values, d_context, mask=None):
    root = np.sqrt(queries.shape[-1])
    _, weights = scaled_dot_product_attention(queries, keys, values, mask=mask)
    d_values = weights.swapaxes(-1, -2) @ d_context
    d_weights = d_context @ values.swapaxes(-1, -2)
    d_scores = weights * d_weights  # here
    d_scores = d_scores / root
    return d_scores @ keys, d_scores.swapaxes(-1, -2) @ queries, d_values


@wrong("masked_attention")
def masked_hides_a_little(queries, keys, values, mask):
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    scores = scores + (1 - mask) * -10.0  # here
    weights = softmax(scores)
    return weights @ values, weights


@wrong("masked_attention")
def masked_adds_to_unscaled(queries, keys, values, mask):
    bias = np.zeros(mask.shape)
    bias[~mask] = -np.inf
    bias[~mask.any(axis=-1)] = 0
    scores = np.matmul(queries, np.swapaxes(keys, -1, -2)) + bias  # here
    weights = softmax(scores)
    weights = weights * mask.any(axis=-1, keepdims=True)
    return weights @ values, weights


@wrong("weights_from_torch")
def thirds_exchanged(weight):
    W_K, W_Q, W_V = np.split(weight.T, 3, axis=-1)  # here
    return W_Q, W_K, W_V


@wrong("without_head")
def without_rows(W_Q, W_K, W_V, W_O, head, n_heads):
    size = W_O.shape[0] // n_heads
    cut = slice(head * size, (head + 1) * size)
    W_Q, W_K, W_V = (np.delete(W, cut, axis=0) for W in (W_Q, W_K, W_V))  # here
    return W_Q, W_K, W_V, np.delete(W_O, cut, axis=0)


EACH_WRONG = [(name, function) for name, group in WRONG.items() for function in group]
