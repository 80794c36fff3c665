"""Verdicts of Python as WebAssembly are those of Python: every solution, and every fifth mistake."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

VERDICTS = """
import json
from mha_helpers import exercises

told = {}
for name in (name for names in exercises.EXERCISES.values() for name in names):
    exercise = getattr(exercises, name)
    told[f"{name}: solution"] = (exercise.check(exercise.reference).status, "correct")
    for slug in {mistake.slug for mistake in exercise.mistakes[::5]}:
        told[f"{name}: {slug}"] = (exercise.check(exercise.with_mistake(slug)).mistake, slug)
json.dumps(told)
"""


def test_solutions_are_right_and_mistakes_have_their_names(site):
    node = shutil.which("node")
    if not node:
        pytest.skip("needs Node")
    files = site.folder / "lite/static/pyodide", site.folder / "lite/data"
    script = Path(__file__).with_name("verdicts.js")
    done = subprocess.run([node, script, *files, VERDICTS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert len(told) > 100
    assert {what: pair for what, pair in told.items() if pair[0] != pair[1]} == {}
