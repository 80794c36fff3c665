"""torch.nn.Module: examined as a copy, in float32, in evaluation mode."""

import contextlib
import copy
import functools
import inspect
import itertools

import numpy as np

from attention_doctor import vocabulary
from attention_doctor.calls.errors import CannotBeExaminedError
from attention_doctor.frameworks import Parameter
from attention_doctor.readers import heads

LAZY_WIDTHS = (64, 32, 16, 8, 128, 256, 512, 768)  # of a token, where a lazy module takes any


def _read(path, layer, value):
    """Tell what a parameter is: by the class of the layer that holds it, or by itself in a class of somebody's own."""
    name = path.rpartition(".")[2]
    kind, orientation = _kind_in(layer, name, value) or (_kind_of(name, value), "")
    return Parameter(path, value, orientation, kind, layer)


def _kind_in(layer, name, value):
    """Return the kind and orientation that a layer's class tells, PyTorch's own or one called alike; None if none does.

    A matrix that is read transposed is another model, and in square ones nothing else tells which it is.
    """
    is_matrix = value.ndim == 2
    if _is_of_a_norm(layer, name, value):
        return "norm", ""
    if "Embedding" in layer:  # as large as a matrix, and none of attention's
        return "other", ""
    if layer.startswith("Conv") and _is_pointwise(value):
        return "matrix", "outputs by inputs"
    if layer == "Conv1D":  # GPT-2's: transposed
        return ("matrix", "inputs by outputs") if is_matrix else ("bias", "")
    if layer.endswith("Linear"):  # PyTorch's own attention has a NonDynamicallyQuantizableLinear
        return "matrix" if is_matrix else "bias", "outputs by inputs"
    if layer == "MultiheadAttention" and is_matrix and "weight" in name:
        return "matrix", "outputs by inputs"
    return None


def _is_of_a_norm(layer, name, value):
    """Whether a norm's class holds it, or it is called as in one; a single gamma is a gate."""
    return "norm" in layer.lower() or (value.ndim == 1 and value.size > 1 and name in vocabulary.NORM_WEIGHTS)


def _is_pointwise(value):
    """Whether a convolution's kernel sees one position alone, as in attention on images: then it is a linear layer."""
    return value.ndim > 2 and np.prod(value.shape[2:]) == 1


def _kind_of(name, value):
    """Return the kind of a parameter that a class of somebody's own holds: by its name, then by its shape."""
    if "bias" in name or vocabulary.BIAS_OF_A_PROJECTION.match(name) or value.ndim == 1:
        return "bias"
    # (heads, 1, 1) is one number per head, such as a learnt temperature.
    return "matrix" if value.ndim in (2, 3) and value.shape[1:] != (1, 1) else "other"


def _numbers_among(name, settings):
    """The numbers in an object or a dictionary of settings: many classes keep their number of heads nowhere else."""
    items = settings if isinstance(settings, dict) else getattr(settings, "__dict__", {})
    return {f"{name}.{key}": number for key, number in items.items() if type(number) in (int, float)}


class TorchModule:
    """Reads, sets and runs a copy of a torch.nn.Module."""

    framework = "torch"
    precisions = ("float16", "bfloat16")

    def __init__(self, module):
        import torch

        self.original = module
        self._training, self._tensors = [], []
        try:
            self.module = copy.deepcopy(module)
        except Exception:  # it holds something that cannot be copied, so it is examined itself, and put back afterwards
            self.module = module
            self.precisions = ()  # another precision is tried on a copy
            self._remember()
        self.module.eval()
        self.module.float()
        if any(
            isinstance(parameter, torch.nn.parameter.UninitializedParameter) for parameter in self.module.parameters()
        ):
            self._find_lazy_widths()

    def _find_lazy_widths(self):
        """Call a lazy module once, which gives its parameters their shapes; try widths until one works."""
        import torch

        names = [p.name for p in inspect.signature(self.module.forward).parameters.values() if p.default is p.empty]
        error = None
        # How many of its arguments are tokens isn't known: all, queries, keys and values, or one.
        for count, width in itertools.product((len(names), 3, 1), LAZY_WIDTHS):
            attempt = copy.deepcopy(self.module)
            arguments = [torch.zeros(2, 5, width)] * count + [None] * (len(names) - count)
            try:
                attempt(*arguments)
            except Exception as raised:  # another width may do
                error = raised
                continue
            self.module = attempt
            return
        raise CannotBeExaminedError(f"{self.name} has lazy parameters; call it once before it is examined: {error}")

    def _remember(self):
        from torch.nn.parameter import is_lazy

        for owner in self.module.modules():
            self._training.append((owner, owner.training))
            for tensors in (owner._parameters, owner._buffers):
                for name, tensor in tensors.items():
                    if tensor is not None and not is_lazy(tensor):
                        self._tensors.append((tensors, name, tensor, tensor.data, tensor.detach().clone()))

    def restore(self):
        """Put a module that could not be copied back as it was: its mode, its types and its numbers."""
        for owner, training in self._training:
            owner.training = training
        for tensors, name, tensor, data, numbers in self._tensors:
            data.copy_(numbers)
            tensor.data = data  # `float()` may have given it other data
            tensors[name] = tensor  # and a buffer a tensor of its own

    @property
    def name(self):
        return type(self.original).__name__

    @property
    def signature_of(self):
        return self.module.forward

    def __call__(self, **arguments):
        import torch

        with torch.no_grad():
            return self.module(**arguments)

    def with_gradients(self, **arguments):
        """Call it with gradients switched on, as training does."""
        return self.module(**arguments)

    def parameters(self):
        """Return its parameters; one that is shared counts at its first place."""
        parameters, seen = [], set()
        for path, owner in self.module.named_modules():
            for name, value in owner.named_parameters(recurse=False):
                if id(value) in seen or not value.is_floating_point():  # a mask may be a parameter, too
                    continue
                seen.add(id(value))
                full_path = f"{path}.{name}" if path else name
                parameters.append(_read(full_path, type(owner).__name__, value.detach().cpu().numpy()))
        return parameters

    def set(self, values):
        import torch

        owners = dict(self.module.named_modules())
        with torch.no_grad():
            for path, value in values.items():
                owner, _, name = path.rpartition(".")
                getattr(owners[owner], name).copy_(torch.from_numpy(np.array(value, np.float32)))

    @functools.cached_property
    def _numbers_in_its_code(self):
        """What its call takes from variables of its file, as scripts have them."""
        return heads.fixed_in(self.module.forward)

    def numbers(self):
        """Return the numbers among the attributes of the module, of those inside it, and of their settings, by path.

        What its code itself fixes is among them.
        """
        numbers = dict(self._numbers_in_its_code)
        for path, owner in self.module.named_modules():
            for name, value in vars(owner).items():
                full_path = f"{path}.{name}".strip(".")
                if type(value) is not bool and isinstance(value, (int, float)):
                    numbers.setdefault(full_path, value)
                elif isinstance(value, tuple) and value and all(type(size) is int for size in value):
                    numbers.setdefault(f"{full_path}.size", int(np.prod(value)))  # a window of 7 by 7: 49 tokens
                elif name in vocabulary.SETTINGS:
                    numbers |= _numbers_among(name, value)
        return numbers

    def norm(self, path):
        """Return a norm inside as a function of ndarrays, or None where it doesn't run by itself."""
        import torch

        module = self.module.get_submodule(path)

        def run(X):
            with torch.no_grad():
                return module(torch.from_numpy(np.array(X, np.float32))).double().numpy()

        def run_by_channels(X):  # group and batch norms have the features before the tokens
            return run(X.swapaxes(-1, -2)).swapaxes(-1, -2)

        width = sum(value.shape[-1] for value in itertools.islice(module.parameters(), 1))
        for way in (run, run_by_channels):
            with contextlib.suppress(Exception):  # it takes other arguments, or the features elsewhere
                if way(np.ones((1, 2, width))).shape == (1, 2, width):
                    return way
        return None

    def flags(self):
        """Return its attributes that are True or False."""
        return {name: value for name, value in vars(self.module).items() if isinstance(value, bool)}

    def inside(self):
        """Return the paths of the modules inside it that have parameters."""
        return [path for path, item in self.module.named_modules() if path and any(True for _ in item.parameters())]

    def frequencies(self):
        """Return the buffers that may hold the angles of rotary positions, by name."""
        return {
            name: value.cpu().double().numpy()
            for name, value in self.module.named_buffers()
            if vocabulary.FREQUENCIES.search(name) and value.ndim == 1 and value.is_floating_point()
        }

    def buffers(self):
        return [name for name, _ in self.module.named_buffers()]

    def source(self):
        sources = []
        for kind in {type(owner) for owner in self.module.modules()}:
            if kind.__module__.partition(".")[0] != "torch":
                try:
                    sources.append(inspect.getsource(kind))
                except (OSError, TypeError):
                    continue
        return "\n".join(sources)

    def in_precision(self, precision):
        """Return a function that calls a copy of the module in this precision, "float16" or "bfloat16"."""
        import torch

        half = copy.deepcopy(self.module).to(getattr(torch, precision))

        def run(**arguments):
            with torch.no_grad():
                return half(**arguments)

        return run
