"""What the judge is told of the subject that its tasks belong to; by itself it knows of none."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from function_judge.error_text import Cause


def _no_step(name: str, given: list, returned: np.ndarray) -> bool:
    return False


@dataclass(frozen=True)
class Subject:
    """A subject's words and habits. A stage is an intermediate result that has a name, as `Known.name` gives it.

    Parameters
    ----------
    causes : tuple of Cause
        What usually lies behind an error. One with the phrase of a cause of the judge's own takes its place; the
        others are asked first.
    aliases : dict of str to tuple of str
        By stage: what people call a variable that holds it, in lower case.
    unambiguous : tuple of str
        Auxiliary numbers that are right for one purpose only: their names, with * for any ending.
    made_of : dict of str to str
        By something that is given: the stage that is made of it.
    scaled : tuple of (str, str) or None
        Two stages between which lies a factor; right code may multiply or divide by it, or by its root.
    is_step : callable
        Whether a call of somebody's helper is a step that can't be what is wrong, whatever it was given: from the
        helper's name, the arrays that it was given (None for what is no array), and the one that it returned.
    """

    causes: tuple[Cause, ...] = ()
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unambiguous: tuple[str, ...] = ()
    made_of: Mapping[str, str] = field(default_factory=dict)
    scaled: tuple[str, str] | None = None
    is_step: Callable[[str, list, np.ndarray], bool] = _no_step

    @property
    def stage_by_alias(self) -> dict[str, str]:
        return {alias: stage for stage, aliases in self.aliases.items() for alias in aliases}


NO_SUBJECT = Subject()
