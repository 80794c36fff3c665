"""Notebook 05's questions that ask for an answer before they run anything: all on the sentence "the cat sat"."""

import numpy as np

from mha_helpers import attention, worked_examples
from mha_helpers.exercises.prediction import Prediction, written_row

_INPUTS = worked_examples.load("cat_sat").inputs
X, W_O = _INPUTS["X"], _INPUTS["W_O"]
W_Q, W_K, W_V = (np.hstack([_INPUTS[f"W_{letter}_{head}"] for head in (1, 2)]) for letter in "QKV")
CAT, D_HEAD = 1, 2
HEAD_2 = slice(D_HEAD, 2 * D_HEAD)


def _output(W_V, W_O):
    return attention.multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads=2)[0]


def _one_head_changed():
    changed = W_V.copy()
    changed[:, HEAD_2] += 0.1
    lines = []
    for name, rows in (("without W_O", np.eye(4)), ("with W_O", W_O)):
        moved = _output(changed, rows)[CAT] - _output(W_V, rows)[CAT]
        lines.append(f"{name + ',':12} the output of 'cat' moves by {written_row(moved)}")
    return "\n".join(lines)


predict_without = Prediction(
    right="b",
    reactions={
        "a": "With W_O it would be all four. Without it nobody mixes: what head 2 finds stays in the columns in which "
        "the concatenation puts it.",
        "b": "The concatenation puts head 2's two numbers into features 3 and 4, and without W_O that is where they "
        "stay. With it, they reach all four.",
        "c": "The output is made of the values, so it moves: but only where head 2 stands.",
    },
    run=_one_head_changed,
)


def _heads_exchanged():
    order = [2, 3, 0, 1]  # head 2's columns before head 1's
    exchanged = [W[:, order] for W in (W_Q, W_K, W_V)]
    lines = [f"as it was:                           {written_row(_output(W_V, W_O)[CAT])}"]
    for name, rows in (("heads and rows of W_O exchanged", W_O[order]), ("heads exchanged, W_O left as it is", W_O)):
        output, _ = attention.multi_head_attention(X, *exchanged, rows, n_heads=2)
        lines.append(f"{name + ':':36} {written_row(output[CAT])}")
    return "\n".join(lines)


predict_exchanged = Prediction(
    right="a",
    reactions={
        "a": "Each head still meets its own rows, and a sum does not care about the order. Heads have no places of "
        "their own: “head 2” is a name, no more.",
        "b": "W_O's columns are the output's features, and those stay where they are. Only its rows, the inputs, were "
        "exchanged, together with what comes in.",
        "c": "That is what happens if the heads are exchanged and W_O is left alone: each head then meets the other's "
        "rows.",
    },
    run=_heads_exchanged,
)


def _head_2_knocked_out():
    heads, _ = attention.scaled_dot_product_attention(*(attention.split_heads(X @ W, 2) for W in (W_Q, W_K, W_V)))
    lines = []
    for name, instead in (("zeros", 0), ("its mean over the tokens", heads[1].mean(axis=0))):
        knocked_out = heads.copy()
        knocked_out[1] = instead
        moved = (attention.combine_heads(knocked_out) - attention.combine_heads(heads)) @ W_O
        lines.append(f"head 2 replaced by {name + ',':26}the output of 'cat' moves by {np.linalg.norm(moved[CAT]):.4f}")
    return "\n".join(lines)


predict_mean = Prediction(
    right="c",
    reactions={
        "a": "It would be if head 2 said something else about every token. Look at what it adds to each of the three: "
        "nearly the same. The mean keeps that.",
        "b": "Less even. What head 2 adds to the three tokens is nearly the same, and the mean keeps what they have in "
        "common.",
        "c": "What head 2 adds to the three tokens is nearly the same. Zeros take that away, the mean keeps it, and "
        "takes only what is particular to “cat”.",
    },
    run=_head_2_knocked_out,
)


FIRST_SLIP = "head 1 weights"
CANDIDATES = ("queries", "keys", "values", "scaled scores", "weights", "context")


def _first_slip_reactions():
    """Say of each step what is the matter with it, after the replay of the notes."""
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
            right, given = (" ".join(f"{value:.4f}" for value in values) for values in (row.right, row.given))
            lines.append(f"{row.label}  {' '.join(row.printed)}   {right}    {given}")
    return "\n".join(lines)


find_first_slip = Prediction(
    right=FIRST_SLIP,
    reactions=_first_slip_reactions(),
    run=_the_notes_beside,
    shown_when_wrong=False,
)
