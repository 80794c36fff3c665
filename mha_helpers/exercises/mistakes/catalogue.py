"""How a mistake is written down: as the wrong program itself.

A public function with a docstring, in the module of its exercise, is a mistake. Its name is the slug, its docstring is
what the learner is told, and of two mistakes that explain the same answer the one that stands first is named. A second
paragraph is the remedy, where that is what there is to find out: a check tells it at the second time. A mistake whose
programs come out of a loop is a `Mistake` between these functions.

Three things save repetition: `also` adds further spellings to a wrong function, `maker` puts a wrong step into a
program, and `inside` takes over a mistake of an earlier exercise.
"""

import functools
import inspect
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
        parameters = inspect.signature(function).parameters
        defaults = {name: parameters[name].default for name in choices}
        chosen = [dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())]
        # With its defaults it is the function itself, which is a spelling already.
        variants = [functools.partial(function, **choice) for choice in chosen if choice != defaults]
        function.further = (*getattr(function, "further", ()), *variants, *programs)
        return function

    return add


def maker(*makes):
    """Return a decorator that puts the wrong step below it into a program.

    Parameters
    ----------
    *makes : callable
        From a step to the program that takes it. Of several, each makes spellings of its own.

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

    @functools.wraps(makes[0])
    def made_from(step):
        first, *further = [make(spelling) for make in makes for spelling in spellings(step)]

        def program(*arguments, **options):
            return first(*arguments, **options)

        program.further = tuple(further)
        for name in ("__name__", "__doc__", "__module__"):
            setattr(program, name, getattr(step, name))
        return program

    return made_from


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
    slug, (message, *remedy) = function.__name__.replace("_", "-"), function.__doc__.split("\n\n")
    message, remedy = (" ".join(" ".join(part).split()) for part in ([message, *remedy], remedy))
    return Mistake(slug, message, spellings(function), remedy)


def mistakes_in(module, *slugs):
    """Return a module's mistakes in their order, or those of these names.

    They are its functions, and what stands between them: a Mistake, or a tuple of several.

    Examples
    --------
    >>> from mha_helpers.exercises.self_attention.mistakes import softmax
    >>> [mistake.slug for mistake in mistakes_in(softmax)][-2:]
    ['softmax-negated', 'softmax-twice']
    """
    found = []
    for name, value in vars(module).items():
        if isinstance(value, Mistake):
            found.append(value)
        elif isinstance(value, tuple) and value and all(isinstance(entry, Mistake) for entry in value):
            found += value
        elif isinstance(value, FunctionType) and value.__module__ == module.__name__ and value.__doc__:
            found += [] if name.startswith("_") else [mistake_of(value)]
    return tuple(mistake for mistake in found if not slugs or mistake.slug in slugs)


def inside(make, mistake, prefix=""):
    """Return an earlier exercise's mistake as it is made inside another one.

    Parameters
    ----------
    make : callable
        From a wrong program of the earlier exercise to a wrong program of this one.
    mistake : Mistake
    prefix : str, optional
        What its message begins with here.
    """
    return Mistake(mistake.slug, prefix + mistake.message, tuple(map(make, mistake.implementations)))
