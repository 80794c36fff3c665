"""Interactive labs: `labs.qkv_workbench(dot_product_attention)` as the last line of a cell."""

from mha_helpers.labs.order import order_blindness
from mha_helpers.labs.workbench import qkv_workbench

__all__ = ["order_blindness", "qkv_workbench"]
