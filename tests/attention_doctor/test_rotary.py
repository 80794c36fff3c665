"""Functions that turn features by positions: right ones of every style are healthy, wrong ones are told what fails."""

import numpy as np
import pytest

from mha_helpers import doctor, masks, rotary
from mha_helpers.exercises.todays_heads.mistakes import rotate as wrong


def angles(positions, d_head, base=10_000.0):
    return np.asarray(positions)[..., None] / base ** (np.arange(0, d_head, 2) / d_head)


def halves(x):
    return np.split(x, 2, axis=-1)


def rotate_half(x):
    one, other = halves(x)
    return np.concatenate([-other, one], axis=-1)


def by_halves(X, start=0, base=10_000.0):
    table = angles(start + np.arange(X.shape[-2]), X.shape[-1], base)
    return X * np.cos(np.tile(table, 2)) + rotate_half(X) * np.sin(np.tile(table, 2))


def by_complex_numbers(x, positions):
    as_complex = x[..., ::2] + 1j * x[..., 1::2]
    turned = as_complex * np.exp(1j * angles(positions, x.shape[-1]))
    return np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)


def with_own_cache(width):
    table = np.tile(angles(np.arange(40), width), 2)

    def rotate(x, offset=0):
        rows = table[offset : offset + x.shape[-2]]
        return x * np.cos(rows) + rotate_half(x) * np.sin(rows)

    return rotate


def with_tables(x, cos, sin):
    return x * cos + rotate_half(x) * sin


def with_half_tables(x, cos, sin):
    one, other = halves(x)
    return np.concatenate([one * cos - other * sin, other * cos + one * sin], axis=-1)


def apply_rotary_pos_emb(q, k, cos, sin, position_ids=None, unsqueeze_dim=1):
    cos, sin = np.expand_dims(cos, unsqueeze_dim), np.expand_dims(sin, unsqueeze_dim)
    return with_tables(q, cos, sin), with_tables(k, cos, sin)


def apply_rotary_emb(xq, xk, freqs_cis):
    """With tokens before heads, (batch, tokens, heads, features), as Llama has them."""

    def turn(x):
        turned = (x[..., ::2] + 1j * x[..., 1::2]) * freqs_cis.reshape(1, x.shape[1], 1, -1)
        return np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)

    return turn(xq), turn(xk)


def each_token_at_its_position(x, pos):
    turned = np.empty_like(x)
    for token, position in enumerate(pos):
        for pair, angle in enumerate(angles(position, x.shape[-1])):
            matrix = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            part = slice(2 * pair, 2 * pair + 2)
            turned[..., token, part] = x[..., token, part] @ matrix.T
    return turned


def rope(x):
    return by_halves(x)


def a_part(X, start=0):
    return np.concatenate([by_halves(X[..., :4], start), X[..., 4:]], axis=-1)


def in_single_precision(X, start=0):
    return by_halves(X.astype(np.float32), start).astype(np.float32)


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(rotary.rotate, id="the course's own"),
        by_halves,
        by_complex_numbers,
        pytest.param(with_own_cache(8), id="a cache of its own"),
        pytest.param(with_own_cache(64), id="a cache for 64 features"),
        with_tables,
        with_half_tables,
        apply_rotary_pos_emb,
        apply_rotary_emb,
        each_token_at_its_position,
        rope,
        a_part,
        in_single_precision,
        wrong.rope_halves,
    ],
)
def test_right_ones_are_healthy(function):
    report = doctor.examine(function)
    assert report.healthy, report
    assert "features turned by positions" in report.layout


def test_the_report_says_the_convention():
    assert "pairs 2i and 2i + 1" in doctor.examine(rotary.rotate).layout
    assert "pairs i and i + d/2" in doctor.examine(by_halves).layout
    assert "(batch, tokens, heads, features)" in doctor.examine(apply_rotary_emb).layout


@pytest.mark.parametrize(
    ("base", "notes"), [(500_000.0, []), (10_000.0, []), (1_000.0, ["Its base is 1,000; 10,000 is usual."])]
)
def test_another_base_is_a_choice_that_is_said_unless_the_signature_says_it(base, notes):
    def said(X, start=0, theta=base):
        return by_halves(X, start, theta)

    def silent(X, start=0):
        return by_halves(X, start, base)

    assert doctor.examine(said).notes == []
    assert doctor.examine(silent).healthy
    assert [note[: len(notes[0])] for note in doctor.examine(silent).notes if notes] == notes


def turned(X, start=0, *, position=lambda m, start: start + m, turn=None, table=lambda a: a):
    """Rotation by halves with one of its steps replaced."""
    places = position(np.arange(X.shape[-2]), start) * np.ones(X.shape[-2])
    a = table(angles(places, X.shape[-1]))
    one, other = halves(X)
    turn = turn or (lambda x, y, cos, sin: (x * cos - y * sin, y * cos + x * sin))
    return np.concatenate(turn(one, other, np.cos(a), np.sin(a)), axis=-1)


def mistaken(**step):
    return lambda X, start=0: turned(X, start, **step)


def heads_axis_as_positions(X, start=0):
    if X.ndim < 3:
        return by_halves(X, start)
    return by_halves(X.swapaxes(-2, -3), start).swapaxes(-2, -3)


def positions_not_used(x, positions):
    return by_halves(x)


def mixed_pairing(X, start=0):
    """The tables of neighbours, the turn of halves."""
    a = np.repeat(angles(start + np.arange(X.shape[-2]), X.shape[-1]), 2, axis=-1)
    return X * np.cos(a) + rotate_half(X) * np.sin(a)


def over_the_batch(X, start=0):
    return by_halves(X[::-1], start) if X.ndim > 3 else by_halves(X, start)


def rotate_queries_alone(q, k, cos, sin):
    return with_tables(q, cos, sin), k


def rotate_in_two_conventions(q, k, start=0):
    return by_halves(q, start), rotary.rotate(k, start)


def rotate_in_place(X, start=0):
    X[...] = by_halves(X, start)
    return X


WRONG = {
    "rope-start-forgotten": [mistaken(position=lambda m, start: m), wrong.rope_start_forgotten, positions_not_used],
    "rope-counts-from-one": [mistaken(position=lambda m, start: start + m + 1), wrong.rope_counts_from_one],
    "rope-one-position": [mistaken(position=lambda m, start: start), wrong.rope_one_position],
    "rope-wrong-axis": [heads_axis_as_positions, wrong.rope_wrong_axis],
    "rope-not-a-rotation": [
        mistaken(turn=lambda x, y, cos, sin: (x * cos + y * sin, y * cos + x * sin)),
        mistaken(turn=lambda x, y, cos, sin: (x * cos - y * sin, x * sin - y * cos)),
        mixed_pairing,
        wrong.rope_not_a_rotation,
        wrong.rope_overwritten,
        wrong.rope_only_multiplied,
    ],
    "rope-other-way": [mistaken(table=np.negative), wrong.rope_other_way],
    "rope-wrong-frequencies": [
        mistaken(table=lambda a: a[..., :1] / 10_000 ** (np.arange(a.shape[-1]) / (2 * a.shape[-1]))),
        mistaken(table=lambda a: a[..., :1] / 10_000 ** (np.arange(a.shape[-1]) / (a.shape[-1] - 1))),
        mistaken(table=np.deg2rad),
        wrong.rope_one_angle,
        wrong.rope_wrong_frequencies,
    ],
    "rope-one-side": [rotate_queries_alone],
    "rope-conventions-mixed": [rotate_in_two_conventions],
    "input-changed": [rotate_in_place],
}


CASES = [pytest.param(name, one, id=f"{name} {i}") for name, some in WRONG.items() for i, one in enumerate(some)]


@pytest.mark.parametrize(("name", "function"), CASES)
def test_wrong_ones_have_their_name(name, function):
    report = doctor.examine(function)
    assert report.names == [name], report


@pytest.mark.parametrize(
    ("said", "function"),
    [
        ("With start=7, feature 0 of token 0 should hold -0.6570 of feature 1", wrong.rope_start_subtracted),
        ("Where X is zero everywhere", wrong.rope_added),
        ("Position 0 is turned", wrong.rope_sine_and_cosine_exchanged),
        ("X comes back as it was", wrong.rope_nothing_turned),
        ("One query and one key have a score", mistaken(position=lambda m, start: (start + m) ** 2)),
        ("isn't X times a matrix", lambda x, positions: np.tanh(by_halves(x))),
        ("NaN", lambda x, start: x / np.zeros(len(x))[:, None]),
    ],
)
def test_what_has_no_name_is_told_with_its_numbers(said, function):
    report = doctor.examine(function)
    assert report.names == [None], report
    assert said in str(report)


def test_features_in_another_order_are_worth_a_note():
    report = doctor.examine(wrong.rope_not_put_back)
    assert report.healthy
    assert "another order, 0, 2, 4, 6, 1, 3, 5, 7" in str(report)


def test_attention_that_rotates_inside_is_examined_as_attention():
    def attends(x, start=0):
        turned = by_halves(x, start)
        scores = turned @ turned.swapaxes(-1, -2) + np.where(masks.causal_mask(x.shape[-2]), 0, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True) @ x

    assert "with nothing known inside" in doctor.examine(attends).layout


def test_pytorchs_functions_are_asked_in_tensors():
    torch = pytest.importorskip("torch")

    def apply_rope(x, cos, sin):
        one, other = x.chunk(2, dim=-1)
        return x * cos + torch.cat([-other, one], dim=-1) * sin

    assert doctor.examine(apply_rope).healthy
