"""What hides keys: rules for a mask and for the causal flag, right and mistaken, and the equation's step with them."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from attention_doctor.equation.stages import DoesNotFitError, Form, causal, softmax
from attention_doctor.forms.common import square, swap


@dataclass(frozen=True)
class Rule:
    """What happens to a mask.

    Parameters
    ----------
    slug, text : str
        As in a Form; empty where it is right.
    change : callable
        From the mask that is asked for, (batch, heads, queries, keys), to the mask that is used, or None for none.
    apply : callable
        From (scores, mask used, values) to (scores, change of the weights or None, values).
    """

    slug: str
    text: str
    change: Callable[[np.ndarray], np.ndarray | None]
    apply: Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, Callable | None, np.ndarray]]
    replaces: bool = False  # what is built in: where a mask is given, nothing else holds


def _unchanged(allowed):
    return allowed


def _hide(scores, allowed, values):
    return np.where(allowed, scores, -np.inf), None, values


def _replace_by(number):
    return lambda scores, allowed, values: (np.where(allowed, scores, number), None, values)


def _add(number):
    return lambda scores, allowed, values: (scores + np.where(allowed, 0, number), None, values)


def _afterwards(change):
    return lambda scores, allowed, values: (scores, lambda weights: change(weights, allowed), values)


def _multiply_values(scores, allowed, values):
    return scores, None, values * allowed.any(-2)[..., None]


def _renormalise(weights, allowed):
    kept = weights * allowed
    return kept / kept.sum(-1, keepdims=True)


def _number(value):
    return f"{value:g}".replace("-", "−").replace("e−0", "e−").replace("e+0", "e")


# A finite number hides as well as -inf does, until a score reaches it. (-65504 is float16's lowest.)
TOO_NEAR = (
    *(-1e6, -1e5, -65504.0, -65500.0, -5e4, -1e4, -9999.0, -1000.0, -999.0),
    *(-100.0, -50.0, -20.0, -10.0, -5.0, -2.0, -1.0),
)
# What a lost minus or a wrong exponent makes of such a number: GluonTS had 1e-9 for -1e9. It hides next to nothing.
NEARLY_ZERO = (-1e-3, -1e-4, -1e-5, -1e-6, -1e-9, -1e-10, -1e-12, 1e-9, 1e-10, 1e-12, 1e-8, 1e-20, -1e-20)


def _choose(low):
    return lambda weights, allowed: np.where(allowed, weights, low)


def _times(low):
    return lambda scores, allowed, values: (np.where(allowed, scores, scores * low), None, values)


def _not_a_number(visible_too):
    def apply(scores, allowed, values):
        return np.where(allowed | visible_too, np.nan, -np.inf), None, values

    return apply


def _rows_that_see_nothing(weights, allowed):
    return weights * allowed.any(-1, keepdims=True)


AFTER_INFINITE, AGAIN, BOOLEAN = "mask-after-softmax-infinite", "mask-softmax-again", "mask-added-boolean"
APPLICATIONS = [
    ("mask-score-zero", "hidden scores become 0", _replace_by(0)),
    ("mask-after-softmax", "weights × mask, after the softmax", _afterwards(np.multiply)),
    (AFTER_INFINITE, "hidden weights become −inf, after the softmax", _afterwards(_choose(-np.inf))),
    *(
        (AFTER_INFINITE, f"hidden weights become {_number(low)}, after the softmax", _afterwards(_choose(low)))
        for low in (-1e4, -1e9, -1e10, -1e20, -1e30)
    ),
    (AGAIN, "weights masked, and a second softmax", _afterwards(lambda w, m: softmax(np.where(m, w, -np.inf)))),
    (AGAIN, "weights × mask, and a second softmax", _afterwards(lambda w, m: softmax(w * m))),
    (BOOLEAN, "scores + mask, of 1 and 0", lambda s, allowed, v: (s + allowed, None, v)),
    (BOOLEAN, "scores + (1 − mask)", lambda s, allowed, v: (s + ~allowed, None, v)),
    (BOOLEAN, "scores − (1 − mask)", lambda s, allowed, v: (s - ~allowed, None, v)),
    ("mask-multiplied", "scores × −inf where hidden", _times(-np.inf)),
    *(("mask-multiplied", f"scores × {_number(low)} where hidden", _times(low)) for low in (-1e9, -1e10, -1e4)),
    *(
        ("mask-minus-minus-inf", f"hidden scores become {_number(high)}", _replace_by(high))
        for high in (np.inf, 1e9, 1e10, 1e4, 1e30, np.nan)
    ),
    *(("mask-minus-minus-inf", f"scores + {_number(high)} where hidden", _add(high)) for high in (1e9, 1e10, 1e4)),
    *(("mask-zero-times-inf", "0 × inf is NaN", _not_a_number(visible_too=also)) for also in (True, False)),
    ("mask-on-the-context", "hidden values become 0", _multiply_values),
    (
        "mask-on-the-context",
        "rows that see nothing become 0, nothing else is hidden",
        _afterwards(_rows_that_see_nothing),
    ),
    *(
        ("mask-tiny-number", text + _number(low), hide(low))
        for text, hide in (("hidden scores become ", _replace_by), ("hidden scores + ", _add))
        for low in (*TOO_NEAR, *NEARLY_ZERO)
    ),
]


def _tiled(allowed):
    """A mask a batch item, repeated n_heads times as a whole and read in (batch * n_heads): items get each other's."""
    n_heads = allowed.shape[1]
    return np.concatenate([allowed[:, 0]] * n_heads).reshape(allowed.shape)


def _repeated(allowed):
    """A mask a batch item, repeated n_heads times on the spot and read in (n_heads * batch)."""
    batch, n_heads = allowed.shape[:2]
    return np.repeat(allowed[:, 0], n_heads, axis=0).reshape(n_heads, batch, *allowed.shape[2:]).swapaxes(0, 1)


def _first_along(axis):
    return lambda allowed: np.broadcast_to(np.take(allowed, [0], axis), allowed.shape)


def _last_query(allowed):
    return np.broadcast_to(allowed[:, :, -1:], allowed.shape)


def _one_more(allowed):
    """Where a run of allowed keys ends, the next one is seen, too."""
    return allowed | np.concatenate([allowed[..., :1], allowed[..., :-1]], axis=-1)


def _one_less(allowed):
    return allowed & np.concatenate([allowed[..., 1:], allowed[..., -1:]], axis=-1)


def _inverted(allowed):
    return ~allowed


def _one_head_only(allowed):
    return allowed | (np.arange(allowed.shape[1]) > 0)[:, None, None]


TILED = "the masks repeated in another order than"
CHANGES = [
    ("mask-inverted", "hides what may be seen", _inverted),
    ("mask-transposed", "the mask's queries and keys exchanged", lambda allowed: swap(square(allowed))),
    (
        "mask-inverted",
        "hides what may be seen, queries and keys exchanged",
        lambda allowed: ~swap(square(allowed)),
    ),
    ("mha-mask-first-sentence", "every batch item gets the first one's mask", _first_along(0)),
    ("mask-tiled-over-heads", f"{TILED} batch and heads are folded", _tiled),
    ("mask-tiled-over-heads", f"{TILED} heads and batch are folded", _repeated),
    ("mask-of-one-head", "every head gets head 0's mask", _first_along(1)),
    ("mask-of-one-query", "every query gets the first one's mask", _first_along(2)),
    ("mask-of-one-query", "every query gets the last one's mask", _last_query),
    ("padding-off-by-one", "one hidden key too many is seen", _one_more),
    ("padding-off-by-one", "one key too many is hidden", _one_less),
    ("mask-one-head-only", "only head 0 is masked", _one_head_only),
]


def _moved(axis):
    """The samples' axis taken for another one, which runs only where the two are of the same length."""

    def change(allowed):
        if allowed.shape[0] != allowed.shape[axis]:
            raise DoesNotFitError
        return allowed.swapaxes(0, axis)

    return change


# Tried on inputs of these lengths alone: on others such code stops with an error.
COINCIDING = [
    Rule("padding-no-head-axis", f"sample i's mask is used for {text} i of every sample", _moved(axis), _hide)
    for text, axis in (("head", 1), ("query", 2))
]
RIGHT_RULE = Rule("", "hidden scores become −inf", _unchanged, _hide)
REPLACING = Rule("", "the mask alone, in place of the causal one", _unchanged, _hide, replaces=True)
# As good, but for rows in which everything is hidden: they come out as an average.
RIGHT_RULES = (
    RIGHT_RULE,
    Rule("", "hidden scores become −1e9", _unchanged, _replace_by(-1e9)),
    Rule("", "hidden scores − 1e9", _unchanged, _add(-1e9)),
)
IGNORED = Rule("mask-ignored", "no mask", lambda allowed: None, _hide)
CAUSAL_INSTEAD = Rule(
    "mask-ignored", "a causal mask in its place", lambda allowed: causal(*allowed.shape[-2:]), _hide, replaces=True
)
JOINED_WITH_OR = Rule(
    "masks-joined-with-or",
    "a key is seen if the mask or causality allows it",
    lambda allowed: allowed | causal(*allowed.shape[-2:]),
    _hide,
    replaces=True,
)
# The right keys by the wrong means, the wrong keys by the right means, and both: cheapest first.
RULES = [
    IGNORED,
    CAUSAL_INSTEAD,
    JOINED_WITH_OR,
    # Finite numbers, so that a row in which nothing is hidden comes out, too.
    *(Rule("mask-inverted", "hides what may be seen", _inverted, apply) for apply in (_add(-1e9), _replace_by(-1e9))),
    *(Rule(slug, text, change, _hide) for slug, text, change in CHANGES),
    *(Rule(slug, text, _unchanged, apply) for slug, text, apply in APPLICATIONS),
]
# A mask that is wrong in two ways has a name for each; there are so many of these that they are tried last.
DOUBLE_RULES = [
    Rule(f"{item}+{other}" if item != other else item, f"{text}; {more}", change, apply)
    for item, text, change in CHANGES
    for other, more, apply in APPLICATIONS
]

CAUSAL_CHANGES = [
    ("causal-off-by-one", "each token sees the next one, too", lambda n, m: causal(n, m, 1)),
    ("causal-strict", "no token sees itself", lambda n, m: causal(n, m, -1)),
    ("causal-transposed", "each token sees itself and what comes after", lambda n, m: ~causal(n, m, -1)),
    ("causal-inverted", "each token sees only what comes after", lambda n, m: ~causal(n, m)),
    ("causal-diagonal-only", "each token sees only itself", lambda n, m: np.eye(n, m, dtype=bool)),
    ("causal-off-by-one", "each token sees the next two, too", lambda n, m: causal(n, m, 2)),
]


def _for_triangle(change):
    return lambda allowed: change(*allowed.shape[-2:])


CAUSAL_RULES = [
    *(Rule(slug, text, _for_triangle(change), _hide) for slug, text, change in CAUSAL_CHANGES),
    *(Rule(slug, f"{text} (causal)", _unchanged, apply) for slug, text, apply in APPLICATIONS),
    *(
        Rule(f"{item}+{other}", f"{text}; {more}", _for_triangle(change), apply)
        for item, text, change in CAUSAL_CHANGES[:4]
        for other, more, apply in APPLICATIONS
        if other in ("mask-score-zero", "mask-after-softmax")
    ),
]
# The same numbers, until the hidden scores are so much larger that nothing is left of the others: 0/0.
RENORMALISED = Rule("", "weights masked and divided by what is left of them", _unchanged, _afterwards(_renormalise))
CAUSAL_IGNORED = Rule("causal-ignored", "not causal, though asked to be", lambda allowed: None, _hide)


def hiding(mask=RIGHT_RULE, flag=RIGHT_RULE, *, always=None, within=False, join=None, slug=None, text=None):
    """Return the form of the step `hide` with these rules.

    Parameters
    ----------
    mask, flag : Rule
        For the mask that is given, and for the causal flag.
    always : Rule, optional
        A causal rule that holds in every call, whatever the flag says.
    within : bool, optional
        Whether that rule holds among the tokens of one sequence alone, and all of another sequence is seen.
    join : callable, optional
        Joins (mask, causal) where both are given; both hold unless given.
    """

    def run(case, inputs):
        scores, queries, keys, values = inputs
        below = np.broadcast_to(causal(*scores.shape[-2:]), scores.shape)
        asked = None if case.allowed is None else np.broadcast_to(case.allowed, scores.shape)
        holds = always if not within or case.context is case.X else None
        steps = [(holds or flag, below)] if holds or case.is_causal else []
        steps += [(mask, asked)] if asked is not None else []
        if join and len(steps) == 2:
            steps = [(RIGHT_RULE, join(steps[1][1], steps[0][1]))]
        changes = []
        for rule, allowed in steps:
            used = rule.change(allowed)
            if used is None:
                continue
            used = np.broadcast_to(used, scores.shape)
            scores, after, values = rule.apply(scores, used, values)
            if after is not None:
                changes.append(after)
        return scores, _one_after_another(changes) if changes else None, queries, keys, values

    rules = [rule for rule in (always, flag, mask) if rule is not None and rule.slug]
    name = "+".join(rule.slug for rule in rules) if slug is None else slug
    return Form(name, "hide", run, text or "; ".join(rule.text for rule in rules) or RIGHT_RULE.text)


def _one_after_another(changes):
    def change(weights):
        for change in changes:
            weights = change(weights)
        return weights

    return change


JOINS = [
    ("mask-lost-with-causal", "with the flag the mask is not used", lambda mask, below: below),
    ("causal-lost-with-mask", "with a mask the flag is not used", lambda mask, below: mask),
    ("masks-joined-with-or", "a key is seen if either allows it", lambda mask, below: mask | below),
]

NOT_CAUSAL = hiding()
ALWAYS_CAUSAL = hiding(always=RIGHT_RULE, slug="", text="hidden scores become −inf (always causal)")
CAUSAL_WITHIN = hiding(
    always=RIGHT_RULE, within=True, slug="", text="hidden scores become −inf (causal within one sequence)"
)
CAUSAL = (ALWAYS_CAUSAL, CAUSAL_WITHIN)
COMMON_BUILT_IN = (  # tried first, where code is always causal
    "causal-off-by-one",
    "causal-strict",
    "causal-transposed",
    "causal-inverted",
    "mask-score-zero",
    "mask-after-softmax",
)
BUILT_IN = [
    replace(hiding(always=rule), rare=rule.slug not in COMMON_BUILT_IN or "two" in rule.text)
    for rule in CAUSAL_RULES
    if rule.slug not in ("mask-minus-minus-inf", "mask-zero-times-inf", "mask-multiplied")
]
