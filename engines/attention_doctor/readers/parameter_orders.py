"""Every way in which a module's parameters can be read as W_Q, W_K, W_V and W_O, the most usual first."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from attention_doctor.readers.parameters import Unit, assignments, order_in

# How the columns of a fused matrix can be laid out: a name, and the axes from the outermost to the innermost.
CUTS = {
    "queries, keys and values one after another": ("part", "head", "feature"),  # most of all
    "queries, keys and values of each head together": ("head", "part", "feature"),  # GPT-NeoX, BLOOM, Persimmon
    "queries, keys and values interleaved": ("head", "feature", "part"),  # tutorials on ViT: "b n (h d qkv)"
    "queries, keys and values one after another, features before heads": ("part", "feature", "head"),
    "features, then queries, keys and values": ("feature", "part", "head"),  # The-AI-Summer/self-attention-cv
    "features, then heads, then queries, keys and values": ("feature", "head", "part"),
}
AXES = ("part", "head", "feature")  # the usual layout; a part is the queries, the keys or the values
HEADS_OUTERMOST = ("head", "part", "feature"), ("head", "feature", "part")
# Layouts that are not an order of those axes: Phi-3 has the first, shared-QK attention (Reformer) the second.
FEWER_KEY_HEADS, SHARED = "fewer heads of keys and values than of queries", "one matrix for queries and keys"
PRODUCT = "one matrix in place of W_Q @ W_K.T"


@dataclass(frozen=True)
class ParameterOrder:
    """One way to read the parameters.

    Parameters
    ----------
    name : str
    usual : bool
        Whether mistakes are looked for when the parameters are read in this way.
    n_heads, n_kv_heads : int
    widths : tuple of int
        The width that the output should have, and the width of the values.
    make : callable
        From {path: value} to {"Q": matrix, ..., "b_Q": bias, ...}, with each head's columns next to one another.
    finding : str
        The slug of the mistake that the module makes if this is the right way, or "".
    """

    name: str
    usual: bool
    n_heads: int
    n_kv_heads: int
    widths: tuple[int, int]
    make: Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]
    finding: str = ""


def parameter_orders(units, values, n_heads, d_model):
    """Yield a ParameterOrder for each way that the parameters' shapes allow with these `n_heads` and `d_model`."""
    second_units = [
        unit for i, unit in enumerate(units) if unit.role and unit.role in [other.role for other in units[:i]]
    ]
    for roles, is_named in assignments(units):
        yield from _of_assignment(roles, is_named, values, n_heads, d_model, second_units)


@dataclass(frozen=True)
class _Storage:
    """How matrices may be stored, where neither their names nor their shapes say it."""

    orientation: str  # of W_Q, W_K and W_V, or of what holds them
    of_output: str  # of W_O
    cut: str  # of a fused matrix
    axes: tuple[str, ...] | str | None
    order: str
    strided: bool  # whether a head has every n-th feature, and not n features in a row
    is_first: bool  # whether orientations and order are the likeliest

    @property
    def is_usual(self):
        """Whether mistakes are looked for in it: a rarer way of storage could explain a mistake away."""
        usual_axes = (None, AXES, *HEADS_OUTERMOST, FEWER_KEY_HEADS, SHARED, PRODUCT)
        return self.is_first and not self.strided and self.axes in usual_axes


def _of_assignment(roles, is_named, values, n_heads, d_model, second_units):
    finding = _finding(roles, values, n_heads, d_model)
    for storage in _storages(roles, n_heads):
        make = _maker(roles, n_heads, d_model, storage, second_units)
        sizes = _sizes(make, values, n_heads)
        if sizes is not None:
            name = _name(storage, roles, is_named)
            yield ParameterOrder(name, is_named and storage.is_usual, n_heads, *sizes, make, finding)


def _storages(roles, n_heads):
    """Yield every way in which matrices with these roles may be stored, the likeliest first."""
    orientations, orders = _orientations(roles), _orders(roles)
    for (orientation, of_output), (cut, axes), order in itertools.product(orientations, _ways_to_cut(roles), orders):
        is_first = (orientation, of_output) == orientations[0] and order == orders[0]
        # Strided heads are what `reshape(..., d_head, n_heads)` makes; a fused matrix has an entry in CUTS for them.
        may_be_strided = n_heads > 1 and (not _is_fused(roles) or axes == ("part", "feature", "head"))
        for strided in (False, True) if may_be_strided else (False,):
            yield _Storage(orientation, of_output, cut, axes, order, strided, is_first)


def _orientations(roles):
    """The orientations to try, of W_Q, W_K and W_V and of W_O: a hand-written class may store either its own way."""
    by_inputs, by_outputs = "inputs by outputs", "outputs by inputs"
    if all(unit.orientation for unit in roles.values()):  # which each unit then knows for itself
        return [(by_inputs, by_inputs)]
    return [(by_inputs, by_inputs), (by_outputs, by_outputs), (by_inputs, by_outputs), (by_outputs, by_inputs)]


def _is_fused(roles):
    return not {"QKV", "KV", "QK"}.isdisjoint(roles)


def _name(storage, roles, is_named):
    """What a report calls it: only what is not as usual is worth a word."""
    parts = [storage.cut] if storage.cut else []
    if _is_fused(roles) and storage.order != _orders(roles)[0]:
        parts.append(f"in the order {', '.join(storage.order)}")
    if (storage.orientation, storage.of_output) != _orientations(roles)[0]:
        which = "matrices" if storage.orientation == storage.of_output else "some matrices"
        parts.append(f"{which} stored transposed")
    if storage.strided:
        parts.append("every n-th feature is a head's")
    if not is_named and not _is_fused(roles):
        listed = ", ".join(f"{role} {unit.paths[0]}" for role, unit in roles.items())
        parts.append(f"parameters taken in this order: {listed}")
    return "; ".join(parts)


def _finding(roles, values, n_heads, d_model):
    """The mistake that shapes alone give away: no projections at all, or matrices as narrow as a head."""
    if set(roles) == {"O"}:
        return "mha-no-projections"
    shapes = {values[unit.paths[0]].shape for role, unit in roles.items() if role != "O" and len(unit.paths) == 1}
    return "mha-split-input" if n_heads > 1 and shapes == {(d_model // n_heads,) * 2} else ""


def _ways_to_cut(roles):
    """Return the layouts that a fused matrix may have: pairs of a name and its axes. No name tells which it is."""
    if not _is_fused(roles):
        return [("", None)]
    further = [FEWER_KEY_HEADS] if "QKV" in roles else [SHARED, PRODUCT] if "QK" in roles else []
    return [*CUTS.items(), *((way, way) for way in further)]


def _orders(roles):
    """The orders in which a fused matrix may hold its parts, that of its name first."""
    if "QKV" in roles:
        first = order_in(roles["QKV"].paths[0])
        return [first, *("".join(o) for o in itertools.permutations("QKV") if "".join(o) != first)]
    if "KV" in roles:
        return ["KV", "VK"]
    return ["QK", "KQ"] if "QK" in roles else [""]


def _maker(roles, n_heads, d_model, storage, second_units):
    """Return the function from the parameters' values to the matrices of the equation."""

    def make(values):
        matrices = {}
        applied_after = [(unit.role, _second_layer(unit, values, n_heads)) for unit in second_units]
        for role, unit in roles.items():
            stored = unit.orientation or (storage.of_output if role == "O" else storage.orientation)
            matrix = _flat(unit, values, role, stored, n_heads, d_model)
            bias = unit.bias(values)
            if role in ("QKV", "KV", "QK"):
                cut = _cut(matrix, bias, storage, n_heads, d_model // n_heads)
                for letter, pair in _pairs(cut).items():
                    _set_or_compose(matrices, letter, *pair)
                continue
            if storage.strided:
                matrix, bias = _unstrided(matrix, bias, role, n_heads)
            # A small matrix that every head uses on its own slice, as in aladdinpersson/Machine-Learning-Collection.
            if role != "O" and n_heads > 1 and matrix.shape == (d_model // n_heads,) * 2:
                matrix, bias = np.kron(np.eye(n_heads, dtype=matrix.dtype), matrix), _tiled(bias, n_heads)
            _set_or_compose(matrices, role, matrix, bias)
        if set(roles) == {"O"}:  # the vectors themselves are queries, keys and values
            matrices |= dict.fromkeys("QKV", np.eye(d_model, dtype=matrices["O"].dtype))
        for role, (matrix, bias) in applied_after:
            _set_or_compose(matrices, role, matrix, bias)
        return matrices

    return make


def _tiled(bias, n):
    return None if bias is None else np.tile(bias, n)


def _set_or_compose(matrices, role, matrix, bias):
    """Set a role's matrix and bias. If it has one already, set the product: two linear layers in a row are one.

    tatp22/linformer-pytorch has two: a layer for all heads, and then one for each.
    """
    if role in matrices:
        before = matrices.get(f"b_{role}")
        if before is not None:
            bias = before @ matrix + (0 if bias is None else bias)
        matrix = matrices[role] @ matrix
    matrices[role] = matrix
    if bias is not None:
        matrices[f"b_{role}"] = bias


def _pairs(matrices):
    return {letter: (matrices[letter], matrices.get(f"b_{letter}")) for letter in matrices if len(letter) == 1}


def _second_layer(unit, values, n_heads):
    """Return the matrix and bias of a second layer, which may have one small matrix for each head's features."""
    orientation = unit.orientation or "inputs by outputs"
    turned = [values[path].T if orientation == "outputs by inputs" else values[path] for path in unit.paths]
    if len(turned) == 1:
        return turned[0], unit.bias(values)
    if len(turned) != n_heads:
        raise ValueError("its matrices are not one per head")
    height, width = turned[0].shape
    whole = np.zeros((n_heads * height, n_heads * width))
    for i, matrix in enumerate(turned):
        whole[i * height : (i + 1) * height, i * width : (i + 1) * width] = matrix
    return whole, unit.bias(values)


def _flat(unit: Unit, values, role, orientation, n_heads, d_model):
    """Return the unit's matrix with two axes, and the heads side by side."""
    value = values[unit.paths[0]]
    if value.ndim == 3 and min(value.shape) > 1 and len(unit.paths) == 1:
        return _from_three_axes(value, role, n_heads, d_model, orientation)
    return unit.matrix(values, orientation)


def _from_three_axes(value, role, n_heads, d_model, orientation):
    """Return the matrix of an array whose axes are heads, d_model and d_head: told apart by size, then by position.

    Flax and Keras have (d_model, heads, d_head), TransformerLens (heads, d_model, d_head).
    """
    heads = _axes_of_heads(value.shape, role, n_heads)
    model = [i for i, size in enumerate(value.shape) if size == d_model]
    pairs = [(h, m) for h in heads for m in model if h != m]
    if not pairs:
        raise ValueError("its axes are not heads and features")
    # Where sizes leave a choice: usually heads come first, and input features before output features.
    h, m = pairs[-1] if orientation == "outputs by inputs" else pairs[0]
    d = ({0, 1, 2} - {h, m}).pop()
    if role == "O":
        return value.transpose(h, d, m).reshape(-1, value.shape[m])
    return value.transpose(m, h, d).reshape(value.shape[m], -1)


def _axes_of_heads(shape, role, n_heads):
    axes = [i for i, size in enumerate(shape) if size == n_heads]
    if axes or role not in ("K", "V"):
        return axes
    return [i for i, size in enumerate(shape) if n_heads % size == 0]  # keys and values may have fewer heads


def _cut(matrix, bias, storage, n_heads, d_head):
    """Cut a fused matrix into {"Q": matrix, ..., "b_Q": bias, ...}, its parts in this order, as the axes say."""
    order, axes = storage.order, storage.axes
    if axes == FEWER_KEY_HEADS:
        return _grouped(matrix, bias, order, n_heads, d_head)
    if axes == SHARED:
        biases = {} if bias is None else {f"b_{letter}": bias for letter in order}
        return dict.fromkeys(order, matrix) | biases
    if axes == PRODUCT:
        return _product(matrix, bias, order, n_heads)
    if axes == AXES and matrix.shape[1] % len(order) == 0:  # cut straight through: any number of key heads will do
        return _split(matrix, bias, order, len(order))
    return _by_axes(matrix, bias, order, axes, n_heads)


def _split(matrix, bias, order, places):
    """Cut the columns at these places, or into this number of equal parts."""
    matrices = dict(zip(order, np.split(matrix, places, axis=1), strict=True))
    if bias is not None:
        matrices |= {f"b_{letter}": part for letter, part in zip(order, np.split(bias, places), strict=True)}
    return matrices


def _product(matrix, bias, order, n_heads):
    """Of the product W_Q @ W_K.T: the tokens themselves are the keys."""
    width = matrix.shape[1]
    if n_heads > 1 or width != len(matrix):
        raise ValueError("it cannot be the product W_Q @ W_K.T of a single head")
    biases = {} if bias is None else {f"b_{order[0]}": bias}
    return {order[0]: matrix, order[1]: np.eye(width)} | biases


def _by_axes(matrix, bias, order, axes, n_heads):
    """Of columns that are counted by part, head and feature, in another order than the usual."""
    parts, width = len(order), matrix.shape[1]
    sizes = {"part": parts, "head": n_heads, "feature": width // (parts * n_heads)}
    if sizes["feature"] * parts * n_heads != width:
        raise ValueError("its columns cannot be cut in this way")

    def by_part(array):
        shaped = array.reshape(len(array), *(sizes[axis] for axis in axes))
        shaped = shaped.transpose(0, *(1 + axes.index(axis) for axis in AXES)).reshape(len(array), parts, -1)
        return dict(zip(order, shaped.swapaxes(0, 1), strict=True))

    matrices = by_part(matrix)
    if bias is not None:
        matrices |= {f"b_{letter}": part[0] for letter, part in by_part(bias[None]).items()}
    return matrices


def _grouped(matrix, bias, order, n_heads, d_head):
    """Cut a fused matrix whose keys and values have fewer heads than its queries: all of one, then all of the next."""
    kv_width, rest = divmod(matrix.shape[1] - n_heads * d_head, 2)
    if rest or not 0 < kv_width < n_heads * d_head:
        raise ValueError("its columns cannot be cut in this way")
    widths = {"Q": n_heads * d_head, "K": kv_width, "V": kv_width}
    return _split(matrix, bias, order, np.cumsum([widths[letter] for letter in order])[:-1])


def _unstrided(matrix, bias, role, n_heads):
    """Return them with each head's features next to one another, where head i had features i, i + n_heads and so on."""
    if role == "O":
        return matrix.reshape(-1, n_heads, matrix.shape[1]).swapaxes(0, 1).reshape(matrix.shape), bias
    turned = matrix.reshape(len(matrix), -1, n_heads).swapaxes(1, 2).reshape(matrix.shape)
    return turned, None if bias is None else bias.reshape(-1, n_heads).T.reshape(-1)


def _sizes(make, values, n_heads):
    """Return n_kv_heads and `ParameterOrder.widths`, or None if matrices of these shapes cannot be attention's."""
    try:
        # Only shapes matter here, so the smallest dtype will do, and is the fastest.
        matrices = make({path: np.broadcast_to(np.int8(0), value.shape) for path, value in values.items()})
    except (ValueError, IndexError, KeyError):
        return None
    widths = {letter: matrices[letter].shape[1] for letter in "QKV" if letter in matrices}
    n_kv_heads = _kv_heads(widths, n_heads)
    if not n_kv_heads:
        return None
    width = widths["V"] // n_kv_heads * n_heads  # of all heads side by side
    if "O" in matrices:
        if len(matrices["O"]) != width:
            return None
        widths["O"] = matrices["O"].shape[1]
    biases = {letter: matrices[f"b_{letter}"] for letter in widths if f"b_{letter}" in matrices}
    if any(bias.shape != (widths[letter],) for letter, bias in biases.items()):
        return None
    return n_kv_heads, (widths.get("O", width), widths["V"])


def _kv_heads(widths, n_heads):
    """How many heads keys and values have, by the widths of the matrices; 0 where these cannot be attention's."""
    if "V" not in widths or ("Q" in widths) != ("K" in widths):
        return 0
    if "Q" not in widths:
        return n_heads
    if widths["Q"] % n_heads or widths["K"] % (widths["Q"] // n_heads):
        return 0
    n_kv_heads = widths["K"] // (widths["Q"] // n_heads)
    return 0 if n_kv_heads == 0 or n_heads % n_kv_heads or widths["V"] % n_kv_heads else n_kv_heads
