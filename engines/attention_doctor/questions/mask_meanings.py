"""What True means in a mask, where that may be a mistake: against its name, or against the mask beside it."""

import itertools

from attention_doctor import vocabulary
from attention_doctor.readers import mask_formats
from attention_doctor.readers.signature import plain
from attention_doctor.reports.remarks import CannotTell

SAYS = {"may attend": vocabulary.SAYS_ONES_SHOW, "hides": vocabulary.SAYS_ONES_HIDE}


def ask(session, uses):
    """Say where a mask that hides what it should may be inverted all the same. A docstring or comment settles it.

    Parameters
    ----------
    session : ExamSession
    uses : iterable of MaskUse
    """
    meanings = {use.mask.name: _meaning(use.mask.format.entries) for use in uses if not use.rule.slug}
    meanings = {name: meaning for name, meaning in meanings.items() if meaning}
    unsettled = {name for name, meaning in meanings.items() if not _is_settled(session, name, meaning)}
    reason = _against_its_name(meanings, unsettled) or _against_each_other(meanings, unsettled)
    if reason:
        yield CannotTell(reason)


def _against_its_name(meanings, unsettled):
    for name in sorted(unsettled):
        if plain(name) in vocabulary.TRUE_HIDES:
            return (
                f"`{name}` is read as True {meanings[name]}. PyTorch's argument of that name hides what is True, so it "
                "may be inverted. Say in the docstring what True means in it."
            )
    return ""


def _against_each_other(meanings, unsettled):
    for one, other in itertools.combinations(meanings, 2):
        if meanings[one] != meanings[other] and {one, other} & unsettled:
            return (
                f"`{one}` is read as True {meanings[one]}, `{other}` as True {meanings[other]}: one of them may be "
                "inverted. Say in the docstring what True means in each."
            )
    return ""


def _meaning(entries):
    """What an entry that is True, or 1, does; None where numbers are added, or lengths given."""
    return next((meaning for meaning in SAYS if entries.endswith(meaning) and not entries.startswith("added")), None)


def _is_settled(session, name, meaning):
    """Whether PyTorch's meaning of the name, or what is written of it, is what it does."""
    if plain(name) in vocabulary.TRUE_HIDES and meaning == "hides":
        return True
    lines = mask_formats.comment_lines(session.subject.source)
    return any(name.lower() in line and SAYS[meaning].search(line) for line in lines)
