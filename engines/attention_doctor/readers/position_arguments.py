"""Positions that a caller hands over: rotary tables in the forms that are in use, numbers of positions, a first one."""

import itertools
from dataclasses import dataclass

import numpy as np

BASE = 10000.0
ROLES = ("cos", "sin", "cos_sin", "freqs_cis", "position_ids", "start_pos")
TABLES = ("cos", "sin", "cos_sin", "freqs_cis")


@dataclass(frozen=True)
class Table:
    """A form of the rotary table.

    Parameters
    ----------
    d_head : int
        The features of a head: half as many angles.
    repeat : {"", "halves", "pairs", "stacked"}
        Whether each angle stands there once, or twice: for feature i and i + d/2, or for 2i and 2i + 1. Or it stands
        there once, and its cosine and sine lie together in one array, along a last axis.
    axes : tuple of str
        In this order, of "batch", "1", "tokens" and "angles".
    """

    d_head: int
    repeat: str
    axes: tuple

    def __str__(self):
        kind = {
            "": "d_head / 2",
            "stacked": "d_head / 2, cosine and sine",
            "halves": "d_head, one half after the other",
            "pairs": "d_head, each angle twice",
        }
        return f"({', '.join(self.axes[:-1])}, {kind[self.repeat]})"

    def by_role(self, n_tokens, batch, start=0):
        """The table as an argument of each role has it."""
        angles = self._angles(n_tokens, batch, start)
        cos, sin = np.cos(angles), np.sin(angles)
        together = np.stack([cos, sin], axis=-1) if self.repeat == "stacked" else (cos, sin)
        return {"cos": cos, "sin": sin, "cos_sin": together, "freqs_cis": np.exp(1j * angles)}

    def _angles(self, n_tokens, batch, start):
        angles = np.arange(start, start + n_tokens)[:, None] * BASE ** (-np.arange(0, self.d_head, 2) / self.d_head)
        if self.repeat == "halves":
            angles = np.concatenate([angles, angles], axis=-1)
        elif self.repeat == "pairs":
            angles = np.repeat(angles, 2, axis=-1)
        sizes = {"batch": batch, "1": 1, "tokens": n_tokens, "angles": angles.shape[-1]}
        shape = [sizes[axis] for axis in self.axes]
        return np.broadcast_to(angles.reshape([1 if axis == "batch" else sizes[axis] for axis in self.axes]), shape)


STACKED = ("stacked", ("tokens", "angles"))
SHAPES = (
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
    STACKED,
)


def tables(given, widths):
    """Every form of the table that these arguments may want, for these numbers of features of a head."""
    if not any(given.has(role) for role in TABLES):
        return [None]
    complex_alone = given.has("freqs_cis") and not any(given.has(role) for role in TABLES[:3])
    shapes = [shape for shape in SHAPES if not (complex_alone and shape[0])]
    if not given.has("cos_sin"):
        shapes = [shape for shape in shapes if shape != STACKED]
    wanted = any(given.must_give(role) for role in TABLES)  # else it may do without
    found = [Table(width, *shape) for width, shape in itertools.product(widths, shapes) if width % 2 == 0]
    return found if wanted else [None, *found]


def values(given, filling, n_tokens, batch, start=0):
    """What the arguments about positions are given, by name."""
    found, table = {}, filling.table
    if table is not None:
        tables = table.by_role(n_tokens, batch, start)
        found = {given.name_of[role]: tables[role] for role in TABLES if given.has(role)}
    if given.has("position_ids") and (given.must_give("position_ids") or filling.positions or start):
        numbers = np.arange(start, start + n_tokens)
        found[given.name_of["position_ids"]] = (
            numbers if filling.positions == "vector" else np.tile(numbers, (batch, 1))
        )
    if given.has("start_pos") and (given.must_give("start_pos") or table is not None):
        found[given.name_of["start_pos"]] = start
    return found
