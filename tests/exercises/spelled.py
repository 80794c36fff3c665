"""Answers as they may be spelled, right ones and wrong ones; the faulty line of a wrong one ends with `# here`.

They are unusual on purpose: comprehensions, generators, classes, decorators, loops, sums by einsum, arrays that are
written into. Where a fault can be seen in either of two lines, both end so.
"""

import functools
import itertools
import operator

import numpy as np

from mha_helpers.attention import combine_heads, scaled_dot_product_attention, softmax, split_heads

RIGHT, WRONG = {}, {}


def right(name):
    return lambda function: RIGHT.setdefault(name, []).append(function) or function


def wrong(name):
    return lambda function: WRONG.setdefault(name, []).append(function) or function


def logged(function):
    @functools.wraps(function)
    def wrapper(*given, **named):
        result = function(*given, **named)
        return result

    return wrapper


# ---- softmax


@right("softmax")
def softmax_in_place_on_a_copy(scores):
    out = np.array(scores, dtype=float)
    out -= out.max(axis=-1, keepdims=True)
    np.exp(out, out=out)
    out /= out.sum(axis=-1, keepdims=True)
    return out


@right("softmax")
def softmax_by_walrus(scores):
    top = np.max(scores, axis=-1)[..., None]
    return (e := np.exp(scores - top)) / e.sum(axis=-1)[..., None]


@right("softmax")
def softmax_by_logarithms(scores):
    shifted = scores - scores.max(axis=-1, keepdims=True)
    log_total = np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return np.exp(shifted - log_total)


@right("softmax")
def softmax_rows_flattened(scores):
    rows = scores.reshape(-1, scores.shape[-1])
    done = []
    for row in rows:
        powers = np.exp(row - row.max())
        done.append(powers / powers.sum())
    return np.array(done).reshape(scores.shape)


@right("softmax")
def softmax_turned(scores):
    turned = np.moveaxis(scores, -1, 0)
    powers = np.exp(turned - turned.max(axis=0))
    powers = powers / powers.sum(axis=0)
    return np.moveaxis(powers, 0, -1)


@right("softmax")
def softmax_by_recursion(scores):
    if np.ndim(scores) > 1:
        return np.array([softmax_by_recursion(part) for part in scores])
    top = max(scores)
    powers = [np.exp(score - top) for score in scores]
    return np.array([power / sum(powers) for power in powers])


@wrong("softmax")
def softmax_total_of_all(scores):
    shifted = scores - scores.max(axis=-1, keepdims=True)
    powers = np.exp(shifted)
    total = powers.sum()  # here
    return powers / total  # here


@wrong("softmax")
def softmax_loses_its_axis(scores):
    top = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - top)
    denominator = e.sum(axis=-2, keepdims=True)  # here
    e /= denominator
    return e


@wrong("softmax")
def softmax_of_powers_of_two(scores):
    shifted = scores - np.max(scores, axis=-1, keepdims=True)
    powers = 2.0**shifted  # here
    return powers / np.sum(powers, axis=-1, keepdims=True)


@wrong("softmax")
def softmax_by_logarithms_of_the_scores(scores):
    shifted = scores - scores.max(axis=-1, keepdims=True)
    log_total = np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return np.exp(shifted + log_total)  # here


@wrong("softmax")
def softmax_in_a_loop_with_the_last_total(scores):
    rows = scores.reshape(-1, scores.shape[-1])
    powers = np.exp(rows - rows.max(axis=-1, keepdims=True))
    for row in powers:
        total = row.sum()
    powers = powers / total  # here
    return powers.reshape(scores.shape)


@wrong("softmax")
def softmax_turned_back_wrongly(scores):
    turned = np.moveaxis(scores, -1, 0)
    powers = np.exp(turned - turned.max(axis=0))
    powers = powers / powers.sum(axis=0)
    return powers.reshape(scores.shape)  # here


# ---- split_heads, combine_heads


@right("split_heads")
def split_by_einsum(X, n_heads):
    *batch, n_tokens, _ = X.shape
    apart = X.reshape(*batch, n_tokens, n_heads, -1)
    return np.einsum("...thd->...htd", apart)


@right("split_heads")
def split_by_columns(X, n_heads):
    width, rest = divmod(X.shape[-1], n_heads)
    if rest:
        raise ValueError("n_heads must divide the width")
    columns = (range(h * width, (h + 1) * width) for h in range(n_heads))
    return np.stack([X[..., list(own)] for own in columns], axis=-3)


@right("split_heads")
def split_written_into_an_array(X, n_heads):
    *batch, n_tokens, d_model = X.shape
    assert d_model % n_heads == 0
    heads = np.empty((*batch, n_heads, n_tokens, d_model // n_heads), X.dtype)
    for h in range(n_heads):
        heads[..., h, :, :] = X[..., h * heads.shape[-1] : (h + 1) * heads.shape[-1]]
    return heads


@wrong("split_heads")
def split_with_axes_exchanged(X, n_heads):
    *batch, n_tokens, d_model = X.shape
    d_head = d_model // n_heads
    X = X.reshape(*batch, n_tokens, d_head, n_heads)  # here
    X = np.moveaxis(X, -1, -3)
    return X


@wrong("split_heads")
def split_straight_to_heads(X, n_heads):
    *batch, n_tokens, d_model = X.shape
    shape = (*batch, n_heads, n_tokens, d_model // n_heads)
    heads = X.reshape(shape)  # here
    return heads


@wrong("split_heads")
def split_written_into_every_nth(X, n_heads):
    *batch, n_tokens, d_model = X.shape
    heads = np.empty((*batch, n_heads, n_tokens, d_model // n_heads), X.dtype)
    for h in range(n_heads):
        heads[..., h, :, :] = X[..., h::n_heads]  # here
    return heads


@wrong("split_heads")
def split_never_swapped(X, n_heads):
    *batch, n_tokens, d_model = X.shape
    heads = X.reshape(*batch, n_tokens, n_heads, d_model // n_heads)  # here
    return heads  # here


@right("combine_heads")
def combine_by_reduction(heads):
    parts = [heads[..., i, :, :] for i in range(heads.shape[-3])]
    return functools.reduce(lambda left, new: np.concatenate([left, new], axis=-1), parts)


@right("combine_heads")
def combine_by_einsum(heads):
    turned = np.einsum("...htd->...thd", heads)
    *front, n_heads, d_head = turned.shape
    return np.ascontiguousarray(turned).reshape(*front, n_heads * d_head)


@wrong("combine_heads")
def combine_features_first(heads):
    *batch, n_heads, n_tokens, d_head = heads.shape
    turned = np.moveaxis(heads, -3, -1)  # here
    return turned.reshape(*batch, n_tokens, n_heads * d_head)


@wrong("combine_heads")
def combine_from_the_last(heads):
    parts = [heads[..., i, :, :] for i in range(heads.shape[-3])]
    parts = parts[::-1]  # here
    combined = np.concatenate(parts, axis=-1)
    return combined


# ---- attention


@right("multi_head_attention")
class multi_head_as_a_class:
    def __new__(cls, X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        self = object.__new__(cls)
        self.n_heads, self.mask = n_heads, mask
        self.q, self.k, self.v = (self.split(X @ W) for W in (W_Q, W_K, W_V))
        context, weights = self.attend()
        return combine_heads(context) @ W_O, weights

    def split(self, rows):
        return split_heads(rows, self.n_heads)

    def attend(self):
        return scaled_dot_product_attention(self.q, self.k, self.v, self.mask)


@right("multi_head_attention")
def multi_head_by_einsum(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    def heads(W):
        return np.einsum("...ti,ihd->...htd", X, W.reshape(len(W), n_heads, -1))

    q, k, v = map(heads, (W_Q, W_K, W_V))
    scores = np.einsum("...qd,...kd->...qk", q, k) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    scores = scores - np.nan_to_num(scores.max(-1, keepdims=True), neginf=0)
    weights = np.exp(scores)
    total = weights.sum(-1, keepdims=True)
    weights = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return np.einsum("...hqk,...hkd,hdo->...qo", weights, v, W_O.reshape(n_heads, -1, W_O.shape[-1])), weights


@right("multi_head_attention")
@logged
def multi_head_with_one_matrix(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    fused = X @ np.hstack([W_Q, W_K, W_V])
    q, k, v = (split_heads(part, n_heads) for part in np.split(fused, 3, axis=-1))
    context, weights = scaled_dot_product_attention(q, k, v, mask)
    out = np.empty((*context.shape[:-3], context.shape[-2], W_O.shape[0]), context.dtype)
    np.concatenate([context[..., h, :, :] for h in range(n_heads)], axis=-1, out=out)
    return out @ W_O, weights


@right("multi_head_attention")
def multi_head_added_up(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    context, weights = scaled_dot_product_attention(*(split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V)), mask)
    rows = np.split(W_O, n_heads)
    output = functools.reduce(operator.add, (context[..., h, :, :] @ rows[h] for h in range(n_heads)))
    return output, weights


@wrong("multi_head_attention")
def multi_head_einsum_transposes_the_keys(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    def heads(W):
        return np.einsum("...ti,ihd->...htd", X, W.reshape(len(W), n_heads, -1))

    q, k, v = map(heads, (W_Q, W_K, W_V))
    scores = np.einsum("...qd,...kd->...kq", q, k) / np.sqrt(q.shape[-1])  # here
    if mask is not None:
        scores = np.where(mask, scores, -1e30)
    weights = softmax(scores)
    return combine_heads(weights @ v) @ W_O, weights


@wrong("multi_head_attention")
def multi_head_splits_in_a_nested_function(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    def heads(W):
        rows = X @ W
        return rows.reshape(*rows.shape[:-2], n_heads, rows.shape[-2], -1)  # here

    q, k, v = heads(W_Q), heads(W_K), heads(W_V)
    context, weights = scaled_dot_product_attention(q, k, v, mask)
    return combine_heads(context) @ W_O, weights


@wrong("multi_head_attention")
def multi_head_reads_the_values_from_the_keys(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    projected = {name: split_heads(X @ W, n_heads) for name, W in zip("qkv", (W_Q, W_K, W_K), strict=True)}  # here
    context, weights = scaled_dot_product_attention(projected["q"], projected["k"], projected["v"], mask)
    return combine_heads(context) @ W_O, weights


@wrong("multi_head_attention")
def multi_head_scaled_by_the_whole_width(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    q, k, v = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    scale = X.shape[-1] ** -0.5  # here
    scores = (q * scale) @ k.swapaxes(-1, -2)
    if mask is not None:
        scores = np.where(mask, scores, -1e30)
    weights = softmax(scores)
    context = weights @ v
    return combine_heads(context) @ W_O, weights


@wrong("multi_head_attention")
def multi_head_joined_by_out(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    q, k, v = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    context, weights = scaled_dot_product_attention(q, k, v, mask)
    joined = combine_heads(context)
    output = np.empty_like(joined)
    np.matmul(joined, W_O.T, out=output)  # here
    return output, weights


@wrong("multi_head_attention")
@logged
def multi_head_added_up_from_the_wrong_rows(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    context, weights = scaled_dot_product_attention(*(split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V)), mask)
    rows = W_O.reshape(-1, n_heads, W_O.shape[-1]).swapaxes(0, 1)  # here
    output = sum(context[..., h, :, :] @ rows[h] for h in range(n_heads))
    return output, weights


@wrong("multi_head_attention")
def multi_head_ends_early(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    q, k, v = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    context, weights = scaled_dot_product_attention(q, k, v, mask)
    output = combine_heads(context)  # here
    return output, weights  # here


@wrong("multi_head_attention")
class multi_head_class_forgets_the_scale:
    def __new__(cls, X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        self = object.__new__(cls)
        self.q, self.k, self.v = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
        self.scores = self.q @ self.k.swapaxes(-1, -2)  # here
        weights = softmax(self.scores if mask is None else np.where(mask, self.scores, -1e30))  # here
        return combine_heads(weights @ self.v) @ W_O, weights


@right("scaled_dot_product_attention")
def attention_by_columns(queries, keys, values, scale=None):
    scale = queries.shape[-1] ** -0.5 if scale is None else scale
    columns = [(queries * keys[..., j : j + 1, :]).sum(-1) * scale for j in range(keys.shape[-2])]
    scores = np.stack(columns, axis=-1)
    weights = softmax(scores)
    context = sum(weights[..., j, None] * values[..., j, None, :] for j in range(values.shape[-2]))
    return context, weights


@right("scaled_dot_product_attention")
def attention_by_a_generator(queries, keys, values, scale=None):
    def rows():
        root = np.sqrt(queries.shape[-1])
        for i in range(queries.shape[-2]):
            scores = np.einsum("...d,...kd->...k", queries[..., i, :], keys)
            yield softmax(scores / root if scale is None else scores * scale)

    weights = np.stack(list(rows()), axis=-2)
    return np.matmul(weights, values), weights


@right("scaled_dot_product_attention")
def attention_one_liner(q, k, v, scale=None):
    return (w := softmax(q @ k.swapaxes(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale))) @ v, w


@right("scaled_dot_product_attention")
def attention_by_broadcasting(queries, keys, values, scale=None):
    products = queries[..., :, None, :] * keys[..., None, :, :]
    scores = products.sum(axis=-1)
    scores *= 1 / np.sqrt(queries.shape[-1]) if scale is None else scale
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= np.add.reduce(scores, axis=-1, keepdims=True)
    context = (scores[..., None] * values[..., None, :, :]).sum(axis=-2)
    return context, scores


@wrong("scaled_dot_product_attention")
def attention_by_columns_of_the_wrong_axis(queries, keys, values, scale=None):
    scale = queries.shape[-1] ** -0.5 if scale is None else scale
    columns = [(queries * keys[..., j : j + 1, :]).sum(-1) * scale for j in range(keys.shape[-2])]
    scores = np.stack(columns, axis=-2)  # here
    weights = softmax(scores)
    context = weights @ values
    return context, weights


@wrong("scaled_dot_product_attention")
def attention_scaled_in_place_twice(queries, keys, values, scale=None):
    root = np.sqrt(queries.shape[-1])
    scores = queries @ keys.swapaxes(-1, -2)
    if scale is None:
        scores /= root
        scores /= root  # here
    else:
        scores *= scale
    weights = softmax(scores)
    return weights @ values, weights


@wrong("scaled_dot_product_attention")
def attention_mixes_the_keys(queries, keys, values, scale=None):
    scale = scale or 1 / np.sqrt(queries.shape[-1])
    scores = np.einsum("...qd,...kd->...qk", queries, keys) * scale
    weights = softmax(scores)
    context = np.einsum("...kq,...kv->...qv", weights, values) if len(queries) == len(keys) else weights @ keys  # here
    return context, weights


@wrong("scaled_dot_product_attention")
def attention_broadcast_over_the_queries(queries, keys, values, scale=None):
    products = queries[..., :, None, :] * keys[..., None, :, :]
    scores = products.sum(axis=-1)
    scores *= 1 / np.sqrt(queries.shape[-1]) if scale is None else scale
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= np.add.reduce(scores, axis=-2, keepdims=True)  # here
    context = (scores[..., None] * values[..., None, :, :]).sum(axis=-2)
    return context, scores


@right("masked_attention")
def masked_by_assignment(queries, keys, values, mask):
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    scores[np.broadcast_to(~mask, scores.shape)] = -1e30
    e = np.exp(scores - scores.max(axis=-1, keepdims=True)) * mask
    total = e.sum(axis=-1, keepdims=True)
    weights = e / np.where(total > 0, total, 1)
    return weights @ values, weights


@right("masked_attention")
def masked_by_adding(queries, keys, values, mask):
    bias = np.zeros(mask.shape)
    bias[~mask] = -np.inf
    bias[~mask.any(axis=-1)] = 0
    scores = np.matmul(queries, np.swapaxes(keys, -1, -2)) * queries.shape[-1] ** -0.5 + bias
    weights = softmax(scores)
    weights = weights * mask.any(axis=-1, keepdims=True)
    return weights @ values, weights


@wrong("masked_attention")
def masked_by_adding_the_other_way(queries, keys, values, mask):
    bias = np.zeros(mask.shape)
    bias[mask] = -np.inf  # here
    bias[~mask.any(axis=-1)] = 0
    scores = np.matmul(queries, np.swapaxes(keys, -1, -2)) * queries.shape[-1] ** -0.5 + bias
    weights = softmax(scores)
    weights = weights * mask.any(axis=-1, keepdims=True)
    return weights @ values, weights


@wrong("masked_attention")
def masked_by_multiplying(queries, keys, values, mask):
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    scores *= mask  # here
    weights = softmax(scores)
    return weights @ values, weights


@wrong("masked_attention")
def masked_after_the_softmax(queries, keys, values, mask):
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])  # here
    weights = softmax(scores)  # here
    weights = weights * mask  # here
    return weights @ values, weights


@right("attend_with_cache")
def cached_by_lists(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    q, k, v = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
    old = [np.empty_like(k[..., :0, :])] * 2 if cache is None else cache
    k, v = (np.concatenate(pair, axis=-2) for pair in zip(old, (k, v), strict=True))
    n_new, n_all = q.shape[-2], k.shape[-2]
    later = np.triu(np.ones((n_new, n_all), dtype=bool), k=n_all - n_new + 1)
    context, _ = scaled_dot_product_attention(q, k, v, ~later)
    return combine_heads(context) @ W_O, (k, v)


@right("attend_with_cache")
def cached_by_hand(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    def heads(rows):
        return rows.reshape(*rows.shape[:-1], n_heads, -1).swapaxes(-2, -3)

    queries, keys, values = heads(X_new @ W_Q), heads(X_new @ W_K), heads(X_new @ W_V)
    n_old = 0
    if cache is not None:
        n_old = cache[0].shape[-2]
        keys = np.concatenate((cache[0], keys), -2)
        values = np.concatenate((cache[1], values), -2)
    scores = queries @ keys.swapaxes(-1, -2) / keys.shape[-1] ** 0.5
    for i in range(queries.shape[-2]):
        scores[..., i, n_old + i + 1 :] = -np.inf
    weights = softmax(scores)
    context = weights @ values
    return combine_heads(context) @ W_O, (keys, values)


@right("attend_with_cache")
def cached_if_any(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    project = {name: functools.partial(np.matmul, X_new) for name in "qkv"}
    q, k, v = (split_heads(project[name](W), n_heads) for name, W in zip("qkv", (W_Q, W_K, W_V), strict=True))
    if cache is None:
        mask = np.tri(q.shape[-2], dtype=bool)
        return combine_heads(scaled_dot_product_attention(q, k, v, mask)[0]) @ W_O, (k, v)
    k, v = np.append(cache[0], k, axis=-2), np.append(cache[1], v, axis=-2)
    ages = np.arange(k.shape[-2])[:, None] - np.arange(k.shape[-2])
    visible = (ages >= 0)[-q.shape[-2] :]
    return combine_heads(scaled_dot_product_attention(q, k, v, visible)[0]) @ W_O, (k, v)


@wrong("attend_with_cache")
def cached_behind_the_new(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    q, k, v = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
    if cache is not None:
        k = np.concatenate([cache[0], k], axis=-2)
        v = np.concatenate([v, cache[1]], axis=-2)  # here
    n_new, n_all = q.shape[-2], k.shape[-2]
    visible = np.tri(n_new, n_all, n_all - n_new, dtype=bool)
    context, _ = scaled_dot_product_attention(q, k, v, visible)
    return combine_heads(context) @ W_O, (k, v)


@wrong("attend_with_cache")
def cached_with_the_mask_from_the_corner(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    queries, keys, values = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
    if cache is not None:
        keys, values = np.concatenate([cache[0], keys], -2), np.concatenate([cache[1], values], -2)
    mask = np.tril(np.ones((queries.shape[-2], keys.shape[-2]), dtype=bool))  # here
    scores = queries @ keys.swapaxes(-2, -1) / np.sqrt(queries.shape[-1])
    weights = softmax(np.where(mask, scores, -np.inf))
    return combine_heads(weights @ values) @ W_O, (keys, values)


@wrong("attend_with_cache")
def cached_unscaled(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    queries, keys, values = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
    if cache is not None:
        keys = np.append(cache[0], keys, axis=-2)
        values = np.append(cache[1], values, axis=-2)
    n_new, n_all = queries.shape[-2], keys.shape[-2]
    scores = np.einsum("...qd,...kd->...qk", queries, keys)  # here
    scores = np.where(np.tri(n_new, n_all, n_all - n_new, dtype=bool), scores, -1e30)
    weights = softmax(scores)  # here
    return combine_heads(weights @ values) @ W_O, (keys, values)


@wrong("attend_with_cache")
def cached_keeps_the_new_alone(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    q, new_k, new_v = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
    k, v = new_k, new_v
    if cache is not None:
        k, v = (np.concatenate(pair, axis=-2) for pair in zip(cache, (new_k, new_v), strict=True))
    n_new, n_all = q.shape[-2], k.shape[-2]
    context, _ = scaled_dot_product_attention(q, k, v, np.tri(n_new, n_all, n_all - n_new, dtype=bool))
    return combine_heads(context) @ W_O, (new_k, new_v)  # here


# ---- today's heads


@right("rotate")
def rotate_as_complex_numbers(X, start=0):
    n_tokens, d_head = X.shape[-2:]
    frequencies = 10_000.0 ** (-np.arange(0, d_head, 2) / d_head)
    turns = np.exp(1j * np.outer(start + np.arange(n_tokens), frequencies))
    pairs = (X[..., ::2] + 1j * X[..., 1::2]) * turns
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(X.shape)


@right("rotate")
def rotate_by_matrices(X, start=0):
    positions = np.arange(start, start + X.shape[-2])
    angles = positions[:, None] * 10_000.0 ** (-np.arange(0, X.shape[-1], 2) / X.shape[-1])
    turn = np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]])
    pairs = X.reshape(*X.shape[:-1], -1, 2)
    return np.einsum("ijtp,...tpj->...tpi", turn, pairs).reshape(X.shape)


@wrong("rotate")
def rotate_the_other_way(X, start=0):
    n_tokens, d_head = X.shape[-2:]
    frequencies = 1 / 10_000 ** (np.arange(0, d_head, 2) / d_head)
    angles = (start + np.arange(n_tokens))[:, None] * frequencies
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = X[..., 0::2], X[..., 1::2]
    turned = np.empty_like(X)
    turned[..., 0::2] = even * cos + odd * sin  # here
    turned[..., 1::2] = odd * cos + even * sin
    return turned


@wrong("rotate")
def rotate_without_the_start(X, start=0):
    n_tokens, d_head = X.shape[-2:]
    frequencies = 1 / 10_000 ** (np.arange(0, d_head, 2) / d_head)
    angles = np.arange(n_tokens)[:, None] * frequencies  # here
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = X[..., 0::2], X[..., 1::2]
    turned = np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1)
    return turned.reshape(X.shape)


@right("grouped_attention")
def grouped_by_reshaping(queries, keys, values, mask=None):
    n_kv = keys.shape[-3]
    group = queries.shape[-3] // n_kv
    index = list(itertools.chain.from_iterable([i] * group for i in range(n_kv)))
    return scaled_dot_product_attention(queries, keys[..., index, :, :], values[..., index, :, :], mask=mask)


@right("grouped_attention")
def grouped_with_an_axis_of_groups(queries, keys, values, mask=None):
    group = queries.shape[-3] // keys.shape[-3]
    keys, values = (np.stack([one] * group, axis=-3) for one in (keys, values))
    keys, values = (one.reshape(*one.shape[:-4], -1, *one.shape[-2:]) for one in (keys, values))
    return scaled_dot_product_attention(queries, keys, values, mask=mask)


@wrong("grouped_attention")
def grouped_by_tiling(queries, keys, values, mask=None):
    group = queries.shape[-3] // keys.shape[-3]
    index = [i % keys.shape[-3] for i in range(queries.shape[-3])]
    keys = keys[..., index, :, :]  # here
    values = np.repeat(values, group, axis=-3)
    return scaled_dot_product_attention(queries, keys, values, mask=mask)


@right("next_token_probabilities")
def probabilities_by_argsort(logits, *, temperature=1.0, top_k=None):
    scaled = np.asarray(logits) / temperature
    if top_k is not None and top_k < scaled.shape[-1]:
        order = np.argsort(scaled, axis=-1)[..., ::-1]
        limit = np.take_along_axis(scaled, order[..., top_k - 1 : top_k], axis=-1)
        scaled = np.where(scaled < limit, -np.inf, scaled)
    return softmax(scaled)


@wrong("next_token_probabilities")
def probabilities_multiplied(logits, *, temperature=1.0, top_k=None):
    scaled = logits * temperature  # here
    if top_k is not None:
        limit = np.sort(scaled, axis=-1)[..., [-min(top_k, logits.shape[-1])]]
        scaled = np.where(scaled >= limit, scaled, -np.inf)
    return softmax(scaled)


@right("attention_gradients")
def gradients_named(queries, keys, values, d_context, mask=None):
    scale = queries.shape[-1] ** -0.5
    _, weights = scaled_dot_product_attention(queries, keys, values, mask=mask)
    d_weights = np.einsum("...qv,...kv->...qk", d_context, values)
    through = weights * d_weights
    d_scores = (through - weights * through.sum(-1, keepdims=True)) * scale
    return d_scores @ keys, d_scores.swapaxes(-1, -2) @ queries, weights.swapaxes(-1, -2) @ d_context


@wrong("attention_gradients")
def gradients_summed_over_the_queries(queries, keys, values, d_context, mask=None):
    scale = queries.shape[-1] ** -0.5
    _, weights = scaled_dot_product_attention(queries, keys, values, mask=mask)
    d_weights = d_context @ values.swapaxes(-1, -2)
    through = weights * d_weights
    d_scores = through - weights * through.sum(-2, keepdims=True)  # here
    d_values = weights.swapaxes(-1, -2) @ d_context
    return d_scores @ keys * scale, d_scores.swapaxes(-1, -2) @ queries * scale, d_values


@wrong("combine_heads")
def combine_in_no_round(heads):
    combined = heads[..., 0, :, :]
    for i in range(heads.shape[-3], 1):  # here
        combined = np.append(combined, heads[..., i, :, :], axis=-1)
    return combined


# ---- where a line beside the faulty one was accused


@wrong("attention_received")
def received_by_a_wrong_condition(weights):
    if weights.ndim > 3:  # here
        return [received_by_a_wrong_condition(head) for head in weights]
    return [sum(row[key] for row in weights) for key in range(weights.shape[-1])]


@wrong("scaled_dot_product_attention")
def attention_by_columns_without_a_sum(queries, keys, values, scale=None):
    scale = queries.shape[-1] ** -0.5 if scale is None else scale
    columns = [queries * keys[..., j : j + 1, :] * scale for j in range(keys.shape[-2])]  # here
    scores = np.stack(columns, axis=-1)
    weights = softmax(scores)
    context = sum(weights[..., j, None] * values[..., j, None, :] for j in range(values.shape[-2]))
    return context, weights


@wrong("scaled_dot_product_attention")
def attention_stacked_along_the_first_axis(queries, keys, values, scale=None):
    def rows():
        root = np.sqrt(queries.shape[-1])
        for i in range(queries.shape[-2]):
            scores = np.einsum("...d,...kd->...k", queries[..., i, :], keys)
            yield softmax(scores / root if scale is None else scores * scale)

    weights = np.stack(list(rows()))  # here
    return np.matmul(weights, values), weights


@wrong("causal_mask")
def causal_in_an_array_of_numbers(n):
    mask = np.zeros((n, n))  # here
    for i in range(n):
        for j in range(i + 1):
            mask[i, j] = True
    return mask


@wrong("combine_heads")
def combine_takes_the_wrong_axis(heads):
    parts = [heads[:, :, i, ...] for i in range(heads.shape[-3])]  # here
    return functools.reduce(lambda left, new: np.concatenate([left, new], axis=-1), parts)


@wrong("folded_attention")
def folded_heads_of_the_weights(queries, keys, values, n_heads):
    batch = len(queries)
    q, k, v = (np.concatenate(np.split(X, n_heads, axis=-1)) for X in (queries, keys, values))
    _, context = scaled_dot_product_attention(q, k, v)  # here
    return np.concatenate([context[i * batch : (i + 1) * batch] for i in range(n_heads)], axis=-1)


@wrong("judge_step")
def judge_by_number_after_number(printed, right, given, half_unit):
    far = np.vectorize(lambda a, b: abs(a + b) > half_unit)  # here
    wrong = far(printed, right).any(1)
    return wrong, np.where(wrong, far(printed, given).any(1), False)


@wrong("head_entropy")
def entropy_from_uniform_without_its_factor(weights):
    n_keys = weights.shape[-1]
    ratios = np.where(weights > 0, weights, 1)  # here
    return np.log(n_keys) - (weights * np.log(ratios)).sum(axis=-1).mean(axis=-1)


@wrong("attention_gradients")
def gradients_with_an_unused_scale(queries, keys, values, d_context, mask=None):
    scale = queries.shape[-1] ** -0.5  # noqa: F841
    _, weights = scaled_dot_product_attention(queries, keys, values, mask=mask)
    d_weights = np.einsum("...qv,...kv->...qk", d_context, values)
    through = weights * d_weights
    d_scores = through - weights * through.sum(-1, keepdims=True)  # here
    return d_scores @ keys, d_scores.swapaxes(-1, -2) @ queries, weights.swapaxes(-1, -2) @ d_context


EACH_RIGHT = [(name, function) for name, group in RIGHT.items() for function in group]
EACH_WRONG = [(name, function) for name, group in WRONG.items() for function in group]
