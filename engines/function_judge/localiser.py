"""Which statement, if it gave the right numbers, would make a wrong function right: that one is at fault.

The function is run again and again, each time with what one of its statements gives exchanged for the right numbers.
Where what comes back is right then, and what the statement was given was right, nothing else can be wrong.
"""

import ast
import contextlib
import functools
import itertools
import re
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from function_judge.known_numbers import layouts_of
from function_judge.statements import statements_of
from function_judge.time_limit import WAIT, has_processor_time, thread_time
from function_judge.watch import AUXILIARY, OUTPUT, RIGHT, SEVERAL, STAGE, UNKNOWN, WRONG, TooMuchError, Watch

MAX_TRIALS_OF_ONE = 32  # for a statement
MAX_TRIALS = 400  # in all: they are counted, so that what is found doesn't depend on how busy the machine is
MAX_TRIED_EVENTS = 150_000  # lines that run in them, in all
MAX_LAYOUTS = 6
BUSIEST = 50  # programs on a processor: a trial that gets less than its share of the time isn't computing, but waiting
NUMBERS = (0.0, 1.0, -1.0)  # that are no result of anything
LIKE_A_FACTOR = re.compile("scale|factor|root|sqrt|norm|temp|divi|denom")
# Their results have names in every subject: a variable of this name holds "cos(...)".
FUNCTIONS = ("cos", "sin")


class Replay(Watch):
    """A call in which variables are given other values at certain moments.

    Parameters
    ----------
    code : code object or None
    exchanged : dict
        By moment: what each variable holds from then on.
    """

    def __init__(self, code, exchanged):
        super().__init__([], lambda value: None, code)
        self.exchanged = exchanged

    def _begin(self, watched):
        if watched.caller is not None:
            self.moment += 1

    def _settle(self, watched, has_run=True):
        self.moment += 1
        self._clear(watched)
        if self.moment in self.exchanged:
            variables = watched.frame.f_locals
            for name, value in self.exchanged[self.moment].items():
                if name.startswith("self."):
                    setattr(variables["self"], name.removeprefix("self."), value)
                else:
                    variables[name] = value

    def _end(self, watched, returned):
        pass


@dataclass(eq=False)
class _Suspect:
    """A statement, and what it gave each time it ran."""

    place: tuple
    changes: list = field(default_factory=list)

    @property
    def first(self):
        return self.changes[0].moment

    def is_wrong(self):
        """Whether it gave something that is no stage at all."""
        return any(
            change.node is None or change.node.status not in RIGHT or _is_turned(change.node) for change in self.changes
        )


def faulty_places(watch: Watch, run: Callable[[Watch], Any], is_right: Callable[[Any], bool]) -> tuple:
    """Return the place of the statement that is at fault, or of two that have it between them.

    Parameters
    ----------
    watch : Watch
        What was seen of the call.
    run : callable
        Makes the call once more, watched by the Watch that it is given.
    is_right : callable
        Whether what the call returns is right.

    Returns
    -------
    tuple of (str, Statement, code object)
        Empty where there is any doubt.
    """
    return _Localiser(watch, run, is_right).places


class _Localiser:
    def __init__(self, watch, run, is_right):
        self.watch, self.run, self.is_right, self.subject = watch, run, is_right, watch.subject
        self.trials = self.events = 0
        self.waited = 0.0  # seconds: what sleeps would keep everybody waiting, a trial at a time
        self.made = {node.seen.name for node in watch.all if node.status in RIGHT}

    @property
    def places(self):
        try:
            if self.passes_with({}):  # it is right: what was said of it was of something else
                return ()
            if self.watch.calls_itself:  # the line that calls is not the one that is wrong
                return ()
            found = self.first_of(self.suspects())
            if self.is_in_another_order() and (len(found) != 1 or found[0] == self.watch.ended):
                return (self.watch.ended,)
            return found
        except TooMuchError:
            return ()

    def is_in_another_order(self):
        """Whether what comes back is right but for the order of its parts."""
        replay = Replay(self.watch.code, {})
        with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.suppress(Exception):
            warnings.simplefilter("ignore")
            returned = self.run(replay)
            if self.watch.ended is not None and isinstance(returned, tuple) and 1 < len(returned) < 4:
                return any(self.is_right(item) for item in itertools.permutations(returned))
        return False

    def first_of(self, suspects):
        """The first statement that can be mended and was given what is right.

        One that gave a stage of the equation, only an earlier one than is wanted, may well have meant it: then what is
        missing is between it and the next that can be mended, unless the variable has the name of what is wanted.
        """
        meant = None
        for suspect in suspects:
            repair = next((item for item in self.repairs(suspect) if self.passes_with(item)), None)
            if repair is None:
                continue
            if not self.is_certain(suspect):
                return ()
            if suspect.is_wrong() and not self.is_the_other_way(suspect):
                return self.between(
                    meant,
                    suspect.place,
                    is_pattern=any(change.node.is_pattern for change in suspect.changes if change.node),
                )
            if self.is_named(suspect) and not self.is_returned(suspect):
                return (suspect.place,)
            meant = meant or suspect
        if meant is not None and self.is_added_to(meant):
            return ()
        if meant is not None and self.is_returned(meant):
            return (meant.place, self.watch.ended)
        if meant is None and (early := self.ends_early()):
            return early
        last = self.statement_at_the_end()
        if last is None or (meant is not None and meant.place == last):
            return ()
        return self.between(meant, last)

    def ends_early(self):
        """What gave a variable that comes back though it holds a stage on the way, and the statement that returns."""
        watch, read = self.watch, self.watch.read_last
        if watch.ended is None or not watch.ended[1].only_names or not read:
            return ()
        if self.has_uncertain_input(watch.ended, read, watch.last_numbers):
            return ()
        on_the_way = [node for _, node in read if node.status != OUTPUT and node.place is not None]
        if not on_the_way or not self.is_certain_ignoring_inputs(watch.ended, float("inf")):
            return ()
        first = min(on_the_way, key=lambda node: node.order).place
        return (first, watch.ended) if first[2] is watch.ended[2] and first != watch.ended else (watch.ended,)

    def is_added_to(self, meant):
        """Whether a loop adds to what it gave, or would if it had a round."""
        added_up = set().union(*(item.stores for item in statements_of(meant.place[2]) if item.adds_up))
        return any(change.name in added_up for change in meant.changes)

    def is_returned(self, meant):
        """Whether what comes back is a variable that holds too early a stage."""
        ended = self.watch.ended
        is_so = (
            ended is not None and ended[1].only_names and any(change.name in ended[1].reads for change in meant.changes)
        )
        return is_so and self.is_certain(meant)

    def between(self, meant, place, is_pattern=False):
        if is_pattern:
            return (place,)
        if meant is None:
            return self.widen_to_ambiguous_source(place)
        return (meant.place, place)

    def widen_to_ambiguous_source(self, place):
        """A statement, and before it the one from which on what it was given could have been meant otherwise."""
        given = [node for change in self.watch.changes if change.place == place for _, node in change.before]
        given += [node for _, node in self.watch.read_last] if place == self.watch.ended else []
        given = [node for node in given if node.place != place]
        reached, first = set(), None
        while given:
            node = given.pop()
            if node in reached or node.place is None or not self.is_ambiguous(node):
                continue
            reached.add(node)
            if node.place[2] is place[2] and node.place != place and (first is None or node.order < first.order):
                first = node
            given += node.before
        return (place,) if first is None else (first.place, place)

    def is_ambiguous(self, node):
        """Whether it is right as a part of something else than what the equation or the solution gives a name."""
        name = node.seen.name
        if (
            node.status != AUXILIARY
            or node.is_pattern
            or any(fnmatchcase(name, pattern) for pattern in self.subject.unambiguous)
        ):
            return False
        return not any(stage.name == name and stage.rank for stage in self.watch.known)

    def is_named(self, meant):
        """Whether a variable has the name of another stage than it holds, and gets no other value afterwards."""
        for change in meant.changes:
            hint = self.hint_of(change.name)
            if change.node is None or hint is None or _fits(hint, change.node.seen.name):
                continue
            later = [item for item in statements_of(meant.place[2]) if item.number > meant.place[1].number]
            if not any(change.name in item.stores for item in later):
                return True
        return False

    def is_the_other_way(self, suspect):
        """Whether it is a number that would be right if it were used otherwise: multiplied with, not divided by."""
        values = [
            change.value for change in suspect.changes if change.node is None and not isinstance(change.value, tuple)
        ]
        return bool(values) and all(any(abs(value - f) <= 1e-6 * f for f in self.factors) for value in values)

    def is_uncertain(self, name, node):
        """Whether something that a statement was given may be wrong."""
        if node.status == WRONG or (node.status == UNKNOWN and not node.is_plain):
            return True
        stages = [stage.array.size for stage in self.watch.known if stage.name == node.seen.name and not stage.exact]
        if stages and np.prod(node.shape) > max(stages) and node.seen.name not in self.subject.repeatable:
            return True  # repeated along an axis that should not be there
        if SEVERAL in node.seen.name and not node.is_given:  # several, and who knows in which order
            return True
        if node.place is not None and node.place[1].in_loop and node.seen.name in self.given_names:
            return True  # collected as it was
        hint, now = self.hint_of(name), node.seen.name.rstrip("'")
        if hint in FUNCTIONS:
            return not _fits(hint, now)
        names = {stage.name for stage in self.watch.known if stage.exact} | set(self.subject.named_alike)
        return now != name and hint in names and now in names and now != hint

    def hint_of(self, name):
        """The stage that a variable should hold, by its name."""
        if name in FUNCTIONS:
            return name
        known = {stage.name: stage for stage in self.watch.known}
        if name in known and (known[name].rank == 2 or self.is_a_stage(known, name)):
            return name
        hint = self.subject.stage_by_alias.get(name.lower())
        return hint if hint in known else None

    def is_a_stage(self, known, name):
        return (
            name not in self.subject.vague and known[name].exact and known[name].rank and name not in self.given_names
        )

    # ---- who --------------------------------------------------------------------------------

    def suspects(self):
        """The statements in the order in which they ran first."""
        found = {}
        for change in self.watch.changes:
            place = change.place
            if _is_part(place[2]) or isinstance(place[1].node, (ast.For, ast.While)) or place[1].makes_room:
                continue
            if change.node is None:
                if self.numbers_of(change):
                    found.setdefault(place, _Suspect(place)).changes.append(change)
                continue
            born = change.node.place
            is_theirs = born is not None and born[2] is not place[2] and not _is_part(born[2])
            if is_theirs and change.node.status not in RIGHT and born not in self.right_places:  # it has made it wrong
                if any(item.node is change.node for item in getattr(found.get(born), "changes", ())):
                    continue
                place = born
            found.setdefault(place, _Suspect(place)).changes.append(change)
        return sorted(found.values(), key=lambda suspect: suspect.first)

    @functools.cached_property
    def right_places(self):
        """The statements that have also given what is right: with what they were given otherwise, they would again."""
        return {node.place for node in self.watch.all if node.status in RIGHT}

    @functools.cached_property
    def goes_in_blocks(self):
        """Whether a loop takes some columns at a time: then nothing is a stage before its end."""
        places = {change.place for change in self.watch.changes if change.node is not None}
        if any(place[1].adds_up and isinstance(place[1].node, ast.Assign) for place in places):
            return True
        return any(node.seen.in_part and node.place is not None and node.place[1].in_loop for node in self.watch.all)

    @functools.cached_property
    def given_names(self):
        return {node.seen.name for node in self.watch.all if node.is_given}

    @functools.cached_property
    def factors(self):
        """What right code may multiply or divide by: what lies between two stages, or its root on both sides."""
        raw, scaled = (
            next((stage.array for stage in self.watch.known if stage.name == name), None)
            for name in self.subject.scaled or (None, None)
        )
        if raw is None or scaled is None or raw.shape != scaled.shape:
            inside = [float(stage.array) for stage in self.watch.known if not stage.array.ndim]
            return tuple({item: None for number in inside if number for item in (number, 1 / number)})
        with np.errstate(all="ignore"):
            factor = np.nanmedian(scaled / raw)
        return tuple({item: None for item in (factor, 1 / factor, factor**0.5, factor**-0.5) if np.isfinite(item)})

    def numbers_of(self, change):
        """What a single number could be instead, or a shape."""
        value = change.value
        if isinstance(value, tuple):
            others = dict.fromkeys(itertools.permutations(value))
            others.pop(value)
            return list(others)
        if isinstance(value, (float, np.floating)) or LIKE_A_FACTOR.search(change.name.lower()):
            return [factor for factor in self.factors if abs(value - factor) > 1e-6 * factor]
        return []

    def is_certain(self, suspect):
        """Whether all that the statement was given is right, and no single number could be wrong instead."""
        if suspect.place[1].in_loop and suspect.place[1].stores_a_constant:
            return False  # how many rounds there are may be wrong instead
        if suspect.place[1].adds_up or suspect.place[1].in_if or (suspect.place[1].in_loop and self.goes_in_blocks):
            return False
        for change in suspect.changes:
            own = change.node.before if change.node is not None and change.node.place == suspect.place else ()
            given = [*change.before, *(("", item) for item in own)]
            if self.has_uncertain_input(suspect.place, given, change.frame.numbers, change.place[2]):
                return False
        return self.is_certain_ignoring_inputs(suspect.place, suspect.first)

    def has_uncertain_input(self, place, given, numbers, code=None):
        code = code or place[2]
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] + code.co_freevars
        aliases = set().union(*(item.stores for item in statements_of(code) if item.is_alias))
        if aliases & place[1].reads:
            return True
        for name, node in given:
            if node.place == place:
                continue
            if node.place is not None and node.place[1].makes_room and not self.has_room(node):
                return True
            is_alias = node.is_given and name and "." not in name and name not in arguments
            if is_alias or self.is_uncertain(name, node):
                return True
        read = [numbers[name] for name in place[1].reads if name in numbers and name not in arguments]
        return any(isinstance(item, (float, np.generic)) and not self.is_a_known_number(item) for item in read)

    def has_room(self, node):
        """Whether an array that is yet to be filled has the shape of a stage."""
        shapes = [stage.array.shape for stage in self.watch.known]
        sizes = [[size for size in shape if size > 1] for shape in shapes]
        if any(stage.exact for stage in self.watch.known):
            return [size for size in node.shape if size > 1] in sizes
        return np.prod(node.shape) in [np.prod(shape) for shape in shapes]

    def is_a_known_number(self, number):
        if isinstance(number, (np.integer, np.bool_)):
            return isinstance(number, np.integer)
        if not np.isfinite(number) or abs(number) > 1e30 or (number < -1e3 and np.log10(-number) % 1 == 0):
            return True  # it stands for minus infinity
        return any(
            abs(number - factor) <= 1e-6 * abs(factor) for factor in (*self.factors, *NUMBERS) if np.isfinite(factor)
        )

    def is_certain_ignoring_inputs(self, place, first):
        if self.is_idle_before(place[1].reads):
            return False
        return not (self.a_number_is_wrong(place, first) or self.sizes_are_mixed_up(first))

    def sizes_are_mixed_up(self, before):
        """Whether `B, T, D = X.shape` should give its names in another order."""
        together = {}
        for change in self.watch.changes:
            if change.place[1].unpacks_backwards:
                return True
            is_size = change.node is None and change.place[1].unpacks_a_shape and not isinstance(change.value, tuple)
            if is_size and change.moment < before:
                together.setdefault(change.moment, []).append(change)
        for moment, changes in together.items():
            values = [change.value for change in changes]
            for order in itertools.islice(itertools.permutations(values), 1, 24):
                if self.passes_with({moment: dict(zip((item.name for item in changes), order, strict=True))}):
                    return True
        return False

    def is_idle_before(self, reads):
        """Whether a statement that made something of it has left it as it was: that may be meant otherwise."""
        return any(place[1].stores & reads for place in self.watch.idle)

    def a_number_is_wrong(self, place, first):
        sizes = self.watch.sizes | {size for node in self.watch.all if node.is_given for size in node.shape}
        sizes |= {size - other for size in sizes for other in sizes if size > other}
        sizes |= {size // other for size in sizes for other in sizes if other and size > other}
        for change in self.watch.changes:
            if change.node is not None or change.moment >= first or change.place == place:
                continue
            if change.place[1].unpacks_a_shape:
                continue
            if isinstance(change.value, (bool, np.bool_)):
                others = [not change.value]
            elif isinstance(change.value, (int, np.integer)):
                others = [size for size in sorted(sizes | {0, 1}) if size != change.value]
            else:
                others = []
            if any(self.passes_with({change.moment: {change.name: other}}) for other in others):
                return True
        return False

    def statement_at_the_end(self):
        """The statement that returns, if all that it was given is right."""
        watch = self.watch
        given = watch.read_last
        if watch.ended is None or not given or watch.ended[1].only_names:
            return None
        added_up = set().union(*(item.stores for item in statements_of(watch.ended[2]) if item.adds_up))
        if any(name in added_up and node.status not in (OUTPUT, STAGE) for name, node in given):
            return None  # a round may be missing
        if self.has_uncertain_input(watch.ended, given, watch.last_numbers):
            return None
        return watch.ended if self.is_certain_ignoring_inputs(watch.ended, float("inf")) else None

    # ---- what would be right ----------------------------------------------------------------

    def repairs(self, suspect):
        """Yield what the variables should hold, by moment and name."""
        slots = {}
        for change in suspect.changes:
            slots.setdefault((id(change.frame), change.name), []).append(change)
        options = []
        for (_, name), changes in slots.items():
            node = suspect.place[1].node
            is_stored = not isinstance(node, ast.Assign) or any(
                not isinstance(target, (ast.Name, ast.Tuple)) for target in node.targets
            )
            if len(changes) > 1 and (is_stored or suspect.place[1].adds_up):
                changes = changes[-1:]
            options.append(list(itertools.islice(self.options(name, changes), 12)))
        if not all(options):
            return
        tried = sorted(itertools.islice(itertools.product(*map(range, map(len, options))), 4096), key=sum)
        for choice in tried[:MAX_TRIALS_OF_ONE]:
            repair = {}
            for option, chosen in zip(options, choice, strict=True):
                for change, value in option[chosen] or ():
                    repair.setdefault(change.moment, {})[change.name] = value
            if repair:
                yield repair

    def options(self, name, changes):
        """Yield what a variable could hold each time: None for what it holds."""
        nodes = [change.node for change in changes]
        if None in nodes:
            for number in self.numbers_of(changes[0]):
                yield [(change, number) for change in changes if change.node is None]
            return
        is_right = all(node.status in RIGHT for node in nodes)
        if is_right:
            yield None
        if len(changes) == 1 and nodes[0].status in (WRONG, UNKNOWN):
            for value in self.patterns(changes[0].value):
                yield [(changes[0], value)]
        hint = self.hint_of(name)
        read = {item.seen.name for change in changes for _, item in change.before}
        near = read | {self.subject.made_of[name] for name in read if name in self.subject.made_of}
        now = nodes[-1].seen.name

        def nearness(known):
            return (-_fits(hint, known.name), -(known.name in near), -known.rank)

        for known in sorted(self.watch.known, key=nearness):
            is_turned = _is_turned(nodes[-1]) and known.name == now
            if is_right and not is_turned and not self.may_be_meant(known, now, hint):
                continue
            if _kind(known.array) != _kind(changes[0].value):
                continue
            if is_turned and len(changes) == 1:
                yield [(changes[0], known.array.copy())]
            for values in self.values_of(known, changes):
                yield list(zip(changes, values, strict=True))
        if len(changes) == 1 and is_right and hint is not None and not _fits(hint, now):
            for known in self.watch.known:
                if _fits(hint, known.name):
                    yield [(changes[0], known.array.copy())]
        if not is_right and len(changes) == 1 and isinstance(changes[0].value, np.ndarray):  # of another shape
            for known in sorted(self.watch.known, key=nearness):
                is_other = known.array.shape != changes[0].value.shape
                if is_other and (known.rank or known.exact) and _kind(known.array) == _kind(changes[0].value):
                    yield [(changes[0], known.array.copy())]

    def may_be_meant(self, known, now, hint):
        """Whether what holds one stage should hold another."""
        if hint is not None and _fits(hint, now):
            return False
        if hint is not None and _fits(hint, known.name):
            return True
        return known.name != now and known.rank > 0 and known.name not in self.made

    def values_of(self, known, changes):
        shape = np.shape(changes[0].value) if not _is_uneven(changes[0].value) else None
        if shape is None or any(_is_uneven(change.value) or np.shape(change.value) != shape for change in changes):
            return
        n, array = len(changes), known.array
        if known.pattern is not None:
            array = np.where(known.pattern, array, -np.inf)
        parts = [[array] * n]
        if n > 1:
            parts += [list(np.moveaxis(array, axis, 0)) for axis in range(array.ndim) if array.shape[axis] == n]
            parts += [
                list(array.reshape(n, *array.shape[i:])) for i in range(2, array.ndim) if np.prod(array.shape[:i]) == n
            ]
        for arrays in parts:
            if np.size(arrays[0]) != np.prod(shape):
                continue
            layouts = zip(*(itertools.islice(_layouts(item, shape, known), 24) for item in arrays), strict=True)
            seen = []
            for layout in layouts:
                if any(np.array_equal(layout[0], item, equal_nan=True) for item in seen):
                    continue
                seen.append(layout[0])
                if len(seen) > MAX_LAYOUTS:
                    break
                yield [_as(item, change.value) for item, change in zip(layout, changes, strict=True)]

    def patterns(self, value):
        """Yield the right pattern in the form that an array of two values has: either of the two may stand for True."""
        wanted = self.watch.pattern
        if wanted is None or not isinstance(value, np.ndarray):
            return
        two = np.unique(value)
        if two.size != 2 and value.dtype != bool:
            return
        if two.size != 2:
            two = np.array([False, True])
        low, high = two
        each = wanted.reshape(-1, *wanted.shape[-2:])
        plain = [wanted, *([each[0]] if (each == each[0]).all() else [])]  # one may serve the whole batch
        for pattern in plain:
            for layout in itertools.islice(layouts_of(pattern, value.shape), 2):
                yield np.where(layout, high, low).astype(value.dtype)
                yield np.where(layout, low, high).astype(value.dtype)

    # ---- trying -----------------------------------------------------------------------------

    def passes_with(self, exchanged):
        if self.trials >= MAX_TRIALS or self.events > MAX_TRIED_EVENTS or self.waited > WAIT:
            raise TooMuchError
        self.trials += 1
        began, computed = time.monotonic(), thread_time()
        replay = Replay(self.watch.code, exchanged)
        with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.suppress(Exception):
            warnings.simplefilter("ignore")
            try:
                return bool(self.is_right(self.run(replay)))
            finally:
                self.events += replay.events
                share = BUSIEST if has_processor_time() else 0
                self.waited += max(time.monotonic() - began - share * (thread_time() - computed), 0.0)
        return False


def _kind(value):
    return getattr(value, "dtype", np.dtype(float)).kind.replace("u", "i")


def _is_turned(node):
    return node.seen.turned and not node.seen.in_part


def _fits(hint, name):
    return hint is not None and (hint == name.rstrip("'") or (hint in FUNCTIONS and f"{hint}(" in name))


def _layouts(array, shape, known):
    if not known.exact:
        return layouts_of(array, shape)
    longer = ([size for size in item if size > 1] for item in (array.shape, shape))
    return iter([array.reshape(shape)] if next(longer) == next(longer) else [])


def _is_part(code):
    """Whether it is the code of a part of a statement, a comprehension's."""
    return code.co_name.startswith("<") and code.co_name != "<lambda>"


def _is_uneven(value):
    if isinstance(value, np.ndarray):
        return False
    try:
        return np.asarray(value).dtype == object
    except ValueError:
        return True


def _as(array, value):
    """An array as what a variable holds: of the same type, in lists if it was lists."""
    if isinstance(value, np.ndarray):
        return array.astype(value.dtype) if value.dtype.kind == "f" else array.copy()
    if isinstance(value, (list, tuple)):
        return type(value)(_as(item, old) for item, old in zip(array, value, strict=True))
    return array.item() if np.ndim(array) == 0 else array.copy()
