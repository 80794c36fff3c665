"""`examine` and `assert_healthy`."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from attention_doctor.calls import calling
from attention_doctor.calls.errors import CannotBeExaminedError, TimeLimitError
from attention_doctor.calls.threads import one_thread
from attention_doctor.examination import examined
from attention_doctor.frameworks import adapter_for
from attention_doctor.questions import black_box, rotary
from attention_doctor.readers import other_designs, signature
from attention_doctor.reports.report import Report
from attention_doctor.subjects.function_subject import FunctionSubject
from attention_doctor.subjects.module_subject import ModuleSubject

SECONDS = 120.0

Names = Mapping[str, str] | None  # what an argument is
Inputs = Mapping[str, Any]  # what further arguments get


def examine(
    attention: Any,
    *,
    names: Names = None,
    inputs: Inputs | None = None,
    seconds: float = SECONDS,
) -> Report:
    """Examine an implementation of attention.

    Parameters
    ----------
    attention : callable
        A function with weights, `(X, W_Q, W_K, W_V, W_O, n_heads, mask=None, is_causal=False)` with X of shape
        (batch, tokens, d_model) and a boolean mask, True where a query may attend to a key; a function of (queries,
        keys, values); a torch.nn.Module, a Keras, Flax or Equinox layer; any callable from X to outputs; or a function
        that turns features by their positions, `rotate(X, start)`.
    names : dict of str to str, optional
        What an argument is, where its name doesn't say it: `{"w1": "W_Q"}`.
    inputs : dict of str to object, optional
        What further arguments get in every call: values, or functions of (batch, tokens) that return them:
        `{"window_size": (-1, 0), "token_types": lambda batch, tokens: np.zeros((batch, tokens), int)}`.
    seconds : float, optional
        How long it may compute altogether, by the processor's time.

    Returns
    -------
    Report
        `.healthy` is True, False, or None where it could not be examined; `.findings`, `.untested`.

    Examples
    --------
    >>> import numpy as np
    >>> def softmax(scores):
    ...     exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    ...     return exponentials / exponentials.sum(axis=-1, keepdims=True)
    >>> def attention(X, W_Q, W_K, W_V, W_O, n_heads):
    ...     shape = *X.shape[:-1], n_heads, -1
    ...     queries, keys, values = ((X @ W).reshape(shape).swapaxes(1, 2) for W in (W_Q, W_K, W_V))
    ...     weights = softmax(queries @ keys.swapaxes(-1, -2) / X.shape[-1] ** 0.5)
    ...     return (weights @ values).swapaxes(1, 2).reshape(X.shape) @ W_O
    >>> examine(attention).names
    ['mha-scale-d-model']
    """
    name = calling.name_of(attention)
    try:
        return calling.within(seconds, _examine, attention, names, inputs or {})
    except CannotBeExaminedError as error:
        return Report(name, None, reason=str(error))
    except TimeLimitError as error:
        return Report(name, None, reason=f"It was not examined to the end: {error}")
    except Exception as error:  # a project's own tests must not stop with the doctor's mistakes
        return Report(name, None, reason=f"The doctor itself stopped, which is our fault: {calling.error_line(error)}")


def _examine(attention: Any, names: Names, inputs: Inputs) -> Report:
    try:
        hasattr(attention, "__wrapped__")
    except Exception as error:
        raise CannotBeExaminedError(
            f"its __getattr__ raises {calling.error_line(error)}, where Python asks for an AttributeError; "
            "repair that, or give a function that calls it"
        ) from error
    if not callable(attention) and not hasattr(attention, "forward"):
        raise CannotBeExaminedError(f"give a function, a module or a layer; this is {attention!r:.60}")
    if inspect.isclass(attention):
        raise CannotBeExaminedError(
            f"{attention.__name__} is a class; give an instance of it, such as {attention.__name__}(...)"
        )
    with one_thread(), calling.quickly_compiled():
        adapter = adapter_for(attention)
        if adapter is not None:
            return _with_its_design(_module, adapter, names, inputs)
        return _function(attention, names, inputs)


def _with_its_design(examine_module: Callable[..., Report], adapter: Any, *arguments: Any) -> Report:
    """Where there is no verdict, say what other design it may be."""
    try:
        report = examine_module(adapter, *arguments)
    except CannotBeExaminedError as error:
        report = Report(adapter.name, None, reason=str(error))
    finally:
        if hasattr(adapter, "restore"):  # what was examined itself, and not as a copy
            adapter.restore()
    if report.healthy is None:
        design = other_designs.named_in(adapter)
        report.reason = f"{report.reason.rstrip('. ')}. {design}" if design else report.reason
    return report


def _module(adapter: Any, names: Names, inputs: Inputs) -> Report:
    if not any(parameter.kind == "matrix" for parameter in adapter.parameters()):
        return _function(adapter.signature_of, names, inputs, adapter)
    roles = signature.read(adapter.signature_of, names, inputs, is_module=True, framework=adapter.framework)
    try:
        return examined(ModuleSubject(adapter, roles, inputs))
    except CannotBeExaminedError as error:
        report = _from_outside(adapter, roles, adapter.framework, adapter.name)
        return report if report.healthy is not None else Report(adapter.name, None, reason=str(error))


def _from_outside(function: Callable, roles: Mapping[str, str], framework: str, name: str) -> Report:
    """Examine a callable from X to outputs by its answers alone."""
    argument = next((argument for argument, role in roles.items() if role == "X"), None)
    if argument is None:
        return Report(name, None, reason="Nothing among its arguments is a sequence of tokens.")
    return black_box.examine(name, function, argument, framework)


def _function(attention: Callable, names: Names, inputs: Inputs, module: Any = None) -> Report:
    """Examine a function; or a module without matrices, to which queries, keys and values are given."""
    rotation = rotary.examine(attention) if module is None and not names and not inputs else None
    if rotation is not None:
        return rotation
    roles = signature.read(attention, names, inputs)
    if not {"X", "queries"} & set(roles.values()):
        raise CannotBeExaminedError(
            "its arguments have no names; wrap it in a function of (queries, keys, values) or (X, W_Q, W_K, W_V, W_O, "
            "n_heads)"
        )
    framework = calling.framework_of(attention) if module is None else module.framework
    name = calling.name_of(attention) if module is None else module.name
    if "X" in roles.values() and not {"W_V", "W_Q"} & set(roles.values()):
        return _from_outside(attention, roles, framework, name)
    numbers = {} if module is None else module.numbers()
    return _with_its_arrays(attention, roles, framework, name, numbers, inputs)


def _with_its_arrays(
    attention: Callable, roles: Mapping[str, str], framework: str, name: str, numbers: Mapping, inputs: Inputs
) -> Report:
    """Examine a function with its framework's arrays, and then NumPy's: it may use a framework only inside."""
    report = examined(FunctionSubject(attention, roles, framework, name, numbers, inputs))
    if report.healthy is None and framework != "numpy":
        again = examined(FunctionSubject(attention, roles, "numpy", name, numbers, inputs))
        return report if again.healthy is None else again
    return report


def assert_healthy(attention: Any, **options: Any) -> None:
    """Examine, and raise an AssertionError with the report unless it is healthy: for a project's own tests.

    Parameters
    ----------
    attention : callable
    **options
        As for `examine`.

    Examples
    --------
    >>> import numpy as np
    >>> def attention(queries, keys, values):
    ...     scores = queries @ keys.swapaxes(-1, -2) / queries.shape[-1] ** 0.5
    ...     weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    ...     return weights / weights.sum(axis=-1, keepdims=True) @ values
    >>> assert_healthy(attention)
    """
    report = examine(attention, **options)
    if not report.healthy:
        raise AssertionError(f"\n{report}")
