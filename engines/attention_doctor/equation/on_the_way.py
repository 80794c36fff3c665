"""The numbers that right attention may hold on its way from the inputs to the output."""

import functools

import numpy as np

from attention_doctor.equation.stages import RIGHT, STEPS, UNCOMPUTABLE
from function_judge.known_numbers import Known

# Each number that a variable holds is compared with all of these, so what is large is left out: first what few people
# compute, such as the product of each query with each key feature by feature.
MAX_RARE_ENTRIES = 40_000
MAX_ENTRIES = 200_000
NAMES = ("queries", "keys", "values")

# Merged into one axis, heads come before features; scores and weights are a grid of queries and keys.
known_stage = functools.partial(Known, nested=("h", "d"), grid=("q", "k"))


def numbers_of(case, *, right=RIGHT):
    """Return the stages of the equation, and what right code may hold beside them.

    Parameters
    ----------
    case : Input
    right : dict of str to Form, optional

    Returns
    -------
    list of Known
        Empty where this equation cannot be computed.

    Examples
    --------
    >>> from .stages import Input
    >>> rows = np.random.default_rng(0).normal(size=(3, 2))
    >>> [stage.name for stage in numbers_of(Input.of(queries=rows, keys=rows + 1, values=rows + 2))][:4]
    ['context', 'queries', 'keys', 'values']
    """
    steps, made = {}, None
    with np.errstate(all="ignore"):
        try:
            for step in STEPS:
                steps[step] = made = right[step].apply(case, made)
        except UNCOMPUTABLE:
            return []
        collected = _Collected(case, steps)
        collected.inputs()
        collected.heads()
        collected.scores()
        collected.weights()
        collected.outputs()
    return sorted(collected.known, key=lambda stage: -stage.rank)  # what is likelier is looked at first


class _Collected:
    def __init__(self, case, steps):
        self.case, self.steps, self.known = case, steps, []

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
        case = self.case
        if case.X is None:
            return
        sources = {"X": case.X, "context": case.context, "second": case.second}
        for name, array in sources.items():
            if array is not None and (name == "X" or array is not case.X):
                self.add(name, _in_heads(array, case.n_heads), "t", "h", "d", rank=1)
        fused = []
        for letter, n_heads in zip("QKV", (case.n_heads, case.n_kv_heads, case.n_kv_heads), strict=True):
            if letter in case.matrices:
                matrix = _in_heads(case.matrices[letter], n_heads)
                self.add(f"W_{letter}", matrix, "i", "h", "d")
                fused.append(matrix)
        self._together("W", fused, "i", "h", "d")
        if "O" in case.matrices:
            matrix = case.matrices["O"]
            self.add("W_O", matrix.reshape(case.n_heads, -1, matrix.shape[-1]), "h", "d", "o")

    def heads(self):
        self.plain, self.placed = (self._without_repeats(self.steps[step]) for step in ("split", "place"))
        for name, array in zip(NAMES, self.plain, strict=True):
            self.add(name, array, *_axes(array), rank=1)
        for name, array, plain in zip(NAMES, self.placed, self.plain, strict=True):
            if not np.array_equal(array, plain):
                self.add(f"{name} with positions", array, *_axes(array), rank=1)
        self._together("queries, keys and values", self.plain, "h", "t", "d")
        self._together("queries, keys and values with positions", self.placed, "h", "t", "d")
        if any(f"b_{letter}" in self.case.matrices for letter in "QKV"):
            self._without_bias()

    def _without_repeats(self, heads):
        """Queries, keys and values, each head of keys and values once: before they are repeated, code holds them so."""
        case = self.case
        group = 1 if case.heads is not None else case.n_heads // case.n_kv_heads
        queries, *others = heads
        return [queries, *(array[..., ::group, :, :] if group > 1 else array for array in others)]

    def _without_bias(self):
        """The products alone, to which code may add the biases in a further statement."""
        case = self.case
        plain = {name: array for name, array in case.matrices.items() if not name.startswith("b_")}
        rows = RIGHT["project"].apply(case.changed(matrices=plain), None)
        counts = (case.n_heads, case.n_kv_heads, case.n_kv_heads)
        heads = [_in_heads(array, n_heads) for array, n_heads in zip(rows, counts, strict=True)]
        for name, array in zip(NAMES, heads, strict=True):
            self.add(f"{name} without bias", array, "t", "h", "d")
        self._together("queries, keys and values without bias", heads, "t", "h", "d")

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
        raw, scaled, self.masked = self.steps["scores"].scores, self.steps["scale"].scores, self.steps["hide"].scores
        self.visible = np.isfinite(self.masked)
        hides = {} if self.visible.all() else {"pattern": self.visible}
        self.add("scores", raw, *_axes(raw, "q", "k"), rank=1, **hides)
        self.scaled = np.where(self.visible, self.masked, scaled)  # a bias may be added where masks are
        if hides:
            self.add("scaled scores without the mask", scaled, *_axes(scaled, "q", "k"), rank=1)
        for array in (scaled, self.scaled):
            self.add("scaled scores", array, *_axes(array, "q", "k"), rank=1, **hides)
            self.add("scaled scores, in bits", array / np.log(2), *_axes(array, "q", "k"), **hides)
        factor = np.nanmedian(scaled / raw)
        if not np.allclose(scaled, factor * raw, rtol=1e-6):
            factor = 1.0  # the scale is more than a factor, as with a soft cap
        self._scaled_heads(factor)
        queries, keys, _ = self.steps["place"]
        if queries.size * keys.shape[-2] <= MAX_RARE_ENTRIES:
            products = queries[..., :, None, :] * keys[..., None, :, :]
            for scale in {1.0, factor}:
                self.also("products of queries and keys", scale * products, *_axes(raw, "q", "k"), "d")

    def _scaled_heads(self, factor):
        """Queries or keys times the scale or its root, of either sign: code may scale them in place of the scores."""
        for name, placed, plain in zip(NAMES[:2], self.placed[:2], self.plain[:2], strict=True):
            for scale in {1.0, factor, abs(factor) ** 0.5}:
                for array in (placed, plain) if placed is not plain else (placed,):
                    for sign in (1, -1):
                        if scale * sign != 1:
                            self.add(f"{name}, times a factor", sign * scale * array, *_axes(array))

    def weights(self):
        weights, values = self.steps["softmax"].weights, self.steps["place"].values
        self.add("weights", weights, *_axes(weights, "q", "k"), rank=1)
        hides = not self.visible.all()
        # Code may take the exponentials before it hides some, and the largest score of all, the hidden ones included.
        variants = (self.masked, self.scaled) if hides else (self.scaled,)
        for scores in variants:
            for top in (None, *(array.max(-1, keepdims=True) for array in variants)):
                exponentials = self._exponentials(scores, top, values)
            if hides and scores is self.scaled:
                sums = exponentials.sum(-1, keepdims=True)
                self.add("weights without the mask", exponentials / sums, *_axes(scores, "q", "k"))
        self.add("logarithms of weights", np.log(weights), *_axes(weights, "q", "k"))
        if weights.size * values.shape[-1] <= MAX_RARE_ENTRIES:
            products = weights[..., None] * values[..., None, :, :]
            self.also("products of weights and values", products, *_axes(weights, "q", "k"), "d")

    def _exponentials(self, scores, top, values):
        """Add what a softmax holds that subtracts these largest scores, or none, and return its exponentials."""
        shifted = scores if top is None else scores - np.where(np.isfinite(top), top, 0)
        exponentials = np.exp(shifted)
        sums = exponentials.sum(-1, keepdims=True)
        if top is not None:
            self.add("largest scores", top, *_axes(top, "q", "k"))
            hides = {} if self.visible.all() else {"pattern": self.visible}
            self.add("scores less the largest", shifted, *_axes(shifted, "q", "k"), **hides)
        self.add("exponentials", exponentials, *_axes(scores, "q", "k"))
        self.add("sums of exponentials", sums, *_axes(sums, "q", "k"))
        self.add("logarithms of sums", np.log(sums), *_axes(sums, "q", "k"))
        self.also("context before it is divided", exponentials @ values, *_axes(values, "q", "d"))
        return exponentials

    def outputs(self):
        case, context, merged = self.case, self.steps["mix"].context, self.steps["merge"].context
        self.add("context", context, *_axes(context, "t", "d"), rank=1 if case.matrices else 2)
        if case.heads is None:
            output = self.steps["add"].output
            self.add("output", output, "t", "o", rank=2)
            if self.steps["output"].output is not output:
                self.add("output before what is added", self.steps["output"].output, "t", "o", rank=1)
            self.add("joined context", _in_heads(merged, case.n_heads), "t", "h", "d", rank=1)
            if "O" in case.matrices and merged.shape[-1] == len(case.matrices["O"]):
                W_O = case.matrices["O"].reshape(case.n_heads, -1, case.matrices["O"].shape[-1])
                parts = _in_heads(merged, case.n_heads).swapaxes(-2, -3) @ W_O
                self.add("output without bias", merged @ case.matrices["O"], "t", "o")
                self.also("what each head adds", parts, "h", "t", "o")
                self.also("what the first heads add", np.cumsum(parts, axis=-3), "h", "t", "o")


def _in_heads(rows, n_heads):
    """Cut the last axis into heads and features, where that can be done."""
    width = rows.shape[-1]
    return rows.reshape(*rows.shape[:-1], n_heads, width // n_heads) if width % n_heads == 0 else rows[..., None, :]


def _axes(array, first="t", last="d"):
    return ("h", first, last)[-array.ndim :] if array.ndim < 3 else ("h", first, last)
