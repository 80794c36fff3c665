"""The mistakes that people make in `rotate`."""

import numpy as np

from mha_helpers.exercises.mistakes.catalogue import also


def _right_angles(n_tokens, d_head, start):
    return (start + np.arange(n_tokens))[:, None] / 10_000 ** (np.arange(0, d_head, 2) / d_head)


def _by_pairs(X):
    return X[..., 0::2], X[..., 1::2]


def _interleaved(first, second):
    return np.stack([first, second], axis=-1).reshape(*first.shape[:-1], -1)


def _side_by_side(first, second):
    return np.concatenate([first, second], axis=-1)


def _halves(X):
    return X[..., : X.shape[-1] // 2], X[..., X.shape[-1] // 2 :]


def _turned(
    angles=_right_angles,
    cut=_by_pairs,
    join=_interleaved,
    turn=lambda x, y, cos, sin: (x * cos - y * sin, x * sin + y * cos),
):
    """Return rotate with one of its steps replaced."""

    def wrong_rotate(X, start=0):
        table = angles(X.shape[-2], X.shape[-1], start)
        return join(*turn(*cut(X), np.cos(table), np.sin(table)))

    return wrong_rotate


def _other_angles(position=lambda m, start: start + m, exponent=lambda pair, d: 2 * pair / d, base=10_000.0):
    def angles(n_tokens, d_head, start):
        pairs = np.arange(d_head // 2)
        return position(np.arange(n_tokens), start)[:, None] / base ** exponent(pairs, d_head)

    return _turned(angles)


def _along_axis_0(X, start=0):
    """Positions counted along the first axis, which in a batch is not the tokens'."""
    if X.ndim == 2:
        return _turned()(X, start)
    return np.moveaxis(_turned()(np.moveaxis(X, 0, -2), start), -2, 0)


def _added(X, start=0):
    """Sines and cosines are added, as to embeddings."""
    angles = _right_angles(*X.shape[-2:], start)
    return X + _interleaved(np.sin(angles), np.cos(angles))


def _multiplied(X, start=0):
    angles = _right_angles(*X.shape[-2:], start)
    return X * _interleaved(np.cos(angles), np.sin(angles))


def _other_order(X, start):
    angles = _right_angles(*X.shape[-2:], start)
    return _interleaved(np.cos(angles), np.sin(angles))


@also(_turned(lambda n, d, start: _right_angles(n, d, 0), _halves, _side_by_side))
def rope_start_forgotten(X, start=0):
    """The first token always gets position 0. With a cache, `start` tokens came before: count on from there."""
    return _other_angles(lambda m, start: m)(X, start)


def rope_halves(X, start=0):
    """You pair feature i with feature i + d_head / 2. Some models do just that, and their weights need it. Here, as in
    the paper, neighbours are a pair: features 0 and 1, 2 and 3."""
    return _turned(cut=_halves, join=_side_by_side)(X, start)


def _by_partners(angle_twice, partner):
    """Return rotate as models write it: X cos + partner(X) sin, with each angle for two features."""

    def wrong_rotate(X, start=0):
        table = angle_twice(_right_angles(X.shape[-2], X.shape[-1], start))
        return X * np.cos(table) + partner(X) * np.sin(table)

    return wrong_rotate


def _angles_of_halves(table):
    return _side_by_side(table, table)


def _angles_of_neighbours(table):
    return _interleaved(table, table)


def _partner_in_other_half(X):
    first, second = _halves(X)
    return _side_by_side(-second, first)


def _partner_beside(X):
    first, second = _by_pairs(X)
    return _interleaved(-second, first)


def _neighbours_in_halves(X):
    first, second = _by_pairs(X)
    return _side_by_side(-second, first)


@also(
    _by_partners(_angles_of_neighbours, _partner_in_other_half),
    _by_partners(_angles_of_halves, _neighbours_in_halves),
    _by_partners(_angles_of_neighbours, _neighbours_in_halves),
)
def rope_conventions_mixed(X, start=0):
    """You mix two conventions: in one, neighbours are a pair, features 0 and 1; in the other, features i and i +
    d_head / 2. Here neighbours are. So each angle stands twice in a row, np.repeat(angles, 2, axis=-1), and the partner
    of features 0, 1, 2, 3 is -1, 0, -3, 2: np.stack([-X[..., 1::2], X[..., 0::2]], axis=-1).reshape(X.shape)."""
    return _by_partners(_angles_of_halves, _partner_beside)(X, start)


def rope_other_way(X, start=0):
    """You turn the other way: the minus stands in the wrong line. First x cos - y sin, then x sin + y cos."""
    return _turned(turn=lambda x, y, cos, sin: (x * cos + y * sin, y * cos - x * sin))(X, start)


@also(_other_angles(lambda m, start: start - m))
def rope_start_subtracted(X, start=0):
    """`start` is subtracted. The tokens in the cache came before, so the new ones stand `start` places further on."""
    return _other_angles(lambda m, start: m - start)(X, start)


@also(_other_angles(lambda m, start: start + m - 1))
def rope_counts_from_one(X, start=0):
    """All positions are one too high, or one too low. The first token of all has position 0, and isn't turned."""
    return _other_angles(lambda m, start: start + m + 1)(X, start)


def rope_one_position(X, start=0):
    """All tokens get the position `start`. Each one stands one place further on: start, start + 1, and so on."""
    return _other_angles(lambda m, start: np.full(len(m), start))(X, start)


@also(
    _turned(turn=lambda x, y, cos, sin: (x * cos - y * sin, x * sin - y * cos)),
    _turned(turn=lambda x, y, cos, sin: (x * cos - y * sin, y * sin + x * cos)),
    _turned(turn=lambda x, y, cos, sin: (x * cos - y * sin, y * cos - x * sin)),
    _turned(turn=lambda x, y, cos, sin: (x * cos, y * cos)),
    _turned(turn=lambda x, y, cos, sin: (x * cos - x * sin, y * cos + y * sin)),
)
def rope_not_a_rotation(X, start=0):
    """That isn't a rotation: each of the two new features is made from both old ones, with one minus in all. x cos - y
    sin, and x sin + y cos."""
    return _turned(turn=lambda x, y, cos, sin: (x * cos + y * sin, x * sin + y * cos))(X, start)


def rope_overwritten(X, start=0):
    """The second feature is made from the new first one, where the old one is needed. Compute both before you write
    either, or write into another array."""
    return _turned(
        turn=lambda x, y, cos, sin: (x * cos - y * sin, (x * cos - y * sin) * sin + y * cos),
    )(X, start)


@also(_turned(turn=lambda x, y, cos, sin: (x * sin + y * cos, x * cos - y * sin)))
def rope_sine_and_cosine_exchanged(X, start=0):
    """Sine and cosine are exchanged. At position 0 the angle is 0 and nothing may change, so the cosine, which is 1
    there, belongs to the feature itself."""
    return _turned(turn=lambda x, y, cos, sin: (x * sin - y * cos, x * cos + y * sin))(X, start)


def rope_not_put_back(X, start=0):
    """The turned features aren't put back into their places: all the first ones stand in front, then all the second
    ones. A pair belongs side by side again."""
    return _turned(join=_side_by_side)(X, start)


def rope_one_angle(X, start=0):
    """All pairs turn equally fast. Pair i turns by position / 10000^(2 i / d_head): later pairs turn more slowly."""
    return _other_angles(exponent=lambda pair, d: 0.0 * pair)(X, start)


@also(
    _other_angles(exponent=lambda pair, d: 4 * pair / d),
    _other_angles(exponent=lambda pair, d: 2.0 * pair),
    _other_angles(exponent=lambda pair, d: -2 * pair / d),
    _other_angles(exponent=lambda pair, d: 2 * (pair + 1) / d),
    _other_angles(exponent=lambda pair, d: (2 * pair + 1) / d),
    _other_angles(exponent=lambda pair, d: pair / max(d // 2 - 1, 1)),
    _other_angles(base=1_000.0),
    _other_angles(base=500_000.0),
)
def rope_wrong_frequencies(X, start=0):
    """The angles aren't those of the formula. Pair i turns by position / 10000^(2 i / d_head), with i = 0, 1, 2, ...
    counting pairs and d_head counting features."""
    return _other_angles(exponent=lambda pair, d: pair / d)(X, start)


@also(_turned(lambda n, d, start: 2 * np.pi * _right_angles(n, d, start)))
def rope_in_degrees(X, start=0):
    """NumPy's sine and cosine take radians: use the angle of the formula as it is."""
    return _turned(lambda n, d, start: np.deg2rad(_right_angles(n, d, start)))(X, start)


def rope_wrong_axis(X, start=0):
    """You count positions along the first axis. In a batch the tokens are the last axis but one: X.shape[-2]."""
    return _along_axis_0(X, start)


@also(lambda X, start=0: X + _other_order(X, start))
def rope_added(X, start=0):
    """Sines and cosines are added to the features, as to embeddings (notebook 06). Here they turn the features: every
    pair is multiplied by a little rotation."""
    return _added(X, start)


def rope_only_multiplied(X, start=0):
    """Each feature is multiplied by a number of its own. A rotation also brings in its partner: x cos - y sin."""
    return _multiplied(X, start)


def rope_nothing_turned(X, start=0):
    """You return X as it was given."""
    return X.copy()
