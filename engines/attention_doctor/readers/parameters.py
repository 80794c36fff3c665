"""From a module's parameters to the matrices of the equation, in every layout that its shapes allow."""

import itertools
import re
from dataclasses import dataclass, replace

import numpy as np

from attention_doctor import vocabulary

MANGLED = re.compile(r"^_[A-Za-z]\w*?__")  # what Python puts before a private name
NUMBER = re.compile(r"(?<=\.)\d+(?=\.|$)|^\d+(?=\.)")  # in a path


def role_of(path):
    """Return "Q", "K", "V", "O", a fusion of these, or "" for a parameter's path.

    The last parts of a path say most: `encoder.self_attn.q_proj.weight` is named after a whole block, the attention
    in it, one of its layers, and what that layer calls its matrix.
    """
    parts = [_plain(part) for part in path.split(".")]
    parts = [part for part in parts if part and not part.isdigit()]
    while parts and parts[-1] in vocabulary.PARAMETER_KINDS:
        parts.pop()
    roles = (_role_of_part(re.sub(r"(weight|bias|kernel)$", "", part) or part) for part in reversed(parts[-2:]))
    return next(filter(None, roles), "") or _role_in_a_list(path)


def _role_in_a_list(path):
    """What one of the words says of a matrix that each head of a list has: `heads.0.key_gen.weight`."""
    if not NUMBER.search(path):
        return ""
    words = re.findall(r"[a-z]+", path.lower().replace("_", "."))
    found = {vocabulary.WORDS_OF_PROJECTIONS[word] for word in words if word in vocabulary.WORDS_OF_PROJECTIONS}
    return found.pop() if len(found) == 1 else ""


def _plain(part):
    """A part of a path as the vocabulary has it."""
    return re.sub(r"[^a-z0-9]", "", MANGLED.sub("", part).lower())


def _role_of_part(part):
    for role, pattern in vocabulary.FUSED_PROJECTIONS:
        if re.search(pattern, part):
            return role
    for role, pattern in vocabulary.PROJECTIONS.items():
        if pattern.match(part):
            return role
    return "O" if vocabulary.OUTPUT_PROJECTION.match(part) else ""


def order_in(path):
    """Return the order of queries, keys and values that a fused parameter's name gives: some are called `kqv`."""
    match = re.search(r"[qkv]{3}", path.lower().replace("_", ""))
    return match[0].upper() if match and set(match[0]) == set("qkv") else "QKV"


@dataclass(frozen=True)
class Unit:
    """A matrix with its bias, or a list of such, one a head."""

    role: str
    paths: tuple[str, ...]  # of its matrices: one, or one a head
    biases: tuple[str, ...]
    shape: tuple[int, ...]  # of one matrix
    orientation: str

    @property
    def is_residual(self):
        """Whether its name says that it leads around attention: none of the four is called so."""
        return bool(vocabulary.RESIDUAL_PROJECTION.search(self.paths[0]))

    @property
    def input_width(self):
        """Of its matrices, where it is known."""
        if not self.orientation or len(self.shape) != 2:
            return None
        return self.shape[self.orientation == "outputs by inputs"]

    def matrix(self, values, orientation):
        """The matrix as inputs by outputs; those of several heads side by side (for W_O below one another)."""
        turned = [_as_matrix(values[path], orientation) for path in self.paths]
        if len(turned) == 1:
            return turned[0]
        return np.concatenate(turned, axis=0 if self.role == "O" and turned[0].shape[0] < turned[0].shape[1] else 1)

    def bias(self, values):
        if not self.biases:
            return None
        return np.concatenate([values[path].reshape(-1) for path in self.biases])


def _as_matrix(value, orientation):
    value = value.reshape(value.shape[:2]) if value.ndim > 2 and np.prod(value.shape[2:]) == 1 else value
    return value.T if orientation == "outputs by inputs" else value


def units_of(parameters):
    """Group parameters into matrices with their biases, heads' lists together."""
    matrices = [item for item in parameters if item.kind == "matrix"]
    biases = {item.path: item for item in parameters if item.kind == "bias"}
    groups = {}
    for matrix in matrices:
        groups.setdefault(_group_of(matrix, matrices), []).append(matrix)
    units = [_unit_of(group, biases) for group in groups.values()]
    return [_fused_by_its_shape(unit, units) for unit in units]


def _group_of(matrix, matrices):
    """The name of what a matrix belongs to: a list of heads that have one each, or itself alone."""
    numbered = re.sub(NUMBER, "*", matrix.path)
    shapes = [item.value.shape for item in matrices if re.sub(NUMBER, "*", item.path) == numbered]
    is_a_list = "*" in numbered and len(shapes) > 1 and len(set(shapes)) == 1  # as `heads.0.key` and `heads.1.key`
    return numbered if is_a_list and (role_of(matrix.path) or _are_fused(shapes)) else matrix.path


def _are_fused(shapes):
    """Whether a list of matrices, one a head, has place for queries, keys and values: together three times a token."""
    sizes = shapes[0][:2]
    return len(set(sizes)) == 2 and any(len(shapes) * a == 3 * b for a, b in (sizes, sizes[::-1]))


def _unit_of(group, biases):
    paths = tuple(item.path for item in group)
    own = tuple(_bias_of(path, biases) for path in paths)
    return Unit(role_of(paths[0]), paths, own if all(own) else (), group[0].value.shape, group[0].orientation)


def _fused_by_its_shape(unit, units):
    """A matrix three times as wide as another, where none is named after queries, keys or values, holds all three.

    A layer with `3 * dim` outputs may be called anything.
    """
    if any(other.role in ("Q", "K", "V", "QKV", "KV", "QK") for other in units) or len(unit.shape) < 2:
        return unit
    others = {size for other in units if other is not unit for size in other.shape[:2]} or {min(unit.shape[:2])}
    widths = (*unit.shape[:2], *(len(unit.paths) * size for size in unit.shape[:2]))  # each head may have one
    return replace(unit, role="QKV") if any(3 * size in widths for size in others) else unit


def spare_units(units):
    """Return the units that no role takes: there are more of them than attention has."""
    roles = [unit.role for unit in units if unit.role]
    unnamed = [unit for unit in units if not unit.role]
    places = 4 - sum(len(role) for role in dict.fromkeys(roles))
    return unnamed[max(places, 0) :]


def _bias_of(path, biases):
    """The path of a matrix's bias: `bias` in frameworks' layers, a name like the matrix's in hand-written classes."""
    owner, _, name = path.rpartition(".")
    candidates = [
        f"{owner}.bias" if owner and name in ("weight", "kernel") else "",
        path.replace("weight", "bias"),  # PyTorch's in_proj_weight has in_proj_bias
        path.replace("kernel", "bias"),
        re.sub(r"(^|\.)[wW](_?)([a-zA-Z]+)$", r"\1b\2\3", path),  # W_q, b_q
        re.sub(r"(^|\.)([a-z])_?w$", r"\1\2_b", path),  # q_w, q_b
        "bias" if path == "weight" else "",
        f"{owner}.b" if owner and name in ("w", "W") else "",
    ]
    return next((bias for bias in candidates if bias and bias != path and bias in biases), None)


def assignments(units):
    """Yield ways to say which unit is what, {role: unit}, each with whether names say it.

    Names decide; where they say nothing, the order in which the units stand does, and after it every other order.
    """
    named = {}
    for unit in units:
        if unit.role:
            named.setdefault(unit.role, unit)
    unnamed = [unit for unit in units if not unit.role and not unit.is_residual]
    missing = _roles_missing(named)
    if not unnamed or not missing:
        yield named, True
        return
    if _may_be_fused(unnamed, units, missing):
        yield {"QKV": unnamed[0]} | named, False
    chosen = unnamed[: len(missing)]
    for i, order in enumerate(itertools.permutations(missing, len(chosen))):
        yield named | dict(zip(order, chosen, strict=True)), i == 0


def _roles_missing(named):
    """The roles that no unit is named after, alone or in a fused matrix."""
    fused = next((role for role in ("QKV", "KV") if role in named), "")
    return [role for role in "QKVO" if role not in named and role not in fused]


def _may_be_fused(unnamed, units, missing):
    """Whether the only unnamed matrix, of two at most, may hold queries, keys and values: nothing else can."""
    return len(unnamed) == 1 and len(units) <= 2 and {"Q", "K", "V"} <= set(missing)
