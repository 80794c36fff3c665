"""Answers to round_to_bits: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.rounding import round_to_bits

TELLING_CASE = ("a batch with heads", 4)


def number_by_number(X, bits):
    if np.ndim(X) > 1:
        return np.array([number_by_number(part, bits) for part in X])
    largest = max(abs(x) for x in X)
    if largest == 0:
        return np.zeros(len(X))
    step = largest / (2 ** (bits - 1) - 1)
    return np.array([round(float(x / step)) * step for x in X])


def nearest_of_a_table(X, bits):
    n = 2 ** (bits - 1) - 1
    levels = np.abs(X).max(axis=-1, keepdims=True) * np.arange(-n, n + 1) / n
    nearest = np.abs(X[..., None] - levels[..., None, :]).argmin(axis=-1)
    return np.take_along_axis(levels, nearest, axis=-1)


def in_whole_numbers(X, bits):
    scale = np.maximum(np.abs(X).max(-1), 1e-30)[..., None] / (2 ** (bits - 1) - 1)
    codes = np.rint(X / scale).astype(np.int32)
    return codes * scale


def with_a_grain_added(X, bits):
    step = np.abs(X).max(axis=-1, keepdims=True) / (2 ** (bits - 1) - 1) + 1e-12
    return np.round(X / step) * step


def half_up(X, bits):
    top = np.max([X.max(axis=-1), -X.min(axis=-1)], axis=0)[..., None]
    n = (1 << (bits - 1)) - 1
    return np.nan_to_num(np.floor(X / np.where(top > 0, top, 1) * n + 0.5) * top / n)


def zeros_asked_for(X, bits):
    largest = np.abs(X).max(axis=-1, keepdims=True)
    n = 2 ** (bits - 1) - 1
    with np.errstate(all="ignore"):
        shares = np.round(n * X / largest) / n
    return np.where(largest == 0, 0, shares * largest)


RIGHT = (
    round_to_bits,
    number_by_number,
    nearest_of_a_table,
    in_whole_numbers,
    with_a_grain_added,
    half_up,
    zeros_asked_for,
)


def scaled(largest, n=lambda bits: 2 ** (bits - 1) - 1, whole=np.round, back=lambda codes, step: codes * step):
    def rounding(X, bits):
        step = largest(X) / n(bits)
        return back(whole(X / np.where(step == 0, 1, step)), step)

    return rounding


def of_token(X):
    return np.abs(X).max(axis=-1, keepdims=True)


def a_token_of_zeros_is_nan(X, bits):
    step = of_token(X) / (2 ** (bits - 1) - 1)
    with np.errstate(all="ignore"):
        return np.round(X / step) * step


def into_the_argument(X, bits):
    step = of_token(X) / (2 ** (bits - 1) - 1)
    X /= np.where(step == 0, 1, step)
    return np.round(X) * step


def in_int8(X, bits):
    step = of_token(X) / (2 ** (bits - 1) - 1)
    return (X / np.where(step == 0, 1, step)).astype(np.int8) * step


def one_bit_more(X, bits):
    return round_to_bits(X, bits + 1)


def zeros_forgotten_too(X, bits):
    step = of_token(X) / 2**bits
    with np.errstate(all="ignore"):
        return np.round(X / step) * step


def between_the_levels(X, bits):
    return 0.7 * round_to_bits(X, bits) + 0.3 * X


def fractions_cut(X, bits):
    result = np.zeros_like(X)
    result[...] = round_to_bits(X, bits)
    return result


WRONG = {
    "round-token-of-zeros": (a_token_of_zeros_is_nan,),
    "round-sign-forgotten": (
        scaled(lambda X: X.max(axis=-1, keepdims=True)),
        scaled(lambda X: np.ptp(X, axis=-1)[..., None]),
    ),
    "round-one-scale-for-all": (scaled(lambda X: abs(X).max()),),
    "round-scale-for-each-feature": (scaled(lambda X: abs(X).max(axis=-2, keepdims=True)),),
    "round-scale-along-another-axis": (
        scaled(lambda X: abs(X).max(axis=0)),
        scaled(lambda X: abs(X).max(axis=1, keepdims=True)),
    ),
    "round-scale-is-a-mean": (scaled(lambda X: abs(X).mean(axis=-1, keepdims=True)),),
    "round-a-level-too-many": (scaled(of_token, lambda bits: 2 ** (bits - 1)),),
    "round-sign-costs-nothing": (
        scaled(of_token, lambda bits: 2**bits - 1),
        scaled(of_token, lambda bits: 1 << bits),
        one_bit_more,
        zeros_forgotten_too,
    ),
    "round-bits-for-levels": (scaled(of_token, lambda bits: bits),),
    "round-towards-zero": (scaled(of_token, whole=np.trunc), in_int8),
    "round-down": (scaled(of_token, whole=np.floor), scaled(of_token, whole=lambda x: x // 1)),
    "round-up": (scaled(of_token, whole=np.ceil),),
    "round-no-keepdims": (scaled(lambda X: abs(X).max(axis=-1)),),
    "round-nothing": (lambda X, bits: X.copy(), scaled(of_token, whole=lambda x: x)),
    "round-not-scaled-back": (scaled(of_token, back=lambda codes, step: codes),),
    "round-to-decimals": (lambda X, bits: X.round(bits),),
    "input-changed": (into_the_argument,),
    "fractions-lost": (fractions_cut,),
    None: (
        between_the_levels,
        lambda X, bits: round_to_bits(X, 3),
        lambda X, bits: -round_to_bits(X, bits),
    ),
}

TOLD = (
    (between_the_levels, "A token's levels are whole multiples of its largest number"),
    (lambda X, bits: -round_to_bits(X, bits), "Rounding moves a number by half a step at most"),
)
