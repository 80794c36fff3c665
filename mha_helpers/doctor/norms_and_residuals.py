"""What modules add around attention by design: the input, a layer norm before or after, norms of queries and keys."""

import numpy as np

from mha_helpers.doctor.equation import DoesNotFitError, Form, right_project


def normalise(values, found):
    """Return the function of a layer norm (or of an RMS norm), from its parameters."""
    weight, bias, epsilon, is_rms = found

    def run(X):
        if X.shape[-1] != weight.size:
            raise DoesNotFitError
        centred = X if is_rms else X - X.mean(-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(-1, keepdims=True) + epsilon)
        return centred / spread * weight + bias

    return run


def norms_of(subject):
    """Every norm: (path, its function, its width)."""
    by_owner = {}
    for one in subject.found:
        if one.kind == "norm" and one.value.ndim == 1:
            by_owner.setdefault(one.path.rpartition(".")[0], []).append(one)
    numbers = subject.adapter.numbers()
    norms = []
    for path, parts in by_owner.items():
        weights = [one for one in parts if not one.path.endswith(("bias", "beta", "b"))]
        biases = [one for one in parts if one not in weights]
        if not weights:
            continue
        weight = weights[0].value.astype(float)
        bias = biases[0].value.astype(float) if biases else 0.0
        is_rms = "RMS" in weights[0].owner
        # Where the owner doesn't say its epsilon, a type's own is as small as not to matter.
        epsilon = next((n for name, n in numbers.items() if name.startswith(path) and "eps" in name), 1e-5)
        norms.append((path, normalise(subject.values, (weight, bias, epsilon, is_rms)), weight.size))
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


def _of_queries_and_keys(first, second):
    def run(case, qkv):
        return first(qkv[0]), second(qkv[1]), qkv[2]

    return Form("", "place", run, "queries and keys are normalised")


RESIDUAL = _added(lambda X, output: X + output, "+ X")


def of(subject):
    """Return what may count as right beside the plain equation: {step: form} each."""
    ways = [{}, {"add": RESIDUAL}]
    norms = norms_of(subject)
    for _, norm, width in norms:
        if width != subject.d_model:
            continue
        ways += [
            {"add": _added(lambda X, output, norm=norm: norm(X + output), "+ X, normalised")},
            {"add": _added(lambda X, output, norm=norm: norm(output), "normalised")},
            {"project": _first(norm, True)},
            {"project": _first(norm, True), "add": RESIDUAL},
            {"project": _first(norm, False), "add": RESIDUAL},
        ]
    inner = [norm for _, norm, width in norms if width != subject.d_model or len(norms) > 1]
    if len(inner) >= 2:
        ways.append({"place": _of_queries_and_keys(*inner[:2])})
    elif inner:
        ways.append({"place": _of_queries_and_keys(inner[0], inner[0])})
    return ways
