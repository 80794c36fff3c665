"""What the examination asks of whatever it examines, and the arguments that functions and modules alike take."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from attention_doctor.calls import calling
from attention_doctor.readers import mask_formats, position_arguments
from attention_doctor.readers.signature import parameters_of

FEW_SHAPES = ("(batch, heads, queries, keys)", "(queries, keys)", "(batch, 1, queries, keys)")


class Subject(Protocol):
    """Something that answers questions in one or several layouts: a function or a module."""

    name: str
    kind: str
    given: "Arguments"  # by role
    layouts: list  # the ways in which it can be read, the most usual first

    def plain_questions(self, layout):
        """Return the questions without masks, the first of which every other is compared with."""

    def mask_question(self, layout, kind):
        """Return a question in which batch, heads, queries and features differ, with a mask of this kind."""

    def case(self, layout, question):
        """Return the question's numbers as the equation has them."""

    def ask(self, layout, question, how=None):
        """Put a question, with its mask given in a certain form, and return a Reply."""

    def designs(self):
        """Return what counts as right in each step where there is a choice, the plain form first: {step: forms}."""


@dataclass(frozen=True)
class Filling:
    """What arguments that must be given are given, where nothing is asked about them.

    Parameters
    ----------
    mask : (str, MaskFormat), optional
        How a mask that hides nothing is given.
    table : Table, optional
        The form of the rotary table.
    positions : {"", "rows", "vector"}
        How the numbers of the positions are given: a row for each sequence, or one for all.
    """

    mask: tuple | None = None
    table: object = None
    positions: str = ""


class Arguments:
    """The arguments of what is examined, by their roles, and those that are the same in every call.

    Parameters
    ----------
    function : callable
        Whose signature counts.
    roles : dict of str to str
        By argument's name, as `signature.read` gives them.
    inputs : dict, optional
        What further arguments are given, by name: a value, or a function of (batch, tokens).
    """

    def __init__(self, function, roles, inputs=None):
        self.inputs = inputs or {}
        self.seen = {}  # by argument's name: every value that it was given
        self.parameters = parameters_of(function) or ()
        self.required = [p.name for p in self.parameters if p.default is p.empty]
        self.unknown = [name for name in self.required if not roles.get(name) and name not in self.inputs]
        self.name_of = {}
        for name, role in roles.items():
            if role:
                self.name_of.setdefault(role, name)
        self.filling = Filling()

    def has(self, role):
        return role in self.name_of

    def must_give(self, role):
        return self.name_of.get(role) in self.required

    @property
    def is_cross(self):
        return self.has("context") or self.has("keys")

    def blanks(self, meanings_of, optional):
        """Ways to give a mask that hides nothing, where one must be given, or where it need not."""
        for role in ("mask", "padding", "lengths", "bias"):
            if self.has(role) and self.must_give(role) != optional:
                for how in mask_formats.formats(role, meanings_of(role) + mask_formats.AGREED_IN_NUMBERS):
                    yield self.name_of[role], how

    def fillings(self, meanings_of, head_widths=(), optional=False):
        """Ways to fill what must be given: rotary tables and masks, each alone and both together; or optional masks."""
        tables = position_arguments.tables(self, head_widths)
        masks = [*[None] * (not optional), *self.blanks(meanings_of, optional)]
        if len(tables) > 1:  # of all pairs, those with the masks that such code takes
            masks = [mask for mask in masks if mask is None or mask[1].shape in FEW_SHAPES]
        positions = ("",)
        if self.has("position_ids"):
            positions = ("rows", "vector") if self.must_give("position_ids") else ("", "rows")
        return [Filling(mask, table, given) for mask in masks for given in positions for table in tables]

    def settings(self, case, *, own_sizes=False, start=0):
        """Numbers and switches, by name; those of sizes that it has itself are left out if `own_sizes`."""
        sizes = {
            "n_heads": case.n_heads, "n_kv_heads": case.n_kv_heads, "d_model": case.d_model,
            "d_head": case.d_model // case.n_heads,
        }  # fmt: skip
        nothing = dict.fromkeys(("mask", "padding", "bias", "lengths", "past", "window"))
        switches = {"is_causal": False, "deterministic": True, "training": False, "dropout": 0.0}
        always = {"is_causal", "deterministic", "training"} | (set() if own_sizes else {"n_heads", "n_kv_heads"})
        settings = {}
        for role, value in (sizes | switches | nothing).items():
            if self.must_give(role) or (
                self.has(role) and (role in always or (role == "dropout" and self._has_a_number(role)))
            ):
                settings[self.name_of[role]] = value
        settings |= dict.fromkeys(self.unknown)
        if self.has("rng"):
            settings[self.name_of["rng"]] = np.zeros(2, np.uint32)  # a key of JAX
        if self.must_give("scale"):
            settings[self.name_of["scale"]] = (case.d_model // case.n_heads) ** -0.5
        first = case.X if case.X is not None else case.heads[0][:, 0]
        batch, n_tokens = len(first), first.shape[1]
        if self.must_give("height") and self.must_give("width"):
            settings |= {self.name_of["height"]: n_tokens, self.name_of["width"]: 1}
        further = {name: value(batch, n_tokens) if callable(value) else value for name, value in self.inputs.items()}
        return settings | position_arguments.values(self, self.filling, n_tokens, batch, start) | further

    def note(self, arguments):
        """Remember what a call is given."""
        for parameter in self.parameters:
            value = arguments.get(parameter.name, parameter.default)
            plain = value is None or isinstance(value, (bool, int, float, str, type))
            self.seen.setdefault(parameter.name, set()).add(value if plain else "varied")

    @property
    def never_varied(self):
        """The arguments that had the same value in every call."""
        return [name for name, values in self.seen.items() if len(values) == 1 and "varied" not in values]

    def _has_a_number(self, role):
        """Whether an argument's default is a number, such as a dropout that is on."""
        found = [p for p in self.parameters if p.name == self.name_of[role]]
        return bool(found) and isinstance(found[0].default, float)


def with_masks(arguments, given, question, case, how, batch):
    """Add the mask and the causal flag to a call's arguments; None where the mask cannot be said in this form."""
    full = (batch, case.n_heads, question.n_queries, question.keys + question.start)
    if question.mask is not None and how is not None:
        mask = how[1].of(case.allowed, full)
        if mask is None:
            return None
        arguments[how[0]] = mask
    elif given.filling.mask is not None:
        name, how = given.filling.mask
        arguments[name] = how.nothing_hidden(full)
    if question.is_causal:
        arguments[given.name_of["is_causal"]] = True
    return arguments


def converter(framework, precision=None):
    """Return what turns an ndarray into the framework's, in half precision if asked."""
    plain = calling.to_framework(framework)
    if precision is None:
        return plain

    def convert(array):
        converted = plain(array)
        if array.dtype.kind != "f":
            return converted
        if framework == "torch":
            import torch

            return converted.to(getattr(torch, precision))
        return converted.astype(precision) if hasattr(converted, "astype") else converted

    return convert
