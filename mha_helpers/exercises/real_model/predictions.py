"""Notebook 06's questions that ask for an answer before they run anything, on the trained model."""

from mha_helpers import encoder
from mha_helpers.exercises.output_projection.multi_head_attention import exercise
from mha_helpers.exercises.prediction import Prediction
from mha_helpers.model import questions

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
        vector = model.encode(TIRED, attend=wrong[slug]).vector
        heading = "" if lines else "cosine with the right vector"
        lines.append(f"{what + ':':29} {heading:28} {vector @ right:.4f}")
    return "\n".join(lines)


predict_lightly = Prediction(
    right="a",
    reactions={
        "a": "Without the division the weights are too sharp, but they still mix the right "
        "values into the right features. The other two put numbers into features where later layers expect "
        "something else: W_O is left out, or gets the numbers in the wrong order.",
        "b": "The heads find the right things, but the reshape hands each token pieces of other tokens' results, in "
        "the wrong features. The shapes survive, but not much else.",
        "c": "Without W_O, each head's result is added to its own 32 features, where later layers expect something "
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
        "a": "That would suggest that the head knows what “it” stands for. But the weight hardly changes.",
        "b": "It hardly changes. Whatever this head does, it doesn't find out what “it” refers to.",
        "c": "Many heads of this model do put their weight there. This one stays with the cat.",
    },
    evidence=_tired_and_soft,
)


def _without_any_head():
    lines = []
    for name, without in (("with all heads", ()), ("without any head", questions.ALL_HEADS)):
        lead, n_passed = questions.paraphrases(encoder.load(), without)
        lines.append(f"{name + ':':18} {n_passed} of {len(questions.SAYINGS)} pass, mean lead in cosine {lead:.3f}")
    return "\n".join(lines)


predict_all_out = Prediction(
    right="c",
    reactions={
        "a": "The words themselves are still there, each with its own vector. “Guitar” is near “music”, and “cat” near "
        "“kitten”, without any attention.",
        "b": "All of them still pass. “Guitar” and “music”, or “cat” and “kitten”, have similar vectors, and the mean "
        "of a sentence's vectors is enough for this test.",
        "c": "Each word still has its own vector, and the mean of those is enough: a paraphrase uses similar words. "
        "Attention widens the lead over the others, but a count of passes doesn't show it.",
    },
    evidence=_without_any_head,
)
