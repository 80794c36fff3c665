"""Interactive labs: `labs.qkv_workbench(dot_product_attention)` as the last line of a cell."""

from importlib import import_module

# The registry: a lab NAME is the function NAME of its module NAME.
__all__ = [
    "block_tour",
    "cache_cost",
    "head_browser",
    "leak_detector",
    "logit_lens",
    "mask_studio",
    "qkv_workbench",
    "shape_tracer",
    "softmax_scaling",
    "split_lab",
    "sum_of_heads",
    "training_run",
    "two_banks",
    "which_bug",
    "with_and_without_attention",
    "word_order",
    "writer",
]
globals().update({_name: getattr(import_module(f"{__name__}.{_name}"), _name) for _name in __all__})
