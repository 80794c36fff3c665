"""Questions that take a committed answer before they show the result."""

from dataclasses import dataclass, field

from mha_helpers.exercises import results
from mha_helpers.exercises.panel import Panel, Shown

# What results call it: the words are those of the exercises.
STATUSES = {"not answered": "not attempted", "right": "correct", "not quite": "wrong"}


@dataclass(frozen=True, repr=False)
class Reply(Shown):
    """What a committed answer is told."""

    status: str  # "not answered", "right" or "not quite"
    panel: Panel
    mistake: str | None = None  # the wrong option


@dataclass
class Prediction:
    """A question about code that has not been run yet.

    Parameters
    ----------
    right : str
        The right option.
    reactions : dict of str to str
        What to say to each option.
    run : callable
        Computes the result, as a str. It is called only once an answer is committed.
    shown_when_wrong : bool, optional
        Whether a wrong answer sees the result too. Not where it may try again.
    """

    right: str
    reactions: dict
    run: object
    shown_when_wrong: bool = True
    first_answer: str | None = field(default=None, init=False)
    name: str = field(default="(unnamed)", init=False)  # given by the registry

    def commit(self, answer):
        """Show the result, once there is an answer.

        Parameters
        ----------
        answer : str or None
            One of the options. With None the result stays hidden.

        Returns
        -------
        Reply

        Examples
        --------
        >>> from mha_helpers import exercises
        >>> exercises.predict_constant.commit(None).status
        'not answered'
        """
        reply = self._reply(answer)
        results.keep(self.name, STATUSES[reply.status], reply.mistake)
        return reply

    def _reply(self, answer):
        *most, last = [f'"{option}"' for option in self.reactions]
        options = f"{', '.join(most)} or {last}"
        if answer is None or answer is ...:
            wish = f"Set answer to {options} and run this cell again. The result stays hidden until you commit."
            return Reply("not answered", Panel("neutral", "Not answered yet", (wish,)))
        known = {option.casefold(): option for option in self.reactions}
        if not isinstance(answer, str) or answer.strip().casefold() not in known:
            wish = f"{answer!r} is not one of the options; set answer to {options}."
            return Reply("not answered", Panel("neutral", "Not answered yet", (wish,)))
        answer = known[answer.strip().casefold()]
        if self.first_answer is None:
            self.first_answer = answer
        is_right = answer == self.right
        verdict = "Right" if is_right else "Not quite"
        heading = f'{verdict}: you committed to "{answer}"'
        if answer != self.first_answer:
            heading = f'{verdict}: "{answer}"; you first committed to "{self.first_answer}"'
        result = self.run() if is_right or self.shown_when_wrong else ""
        panel = Panel("good" if is_right else "bad", heading, (self.reactions[answer],), result)
        return Reply("right", panel) if is_right else Reply("not quite", panel, mistake=answer)


def written_row(values):
    """Write a row of numbers as the results of `run` show it.

    Parameters
    ----------
    values : iterable of float

    Returns
    -------
    str

    Examples
    --------
    >>> written_row([0.25, -1])
    '[0.2500, -1.0000]'
    """
    return "[" + ", ".join(f"{value:.4f}" for value in values) + "]"
