"""What can be wrong with attention, by name: what the code does, how bad that is, how it is mended, where it was seen.

A mistake of an exercise has the same name here, and in its exercise a message to whoever made it in that task.
"""

from . import calls, heads, masks, output, weights
from .word import DESIGN, HARMLESS, HEALTHY, IMPORTED, LEAK, LIMIT, NOTE, SEVERITIES, WRONG, Word

__all__ = [
    "DESIGN",
    "HARMLESS",
    "HEALTHY",
    "IMPORTED",
    "LEAK",
    "LIMIT",
    "NOTE",
    "SEVERITIES",
    "WORDS",
    "WRONG",
    "Word",
]

WORDS = heads.WORDS | weights.WORDS | output.WORDS | masks.WORDS | calls.WORDS
