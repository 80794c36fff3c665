"""Questions to put to the trained encoder, and the sentences to put them with.

Each takes the model and says with numbers what a change of its attention does: a mistake put in, or heads knocked out.
"""

import numpy as np

from mha_helpers.maths.attention import knock_out

ALL_HEADS = [(layer, head) for layer in range(6) for head in range(12)]

SENTENCES = (
    "The cat sat on the mat because it was tired.",
    "She put the money in the bank before it closed.",
    "Scientists have discovered a new species of frog in the forest.",
    "My brother, who lives in Paris, sent me a letter yesterday.",
    "Although it was raining, the children played in the garden until dark.",
    "Please close the window.",
)

# Eight sentences, and each in other words.
SAYINGS = {
    "A man plays the guitar outside.": "Someone makes music in the street.",
    "The cat sleeps on the sofa.": "A kitten naps on the couch.",
    "It will rain tomorrow.": "The forecast says wet weather.",
    "The price of oil fell.": "Crude became cheaper.",
    "She forgot her keys at work.": "Her keys were left at the office.",
    "The kids build a sandcastle.": "Children play on the beach.",
    "His train was late again.": "The railway kept him waiting.",
    "The doctor told him not to smoke.": "A physician advised against cigarettes.",
}

# The same words in another order, and what each order means.
PHRASES = (
    ("milk chocolate", "chocolate milk", "a sweet bar", "a sweet drink"),
    ("a race horse", "a horse race", "a fast animal", "a competition"),
    ("oil lamp", "lamp oil", "a light", "a liquid fuel"),
    ("a house boat", "a boat house", "a ship to live in", "a building for ships"),
    ("a flower garden", "a garden flower", "a park with plants", "a plant with petals"),
    ("a dog house", "a house dog", "a hut for a pet", "a pet that lives indoors"),
    ("a bird cage", "a cage bird", "a box with bars", "an animal with wings"),
    ("a piano concert", "a concert piano", "an evening of music", "a large instrument"),
    ("a school bus", "a bus school", "a vehicle for pupils", "lessons for drivers"),
    ("a kitchen knife", "a knife kitchen", "a sharp tool", "a room with blades"),
)

# The heads without which the model loses most of its margin on PHRASES, of all 72, the worst loss first.
MOST_MISSED = ((3, 1), (1, 8), (0, 2), (2, 8), (5, 8))

# A sentence whose last word decides which of two nouns "it" is; the trophy is from Levesque et al. (2012).
PRONOUNS = (
    ("The cat sat on the mat because it was {}.", ("cat", "tired"), ("mat", "soft")),
    ("The trophy does not fit in the suitcase because it is too {}.", ("trophy", "big"), ("suitcase", "small")),
    ("The dog did not cross the street because it was {}.", ("dog", "tired"), ("street", "wide")),
    ("The animal did not eat the apple because it was {}.", ("animal", "full"), ("apple", "rotten")),
)

# "bank" with each of its meanings.
MONEY = (
    "She put the money in the bank.",
    "The bank approved my loan.",
    "He works at a bank in London.",
    "My bank charges high fees.",
)
RIVER = (
    "He sat on the bank near the river.",
    "The bank was muddy after the flood.",
    "They fished from the bank all day.",
    "Trees grow along the bank.",
)


def agreement(model, **options):
    """Measure how near a changed model's sentence vectors come to the model's own.

    Parameters
    ----------
    model : Encoder
    **options
        As `Encoder.encode` takes them: `attend`, `without`, `knock_out`.

    Returns
    -------
    float
        The mean cosine over SENTENCES, each encoded alone: 1 is the same.

    Examples
    --------
    >>> from mha_helpers.model import encoder
    >>> f"{agreement(encoder.load(), without=ALL_HEADS):.2f}"
    '0.51'
    """
    pairs = [(model.encode(sentence), model.encode(sentence, **options)) for sentence in SENTENCES]
    return float(np.mean([right.vector @ changed.vector for right, changed in pairs]))


def paraphrases(model, without=(), knock_out=knock_out):
    """Ask whether each of SAYINGS is still nearest to its own paraphrase when heads are knocked out.

    Parameters
    ----------
    model : Encoder
    without : list of (int, int), optional
        Heads, as (layer, head).
    knock_out : callable, optional

    Returns
    -------
    gap : float
        How much larger the mean cosine of the pairs is than that of all other combinations.
    nearest : int
        How many of the eight are nearest to their own.

    Examples
    --------
    >>> from mha_helpers.model import encoder
    >>> paraphrases(encoder.load(), ALL_HEADS)[1]
    8
    """
    found = model.encode([*SAYINGS, *SAYINGS.values()], without=without, knock_out=knock_out)
    vectors = np.array([encoding.vector for encoding in found])
    cosines = vectors[: len(SAYINGS)] @ vectors[len(SAYINGS) :].T
    own = np.eye(len(SAYINGS), dtype=bool)
    nearest = (cosines.argmax(axis=1) == np.arange(len(SAYINGS))).sum()
    return float(cosines[own].mean() - cosines[~own].mean()), int(nearest)


def order_margins(model, without=(), knock_out=knock_out):
    """Ask whether the model tells "milk chocolate" from "chocolate milk" when heads are knocked out.

    Parameters
    ----------
    model : Encoder
    without : list of (int, int), optional
    knock_out : callable, optional

    Returns
    -------
    ndarray, shape (10,)
        For each of PHRASES, how much nearer both are to their own meaning than to the other's: above 0 is right.

    Examples
    --------
    >>> from mha_helpers.model import encoder
    >>> int((order_margins(encoder.load()) > 0).sum())
    10
    """
    texts = [text for phrases in PHRASES for text in phrases]
    found = model.encode(texts, without=without, knock_out=knock_out)
    vectors = np.array([encoding.vector for encoding in found]).reshape(len(PHRASES), 4, -1)
    one, other, of_one, of_other = vectors.swapaxes(0, 1)
    return ((one - other) * (of_one - of_other)).sum(axis=-1)


def pronoun_weights(model, query="it"):
    """Collect what a word gives to the two nouns of each sentence of PRONOUNS, in every head.

    Parameters
    ----------
    model : Encoder
    query : str, optional
        The word that asks, or "others" for the mean over all other tokens.

    Returns
    -------
    ndarray, shape (n_sentences, 2, n_layers, n_heads, 2)
        The second axis is the last word (the first makes "it" the first noun), the last axis the two nouns.

    Examples
    --------
    >>> from mha_helpers.model import encoder
    >>> found = pronoun_weights(encoder.load())
    >>> found.shape, f"{found[0, 0, 5, 11, 0]:.2f}"
    ((4, 2, 6, 12, 2), '0.72')
    """
    rows = []
    for frame, (first, word), (second, other_word) in PRONOUNS:
        for last in (word, other_word):
            found = model.encode(frame.format(last))
            nouns = [found.tokens.index(noun) for noun in (first, second)]
            to_nouns = found.weights[..., nouns]  # (n_layers, n_heads, n_tokens, 2)
            it = found.tokens.index("it")
            others = np.delete(to_nouns, it, axis=2).mean(axis=2)
            rows.append(others if query == "others" else to_nouns[:, :, found.tokens.index(query)])
    return np.array(rows).reshape(len(PRONOUNS), 2, *rows[0].shape)


def bank_cosines(model):
    """Compare the vectors of "bank" within one meaning and across the two, layer by layer.

    Parameters
    ----------
    model : Encoder

    Returns
    -------
    within, across : ndarray, shape (n_layers + 1,)
        Mean cosines, before the first layer and after each.

    Examples
    --------
    >>> from mha_helpers.model import encoder
    >>> within, across = bank_cosines(encoder.load())
    >>> f"{within[-1] - across[-1]:.3f}"
    '0.033'
    """

    def banks(sentences):
        found = model.encode(list(sentences))
        hidden = np.array([encoding.hidden[:, encoding.tokens.index("bank")] for encoding in found])
        return hidden / np.linalg.norm(hidden, axis=-1, keepdims=True)  # (n_sentences, n_layers + 1, d_model)

    money, river = banks(MONEY), banks(RIVER)
    different = ~np.eye(len(MONEY), dtype=bool)
    within = [np.einsum("ald,bld->lab", these, these)[:, different].mean(axis=-1) for these in (money, river)]
    across = np.einsum("ald,bld->lab", money, river).mean(axis=(1, 2))
    return np.mean(within, axis=0), across
