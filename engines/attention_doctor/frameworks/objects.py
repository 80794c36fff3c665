"""Objects that hold their arrays as attributes: plain Python classes over NumPy, Equinox's modules, Flax's nnx."""

import copy
import inspect
import re

import numpy as np

from attention_doctor.calls import calling
from attention_doctor.frameworks import Found

DEEPEST = 4
GRADIENTS = re.compile(r"(^|\.)(d_|_)?grad(s|ients?)?(\.|$)", re.I)


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
            if GRADIENTS.search(path):
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
        for method in ("forward", "call", "__call__"):
            if method in dir(type(self.thing)):
                return getattr(self.thing, method)
        return self.thing

    def __call__(self, **arguments):
        return self.signature_of(**arguments)

    def parameters(self):
        found = []
        for path, (owner, _, value) in self.places.items():
            array = calling.to_array(value)
            if array.dtype.kind != "f" or array.size < 2 or path in self.states:
                continue
            kind = type(owner).__name__ if not isinstance(owner, (dict, list)) else ""
            found.append(self._found(path, array, kind))
        return found

    @staticmethod
    def _found(path, value, kind):
        name = path.rpartition(".")[2].lower()
        if "norm" in kind.lower() and value.ndim == 1:
            return Found(path, value, "", "norm", kind)
        if value.ndim == 1 or "bias" in name or re.match(r"b_?[qkvo]$", name):
            return Found(path, value, "", "bias", kind)
        stored = {"kernel": "inputs by outputs", "weight": "outputs by inputs" if kind == "Linear" else ""}
        orientation = stored.get(name, "")  # a linear layer of one's own may store `w` either way
        return Found(path, value, orientation, "matrix" if value.ndim in (2, 3) else "other", kind)

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
        found = {}
        of_class = [item for kind in reversed(type(self.thing).__mro__) for item in vars(kind).items()]
        for name, value in [*of_class, *_attributes(self.thing)]:
            if name.startswith("__"):
                continue
            if type(value) in (int, float):
                found[name] = value
            elif hasattr(value, "__dict__") and not callable(value):
                found |= {f"{name}.{key}": number for key, number in _attributes(value) if type(number) in (int, float)}
        return found

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


def _states(places):
    """The paths of what an optimiser or a backward pass keeps: zeros beside a matrix, and more zeros beside a bias."""
    owners, states = {}, set()
    for path, (owner, _, value) in places.items():
        if not isinstance(owner, (dict, list)):
            owners.setdefault(id(owner), []).append((path, calling.to_array(value)))
    for arrays in owners.values():
        full = {array.shape for _, array in arrays if array.ndim > 1 and array.any()}
        zeros = {path for path, array in arrays if array.ndim > 1 and not array.any() and array.shape in full}
        vectors = [path for path, array in arrays if array.ndim == 1 and not array.any()]
        states |= zeros | set(vectors[1:] if zeros else ())
    return states


def _attributes(thing):
    return list(getattr(thing, "__dict__", {}).items())


def _arrays_in(thing, path, depth, seen):
    """Yield (path, (owner, key, array)) for every array inside, however it is held."""
    if depth > DEEPEST or id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, dict):
        items = list(thing.items())
    elif isinstance(thing, (list, tuple)):
        items = list(enumerate(thing))
    else:
        items = _attributes(thing)
    for key, value in items:
        if str(key).startswith("__"):
            continue
        full = f"{path}.{key}".strip(".")
        if _is_array(value):
            if not isinstance(thing, tuple):
                yield full, (thing, key, value)
        elif type(value).__name__ == "Param" and _is_array(getattr(value, "value", None)):
            yield full, (value, "value", value.value)
        elif isinstance(value, (dict, list, tuple)) or (hasattr(value, "__dict__") and not isinstance(value, type)):
            yield from _arrays_in(value, full, depth + 1, seen)


def _is_array(value):
    is_one = hasattr(value, "shape") and hasattr(value, "dtype") and not isinstance(value, (np.generic, type))
    return is_one and not str(value.dtype).startswith("key<")  # the keys of JAX's random numbers are no numbers


def _like(before, value):
    if isinstance(before, np.ndarray):
        return np.asarray(value, before.dtype)
    if type(before).__module__.startswith("torch"):
        import torch

        return torch.from_numpy(np.asarray(value, np.float32))
    import jax.numpy as jnp

    return jnp.asarray(value, before.dtype)
