"""Keras: a layer is built by a first call, and gets its own weights back afterwards."""

import contextlib
import inspect
import itertools

import numpy as np

from attention_doctor import vocabulary
from attention_doctor.calls.errors import CannotBeExaminedError
from attention_doctor.frameworks import Parameter
from attention_doctor.readers.signature import MASKS, role_of

WIDTHS = (64, 32, 16, 8, 128, 256, 512)  # of a token, where the layer takes any
A_MASK = np.zeros((2, 1, 1, 5), np.float32)  # where None won't do


def _as_numpy(weight):
    import keras

    return keras.ops.convert_to_numpy(weight)


def _is_width(name):
    """Whether a setting may be the width of a token: `dim` may, which as an argument's name is a head's."""
    return role_of(name) == "d_model" or bool(vocabulary.MODEL_WIDTH.search(name))


def _read(path, value):
    """Tell what a weight is: Keras's own layers give theirs the same few names."""
    name = path.rpartition(".")[2]
    if name in vocabulary.KERAS_NORM_WEIGHTS:
        return Parameter(path, value, "", "norm", "LayerNormalization")
    if "bias" in name:
        return Parameter(path, value, "", "bias")
    orientation = "inputs by outputs" if name == "kernel" else ""
    is_matrix = value.ndim in (2, 3) and value.dtype.kind == "f"
    return Parameter(path, value, orientation, "matrix" if is_matrix else "other")


class KerasLayer:
    """How a Keras layer is found, changed and run."""

    framework = "keras"

    def __init__(self, layer):
        self.original = self.layer = layer
        if not layer.built:
            self._build()
        self.before = [_as_numpy(weight) for weight in layer.weights]

    def _build(self):
        """Call it once, which gives its weights their shapes; of the widths, those of its settings are tried first."""
        parameters = inspect.signature(self.layer.call).parameters.values()
        names = [p.name for p in parameters if p.default is p.empty and p.name not in ("args", "kwargs")]
        own = [n for name, n in self.numbers().items() if _is_width(name)]
        error = None
        for width, mask in itertools.product(dict.fromkeys((*own, *WIDTHS)), (None, A_MASK)):
            X = np.zeros((2, 5, width), np.float32)
            try:
                self.layer(*[mask if role_of(name) in MASKS else X for name in names])
                return
            except Exception as raised:  # another width may do
                error = error or raised
        raise CannotBeExaminedError(f"{self.name} could not be built: {error}")

    @property
    def name(self):
        return type(self.original).__name__

    @property
    def signature_of(self):
        return self.layer.call

    def __call__(self, **arguments):
        return self.layer(**arguments)

    def parameters(self):
        return [_read(self._path(weight), _as_numpy(weight)) for weight in self.layer.weights]

    def _path(self, weight):
        """Its path; of a layer that Keras has named and numbered, the attribute that holds it.

        `dense_3/kernel` says nothing, where `self.query = Dense(...)` does.
        """
        path = weight.path.replace("/", ".")
        if not vocabulary.KERAS_NUMBERED.search(path):
            return path
        for name in (*vars(self.layer), *getattr(self.layer, "_modules", ())):  # on PyTorch layers are among these
            if any(weight is item for item in getattr(getattr(self.layer, name), "weights", ())):
                return f"{name}.{weight.name}"
        return path

    def set(self, values):
        for weight in self.layer.weights:
            path = self._path(weight)
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
