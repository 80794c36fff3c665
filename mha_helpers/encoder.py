"""A trained transformer in NumPy, into which any multi-head attention can be put.

The model is sentence-transformers/all-MiniLM-L6-v2, a BERT encoder that turns a sentence into a vector: 6 layers of 12
heads, d_model=384, d_head=32, 30522 words and pieces of words. Layers and heads are counted from 0.

Its attention has biases, and `multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None)` takes none. Every
function of that form runs it all the same, because b_Q, b_K and b_V are folded into their matrices
(`encoder_layers.fold_bias`) and b_O is added outside.

Devlin et al. (2019), "BERT", https://arxiv.org/abs/1810.04805. Reimers and Gurevych (2019), "Sentence-BERT",
https://arxiv.org/abs/1908.10084. Wang et al. (2020), "MiniLM", https://arxiv.org/abs/2002.10957.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mha_helpers.attention import knock_out, multi_head_attention
from mha_helpers.model import data as encoder_data
from mha_helpers.model.layers import N_HEADS, Block, Dense, LayerNorm, fold_bias, read_only
from mha_helpers.shapes import Array

INIT_SPREAD = np.float32(0.02)  # BERT's initializer_range


@dataclass(frozen=True, eq=False)
class Encoding:
    """What the model returns for one sentence.

    Parameters
    ----------
    tokens : tuple of str
        From "[CLS]" to "[SEP]"; a piece that continues a word begins with "##".
    weights : ndarray, shape (n_layers, n_heads, n_tokens, n_tokens)
    hidden : ndarray, shape (n_layers + 1, n_tokens, d_model)
        The tokens' vectors before the first layer, and after each.
    vector : ndarray, shape (d_model,)
        The sentence's vector: the mean of the last hidden states, scaled to length 1. The dot product of two of
        them is their cosine.
    message : str
        That the sentence was cut, and where; empty otherwise.
    """

    tokens: tuple[str, ...]
    weights: np.ndarray = field(repr=False)
    hidden: np.ndarray = field(repr=False)
    vector: np.ndarray = field(repr=False)
    message: str


@dataclass(frozen=True, eq=False, repr=False)
class Encoder:
    """A model to run: `load()` returns the trained one, `random_twin()` an untrained one."""

    tokenizer: object
    words: object  # words[ids] are these words' vectors
    positions: np.ndarray  # (max_tokens, d_model)
    embedding_norm: LayerNorm
    blocks: tuple[Block, ...]

    def __repr__(self):
        d_model = self.positions.shape[1]
        return f"Encoder({len(self.blocks)} layers of {N_HEADS} heads, {d_model=})"

    def tokens(self, sentence: str) -> tuple[str, ...]:
        """Cut a sentence into the words and pieces of words that the model reads.

        Parameters
        ----------
        sentence : str

        Returns
        -------
        tuple of str

        Raises
        ------
        ValueError
            If the sentence is not a string.

        Examples
        --------
        >>> load().tokens("The cat purred.")
        ('[CLS]', 'the', 'cat', 'pu', '##rred', '.', '[SEP]')
        """
        _, tokens, _ = self._read(sentence)
        return tokens

    def encode(
        self,
        sentences: str | list[str],
        attend: Callable[..., Any] = multi_head_attention,
        *,
        without: Sequence[tuple[int, int]] = (),
        knock_out: Callable[..., Array] = knock_out,
    ) -> Encoding | list[Encoding]:
        """Run the model on one sentence, or on several at once.

        Parameters
        ----------
        sentences : str or list of str
            What is longer than 256 tokens is cut, and the result's `message` says so.
        attend : callable, optional
            `attend(X, W_Q, W_K, W_V, W_O, n_heads)` returns `(output, weights)`. X is (n_sentences, n_tokens, d_model)
            and the matrices are (d_model, d_model), in float32; none of them can be changed in place. Where sentences
            have different lengths, a mask comes seventh: (n_sentences, 1, 1, n_tokens), True where a token may be seen.
        without : list of (int, int), optional
            Heads to knock out, as (layer, head). Their weights are returned all the same.
        knock_out : callable, optional
            `knock_out(W_O, heads, n_heads)` returns the W_O of a layer without these heads.

        Returns
        -------
        Encoding or list of Encoding
            One for each sentence, at its own length.

        Raises
        ------
        ValueError
            If a sentence is not a string, a head is not there, or `attend` raises an exception or returns something
            of another shape.

        Examples
        --------
        >>> model = load()
        >>> cat, kitten, bill = model.encode(["The cat sleeps.", "A kitten is napping.", "I have paid the bill."])
        >>> bool(cat.vector @ kitten.vector > cat.vector @ bill.vector)
        True
        >>> kitten.weights.shape, kitten.hidden.shape
        ((6, 12, 8, 8), (7, 8, 384))
        """
        knocked_out = _checked_heads(without, len(self.blocks))
        read = [self._read(sentence) for sentence in _as_list(sentences)]
        if not read:
            return []
        lengths = np.array([len(ids) for ids, _, _ in read])
        padded_ids = np.zeros((len(read), lengths.max()), int)  # 0 is [PAD]
        for row, (ids, _, _) in zip(padded_ids, read, strict=True):
            row[: len(ids)] = ids
        is_token = np.arange(lengths.max()) < lengths[:, None]
        mask = None if is_token.all() else is_token[:, None, None, :]

        hidden, weights = self._run(_Batch(padded_ids, mask), attend, knocked_out, knock_out)
        encodings = []
        for i, (n, (_, tokens, message)) in enumerate(zip(lengths, read, strict=True)):
            mean = hidden[-1, i, :n].mean(axis=0)
            vector = mean / np.linalg.norm(mean)
            encodings.append(Encoding(tokens, weights[:, i, :, :n, :n], hidden[:, i, :n], vector, message))
        return encodings[0] if isinstance(sentences, str) else encodings

    def _read(self, sentence):
        """Return a sentence's ids, its tokens, and the message where it had to be cut."""
        if not isinstance(sentence, str):
            raise ValueError(f"the sentence {sentence!r} is not a string; give text in quotes")
        # Half of a surrogate pair is no character, and no tokenizer reads it: the replacement character stands in.
        text = sentence.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        encoding = self.tokenizer.encode(text)
        ids, tokens, limit = encoding.ids, tuple(encoding.tokens), len(self.positions)
        if len(ids) <= limit:
            return ids, tokens, ""
        message = (
            f"The sentence has {len(ids)} tokens, of which the model reads {limit}: "
            f"it was cut after {tokens[limit - 2]!r}."
        )
        return ids[: limit - 1] + ids[-1:], tokens[: limit - 1] + tokens[-1:], message

    def _run(self, batch, attend, knocked_out, knock_out):
        """Return all hidden states and weights of a padded batch, layers first."""
        lowest = min((layer for layer, _ in knocked_out), default=len(self.blocks))
        unchanged = lowest if attend is multi_head_attention else 0  # a learner's function may be another next time
        below = [self._unchanged(batch, depth) for depth in range(unchanged + 1)]
        hidden, weights = [X for X, _ in below], [layer_weights for _, layer_weights in below[1:]]
        for layer in range(unchanged, len(self.blocks)):
            off = [head for at, head in knocked_out if at == layer]
            X, layer_weights = self.blocks[layer](hidden[-1], attend, batch.mask, off, knock_out)
            hidden.append(X)
            weights.append(layer_weights)
        return np.array(hidden), np.array(weights)

    @functools.cached_property
    def _unchanged(self):
        """Return a function for the unchanged model's hidden states and weights after a layer, each computed once."""

        @functools.lru_cache(64)
        def unchanged(batch, depth):
            if not depth:
                return self.embedding_norm(self.words[batch.ids] + self.positions[: batch.ids.shape[1]]), None
            X, _ = unchanged(batch, depth - 1)
            return self.blocks[depth - 1](X, multi_head_attention, batch.mask, [], knock_out)

        return unchanged


class _Batch:
    """Sentences' ids, padded, and their mask, where they need one: equal where both are."""

    def __init__(self, ids, mask):
        self.ids, self.mask = ids, mask
        self.key = ids.shape, ids.tobytes(), None if mask is None else mask.tobytes()

    def __eq__(self, other):
        return self.key == other.key

    def __hash__(self):
        return hash(self.key)


def _as_list(sentences):
    if isinstance(sentences, str | bytes):
        return [sentences]
    try:
        return list(sentences)
    except TypeError:
        raise ValueError(f"{sentences!r} is not a sentence; give a string, or a list of strings") from None


def _checked_heads(heads, n_layers):
    try:
        heads = [(operator.index(layer), operator.index(head)) for layer, head in heads]
    except (TypeError, ValueError):
        raise ValueError(f"without={heads!r} is not a list of heads; give pairs, such as [(0, 2), (5, 11)]") from None
    for layer, head in heads:
        if layer not in range(n_layers) or head not in range(N_HEADS):
            raise ValueError(
                f"there is no head {head} in layer {layer}; layers go from 0 to {n_layers - 1}, heads to {N_HEADS - 1}"
            )
    return heads


@functools.cache
def load() -> Encoder:
    """Load the trained model; a second call returns the same one.

    Returns
    -------
    Encoder

    Raises
    ------
    ValueError
        If one of the data files is missing or damaged.

    Examples
    --------
    >>> encoding = load().encode("The cat sat on the mat because it was tired.")
    >>> head = encoding.weights[5, 11]  # layer 5, head 11
    >>> encoding.tokens[8], encoding.tokens[head[8].argmax()]
    ('it', 'cat')
    """
    return assemble(encoder_data.load_tokenizer(), encoder_data.load_tensors())


def random_twin(seed: int = 0) -> Encoder:
    """Make an untrained model of the same form, to compare the trained one with.

    Parameters
    ----------
    seed : int, optional

    Returns
    -------
    Encoder
        With BERT's initial values: normally distributed weights of spread 0.02, no biases, and layer norms that
        neither stretch nor shift.

    Raises
    ------
    ValueError
        If the seed is not a whole number of 0 or more, and as `load` does.

    Examples
    --------
    >>> encoding = random_twin(seed=0).encode("The cat sat on the mat because it was tired.")
    >>> encoding.weights.shape, bool(encoding.weights.max() < 0.2)
    ((6, 12, 13, 13), True)
    """
    try:
        generator = np.random.default_rng(operator.index(seed))
    except (TypeError, ValueError):
        raise ValueError(f"seed={seed!r} is not possible; give an int of 0 or more") from None

    def untrained(name, array):
        if name == encoder_data.WORD_TABLE:
            return RandomTable(seed, array.codes.shape[1])
        if array.ndim == 2:
            return INIT_SPREAD * generator.standard_normal(array.shape, np.float32)
        return np.full_like(array, name.endswith("LayerNorm.weight"))

    tensors = {name: untrained(name, array) for name, array in encoder_data.load_tensors().items()}
    return assemble(load().tokenizer, tensors)


class RandomTable:
    """A table of random rows, each made when it is asked for: the same every time, and none of them kept."""

    def __init__(self, seed: int, width: int) -> None:
        self.seed, self.width = seed, width

    def __getitem__(self, ids):
        distinct, places = np.unique(ids, return_inverse=True)
        rows = [np.random.default_rng([self.seed, i]).standard_normal(self.width, np.float32) for i in distinct]
        return INIT_SPREAD * np.array(rows)[places.reshape(ids.shape)]


def assemble(tokenizer: Any, tensors: Any) -> Encoder:
    """Assemble a model from arrays under the names of their source."""

    def layer_norm(prefix):
        return LayerNorm(tensors[f"{prefix}.weight"], tensors[f"{prefix}.bias"])

    def dense(prefix):
        # PyTorch keeps (n_outputs, n_inputs), and multiplies by the transpose.
        return Dense(np.ascontiguousarray(tensors[f"{prefix}.weight"].T), tensors[f"{prefix}.bias"])

    norm = embedding_norm = layer_norm("embeddings.LayerNorm")
    blocks: list[Block] = []
    while f"encoder.layer.{len(blocks)}.output.dense.weight" in tensors:
        layer = f"encoder.layer.{len(blocks)}"
        queries, keys, values = (dense(f"{layer}.attention.self.{part}") for part in ("query", "key", "value"))
        W_O, b_O = dense(f"{layer}.attention.output.dense")
        # X comes out of the norm before: the embedding's, or the last layer's.
        matrices = (*(fold_bias(W, b, norm) for W, b in (queries, keys, values)), W_O)
        norm = layer_norm(f"{layer}.output.LayerNorm")
        blocks.append(
            Block._make(
                (
                    *map(read_only, matrices),
                    b_O,
                    layer_norm(f"{layer}.attention.output.LayerNorm"),
                    dense(f"{layer}.intermediate.dense"),
                    dense(f"{layer}.output.dense"),
                    norm,
                )
            )
        )
    # The model knows two types of token, for tasks on pairs of sentences; in single sentences all are of the first.
    positions = tensors["embeddings.position_embeddings.weight"] + tensors["embeddings.token_type_embeddings.weight"][0]
    return Encoder(tokenizer, tensors[encoder_data.WORD_TABLE], positions, embedding_norm, tuple(blocks))
