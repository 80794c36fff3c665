"""What is said of modules over NumPy, and of what stands before an examination: quick, and without PyTorch."""

import inspect
import threading

import numpy as np
import numpy_modules
import pytest

from attention_doctor import vocabulary
from attention_doctor.calls.errors import CannotBeExaminedError
from attention_doctor.equation import trial_inputs as questions
from attention_doctor.readers import signature
from attention_doctor.subjects import loading
from mha_helpers import attention, doctor


@pytest.mark.parametrize(("kind", "names", "words"), numpy_modules.ALL, ids=lambda one: getattr(one, "__name__", ""))
def test_it_is_said(kind, names, words):
    report = doctor.examine(kind())
    assert [finding.name for finding in report.findings] == names, report
    text = " ".join(str(report).split())
    assert all(word in text for word in words), report
    assert "parameters taken in this order" not in text
    if kind is numpy_modules.WithMore:
        assert report.healthy is None
    else:
        assert report.healthy == (not any(finding.is_sick for finding in report.findings)), report


def test_an_object_that_cannot_be_copied_is_put_back_as_it_was():
    module = numpy_modules.Plain()
    module.lock = threading.Lock()
    arrays = {name: value for name, value in vars(module).items() if isinstance(value, np.ndarray)}
    numbers = {name: value.copy() for name, value in arrays.items()}
    assert len(arrays) >= 4
    assert doctor.examine(module).healthy
    for name, value in arrays.items():
        assert getattr(module, name) is value
        assert np.array_equal(value, numbers[name])


def test_a_context_that_must_be_given_is():
    def cross(X, context, W_Q, W_K, W_V, W_O, n_heads):
        queries, keys, values = (
            attention.split_heads(source @ W, n_heads) for source, W in ((X, W_Q), (context, W_K), (context, W_V))
        )
        return attention.combine_heads(attention.scaled_dot_product_attention(queries, keys, values)[0]) @ W_O

    report = doctor.examine(cross)
    assert report.healthy, report
    assert not report.untested[1:], report


# What each argument is taken for, in the order in which they stand.
READ = {
    "X, W_Q, W_K, W_V, W_O, n_heads, mask=None": "X W_Q W_K W_V W_O n_heads mask",
    "a, b, c, d, e, n": "X W_Q W_K W_V W_O n_heads",
    "a, b, c": "queries keys values",
    "x, wq, wk, wv, h": "X W_Q W_K W_V n_heads",
    "x, wq, wk, wv, fifth, h": "X W_Q W_K W_V W_O n_heads",
    "query, context, value": "queries keys values",
    "query, memory": "X context",
    "x, y, attn_mask=None, key_padding_mask=None": "X context mask padding",
    "hidden, src_lengths=None, use_mask=False": "X lengths ",
    "q, k, v, tgt_mask=None, causal=False, dropout_p=0.0": "queries keys values mask is_causal dropout",
}


@pytest.mark.parametrize("arguments", READ)
def test_arguments_are_read(arguments):
    function = eval(f"lambda {arguments}: None")
    roles = signature.read(function)
    assert list(roles) == list(inspect.signature(function).parameters)
    assert list(roles.values()) == READ[arguments].split(" ")


@pytest.mark.parametrize("arguments", ["first, second", "x, W_Q, third", "one, two, three, four"])
def test_arguments_that_cannot_be_read_are_asked_for(arguments):
    with pytest.raises(CannotBeExaminedError, match=r"names=\{"):
        signature.read(eval(f"lambda {arguments}: None"))


def test_masks_hide_what_they_say():
    def of(kind, **sizes):
        return questions.allowed(questions.Question("", 4, 7, mask=kind, **sizes), 2)

    assert of("padding").sum(-1).ravel().tolist() == [5, 7, 4, 3]
    assert of("empty padding").sum(-1).ravel().tolist() == [5, 7, 4, 0]
    assert [of(kind).shape for kind in ("shared", "pairs", "heads")] == [(1, 1, 7, 7), (4, 1, 7, 7), (4, 2, 7, 7)]
    for kind in ("shared", "pairs", "heads"):
        assert of(kind).any(-1).all()
        assert of(kind).any(-2).all()
        assert not of(kind).all(-1).any()
    assert np.argwhere(~of("empty row").any(-1)).tolist() == [[3, 0, 1]]
    assert of("padding", n_keys=5).shape == (4, 1, 1, 5)


def test_what_has_no_source_is_defined_nowhere():
    assert loading.definition(len) == ("", 0)
    assert loading.definition(of_no_use)[1] == inspect.getsourcelines(of_no_use)[1]


def of_no_use():
    pass


class WithItsGradients:
    """As one that can be trained keeps them: its matrices a second time in a dict, and zeros for their gradients."""

    def __init__(self, d_model=32, num_heads=4, seed=3):
        rng = np.random.default_rng(seed)
        self.num_heads, self.names = num_heads, ("W_q", "W_k", "W_v", "W_o")
        for name in self.names:
            setattr(self, name, rng.normal(size=(d_model, d_model)))
        self.params = {name: getattr(self, name) for name in self.names}
        self.grads = {name: np.zeros((d_model, d_model)) for name in self.names}

    def __call__(self, X):
        batch, tokens, d_model = X.shape
        heads = batch, tokens, self.num_heads, d_model // self.num_heads
        q, k, v = ((X @ W).reshape(heads).swapaxes(1, 2) for W in (self.W_q, self.params["W_k"], self.W_v))
        scores = q @ k.swapaxes(-1, -2) / np.sqrt(heads[-1])
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = weights / weights.sum(-1, keepdims=True) @ v
        return mixed.swapaxes(1, 2).reshape(X.shape) @ self.params["W_o"]


def test_an_array_that_is_held_twice_is_one_parameter_and_gradients_are_none():
    report = doctor.examine(WithItsGradients())
    assert report.verdict == "healthy", report


def test_each_name_of_an_argument_has_one_role_and_is_plain():
    for table in (vocabulary.ARGUMENTS, vocabulary.ROTARY_ARGUMENTS):
        names = [name for names in table.values() for name in names.split()]
        assert sorted(names) == sorted(set(names))
        assert all(name == signature.plain(name) for name in names)
