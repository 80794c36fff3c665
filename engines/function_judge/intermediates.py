"""The numbers that a right function has on its way, read from its own source: every part of every expression."""

import ast
import itertools
import warnings

import numpy as np

from function_judge.known_numbers import Known

MOST = 60  # different arrays
MOST_ENTRIES = 20_000


class _Recorded(ast.NodeTransformer):
    """Each expression hands on its value, and leaves it behind."""

    def visit(self, node):
        if isinstance(node, ast.FunctionDef):
            node.body = [self.visit(item) for item in node.body]
            return node
        if isinstance(node, ast.JoinedStr):
            return node
        if isinstance(node, ast.Attribute) and node.attr in ("empty", "empty_like"):
            node.attr = node.attr.replace("empty", "zeros")  # what it holds must not depend on what ran before
        said = ast.unparse(node) if isinstance(node, ast.expr) else ""
        node = self.generic_visit(node)
        is_value = isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        is_index = isinstance(node, ast.Tuple) and any(
            isinstance(element, (ast.Slice, ast.Starred)) for element in node.elts
        )
        if not is_value or is_index or isinstance(node, (ast.Slice, ast.Starred, ast.Constant, ast.GeneratorExp)):
            return node
        left = ast.Call(ast.Name("_left", ast.Load()), [ast.Constant(said), node], [])
        return ast.copy_location(left, node)


def numbers_inside(
    source: str, namespace: dict, arguments: dict, options: dict, outputs: tuple[str, ...]
) -> list[Known]:
    r"""Return the arrays that a right function makes, each in the layout that it has there.

    Parameters
    ----------
    source : str
        A function's.
    namespace : dict
        What it uses.
    arguments, options : dict
    outputs : tuple of str
        The names of what it returns.

    Returns
    -------
    list of Known
        Empty where it can't be run.

    Examples
    --------
    >>> source = "def halved(row):\n    half = row / 2\n    return half - half.mean()"
    >>> found = numbers_inside(source, {}, {"row": np.array([1.0, 2.0, 4.0, 9.0])}, {}, ("centred",))
    >>> [(one.name, one.rank) for one in found]
    [('centred', 2), ('row', 1), ('half', 1), ('half.mean()', 0)]
    """
    tree = ast.parse(source)
    [name] = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    found = []

    def left(said, value):
        for part in value if isinstance(value, tuple) else (value,):
            is_array = isinstance(part, np.ndarray) and part.ndim and 0 < part.size <= MOST_ENTRIES
            if (is_array and part.dtype.kind in "fbiu") or isinstance(part, (float, np.floating)):
                found.append((said, np.array(part)))
        return value

    tree = ast.fix_missing_locations(_Recorded().visit(tree))
    namespace = namespace | {"_left": left, "np": np}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            exec(compile(tree, "<inside>", "exec"), namespace)
            returned = namespace[name](*arguments.values(), **options)
    except Exception:
        return []
    parts = returned if len(outputs) > 1 else (returned,)
    named = [
        (output, np.asarray(item), 2) for output, part in zip(outputs, parts, strict=True) for item in _arrays_in(part)
    ]
    given = {**arguments, **options}
    named += [(name, np.asarray(item), 1) for name, value in given.items() for item in _arrays_in(value)]
    named += [
        (said, array, 1 if said in stored else 0)
        for said, array in sorted(found, key=lambda match: match[0] not in stored)
    ]
    kept: list[Known] = []
    for said, array, rank in named:
        if not any(_same(array, item.array) for item in kept):
            while any(item.name == said for item in kept):
                said += "'"
            kept.append(Known(said, array, tuple(f"a{i}" for i in range(array.ndim)), rank=rank, exact=True))
    return sorted(kept[:MOST], key=lambda item: -item.rank)


def _arrays_in(value):
    if isinstance(value, (tuple, list)):
        return list(itertools.chain.from_iterable(map(_arrays_in, value)))
    return [value] if isinstance(value, np.ndarray) else []


def _same(array, other):
    return array.shape == other.shape and array.dtype.kind == other.dtype.kind and np.array_equal(array, other, True)
