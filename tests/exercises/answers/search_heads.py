"""Answers to search_heads: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.measures import search_heads

TELLING_CASE = ("seven sentences, five heads", 2)


def by_loop(shifts, n_searched):
    best, highest = 0, -np.inf
    for head in range(shifts.shape[1]):
        mean = sum(shifts[s, head] for s in range(n_searched)) / n_searched
        if mean > highest:
            best, highest = head, mean
    others = shifts[n_searched:, best]
    return best, highest, sum(others) / len(others)


def by_sorting(shifts, n_searched):
    seen, unseen = np.split(shifts, [n_searched])
    order = np.argsort(-seen.mean(axis=0))
    return order[0], seen[:, order[0]].mean(), unseen[:, order[0]].mean()


def by_max(shifts, n_searched):
    means = list(shifts[:n_searched].mean(axis=0))
    head = means.index(max(means))
    return [head, max(means), np.average(shifts[n_searched:], axis=0)[head]]


RIGHT = (
    search_heads,
    by_loop,
    by_sorting,
    by_max,
    lambda shifts, n: (
        np.nanargmax(np.einsum("sh->h", shifts[:n])),
        np.max(np.mean(shifts[:n], 0)),
        search_heads(shifts, n)[2],
    ),
)


def choosing(rows):
    def answer(shifts, n):
        head = rows(shifts, n).mean(axis=0).argmax()
        return head, shifts[:n, head].mean(), shifts[n:, head].mean()

    return answer


def told(change):
    return lambda shifts, n: change(*search_heads(shifts, n))


def along(axis):
    def answer(shifts, n):
        means = shifts[:n].mean(axis=axis)
        head = means.argmax()
        return head, means.max(), shifts[n:, head].mean()

    return answer


def means_of_sentences(shifts, n):
    searched, others = shifts[:n].mean(axis=-1), shifts[n:].mean(axis=-1)
    best = np.argmax(searched)
    return best, searched[best], others[best]


WRONG = {
    "search-sentences-for-heads": (along(1), means_of_sentences),
    "search-no-axis": (along(None),),
    None: (
        choosing(lambda shifts, n: shifts[n - 1 : n]),
        lambda shifts, n: (*search_heads(shifts, n)[:2], shifts[n : 2 * n, search_heads(shifts, n)[0]].mean()),
    ),
}

TOLD = ()
