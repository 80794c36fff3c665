"""Queries, keys and values made in other ways than by their own projections."""

import itertools

import numpy as np

from ...judge.stages import (
    DoesNotFitError,
    Form,
    cut,
    right_project,
    right_split,
)
from .common import LETTERS, block_of, subsets


def _own(case, letter):
    """A matrix with its bias."""
    return case.matrices[letter], case.bias_of(letter)


def _sources(case):
    return case.X, case.context, case.context if case.second is None else case.second


def _choosing(choice):
    """Queries, keys and values come from the matrices of the chosen letters."""

    def run(case, _):
        if case.heads is not None:
            return tuple(case.heads[LETTERS.index(letter)] for letter in choice)
        pairs = zip(_sources(case), (_own(case, letter) for letter in choice), strict=True)
        return tuple(source @ matrix + bias for source, (matrix, bias) in pairs)

    return run


def _turned(letters):
    def run(case, _):
        projected = []
        for letter, source in zip(LETTERS, _sources(case), strict=True):
            matrix, bias = _own(case, letter)
            if letter in letters:
                if matrix.shape[0] != matrix.shape[1]:
                    raise DoesNotFitError
                matrix = matrix.T
            projected.append(source @ matrix + bias)
        return tuple(projected)

    return run


def _without(letters):
    """Some of queries, keys and values are the vectors themselves."""

    def run(case, _):
        whole = right_project(case, None)
        return tuple(
            source if letter in letters else there
            for letter, source, there in zip(LETTERS, _sources(case), whole, strict=True)
        )

    return run


def _biases_left_out(letters):
    def run(case, _):
        if not any(f"b_{letter}" in case.matrices for letter in letters):
            raise DoesNotFitError
        return tuple(
            source @ case.matrices[letter] + (0 if letter in letters else case.bias_of(letter))
            for letter, source in zip(LETTERS, _sources(case), strict=True)
        )

    return run


def _slices(block):
    """Each head's slice of the vectors through block(matrix, n_heads, head)."""

    def run(case, _):
        heads = []
        for letter, source in zip(LETTERS, _sources(case), strict=True):
            matrix = case.matrices[letter]
            if matrix.shape[0] != matrix.shape[1] or case.n_kv_heads != case.n_heads:
                raise DoesNotFitError
            slices = cut(source, case.n_heads)
            through = [slices[:, i] @ block(matrix, case.n_heads, i) for i in range(case.n_heads)]
            heads.append(
                np.stack(through, axis=1) + cut(np.broadcast_to(case.bias_of(letter), source.shape), case.n_heads)
            )
        return tuple(heads)

    return run


def _first_head_for_all(letters):
    def run(case, _):
        heads = right_split(case, right_project(case, None))
        return tuple(
            np.repeat(one[:, :1], case.n_heads, axis=1) if letter in letters else one
            for letter, one in zip(LETTERS, heads, strict=True)
        )

    return run


def _activated(letters):
    def run(case, _):
        projected = zip(LETTERS, right_project(case, None), strict=True)
        return tuple(np.maximum(one, 0) if letter in letters else one for letter, one in projected)

    return run


def _sources_exchanged(case, _):
    """Queries are made from the context, keys and values from X."""
    if case.X is None:
        raise DoesNotFitError
    return right_project(case.changed(X=case.context, context=case.X), None)


def _self_instead_of_cross(case, _):
    if case.X is None:
        raise DoesNotFitError
    return right_project(case.changed(context=case.X), None)


def _values_from_X(case, _):
    if case.X is None:
        raise DoesNotFitError
    queries, keys, _values = right_project(case, None)
    return queries, keys, case.X @ case.matrices["V"] + case.bias_of("V")


def _choice_slug(choice):
    return "mha-matrices-swapped" if len(set(choice)) == 3 else "mha-same-matrix"


CHOICES = ["".join(choice) for choice in itertools.product(LETTERS, repeat=3) if "".join(choice) != LETTERS]
PROJECT = [
    *(
        Form(
            _choice_slug(choice),
            "project",
            _choosing(choice),
            "Q, K, V = " + ", ".join(f"X W_{letter}" for letter in choice),
            rare=choice not in ("KQV", "QKK", "QQV", "QVK", "KKV"),
        )
        for choice in CHOICES
    ),
    *(
        Form(
            "mha-projection-transposed",
            "project",
            _turned(some),
            "Q, K, V = " + ", ".join(f"X W_{letter}" + "ᵀ" * (letter in some) for letter in LETTERS),
            rare=some != LETTERS,
        )
        for some in subsets(LETTERS)
    ),
    *(
        Form(
            "mha-no-projections",
            "project",
            _without(some),
            "Q, K, V = " + ", ".join("X" if letter in some else f"X W_{letter}" for letter in LETTERS),
            rare=some != LETTERS,
        )
        for some in subsets(LETTERS)
    ),
    *(
        Form("bias-left-out", "project", _biases_left_out(some), f"no bias in {', '.join(some)}", rare=True)
        for some in subsets(LETTERS)
    ),
    *(
        Form(slug, "project", _slices(block), f"each head projects its own slice of X{more}", rare=rare)
        for slug, block, more, rare in (
            ("mha-split-input", lambda W, n_heads, i: block_of(W, n_heads, i, i), "", False),
            (
                "mha-split-input+mha-shared-head",
                lambda W, n_heads, i: block_of(W, n_heads, 0, 0),
                ", all with the same block",
                False,
            ),
            ("mha-split-input", lambda W, n_heads, i: block_of(W, n_heads, i, 0), "", True),
            ("mha-split-input", lambda W, n_heads, i: block_of(W, n_heads, 0, i), "", True),
        )
    ),
    *(
        Form("projection-activated", "project", _activated(some), f"relu of {', '.join(some)}", rare=some != LETTERS)
        for some in subsets(LETTERS)
    ),
    *(
        Form(
            "mha-shared-head",
            "project",
            _first_head_for_all(some),
            f"every head takes head 0's {' and '.join(some)}",
            some != LETTERS,
        )
        for some in subsets(LETTERS)
    ),
    Form("cross-sources-swapped", "project", _sources_exchanged, "queries from the context, keys and values from X"),
    Form("cross-attends-to-itself", "project", _self_instead_of_cross, "keys and values from X"),
    Form("cross-attends-to-itself", "project", _values_from_X, "values from X", rare=True),
]
