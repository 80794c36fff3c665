"""Notebook 06's questions that ask for an answer before they run anything, on the trained model."""

from mha_helpers.exercises.output_projection.multi_head_attention import exercise
from mha_helpers.exercises.prediction import Prediction
from mha_helpers.model import encoder, questions

TIRED, SOFT = (f"The cat sat on the mat because it was {word}." for word in ("tired", "soft"))
SLUGS = {
    "scores not divided": "scale-missing",
    "merged without the transpose": "mha-combine-without-transpose",
    "W_O left out": "mha-no-output-projection",
}


def _with_mistakes():
    model = encoder.load()
    right = model.encode(TIRED).vector
    wrong = {mistake.slug: mistake.implementations[0] for mistake in exercise.mistakes}
    lines = []
    for what, slug in SLUGS.items():
        found = model.encode(TIRED, attend=wrong[slug]).vector
        lines.append(f"{what + ':':29} cosine with the sentence's right vector {found @ right:.4f}")
    return "\n".join(lines)


predict_lightly = Prediction(
    right="a",
    reactions={
        "a": "Without the division the weights are too sharp, but the largest weights are still the largest, and they "
        "still mix the right values. The other two mistakes put numbers into the wrong features, and everything after "
        "them relies on those.",
        "b": "All weights are right then, and yet every token gets features of others in the wrong places. The shapes "
        "survive, but not much else.",
        "c": "Without W_O, each head's result is added to its own 32 features, where the layers above expect something "
        "else.",
    },
    evidence=_with_mistakes,
)


def _tired_and_soft():
    lines = []
    for sentence in (TIRED, SOFT):
        found = encoder.load().encode(sentence)
        row = dict(zip(found.tokens, found.weights[5, 11, found.tokens.index("it")], strict=True))
        lines.append(f"{found.tokens[-3]}: cat {row['cat']:.4f}, mat {row['mat']:.4f}")
    return "\n".join(lines)


predict_soft = Prediction(
    right="b",
    reactions={
        "a": "That would prove that the head knows what “it” is. But the weight hardly changes.",
        "b": "It hardly changes. Whatever this head does, it doesn't find out what “it” refers to.",
        "c": "Many heads of this model do rest there. This one stays with the cat.",
    },
    evidence=_tired_and_soft,
)


def _all_out():
    lines = []
    for name, without in (("with all heads", ()), ("without any head", questions.ALL_HEADS)):
        gap, nearest = questions.paraphrases(encoder.load(), without)
        lines.append(
            f"{name + ':':18} {nearest} of {len(questions.SAYINGS)} nearest to their own, by {gap:.3f} on average"
        )
    return "\n".join(lines)


predict_all_out = Prediction(
    right="c",
    reactions={
        "a": "The words themselves are still there, each with its vector and what the layers' networks make of it. "
        "Guitar is near music, cat near kitten, without any attention.",
        "b": "Not even that. Guitar and music, or cat and kitten, have similar vectors, and the mean of a sentence's "
        "vectors is enough for this test.",
        "c": "Each word still has its own vector, and the sentence's vector is the mean of those. That's enough here: "
        "a paraphrase uses similar words, so this test doesn't need attention at all.",
    },
    evidence=_all_out,
)
