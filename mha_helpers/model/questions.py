"""Questions to ask the trained encoder, and the sentences to ask them with.

Each takes the model and measures its attention, or what changes when a mistake is put in or heads are knocked out.
"""

import numpy as np

from mha_helpers.attention import knock_out

ALL_HEADS = [(layer, head) for layer in range(6) for head in range(12)]

SENTENCES = (
    "The cat sat on the mat because it was tired.",
    "She put the money in the bank before it closed.",
    "Scientists have discovered a new species of frog in the forest.",
    "My brother, who lives in Paris, sent me a letter yesterday.",
    "Although it was raining, the children played in the garden until dark.",
    "Please close the window.",
)

# Eight sentences, each with its paraphrase.
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

# The five of all 72 heads that cost the model most of its margin on PHRASES when knocked out, the costliest first.
MOST_MISSED = ((3, 1), (1, 8), (0, 2), (2, 8), (5, 8))

# Sentences whose last word decides which of two nouns "it" stands for: (frame, (noun, last word), (noun, last word)).
# The trophy is from Levesque et al. (2012).
PRONOUNS = (
    ("The cat sat on the mat because it was {}.", ("cat", "tired"), ("mat", "soft")),
    ("The trophy does not fit in the suitcase because it is too {}.", ("trophy", "big"), ("suitcase", "small")),
    ("The dog did not cross the street because it was {}.", ("dog", "tired"), ("street", "wide")),
    ("The animal did not eat the apple because it was {}.", ("animal", "full"), ("apple", "rotten")),
)

# More of the same kind, to test what was found on PRONOUNS. All were written before the model read any, and none was
# dropped.
HELD_OUT_PRONOUNS = (
    ("The girl fed the duck near the pond until it was {}.", ("duck", "full"), ("pond", "frozen")),
    ("The mouse left the hole because it was {}.", ("mouse", "brave"), ("hole", "flooded")),
    ("The wolf did not cross the bridge because it was {}.", ("wolf", "afraid"), ("bridge", "broken")),
    ("The baby dropped the spoon because it was {}.", ("baby", "sleepy"), ("spoon", "slippery")),
    ("The monkey left the banana because it was {}.", ("monkey", "full"), ("banana", "unripe")),
    ("The fox avoided the trap because it was {}.", ("fox", "clever"), ("trap", "visible")),
    ("The sheep did not drink the water because it was {}.", ("sheep", "ill"), ("water", "dirty")),
    ("The elephant avoided the path because it was {}.", ("elephant", "lazy"), ("path", "narrow")),
    ("The puppy ignored the ball because it was {}.", ("puppy", "exhausted"), ("ball", "flat")),
    ("The bear entered the cave because it was {}.", ("bear", "cold"), ("cave", "warm")),
    ("The goat ate the grass because it was {}.", ("goat", "hungry"), ("grass", "green")),
    ("The frog jumped into the pool because it was {}.", ("frog", "hot"), ("pool", "cool")),
    ("The horse did not pull the cart because it was {}.", ("horse", "tired"), ("cart", "heavy")),
    ("The cat left the box because it was {}.", ("cat", "bored"), ("box", "cramped")),
    ("The dog did not eat the meat because it was {}.", ("dog", "ill"), ("meat", "rotten")),
    ("The donkey did not climb the hill because it was {}.", ("donkey", "stubborn"), ("hill", "steep")),
    ("The monkey did not open the door because it was {}.", ("monkey", "shy"), ("door", "locked")),
    ("The bird did not drink from the lake because it was {}.", ("bird", "nervous"), ("lake", "salty")),
    ("The pig did not enter the house because it was {}.", ("pig", "frightened"), ("house", "closed")),
    ("The lamb did not cross the stream because it was {}.", ("lamb", "weak"), ("stream", "deep")),
    ("The rabbit ate the carrot because it was {}.", ("rabbit", "hungry"), ("carrot", "fresh")),
    ("The snake did not swallow the egg because it was {}.", ("snake", "sleepy"), ("egg", "cracked")),
    ("The camel carried the bag because it was {}.", ("camel", "strong"), ("bag", "light")),
    ("The kitten did not climb the ladder because it was {}.", ("kitten", "scared"), ("ladder", "slippery")),
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
        The mean cosine over SENTENCES, each encoded alone: 1 if nothing changes.

    Examples
    --------
    >>> from mha_helpers import encoder
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
        How many of the eight are nearest to their own paraphrase.

    Examples
    --------
    >>> from mha_helpers import encoder
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
        For each of PHRASES, how much nearer its two orders are, together, to their own meanings than to each other's.
        Above 0, the model tells them apart.

    Examples
    --------
    >>> from mha_helpers import encoder
    >>> int((order_margins(encoder.load()) > 0).sum())
    10
    """
    texts = [text for phrases in PHRASES for text in phrases]
    found = model.encode(texts, without=without, knock_out=knock_out)
    vectors = np.array([encoding.vector for encoding in found]).reshape(len(PHRASES), 4, -1)
    first, second, of_first, of_second = vectors.swapaxes(0, 1)
    return ((first - second) * (of_first - of_second)).sum(axis=-1)


def lean(model, frame, word, nouns):
    """Tell how much more of its attention each token gives to one noun than to another, in every head.

    Parameters
    ----------
    model : Encoder
    frame : str
        A sentence with {} where its last word goes.
    word : str
    nouns : tuple of str
        Two words of the sentence.

    Returns
    -------
    of_it, of_others : ndarray, shape (n_layers, n_heads)
        For the query "it", and for the mean of all other queries.

    Examples
    --------
    >>> from mha_helpers import encoder
    >>> of_it, _ = lean(encoder.load(), "The cat sat on the mat because it was {}.", "tired", ("cat", "mat"))
    >>> of_it.shape, f"{of_it[3, 1]:.2f}"
    ((6, 12), '0.35')
    """
    found = model.encode(frame.format(word))
    to_first, to_second = (
        found.weights[..., found.tokens.index(noun)] for noun in nouns
    )  # (n_layers, n_heads, n_queries)
    it = found.tokens.index("it")
    return (to_first - to_second)[..., it], np.delete(to_first - to_second, it, axis=-1).mean(axis=-1)


def pronoun_shifts(model, sentences=PRONOUNS):
    """Measure how far each head's attention follows "it" from one noun to the other when the last word changes.

    Parameters
    ----------
    model : Encoder
    sentences : sequence, optional
        As PRONOUNS.

    Returns
    -------
    of_it, of_others : ndarray, shape (n_sentences, n_layers, n_heads)
        Above 0: towards the noun that "it" stands for. For the query "it", and for the mean of all other queries.

    Examples
    --------
    >>> from mha_helpers import encoder
    >>> of_it, of_others = pronoun_shifts(encoder.load())
    >>> f"{of_it.mean(axis=0)[3, 1]:.2f}", bool(abs(of_others[:, 3, 1]).max() < 0.02)
    ('0.25', True)
    """
    found = []
    for frame, (first, word), (second, other_word) in sentences:
        with_first, with_second = (lean(model, frame, last, (first, second)) for last in (word, other_word))
        found.append([a - b for a, b in zip(with_first, with_second, strict=True)])
    of_it, of_others = np.array(found).swapaxes(0, 1)
    return of_it, of_others


def bank_vectors(model):
    """Collect the vectors of "bank" in the eight sentences of MONEY and RIVER.

    Parameters
    ----------
    model : Encoder

    Returns
    -------
    ndarray, shape (8, n_layers + 1, d_model)
        The sentences of MONEY come first. The second axis: before the first layer, and after each layer.

    Examples
    --------
    >>> from mha_helpers import encoder
    >>> bank_vectors(encoder.load()).shape
    (8, 7, 384)
    """
    found = model.encode([*MONEY, *RIVER])
    return np.array([encoding.hidden[:, encoding.tokens.index("bank")] for encoding in found])


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
    >>> from mha_helpers import encoder
    >>> within, across = bank_cosines(encoder.load())
    >>> f"{within[-1] - across[-1]:.3f}"
    '0.033'
    """
    vectors = bank_vectors(model)
    money, river = np.split(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True), 2)
    different = ~np.eye(len(MONEY), dtype=bool)
    within = [np.einsum("ald,bld->lab", group, group)[:, different].mean(axis=-1) for group in (money, river)]
    across = np.einsum("ald,bld->lab", money, river).mean(axis=(1, 2))
    return np.mean(within, axis=0), across
