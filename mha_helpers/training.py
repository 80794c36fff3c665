"""A small causal model that is trained in NumPy, on whatever attention and gradients are passed in.

Tokens and positions become vectors, layers of multi-head attention each add to them, and a matrix turns them into
logits: no norms and no MLPs, as in Elhage et al. (2021), "A Mathematical Framework for Transformer Circuits",
https://transformer-circuits.pub/2021/framework/.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mha_helpers.attention import combine_heads, knock_out, masked_attention, softmax, split_heads
from mha_helpers.gradients import attention_gradients
from mha_helpers.masks import causal_mask
from mha_helpers.measures import previous_token_score
from mha_helpers.products import product
from mha_helpers.shapes import Array, check_count, check_n_heads
from mha_helpers.tasks import Batch, Task

MATRICES = ("W_Q", "W_K", "W_V", "W_O")
PARTS = ("queries", "keys", "values", "output")  # of a layer: what reads the rows that come into it
HELD_OUT_SEED, HELD_OUT = 10_000, 256  # sequences that no training draws
KEPT = 20  # after so many steps a training keeps what the model was


class Seen(NamedTuple):
    """What a model returns for sequences.

    Parameters
    ----------
    loss : float
        The mean of -log(probability of the right target) where it counts, in nats.
    accuracy : float
        The share of right targets among those that count.
    weights : ndarray, shape (n_layers, batch, n_heads, n, n)
    probabilities : ndarray, shape (batch, n, n_questions, n_tokens)
    """

    loss: float
    accuracy: float
    weights: np.ndarray
    probabilities: np.ndarray


class Training:
    """A model, and its way down the loss: `run` takes steps, and can be interrupted and called again.

    Parameters
    ----------
    task : Task
        As `tasks.repeated_sequences` makes it.
    n_layers, n_heads, d_model : int, optional
        More heads share the same matrices: the number of parameters stays.
    is_causal : bool, optional
        Whether a token may attend only to itself and to what came before it.
    heads_start_equal : bool, optional
        Whether all heads of a layer begin with the same numbers.
    seed : int, optional
        For the first numbers and for what is drawn.
    batch : int, optional
        How many sequences each step learns from.
    rate : float, optional
        The learning rate of Adam (Kingma and Ba 2014, https://arxiv.org/abs/1412.6980).
    attend : callable, optional
        `attend(queries, keys, values, mask)` returns `(context, weights)`.
    gradients : callable, optional
        `gradients(queries, keys, values, d_context, mask)` returns `(d_queries, d_keys, d_values)`.
    has_W_O : bool, optional
        Whether the heads' outputs are mixed by a learned matrix, or left side by side.
    n_kv_heads : int, optional
        How many heads of keys and values the heads share; each its own unless given. `attend` must then know what to
        do with fewer, as `grouped.grouped_attention` does.
    rotate : callable, optional
        `rotate(X)` turns queries and keys by their positions. There are then no vectors for positions.

    Attributes
    ----------
    losses : list of float
        Of each step.
    moments : dict of int to dict of str to ndarray
        The parameters after every 20th step, and those before the first.

    Raises
    ------
    ValueError
        If n_heads does not divide d_model, or a number is not one.

    Examples
    --------
    >>> from mha_helpers.tasks import repeated_sequences
    >>> training = Training(repeated_sequences(n_tokens=6, length=12), d_model=16, batch=16).run(60)
    >>> training.losses[0] > training.losses[-1], len(training.losses)
    (True, 60)
    """

    def __init__(
        self,
        task: Task,
        *,
        n_layers: int = 2,
        n_heads: int = 2,
        d_model: int = 32,
        is_causal: bool = True,
        heads_start_equal: bool = False,
        seed: int = 0,
        batch: int = 64,
        rate: float = 4e-3,
        attend: Callable[..., Any] = masked_attention,
        gradients: Callable[..., Any] = attention_gradients,
        has_W_O: bool = True,
        n_kv_heads: int | None = None,
        rotate: Callable[..., Array] | None = None,
    ) -> None:
        d_model = check_count("d_model", d_model)
        self.task, self.n_layers, self.n_heads = (
            task,
            check_count("n_layers", n_layers),
            check_n_heads(n_heads, "d_model", d_model),
        )
        self.batch, self.rate, self.attend, self.gradients = check_count("batch", batch), rate, attend, gradients
        self.has_W_O, self.rotate = has_W_O, rotate
        self.n_kv_heads = check_n_heads(n_kv_heads or self.n_heads, "n_heads", self.n_heads)
        self.mask = causal_mask(task.length) if is_causal else np.ones((task.length, task.length), bool)
        self.rng = np.random.default_rng(seed)
        shapes = {"tokens": (task.n_tokens, d_model), "positions": (task.length, d_model)}
        shapes |= {f"{name}{i}": (d_model, d_model) for i in range(self.n_layers) for name in MATRICES}
        d_kv = d_model // self.n_heads * self.n_kv_heads
        shapes |= {f"{name}{i}": (d_model, d_kv) for i in range(self.n_layers) for name in ("W_K", "W_V")}
        shapes |= {"out": (d_model, task.n_questions * task.n_tokens)}
        # Equal heads are told apart by rounding alone; in float32 that can be enough for them to part within 250 steps.
        kind = np.float64 if heads_start_equal else np.float32
        self.parameters: dict[str, Array] = {
            name: self.rng.normal(scale=d_model**-0.5, size=shape).astype(kind) for name, shape in shapes.items()
        }
        if rotate is not None:
            self.parameters["positions"] *= 0
        if heads_start_equal:
            self._repeat_first_head()
        if not has_W_O:
            self.parameters |= {f"W_O{i}": np.eye(d_model, dtype=kind) for i in range(self.n_layers)}
        self.losses: list[float] = []
        self.moments = {0: self.parameters.copy()}
        self._means, self._squares = (
            {name: np.zeros_like(array) for name, array in self.parameters.items()} for _ in range(2)
        )

    def _repeat_first_head(self):
        for i in range(self.n_layers):
            for name in MATRICES:
                W = self.parameters[f"{name}{i}"]
                axis = 0 if name == "W_O" else 1  # a head has columns of the others, and rows of W_O
                first = np.split(W, self.n_heads, axis=axis)[0]
                self.parameters[f"{name}{i}"] = np.concatenate([first] * self.n_heads, axis=axis)

    def run(self, n_steps: int, *, see: Callable[..., Any] | None = None, every: int = 1) -> Training:
        """Take steps down the loss, each on new sequences.

        Parameters
        ----------
        n_steps : int
        see : callable, optional
            `see(training)` is called after every `every`-th step: for a progress bar, or to keep a moment.
        every : int, optional

        Returns
        -------
        Training
            Itself. Interrupted (Kernel, Interrupt), it keeps what it has learned, and returns as well.

        Raises
        ------
        ValueError
            If n_steps is not a whole number of 1 or more.
        """
        try:
            for _ in range(check_count("n_steps", n_steps)):
                self.step()
                if see is not None and len(self.losses) % every == 0:
                    see(self)
        except KeyboardInterrupt:
            print(f"interrupted after {len(self.losses)} steps; what was learned is kept")
        return self

    def step(self) -> None:
        """Draw sequences, go forwards and backwards, and move every parameter a little."""
        drawn = self.task.draw(self.rng, self.batch)
        loss, gradients = self.loss_and_gradients(drawn)
        n = len(self.losses) + 1
        for name, gradient in gradients.items():
            if (name.startswith("W_O") and not self.has_W_O) or (name == "positions" and self.rotate):
                continue
            mean, square = self._means[name], self._squares[name]
            mean += 0.1 * (gradient - mean)
            square += 0.01 * (gradient**2 - square)
            size = np.sqrt(square / (1 - 0.99**n)) + 1e-8
            self.parameters[name] = self.parameters[name] - self.rate * mean / (1 - 0.9**n) / size
        self.losses.append(loss)
        if n % KEPT == 0:
            self.moments[n] = self.parameters.copy()  # each step makes new arrays, so that these stay as they are

    def _forwards(self, tokens, mask, W_Os=None, reads=None):
        """Return the logits, and of each layer its input, queries, keys, values, combined heads and weights."""
        p, kept = self.parameters, []
        X = p["tokens"][tokens] + p["positions"][: tokens.shape[-1]]
        for i in range(self.n_layers):
            W_O = p[f"W_O{i}"] if W_Os is None else W_Os[i]
            read = dict.fromkeys(PARTS, X) | ((reads or {}) if i == self.n_layers - 1 else {})
            queries, keys, values = (
                split_heads(product(read[part], p[f"{name}{i}"]), n_heads)
                for part, name, n_heads in zip(PARTS, MATRICES, (self.n_heads, *[self.n_kv_heads] * 2), strict=False)
            )
            if self.rotate is not None:
                queries, keys = (np.asarray(self.rotate(rows), X.dtype) for rows in (queries, keys))
            context, weights = self.attend(queries, keys, values, mask)
            combined = combine_heads(np.asarray(context, X.dtype))
            kept.append((X, queries, keys, values, combined, np.asarray(weights)))
            X = read["output"] + product(combined, W_O)
        logits = product(X, p["out"]).reshape(*tokens.shape, self.task.n_questions, self.task.n_tokens)
        return X, logits, kept

    def loss_and_gradients(self, drawn: Batch) -> tuple[float, dict[str, Array]]:
        """Go forwards and backwards once.

        Parameters
        ----------
        drawn : Batch

        Returns
        -------
        loss : float
        gradients : dict of str to ndarray
            How the loss changes with each parameter.
        """
        p, gradients = self.parameters, {}
        X, logits, kept = self._forwards(drawn.tokens, self.mask)
        loss, _, probabilities = _judge(logits, drawn)
        # Of softmax and logarithm together little is left: the probability, less 1 where the right target stands.
        d_logits = probabilities
        np.put_along_axis(d_logits, drawn.targets[..., None], _at(d_logits, drawn.targets)[..., None] - 1, axis=-1)
        shares = drawn.counts / (drawn.counts.sum() * self.task.n_questions)
        d_logits = (d_logits * shares[..., None, None].astype(d_logits.dtype)).reshape(*X.shape[:-1], -1)
        gradients["out"] = _over_tokens(X, d_logits)
        d_X = product(d_logits, p["out"].T)
        for i in reversed(range(self.n_layers)):
            X, queries, keys, values, combined, _ = kept[i]
            gradients[f"W_O{i}"] = _over_tokens(combined, d_X)
            d_context = split_heads(product(d_X, p[f"W_O{i}"].T), self.n_heads)
            d_heads = self._gradients_of_heads(queries, keys, values, d_context)
            for name, d_head in zip(MATRICES, d_heads, strict=False):
                d_projected = combine_heads(np.asarray(d_head, X.dtype))
                gradients[f"{name}{i}"] = _over_tokens(X, d_projected)
                d_X = d_X + product(d_projected, p[f"{name}{i}"].T)
        gradients["positions"] = np.zeros_like(p["positions"])
        gradients["positions"][: d_X.shape[1]] = d_X.sum(axis=0)
        gradients["tokens"] = np.zeros_like(p["tokens"])
        np.add.at(gradients["tokens"], drawn.tokens, d_X)
        return loss, gradients

    def _gradients_of_heads(self, queries, keys, values, d_context):
        """Go backwards through attention, through what the heads share, and through the rotation."""
        each = self.n_heads // self.n_kv_heads
        keys, values = (np.repeat(array, each, axis=1) for array in (keys, values))
        found = [np.asarray(d) for d in self.gradients(queries, keys, values, d_context, self.mask)]
        for i in (1, 2):  # what several heads use gets the sum of what comes back from them
            batch, _, n, width = found[i].shape
            found[i] = found[i].reshape(batch, self.n_kv_heads, each, n, width).sum(axis=2)
        if self.rotate is not None:
            mirror = np.tile([1, -1], found[0].shape[-1] // 2)  # turned in a mirror, it turns back
            found[:2] = [mirror * self.rotate(mirror * d) for d in found[:2]]
        return found

    def look(
        self,
        drawn: Batch | None = None,
        *,
        is_causal: bool | None = None,
        without: Sequence[tuple[int, int]] = (),
        reads: dict[str, Array] | None = None,
    ) -> Seen:
        """Run the model without learning.

        Parameters
        ----------
        drawn : Batch, optional
            256 sequences that no training draws, unless given.
        is_causal : bool, optional
            As in training, unless given.
        without : list of (int, int), optional
            Heads to knock out, as (layer, head).
        reads : dict of str to ndarray, optional
            What a part of the last layer reads in place of the rows that come into it: by "queries", "keys", "values"
            or "output" (to which the layer adds what it finds), rows as `rows` returns them. Changing one part alone
            is path patching: Goldowsky-Dill et al. (2023), https://arxiv.org/abs/2304.05969.

        Returns
        -------
        Seen

        Raises
        ------
        ValueError
            If reads names a part that is not there.
        """
        if unknown := set(reads or {}) - set(PARTS):
            raise ValueError(f"a layer has no part {sorted(unknown)[0]!r}; choose one of {', '.join(PARTS)}")
        drawn = self.held_out() if drawn is None else drawn
        n = drawn.tokens.shape[-1]
        mask = self.mask[:n, :n] if is_causal is None else np.tri(n, dtype=bool) | (not is_causal)
        _, logits, kept = self._forwards(drawn.tokens, mask, self._knocked_out(without), reads)
        loss, accuracy, probabilities = _judge(logits, drawn)
        return Seen(loss, accuracy, np.array([weights for *_, weights in kept]), probabilities)

    def rows(
        self, drawn: Batch | None = None, *, layer: int | None = None, without: Sequence[tuple[int, int]] = ()
    ) -> Array:
        """Return what comes into a layer: each token's row, with what the layers before have added.

        Parameters
        ----------
        drawn : Batch, optional
            As for `look`.
        layer : int, optional
            The last one unless given; n_layers stands for what the logits are made from.
        without : list of (int, int), optional
            Heads whose part is left out, as (layer, head).

        Returns
        -------
        ndarray, shape (batch, n, d_model)
        """
        drawn = self.held_out() if drawn is None else drawn
        n = drawn.tokens.shape[-1]
        X, _, kept = self._forwards(drawn.tokens, self.mask[:n, :n], self._knocked_out(without))
        return [*(read for read, *_ in kept), X][self.n_layers - 1 if layer is None else layer]

    def _knocked_out(self, heads):
        """Return each layer's W_O without these heads."""
        return [
            knock_out(self.parameters[f"W_O{i}"], [head for layer, head in heads if layer == i], self.n_heads)
            for i in range(self.n_layers)
        ]

    def at(self, step: int) -> Training:
        """Return the model as it was after a step.

        Parameters
        ----------
        step : int
            One of `moments`.

        Returns
        -------
        Training
            Only to look at: it shares its numbers with this one.
        """
        then = copy.copy(self)
        then.parameters = self.moments[step]
        return then

    def guesses_when_writing(self, tokens: Array) -> Array:
        """Run the model as it is used: each guess is made from the tokens so far, when none comes after them yet.

        With a causal mask these are the guesses that training sees. Where something leaks from behind, they are not.

        Parameters
        ----------
        tokens : ndarray of int, shape (batch, n)

        Returns
        -------
        ndarray of int, shape (batch, n, n_questions)
        """
        starts = range(1, tokens.shape[-1] + 1)
        logits = [self._forwards(tokens[:, :n], self.mask[:n, :n])[1][:, -1] for n in starts]
        return np.stack(logits, axis=1).argmax(axis=-1)

    def curve(self, every: int = 10) -> tuple[list[int], list[float]]:
        """Return the losses with less of their noise: the mean of every ten steps, and of what is left over.

        Parameters
        ----------
        every : int, optional

        Returns
        -------
        steps : list of int
            The last step of each mean.
        losses : list of float

        Raises
        ------
        ValueError
            If every is not a whole number of 1 or more.
        """
        starts = range(0, len(self.losses), check_count("every", every))
        parts = [self.losses[start : start + every] for start in starts]
        return [start + len(part) for start, part in zip(starts, parts, strict=True)], [
            float(np.mean(part)) for part in parts
        ]

    def held_out(self) -> Batch:
        """Return 256 sequences of the task, always the same."""
        return self.task.draw(np.random.default_rng(HELD_OUT_SEED), HELD_OUT)


def _at(array, places):
    return np.take_along_axis(array, places[..., None], axis=-1)[..., 0]


def _judge(logits, drawn):
    """Return loss, accuracy and probabilities."""
    probabilities = softmax(logits)
    right = np.maximum(_at(probabilities, drawn.targets), np.finfo(np.float32).tiny)
    hit = logits.argmax(axis=-1) == drawn.targets
    return float(-np.log(right[drawn.counts]).mean()), float(hit[drawn.counts].mean()), probabilities


def _over_tokens(X, d_Y):
    """Return the gradient of W where Y = X @ W, added up over all tokens of all sequences."""
    return product(X.reshape(-1, X.shape[-1]).T, d_Y.reshape(-1, d_Y.shape[-1]))


def what_heads_look_at(weights: Sequence[Array], periods: Array) -> dict[str, dict[str, float]]:
    """Tell, for each head, how much of its attention the two jobs of an induction head get.

    Parameters
    ----------
    weights : sequence of ndarray, each of shape (batch, n_heads, n, n)
        Of each layer, on sequences that repeat.
    periods : ndarray of int, shape (batch,)
        After how many tokens each sequence repeats.

    Returns
    -------
    dict of str to dict of str to float
        By "layer 0, head 0" and so on: the mean weight on "the token before", in the first half of the sequences, and
        on "what followed" the same token earlier. With two digits: in later ones, training differs from one processor
        to the next.

    Examples
    --------
    >>> looks_back = np.eye(8, k=-1)[None, None]
    >>> what_heads_look_at([looks_back], np.array([4]))
    {'layer 0, head 0': {'the token before': 1.0, 'what followed': 0.0}}
    """
    found = {}
    for layer, of_layer in enumerate(weights):
        half = of_layer.shape[-1] // 2
        before = previous_token_score(of_layer[..., :half, :half]).mean(axis=0)
        followed = induction_score(of_layer, periods)
        for head in range(of_layer.shape[1]):
            jobs = {"the token before": before[head], "what followed": followed[head]}
            found[f"layer {layer}, head {head}"] = {job: round(float(weight), 2) for job, weight in jobs.items()}
    return found


def induction_score(weights: Array, periods: Array) -> Array:
    """How much each head attends to what followed the same token earlier.

    Parameters
    ----------
    weights : ndarray, shape (batch, ..., n, n)
    periods : ndarray of int, shape (batch,)
        After how many tokens each sequence repeats.

    Returns
    -------
    ndarray, shape (...)
        The weight from a token to all that followed it one, two, ... periods ago; the mean over all tokens that
        repeat.

    Examples
    --------
    >>> weights = np.zeros((1, 6, 6))
    >>> weights[0, [3, 4, 5], [1, 2, 3]] = 1.0
    >>> float(induction_score(weights, np.array([3])))
    1.0
    """
    n, found = weights.shape[-1], []
    for of_one, period in zip(weights, periods, strict=True):
        queries, keys = np.arange(period, n)[:, None], np.arange(n)
        behind = queries + 1 - keys
        followed = (behind > 0) & (behind % period == 0)
        found.append((of_one[..., period:, :] * followed).sum(axis=-1))
    return np.concatenate(found, axis=-1).mean(axis=-1)
