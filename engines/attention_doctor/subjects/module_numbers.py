"""The numbers that a module gets for its examination: as if it were trained, so that mistakes show.

Fresh parameters hide mistakes: biases and the last projection may be 0, a norm's weight 1, and what is very small makes
all weights alike.
"""

from dataclasses import replace

import numpy as np

from attention_doctor import vocabulary
from attention_doctor.equation.trial_inputs import Question
from attention_doctor.readers.heads import numbers_of_heads
from attention_doctor.readers.layouts import Layout
from attention_doctor.subjects.module_layouts import AXES


def set_numbers(subject) -> None:
    """Set the parameters, and say in the subject what was set aside for it, and what its answers don't depend on.

    Parameters
    ----------
    subject : ModuleSubject
        Its `units`, `parameters`, `values`, `placed`, `set_to_zero`, `mixes_no_heads` and `unused` are set.
    """
    _set_aside(subject)
    rng = np.random.default_rng(17)
    drawn = {parameter.path: _value(subject, parameter, rng) for parameter in subject.parameters}
    subject.adapter.set({path: value for path, value in drawn.items() if value is not None})
    subject.parameters = subject.adapter.parameters()
    subject.units = [replace(unit, biases=()) if _is_unused(subject, unit.biases) else unit for unit in subject.units]
    _leave_out_unused(subject)
    # Stored so that a matrix of a layer, turned to inputs by outputs, is read row after row.
    subject.values = {item.path: item.value.astype(np.float64, order="F") for item in subject.parameters}


def _set_aside(subject):
    """Take out of the units what is no projection, unless nothing would be left; the others have their places."""
    subject.units = [unit for unit in subject.units if not any(map(_is_added, unit.paths))] or subject.units
    subject.units = [unit for unit in subject.units if not _mixes_heads(subject, unit)] or subject.units
    subject.placed = {path for unit in subject.units for path in (*unit.paths, *unit.biases)}


def _value(subject, parameter, rng):
    """What a parameter is set to; None where it stays as it is, as nothing is known of what it does."""
    path, value = parameter.path, parameter.value
    if path in subject.mixes_no_heads:
        identity = np.eye(len(value)) if value.ndim > 1 else np.zeros(len(value))
        return identity.reshape(value.shape)
    if path in subject.placed:
        numbers = rng.normal(size=value.shape)
        # A little more than keeps the length of a vector: scores then differ enough for their softmax to matter.
        return numbers * 1.25 / subject.d_model**0.5 if parameter.kind == "matrix" else 0.5 * numbers
    if parameter.kind == "norm":
        return _centre_of_a_norm(path) + 0.3 * rng.normal(size=value.shape)
    if vocabulary.SINKS.search(path):
        return rng.normal(size=value.shape)
    if _is_a_shut_gate(value):
        return np.ones_like(value)
    if _is_added(path):
        subject.set_to_zero.append(path)
        return np.zeros_like(value)
    return None


def _is_added(path):
    """Whether it is a learnt position or an adapter: at 0, what is left is attention without it."""
    return bool(vocabulary.POSITION_PARAMETERS.search(path) or vocabulary.ADAPTERS.search(path))


def _centre_of_a_norm(path):
    """What a norm's parameter is before any training: what multiplies is 1, what is added 0."""
    return int("weight" in path.rpartition(".")[2] or "scale" in path or "gamma" in path)


def _is_a_shut_gate(value):
    """Whether it is all zeros and multiplies: a single number, or one a head, with axes to be stretched along.

    A layer whose gate is shut returns its input, or zeros, and nothing of its attention can be seen.
    """
    is_a_number_a_head = value.size == max(value.shape, default=1) and (value.size == 1 or value.ndim > 2)
    return is_a_number_a_head and not value.any()


def _mixes_heads(subject, unit):
    """Whether it mixes heads with heads (talking heads): then it is set so that it mixes none.

    The equation has no such step, and the rest of the module can be compared without it.
    """
    square = len(unit.shape) > 1 and unit.shape[0] == unit.shape[1] and np.prod(unit.shape[2:], initial=1) == 1
    n_heads, _ = numbers_of_heads(subject.adapter.numbers(), subject.units)
    if not (square and unit.shape[0] in n_heads and vocabulary.HEAD_MIXERS.search(unit.paths[0])):
        return False
    subject.mixes_no_heads += [*unit.paths, *unit.biases]
    return True


def _leave_out_unused(subject):
    """Leave out matrices beyond the four that nothing depends on, as are left over from an earlier version."""
    roles = "".join(unit.role for unit in subject.units)
    are_known = all(unit.role for unit in subject.units) and len(roles) == len(set(roles))
    may_hide_all = subject.arguments.filling.mask is not None  # whose meaning isn't known yet
    if subject.latent or are_known or may_hide_all:
        return
    for unit in subject.units:
        if unit.role != "O" and _changes_nothing(subject, unit.paths):
            subject.unused += [*unit.paths, *unit.biases]
    subject.units = [unit for unit in subject.units if unit.paths[0] not in subject.unused]


def _is_unused(subject, biases):
    """Whether an object holds biases that its answer doesn't depend on, as many plain classes do."""
    return bool(subject.framework == "numpy" and biases and _changes_nothing(subject, biases))


def _changes_nothing(subject, paths):
    """Whether the answer is the same with these parameters three times as large."""
    before = {parameter.path: parameter.value for parameter in subject.parameters if parameter.path in paths}
    answers = []
    for factor in (1, 3):
        subject.adapter.set({path: factor * value for path, value in before.items()})
        answers.append(_first_answer(subject))
    subject.adapter.set(before)
    return None not in answers and all(map(np.array_equal, *answers))


def _first_answer(subject):
    """All arrays that come back in the first order of axes in which the module answers."""
    question = subject.fitted(Question("a batch", 2, 5))
    for axes, loops in AXES.values():
        reply = subject.answer(Layout("", axes, loops), question, subject.unweighted_case(question))
        if reply.error is None:
            return reply.others
    return None
