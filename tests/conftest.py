"""What holds for every test: one thread for the kernels, the same examples on every run; and a browser to share."""

import os

import hypothesis
import pytest

from tools.page.browser import find_browser, open_browser
from tools.writing.notebooks import ONE_THREAD

# The notebooks were stored so; and several threads on busy processors wait for each other.
os.environ.update(ONE_THREAD)
hypothesis.settings.register_profile("course", derandomize=True, deadline=None, max_examples=50, print_blob=True)
hypothesis.settings.load_profile("course")


@pytest.fixture(scope="module")
def browser():
    if find_browser() is None:
        reason = "no Chromium, Chrome or Edge: install one, or set MHA_BROWSER to its path"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    with open_browser() as browser:
        yield browser
