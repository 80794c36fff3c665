"""Calling somebody else's code: with arrays of its framework, without harm, and with its answer read back."""

import contextlib
import dataclasses
import io
import sys
import threading
import warnings
from dataclasses import dataclass

import numpy as np

_CALLING = set()  # the threads in which somebody else's code runs at the moment


@dataclass(frozen=True)
class Answer:
    """What a call gave.

    Parameters
    ----------
    arrays : tuple of ndarray
        Everything in it that could be read as numbers, in order.
    error : BaseException, optional
    changed : bool
        Whether the call wrote into what it was given.
    returned : object
        As it came back.
    """

    arrays: tuple = ()
    error: BaseException | None = None
    changed: bool = False
    returned: object = None


def call(function, arguments, to_framework, *, keep_returned=False):
    """Call a function with named arguments; arrays are given as copies in its framework's own kind.

    Parameters
    ----------
    function : callable
    arguments : dict
    to_framework : callable
        From an ndarray to the framework's array.

    Returns
    -------
    Answer
    """
    given = {name: _converted(value, to_framework) for name, value in arguments.items()}
    before = {name: read(value) for name, value in given.items() if isinstance(arguments[name], np.ndarray)}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        _CALLING.add(threading.get_ident())
        try:
            returned = function(**given)
            _CALLING.discard(threading.get_ident())
            arrays = tuple(_arrays(returned))
            changed = any(not np.array_equal(before[name], read(given[name]), equal_nan=True) for name in before)
        except BaseException as error:  # SystemExit and KeyboardInterrupt too: Ctrl-C goes to another thread
            return Answer(error=error)
        finally:
            _CALLING.discard(threading.get_ident())
    return Answer(arrays, None, changed, returned if keep_returned else None)


def _converted(value, to_framework):
    if isinstance(value, tuple):
        return tuple(_converted(one, to_framework) for one in value)
    return to_framework(value) if isinstance(value, np.ndarray) else value


def read(value):
    """Read a framework's array as float64 (booleans and whole numbers, too), or return None."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        value = value.detach().to("cpu")
        value = value.float() if value.is_floating_point() and value.element_size() < 4 else value
        return np.array(value.resolve_conj().resolve_neg().numpy())
    if value is None or isinstance(value, (str, bytes, bool, dict)):
        return None
    try:
        array = np.asarray(value)
    except Exception:  # whatever an unknown kind of object answers: it is no array
        return None
    if array.dtype.kind not in "fiub" and "float" in str(array.dtype):
        array = array.astype(np.float64)  # bfloat16, which NumPy knows by name alone
    if array.dtype.kind not in "fiub" or array.ndim == 0:
        return None
    return np.array(array)


def _arrays(returned):
    if dataclasses.is_dataclass(returned) and not isinstance(returned, type):
        returned = tuple(vars(returned).values())
    if isinstance(returned, dict) or (hasattr(returned, "items") and not hasattr(returned, "shape")):
        returned = tuple(returned.values())
    if isinstance(returned, (tuple, list)):
        whole = read(returned) if isinstance(returned, list) else None
        parts = [whole] if whole is not None and whole.ndim > 1 else [read(part) for part in returned]
    else:
        parts = [read(returned)]
    for part in parts:
        if part is not None:
            yield part.astype(np.float64)


def name_of(thing):
    """What a report calls it."""
    name = getattr(thing, "__name__", None)
    return name if isinstance(name, str) else type(thing).__name__


def said(error):
    """What an exception says, on one short line."""
    message = " ".join(str(error).split())
    return f"{type(error).__name__}: {message[:200]}"


def framework_of(function):
    """Tell whose arrays a function works on: "torch", "jax", "tensorflow" or "numpy"."""
    function = getattr(function, "__func__", function)
    if not hasattr(function, "__code__") and str(getattr(function, "__module__", "")).startswith("torch"):
        return "torch"  # compiled
    function = getattr(function, "__wrapped__", function)
    names = {}
    namespace = getattr(function, "__globals__", None)
    if namespace is None:
        namespace = getattr(vars(type(function)).get("__call__"), "__globals__", {})
        used = None
    else:
        used = _names_in(getattr(function, "__code__", None))
    for name, value in namespace.items():
        if used is None or name in used:
            module = (
                getattr(value, "__name__", "")
                if isinstance(value, type(sys))
                else getattr(value, "__module__", "") or ""
            )
            names[name] = str(module).partition(".")[0]
    for cell in getattr(function, "__closure__", None) or ():
        with contextlib.suppress(ValueError):
            names[id(cell)] = type(cell.cell_contents).__module__.partition(".")[0]
    found = set(names.values())
    for framework in ("torch", "jax", "tensorflow", "mlx"):
        if framework in found:
            return framework
    if "keras" in found:
        return "keras"
    if "numpy" in found:
        return "numpy"
    # A helper of the same module does the work: what that module has imported decides.
    modules = {
        str(getattr(value, "__name__", "")).partition(".")[0]
        for value in namespace.values()
        if isinstance(value, type(sys))
    }
    return next(
        (framework for framework in ("torch", "jax", "tensorflow") if framework in modules and "numpy" not in modules),
        "numpy",
    )


def _names_in(code):
    """All names that a function's code uses, nested functions included."""
    if code is None:
        return None
    names = set(code.co_names)
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            names |= _names_in(constant)
    return names


def to_framework(framework):
    """Return what turns an ndarray into a framework's array; float64 becomes float32 where that is the default."""
    if framework == "torch":
        import torch

        single = {np.dtype(np.float64): np.float32, np.dtype(np.complex128): np.complex64}
        return lambda array: torch.from_numpy(np.array(array, dtype=single.get(array.dtype, array.dtype)))
    if framework == "jax":
        import jax.numpy as jnp

        return jnp.asarray
    if framework in ("keras", "tensorflow"):
        import keras

        return lambda array: keras.ops.convert_to_tensor(
            array.astype(np.float32) if array.dtype == np.float64 else array
        )
    return np.array


@contextlib.contextmanager
def seeded():
    """Random numbers start anew inside, and go on outside as if nothing had been."""
    state, torch = np.random.get_state(), sys.modules.get("torch")  # noqa: NPY002
    torch_state = None if torch is None else torch.random.get_rng_state()
    np.random.seed(0)  # noqa: NPY002
    if torch is not None:
        torch.random.manual_seed(0)
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002
        if torch is not None:
            torch.random.set_rng_state(torch_state)


class TimeLimitError(Exception):
    """The examination did not come back."""


def within(seconds, function, *arguments):
    """Run a function in a thread, quietly, and give up after some seconds.

    The thread cannot be ended: it is left alone, and ends with the process. What it prints is not shown.
    """
    outcome = []

    def work():
        try:
            outcome.append((function(*arguments), None))
        except BaseException as error:
            outcome.append((None, error))

    thread = threading.Thread(target=work, daemon=True)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        thread.start()
        thread.join(seconds)
    if not outcome:
        if thread.ident in _CALLING:
            raise TimeLimitError(f"a call did not come back within {seconds:g} seconds. Is there an endless loop?")
        raise TimeLimitError(f"the doctor's own search took more than {seconds:g} seconds.")
    result, error = outcome[0]
    if error is not None:
        raise error
    return result
