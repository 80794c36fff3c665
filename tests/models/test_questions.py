"""What the notebook says of the trained model is what the questions find."""

import itertools

import numpy as np
import pytest

from mha_helpers import encoder
from mha_helpers.model import questions


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


@pytest.fixture(scope="module")
def shifts(model):
    of_it, of_others = questions.pronoun_shifts(model, (*questions.PRONOUNS, *questions.HELD_OUT_PRONOUNS))
    return of_it, of_others


def test_what_looks_like_the_pronouns_head_follows_no_pronoun(shifts):
    of_it, _ = shifts
    assert of_it[:, 5, 11].mean() < 0.05


def test_one_head_follows_the_pronoun_on_sentences_that_it_was_not_found_on(shifts):
    of_it, of_others = shifts
    searched, held_out = of_it[:4].reshape(4, 72), of_it[4:].reshape(24, 72)
    following = 3 * 12 + 1
    assert searched.mean(axis=0).argmax() == held_out.mean(axis=0).argmax() == following
    assert held_out[:, following].mean() > 0.3
    assert np.sort(held_out.mean(axis=0))[-2] < 0.06
    assert (held_out[:, following] > 0).sum() == 20
    assert np.abs(of_others[:, 3, 1]).max() < 0.06


def sums_with_signs(values):
    """The sums of values with every choice of their signs."""
    return np.array(list(itertools.product((1, -1), repeat=len(values)))) @ values


def test_luck_reaches_what_the_search_finds_but_not_what_is_held_out(shifts):
    of_it = shifts[0].reshape(28, 72).astype(float)
    best_by_luck = sums_with_signs(of_it[:4]).max(axis=1) / 4
    assert (best_by_luck >= of_it[:4].mean(axis=0).max() - 1e-6).mean() == 2 / 16
    held_out = of_it[4:, 3 * 12 + 1]
    one_half, other_half = sums_with_signs(held_out[:12]), np.sort(sums_with_signs(held_out[12:]))
    as_much = len(other_half) - np.searchsorted(other_half, held_out.sum() - 1e-6 - one_half)
    assert as_much.sum() / 2**24 < 1 / 20_000


def test_that_and_this_shift_a_third_as_far_as_it(model):
    for word, expected in (("that", 0.12), ("this", 0.10)):
        shifts = []
        for frame, (first, ending), (second, other_ending) in questions.HELD_OUT_PRONOUNS:
            leans = []
            for last in (ending, other_ending):
                seen = model.encode(frame.replace(" it ", f" {word} ").format(last))
                row, one, other = (seen.tokens.index(token) for token in (word, first, second))
                leans.append(seen.weights[3, 1, row, one] - seen.weights[3, 1, row, other])
            shifts.append(leans[0] - leans[1])
        assert np.mean(shifts) == pytest.approx(expected, abs=0.005)


def test_without_the_head_that_follows_the_sentences_vectors_stay(model):
    sentences = [frame.format(word) for frame, *ends in questions.PRONOUNS for _, word in ends]
    whole = [one.vector for one in model.encode(sentences)]
    for head, least, most in (((3, 1), 0.99, 1), ((5, 11), 0, 0.95)):
        moved = [one.vector for one in model.encode(sentences, without=[head])]
        assert least < np.mean([one @ other for one, other in zip(whole, moved, strict=True)]) < most


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


@pytest.mark.slow
def test_heads_that_are_chosen_on_half_of_the_pairs_are_missed_by_the_other_half(model):
    whole = questions.order_margins(model)
    losses = np.array([whole - questions.order_margins(model, [head]) for head in questions.ALL_HEADS])
    rng, searched, elsewhere = np.random.default_rng(0), [], []
    for _ in range(200):
        some, others = np.split(rng.permutation(10), 2)
        five = losses[:, some].mean(axis=1).argsort()[-5:]
        searched.append(losses[five][:, some].mean())
        elsewhere.append(losses[five][:, others].mean())
    assert np.mean(searched) == pytest.approx(0.024, abs=0.001)
    assert np.mean(elsewhere) / np.mean(searched) == pytest.approx(0.95, abs=0.01)


def test_the_head_that_is_missed_most_looks_at_the_first_mark(model):
    found = [encoding.weights[3, 1] for encoding in model.encode(list(questions.SENTENCES))]
    assert np.mean([weights[:, 0].mean() for weights in found]) > 0.5
