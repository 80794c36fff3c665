"""The exercise `next_token_probabilities`: temperature and top-k, together."""

import numpy as np

from function_judge.properties import not_finite
from mha_helpers import decoding
from mha_helpers.exercises.a_model_that_writes.mistakes import next_token_probabilities as wrong
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import NEEDS_THE_ROWS_MAXIMUM, draws, in_float32, whole_numbers
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.properties import negative_weights


def _logits(seed, *shape):
    return {"logits": 2 * draws(seed, logits=shape)["logits"]}


def _case(trait, seed, shape, *, edge=False, **options):
    return Case(trait, _logits(seed, *shape), edge, options)


def _probability_cases():
    large = {"logits": np.array([[1000.0, 990.0, -2000.0, 995.0], [-3000.0, -3001.0, -3003.0, -3002.0]])}
    return (
        _case("seven characters", 0, (7,)),
        _case("a temperature below 1", 1, (7,), temperature=0.5),
        _case("a temperature above 1", 2, (5,), temperature=2.0),
        _case("top-k alone", 3, (7,), top_k=3),
        _case("temperature and top-k", 4, (8,), temperature=0.7, top_k=4),
        in_float32(_logits(5, 6), {"temperature": 1.5, "top_k": 2}),
        _case("only the likeliest", 6, (6,), top_k=1),
        _case("as many as there are", 7, (5,), top_k=5),
        # Before what fails at an edge: an answer for one row alone, which fails at both, hears of the rows first.
        _case("a batch", 9, (3, 7), temperature=1.4, top_k=4),
        _case("two batch axes", 10, (2, 3, 5), temperature=0.8, top_k=4),
        _case("more than there are", 8, (5,), top_k=40),
        Case("very large logits", large, edge=True, options={"temperature": 0.5, "top_k": 3}),
    )


def _do_not_sum_to_one(call, arguments, arrays):
    sums = arrays[0].sum(axis=-1).ravel()
    wrong = sums[~np.isclose(sums, 1, atol=1e-4)]
    if not wrong.size:
        return None
    advice = " Hide the others before the softmax, or divide by the sum afterwards." if "top_k" in arguments else ""
    return f"Probabilities must sum to 1; yours sum to {wrong[0]:.4f}.{advice}"


def _more_than_k(call, arguments, arrays):
    kept = int((arrays[0] > 0).sum(axis=-1).max())
    top_k = arguments.get("top_k")
    if top_k is None or kept <= top_k:
        return None
    return (
        f"With top_k={top_k} only {top_k} may have a probability above 0; in yours, {kept} do. (A logit of 0 doesn't "
        "give a probability of 0: that takes -np.inf.)"
    )


def _fewer_than_k(call, arguments, arrays):
    logits, top_k = arguments["logits"], arguments.get("top_k")
    kept = int((arrays[0] > 0).sum(axis=-1).min())
    if top_k is None or kept >= min(top_k, logits.shape[-1]):
        return None
    return f"With top_k={top_k} the {top_k} highest keep a probability above 0; in yours, only {kept} do."


def _order_changed(call, arguments, arrays):
    if np.array_equal(arrays[0].argmax(axis=-1), arguments["logits"].argmax(axis=-1)):
        return None
    return "The highest logit must stay the likeliest, whatever the temperature."


# What the exercise asks, without the refusals of the course's own.
def next_token_probabilities(logits, *, temperature=1.0, top_k=None):
    logits = logits / temperature
    if top_k is not None:
        n_kept = min(top_k, logits.shape[-1])
        last_kept = np.sort(logits, axis=-1)[..., [-n_kept]]
        logits = np.where(logits >= last_kept, logits, -np.inf)
    return softmax(logits)  # noqa: F821 - the learner's, of notebook 01


exercise = Exercise(
    reference=decoding.next_token_probabilities,
    outputs=("probabilities",),
    cases=(*_probability_cases(), whole_numbers(_probability_cases()[0].arguments)),
    # Where one option is given, the other can't be what is wrong.
    probes=(_case("a temperature, once more", 11, (6,), temperature=0.6), _case("top-k, once more", 12, (6,), top_k=3)),
    mistakes=mistakes_in(wrong),
    wrong_at_edges=NEEDS_THE_ROWS_MAXIMUM.replace("scores", "logits").replace("score", "logit"),
    properties=(not_finite, negative_weights, _do_not_sum_to_one, _more_than_k, _fewer_than_k, _order_changed),
    hints=(
        "Without options it is the softmax of notebook 01. The temperature divides the logits before it.",
        "What top-k leaves out must get probability 0, and the others must still sum to 1: make their logits -inf "
        "before the softmax, as a mask does.",
        "np.sort(logits, axis=-1)[..., [-k]] is the k-th highest of each row: keep what is not below it. If there are "
        "fewer than k, keep all: min(top_k, logits.shape[-1]).",
    ),
    on_success="You can turn any model's logits into text. The writing below draws from your probabilities.",
    model_answer=next_token_probabilities,
)
