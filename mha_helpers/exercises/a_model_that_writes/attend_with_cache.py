"""The exercise `attend_with_cache`: causal multi-head attention of new tokens to old ones."""

import numpy as np

from function_judge.properties import not_finite
from mha_helpers import decoding
from mha_helpers.attention import combine_heads, softmax, split_heads
from mha_helpers.exercises.a_model_that_writes.mistakes import attend_with_cache as wrong
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import draws
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.masks import causal_mask

MATRICES = ("W_Q", "W_K", "W_V", "W_O")


def _case(trait, seed, shape, n_heads, n_old=0, *, dtype=np.float64):
    """Return a case with random tokens and, after old ones, with their keys and values as a pair."""
    *batch, _, d_model = shape
    arrays = draws(seed, X_new=shape) | draws(seed + 100, **dict.fromkeys(MATRICES, (d_model, d_model)))
    for name in MATRICES:  # so that scores spread by 1 to 3
        arrays[name] = (1.4 * d_model**-0.5 * arrays[name]).round(2)
    arrays = {name: array.astype(dtype) for name, array in arrays.items()}
    cache = tuple(draws(seed + 200, cache=(2, *batch, n_heads, n_old, d_model // n_heads))["cache"].astype(dtype))
    return Case(trait, arrays | {"n_heads": n_heads}, options={"cache": cache} if n_old else {})


def _old_tokens_changed(call, arguments, arrays):
    cache, old = arrays[1], arguments.get("cache")
    if old is None:
        return None
    n_old = old[0].shape[-2]
    if cache.shape[-2] < n_old or np.allclose(cache[..., :n_old, :], old):
        return None
    return "The old keys and values are not the first ones of your new cache. They never change: only add to them."


def _a_later_token_is_seen(call, arguments, arrays):
    X_new = arguments["X_new"].copy()
    if X_new.shape[-2] < 2:
        return None
    X_new[..., -1, :] += 1
    changed = call(X_new=X_new)
    if changed is None or np.allclose(changed[0][..., :-1, :], arrays[0][..., :-1, :], atol=1e-4):
        return None
    return "The last new token changes the output of those before it: each may see only itself and what came earlier."


# What the exercise asks, without the checks of the course's own.
def attend_with_cache(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    queries, keys, values = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
    if cache is not None:
        old_keys, old_values = cache
        keys = np.concatenate([old_keys, keys], axis=-2)
        values = np.concatenate([old_values, values], axis=-2)
    n_new, n_all = queries.shape[-2], keys.shape[-2]
    mask = causal_mask(n_all)[n_all - n_new :]  # the new tokens are the last rows
    scores = queries @ keys.swapaxes(-2, -1) / np.sqrt(queries.shape[-1])
    weights = softmax(np.where(mask, scores, -np.inf))
    return combine_heads(weights @ values) @ W_O, (keys, values)


def _probes():
    """Return cases in which either the mask or what is done with the heads can't show."""
    one_token_thrice = _case("the same token three times", 11, (3, 6), 2)
    one_token_thrice.arguments["X_new"][:] = one_token_thrice.arguments["X_new"][0]
    return _case("one head, old tokens", 10, (3, 4), 1, 2), one_token_thrice


exercise = Exercise(
    reference=decoding.attend_with_cache,
    outputs=("output", "new_cache"),
    cases=(
        _case("no old tokens", 0, (4, 6), 2),
        _case("one new after four", 1, (1, 6), 2, 4),
        _case("three new after five", 2, (3, 8), 2, 5),
        _case("five new after two", 3, (5, 6), 3, 2),
        _case("one head", 4, (2, 4), 1, 3),
        _case("one token alone", 5, (1, 4), 2),
        _case("float32", 6, (2, 8), 4, 3, dtype=np.float32),
        _case("a batch", 7, (2, 3, 12), 3, 4),
        _case("as many new as old", 8, (4, 4), 2, 4),
        _case("two batch axes", 9, (2, 3, 7, 24), 4, 5),
    ),
    probes=_probes(),
    mistakes=mistakes_in(wrong),
    properties=(not_finite, _old_tokens_changed, _a_later_token_is_seen),
    hints=(
        "You need queries for the new tokens only, but keys and values for all. Project the new tokens, split them "
        "into heads, and put their keys and values behind the old ones: np.concatenate([...], axis=-2).",
        "The scores are (..., n_heads, n_new, n_all). Which rows of the whole causal mask belong to the new tokens? "
        "The last ones: causal_mask(n_all)[n_all - n_new :].",
        "Then it is multi-head attention: scale, mask, softmax, mix the values, combine the heads, W_O. Return the "
        "output and (keys, values), those of all tokens.",
    ),
    on_success="With this, a model computes nothing twice: each new character costs it one row.",
    model_answer=attend_with_cache,
)
