"""Answers to next_token_probabilities: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.maths.attention import softmax
from mha_helpers.maths.decoding import next_token_probabilities

TELLING_CASE = ("two batch axes", 3)


def probabilities_by_power(logits, *, temperature=1.0, top_k=None):
    """Powers of the probabilities: p^(1 / T), shared out again."""
    p = np.exp(logits - logits.max(axis=-1, keepdims=True)) ** (1 / temperature)
    if top_k is not None and top_k < p.shape[-1]:
        p = np.where(p >= np.partition(p, -top_k, axis=-1)[..., -top_k, None], p, 0)
    return p / p.sum(axis=-1, keepdims=True)


def probabilities_argsort(logits, temperature=1.0, top_k=None):
    logits = np.array(logits, dtype=float) / temperature
    if top_k is not None:
        lowest = np.argsort(logits, axis=-1)[..., : max(0, logits.shape[-1] - top_k)]
        np.put_along_axis(logits, lowest, -np.inf, axis=-1)
    e = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def probabilities_renormalised(logits, *, temperature=1.0, top_k=None):
    """After the softmax, and shared out again."""
    p = next_token_probabilities(logits, temperature=temperature)
    if top_k:
        ranks = (-p).argsort(axis=-1).argsort(axis=-1)
        p = p * (ranks < top_k)
    return p / p.sum(axis=-1, keepdims=True)


def probabilities_loops(logits, *, temperature=1.0, top_k=None):
    if logits.ndim > 1:
        return np.array([probabilities_loops(row, temperature=temperature, top_k=top_k) for row in logits])
    kept = sorted(range(len(logits)), key=lambda i: -logits[i])[: top_k or len(logits)]
    top = max(logits)
    exponentials = [np.exp((logits[i] - top) / temperature) if i in kept else 0.0 for i in range(len(logits))]
    return [e / sum(exponentials) for e in exponentials]


def probabilities_in_two_steps(logits, *, temperature=1.0, top_k=None):
    logits = logits / temperature
    if top_k is not None:
        limit = np.flip(np.sort(logits, axis=-1), axis=-1)[..., [min(top_k, logits.shape[-1]) - 1]]
        logits = np.where(logits < limit, -np.inf, logits)
    return softmax(logits)


RIGHT = (
    next_token_probabilities,
    probabilities_by_power,
    probabilities_argsort,
    probabilities_renormalised,
    probabilities_loops,
    probabilities_in_two_steps,
)


def probabilities_keep_logits(logits, *, temperature=1.0, top_k=None):
    result = next_token_probabilities(logits, temperature=temperature, top_k=top_k)
    logits /= temperature
    return result


def probabilities_unguarded(
    temper=lambda logits, t: logits / t, place=lambda k: -k, keep=np.greater_equal, low=-np.inf
):
    """No care is taken where top_k is more than there are; what else is wrong comes first."""

    def probabilities(logits, *, temperature=1.0, top_k=None):
        logits = temper(logits, temperature)
        if top_k is not None:
            logits = np.where(keep(logits, np.sort(logits, axis=-1)[..., [place(top_k)]]), logits, low)
        return softmax(logits)

    return probabilities


def probabilities_of_the_kept(logits, *, temperature=1.0, top_k=None):
    p = softmax(logits / temperature)
    if top_k is not None:
        p = p[np.argsort(p, axis=-1)[..., -top_k:]]
    return p / p.sum(axis=-1, keepdims=True)


def probabilities_sorted_in_place(logits, *, temperature=1.0, top_k=None):
    logits = logits / temperature
    if top_k is not None:
        logits = np.where(logits >= logits.sort(axis=-1)[..., [-top_k]], logits, -np.inf)
    return softmax(logits)


def probabilities_only_if_k(logits, *, temperature=1.0, top_k=None):
    if top_k is not None:
        return next_token_probabilities(logits, temperature=temperature, top_k=top_k)


def probabilities_by_an_order_not_kept(logits, *, temperature=1.0, top_k=None):
    logits = logits / temperature
    if top_k is not None:
        ordered = logits.copy()
        np.sort(ordered, axis=-1)
        logits = np.where(logits >= ordered[..., [-min(top_k, logits.shape[-1])]], logits, -np.inf)
    return softmax(logits)


WRONG = {
    "result-thrown-away": (probabilities_by_an_order_not_kept,),
    "top-k-order-lost": (probabilities_of_the_kept,),
    "input-changed": (probabilities_keep_logits,),
    None: (
        lambda logits, *, temperature=1.0, top_k=None: np.log(
            next_token_probabilities(logits, temperature=temperature)
        ),
        lambda logits, *, temperature=1.0, top_k=None: logits.argmax(axis=-1),
        lambda logits, *, temperature=1.0, top_k=None: next_token_probabilities(
            -logits, temperature=temperature, top_k=top_k
        ),
        lambda logits, temperature, top_k: next_token_probabilities(logits, temperature=temperature, top_k=top_k),
        lambda logits, *, temperature=1.0, top_k=None: (
            2 * next_token_probabilities(logits, temperature=temperature, top_k=top_k)
        ),
    ),
}

TOLD = (
    (probabilities_sorted_in_place, "changes a in place, and returns None; np.sort(a) returns a new array."),
    (probabilities_only_if_k, "It returned None: is its `return` inside an `if` or a loop"),
    (
        probabilities_unguarded(place=lambda k: -k + 1),
        "With top_k=3 the 3 highest keep a probability above 0; in yours, only 2 do.",
    ),
    (
        lambda logits, *, temperature=1.0, top_k=None: next_token_probabilities(
            -logits, temperature=temperature, top_k=top_k
        ),
        "The highest logit must stay the likeliest",
    ),
)
