"""What would be a mistake in a function, and may be meant in a module: a design of the whole that it is a part of."""

from attention_doctor import vocabulary
from attention_doctor.readers.heads import numbers_of_heads, widths_of_heads

NEARLY_THE_ROOT = 0.85, 1.15  # times the root: drawn weights have about the spread that was asked for


def is_by_design(subject, name: str) -> bool:
    """Whether a module may do by design what this name says.

    Parameters
    ----------
    subject : ModuleSubject
    name : str
        Of the vocabulary.
    """
    arguments = subject.arguments
    if name == "mha-residual-added":
        return True  # a module may be a whole block, which adds its input
    if name == "scale-missing":
        return _leaves_the_scale_to_its_weights(subject) or _is_gated_with_keys_of_their_own_width(subject)
    if name == "weights-shared-by-heads":
        return _takes_the_mean_of_heads(subject)
    if name == "cross-attends-to-itself":
        return not arguments.must_give("context")  # built for one sequence: an optional context isn't used
    if name == "mask-ignored":
        # By Keras's convention a call takes `mask=None`, and Keras hands on what it has: nobody need want it.
        by_convention = arguments.name_of.get("mask") == "mask" and not arguments.must_give("mask")
        return subject.framework == "keras" and by_convention
    # Who hands over queries, keys and values may have projected them.
    return name == "mha-no-projections" and arguments.must_give("values")


def _leaves_the_scale_to_its_weights(subject):
    """Whether it learns a bias for each distance, as T5 does, which leaves the scale to the first weights."""
    return bool(subject.set_to_zero or vocabulary.RELATIVE_POSITIONS.search(subject.source)) or _queries_start_small(
        subject
    )


def _is_gated_with_keys_of_their_own_width(subject):
    """Whether a learnt number lets attention in, and queries are not as wide as tokens: SAGAN's."""
    is_narrow = any(unit.role == "Q" and min(unit.shape[:2]) < subject.d_model for unit in subject.units)
    return is_narrow and any(parameter.value.size == 1 for parameter in subject.parameters)


def _queries_start_small(subject):
    """Whether the first weights of queries are smaller than those of keys, by about the root of a head's width.

    Only modules of JAX are asked: elsewhere the weights may be trained, or drawn anew, and show no intention.
    """
    by_role = {unit.role: unit for unit in subject.units if unit.role in ("Q", "K")}
    if len(by_role) < 2 or subject.framework != "jax":
        return False
    queries, keys = (subject.spreads.get(by_role[role].paths[0], 0) for role in "QK")
    numbers, (least, most) = subject.adapter.numbers(), NEARLY_THE_ROOT
    n_heads = numbers_of_heads(numbers, subject.units)[0]
    d_heads = widths_of_heads(numbers) or [subject.d_model // n for n in n_heads]
    return keys > 0 and any(least < queries / keys * d_head**0.5 < most for d_head in d_heads if d_head > 1)


def _takes_the_mean_of_heads(subject):
    """Whether one matrix of values serves all heads, and W_O takes no more than one head: their mean, as in the TFT."""
    by_role = {unit.role or "O": unit for unit in subject.units}
    if not {"Q", "V", "O"} <= by_role.keys() or len(by_role["Q"].paths) < 2 or len(by_role["V"].paths) > 1:
        return False
    values, output = (by_role[role].matrix(subject.values, by_role[role].orientation) for role in "VO")
    return len(output) == values.shape[1]
