"""Whole numbers in a sentence: "1, 3 to 5 and 8"."""

from collections.abc import Iterable


def listed(numbers: Iterable[int]) -> str:
    """Write whole numbers as a sentence does.

    Parameters
    ----------
    numbers : iterable of int
        Rising; one at least.

    Returns
    -------
    str

    Examples
    --------
    >>> listed([2, 3]), listed([1, 3, 4, 5, 8])
    ('2 and 3', '1, 3 to 5 and 8')
    """
    runs = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    texts = []
    for run in runs:
        texts += [f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run)
    *others, last = texts
    return f"{', '.join(others)} and {last}" if others else last
