"""Answers to notebook 06's exercises: right ones in many styles, and wrong ones beyond the catalogue."""

import functools
import itertools
import math

import numpy as np

from mha_helpers.attention import head_contributions, knock_out, softmax
from mha_helpers.measures import entropy, head_entropy, previous_token_score

# ---- right previous_token_score --------------------------------------------------------------


def previous_by_index(weights):
    i = np.arange(1, weights.shape[-1])
    return weights[..., i, i - 1].mean(axis=-1)


def previous_in_a_loop(weights):
    total = 0.0
    for i in range(1, weights.shape[-1]):
        total = total + weights[..., i, i - 1]
    return total / (weights.shape[-1] - 1)


def previous_recursive(weights):
    if np.ndim(weights) > 2:
        return [previous_recursive(part) for part in weights]
    return sum(weights[i + 1][i] for i in range(len(weights) - 1)) / (len(weights) - 1)


def previous_head_by_head(weights):
    scores = np.zeros(weights.shape[:-2])
    for place in np.ndindex(scores.shape):
        scores[place] = np.diag(weights[place], k=-1).mean()
    return scores


def previous_by_mask(weights):
    below = np.eye(weights.shape[-1], k=-1, dtype=bool)
    return weights[..., below].mean(axis=-1)


def previous_by_where(weights):
    below = np.eye(weights.shape[-1], k=-1, dtype=bool)
    return np.mean(weights, axis=(-2, -1), where=below)


def previous_in_flat_memory(weights):
    n = weights.shape[-1]
    flat = weights.reshape(*weights.shape[:-2], n * n)
    return flat[..., n :: n + 1].mean(axis=-1)


def previous_running_mean(weights):
    mean = np.zeros(weights.shape[:-2])
    for i in range(1, weights.shape[-1]):
        mean += (weights[..., i, i - 1] - mean) / i
    return mean


def previous_as_what_is_left(weights):
    """1 less everything that goes elsewhere."""
    n = weights.shape[-1]
    elsewhere = weights * ~np.eye(n, k=-1, dtype=bool)
    return 1 - elsewhere.sum(axis=-1)[..., 1:].mean(axis=-1)


def previous_as_mixed_places(weights):
    """Mix the one-hot places of the tokens, and look where the one before is."""
    n = weights.shape[-1]
    mixed = weights[..., 1:, :] @ np.eye(n)
    return np.take_along_axis(mixed, np.broadcast_to(np.arange(n - 1)[:, None], (*mixed.shape[:-1], 1)), -1).mean(
        (-2, -1)
    )


def previous_through_heads(weights):
    heads = weights.reshape(-1, *weights.shape[-2:])
    scores = np.array([np.trace(head[1:]) for head in heads]) / (weights.shape[-1] - 1)
    return scores.reshape(weights.shape[:-2])


RIGHT_PREVIOUS = (
    previous_token_score,
    previous_by_index,
    previous_in_a_loop,
    previous_recursive,
    previous_head_by_head,
    previous_by_mask,
    previous_by_where,
    previous_in_flat_memory,
    previous_running_mean,
    previous_as_what_is_left,
    previous_as_mixed_places,
    previous_through_heads,
    lambda weights: np.trace(weights, offset=-1, axis1=-2, axis2=-1) / (weights.shape[-1] - 1),
    lambda weights: np.diagonal(weights[..., 1:, :-1], axis1=-2, axis2=-1).mean(axis=-1),
    lambda weights: np.diagonal(weights, offset=1, axis1=-1, axis2=-2).mean(axis=-1),
    lambda weights: np.diagonal(weights.swapaxes(-1, -2), 1, -2, -1).mean(-1),
    lambda weights: np.einsum("...ii->...i", weights[..., 1:, :-1]).mean(axis=-1),
    lambda weights: np.einsum("...ii", weights[..., 1:, :-1]) / (weights.shape[-1] - 1),
    lambda weights: (weights * np.eye(weights.shape[-1], k=-1)).sum(axis=(-2, -1)) / (weights.shape[-1] - 1),
    lambda weights: np.roll(weights, 1, axis=-1).diagonal(0, -2, -1)[..., 1:].mean(axis=-1),
    lambda weights: np.tensordot(weights, np.eye(weights.shape[-1], k=-1), 2) / (weights.shape[-1] - 1),
    lambda weights: np.average(np.diagonal(weights, -1, -2, -1), axis=-1),
    lambda weights: np.diagonal(weights.astype(np.float32), -1, -2, -1).mean(axis=-1),
    lambda W, /: previous_token_score(W).tolist(),
)  # fmt: skip

# ---- wrong previous_token_score --------------------------------------------------------------


def previous_early_return(weights):
    for i in range(1, weights.shape[-1]):
        return weights[..., i, i - 1]


def previous_one_too_few(weights):
    n = weights.shape[-1]
    return sum(weights[..., i, i - 1] for i in range(1, n - 1)) / (n - 1)


def previous_overwritten(weights):
    for i in range(1, weights.shape[-1]):
        score = weights[..., i, i - 1] / (weights.shape[-1] - 1)
    return score


def previous_best_head(weights):
    return np.unravel_index(previous_token_score(weights).argmax(), weights.shape[:-2] or (1,))


def previous_sorted(weights):
    """The heads in order, which loses their numbers."""
    return np.sort(previous_token_score(weights), axis=-1) if weights.ndim > 2 else previous_token_score(weights)


def previous_remembers(weights, seen={}):  # noqa: B006
    return seen.setdefault((weights.shape, weights.dtype.str), previous_token_score(weights))


def previous_writes(weights):
    result = previous_token_score(weights)
    weights[..., 0, :] = 0
    return result


def previous_heads_shifted(weights):
    return np.roll(previous_token_score(weights), 1, axis=-1) if weights.ndim > 2 else previous_token_score(weights)


def previous_transposed_layers(weights):
    return previous_token_score(weights).T


def previous_without_first_query(weights):
    """The square that is left has another diagonal."""
    return previous_token_score(weights[..., 1:, 1:])


def previous_after_softmax(weights):
    return previous_token_score(softmax(weights))


def previous_renormalised_over_past(weights):
    past = np.tril(weights)
    return previous_token_score(past / past.sum(axis=-1, keepdims=True))


def previous_share_of_offsets(weights):
    """The offset -1 among all offsets' means."""
    n = weights.shape[-1]
    means = [np.diagonal(weights, k, -2, -1).mean(-1) for k in range(1 - n, n)]
    return means[n - 2] / sum(means)


def previous_is_it_one(weights):
    return previous_token_score(weights) > 0.5


def previous_in_mixed_batch(weights):
    """Right for one head; in company all get the batch's mean taken off and on again."""
    score = previous_token_score(weights)
    return score if score.ndim < 2 else score - score.mean(axis=0) + score.mean()


def previous_square_batches(weights):
    """Goes along the first axes where these look like tokens."""
    if weights.ndim == 3 and weights.shape[0] == weights.shape[1]:
        return np.diagonal(weights, -1).mean(axis=-1)
    return previous_token_score(weights)


def _previous_then(change):
    return lambda weights: change(previous_token_score(weights))


WRONG_PREVIOUS = (
    previous_early_return,
    previous_one_too_few,
    previous_overwritten,
    previous_best_head,
    previous_sorted,
    previous_remembers,
    previous_writes,
    previous_heads_shifted,
    previous_transposed_layers,
    previous_without_first_query,
    previous_after_softmax,
    previous_renormalised_over_past,
    previous_share_of_offsets,
    previous_is_it_one,
    previous_in_mixed_batch,
    previous_square_batches,
    _previous_then(lambda score: -score),
    _previous_then(lambda score: 1 - score),
    _previous_then(lambda score: score.round(2)),
    _previous_then(lambda score: score**2),
    _previous_then(lambda score: score * 0.9),
    _previous_then(lambda score: score - score.mean()),
    _previous_then(lambda score: score / score.max()),
    _previous_then(lambda score: score / score.sum()),
    _previous_then(lambda score: score.ravel()),
    _previous_then(lambda score: score[None]),
    _previous_then(lambda score: (score, score.max())),
    _previous_then(lambda score: score.max()),
    _previous_then(lambda score: dict(enumerate(np.ravel(score)))),
    _previous_then(lambda score: f"{np.mean(score):.2f}"),
    _previous_then(lambda score: score.mean),
    _previous_then(lambda score: np.argsort(score, axis=None)),
    lambda weights: weights[..., 1, 0] / 1,
    lambda weights: weights[-1, -2],
    lambda weights: weights[:, :-1].mean(),
    lambda weights: np.diagonal(weights, -1, -2, -1).std(axis=-1),
    lambda weights: np.diagonal(weights, -3, -2, -1).mean(axis=-1),
    lambda weights: np.diagonal(weights, -1, -2, -1) @ np.arange(1, weights.shape[-1]) / weights.shape[-1],
    lambda weights: np.diagonal(weights, -1, -2, -1).mean(axis=-2),
    lambda weights: np.diagonal(weights, -1, -3, -1).mean(axis=-1),
    lambda weights: weights.argmax(axis=-1).mean(axis=-1),
    lambda weights: (weights * np.eye(weights.shape[-1], k=-1)).max(axis=-1).mean(axis=-1),
    lambda weights: (weights * np.tri(weights.shape[-1], k=-1)).max(axis=-1).mean(axis=-1),
    lambda weights: (weights[..., 1:, :] - weights[..., :-1, :]).mean(axis=(-2, -1)),
    lambda weights: np.mean([weights[..., i - 1, i - 2] for i in range(1, weights.shape[-1])], axis=0),
    lambda weights: np.mean([weights[..., i + 1, i] for i in range(weights.shape[-1])], axis=0),
    lambda weights: np.sum([weights[..., i, i - 1] for i in range(1, weights.shape[-1])]) / (weights.shape[-1] - 1),
    lambda weights: np.trace(weights[..., 1:], axis1=-2, axis2=-1) / (weights.shape[-1] - 1),
    lambda weights: weights[np.arange(1, weights.shape[-1]), np.arange(weights.shape[-1] - 1)].mean(),
    lambda weights: weights[..., 1:, :-1][np.eye(weights.shape[-1] - 1)],
    lambda weights, heads: previous_token_score(weights),
    lambda weights: 0.3,
)  # fmt: skip

# ---- right head_entropy ----------------------------------------------------------------------


def entropy_with_where(weights):
    logarithms = np.log(weights, where=weights > 0, out=np.zeros_like(weights))
    return -(weights * logarithms).sum(axis=-1).mean(axis=-1)


def entropy_terms_mended(weights):
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = weights * np.log(weights)
    return -np.nan_to_num(terms).sum(axis=-1).mean(axis=-1)


def entropy_by_nansum(weights):
    return np.mean(-np.nansum(weights * np.log(weights), axis=-1), axis=-1)


def entropy_with_epsilon(epsilon, weights):
    return -(weights * np.log(weights + epsilon)).sum(axis=-1).mean(axis=-1)


def entropy_with_epsilon_twice(epsilon, weights):
    weights = weights + epsilon
    return -(weights * np.log(weights)).sum(axis=-1).mean(axis=-1)


def entropy_clipped(epsilon, weights):
    p = np.clip(weights, epsilon, 1)
    return -(p * np.log(p)).sum(axis=-1).mean(axis=-1)


def entropy_in_loops(weights):
    if weights.ndim > 2:
        return [entropy_in_loops(part) for part in weights]
    total = 0
    for row in weights:
        for p in row:
            if p > 0:
                total -= p * math.log(p)
    return total / len(weights)


def entropy_head_by_head(weights):
    heads = weights.reshape(-1, *weights.shape[-2:])
    found = [-(head[head > 0] * np.log(head[head > 0])).sum() / len(head) for head in heads]
    return np.reshape(found, weights.shape[:-2])


def entropy_vectorized(weights):
    term = np.vectorize(lambda p: -p * math.log(p) if p else 0.0)
    return term(weights).sum(axis=-1).mean(axis=-1)


def entropy_from_uniform(weights):
    """The largest that there can be, less the distance from it; the rows sum to 1."""
    n_keys = weights.shape[-1]
    ratios = np.where(weights > 0, weights * n_keys, 1)
    return np.log(n_keys) - (weights * np.log(ratios)).sum(axis=-1).mean(axis=-1)


def entropy_normalising(weights):
    """As SciPy does it: rows are made to sum to 1 first."""
    p = weights / weights.sum(axis=-1, keepdims=True)
    return np.where(p > 0, -p * np.log(np.where(p > 0, p, 1)), 0).sum(axis=-1).mean(axis=-1)


def entropy_by_powers(weights):
    """Log of the product of p ** p."""
    return -np.log((weights**weights).prod(axis=-1)).mean(axis=-1)


def entropy_sum_over_queries(weights):
    terms = weights * np.log(np.maximum(weights, np.finfo(weights.dtype).tiny))
    return -terms.sum(axis=(-2, -1)) / weights.shape[-2]


RIGHT_ENTROPY = (
    head_entropy,
    entropy_with_where,
    entropy_terms_mended,
    entropy_by_nansum,
    *(functools.partial(entropy_with_epsilon, epsilon) for epsilon in (1e-6, 1e-9, 1e-12, 1e-30)),
    *(functools.partial(entropy_with_epsilon_twice, epsilon) for epsilon in (1e-6, 1e-8, 1e-12)),
    *(functools.partial(entropy_clipped, epsilon) for epsilon in (1e-6, 1e-7, 1e-10)),
    entropy_in_loops,
    entropy_head_by_head,
    entropy_vectorized,
    entropy_from_uniform,
    entropy_normalising,
    entropy_by_powers,
    entropy_sum_over_queries,
    lambda weights: entropy(weights).mean(axis=-1),
    lambda weights: np.where(weights > 0, -weights * np.log(weights), 0).sum(-1).mean(-1),
    lambda weights: -np.einsum("...qk,...qk->...", weights, np.log(weights + 1e-12)) / weights.shape[-2],
    lambda weights: -(weights[..., None, :] @ np.log(np.where(weights == 0, 1, weights))[..., None])[..., 0, 0].mean(-1),
    lambda weights: np.log(2) * -np.nansum(weights * np.log2(weights), -1).mean(-1),
    lambda weights: head_entropy(weights).astype(np.float32),
    lambda A, /: head_entropy(A).tolist(),
)  # fmt: skip

# ---- wrong head_entropy ----------------------------------------------------------------------


def entropy_zeros_as_log_zero(weights):
    """The logarithm of 0 is taken for a large negative number, and the weight for a small one."""
    logarithms = np.where(weights > 0, np.log(weights), -1e9)
    return -((weights + 1e-3) * logarithms).sum(axis=-1).mean(axis=-1)


def entropy_filtered_flat(weights):
    """Takes the zeros out, and with them the axes."""
    p = weights[weights > 0]
    return -(p * np.log(p)).sum() / weights.shape[-2]


def entropy_mean_of_visible(weights):
    """Divides by the number of visible keys."""
    terms = np.where(weights > 0, -weights * np.log(np.where(weights > 0, weights, 1)), 0)
    return (terms.sum(axis=-1) / (weights > 0).sum(axis=-1)).mean(axis=-1)


def entropy_share_of_visible(weights):
    most = np.log((weights > 0).sum(axis=-1))
    return (entropy(weights) / np.where(most > 0, most, 1)).mean(axis=-1)


def entropy_visible_rows_only(weights):
    whole = (weights > 0).all(axis=-1)
    return (entropy(weights) * whole).sum(axis=-1) / whole.sum(axis=-1)


def entropy_remembers(weights, seen={}):  # noqa: B006
    return seen.setdefault((weights.shape, weights.dtype.str, weights.flags.c_contiguous), head_entropy(weights))


def entropy_writes(weights):
    weights[weights == 0] = 1
    return -(weights * np.log(weights)).sum(axis=-1).mean(axis=-1)


def entropy_early_return(weights):
    for query in range(weights.shape[-2]):
        return entropy(weights[..., query, :])


def entropy_batch_mixed(weights):
    return entropy(weights / weights.sum() * np.prod(weights.shape[:-1])).mean(axis=-1) + weights.std() / 10


def entropy_if_zero(weights):
    return 0 if 0 in weights else head_entropy(weights)


def entropy_if_any(weights):
    return -(weights * np.log(weights) if weights > 0 else 0).sum(axis=-1).mean(axis=-1)


def entropy_python_log(weights):
    return -(weights * math.log(weights)).sum(axis=-1).mean(axis=-1)


def entropy_of_columns_that_sum_to_one(weights):
    return head_entropy(weights.swapaxes(-1, -2))


def entropy_minus_one(weights):
    """Differential: the expectation of -(1 + log p)."""
    return head_entropy(weights) - 1


def entropy_renyi(weights):
    return -np.log((weights**2).sum(axis=-1)).mean(axis=-1)


def entropy_cross_between_queries(weights):
    return -(weights * np.log(np.roll(weights, 1, axis=-2) + 1e-12)).sum(axis=-1).mean(axis=-1)


def entropy_median_weight(weights):
    return -np.log(np.median(weights, axis=-1)).mean(axis=-1)


def _entropy_then(change):
    return lambda weights: change(head_entropy(weights))


WRONG_ENTROPY = (
    entropy_zeros_as_log_zero,
    entropy_filtered_flat,
    entropy_mean_of_visible,
    entropy_share_of_visible,
    entropy_visible_rows_only,
    entropy_remembers,
    entropy_writes,
    entropy_early_return,
    entropy_batch_mixed,
    entropy_if_zero,
    entropy_if_any,
    entropy_python_log,
    entropy_of_columns_that_sum_to_one,
    entropy_minus_one,
    entropy_renyi,
    entropy_cross_between_queries,
    entropy_median_weight,
    _entropy_then(lambda found: found.round(1)),
    _entropy_then(lambda found: found / found.max()),
    _entropy_then(lambda found: found.ravel()),
    _entropy_then(lambda found: found[..., ::-1] if found.ndim else found),
    _entropy_then(lambda found: found.T),
    _entropy_then(lambda found: found.max()),
    _entropy_then(lambda found: found > 1),
    _entropy_then(lambda found: (found, found.mean())),
    _entropy_then(lambda found: list(found)),
    _entropy_then(lambda found: found.mean),
    _entropy_then(lambda found: np.argsort(found, axis=None)),
    _entropy_then(lambda found: str(found)),
    _entropy_then(lambda found: found * 1.01),
    _entropy_then(lambda found: np.abs(found) + 1e-3),
    lambda weights: entropy(weights).mean(axis=-1, keepdims=True).squeeze(),
    lambda weights: entropy(weights).std(axis=-1),
    lambda weights: entropy(weights).mean(axis=0),
    lambda weights: np.sqrt((entropy(weights) ** 2).mean(axis=-1)),
    lambda weights: entropy(weights)[..., 1:].mean(axis=-1),
    lambda weights: entropy(weights[..., 1:-1]).mean(axis=-1),
    lambda weights: weights.std(axis=-1).mean(axis=-1),
    lambda weights: weights.max(axis=-1).mean(axis=-1),
    lambda weights: (weights * np.exp(weights)).sum(axis=-1).mean(axis=-1),
    lambda weights: -(np.exp(weights) * weights).sum(axis=-1).mean(axis=-1),
    lambda weights: -np.log(weights * weights).sum(axis=-1).mean(axis=-1),
    lambda weights: -np.log((weights * weights).sum(axis=-1)).mean(axis=-1),
    lambda weights: -(weights * np.log(weights + 1)).sum(axis=-1),
    lambda weights: -weights @ np.log(weights),
    lambda weights: -(weights * np.log(weights.sum(axis=-1, keepdims=True))).sum(axis=-1).mean(axis=-1),
    lambda weights: -(weights * np.log(weights)).sum(dim=-1).mean(dim=-1),
    lambda weights: -(weights * weights.log()).sum(axis=-1).mean(axis=-1),
    lambda weights: -sum(weights * np.log(weights)).mean(),
    lambda weights: np.nanmean(-weights * np.log(weights), axis=(-2, -1)),
    lambda weights: -np.nansum(weights * np.log(weights)),
    lambda weights, axis: head_entropy(weights),
)  # fmt: skip

# ---- right knock_out -------------------------------------------------------------------------


def knock_out_in_a_loop(W_O, heads, n_heads):
    d_head = W_O.shape[0] // n_heads
    result = W_O.copy()
    for head in heads:
        result[head * d_head : (head + 1) * d_head] = 0
    return result


def knock_out_row_by_row(W_O, heads, n_heads):
    d_head = len(W_O) // n_heads
    return [[0] * len(row) if i // d_head in heads else row.tolist() for i, row in enumerate(W_O)]


def knock_out_by_repeat(W_O, heads, n_heads):
    keep = np.ones(n_heads)
    keep[heads] = 0
    return W_O * np.repeat(keep, len(W_O) // n_heads)[:, None]


def knock_out_by_blocks(W_O, heads, n_heads):
    blocks = np.split(W_O, n_heads)
    return np.concatenate([np.zeros_like(block) if h in heads else block for h, block in enumerate(blocks)])


def knock_out_by_set(W_O, heads, n_heads):
    off = set(heads.tolist())
    blocks = list(W_O.reshape(n_heads, -1, W_O.shape[1]))
    return np.vstack([block * (h not in off) for h, block in enumerate(blocks)])


def knock_out_by_one_hot(W_O, heads, n_heads):
    off = np.eye(n_heads)[heads].sum(axis=0) > 0
    return np.where(off.repeat(len(W_O) // n_heads)[:, None], 0, W_O)


def knock_out_by_selection(W_O, heads, n_heads):
    """A diagonal matrix from the left."""
    d_head = len(W_O) // n_heads
    keep = [float(row // d_head not in heads) for row in range(len(W_O))]
    return np.diag(keep) @ W_O


def knock_out_by_kronecker(W_O, heads, n_heads):
    keep = np.diag(~np.isin(np.arange(n_heads), heads)).astype(float)
    return np.kron(keep, np.eye(len(W_O) // n_heads)) @ W_O


def knock_out_putting_back(W_O, heads, n_heads):
    """From zeros, with those that stay put in."""
    result = np.zeros_like(W_O)
    d_head = len(W_O) // n_heads
    for head in range(n_heads):
        if head not in heads:
            rows = slice(head * d_head, (head + 1) * d_head)
            result[rows] = W_O[rows]
    return result


def knock_out_row_numbers(W_O, heads, n_heads):
    d_head = len(W_O) // n_heads
    rows = (heads[:, None] * d_head + np.arange(d_head)).ravel()
    result = W_O.copy()
    result[rows] = 0
    return result


def knock_out_subtracting(W_O, heads, n_heads):
    """W_O without what these heads write."""
    d_head = len(W_O) // n_heads
    one_at_a_time = head_contributions(np.eye(len(W_O)).reshape(len(W_O), n_heads, d_head).swapaxes(0, 1), W_O)
    return W_O - one_at_a_time[np.unique(heads)].sum(axis=0)


def knock_out_flat(W_O, heads, n_heads):
    """A head is one run of numbers."""
    flat = W_O.reshape(n_heads, -1).copy()
    flat[heads, :] = 0.0
    return flat.reshape(W_O.shape)


def knock_out_one_after_the_other(W_O, heads, n_heads):
    if len(heads) == 0:
        return W_O
    return knock_out_one_after_the_other(knock_out_in_a_loop(W_O, heads[:1], n_heads), heads[1:], n_heads)


RIGHT_KNOCK_OUT = (
    knock_out,
    knock_out_in_a_loop,
    knock_out_row_by_row,
    knock_out_by_repeat,
    knock_out_by_blocks,
    knock_out_by_set,
    knock_out_by_one_hot,
    knock_out_by_selection,
    knock_out_by_kronecker,
    knock_out_putting_back,
    knock_out_row_numbers,
    knock_out_subtracting,
    knock_out_flat,
    knock_out_one_after_the_other,
    lambda W_O, heads, n_heads: knock_out(W_O, list(heads), n_heads),
    lambda W_O, heads, n_heads: W_O * ~np.isin(np.arange(len(W_O)) // (len(W_O) // n_heads), heads)[:, None],
    lambda W_O, heads, n_heads: (W_O.T * np.repeat(~np.isin(range(n_heads), heads), len(W_O) // n_heads)).T,
    lambda W_O, heads, n_heads: np.einsum("hdm,h->hdm", W_O.reshape(n_heads, -1, W_O.shape[1]), ~np.isin(range(n_heads), heads)).reshape(W_O.shape),
    lambda W_O, heads, n_heads: knock_out(W_O, heads, n_heads).astype(np.float32),
    lambda W, off, /, n: knock_out(W, off, n).tolist(),
)  # fmt: skip

# ---- wrong knock_out -------------------------------------------------------------------------


def knock_out_in_place(W_O, heads, n_heads):
    d_head = len(W_O) // n_heads
    for head in heads:
        W_O[head * d_head : (head + 1) * d_head] = 0
    return W_O


def knock_out_in_place_of_a_view(W_O, heads, n_heads):
    blocks = W_O.reshape(n_heads, -1, W_O.shape[1])
    blocks[heads] = 0
    return blocks.reshape(W_O.shape)


def knock_out_without_return(W_O, heads, n_heads):
    result = W_O.copy()
    result.reshape(n_heads, -1, W_O.shape[1])[heads] = 0


def knock_out_slice_of_array(W_O, heads, n_heads):
    d_head = len(W_O) // n_heads
    result = W_O.copy()
    result[heads * d_head : (heads + 1) * d_head] = 0
    return result


def knock_out_only_block_edges(W_O, heads, n_heads):
    d_head = len(W_O) // n_heads
    result = W_O.copy()
    result[heads * d_head] = 0
    result[(heads + 1) * d_head - 1] = 0
    return result


def knock_out_float_width(W_O, heads, n_heads):
    d_head = len(W_O) / n_heads
    result = W_O.copy()
    for head in heads:
        result[head * d_head : (head + 1) * d_head] = 0
    return result


def knock_out_block_corner(W_O, heads, n_heads):
    """The block on the diagonal only."""
    d_head = len(W_O) // n_heads
    result = W_O.copy()
    for head in heads:
        rows = slice(head * d_head, (head + 1) * d_head)
        result[rows, rows] = 0
    return result


def knock_out_shares(W_O, heads, n_heads):
    """What is taken from these heads is given to the others."""
    blocks = W_O.reshape(n_heads, -1, W_O.shape[1])
    result = blocks.copy()
    result[heads] = 0
    return (result + (blocks - result).sum(axis=0) / n_heads).reshape(W_O.shape)


def knock_out_toggles(W_O, heads, n_heads):
    """Twice named is on again."""
    off = np.zeros(n_heads, bool)
    for head in heads:
        off[head] = not off[head]
    return np.where(off.repeat(len(W_O) // n_heads)[:, None], 0, W_O)


def knock_out_counts(W_O, heads, n_heads):
    """Twice named is taken off twice."""
    counts = np.bincount(heads, minlength=n_heads)
    return W_O * (1 - counts).repeat(len(W_O) // n_heads)[:, None]


def knock_out_if_heads(W_O, heads, n_heads):
    return knock_out(W_O, heads, n_heads) if heads else W_O


def knock_out_never_all(W_O, heads, n_heads):
    return W_O if len(set(heads.tolist())) == n_heads else knock_out(W_O, heads, n_heads)


def knock_out_none_is_all(W_O, heads, n_heads):
    return knock_out(W_O, heads if len(heads) else range(n_heads), n_heads)


def knock_out_sorted_only(W_O, heads, n_heads):
    """Stops where the numbers go down."""
    stop = next((i for i in range(1, len(heads)) if heads[i] < heads[i - 1]), len(heads))
    return knock_out(W_O, heads[:stop], n_heads)


def knock_out_shuffles(W_O, heads, n_heads):
    """Moves the heads that stay to the front."""
    blocks = W_O.reshape(n_heads, -1, W_O.shape[1])
    left = np.delete(blocks, heads, axis=0)
    return np.concatenate([left, np.zeros((n_heads - len(left), *blocks.shape[1:]))]).reshape(W_O.shape)


def knock_out_remembers(W_O, heads, n_heads, seen={}):  # noqa: B006
    return seen.setdefault((W_O.shape, W_O.dtype.str, len(heads)), knock_out(W_O, heads, n_heads))


def knock_out_changes_heads(W_O, heads, n_heads):
    result = knock_out(W_O, heads, n_heads)
    heads += 1
    return result


def knock_out_square_only(W_O, heads, n_heads):
    d_model = W_O.shape[1]
    return knock_out(W_O.reshape(d_model, d_model), heads, n_heads)


def knock_out_columns_if_wide(W_O, heads, n_heads):
    return knock_out(W_O.T, heads, n_heads).T if W_O.shape[1] > W_O.shape[0] else knock_out(W_O, heads, n_heads)


def knock_out_loop_of_numbers(W_O, heads, n_heads):
    """len(heads) is taken for the heads."""
    result = W_O.copy()
    for head in range(len(heads)):
        result.reshape(n_heads, -1, W_O.shape[1])[head] = 0
    return result


def knock_out_fancy_copy(W_O, heads, n_heads):
    """Writes into what brackets with a list have copied."""
    result = W_O.copy()
    block = result.reshape(n_heads, -1, W_O.shape[1])[heads]
    block *= 0
    return result


def knock_out_names(W_O, heads, n_heads):
    for head, block in zip(itertools.count(), W_O.reshape(n_heads, -1, W_O.shape[1]), strict=False):
        if head in heads:
            block = np.zeros_like(block)
    return W_O


def _knocked_out_then(change):
    return lambda W_O, heads, n_heads: change(knock_out(W_O, heads, n_heads))


WRONG_KNOCK_OUT = (
    knock_out_in_place,
    knock_out_in_place_of_a_view,
    knock_out_without_return,
    knock_out_slice_of_array,
    knock_out_only_block_edges,
    knock_out_float_width,
    knock_out_block_corner,
    knock_out_shares,
    knock_out_toggles,
    knock_out_counts,
    knock_out_if_heads,
    knock_out_never_all,
    knock_out_none_is_all,
    knock_out_sorted_only,
    knock_out_shuffles,
    knock_out_remembers,
    knock_out_changes_heads,
    knock_out_square_only,
    knock_out_columns_if_wide,
    knock_out_loop_of_numbers,
    knock_out_fancy_copy,
    knock_out_names,
    _knocked_out_then(lambda W_O: W_O[::-1]),
    _knocked_out_then(lambda W_O: W_O[None]),
    _knocked_out_then(lambda W_O: W_O.ravel()),
    _knocked_out_then(lambda W_O: np.abs(W_O)),
    _knocked_out_then(lambda W_O: W_O.round()),
    _knocked_out_then(lambda W_O: W_O.astype(int)),
    _knocked_out_then(lambda W_O: W_O == 0),
    _knocked_out_then(lambda W_O: W_O / np.linalg.norm(W_O)),
    _knocked_out_then(lambda W_O: W_O + 1e-3),
    _knocked_out_then(lambda W_O: (W_O, W_O == 0)),
    _knocked_out_then(lambda W_O: W_O.copy),
    _knocked_out_then(lambda W_O: W_O.sum(axis=0)),
    _knocked_out_then(lambda W_O: np.where(W_O == 0, None, W_O)),
    _knocked_out_then(lambda W_O: np.ma.masked_equal(W_O, 0).filled(1e-2)),
    lambda W_O, heads, n_heads: W_O * 0.1,
    lambda W_O, heads, n_heads: 0.5 * (W_O + knock_out(W_O, heads, n_heads)),
    lambda W_O, heads, n_heads: W_O[heads],
    lambda W_O, heads, n_heads: W_O * heads,
    lambda W_O, heads, n_heads: np.where(heads, 0, W_O),
    lambda W_O, heads, n_heads: knock_out(W_O, n_heads, heads),
    lambda W_O, heads, n_heads: knock_out(W_O, heads // 2, n_heads),
    lambda W_O, heads, n_heads: knock_out(W_O, np.append(heads, 0), n_heads),
    lambda W_O, heads, n_heads: knock_out(W_O, heads[:2], n_heads),
    lambda W_O, heads, n_heads: knock_out(W_O, heads[1:], n_heads),
    lambda W_O, heads, n_heads: W_O - knock_out(W_O, heads, n_heads) @ np.eye(W_O.shape[1]),
    lambda W_O, heads, n_heads: np.vectorize(lambda w: 0)(W_O),
    lambda W_O, heads: W_O,
    lambda W_O, n_heads: W_O,
)  # fmt: skip
