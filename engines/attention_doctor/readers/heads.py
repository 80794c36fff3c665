"""How many heads a module has: what its attributes say, and what the shapes of its parameters allow."""

import contextlib
import inspect
import re

HEADS = re.compile(
    r"(^|\.)(n_?heads?|num_?heads?|heads?|h|nh|num_attention_heads|(n|num)_?q(uery)?_?heads|n_?attention_?heads|nhead|head_?num|number_of_heads)$",
    re.I,
)
KV_HEADS = re.compile(r"(n|num)_?(kv|key_?value|local_kv)_?heads?$|kv_?heads?$|n_?query_?groups$", re.I)


def widths_of_heads(numbers):
    """What attributes say of the features of a head."""
    return [
        int(n)
        for name, n in numbers.items()
        if re.search(r"(head_?(dim|size|width)|d_?(k|head)|dim_?head|hs)$", name, re.I) and n >= 1
    ]


def numbers_of_heads(numbers, units):
    """What attributes or shapes say; and what else is possible: one, and every divisor."""
    text = [
        int(n)
        for name, n in numbers.items()
        if HEADS.search(name) and not KV_HEADS.search(name) and n >= 1 and n == int(n)
    ]
    lists = [len(unit.paths) for unit in units if len(unit.paths) > 1]
    three = [unit.shape[0] for unit in units if len(unit.shape) == 3 and min(unit.shape) > 1]
    widths = {n for unit in units for n in unit.shape}
    dims = widths_of_heads(numbers)
    by_width = [width // dim for width in sorted(widths) for dim in dims if width % dim == 0 and width > dim]
    divisors = [n for n in range(1, 17) if any(width % n == 0 for width in widths)]
    sizes = [int(n) for name, n in numbers.items() if re.search(r"head_?size$", name)]  # some mean their number by it
    likely = list(dict.fromkeys([*lists, *text] or [*three, *by_width, *sizes]))[:2]
    if not likely:  # an attribute under another name may be it
        own = {int(n) for name, n in numbers.items() if "." not in name and n == int(n) and 1 < n <= 64}
        likely = [1, *sorted(n for n in own if all(width % n == 0 for width in widths))][:4]
    return likely, [n for n in dict.fromkeys([*three, *by_width, 1, *divisors]) if n not in likely]


def _words(code):
    """The names and the texts in a function's code, nested functions included."""
    inner = [const for const in code.co_consts if hasattr(const, "co_names")]
    texts = [const for const in code.co_consts if isinstance(const, str)]
    return list(dict.fromkeys([*code.co_names, *texts, *(word for item in inner for word in _words(item))]))


def fixed_in(function):
    """The numbers of heads and of a head's features that a function's own code fixes: those that are known, by role.

    They stand in a variable of its module, in a setting that it reads there, or in a line of its own.
    """
    function = inspect.unwrap(getattr(function, "__func__", function))
    code, values = getattr(function, "__code__", None), getattr(function, "__globals__", {})
    if code is None:
        return {}
    words = _words(code)
    numbers = {}
    for word in words:
        held = values.get(word)
        if held is None or inspect.ismodule(held) or inspect.isfunction(held):
            continue
        numbers[word] = held
        settings = held if isinstance(held, dict) else {key: getattr(held, key, None) for key in words}
        numbers |= {key: settings[key] for key in words if type(settings.get(key)) is int}
    with contextlib.suppress(OSError, TypeError):
        for name, number in re.findall(r"(?m)^\s+(\w+)\s*=\s*(\d+)\s*(?:[#;].*)?$", inspect.getsource(function)):
            numbers[name] = int(number)
    numbers = {name: n for name, n in numbers.items() if type(n) is int and n > 0}
    heads = [n for name, n in numbers.items() if HEADS.search(name) and not KV_HEADS.search(name)]
    kv_heads = [n for name, n in numbers.items() if KV_HEADS.search(name)]
    found = {"n_heads": heads, "n_kv_heads": kv_heads, "d_head": widths_of_heads(numbers)}
    return {role: values[0] for role, values in found.items() if values}
