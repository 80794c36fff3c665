"""Positions that a caller hands over: rotary tables in the forms that are in use, numbers of positions, a first one."""

import itertools
from dataclasses import dataclass

import numpy as np

BASE = 10000.0
TABLES = ("cos", "sin", "cos_sin", "freqs_cis")


@dataclass(frozen=True)
class Table:
    """A form of the rotary table.

    Parameters
    ----------
    d_head : int
        The features of a head: half as many angles.
    repeat : {"", "halves", "pairs", "stacked", "complex"}
        Whether each angle stands there once, or twice: for feature i and i + d/2, or for 2i and 2i + 1. Or it stands
        there once, and its cosine and sine lie together in one array: along a last axis, or as complex numbers.
    axes : tuple of str
        In this order, of "batch", "1", "tokens" and "angles".
    """

    d_head: int
    repeat: str
    axes: tuple[str, ...]

    def __str__(self):
        kind = {
            "": "d_head / 2",
            "stacked": "d_head / 2, cosine and sine",
            "complex": "d_head / 2, complex",
            "halves": "d_head, one half after the other",
            "pairs": "d_head, each angle twice",
        }
        return f"({', '.join(self.axes[:-1])}, {kind[self.repeat]})"

    def by_role(self, n_tokens, batch, start=0):
        """Return the table as an argument of each role has it."""
        angles = self._angles(n_tokens, batch, start)
        cos, sin = np.cos(angles), np.sin(angles)
        forms = {"stacked": np.stack([cos, sin], axis=-1), "complex": np.exp(1j * angles)}
        together = forms.get(self.repeat, (cos, sin))
        return {"cos": cos, "sin": sin, "cos_sin": together, "freqs_cis": together}

    def _angles(self, n_tokens, batch, start):
        angles = np.arange(start, start + n_tokens)[:, None] * BASE ** (-np.arange(0, self.d_head, 2) / self.d_head)
        if self.repeat == "halves":
            angles = np.concatenate([angles, angles], axis=-1)
        elif self.repeat == "pairs":
            angles = np.repeat(angles, 2, axis=-1)
        sizes = {"batch": batch, "1": 1, "tokens": n_tokens, "angles": angles.shape[-1]}
        shape = [sizes[axis] for axis in self.axes]
        return np.broadcast_to(angles.reshape([1 if axis == "batch" else sizes[axis] for axis in self.axes]), shape)


STACKED = ("stacked", ("tokens", "angles"))  # as in lit-llama and gpt-fast
SHAPES = (  # the most usual first
    ("halves", ("tokens", "angles")),
    ("halves", ("batch", "tokens", "angles")),
    ("", ("tokens", "angles")),
    ("", ("1", "tokens", "1", "angles")),
    ("halves", ("1", "1", "tokens", "angles")),
    ("halves", ("1", "tokens", "1", "angles")),
    ("pairs", ("tokens", "angles")),
    ("pairs", ("batch", "tokens", "angles")),
    ("", ("batch", "tokens", "angles")),
    ("", ("1", "1", "tokens", "angles")),
)


def tables(arguments, widths):
    """Return every form of the table that these arguments may want, for these numbers of features of a head.

    No name tells the form, so all are tried, the most usual first; None is for a call without a table.
    """
    roles = [role for role in TABLES if arguments.has(role)]
    if not roles:
        return [None]
    forms = [Table(width, *shape) for width, shape in itertools.product(widths, shapes_for(roles)) if width % 2 == 0]
    return forms if any(map(arguments.must_give, roles)) else [None, *forms]


def shapes_for(roles):
    """Return the shapes that tables of these roles may have: one array holds each angle once, as in Meta's Llama."""
    in_one = [*(("complex", axes) for repeat, axes in SHAPES if not repeat), STACKED]
    if roles == ["freqs_cis"]:
        return in_one
    return [*SHAPES, *in_one] if "cos_sin" in roles else SHAPES


def values(arguments, filling, n_tokens, batch, start=0):
    """Return what the arguments about positions are given, by name."""
    by_role, table = {}, filling.table
    if table is not None:
        by_role = {role: value for role, value in table.by_role(n_tokens, batch, start).items() if arguments.has(role)}
    if _is_wanted(arguments, "position_ids", filling.positions or start):
        numbers = np.arange(start, start + n_tokens)
        by_role["position_ids"] = numbers if filling.positions == "vector" else np.tile(numbers, (batch, 1))
    if _is_wanted(arguments, "start_pos", table is not None):
        by_role["start_pos"] = start
    return {arguments.name_of[role]: value for role, value in by_role.items()}


def _is_wanted(arguments, role, is_used):
    """Whether an argument is given: one that need not be may switch something on, as a cache."""
    return arguments.has(role) and bool(arguments.must_give(role) or is_used)
