"""The trained GPT over characters: its numbers, what it runs on, how it writes, and what it refuses."""

import json
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mha_helpers import decoder, exercises
from mha_helpers.attention import multi_head_attention, softmax
from mha_helpers.course_data import data_path
from mha_helpers.decoding import attend_with_cache, next_token_probabilities
from mha_helpers.model.data import ORIGIN, WEIGHTS, read_safetensors

MODEL = decoder.load()
ORIGINAL = json.loads(data_path(f"{decoder.FOLDER}/{ORIGIN}").read_text(encoding="utf-8"))
BY_TORCH = json.loads((Path(__file__).parent / "writer_by_torch.json").read_text(encoding="utf-8"))
PROMPT = "ROMEO:\nBut, soft!"


def test_logits_are_those_that_torch_had():
    logits, _ = MODEL.predict(BY_TORCH["prompt"])
    assert_allclose(logits[-1], BY_TORCH["logits"], atol=1e-3)


def test_logits_are_those_of_torch_here():
    torch = pytest.importorskip("torch")
    from data.writer.make import load_module, logits_by_torch

    torch.set_num_threads(1)
    assert_allclose(MODEL.predict(PROMPT)[0], logits_by_torch(load_module(), PROMPT), atol=1e-3)


def test_torch_writes_what_it_writes():
    torch = pytest.importorskip("torch")
    from data.writer.make import load_module
    from tools.bench.beside_torch import torch_stream

    torch.manual_seed(0)
    codes = MODEL.codes(PROMPT).tolist()
    with torch.inference_mode():
        codes += islice(torch_stream(load_module(), codes), 30)
    written = "".join(MODEL.alphabet[code] for code in codes)
    assert MODEL.loss(written) < 2.5  # the draws are others; nonsense has more than 3


def test_it_is_small_enough():
    weights = data_path(f"{decoder.FOLDER}/{WEIGHTS}")
    assert ORIGINAL["parameters"] == sum(array.size for array in read_safetensors(weights.read_bytes()).values())
    assert ORIGINAL["parameters"] <= 3_000_000
    assert weights.stat().st_size <= 6_000_000


def test_it_foretells_plays_that_it_has_not_read():
    assert ORIGINAL["held_out_loss"] <= 1.52
    text, length = decoder.held_out_text(), MODEL.context_length
    # Windows from all over what `data/writer/make.py` measures the whole of.
    losses = [MODEL.loss(text[start : start + length + 1]) for start in range(0, len(text) - length, 3700)]
    assert np.mean(losses) == pytest.approx(ORIGINAL["held_out_loss"], abs=0.06)


def test_the_loss_is_the_mean_over_windows_that_do_not_overlap():
    n = MODEL.context_length
    text = decoder.held_out_text()[: 2 * n + 11]
    codes, total = MODEL.codes(text), 0.0
    for start in (0, n, 2 * n):
        window = text[start : min(start + n, len(text) - 1)]
        logits, _ = MODEL.predict(window)
        logits = logits.astype(np.float64)
        normaliser = np.log(np.exp(logits).sum(axis=-1))
        total += (normaliser - logits[np.arange(len(window)), codes[start + 1 :][: len(window)]]).sum()
    assert MODEL.loss(text) == pytest.approx(total / (2 * n + 10), rel=1e-5)


def test_weights_are_causal_and_of_every_head():
    _, weights = MODEL.predict(PROMPT)
    assert weights.shape == (len(MODEL.blocks), MODEL.n_heads, len(PROMPT), len(PROMPT))
    assert not np.triu(weights, 1).any()
    assert_allclose(weights.sum(axis=-1), 1, rtol=1e-5)


def test_a_learners_attention_runs_it():
    namespace = {"np": np}
    for name in ("softmax", "split_heads", "combine_heads", "masked_attention", "multi_head_attention"):
        exec(getattr(exercises, name).solution().source, namespace)
    from mha_helpers.attention import scaled_dot_product_attention

    namespace["scaled_dot_product_attention"] = scaled_dot_product_attention
    logits, _ = MODEL.predict(PROMPT, namespace["multi_head_attention"])
    assert_allclose(logits, MODEL.predict(PROMPT)[0], atol=1e-4)


@pytest.mark.parametrize("slug", ["mha-no-output-projection", "mha-mask-ignored", "mha-split-without-transpose"])
def test_with_a_mistake_it_foretells_worse(slug):
    mistakes = {mistake.slug: mistake for mistake in exercises.multi_head_attention.mistakes}
    text = decoder.held_out_text()[:600]
    assert MODEL.loss(text, mistakes[slug].implementations[0]) > MODEL.loss(text) + 0.5


# --- writing ---


def test_writing_with_a_cache_is_writing_without():
    """Every step's logits, over the end of the context as well, are those of the whole text that is left."""
    length, seen = MODEL.context_length, []

    def note(logits, **options):
        seen.append(logits)
        return np.eye(len(logits))[logits.argmax()]

    prompt = decoder.held_out_text()[: length - 3]
    text = prompt + MODEL.write(prompt, 8, choose=note)
    # At 257 characters the older half goes: 128 are left, and grow again.
    starts = [0] * 4 + [length + 1 - length // 2] * 4
    for i, (start, logits) in enumerate(zip(starts, seen, strict=True)):
        wanted, _ = MODEL.predict(text[start : len(prompt) + i])
        assert_allclose(logits, wanted[-1], atol=1e-3, err_msg=f"step {i}")


def test_without_a_cache_the_same_is_written():
    prompt = decoder.held_out_text()[: MODEL.context_length - 20]
    assert MODEL.write(prompt, 40, seed=3, cached=False) == MODEL.write(prompt, 40, seed=3)
    lengths = []

    def noted(X, *arguments):
        lengths.append(len(X))
        return multi_head_attention(X, *arguments)

    MODEL.write("To be", 3, cached=False, attend=noted)
    assert lengths == [5] * 4 + [6] * 4 + [7] * 4


def test_only_new_characters_go_through_the_cache():
    lengths = []

    def noted(X_new, *arguments):
        lengths.append(len(X_new))
        return attend_with_cache(X_new, *arguments)

    MODEL.write(PROMPT, 3, attend=noted)
    assert lengths == [len(PROMPT)] * 4 + [1] * 8


def test_the_seed_decides_and_the_model_is_not_changed():
    first = MODEL.write(PROMPT, 60, seed=1)
    assert MODEL.write(PROMPT, 60, seed=1) == first
    assert MODEL.write(PROMPT, 60, seed=2) != first
    assert "".join(islice(MODEL.stream(PROMPT, seed=1), 60)) == first


def test_top_1_and_a_low_temperature_write_the_likeliest():
    likeliest = MODEL.write(PROMPT, 40, top_k=1)
    assert MODEL.write(PROMPT, 40, temperature=1e-4, seed=5) == likeliest


def test_what_is_drawn_follows_the_probabilities():
    written = MODEL.write("T", 200, choose=lambda logits, **options: [0.25, 0.75] + [0] * 63)
    assert set(written) == set(MODEL.alphabet[:2])
    assert 130 < written.count(MODEL.alphabet[1]) < 170


# --- bad input ---


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        ("", "the text is empty; give at least one character"),
        (None, "the text None is not a string; give text in quotes"),
        ("naïve €", "the model has never seen 'ï', '€'; it knows the letters from A to Z"),
        ("a" * 257, "the (text|prompt) has 257 characters, and the model sees 256 at once; give its last 256"),
    ],
)
def test_what_cannot_be_read_is_refused(prompt, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        MODEL.predict(prompt)
    with pytest.raises(ValueError, match=f"^{message}"):
        MODEL.stream(prompt)


def test_one_character_has_no_loss():
    with pytest.raises(ValueError, match=r"^the text has one character, 'a', and none to foretell; give two or more"):
        MODEL.loss("a")


def test_a_function_that_fails_is_named_with_what_it_was_given():
    def stops(*arguments):
        raise KeyError("no")

    call = r"^the attention function, called with X of shape \(3, 192\), .* n_heads=6 and a mask of shape \(3, 3\),"
    with pytest.raises(ValueError, match=f"{call} raised KeyError: 'no'"):
        MODEL.predict("abc", stops)
    with pytest.raises(ValueError, match=r"X_new of shape \(3, 192\) and no cache, raised KeyError: 'no'"):
        MODEL.write("abc", 1, attend=stops)
    with pytest.raises(ValueError, match=r"^attention with a cache, .* must return \(output, cache\)"):
        MODEL.write("abc", 1, attend=lambda X, *arguments: X)
    with pytest.raises(ValueError, match=r"^next_token_probabilities, .* raised KeyError"):
        MODEL.write("abc", 1, choose=lambda logits, **options: stops())
    with pytest.raises(ValueError, match=r"^next_token_probabilities, .* must return 65 probabilities"):
        MODEL.write("abc", 1, choose=lambda logits, **options: np.full(65, np.nan))


def test_attention_cannot_change_the_model():
    def changes(X, W_Q, *others):
        W_Q[:] = 0

    with pytest.raises(ValueError, match="read-only"):
        MODEL.predict("abc", changes)


def test_the_course_uses_one_text():
    codes = MODEL.codes(decoder.held_out_text()[:1000])
    assert_array_equal(np.array(list(MODEL.alphabet))[codes], list(decoder.held_out_text()[:1000]))
    assert multi_head_attention.__module__ == "mha_helpers.attention"


@pytest.mark.parametrize(
    ("seed", "n_characters", "temperature"), [(0, 130, 0.8), (2, 300, 0.3), (2, 300, 0.8), (2, 300, 1.5)]
)
def test_what_notebook_08_shows_is_the_same_on_every_processor(seed, n_characters, temperature):
    """The kinds of processor disagree by 1e-5 in a logit: no draw may fall as near as that to another character."""
    draws, nearest = np.random.default_rng(seed), []

    def choose(logits, **options):
        probabilities = next_token_probabilities(logits, **options)
        sums = probabilities.astype(np.float64).cumsum()
        nearest.append(np.abs(sums[:-1] - draws.random() * sums[-1]).min())
        return probabilities

    MODEL.write("ROMEO:\n", n_characters, seed=seed, temperature=temperature, choose=choose)
    assert min(nearest) * min(temperature, 1) > 1e-4


def test_where_numpy_is_slow_a_loss_is_measured_on_less_and_that_is_said(monkeypatch, capsys):
    whole = decoder.text_to_measure()
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(decoder, "HAS_BLAS", False)
    some = decoder.text_to_measure()
    assert capsys.readouterr().out.endswith(": 1,024 characters in place of 4,096\n")
    assert whole.startswith(some)
    assert MODEL.loss(some) == pytest.approx(MODEL.loss(whole), abs=0.05)


# ---- what notebooks 08 and 09 say of it, on other pieces of text than theirs

PIECES = [decoder.held_out_text()[start : start + 257] for start in range(9000, 90_000, 9000)]


def after_each_block(piece, mask):
    codes = MODEL.codes(piece)
    X, losses = MODEL.characters[codes[:-1]] + MODEL.positions[: len(codes) - 1], []
    for block in (*MODEL.blocks, None):
        logits = MODEL.norm(X) @ MODEL.characters.T
        losses.append(-np.log(softmax(logits)[np.arange(len(X)), codes[1:]]).mean())
        if block:
            X, _ = block(X, lambda X, *matrices: multi_head_attention(X, *matrices, MODEL.n_heads, mask))
    return losses


@pytest.mark.parametrize("piece", PIECES, ids=range(len(PIECES)))
def test_most_of_what_the_first_block_brings_needs_no_neighbour_and_nothing_later_does_without(piece):
    together, alone = (after_each_block(piece, make(256, dtype=bool)) for make in (np.tri, np.eye))
    assert (alone[0] - alone[1]) / (together[0] - together[1]) > 0.95
    assert (np.diff(together) < 0).all()
    assert (np.diff(alone[1:]) > 0).all()


def last_logits(piece, place, width, start):
    """What is guessed at a place from the last characters alone, of which the first stands at `start`."""
    codes = MODEL.codes(piece)[place + 1 - width : place + 1]
    X = MODEL.characters[codes] + MODEL.positions[start : start + width]
    for block in MODEL.blocks:
        X, _ = block(
            X, lambda X, *matrices: multi_head_attention(X, *matrices, MODEL.n_heads, np.tri(width, dtype=bool))
        )
    return MODEL.norm(X[-1]) @ MODEL.characters.T


@pytest.mark.parametrize("width", [32, 16])
def test_what_a_window_costs_comes_of_where_its_characters_stand(width):
    window = np.tri(256, dtype=bool) & ~np.tri(256, k=-width, dtype=bool)

    def windowed(X, *matrices):
        return multi_head_attention(X, *matrices[:-1], window)

    costs = []
    for piece in PIECES:
        codes, places = MODEL.codes(piece), range(128, 256, 16)
        ways = [MODEL.predict(piece[:256], attend)[0][places] for attend in (multi_head_attention, windowed)]
        ways += [
            np.array([last_logits(piece, place, width, start(place)) for place in places])
            for start in (lambda place: 0, lambda place: place + 1 - width)
        ]
        costs.append([-np.log(softmax(way)[np.arange(len(places)), codes[129:257:16]]).mean() for way in ways])
    everything, in_window, alone, at_own_places = np.mean(costs, axis=0)
    assert at_own_places == pytest.approx(in_window, abs=0.1)
    assert alone - everything < (in_window - everything) / 2


def test_the_log_is_that_of_the_training():
    log = decoder.training_log()
    assert [line["step"] for line in log] == [*range(250, 2501, 250), 2700]
    assert log[-1]["held_out"] == ORIGINAL["held_out_loss"]
    assert all((line["training"] < line["held_out"]) == (line["step"] >= 750) for line in log)
