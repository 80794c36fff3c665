"""What the notebooks say of a learner's function, they do not say of the course's own in its place."""

import contextlib
import io

import numpy as np
import pytest

from mha_helpers import attention, encoder, exercises
from tools.writing.notebooks import NOTEBOOKS, read

SENTENCE = "The cat sat on the mat because it was tired."


@pytest.fixture(scope="module")
def said():
    """Run notebook 06's comparison on a function, and return what it prints."""
    cells = read(NOTEBOOKS / "06_real_model.ipynb").cells
    [source] = [cell.source for cell in cells if "working_version(multi_head_attention)" in cell.source]
    model = encoder.load()
    known = {"np": np, "attention": attention, "exercises": exercises, "model": model, "tired": model.encode(SENTENCE)}

    def run(function):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(source, known | {"multi_head_attention": function})
        return printed.getvalue()

    return run


def a_learners(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    return attention.multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask)


def test_the_courses_own_function_is_not_compared_with_itself(said):
    assert "nothing to compare yet" in said(lambda X, W_Q, W_K, W_V, W_O, n_heads, mask=None: (..., ...))
    assert "True" not in said(lambda X, W_Q, W_K, W_V, W_O, n_heads, mask=None: (..., ...))


def test_a_learners_function_is_compared(said):
    assert "weights agree with the model's own: True" in said(a_learners)
