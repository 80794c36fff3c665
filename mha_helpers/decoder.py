"""A trained GPT over characters in NumPy, into which any causal multi-head attention can be put.

It was trained on a million characters of Shakespeare's plays, and writes one character at a time: `load()` returns it.
Its blocks keep a residual stream: attention and MLP each read it through a layer norm, and add to it. Layers and
heads are counted from 0.

Radford et al. (2019), "Language Models are Unsupervised Multitask Learners" (GPT-2). The squared ReLU of the MLP: So et
al. (2021), "Primer", https://arxiv.org/abs/2109.08668. `data/writer/train.py` trained the model.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mha_helpers.attention import multi_head_attention
from mha_helpers.course_data import data_path
from mha_helpers.decoding import attend_with_cache, embed_new, next_token_probabilities
from mha_helpers.masks import causal_mask
from mha_helpers.model.data import ORIGIN, WEIGHTS, checked_content, read_safetensors
from mha_helpers.model.layers import LayerNorm, call_attention, read_only
from mha_helpers.products import HAS_BLAS, product
from mha_helpers.shapes import Array, check_count

FOLDER, TEXT, LOG = "writer", "shakespeare.txt", "training.jsonl"
NORM_EPSILON = np.float32(1e-5)  # PyTorch's own
MEASURED = slice(12288, 16384)  # of the held-out text
WINDOWS = 8  # how many windows of text go through the model together


class DecoderBlock(NamedTuple):
    """One layer: attention, then an MLP, each on normalised tokens and added to the residual stream."""

    attention_norm: LayerNorm
    matrices: tuple[np.ndarray, ...]  # W_Q, W_K, W_V and W_O, each (d_model, d_model)
    mlp_norm: LayerNorm
    widen: np.ndarray  # (d_model, 4 d_model)
    narrow: np.ndarray  # and back

    def __call__(self, X: Array, attend: Callable[..., Any]) -> tuple[Array, Array]:
        """Return the stream after this layer, and what `attend(X, *matrices)` returned beside its output."""
        output, kept = attend(self.attention_norm(X), *self.matrices)
        X = X + output
        hidden = np.maximum(product(self.mlp_norm(X), self.widen), 0)
        return X + product(hidden**2, self.narrow), kept


@dataclass(frozen=True, eq=False, repr=False)
class Decoder:
    """A model that predicts the next character: `load()` returns the trained one."""

    alphabet: str
    n_heads: int
    characters: np.ndarray  # (n_characters, d_model); it serves at both ends
    positions: np.ndarray  # (context_length, d_model)
    blocks: tuple[DecoderBlock, ...]
    norm: LayerNorm

    def __repr__(self):
        d_model = self.positions.shape[1]
        return (
            f"Decoder({len(self.blocks)} layers of {self.n_heads} heads, {d_model=}, {self.context_length} characters)"
        )

    @property
    def context_length(self) -> int:
        """How many characters the model sees at once."""
        return len(self.positions)

    def codes(self, text: str) -> Array:
        """Return each character's place in the alphabet.

        Parameters
        ----------
        text : str

        Returns
        -------
        ndarray of int, shape (len(text),)

        Raises
        ------
        ValueError
            If the text is empty, not a string, or has a character that the model has never seen.

        Examples
        --------
        >>> load().codes("To be")
        array([32, 53,  1, 40, 43])
        """
        if not isinstance(text, str):
            raise ValueError(f"the text {text!r} is not a string; give text in quotes")
        if not text:
            raise ValueError("the text is empty; give at least one character, such as a line break, '\\n'")
        unknown = sorted(set(text) - set(self.alphabet))
        if unknown:
            raise ValueError(
                f"the model has never seen {', '.join(map(repr, unknown))}; it knows the letters from A to Z and a to "
                "z, blanks, line breaks and " + " ".join(c for c in self.alphabet if not c.isalpha() and c not in " \n")
            )
        return np.array([self.alphabet.index(character) for character in text])

    def predict(self, text: str, attend: Callable[..., Any] = multi_head_attention) -> tuple[Array, Array]:
        """Run the model on a text, and see what it expects after each of its characters.

        Parameters
        ----------
        text : str
            At most `context_length` characters.
        attend : callable, optional
            `attend(X, W_Q, W_K, W_V, W_O, n_heads, mask)` returns `(output, weights)`. X is (n, d_model) and the
            mask (n, n), True where a character may be seen.

        Returns
        -------
        logits : ndarray, shape (n, n_characters)
            Row i scores what may follow character i.
        weights : ndarray, shape (n_layers, n_heads, n, n)

        Raises
        ------
        ValueError
            If the text is empty, too long or has unknown characters, or `attend` raises an exception or returns
            something of another shape.

        Examples
        --------
        >>> model = load()
        >>> logits, weights = model.predict("To be, or not to b")
        >>> model.alphabet[logits[-1].argmax()], weights.shape
        ('e', (4, 6, 18, 18))
        """
        codes = self.codes(text)
        if len(codes) > self.context_length:
            raise ValueError(
                f"the text has {len(codes)} characters, and the model sees {self.context_length} at once; give its "
                f"last {self.context_length}, text[-{self.context_length}:], or fewer"
            )
        weights: list[Array] = []
        logits = self._run(codes, attend, weights.append)
        return logits, np.array(weights)

    def loss(self, text: str, attend: Callable[..., Any] = multi_head_attention) -> float:
        """Measure how well the model predicts a text.

        Parameters
        ----------
        text : str
            Two characters or more. What is longer than `context_length` is read in windows of that length, which do
            not overlap: the first character of each is foretold from nothing but itself.
        attend : callable, optional
            As for `predict`, with windows as batch axis.

        Returns
        -------
        float
            The mean of -log(probability of the character that came), in nats: log(65) = 4.17 for a guess.

        Raises
        ------
        ValueError
            As for `predict`.

        Examples
        --------
        >>> bool(load().loss("To be, or not to be") < load().loss("eb ot ton ro ,eb oT"))
        True
        """
        codes = self.codes(text)
        if len(codes) < 2:
            raise ValueError(f"the text has one character, {text!r}, and none to foretell; give two or more")
        inputs, targets, length = codes[:-1], codes[1:], self.context_length
        whole = len(inputs) // length * length
        windows = [array[:whole].reshape(-1, length) for array in (inputs, targets)]
        parts = [tuple(array[i : i + WINDOWS] for array in windows) for i in range(0, whole // length, WINDOWS)]
        if whole < len(inputs):
            parts.append((inputs[None, whole:], targets[None, whole:]))
        total = 0.0
        for some, wanted in parts:
            logits = self._run(some, attend)
            top = logits.max(axis=-1)
            normaliser = np.log(np.exp(logits - top[..., None]).sum(axis=-1)) + top
            chosen = np.take_along_axis(logits, wanted[..., None], axis=-1)[..., 0]
            total += (normaliser - chosen).sum(dtype=np.float64)
        return float(total / len(targets))

    def _run(self, codes, attend, see_weights=lambda weights: None):
        """Return the logits after each character of texts of one length, (..., n) codes."""
        n = codes.shape[-1]
        mask = causal_mask(n)

        def whole(X, *matrices):
            return call_attention(attend, X, matrices, self.n_heads, mask)

        X = embed_new(codes, self.characters, self.positions)
        for block in self.blocks:
            X, weights = block(X, whole)
            see_weights(weights)
        return self.norm(X) @ self.characters.T

    def stream(
        self,
        prompt: str,
        *,
        temperature: float = 1.0,
        top_k: int | None = None,
        seed: int = 0,
        cached: bool = True,
        attend: Callable[..., Any] | None = None,
        choose: Callable[..., Any] = next_token_probabilities,
    ) -> Iterator[str]:
        """Continue a prompt, one character at a time and without end.

        Parameters
        ----------
        prompt : str
            At most `context_length` characters.
        temperature, top_k : optional
            As for `next_token_probabilities`.
        seed : int, optional
            The same seed draws the same text.
        cached : bool, optional
            Whether keys and values are kept. Without that, the whole text is read again for each character.
        attend : callable, optional
            `attend(X_new, W_Q, W_K, W_V, W_O, n_heads, cache)` returns `(output, cache)`. X_new is (n_new, d_model),
            and the cache what the last call returned, or None. Not cached, it is called as by `predict`.
        choose : callable, optional
            `choose(logits, temperature=..., top_k=...)` returns the probabilities to draw from.

        Yields
        ------
        str
            One character.

        Raises
        ------
        ValueError
            If the prompt is empty, too long or has unknown characters, or one of the functions raises an exception
            or returns something of another shape.

        Notes
        -----
        When the context is full, the older half is dropped, and the newer half read again from its beginning:
        positions are learned, so that a character's keys hold only for the place that it had.

        Examples
        --------
        >>> from itertools import islice
        >>> "".join(islice(load().stream("To be, or not to b", temperature=0.1), 1))
        'e'
        """
        codes = self.codes(prompt)
        if len(codes) > self.context_length:
            raise ValueError(
                f"the prompt has {len(codes)} characters, and the model sees {self.context_length} at once; give its "
                f"last {self.context_length}, prompt[-{self.context_length}:], or fewer"
            )
        attend = attend or (attend_with_cache if cached else multi_head_attention)
        return self._stream(list(codes), temperature, top_k, np.random.default_rng(seed), cached, attend, choose)

    def _stream(self, codes, temperature, top_k, generator, cached, attend, choose):
        new, start, caches = codes, 0, [None] * len(self.blocks)
        while True:
            if cached:
                logits, caches = self._run_new(np.array(new), start, attend, caches)
            else:
                logits = self._run(np.array(codes), attend)
            probabilities = _call_choose(choose, logits[-1], temperature, top_k)
            # Inverse sampling: the first character at which the running sum passes a draw from 0 to 1.
            sums = probabilities.cumsum()
            code = int(np.searchsorted(sums, generator.random() * sums[-1], side="right"))
            yield self.alphabet[code]
            codes.append(code)
            if len(codes) > self.context_length:
                codes = codes[-(self.context_length // 2) :]
                new, start, caches = codes, 0, [None] * len(self.blocks)
            else:
                new, start = [code], len(codes) - 1

    def _run_new(self, codes, start, attend, caches):
        """Return the logits after new characters, of which the first has the position `start`, and the new caches."""
        X = embed_new(codes, self.characters, self.positions, start)
        kept = []
        for block, cache in zip(self.blocks, caches, strict=True):
            X, cache = block(X, functools.partial(_call_new, attend, self.n_heads, cache))
            kept.append(cache)
        return self.norm(X) @ self.characters.T, kept

    def write(self, prompt: str, n_characters: int = 300, **options: Any) -> str:
        """Continue a prompt.

        Parameters
        ----------
        prompt : str
            At most `context_length` characters.
        n_characters : int, optional
            How many to write.
        **options
            Those of `stream`.

        Returns
        -------
        str
            What was written, without the prompt.

        Raises
        ------
        ValueError
            As for `stream`, and if n_characters is not a whole number of 1 or more.

        Examples
        --------
        >>> load().write("To be, or not to b", 1, temperature=0.1)
        'e'
        """
        n_characters = check_count("n_characters", n_characters)
        stream = self.stream(prompt, **options)
        return "".join(next(stream) for _ in range(n_characters))


def _call_new(attend, n_heads, cache, X, *matrices):
    """Call attention with a cache, and check the shape of its output; what is in the cache is up to it."""
    call = (
        f"attention with a cache, called with X_new of shape {X.shape} and {'a' if cache is not None else 'no'} cache,"
    )
    try:
        returned = attend(read_only(X), *matrices, n_heads, cache)
    except Exception as error:
        raise ValueError(f"{call} raised {type(error).__name__}: {error}") from error
    if not (isinstance(returned, tuple) and len(returned) == 2 and np.shape(returned[0]) == X.shape):
        raise ValueError(f"{call} must return (output, cache), with an output of the shape of X_new")
    return returned


def _call_choose(choose, logits, temperature, top_k):
    call = f"next_token_probabilities, called with {len(logits)} logits, {temperature=} and {top_k=},"
    try:
        probabilities = np.asarray(choose(logits, temperature=temperature, top_k=top_k), np.float64)
    except Exception as error:
        raise ValueError(f"{call} raised {type(error).__name__}: {error}") from error
    if probabilities.shape != logits.shape or not (probabilities >= 0).all() or not probabilities.any():
        raise ValueError(f"{call} must return {len(logits)} probabilities, none of them below 0 or NaN")
    return probabilities


@functools.cache
def load() -> Decoder:
    """Load the trained model; a second call returns the same one.

    Returns
    -------
    Decoder

    Raises
    ------
    ValueError
        If one of the data files is missing or damaged.

    Examples
    --------
    >>> load()
    Decoder(4 layers of 6 heads, d_model=192, 256 characters)
    """
    settings = load_settings()
    return assemble(load_tensors(), settings["alphabet"], settings["n_heads"])


def load_tensors() -> Any:
    """Read the model's arrays: float32, under PyTorch's names."""
    stored = read_safetensors(checked_content(WEIGHTS, FOLDER))
    return {name: array.astype(np.float32) for name, array in stored.items()}


def load_settings() -> Any:
    """Read how the model was made: its alphabet, its sizes, and how it was trained."""
    return json.loads(data_path(f"{FOLDER}/{ORIGIN}").read_text(encoding="utf-8"))["settings"]


def assemble(tensors: Any, alphabet: str, n_heads: int) -> Decoder:
    """Assemble a model from float32 arrays, under the names that `data/writer/train.py` gave them."""

    def matrix(name):
        # PyTorch keeps (n_outputs, n_inputs), and multiplies by the transpose.
        return read_only(np.ascontiguousarray(tensors[f"{name}.weight"].T))

    def norm(name):
        return LayerNorm(tensors[f"{name}.weight"], np.float32(0), NORM_EPSILON)

    blocks: list[DecoderBlock] = []
    while f"blocks.{len(blocks)}.widen.weight" in tensors:
        block = f"blocks.{len(blocks)}"
        blocks.append(
            DecoderBlock(
                norm(f"{block}.attention_norm"),
                tuple(matrix(f"{block}.{part}") for part in ("queries", "keys", "values", "output")),
                norm(f"{block}.mlp_norm"),
                matrix(f"{block}.widen"),
                matrix(f"{block}.narrow"),
            )
        )
    return Decoder(
        alphabet, n_heads, tensors["characters.weight"], tensors["positions.weight"], tuple(blocks), norm("norm")
    )


def training_log() -> list[dict[str, float]]:
    """Return what was measured while the model was trained.

    Returns
    -------
    list of dict of str to float
        After every 250 steps and at the end: "step"; "training", the mean loss of the steps since the entry before,
        with dropout; "held_out", the loss on `held_out_text`, without it; and "seconds" since the beginning.

    Raises
    ------
    ValueError
        If the data file is missing or damaged.

    Examples
    --------
    >>> training_log()[-1]["step"]
    2700
    """
    lines = map(json.loads, checked_content(LOG, FOLDER).decode("utf-8").splitlines())
    return [line for line in lines if "step" in line]  # where it was started, or went on, there are only its settings


@functools.cache
def held_out_text() -> str:
    """Return the last tenth of the plays, which the model has not learned from.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If the data file is missing or damaged.

    Examples
    --------
    >>> len(held_out_text())
    111540
    """
    text = checked_content(TEXT, FOLDER).decode("utf-8")
    return text[len(text) * 9 // 10 :]


def text_to_measure() -> str:
    """Return a piece of `held_out_text`, about as hard as the whole, to measure a loss on.

    Where NumPy has no BLAS, in a browser, it is a quarter as long, and a printed sentence says so.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If the data file is missing or damaged.

    Examples
    --------
    >>> len(text_to_measure())
    4096
    """
    text = held_out_text()[MEASURED]
    if HAS_BLAS:
        return text
    few = text[: len(text) // 4]
    print(f"in a browser, where NumPy multiplies slowly: {len(few):,} characters in place of {len(text):,}")
    return few
