"""Faults that people really had in their attention, and right implementations in unusual styles.

`FAULTS` and `RIGHT` hold NumPy functions; `torch_cases()` has the modules, for where PyTorch is installed.
"""

from . import (
    faults_causal,
    faults_heads,
    faults_masks,
    faults_scores,
    faults_several,
    right_functions,
    right_orders,
)

FAULTS = [
    *faults_scores.CASES,
    *faults_heads.CASES,
    *faults_masks.CASES,
    *faults_causal.CASES,
    *faults_several.CASES,
]
RIGHT = [*right_functions.CASES, *right_orders.CASES]


def torch_cases():
    """The entries that need PyTorch: (faults, right ones)."""
    from . import faults_modules, faults_modules_masks, right_modules, right_modules_fused, right_modules_heads

    faults = [*faults_modules.CASES, *faults_modules_masks.CASES]
    return faults, [*right_modules.CASES, *right_modules_fused.CASES, *right_modules_heads.CASES]
