"""Answers to mend_multi_head_attention, whose cases and mistakes are those of multi_head_attention."""

from answers.multi_head_attention import RIGHT, TELLING_CASE, mha_weights_unmasked

WRONG = {"mha-mask-ignored": (mha_weights_unmasked,)}
TOLD = ()

__all__ = ["RIGHT", "TELLING_CASE", "TOLD", "WRONG"]
