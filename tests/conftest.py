"""What the tests share: the same examples on every run, and a browser."""

import os

import hypothesis
import pytest
from playwright.sync_api import expect

from tools.page.browser import NO_BROWSER, TIMEOUT, find_browser, open_browser

hypothesis.settings.register_profile("course", derandomize=True, deadline=None, max_examples=50, print_blob=True)
hypothesis.settings.load_profile("course")


@pytest.fixture(scope="module")
def browser():
    if find_browser() is None:
        reason = "no Chromium, Chrome or Edge: install one, or set MHA_BROWSER to its path"
        wanted = os.environ.get("CI") and os.environ.get("MHA_BROWSER") != NO_BROWSER
        pytest.fail(reason) if wanted else pytest.skip(reason)
    expect.set_options(timeout=1000 * TIMEOUT)  # as for everything else that is waited for
    with open_browser() as browser:
        yield browser
