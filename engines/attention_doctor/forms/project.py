"""Queries, keys and values made in other ways than by their own projections."""

import itertools

import numpy as np

from attention_doctor.equation.stages import DoesNotFitError, Form, cut, right_project, right_split
from attention_doctor.forms.common import LETTERS, block_of, only_without_heads, square, subsets


def _each(make):
    """Queries, keys and values are make(case, letter, source)."""

    def run(case, _):
        sources = case.X, case.context, case.context if case.second is None else case.second
        return tuple(make(case, letter, source) for letter, source in zip(LETTERS, sources, strict=True))

    return run


def _choosing(choice):
    """Queries, keys and values come from the matrices of the chosen letters."""
    other = dict(zip(LETTERS, choice, strict=True))
    project = _each(lambda case, letter, source: case.projected(other[letter], source))

    def run(case, _):
        if case.heads is not None:
            return tuple(case.heads[LETTERS.index(letter)] for letter in choice)
        return project(case, _)

    return run


def _transposed(matrix):
    return square(matrix).T


def _turned(letters):
    def project(case, letter, source):
        return case.projected(letter, source, _transposed if letter in letters else None)

    return _each(project)


def _without(letters):
    """Some of queries, keys and values are the vectors themselves."""

    def run(case, _):
        plain, whole = _each(lambda case, letter, source: source)(case, _), right_project(case, None)
        return tuple(
            item if letter in letters else there for letter, item, there in zip(LETTERS, plain, whole, strict=True)
        )

    return run


def _biases_left_out(letters):
    def run(case, _):
        if not any(f"b_{letter}" in case.matrices for letter in letters):
            raise DoesNotFitError
        return _each(
            lambda case, letter, source: (
                case.projected(letter, source) - (case.bias_of(letter) if letter in letters else 0)
            )
        )(case, _)

    return run


def _slices(block):
    """Each head's slice of the vectors goes through its block of the matrix: block(head) is (row, column)."""

    def project(case, letter, source):
        matrix, n_heads = square(case.matrices[letter]), case.n_heads
        if case.n_kv_heads != n_heads:
            raise DoesNotFitError
        slices = cut(source, n_heads)
        through = [slices[:, i] @ block_of(matrix, n_heads, *block(i)) for i in range(n_heads)]
        return np.stack(through, axis=1) + cut(np.broadcast_to(case.bias_of(letter), source.shape), n_heads)

    return _each(project)


def _some(letters, change, make):
    """Some of what make(case) gives is changed."""
    return lambda case, _: tuple(
        change(case, item) if letter in letters else item for letter, item in zip(LETTERS, make(case), strict=True)
    )


def _first_head_for_all(letters):
    def first(case, heads):
        return np.repeat(heads[:, :1], case.n_heads, axis=1)

    return _some(letters, first, lambda case: right_split(case, right_project(case, None)))


def _activated(letters):
    return _some(letters, lambda case, item: np.maximum(item, 0), lambda case: right_project(case, None))


@only_without_heads
def _sources_exchanged(case, _):
    """Queries are made from the context, keys and values from X."""
    return right_project(case.changed(X=case.context, context=case.X), None)


@only_without_heads
def _self_instead_of_cross(case, _):
    return right_project(case.changed(context=case.X), None)


@only_without_heads
def _values_from_X(case, _):
    queries, keys, _values = right_project(case, None)
    return queries, keys, case.projected("V", case.X)


def _read(say):
    return "Q, K, V = " + ", ".join(map(say, LETTERS))


def _of_some(slug, make, text, common=LETTERS):
    """One form for each choice of queries, keys and values; all but the common one are rare."""
    return [Form(slug, "project", make(some), text(some), some != common) for some in subsets(LETTERS)]


CHOICES = ["".join(choice) for choice in itertools.product(LETTERS, repeat=3) if "".join(choice) != LETTERS]
# Tried first: a letter typed twice, or two exchanged.
COMMON_CHOICES = ("KQV", "QKK", "QQV", "QVK", "KKV")
PROJECT = [
    *(
        Form(
            "mha-matrices-swapped" if len(set(choice)) == 3 else "mha-same-matrix",
            "project",
            _choosing(choice),
            "Q, K, V = " + ", ".join(f"X W_{letter}" for letter in choice),
            choice not in COMMON_CHOICES,
        )
        for choice in CHOICES
    ),
    *_of_some(
        "mha-projection-transposed",
        _turned,
        lambda some: _read(lambda letter: f"X W_{letter}" + "ᵀ" * (letter in some)),
    ),
    *_of_some(
        "mha-no-projections", _without, lambda some: _read(lambda letter: "X" if letter in some else f"X W_{letter}")
    ),
    *_of_some("bias-left-out", _biases_left_out, lambda some: f"no bias in {', '.join(some)}", common=None),
    *(
        Form(slug, "project", _slices(block), f"each head projects its own slice of X{more}", rare)
        for slug, block, more, rare in (
            ("mha-split-input", lambda i: (i, i), "", False),
            ("mha-split-input+mha-shared-head", lambda i: (0, 0), ", all with the same block", False),
            ("mha-split-input", lambda i: (i, 0), "", True),
            ("mha-split-input", lambda i: (0, i), "", True),
        )
    ),
    *_of_some("projection-activated", _activated, lambda some: f"relu of {', '.join(some)}"),
    *_of_some("mha-shared-head", _first_head_for_all, lambda some: f"every head takes head 0's {' and '.join(some)}"),
    Form("cross-sources-swapped", "project", _sources_exchanged, "queries from the context, keys and values from X"),
    Form("cross-attends-to-itself", "project", _self_instead_of_cross, "keys and values from X"),
    Form("cross-attends-to-itself", "project", _values_from_X, "values from X", True),
]
