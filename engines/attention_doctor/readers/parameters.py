"""From a module's parameters to the matrices of the equation, in every layout that its shapes allow."""

import itertools
import re
from dataclasses import dataclass, replace

import numpy as np

ROLE_PATTERNS = (
    ("QKV", r"qkv|kqv|qvk|vqk|vkq|kvq|querykeyvalue|cattn|inproj|wpack|attnin|qkvproj"),
    ("KV", r"^(to|w|proj|c|x|fc|linear|lin|cast)?(kv|vk|keys?values?)(proj|linear|lin|layer|w)?s?$"),
    ("QK", r"^(to|w|proj)?(qw?k)(proj|linear)?$"),
)
BEFORE = (
    r"(to|w|fc|cast|proj|projection|linear|lin|in|weight|weights|kernel|matrix|dense|"
    r"conv|c|m|u|t|p|mat|input|self|attn|att|embeddings?|tokens?)*"
)
AFTER = (
    r"(proj|projection|projections|projector|l|lin|linear|linears|layer|layers|transform|weight|weights|w|dense|kernel|net|"
    r"matrix|matrices|conv|fc|s|mlp|embed|map|mat|param|einsum|in)*"
)
RESIDUAL = re.compile(r"(^|[._])(w_?)?(res|residual|skip|shortcut)(_?(proj|fc|linear|w))?(\.|$)", re.I)
MANGLED = re.compile(r"^_[A-Za-z]\w*?__")  # what Python puts before a private name
NUMBER = re.compile(r"(?<=\.)\d+(?=\.|$)|^\d+(?=\.)")  # in a path
SINGLE = {
    "Q": "(q|query|queries|theta)",
    "K": "(k|key|keys|phi)",
    "V": "(v|value|values)",
}
OUTPUT = re.compile(
    r"^(w|to|c|fc|cast|lin|linear|p|proj|weight|dense|attn|att|final|last|multi|mha|head|heads|b)*"
    r"(o|out|output|outputs|proj|projection|unify|unifyheads|dense|fc|final|concat|merge|mix|last|linear|combine|o1|headout|outmap|ff|cproj)"
    r"(proj|projection|linear|lin|layer|weight|weights|dense|kernel|w|map|heads|transform|fc|mat|matrix|param|einsum|net)*$"
)


def role_of(path):
    """Return "Q", "K", "V", "O", a fusion of these, or "" for a parameter's path."""
    parts = [MANGLED.sub("", part) for part in path.split(".")]
    parts = [re.sub(r"[^a-z0-9]", "", part.lower()) for part in parts]
    parts = [part for part in parts if part and not part.isdigit()]
    while parts and parts[-1] in (
        "weight",
        "kernel",
        "bias",
        "w",
        "b",
        "linear",
        "lin",
        "conv",
        "value0",
        "net",
        "lora",
    ):
        parts.pop()
    for part in reversed(parts[-2:]):
        part = re.sub(r"(weight|bias|kernel)$", "", part) or part
        for role, pattern in ROLE_PATTERNS:
            if re.search(pattern, part):
                return role
        for role, names in SINGLE.items():
            if re.match(f"^{BEFORE}{names}{AFTER}[0-9]*$", part) or re.match(f"^b{names}$", part):
                return role
        if OUTPUT.match(part):
            return "O"
    return ""


def order_in(path):
    """The order of queries, keys and values that a fused parameter's name gives."""
    found = re.search(r"[qkv]{3}", path.lower().replace("_", ""))
    return found[0].upper() if found and set(found[0]) == set("qkv") else "QKV"


@dataclass(frozen=True)
class Unit:
    """A matrix with its bias, or a list of such, one a head."""

    role: str
    paths: tuple  # of its matrices: one, or one a head
    biases: tuple
    shape: tuple  # of one matrix
    orientation: str

    @property
    def is_residual(self):
        """Whether its name says that it leads around attention: none of the four is called so."""
        return bool(RESIDUAL.search(self.paths[0]))

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


def units_of(found):
    """Group parameters into matrices with their biases, heads' lists together."""
    matrices = [match for match in found if match.kind == "matrix"]
    biases = {match.path: match for match in found if match.kind == "bias"}
    groups = {}
    roles = {}
    for matrix in matrices:
        roles[matrix.path] = role_of(matrix.path)
        numbered = re.sub(NUMBER, "*", matrix.path)
        key = (
            numbered
            if roles[matrix.path] and "*" in numbered and _is_a_list(matrix, matrices, numbered)
            else matrix.path
        )
        groups.setdefault(key, []).append(matrix)
    units = []
    for group in groups.values():
        names = [item.path for item in group]
        own = [_bias_of(item, biases) for item in group]
        units.append(
            Unit(
                roles[names[0]],
                tuple(names),
                tuple(bias for bias in own if bias) if all(own) else (),
                group[0].value.shape,
                group[0].orientation,
            )
        )
    return [_fused_by_its_shape(unit, units) for unit in units]


def _fused_by_its_shape(unit, units):
    """A matrix three times as wide as another, where none is named after queries, keys or values, holds all three."""
    if any(other.role in ("Q", "K", "V", "QKV", "KV", "QK") for other in units) or len(unit.shape) < 2:
        return unit
    others = {size for other in units if other is not unit for size in other.shape[:2]} or {min(unit.shape[:2])}
    return replace(unit, role="QKV") if any(3 * size in unit.shape[:2] for size in others) else unit


def spare_units(units):
    """The units that no role takes: there are more of them than attention has."""
    roles = [unit.role for unit in units if unit.role]
    unnamed = [unit for unit in units if not unit.role]
    places = 4 - sum(len(role) for role in dict.fromkeys(roles))
    return unnamed[max(places, 0) :]


def _is_a_list(one, matrices, numbered):
    """Whether it is one of several of the same shape that differ in a number: a head of a list."""
    same = [m for m in matrices if re.sub(NUMBER, "*", m.path) == numbered]
    return len(same) > 1 and len({m.value.shape for m in same}) == 1


def _bias_of(one, biases):
    path = one.path
    owner, _, name = path.rpartition(".")
    candidates = [
        f"{owner}.bias" if owner and name in ("weight", "kernel") else "",
        path.replace("weight", "bias"), path.replace("kernel", "bias"),
        re.sub(r"(^|\.)[wW](_?)([a-zA-Z]+)$", r"\1b\2\3", path), re.sub(r"(^|\.)([a-z])_?w$", r"\1\2_b", path),
        "bias" if path == "weight" else "", f"{owner}.b" if owner and name in ("w", "W") else "",
    ]  # fmt: skip
    return next((bias for bias in candidates if bias and bias != path and bias in biases), None)


def assignments(units):
    """Ways to say which unit is what: {role: unit}, and whether names say it.

    Names decide; where they say nothing, the order in which the units stand does, and after it every other order.
    """
    named = {}
    for unit in units:
        if unit.role and unit.role not in named:
            named[unit.role] = unit
    unnamed = [unit for unit in units if not unit.role and not unit.is_residual]
    if "QKV" in named:
        missing = ["O"] if "O" not in named else []
    elif "KV" in named:
        missing = [role for role in ("Q", "O") if role not in named]
    else:
        missing = [role for role in "QKVO" if role not in named]
    if not unnamed or not missing:
        yield named, True
        return
    if len(unnamed) == 1 and len(units) <= 2 and "QKV" not in named and {"Q", "K", "V"} <= set(missing):
        yield {"QKV": unnamed[0]} | named, False
    chosen = unnamed[: len(missing)]
    for i, order in enumerate(itertools.permutations(missing, min(len(chosen), len(missing)))):
        if i > 24:
            return
        yield named | dict(zip(order, chosen, strict=False)), i == 0
