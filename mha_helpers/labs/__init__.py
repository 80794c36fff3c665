"""Interactive labs: `labs.qkv_workbench(dot_product_attention)` as the last line of a cell."""

from mha_helpers.labs.browser import head_browser
from mha_helpers.labs.diagnosis import which_bug
from mha_helpers.labs.heads import sum_of_heads
from mha_helpers.labs.leaks import leak_detector
from mha_helpers.labs.order import word_order
from mha_helpers.labs.scaling import softmax_scaling
from mha_helpers.labs.splitting import split_lab
from mha_helpers.labs.studio import mask_studio
from mha_helpers.labs.tracer import shape_tracer
from mha_helpers.labs.workbench import qkv_workbench

__all__ = [
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
