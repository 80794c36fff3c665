"""Where a module keeps its matrices, and how it is called: what the test needs to compare it with the oracle.

None of it is in the modules themselves, which look as their authors' did.
"""

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
import torch

D_MODEL, N_HEADS = 24, 4  # heads of width 6: a mix-up of the two numbers cannot hide


def build(make, d_model=D_MODEL, n_heads=N_HEADS):
    """A module ready to be used: with weights from a fixed seed, in evaluation mode."""
    with torch.random.fork_rng():
        torch.manual_seed(d_model + n_heads)
        return make(d_model, n_heads).eval()


@dataclass(frozen=True)
class Layout:
    """How a module is read and called.

    `weights(module, n_heads)` gives the oracle's matrices and biases by name. `order` is that of the axes of X ("batch
    first", "sequence first" or "channels first"), `mask` is the convention that the module has ("allow", "hide",
    "numbers", "add"; "keys", "hidden keys" and "lengths" have one row or number for each sample).
    `inputs` is 3 where queries, keys and values are given separately, and `is_causal` says that the module always hides
    what comes later.
    """

    weights: Callable
    mask: str = "allow"
    order: str = "batch first"
    inputs: int = 1
    is_causal: bool = False

    def call(self, module, X, mask=None, **options):
        """The output for X (batch, tokens, features) and a mask that is True where a query may attend."""
        axes = {"batch first": (0, 1, 2), "sequence first": (1, 0, 2), "channels first": (0, 2, 1)}[self.order]
        X = torch.from_numpy(X).permute(axes)
        masks = [] if mask is None else [_CONVENTIONS[self.mask](torch.from_numpy(mask))]
        with torch.no_grad():
            output = module(*[X] * self.inputs, *masks, **options)
        output, *rest = output if isinstance(output, tuple) else (output,)
        output = output.permute(axes).numpy()
        return (output, *rest) if options else output


_CONVENTIONS = {
    "allow": lambda mask: mask,
    "hide": lambda mask: ~mask,
    "numbers": lambda mask: mask.double(),
    "add": lambda mask: torch.zeros(mask.shape, dtype=torch.float64).masked_fill(~mask, -torch.inf),
    "keys": lambda mask: mask[:, 0, 0],
    "hidden keys": lambda mask: ~mask[:, 0, 0],
    "lengths": lambda mask: mask[:, 0, 0].sum(1),
}


def linears(*names):
    """Four linear layers of their own; a name has dots where the layer is inside another module."""

    def weights(module, n_heads):
        return _named(*(_linear(attrgetter(name)(module)) for name in names))

    return weights


def fused(qkv, out, order="QKV"):
    """One linear layer for queries, keys and values, one after the other."""

    def weights(module, n_heads):
        matrix, bias = _linear(attrgetter(qkv)(module))
        parts = dict(zip(order, zip(np.split(matrix, 3, 1), np.split(bias, 3), strict=True), strict=True))
        return _named(parts["Q"], parts["K"], parts["V"], _linear(attrgetter(out)(module)))

    return weights


def interleaved(qkv, out):
    """One linear layer in which every head has its queries, keys and values side by side."""

    def weights(module, n_heads):
        matrix, bias = _linear(attrgetter(qkv)(module))
        parts = matrix.reshape(len(matrix), n_heads, 3, -1), bias.reshape(n_heads, 3, -1)
        parts = [(parts[0][:, :, i].reshape(len(matrix), -1), parts[1][:, i].reshape(-1)) for i in range(3)]
        return _named(*parts, _linear(attrgetter(out)(module)))

    return weights


def heads_in_a_list(heads, *names):
    """Linear layers of one head's width inside each of `heads`, and the output's layer outside."""
    *inner, out = names

    def weights(module, n_heads):
        pairs = [[_linear(getattr(head, name)) for head in getattr(module, heads)] for name in inner]
        joined = [tuple(np.concatenate(parts, axis=-1) for parts in zip(*pair, strict=True)) for pair in pairs]
        return _named(*joined, _linear(attrgetter(out)(module)))

    return weights


def torch_attention(name):
    """The parameters of torch.nn.MultiheadAttention."""

    def weights(module, n_heads):
        inner = attrgetter(name)(module)
        matrices, biases = _numpy(inner.in_proj_weight), _numpy(inner.in_proj_bias)
        parts = [(matrix.T, bias) for matrix, bias in zip(np.split(matrices, 3), np.split(biases, 3), strict=True)]
        return _named(*parts, _linear(inner.out_proj))

    return weights


def matrices(read):
    """Anything else: `read(module)` gives W_Q, W_K, W_V and W_O, each alone or with its bias."""

    def weights(module, n_heads):
        parts = [part if isinstance(part, tuple) else (part, torch.zeros(part.shape[1])) for part in read(module)]
        return _named(*((_numpy(matrix), _numpy(bias)) for matrix, bias in parts))

    return weights


def _linear(layer):
    """The matrix of a linear layer as X is multiplied by it, and its bias (zeros where it has none)."""
    matrix = _numpy(layer.weight).reshape(len(layer.weight), -1).T  # a convolution of width 1 has a further axis
    return matrix, np.zeros(matrix.shape[1]) if layer.bias is None else _numpy(layer.bias)


def _numpy(tensor):
    return tensor.detach().double().numpy()


def _named(*pairs):
    return {
        kind + "_" + letter: array
        for letter, pair in zip("QKVO", pairs, strict=True)
        for kind, array in zip("Wb", pair, strict=True)
    }
