"""What an exercise is made of, and what its check gives back."""

from dataclasses import dataclass, field

from mha_helpers.exercises.panel import Panel, Shown
from mha_helpers.judge.call import copied


@dataclass(frozen=True)
class Case:
    """One input to try; where the course's own function refuses it, a learner's must refuse it too.

    Parameters
    ----------
    trait : str
        What is particular about it, in a word or two: "a batch".
    arguments : dict of str to ndarray or int
        Passed by position.
    edge : bool, optional
        Whether it lies at the edge (very large scores, what must be refused) and so tries more than the formula. A
        mistake is looked for in all cases first, and then without these, so that two mistakes at once do not hide
        each other.
    options : dict of str to ndarray, tuple of ndarray or float, optional
        Passed by name.
    may_refuse : bool, optional
        Whether an error is as good as an answer. Whole numbers are such a case: an answer that computes in place
        (`scores /= 2`) is stopped by NumPy there, while one that fills `np.zeros_like(scores)` loses the fractions.
    if_alone : tuple of (str, str), optional
        The slug of a mistake and what to tell the learner, where no other case (but those of the same slug) goes wrong.
    """

    trait: str
    arguments: dict
    edge: bool = False
    options: dict = field(default_factory=dict)
    may_refuse: bool = False
    if_alone: tuple | None = None

    def copy(self):
        """Return all its arguments by name, as new arrays."""
        return {name: copied(value) for name, value in (self.arguments | self.options).items()}


@dataclass(frozen=True, repr=False)
class Result(Shown):
    """What a check found.

    Parameters
    ----------
    status : {"not attempted", "correct", "wrong"}
    message : str
    mistake : str or None
        The slug of the catalogued mistake, where one was recognised.
    next_step : str
        What the learner can do now.
    hints : tuple of str
        Folded away below it.
    heading : str
        In place of what the status says.
    """

    status: str
    message: str
    mistake: str | None = None
    next_step: str = ""
    hints: tuple = ()
    heading: str = ""

    @property
    def panel(self):
        tone, heading = {
            "not attempted": ("neutral", "Not attempted yet"),
            "correct": ("good", "Correct"),
            "wrong": ("bad", f"Not yet: {self.mistake}" if self.mistake else "Not yet"),
        }[self.status]
        folds = tuple((f"Hint {i} of {len(self.hints)}", hint) for i, hint in enumerate(self.hints, 1))
        paragraphs = tuple(filter(None, (self.message, self.next_step)))
        return Panel(tone, self.heading or heading, paragraphs, folds=folds)
