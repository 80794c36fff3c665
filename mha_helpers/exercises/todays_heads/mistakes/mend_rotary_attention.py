"""The mistakes that people make in `mend_rotary_attention`."""

import numpy as np

from mha_helpers.attention import scaled_dot_product_attention
from mha_helpers.exercises.mistakes.catalogue import also
from mha_helpers.rotary import rotate


def mend_rotary_attention(queries, keys, values, n_old):
    queries, keys, values = rotate(queries), rotate(keys), rotate(values)
    mask = np.tri(keys.shape[-2], dtype=bool)[n_old:]  # itself, and what came before it
    context, _ = scaled_dot_product_attention(queries, keys, values, mask=mask)
    return context


def _placed(of_queries, of_keys, of_values=lambda n_old, n_new: None):
    """Return causal attention whose parts are rotated from where each function says; None leaves them as they are."""

    def wrong_attention(queries, keys, values, n_old):
        n_new, placed = queries.shape[-2], []
        for array, where in ((queries, of_queries), (keys, of_keys), (values, of_values)):
            start = where(n_old, n_new)
            placed.append(array if start is None else rotate(array, start))
        mask = np.tri(keys.shape[-2], dtype=bool)[n_old:]
        return scaled_dot_product_attention(*placed, mask=mask)[0]

    return wrong_attention


def _from_0(n_old, n_new):
    return 0


def _from_old(n_old, n_new):
    return n_old


def _not_at_all(n_old, n_new):
    return None


@also(_placed(_from_0, _from_0, _from_0), _placed(_from_old, _from_0, _from_old))
def rope_values_rotated(queries, keys, values, n_old):
    """The values are rotated, too. A position decides whom a token attends to; what is handed over should be the same
    wherever it stands. Leave the values as they are."""
    return _placed(_from_old, _from_0, _from_0)(queries, keys, values, n_old)


def rope_start_forgotten(queries, keys, values, n_old):
    """Queries and keys are rotated from the same place, as if the first new query stood beside the first key. But n_old
    tokens came before it: rotate(queries, start=n_old), and the keys from 0."""
    return _placed(_from_0, _from_0)(queries, keys, values, n_old)


def rope_start_on_keys(queries, keys, values, n_old):
    """The start is given to the keys. The keys begin with the first token of all; the queries are the new ones, which
    come after n_old others."""
    return _placed(_from_0, _from_old)(queries, keys, values, n_old)


@also(
    _placed(_not_at_all, _from_0),
    _placed(_from_0, _not_at_all),
    _placed(_from_old, _not_at_all, _from_0),
    _placed(_not_at_all, _from_0, _from_0),
)
def rope_one_side(queries, keys, values, n_old):
    """Only queries or only keys are rotated. The distance shows in the difference of two angles, so both have to
    turn."""
    return _placed(_from_old, _not_at_all)(queries, keys, values, n_old)


@also(_placed(_not_at_all, _not_at_all, _from_0))
def rope_left_out(queries, keys, values, n_old):
    """Nothing is rotated any more, so attention knows nothing about order. Leave only the values as they are."""
    return _placed(_not_at_all, _not_at_all)(queries, keys, values, n_old)


@also(*(_placed(where, _from_0) for where in (lambda n_old, n_new: n_old - 1, lambda n_old, n_new: max(n_old - 1, 0))))
def rope_one_late(queries, keys, values, n_old):
    """The start is off by one. After n_old tokens, counted from 0, the next one has position n_old."""
    return _placed(lambda n_old, n_new: n_old + 1, _from_0)(queries, keys, values, n_old)


@also(_placed(lambda n_old, n_new: n_old + n_new, _from_0))
def rope_start_n_new(queries, keys, values, n_old):
    """The start is not how many tokens came before. The queries are the last of all the tokens: n_old others came
    first."""
    return _placed(lambda n_old, n_new: n_new, _from_0)(queries, keys, values, n_old)


def rope_mask_missing(queries, keys, values, n_old):
    """The mask is gone: where several new tokens come at once, each also attends to those after it. Only the rotations
    were wrong; hand the mask on as it was given."""
    return scaled_dot_product_attention(rotate(queries, n_old), rotate(keys), values)[0]


def _masked(mask_of):
    """Return the repair with another mask: mask_of(n_keys, n_old)."""

    def wrong_attention(queries, keys, values, n_old):
        mask = mask_of(keys.shape[-2], n_old)
        return scaled_dot_product_attention(rotate(queries, n_old), rotate(keys), values, mask=mask)[0]

    return wrong_attention


@also(
    *map(
        _masked,
        (
            lambda n_keys, n_old: np.tri(n_keys, k=-1, dtype=bool)[n_old:],
            lambda n_keys, n_old: np.tri(n_keys, k=1, dtype=bool)[n_old:],
            lambda n_keys, n_old: ~np.tri(n_keys, dtype=bool)[n_old:],
        ),
    )
)
def rope_mask_changed(queries, keys, values, n_old):
    """The rotations are right now, but the mask has changed, and it was right. The new tokens are the last ones, so
    theirs are the last rows of the causal mask: np.tri(n_keys, dtype=bool)[n_old:]."""
    return _masked(lambda n_keys, n_old: np.tri(n_keys - n_old, n_keys, dtype=bool))(queries, keys, values, n_old)
