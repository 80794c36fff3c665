"""The running example shows what the course says of it, and shows it large enough to be seen."""

import itertools

import numpy as np
import pytest

from mha_helpers import attention
from mha_helpers import running_example as example

CAT, SAT, MAT, BECAUSE, IT = range(5)


def projected(columns=slice(None)):
    return [example.X @ W[:, columns] for W in (example.W_Q, example.W_K, example.W_V)]


def in_heads(**options):
    queries, keys, values = (attention.split_heads(part, example.N_HEADS) for part in projected())
    return attention.scaled_dot_product_attention(queries, keys, values, **options)


def test_it_looks_at_the_cat():
    context, weights = attention.dot_product_attention(*(example.X @ W for W in example.first_head()))
    assert weights[IT].round(2).tolist() == [0.83, 0.11, 0.04, 0.01, 0.01]
    apart = [np.abs(context[i] - context[j]).max() for i, j in itertools.combinations(range(5), 2)]
    assert min(apart) >= 0.3, "two tokens have contexts that look the same"


def test_two_heads_look_at_different_things_and_one_wide_head_cannot():
    _, weights = in_heads()
    assert weights[0, IT].argmax() == CAT
    assert weights[0, IT, CAT].round(2) == 0.70
    assert weights[1, IT].argmax() == SAT
    assert weights[1, IT, SAT].round(2) == 0.89
    assert weights[1, BECAUSE, [CAT, MAT]].round(2).tolist() == [0.46, 0.46]
    _, wide = attention.scaled_dot_product_attention(*projected())
    assert wide[IT, CAT].round(2) == 0.26
    _, causal = in_heads(is_causal=True)
    assert causal[0, IT, CAT].round(2) == 0.70, "nothing comes after “it”"


def test_without_a_mask_cat_reads_the_word_that_it_has_to_guess():
    queries, keys, values = (example.X @ W for W in example.first_head())
    _, weights = attention.scaled_dot_product_attention(queries, keys, values)
    assert weights[CAT].argmax() == SAT
    assert weights[CAT, SAT].round(2) == 0.56


def guess(row):
    return attention.softmax(example.ENDING_VECTORS @ row).round(3)[0]


def test_the_endings_are_a_toss_up_until_both_heads_have_found_something():
    context, _ = in_heads()
    parts = attention.head_contributions(context, example.W_O)[:, IT]
    assert not {*example.ENDINGS} & {*example.TOKENS}, "what is to be guessed is given away"
    assert guess(example.X[IT]) == 0.5
    assert [guess(example.X[IT] + part) for part in parts] == [0.872, 0.977]
    assert guess(example.X[IT] + parts.sum(axis=0)) == 0.997
    merged = attention.combine_heads(context)[IT]
    assert guess(example.X[IT] + merged) == 0.872, "without W_O, head 1's “alive” stands where nobody reads it"


def test_another_question_gives_the_other_ending():
    W_Q = example.W_Q.copy()
    W_Q[3] = -3, 3, -2, 2
    matrices = W_Q, example.W_K, example.W_V, example.W_O
    output, weights = attention.multi_head_attention(example.X, *matrices, example.N_HEADS)
    assert weights[:, IT].argmax(axis=-1).tolist() == [MAT, MAT]
    assert guess(example.X[IT] + output[IT]) == 0.151


def test_the_output_projection_brings_both_findings_together_and_every_head_has_its_part():
    context, _ = in_heads()
    concat = attention.combine_heads(context)
    assert np.abs(concat @ example.W_O - concat)[:, [0, 3]].min() >= 0.2, "both columns of “alive” move"
    parts = attention.head_contributions(context, example.W_O)
    assert (np.abs(parts).max(axis=-1) >= 0.2).all(), "a head's part in a token's output cannot be seen"


def test_the_entries_are_small_whole_numbers_that_nobody_changes():
    for matrix in (example.X, example.W_Q, example.W_K, example.W_V, example.W_O):
        assert np.isin(matrix, range(-3, 4)).all()
        with pytest.raises(ValueError, match="read-only"):
            matrix[0, 0] = 9
    assert set(example.TOKENS) <= set(example.SENTENCE.rstrip(".").lower().split())
