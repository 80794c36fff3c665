"""The exit test of notebook 05: the whole function from memory, and three layers with a bug each, drawn by a seed."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from function_judge.evidence import what_happened
from function_judge.source import same_code
from function_judge.verdict import judge
from live_pictures.panel import Note, Panel
from mha_helpers.exercises.output_projection.multi_head_attention import exercise
from mha_helpers.learner import results

RIGHT = """\
def layer(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    d_head = W_Q.shape[-1] // n_heads
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    Q, K, V = (A.reshape(*A.shape[:-1], n_heads, d_head).swapaxes(-3, -2) for A in (Q, K, V))
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(d_head)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax_or_zeros(scores)
    heads = weights @ V
    joined = heads.swapaxes(-3, -2).reshape(*X.shape[:-1], n_heads * d_head)
    return joined @ W_O, weights
"""

# What is right in a line, what stands there instead, and the catalogue's name for it.
FAULTS = (
    ("/ np.sqrt(d_head)", "/ np.sqrt(X.shape[-1])", "mha-scale-d-model"),
    ("/ np.sqrt(d_head)", "/ d_head", "scale-no-root"),
    ("scores = Q @ K.swapaxes(-1, -2)", "scores = K @ Q.swapaxes(-1, -2)", "mha-matrices-swapped"),
    ("np.where(mask, scores, -np.inf)", "np.where(mask, -np.inf, scores)", "mask-inverted"),
    ("np.where(mask, scores, -np.inf)", "np.where(mask, scores, 0)", "mask-score-zero"),
    ("softmax_or_zeros(scores)", "softmax_or_zeros(scores.swapaxes(-1, -2)).swapaxes(-1, -2)", "softmax-over-queries"),
    ("heads = weights @ V", "heads = weights @ K", "mha-same-matrix"),
    ("joined @ W_O,", "joined @ W_O.T,", "mha-output-projection-transposed"),
    ("joined = heads.swapaxes(-3, -2)", "joined = heads[..., ::-1, :, :].swapaxes(-3, -2)", "mha-combine-reversed"),
    (
        "n_heads, d_head).swapaxes(-3, -2) for",
        "d_head, n_heads).swapaxes(-1, -2).swapaxes(-3, -2) for",
        "mha-strided",
    ),
)
# Mistakes unrelated to any of the bugs: the course's usual words for them give no answer away.
UNRELATED_MISTAKES = ("arguments-order", "extra-argument", "never-ends", "input-changed", "not-repeatable")
# Mistakes that only unusual input shows: nobody could guess that the test asks about it.
MISTAKES_AT_THE_EDGES = ("fractions-lost", "mha-width-of-X", "scale-fixed-above", "softmax-no-max")
MISTAKES_IN_EMPTY_ROWS = ("mask-full-row-nan", "mask-full-row-uniform", "mask-full-row-unmasked")
PARTS = ("memory", 1, 2, 3)
NAMES = {"memory": "from memory", 1: "layer 1", 2: "layer 2", 3: "layer 3"}


@dataclass
class ExitTest:
    """Four functions to hand in; the results are kept as long as the kernel runs."""

    seed: int
    faults: tuple
    tries: dict = field(default_factory=lambda: dict.fromkeys(PARTS, 0))
    right: dict = field(default_factory=lambda: dict.fromkeys(PARTS, False))

    def source(self, number: str | int) -> str:
        """Return the source of one of the three layers, with its bug.

        Parameters
        ----------
        number : {1, 2, 3}

        Returns
        -------
        str
        """
        correct, faulty, _ = self.faults[self._checked_part(number, PARTS[1:]) - 1]
        return RIGHT.replace(correct, faulty).replace("def layer(", f"def layer_{number}(")

    def check(self, part: str | int, function: Any, line: int | None = None) -> Note:
        """Say whether a function is right, but, this being a test, don't name its mistake.

        A layer is right once it is fixed *and* its faulty line is named: otherwise one right function would do for all.

        Some things are said all the same, as nobody could guess them: that the function stopped, and why; that it
        returned something other than what is asked for; that only a row in which everything is hidden is wrong, or
        only heads wider than the model. A layer handed in as it was given doesn't count as a try.

        Parameters
        ----------
        part : {"memory", 1, 2, 3}
        function : callable
        line : int, optional
            The number of the layer's faulty line, counted from its `def`, which is line 1.

        Returns
        -------
        Note
        """
        part = self._checked_part(part, PARTS)
        if part != "memory" and same_code(function, _compiled(self.source(part), f"layer_{part}")):
            text = f"This is still layer {part} as given: find its bug, and fix it."
            return Note(Panel("neutral", f"Exit test, {NAMES[part]}: not attempted yet", (text,)))
        judged = judge(exercise, function)
        status = judged.status
        if judged.undecided:
            return Note(Panel("neutral", judged.undecided, (judged.message,)))
        if status == "not attempted":
            return Note(Panel("neutral", f"Exit test, {NAMES[part]}: not attempted yet"))
        if status == "correct" and part != "memory" and line is None:
            text = (
                f"This function is right. Which line of layer {part} was wrong? Count from its def, which is line 1, "
            )
            text += f"and hand both in: `test.check({part}, layer_{part}, line=...)`."
            return Note(Panel("neutral", f"Exit test, {NAMES[part]}: one thing is missing", (text,)))
        if not self.right[part]:
            self.tries[part] += 1
        if status == "correct" and part != "memory" and line != self._faulty_line(part):
            results.keep(f"exit_test {NAMES[part]}", "wrong", None)
            text = f"The function is right, but line {line!r} of layer {part} as it was given has no bug. Where was it?"
            return Note(Panel("bad", f"Exit test, {NAMES[part]}: not yet", (text,)))
        self.right[part] |= status == "correct"
        results.keep(f"exit_test {NAMES[part]}", status, None)
        if status == "correct":
            return Note(Panel("good", f"Exit test, {NAMES[part]}: right", self._the_bug(part)))
        return Note(Panel("bad", f"Exit test, {NAMES[part]}: not yet", (self._what_happened(function, judged),)))

    def _faulty_line(self, part):
        _, faulty, _ = self.faults[part - 1]
        lines = self.source(part).splitlines()
        return next(number for number, line in enumerate(lines, 1) if faulty in line)

    def _the_bug(self, part):
        """Say what was wrong with a layer, now that it is fixed."""
        if part == "memory":
            return ()
        correct, faulty, _ = self.faults[part - 1]
        return (f"The bug: it said `{faulty}` where `{correct}` belongs.",)

    def _what_happened(self, function, judged):
        if judged.case is None or judged.mistake in UNRELATED_MISTAKES + MISTAKES_AT_THE_EDGES:
            return judged.message
        trial = exercise.trial(function, judged.case)
        if trial.actual.error is not None or not trial.is_comparable:
            return what_happened(exercise, function, trial, is_named=False)
        if judged.mistake in MISTAKES_IN_EMPTY_ROWS:
            return "It is right wherever a row sees something. A row in which everything is hidden must give zeros."
        text = "It runs, and the shapes are right, but the numbers aren't yet. Run it on a small example of your own, "
        return text + "beside the formula, and look for the first step that differs."

    def result(self) -> Note:
        """Sum up the test in a line that can be kept or handed in.

        Returns
        -------
        Note
        """
        lines = []
        for part in PARTS:
            tries = f"{self.tries[part]} {'try' if self.tries[part] == 1 else 'tries'}"
            state = f"right, {tries}" if self.right[part] else f"not right yet, {tries}"
            lines.append(f"{NAMES[part]}: {state if self.tries[part] else 'not attempted'}")
        count = sum(self.right.values())
        return Note(
            Panel("good" if count == 4 else "neutral", f"Exit test {self.seed}: {count} of 4 right", tuple(lines))
        )

    def solution(self) -> Note:
        """Show the three bugs: for the instructor, or for you when you have finished.

        Returns
        -------
        Note
        """
        numbered = enumerate(self.faults, 1)
        lines = [f"Layer {i}, {slug}: `{faulty}` should be `{correct}`." for i, (correct, faulty, slug) in numbered]
        return Note(Panel("info", f"Exit test {self.seed}: the three bugs", tuple(lines)))

    def _checked_part(self, part, parts):
        if part not in parts:
            raise ValueError(f"the exit test has no part {part!r}; give one of {', '.join(map(repr, parts))}")
        return part

    @property
    def _note(self):
        # One at a time: side by side, the three layers would give each other's bugs away.
        number = next((number for number in PARTS[1:] if not self.right[number]), None)
        if number is None:
            return Note(Panel("good", f"Exit test {self.seed}: all three layers are right"))
        text = "This layer has one bug. Copy it into a cell of its own, fix it, and hand it in with "
        text += (
            f"`test.check({number}, layer_{number}, line=...)`, where the line is the one that was wrong, counted from "
            "the def. `softmax_or_zeros` is right: it is softmax, with zeros for a row "
        )
        text += "in which everything is hidden."
        title = f"Exit test {self.seed}: layer {number} of 3"
        return Note(Panel("info", title, (text,), self.source(number)))

    def __repr__(self):
        return repr(self._note)

    def _repr_html_(self):
        return self._note._repr_html_()


def _compiled(source, name):
    names = {}
    exec(source, names)
    return names[name]


def exit_test(seed: int = 1) -> ExitTest:
    """Draw an exit test: three bugs of the catalogue, each in a form that the notebooks did not show.

    Parameters
    ----------
    seed : int, optional
        The same seed gives the same test.

    Returns
    -------
    ExitTest

    Raises
    ------
    ValueError
        If the seed is not a whole number.

    Examples
    --------
    >>> test = exit_test(seed=1)
    >>> test.check("memory", ...)
    Exit test, from memory: not attempted yet
    """
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise ValueError(f"seed={seed!r} is not a whole number; give one, such as 1")
    draw = random.Random(seed)
    faults_of: dict[str, list[tuple[str, str, str]]] = {}  # by the correct code that each replaces
    for correct, faulty, slug in FAULTS:  # two bugs in the same code would look too much alike
        faults_of.setdefault(correct, []).append((correct, faulty, slug))
    chosen = draw.sample(sorted(faults_of), 3)
    return ExitTest(seed, tuple(draw.choice(faults_of[correct]) for correct in chosen))
