"""What the notebook says of the trained model is what the questions find."""

import numpy as np
import pytest

from mha_helpers.model import encoder, questions


@pytest.fixture(scope="module")
def model():
    return encoder.load()


def test_every_pair_of_phrases_has_the_same_words():
    for one, other, *_ in questions.PHRASES:
        assert sorted(word for word in one.split() if word != "a") == sorted(w for w in other.split() if w != "a")


def test_paraphrases_are_found_with_and_without_heads(model):
    gap, nearest = questions.paraphrases(model)
    gap_without, nearest_without = questions.paraphrases(model, questions.ALL_HEADS)
    assert (nearest, nearest_without) == (8, 8)
    assert gap > 2 * gap_without


def test_the_order_of_words_is_heard_with_heads_alone(model):
    assert (questions.order_margins(model) > 0).all()
    assert (questions.order_margins(model, questions.ALL_HEADS) > 0).sum() == 6


def test_what_looks_like_the_pronouns_head_is_every_words_head(model):
    of_it, of_others = (questions.pronoun_weights(model, query)[:, :, 5, 11] for query in ("it", "others"))
    shares = of_it[..., 1] / of_it.sum(axis=-1)
    assert np.abs(shares[:, 1] - shares[:, 0]).max() < 0.05
    assert (np.abs(of_it[:, 0, 0] - of_others[:, 0, 0]) < 0.25).all()


def test_the_two_banks_differ_a_little_more_than_two_of_one_meaning(model):
    within, across = questions.bank_cosines(model)
    assert within[0] - across[0] < 0.002
    assert ((within - across)[1:] > 0.02).all()


def test_a_changed_model_is_compared_with_its_own_vectors(model):
    assert questions.agreement(model) == pytest.approx(1)
    assert questions.agreement(model, without=questions.ALL_HEADS) == pytest.approx(0.51, abs=0.01)


@pytest.mark.slow
def test_of_all_heads_these_are_missed_most(model):
    whole = questions.order_margins(model).mean()
    lost = {head: whole - questions.order_margins(model, [head]).mean() for head in questions.ALL_HEADS}
    assert tuple(sorted(lost, key=lost.get, reverse=True)[:5]) == questions.MOST_MISSED
    assert max(lost[head] for head in questions.ALL_HEADS if head not in questions.MOST_MISSED) < 0.012


def test_the_head_that_is_missed_most_looks_at_the_first_mark(model):
    found = [encoding.weights[3, 1] for encoding in model.encode(list(questions.SENTENCES))]
    assert np.mean([weights[:, 0].mean() for weights in found]) > 0.5
