"""Masks: in which shape and with which meaning the subject takes them, and whether they hide what they should."""

from collections import defaultdict

from attention_doctor.calls import calling
from attention_doctor.equation.stages import RIGHT
from attention_doctor.forms.masks import CAUSAL, IGNORED, REPLACING, RIGHT_RULE
from attention_doctor.names import NOTE
from attention_doctor.questions import (
    causal_flag,
    mask_formats_tried,
    mask_meanings,
    mask_mistakes,
    mask_options,
    mask_sizes,
    masks_of_a_context,
    masks_that_hide_all,
    masks_together,
)
from attention_doctor.questions.masks_compared import PADDING, TRAITS, MaskUse, form_with, is_right, is_used, predicted
from attention_doctor.readers import mask_formats
from attention_doctor.readers.mask_formats import MINIMAL
from attention_doctor.readers.signature import speaks_of_a_context
from attention_doctor.reports.remarks import CannotTell, Caveat, MaskNote, Untested, UntestedMask
from attention_doctor.subjects.arguments import MaskArgument
from function_judge.compare import fits

# The kinds of masks, as in TRAITS, that an argument of each role is asked with.
KINDS_BY_ROLE = {
    "mask": ("padding", "shared", "pairs", "heads"),
    "bias": ("shared", "pairs", "heads"),
    "padding": ("padding",),
    "lengths": ("padding",),
}


def ask(session):
    """Ask about each mask that the subject takes, about its causal flag, and about both together.

    Returns
    -------
    uses : dict of str to MaskUse
        How the mask of each role is used, for the roles where that is understood.
    flag_is_understood : bool
    """
    arguments, uses, flag_is_understood = session.subject.arguments, {}, True
    for role in filter(arguments.has, ("mask", "padding", "lengths", "bias")):
        if session.is_out_of_calls:
            yield UntestedMask(f"the argument {arguments.name_of[role]}, as {session.calls} calls were made already")
            continue
        use = yield from _ask_about(session, role)
        if use is not None:
            uses[role] = use
            yield from mask_sizes.ask(session, role, use)
    if not any(arguments.has(role) for role in KINDS_BY_ROLE):
        yield Untested("masks (it takes none)")
    if arguments.has("is_causal"):
        flag_is_understood = yield from causal_flag.ask(session, uses.values())
    yield from masks_together.ask(session, uses)
    yield from masks_of_a_context.ask(session, uses.values())
    yield from mask_meanings.ask(session, uses.values())
    for use in uses.values():
        yield from masks_that_hide_all.ask(session, use)
    return uses, flag_is_understood


def _ask_about(session, role):
    """Ask about one argument, and return its MaskUse, or None where it isn't understood."""
    subject, name = session.subject, session.subject.arguments.name_of[role]
    kinds = _kinds_for(session, role)
    answers, errors = mask_formats_tried.answers(session, role, kinds)
    if _is_of_a_context(session, name) and all(is_used(session, answer, IGNORED) for answer in answers.values()):
        yield from _ask_of_a_context(session, role, kinds)
        return None
    if not answers:
        why = calling.told(calling.first_real(errors), subject.function)
        yield CannotTell(f"With `{name}`, in every format of a mask, {why}.")
        return None
    option = mask_options.that_switches(session, name, answers)
    if option is not None:
        yield from mask_options.asked_with(session, option, name, lambda: _ask_about(session, role))
        return None
    right = {key: answer for key, answer in answers.items() if is_right(session, answer)}
    if not right:
        use = yield from _taking_the_place_of_its_own(session, name, answers)
        return use or (yield from mask_mistakes.explain(session, name, answers, {}))
    meaning = _likeliest_meaning(right)
    wrong = _wrong_in(meaning, answers, right)
    if wrong:
        return (yield from mask_mistakes.explain(session, name, wrong, right))
    yield from _dropped(session, role, answers, meaning)
    return (yield from _understood(session, name, kinds, meaning, right))


def _is_of_a_context(session, name):
    """Whether a mask's name says that it hides keys of another sequence, which a call can have or not."""
    arguments = session.subject.arguments
    has_choice = arguments.has("context") and not arguments.must_give("context")
    return has_choice and speaks_of_a_context(name)


def _ask_of_a_context(session, role, kinds):
    """Ask about a mask that hides nothing where there is no other sequence, with another sequence."""
    name = session.subject.arguments.name_of[role]
    answers, errors = mask_formats_tried.answers(session, role, kinds, of_context=True)
    right = {key: answer for key, answer in answers.items() if is_right(session, answer)}
    if right:
        meaning = _likeliest_meaning(right)
        wrong = _wrong_in(meaning, answers, right)
        if not wrong:
            yield from _understood(session, name, kinds, meaning, right)
            return
        yield from mask_mistakes.explain(session, name, wrong, right)
    elif answers:
        yield from mask_mistakes.explain(session, name, answers, {})
    else:
        why = calling.told(calling.first_real(errors), session.subject.function)
        yield CannotTell(f"With `{name}` and keys from another sequence, in every format of a mask, {why}.")


def _kinds_for(session, role):
    """The kinds of masks to ask with."""
    several = session.subject.n_heads_in(session.layout) > 1
    kinds = [kind for kind in KINDS_BY_ROLE[role] if kind != "heads" or several]
    if role in ("mask", "padding") and session.right["hide"] in CAUSAL:
        kinds.append("left padding")  # what comes after the tokens is hidden from them anyway
    return kinds


def _taking_the_place_of_its_own(session, name, answers):
    """Report code that is causal, or has a window, only while it gets no mask, and return its MaskUse, or None.

    For one meaning of the mask's entries, this must explain every answer. A mask of tokens cannot say what causality
    says: in its place it lets them see what comes after them.
    """
    if session.right["hide"] is RIGHT["hide"]:
        return None
    replacing = [key for key, answer in answers.items() if is_used(session, answer, REPLACING)]
    if not replacing:
        return None
    _, mask_format = replacing[0]
    if any(key not in replacing for key in answers if key[1].entries == mask_format.entries):
        return None
    kinds = tuple(kind for kind, other_format in replacing if other_format == mask_format)
    is_of_tokens = {kind for kind, _ in replacing} <= set(PADDING)
    if session.right["hide"] in CAUSAL:
        if not is_of_tokens:
            yield Caveat(f"`{name}` takes the place of its own causality")
        severity = None if is_of_tokens else NOTE
        evidence = f"`{name}` is read as {mask_format}."
        yield session.finding("causal-lost-with-mask", severity=severity, evidence=evidence)
    else:
        yield Caveat(f"`{name}` takes the place of its own window")
    return MaskUse(MaskArgument(name, mask_format), REPLACING, kinds)


def _likeliest_meaning(right):
    """The meaning under which most kinds of masks are right; among equals the most usual one.

    A single kind may be right by chance: a mask that hides as much as it shows.
    """
    kinds_by_meaning = defaultdict(set)
    for kind, mask_format in right:
        kinds_by_meaning[mask_format.entries].add(kind)
    usual = [*mask_formats.ENTRIES, "lengths"]
    return max(kinds_by_meaning, key=lambda meaning: (len(kinds_by_meaning[meaning]), -usual.index(meaning)))


def _wrong_in(meaning, answers, right):
    """Return the wrong answers in this meaning, of those kinds of masks that are right in no shape.

    Only shapes in which some other kind is right are looked at: in the rest a mask may broadcast by chance.
    """
    shapes = {mask_format.shape for _, mask_format in right if mask_format.entries == meaning}
    kinds = {kind for kind, mask_format in right if mask_format.entries == meaning}
    return {
        (kind, mask_format): answer
        for (kind, mask_format), answer in answers.items()
        if mask_format.entries == meaning and mask_format.shape in shapes and kind not in kinds
    }


def _dropped(session, role, answers, meaning):
    """Report a mask of four axes that is accepted silently but not used, where one of fewer axes is used.

    The answers with fewer axes don't show it, and whoever passes the agreed shape hides nothing.
    """
    with_four_axes = {
        kind: answer
        for (kind, mask_format), answer in answers.items()
        if (mask_format.entries, mask_format.shape) == (meaning, MINIMAL)
    }
    if role != "mask" or "pairs" not in with_four_axes:
        return
    if all(
        fits(answer.output, predicted(session, answer, form_with(session, IGNORED)))
        for answer in with_four_axes.values()
    ):
        name = session.subject.arguments.name_of[role]
        evidence = f"`{name}` of four axes, (batch, heads, queries, keys), is taken and not used; one of fewer axes is."
        where = (tuple(TRAITS[kind] for kind in with_four_axes), ("masks of fewer axes",))
        yield session.finding("mask-ignored", form_with(session, IGNORED), where=where, evidence=evidence)


def _understood(session, name, kinds, meaning, right):
    """Say how the argument is read, and which kinds of masks it doesn't take."""
    in_meaning = [key for key in right if key[1].entries == meaning]
    taken = tuple(dict.fromkeys(kind for kind, _ in in_meaning))
    # PyTorch's own layer takes one mask for all samples in another shape than those that differ.
    mask_format = dict(reversed(in_meaning)).get("pairs", in_meaning[0][1])
    missing = [TRAITS[kind] for kind in kinds if kind not in taken]
    is_agreed = meaning in mask_formats.AGREED and mask_format.shape == MINIMAL
    if session.subject.kind == "module" or missing or not is_agreed:
        yield MaskNote(f"`{name}` is read as {mask_format}{'; not taken: ' * bool(missing)}{', '.join(missing)}.")
    return MaskUse(MaskArgument(name, mask_format), RIGHT_RULE, taken)
