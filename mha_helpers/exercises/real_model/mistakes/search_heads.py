"""The mistakes that people make in `search_heads`."""

import numpy as np

from mha_helpers.exercises.mistakes.catalogue import also


def _search(
    choose=lambda shifts, n: shifts[:n].mean(axis=0).argmax(),
    found=lambda shifts, n, head: shifts[:n, head].mean(),
    held_out=lambda shifts, n, head: shifts[n:, head].mean(),
):
    """Return the search with one of its steps replaced."""

    def wrong_search(shifts, n_searched):
        head = choose(shifts, n_searched)
        return head, found(shifts, n_searched, head), held_out(shifts, n_searched, head)

    return wrong_search


def search_sees_all(shifts, n_searched):
    """The head is chosen on all sentences, the held-out ones among them. Then nothing is held out any more: choose on
    shifts[:n_searched] alone."""
    return _search(choose=lambda shifts, n: shifts.mean(axis=0).argmax())(shifts, n_searched)


@also(
    _search(
        choose=lambda shifts, n: shifts[n:].mean(axis=0).argmax(),
        found=lambda shifts, n, head: shifts[n:, head].mean(),
        held_out=lambda shifts, n, head: shifts[:n, head].mean(),
    )
)
def search_sees_held_out(shifts, n_searched):
    """The head is chosen on the sentences that should be held out. Choose on the first n_searched."""
    return _search(choose=lambda shifts, n: shifts[n:].mean(axis=0).argmax())(shifts, n_searched)


@also(_search(held_out=lambda shifts, n, head: shifts[:, head].mean()))
def search_same_sentences(shifts, n_searched):
    """The last number is measured on sentences that the search has seen. There the best head looks good by luck alone:
    measure on shifts[n_searched:]."""
    return _search(held_out=lambda shifts, n, head: shifts[:n, head].mean())(shifts, n_searched)


def search_anew(shifts, n_searched):
    """The last number is the best that any head reaches on the held-out sentences. It should be that of the head which
    the search has chosen."""
    return _search(held_out=lambda shifts, n, head: shifts[n:].mean(axis=0).max())(shifts, n_searched)


@also(_search(found=lambda shifts, n, head: shifts[n:, head].mean()))
def search_found_on_all(shifts, n_searched):
    """The second number is the head's mean over all sentences. It should be the mean over those that were searched."""
    return _search(found=lambda shifts, n, head: shifts[:, head].mean())(shifts, n_searched)


@also(_search(choose=lambda shifts, n: np.abs(shifts[:n]).mean(axis=0).argmax()))
def search_by_size(shifts, n_searched):
    """You look for the largest shift in either direction. A head that moves the wrong way doesn't follow: take the
    largest mean with its sign."""
    return _search(choose=lambda shifts, n: np.abs(shifts[:n].mean(axis=0)).argmax())(shifts, n_searched)


def search_lowest(shifts, n_searched):
    """You choose the lowest mean. The head that follows has the highest."""
    return _search(choose=lambda shifts, n: shifts[:n].mean(axis=0).argmin())(shifts, n_searched)


@also(
    _search(choose=lambda shifts, n: shifts[0].argmax()),
)
def search_one_sentence(shifts, n_searched):
    """You choose the head with the largest shift in a single sentence. Average over the sentences first."""
    return _search(choose=lambda shifts, n: shifts[:n].max(axis=0).argmax())(shifts, n_searched)


@also(
    _search(choose=lambda shifts, n: shifts[:n].mean(axis=1).argmax()),
    _search(
        choose=lambda shifts, n: shifts[:n].mean(axis=1).argmax(),
        found=lambda shifts, n, head: shifts[head].mean(),
    ),
    _search(
        choose=lambda shifts, n: shifts[:n].mean(axis=1).argmax(),
        found=lambda shifts, n, head: shifts[head].mean(),
        held_out=lambda shifts, n, head: shifts[n:].mean(axis=1)[head],
    ),
    _search(
        choose=lambda shifts, n: shifts[:n].mean(axis=1).argmax(),
        found=lambda shifts, n, head: shifts[head].mean(),
        held_out=lambda shifts, n, head: shifts[n:].mean(),
    ),
)
def search_sentences_for_heads(shifts, n_searched):
    """You average over the heads: your table of means has a number for each sentence, and the largest of them tells the
    best sentence. A head is a column, so its mean runs down the rows: average along axis 0."""
    means = shifts[:n_searched].mean(axis=1)
    return means.argmax(), means.max(), shifts[n_searched:].mean(axis=1).max()


@also(
    lambda shifts, n_searched: (0, shifts[:n_searched].mean(), shifts[n_searched:, 0].mean()),
    _search(choose=lambda shifts, n: 0),
)
def search_no_axis(shifts, n_searched):
    """Without an axis, mean makes a single number of the whole table, and the largest of one number is always number 0.
    Each head needs a mean of its own: average along axis 0, down the rows."""
    return 0, shifts[:n_searched].mean(), shifts[n_searched:].mean()


def search_flat_number(shifts, n_searched):
    """argmax without an axis numbers the entries of the whole table. Average along axis 0 first, so that there is one
    number for each head."""
    return (
        shifts[:n_searched].argmax(),
        shifts[:n_searched].max(),
        shifts[n_searched:, shifts[:n_searched].argmax() % shifts.shape[1]].mean(),
    )


def search_counted_from_one(shifts, n_searched):
    """The head is counted from 1. The course, like NumPy, counts heads from 0."""
    return (
        shifts[:n_searched].mean(axis=0).argmax() + 1,
        shifts[:n_searched].mean(axis=0).max(),
        shifts[n_searched:, shifts[:n_searched].mean(axis=0).argmax()].mean(),
    )


@also(
    _search(held_out=lambda shifts, n, head: shifts[n:, head].sum()),
    _search(found=lambda shifts, n, head: shifts[:n, head].sum()),
)
def search_summed(shifts, n_searched):
    """You add up where a mean is asked for. With a different number of sentences in each part, sums can't be
    compared."""
    return _search(
        found=lambda shifts, n, head: shifts[:n, head].sum(),
        held_out=lambda shifts, n, head: shifts[n:, head].sum(),
    )(shifts, n_searched)


def search_median(shifts, n_searched):
    """You take the median, where the mean is asked for."""
    return _search(
        lambda shifts, n: np.median(shifts[:n], axis=0).argmax(),
        lambda shifts, n, head: np.median(shifts[:n, head]),
        lambda shifts, n, head: np.median(shifts[n:, head]),
    )(shifts, n_searched)


def search_exchanged(shifts, n_searched):
    """The last two numbers have changed places. First comes the mean where the head was searched, then that on the
    other sentences."""
    return _search(
        found=lambda shifts, n, head: shifts[n:, head].mean(), held_out=lambda shifts, n, head: shifts[:n, head].mean()
    )(shifts, n_searched)


def search_mean_of_all_heads(shifts, n_searched):
    """The last number is the mean of all heads on the held-out sentences. It should be that of the head which the
    search has chosen: shifts[n_searched:, head]."""
    return _search(held_out=lambda shifts, n, head: shifts[n:].mean())(shifts, n_searched)


@also(
    _search(
        lambda shifts, n: shifts[:n].mean(axis=0).argmax(),
        lambda shifts, n, head: shifts[:n, head].mean(),
        lambda shifts, n, head: shifts[n - 1 :, head].mean(),
    )
)
def search_one_too_many(shifts, n_searched):
    """One sentence too many is in one of the two parts. shifts[:n_searched] are the first n_searched, and
    shifts[n_searched:] all others."""
    return _search(
        lambda shifts, n: shifts[: n + 1].mean(axis=0).argmax(),
        lambda shifts, n, head: shifts[: n + 1, head].mean(),
        lambda shifts, n, head: shifts[min(n + 1, len(shifts) - 1) :, head].mean(),
    )(shifts, n_searched)


def search_from_the_end(shifts, n_searched):
    """You search the last n_searched sentences. Search the first ones, and hold out all others."""
    return _search()(shifts[::-1], n_searched)
