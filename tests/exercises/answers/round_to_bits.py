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


def nearest_of_evenly_spaced(X, bits):
    top = np.abs(X).max(axis=-1, keepdims=True)
    levels = np.linspace(-top, top, 2**bits - 1, axis=-1)[..., 0, :]
    nearest = np.abs(X[..., None] - levels[..., None, :]).argmin(axis=-1)
    return np.take_along_axis(levels, nearest, axis=-1)


def token_by_token(X, bits):
    def of_one(row):
        top, n = np.abs(row).max(), (2**bits - 1) // 2
        return row * 0 if top == 0 else np.round(row * (n / top)) * (top / n)

    return np.apply_along_axis(of_one, -1, X)


def in_float32(X, bits):
    X = np.asarray(X, np.float32)
    step = np.linalg.norm(X, ord=np.inf, axis=-1, keepdims=True) / (2 ** (bits - 1) - 1)
    return np.divide(X, step, out=np.zeros_like(X), where=step != 0).round() * step


RIGHT = (
    round_to_bits,
    nearest_of_evenly_spaced,
    token_by_token,
    in_float32,
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


def _step(X, bits):
    step = of_token(X) / (2 ** (bits - 1) - 1)
    return np.where(step == 0, 1, step)


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


def by_shares(whole):
    def rounding(X, bits):
        top, n = of_token(X), 2 ** (bits - 1) - 1
        return whole(X / np.where(top == 0, 1, top) * n) * top / n

    return rounding


def steps_of(step_of):
    """Return rounding whose step is step_of(largest, bits)."""

    def rounding(X, bits):
        step = step_of(of_token(X), bits)
        step = np.where(step == 0, 1, step)
        return np.round(X / step) * step

    return rounding


def nearest_of(levels_of):
    """Return rounding to the nearest of levels_of(largest, bits), which lie along a new last axis."""

    def rounding(X, bits):
        levels = levels_of(of_token(X), bits)[..., 0, :]
        nearest = np.abs(X[..., None] - levels[..., None, :]).argmin(axis=-1)
        return np.take_along_axis(levels, nearest, axis=-1)

    return rounding


def largest_not_brought_back(X, bits):
    top, n = of_token(X), 2 ** (bits - 1) - 1
    return np.round(X / np.where(top == 0, 1, top) * n) / n


def clipped_to_1(X, bits):
    n = 2 ** (bits - 1) - 1
    return np.clip(np.round(X * n), -n, n) / n


def bracket_closed_late(X, bits):
    step = of_token(X) / (2 ** (bits - 1) - 1)
    return np.round(X / np.where(step == 0, 1, step) * step)


def as_a_computers_whole_numbers(X, bits):
    n = 2 ** (bits - 1)
    scale = of_token(X) / n
    return np.clip(np.round(X / np.where(scale == 0, 1, scale)), -n, n - 1) * scale


def whole_numbers_of_one_scale(X, bits):
    return np.round(X / (np.abs(X).max() / (2 ** (bits - 1) - 1)))


def no_step_for_zeros(X, bits):
    step = of_token(X) / (2 ** (bits - 1) - 1)
    rounded = np.round(X / np.where(step == 0, 1, step)) * step
    rounded[np.broadcast_to(step == 0, X.shape)] = 1
    return rounded


def fractions_cut(X, bits):
    result = np.zeros_like(X)
    result[...] = round_to_bits(X, bits)
    return result


WRONG = {
    "round-token-of-zeros": (a_token_of_zeros_is_nan,),
    "round-sign-forgotten": (
        scaled(lambda X: X.max(axis=-1, keepdims=True)),
        scaled(lambda X: np.ptp(X, axis=-1)[..., None]),
        scaled(lambda X: np.ptp(X, axis=-1)[..., None] / 2),
        scaled(lambda X: np.abs(X.min(axis=-1, keepdims=True))),
    ),
    "round-one-scale-for-all": (scaled(lambda X: abs(X).max()),),
    "round-column-of-one-matrix": (
        scaled(lambda X: abs(X).max(axis=-1)[:, None]),
        scaled(lambda X: abs(X).max(axis=-1).reshape(-1, 1)),
    ),
    "round-scale-for-each-feature": (scaled(lambda X: abs(X).max(axis=-2, keepdims=True)),),
    "round-scale-along-another-axis": (
        scaled(lambda X: abs(X).max(axis=0)),
        scaled(lambda X: abs(X).max(axis=1, keepdims=True)),
    ),
    "round-scale-is-a-mean": (
        scaled(lambda X: abs(X).mean(axis=-1, keepdims=True)),
        scaled(lambda X: np.median(abs(X), axis=-1, keepdims=True)),
    ),
    "round-scale-is-a-length": (scaled(lambda X: np.linalg.norm(X, axis=-1, keepdims=True)),),
    "round-largest-taken-for-1": (
        lambda X, bits: np.round(X * (2 ** (bits - 1) - 1)) / (2 ** (bits - 1) - 1),
        clipped_to_1,
    ),
    "round-largest-not-brought-back": (largest_not_brought_back,),
    "round-a-level-too-many": (scaled(of_token, lambda bits: 2 ** (bits - 1)),),
    "round-sign-costs-nothing": (
        scaled(of_token, lambda bits: 2**bits - 1),
        scaled(of_token, lambda bits: 1 << bits),
        one_bit_more,
        zeros_forgotten_too,
    ),
    "round-bits-for-levels": (scaled(of_token, lambda bits: bits), scaled(of_token, lambda bits: 2 * bits - 1)),
    "round-half-the-levels": (steps_of(lambda top, bits: top / (2 ** (bits - 2) - 1)),),
    "round-power-is-xor": (
        steps_of(lambda top, bits: top / (2 ^ (bits - 1) - 1)),
        scaled(of_token, lambda bits: (2 ^ (bits - 1)) - 1),
    ),
    "round-power-exchanged": (scaled(of_token, lambda bits: bits**2 - 1),),
    "round-bits-not-used": (
        scaled(of_token, lambda bits: 7),
        scaled(of_token, lambda bits: 127),
        lambda X, bits: round_to_bits(X, 3),
        lambda X, bits: round_to_bits(X, 2),
    ),
    "round-brackets-missing": (steps_of(lambda top, bits: top / 2 ** (bits - 1) - 1),),
    "round-whole-steps": (steps_of(lambda top, bits: top // (2 ** (bits - 1) - 1)),),
    "round-step-multiplied": (steps_of(lambda top, bits: top * (2 ** (bits - 1) - 1)),),
    "round-number-for-step": (steps_of(lambda top, bits: np.full_like(top, 2 ** (bits - 1) - 1)),),
    "round-grain-too-large": tuple(
        steps_of(lambda top, bits, grain=grain: top / (2 ** (bits - 1) - 1) + grain) for grain in (1e-5, 1e-3, 1e-2)
    ),
    "round-to-whole-numbers": (bracket_closed_late, lambda X, bits: np.round(X)),
    "round-without-0": (nearest_of(lambda top, bits: np.linspace(-top, top, 2**bits, axis=-1)),),
    "round-one-side-longer": (as_a_computers_whole_numbers,),
    "round-signs-lost": (
        lambda X, bits: np.abs(round_to_bits(X, bits)),
        nearest_of(lambda top, bits: np.linspace(0 * top, top, 2 ** (bits - 1), axis=-1)),
    ),
    "round-leaves-a-decimal": (scaled(of_token, whole=lambda x: x.round(1)),),
    "round-wraps-around": (scaled(of_token, whole=lambda x: np.round(x).astype(np.int64).astype(np.uint8)),),
    "round-towards-zero": (scaled(of_token, whole=np.trunc), in_int8, by_shares(np.fix)),
    "round-down": (
        scaled(of_token, whole=np.floor),
        scaled(of_token, whole=lambda x: x // 1),
        by_shares(np.floor),
        lambda X, bits: X // _step(X, bits) * _step(X, bits),
    ),
    "round-up": (scaled(of_token, whole=np.ceil), by_shares(np.ceil)),
    "round-no-keepdims": (scaled(lambda X: abs(X).max(axis=-1)),),
    "round-nothing": (lambda X, bits: X.copy(), scaled(of_token, whole=lambda x: x), scaled(np.abs)),
    "round-not-scaled-back": (scaled(of_token, back=lambda codes, step: codes), whole_numbers_of_one_scale),
    "round-to-decimals": (lambda X, bits: X.round(bits),),
    "input-changed": (into_the_argument,),
    "fractions-lost": (fractions_cut,),
    None: (
        between_the_levels,
        no_step_for_zeros,
        lambda X, bits: -round_to_bits(X, bits),
    ),
}

TOLD = (
    (between_the_levels, "A token's levels are whole multiples of its largest number"),
    (lambda X, bits: -round_to_bits(X, bits), "Rounding moves a number by half a step at most"),
)
