"""The trained model says what its float32 weights say, whoever's attention runs in it and whatever is typed."""

import json
import math
import os
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest

from mha_helpers import encoder
from mha_helpers.attention import (
    head_contributions,
    knock_out,
    multi_head_attention,
    scaled_dot_product_attention,
    split_heads,
)
from mha_helpers.model import data as encoder_data
from mha_helpers.model.layers import LayerNorm, erf, fold_bias, gelu

FLOAT32 = json.loads((Path(__file__).parent / "float32_model.json").read_text(encoding="utf-8"))
TIRED = "The cat sat on the mat because it was tired."
THREE = ["Hi", TIRED, "He sat on the bank near the river, and fished."]


@pytest.fixture(scope="module")
def model():
    return encoder.load()


def assert_same(found, wanted, atol=1e-4):
    assert found.tokens == wanted.tokens
    for name in ("weights", "hidden", "vector"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), atol=atol)


# What the model says.


@pytest.mark.parametrize("row", FLOAT32, ids=range(len(FLOAT32)))
def test_it_says_what_the_float32_model_says(model, row):
    """Numbers from PyTorch, stored by `agreement.py`; the tolerances are what 8 bits cost."""
    found = model.encode(row["sentence"])
    assert len(found.tokens) == row["n_tokens"]
    np.testing.assert_allclose(found.vector[:8], row["vector"], atol=0.006)
    middle = len(found.tokens) // 2
    np.testing.assert_allclose(found.hidden[:, middle, :2], row["hidden state of the middle token"], atol=0.03)
    weights, wanted = found.weights[:, :, middle, 0], np.array(row["weights of the middle token on [CLS]"])
    np.testing.assert_allclose(weights, wanted, atol=0.03)
    assert np.abs(weights - wanted).mean() < 0.004


def test_a_result_has_all_weights_and_hidden_states_in_float32(model):
    found = model.encode(TIRED)
    assert found.tokens == ("[CLS]", *TIRED.lower().removesuffix(".").split(), ".", "[SEP]") == model.tokens(TIRED)
    n = len(found.tokens)
    assert (found.weights.shape, found.hidden.shape, found.vector.shape) == ((6, 12, n, n), (7, n, 384), (384,))
    assert {array.dtype for array in (found.weights, found.hidden, found.vector)} == {np.dtype(np.float32)}
    np.testing.assert_allclose(found.weights.sum(axis=-1), 1, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(found.vector), 1, atol=1e-6)
    mean = found.hidden[-1].mean(axis=0)
    np.testing.assert_allclose(found.vector, mean / np.linalg.norm(mean), atol=1e-6)


def test_a_padded_batch_is_the_sentences_alone(model):
    batch = model.encode(THREE)
    assert len({len(found.tokens) for found in batch}) == 3
    for sentence, found in zip(THREE, batch, strict=True):
        assert_same(found, model.encode(sentence))
    assert model.encode(tuple(THREE[:1]))[0].tokens == model.tokens(THREE[0])
    assert model.encode([]) == []


def test_loading_again_returns_the_same_model(model):
    assert encoder.load() is model


def test_shown_in_a_notebook_they_are_short(model):
    assert repr(model) == "Encoder(6 layers of 12 heads, d_model=384)"
    assert repr(model.encode("Hi")) == "Encoding(tokens=('[CLS]', 'hi', '[SEP]'), message='')"


# Anybody's attention.


def loops(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    X = np.asarray(X, float)
    batch, n, d_model = X.shape
    d_head = d_model // n_heads
    weights, contexts = np.zeros((batch, n_heads, n, n)), np.zeros(X.shape)
    for b in range(batch):
        for h in range(n_heads):
            columns = slice(h * d_head, (h + 1) * d_head)
            scores = X[b] @ W_Q[:, columns] @ (X[b] @ W_K[:, columns]).T / np.sqrt(d_head)
            if mask is not None:
                scores[:, ~mask[b, 0, 0]] = -np.inf
            exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
            weights[b, h] = exponentials / exponentials.sum(axis=1, keepdims=True)
            contexts[b, :, columns] = weights[b, h] @ X[b] @ W_V[:, columns]
    return contexts @ W_O, weights


def einsum(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    batch, n, d_model = X.shape
    # As many write it: with the width of X, which works because the model's matrices are square.
    queries, keys, values = ((X @ W).reshape(batch, n, n_heads, d_model // n_heads) for W in (W_Q, W_K, W_V))
    scores = np.einsum("bqhd,bkhd->bhqk", queries, keys) / math.sqrt(d_model // n_heads)
    scores = np.where(True if mask is None else mask, scores, -np.inf)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return np.einsum("bhqk,bkhd->bqhd", weights, values).reshape(batch, n, d_model) @ W_O, weights


@pytest.mark.parametrize("attend", [loops, einsum])
def test_a_learners_attention_gives_the_same(model, attend):
    assert_same(model.encode(TIRED, attend), model.encode(TIRED))
    for found, wanted in zip(model.encode(THREE, attend), model.encode(THREE), strict=True):
        assert_same(found, wanted)


def test_a_sentence_alone_needs_no_mask(model):
    def six_arguments(X, W_Q, W_K, W_V, W_O, n_heads):
        return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads)

    assert_same(model.encode(TIRED, six_arguments), model.encode(TIRED))
    with pytest.raises(ValueError, match=r"a mask of shape \(3, 1, 1, 14\), raised TypeError"):
        model.encode(THREE, six_arguments)


def change_X(X, *arguments):
    X += 1


def change_W(X, W_Q, *arguments):
    W_Q[...] = 0


@pytest.mark.parametrize(
    ("attend", "says"),
    [
        (lambda *arguments: ..., "returned ellipsis; return (output, weights)"),
        (lambda X, *arguments: X, "returned ndarray; return (output, weights)"),
        (lambda X, *arguments: (X, X), "returned weights of shape (1, 3, 384); the shape must be (1, 12, 3, 3)"),
        (lambda X, *arguments: (X[0], X), "returned output of shape (3, 384); the shape must be (1, 3, 384)"),
        (lambda X, *arguments: (..., X), "returned as output what is not an array of numbers"),
        (
            lambda X, W, *arguments: X @ W.T[:7],
            "W_Q, W_K, W_V and W_O of shape (384, 384), n_heads=12 and no mask, raised",
        ),
        (change_X, "read-only"),
        (change_W, "read-only"),
        (3, "TypeError: 'int' object is not callable"),
    ],
)
def test_an_attention_that_fails_is_told_how(model, attend, says):
    with pytest.raises(ValueError, match="the attention function, called with X of shape") as caught:
        model.encode("Hi", attend)
    assert says in str(caught.value)
    if "raised" in str(caught.value):
        assert caught.value.__cause__ is not None


def test_the_folded_biases_are_the_biases(model):
    """Every X that a layer gets, through the folded matrix, is X through the matrix as stored, plus the bias."""
    stored = encoder_data.load_tensors()
    hidden = model.encode(THREE[2]).hidden
    for layer, block in enumerate(model.blocks):
        for part in ("query", "key", "value"):
            source = f"encoder.layer.{layer}.attention.self.{part}"
            wanted = hidden[layer] @ stored[f"{source}.weight"].T + stored[f"{source}.bias"]
            folded = getattr(block, f"W_{part[0].upper()}")
            np.testing.assert_allclose(hidden[layer] @ folded, wanted, atol=2e-4)
    W = np.ones((3, 2), np.float32)
    assert fold_bias(W, np.zeros(2), LayerNorm(np.ones(3), np.zeros(3))) is W


# Without some heads.


@pytest.mark.parametrize("head", [(0, 2), (5, 11)])
def test_nothing_of_a_knocked_out_head_is_added(model, head):
    layer, number = head
    calls = []

    def without_that_head(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        heads, weights = scaled_dot_product_attention(*(split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V)), mask)
        contributions = head_contributions(heads, W_O)
        if len(calls) == layer:
            contributions[:, number] = 0
        calls.append(X)
        return contributions.sum(axis=1), weights

    found, whole = model.encode(TIRED, without=[head]), model.encode(TIRED)
    assert_same(found, model.encode(TIRED, without_that_head))
    np.testing.assert_array_equal(found.hidden[: layer + 1], whole.hidden[: layer + 1])
    np.testing.assert_array_equal(found.weights[: layer + 1], whole.weights[: layer + 1])
    assert found.vector @ whole.vector < 0.9999
    assert_same(model.encode(TIRED), whole, atol=0)  # and the model is whole again


@pytest.mark.parametrize("without", [[(0, 2)], [(3, 1)], [(5, 11), (2, 8)]])
def test_what_lies_below_a_knocked_out_head_is_not_computed_again_and_is_the_same(model, without):
    def computed_anew(*arguments):
        return multi_head_attention(*arguments)

    kept, anew = (model.encode(THREE, attend, without=without) for attend in (multi_head_attention, computed_anew))
    for one, other in zip(kept, anew, strict=True):
        np.testing.assert_array_equal(one.weights, other.weights)
        np.testing.assert_array_equal(one.hidden, other.hidden)


def test_who_changes_a_result_does_not_change_the_next(model):
    before = model.encode(TIRED).weights.copy()
    model.encode(TIRED).weights[:] = 0
    np.testing.assert_array_equal(model.encode(TIRED).weights, before)


def test_all_heads_can_go(model):
    everything = [(layer, head) for layer in range(6) for head in range(12)]
    found = model.encode(TIRED, without=everything)
    assert_same(found, model.encode(TIRED, without=np.array(everything)))
    assert np.isfinite(found.vector).all()


def test_heads_are_knocked_out_by_the_function_that_is_given(model):
    def as_lists(W_O, heads, n_heads):
        asked.append((heads.tolist(), n_heads))
        return knock_out(W_O, heads, n_heads).tolist()

    asked = []
    found = model.encode(TIRED, without=[(3, 1), (5, 11), (3, 7)], knock_out=as_lists)
    assert_same(found, model.encode(TIRED, without=[(3, 1), (5, 11), (3, 7)]))
    assert asked == [([1, 7], 12), ([11], 12)]


def test_a_knock_out_of_another_shape_is_refused(model):
    with pytest.raises(ValueError, match=r"knock_out returned shape \(352, 384\)"):
        model.encode(TIRED, without=[(0, 0)], knock_out=lambda W_O, heads, n_heads: W_O[32:])


def test_a_knock_out_that_fails_is_named(model):
    with pytest.raises(ValueError, match=r"knock_out, called with the heads \[3\], raised KeyError"):
        model.encode(TIRED, without=[(0, 3)], knock_out=lambda W_O, heads, n_heads: {}["head"])


def test_attention_cannot_write_into_the_mask(model):
    def writes(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        mask[:] = True

    with pytest.raises(ValueError, match="read-only"):
        model.encode(["Hi", TIRED], writes)


@pytest.mark.parametrize("heads", [[(6, 0)], [(0, 12)], [(-1, 0)], [3], (0, 2), [(0, 1, 2)], "52", None, [(0.5, 1)]])
def test_a_head_that_is_not_there_is_refused(model, heads):
    with pytest.raises(ValueError, match=r"there is no head|give pairs"):
        model.encode("Hi", without=heads)


# Whatever is typed.


@pytest.mark.parametrize(
    ("sentence", "tokens"),
    [
        ("", ""),
        (" \n\t", ""),
        ("a", "a"),
        ("🙂", "[UNK]"),
        ("\ud83d\ude42", "[UNK]"),  # the same in two halves, as JavaScript may send it
        ("a \ud800 b", "a b"),
        ("\x00\x07bell\x7f", "bell"),
        ("中文", "中 文"),
        ("Ünïcode", "unicode"),
        ("<b>&amp;</b>", "< b > & amp ; < / b >"),
        ("x" * 5000, "[UNK]"),
        ("\u202eabc", "abc"),
    ],
    ids=ascii,
)
def test_whatever_is_typed_gets_a_sensible_result(model, sentence, tokens):
    found = model.encode(sentence)
    assert found.tokens == ("[CLS]", *tokens.split(), "[SEP]")
    assert found.message == ""
    assert np.isfinite(found.hidden).all()
    np.testing.assert_allclose(np.linalg.norm(found.vector), 1, atol=1e-6)


def test_a_sentence_that_is_too_long_is_cut_and_says_so(model):
    fits, cut = "word " * 253 + "end", "word " * 253 + "end of 2000" + " words" * 1744
    fitting, found = model.encode([fits, cut])
    assert (len(fitting.tokens), fitting.message) == (256, "")
    assert found.message == "The sentence has 2002 tokens, of which the model reads 256: it was cut after 'end'."
    assert_same(found, fitting)


@pytest.mark.parametrize("sentences", [None, 3, b"Hi", ["Hi", None], [["Hi"]]])
def test_what_is_not_text_is_refused(model, sentences):
    with pytest.raises(ValueError, match="give"):
        model.encode(sentences)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_process_that_forks_is_not_warned(model, capfd):
    """The tokenizers package warns where a process forks after it used several threads."""
    model.encode(THREE)
    if (child := os.fork()) == 0:
        try:
            model.tokens(TIRED)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    model.tokens(TIRED)
    assert capfd.readouterr().err == ""


# The random twin.


def test_the_random_twin_has_the_same_form_and_other_numbers(model):
    twin = encoder.random_twin(seed=3)
    found, again, other = (each.encode(TIRED) for each in (twin, encoder.random_twin(seed=3), encoder.random_twin(4)))
    assert found.tokens == model.tokens(TIRED)
    assert_same(found, again, atol=0)
    assert np.abs(found.vector - other.vector).max() > 0.01
    assert found.weights.max() < 0.2
    for block, trained in zip(twin.blocks, model.blocks, strict=True):
        assert [np.shape(part) for part in block[:5]] == [np.shape(part) for part in trained[:5]]
        assert [block.W_Q.std(), block.widen.W.std()] == pytest.approx([0.02, 0.02], rel=0.02)
        assert not block.b_O.any()
        assert (block.output_norm.gain == 1).all()
    ids = np.array([[7, 8], [8, 7]])
    np.testing.assert_array_equal(twin.words[ids], twin.words[ids][::-1, ::-1])
    assert twin.words[np.arange(50)].std() == pytest.approx(0.02, rel=0.02)


@pytest.mark.parametrize("seed", [-1, 0.5, "a", None])
def test_a_seed_that_is_not_possible_is_refused(seed):
    with pytest.raises(ValueError, match="give an int of 0 or more"):
        encoder.random_twin(seed)


# The data.


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A copy of the data that a test may spoil."""
    folder = tmp_path / encoder_data.FOLDER
    shutil.copytree(encoder_data.data_path(f"{encoder_data.FOLDER}/origin.json").parent, folder)

    def path(name):
        if not (tmp_path / name).is_file():
            raise ValueError(f"no data file {name!r}")
        return tmp_path / name

    monkeypatch.setattr(encoder_data, "data_path", path)
    return folder


def test_a_copy_is_read(copied):
    assert "encoder.layer.5.output.dense.weight" in encoder_data.load_tensors()


SPOILED = {
    "one bit flipped": lambda content: content[:1000] + bytes([content[1000] ^ 1]) + content[1001:],
    "cut short": lambda content: content[:-1],
    "empty": lambda content: b"",
}


@pytest.mark.parametrize("name", [encoder_data.WEIGHTS, encoder_data.TOKENIZER])
@pytest.mark.parametrize("how", SPOILED)
def test_a_damaged_file_is_refused(copied, name, how):
    content = (copied / name).read_bytes()
    (copied / name).write_bytes(SPOILED[how](content))
    with pytest.raises(ValueError, match=r"is damaged: it has \d+ bytes and SHA-256 \w+") as caught:
        encoder.load.__wrapped__()
    for said in (
        name,
        f"should have {len(content)} bytes",
        "git checkout -- data/all-MiniLM-L6-v2",
        "install mha_helpers",
    ):
        assert said in str(caught.value)


@pytest.mark.parametrize("name", [encoder_data.WEIGHTS, encoder_data.TOKENIZER, encoder_data.ORIGIN])
def test_a_missing_file_is_refused(copied, name):
    (copied / name).unlink()
    with pytest.raises(ValueError, match=name):
        encoder.load.__wrapped__()


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"built": 3}', "\xff"])
def test_a_damaged_origin_is_refused(copied, text):
    (copied / encoder_data.ORIGIN).write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=r"origin\.json is damaged or missing; restore it"):
        encoder.load.__wrapped__()


# The formulas.


def test_erf_and_gelu_are_those_of_the_standard_library():
    x = np.linspace(-6, 6, 20001, dtype=np.float32)
    exact = np.array([math.erf(value) for value in x.tolist()])
    assert np.abs(erf(x) - exact).max() < 5e-7
    half_normal = np.array([(1 + math.erf(value / math.sqrt(2))) / 2 for value in x.tolist()])
    np.testing.assert_allclose(gelu(x), x * half_normal, atol=1e-6, rtol=5e-7)
    assert gelu(x).dtype == np.float32
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gelu(np.float32([-1e4, 1e4])).tolist() == [0, 1e4]


def test_layer_norm_leaves_mean_0_and_spread_1():
    X = np.random.default_rng(0).normal(3, 5, (4, 384)).astype(np.float32)
    normed = LayerNorm(np.ones(384, np.float32), np.zeros(384, np.float32))(X)
    np.testing.assert_allclose(normed.mean(axis=-1), 0, atol=1e-6)
    np.testing.assert_allclose(normed.std(axis=-1), 1, atol=1e-5)
