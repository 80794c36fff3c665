"""Interactive labs: `labs.qkv_workbench(dot_product_attention)` as the last line of a cell."""

from mha_helpers.labs.block_tour import block_tour
from mha_helpers.labs.head_browser import head_browser
from mha_helpers.labs.leak_detector import leak_detector
from mha_helpers.labs.mask_studio import mask_studio
from mha_helpers.labs.qkv_workbench import qkv_workbench
from mha_helpers.labs.shape_tracer import shape_tracer
from mha_helpers.labs.softmax_scaling import softmax_scaling
from mha_helpers.labs.split_lab import split_lab
from mha_helpers.labs.sum_of_heads import sum_of_heads
from mha_helpers.labs.which_bug import which_bug
from mha_helpers.labs.word_order import word_order

__all__ = [
    "block_tour",
    "head_browser",
    "leak_detector",
    "mask_studio",
    "qkv_workbench",
    "shape_tracer",
    "softmax_scaling",
    "split_lab",
    "sum_of_heads",
    "which_bug",
    "word_order",
]
