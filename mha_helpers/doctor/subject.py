"""What the examination asks of whatever it examines, and the arguments that functions and modules alike take."""

from typing import Protocol

from mha_helpers.doctor import calling, mask_formats
from mha_helpers.doctor.signature import parameters_of


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

    def right_forms(self, layout, base):
        """Return what counts as right: one {step: form} each."""

    def further(self, asking):
        """Yield what only this kind of subject is asked about."""


class Arguments:
    """The arguments of what is examined, by their roles, and those that are the same in every call.

    Parameters
    ----------
    function : callable
        Whose signature counts.
    roles : dict of str to str
        By argument's name, as `signature.read` gives them.
    """

    def __init__(self, function, roles):
        self.parameters = parameters_of(function) or ()
        self.required = [p.name for p in self.parameters if p.default is p.empty]
        self.name_of = {}
        for name, role in roles.items():
            if role:
                self.name_of.setdefault(role, name)
        self.blank = None  # how a mask that must be given, and hides nothing, is given

    def has(self, role):
        return role in self.name_of

    def must_give(self, role):
        return self.name_of.get(role) in self.required

    @property
    def is_cross(self):
        return self.has("context") or self.has("keys")

    def blanks(self, meanings_of):
        """Ways to give a mask that hides nothing, where one must be given."""
        for role in ("mask", "padding", "lengths", "bias"):
            if self.must_give(role):
                for how in mask_formats.formats(role, meanings_of(role) + mask_formats.AGREED_IN_NUMBERS):
                    yield self.name_of[role], how

    def settings(self, case, *, own_sizes=False):
        """Numbers and switches, by name; those of sizes that it has itself are left out if `own_sizes`."""
        sizes = {
            "n_heads": case.n_heads, "n_kv_heads": case.n_kv_heads, "d_model": case.d_model,
            "d_head": case.d_model // case.n_heads,
        }  # fmt: skip
        nothing = dict.fromkeys(("mask", "padding", "bias", "lengths", "past"))
        switches = {"is_causal": False, "deterministic": True, "training": False, "dropout": 0.0}
        always = {"is_causal", "deterministic", "training"} | (set() if own_sizes else {"n_heads", "n_kv_heads"})
        settings = {}
        for role, value in (sizes | switches | nothing).items():
            if self.must_give(role) or (
                self.has(role) and (role in always or (role == "dropout" and self._has_a_number(role)))
            ):
                settings[self.name_of[role]] = value
        if self.must_give("scale"):
            settings[self.name_of["scale"]] = (case.d_model // case.n_heads) ** -0.5
        return settings

    def _has_a_number(self, role):
        """Whether an argument's default is a number, such as a dropout that is on."""
        found = [p for p in self.parameters if p.name == self.name_of[role]]
        return bool(found) and isinstance(found[0].default, float)


def with_masks(arguments, given, question, case, how, batch):
    """Add the mask and the causal flag to a call's arguments; None where the mask cannot be said in this form."""
    full = (batch, case.n_heads, question.n_queries, question.keys)
    if question.mask is not None and how is not None:
        mask = how[1].of(case.allowed, full)
        if mask is None:
            return None
        arguments[how[0]] = mask
    elif given.blank is not None:
        name, how = given.blank
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
