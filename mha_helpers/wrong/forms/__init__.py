"""What people write by mistake in each step of attention's equation, for any number of heads and any matrices.

Each is a `judge.stages.Form` under its name; `masks` has what is done to masks, as rules of which the step is made.
"""

from .output import ADD, MERGE, MIX, OUTPUT
from .project import PROJECT
from .scores import SCALE, SCORES
from .split import SPLIT
from .weights import SOFTMAX

FORMS = [*PROJECT, *SPLIT, *SCORES, *SCALE, *SOFTMAX, *MIX, *MERGE, *OUTPUT, *ADD]
# Two mistakes that go together, and have one name in the catalogue.
TOGETHER = {
    frozenset({"mha-split-without-transpose", "mha-combine-without-transpose"}): "mha-both-without-transpose",
    frozenset({"mha-strided", "mha-combine-interleaved"}): "mha-strided",
}
