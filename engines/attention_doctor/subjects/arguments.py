"""The arguments of what is examined, by their roles, and what a call gives them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from attention_doctor.equation.stages import Input
from attention_doctor.equation.trial_inputs import Question
from attention_doctor.readers import mask_formats, position_arguments
from attention_doctor.readers.mask_formats import MaskFormat
from attention_doctor.readers.signature import parameters_of

# Beside several forms of a rotary table, masks are tried in these shapes alone: all pairs of both are too many calls,
# and code that takes a rotary table takes its mask in one of these.
COMMON_SHAPES = ("(batch, heads, queries, keys)", "(queries, keys)", "(batch, 1, queries, keys)")
NONE_BY_DEFAULT = ("mask", "padding", "bias", "lengths", "past", "window")
SWITCHES = {"is_causal": False, "deterministic": True, "training": False, "dropout": 0.0}
# Left to their defaults, these may mean training, or the causal mask that a question has not asked for.
ALWAYS_SET = ("is_causal", "deterministic", "training")


class MaskArgument(NamedTuple):
    """To which argument a mask goes, in which format, and which other one gets the second mask of a question."""

    name: str
    format: MaskFormat
    beside: "MaskArgument | None" = None


@dataclass(frozen=True)
class Filling:
    """What required arguments get where no question is about them.

    Parameters
    ----------
    mask : MaskArgument, optional
        How a mask that hides nothing is passed.
    table : Table, optional
        The form of the rotary table.
    positions : {"", "rows", "vector"}
        How position numbers are passed: a row for each sequence, or one vector for all.
    """

    mask: MaskArgument | None = None
    table: Any = None
    positions: str = ""


class Arguments:
    """The arguments of what is examined, by their roles, and those that are the same in every call.

    Parameters
    ----------
    function : callable
        Whose signature counts.
    roles : dict of str to str
        By argument's name, as `signature.read` returns them.
    inputs : dict, optional
        What further arguments get, by name: a value, or a function of (batch, tokens).
    """

    def __init__(self, function: Callable, roles: Mapping[str, str], inputs: Mapping[str, Any] | None = None) -> None:
        self.inputs = inputs or {}
        self.seen: dict[str, set] = {}  # by argument's name: every value that it has had
        self.parameters = parameters_of(function) or ()
        self.required = [p.name for p in self.parameters if p.default is p.empty]
        self.unknown = [name for name in self.required if not roles.get(name) and name not in self.inputs]
        self.name_of: dict[str, str] = {}
        for name, role in roles.items():
            if role:
                self.name_of.setdefault(role, name)
        self.filling = Filling()

    def has(self, role: str) -> bool:
        return role in self.name_of

    def must_give(self, role: str) -> bool:
        return self.name_of.get(role) in self.required

    @property
    def is_cross(self) -> bool:
        """Whether keys may come from another sequence than queries."""
        return self.has("context") or self.has("keys")

    @property
    def guesses(self) -> str:
        """Which required arguments are filled by guess, and what to do, in words; nothing where none is."""
        tables = [self.name_of[role] for role in position_arguments.TABLES if self.must_give(role)]
        names = [name for name in (*tables, *self.unknown) if name not in self.inputs]
        if not names:
            return ""
        listed = ", ".join(f"`{name}`" for name in names)
        return (
            f"What {listed} {'is' if len(names) == 1 else 'are'} given is a guess: "
            f"examine(..., inputs={{{names[0]!r}: ...}}) gives what a call needs."
        )

    def _masks_that_hide_nothing(self, meanings_of: Callable, optional: bool) -> Iterator[MaskArgument]:
        """Ways to pass a mask that hides nothing: where one is required, or where it is optional."""
        for role in ("mask", "padding", "lengths", "bias"):
            if self.has(role) and self.must_give(role) != optional:
                for mask_format in mask_formats.formats(role, meanings_of(role) + mask_formats.AGREED_IN_NUMBERS):
                    yield MaskArgument(self.name_of[role], mask_format)

    def fillings(self, meanings_of: Callable, head_widths: Sequence[int] = (), optional: bool = False) -> list[Filling]:
        """Ways to fill required arguments: rotary tables and masks, each alone and both together; or optional masks."""
        tables = position_arguments.tables(self, head_widths)
        masks = [*[None] * (not optional), *self._masks_that_hide_nothing(meanings_of, optional)]
        if len(tables) > 1:
            masks = [mask for mask in masks if mask is None or mask.format.shape in COMMON_SHAPES]
        positions: tuple[str, ...] = ("",)
        if self.has("position_ids"):
            positions = ("rows", "vector") if self.must_give("position_ids") else ("", "rows")
        return [Filling(mask, table, form) for mask in masks for form in positions for table in tables]

    def settings(self, case: Input, *, own_sizes: bool = False, start: int = 0) -> dict[str, Any]:
        """Numbers and switches, by name.

        Parameters
        ----------
        case : Input
        own_sizes : bool, optional
            Whether what is examined has sizes of its own: then they are passed only where they are required.
        start : int, optional
            The first position.

        Returns
        -------
        dict of str to object
        """
        token_vectors = case.X if case.X is not None else case.heads[0][:, 0]
        batch, n_tokens = token_vectors.shape[:2]
        settings = {self.name_of[role]: value for role, value in self._usual_values(case, own_sizes)}
        settings |= dict.fromkeys(self.unknown)
        if self.has("rng"):
            settings[self.name_of["rng"]] = np.zeros(2, np.uint32)  # a key of JAX
        if self.must_give("scale"):
            settings[self.name_of["scale"]] = (case.d_model // case.n_heads) ** -0.5
        if self.must_give("height") and self.must_give("width"):  # an image of a single column
            settings |= {self.name_of["height"]: n_tokens, self.name_of["width"]: 1}
        settings |= position_arguments.values(self, self.filling, n_tokens, batch, start)
        return settings | {
            name: value(batch, n_tokens) if callable(value) else value for name, value in self.inputs.items()
        }

    def _usual_values(self, case: Input, own_sizes: bool) -> Iterator[tuple[str, Any]]:
        """Yield (role, value) of those sizes and switches that a call has to set."""
        sizes = {
            "n_heads": case.n_heads, "n_kv_heads": case.n_kv_heads, "d_model": case.d_model,
            "d_head": case.d_model // case.n_heads,
        }  # fmt: skip
        always = ALWAYS_SET if own_sizes else (*ALWAYS_SET, "n_heads", "n_kv_heads")
        for role, value in (sizes | SWITCHES | dict.fromkeys(NONE_BY_DEFAULT)).items():
            is_set = role in always or (role == "dropout" and self._defaults_to_a_number(role))
            if self.must_give(role) or (is_set and self.has(role)):
                yield role, value

    def note(self, call: Mapping[str, Any]) -> None:
        """Remember the values of a call."""
        for parameter in self.parameters:
            value = call.get(parameter.name, parameter.default)
            plain = value is None or isinstance(value, (bool, int, float, str, type))
            self.seen.setdefault(parameter.name, set()).add(value if plain else "varied")

    @property
    def never_varied(self) -> list[str]:
        """The arguments that had the same value in every call."""
        return [name for name, values in self.seen.items() if len(values) == 1 and "varied" not in values]

    def _defaults_to_a_number(self, role: str) -> bool:
        """Whether an argument's default is a number, such as a dropout that is on."""
        defaults = [p.default for p in self.parameters if p.name == self.name_of.get(role)]
        return bool(defaults) and isinstance(defaults[0], float)


def with_masks(
    call: dict[str, Any], arguments: Arguments, question: Question, case: Input, mask: MaskArgument | None, batch: int
) -> dict[str, Any] | None:
    """Add the mask and the causal flag to a call; None where the mask can't be expressed in this format."""
    full_shape = (batch, case.n_heads, question.n_queries, question.keys + question.start)
    if question.mask is not None and mask is not None:
        for argument, allowed in ((mask, case.allowed), (mask.beside, case.second_allowed)):
            if argument is None:
                continue
            array = argument.format.of(allowed, full_shape)
            if array is None:
                return None
            call[argument.name] = array
    elif arguments.filling.mask is not None:
        call[arguments.filling.mask.name] = arguments.filling.mask.format.nothing_hidden(full_shape)
    if question.is_causal:
        call[arguments.name_of["is_causal"]] = True
    return call
