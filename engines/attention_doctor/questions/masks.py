"""Masks: in which format and meaning they are taken, and whether they hide what they should."""

from collections import defaultdict

from attention_doctor.forms.masks import ALWAYS_CAUSAL, IGNORED, REPLACING, RIGHT_RULE
from attention_doctor.names import NOTE
from attention_doctor.questions import causal_flag, mask_formats_tried, mask_mistakes, mask_sizes, masks_that_hide_all
from attention_doctor.questions.masks_compared import TRAITS, MaskUse, form_with, is_right, is_used, predicted
from attention_doctor.readers import mask_formats
from attention_doctor.readers.mask_formats import MINIMAL
from attention_doctor.reports.remarks import Note, Untested
from attention_doctor.subjects.arguments import MaskArgument
from function_judge.compare import fits

KINDS = {
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
        Of the masks whose use is understood, by role.
    flag_is_understood : bool
    """
    arguments, uses, flag_is_understood = session.subject.arguments, {}, True
    for role in filter(arguments.has, ("mask", "padding", "lengths", "bias")):
        if session.is_out_of_calls:
            yield Untested(f"the argument {arguments.name_of[role]}, as {session.calls} calls were made already")
            continue
        use = yield from _ask_about(session, role)
        if use is not None:
            uses[role] = use
            yield from mask_sizes.ask(session, role, use)
    if not any(arguments.has(role) for role in KINDS):
        yield Untested("masks (it takes none)")
    if arguments.has("is_causal"):
        flag_is_understood = yield from causal_flag.ask(session, next(iter(uses.values()), None))
    for use in uses.values():
        yield from masks_that_hide_all.ask(session, use)
    return uses, flag_is_understood


def _ask_about(session, role):
    """Ask about one argument, and return its MaskUse, or None where it isn't understood."""
    subject, name = session.subject, session.subject.arguments.name_of[role]
    kinds = [kind for kind in KINDS[role] if kind != "heads" or subject.n_heads_in(session.layout) > 1]
    answers, refusal = mask_formats_tried.answers(session, role, kinds)
    if not answers:
        yield Untested(f"the argument {name} ({refusal or 'no format of a mask was taken'})")
        return None
    right = {key: answer for key, answer in answers.items() if is_right(session, answer)}
    if not right:
        use = yield from _in_place_of_causality(session, name, answers)
        return use or (yield from mask_mistakes.explain(session, name, answers, {}))
    meaning = _likeliest_meaning(right)
    wrong = _wrong_in(meaning, answers, right)
    if wrong:
        return (yield from mask_mistakes.explain(session, name, wrong, right))
    yield from _dropped(session, role, answers, meaning)
    return (yield from _understood(session, name, kinds, meaning, right))


def _in_place_of_causality(session, name, answers):
    """Code that is causal only as long as it gets no mask: that one it takes instead.

    It must explain every answer in a meaning of the mask.
    """
    if session.right["hide"] is not ALWAYS_CAUSAL:
        return None
    replacing = [key for key, answer in answers.items() if is_used(session, answer, REPLACING)]
    if not replacing:
        return None
    _, mask_format = replacing[0]
    if any(key not in replacing for key in answers if key[1].entries == mask_format.entries):
        return None
    yield session.finding("causal-lost-with-mask", severity=NOTE, evidence=f"`{name}` is read as {mask_format}.")
    kinds = tuple(kind for kind, item in replacing if item == mask_format)
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
    """The answers that are wrong in this meaning, of the kinds that are right in no shape.

    Only shapes that the code is known to take count: in others a mask may broadcast by chance.
    """
    shapes = {mask_format.shape for _, mask_format in right if mask_format.entries == meaning}
    kinds = {kind for kind, mask_format in right if mask_format.entries == meaning}
    return {
        (kind, mask_format): answer
        for (kind, mask_format), answer in answers.items()
        if mask_format.entries == meaning and mask_format.shape in shapes and kind not in kinds
    }


def _dropped(session, role, answers, meaning):
    """A mask of four axes that is taken without a word and not used, where one of fewer axes is used.

    Nobody would know it from the masks that are used: whoever passes the agreed shape has hidden nothing.
    """
    four = {kind: item for (kind, form), item in answers.items() if (form.entries, form.shape) == (meaning, MINIMAL)}
    if role != "mask" or "pairs" not in four:
        return
    if all(fits(item.output, predicted(session, item, form_with(session, IGNORED))) for item in four.values()):
        name = session.subject.arguments.name_of[role]
        evidence = f"`{name}` of four axes, (batch, heads, queries, keys), is taken and not used; one of fewer axes is."
        where = (tuple(TRAITS[kind] for kind in four), ("masks of fewer axes",))
        yield session.finding("mask-ignored", form_with(session, IGNORED), where=where, evidence=evidence)


def _understood(session, name, kinds, meaning, right):
    """Say how the argument is read, and which kinds of masks it doesn't take."""
    in_meaning = [key for key in right if key[1].entries == meaning]
    taken, mask_format = tuple(dict.fromkeys(kind for kind, _ in in_meaning)), in_meaning[0][1]
    missing = [TRAITS[kind] for kind in kinds if kind not in taken]
    if missing:
        yield Untested(f"{' and '.join(missing)} ({name} does not take it)")
    is_agreed = meaning in mask_formats.AGREED and mask_format.shape == MINIMAL
    if session.subject.kind == "module" or not is_agreed:
        yield Note(f"`{name}` is read as {mask_format}.")
    return MaskUse(MaskArgument(name, mask_format), RIGHT_RULE, taken)
