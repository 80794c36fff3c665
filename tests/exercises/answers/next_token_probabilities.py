"""Answers to next_token_probabilities: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.attention import softmax
from mha_helpers.decoding import next_token_probabilities

TELLING_CASE = ("two batch axes", 3)


def probabilities_loops(logits, *, temperature=1.0, top_k=None):
    if logits.ndim > 1:
        return np.array([probabilities_loops(row, temperature=temperature, top_k=top_k) for row in logits])
    kept = sorted(range(len(logits)), key=lambda i: -logits[i])[: top_k or len(logits)]
    top = max(logits)
    exponentials = [np.exp((logits[i] - top) / temperature) if i in kept else 0.0 for i in range(len(logits))]
    return [e / sum(exponentials) for e in exponentials]


RIGHT = (
    next_token_probabilities,
    probabilities_loops,
)


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
    None: (
        lambda logits, *, temperature=1.0, top_k=None: next_token_probabilities(
            -logits, temperature=temperature, top_k=top_k
        ),
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
