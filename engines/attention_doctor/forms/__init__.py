"""What people write by mistake in each step of attention's equation, for any number of heads and any matrices.

Each is a `equation.stages.Form` under its name; `masks` has what is done to masks, as rules of which the step is made.
"""

from attention_doctor.forms.output import ADD, MERGE, MIX, OUTPUT
from attention_doctor.forms.project import PROJECT
from attention_doctor.forms.scores import SCALE, SCORES
from attention_doctor.forms.split import SPLIT
from attention_doctor.forms.weights import SOFTMAX

FORMS = [*PROJECT, *SPLIT, *SCORES, *SCALE, *SOFTMAX, *MIX, *MERGE, *OUTPUT, *ADD]
# Two mistakes that go together, and have one name in the catalogue.
TOGETHER = {
    frozenset({"mha-split-without-transpose", "mha-combine-without-transpose"}): "mha-both-without-transpose",
    frozenset({"mha-strided", "mha-combine-interleaved"}): "mha-strided",
}
