"""The attention doctor: examine any implementation, and name what is wrong with it.

>>> from mha_helpers import attention, doctor
>>> report = doctor.examine(attention.multi_head_attention)
>>> report.healthy, report.names
(True, [])

It takes a function with weights, `attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None, is_causal=False)`; a function of
(queries, keys, values); a module or layer of PyTorch, Keras, Flax or Equinox with weights of its own; or any callable
from token vectors to outputs. From the command line: `python -m mha_helpers.doctor FILE.py:NAME`.

Importing this needs NumPy alone; a framework is imported only if what is examined comes from it.
"""

from .api import assert_healthy, examine
from .report import Finding, Report
from .signature import CannotBeExaminedError

__all__ = ["CannotBeExaminedError", "Finding", "Report", "assert_healthy", "examine"]
