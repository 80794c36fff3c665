"""The README's lab, of another subject, runs with the engines alone; and nothing here knows the course."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ENGINES = Path(__file__).parents[2] / "engines"
PACKAGE = ENGINES / "live_pictures"
CODE = re.search(r"<!-- lab -->\n+```python\n(.*?)```", (PACKAGE / "README.md").read_text(encoding="utf-8"), re.DOTALL)[
    1
]
TEXTS = [path for path in sorted(PACKAGE.iterdir()) if path.suffix in {".py", ".js", ".css", ".md"}]


@pytest.fixture
def lab():
    namespace = {}
    exec(CODE, namespace)
    return namespace["lab"]


def test_it_has_few_lines():
    assert len([line for line in CODE.splitlines() if line]) <= 36


def test_it_answers_a_touch(lab):
    assert "A pendulum of 0.25 m swings to and fro in 1.00 s." in lab.readout.value
    lab.set(length=4.0)
    assert "A pendulum of 4 m swings to and fro in 4.01 s." in lab.readout.value
    assert 'data-scrub="length"' in lab.picture.value


def test_it_needs_nothing_of_the_course():
    """Alive and as a page, in a process that sees the engines and the installed packages."""
    shown = "from live_pictures import page; lab._ipython_display_(); html = page.layer() + page.on_page(lab)"
    loaded = "import sys; print(len(html) > 9000, [name for name in sys.modules if name.startswith('mha_helpers')])"
    code = f"{CODE}\n{shown}\n{loaded}"
    environment = os.environ | {"PYTHONPATH": str(ENGINES)}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert ran.stdout.splitlines()[-1] == "True []"


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_it_does_not_mention_the_course(path):
    found = re.findall(r".*\b(?:mha_helpers|[Cc]ourse|learners?)\b.*", path.read_text(encoding="utf-8"))
    assert found == []
