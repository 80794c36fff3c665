"""Every name that a report can give is given to some program: a name without one may never come out again, unseen.

Most have one in the other files here. The rarer ones get attention with that form of a step.
"""

from pathlib import Path

import numpy_modules
import pytest
from made_up import FAULTY
from test_functions import COMMON, NEEDS_MORE, explains

from attention_doctor.equation.stages import Input, compute
from attention_doctor.forms import FORMS
from attention_doctor.forms.masks import BUILT_IN, JOINS, RULES, hiding
from attention_doctor.names import WORDS
from mha_helpers import doctor

# Names that no form of a step gives, with the file that has a program for them.
TESTED_ELSEWHERE = {
    "attention-over-batch": "corpus/faults_heads.py",
    "causal-ignored": "test_students_styles.py",
    "dropout-always-on": "test_torch.py",
    "mask-lost-with-cache": "test_masks_that_meet.py",
    "mask-lost-with-mask": "test_masks_that_meet.py",
    "padding-no-head-axis": "corpus/faults_masks.py",
    "rope-conventions-mixed": "test_rotary.py",
    "rope-counts-from-one": "test_rotary.py",
    "rope-not-a-rotation": "test_rotary.py",
    "rope-one-position": "test_rotary.py",
    "rope-other-way": "test_rotary.py",
    "rope-start-forgotten": "test_rotary.py",
    "rope-wrong-axis": "test_rotary.py",
    "rope-wrong-frequencies": "test_rotary.py",
}
# Names that no program gets, with the reason.
NOT_GIVEN = {
    "mha-mask-ignored": "the doctor says mask-ignored; the name is an exercise's",
    "scale-values-width": "in all its inputs values are as wide as keys, and nothing is wrong there",
    "scores-reversed-axes": "right for one sequence at a time, and read so",
}
WITH_A_PROGRAM = {
    *(form.slug for form in COMMON if form.slug not in NEEDS_MORE),
    *(name for names in FAULTY.values() for name in names),
    *(name for _, names, _ in numpy_modules.ALL for name in names if name),
}
RARE = [name for name in WORDS if name not in {*WITH_A_PROGRAM, *TESTED_ELSEWHERE, *NOT_GIVEN}]


def form_of(name):
    """The first form of a step with this name, or None."""
    forms = {form.slug: form for form in reversed([*FORMS, *BUILT_IN])}
    forms |= {slug: hiding(join=join) for slug, _, join in JOINS}
    forms |= {rule.slug: hiding(rule) for rule in reversed(RULES)}
    return forms.get(name)


def with_form(form):
    def attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None, is_causal=False):
        matrices = {"Q": W_Q, "K": W_K, "V": W_V, "O": W_O}
        case = Input(X, X, matrices, n_heads, n_heads, mask, is_causal)
        output = compute(case, [form])[0]
        if output is None:
            raise ValueError("the form does not fit")
        return output

    return attention


@pytest.mark.slow
@pytest.mark.parametrize("name", RARE)
def test_attention_with_a_rare_form_gets_its_name(name):
    report = doctor.examine(with_form(form_of(name)))
    assert explains(name, report), report


def test_every_other_name_has_a_form():
    assert [name for name in RARE if form_of(name) is None] == []


@pytest.mark.parametrize("name", TESTED_ELSEWHERE)
def test_another_file_tests_it(name):
    text = (Path(__file__).parent / TESTED_ELSEWHERE[name]).read_text(encoding="utf-8")
    assert f'"{name}"' in text


def test_no_exception_is_left_over():
    assert {*TESTED_ELSEWHERE, *NOT_GIVEN} <= WORDS.keys() - WITH_A_PROGRAM
