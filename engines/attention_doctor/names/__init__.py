"""What can be wrong with attention, by name: what the code does, how bad that is, its repair, where it was seen.

A mistake of an exercise has the same name here, and in its exercise a message to whoever made it in that task: two
texts, since they have different readers. The message says "you", names what this task gives and asks for, with the
functions that the learner has by then, and often leaves the solving to them; some names have three or four, one a task.
The sentence here is about anybody's code, whose names it can't know, and the repair follows it.
"""

from attention_doctor.names import calls, heads, masks, output, weights
from attention_doctor.names.word import DESIGN, HARMLESS, HEALTHY, IMPORTED, LEAK, LIMIT, NOTE, SEVERITIES, WRONG, Word

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
