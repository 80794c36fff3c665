"""How many heads a module has: what its attributes say, and what the shapes of its parameters allow."""

import contextlib
import inspect
import re

from attention_doctor import vocabulary

MAX_LIKELY = 2  # numbers of heads that attributes and shapes speak for: a class may have two, of which one is another's
MAX_GUESSED = 4  # and so many where nothing speaks for any
MAX_DIVISOR = 16  # the most heads that are tried because they divide a width


def widths_of_heads(numbers):
    """Return what attributes say of the features of a head."""
    return [int(n) for name, n in numbers.items() if vocabulary.HEAD_WIDTH.search(name) and n >= 1]


def numbers_of_heads(numbers, units):
    """Return two lists: the numbers of heads that attributes or shapes speak for, and what else is possible.

    Parameters
    ----------
    numbers : dict of str to float
        A module's settings, by the paths of its attributes.
    units : list of Unit
        Its matrices.
    """
    widths = {n for unit in units for n in unit.shape}
    by_shape = [*_first_axes(units), *_widths_over_head_widths(numbers, widths)]
    explicit = [*_lengths_of_lists(units), *_settings_of_heads(numbers)]
    likely = list(dict.fromkeys(explicit or [*by_shape, *_head_sizes(numbers)]))[:MAX_LIKELY]
    if not likely:
        likely = [1, *_divisors_among_settings(numbers, widths)][:MAX_GUESSED]
    return likely, [n for n in dict.fromkeys([*by_shape, 1, *_divisors(widths)]) if n not in likely]


def _settings_of_heads(numbers):
    """What an attribute with a usual name says: `num_attention_heads`, and not `num_key_value_heads`."""
    return [
        int(n)
        for name, n in numbers.items()
        if vocabulary.N_HEADS.search(name) and not vocabulary.N_KV_HEADS.search(name) and n >= 1 and n == int(n)
    ]


def _lengths_of_lists(units):
    """How many matrices a list has: tutorials make a layer for each head."""
    return [len(unit.paths) for unit in units if len(unit.paths) > 1]


def _first_axes(units):
    """The first axis of matrices with three axes, which is the heads' in most: (heads, d_model, d_head)."""
    return [unit.shape[0] for unit in units if len(unit.shape) == 3 and min(unit.shape) > 1]


def _widths_over_head_widths(numbers, widths):
    """How many heads of the width that an attribute says are as wide as a matrix: a class may keep the width alone."""
    return [
        width // head_width
        for width in sorted(widths)
        for head_width in widths_of_heads(numbers)
        if width % head_width == 0 and width > head_width
    ]


def _head_sizes(numbers):
    """What is called the size of a head: some mean the number of heads by it."""
    return [int(n) for name, n in numbers.items() if vocabulary.HEAD_SIZE.search(name)]


def _divisors_among_settings(numbers, widths):
    """The module's own numbers that divide every width: the number of heads may have a name of somebody's own."""
    own = {int(n) for name, n in numbers.items() if "." not in name and n == int(n) and 1 < n <= 64}
    return sorted(n for n in own if all(width % n == 0 for width in widths))


def _divisors(widths):
    """Every small number that divides a width: where no name is known, shapes leave nothing else to go by."""
    return [n for n in range(1, MAX_DIVISOR + 1) if any(width % n == 0 for width in widths)]


def fixed_in(function):
    """Return the numbers of heads and of a head's features that a function's own code fixes, by role.

    They stand in a variable of its module, in a setting that it reads there, or in a line of its own. Scripts with a
    `config` at their top are written so, and can be asked with these numbers alone.
    """
    function = inspect.unwrap(getattr(function, "__func__", function))
    code = getattr(function, "__code__", None)
    if code is None:
        return {}
    numbers = _globals_read(_words(code), getattr(function, "__globals__", {})) | _assigned_in(function)
    numbers = {name: n for name, n in numbers.items() if type(n) is int and n > 0}
    is_kv = vocabulary.N_KV_HEADS.search
    by_role = {
        "n_heads": [n for name, n in numbers.items() if vocabulary.N_HEADS.search(name) and not is_kv(name)],
        "n_kv_heads": [n for name, n in numbers.items() if is_kv(name)],
        "d_head": widths_of_heads(numbers),
    }
    return {role: values[0] for role, values in by_role.items() if values}


def _words(code):
    """The names and the texts in a function's code, nested functions included."""
    inner = [const for const in code.co_consts if hasattr(const, "co_names")]
    texts = [const for const in code.co_consts if isinstance(const, str)]
    return list(dict.fromkeys([*code.co_names, *texts, *(word for item in inner for word in _words(item))]))


def _globals_read(words, namespace):
    """The module's variables among these words, and the whole numbers that they hold as attributes or under keys."""
    numbers = {}
    for word in words:
        held = namespace.get(word)
        if held is None or inspect.ismodule(held) or inspect.isfunction(held):
            continue
        numbers[word] = held
        settings = held if isinstance(held, dict) else {key: getattr(held, key, None) for key in words}
        numbers |= {key: settings[key] for key in words if type(settings.get(key)) is int}
    return numbers


def _assigned_in(function):
    """The whole numbers in lines such as `n_heads = 4`."""
    with contextlib.suppress(OSError, TypeError):
        lines = re.findall(r"(?m)^\s+(\w+)\s*=\s*(\d+)\s*(?:[#;].*)?$", inspect.getsource(function))
        return {name: int(number) for name, number in lines}
    return {}
