"""A learner's right answers come back in another kernel, and leave no trace where nothing may be kept."""

import dataclasses
import json
import linecache
import sys

import numpy as np
import pytest

from mha_helpers import attention, course, exercises
from mha_helpers.learner import folder, kept_answers, session

HELPER = "def shifted(scores):\n    return scores - scores.max(axis=-1, keepdims=True)\n"
ANSWER = """\
def softmax(scores):
    powers = np.exp(shifted(scores))
    return powers / powers.sum(axis=-1, keepdims=True)
"""


def typed(source, name, **known):
    """Return a function as a notebook's cell defines it."""
    names, file = {"np": np, "__name__": "__main__", **known}, f"<cell {abs(hash(source))}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    exec(compile(source, file, "exec"), names)
    return names[name]


@pytest.fixture
def learner(tmp_path, monkeypatch):
    """Keep answers as for a learner, in a folder of the test's own."""
    monkeypatch.delenv("PYTEST_VERSION", raising=False)
    monkeypatch.delenv("MHA_PROGRESS", raising=False)
    (tmp_path / "01_self_attention.ipynb").touch()
    monkeypatch.setattr(folder, "STARTED_IN", tmp_path)
    monkeypatch.setattr(session, "_told", set())
    return typed(ANSWER, "softmax", shifted=typed(HELPER, "shifted"))


def test_a_right_answer_comes_back_with_its_helpers_and_says_from_when(learner, capsys):
    assert exercises.softmax.check(learner).note == ""
    kept = kept_answers.kept("softmax")
    future = "from __future__ import annotations\n"
    assert (kept.source, kept.name) == (f"{future}import numpy as np\n\n{HELPER}\n{ANSWER}", "softmax")
    back = exercises.softmax.bring_back()
    assert capsys.readouterr().out == f"softmax: yours of {kept.since}\n"
    np.testing.assert_allclose(back(np.array([0.0, 0.0])), [0.5, 0.5])
    exercises.softmax.working_version(...)
    assert f"Your answer of {kept.since} is saved: exercises.softmax.bring_back()" in capsys.readouterr().out
    assert exercises.softmax.check(back).note == ""
    assert kept_answers.kept("softmax") == kept


BODY = """\
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)
"""
EASY = f"def softmax(scores):\n{BODY}"
ON_AXIS = BODY.replace("axis=-1", "axis=axis")
METHOD = "    def __init__(self, axis):\n        self.axis = axis\n\n    def {}(self, scores):\n" + "".join(
    f"    {line}\n" for line in BODY.replace("axis=-1", "axis=self.axis").splitlines()
)
INNER = "".join(f"    {line}\n" for line in f"def softmax(scores):\n{ON_AXIS}".splitlines())
LAMBDA = (
    "lambda s: np.exp(s - s.max({0}, keepdims=True)) / np.exp(s - s.max({0}, keepdims=True)).sum({0}, keepdims=True)"
)
TIMED = (
    "def timed(function):\n{}    def inner(*given):\n        return function(*given)\n\n    return inner\n\n\n@timed\n"
)
KEPT = {
    "annotations": EASY.replace("(scores)", "(scores: np.ndarray) -> np.ndarray"),
    "annotations of numpy.typing": "from numpy.typing import NDArray\n"
    + EASY.replace("(scores)", "(scores: NDArray[np.float64]) -> NDArray[np.bool_]"),
    "annotations as strings": EASY.replace("(scores)", "(scores: 'NDArray[not defined]')"),
    "a default": f"LAST = -1\ndef softmax(scores, axis=LAST):\n{ON_AXIS}",
    "a decorator that wraps": "import functools\n" + TIMED.format("    @functools.wraps(function)\n") + EASY,
    "a decorator that hides": TIMED.format("") + EASY,
    "a decorator, called": """from functools import wraps
def by_rows(function):
    @wraps(function)
    def inner(scores):
        return np.apply_along_axis(function, -1, scores)
    return inner
softmax = by_rows(lambda row: np.exp(row - row.max()) / np.exp(row - row.max()).sum())
""",
    "a decorated helper": "import functools\n@functools.cache\ndef axis():\n    return -1\n"
    + EASY.replace("axis=-1", "axis=axis()"),
    "minus infinity": f"NEG_INF = -np.inf\ndef softmax(scores):\n    assert NEG_INF < 0\n{BODY}",
    "a float of NumPy": f"EPS = np.float64(1e-9)\ndef softmax(scores):\n    assert EPS == 1e-9\n{BODY}",
    "an integer of NumPy": f"axis = np.int64(-1)\ndef softmax(scores):\n{ON_AXIS}",
    "an array": f"AXES = np.array([-1, 0])\ndef softmax(scores):\n    axis = int(AXES[0])\n{ON_AXIS}",
    "a list": f"KNOWN = [-1, (True, None), 'a', np.True_, 1j]\ndef softmax(scores):\n    axis = KNOWN[0]\n{ON_AXIS}",
    "a dict": "LAST = {'axis': -1, 'keepdims': True}\n" + EASY.replace("axis=-1, keepdims=True", "**LAST"),
    "a list of functions": """STEPS = [lambda s: s - s.max(-1, keepdims=True), np.exp]
def softmax(scores):
    for step in STEPS:
        scores = step(scores)
    return scores / scores.sum(-1, keepdims=True)
""",
    "another name": f"def my_softmax(scores):\n{BODY}softmax = my_softmax\n",
    "another name for a module's function": "from numpy import exp as e\n" + EASY.replace("np.exp", "e"),
    "a lambda": f"softmax = {LAMBDA.format(-1)}\n",
    "one of two lambdas": f"useless, softmax = (lambda s: s), ({LAMBDA.format(-1)})\n",
    "an object": f"class Softmax:\n{METHOD.format('__call__')}\nsoftmax = Softmax(-1)\n",
    "a method": f"class Softmax:\n{METHOD.format('run')}\nsoftmax = Softmax(-1).run\n",
    "a dataclass": "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Softmax:\n    axis: int\n\n"
    + METHOD.format("__call__").partition("\n\n")[2] + "\nsoftmax = Softmax(-1)\n",
    "a partial": "from functools import partial\n"
    f"def on_axis(scores, axis):\n{ON_AXIS}softmax = partial(on_axis, axis=-1)\n",
    "a closure": f"def make(axis):\n{INNER}    return softmax\nsoftmax = make(-1)\n",
    "a lambda in a closure": f"def make(axis):\n    return {LAMBDA.format('axis')}\nsoftmax = make(-1)\n",
    "a function that calls itself": f"def softmax(scores):\n    if scores.ndim > 1:\n"
    f"        return np.array([softmax(row) for row in scores])\n{BODY}",
    "a name of its own that stands for something else outside": f"powers = np.random.default_rng(0)\n{EASY}",
    "nothing, by a name": f"known = None\ndef softmax(scores):\n    assert known is None\n{BODY}",
}  # fmt: skip


@pytest.mark.parametrize("source", KEPT.values(), ids=KEPT)
def test_it_is_kept_and_runs_by_itself(learner, capsys, source):
    assert exercises.softmax.check(typed(source, "softmax")).note == ""
    back = exercises.softmax.bring_back()
    assert capsys.readouterr().out.startswith("softmax: yours of ")
    np.testing.assert_allclose(back(np.array([[0.0, 0.0], [0.0, np.log(3)]])), [[0.5, 0.5], [0.25, 0.75]])
    assert exercises.softmax.check(back).note == ""


NOT_KEPT = {
    "`generator`, a Generator, can't be written down": f"generator = np.random.default_rng(0)\n"
    f"def softmax(scores):\n    generator.random()\n{BODY}",
    "it doesn't stand alone (no binding for nonlocal 'axis' found)": "def make(axis):\n"
    + INNER.replace("powers", "nonlocal axis; powers", 1) + "    return softmax\nsoftmax = make(-1)\n",
    "it uses two different things that are called `axis`": f"axis = 0\ndef helper():\n    return axis\n"
    f"def make(axis):\n{INNER.replace('powers', 'helper(); powers', 1)}    return softmax\nsoftmax = make(-1)\n",
    "its text alone stops with ZeroDivisionError": "times = [1]\ndef once(function):\n    1 / times.pop()\n"
    f"    times.append(0)\n    return function\n@once\n{EASY.replace('powers', 'once; times; powers', 1)}",
    "its text alone stops with AttributeError": EASY.replace("axis=-1", "axis=softmax.axis") + "softmax.axis = -1\n",
    "its text alone isn't right: does it depend on": "def softmax(scores):\n    axis = getattr(softmax, 'axis', 0)\n"
    + ON_AXIS + "softmax.axis = -1\n",
    "writing it down stopped with RecursionError": f"ring = []\nring.append(ring)\n"
    f"def softmax(scores):\n    ring\n{BODY}",
}  # fmt: skip


@pytest.mark.parametrize(("why", "source"), NOT_KEPT.items(), ids=NOT_KEPT)
def test_what_cannot_run_by_itself_leaves_the_last_good_one_and_says_why(learner, why, source):
    exercises.softmax.check(learner)
    before = kept_answers.kept("softmax")
    result = exercises.softmax.check(typed(source, "softmax"))
    assert (result.status, result.mistake) == ("correct", None)
    assert f"This answer can't be kept for later notebooks, as {why}" in result.note
    assert result.note.endswith(f" Your answer of {before.since} stays.")
    assert result.note in repr(result)
    assert kept_answers.kept("softmax") == before


def test_a_text_that_cannot_be_found_is_said(learner):
    names = {"np": np, "__name__": "__main__"}
    exec(EASY, names)
    assert "the text of `softmax` can't be found" in exercises.softmax.check(names["softmax"]).note
    assert kept_answers.kept("softmax") is None


def test_a_text_that_never_ends_is_stopped_as_the_function_would_be(learner):
    exercise = dataclasses.replace(exercises.softmax, seconds=0.2)
    waits = "passed = []\ndef once(function):\n    while passed:\n        pass\n    return function\n"
    function = typed(f"{waits}@once\n{EASY}passed.append(0)\n", "softmax")
    assert "as its text alone stops with TimedOut" in exercise.check(function).note


def test_what_an_answer_prints_or_displays_is_not_shown_again(learner, capsys):
    exercises.softmax.check(typed(EASY.replace("powers", "print('mine'); powers", 1), "softmax"))
    assert capsys.readouterr().out == "mine\n"
    assert kept_answers.kept("softmax")


def test_the_same_text_is_not_checked_anew(learner, monkeypatch):
    exercises.softmax.check(learner)
    monkeypatch.setattr(kept_answers.KeptAnswer, "function", None)
    assert exercises.softmax.check(learner).note == ""


@pytest.mark.parametrize("name", ["causal_mask", "padding_mask", "softmax_jacobian"])
def test_an_answer_under_another_name_comes_back(learner, capsys, name):
    exercise = getattr(exercises, name)
    source = exercise.solution().source.replace(f"def {name}(", "def mine(")
    outside = {key: value for key, value in exercise.reference.__globals__.items() if key[:2] != "__"}
    assert exercise.check(typed(source, "mine", **outside)).note == ""
    exercise.bring_back()
    assert capsys.readouterr().out.startswith(f"{name}: yours of ")


@pytest.mark.parametrize("service", ["Binder", "Colab", ""])
def test_where_the_machine_ends_with_the_session_the_first_kept_answer_says_so(learner, monkeypatch, service):
    if service == "Binder":
        monkeypatch.setenv("BINDER_LAUNCH_HOST", "https://mybinder.org/")
    if service == "Colab":
        monkeypatch.setitem(sys.modules, "google.colab", None)
    notes = [exercises.softmax.check(learner).note for _ in range(2)]
    assert bool(service) == ("`course.take_home()`" in notes[0])
    assert service in notes[0]
    assert notes[1] == ""


def test_a_warm_up_keeps_and_brings_back_the_same_function(learner, capsys):
    exercises.recall_causal_mask.check(typed("def causal_mask(n):\n    return np.tri(n, dtype=bool)\n", "causal_mask"))
    exercises.causal_mask.bring_back()
    assert capsys.readouterr().out.startswith("causal_mask: yours of ")


def test_a_wrong_answer_and_the_courses_own_are_not_kept(learner):
    exercises.softmax.check(typed("def softmax(scores):\n    return scores\n", "softmax"))
    assert exercises.softmax.check(attention.softmax).note == ""
    assert kept_answers.kept("softmax") is None


def test_the_last_right_answer_counts(learner):
    exercises.softmax.check(learner)
    other = typed(ANSWER.replace("powers", "e"), "softmax", shifted=typed(HELPER, "shifted"))
    exercises.softmax.check(other)
    exercises.softmax.check(typed("def softmax(scores):\n    return scores\n", "softmax"))
    assert "e = np.exp" in kept_answers.kept("softmax").source


@pytest.mark.parametrize(("source", "said"), [
    ("def softmax(scores):\n    return scores\n", "no longer passes"),
    ("import not_there\n", "stopped with ModuleNotFoundError: No module named 'not_there'"),
    ("", "stopped with KeyError: 'softmax'"),
])  # fmt: skip
def test_what_no_longer_runs_is_said_and_the_courses_own_taken(learner, capsys, source, said):
    exercises.softmax.check(learner)
    file = kept_answers.path()
    entries = json.loads(file.read_text())
    entries["softmax"]["source"] = source
    file.write_text(json.dumps(entries))
    assert exercises.softmax.bring_back() is attention.softmax
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    "broken", ["", "[1]", '{"softmax": 3}', '{"softmax": {"source": "", "name": "", "day": "soon"}}']
)
def test_a_broken_file_counts_as_none(learner, broken):
    kept_answers.path().parent.mkdir()
    kept_answers.path().write_text(broken)
    assert kept_answers.kept("softmax") is None
    exercises.softmax.check(learner)
    assert kept_answers.kept("softmax")


def test_one_command_forgets_progress_and_answers(learner):
    exercises.softmax.check(learner)
    assert "and your right answers" in repr(course.forget_progress())
    assert kept_answers.kept("softmax") is None
    assert repr(course.forget_progress()) == "There was nothing to forget"


def test_nothing_is_kept_while_tests_run(learner, tmp_path, monkeypatch):
    monkeypatch.setenv("MHA_PROGRESS", "off")
    exercises.softmax.check(learner)
    assert [path.name for path in tmp_path.iterdir()] == ["01_self_attention.ipynb"]
    assert exercises.softmax.bring_back() is attention.softmax
