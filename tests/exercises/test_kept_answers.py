"""A learner's right answers come back in another kernel, and leave no trace where nothing may be kept."""

import json
import linecache

import numpy as np
import pytest

from mha_helpers import attention, course, exercises
from mha_helpers.learner import folder, kept_answers

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
    (tmp_path / ".course").mkdir()
    (tmp_path / "01_self_attention.ipynb").touch()
    monkeypatch.setattr(folder, "STARTED_IN", tmp_path)
    return typed(ANSWER, "softmax", shifted=typed(HELPER, "shifted"))


def test_a_right_answer_comes_back_with_its_helpers_and_says_from_when(learner, capsys):
    exercises.softmax.check(learner)
    kept = kept_answers.kept("softmax")
    assert kept.source == f"import numpy as np\n\n{HELPER}\n\n{ANSWER}\n"
    back = exercises.softmax.bring_back()
    assert capsys.readouterr().out == f"softmax: yours of {kept.since}\n"
    np.testing.assert_allclose(back(np.array([0.0, 0.0])), [0.5, 0.5])
    exercises.softmax.yours_or_ours(...)
    assert f"Yours of {kept.since} is kept: exercises.softmax.bring_back()" in capsys.readouterr().out


def test_a_warm_up_keeps_and_brings_back_the_same_function(learner, capsys):
    exercises.recall_causal_mask.check(typed("def causal_mask(n):\n    return np.tri(n, dtype=bool)\n", "causal_mask"))
    exercises.causal_mask.bring_back()
    assert capsys.readouterr().out.startswith("causal_mask: yours of ")


def test_a_wrong_answer_and_the_courses_own_are_not_kept(learner):
    exercises.softmax.check(typed("def softmax(scores):\n    return scores\n", "softmax"))
    exercises.softmax.check(attention.softmax)
    exercises.softmax.check(lambda scores: attention.softmax(scores))
    assert kept_answers.kept("softmax") is None


def test_the_last_right_answer_counts(learner):
    exercises.softmax.check(learner)
    other = typed(ANSWER.replace("powers", "e"), "softmax", shifted=typed(HELPER, "shifted"))
    exercises.softmax.check(other)
    exercises.softmax.check(typed("def softmax(scores):\n    return scores\n", "softmax"))
    assert "e = np.exp" in kept_answers.kept("softmax").source


@pytest.mark.parametrize(("source", "said"), [
    ("def softmax(scores):\n    return scores\n", "is not right any more"),
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


@pytest.mark.parametrize("broken", ["", "[1]", '{"softmax": 3}', '{"softmax": {"source": "", "day": "soon"}}'])
def test_a_broken_file_counts_as_none(learner, broken):
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
    assert list((tmp_path / ".course").iterdir()) == []
    assert exercises.softmax.bring_back() is attention.softmax
