"""Interactive labs: `labs.qkv_workbench(dot_product_attention)` as the last line of a cell."""

from mha_helpers.labs.order import word_order
from mha_helpers.labs.workbench import qkv_workbench

__all__ = ["qkv_workbench", "word_order"]
