"""The labs in which words and numbers are pressed: two heads, the future hidden, a trained head, row times column."""

from importlib import import_module

import numpy as np
import pytest

from mha_helpers import attention, labs, running_example

future = import_module("mha_helpers.labs.masking.the_future_hidden")
trained = import_module("mha_helpers.labs.real_model.a_trained_head")
heads = import_module("mha_helpers.labs.splitting.two_heads")
product = import_module("mha_helpers.labs.self_attention.row_times_column")
TOKENS, X = running_example.TOKENS, running_example.X


@pytest.mark.parametrize("query", TOKENS)
def test_two_heads_attend_as_all_heads_of_the_example(query):
    result = heads.compute({"query": query})
    np.testing.assert_allclose(result.weights, running_example.stages().weights)
    assert TOKENS[result.query] == query


def test_a_wrong_key_is_marked_in_the_head_where_it_is():
    def head_1_backwards(queries, keys, values, mask):
        context, weights = attention.masked_attention(queries, keys, values, mask)
        weights[1] = weights[1, :, ::-1]
        return context, weights

    head_0, head_1 = labs.two_heads(head_1_backwards).picture.value.split("<svg")[1:]
    assert "≠" not in head_0
    assert "≠" in head_1


@pytest.mark.parametrize(("query", "copied"), [("cat", 0.72), ("sat", 0.16), ("mat", 0.4), ("because", 0.14)])
def test_what_comes_later_is_no_longer_attended_to(query, copied):
    seen, hidden = (future.compute({"query": query, "hidden": hidden}, None) for hidden in (False, True))
    assert seen.copied == pytest.approx(copied, abs=0.01)
    assert hidden.copied == 0
    np.testing.assert_allclose(hidden.weights.sum(axis=1), 1)
    np.testing.assert_array_equal(hidden.weights[-1], seen.weights[-1])


@pytest.mark.parametrize("query", TOKENS[:-1])
def test_the_readout_says_what_later_words_have_and_who_gets_it(query):
    place = TOKENS.index(query)
    seen, hidden = (future.compute({"query": query, "hidden": hidden}, None) for hidden in (False, True))
    row = seen.weights[place]
    share = f"{row[place + 1 :].sum():.2f}"
    assert f"gives {share} of its attention to what comes after it" in future.sentence(seen)
    assert f"“{TOKENS[place + 1]}”, has {row[place + 1]:.2f}." in future.sentence(seen)
    assert f"the {share} that those words had" in future.sentence(hidden)
    assert ("It gives itself" in future.sentence(hidden)) == (hidden.weights[place, place] == 1)
    before, after = row[: place + 1], hidden.weights[place, : place + 1]
    np.testing.assert_allclose(after, before / before.sum(), err_msg="in proportion to their own")
    assert max(len(future.sentence(each).split()) for each in (seen, hidden)) <= 25


def test_what_is_the_same_in_both_heads_is_said_once():
    said = heads.sentence(heads.compute({"query": "mat"}))
    assert said == "“mat” attends to all alike (0.20) in both heads."


@pytest.mark.parametrize("letter", product.MATRICES)
@pytest.mark.parametrize("row", TOKENS)
@pytest.mark.parametrize("column", ["0", "1"])
def test_a_number_is_its_row_times_its_column(letter, row, column):
    result = product.compute({"matrix": letter, "row": row, "column": column}, None)
    made = (X @ product.MATRICES[letter])[TOKENS.index(row), int(column)]
    assert np.dot(*result.factors) == made
    readout = product.sentence(result)
    assert readout.endswith(f"= {product.written(made)}.")
    assert f"column {column} of W_{letter}" in readout
    assert len(readout.split()) <= 25


def test_a_trained_head_shows_what_the_model_gives():
    lab, encoded = labs.a_trained_head(), trained.OURS.encode(trained.SENTENCE)
    assert encoded.tokens[trained.IT] == "it"
    for query, row in enumerate(encoded.weights[trained.LAYER, trained.HEAD]):
        lab.set(query=query)
        assert f"“{encoded.tokens[row.argmax()]}” ({row.max():.2f})" in lab.readout.value


def test_without_a_model_the_trained_head_says_so(monkeypatch):
    def lost(sentence):
        raise OSError(sentence)

    monkeypatch.setattr(trained.OURS, "encode", lost)
    assert "The trained model could not be loaded." in labs.a_trained_head().readout.value
