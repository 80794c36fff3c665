"""Answers to search_heads: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.maths.measures import search_heads

CATALOGUE = ("search-sees-all", "search-same-sentences", "search-by-size", "search-one-sentence")

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
    lambda shifts, n: (int(shifts[:n].sum(0).argmax()), shifts[:n].mean(0).max(), shifts[n:].mean(0)[shifts[:n].sum(0).argmax()]),
    lambda shifts, n: (np.nanargmax(np.einsum("sh->h", shifts[:n])), np.max(np.mean(shifts[:n], 0)), search_heads(shifts, n)[2]),
)  # fmt: skip


def choosing(rows):
    def answer(shifts, n):
        head = rows(shifts, n).mean(axis=0).argmax()
        return head, shifts[:n, head].mean(), shifts[n:, head].mean()

    return answer


def told(change):
    return lambda shifts, n: change(*search_heads(shifts, n))


WRONG = {
    "search-sees-all": (choosing(lambda shifts, n: shifts),),
    "search-sees-held-out": (choosing(lambda shifts, n: shifts[n:]),),
    "search-same-sentences": (lambda shifts, n: (*search_heads(shifts, n)[:2], search_heads(shifts, n)[1]),),
    "search-anew": (lambda shifts, n: (*search_heads(shifts, n)[:2], shifts[n:].mean(axis=0).max()),),
    "search-by-size": (choosing(lambda shifts, n: np.abs(shifts[:n])),),
    "search-lowest": (choosing(lambda shifts, n: -shifts[:n]),),
    "search-one-sentence": (choosing(lambda shifts, n: shifts[:1]),),
    "search-counted-from-one": (told(lambda head, found, held_out: (head + 1, found, held_out)),),
    "search-found-on-all": (
        lambda shifts, n: (
            search_heads(shifts, n)[0],
            shifts[:, search_heads(shifts, n)[0]].mean(),
            search_heads(shifts, n)[2],
        ),
    ),
    None: (
        choosing(lambda shifts, n: shifts[n - 1 : n]),
        told(lambda head, found, held_out: (found, held_out, head)),
        told(lambda head, found, held_out: (head, held_out, found)),
        told(lambda head, found, held_out: head),
        told(lambda head, found, held_out: (head, found)),
        told(lambda head, found, held_out: (head, found, found - held_out)),
        told(lambda head, found, held_out: (head, abs(found), abs(held_out) + 1)),
        lambda shifts: search_heads(shifts, 2),
        lambda shifts, n: search_heads(shifts, n + 1) if n + 1 < len(shifts) else (0, 0.0, 0.0),
        lambda shifts, n: search_heads(shifts[::-1], n),
    ),
}

TOLD = ()
