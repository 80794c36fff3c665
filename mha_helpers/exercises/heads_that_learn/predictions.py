"""Notebook 07's questions that ask for an answer before they run anything, on models that the course has trained."""

import numpy as np

from mha_helpers import small_runs
from mha_helpers.exercises.prediction import Prediction
from mha_helpers.gradients import attention_gradients
from mha_helpers.measures import previous_token_score


def _percent(share):
    """Write a share in whole percents, which are the same on every kind of processor."""
    return f"{100 * share:.0f} %"


def _without_mask():
    without = small_runs.outcomes()["no mask"]
    return (
        f"guesses that are right while it sees what comes after: {_percent(without.right)}\n"
        f"guesses that are right while it writes:                {_percent(without.right_when_writing)}"
    )


predict_without_mask = Prediction(
    right="a",
    reactions={
        "a": "Each token attends to the one after it and copies the answer. When the model has to write, there is "
        "nothing to copy yet, and it has learned little else. On real text, a loss that is too good is a warning.",
        "b": "What it sees in addition is the answer itself, one position to the right, and it soon finds that.",
        "c": "The loss does fall almost to zero. But the model has learned to copy the answer, and when it writes "
        "there is no answer yet to copy.",
    },
    evidence=_without_mask,
)


def _head_that_looks_back(trained):
    return int(np.argmax(previous_token_score(trained.look().weights[0]).mean(axis=0)))


def _first_layer_out():
    trained = small_runs.load("2 heads")
    without = trained.look(without=[(0, _head_that_looks_back(trained))]).accuracy
    whole = trained.look().accuracy
    elsewhere = [found.without[int(np.argmax(found.before))] for found in small_runs.by_seed().values()]
    return (
        f"guesses that are right with all heads: {_percent(whole)}, without that one: {_percent(without)}\n"
        f"from {len(elsewhere)} starts, this one among them: {_percent(min(elsewhere))} to {_percent(max(elsewhere))}, "
        f"less than half in {sum(share < 0.5 for share in elsewhere)}"
    )


predict_first_layer_out = Prediction(
    right="b",
    reactions={
        "a": "They find it by a note that the head below has written: which token came before. Without that note they "
        "have nothing to go by.",
        "b": "Layer 1 needs something that this head writes, and the next section asks what. What is left is partly "
        "guessing among the tokens of the round, and partly the little that the other head writes. From most other "
        "starts, the two heads of layer 0 share the writing, and more is left.",
        "c": "Far fewer are still right: what the heads of layer 1 look for was written by this one head. Your answer "
        "would be near where two heads share the writing, as they do from most other starts.",
    },
    evidence=_first_layer_out,
)


def _later_places():
    trained = small_runs.load("2 heads")
    drawn = trained.held_out()
    of_head = trained.look(drawn).weights[0][:, _head_that_looks_back(trained)]
    back = np.diagonal(of_head, -1, axis1=-2, axis2=-1)  # column i is place i + 1
    short = back[drawn.periods == drawn.periods.min(), 4:14].mean()
    return (
        "its mean weight on the token before\n"
        f"at places 5 to 14, where the second round began at place 4: {short:.2f}\n"
        f"at places 16 to 31, in all sequences:                       {back[:, 15:].mean():.2f}"
    )


predict_later_places = Prediction(
    right="c",
    reactions={
        "a": "It could, but it doesn't. No guess needs a note that is written so late, so nothing pushes the head to "
        "write it.",
        "b": "A head isn't paid for looking, only for what the guesses gain by it. So late they gain nothing: all the "
        "notes that a guess needs stand further in front.",
        "c": "No guess needs a note that is written so late, so nothing pushes the head to write it. It goes by the "
        "place, and not by whether the first round is over.",
    },
    evidence=_later_places,
)


def _one_part_without_the_note():
    trained = small_runs.load("2 heads")
    without_note = trained.rows(without=[(0, _head_that_looks_back(trained))])
    lines = [
        f"{part + ':':9} {_percent(trained.look(reads={part: without_note}).accuracy)}"
        for part in ("queries", "keys", "values", "output")
    ]
    return "\n".join(["right guesses when only this part of layer 1 reads rows without the note:", *lines])


predict_who_reads_the_note = Prediction(
    right="a",
    reactions={
        "a": "A key says what its token has to offer, and the note belongs there: before me came a 7. Take it out of "
        "the keys alone, and the right row is seldom found. Everything else can do without it.",
        "b": "The query comes from the last 7, and what it looks for is its own token: that stands in its row without "
        "any note. The note says what came before, and it is the keys that have to show it.",
        "c": "What is handed over is the token that gets guessed, and that stands in its row without any note. The "
        "note is only needed to find this row: in its key.",
    },
    evidence=_one_part_without_the_note,
)


def _hidden_gradient():
    rng = np.random.default_rng(0)
    queries, keys, values, d_context = (rng.normal(size=(n, 3)) for n in (1, 3, 3, 1))
    _, d_keys, _ = attention_gradients(queries, keys, values, d_context, np.array([[True, True, False]]))
    rows = "\n".join(f"key {i}: [{', '.join(f'{value + 0.0:.3f}' for value in row)}]" for i, row in enumerate(d_keys))
    return f"the gradient at three keys, the last of which is hidden\n{rows}"


predict_hidden_gradient = Prediction(
    right="c",
    reactions={
        "a": "The query doesn't see the key, so nothing about the key can change its result. The gradient says just "
        "that.",
        "b": "The query doesn't see the key, so nothing about the key can change its result. The gradient says just "
        "that.",
        "c": "The hidden key has weight 0, and everything that comes back is multiplied by that weight. A mask hides "
        "backwards, too, without a line of its own.",
    },
    evidence=_hidden_gradient,
)
