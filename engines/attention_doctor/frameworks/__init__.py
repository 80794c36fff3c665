"""One module a framework: how to find, change and run what comes from it. None is imported before it is needed."""

import dataclasses
from typing import Literal

import numpy as np


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One parameter of a module.

    Parameters
    ----------
    path : str
        Where it was found, with dots: "attn.q_proj.weight".
    value : ndarray
    orientation : {"outputs by inputs", "inputs by outputs", ""}
        How a matrix is stored, where its owner says it.
    kind : {"matrix", "bias", "norm", "other"}
    owner : str
        The name of the class that holds it.
    """

    path: str
    value: np.ndarray
    orientation: Literal["outputs by inputs", "inputs by outputs", ""] = ""
    kind: Literal["matrix", "bias", "norm", "other"] = "other"
    owner: str = ""


def adapter_for(thing):
    """Return the adapter of a module or layer, or None for a plain function."""
    origins = {base.__module__.partition(".")[0] for base in type(thing).__mro__}
    if "keras" in origins:  # first, as on PyTorch a layer is a module, too
        from attention_doctor.frameworks.keras_layers import KerasLayer

        return KerasLayer(thing)
    if "torch" in origins:
        from attention_doctor.frameworks.pytorch import TorchModule

        return TorchModule(getattr(thing, "_orig_mod", thing))  # the module inside of torch.compile's
    if "flax" in origins:
        from attention_doctor.frameworks.flax_modules import FlaxModule

        return FlaxModule(thing)
    if isinstance(thing, type) or not hasattr(thing, "__dict__") or hasattr(thing, "__code__"):
        return None
    from attention_doctor.frameworks.objects import PythonObject

    adapter = PythonObject(thing)
    return adapter if adapter.parameters() else None
