"""Flax: a linen module gets its parameters here, as it has none of its own; an nnx module holds them itself."""

import inspect

import numpy as np

from attention_doctor.calls.errors import CannotBeExaminedError
from attention_doctor.frameworks import Parameter
from attention_doctor.frameworks.objects import PythonObject
from attention_doctor.readers import signature

WIDTH = 64  # of a token, where the module takes any
N_TOKENS = 5


def _read(path, value):
    """Tell what a linen module's parameter is: Flax's own layers give theirs the same few names."""
    name = path.rpartition(".")[2]
    if "norm" in path.lower() or name == "scale":
        return Parameter(path, value, "", "norm", "LayerNorm")
    if name == "bias":
        return Parameter(path, value, "", "bias")
    orientation = "inputs by outputs" if name == "kernel" else ""
    return Parameter(path, value, orientation, "matrix" if value.ndim in (2, 3) else "other")


class FlaxModule(PythonObject):
    """How a Flax module is found, changed and run."""

    framework = "jax"

    def __init__(self, module):
        self.is_linen = hasattr(module, "init") and hasattr(module, "apply")
        if not self.is_linen:
            super().__init__(module)
            return
        import jax

        self.original = self.thing = module
        self.variables = self._initialised()
        self.values = {
            ".".join(str(part.key) for part in path): np.asarray(value)
            for path, value in jax.tree_util.tree_leaves_with_path(self.variables["params"])
        }

    def _initialised(self):
        """Return the variables that a linen module gets in its first call, of the first width and arguments that do.

        Which width it expects its settings may say; how many of its arguments are tokens its signature may not.
        """
        import jax
        import jax.numpy as jnp

        widths = [n for name, n in self.numbers().items() if signature.role_of(name.rpartition(".")[2]) == "d_model"]
        error = None
        for width in dict.fromkeys((*widths, WIDTH)):
            X = jnp.zeros((2, N_TOKENS, width))
            for args, kwargs in (((), self._first_arguments(X)), *(((X,) * count, {}) for count in (1, 2, 3))):
                try:
                    return self.original.init(jax.random.key(0), *args, **kwargs)
                except Exception as raised:  # another width or number of arguments may do
                    error = error or raised
        raise CannotBeExaminedError(f"{self.name} could not be initialised: {error}")

    def _first_arguments(self, X):
        """What is given to get its parameters: a mask that hides nothing, no dropout, and X for all else."""
        import jax.numpy as jnp

        usual = {"mask": jnp.ones((1, 1, N_TOKENS, N_TOKENS), bool), "padding": jnp.ones((2, N_TOKENS), bool)}
        usual |= {"deterministic": True, "training": False}
        arguments = {}
        for parameter in signature.parameters_of(self.signature_of):
            role = signature.role_of(parameter.name)
            if parameter.default is parameter.empty or role in ("deterministic", "training"):
                arguments[parameter.name] = usual.get(role, X)
        return arguments

    @property
    def signature_of(self):
        return type(self.original).__call__.__get__(self.original) if self.is_linen else super().signature_of

    def restore(self):
        if not self.is_linen:  # a linen module holds no arrays
            super().restore()

    def __call__(self, **arguments):
        if not self.is_linen:
            return super().__call__(**arguments)
        params = {}
        for path, value in self.values.items():
            *owners, name = path.split(".")
            inner = params
            for owner in owners:
                inner = inner.setdefault(owner, {})
            inner[name] = value
        return self.original.apply({**self.variables, "params": params}, **arguments)

    def parameters(self):
        if not self.is_linen:
            return super().parameters()
        return [_read(path, value) for path, value in self.values.items()]

    def set(self, values):
        if not self.is_linen:
            return super().set(values)
        self.values |= {path: np.asarray(value, np.float32) for path, value in values.items()}
        return None

    def source(self):
        try:
            return inspect.getsource(type(self.original))
        except (OSError, TypeError):
            return ""
