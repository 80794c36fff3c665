"""Shape specifications: what a function takes, stated once and checked on every call.

`@checked(queries="... n_queries d_head", keys="... n_keys d_head")` reads each argument as
a floating-point array and holds it to the named axes, so that the body below it can be the
formula alone. An axis that occurs twice must have one size; `...` stands for any number of
leading batch axes, which must broadcast together.
"""

from __future__ import annotations

import functools
import inspect
import math
import numbers
import operator
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

# What a function takes and returns, in hints; the docstring says which axes it has. A list of rows, or whatever else
# `np.asarray` reads, will do as well.
Array = NDArray[Any]
F = TypeVar("F", bound=Callable[..., Any])


def as_array(name: str, value: Any) -> Array:
    """Read `value` as an array."""
    try:
        return np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} cannot be read as an array: give rows of equal length") from None


def as_float_array(name: str, value: Any) -> Array:
    """Read `value` as an array of floating-point numbers; a floating-point type is kept."""
    array = as_array(name, value)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} holds {array.dtype} entries; give real numbers")
    return array if array.dtype.kind == "f" else array.astype(np.float64)


def check_count(name: str, value: Any) -> int:
    """Return `value` as an int if it can count something: a whole number of 1 or more."""
    try:
        count = operator.index(value)
    except TypeError:
        count = None
    if count is None or isinstance(value, bool):
        raise ValueError(f"{name}={value!r} is not a whole number; give an int of 1 or more")
    if count < 1:
        raise ValueError(f"{name}={count} is not possible; give an int of 1 or more")
    return count


def check_n_heads(n_heads: Any, axis: str, size: int) -> int:
    """Return `n_heads` as an int if it divides the size of an axis."""
    n_heads = check_count("n_heads", n_heads)
    if size % n_heads:
        *most, last = [str(n) for n in range(1, size + 1) if size % n == 0]
        choices = f"{', '.join(most)} or {last}" if most else last
        raise ValueError(
            f"{axis}={size} is not divisible by n_heads={n_heads}; choose {choices} head{'s' * (size > 1)}"
        )
    return n_heads


def check_heads(name: str, heads: Any, n_heads: int) -> Array:
    """Return `heads` as an array of ints if each is one of `n_heads`, counted from 0; there may be none."""
    array = as_array(name, heads)
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; give a list of heads, such as [0]")
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"{name} holds {array.dtype} entries; give whole numbers, the heads counted from 0")
    unknown = array[(array < 0) | (array >= n_heads)]
    if unknown.size:
        possible = f"0 to {n_heads - 1}" if n_heads > 1 else "0"
        raise ValueError(f"{name} holds {unknown[0]}; heads count from 0, and with n_heads={n_heads} give {possible}")
    return array.astype(int)


def check_number(name: str, value: Any) -> float:
    """Return `value` as a float, which leaves the type of the arrays it meets alone."""
    if not isinstance(value, numbers.Real):
        raise ValueError(f"{name}={value!r} is not a number; give a float")
    return float(value)


class _Border(threading.local):
    """Whether this thread is inside a checked function, whose arguments to others have been checked already.

    A model that writes calls these functions thousands of times a second, and most of it would go into checks.
    """

    crossed = False


_border = _Border()


def checked(**specs: str) -> Callable[[F], F]:
    """Decorate a function whose array arguments have the given axes.

    Parameters
    ----------
    **specs : str
        For each argument its axes, separated by blanks: `"... seq_len d_model"`. An axis may be
        a product (`"n_heads*d_head"`). `"AXES or X"`: where the argument is None, X stands in.
        `"AXES of 1 (yes) and 0 (no)"`: it may hold only these. `n_heads="divides d_model"` holds a number of heads
        to a divisor of that axis (or of several), and `heads="among n_heads"`, after it, a list of heads to those
        that there are; `n="count"` a number to an int of 1 or more, and `scale="number"` to a float.
        An argument left at its default, or None in its place, is not looked at.

    Raises
    ------
    ValueError
        From the decorated function, when an argument does not fit: what was given, what was
        wanted, and what to do.

    Examples
    --------
    >>> @checked(queries="... n_queries d_head", keys="... n_keys d_head")
    ... def scores(queries, keys):
    ...     return queries @ keys.swapaxes(-1, -2)
    >>> scores([[1, 2]], [[1, 2, 3]])
    Traceback (most recent call last):
    ...
    ValueError: keys has shape (1, 3), so d_head=3, but queries with shape (1, 2) has d_head=2;
    give both the same d_head
    """

    def decorate(function):
        signature = inspect.signature(function)

        @functools.wraps(function)
        def call(*args, **kwargs):
            if _border.crossed:
                return function(*args, **kwargs)
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            _check_arguments(specs, bound.arguments, signature.parameters)
            _border.crossed = True
            try:
                return function(*bound.args, **bound.kwargs)
            finally:
                _border.crossed = False

        return call

    return decorate


@functools.cache  # a model that writes asks for the same few thousands of times a second
def _read_spec(spec):
    """Take a specification apart: itself, its axes, the stand-in for None, and the only values of its entries."""
    spec, _, stand_in = spec.partition(" or ")
    axes, _, entries = spec.partition(" of ")
    return spec, tuple(axes.split()), stand_in, entries


def _check_arguments(specs, arguments, parameters):
    """Replace a call's arguments by what the specifications make of them."""
    axes_so_far = _Axes(arguments)
    for name, text in specs.items():
        spec, axes, stand_in, entries = _read_spec(text)
        value, owner = arguments[name], name
        default = parameters[name].default
        if value is default or (value is None and default is not inspect.Parameter.empty):
            arguments[name] = default
            if not stand_in:
                continue
            value, owner = arguments[stand_in], stand_in
        if spec == "number":
            arguments[name] = check_number(name, value)
        elif spec == "count":
            arguments[name] = check_count(name, value)
        elif spec.startswith("divides "):
            arguments[name] = axes_so_far.check_divisor(value, spec.split()[1:])
        elif spec.startswith("among "):
            arguments[name] = check_heads(name, value, arguments[spec.removeprefix("among ")])
        else:
            array = axes_so_far.check_array(name, as_float_array(name, value), axes, owner)
            if entries and not np.isin(array, (0, 1)).all():
                raise ValueError(f"{name} has entries other than {entries}; give only these")
            if owner == name:
                arguments[name] = array


class _Axes:
    """What a call's arguments have shown of their axes so far."""

    def __init__(self, arguments):
        self._arguments = arguments
        self._sizes, self._owners = {}, {}  # by axis: its size, and the argument that set it
        self._batch = ()

    def check_divisor(self, n_heads, axes):
        for axis in axes:
            # The usual case has one width for all, and it is known as d_model.
            known_as = "d_model" if self._sizes[axis] == self._sizes.get("d_model") else axis
            n_heads = check_n_heads(n_heads, known_as, self._sizes[axis])
        return n_heads

    def check_array(self, name, array, axes, owner):
        """Return an array if it has these axes; `owner` is the argument that it came from."""
        n_axes = len(axes) - ("..." in axes)
        if array.ndim < n_axes or ("..." not in axes and array.ndim > n_axes):
            raise ValueError(f"{name} has shape {array.shape}; its axes must be ({', '.join(axes)})")
        for axis, size in zip(axes[-n_axes:], array.shape[-n_axes:], strict=True):
            self._check_size(name, array.shape, axis, size)
            if "*" not in axis and axis not in self._sizes:
                self._sizes[axis], self._owners[axis] = size, owner
        if "..." in axes:
            self._check_batch(name, array.shape, n_axes)
        return array

    def _check_size(self, name, shape, axis, size):
        if size == 0:
            raise ValueError(f"{name} has shape {shape}, so {axis}=0; give at least one")
        factors = axis.split("*")
        if not set(factors) <= self._sizes.keys():
            return
        wanted = math.prod(self._sizes[factor] for factor in factors)
        if size != wanted:
            other = self._owners[factors[0]]
            raise ValueError(
                f"{name} has shape {shape}, so {axis}={size}, but {other} with shape "
                f"{np.shape(self._arguments[other])} has {axis}={wanted}; give both the same {axis}"
            )

    def _check_batch(self, name, shape, n_axes):
        try:
            self._batch = np.broadcast_shapes(self._batch, shape[:-n_axes])
        except ValueError:
            raise ValueError(
                f"{name} has shape {shape}, whose leading axes do not go with {self._batch} of the arguments "
                "before it; make them equal, or 1"
            ) from None
