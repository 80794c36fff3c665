"""Several targets in one process, and how a target says what is examined."""

import pytest

from attention_doctor.separate_process import Examiner

ATTENTION = """
import numpy as np
{line}

def softmax(scores):
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)

class Attention:
    def __init__(self, d_model, n_heads):
        self.d_model, self.n_heads = d_model, n_heads

def attention(queries, keys, values):
    return softmax(queries @ keys.swapaxes(-1, -2) * FACTOR(keys)) @ values
"""
RIGHT = "def FACTOR(keys): return keys.shape[-1] ** -0.5"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Write files into a folder, which is then the current one."""

    def write(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/")
            path = path.with_suffix(path.suffix or ".py")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        return tmp_path

    return write


def verdicts(*targets):
    with Examiner() as examiner:
        return [examiner.result(target)["healthy"] for target in targets]


def test_files_of_one_name_in_two_folders_are_two_modules(project):
    imports = ATTENTION.format(line="from factor import FACTOR")
    wrong = "def FACTOR(keys): return 1.0"
    project(a__model=imports, a__factor=RIGHT, b__model=imports, b__factor=wrong)
    assert verdicts("a/model.py:attention", "b/model.py:attention", "a/model.py:attention") == [True, False, True]


def test_a_library_is_imported_once(project, monkeypatch):
    library = f'{RIGHT}\nwith open("imports.txt", "a") as file:\n    file.write("once\\n")'
    imports = ATTENTION.format(line="from library import FACTOR")
    folder = project(site__library=library, a__model=imports, b__model=imports)
    monkeypatch.setenv("PYTHONPATH", str(folder / "site"))
    assert verdicts("a/model.py:attention", "b/model.py:attention") == [True, True]
    assert (folder / "imports.txt").read_text() == "once\n"


def test_a_process_that_ends_is_followed_by_another(project):
    project(model=ATTENTION.format(line=RIGHT), ends="import os\nos._exit(3)")
    with Examiner() as examiner:
        results = [examiner.result(target) for target in ("model.py:attention", "ends.py:it", "model.py:attention")]
    assert [result["healthy"] for result in results] == [True, None, True]
    assert results[1]["reason"] == "The examination broke off: it ended with 3"


def test_what_a_file_prints_or_asks_is_no_request(project):
    asks = "try:\n    input('who? ')\nexcept EOFError:\n    print('nobody')"
    project(model=ATTENTION.format(line=f"{RIGHT}\n{asks}"))
    assert verdicts("model.py:attention", "model.py:attention") == [True, True]


def test_a_class_says_how_it_is_built_and_an_expression_where_it_stops(project):
    project(model=ATTENTION.format(line=RIGHT))
    with Examiner() as examiner:
        unbuilt, wrongly, nothing = (
            examiner.result(f"model.py{rest}")["reason"] for rest in (":Attention", ":Attention(heads=4)", "")
        )
    assert unbuilt.startswith("Attention(d_model, n_heads) could not be built without arguments")
    assert unbuilt.endswith("Say how it is built: 'model.py:Attention(...)'")
    assert wrongly.startswith("building Attention(heads=4): it stops with TypeError")
    assert nothing == "say what to examine: model.py:NAME, or model.py:NAME(...), which builds it"
