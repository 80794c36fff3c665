"""Notebook 05's questions that ask for an answer before they run anything: all on the running example."""

import numpy as np

from mha_helpers import attention, worked_examples
from mha_helpers.exercises.prediction import Prediction
from mha_helpers.running_example import N_HEADS, TOKENS, W_K, W_O, W_Q, W_V, X

IT, BECAUSE = TOKENS.index("it"), TOKENS.index("because")
HEAD_1 = slice(2, 4)


def _output(W_V, W_O):
    return attention.multi_head_attention(X, W_Q, W_K, W_V, W_O, N_HEADS)[0]


def _written(values):
    return "[" + ", ".join(f"{value:.2f}" for value in values) + "]"


def _heads():
    return attention.scaled_dot_product_attention(*(attention.split_heads(X @ W, N_HEADS) for W in (W_Q, W_K, W_V)))[0]


def _one_head_changed():
    heads, changed = _heads(), _heads()
    changed[1] += 1
    lines = []
    for name, rows in (("with W_O", W_O), ("without it", np.eye(4))):
        moved = attention.combine_heads(changed - heads)[IT] @ rows
        lines.append(f"{name + ',':11} the output of 'it' moves by {_written(moved)}")
    return "\n".join(lines)


predict_without = Prediction(
    right="b",
    reactions={
        "a": "That is what would happen without W_O: head 1's numbers would stay in the last two columns, and one of "
        "them would count as “points back”. W_O's last two rows say where they go instead.",
        "b": "Head 1's numbers meet W_O's last two rows: add these two rows up. “Alive” and “happens” get one each, "
        "and “points back” nothing. Without W_O, the numbers would stay in the last two columns.",
        "c": "Each of head 1's two rows has a single 1, and the two stand in different columns. Add the rows up.",
    },
    evidence=_one_head_changed,
)


def _heads_exchanged():
    order = [2, 3, 0, 1]  # head 1's columns before head 0's
    exchanged = [W[:, order] for W in (W_Q, W_K, W_V)]
    lines = ["how far the output moves, at most"]
    for name, rows in (("heads and rows of W_O exchanged", W_O[order]), ("heads exchanged, W_O left as it is", W_O)):
        output, _ = attention.multi_head_attention(X, *exchanged, rows, N_HEADS)
        lines.append(f"{name + ':':37} {np.abs(output - _output(W_V, W_O)).max():.3f}")
    return "\n".join(lines)


predict_exchanged = Prediction(
    right="a",
    reactions={
        "a": "Each head still meets its own rows of W_O, and a sum doesn't care about the order. “Head 1” is only a "
        "name, and head 1 of one model need not correspond to head 1 of another.",
        "b": "The output's features are W_O's columns, and those stay where they are. Only its rows changed places, "
        "together with the columns that they multiply.",
        "c": "That happens if you exchange the heads and leave W_O alone: each head then meets the other's rows.",
    },
    evidence=_heads_exchanged,
)


def _head_1_knocked_out():
    heads = _heads()
    by_zeros, by_mean = (
        np.linalg.norm((heads[1, BECAUSE] - instead) @ W_O[HEAD_1]) for instead in (0, heads[1].mean(axis=0))
    )
    times = by_mean / by_zeros
    return f"with the mean, the output of 'because' moves by {by_mean:.2f}, {times:.1f} times as far as with zeros"


predict_mean = Prediction(
    right="c",
    reactions={
        "a": "That would be so if head 1 found nearly the same for every word. But it finds little for “because” and a "
        "lot for “it” and “cat”, and the mean brings that in.",
        "b": "The mean isn't a milder form of zeros. It is what head 1 finds for the average word, and that is far "
        "from the little that it finds for “because”.",
        "c": "Head 1 finds little for “because”, 0.11 and 0.49, so zeros are close to that. The head's mean is more "
        "than twice as long: it is dominated by what it finds for “it” and “cat”.",
    },
    evidence=_head_1_knocked_out,
)


FIRST_SLIP = "head 1 weights"
CANDIDATES = ("queries", "keys", "values", "scaled scores", "weights", "context")


def _first_slip_reactions():
    """Say what is wrong with each step, according to the replay of the notes."""
    verdicts = {}
    for row in worked_examples.replay("cat_sat"):
        verdicts.setdefault(row.step, set()).add(row.verdict)
    reactions = {}
    for step in (*(f"head {head} {what}" for head in (1, 2) for what in CANDIDATES), "concatenation", "output"):
        found = verdicts.get(step, set())
        if "wrong here" in found:
            reactions[step] = (
                "It does not follow from what the notes print before it, true. But there is an earlier one."
            )
        elif "carried" in found:
            reactions[step] = (
                "It is wrong, but it follows from what the notes print before it: it only carries an error on."
            )
        elif found:
            reactions[step] = "The notes are right there, to the digits that they print. Look further down."
    reactions[FIRST_SLIP] = (
        "Everything before it is right, and no row of these weights is the softmax of the scaled scores above it. "
        "“the”, with .43, .29, .28, even has its smallest weight where its score is the largest."
    )
    return reactions


def _the_notes_beside():
    lines = ["     the notes        right                   from the scores above"]
    for row in worked_examples.slips("cat_sat"):
        if row.step == FIRST_SLIP:
            right, from_above = (" ".join(f"{value:.4f}" for value in values) for values in (row.right, row.given))
            lines.append(f"{row.label}  {' '.join(row.printed)}   {right}    {from_above}")
    return "\n".join(lines)


find_first_slip = Prediction(
    right=FIRST_SLIP,
    reactions=_first_slip_reactions(),
    evidence=_the_notes_beside,
    shown_when_wrong=False,
)
