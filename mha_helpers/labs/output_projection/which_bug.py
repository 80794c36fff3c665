"""Which bug is it? Patients with one bug each, probes to put to them, and a diagnosis to commit to."""

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import ipywidgets
import numpy as np

from live_pictures import marks, style, svg
from live_pictures.card import Picture
from live_pictures.chips import chip
from live_pictures.controls import check_box, dropdown, radio
from live_pictures.options import Form, StaticPage
from mha_helpers import attention, exercises
from mha_helpers.drawing import palette
from mha_helpers.labs.lab import Lab
from mha_helpers.labs.learner_function import run_for_lab
from mha_helpers.labs.output_projection import which_bug_patients as patients
from mha_helpers.labs.output_projection.which_bug_patients import BUGS, HEALTHY, PROBES

YOURS, DEMO = "yours", "demo"
LETTERS = tuple("ABCDEFGHIJ")
DEMO_BUG = "no scale"  # of the first patient, whose answer is given
FIRST = ("row sums", "entropy")  # what was asked of the worked example, which is seen when the lab is opened

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
    "strict causal mask": (("row sums",), "With the diagonal hidden, token 0 sees nothing: its row alone sums to 0."),
    "split by reshape": (
        ("knock-out",),
        "A plain reshape puts pieces of other tokens into a head, so that head 0's columns of W_V do not end in its "
        "rows of W_O.",
    ),
    "merge by reshape": (
        ("knock-out",),
        "Heads are put together across tokens: what head 0 found goes to the first two outputs, whole.",
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
    asked: dict  # by patient: the probes that were paid for
    ill: set  # the patients of whom a probe has found something abnormal
    right: int
    tried: int
    used: int
    notice: str
    differs: dict

    @property
    def score(self):
        probes = f", {self.used} probe{'' if self.used == 1 else 's'} used" if self.used else ""
        if not self.tried:
            return f"A to J are yours to diagnose{probes}."
        return f"Score: {self.right} of {self.tried} right{probes}."


class Examined(NamedTuple):
    """What the probes read of a patient, which bug it has, and the notice."""

    readings: dict
    truth: str | None  # None where it is none of the bugs
    notice: str
    differs: dict


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
    # In this order: on the way to A come the probes that were put to the old one.
    return {"patient": "A"} | dict.fromkeys(PROBES, False) | {"ward": state["ward"] + 1, "record": "{}"}


NOTICE = f"“{DEMO}” is a worked example; A to J are the lab's own. "
OF_YOURS, OF_OURS = f"Your multi_head_attention is the patient “{YOURS}”.", f"“{YOURS}” is the course's own, here."


def compute(state, function=None):
    """Compute readings, verdict and score from the controls' values."""
    name, record, bugs = state["patient"], recorded(state), ward(state["ward"])
    shown = [probe for probe in PROBES if state[probe]]
    committed = DEMO_BUG if name == DEMO else record[name].get("diagnosis")
    if name == YOURS:
        examined = _examine_learners(function, shown, committed)
    else:
        examined = _examine(bugs.get(name, DEMO_BUG), shown, NOTICE + (OF_OURS if function is None else OF_YOURS))
    record = {letter: record.get(letter, {}) for letter in LETTERS}
    asked = {letter: entry.get("asked", ()) for letter, entry in record.items()}
    rights = _judged(record, bugs)
    ill = {letter for letter, bug in bugs.items() if _is_found_ill(_examine(bug, asked[letter], ""))}
    ill |= {name} if _is_found_ill(examined) else set()
    marks = {letter: _mark(asked[letter], rights.get(letter)) for letter in LETTERS}
    marks |= {DEMO: "explained", YOURS: _mark_of_yours(committed if name == YOURS else None, examined)}
    return Result(
        name, examined.readings, state["diagnosis"], committed, examined.truth,
        _verdict(name, committed, examined.truth, shown), marks, asked | ({name: shown} if name == YOURS else {}), ill,
        right=sum(rights.values()), tried=len(rights), used=sum(map(len, asked.values())), notice=examined.notice,
        differs=examined.differs,
    )  # fmt: skip


def _examine(bug, shown, notice):
    return Examined({probe: patients.reading(bug, probe) for probe in shown}, bug, notice, {})


def _examine_learners(function, shown, committed):
    """Put the probes to the learner's function, or to the course's own where theirs cannot be shown."""
    arguments = patients.INPUTS | {"n_heads": patients.N_HEADS, "mask": patients.CAUSAL}
    found = run_for_lab(function, attention.multi_head_attention, arguments, ("output", "weights"))
    if not found.is_theirs:
        return _examine(HEALTHY, shown, found.notice)
    run = patients.learners(function)
    truth = committed and patients.same_bug(run)  # which takes long
    return Examined({probe: patients.read(run, probe) for probe in shown}, truth, found.notice, found.differs)


def _judged(record, bugs):
    """Return, of each patient with a diagnosis, whether it is right."""
    return {letter: entry["diagnosis"] == bugs[letter] for letter, entry in record.items() if "diagnosis" in entry}


def _is_found_ill(examined):
    return any(reading.is_abnormal for reading in examined.readings.values())


def _mark(asked, right):
    if right is not None:
        return "right" if right else "wrong"
    return f"{len(asked)} asked" if asked else "–"


def _mark_of_yours(committed, examined):
    if not committed:
        return "≠" if examined.differs else "not scored"
    if examined.truth is None:
        return "no verdict"
    return "right" if committed == examined.truth else "wrong"


def _verdict(name, committed, truth, shown):
    """Say whether a diagnosis is right, and which probes tell."""
    if not committed:
        return ""
    if truth is None:
        return f"Committed: {committed}. No verdict: your function is none of the {len(BUGS)}; its check says more."
    probes, why = WHY[truth]
    named = " with ".join(probes)
    told = f"Told by {named}: {why}" if {*probes} <= {*shown} else f"{named.capitalize()} would have told: {why}"
    who = "your function" if name == YOURS else f"patient {name}"
    if name == DEMO:
        return f"The answer is “{truth}”. {told}"
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
    """Describe the picture."""
    readout = [] if result.readings else [f"Patient {result.patient}: no probe is shown yet."]
    abnormal = [f"{probe}: {reading.words}" for probe, reading in result.readings.items() if reading.is_abnormal]
    if result.readings and not result.verdict:
        normal = len(result.readings) - len(abnormal)
        readout += [f"Patient {result.patient}:", *(abnormal or ["nothing abnormal so far."])]
        readout += [f"{normal} normal."] if abnormal and normal else []
    if result.verdict:
        readout.append(result.verdict)
    if result.patient == YOURS:
        readout.append("Yours is not scored.")
    return " ".join([*readout, result.score])


CARD, BED = (322, 97), (53, 68)  # pixels: a probe's card, and a patient
TABLE = 176  # of a probe's numbers, beside which stand its words
STRIP, DESK = 322, 72  # half the width of all, and how high it is below the cards
COIN = palette.TOKENS[1]
STAMPS = {"right": style.GOOD, "wrong": style.ALARM, "explained": style.QUIET}
BEDS = (DEMO, *LETTERS, YOURS)
ROOMS = BEDS[:6], BEDS[6:]
MOUTHS = {"right": 5, "explained": 5, "wrong": -5, "≠": -5}  # how far the corners are up, in pixels


def render(result):
    """Draw a result: the waiting room, and the patient's chart, a card a probe."""
    readout = sentence(result)
    rooms = [
        svg.document(STRIP, BED[1] + 6, _room(result, six), label=label)
        for six, label in zip(ROOMS, (readout, "More patients."), strict=True)
    ]
    cards = [svg.document(*CARD, [_to_ask(result, probe)], label=f"Probe: {probe}.") for probe in PROBES]
    diagnosis, score = _desk(result).values()
    desk = ([diagnosis], "The diagnosis."), ([score, *_coins(result).values()], "The score.")
    below = [svg.document(STRIP, DESK, drawn, label=label) for drawn, label in desk]
    return Picture("".join([*rooms, *cards, *below]), readout, result.notice)


def _room(result, names):
    """Draw six patients who wait, a frame round the one that is chosen, and what they have cost."""
    waiting = [_patient(result, name) for name in names]
    return [*waiting, _chosen(result, names), *(draw(result, name) for draw in (_paid, _told) for name in names)]


def _chosen(result, names):
    drawn = ""
    if result.patient in names:
        frame = svg.box(_left(result.patient), 2, BED[0] - 4, BED[1], stroke=style.INK, stroke_width=3)
        drawn = frame + _face(result, result.patient)
    return marks.part(drawn, f"chosen of {names[0]}")


def _paid(result, name):
    """Draw a coin under a patient for each probe that was paid for."""
    n_coins = len(result.asked.get(name, ()))
    middle, apart = _left(name) + (BED[0] - 4) / 2, 8
    coins = (
        svg.circle(middle + apart * (k - (n_coins - 1) / 2), 62, 3.5, fill=COIN, stroke=style.INK)
        for k in range(n_coins)
    )
    return marks.part("".join(coins), f"paid for {name}")


def _told(result, name):
    """Draw the face of a patient once more where the diagnosis is known: it is what counts, whatever was found."""
    is_known = result.marks[name] in MOUTHS and name in LETTERS
    return marks.part(_face(result, name) if is_known else "", f"told of {name}")


def _face(result, name):
    """Draw a face that falls when a probe finds something."""
    middle = _left(name) + (BED[0] - 4) / 2
    bend = MOUTHS.get(result.marks[name], -5 if name in result.ill else 0)
    return "".join(
        [
            svg.circle(
                middle, 16, 10, fill=style.tint(style.ALARM, 0.15) if bend < 0 else style.PAPER, stroke=style.INK
            ),
            svg.circle(middle - 4, 14, 1.5, fill=style.INK),
            svg.circle(middle + 4, 14, 1.5, fill=style.INK),
            f'<path d="M{middle - 5:g} {20 - bend / 3:g}q5 {bend} 10 0" fill="none" stroke="{style.INK}"/>',
        ]
    )


def _left(name):
    return 2 + BEDS.index(name) % 6 * BED[0]


def _desk(result):
    """Draw the bugs to stamp the chart with; once it is stamped, the stamp and the score."""
    if result.committed:
        halves = [_stamp(result.committed, result.marks[result.patient], 20)], _score(result)
    else:
        asked = svg.text(0, 12, f"What ails {result.patient}? Stamp a diagnosis:", bold=True, size=12)
        bugs = [*BUGS]
        halves = [asked, *_stamps(bugs[:5])], _stamps(bugs[5:])
    return {f"desk {k}": marks.part("".join(half), f"desk {k}") for k, half in enumerate(halves)}


def _coins(result):
    """Draw a coin for each probe that was paid for to see this patient's chart."""
    n_coins, right = len(result.readings), STRIP - 4
    coins = "".join(svg.circle(right - 6 - 15 * k, 8, 6, fill=COIN, stroke=style.INK) for k in range(n_coins))
    readout = f"coins spent on {result.patient}: {n_coins}"
    return {
        "coins": marks.part(svg.text(right - 15 * n_coins - 4, 12, readout, anchor="end", size=12) + coins, "coins")
    }


def _stamps(bugs):
    x, y = 1, 18
    for bug in bugs:
        width = 7 * len(bug) + 14
        if x + width > STRIP - 2:
            x, y = 1, y + 30
        drawn, named = chip(x, y, width, bug, chosen=False), f"diagnosis: {bug}"
        yield marks.button(drawn, press="Commit", sets={"diagnosis": bug}, name=named)
        x += width + 4


def _score(result):
    """Write how many were right, and draw a coin for each probe that was paid for."""
    if result.used or result.tried:
        yield svg.text(STRIP - 2, 32, result.score, bold=True, anchor="end", size=12)
    for k in range(min(result.used, 26)):
        yield svg.circle(STRIP - 8 - 11 * k, 47, 5, fill=COIN, stroke=style.INK)


def _patient(result, name):
    """Draw a patient who waits, and what is known."""
    known, x = result.marks[name], _left(name)
    fill = {"right": style.tint(style.GOOD, 0.2), "wrong": style.tint(style.ALARM, 0.15)}.get(known, style.PANEL)
    colour = style.ALARM if known in ("≠", "wrong") else style.INK
    short = {"explained": "solved", "not scored": "–", "no verdict": "none"}.get(known, known)
    short = "–" if short.endswith("asked") else short  # its coins say so
    middle = x + (BED[0] - 4) / 2
    drawn = [
        svg.box(x, 2, BED[0] - 4, BED[1], fill=fill, stroke=style.INK),
        _face(result, name),
        svg.text(middle, 40, name, anchor="middle", bold=True, size=12),
        svg.text(middle, 55, short, anchor="middle", size=11, colour=colour, bold=known == "≠"),
    ]
    readout = f"patient {name}: {known}"
    return marks.radio("".join(drawn), {"patient": name}, name=readout, part=f"patient {name}")


def _to_ask(result, probe):
    """Draw a card that asks when it is pressed, and then stays open: its coin is spent."""
    reading = result.readings.get(probe)
    card, part = _card(probe, reading, 0, 0), f"card {probe}"
    return marks.part(card, part) if reading else marks.button(card, sets={probe: True}, name=f"ask {probe}", part=part)


def _card(probe, reading, x, y):
    """Draw one probe: its question, and if it is asked its numbers, of which the abnormal ones stand out."""
    _, question, _ = PROBES[probe]
    width, height = CARD[0] - 4, CARD[1] - 4
    abnormal = reading is not None and reading.is_abnormal
    edge = style.ALARM if abnormal else style.GOOD if reading else style.GRID
    parts = [
        svg.box(x, y, width, height, fill=style.PAPER if reading else style.PANEL, stroke=style.GRID),
        svg.box(x, y, 6, height, fill=edge),
        svg.text(x + 14, y + 17, probe, bold=True, colour=style.INK if reading else style.QUIET),
        svg.text(x + 22 + 8.6 * len(probe), y + 17, question, size=11, colour=style.QUIET),
    ]
    if reading is None:
        return "".join([*parts, *_price(x + 14, y + 54)])
    tag, colour = ("ABNORMAL", style.ALARM) if abnormal else ("normal", style.blend((edge, style.INK), 0.3))
    parts.append(svg.text(x + width - 8, y + 17, tag, anchor="end", bold=abnormal, size=11, colour=colour))
    if reading.numbers is not None:
        parts.append(_numbers(reading, x + 9, y + 21, TABLE))
    for k, line in enumerate(_lines(reading.words)):
        parts.append(svg.text(x + TABLE + 18, y + 33 + 12 * k, line, bold=abnormal, size=11, colour=colour))
    return "".join(parts)


def _price(x, y):
    yield svg.circle(x + 6, y - 4, 6, fill=COIN, stroke=style.INK)
    yield svg.text(x + 18, y, "Press to ask: one coin", colour=style.QUIET, size=12)


def _numbers(reading, x, y, width):
    """Draw a reading's table; what is abnormal is red, and of all others the shade says how large the number is."""
    dense = len(reading.columns) > 4  # bold numbers would touch
    labels = 38 if dense else 52
    step = (width - labels) / len(reading.columns)
    largest = max(np.abs(reading.numbers).max(), 1e-9)
    parts = []
    for j, column in enumerate(reading.columns):
        name = column.replace("head ", "h")
        parts.append(svg.text(x + labels + (j + 0.5) * step, y + 9, name, anchor="middle", size=11, colour=style.QUIET))
    for i, row in enumerate(reading.rows):
        top = y + 13 + 19 * i
        parts.append(svg.text(x, top + 13, row, size=11))
        for j, value in enumerate(reading.numbers[i]):
            left, bad = x + labels + j * step, reading.abnormal[i, j]
            share = 0.08 + 0.27 * min(abs(value) / largest, 1)
            fill = style.tint(style.ALARM, 0.45) if bad else style.tint(palette.ROLES["X"], share)
            parts.append(svg.box(left + 1, top, step - 2, 17, fill=fill))
            written = svg.short(value, 1 if dense else 2)  # two decimals of neighbours would touch
            written = {"0.00": "0", "0.0": "0", "1.00": "1", "1.0": "1"}.get(written, written)
            parts.append(
                svg.text(left + step / 2, top + 13, written, anchor="middle", size=11, bold=bool(bad and not dense))
            )
    if reading.changes:
        parts.append(svg.text(x, top + 30, "in %", size=11, colour=style.ALARM))
    for j, change in enumerate(reading.changes):
        left = x + labels + j * step
        parts.append(svg.text(left + step / 2, top + 30, change, anchor="middle", size=11, colour=style.ALARM))
    return "".join(parts)


def _lines(words, longest=18):
    """Break a reading's words where they would leave their card."""
    lines = [""]
    for word in words.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > longest:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _stamp(diagnosis, verdict, y):
    """Stamp the chart with a diagnosis, and whether it is right."""
    colour, width = STAMPS.get(verdict, style.INK), STRIP
    readout = f"diagnosis: {diagnosis}" if verdict == "explained" else f"{diagnosis}: {verdict}"
    text = svg.text(width / 2, y + 21, readout.upper(), anchor="middle", bold=True, colour=colour, size=14)
    frame = svg.box(6, y, width - 12, 31, fill=style.PAPER, stroke=colour, stroke_width=4)
    return f'<g transform="rotate(-1.5 {width / 2} {y + 16})">{frame}{text}</g>'


# On a page: on what its pieces depend. It keeps no score, and a record for each patient.
def _stamped(state):
    return {"record": json.dumps({state["patient"]: {"asked": [], "diagnosis": state["diagnosis"]}})}


def _diagnosed(result):
    """Draw the patient with what its record tells, whatever is asked of it now."""
    known = result.marks[result.patient]
    marks = result.marks | {result.patient: "–" if known.endswith("asked") else known}
    known = replace(result, marks=marks, ill=set())
    return {
        f"patient {result.patient}": _patient(known, result.patient),
        f"told of {result.patient}": _told(known, result.patient),
    }


def _probed(probe, result):
    reading = result.readings.get(probe)
    return {f"card {probe}": _to_ask(result, probe)}, f"{probe}: {reading.words}" if reading else ""


PIECES = {
    ("patient", "diagnosis"): lambda result: ({}, ""),  # what the stamps do
    ("patient",): lambda result: ({}, f"{result.patient}:"),
    ("patient", *PROBES): lambda result: (
        {f"chosen of {six[0]}": _chosen(result, six) for six in ROOMS}
        | {f"paid for {result.patient}": _paid(result, result.patient)}
        | _coins(result),
        "" if result.readings else "no probe is shown yet.",
    ),
    **{("patient", probe): functools.partial(_probed, probe) for probe in PROBES},
    # The record is one patient's: the others stay as they were drawn.
    ("patient", "record"): lambda result: (
        _diagnosed(result) | _desk(replace(result, used=0, tried=0)),
        result.verdict,
    ),
}


def which_bug(function: Callable | None = None) -> Lab:
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
    >>> lab.set(patient="B", diagnosis="healthy")
    >>> lab.controls["entropy"].value = True
    >>> lab.buttons["Commit"].click()
    >>> "of 1 right, 1 probe used." in lab.readout.value
    True
    """
    probes = {probe: check_box(probe, probe in FIRST) for probe in PROBES}
    patient = radio("patient", (DEMO, *LETTERS, YOURS))
    diagnosis = dropdown("diagnosis", BUGS, width="270px")
    # What is kept and not shown: which order of the bugs, and what was asked and said so far.
    hidden = {
        "ward": ipywidgets.IntText(1, description="ward"),
        "record": ipywidgets.Text("{}", description="record"),
    }

    def remember(change):
        """Keep what was asked of the patient before, and show what was asked of this one."""
        record = recorded(lab.state | {"patient": change["old"]})
        asked = record.get(change["new"], {"asked": []})["asked"]
        # The record last: on its way here, `keep` takes a switch that goes off for one of this patient's.
        lab.set(**{probe: probe in asked for probe in PROBES}, record=json.dumps(record))

    def keep(change):
        """Keep a probe that is switched off: it was asked all the same."""
        if not change["new"]:
            lab.set(record=json.dumps(recorded(lab.state | {change["owner"].description: True})))

    lab = Lab(
        name="which_bug",
        title="which bug is it",
        task="Nine of A to J are ill. Press a patient, press the probes you need, then stamp your diagnosis.",
        controls={"patient": patient} | probes | {"diagnosis": diagnosis} | hidden,
        actions={"Commit": commit, "New patients": admit},
        form=Form(
            rows=([patient], probes.values(), [diagnosis, Lab.BUTTONS]),
            on_picture=("patient", *PROBES, "diagnosis", "Commit"),
        ),
        compute=compute,
        render=render,
        function=function,
        exercise=exercises.multi_head_attention,
        on_change={"patient": remember} | dict.fromkeys(probes, keep),
        page=StaticPage(
            kernel_only="new patients, and a function of yours",
            offers={
                "record": [
                    "{}",
                    *(_stamped({"patient": bed, "diagnosis": bug})["record"] for bed in BEDS[1:] for bug in BUGS),
                ]
            },
            actions={"Commit": _stamped},
            pieces=PIECES,
            remember_per_value={"patient": (*PROBES, "record")},
        ),
    )
    return lab
