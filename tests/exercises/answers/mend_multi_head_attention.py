"""Answers to mend_multi_head_attention: what is right and wrong in multi_head_attention is so here."""

from answers.multi_head_attention import RIGHT, TELLING_CASE, TOLD, WRONG

__all__ = ["RIGHT", "TELLING_CASE", "TOLD", "WRONG"]
