"""The step of the equation that hides keys: a rule for the mask, one for the causal flag, one that always holds."""

from dataclasses import replace

import numpy as np

from mha_helpers.doctor.equation import Form, causal
from mha_helpers.doctor.mask_rules import CAUSAL_RULES, RIGHT_RULE


def hiding(mask=RIGHT_RULE, flag=RIGHT_RULE, *, always=None, join=None, slug=None, text=None):
    """Return the form of the step `hide` with these rules.

    Parameters
    ----------
    mask, flag : Rule
        For the mask that is given, and for the causal flag.
    always : Rule, optional
        A causal rule that holds in every call, whatever the flag says.
    join : callable, optional
        Joins (mask, causal) where both are given; both hold unless given.
    """

    def run(case, given):
        scores, queries, keys, values = given
        if case.bias is not None:
            scores = scores + case.bias
        below = np.broadcast_to(causal(*scores.shape[-2:]), scores.shape)
        asked = None if case.allowed is None else np.broadcast_to(case.allowed, scores.shape)
        steps = []
        if always is not None:
            steps.append((always, below))
        elif case.is_causal:
            steps.append((flag, below))
        if asked is not None:
            steps.append((mask, asked))
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
        for one in changes:
            weights = one(weights)
        return weights

    return change


JOINS = [
    ("mask-lost-with-causal", "with the flag the mask is not used", lambda mask, below: below),
    ("causal-lost-with-mask", "with a mask the flag is not used", lambda mask, below: mask),
    ("masks-joined-with-or", "a key is seen if either allows it", lambda mask, below: mask | below),
]

NOT_CAUSAL = hiding()
ALWAYS_CAUSAL = hiding(always=RIGHT_RULE, slug="", text="hidden scores become −inf (always causal)")
COMMON_BUILT_IN = (
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
    if rule.slug not in ("mask-minus-minus-inf", "mask-zero-times-inf", "mask-multiplied", "mask-added-boolean")
]
