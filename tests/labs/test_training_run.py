"""The training run, driven without a browser."""

from importlib import import_module
from xml.etree import ElementTree

import numpy as np
import pytest

from mha_helpers import small_runs, tasks
from mha_helpers.labs import training_run
from mha_helpers.measures import previous_token_score
from mha_helpers.training import Training

run_lab = import_module("mha_helpers.labs.heads_that_learn.training_run")
FIRST = training_run().first_state
SVG = "{http://www.w3.org/2000/svg}"


def computed(training=None, **state):
    return run_lab.compute(FIRST | {name.replace("_", " "): value for name, value in state.items()}, training)


def placed(picture):
    """Return each text with its place; of one that has many places, each character."""
    found = []
    for element in picture.iter(f"{SVG}text"):
        xs, ys = (list(map(float, element.get(axis).split())) for axis in "xy")
        found += zip(xs, ys, [element.text] if len(xs) == 1 else element.text, strict=True)
    return found


def texts(result):
    return [text for picture in pictures(result) for _, _, text in placed(picture)]


def pictures(result):
    return ElementTree.fromstring(f"<div>{run_lab.render(result).svg}</div>").findall(f"{SVG}svg")


@pytest.fixture(scope="module")
def short():
    return Training(tasks.repeated_sequences()).run(40)


def test_what_is_stored_does_not_depend_on_the_machine():
    result = computed()
    shown = [result.measured.before.max(), result.measured.followed.max(), *(p for _, p in result.guesses)]
    assert min(abs(100 * value % 1 - 0.5) for value in shown) > 2e-3
    assert abs(100 * np.float64(result.weights) % 1 - 0.5).min() > 1e-5


def test_maps_guesses_and_measures_are_the_models():
    result, model = computed(step=240), small_runs.load("2 heads").at(240)
    tokens = np.array([["abcdefghijklmnop".index(letter) for letter in "cabincabinca"]])
    seen = model.look(run_lab._batch_of(tokens))
    np.testing.assert_array_equal(result.weights, seen.weights[:, 0])
    assert (result.measured.leaks, result.when_writing) == (False, "")
    for (letter, probability), row in zip(result.guesses, seen.probabilities[0, :, 0], strict=True):
        assert (letter, probability) == ("abcdefghijklmnop"[row.argmax()], row.max())
    drawn = model.task.draw(np.random.default_rng(10_000), 64)
    early = model.look(drawn).weights[0][..., :16, :16]
    np.testing.assert_allclose(result.measured.before[0], previous_token_score(early).mean(axis=0))


@pytest.mark.parametrize("run", ["no mask", "mask one too far"])
def test_what_leaks_cannot_write_and_is_said_to(run):
    result = computed(run=run)
    assert result.measured.right > 0.9
    assert result.measured.right_when_writing < 0.3
    assert "it can't write" in run_lab.sentence(result)
    assert "… when it writes" in texts(result)


@pytest.mark.parametrize("run", small_runs.RIGHT)
def test_without_a_layer_it_is_lost(run):
    for layer in (0, 1):
        result = computed(run=run, knock_out=f"all of layer {layer}")
        assert result.measured.right < 0.5
        assert texts(result).count("knocked out") == small_runs.load(run).n_heads


def test_a_guess_is_wrong_only_where_somebody_could_know():
    guesses = ["dashed: nobody can know yet", "?: no answer yet"]
    after = texts(computed())
    assert (after.count("✓"), after.count("✗"), after.count("?")) == (6, 0, 1)
    assert set(guesses) <= set(after)
    assert texts(computed(knock_out="all of layer 1")).count("✗") > 3
    assert guesses[0] not in texts(computed(letters="aaa"))


def test_two_marks_are_explained_where_they_are():
    note = "a row with two marks:"
    assert note in texts(computed())
    for without in ({"letters": "cabincabi"}, {"step": 0}, {"run": "no mask"}, {"knock_out": "all of layer 1"}):
        assert note not in texts(computed(**without))


def test_a_maps_rows_and_columns_have_their_letters():
    shown = texts(computed(letters="fade"))
    for letter in "fade":
        assert shown.count(letter) >= 2 * 2 + 2 + 1, "a column of each map, a row of each layer, and what it sees"
    assert {"token before: 0.75", "followed: 0.97"} <= set(shown)


@pytest.mark.slow
def test_every_step_of_every_run_is_drawn_inside_its_picture():
    for run in small_runs.STORED:
        for step in small_runs.MOMENTS:
            for picture in pictures(computed(run=run, step=step)):
                for x, y, _ in placed(picture):
                    assert 0 <= x <= float(picture.get("width"))
                    assert 0 < y <= float(picture.get("height"))


@pytest.mark.parametrize(
    ("typed", "letters", "remark"),
    [
        ("fadefa", "fadefa", ""),
        ("Fade fa", "fadefa", ""),
        ("xyzab", "ab", "The model knows the letters a to p; x, y, z left out."),
        ("", "cabincabinca", "There is nothing to read, so here is cabincabinca again."),
        ("<b>", "b", "The model knows the letters a to p; <, > left out."),
        ("a" * 99, "a" * 12, "Of 99 letters the last 12 are shown."),
    ],
)
def test_whatever_is_typed_is_shown_or_said(typed, letters, remark):
    result = computed(letters=typed)
    assert (result.letters, remark in result.notice) == (letters, True)
    assert set(letters) <= set(texts(result))


def test_a_learners_training_is_stepped_through(short):
    lab = training_run(short)
    assert lab.state["run"] == "yours"
    assert list(lab.controls["step"].options) == [0, 20, 40]
    assert "Your training." in lab.picture.value
    lab.buttons["Earlier"].click()
    assert lab.state["step"] == 20
    assert "“yours”, step 20" in lab.readout.value
    lab.set(run="4 heads")
    assert lab.state["step"] == 0, "the last of its steps that isn't later"
    assert "layer 1, head 3" in lab.controls["knock out"].options
    lab.controls["knock out"].value = "layer 1, head 3"
    lab.controls["run"].value = "1 head"
    assert (lab.state["knock out"], "stopped" in lab.picture.value) == ("nothing", False), "it has no head 3"
    lab.buttons["Reset"].click()
    assert (lab.state["run"], lab.state["step"]) == ("yours", 40)
    assert lab.description == training_run().description, "what nbval compares must not depend on the learner"


def test_a_run_before_its_first_step_is_shown():
    lab = training_run(Training(tasks.repeated_sequences()))
    assert "step 0" in lab.readout.value


@pytest.mark.parametrize("training", [..., 3, Training(tasks.two_before())])
def test_what_is_no_such_training_is_refused(training):
    with pytest.raises(ValueError, match=r"needs a training\.Training on tasks\.repeated_sequences"):
        training_run(training)


def test_letters_beside_a_map_do_not_touch():
    picture = import_module("mha_helpers.labs.heads_that_learn.training_run_picture")
    for result in (computed(), computed(step=400)):
        beside = sorted(y for x, y, _ in placed(pictures(result)[-1]) if x == picture.MAPS - 12)
        assert len(beside) == 2 * len(result.letters)
        assert np.diff(beside).min() > picture.TINY
