"""The lab "which bug is it", driven without a browser."""

import html
import itertools
import json
import re
import warnings
from importlib import import_module

import numpy as np
import pytest

from live_pictures import style
from mha_helpers import attention
from mha_helpers.labs.output_projection import which_bug_patients as patients
from mha_helpers.labs.output_projection.which_bug import LETTERS, WHY, YOURS
from mha_helpers.labs.output_projection.which_bug_patients import (
    BUGS,
    D_HEAD,
    HEALTHY,
    INPUTS,
    N_HEADS,
    ORDER,
    PROBES,
    N,
    reading,
)

diagnosis = import_module("mha_helpers.labs.output_projection.which_bug")

NONE = dict.fromkeys(PROBES, False)
FIRST = diagnosis.which_bug().first_state | NONE | {"patient": YOURS, "row sums": True}
ALL = dict.fromkeys(PROBES, True)
CAUSAL = np.tri(N, dtype=bool)
LETTER = {bug: letter for letter, bug in diagnosis.ward(1).items()}
X, W_Q, W_K, W_V, W_O = INPUTS.values()


def softmax(scores, axis=-1):
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def written_out(bug, *, X=X, W_V=W_V, W_O=W_O, mask=None):
    """Multi-head attention with a bug, written out head by head and row by row."""
    projected = X @ W_Q, X @ W_K, X @ W_V
    all_weights, contexts = [], []
    for h in range(N_HEADS):
        if bug == "split by reshape":
            queries, keys, values = (p.ravel()[h * N * D_HEAD : (h + 1) * N * D_HEAD].reshape(N, -1) for p in projected)
        else:
            queries, keys, values = (p[:, h * D_HEAD : (h + 1) * D_HEAD] for p in projected)
        scores = queries @ keys.T / {"no scale": 1, "sqrt(d_model)": 4}.get(bug, 2)
        allowed = np.ones((N, N), bool) if mask is None or bug == "mask ignored" else mask
        if bug == "strict causal mask" and mask is not None:
            allowed = np.tri(N, k=-1, dtype=bool)
        if bug == "softmax over queries":
            weights = np.exp(scores) * allowed
            weights = weights / weights.sum(axis=0)
        elif bug == "mask after softmax":
            weights = softmax(scores) * allowed
        else:
            weights = np.zeros((N, N))
            for i in range(N):
                if allowed[i].any():
                    weights[i, allowed[i]] = softmax(scores[i, allowed[i]])
        all_weights.append(weights)
        contexts.append(weights @ values)
    together = np.concatenate(contexts, axis=1)
    if bug == "merge by reshape":
        together = np.concatenate([context.ravel() for context in contexts]).reshape(N, -1)
    return together if bug == "no W_O" else together @ W_O, np.stack(all_weights)


# ---- patients --------------------------------------------------------------------------------


@pytest.mark.parametrize("mask", [None, CAUSAL], ids=["no mask", "causal"])
@pytest.mark.parametrize("bug", BUGS)
def test_each_patient_has_its_bug_and_no_other(bug, mask):
    for got, wanted in zip(patients.patient(bug)(mask=mask), written_out(bug, mask=mask), strict=True):
        np.testing.assert_allclose(got, wanted, atol=1e-12)


@pytest.mark.parametrize("mask", [None, CAUSAL], ids=["no mask", "causal"])
def test_healthy_is_the_courses_own_and_the_loop(mask):
    wanted = attention.multi_head_attention(**INPUTS, n_heads=N_HEADS, mask=mask)
    for found in (patients.patient(HEALTHY)(mask=mask), patients.loop_form(**INPUTS, n_heads=N_HEADS, mask=mask)):
        for got, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(got, other, atol=1e-12)


@pytest.mark.parametrize("bug", BUGS)
def test_every_patient_is_known_again(bug):
    assert patients.same_bug(lambda **changed: written_out(bug, **changed)) == bug


def test_another_bug_is_none_of_these():
    def transposed(**changed):
        return written_out(HEALTHY, **changed | {"W_O": W_O.T})

    assert patients.same_bug(transposed) is None


# ---- readings --------------------------------------------------------------------------------


@pytest.mark.parametrize("bug", BUGS)
def test_every_reading_is_that_of_numpy(bug):
    def run(**changed):
        return written_out(bug, **changed)

    sums = reading(bug, "row sums").numbers
    for row, mask in zip(sums, (None, CAUSAL), strict=True):
        of_heads = run(mask=mask)[1].sum(axis=-1)
        np.testing.assert_allclose(np.abs(row - 1), np.abs(of_heads - 1).max(axis=0), atol=1e-12)

    order = list(ORDER)
    moved = np.abs(run(X=X[order])[0] - run()[0][order]).max(axis=1)
    np.testing.assert_allclose(reading(bug, "permutation").numbers[0][order], moved, atol=1e-12)

    change = np.random.default_rng(0).uniform(0.5, 1.5, X.shape[1])
    later, least = np.zeros(N), np.full(N, np.inf)
    for i, j in itertools.product(range(N), range(N)):
        changed = X.copy()
        changed[j] += change
        far = np.abs(run(X=changed, mask=CAUSAL)[0] - run(mask=CAUSAL)[0])[i].max()
        later[i], least[i] = (max(later[i], far), least[i]) if j > i else (later[i], min(least[i], far))
    np.testing.assert_allclose(reading(bug, "leak").numbers, [later, least], atol=1e-9)

    no_values, no_rows = W_V.copy(), W_O.copy()
    no_values[:, :D_HEAD] = no_rows[:D_HEAD] = 0
    ways = [np.abs(run()[0] - run(**changed)[0]).max(axis=1) for changed in ({"W_V": no_values}, {"W_O": no_rows})]
    np.testing.assert_allclose(reading(bug, "knock-out").numbers, ways, atol=1e-12)

    weights = np.stack([run()[1], written_out(HEALTHY)[1]])
    np.testing.assert_allclose(reading(bug, "entropy").numbers, -(weights * np.log(weights)).sum(-1).mean(-1))

    gaps = [
        [
            np.abs(output - other).max()
            for output, other in zip(run(mask=mask), written_out(HEALTHY, mask=mask), strict=True)
        ]
        for mask in (None, CAUSAL)
    ]
    np.testing.assert_allclose(reading(bug, "parity").numbers, gaps, atol=1e-12)


WORDS = {bug: tuple(reading(bug, probe).words for probe in PROBES) for bug in BUGS}


def test_no_two_patients_read_alike():
    for bug, other in itertools.combinations(BUGS, 2):
        assert WORDS[bug] != WORDS[other], (bug, other)


@pytest.mark.parametrize("bug", BUGS)
def test_the_probes_named_tell_a_bug_from_every_other(bug):
    probes, _ = WHY[bug]
    for other in BUGS:
        if other != bug:
            assert any(reading(bug, probe).words != reading(other, probe).words for probe in probes)


@pytest.mark.parametrize("bug", BUGS)
def test_fewer_probes_would_not_do(bug):
    for fewer in itertools.combinations(PROBES, len(WHY[bug][0]) - 1):
        alike = [
            other for other in BUGS if all(reading(bug, probe).words == reading(other, probe).words for probe in fewer)
        ]
        assert len(alike) > 1


@pytest.mark.parametrize("probe", PROBES)
def test_every_probe_is_of_use(probe):
    assert len({reading(bug, probe).words for bug in BUGS}) > 1


@pytest.mark.parametrize("probe", [probe for probe in PROBES if probe != "parity"])
def test_without_one_probe_the_others_still_tell(probe):
    """No more than two patients are mixed up."""
    kept = [other for other in PROBES if other != probe]
    readings = [tuple(reading(bug, probe).words for probe in kept) for bug in BUGS]
    assert len(set(readings)) >= len(BUGS) - 1


def test_the_healthy_one_reads_as_healthy():
    assert WORDS[HEALTHY] == (
        "All rows sum to 1.",
        "The outputs are only shuffled, too.",
        "No output moves with a later token.",
        "Both ways take the same from every output.",
        "As even as a healthy one's.",
        "Equal to the loop over heads, with and without a mask.",
    )


@pytest.mark.parametrize(
    ("bug", "probe", "words"),
    [
        ("no scale", "entropy", "Lower in every head: sharper than healthy."),
        ("sqrt(d_model)", "entropy", "Higher in every head: flatter than healthy."),
        ("softmax over queries", "row sums", "Not all rows sum to 1, even without a mask."),
        ("mask after softmax", "row sums", "Rows sum to 1, but under the mask rows 0 to 4 do not."),
        ("mask after softmax", "leak", "A later token moves outputs 0 to 4."),
        ("mask ignored", "parity", "Equal without a mask, different under it."),
        ("strict causal mask", "row sums", "Rows sum to 1, but under the mask row 0 does not."),
        ("strict causal mask", "leak", "No output moves with a later token. Outputs 0 and 1 move too little."),
        ("split by reshape", "permutation", "Other outputs: places matter, though nothing says so."),
        ("split by reshape", "knock-out", "They differ: what W_O's rows meet is not head 0 alone."),
        ("merge by reshape", "knock-out", "They differ: W_V's columns move only outputs 0 and 1."),
        ("merge by reshape", "parity", "The weights are equal, the outputs are not."),
        ("no W_O", "knock-out", "Its rows of W_O make no difference at all."),
    ],
)
def test_what_gives_a_bug_away(bug, probe, words):
    assert reading(bug, probe).words == words


def test_what_is_not_nothing_can_be_read():
    for bug, probe in itertools.product(BUGS, PROBES):
        numbers = np.abs(reading(bug, probe).numbers)
        assert numbers[numbers > 1e-9].min(initial=1) >= 0.005, (bug, probe)


# ---- the ward, the record and the score ------------------------------------------------------


@pytest.mark.parametrize("number", range(1, 6))
def test_a_ward_has_every_bug_once_in_an_order_of_its_own(number):
    assert sorted(diagnosis.ward(number).values()) == sorted(BUGS)
    assert list(diagnosis.ward(number)) == list(LETTERS)
    assert diagnosis.ward(number) != diagnosis.ward(number + 1)


def test_every_diagnosis_of_every_patient_is_judged():
    for bug, readout in itertools.product(BUGS, repeat=2):
        state = FIRST | ALL | {"patient": LETTER[bug], "diagnosis": readout}
        result = diagnosis.compute(state | diagnosis.commit(state))
        right = bug == readout
        assert (result.right, result.tried, result.used) == (int(right), 1, len(PROBES)), (bug, readout)
        assert result.marks[LETTER[bug]] == ("right" if right else "wrong"), (bug, readout)
        sentence = diagnosis.sentence(result)
        assert WHY[bug][1] in sentence, (bug, readout)
        if right:
            assert f"Committed: {readout}. Right. Told by {' with '.join(WHY[bug][0])}: " in sentence, (bug, readout)
        else:
            assert f"Committed: {readout}. Wrong: patient {LETTER[bug]} is “{bug}”." in sentence, (bug, readout)
            probe = re.search(r"On ([\w -]+), “", sentence)[1]
            assert reading(bug, probe).words != reading(readout, probe).words, (bug, readout)


def test_a_game_is_scored():
    lab = diagnosis.which_bug()
    asked = [("F", 2), ("B", 1), ("C", 3), ("D", 1), ("E", 4)]
    for turn, (letter, count) in enumerate(asked):
        lab.controls["patient"].value = letter
        assert not any(lab.state[probe] for probe in PROBES), "nobody has asked this one yet"
        for probe in list(PROBES)[:count]:
            lab.controls[probe].value = True
        truth = diagnosis.ward(1)[letter]
        lab.controls["diagnosis"].value = truth if turn < 3 else next(bug for bug in BUGS if bug != truth)
        lab.buttons["Commit"].click()
    assert "Score: 3 of 5 right, 11 probes used." in lab.picture.value, "the worked example's are not counted"
    lab.buttons["Reset"].click()
    assert lab.state == lab.first_state
    assert "A to J are yours to diagnose." in lab.picture.value


def test_the_first_diagnosis_counts():
    lab = diagnosis.which_bug()
    lab.set(patient=LETTER["no W_O"], diagnosis="no scale")
    lab.buttons["Commit"].click()
    lab.controls["diagnosis"].value = "no W_O"
    lab.buttons["Commit"].click()
    assert "Score: 0 of 1 right" in lab.picture.value
    assert ">NO SCALE: WRONG</text>" in lab.picture.value


def test_a_probe_switched_off_was_asked_all_the_same():
    lab = diagnosis.which_bug()
    lab.buttons["New patients"].click()
    for value in (True, False, True):
        lab.controls["leak"].value = value
    lab.controls["leak"].value = False
    assert "1 probe used." in lab.picture.value


def test_a_face_falls_when_a_probe_finds_something():
    def faces(**state):
        result = diagnosis.compute(FIRST | NONE | state)
        return {name for name in diagnosis.BEDS if "q5 -5" in diagnosis._face(result, name)}

    assert faces(patient="B") == set()
    assert faces(patient="B", entropy=True) == {"B"}
    assert faces(patient="B", **{"row sums": True}) == set()
    assert faces(patient="C", record='{"B": {"asked": ["entropy"]}, "F": {"asked": ["parity"]}}') == {"B"}


def test_what_was_asked_is_there_when_one_comes_back():
    lab = diagnosis.which_bug()
    lab.controls["patient"].value = "A"
    lab.controls["entropy"].value = True
    readings = diagnosis.compute(lab.state).readings
    lab.controls["patient"].value = "B"
    lab.controls["leak"].value = True
    lab.controls["patient"].value = "A"
    assert [probe for probe in PROBES if lab.state[probe]] == ["entropy"]
    assert diagnosis.compute(lab.state).readings == readings
    assert "2 probes used" in lab.picture.value


def test_new_patients_come_in_another_order():
    lab = diagnosis.which_bug()
    lab.set(patient="A", diagnosis=diagnosis.ward(1)["A"])
    lab.buttons["Commit"].click()
    lab.buttons["New patients"].click()
    assert (lab.state["ward"], lab.state["patient"], lab.state["record"]) == (2, "A", "{}")
    assert "A to J are yours to diagnose." in lab.picture.value
    lab.set(patient="A", diagnosis=diagnosis.ward(2)["A"])
    lab.buttons["Commit"].click()
    assert "Score: 1 of 1 right" in lab.picture.value


def test_compute_keeps_nothing():
    state = FIRST | ALL | {"patient": "D"}
    before = json.dumps(state)
    assert diagnosis.render(diagnosis.compute(state)).html() == diagnosis.render(diagnosis.compute(state)).html()
    assert json.dumps(state) == before


# ---- the page --------------------------------------------------------------------------------


def test_the_first_patient_is_a_worked_example_and_spoils_no_other():
    lab = diagnosis.which_bug()
    assert lab.description == (
        "Lab: which bug is it. The answer is “no scale”. Told by entropy: Scores that nobody divides are twice as "
        "large (sqrt(d_head) is 2): sharper weights. A to J are yours to diagnose. "
        "Run all cells above, then this one, for the live lab."
    )
    lab.controls["patient"].value = diagnosis.DEMO
    assert ">DIAGNOSIS: NO SCALE</text>" in lab.picture.value
    assert not any(bug in lab.picture.value for bug in BUGS if bug not in (HEALTHY, "no scale"))


def test_it_opens_on_the_worked_example_and_the_others_are_untouched():
    lab = diagnosis.which_bug()
    assert lab.state["patient"] == diagnosis.DEMO
    assert lab.picture.value.count("Press to ask") == 4
    assert lab.picture.value.count(">ABNORMAL</text>") == 1
    lab.set(patient="A")
    assert lab.picture.value.count("Press to ask") == 6


def test_no_number_of_a_card_touches_its_neighbour():
    for bug, probe in itertools.product(BUGS, PROBES):
        found = reading(bug, probe)
        if found.numbers is None:
            continue
        drawn = diagnosis._numbers(found, 0, 0, diagnosis.TABLE)
        step = (diagnosis.TABLE - (38 if len(found.columns) > 4 else 52)) / len(found.columns)
        written = re.findall(r'font-size="11"[^>]*>(−?[\d.]+)</text>', drawn)
        assert max(6.2 * len(number.replace(".", "")) + 3 for number in written) < step, (bug, probe)


def test_what_is_to_be_done_is_said_once():
    lab = diagnosis.which_bug()
    lab.buttons["New patients"].click()
    assert ">A to J are yours to diagnose.<" not in lab.picture.value
    assert lab.readout.value.count("A to J are yours to diagnose.") == 1


def test_what_is_abnormal_is_of_one_colour_and_the_heads_changes_are_written():
    page = diagnosis.which_bug().still_picture.svg
    entropies = reading("no scale", "entropy").numbers
    assert page.count(f'fill="{style.tint(style.ALARM, 0.45)}"') == 4
    assert page.count(">in %</text>") == 1
    for patient, healthy in entropies.T:
        assert f">−{100 - 100 * patient / healthy:.0f}</text>" in page
    assert not reading(HEALTHY, "entropy").changes


def test_the_worked_example_is_not_scored():
    lab = diagnosis.which_bug()
    lab.set(patient=diagnosis.DEMO)
    lab.set(**ALL)
    lab.buttons["Commit"].click()
    assert lab.readout.value.endswith("A to J are yours to diagnose.</p>"), "no probe is counted"


def test_what_is_abnormal_is_what_no_healthy_one_says():
    for bug, probe in itertools.product(BUGS, PROBES):
        assert reading(bug, probe).is_abnormal == (reading(bug, probe).words != reading(HEALTHY, probe).words), (
            bug,
            probe,
        )


def text_of(page):
    return html.unescape(" ".join(re.sub("<[^>]+>", " ", page).split()))


@pytest.mark.parametrize("patient", [YOURS, *LETTERS])
def test_every_patient_is_drawn_with_its_readings(patient):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = diagnosis.compute(FIRST | ALL | {"patient": patient})
        page = diagnosis.render(result).html()
    assert "Press to ask" not in page
    assert "Cannot be read" not in page
    for found in result.readings.values():
        assert found.words in text_of(page), "broken into lines, and not cut off"
    assert not re.findall(r"\bid=", page)
    assert diagnosis.render(diagnosis.compute(FIRST | NONE | {"patient": patient})).svg.count("Press to ask") == 6


def test_reset_brings_back_the_first_picture():
    lab = diagnosis.which_bug()
    first = lab.picture.value
    lab.set(patient="C", diagnosis="no scale", **ALL)
    lab.buttons["Commit"].click()
    assert lab.picture.value != first
    lab.buttons["Reset"].click()
    assert (lab.picture.value, lab.state) == (first, lab.first_state)


# ---- the learner's function ------------------------------------------------------------------


def as_learner(bug):
    def multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        return BUGS[bug](X, W_Q, W_K, W_V, W_O, n_heads, mask)

    return multi_head_attention


@pytest.mark.parametrize("bug", BUGS)
def test_the_learners_own_is_a_patient_too(bug):
    state = FIRST | ALL | {"diagnosis": bug}
    result = diagnosis.compute(state | diagnosis.commit(state), as_learner(bug))
    assert tuple(found.words for found in result.readings.values()) == WORDS[bug]
    assert (result.truth, result.marks[YOURS]) == (bug, "right")
    assert (result.right, result.tried, result.used) == (0, 0, 0), "it is not scored"
    if bug == HEALTHY:
        assert result.notice == "Running on your multi_head_attention."
    else:
        assert "is not right yet (marked ≠)" in result.notice
        assert "≠" in diagnosis.render(diagnosis.compute(FIRST, as_learner(bug))).svg


def test_a_wrong_diagnosis_of_ones_own_is_wrong():
    state = FIRST | {"diagnosis": "no scale"}
    result = diagnosis.compute(state | diagnosis.commit(state), as_learner("no W_O"))
    assert result.marks[YOURS] == "wrong"


def test_a_bug_outside_the_list_gets_no_verdict():
    def transposed(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        return attention.multi_head_attention(X, W_Q, W_K, W_V, W_O.T, n_heads, mask)

    state = FIRST | ALL
    result = diagnosis.compute(state | diagnosis.commit(state), transposed)
    assert result.marks[YOURS] == "no verdict"


def needs_a_mask(X, W_Q, W_K, W_V, W_O, n_heads, mask):
    return as_learner(HEALTHY)(X, W_Q, W_K, W_V, W_O, n_heads, mask)


def nan_without_a_mask(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    output, weights = as_learner(HEALTHY)(X, W_Q, W_K, W_V, W_O, n_heads, mask)
    return output * (np.nan if mask is None else 1), weights


def other_shapes_without_a_mask(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    output, weights = as_learner(HEALTHY)(X, W_Q, W_K, W_V, W_O, n_heads, mask)
    return (output[:3] if mask is None else output), weights


def nan_under_the_mask(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    output, weights = as_learner(HEALTHY)(X, W_Q, W_K, W_V, W_O, n_heads, mask)
    return output * (1 if mask is None else np.nan), weights


def negative(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    return tuple(-array for array in as_learner(HEALTHY)(X, W_Q, W_K, W_V, W_O, n_heads, mask))


def huge(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    output, weights = as_learner(HEALTHY)(X, W_Q, W_K, W_V, W_O, n_heads, mask)
    return output * 1e308, weights * 1e300


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (needs_a_mask, "without a mask it stopped with TypeError"),
        (nan_without_a_mask, "without a mask it returned NaN or infinity"),
        (other_shapes_without_a_mask, "without a mask it returned other shapes"),
        (nan_under_the_mask, "with the causal mask it returned NaN or infinity"),
        (negative, "a weight is negative"),
        (huge, ""),
    ],
)
def test_whatever_a_function_does_the_lab_goes_on(function, why):
    lab = diagnosis.which_bug(function)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lab.set(patient=YOURS)
        lab.set(**ALL)
        lab.buttons["Commit"].click()
    assert "This lab stopped" not in lab.picture.value
    assert f"Cannot be read: {why}." in text_of(lab.picture.value) or not why
    assert "No verdict" in lab.picture.value


@pytest.mark.parametrize(
    ("function", "notice"),
    [
        pytest.param(lambda *arguments: ..., "yours is not written yet", id="stub"),
        pytest.param(lambda *arguments: 1 / 0, "yours stopped with ZeroDivisionError", id="raises"),
        pytest.param(lambda X: X, "yours stopped with TypeError", id="other arguments"),
        pytest.param(lambda *arguments: arguments[0], "in the right shapes", id="shape"),
        pytest.param(lambda *arguments: "right", "in the right shapes", id="text"),
        pytest.param(3, "what was given is not a function but int", id="no function"),
    ],
)
def test_a_function_that_cannot_be_shown_is_replaced(function, notice):
    lab = diagnosis.which_bug(function)
    lab.set(patient=YOURS)
    lab.set(**ALL)
    lab.buttons["Commit"].click()
    page = lab.picture.value
    assert "Shown with the course&#x27;s own multi_head_attention: " in page
    assert html.escape(notice) in page
    assert "≠" not in page
    assert "Committed: healthy. Right." in page
    lab.controls["patient"].value = "A"
    assert "≠" not in lab.picture.value


def test_a_function_cannot_change_the_patients():
    def destroys(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        found = as_learner(HEALTHY)(X, W_Q, W_K, W_V, W_O, n_heads, mask)
        for array in (X, W_Q, W_K, W_V, W_O):
            array[:] = 99
        return found

    result = diagnosis.compute(FIRST | ALL, destroys)
    assert tuple(found.words for found in result.readings.values()) == WORDS[HEALTHY]


@pytest.mark.parametrize("bug", BUGS)
def test_float32_is_no_bug(bug):
    def narrow(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        arrays = (np.float32(array) for array in (X, W_Q, W_K, W_V, W_O))
        return tuple(array.astype(np.float32) for array in as_learner(bug)(*arrays, n_heads, mask))

    state = FIRST | ALL | {"diagnosis": bug}
    result = diagnosis.compute(state | diagnosis.commit(state), narrow)
    assert tuple(found.words for found in result.readings.values()) == WORDS[bug]
    assert result.marks[YOURS] == "right"


def test_new_patients_are_drawn_once_and_never_half_set(monkeypatch):
    lab = diagnosis.which_bug()
    lab.set(patient="B", entropy=True)
    drawn = []
    render = lab.render
    monkeypatch.setattr(lab, "render", lambda result: drawn.append(result) or render(result))
    lab.buttons["New patients"].click()
    assert [(result.patient, result.used) for result in drawn] == [("A", 0)]


def test_a_probe_that_is_switched_off_is_never_drawn_as_not_asked(monkeypatch):
    lab = diagnosis.which_bug()
    lab.set(patient="B", entropy=True)
    drawn = []
    render = lab.render
    monkeypatch.setattr(lab, "render", lambda result: drawn.append(result) or render(result))
    lab.controls["entropy"].value = False
    assert {result.used for result in drawn} == {1}


def test_a_cards_last_line_stands_clear_of_its_border():
    lab = diagnosis.which_bug()
    [card] = re.findall(r"<svg[^>]*Probe: entropy\..*?</svg>", lab.picture.value)
    assert "in %" in card
    height = float(re.search(r'<rect x="0" y="0" width="\d+" height="(\d+)"', card)[1])
    assert max(map(float, re.findall(r'<text x="[\d.]+" y="([\d.]+)"', card))) < height - 8
