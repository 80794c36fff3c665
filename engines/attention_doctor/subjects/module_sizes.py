"""How wide a module's tokens are, and how many it takes: the first sizes with which a call succeeds.

A module seldom says it in a way that can be relied on, so sizes that its parameters, its attributes and its own errors
name are tried, the likely ones first.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from attention_doctor import vocabulary
from attention_doctor.calls import calling
from attention_doctor.calls.errors import CannotBeExaminedError
from attention_doctor.equation.trial_inputs import Question
from attention_doctor.readers.heads import numbers_of_heads
from attention_doctor.readers.layouts import Layout
from attention_doctor.readers.signature import not_known
from attention_doctor.subjects.module_layouts import AXES

N_TOKENS, MAX_TOKENS = 5, 256  # how many are tried first, and at most
MAX_WINDOW_SIDE = 16
MAX_TRIES, MAX_NUMBERS_IN_ERRORS = 600, 3


@dataclass(frozen=True)
class Sizes:
    """The sizes of a module's inputs.

    Parameters
    ----------
    d_model : int
        The width of the queries' tokens.
    keys_width, values_width : int, optional
        Of what keys and values come from, where they are not as wide as what queries come from.
    n_tokens : int, optional
        Where it takes only this number of tokens.
    """

    d_model: int
    keys_width: int | None = None
    values_width: int | None = None
    n_tokens: int | None = None


def find_sizes(subject) -> Sizes:
    """Try sizes until a call succeeds; the subject keeps those, and how its required arguments were filled.

    Parameters
    ----------
    subject : ModuleSubject

    Returns
    -------
    Sizes

    Raises
    ------
    CannotBeExaminedError
        If no call succeeds.
    """
    errors: list[BaseException] = []
    arguments, widths = subject.arguments, _likely_widths(subject)
    for n_tokens, filling, width, keys_width in _attempts(subject, widths, errors):
        arguments.filling = filling
        has_values = keys_width and arguments.has("values")
        for values_width in (None, *widths) if has_values else (None,):
            subject.sizes = Sizes(width, keys_width, values_width, None if n_tokens == N_TOKENS else n_tokens)
            error = _first_error(subject, n_tokens)
            if error is None:
                return subject.sizes
            errors.append(error)
    told = calling.told(calling.first_real(errors), subject.function)
    why = f"with tokens of any width that its parameters have {told}."
    unknown = f"{not_known(arguments.unknown)}. " if arguments.unknown else arguments.guesses
    raise CannotBeExaminedError(f"{why} {unknown}".strip())


def _attempts(subject, widths: list[int], errors: list[BaseException]) -> Iterator[tuple]:
    """Yield (number of tokens, filling, width, width of keys), what is likely first: each kind costs many more calls.

    The errors that came of the attempts so far are read when their turn has come.
    """
    lengths, plain = _likely_lengths(subject), subject.required_fillings[:1]
    key_widths = (None, *widths) if subject.arguments.is_cross else (None,)

    def lengths_in_errors():
        named = [n for n in dict.fromkeys(_lengths_named_in(errors)) if n not in lengths]
        yield from itertools.product(named[:MAX_NUMBERS_IN_ERRORS], plain, widths, key_widths)

    def with_fillings(fillings):
        return itertools.islice(itertools.product(lengths, fillings, widths, key_widths), MAX_TRIES)

    yield from itertools.product(lengths[:1], plain, widths, key_widths[:1])
    yield from with_fillings(plain)
    # A table of positions in a wrong form may be taken by chance with another number of tokens.
    yield from itertools.product(lengths[:1], subject.required_fillings[1:], widths, key_widths)
    yield from lengths_in_errors()
    yield from with_fillings(subject.required_fillings)
    yield from with_fillings(subject.optional_fillings)


def _likely_widths(subject) -> list[int]:
    """Widths of matrices, the most frequent first: most of attention's matrices lead from or to a token."""
    if subject.latent and (known := subject.latent["kv down"].input_width):
        return [known]  # the only matrix of latent attention that surely takes tokens
    sizes = [size for unit in subject.units for size in unit.shape]
    widths = sorted(set(sizes), key=lambda size: (-sizes.count(size), size))
    # Where each head has a matrix of its own that takes a part of the token, a token is as wide as all heads together.
    n_heads = [n for n in numbers_of_heads(subject.adapter.numbers(), subject.units)[0] if n > 1]
    return widths + [size * n for size in widths for n in n_heads if size * n not in widths]


def _likely_lengths(subject) -> list[int]:
    """Numbers of tokens: layers with learnt positions or windows may take just as many as an attribute says."""
    lengths = {
        int(n): "window" in name.lower()
        for name, n in subject.adapter.numbers().items()
        if vocabulary.TOKEN_COUNT.search(name) and 1 < n <= MAX_TOKENS
    }
    # A window in an image, as in Swin, is given by its side.
    squares = [n * n for n, is_window in lengths.items() if is_window and n <= MAX_WINDOW_SIDE]
    return list(dict.fromkeys((N_TOKENS, *lengths, *squares)))


def _lengths_named_in(errors: list[BaseException]) -> Iterator[int]:
    """Numbers in an error beside the number of tokens that was tried: one of them is the size that it must match.

    No attribute may tell the only number of tokens that a module takes, where a parameter's shape alone fixes it.
    """
    for error in errors:
        numbers = [int(number) for number in re.findall(r"\d+", str(error))]
        if N_TOKENS in numbers:
            yield from (number for number in numbers if 1 < number <= MAX_TOKENS and number != N_TOKENS)


def _first_error(subject, n_tokens: int) -> BaseException | None:
    """The error of a call in the most usual order of axes; None as soon as a call succeeds in any order."""
    first, question = None, Question("a batch", 2, n_tokens)
    for name, (axes, loops) in AXES.items():
        reply = subject.answer(Layout(name, axes, loops), question, subject.unweighted_case(question))
        if reply.error is None:
            return None
        first = first or reply.error
    return first
