"""What is printed, and in which form: text, panel, JSON, the command, and the page of names."""

import json
import subprocess
import sys

import pytest

from attention_doctor import names
from attention_doctor.__main__ import main
from attention_doctor.reports.report import Finding, Report
from mha_helpers import attention, doctor

SICK = """
import numpy as np
from mha_helpers.attention import combine_heads, softmax, split_heads

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
    code, printed = command(capsys, f"{file}:Reader(d_model=24, n_heads=3)")
    assert code == 1
    assert printed.startswith("Reader: sick: mha-scale-d-model")
    assert "noise" not in printed


def test_the_command_says_healthy_as_json(file, capsys):
    code, printed = command(capsys, f"{file}:right", "--json")
    assert code == 0
    assert json.loads(printed)["healthy"] is True


@pytest.mark.parametrize("what", ["reader.py:right", "{file}:missing", "{file}:endless"])
def test_the_command_says_that_it_could_not(file, capsys, what):
    code, printed = command(capsys, what.format(file=file), "--seconds", "2")
    assert code == 2
    assert "could not be examined" in printed


def test_a_module_of_a_package_is_found_by_its_file_and_by_its_name(tmp_path, capsys, monkeypatch):
    package = tmp_path / "shop"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "parts.py").write_text("from mha_helpers.attention import softmax\n")
    line = SICK.splitlines()[2]
    (package / "model.py").write_text(SICK.replace(line, "from .parts import softmax"))
    monkeypatch.chdir(tmp_path)
    assert command(capsys, "shop/model.py:right")[0] == 0
    assert command(capsys, "shop.model:right")[0] == 0


def test_what_cannot_be_built_shows_its_signature_and_what_runs_on_import_is_said(file, tmp_path, capsys):
    _, printed = command(capsys, f"{file}:Reader")
    assert "Reader(d_model, n_heads)" in printed
    trains = tmp_path / "trains.py"
    trains.write_text('open("no such file")')
    _, printed = command(capsys, f"{trains}:Model")
    assert "needs a file that only defines" in " ".join(printed.split())


def test_several_targets_in_formats_for_others(file, capsys):
    targets = f"{file}:Reader.__call__", f"{file}:right"
    code, printed = command(capsys, *targets, "--json")
    assert code == 2  # a method without its object
    assert [result["healthy"] for result in json.loads(printed)] == [None, True]
    code, printed = command(capsys, f"{file}:Reader(24, 3)", "--format", "github")
    assert printed.startswith("::error file=")
    assert "line=14,title=mha-scale-d-model::Reader: " in printed  # where the scores are divided
    _, printed = command(capsys, f"{file}:Reader(24, 3)", "--format", "sarif")
    [result] = json.loads(printed)["runs"][0]["results"]
    assert result["ruleId"] == "mha-scale-d-model"
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 14}


def test_accepted_findings_do_not_count_and_notes_count_if_strict(file, tmp_path, capsys):
    known = tmp_path / "accepted.json"
    target = f"{file}:Reader(24, 3)"
    known.write_text(json.dumps({target: ["mha-scale-d-model"]}))
    code, printed = command(capsys, target, "--accepted", known)
    assert code == 0
    assert "Accepted: mha-scale-d-model." in printed
    noted = tmp_path / "noted.py"
    noted.write_text(
        "import numpy as np\n"
        "def attention(queries, keys, values, mask=None):\n"
        "    scores = queries @ keys.swapaxes(-1, -2) / keys.shape[-1] ** 0.5\n"
        "    scores = scores if mask is None else np.where(mask, scores, -np.inf)\n"
        "    weights = np.exp(scores - scores.max(-1, keepdims=True))\n"
        "    return weights / weights.sum(-1, keepdims=True) @ values\n"
    )
    assert command(capsys, f"{noted}:attention")[0] == 0
    assert command(capsys, f"{noted}:attention", "--strict")[0] == 1


def test_the_module_is_a_command():
    ended = subprocess.run([sys.executable, "-m", "mha_helpers.doctor", "--help"], capture_output=True, text=True)
    assert ended.returncode == 0
    assert "FILE.py:NAME" in ended.stdout


def test_a_report_fits_on_a_screen_and_its_panel_says_the_same():
    report = doctor.examine(attention.dot_product_attention)
    text, panel = str(report), report._repr_html_()
    assert len(text.splitlines()) <= 24
    assert max(map(len, text.splitlines())) <= 100
    for printed in ("scale-missing", "not divided", "multiply the scores by d_head ** -0.5"):
        assert printed in text
        assert printed in panel
    assert json.loads(json.dumps(report.to_json()))["findings"][0]["name"] == "scale-missing"


LONG = "something that takes a whole line to say, and then some more of the next"


@pytest.mark.parametrize("healthy", [True, False, None])
def test_a_report_of_very_much_fits_too_and_leaves_out_nothing_about_masks(healthy):
    found = [
        Finding(f"name-{i}", names.NOTE if healthy else names.LEAK, LONG * 3, repair=LONG * 2, evidence=LONG * 4)
        for i in range(0 if healthy is None else 9)
    ]
    masks = [f"mask_{i} beside causality (it stops with RuntimeError: {LONG})" for i in range(6)]
    notes = [*[LONG * 3] * 5, "`mask_1` is read as (queries, keys)."]
    caveats, read = ["`mask_0` takes the place of its own causality"], notes[-1:]
    text = str(
        Report(
            "Attention", healthy, found, [*masks, *[LONG] * 5], masks, caveats, LONG * 2, notes, read,
            asked=99, reason=LONG * 20 if healthy is None else "",
        )
    )  # fmt: skip
    assert len(text.splitlines()) <= 25, text
    assert max(map(len, text.splitlines())) <= 100
    unwrapped = " ".join(text.split())
    assert [part for part in (*masks, *caveats, *read) if part not in unwrapped] == []
    assert [name for name in (finding.name for finding in found) if name not in unwrapped] == []


def test_json_says_which_version_of_its_keys_it_has(file, capsys):
    keys = {
        "version", "subject", "healthy", "verdict", "reason", "findings", "untested", "untested_masks", "caveats",
        "layout", "notes", "mask_notes", "calls", "seconds", "target", "file", "line",
    }  # fmt: skip
    result = json.loads(command(capsys, f"{file}:right", "--json")[1])
    assert result["version"] == 1
    assert result.keys() == keys, "a key that goes needs another version"


def test_every_word_is_whole():
    for slug, word in names.WORDS.items():
        assert word.sentence.endswith("."), slug
        assert word.severity in names.SEVERITIES
        assert not word.repair.endswith("."), slug
