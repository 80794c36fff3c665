"""How a mistake is written down: as the wrong program itself.

A public function with a docstring, in the module of its exercise, is a mistake. Its name is the slug, its docstring is
what the learner is told, and of two mistakes that explain the same answer the one that stands first is named.
"""

import functools
import itertools
from types import FunctionType

from function_judge.catalogue import Mistake


def also(*programs, **choices):
    """Add to a wrong function the same mistake in further spellings.

    Parameters
    ----------
    *programs : callable
    **choices : iterable
        By the name of a parameter of the function: what it may be in place of its default. Of several, each with each.

    Examples
    --------
    >>> @also(lambda scores: scores - scores.min(), axis=(0, 1))
    ... def softmax_no_exp(scores, axis=-1):
    ...     return scores / scores.sum(axis=axis)
    >>> len(spellings(softmax_no_exp))
    4
    """

    def add(function):
        chosen = [dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())]
        variants = [functools.partial(function, **choice) for choice in chosen if choice]
        function.further = (*getattr(function, "further", ()), *variants, *programs)
        return function

    return add


def maker(make):
    """Let a function that puts a wrong step into a program stand as a decorator above the step.

    Examples
    --------
    >>> @maker
    ... def weighing(weigh):
    ...     return lambda scores, values: weigh(scores) @ values
    >>> @weighing
    ... def scores_for_weights(scores):
    ...     '''The softmax is missing.'''
    ...     return scores
    >>> scores_for_weights.__name__, scores_for_weights.__doc__
    ('scores_for_weights', 'The softmax is missing.')
    """

    @functools.wraps(make)
    def made_from(step):
        return _made_of([make(one) for one in spellings(step)], step)

    return made_from


def pipeline(make):
    """Let a function that makes a program of many steps also be a decorator above one of them.

    Examples
    --------
    >>> @pipeline
    ... def said(start=lambda: "attention", end=lambda: "."):
    ...     return lambda: start() + end()
    >>> @said("end")
    ... def doubted():
    ...     return "?"
    >>> doubted()
    'attention?'
    """

    @functools.wraps(make)
    def made_from(place=None, **steps):
        if place is None:
            return make(**steps)
        return maker(lambda step: make(**{place: step}, **steps))

    return made_from


def made_of(*programs):
    """Take the programs of a mistake as they are made elsewhere; the function below gives its name and its message.

    Examples
    --------
    >>> @made_of(abs, round)
    ... def sign_lost():
    ...     '''Your scores have lost their signs.'''
    >>> sign_lost(-2), len(spellings(sign_lost))
    (2, 2)
    """
    return lambda function: _made_of(programs, function)


def _made_of(programs, function):
    """Return the first program under a function's name and with its docstring, and with the others as further ones."""
    first, *further = programs

    def program(*given, **named):
        return first(*given, **named)

    program.further = tuple(further)
    for name in ("__name__", "__doc__", "__module__"):
        setattr(program, name, getattr(function, name))
    return program


def spellings(function):
    """Return a wrong function and those that `also` has added to it."""
    return (function, *getattr(function, "further", ()))


def mistake_of(function):
    """Return the mistake that a function is.

    Examples
    --------
    >>> def sign_lost(scores):
    ...     '''Your scores have lost their signs.'''
    ...     return abs(scores)
    >>> mistake_of(sign_lost).slug
    'sign-lost'
    """
    slug, message = function.__name__.replace("_", "-"), " ".join(function.__doc__.split())
    return Mistake(slug, message, spellings(function))


def mistakes_in(module, *slugs):
    """Return a module's mistakes in their order, or those of these names.

    They are its functions, and the tuples of mistakes that stand between them.

    Examples
    --------
    >>> from mha_helpers.exercises.self_attention.mistakes import softmax
    >>> [mistake.slug for mistake in mistakes_in(softmax)][-2:]
    ['softmax-negated', 'softmax-twice']
    """
    found = []
    for name, value in vars(module).items():
        if isinstance(value, tuple) and value and all(isinstance(one, Mistake) for one in value):
            found += value
        elif isinstance(value, FunctionType) and value.__module__ == module.__name__ and value.__doc__:
            found += [] if name.startswith("_") else [mistake_of(value)]
    return tuple(mistake for mistake in found if not slugs or mistake.slug in slugs)


def put_into(make, *steps):
    """Return the mistakes that wrong steps are in the programs that make puts them into.

    Examples
    --------
    >>> def sign_lost(scores):
    ...     '''Your scores have lost their signs.'''
    ...     return abs(scores)
    >>> [mistake] = put_into(maker(lambda step: lambda scores: step(scores) / 2), sign_lost)
    >>> mistake.slug, mistake.implementations[0](-2)
    ('sign-lost', 1.0)
    """
    return tuple(mistake_of(make(step)) for step in steps)


def inside(make, mistake, said=""):
    """Return an earlier exercise's mistake as it is made inside another: its programs put into others by make."""
    return Mistake(mistake.slug, said + mistake.message, tuple(map(make, mistake.implementations)))
