"""Objects that hold their arrays as attributes: plain Python classes over NumPy, Equinox's modules, Flax's nnx."""

import copy
import inspect

import numpy as np

from attention_doctor import vocabulary
from attention_doctor.calls import calling
from attention_doctor.frameworks import Parameter

MAX_DEPTH = 4  # of objects inside of objects in which arrays are looked for


class PythonObject:
    """How an object with arrays among its attributes is found, changed and run."""

    def __init__(self, thing):
        self.original = thing
        try:
            self.thing = copy.deepcopy(thing)
        except Exception:  # then it is examined itself, and put back afterwards
            self.thing = thing
        self.places, self.also_in = {}, {}  # of an array that is held twice, the first place counts, and all are set
        first = {}
        for path, place in _arrays_in(self.thing, "", 0, set()):
            if vocabulary.GRADIENTS.search(path):
                continue
            known = first.setdefault(id(place[2]), path)
            if known == path:
                self.places[path] = place
            else:
                self.also_in.setdefault(known, []).append(place[:2])
        self.replaced = {}  # by path: the array that came with it
        self.states = _states(self.places)
        kinds = {type(value).__module__.partition(".")[0] for _, _, value in self.places.values()}
        self.framework = "jax" if kinds & {"jax", "jaxlib"} else "torch" if "torch" in kinds else "numpy"

    @property
    def name(self):
        return type(self.original).__name__

    @property
    def signature_of(self):
        for method in ("forward", "call", "__call__"):  # as PyTorch, Keras or Equinox name it
            if method in dir(type(self.thing)):
                return getattr(self.thing, method)
        return self.thing

    def __call__(self, **arguments):
        return self.signature_of(**arguments)

    def parameters(self):
        """Return its arrays of fractions, without what an optimiser keeps."""
        parameters = []
        for path, (owner, _, value) in self.places.items():
            array = calling.to_array(value)
            if array.dtype.kind != "f" or array.size < 2 or path in self.states:
                continue
            parameters.append(_read(path, array, "" if isinstance(owner, (dict, list)) else type(owner).__name__))
        return parameters

    def set(self, values):
        for path, value in values.items():
            held = self.places[path][2]
            self.replaced.setdefault(path, held)
            self._put(path, _like(held, value))

    def restore(self):
        """Give an object that could not be copied its own arrays back; a copy is thrown away anyway."""
        for path, value in self.replaced.items():
            self._put(path, value)

    def _put(self, path, value):
        owner, key, _ = self.places[path]
        for item, name in ((owner, key), *self.also_in.get(path, ())):
            if isinstance(item, (dict, list)):
                item[name] = value
            else:
                object.__setattr__(item, name, value)
        self.places[path] = (owner, key, value)

    def numbers(self):
        """Return the numbers among its class's attributes and its own, and one level further down, by path."""
        numbers = {}
        of_class = [item for kind in reversed(type(self.thing).__mro__) for item in vars(kind).items()]
        for name, value in [*of_class, *_attributes(self.thing)]:
            if name.startswith("__"):
                continue
            if type(value) in (int, float):
                numbers[name] = value
            elif hasattr(value, "__dict__") and not callable(value):
                inner = _attributes(value)
                numbers |= {f"{name}.{key}": number for key, number in inner if type(number) in (int, float)}
        return numbers

    def flags(self):
        return {name: value for name, value in _attributes(self.thing) if isinstance(value, bool)}

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


def _read(path, value, layer):
    """Tell what an array is: by the class that holds it, Equinox's or of somebody's own, by its name and its shape."""
    name = path.rpartition(".")[2].lower()
    if "norm" in layer.lower() and value.ndim == 1:
        return Parameter(path, value, "", "norm", layer)
    if value.ndim == 1 or "bias" in name or vocabulary.BIAS_OF_A_PROJECTION.fullmatch(name):
        return Parameter(path, value, "", "bias", layer)
    stored = {"kernel": "inputs by outputs", "weight": "outputs by inputs" if layer == "Linear" else ""}
    orientation = stored.get(name, "")  # a linear layer of one's own may store `w` either way
    return Parameter(path, value, orientation, "matrix" if value.ndim in (2, 3) else "other", layer)


def _states(places):
    """The paths of what an optimiser or a backward pass keeps: zeros beside a matrix, and more zeros beside a bias.

    Layers written from scratch often hold their gradients and moments beside their weights, of the same shapes: taken
    for parameters, they would be matrices too many.
    """
    by_owner = {}
    for path, (owner, _, value) in places.items():
        if not isinstance(owner, (dict, list)):
            by_owner.setdefault(id(owner), {})[path] = calling.to_array(value)
    return set().union(*map(_states_of_a_layer, by_owner.values()))


def _states_of_a_layer(arrays):
    is_zero = {path: not array.any() for path, array in arrays.items()}
    shapes = {array.shape for path, array in arrays.items() if array.ndim > 1 and not is_zero[path]}
    zeros = [path for path in arrays if is_zero[path] and arrays[path].shape in shapes]
    vectors = [path for path in arrays if is_zero[path] and arrays[path].ndim == 1]
    return {*zeros, *(vectors[1:] if zeros else ())}  # the first vector is a bias that has not been trained yet


def _attributes(thing):
    return list(getattr(thing, "__dict__", {}).items())


def _arrays_in(thing, path, depth, seen):
    """Yield (path, (owner, key, array)) for every array inside, however it is held."""
    if depth > MAX_DEPTH or id(thing) in seen:
        return
    seen.add(id(thing))
    for key, value in _items_of(thing):
        if str(key).startswith("__"):
            continue
        full_path = f"{path}.{key}".strip(".")
        if _is_array(value):
            if not isinstance(thing, tuple):  # there it could not be exchanged
                yield full_path, (thing, key, value)
        elif type(value).__name__ == "Param" and _is_array(getattr(value, "value", None)):  # of Flax's nnx
            yield full_path, (value, "value", value.value)
        elif isinstance(value, (dict, list, tuple)) or (hasattr(value, "__dict__") and not isinstance(value, type)):
            yield from _arrays_in(value, full_path, depth + 1, seen)


def _items_of(thing):
    if isinstance(thing, dict):
        return list(thing.items())
    return list(enumerate(thing)) if isinstance(thing, (list, tuple)) else _attributes(thing)


def _is_array(value):
    is_like_one = hasattr(value, "shape") and hasattr(value, "dtype") and not isinstance(value, (np.generic, type))
    return is_like_one and not str(value.dtype).startswith("key<")  # the keys of JAX's random numbers are no numbers


def _like(before, value):
    if isinstance(before, np.ndarray):
        return np.asarray(value, before.dtype)
    if type(before).__module__.startswith("torch"):
        import torch

        return torch.from_numpy(np.asarray(value, np.float32))
    import jax.numpy as jnp

    return jnp.asarray(value, before.dtype)
