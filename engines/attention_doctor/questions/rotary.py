"""A function that turns features by their positions, and nothing else: how it is called, and what it does."""

import contextlib
import inspect
import itertools
import time
from dataclasses import dataclass

import numpy as np

from attention_doctor import vocabulary
from attention_doctor.calls import calling
from attention_doctor.questions import rotations
from attention_doctor.readers import signature
from attention_doctor.readers.position_arguments import BASE, TABLES, Table, shapes_for
from attention_doctor.reports.report import Report
from function_judge.compare import equal

WIDTHS = (8, 64, 128, 32, 16, 4)  # tables of its own may fit only one of them
OTHER_WIDTH = 6  # in one width, a mistake in the exponent is the right angles with another base
N_TOKENS, START = 5, 7
SIZES = {"batch": 2, "heads": 3, "tokens": N_TOKENS}
PLACES = (*TABLES, "position_ids", "start_pos")


@dataclass(frozen=True)
class Layout:
    """How the axes of X are read."""

    axes: tuple

    @property
    def position_axis(self):
        return self.axes.index("tokens")

    @property
    def batch(self):
        return SIZES["batch"] if "batch" in self.axes else 1

    def shape(self, width):
        return tuple((SIZES | {"features": width})[axis] for axis in self.axes)

    def __str__(self):
        return f"({', '.join(self.axes)})"


TOKENS_LAST = tuple(Layout(("batch", "heads", "tokens", "features")[first:]) for first in (2, 1, 0))
TOKENS_FIRST = tuple(Layout(("batch", "tokens", "heads", "features")[first:]) for first in (1, 0))


@dataclass(frozen=True)
class Response:
    """What the function does in one layout, with one form of its tables and positions."""

    layout: Layout
    width: int
    form: tuple  # of its tables and of its positions
    verdict: rotations.RotationFindings

    @property
    def tables(self):
        shape, _ = self.form
        return f", tables {Table(self.width, *shape)}" if shape else ""

    @property
    def n_faults(self):
        return sum(finding.is_sick for finding in self.verdict.findings)


def examine(function):
    """Examine a function such as `rotate(X, start)`, `rotate(x, positions)` or `rotate(x, cos, sin)`.

    Parameters
    ----------
    function : callable

    Returns
    -------
    Report or None
        None if it isn't one: its arguments are others, it answers nothing, or tokens meet in it although its name
        doesn't speak of rotation. Which features are a pair, and where the heads stand, is its own choice.
    """
    roles, name = _roles(function), calling.name_of(function)
    if roles is None:
        return None
    started = time.monotonic()
    exam = _RotaryExam(function, roles)
    response = exam.response()
    if response is None or (response.verdict.mixes_tokens and not vocabulary.ROTATION.search(name)):
        return None
    verdict = response.verdict
    if exam.changed:
        verdict.add_named("input-changed", f"It writes into `{exam.changed}`.")
    report = Report(name, response.n_faults == 0, verdict.findings, notes=verdict.notes)
    convention = f", {verdict.convention}" if verdict.convention else ""
    report.layout = f"features turned by positions, {response.layout}{convention}{response.tables}"
    if response.layout in TOKENS_FIRST:
        report.notes.append("Positions are counted along the axis before the heads'. Do your tokens stand there?")
    if not set(roles.values()) & set(PLACES):
        report.untested.append("a start, as it takes none")
    report.asked, report.seconds = exam.calls, time.monotonic() - started
    return report


def _roles(function):
    """What each argument is, by name; None unless they are features, positions, and what belongs to them."""
    roles = {}
    for parameter in signature.parameters_of(function) or ():
        role = _role(parameter.name)
        if not roles and role in ("", "X", "queries", "keys", "context"):
            role = "X"  # the features come first, under whatever name
        if parameter.default is not inspect.Parameter.empty and _can_be_left_out(role, roles):
            continue
        if role not in ("X", "keys", "base", "d_head", *PLACES) or role in roles.values():
            return None
        roles[parameter.name] = role
    speaks = vocabulary.ROTATION.search(calling.name_of(function)) or set(roles.values()) & set(PLACES)
    return roles if speaks and "X" in roles.values() else None


def _can_be_left_out(role, roles):
    """Whether an argument's default will do; positions are set, unless they only choose rows of a table."""
    return role in ("base", "") or (role == "position_ids" and "cos" in roles.values())


def _role(name):
    plain = signature.plain(name)
    return vocabulary.ROLE_OF_ROTARY_ARGUMENT.get(plain) or vocabulary.ROLE_OF_ARGUMENT.get(plain, "")


class _NoAnswerError(Exception):
    """It raised an error, or returned nothing of X's shape."""


class _RotaryExam:
    """Puts token vectors to the function, in one layout and with one form of its tables at a time."""

    def __init__(self, function, roles):
        self.function, self.roles, self.calls, self.changed = function, roles, 0, None
        self.convert = calling.to_framework(calling.framework_of(function))
        defaults = [
            parameter.default for parameter in signature.parameters_of(function) if _role(parameter.name) == "base"
        ]
        self.bases = (BASE, *(float(default) for default in defaults if isinstance(default, int | float)))

    def response(self):
        """What it does in the layout that fits best; None where it answers in none.

        Where it is right with its heads before the tokens, or takes (tokens, features), it counts along the last axis
        but one. Others may have heads after the tokens: that counts where it is right there, or where nothing else
        answers.
        """
        last = self._in_layouts(TOKENS_LAST)
        if not self._counts_along_the_last_axis_but_one(last):
            first = self._in_layouts(TOKENS_FIRST)
            if first and (not last or not any(item.n_faults for item in first)):
                last = first
        # The first one that is wrong has the fewest axes, and is the easiest to read.
        return next((item for item in last if item.n_faults), last[-1] if last else None)

    def _in_layouts(self, layouts):
        return [item for item in map(self.in_layout, layouts) if item]

    @staticmethod
    def _counts_along_the_last_axis_but_one(last):
        takes_two_axes = bool(last) and last[0].layout is TOKENS_LAST[0]
        return takes_two_axes or (bool(last) and not any(item.n_faults for item in last))

    def in_layout(self, layout):
        """The form of the tables in which it is right; where in none, that with the fewest faults."""
        best = None
        for width, form in itertools.product(WIDTHS, self.forms()):
            if best and (best.n_faults == 0 or best.width != width):
                break
            try:
                response = Response(layout, width, form, self.judged(layout, width, form))
            except _NoAnswerError:
                continue
            best = response if best is None or response.n_faults < best.n_faults else best
        if best and best.n_faults == 0:
            with contextlib.suppress(_NoAnswerError):
                self.compare_widths(best)
            self.compare_sides(best)
        return best

    def forms(self):
        """Every form of the tables and of the positions that its arguments may want."""
        roles = [role for role in TABLES if role in self.roles.values()]
        tables = shapes_for(roles) if roles else [None]
        positions = ("vector", "rows", "number") if "position_ids" in self.roles.values() else [""]
        return itertools.product(tables, positions)

    def judged(self, layout, width, form):
        moves = bool({*self.roles.values()} & {*PLACES})

        def ask(X, start):
            return self.answer(layout, form, X, start)[0]

        return rotations.judge(ask, layout.shape(width), layout.position_axis, START if moves else 0, self.bases)

    def answer(self, layout, form, X, start):
        """Call it on X, as queries and keys where it takes both; the arrays of X's shape that it returns."""
        self.calls += 1
        shape, positions = form
        values = {"X": X, "keys": X, "base": self.bases[-1], "d_head": X.shape[-1], "start_pos": start}
        places = np.arange(start, start + N_TOKENS)
        values["position_ids"] = {"rows": np.tile(places, (layout.batch, 1)), "number": start}.get(positions, places)
        if shape is not None:
            # Code that gets the positions, too, takes the rows out of the table.
            from_first = {*self.roles.values()} & {"position_ids", "start_pos"}
            n_rows, first = (start + N_TOKENS, 0) if from_first else (N_TOKENS, start)
            values |= Table(X.shape[-1], *shape).by_role(n_rows, layout.batch, first)
        outcome = calling.call(self.function, {name: values[role] for name, role in self.roles.items()}, self.convert)
        self.changed = self.changed or outcome.changed
        arrays = [array for array in outcome.arrays or () if array.shape == X.shape]
        if not arrays:
            raise _NoAnswerError
        return arrays

    def compare_widths(self, response):
        """A mistake in the exponent looks like another base, and like yet another one in another width: it is named."""
        other = self.judged(response.layout, OTHER_WIDTH, response.form)
        bases = {response.width: response.verdict.base, OTHER_WIDTH: other.base}
        if None not in bases.values() and not np.isclose(*bases.values(), rtol=0.02):
            text = " and ".join(f"{base:.4g} with {width} features" for width, base in bases.items())
            response.verdict.add_named("rope-wrong-frequencies", f"Its base would be {text}.")

    def compare_sides(self, response):
        """Queries and keys must be turned alike; here both are the same vectors."""
        if "keys" not in self.roles.values():
            return
        X = np.random.default_rng(8).normal(size=response.layout.shape(response.width))
        queries, keys, *_ = [*self.answer(response.layout, response.form, X, 0), None]
        if keys is None or not equal(keys, queries):
            is_one_side = keys is None or equal(keys, X)
            response.verdict.add_named("rope-one-side" if is_one_side else "rope-conventions-mixed", "")
