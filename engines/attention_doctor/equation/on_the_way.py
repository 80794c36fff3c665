"""The numbers that right attention may hold on its way from the inputs to the output."""

import functools

import numpy as np

from attention_doctor.equation.stages import RIGHT, STEPS, UNCOMPUTABLE
from function_judge.known_numbers import Known

MAX_RARE_ENTRIES = 40_000  # of what is seldom looked at
MAX_ENTRIES = 200_000

# Merged into one axis, heads come before features; scores and weights are a grid of queries and keys.
known_stage = functools.partial(Known, nested=("h", "d"), grid=("q", "k"))


def numbers_of(given, *, right=RIGHT):
    """Return the stages of the equation, and what right code may hold beside them.

    Parameters
    ----------
    given : Input
    right : dict of str to Form, optional

    Returns
    -------
    list of Known
        Empty where this equation cannot be computed.

    Examples
    --------
    >>> from .stages import Input
    >>> rows = np.random.default_rng(0).normal(size=(3, 2))
    >>> [one.name for one in numbers_of(Input.of(queries=rows, keys=rows + 1, values=rows + 2))][:4]
    ['context', 'queries', 'keys', 'values']
    """
    steps, now = {}, None
    with np.errstate(all="ignore"):
        try:
            for step in STEPS:
                steps[step] = now = right[step].run(given, now)
        except UNCOMPUTABLE:
            return []
        collected = _Collected(given, steps)
        collected.inputs()
        collected.heads()
        collected.scores()
        collected.weights()
        collected.outputs()
    return sorted(collected.known, key=lambda stage: -stage.rank)  # what is likelier is looked at first


class _Collected:
    def __init__(self, given, steps):
        self.given, self.steps, self.known = given, steps, []

    def add(self, name, array, *axes, **further):
        """Add what has these last axes; those in front of them are the batch's."""
        array = np.asarray(array, dtype=float)
        batch = array.ndim - len(axes)
        if batch >= 0 and 0 < array.size <= MAX_ENTRIES:
            axes = (*(f"b{i}" for i in range(batch)), *axes)
            self.known.append(known_stage(name, array, axes, patterned="scores" in name, **further))

    def also(self, name, array, *axes):
        if np.size(array) <= MAX_RARE_ENTRIES:
            self.add(name, array, *axes)

    def inputs(self):
        given = self.given
        if given.X is None:
            return
        sources = {"X": given.X, "context": given.context, "second": given.second}
        for name, array in sources.items():
            if array is not None and (name == "X" or array is not given.X):
                self.add(name, _in_heads(array, given.n_heads), "t", "h", "d", rank=1)
        fused = []
        for letter, n_heads in zip("QKV", (given.n_heads, given.n_kv_heads, given.n_kv_heads), strict=True):
            if letter in given.matrices:
                matrix = _in_heads(given.matrices[letter], n_heads)
                self.add(f"W_{letter}", matrix, "i", "h", "d")
                fused.append(matrix)
        self._together("W", fused, "i", "h", "d")
        if "O" in given.matrices:
            matrix = given.matrices["O"]
            self.add("W_O", matrix.reshape(given.n_heads, -1, matrix.shape[-1]), "h", "d", "o")

    def heads(self):
        given, plain, placed = self.given, self.steps["split"], self.steps["place"]
        groups = 1 if given.heads is not None else given.n_heads // given.n_kv_heads
        self.plain = [plain[0], *(element[..., ::groups, :, :] for element in plain[1:])] if groups > 1 else list(plain)
        self.placed = (
            [placed[0], *(element[..., ::groups, :, :] for element in placed[1:])] if groups > 1 else list(placed)
        )
        names = ("queries", "keys", "values")
        for name, item in zip(names, self.plain, strict=True):
            self.add(name, item, *_axes(item), rank=1)
        for name, entry, before in zip(names, self.placed, self.plain, strict=True):
            if not np.array_equal(entry, before):
                self.add(f"{name} with positions", entry, *_axes(entry), rank=1)
        self._together("queries, keys and values", self.plain, "h", "t", "d")
        self._together("queries, keys and values with positions", self.placed, "h", "t", "d")
        if any(f"b_{letter}" in given.matrices for letter in "QKV"):
            without = given.changed(matrices={k: v for k, v in given.matrices.items() if not k.startswith("b_")})
            rows = RIGHT["project"].run(without, None)
            counts = (given.n_heads, given.n_kv_heads, given.n_kv_heads)
            rows = [_in_heads(element, n) for element, n in zip(rows, counts, strict=True)]
            for name, row in zip(names, rows, strict=True):
                self.add(f"{name} without bias", row, "t", "h", "d")
            self._together("queries, keys and values without bias", rows, "t", "h", "d")

    def _together(self, name, arrays, *axes):
        """One array of several: they may be computed by a single product."""
        if len(arrays) < 2 or any(item.ndim < len(axes) for item in arrays):
            return
        shape = np.max([item.shape for item in arrays], axis=0) if len({item.ndim for item in arrays}) == 1 else None
        if shape is None or len(arrays) * np.prod(shape) > MAX_ENTRIES:
            return
        filled = np.full((len(arrays), *shape), np.nan)
        for i, array in enumerate(arrays):
            filled[(i, *map(slice, array.shape))] = array
        batch = filled.ndim - 1 - len(axes)
        self.known.append(known_stage(name, filled, ("s", *(f"b{i}" for i in range(batch)), *axes)))

    def scores(self):
        raw, scaled, self.masked = (self.steps[step][0] for step in ("scores", "scale", "hide"))
        self.allowed = np.isfinite(self.masked)
        hides = {"pattern": self.allowed} if not self.allowed.all() else {}
        self.add("scores", raw, *_axes(raw, "q", "k"), rank=1, **hides)
        self.scaled = np.where(self.allowed, self.masked, scaled)  # a bias may be added where masks are
        if hides:
            self.add("scaled scores without the mask", scaled, *_axes(scaled, "q", "k"), rank=1)
        for name, array in (("scaled scores", scaled), ("scaled scores", self.scaled)):
            self.add(name, array, *_axes(array, "q", "k"), rank=1, **hides)
            self.add(f"{name}, in bits", array / np.log(2), *_axes(array, "q", "k"), **hides)
        factor = np.nanmedian(scaled / raw)
        if not np.allclose(scaled, factor * raw, rtol=1e-6):
            factor = 1.0
        for part, (item, plain) in enumerate(zip(self.placed[:2], self.plain[:2], strict=True)):
            name = ("queries", "keys")[part]
            for scale in {1.0, factor, abs(factor) ** 0.5}:
                for array in (item, plain) if item is not plain else (item,):
                    for sign in (1, -1):
                        if scale * sign != 1:
                            self.add(f"{name}, times a factor", sign * scale * array, *_axes(array))
        queries, keys = self.steps["place"][:2]
        if queries.size * keys.shape[-2] <= MAX_RARE_ENTRIES:
            products = queries[..., :, None, :] * keys[..., None, :, :]
            for scale in {1.0, factor}:
                self.also("products of queries and keys", scale * products, *_axes(raw, "q", "k"), "d")

    def weights(self):
        weights = self.steps["softmax"][0]
        self.add("weights", weights, *_axes(weights, "q", "k"), rank=1)
        values = self.steps["place"][2]
        masked, plain = self.masked, self.scaled
        hidden = not self.allowed.all()
        for item in (masked, plain) if hidden else (plain,):
            tops = {0: None}
            for top in (masked, plain) if hidden else (plain,):
                tops[len(tops)] = top.max(-1, keepdims=True)
            for top in tops.values():
                shifted = item if top is None else item - np.where(np.isfinite(top), top, 0)
                exponentials = np.exp(shifted)
                sums = exponentials.sum(-1, keepdims=True)
                if top is not None:
                    self.add("largest scores", top, *_axes(top, "q", "k"))
                    hides = {"pattern": self.allowed} if hidden else {}
                    self.add("scores less the largest", shifted, *_axes(shifted, "q", "k"), **hides)
                self.add("exponentials", exponentials, *_axes(item, "q", "k"))
                self.add("sums of exponentials", sums, *_axes(sums, "q", "k"))
                self.add("logarithms of sums", np.log(sums), *_axes(sums, "q", "k"))
                self.also("context before it is divided", exponentials @ values, *_axes(values, "q", "d"))
            if hidden and item is plain:
                self.add("weights without the mask", exponentials / sums, *_axes(item, "q", "k"))
        self.add("logarithms of weights", np.log(weights), *_axes(weights, "q", "k"))
        if weights.size * values.shape[-1] <= MAX_RARE_ENTRIES:
            products = weights[..., None] * values[..., None, :, :]
            self.also("products of weights and values", products, *_axes(weights, "q", "k"), "d")

    def outputs(self):
        given, context, merged = self.given, self.steps["mix"][0], self.steps["merge"][0]
        self.add("context", context, *_axes(context, "t", "d"), rank=1 if given.matrices else 2)
        if given.heads is None:
            output = self.steps["add"][0]
            self.add("output", output, "t", "o", rank=2)
            if self.steps["output"][0] is not output:
                self.add("output before what is added", self.steps["output"][0], "t", "o", rank=1)
            self.add("joined context", _in_heads(merged, given.n_heads), "t", "h", "d", rank=1)
            if "O" in given.matrices and merged.shape[-1] == len(given.matrices["O"]):
                W_O = given.matrices["O"].reshape(given.n_heads, -1, given.matrices["O"].shape[-1])
                parts = _in_heads(merged, given.n_heads).swapaxes(-2, -3) @ W_O
                self.add("output without bias", merged @ given.matrices["O"], "t", "o")
                self.also("what each head adds", parts, "h", "t", "o")
                self.also("what the first heads add", np.cumsum(parts, axis=-3), "h", "t", "o")


def _in_heads(rows, n_heads):
    """Cut the last axis into heads and features, where that can be done."""
    width = rows.shape[-1]
    return rows.reshape(*rows.shape[:-1], n_heads, width // n_heads) if width % n_heads == 0 else rows[..., None, :]


def _axes(array, first="t", last="d"):
    return ("h", first, last)[-array.ndim :] if array.ndim < 3 else ("h", first, last)
