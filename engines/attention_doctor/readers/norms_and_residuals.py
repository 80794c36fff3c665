"""What modules add around attention by design: the input, a layer norm before or after, norms of queries and keys."""

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from attention_doctor import vocabulary
from attention_doctor.equation.stages import RIGHT, DoesNotFitError, Form, right_project, scaled_by

MAX_PAIRS = 6  # of norms that may be the queries' and the keys'
USUAL_EPSILON = 1e-5  # where a norm doesn't tell its own: any is too small to matter


@dataclass(frozen=True)
class Norm:
    """A layer norm or an RMS norm with the numbers that it has learnt; `function` is its module, if it runs alone."""

    path: str
    weight: np.ndarray
    bias: np.ndarray | float
    epsilon: float
    is_rms: bool
    function: Callable[[np.ndarray], np.ndarray] | None = None

    @property
    def width(self):
        return self.weight.shape[-1]

    def __call__(self, X):
        if X.shape[-1] != self.width:
            raise DoesNotFitError
        if self.function is not None:  # whatever its weight is added to, and its epsilon
            return self.function(X)
        centred = X if self.is_rms else X - X.mean(-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(-1, keepdims=True) + self.epsilon)
        return centred / spread * self.weight + self.bias


def norms_of(subject):
    """Return every norm among its parameters."""
    by_owner = {}
    for parameter in subject.parameters:
        if parameter.kind == "norm":
            by_owner.setdefault(parameter.path.rpartition(".")[0], []).append(parameter)
    norms = (_norm_of(path, parts, subject.adapter) for path, parts in by_owner.items())
    return [norm for norm in norms if norm is not None]


def _norm_of(path, parts, adapter):
    """The norm that these parameters belong to, or None where there is only a bias."""
    weights = [part for part in parts if not part.path.endswith(vocabulary.NORM_BIASES)]
    biases = [part for part in parts if part not in weights]
    if not weights:
        return None
    settings = adapter.numbers().items()
    return Norm(
        path,
        weights[0].value.astype(float),
        biases[0].value.astype(float) if biases else 0.0,
        next((n for name, n in settings if name.startswith(path) and "eps" in name), USUAL_EPSILON),
        "RMS" in weights[0].owner,
        adapter.norm(path) if hasattr(adapter, "norm") else None,
    )


def _added(change, text):
    def run(case, inputs):
        if inputs[0].shape != case.X.shape:
            raise DoesNotFitError
        return change(case.X, inputs[0]), *inputs[1:]

    return Form("", "add", run, text)


def _first(norm, both):
    """A layer norm inside of attention, as vit-pytorch has it: of the tokens, and of the context if `both`."""

    def run(case, _):
        X = norm(case.X)
        context = X if case.context is case.X else norm(case.context) if both else case.context
        return right_project(case.changed(X=X, context=context), None)

    return Form("", "project", run, "Q, K, V = norm(X) W_Q, norm(X) W_K, norm(X) W_V")


def _rows_normalised(first, second):
    """Queries and keys are normalised before they are cut into heads, as in OLMo 2."""

    def run(case, _):
        queries, keys, values = right_project(case, None)
        return first(queries), second(keys), values

    return Form("", "project", run, "queries and keys are normalised")


def _unit(X):
    """To length 1, as in x-transformers."""
    return X / np.linalg.norm(X, axis=-1, keepdims=True)


def _mean_square(X):
    """By an RMS norm without weights."""
    return X / np.sqrt((X**2).mean(-1, keepdims=True) + 1e-6)


def queries_and_keys(subject, norms):
    """Return pairs of functions that may normalise the heads of queries and of keys.

    One norm may serve both. Of several, names tell which is whose, as `q_norm` and `k_norm`; where they don't, every
    pair is tried. Norms without weights leave no parameter: there the source is what speaks of them.
    """
    # A single norm as wide as a token stands before attention, or after it.
    inner = [norm for norm in norms if norm.width != subject.d_model or len(norms) > 1]
    pairs = [(norm, norm) for norm in inner] if len(inner) == 1 else _pairs(inner)
    if vocabulary.NORMALISED_QUERIES.search(subject.source):
        pairs += [(_mean_square, _mean_square), (_unit, _unit)]
    return pairs


def _pairs(norms):
    pairs = list(itertools.permutations(norms, 2))[:MAX_PAIRS]
    return [pair for pair in pairs if (_letter(pair[0]), _letter(pair[1])) == ("q", "k")] or pairs


def _letter(norm):
    """The first part of a norm's path that begins with q or k says whose it is."""
    match = re.search(r"(?:^|[._])(q|k)", norm.path.lower())
    return match[1] if match else ""


def _around(unit, values):
    """Forms in which the input is added through a matrix of its own, as in AutoInt (Song et al. 2019)."""
    matrix, bias = unit.matrix(values, unit.orientation), unit.bias(values)

    def through(X):
        if X.shape[-1] != len(matrix):
            raise DoesNotFitError
        return X @ matrix + (0 if bias is None else bias)

    yield _added(lambda X, output: through(X) + output, f"+ X {unit.paths[0]}")
    yield _added(lambda X, output: np.maximum(through(X) + output, 0), f"+ X {unit.paths[0]}, then a ReLU")


RESIDUAL = _added(lambda X, output: X + output, "+ X")
# As in vit-pytorch: the norms' weights do what the scale is for.
UNSCALED = Form(
    "", "scale", scaled_by(lambda case, queries, values: 1.0), "not divided, as queries and keys are normed"
)


def of(subject, rotations=()):
    """Return what may count as right in each step, the plain form first: {step: forms}.

    Many classes are more than attention: the input is added, and a norm stands first or last. None of that is a
    mistake, and only the numbers tell where it is. `rotations` are the forms of the step `place` that positions bring.
    """
    norms = norms_of(subject)
    project, add, scale = [RIGHT["project"]], [RIGHT["add"], RESIDUAL], [RIGHT["scale"]]
    for norm in norms:
        if norm.width == subject.d_model:
            project += [_first(norm, True), _first(norm, False)]
            add += [
                _added(lambda X, output, norm=norm: norm(X + output), "+ X, normalised"),
                _added(lambda X, output, norm=norm: norm(output), "normalised"),
            ]
    for unit in subject.units:
        if unit.is_residual:
            add += _around(unit, subject.values)
    place = [RIGHT["place"], *rotations]
    pairs = queries_and_keys(subject, norms)
    for first, second in pairs:
        place += [_normalised(first, second, rotation, before) for rotation in rotations for before in (True, False)]
        place.append(_normalised(first, second))
        project.append(_rows_normalised(first, second))
    if pairs:
        scale.append(UNSCALED)
    return {"project": project, "place": place, "scale": scale, "add": add}


def _normalised(first, second, rotation=None, before=True):
    """Heads of queries and keys are normalised, before they are rotated, as in Qwen3, or after."""

    def run(case, qkv):
        if rotation and not before:
            qkv = rotation.run(case, qkv)
        qkv = first(qkv[0]), second(qkv[1]), qkv[2]
        return rotation.run(case, qkv) if rotation and before else qkv

    text = "queries and keys are normalised"
    if rotation:
        text = f"{text}, then {rotation.text}" if before else f"{rotation.text}, then normalised"
    return Form("", "place", run, text)
