"""Where a wrong function leaves the equation, traced back from what it returned.

From the wrong output the trace goes back, from wrong array to wrong array, to the first statement whose result is wrong
although everything it uses is right. Unlike the judge's localiser it runs the function once: a module's call is slow.
"""

from attention_doctor.equation.subject import ATTENTION
from function_judge.lines import line_at, watched_call
from function_judge.recognition import AUXILIARY, RIGHT, STAGE, WRONG


def furthest_wrong_line(calls, *, read, written_in):
    """Return the first wrong line in that call, of several, in which the function goes furthest without leaving.

    Parameters
    ----------
    calls : list of list of (callable, list of Known)
        Each calls, somewhere inside, what is examined. Where one of a group leaves doubt, the group counts for nothing.
    read : callable
        From whatever a variable holds to an ndarray, or None.
    written_in : callable
        What is examined: its lines count wherever it is defined.

    Returns
    -------
    Line or None
    """
    certain = []
    for group in calls:
        watched = [watched_call(call, (), {}, known, read, written_in, ATTENTION) for call, known in group]
        places = [*map(_first_wrong, watched)]
        certain += [] if None in places else places
    return max(certain, key=lambda place: place[0])[1] if certain else None


def _first_wrong(seen):
    """The first wrong statement's place in the order of all, and its Line; None where there is any doubt."""
    watch, came_back = seen
    if not came_back or not watch.outputs:
        return None
    wrong = [node for node in watch.outputs if node.status == WRONG]
    if not wrong and all(node.status in (STAGE, AUXILIARY) for node in watch.outputs):
        return _ends_too_early(watch)
    first = _first_of(wrong, {WRONG})
    if first is None or first.place is None or not _is_certain(first):
        return None
    first = _what_came_before(first, watch)
    return first.order, line_at(first.place)


def _is_certain(node):
    """Whether the first wrong node is where the code leaves the equation.

    Something that it was made of must be right. What a loop adds up, or makes block by block, is no stage before the
    end, so that the first round may only seem wrong.
    """
    if node.place[1].adds_up or not (node.is_pattern or any(item.status in RIGHT for item in node.before)):
        return False
    return not (node.place[1].in_loop and any(item.seen.in_part for item in node.before))


def _first_of(nodes, statuses):
    """Go back through nodes of these statuses, and return the earliest of those that none of them was made of."""
    reached, first, nodes = set(), [], list(nodes)
    while nodes:
        node = nodes.pop()
        if node in reached:
            continue
        reached.add(node)
        earlier = [item for item in node.before if item.status in statuses]
        nodes += earlier
        if not earlier:
            first.append(node)
    return min(first, key=lambda item: item.order, default=None)


def _ends_too_early(watch):
    """What comes back should only be on the way."""
    auxiliary = [node for node in watch.outputs if node.status == AUXILIARY]
    first = _first_of(auxiliary, {AUXILIARY}) if len(auxiliary) == len(watch.outputs) else None
    if first is not None and first.place is not None:
        return first.order, line_at(first.place)
    return None if watch.ended is None else (len(watch.all), line_at(watch.ended))


def _what_came_before(first, watch):
    """The statement that the wrong one suffers from, where it is an earlier one that made a right number of a kind."""
    for node in first.before:
        unmasked = node.seen.name == "weights without the mask" and node.shape != first.shape
        if node.place is not None and (unmasked or (node.seen.turned and node.seen.name != "weights")):
            return node
    return _projected_twice(first, watch) or first


def _projected_twice(first, watch):
    """The projection that should have made the one of queries, keys and values that is missing, and made another."""
    projected = [node for node in watch.all if node.order < first.order and _is_made_of_tokens(node)]
    kinds = ("queries", "keys", "values")
    by_kind = [[node for node in projected if node.seen.name.startswith(kind)] for kind in kinds]
    twice = [nodes[-1] for nodes in by_kind if len(nodes) > 1]
    return twice[0] if by_kind.count([]) == 1 and len(twice) == 1 else None


def _is_made_of_tokens(node):
    return any(item.seen.name == "X" for item in node.before)
