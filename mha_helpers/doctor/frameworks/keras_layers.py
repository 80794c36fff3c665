"""Keras: a layer is built by a first call, and gets its own weights back afterwards."""

import contextlib
import inspect

import numpy as np

from . import Found

WIDTHS = (64, 32, 16, 8, 128, 256, 512)


class KerasLayer:
    """How a Keras layer is found, changed and run."""

    framework = "keras"

    def __init__(self, layer):
        self.original = self.layer = layer
        if not layer.built:
            self._build()
        self.before = [np.asarray(weight) for weight in layer.weights]

    def _build(self):
        names = [p.name for p in inspect.signature(self.layer.call).parameters.values() if p.default is p.empty]
        error = None
        for width in WIDTHS:
            X = np.zeros((2, 5, width), np.float32)
            try:
                self.layer(*[X] * len([name for name in names if name not in ("args", "kwargs")]))
                return
            except Exception as raised:  # another width may do
                error = raised
        raise ValueError(f"{self.name} could not be built: {error}")

    @property
    def name(self):
        return type(self.original).__name__

    @property
    def signature_of(self):
        return self.layer.call

    def __call__(self, **arguments):
        return self.layer(**arguments)

    def parameters(self):
        return [self._found(weight.path.replace("/", "."), np.asarray(weight)) for weight in self.layer.weights]

    @staticmethod
    def _found(path, value):
        name = path.rpartition(".")[2]
        if name in ("gamma", "beta", "scale"):
            return Found(path, value, "", "norm", "LayerNormalization")
        if "bias" in name:
            return Found(path, value, "", "bias")
        orientation = "inputs by outputs" if name == "kernel" else ""
        return Found(
            path, value, orientation, "matrix" if value.ndim in (2, 3) and value.dtype.kind == "f" else "other"
        )

    def set(self, values):
        for weight in self.layer.weights:
            path = weight.path.replace("/", ".")
            if path in values:
                weight.assign(np.asarray(values[path], np.float32))

    def restore(self):
        """Give the layer the weights back that it came with."""
        for weight, value in zip(self.layer.weights, self.before, strict=True):
            weight.assign(value)

    def numbers(self):
        numbers = {name: value for name, value in vars(self.layer).items() if type(value) in (int, float)}
        with contextlib.suppress(NotImplementedError):  # from a layer that says nothing of itself
            numbers |= {name: value for name, value in self.layer.get_config().items() if type(value) in (int, float)}
        return {name.lstrip("_"): value for name, value in numbers.items()}

    def flags(self):
        return {}

    def buffers(self):
        return []

    def inside(self):
        return []

    def frequencies(self):
        return {}

    def source(self):
        try:
            return inspect.getsource(type(self.original))
        except (OSError, TypeError):
            return ""
