"""The numbers that a right function has on its way, read from its own source: every part of every expression."""

import ast
import itertools
import warnings

import numpy as np

from function_judge.known_numbers import Known

MAX_KNOWN = 60  # different arrays
MAX_ENTRIES = 20_000
RECORD = "_record"  # the name under which the changed source finds the function that takes a value down


class _Recorded(ast.NodeTransformer):
    """Makes each expression hand its value to `_record`, with its own text."""

    def visit(self, node):
        if isinstance(node, ast.FunctionDef):
            node.body = [self.visit(item) for item in node.body]
            return node
        if isinstance(node, ast.JoinedStr):
            return node
        if isinstance(node, ast.Attribute) and node.attr in ("empty", "empty_like"):
            node.attr = node.attr.replace("empty", "zeros")  # what it holds must not depend on what ran before
        text = ast.unparse(node) if isinstance(node, ast.expr) else ""
        node = self.generic_visit(node)
        if not _has_a_value(node):
            return node
        call = ast.Call(ast.Name(RECORD, ast.Load()), [ast.Constant(text), node], [])
        return ast.copy_location(call, node)


def _has_a_value(node):
    """Whether a node is an expression whose value is worth recording, and stands where a call may stand."""
    if not isinstance(node, ast.expr) or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return False
    if isinstance(node, ast.Tuple) and any(isinstance(part, (ast.Slice, ast.Starred)) for part in node.elts):
        return False  # an index
    return not isinstance(node, (ast.Slice, ast.Starred, ast.Constant, ast.GeneratorExp))


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
    >>> [(stage.name, stage.rank) for stage in found]
    [('centred', 2), ('row', 1), ('half', 1), ('half.mean()', 0)]
    """
    tree = ast.parse(source)
    [name] = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    variables = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    recorded: list[tuple[str, np.ndarray]] = []

    def record(text, value):
        recorded.extend((text, np.array(part)) for part in _parts_of(value) if _is_worth_knowing(part))
        return value

    tree = ast.fix_missing_locations(_Recorded().visit(tree))
    namespace = namespace | {RECORD: record, "np": np}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            exec(compile(tree, "<inside>", "exec"), namespace)
            returned = namespace[name](*arguments.values(), **options)
    except Exception:
        return []
    returned_by_name = dict(zip(outputs, returned if len(outputs) > 1 else (returned,), strict=True))
    on_the_way = [(text, array, 1 if text in variables else 0) for text, array in recorded]
    found = [
        *_ranked(returned_by_name, 2),
        *_ranked(arguments | options, 1),
        *sorted(on_the_way, key=lambda match: -match[2]),
    ]
    return sorted(_different(found)[:MAX_KNOWN], key=lambda stage: -stage.rank)


def _parts_of(value):
    return value if isinstance(value, tuple) else (value,)


def _is_worth_knowing(part):
    if isinstance(part, (float, np.floating)):
        return True
    return isinstance(part, np.ndarray) and part.ndim and 0 < part.size <= MAX_ENTRIES and part.dtype.kind in "fbiu"


def _ranked(values, rank):
    """Return name, array and rank of each array in some values."""
    return [(name, np.asarray(item), rank) for name, value in values.items() for item in _arrays_in(value)]


def _different(found):
    """Return the stages of which no earlier one has the same numbers; marks tell those of one name apart."""
    kept: list[Known] = []
    for name, array, rank in found:
        if not any(_same(array, stage.array) for stage in kept):
            names = {stage.name for stage in kept}
            while name in names:
                name += "'"
            kept.append(Known(name, array, tuple(f"a{i}" for i in range(array.ndim)), rank=rank, exact=True))
    return kept


def _arrays_in(value):
    if isinstance(value, (tuple, list)):
        return list(itertools.chain.from_iterable(map(_arrays_in, value)))
    return [value] if isinstance(value, np.ndarray) else []


def _same(array, other):
    return array.shape == other.shape and array.dtype.kind == other.dtype.kind and np.array_equal(array, other, True)
