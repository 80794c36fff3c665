"""What holds for every test, the notebooks' cells included: one thread for the kernels, and who works on what."""

import os
import re
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from xdist.scheduler import LoadScopeScheduling

from tools.writing.notebooks import ONE_THREAD

# The notebooks were stored so; and several threads on busy processors wait for each other.
os.environ.update(ONE_THREAD)

# Notebook B's listing imports PyTorch, which learners don't need: without it there is nothing to collect.
collect_ignore_glob = ["notebooks/before_update/*"]  # a learner's notebooks as they were before an update
collect_ignore = [] if find_spec("torch") else ["mha_helpers/torch_listing.py"]


HERE = Path(__file__).parent


def pytest_configure(config):
    """Let nbval compare a figure's words alone where another matplotlib draws than the one that drew what is stored."""
    pinned = re.search(r"^matplotlib==([\d.]+)", (HERE / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    if version("matplotlib") != pinned[1]:
        config.option.nbval_sanitize_with = HERE / "tests/other_matplotlib.cfg"


class _ByFile(LoadScopeScheduling):
    """A file's tests stay together, as cells and what shares a browser must; the answers go by exercise."""

    def _split_scope(self, nodeid):
        file = nodeid.partition("::")[0]
        exercise = re.search(r"\[(\w+)", nodeid) if file.endswith("/test_answers.py") else None
        return f"{file} {exercise[1]}" if exercise else file


def pytest_xdist_make_scheduler(config, log):
    return _ByFile(config, log)
