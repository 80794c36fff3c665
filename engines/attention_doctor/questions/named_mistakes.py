"""What explains the plain calls of something that isn't right: mistakes with names, or where it shows."""

import itertools

from attention_doctor.forms import TOGETHER
from attention_doctor.forms.masks import ALWAYS_CAUSAL, CAUSAL_WITHIN
from attention_doctor.questions import unnamed_differences
from attention_doctor.questions.baseline import Baseline, confirmed, failures
from attention_doctor.questions.mistakes_together import PLANS, CombinationSearch
from attention_doctor.questions.plain_answers import is_right, is_right_with_one_token, with_all_alike
from attention_doctor.reports.remarks import Note

# Layouts that are not usual are many, and each takes a search of its own.
MAX_LAYOUTS, MAX_UNUSUAL_LAYOUTS = 8, 4
MAX_DESIGNS = 6  # that are compared with tokens that are all alike
NEARLY = 1e-3  # of the largest number: what an epsilon in the softmax may move


def ask(session, answering):
    """Search for mistakes in the layouts that answer, and name them, or say where it shows.

    Parameters
    ----------
    session : ExamSession
    answering : list of (Layout, Response)
        The most usual first, each with the answer to its first plain question.

    Returns
    -------
    Baseline
    """
    layouts, plain_in = _likely_layouts(session, answering)
    for layout in layouts:
        for right in session.right_forms(layout):
            if _is_nearly_right(plain_in[layout.name], right):
                yield Note(
                    "It differs from the equation by less than a thousandth, as where a small constant is added."
                )
                return (yield from confirmed(session, Baseline(layout, right, plain_in[layout.name])))
    search = CombinationSearch(session)
    for plan in PLANS:
        for layout in layouts[: plan.n_layouts]:
            plain = plain_in[layout.name]
            explained = next(search.explained(layout, plain, plan), None)
            if explained is not None:
                return (yield from _named(session, layout, plain, *explained))
    return (yield from unnamed_differences.ask(session, layouts[0], plain_in[layouts[0].name], answering))


def _likely_layouts(session, answering):
    """The layouts to search in, the likeliest first, and what the plain calls give there, by the layout's name.

    With one token nothing is weighed: where that is right, the parameters are read rightly. Where it is right in none
    of the usual layouts, those in which tokens that are all alike come out right are tried first.
    """
    usual = [item for item in answering if item[0].usual and not item[0].loops] or answering
    plain_in = {layout.name: session.ask_plain(layout, first) for layout, first in usual[:MAX_LAYOUTS]}

    def is_read_rightly(layout):
        return is_right_with_one_token(session, layout, plain_in[layout.name])

    layouts = sorted((layout for layout, _ in usual[:MAX_LAYOUTS]), key=lambda layout: not is_read_rightly(layout))
    if is_read_rightly(layouts[0]):
        return layouts, plain_in
    values_right = (item for item in answering if _is_right_with_all_alike(session, item[0]))
    unusual = list(itertools.islice(values_right, MAX_UNUSUAL_LAYOUTS))
    plain_in |= {layout.name: session.ask_plain(layout, first) for layout, first in unusual}
    unusual = [layout for layout, _ in unusual]
    return [*unusual[:2], *layouts, *unusual[2:]], plain_in


def _is_right_with_all_alike(session, layout):
    """Whether the parameters of values and output are read rightly; how tokens are weighed makes no difference."""
    if session.subject.kind != "module" or session.search_budget.is_spent:
        return False
    response, designs = with_all_alike(session, layout), session.right_forms(layout)
    of_values = [
        design
        for design in designs[::2]
        if design["place"] is designs[0]["place"] and design["scale"] is designs[0]["scale"]
    ]
    return response.output is not None and is_right(response, of_values[:MAX_DESIGNS])


def _is_nearly_right(plain, right):
    """Whether all answers differ from the equation's by so little that no mistake can be it."""
    return all(is_right(response, [right], tolerance=NEARLY) for response in plain if response.output is not None)


def _named(session, layout, plain, right, combinations):
    """Turn explanations into findings, and return what the plain calls compute."""
    chosen = right | {form.step: form for form in combinations[0]}
    if chosen["hide"] is ALWAYS_CAUSAL and _differs_between_sequences(chosen, plain) is not None:
        within = chosen | {"hide": CAUSAL_WITHIN}
        chosen = chosen if _differs_between_sequences(within, plain) is not None else within
    known = Baseline(layout, chosen, plain, combinations[0])
    yield from confirmed(session, known)
    yield from _findings(session, combinations, right, plain)
    yield from _between_sequences(session, chosen, plain)
    yield from failures(session, plain)
    return known


def _findings(session, combinations, right, plain):
    """A finding for each mistake, with what else would explain it."""
    explanations = list(dict.fromkeys(_names(combination) for combination in combinations))
    for name in explanations[0]:
        without = set(explanations[0]) - {name}
        others = [set(other) - without for other in explanations[1:] if without <= set(other)]
        others = tuple(dict.fromkeys(item for other in others if len(other) == 1 for item in other if item != name))
        forms = _forms_of(name, combinations[0])
        yield session.finding(name, *forms, right=right, plain=plain, also=others)


def _between_sequences(session, right, plain):
    """What two sequences show beside the mistakes that one sequence shows."""
    response = _differs_between_sequences(right, plain)
    if response is not None:
        yield session.unnamed(f"With {response.question.trait} it differs from attention in another way, too.")


def _differs_between_sequences(right, plain):
    """The first answer for two sequences that isn't what these steps give; None where all are."""
    cross = (response for response in plain if response.question.is_cross and response.output is not None)
    return next((response for response in cross if not is_right(response, [right])), None)


def _names(combination):
    """The names of a combination of forms; a form may stand for two mistakes, and two for one."""
    names = [name for form in combination for name in form.slug.split("+")]
    for pair, together in TOGETHER.items():
        if pair <= set(names):
            names = [together, *(name for name in names if name not in pair)]
    return tuple(dict.fromkeys(names))


def _forms_of(name, combination):
    """The forms of a combination that a name stands for."""
    parts = next((pair for pair, together in TOGETHER.items() if together == name), {name})
    return tuple(form for form in combination if {name, *parts} & set(form.slug.split("+")))
