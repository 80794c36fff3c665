"""What is said, and in which form: text, panel, JSON, the command, and the page of names."""

import json
import subprocess
import sys

import pytest

from mha_helpers import attention, doctor, exercises
from mha_helpers.doctor import vocabulary
from mha_helpers.doctor.__main__ import main
from mha_helpers.exercises.engine import Exercise

SICK = """
import numpy as np
from mha_helpers.maths.attention import combine_heads, softmax, split_heads

class Reader:
    def __init__(self, d_model, n_heads):
        self.n_heads = n_heads
        rng = np.random.default_rng(0)
        self.W_q, self.W_k, self.W_v, self.W_o = (rng.normal(size=(d_model, d_model)) for _ in range(4))

    def __call__(self, x):
        print("noise")
        q, k, v = (split_heads(x @ W, self.n_heads) for W in (self.W_q, self.W_k, self.W_v))
        return combine_heads(softmax(q @ k.swapaxes(-1, -2) / x.shape[-1] ** 0.5) @ v) @ self.W_o

def right(queries, keys, values):
    return softmax(queries @ keys.swapaxes(-1, -2) / queries.shape[-1] ** 0.5) @ values

def endless(queries, keys, values):
    while True:
        pass
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "reader.py"
    path.write_text(SICK, encoding="utf-8")
    return path


def command(capsys, *arguments):
    code = main([*map(str, arguments)])
    return code, capsys.readouterr().out


def test_the_command_says_sick(file, capsys):
    code, said = command(capsys, f"{file}:Reader", "--arguments", '{"d_model": 24, "n_heads": 3}')
    assert code == 1
    assert said.startswith("Reader: sick: mha-scale-d-model")
    assert "noise" not in said


def test_the_command_says_healthy_as_json(file, capsys):
    code, said = command(capsys, f"{file}:right", "--json")
    assert code == 0
    assert json.loads(said)["healthy"] is True


@pytest.mark.parametrize("what", ["reader.py:right", "{file}:missing", "{file}:endless"])
def test_the_command_says_that_it_could_not(file, capsys, what):
    code, said = command(capsys, what.format(file=file), "--seconds", "2")
    assert code == 2
    assert "could not be examined" in said


def test_the_module_is_a_command():
    ended = subprocess.run([sys.executable, "-m", "mha_helpers.doctor", "--help"], capture_output=True, text=True)
    assert ended.returncode == 0
    assert "FILE.py:NAME" in ended.stdout


def test_a_report_fits_on_a_screen_and_its_panel_says_the_same():
    report = doctor.examine(attention.dot_product_attention)
    text, panel = str(report), report._repr_html_()
    assert len(text.splitlines()) <= 24
    assert max(map(len, text.splitlines())) <= 100
    for said in ("scale-missing", "not divided", "multiply the scores by d_head ** -0.5"):
        assert said in text
        assert said in panel
    assert json.loads(json.dumps(report.to_json()))["findings"][0]["name"] == "scale-missing"


def test_names_are_those_of_the_exercises_but_for_the_new_ones():
    known = {
        mistake.slug
        for name in dir(exercises)
        if isinstance(exercise := getattr(exercises, name), Exercise)
        for mistake in exercise.mistakes
    } | {"input-changed", "not-repeatable"}  # every exercise's
    assert {slug for slug in vocabulary.WORDS if slug not in known} == vocabulary.NEW


def test_every_word_is_whole():
    for slug, word in vocabulary.WORDS.items():
        assert word.sentence.endswith("."), slug
        assert word.severity in vocabulary.SEVERITIES
        assert not word.repair.endswith("."), slug
