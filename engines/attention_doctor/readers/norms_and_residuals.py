"""What modules add around attention by design: the input, a layer norm before or after, norms of queries and keys."""

import itertools
import re
from dataclasses import dataclass

import numpy as np

from attention_doctor.equation.stages import RIGHT, DoesNotFitError, Form, right_project, scaled_by

NORMALISES = re.compile(r"rms_?norm|normalize|l2_?norm|qk_?norm|cosine", re.I)


@dataclass(frozen=True)
class Norm:
    """A layer norm or an RMS norm with the numbers that it has learnt; `function` is its module, if it runs alone."""

    path: str
    weight: object
    bias: object
    epsilon: float
    is_rms: bool
    function: object = None

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
    """Every norm among its parameters."""
    by_owner = {}
    for match in subject.parameters:
        if match.kind == "norm":
            by_owner.setdefault(match.path.rpartition(".")[0], []).append(match)
    numbers = subject.adapter.numbers()
    norms = []
    for path, parts in by_owner.items():
        weights = [part for part in parts if not part.path.endswith(("bias", "beta", "b"))]
        biases = [part for part in parts if part not in weights]
        if not weights:
            continue
        weight = weights[0].value.astype(float)
        bias = biases[0].value.astype(float) if biases else 0.0
        # Where the owner doesn't say its epsilon, a type's own is as small as not to matter.
        epsilon = next((n for name, n in numbers.items() if name.startswith(path) and "eps" in name), 1e-5)
        function = subject.adapter.norm(path) if hasattr(subject.adapter, "norm") else None
        norms.append(Norm(path, weight, bias, epsilon, "RMS" in weights[0].owner, function))
    return norms


def _added(change, text):
    def run(case, given):
        if given[0].shape != case.X.shape:
            raise DoesNotFitError
        return change(case.X, given[0]), *given[1:]

    return Form("", "add", run, text)


def _first(norm, both):
    def run(case, _):
        X = norm(case.X)
        context = X if case.context is case.X else norm(case.context) if both else case.context
        return right_project(case.changed(X=X, context=context), None)

    return Form("", "project", run, "Q, K, V = norm(X) W_Q, norm(X) W_K, norm(X) W_V")


def _rows_normalised(first, second):
    """Queries and keys are normalised before they are cut into heads."""

    def run(case, _):
        queries, keys, values = right_project(case, None)
        return first(queries), second(keys), values

    return Form("", "project", run, "queries and keys are normalised")


def _unit(X):
    return X / np.linalg.norm(X, axis=-1, keepdims=True)


def _mean_square(X):
    return X / np.sqrt((X**2).mean(-1, keepdims=True) + 1e-6)


def queries_and_keys(subject, norms):
    """Pairs of functions that may normalise the heads of queries and of keys."""
    inner = [norm for norm in norms if norm.width != subject.d_model or len(norms) > 1]
    pairs = [(item, item) for item in inner] if len(inner) == 1 else list(itertools.permutations(inner, 2))[:MAX_PAIRS]
    named = [pair for pair in pairs if _letter(pair[0]) in "q" and _letter(pair[1]) in "k"]
    pairs = named or pairs
    if NORMALISES.search(subject.source):
        pairs += [(_mean_square, _mean_square), (_unit, _unit)]
    return pairs


def _letter(norm):
    found = re.search(r"(?:^|[._])(q|k)", norm.path.lower())
    return found[1] if found else "?"


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
UNSCALED = Form(
    "", "scale", scaled_by(lambda case, queries, values: 1.0), "not divided, as queries and keys are normed"
)
MAX_PAIRS = 6


def of(subject, rotations=()):
    """Return what may count as right in each step, the plain form first: {step: forms}.

    `rotations` are the forms of the step `place` that positions bring along.
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
    """Heads of queries and keys are normalised, before or after they are rotated."""

    def run(case, qkv):
        if rotation and not before:
            qkv = rotation.run(case, qkv)
        qkv = first(qkv[0]), second(qkv[1]), qkv[2]
        return rotation.run(case, qkv) if rotation and before else qkv

    text = "queries and keys are normalised"
    if rotation:
        text = f"{text}, then {rotation.text}" if before else f"{rotation.text}, then normalised"
    return Form("", "place", run, text)
