"""A difference that no known mistake explains: whether it is the code's own, or may be that of a wrong reading."""

import numpy as np

from attention_doctor import vocabulary
from attention_doctor.equation.stages import RIGHT, UNCOMPUTABLE, cut, shared
from attention_doctor.names import LEAK, WRONG
from attention_doctor.questions import unexplained
from attention_doctor.questions.baseline import FAILS_IN_MANY as LONG
from attention_doctor.questions.baseline import Baseline, confirmed, failures
from attention_doctor.questions.plain_answers import is_right, is_right_with_one_token, with_all_alike
from attention_doctor.readers import other_designs, positions
from attention_doctor.readers.layouts import SWAPPED
from attention_doctor.reports.remarks import CannotTell, Untested
from function_judge.compare import fits

NEARLY = 1e-3  # of the largest number
CERTAIN = {"batch-mixed", "not-finite", "not-repeatable"}  # wrong, whatever its parameters mean


def ask(session, layout, plain, answering):
    """Say what is wrong without a name for it, or why that can't be told.

    Returns
    -------
    Baseline
    """
    designs = session.right_forms(layout)
    wrong = [response for response in plain if response.output is not None and not is_right(response, designs)]
    if not wrong:
        known = Baseline(layout, designs[0], plain, named=all(response.output is not None for response in plain))
        yield from confirmed(session, known)
        yield from failures(session, plain)
        return known
    known = Baseline(layout, RIGHT, plain, named=False)
    if (yield from _not_normalised(session, layout, plain)):
        return known
    if all(response.question.trait in LONG for response in wrong) and positions.says_window(session.subject):
        yield CannotTell("It differs from attention only with many tokens, and its code speaks of a window.")
        return known
    yield from _differs(session, known, designs[0], answering)
    return known


def _differs(session, known, right, answering):
    """Say where it differs, if that is the code's own; or else why there is no verdict."""
    subject, is_finished = session.subject, not session.search_budget.is_spent
    seen, is_trusted = unexplained.of(session, known, right), _is_trusted(subject, known.layout)
    if not _is_its_own(subject, seen.broken, is_trusted, answering):
        yield CannotTell(_why_it_cannot_be_told(subject, seen, () if is_trusted else subject.unplaced, is_finished))
        return
    sentence = "It differs from attention, and no mistake or pair of mistakes that the doctor knows explains it."
    yield session.unnamed(sentence, seen.text, LEAK if seen.leaks else WRONG)
    if not is_finished:
        yield Untested("some combinations of two and three mistakes: there are too many to try them all")


def _is_trusted(subject, layout):
    """Whether a difference can't come of a wrong reading, nor be meant.

    Whoever speaks of another design may mean it: that something differs is then no proof.
    """
    is_read_rightly = subject.trusts(layout) and not subject.attention_inside()
    return is_read_rightly and not other_designs.spoken_of(subject.source)


def _is_its_own(subject, broken, is_trusted, answering):
    """Whether something is wrong with the code, and not with how the doctor reads it.

    Parameters
    ----------
    subject : Subject
    broken : sequence of str
        Properties of any attention that it lacks.
    is_trusted : bool
    answering : list of (Layout, Response)
    """
    certain = CERTAIN & set(broken)
    if certain == {"batch-mixed"} and not is_trusted and _is_whole_with_tokens_first(subject, answering):
        certain = set()
    if certain:
        return True
    if positions.visible_window(subject):  # how a window ends is a design of its own
        return False
    # Where further parameters do something unknown, it may be by design that not every token has influence.
    is_understood = not subject.unplaced and not subject.attention_inside()
    return is_trusted or bool(set(broken) - {"batch-mixed"} and is_understood)


def _is_whole_with_tokens_first(subject, answering):
    """Whether nothing is mixed where tokens come before samples: then that is how it takes them, and it is no leak."""
    layout = next((layout for layout, _ in answering if layout.axes is SWAPPED), None)
    return layout is not None and not unexplained.properties(lambda X: subject.answer_for(layout, X))


def _not_normalised(session, layout, plain):
    """Whether one token alone is right, and several that are all alike are not: their weights don't sum to 1.

    A sink takes a part of the weights by design, and another design may do so, too.
    """
    subject = session.subject
    if subject.kind != "module" or not is_right_with_one_token(session, layout, plain):
        return False
    response, designs = with_all_alike(session, layout), session.right_forms(layout)
    if response.output is None or response.output.ndim != 3 or other_designs.spoken_of(subject.source):
        return False
    has_sinks = vocabulary.SINKS.search(" ".join(parameter.path for parameter in subject.parameters))
    if has_sinks or is_right(response, designs) or not _is_of_its_own_values(response):
        return False
    yield session.finding("softmax-not-normalised", evidence="Tokens that are all alike don't give what one gives.")
    return True


def _is_of_its_own_values(response):
    """Whether each output, of tokens that are all alike, is made of one value's heads, each some number of times.

    A module that mixes tokens into heads gives something else, too, and lacks no denominator.
    """
    case = response.case
    try:
        values = cut(case.projected("V", case.context)[0, :1], case.n_kv_heads)
        values = shared(values, case.n_heads)[:, 0]  # (heads, d_head)
        each = values[:, :, None] * case.matrices["O"].reshape(case.n_heads, values.shape[1], -1)
    except UNCOMPUTABLE:
        return True  # it can't be told
    each = each.sum(axis=1)  # (heads, features): what each head gives of it
    wanted = response.output[0] - case.bias_of("O")
    counts = np.linalg.lstsq(each.T, wanted.T, rcond=None)[0]
    return fits((each.T @ counts).T, wanted, NEARLY)


def _why_it_cannot_be_told(subject, seen, unplaced, is_finished):
    """Why there is no verdict, which parameters have no place, and what to examine instead."""
    reason = "Its parameters could not be read as those of attention in any layout that the doctor knows, so its "
    reason += "equation was not compared. "
    if unplaced:
        paths = [item.path for item in unplaced]
        reason += f"These have no place in attention's equation: {', '.join(paths[:5])}{' ...' * (len(paths) > 5)}. "
    inside = subject.attention_inside()
    if inside:
        reason += f"It looks like more than attention: examine its {' or '.join(inside)}. "
    elif seen.broken:
        reason += f"This may be by design: {seen.properties} "
    if not is_finished:
        reason += "The search ended before all combinations of mistakes were tried. "
    return reason.strip()
