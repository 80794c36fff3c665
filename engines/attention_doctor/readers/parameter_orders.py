"""Every way in which a module's parameters can be read as W_Q, W_K, W_V and W_O, the most usual first."""

import itertools
from dataclasses import dataclass

import numpy as np

from attention_doctor.readers.parameters import Unit, assignments, order_in

THREE = {  # how a fused matrix's columns are cut: the axes from the outermost to the innermost
    "queries, keys and values one after another": ("part", "head", "feature"),
    "queries, keys and values of each head together": ("head", "part", "feature"),
    "queries, keys and values interleaved": ("head", "feature", "part"),
    "queries, keys and values one after another, features before heads": ("part", "feature", "head"),
    "features, then queries, keys and values": ("feature", "part", "head"),
    "features, then heads, then queries, keys and values": ("feature", "head", "part"),
}
AXES = ("part", "head", "feature")
EACH_HEADS = ("head", "part", "feature"), ("head", "feature", "part")
# Ways to cut that no order of the axes says.
FEWER_KEY_HEADS, SHARED = "fewer heads of keys and values than of queries", "one matrix for queries and keys"
PRODUCT = "one matrix in place of W_Q @ W_K.T"


@dataclass(frozen=True)
class ParameterOrder:
    """One way.

    Parameters
    ----------
    name : str
    usual : bool
        Whether mistakes are looked for in it.
    n_heads, n_kv_heads : int
    widths : tuple of int
        Of the output, as it should be, and of the values.
    make : callable
        From {path: value} to {"Q": matrix, ..., "b_Q": bias, ...}, head i's columns side by side.
    finding : str
        What is found where this reading is the right one.
    """

    name: str
    usual: bool
    n_heads: int
    n_kv_heads: int
    widths: tuple
    make: object
    finding: str = ""


def parameter_orders(units, values, n_heads, d_model):
    """Yield a ParameterOrder for each way; `n_heads` and `d_model` are given, what shapes contradict is left out."""
    seconds = [unit for i, unit in enumerate(units) if unit.role and unit.role in [other.role for other in units[:i]]]
    for roles, named in assignments(units):
        yield from _of_assignment(roles, named, values, n_heads, d_model, seconds)


def _of_assignment(roles, named, values, n_heads, d_model, seconds):
    raw = any(not unit.orientation for unit in roles.values())
    turns = [("inputs by outputs", "inputs by outputs"), ("outputs by inputs", "outputs by inputs"),
             ("inputs by outputs", "outputs by inputs"), ("outputs by inputs", "inputs by outputs")]  # fmt: skip
    for i, (turn, turn_out) in enumerate(turns if raw else turns[:1]):
        fused = roles.get("QKV") or roles.get("KV") or roles.get("QK")
        for cut_name, axes in _ways_to_cut(roles):
            orders = _orders(roles)
            for j, order in enumerate(orders):
                may_be_strided = n_heads > 1 and (not fused or axes == ("part", "feature", "head"))
                for strided in (False, True) if may_be_strided else (False,):
                    make = _maker(roles, n_heads, d_model, turn, turn_out, axes, order, strided, seconds)
                    sizes = _sizes(make, values, n_heads)
                    if sizes is None:
                        continue
                    words = [cut_name] if cut_name else []
                    if fused and order != orders[0]:
                        words.append(f"in the order {', '.join(order)}")
                    if raw and i:
                        words.append(
                            "matrices stored transposed" if turn == turn_out else "some matrices stored transposed"
                        )
                    if strided:
                        words.append("every n-th feature is a head's")
                    if not named and not fused:
                        words.append(
                            "parameters taken in this order: "
                            + ", ".join(f"{role} {unit.paths[0]}" for role, unit in roles.items())
                        )
                    plain = (
                        named
                        and j == 0
                        and i == 0
                        and not strided
                        and axes in (None, AXES, *EACH_HEADS, FEWER_KEY_HEADS, SHARED, PRODUCT)
                    )
                    finding = _finding(roles, values, n_heads, d_model)
                    yield ParameterOrder("; ".join(words), plain, n_heads, *sizes, make, finding)


def _finding(roles, values, n_heads, d_model):
    if set(roles) == {"O"}:
        return "mha-no-projections"
    widths = {values[unit.paths[0]].shape for role, unit in roles.items() if role != "O" and len(unit.paths) == 1}
    return "mha-split-input" if n_heads > 1 and widths == {(d_model // n_heads,) * 2} else ""


def _ways_to_cut(roles):
    """How a fused matrix may be cut into its parts: (words, axes)."""
    if not {"QKV", "KV", "QK"} & set(roles):
        return [("", None)]
    further = [FEWER_KEY_HEADS] if "QKV" in roles else [SHARED, PRODUCT] if "QK" in roles else []
    return [*THREE.items(), *((way, way) for way in further)]


def _orders(roles):
    if "QKV" in roles:
        first = order_in(roles["QKV"].paths[0])
        return [first, *("".join(o) for o in itertools.permutations("QKV") if "".join(o) != first)]
    if "KV" in roles:
        return ["KV", "VK"]
    return ["QK", "KQ"] if "QK" in roles else [""]


def _maker(roles, n_heads, d_model, turn, turn_out, axes, order, strided, seconds=()):
    def make(values):
        matrices = {}
        further = [(unit.role, _each(unit, values, n_heads)) for unit in seconds]
        for role, unit in roles.items():
            orientation = unit.orientation or (turn_out if role == "O" else turn)
            matrix = _flat(unit, values, role, orientation, n_heads, d_model)
            bias = unit.bias(values)
            if role in ("QKV", "KV", "QK"):
                for letter, pair in _pairs(_cut(matrix, bias, order, axes, n_heads, d_model // n_heads)).items():
                    _follow(matrices, letter, *pair)
                continue
            if strided:
                matrix, bias = _unstrided(matrix, bias, role, n_heads)
            if role != "O" and n_heads > 1 and matrix.shape == (d_model // n_heads,) * 2:  # every head's, on its slice
                matrix, bias = np.kron(np.eye(n_heads, dtype=matrix.dtype), matrix), _tiled(bias, n_heads)
            _follow(matrices, role, matrix, bias)
        if set(roles) == {"O"}:  # the vectors themselves are queries, keys and values
            matrices |= dict.fromkeys("QKV", np.eye(d_model, dtype=matrices["O"].dtype))
        for role, (matrix, bias) in further:
            _follow(matrices, role, matrix, bias)
        return matrices

    return make


def _tiled(bias, n):
    return None if bias is None else np.tile(bias, n)


def _follow(matrices, role, matrix, bias):
    """Set a matrix, or apply it after the one that is there: two linear layers are one."""
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


def _each(unit, values, n_heads):
    """A second matrix: whole, or one for each head on its own features."""
    orientation = unit.orientation or "inputs by outputs"
    turned = [values[path].T if orientation == "outputs by inputs" else values[path] for path in unit.paths]
    if len(turned) == 1:
        return turned[0], unit.bias(values)
    if len(turned) != n_heads:
        raise ValueError("it is not one a head")
    height, width = turned[0].shape
    whole = np.zeros((n_heads * height, n_heads * width))
    for i, matrix in enumerate(turned):
        whole[i * height : (i + 1) * height, i * width : (i + 1) * width] = matrix
    return whole, unit.bias(values)


def _flat(unit: Unit, values, role, orientation, n_heads, d_model):
    """The unit's matrix with two axes, heads side by side."""
    value = values[unit.paths[0]]
    if value.ndim == 3 and min(value.shape) > 1 and len(unit.paths) == 1:
        return _from_three_axes(value, role, n_heads, d_model, orientation)
    return unit.matrix(values, orientation)


def _from_three_axes(value, role, n_heads, d_model, orientation):
    """(heads, d_model, d_head) in any order of its axes; the order given first by sizes, then by position."""
    heads = [i for i, size in enumerate(value.shape) if size == n_heads]
    if not heads and role in ("K", "V"):  # fewer of them than of queries
        heads = [i for i, size in enumerate(value.shape) if n_heads % size == 0]
    model = [i for i, size in enumerate(value.shape) if size == d_model]
    pairs = [(h, m) for h in heads for m in model if h != m]
    if not pairs:
        raise ValueError("its axes are not heads and features")
    # Usual are the heads first, and the features that go in before those that come out.
    h, m = pairs[-1] if orientation == "outputs by inputs" else pairs[0]
    d = ({0, 1, 2} - {h, m}).pop()
    if role == "O":
        return value.transpose(h, d, m).reshape(-1, value.shape[m])
    return value.transpose(m, h, d).reshape(value.shape[m], -1)


def _cut(matrix, bias, order, axes, n_heads, d_head=0):
    parts = len(order)
    width = matrix.shape[1]
    if axes == FEWER_KEY_HEADS:
        return _grouped(matrix, bias, order, n_heads, d_head)
    if axes == SHARED:
        biases = {} if bias is None else {f"b_{letter}": bias for letter in order}
        return dict.fromkeys(order, matrix) | biases
    if axes == PRODUCT:
        if n_heads > 1 or width != len(matrix):
            raise ValueError("it is no product of two heads' matrices")
        biases = {} if bias is None else {f"b_{order[0]}": bias}
        return {order[0]: matrix, order[1]: np.eye(width)} | biases
    if axes == AXES and width % parts == 0:  # cut straight through: keys and values may have fewer heads
        matrices = dict(zip(order, np.split(matrix, parts, axis=1), strict=True))
        if bias is not None:
            matrices |= {f"b_{letter}": part for letter, part in zip(order, np.split(bias, parts), strict=True)}
        return matrices
    sizes = {"part": parts, "head": n_heads, "feature": width // (parts * n_heads)}
    if sizes["feature"] * parts * n_heads != width:
        raise ValueError("it cannot be cut so")
    matrices = {}
    for name, array in (("", matrix), ("b_", bias)):
        if array is None:
            continue
        array = np.atleast_2d(array)
        shaped = array.reshape(len(array), *(sizes[axis] for axis in axes))
        shaped = shaped.transpose(0, *(1 + axes.index(axis) for axis in AXES)).reshape(len(array), parts, -1)
        for i, letter in enumerate(order):
            matrices[f"{name}{letter}"] = shaped[:, i] if not name else shaped[0, i]
    return matrices


def _grouped(matrix, bias, order, n_heads, d_head):
    """Fewer heads of keys and values than of queries, one after another."""
    kv_width, rest = divmod(matrix.shape[1] - n_heads * d_head, 2)
    if rest or not 0 < kv_width < n_heads * d_head:
        raise ValueError("it cannot be cut so")
    widths = {"Q": n_heads * d_head, "K": kv_width, "V": kv_width}
    places = np.cumsum([widths[letter] for letter in order])[:-1]
    matrices = dict(zip(order, np.split(matrix, places, axis=1), strict=True))
    if bias is not None:
        matrices |= {f"b_{letter}": part for letter, part in zip(order, np.split(bias, places), strict=True)}
    return matrices


def _unstrided(matrix, bias, role, n_heads):
    if role == "O":
        return matrix.reshape(-1, n_heads, matrix.shape[1]).swapaxes(0, 1).reshape(matrix.shape), bias
    turned = matrix.reshape(len(matrix), -1, n_heads).swapaxes(1, 2).reshape(matrix.shape)
    return turned, None if bias is None else bias.reshape(-1, n_heads).T.reshape(-1)


def _sizes(make, values, n_heads):
    """The number of key heads, and the widths of output and values, if shapes are those of attention; else None."""
    try:
        # Only shapes count here: the smallest type of numbers is the fastest.
        matrices = make({path: np.broadcast_to(np.int8(0), value.shape) for path, value in values.items()})
    except (ValueError, IndexError, KeyError):
        return None
    widths = {letter: matrices[letter].shape[1] for letter in "QKV" if letter in matrices}
    if "V" not in widths or len(widths) == 2:
        return None
    if "Q" in widths:
        if widths["Q"] % n_heads or widths["K"] % (widths["Q"] // n_heads):
            return None
        kv = widths["K"] // (widths["Q"] // n_heads)
        if kv == 0 or n_heads % kv or widths["V"] % kv:
            return None
    else:
        kv = n_heads
    width = widths["V"] // kv * n_heads
    if "O" in matrices and matrices["O"].shape[0] != width:
        return None
    for letter in "QKVO":
        bias = matrices.get(f"b_{letter}")
        if bias is not None and bias.shape != (matrices[letter].shape[1],):
            return None
    return kv, (matrices["O"].shape[1] if "O" in matrices else width, widths["V"])
