"""Which bug is it? Patients with one bug each, probes to put to them, and a diagnosis to commit to."""

import functools
import json
from dataclasses import dataclass

import ipywidgets
import numpy as np

from mha_helpers import attention
from mha_helpers.drawing import style, svg
from mha_helpers.labs import which_bug_patients as patients
from mha_helpers.labs.frame import Lab, Picture, in_a_row, say_on_or_off
from mha_helpers.labs.which_bug_patients import BUGS, HEALTHY, PROBES
from mha_helpers.learner.answer import answer

YOURS = "yours"
LETTERS = tuple("ABCDEFGHIJ")

# As few probes as tell a bug from every other one, and why.
WHY = {
    HEALTHY: (("parity",), "It equals the loop over heads, with and without a mask."),
    "no scale": (("entropy",), "Scores that nobody divides are twice as large (sqrt(d_head) is 2): sharper weights."),
    "sqrt(d_model)": (("entropy",), "Divided by 4 and not by 2, the scores are half as large: flatter weights."),
    "softmax over queries": (("row sums",), "Here columns sum to 1, and rows do not: each key is shared out."),
    "mask after softmax": (
        ("row sums",),
        "Hidden keys keep their part of the denominator, so under the mask, and only there, all rows but the last "
        "fall short.",
    ),
    "mask ignored": (
        ("row sums", "parity"),
        "Its numbers are wrong only under the mask, and even there rows sum to 1: nothing is hidden at all.",
    ),
    "strict causal mask": (("row sums",), "With the diagonal hidden, token 1 sees nothing: its row alone sums to 0."),
    "split by reshape": (
        ("knock-out",),
        "A plain reshape puts pieces of other tokens into a head, so that head 1's columns of W_V do not end in its "
        "rows of W_O.",
    ),
    "merge by reshape": (
        ("knock-out",),
        "Heads are put together across tokens: what head 1 found goes to the first two outputs, whole.",
    ),
    "no W_O": (("knock-out",), "W_O is never used: zeroing its rows changes nothing."),
}


@dataclass(frozen=True)
class Result:
    """One patient: what was asked, what was found, and what was said of it."""

    patient: str
    readings: dict  # by probe: a Reading, for those that are shown
    chosen: str  # what the slider says
    committed: str | None
    truth: str | None  # the bug; None for a learner's function that is none of these
    verdict: str
    marks: dict  # by patient: "right", "wrong", or what is known so far
    right: int
    tried: int
    used: int
    notice: str
    differs: dict

    @property
    def score(self):
        probes = f"{self.used} probe{'' if self.used == 1 else 's'} used"
        return f"Score: {self.right} of {self.tried} right, {probes}."


@functools.cache
def ward(number):
    """Return the bug of each letter: one bug each, in another order for every number."""
    order = np.random.default_rng([5, number]).permutation(len(BUGS))
    return dict(zip(LETTERS, np.array([*BUGS])[order].tolist(), strict=True))


def recorded(state):
    """Return what was asked and said of each patient, with the probes that are on now."""
    record = json.loads(state["record"])
    entry = record.setdefault(state["patient"], {"asked": []})
    entry["asked"] = [probe for probe in PROBES if probe in entry["asked"] or state[probe]]
    return record


def commit(state):
    """Write the diagnosis down; the first for a patient is the one that counts."""
    record = recorded(state)
    record[state["patient"]].setdefault("diagnosis", state["diagnosis"])
    return {"record": json.dumps(record)}


def admit(state):
    """Bring in the same bugs in another order."""
    return dict.fromkeys(PROBES, False) | {"patient": YOURS, "ward": state["ward"] + 1, "record": "{}"}


def compute(state, function=None):
    """From the controls' values to readings, verdict and score."""
    name, record, bugs = state["patient"], recorded(state), ward(state["ward"])
    shown = [probe for probe in PROBES if state[probe]]
    committed = record[name].get("diagnosis")
    differs = {}
    if name == YOURS:
        run, notice, differs = _yours(function)
        readings = {probe: patients.read(run, probe) if run else patients.reading(HEALTHY, probe) for probe in shown}
        truth = HEALTHY if run is None else committed and patients.same_bug(run)
    else:
        notice = f"Patient {name} is one of the lab's own. Your multi_head_attention is the patient “{YOURS}”."
        truth = bugs[name]
        readings = {probe: patients.reading(truth, probe) for probe in shown}
    said = {letter: record[letter]["diagnosis"] for letter in LETTERS if "diagnosis" in record.get(letter, {})}
    rights = {letter: diagnosis == bugs[letter] for letter, diagnosis in said.items()}
    marks = {letter: _mark(record.get(letter, {}).get("asked"), rights.get(letter)) for letter in LETTERS}
    if committed and name == YOURS:
        marks[YOURS] = "right" if committed == truth else "no verdict" if truth is None else "wrong"
    else:
        marks[YOURS] = "≠" if differs else "not scored"
    return Result(
        name, readings, state["diagnosis"], committed, truth, _verdict(name, committed, truth, shown), marks,
        right=sum(rights.values()), tried=len(rights),
        used=sum(len(entry["asked"]) for letter, entry in record.items() if letter != YOURS), notice=notice,
        differs=differs,
    )  # fmt: skip


def _yours(function):
    """Return the learner's function as the probes run it, or None where it cannot be shown; and what is said of it."""
    arguments = patients.INPUTS | {"n_heads": patients.N_HEADS, "mask": patients.CAUSAL}
    found = answer(function, attention.multi_head_attention, arguments, ("output", "weights"))
    return (patients.learners(function) if found.is_theirs else None), found.notice, found.differs


def _mark(asked, right):
    if right is not None:
        return "right" if right else "wrong"
    return f"{len(asked)} asked" if asked else "–"


def _verdict(name, committed, truth, shown):
    """Say whether a diagnosis is right, and which probes tell."""
    if not committed:
        return ""
    if truth is None:
        return f"Committed: {committed}. No verdict: your function is none of the {len(BUGS)}; its check says more."
    probes, why = WHY[truth]
    told = f"Told by {' with '.join(probes)}: {why}"
    who = "your function" if name == YOURS else f"patient {name}"
    if committed == truth:
        return f"Committed: {committed}. Right. {told}"
    other = next(probe for probe in (*shown, *PROBES) if _words(committed, probe) != _words(truth, probe))
    return (
        f"Committed: {committed}. Wrong: {who} is “{truth}”. On {other}, “{committed}” reads "
        f"“{_words(committed, other)}”, and this one “{_words(truth, other)}” {told}"
    )


def _words(bug, probe):
    return patients.reading(bug, probe).words


def sentence(result):
    """Say what is to be seen."""
    said = [f"Patient {result.patient}:" if result.readings else f"Patient {result.patient}: no probe is shown yet."]
    said += [f"{probe}: {reading.words}" for probe, reading in result.readings.items()]
    if result.verdict:
        said.append(result.verdict)
    if result.patient == YOURS:
        said.append("Yours is not scored.")
    return " ".join([*said, result.score])


LEFT, CARD, LABEL, CELL = 8, (426, 144), 100, (51, 24)


def render(result):
    """Draw a result."""
    parts, width = [], 72
    for i, name in enumerate((YOURS, *LETTERS)):
        x, chosen = LEFT + i * (width + 5), name == result.patient
        mark = result.marks[name]
        fill = {"right": "#d9f0e3", "wrong": "#f7dede"}.get(mark, "#f2f2f2")
        parts.append(svg.box(x, 6, width, 40, fill=fill, stroke=style.INK, stroke_width=3 if chosen else 1))
        parts.append(svg.text(x + width / 2, 22, name, anchor="middle", bold=chosen))
        alarm = style.ALARM if mark in ("≠", "wrong") else style.INK
        parts.append(svg.text(x + width / 2, 39, mark, anchor="middle", size=11, colour=alarm, bold=mark == "≠"))
    top = 56
    for i, probe in enumerate(PROBES):
        x, y = LEFT + i % 2 * (CARD[0] - 2), top + i // 2 * CARD[1]
        parts += _card(probe, result.readings.get(probe), x, y)
    below = top + 3 * CARD[1] + 16
    if result.committed:
        outcome = f"Committed: {result.committed}. {result.marks[result.patient].upper()}."
    else:
        outcome = f"Your diagnosis of {result.patient}: {result.chosen}? Commit when you are sure."
    parts.append(svg.text(LEFT, below, outcome, bold=True))
    parts.append(svg.text(852, below, result.score, bold=True, anchor="end"))
    said = sentence(result)
    return Picture(svg.document(860, below + 12, parts, label=said), said, result.notice)


def _card(probe, reading, x, y):
    """Draw one probe: its question, and if it is asked its table and what that says."""
    _, question, healthy = PROBES[probe]
    width, height = CARD
    parts = [
        svg.box(x, y, width - 10, height - 8, fill=style.PAPER, stroke="#bbbbbb"),
        svg.text(x + 8, y + 18, probe, bold=True),
        svg.text(x + 14 + 8.6 * len(probe), y + 18, question, size=11, colour=style.QUIET),
    ]
    if reading is None:
        return [*parts, svg.text(x + 8, y + 68, "not asked: switch it on above", colour=style.QUIET, size=12)]
    if reading.numbers is not None:
        parts.append(
            svg.matrix(
                reading.numbers, x, y + 17 - svg.TITLE_HEIGHT + 8, title="", colours=style.role_colours("X"),
                row_labels=reading.rows, column_labels=reading.columns, label_width=LABEL, cell=CELL,
            )
        )  # fmt: skip
    parts.append(svg.text(x + 8, y + 111, reading.words, bold=True, size=12))
    return [*parts, svg.text(x + 8, y + 128, f"healthy: {healthy}", colour=style.QUIET, size=12)]


def which_bug(function=None):
    """Show the diagnosis lab: ten multi-head attentions, nine of them ill, and six probes.

    Parameters
    ----------
    function : callable, optional
        The learner's `multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None) -> (output, weights)`: one
        more patient, which is not scored. While it is a stub the course's own stands there, and the lab says so.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Examples
    --------
    >>> lab = which_bug()
    >>> lab.set(patient="A", diagnosis="healthy")
    >>> lab.controls["row sums"].value = True
    >>> lab.buttons["Commit"].click()
    >>> "of 1 right, 1 probe used." in lab.picture.value
    True
    """
    toggles = {
        probe: ipywidgets.ToggleButton(value=probe == "row sums", tooltip=question, layout={"width": "132px"})
        for probe, (_, question, _) in PROBES.items()
    }
    say_on_or_off(toggles)
    patient, diagnosis = (
        ipywidgets.SelectionSlider(
            options=list(options), description=name, style={"description_width": "70px"}, layout={"width": width}
        )
        for name, options, width in (
            ("patient", (YOURS, *LETTERS), "310px"),
            ("diagnosis", BUGS, "510px"),
        )
    )
    # What is kept and not shown: which order of the bugs, and what was asked and said so far.
    hidden = {"ward": ipywidgets.IntText(1), "record": ipywidgets.Text("{}")}

    def remember(change):
        """Keep what was asked of the patient before, and show what was asked of this one."""
        record = recorded(lab.state | {"patient": change["old"]})
        asked = record.get(change["new"], {"asked": []})["asked"]
        # The record last: on its way here, `keep` takes a switch that goes off for one of this patient's.
        lab.set(**{probe: probe in asked for probe in PROBES}, record=json.dumps(record))

    def keep(change, probe):
        """Keep a probe that is switched off: it was asked all the same."""
        if not change["new"]:
            lab.set(record=json.dumps(recorded(lab.state | {probe: True})))

    # Before the lab's own observers: what they draw is then complete.
    patient.observe(remember, "value")
    for probe, toggle in toggles.items():
        toggle.observe(functools.partial(keep, probe=probe), "value")
    lab = Lab(
        name="which_bug",
        title="which bug is it",
        task="Choose a patient, switch on as few probes as you need, set your diagnosis, and commit. Nine are ill.",
        controls={"patient": patient} | toggles | {"diagnosis": diagnosis} | hidden,
        actions={"Commit": commit, "New patients": admit},
        layout=(
            in_a_row([patient, diagnosis]),
            in_a_row(toggles.values()),
        ),
        compute=compute,
        render=render,
        function=function,
    )
    return lab
