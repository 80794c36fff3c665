"""Interactive labs: `labs.qkv_workbench(dot_product_attention)` as the last line of a cell.

A lab is loaded at its first use. `__init__.pyi` beside this file tells editors what there is; `python -m tools refresh`
writes it.
"""

from importlib import import_module

# The registry: a lab NAME of a folder is the function NAME of its module NAME. A folder is a notebook's.
LABS = {
    "self_attention": (
        "qkv_workbench",
        "with_and_without_attention",
        "word_order",
        "two_banks",
        "row_times_column",
    ),
    "scaling": (
        "find_the_cat",
        "coin_tosses",
        "softmax_scaling",
    ),
    "masking": (
        "the_future_hidden",
        "mask_studio",
        "leak_detector",
    ),
    "splitting": (
        "two_heads",
        "be_the_head",
        "split_lab",
        "shape_tracer",
    ),
    "output_projection": (
        "sum_of_heads",
        "block_tour",
        "which_bug",
    ),
    "real_model": (
        "head_browser",
        "a_trained_head",
    ),
    "heads_that_learn": ("training_run",),
    "a_model_that_writes": (
        "writer",
        "logit_lens",
    ),
    "what_a_cache_keeps": ("cache_cost",),
}
_FOLDERS = {name: folder for folder, names in LABS.items() for name in names}
__all__ = sorted(_FOLDERS)


def __getattr__(name):
    if name not in _FOLDERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = getattr(import_module(f"{__name__}.{_FOLDERS[name]}.{name}"), name)
    return globals()[name]


def __dir__():
    return sorted([*globals(), *__all__])
