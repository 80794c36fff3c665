"""Runs of a trained model on sentences that someone types, each made once; and what its heads rest on."""

import contextlib
import dataclasses
import functools
import warnings

import numpy as np

from mha_helpers import attention, encoder
from mha_helpers.labs.learner_function import run_for_lab

MAX_TOKENS = 24  # more could not be read in a picture
N_LAYERS, N_HEADS = 6, encoder.N_HEADS

# Of one length, so that they run together without a mask.
FIXED = ("A sleepy kitten lay on the rug.", "The mat was made of old straw.", "My bank sent me a new card.")

# The keys that a head may rest on.
KINDS = {
    "prev": "the token before",
    "next": "the token after",
    "self": "the token itself",
    "[CLS]": "the first token",
    "[SEP]": "the last token",
}
UNCLEAR = "unclear"
THRESHOLD = 0.5  # of the weight, on average: what a head's label needs
FEWEST_TOKENS = 4  # of fewer, a key is of several kinds at once


def mean_weights(weights):
    """Measure how much of a head's weight goes to each kind of key.

    Parameters
    ----------
    weights : ndarray, shape (..., n_tokens, n_tokens)
        Two tokens at least.

    Returns
    -------
    ndarray, shape (..., len(KINDS))
        In the order of KINDS: the mean over the queries that have such a key.

    Examples
    --------
    >>> mean_weights(np.eye(4, k=-1))
    array([1.  , 0.  , 0.  , 0.25, 0.  ])
    """
    diagonals = [np.diagonal(weights, offset, -2, -1) for offset in (-1, 1, 0)]
    return np.stack([found.mean(axis=-1) for found in (*diagonals, weights[..., 0], weights[..., -1])], axis=-1)


def label(weights):
    """Name the kind of key that a head rests on: the one with most weight, if that is THRESHOLD or more.

    Parameters
    ----------
    weights : ndarray, shape (n_tokens, n_tokens)

    Returns
    -------
    str
        A key of KINDS, or UNCLEAR: so always where there are too few tokens to tell the kinds apart.

    Examples
    --------
    >>> label(np.eye(4, k=-1)), label(np.full((4, 4), 0.25)), label(np.eye(2))
    ('prev', 'unclear', 'unclear')
    """
    means = np.nan_to_num(mean_weights(weights), nan=0)
    if len(weights) < FEWEST_TOKENS or means.max() < THRESHOLD:
        return UNCLEAR
    return [*KINDS][means.argmax()]


@dataclasses.dataclass(frozen=True, eq=False)
class KnockOut:
    """What knocking one head out does to a sentence's vector."""

    cosine: float  # of the vectors with and without the head
    before: np.ndarray  # the sentence's cosine with each of FIXED
    after: np.ndarray  # the same without the head


class Runs:
    """One model with one attention function in it.

    A learner may define what the function calls anew, so these are to live as long as one lab, and no longer.

    Parameters
    ----------
    function : callable
        The learner's multi_head_attention, or the course's own.
    make_encoder : callable, optional
        Returns the model.
    """

    def __init__(self, function, make_encoder=encoder.load):
        self.function = function
        self.encoder = functools.cache(lambda: _with_fewer_positions(make_encoder()))
        self.answer = functools.lru_cache(32)(self._answer)
        self.encode = functools.lru_cache(32)(self._encode)
        self.vectors_without = functools.lru_cache(256)(self._vectors_without)

    def _answer(self, sentence):
        """Return what the first layer makes of the function, and whose numbers can be shown."""
        block = self.encoder().blocks[0]
        X = OURS.encode(sentence).hidden[0][None]
        matrices = {name: getattr(block, name) for name in ("W_Q", "W_K", "W_V", "W_O")}
        arguments = {"X": X} | matrices | {"n_heads": N_HEADS}
        return run_for_lab(self.function, attention.multi_head_attention, arguments, ("output", "weights"))

    def _encode(self, sentence):
        with _quietly():
            return self.encoder().encode(sentence, self.function)

    def _vectors_without(self, sentences, layer, head):
        """Return the vectors of sentences of one length; what comes before the layer needs no second run."""
        X = np.stack([self.encode(sentence).hidden[layer] for sentence in sentences])
        with _quietly():
            for depth, block in enumerate(self.encoder().blocks[layer:]):
                off = [] if depth else [head]
                X, _ = block(X, self.function, None, off, attention.knock_out)
            means = X.mean(axis=1)
            return means / np.linalg.norm(means, axis=-1, keepdims=True)

    def knock_out(self, sentence, layer, head):
        """Knock one head out.

        Parameters
        ----------
        sentence : str
        layer, head : int
            Counted from 0.

        Returns
        -------
        KnockOut
        """
        vector, fixed = self.encode(sentence).vector, np.stack([self.encode(other).vector for other in FIXED])
        [without], fixed_without = (self.vectors_without(sentences, layer, head) for sentences in ((sentence,), FIXED))
        with _quietly():
            return KnockOut(float(vector @ without), fixed @ vector, fixed_without @ without)


def _with_fewer_positions(model):
    """Let a model read no more tokens than the picture has room for: it cuts what is longer, and says so."""
    return dataclasses.replace(model, positions=model.positions[:MAX_TOKENS])


@contextlib.contextmanager
def _quietly():
    """Let no warning of a learner's function reach the page: what it computes is seen."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


OURS = Runs(attention.multi_head_attention)
TWINS = Runs(attention.multi_head_attention, encoder.random_twin)
