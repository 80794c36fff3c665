"""Calling somebody else's code in its own framework: arrays go there as its own, and come back as NumPy's."""

import contextlib
import dataclasses
import io
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from attention_doctor import vocabulary
from attention_doctor.calls.errors import TimeLimitError
from function_judge import call as judge
from function_judge.lines import line_of_error
from function_judge.time_limit import TimedOut, Waited, in_words, thread_time, time_limit

ToFramework = Callable[[np.ndarray], Any]  # from an ndarray to a framework's own array
FRAMEWORKS = ("torch", "jax", "tensorflow", "mlx", "keras", "numpy")  # the first whose names a function uses
OUR_FOLDER = Path(__file__).parents[1]
COMPILERS = {"jax", "torch._inductor", "numba", "tensorflow"}
LONG_CALL = 5.0  # seconds; what takes less is no endless loop


class _CallTimedOutError(TimeLimitError):
    """It was in a call, which had computed for so many seconds, or waited."""

    def __init__(self, seconds: float, waited: bool) -> None:
        super().__init__(f"a call was not back after {seconds:.1f} seconds of computing")
        self.seconds, self.waited = seconds, waited


def call(function: Callable, arguments: dict[str, Any], to_framework: ToFramework) -> judge.Outcome:
    """Call a function with named arguments; arrays are given as copies in its framework's own kind.

    Parameters
    ----------
    function : callable
    arguments : dict
    to_framework : callable
        From an ndarray to the framework's array.

    Returns
    -------
    Outcome
        Its arrays are everything in what came back that could be read as numbers, in order.
    """

    def give(value):
        return judge.copied(value, to_framework)

    started = thread_time()
    outcome = judge.call(function, {}, arguments, read=_arrays, give=give, to_array=to_array, seconds=None)
    if isinstance(outcome.error, TimedOut):
        raise _CallTimedOutError(thread_time() - started, isinstance(outcome.error, Waited))
    if outcome.error is None and outcome.arrays is None:
        return judge.Outcome(error=TypeError("what it returns must be awaited"))
    return outcome


def within(seconds: float, function: Callable, *arguments: Any) -> Any:
    """Run a function quietly, and give up after some seconds: what it prints is not shown."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            with time_limit(seconds):
                return function(*arguments)
        except _CallTimedOutError as late:
            if late.waited:
                text = "a call did not come back by the clock, though it computed little: that is no verdict."
                text += " Does it wait for something?"
                raise TimeLimitError(text) from late
            if late.seconds < min(LONG_CALL, seconds / 2):
                raise TimeLimitError(f"all the calls together took more than {in_words(seconds)}.") from late
            compiles = COMPILERS & sys.modules.keys()
            does = f"compile ({' or '.join(sorted(compiles))})" if compiles else "run an endless loop"
            raise TimeLimitError(f"a call did not come back within {in_words(seconds)}. Does it {does}?") from late
        except Waited:
            text = "the clock ran out before it had computed much, as on a very busy machine: that is no verdict."
            raise TimeLimitError(text) from None
        except TimedOut:
            raise TimeLimitError(f"the doctor's own search took more than {in_words(seconds)}.") from None


def to_array(value: Any) -> np.ndarray:
    """Return a framework's array as NumPy's, in the type it has, where NumPy has it."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        value = value.detach().to("cpu")
        value = value.float() if value.is_floating_point() and value.element_size() < 4 else value
        return value.resolve_conj().resolve_neg().numpy()
    array = np.asarray(value)
    if array.dtype.kind not in "fiub" and "float" in str(array.dtype):
        return array.astype(np.float64)  # bfloat16, which NumPy knows by name alone
    return array


def read(value: Any) -> np.ndarray | None:
    """Read an array of a framework, or a list, as float64; None for anything else, single numbers included."""
    array = judge.as_array(value, to_array)
    return array if array is not None and array.ndim else None


def _arrays(returned):
    """Everything in what came back that can be read as numbers, in order: the output is told apart by its shape.

    A list of lists is one array, if anything; a list of arrays is several.
    """
    parts = _parts(returned)
    if isinstance(parts, list) and not any(map(_is_array, parts)):
        whole = read(parts)
        if whole is not None and whole.ndim > 1:
            return (whole,)
    return tuple(array for array in map(read, parts) if array is not None)


def _parts(returned):
    """What came back, part by part: Hugging Face returns a dataclass that is also a dictionary, others a tuple."""
    if dataclasses.is_dataclass(returned) and not isinstance(returned, type):
        return tuple(vars(returned).values())
    if isinstance(returned, dict) or (hasattr(returned, "items") and not hasattr(returned, "shape")):
        return tuple(returned.values())
    return returned if isinstance(returned, tuple | list) else (returned,)


def _is_array(part):
    return hasattr(part, "shape") and getattr(part, "ndim", 0) > 1


def name_of(thing: Any) -> str:
    """Return what a report calls somebody's function or module."""
    try:
        name = getattr(thing, "__name__", None)
    except Exception:  # its own __getattr__ may raise what it likes
        name = None
    return name if isinstance(name, str) else type(thing).__name__


def error_line(error: BaseException) -> str:
    """Return what an exception says, on one short line."""
    message = " ".join(str(error).split())
    return f"{type(error).__name__}: {message[:200]}"


def first_real(errors: Sequence[BaseException]) -> BaseException | None:
    """Return the first error that isn't about sizes, which are tried until they fit; or else the first."""
    return next((error for error in errors if not vocabulary.SAYS_SIZES.search(str(error))), next(iter(errors), None))


def told(error: BaseException | None, function: Any = None) -> str:
    """Return why a call gave no output, with the line of somebody's own code that an error came from."""
    if error is None:
        return "what it returns is no output"
    line = line_of_error(error, function)
    if line and Path(line.path).is_relative_to(OUR_FOLDER):  # where the doctor calls a library's own module
        line = None
    return f"it stops with {error_line(error).rstrip('.')}" + (f" ({line.place})" if line else "")


def framework_of(function: Callable) -> str:
    """Tell whose arrays a function works on, one of FRAMEWORKS: that of what its code names, or else of its module."""
    function = getattr(function, "__func__", function)
    if not hasattr(function, "__code__") and str(getattr(function, "__module__", "")).startswith("torch"):
        return "torch"  # compiled
    function = getattr(function, "__wrapped__", function)
    namespace = _namespace_of(function)
    used = {*map(_package_of, _globals_used(function, namespace)), *map(_package_held, _cells_of(function))}
    return next((framework for framework in FRAMEWORKS if framework in used), None) or _imported_in(namespace)


def _namespace_of(function: Callable) -> dict[str, Any]:
    """The globals of a function, or of how an object is called."""
    by_object = getattr(vars(type(function)).get("__call__"), "__globals__", {})
    namespace = getattr(function, "__globals__", None)
    return by_object if namespace is None else namespace


def _globals_used(function: Callable, namespace: dict[str, Any]) -> Iterable[Any]:
    """The globals that a function names; of an object, all, as any of its methods may do the work."""
    code = getattr(function, "__code__", None)
    if code is None or getattr(function, "__globals__", None) is None:
        return namespace.values()
    names = names_in(code)
    return [value for name, value in namespace.items() if name in names]


def _cells_of(function: Callable) -> Iterator[Any]:
    """What a function that was made in another one has kept of it."""
    for cell in getattr(function, "__closure__", None) or ():
        with contextlib.suppress(ValueError):
            yield cell.cell_contents


def _package_of(value: Any) -> str:
    module = getattr(value, "__name__" if isinstance(value, ModuleType) else "__module__", "") or ""
    return str(module).partition(".")[0]


def _package_held(value: Any) -> str:
    """The package of a module, or of a value's type: a tensor in a closure tells its framework."""
    return _package_of(value if isinstance(value, ModuleType) else type(value))


def _imported_in(namespace: dict[str, Any]) -> str:
    """The framework of the module that a function stands in: a helper beside it does the work."""
    imported = {_package_of(value) for value in namespace.values() if isinstance(value, ModuleType)}
    if "numpy" in imported:
        return "numpy"
    return next((framework for framework in ("torch", "jax", "tensorflow") if framework in imported), "numpy")


def names_in(code: CodeType) -> set[str]:
    """Return all names that a function's code uses, nested functions included."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            names |= names_in(constant)
    return names


def to_framework(framework: str) -> ToFramework:
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
def quickly_compiled() -> Iterator[None]:
    """Let JAX compile without optimizing inside: each operation is compiled for each shape, and then runs but once."""
    jax = sys.modules.get("jax")
    if jax is None:
        yield
        return
    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", True)
    try:
        yield
    finally:
        jax.config.update("jax_disable_most_optimizations", before)


@contextlib.contextmanager
def seeded() -> Iterator[None]:
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
