"""The attention doctor: examine any implementation of attention, and name what is wrong with it.

>>> import numpy as np
>>> from attention_doctor import examine
>>> def attention(queries, keys, values):
...     weights = np.exp(queries @ keys.swapaxes(-1, -2))
...     return weights / weights.sum(axis=-1, keepdims=True) @ values
>>> report = examine(attention)
>>> report.healthy, report.names
(False, ['scale-missing', 'softmax-no-max'])

It takes a function with weights, `attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None, is_causal=False)`; a function of
(queries, keys, values); a module or layer of PyTorch, Keras, Flax or Equinox with weights of its own; or any callable
from token vectors to outputs. `assert_healthy(thing)` is for a project's own tests. From the command line:
`attention-doctor FILE.py:NAME`.

Importing this needs NumPy alone; a framework is imported only if what is examined comes from it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from function_judge.libraries import add_own

if TYPE_CHECKING:
    from attention_doctor.api import assert_healthy, examine
    from attention_doctor.calls.errors import CannotBeExaminedError
    from attention_doctor.reports.report import Finding, Report

__all__ = ["CannotBeExaminedError", "Finding", "Report", "assert_healthy", "examine"]

add_own("attention_doctor")

_PLACES = {
    "CannotBeExaminedError": "calls.errors",
    "Finding": "reports.report",
    "Report": "reports.report",
    "assert_healthy": "api",
    "examine": "api",
}


def __getattr__(name):
    """Load the examination at its first use: whoever needs the equation alone doesn't wait for sixty modules."""
    if name in _PLACES:
        return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
