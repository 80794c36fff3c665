"""For pytest: the fixture `assert_healthy`, and a test for each target of the setting `attention_targets`."""

import pytest


def pytest_addoption(parser):
    parser.addini("attention_targets", "what to examine: FILE.py:NAME or package.module:NAME, one a line", "linelist")


@pytest.fixture
def assert_healthy():
    """Fail with the doctor's report unless its argument is healthy: `assert_healthy(SelfAttention(64, 4))`."""
    from attention_doctor import assert_healthy

    return assert_healthy


def pytest_collection_modifyitems(session, config, items):
    targets = config.getini("attention_targets")
    items += [_Target.from_parent(session, name=target, nodeid=f"attention::{target}") for target in targets]


class _Target(pytest.Item):
    """A target as a test, examined in a process of its own, as by the command."""

    def runtest(self):
        from attention_doctor.__main__ import main

        if main([self.name]):
            pytest.fail("the report is above, under what was printed", pytrace=False)

    def reportinfo(self):
        return self.path, None, f"attention: {self.name}"
