"""torch.nn.Module: examined as a copy, in float32, in evaluation mode."""

import contextlib
import copy
import inspect
import itertools
import re

import numpy as np

from attention_doctor.calls.errors import CannotBeExaminedError
from attention_doctor.frameworks import Found

NORMS = ("LayerNorm", "RMSNorm", "GroupNorm", "BatchNorm")


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
        for count, width in itertools.product((len(names), 3, 1), (64, 32, 16, 8, 128, 256, 512, 768)):
            attempt = copy.deepcopy(self.module)
            given = [torch.zeros(2, 5, width)] * count + [None] * (len(names) - count)
            try:
                attempt(*given)
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
        found, seen = [], set()
        for path, owner in self.module.named_modules():
            for name, value in owner.named_parameters(recurse=False):
                if id(value) in seen or not value.is_floating_point():  # a mask may be a parameter, too
                    continue
                seen.add(id(value))
                full_path = f"{path}.{name}" if path else name
                found.append(self._found(full_path, name, owner, value.detach().cpu().numpy()))
        return found

    @staticmethod
    def _found(path, name, owner, value):
        kind = type(owner).__name__
        if any(norm in kind for norm in NORMS) or "norm" in kind.lower():
            return Found(path, value, "", "norm", kind)
        if "Embedding" in kind:
            return Found(path, value, "", "other", kind)
        if kind.startswith("Conv") and value.ndim > 2 and np.prod(value.shape[2:]) == 1:
            return Found(path, value, "outputs by inputs", "matrix", kind)
        if kind == "Conv1D":  # GPT-2's: transposed
            return Found(
                path,
                value,
                "inputs by outputs" if value.ndim == 2 else "",
                "matrix" if value.ndim == 2 else "bias",
                kind,
            )
        if kind in ("Linear", "NonDynamicallyQuantizableLinear") or kind.endswith("Linear"):
            return Found(path, value, "outputs by inputs", "matrix" if value.ndim == 2 else "bias", kind)
        if kind == "MultiheadAttention" and value.ndim == 2 and "weight" in name:
            return Found(path, value, "outputs by inputs", "matrix", kind)
        if "bias" in name or re.match(r"b_?[qkvo]", name, re.I):
            return Found(path, value, "", "bias", kind)
        is_matrix = value.ndim in (2, 3) and value.shape[1:] != (1, 1)  # (heads, 1, 1) is one number per head
        return Found(path, value, "", "matrix" if is_matrix else "bias" if value.ndim == 1 else "other", kind)

    def set(self, values):
        import torch

        owners = dict(self.module.named_modules())
        with torch.no_grad():
            for path, value in values.items():
                owner, _, name = path.rpartition(".")
                getattr(owners[owner], name).copy_(torch.from_numpy(np.array(value, np.float32)))

    def numbers(self):
        """Return the numbers among the attributes of the module, of those inside it, and of their settings, by path."""
        found = {}
        for path, owner in self.module.named_modules():
            for name, value in vars(owner).items():
                if isinstance(value, (int, float)) and not isinstance(value, bool):
                    found.setdefault(f"{path}.{name}".strip("."), value)
                elif isinstance(value, tuple) and value and all(type(size) is int for size in value):
                    found.setdefault(
                        f"{path}.{name}.size".strip("."), int(np.prod(value))
                    )  # a window of 7 by 7: 49 tokens
                elif name in ("config", "cfg", "args", "hparams", "conf") and not isinstance(
                    value, (str, int, type(None))
                ):
                    settings = value if isinstance(value, dict) else getattr(value, "__dict__", {})
                    found |= {
                        f"{name}.{key}": number for key, number in settings.items() if type(number) in (int, float)
                    }
        return found

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
            if "freq" in name.lower() and value.ndim == 1 and value.is_floating_point()
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
