"""Notebook 04's questions that ask for an answer before they run anything."""

import numpy as np

from mha_helpers.exercises.prediction import Prediction

X = np.array([[0, 1, 2, 3], [100, 101, 102, 103]])  # 100 * token + feature


def _reshaped():
    heads = X.reshape(2, 2, 2)
    return f"X.reshape(2, 2, 2)[0] = {heads[0].tolist()}\nX.reshape(2, 2, 2)[1] = {heads[1].tolist()}"


predict_reshape = Prediction(
    right="b",
    reactions={
        "a": "That is what a head should hold. But a reshape moves no number: it reads the old ones row by row, and "
        "the first four in memory are all of token 0.",
        "b": "A reshape moves no number. It reads them row by row as they lie in memory, and the first four are all of "
        "token 0.",
        "c": "2 x 4 numbers are as many as 2 x 2 x 2, so the reshape is possible. It only reads them in the order in "
        "which they lie in memory.",
    },
    run=_reshaped,
)


def _round_trip():
    back = X.reshape(2, 2, 2).reshape(2, 4)
    return f"split and merged, both by reshape alone:\n{back}\nequal to X: {np.array_equal(back, X)}"


predict_round_trip = Prediction(
    right="a",
    reactions={
        "a": "Two reshapes move nothing, so everything is where it was. A test that splits and merges finds no fault "
        "with this pair; attention in between would.",
        "b": "Neither of the two moves a number, so nothing can be mixed when they follow each other directly. What "
        "happens in between, attention among the wrong rows, is mixed.",
        "c": "All shapes are right: that is what makes this bug so hard to see.",
    },
    run=_round_trip,
)


def _counted():
    lines = []
    for n_heads in (1, 8):
        d_head = 512 // n_heads
        each = 512 * d_head
        lines.append(f"{n_heads} heads of {d_head}: {n_heads} x 512 x {d_head} = {n_heads * each} numbers in W_Q")
    return "\n".join(lines)


predict_parameters = Prediction(
    right="b",
    reactions={
        "a": "If every head were as wide as the model. But eight heads share the width: each is an eighth as wide.",
        "b": "Eight heads share the width among them: each has a matrix of an eighth of the columns, and the eight "
        "make up the one.",
        "c": "Each head's own matrix is an eighth as wide, but there are eight of them.",
    },
    run=_counted,
)
