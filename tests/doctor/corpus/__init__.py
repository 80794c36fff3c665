"""Faults that people really had in their attention, and right implementations in unusual styles.

`FAULTS` and `RIGHT` hold NumPy functions; `torch_cases()` has the modules, for where PyTorch is installed.
"""

from . import faults_heads, faults_masks, faults_scores, faults_several, right_functions

FAULTS = [*faults_scores.CASES, *faults_heads.CASES, *faults_masks.CASES, *faults_several.CASES]
RIGHT = [*right_functions.CASES]


def torch_cases():
    """The entries that need PyTorch: (faults, right ones)."""
    from . import faults_modules, right_modules

    return [*faults_modules.CASES], [*right_modules.CASES]
