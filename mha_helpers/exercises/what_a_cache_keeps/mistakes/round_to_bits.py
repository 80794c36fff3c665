"""The mistakes that people make in `round_to_bits`: how large a step is, and how a number is rounded."""

import numpy as np

from mha_helpers.exercises.mistakes.catalogue import also, maker


def _largest(X):
    return np.abs(X).max(axis=-1, keepdims=True)


def _n_steps(bits):
    return 2 ** (bits - 1) - 1


def _not_zero(step):
    return np.where(step == 0, 1, step)


def _rounded(
    *,
    largest=_largest,
    n_steps=_n_steps,
    divisor=_not_zero,
    whole=np.round,
    back=lambda codes, step, X: codes * step,
):
    """Return rounding in which one step is done in another way."""

    def wrong_rounding(X, bits):
        step = largest(X) / n_steps(bits)
        with np.errstate(all="ignore"):
            return back(whole(X / divisor(step)), step, X)

    return wrong_rounding


_of_largest = maker(lambda largest: _rounded(largest=largest))
_counting = maker(lambda n_steps: _rounded(n_steps=n_steps))
_rounding = maker(lambda whole: _rounded(whole=whole))
_bringing_back = maker(lambda back: _rounded(back=back))


def round_token_of_zeros(X, bits):
    """Right except for a token of zeros: its step is 0, and 0 / 0 is NaN. Divide by np.where(step == 0, 1, step)."""
    return _rounded(divisor=lambda step: step)(X, bits)


@_of_largest
@also(lambda X: X.max(axis=-1, keepdims=True) - X.min(axis=-1, keepdims=True))
def round_sign_forgotten(X):
    """You take the largest number with its sign, or the distance between largest and smallest. The levels reach equally
    far to both sides, so the number that is furthest from 0 decides: np.abs(X).max(axis=-1, keepdims=True)."""
    return X.max(axis=-1, keepdims=True)


@_of_largest
def round_one_scale_for_all(X):
    """All tokens share one scale, the largest number of all. Then a token of small numbers has only a few levels left.
    Each has its own: .max(axis=-1, keepdims=True)."""
    return np.abs(X).max()


@_of_largest
def round_no_keepdims(X):
    """You have a largest number for each token, but in a row, where X needs it in a column: keepdims=True keeps the
    axis, so that each token meets its own."""
    return np.abs(X).max(axis=-1)


@_of_largest
def round_scale_for_each_feature(X):
    """Your largest numbers are those of each feature, over the tokens. Then the scale changes with every new token, and
    what was kept no longer fits it. Take each token's own: axis=-1."""
    return np.abs(X).max(axis=-2, keepdims=True)


@_of_largest
@also(lambda X: np.abs(X).max(axis=1, keepdims=True), lambda X: np.abs(X).max(axis=-3, keepdims=True))
def round_scale_along_another_axis(X):
    """Your scale runs along another axis than the features. They are the last: axis=-1."""
    return np.abs(X).max(axis=0, keepdims=True)


@_of_largest
@also(lambda X: X.std(axis=-1, keepdims=True))
def round_scale_is_a_mean(X):
    """Your scale is an average of the token's numbers, or their spread. Levels must reach as far as the largest of
    them: np.abs(X).max(axis=-1, keepdims=True)."""
    return np.abs(X).mean(axis=-1, keepdims=True)


@_counting
def round_a_level_too_many(bits):
    """You count 2^(bits - 1) steps from 0 to the largest. With 0 and both signs that makes one level more than the bits
    can tell apart: 2^(bits - 1) - 1."""
    return 2 ** (bits - 1)


@_counting
@also(lambda bits: 2**bits, lambda bits: 2**bits - 2)
def round_sign_costs_nothing(bits):
    """You count the levels as if there were no signs. Half of them are needed for negative numbers: 2^(bits - 1) - 1
    steps lead from 0 to the largest."""
    return 2**bits - 1


@_counting
@also(lambda bits: bits - 1, lambda bits: 2 * bits)
def round_bits_for_levels(bits):
    """You count steps by the number of bits itself. Each bit doubles the number of levels: 2^(bits - 1) - 1 steps lead
    from 0 to the largest."""
    return bits


@_counting
def round_half_the_levels(bits):
    """You use half as many levels as the bits allow: 2^(bits - 1) - 1 steps lead from 0 to the largest, and as many on
    the other side."""
    return max(2 ** (bits - 2) - 1, 0.5)


@_counting
@also(lambda bits: (2**bits - 1) / 2)
def round_half_a_step_left(bits):
    """2 ** bits - 1 levels, halved, is no whole number of steps, so that the largest number falls between two levels.
    From 0 to the largest it is 2^(bits - 1) - 1 steps."""
    return (2**bits - 1) / 2


@_rounding
@also(lambda codes: codes.astype(int), lambda codes: codes.astype(np.int8))
def round_towards_zero(codes):
    """You cut the fractions off, as astype(int) and // do, which makes every number smaller than it was. np.round takes
    the nearest level."""
    return np.trunc(codes)


@_rounding
def round_down(codes):
    """np.floor and // always go down. np.round takes the nearest level."""
    return np.floor(codes)


@_rounding
def round_up(codes):
    """np.ceil always goes up. np.round takes the nearest level."""
    return np.ceil(codes)


@_rounding
def round_nothing(codes):
    """Nothing is rounded: you divide by the step, and multiply by it again. In between, np.round."""
    return codes


@_bringing_back
def round_not_scaled_back(codes, step, X):
    """You return the whole numbers of steps. Multiply them by the step: what is wanted is what a model reads from such
    a cache."""
    return codes


@_bringing_back
def round_scaled_by_the_largest(codes, step, X):
    """You multiply by the largest number, and not by the step between two levels."""
    return codes * _largest(X)


@_bringing_back
def round_error_returned(codes, step, X):
    """You return how far each number has moved. Return where it has moved to."""
    return X - codes * step


def round_scale_inverted(X, bits):
    """Scale and division are exchanged: you multiply by the step, and divide by it again. X / step counts the steps."""
    step = _largest(X) / _n_steps(bits)
    return np.round(X * step) / _not_zero(step)


def round_to_decimals(X, bits):
    """np.round(X, bits) keeps that many decimals, however large the numbers are. Divide by the step between two levels,
    round to whole numbers, and multiply by it again."""
    return np.round(X, bits)


@also(lambda X, bits: _shifted(X, bits, 2**bits - 1), lambda X, bits: _shifted(X, bits, 2**bits))
def round_from_the_smallest(X, bits):
    """Your levels lie between the token's smallest number and its largest. That is done, too, but needs a second number
    for each token, and 0 isn't among the levels. Here they lie around 0, and reach as far as the largest number without
    its sign."""
    return _shifted(X, bits, 2**bits - 1)


def _shifted(X, bits, n_steps):
    low, high = X.min(axis=-1, keepdims=True), X.max(axis=-1, keepdims=True)
    step = _not_zero((high - low) / n_steps)
    return np.round((X - low) / step) * step + low


def round_numbers_counted_by_bits(X, bits):
    """You round to one bit, whatever `bits` is: only the sign is left. 2^(bits - 1) - 1 levels lie on either side of
    0."""
    return np.sign(X) * _largest(X)
