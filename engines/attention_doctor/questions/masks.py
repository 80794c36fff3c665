"""Masks: in which form and meaning they are taken, whether they hide what they should, and rows that see nothing."""

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from attention_doctor.forms.masks import (
    ALWAYS_CAUSAL,
    COINCIDING,
    DOUBLE_RULES,
    IGNORED,
    REPLACING,
    RIGHT_RULE,
    RIGHT_RULES,
    RULES,
)
from attention_doctor.names import NOTE
from attention_doctor.questions import causal_flag
from attention_doctor.questions.masks_compared import (
    LONG,
    TRAITS,
    first_difference,
    fits_but_for_padding,
    form_with,
    predicted,
    rule_findings,
    rules_for,
)
from attention_doctor.readers import mask_formats
from attention_doctor.readers.mask_formats import EXPANDED, MINIMAL, MaskFormat
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
    confirmed : dict of str to Confirmed
        By role.
    flag_is_understood : bool
    """
    subject = session.subject
    confirmed, flag_is_understood = {}, True
    for role in ("mask", "padding", "lengths", "bias"):
        if not subject.arguments.has(role):
            continue
        if session.time.is_over:
            yield Untested(f"the argument {subject.arguments.name_of[role]}, for want of time")
            continue
        found = yield from _one_mask(session, role)
        if found is not None:
            confirmed[role] = found
            yield from _other_sizes(session, role, found)
    if not any(subject.arguments.has(role) for role in KINDS):
        yield Untested("masks (it takes none)")
    if subject.arguments.has("is_causal"):
        flag_is_understood = yield from causal_flag.ask(
            session, confirmed.get("mask") or next(iter(confirmed.values()), None)
        )
    for role, found in confirmed.items():
        yield from _rows_that_see_nothing(session, role, found)
    return confirmed, flag_is_understood


@dataclass(frozen=True)
class Confirmed:
    """How a mask is handed over, and the rule by which it is used."""

    how: tuple
    rule: object
    kinds: tuple


def _is_right(session, response):
    for rule in RIGHT_RULES if session.known.forms else RIGHT_RULES[:1]:
        wanted = predicted(session, response, form_with(session, rule))
        if fits(response.output, wanted):
            return True
    return fits_but_for_padding(response, wanted)


def _one_mask(session, role):
    subject, layout = session.subject, session.layout
    name = subject.arguments.name_of[role]
    kinds = [kind for kind in KINDS[role] if kind != "heads" or subject.n_heads_in(layout) > 1]
    meanings = subject.meanings_of(role)
    response, refused = _responses(session, role, kinds, meanings)
    if not response and subject.kind == "function" and role == "mask":
        response, refused = _responses(session, role, kinds, mask_formats.AGREED_IN_NUMBERS)
    if not response:
        yield Untested(f"the argument {name} ({refused or 'no form of a mask was taken'})")
        return None
    right = {key: item for key, item in response.items() if _is_right(session, item)}
    if not right and session.right["hide"] is ALWAYS_CAUSAL:
        replacing = {key: item for key, item in response.items() if _is_used(session, item, REPLACING)}
        meanings = [how.entries for _, how in replacing]
        if meanings and all(key in replacing for key in response if key[1].entries == meanings[0]):
            how = next(how for _, how in replacing)
            yield session.finding("causal-lost-with-mask", severity=NOTE, evidence=f"`{name}` is read as {how}.")
            return Confirmed(
                MaskArgument(name, how), REPLACING, tuple({kind for kind, item in replacing if item == how})
            )
    by_meaning = defaultdict(set)
    for kind, how in right:
        by_meaning[how.entries].add(kind)
    if by_meaning:
        # The meaning under which most kinds of masks are right; among equals the most usual one.
        meaning = max(
            by_meaning,
            key=lambda item: (len(by_meaning[item]), -list(mask_formats.ENTRIES | {"lengths": 0}).index(item)),
        )
        shapes = {how.shape for _, how in right if how.entries == meaning}
        wrong = {
            key: item
            for key, item in response.items()
            if key[1].entries == meaning and key[1].shape in shapes and key not in right
        }
        covered = by_meaning[meaning]
        wrong = {key: item for key, item in wrong.items() if key[0] not in covered}
        how = next(how for _, how in right if how.entries == meaning)
        if not wrong:
            yield from _dropped(session, role, response, meaning, covered)
            missing = [TRAITS[kind] for kind in kinds if kind not in covered]
            if missing:
                yield Untested(f"{' and '.join(missing)} ({name} does not take it)")
            if (
                subject.kind == "module"
                or meaning not in mask_formats.AGREED
                or how.shape != "(batch, heads, queries, keys)"
            ):
                yield Note(f"`{name}` is read as {how}.")
            return Confirmed(MaskArgument(name, how), RIGHT_RULE, tuple(covered))
        suspects = wrong
    else:
        suspects = response
    return (yield from _explain(session, role, suspects, right))


def _dropped(session, role, response, meaning, covered):
    """A mask of four axes that is taken without a word and not used, where one of fewer axes is used."""
    four = {key[0]: item for key, item in response.items() if key[1].entries == meaning and key[1].shape == MINIMAL}
    if role != "mask" or not four or "pairs" not in four:
        return
    if all(fits(value.output, predicted(session, value, form_with(session, IGNORED))) for value in four.values()):
        name = session.subject.arguments.name_of[role]
        seen = f"`{name}` of four axes, (batch, heads, queries, keys), is taken and not used; one of fewer axes is."
        where = (tuple(TRAITS[kind] for kind in four), ("masks of fewer axes",))
        yield session.finding("mask-ignored", form_with(session, IGNORED), where=where, evidence=seen)


def _other_sizes(session, role, confirmed):
    """Where sizes coincide, a mask may broadcast along the wrong axis; and there may be more keys than in a block."""
    subject, layout = session.subject, session.layout
    if layout.loops or session.found:
        return
    heads = subject.n_heads_in(layout)
    for kind in ("padding", "pairs"):
        question = subject.mask_question(layout, kind)
        sizes = [(question.n_queries, question.n_queries, "as many samples as tokens"), (2, LONG, f"{LONG} tokens")]
        if heads > 1:
            sizes.insert(0, (heads, question.n_queries, "as many samples as heads"))
        if role in ("padding", "lengths") and kind == "pairs":
            continue
        if role == "bias" and kind not in confirmed.kinds:  # it may be the same for all samples, and differ by head
            continue
        for batch, tokens, words in sizes:
            asked = subject.fitted(question.but(f"{TRAITS[kind]}, {words}", batch=batch, n_queries=tokens))
            response = session.ask(layout, asked, confirmed.how)
            if response.output is None or _is_used(session, response, confirmed.rule):
                continue
            _, rules = rules_for(session, COINCIDING, [response])
            if rules:
                yield session.finding(
                    rules[0].slug,
                    form_with(session, rules[0]),
                    where=((asked.trait,), ("other numbers of samples",)),
                )
            else:
                yield session.unnamed(
                    f"With {asked.trait}, it differs from attention, and no known mistake explains it.",
                    first_difference(session, response, subject.arguments.name_of[role], confirmed.how[1]),
                )
            return


def _is_used(session, response, rule):
    """Whether the mask is used by this rule."""
    if rule is RIGHT_RULE:
        return _is_right(session, response)
    return fits(response.output, predicted(session, response, form_with(session, rule)))


def _responses(session, role, kinds, meanings):
    """Every kind of mask in every form that is taken: {(kind, format): Response}."""
    subject, layout = session.subject, session.layout
    name, response, refused = subject.arguments.name_of[role], {}, ""
    meaning, right, refusals = None, set(), Counter()
    for how in mask_formats.formats(role, meanings):
        if how.entries != meaning:
            if right == set(kinds):
                break  # every kind of mask is right in this meaning
            meaning, right = how.entries, set()
        if role == "mask" and subject.kind == "module" and how.shape not in subject.mask_shapes:
            continue
        if refusals[how.shape] > 4:
            continue  # refused as booleans, as whole numbers and as floats: it is the shape that isn't taken
        for kind in kinds:
            if how.shape in EXPANDED and (kind, MaskFormat(MINIMAL, how.entries)) in response:
                continue  # it broadcasts by itself
            if kind in right and role == "mask" and how.shape != "(batch, heads, queries, keys)":
                continue
            if session.time.is_over:
                return response, refused
            question = subject.mask_question(layout, kind)
            case = subject.case(layout, question)
            batch = 1 if layout.loops else question.batch
            sample = case.allowed[:1] if layout.loops else case.allowed
            if how.of(sample, (batch, case.n_heads, question.n_queries, question.keys)) is None:
                continue
            one = session.ask(layout, question, MaskArgument(name, how))
            if one.output is not None:
                response[kind, how] = one
                if _is_right(session, one):
                    right.add(kind)
            elif one.reply.error is not None:
                refusals[how.shape] += 1 / len(kinds)
                refused = refused or f"it stops with {type(one.reply.error).__name__}"
    return response, refused


def _explain(session, role, suspects, right):
    """Find the rule that explains every kind of mask in one form."""
    subject = session.subject
    by_how = defaultdict(list)
    for (_, how), suspect in suspects.items():
        by_how[how].append(suspect)
    right_here = defaultdict(list)
    for key, item in (right or {}).items():
        right_here[key[1]].append(item)
    if subject.kind == "function" and any(how.shape == MINIMAL for how in by_how):  # the agreed shape says what it does
        by_how = {how: ones for how, ones in by_how.items() if how.shape == MINIMAL}
    order = sorted(by_how, key=lambda how: (subject.unusual_meaning(how), -len(by_how[how])))
    for rules in (RULES, DOUBLE_RULES):
        explained = []
        for how in order:
            share, found = rules_for(session, rules, by_how[how] + right_here[how])
            if found:
                explained.append((share, how, found))
            if session.time.is_over:
                break
        if explained:
            least = min(share for share, _, _ in explained)
            for _, how, found in [entry for entry in explained if entry[0] == least][:1]:
                kinds = tuple(entry.question.mask for entry in by_how[how])
                names = list(dict.fromkeys(_slug(rule, role, how, kinds) for rule in found))
                where = (tuple(TRAITS[kind] for kind in kinds), ("a call without a mask",))
                yield from rule_findings(session, names, form_with(session, found[0]), where)
                return Confirmed(MaskArgument(subject.arguments.name_of[role], how), found[0], kinds)
    how = order[0]
    one = by_how[how][0]
    name = subject.arguments.name_of[role]
    if any(_hides_what_it_should(session, name, how) for how in order):
        yield Untested(f"{name} in full (what it hides isn't heard, but the numbers are not those of the equation)")
        return None
    yield session.unnamed(
        f"With {TRAITS[one.question.mask]} it differs from attention, and no known mistake explains it.",
        first_difference(session, one, name, how),
    )
    return None


def _hides_what_it_should(session, name, how):
    """Whether no output changes with a token that a padding mask hides, and some do with the others."""
    subject, layout = session.subject, session.layout
    question = subject.mask_question(layout, "padding")
    case = subject.case(layout, question)
    if case.X is None or how.of(case.allowed[:1], (1, case.n_heads, question.n_queries, question.keys)) is None:
        return False
    seen = np.broadcast_to(case.allowed[:, 0, 0], (question.batch, question.keys))
    before = subject.ask(layout, question, MaskArgument(name, how)).output
    moved = []
    for where in (~seen, seen):
        X = np.where(where[..., None], case.X[:, ::-1] + 1.0, case.X)
        after = subject.put(layout, question, case.changed(X=X, context=X), MaskArgument(name, how)).output
        if before is None or after is None or before.shape != after.shape:
            return False
        moved.append(not fits(np.where(seen[..., None], after, 0), np.where(seen[..., None], before, 0)))
    return moved == [False, True]


def _slug(rule, role, how, kinds):
    slug = rule.slug
    if set(kinds) == {"padding"}:
        slug = slug.replace("mask-transposed", "padding-on-queries")
    return slug


# ---- rows that see nothing -------------------------------------------------------------------


def _rows_that_see_nothing(session, role, confirmed):
    subject, layout = session.subject, session.layout
    if confirmed.rule is not RIGHT_RULE:
        return
    kinds = ["empty padding"] if confirmed.kinds == ("padding",) else ["empty row", "empty padding"]
    for kind in kinds:
        how, finite = confirmed.how, confirmed.how[1].entries == "added, -inf hides"
        if finite:  # whoever adds -inf everywhere has asked for NaN
            how = MaskArgument(how[0], mask_formats.MaskFormat(how[1].shape, "added, -1e9 hides"))
        question = subject.mask_question(layout, kind)
        case = subject.case(layout, question)
        full = (1 if layout.loops else question.batch, case.n_heads, question.n_queries, question.keys)
        if how[1].of(case.allowed[:1] if layout.loops else case.allowed, full) is None:
            continue
        response = session.ask(layout, question, how)
        if response.output is None:
            yield Untested(f"{TRAITS[kind]} (refused)")
            continue
        wanted = predicted(session, response, form_with(session, confirmed.rule))
        if wanted is None:
            continue
        empty, broken = np.isnan(wanted), np.isnan(response.output)
        if (broken & ~empty).any():
            yield session.finding("mask-outer-nan")
            return
        if broken.any():
            yield session.finding("mask-full-row-nan", where=((TRAITS[kind],), ()))
            return
        if not finite and not fits(response.output, wanted) and not _is_right(session, response):
            yield session.unnamed(f"With {TRAITS[kind]} other rows change, too.", "")
            return
