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
        with np.errstate(all="ignore"):
            step = largest(X) / n_steps(bits)
            return back(whole(X / divisor(step)), step, X)

    return wrong_rounding


def _in_steps(X, step):
    return np.round(X / _not_zero(step)) * step


def _in_steps_of_1_for_0(X, step):
    return _in_steps(X, _not_zero(step))


def _in_unguarded_steps(X, step):
    with np.errstate(all="ignore"):
        return np.round(X / step) * step


def _stepped(by):
    return lambda step_of: lambda X, bits: by(X, step_of(_largest(X), _n_steps(bits)))


# A step that can be 0 is guarded against where it divides, or for good, or not at all.
_stepping = maker(_stepped(_in_steps), _stepped(_in_steps_of_1_for_0), _stepped(_in_unguarded_steps))


def _in_another_order(whole):
    """Return programs that round by whole, and in which the largest number can come out a grain off its level."""

    def first_shares(X, bits):
        largest, n = _not_zero(_largest(X)), _n_steps(bits)
        return whole(X / largest * n) * largest / n

    def first_products(X, bits):
        largest, n = _not_zero(_largest(X)), _n_steps(bits)
        return whole(X * n / largest) * largest / n

    def by_the_inverse(X, bits):
        largest, n = _not_zero(_largest(X)), _n_steps(bits)
        return whole(X * (n / largest)) * (largest / n)

    return first_shares, first_products, by_the_inverse


def _floor_divided(X, bits):
    step = _not_zero(_largest(X) / _n_steps(bits))
    return X // step * step


_of_largest = maker(lambda largest: _rounded(largest=largest))
_counting = maker(lambda n_steps: _rounded(n_steps=n_steps))
_rounding = maker(lambda whole: _rounded(whole=whole))
_bringing_back = maker(lambda back: _rounded(back=back))


def round_token_of_zeros(X, bits):
    """Right except for a token of zeros: its step is 0, and 0 / 0 is NaN. Divide by np.where(step == 0, 1, step)."""
    return _rounded(divisor=lambda step: step)(X, bits)


@_of_largest
@also(
    lambda X: X.max(axis=-1, keepdims=True) - X.min(axis=-1, keepdims=True),
    lambda X: (X.max(axis=-1, keepdims=True) - X.min(axis=-1, keepdims=True)) / 2,
    lambda X: X.min(axis=-1, keepdims=True),
)
def round_sign_forgotten(X):
    """Your scale comes of the token's largest number with its sign, of its smallest, or of the distance between the
    two. The levels reach equally far to both sides, so the number that is furthest from 0 decides:
    np.abs(X).max(axis=-1, keepdims=True)."""
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
@also(lambda X: np.abs(X).max(axis=-1).reshape(-1, 1))
def round_column_of_one_matrix(X):
    """It is right for one matrix. With heads or a batch in front, [:, None] and reshape(-1, 1) put the largest numbers
    into the wrong axes: keepdims=True keeps each token's own beside it, as [..., None] does."""
    return np.abs(X).max(axis=-1)[:, None]


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
@also(lambda X: np.median(np.abs(X), axis=-1, keepdims=True))
@also(lambda X: X.std(axis=-1, keepdims=True), lambda X: np.sqrt((X**2).mean(axis=-1, keepdims=True)))
def round_scale_is_a_mean(X):
    """Your scale is an average of the token's numbers, or their spread. Levels must reach as far as the largest of
    them: np.abs(X).max(axis=-1, keepdims=True)."""
    return np.abs(X).mean(axis=-1, keepdims=True)


@_of_largest
@also(lambda X: np.abs(X).sum(axis=-1, keepdims=True))
def round_scale_is_a_length(X):
    """Your scale adds up all of the token's numbers, as its length does. Levels reach as far as the largest one of
    them: np.abs(X).max(axis=-1, keepdims=True)."""
    return np.linalg.norm(X, axis=-1, keepdims=True)


@also(_rounded(largest=lambda X: 1, back=lambda codes, step, X: np.clip(codes * step, -1, 1)))
@_of_largest
def round_largest_taken_for_1(X):
    """Your levels lie between -1 and 1, whatever the numbers are. They reach as far as the token's largest number:
    divide that by the number of steps."""
    return np.ones_like(X)


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
@also(lambda bits: bits - 1, lambda bits: 2 * bits, lambda bits: 2 * bits - 1, lambda bits: 2 * (bits - 1) - 1)
def round_bits_for_levels(bits):
    """You count steps by the number of bits itself. Each bit doubles the number of levels: 2^(bits - 1) - 1 steps lead
    from 0 to the largest."""
    return bits


@_counting
@also(lambda bits: (2 ^ (bits - 1)) - 1, lambda bits: 2 ^ bits, lambda bits: (2 ^ bits) - 1)
def round_power_is_xor(bits):
    """In Python ^ is no power. It compares two numbers bit by bit. Write 2 ** (bits - 1) - 1."""
    return 2 ^ (bits - 1) - 1


@_counting
@also(lambda bits: bits**2, lambda bits: (bits - 1) ** 2 - 1, lambda bits: (bits - 1) ** 2)
def round_power_exchanged(bits):
    """Base and power are exchanged: the number of bits is squared. Each bit doubles the number of levels: 2 ** (bits -
    1) - 1 steps lead from 0 to the largest."""
    return bits**2 - 1


@_counting
@also(*(lambda bits, n=n: n for n in (3, 127, 1, 15, 31)))
def round_bits_not_used(bits):
    """You count the same number of steps for any number of bits. It is 2 ** (bits - 1) - 1."""
    return 7


@_stepping
@also(lambda largest, n_steps: largest / (2 * (n_steps + 1)) - 1)
def round_brackets_missing(largest, n_steps):
    """The brackets are missing: largest / 2 ** (bits - 1) - 1 takes 1 from the quotient. Take it from the number of
    steps: largest / (2 ** (bits - 1) - 1)."""
    return largest / (n_steps + 1) - 1


@_stepping
@also(lambda largest, n_steps: np.round(largest / n_steps), lambda largest, n_steps: np.ceil(largest / n_steps))
def round_whole_steps(largest, n_steps):
    """Your step is a whole number, often 0, as // makes it. Only X / step is rounded, the step is as long as it comes
    out: largest / (2 ** (bits - 1) - 1)."""
    return largest // n_steps


@_stepping
def round_step_at_least_1(largest, n_steps):
    """Your step is never below 1, so that small numbers are rounded to whole ones or to 0. Only a step of 0 must not
    divide: np.where(step == 0, 1, step)."""
    return np.maximum(largest / n_steps, 1)


@_stepping
def round_step_multiplied(largest, n_steps):
    """You multiply the largest number by the number of steps. A step is as long as the largest number over how many
    lead to it: largest / (2 ** (bits - 1) - 1)."""
    return largest * n_steps


@_stepping
def round_number_for_step(largest, n_steps):
    """You divide by the number of steps, where the length of one step belongs. That is the token's largest number over
    their number: largest / (2 ** (bits - 1) - 1)."""
    return np.full_like(largest, n_steps)


@_counting
@also(lambda bits: max(2 ** (bits - 2) - 1, 0.5))
def round_half_the_levels(bits):
    """You use half as many levels as the bits allow: 2^(bits - 1) - 1 steps lead from 0 to the largest, and as many on
    the other side."""
    return 2 ** (bits - 2) - 1


@_counting
def round_half_a_step_left(bits):
    """2 ** bits - 1 levels, halved, is no whole number of steps, so that the largest number falls between two levels.
    From 0 to the largest it is 2^(bits - 1) - 1 steps."""
    return (2**bits - 1) / 2


@also(*_in_another_order(np.trunc))
@_rounding
@also(lambda codes: codes.astype(int), lambda codes: codes.astype(np.int8))
def round_towards_zero(codes):
    """You cut the fractions off, as astype(int) does, which moves every number towards 0. np.round takes the nearest
    level."""
    return np.trunc(codes)


@also(*_in_another_order(np.floor), _floor_divided)
@_rounding
def round_down(codes):
    """np.floor and // always go down. np.round takes the nearest level."""
    return np.floor(codes)


@_rounding
@also(lambda codes: np.abs(np.round(codes)))
def round_signs_lost(codes):
    """Negative numbers lose their signs, or become 0. Levels lie on both sides of 0: round X / step, with its signs."""
    return np.maximum(np.round(codes), 0)


@_rounding
def round_wraps_around(codes):
    """np.uint8 holds no negative numbers, and -1 becomes 255. Leave the rounded numbers as they are, or take
    np.int8."""
    return np.round(codes).astype(int).astype(np.uint8)


@_rounding
@also(lambda codes: np.round(codes, 2))
def round_leaves_a_decimal(codes):
    """np.round's second argument is a number of decimals, and some are left. A level is a whole number of steps:
    np.round(X / step)."""
    return np.round(codes, 1)


@also(*_in_another_order(np.ceil))
@_rounding
def round_up(codes):
    """np.ceil always goes up. np.round takes the nearest level."""
    return np.ceil(codes)


@_rounding
def round_nothing(codes):
    """Your numbers come back as they were. Between the division by the step and the product with it, np.round; and the
    step is the whole token's, not each number's own: np.abs(X).max(axis=-1, keepdims=True) decides."""
    return codes


@also(_rounded(largest=lambda X: np.abs(X).max(), back=lambda codes, step, X: codes))
@_bringing_back
def round_not_scaled_back(codes, step, X):
    """You return the whole numbers of steps. Multiply them by the step: what is wanted is what a model reads from such
    a cache."""
    return codes


@_bringing_back
def round_largest_not_brought_back(codes, step, X):
    """Your levels lie between -1 and 1: you divide by the token's largest number, and do not multiply by it again."""
    return codes * (step / _not_zero(_largest(X)))


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


@also(lambda X, bits: np.round(X, 0))
def round_to_whole_numbers(X, bits):
    """X itself is rounded to whole numbers. Count its steps, round their number, and only then go back: np.round(X /
    step) * step, where the bracket closes before the step is multiplied."""
    step = _not_zero(_largest(X) / _n_steps(bits))
    return np.round(X / step * step)


@also(
    *(lambda X, bits, grain=grain: _in_steps(X, _largest(X) / _n_steps(bits) + grain) for grain in (1e-4, 1e-3, 1e-2)),
)
def round_grain_too_large(X, bits):
    """What you add to the step, against a division by 0, moves every level. Add nothing: divide by np.where(step == 0,
    1, step)."""
    return _in_steps(X, _largest(X) / _n_steps(bits) + 1e-5)


def round_without_0(X, bits):
    """0 is not among your levels: 2^bits of them, evenly spaced, leave it out. There are 2^(bits - 1) - 1 on each side,
    and 0 between them."""
    step = 2 * _not_zero(_largest(X)) / (2**bits - 1)
    return (np.clip(np.floor(X / step), -(2 ** (bits - 1)), 2 ** (bits - 1) - 1) + 0.5) * step


def round_one_side_longer(X, bits):
    """You use all of -2^(bits - 1) to 2^(bits - 1) - 1, as whole numbers in a computer do. Then the largest number
    itself has no level, if it is positive. Here both sides have 2^(bits - 1) - 1 levels."""
    n = 2 ** (bits - 1)
    step = _largest(X) / n
    return np.clip(np.round(X / _not_zero(step)), -n, n - 1) * step


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
