"""The doctor on random alterations of right attention.

Each has one to three mistakes: in the plain call or in the use of its mask. Printed are the shares that were found,
named fully, in part and wrongly, and the time of an examination.
"""

import time
from collections import Counter

import numpy as np

from attention_doctor.equation.stages import RIGHT, Input, compute
from attention_doctor.forms import FORMS
from attention_doctor.forms.masks import BUILT_IN, RULES, hiding
from attention_doctor.questions.large_scores import FITS_FLOAT16
from function_judge.compare import fits
from mha_helpers import doctor

PATIENTS = 100
# These need more than X and four matrices without biases, or change nothing there.
NEEDS_MORE = {
    "bias-left-out",
    "output-bias-repeated",
    "cross-sources-swapped",
    "cross-attends-to-itself",
    "kv-heads-tiled",
}


def drawn(rng):
    """One to three mistakes in different steps; a mistake in the mask may stand beside the others."""
    rules = [rule for rule in RULES if rule.text.split()[-1] not in FITS_FLOAT16]  # those are somebody's design
    forms = [form for form in [*FORMS, *BUILT_IN] if not set(form.slug.split("+")) & NEEDS_MORE]
    while True:
        count = int(rng.integers(1, 4))
        chosen = [forms[i] for i in rng.choice(len(forms), count, replace=False)]
        rule = None
        if rng.random() < 0.3:
            chosen, rule = chosen[: count - 1], rules[int(rng.integers(len(rules)))]
        steps = [form.step for form in chosen]
        if len(set(steps)) == len(steps) and not (rule and "hide" in steps) and _can_be_computed(chosen):
            return chosen, rule


def _can_be_computed(forms):
    """Whether these go together, and each of them changes something beside the others."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2, 5, 12))
    case = Input(X, X, {letter: rng.normal(size=(12, 12)) / 3 for letter in "QKVO"}, 3, 3)
    output = compute(case, forms)[0]
    if output is None or np.isfinite(output).mean() < 0.7:
        return False
    fewer = [[form for form in forms if form is not one] for one in forms]
    return all(not fits(output, compute(case, some)[0]) for some in fewer)


def patient(forms, rule):
    """Return a function with these mistakes, as a user would have it."""
    hide = {} if rule is None else {"hide": hiding(rule)}

    def attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        case = Input(X, X, {"Q": W_Q, "K": W_K, "V": W_V, "O": W_O}, n_heads, n_heads, mask)
        output = compute(case, forms, right=RIGHT | hide)[0]
        if output is None:
            raise ValueError("these do not go together")
        return np.nan_to_num(output) if mask is not None else output

    return attention


def judged(report, names):
    """Return "fully", "in part", "wrongly" or "unnamed" for a sick report."""
    found = [{finding.name, *finding.also} - {None} for finding in report.findings if finding.is_sick]
    found = [alike for alike in found if alike]
    if not found:
        return "unnamed"
    if any(not alike & names for alike in found):
        return "wrongly"
    return "fully" if all(any(name in alike for alike in found) for name in names) else "in part"


def random_alterations():
    """How many of a hundred alterations, drawn with a fixed seed, the doctor finds and names, and how long it takes."""
    rng = np.random.default_rng(0)
    counts, seconds = Counter(), []
    for i in range(PATIENTS):
        forms, rule = drawn(rng)
        names = {
            name
            for slug in [*(form.slug for form in forms), *([rule.slug] if rule else [])]
            for name in slug.split("+")
        }
        started, cpu = time.perf_counter(), time.process_time()
        report = doctor.examine(patient(forms, rule))
        seconds.append((time.perf_counter() - started, time.process_time() - cpu))
        counts["found"] += report.healthy is False
        verdict = judged(report, names) if report.healthy is False else "missed"
        counts[verdict] += 1
        if verdict not in ("fully", "in part"):
            print(f"{i}: {verdict}: {sorted(names)} came out as {report.verdict}")
    print("  ".join(f"{word} {counts[word]}" for word in ("found", "fully", "in part", "unnamed", "wrongly", "missed")))
    for word, column in zip(("by the clock", "of processor"), np.array(seconds).T, strict=True):
        print(f"seconds {word}: median {np.median(column):.2f}, worst {column.max():.2f}")
