"""Training run: step through a small model's training, and see what its heads have become."""

import functools
import string
from dataclasses import dataclass

import ipywidgets
import numpy as np

from live_pictures.card import Picture
from live_pictures.controls import NAMED, dropdown
from live_pictures.options import Form, StaticPage
from live_pictures.style import number
from mha_helpers import small_runs
from mha_helpers.labs.heads_that_learn import training_run_picture as run_picture
from mha_helpers.labs.lab import Lab
from mha_helpers.measures import previous_token_score
from mha_helpers.tasks import Batch
from mha_helpers.training import HELD_OUT_SEED, Training, induction_score

YOURS, FIRST = "yours", "2 heads"
SEQUENCE, MAX_LETTERS = "cabincabinca", 12  # more letters could not be read on a map
NOTHING = "nothing"
N_SEQUENCES, N_WRITTEN = 64, 16  # to measure on: as training sees them, and token by token
LOOKS = 0.25  # of its weight, on average: from there on the read-out says where a head looks


@dataclass(frozen=True)
class Measured:
    """What a model does at one step of its training, on sequences that it has not learned from."""

    loss: float
    right: float
    right_when_writing: float
    before: np.ndarray  # (n_layers, n_heads): mean weight on the token before, in the first half
    followed: np.ndarray  # and on what followed the same token before

    @property
    def leaks(self):
        """Whether what comes after changes a guess: then the loss is not what counts."""
        return self.right - self.right_when_writing > 0.05


@dataclass(frozen=True)
class Result:
    """One step of a training, and what the model makes of a typed sequence there."""

    run: str
    step: int
    losses: list
    moments: list  # the steps that can be shown
    knock_outs: dict  # what can be knocked out, by name
    measured: Measured
    off: list  # of (layer, head)
    off_name: str
    letters: str
    weights: np.ndarray  # (n_layers, n_heads, n, n), of the typed sequence
    guesses: list  # of (letter, probability), one after each letter
    when_writing: str  # what it guesses when nothing comes after yet, where that is something else
    notice: str


def knock_outs(training):
    """Return what can be knocked out, by name: each head, and each layer."""
    heads = range(training.n_heads)
    found = {NOTHING: []}
    for layer in range(training.n_layers):
        found |= {f"layer {layer}, head {head}": [(layer, head)] for head in heads}
        found[f"all of layer {layer}"] = [(layer, head) for head in heads]
    return found


@functools.lru_cache(128)
def measure(training, step, off):
    """Measure a model at one of its steps, without some of its heads."""
    then = training.at(step)
    drawn = then.task.draw(np.random.default_rng(HELD_OUT_SEED), N_SEQUENCES)
    seen = then.look(drawn, without=off)
    right = seen.accuracy
    if not off and _leaks(then, drawn):
        some = Batch(*(array[:N_WRITTEN] for array in drawn))
        right = float((then.guesses_when_writing(some.tokens) == some.targets)[some.counts].mean())
    half = drawn.tokens.shape[-1] // 2  # by then all pairs have been seen, and nobody needs to look back
    early = [weights[..., :half, :half] for weights in seen.weights]
    before = np.array([previous_token_score(weights).mean(axis=0) for weights in early])
    followed = np.array([induction_score(weights, drawn.periods) for weights in seen.weights])
    return Measured(seen.loss, seen.accuracy, right, before, followed)


def _leaks(model, drawn):
    """Tell whether another last token changes what the model makes of those before it."""
    some = Batch(*(array[:1] for array in drawn))
    other = some.tokens.copy()
    other[:, -1] = (other[:, -1] + 1) % model.task.n_tokens
    before, after = (model.look(batch).probabilities[:, :-1] for batch in (some, some._replace(tokens=other)))
    return not np.allclose(before, after, atol=1e-5)


def compute(state, training=None):
    """Compute what is shown of one step from the controls' values.

    Parameters
    ----------
    state : dict
    training : Training, optional
        The learner's.

    Returns
    -------
    Result
    """
    run, step = state["run"], state["step"]
    if run == YOURS and training is None:  # the stored picture shows the course's own
        run, step = FIRST, max(small_runs.load(FIRST).moments)
    notice = "Your training."
    if run != YOURS:
        training, notice = small_runs.load(run), "A training stored with the course."
    letters, remark = read(state["letters"], training.task.n_tokens)
    off = tuple(knock_outs(training)[state["knock out"]])
    weights, guesses, when_writing = look(training, step, off, letters)
    return Result(
        run, step, training.losses, sorted(training.moments), knock_outs(training), measure(training, step, off),
        list(off), state["knock out"], letters, weights, guesses, when_writing, f"{notice} {remark}".strip(),
    )  # fmt: skip


@functools.lru_cache(128)
def look(training, step, off, letters):
    """Return what a model makes of a sequence at one of its steps: the Result's weights, guesses and when_writing."""
    then, tokens = training.at(step), np.array([[string.ascii_lowercase.index(letter) for letter in letters]])
    seen, when_writing = then.look(_batch_of(tokens), without=off), ""
    guesses = [(string.ascii_lowercase[row.argmax()], float(row.max())) for row in seen.probabilities[0, :, 0]]
    if measure(training, step, off).leaks:
        when_writing = "".join(string.ascii_lowercase[guess] for guess in then.guesses_when_writing(tokens)[0, :, 0])
    return seen.weights[:, 0], guesses, when_writing


def read(typed, n_tokens):
    """Return the letters that the model can read, and a remark about the others."""
    known = string.ascii_lowercase[:n_tokens]
    letters = "".join(letter for letter in typed.lower() if letter in known)
    unknown = sorted({letter for letter in typed.lower() if letter not in known and not letter.isspace()})
    remarks = []
    if unknown:
        remarks.append(f"The model knows the letters a to {known[-1]}; {', '.join(unknown[:5])} left out.")
    if not letters:
        return SEQUENCE, " ".join([*remarks, f"There is nothing to read, so here is {SEQUENCE} again."])
    if len(letters) > MAX_LETTERS:
        remarks.append(f"Of {len(letters)} letters the last {MAX_LETTERS} are shown.")
    return letters[-MAX_LETTERS:], " ".join(remarks)


def _batch_of(tokens):
    """Make a batch of tokens alone: its loss counts nowhere that matters."""
    return Batch(tokens, np.roll(tokens, -1, axis=1)[..., None], np.ones(tokens.shape, bool), np.zeros(1, int))


def percent(share):
    return f"{100 * share:.0f} %"


def sentence(result):
    """Describe the picture."""
    measured = result.measured
    without = "" if result.off_name == NOTHING else f" without {result.off_name}"
    readout = [
        f"“{result.run}”, step {result.step}{without}: loss {number(measured.loss)}; {percent(measured.right)} of the "
        "guesses on new sequences are right."
    ]
    if measured.leaks:
        readout.append(
            f"When nothing comes after yet, only {percent(measured.right_when_writing)} are: it can't write."
        )
    found = []
    for scores, what in ((measured.before, "the token before"), (measured.followed, "what followed")):
        layer, head = np.unravel_index(scores.argmax(), scores.shape)
        if scores[layer, head] > LOOKS and (layer, head) not in result.off:
            found.append(f"layer {layer}, head {head} at {what} ({number(scores[layer, head])})")
    if found:
        readout.append(f"Who looks where: {'; '.join(found)}.")
    letter, probability = result.guesses[-1]
    if measured.leaks:
        readout.append(f"To go on after “{result.letters}” it guesses “{result.when_writing[-1]}”.")
    else:
        readout.append(f"After “{result.letters}” it guesses “{letter}” ({number(probability)}).")
    return " ".join(readout)


def render(result):
    """Draw a result."""
    readout = sentence(result)
    return Picture(run_picture.draw(result, readout, result.moments, result.knock_outs), readout, result.notice)


def training_run(training: Training | None = None) -> Lab:
    """Show the training run: the loss, the heads and the guesses at each of a training's steps.

    Parameters
    ----------
    training : Training, optional
        The learner's, on repeated sequences. Those that come with the course are there beside it.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Raises
    ------
    ValueError
        If it is not a Training, or one on another task.

    Examples
    --------
    >>> lab = training_run()
    >>> "After “cabincabinca” it guesses “b” (1.00)." in lab.readout.value
    True
    >>> lab.set(**{"knock out": "all of layer 0"})
    >>> "it guesses “b”" in lab.readout.value
    False
    """
    if training is not None and not (isinstance(training, Training) and training.task.n_questions == 1):
        raise ValueError(
            "the lab needs a training.Training on tasks.repeated_sequences(); run the cell that trains it first"
        )
    runs = list(small_runs.STORED) if training is None else [YOURS, *small_runs.STORED]
    of = {YOURS: training}
    first = of.get(runs[0]) or small_runs.load(runs[0])
    steps = sorted(first.moments)
    run, step = dropdown("run", runs), dropdown("step", steps, steps[-1], width="120px")
    off = dropdown("knock out", knock_outs(first), width="230px")
    letters = ipywidgets.Text(
        SEQUENCE, description="sequence", continuous_update=False, style=NAMED, layout={"width": "260px"}
    )

    def moved(state, by):
        """Go to the step before or after."""
        at = step.options.index(state["step"]) + by
        return {"step": step.options[max(0, min(at, len(step.options) - 1))]}

    def offer(change):
        """Offer the run's own steps and heads; the step stays where it has that one, too."""
        shown = of.get(change["new"]) or small_runs.load(change["new"])
        steps, names = sorted(shown.moments), list(knock_outs(shown))
        at = max((offered for offered in steps if offered <= step.value), default=steps[0])
        if list(step.options) != steps:
            step.options = steps
            step.value = at
        if list(off.options) != names:
            chosen = off.value
            off.options = names
            off.value = chosen if chosen in names else NOTHING

    return Lab(
        name="training_run",
        title="training run",
        task="Drag the knob along the loss: when do the guesses come right? Knock out heads, one at a time: press one.",
        controls={"run": run, "step": step, "knock out": off, "letters": letters},
        actions={"Earlier": lambda state: moved(state, -1), "Later": lambda state: moved(state, 1)},
        form=Form(
            rows=([step, off], [run, letters, Lab.BUTTONS]),
            on_picture=("step", "knock out", "Earlier", "Later"),
        ),
        compute=compute,
        render=render,
        function=training,
        on_change={"run": offer},
        page=StaticPage(
            kernel_only="a sequence of your own",
            offers={"run": [runs[0]], "step": steps, "knock out": list(knock_outs(first))},
        ),
    )
