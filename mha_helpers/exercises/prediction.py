"""Questions that take a committed answer before they show the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from live_pictures.panel import Panel, Shown
from mha_helpers.learner import results, session
from mha_helpers.shapes import Array

# From a reply's status to the one that is saved, in the words that exercises use.
STATUSES = {"not answered": "not attempted", "right": "correct", "not quite": "wrong"}


@dataclass(frozen=True, repr=False)
class Reply(Shown):
    """What a learner is told about a committed answer."""

    status: str  # "not answered", "right" or "not quite"
    panel: Panel
    mistake: str | None = None  # the wrong option that was chosen


class Evidence(NamedTuple):
    """What is shown once an answer is committed.

    Parameters
    ----------
    text : str
        The numbers, or a small table.
    picture : Figure, optional
    """

    text: str
    picture: object = None


@dataclass(frozen=True)
class Prediction:
    """A question to answer before the result is shown.

    Parameters
    ----------
    right : str
        The right option.
    reactions : dict of str to str
        What to say to each option.
    evidence : callable
        Computes the numbers that decide between the options, as a str or as Evidence. It is called only once an
        answer is committed; the notebook must not show them earlier.
    explanation : str, optional
        What the notebook would go on with if it didn't give the answer away: said to every committed answer.
    shown_when_wrong : bool, optional
        Whether the evidence is shown after a wrong answer, too. False where the learner is to try again.
    """

    right: str
    reactions: dict
    evidence: object
    explanation: str = ""
    shown_when_wrong: bool = True
    name: str = "(unnamed)"  # given by the registry

    def commit(self, answer: str | None) -> Reply:
        """Show the evidence, once there is an answer, and comment on the answer.

        Parameters
        ----------
        answer : str or None
            One of the options. With None the evidence stays hidden.

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
            instruction = f"Set answer to {options} and run this cell again. The result stays hidden until you commit."
            return Reply("not answered", Panel("neutral", "Not answered yet", (instruction,)))
        known = {option.casefold(): option for option in self.reactions}
        if not isinstance(answer, str) or answer.strip().casefold() not in known:
            instruction = f"{answer!r} is not one of the options; set answer to {options}."
            return Reply("not answered", Panel("neutral", "Not answered yet", (instruction,)))
        answer = known[answer.strip().casefold()]
        first = session.first_answers.setdefault(self.name, answer)
        is_right = answer == self.right
        verdict = "Right" if is_right else "Not quite"
        heading = f'{verdict}: you committed to "{answer}"'
        if answer != first:
            heading = f'{verdict}: "{answer}"; you first committed to "{first}"'
        evidence = self._computed_evidence() if is_right or self.shown_when_wrong else Evidence("")
        panel = Panel("good" if is_right else "bad", heading, self._paragraphs(answer), *evidence)
        return Reply("right", panel) if is_right else Reply("not quite", panel, mistake=answer)

    def _paragraphs(self, answer):
        return tuple(filter(None, (self.reactions[answer], self.explanation)))

    def _computed_evidence(self):
        evidence = self.evidence()
        return Evidence(evidence) if isinstance(evidence, str) else evidence

    def markdown(self) -> str:
        """Return the right answer and its evidence in a folded block, for those who read without a kernel.

        Returns
        -------
        str
            Markdown. It is written into the notebooks by `python -m tools refresh`.

        Examples
        --------
        >>> from mha_helpers import exercises
        >>> exercises.predict_constant.markdown().splitlines()[1]
        '<summary>Reading without running? The answer</summary>'
        """
        text, picture = self._computed_evidence()
        reply = "\n\n".join(self._paragraphs(self.right))
        seen = f"{picture.text}\n\n" if picture else ""  # not in the block, whose lines don't wrap
        return (
            "<details>\n<summary>Reading without running? The answer</summary>\n\n"
            f"**{self.right}**: {reply}\n\n```text\n{text}\n```\n\n{seen}</details>"
        )


def written_row(values: Array) -> str:
    """Write a row of numbers as evidence shows it.

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
