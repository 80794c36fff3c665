"""Notebook 08's questions that ask for an answer before they run anything, on the model that writes."""

import numpy as np

from mha_helpers import decoder
from mha_helpers.attention import multi_head_attention, softmax
from mha_helpers.exercises.prediction import Prediction

TRIED = slice(12288, 14336)  # of the text that the model has not read: about as hard as the whole


def sees_one_too_many(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """Attend with a mask that reaches one character too far."""
    return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, np.tri(X.shape[-2], k=1, dtype=bool))


def _losses_with_one_too_many():
    model, text = decoder.load(), decoder.held_out_text()[TRIED]
    right, wrong = model.loss(text), model.loss(text, sees_one_too_many)
    return f"loss with the right mask: {right:.3f}\nloss with one character too many: {wrong:.3f}"


predict_one_too_many = Prediction(
    right="c",
    reactions={
        "a": "The answer is there to be read, but the model was trained when it wasn't, and has never learned to look "
        "for it. A model that is trained with this mask would do just that.",
        "b": "One more character among so many doesn't change that much. Most of what the heads look for is still "
        "there.",
        "c": "The model has never learned to copy the answer, so it can't. The extra character only disturbs it a "
        "little. So in this model such a mask hardly shows, which need not hold for another.",
    },
    evidence=_losses_with_one_too_many,
)


def _cold():
    written = decoder.load().write("ROMEO:\n", 180, temperature=0.1)
    words = "".join(letter if letter.isalpha() else " " for letter in written.lower()).split()
    return f"ROMEO:\n{written}\n({len(words)} words, {len(set(words))} of them different)"


predict_cold = Prediction(
    right="a",
    reactions={
        "a": "Each character is a likely one, and so are the words. But what most likely follows a common phrase is "
        "another common phrase, so the text goes round in circles.",
        "b": "Always taking the likeliest character doesn't make the best text. The model slips from one common phrase "
        "into the next.",
        "c": "The model has learned words, so the likeliest character changes with what came before. What repeats is "
        "whole phrases.",
    },
    evidence=_cold,
)


def _work_for_one_more():
    """Multiplications for one more character, with and without a cache: counted, so the same on every machine."""
    model = decoder.load()
    n_layers, d_model = len(model.blocks), model.positions.shape[1]
    lines = []
    for length in (16, 64, 256):
        for_each = 12 * d_model**2  # four projections and the MLP's two matrices
        with_cache = n_layers * (for_each + 2 * length * d_model)
        # Every row meets all keys, hidden ones too, as in a product of matrices.
        without = n_layers * (length * for_each + 2 * length**2 * d_model)
        lines.append(
            f"{length:4} characters: {with_cache / 1e6:6.2f} million with a cache, {without / 1e6:5.1f} million without"
        )
    return "\n".join(["multiplications for one more character, after", *lines])


predict_cached_time = Prediction(
    right="b",
    reactions={
        "a": "That is what all rows together would cost, and without a cache they are all computed again. With one, a "
        "single new query meets each key once.",
        "b": "Projections and MLP cost the same for every character. Only the scores and the mixing grow, in "
        "proportion to the length: one query meets all the keys. Scores and mixing cost as much as all the rest when "
        "there are 6 d_model keys, here 1152, which is more than this model ever sees.",
        "c": "Projections and MLP do cost the same each time. But every new query meets one key more than the last.",
    },
    evidence=_work_for_one_more,
)


COPIED = 100  # characters, given twice


def _twice():
    model, text = decoder.load(), decoder.held_out_text()
    first, second = [], []
    for start in range(20_000, 24_000, 500):
        once = text[start : start + COPIED]
        logits, _ = model.predict(once + once)
        codes = model.codes(once + once)
        chances = softmax(logits[:-1])[np.arange(2 * COPIED - 1), codes[1:]]
        costs = -np.log(chances)
        first.append(costs[5 : COPIED - 1].mean())
        second.append(costs[COPIED + 5 :].mean())  # by then it could have noticed
    return (
        f"loss on {COPIED} characters that it reads for the first time: {np.mean(first):.2f}\n"
        f"loss on the same characters, the second time over: {np.mean(second):.2f}"
    )


predict_twice = Prediction(
    right="b",
    reactions={
        "a": "Notebook 07's model would do that, with heads that attend to what followed the same token earlier. This "
        "one has none. Its head that attends to the character before is half of such a pair, and the other half is "
        "missing.",
        "b": "It has no induction heads: as the next cell shows, one head does attend to the character before, "
        "but none to what followed the last time. Plays hardly ever repeat long passages, so training may never "
        "have asked for that.",
        "c": "It isn't confused by a repetition. It just doesn't notice it: the second copy costs what the first one "
        "did.",
    },
    evidence=_twice,
)
