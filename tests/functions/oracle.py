"""Attention as plain loops over floats: slow, obvious, and independent of `mha_helpers`.

A matrix is a list of rows here. NumPy only repeats arguments along batch axes that they lack,
and wraps the results: no product, no softmax and no mask is left to it.
"""

import math

import numpy as np


def softmax(scores):
    """Weights over the last axis."""
    scores = np.asarray(scores)
    [weights] = _over_batch(lambda row: (_softmax_row(row),), scores.shape[:-1], scores.tolist())
    return np.array(weights)


def attention(queries, keys, values, mask=None, *, is_causal=False, scale=None):
    """Scaled dot-product attention: (context, weights)."""
    batch = np.broadcast_shapes(*(np.shape(array)[:-2] for array in (queries, keys, values)))

    def attend(queries, keys, values, mask):
        return _attend(queries, keys, values, mask, is_causal, scale)

    return _arrays(
        _over_batch(
            attend,
            batch,
            *(_repeat(array, batch) for array in (queries, keys, values)),
            _full_mask(mask, (*batch, np.shape(queries)[-2], np.shape(keys)[-2])),
        )
    )


def multi_head_attention(
    X, W_Q, W_K, W_V, W_O, n_heads, mask=None, *, is_causal=False, context_X=None, b_Q=0, b_K=0, b_V=0, b_O=0
):
    """Multi-head attention, one head after the other: (output, weights).

    A head has its own columns of W_Q, W_K and W_V, and reaches the output through its own rows of W_O.
    """
    context_X = X if context_X is None else context_X
    batch = np.broadcast_shapes(np.shape(X)[:-2], np.shape(context_X)[:-2])
    # A bias is one more row of the matrix, for a feature that is 1 in every token.
    W_Q, W_K, W_V, W_O = (
        [*np.asarray(W).tolist(), np.broadcast_to(b, np.shape(W)[1]).tolist()]
        for W, b in ((W_Q, b_Q), (W_K, b_K), (W_V, b_V), (W_O, b_O))
    )
    *W_O, b_O = W_O
    d_head = len(W_O) // n_heads

    def attend(X, context_X, mask):
        contributions, weights = [[b_O] * len(X)], []
        tokens, context_tokens = ([[*token, 1.0] for token in sequence] for sequence in (X, context_X))
        for head in range(n_heads):
            queries = _matmul(tokens, _columns(W_Q, head, n_heads))
            keys = _matmul(context_tokens, _columns(W_K, head, n_heads))
            values = _matmul(context_tokens, _columns(W_V, head, n_heads))
            context, head_weights = _attend(queries, keys, values, mask[head], is_causal, scale=None)
            contributions.append(_matmul(context, W_O[head * d_head : (head + 1) * d_head]))
            weights.append(head_weights)
        output = [
            [math.fsum(numbers) for numbers in zip(*rows, strict=True)] for rows in zip(*contributions, strict=True)
        ]
        return output, weights

    mask = _full_mask(mask, (*batch, n_heads, np.shape(X)[-2], np.shape(context_X)[-2]))
    return _arrays(_over_batch(attend, batch, _repeat(X, batch), _repeat(context_X, batch), mask))


def next_token_probabilities(logits, temperature, top_k):
    """The softmax of logits / temperature, over the top_k highest of each row and what ties with the last of them."""

    def choose(row):
        lowest = sorted(row, reverse=True)[: top_k or len(row)][-1]
        return (_softmax_row([logit / temperature if logit >= lowest else -math.inf for logit in row]),)

    [probabilities] = _over_batch(choose, np.shape(logits)[:-1], np.asarray(logits).tolist())
    return np.array(probabilities)


def _attend(queries, keys, values, mask, is_causal, scale):
    """Attention of one sequence: the mask is a matrix of booleans (True may attend) or of numbers to add."""
    if scale is None:
        scale = 1 / math.sqrt(len(queries[0]))
    weights = []
    for i, query in enumerate(queries):
        scores = []
        for j, key in enumerate(keys):
            score = scale * math.fsum(q * k for q, k in zip(query, key, strict=True))
            if isinstance(mask[i][j], float):
                score += mask[i][j]
            if mask[i][j] is False or (is_causal and j > i):
                score = -math.inf
            scores.append(score)
        weights.append(_softmax_row(scores))
    return _matmul(weights, values), weights


def _softmax_row(scores):
    if all(score == -math.inf for score in scores):
        return [0.0] * len(scores)
    top = max(scores)
    exponentials = [math.exp(score - top) for score in scores]
    total = math.fsum(exponentials)
    return [exponential / total for exponential in exponentials]


def _matmul(A, B):
    return [
        [math.fsum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*B, strict=True)] for row in A
    ]


def _columns(W, head, n_heads):
    d_head = len(W[0]) // n_heads
    return [row[head * d_head : (head + 1) * d_head] for row in W]


def _over_batch(function, batch, *arguments):
    """Call a function that returns a tuple on every item of the batch; return the tuple of all results."""
    if not batch:
        return function(*arguments)
    results = [_over_batch(function, batch[1:], *items) for items in zip(*arguments, strict=True)]
    return tuple(zip(*results, strict=True))


def _repeat(array, batch):
    return np.broadcast_to(array, (*batch, *np.shape(array)[-2:])).tolist()


def _full_mask(mask, shape):
    return np.broadcast_to(True if mask is None else mask, shape).tolist()


def _arrays(results):
    return tuple(np.array(result) for result in results)
