"""For pytest: the fixture `assert_healthy`, and a test for each target of the setting `attention_targets`."""

import pytest


def pytest_addoption(parser):
    parser.addini(
        "attention_targets", "what to examine: FILE.py:NAME or FILE.py:EXPRESSION, also of package.module", "linelist"
    )


@pytest.fixture
def assert_healthy():
    """Fail with the doctor's report unless its argument is healthy: `assert_healthy(SelfAttention(64, 4))`."""
    from attention_doctor import assert_healthy

    return assert_healthy


# The file with the setting is what holds the targets: they are asked where it is selected, as the whole suite does.
# `testpaths` are the whole suite, too, and seldom hold that file.
@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    if config.args_source is config.ArgsSource.TESTPATHS and config.getini("attention_targets"):
        config.args.append(str(config.inipath))


def pytest_collect_file(file_path, parent):
    if file_path == parent.config.inipath and parent.config.getini("attention_targets"):
        return _Targets.from_parent(parent, path=file_path)
    return None


class _Targets(pytest.File):
    """All targets, examined in one process, which can be ended."""

    def collect(self):
        for target in self.config.getini("attention_targets"):
            yield _Target.from_parent(self, name=target)

    def setup(self):
        from attention_doctor.separate_process import Examiner

        self.examiner = Examiner(self.config.rootpath)

    def teardown(self):
        self.examiner.close()


class _Target(pytest.Item):
    def runtest(self):
        result = self.parent.examiner.result(self.name)
        if not result["healthy"]:
            pytest.fail(result["text"], pytrace=False)

    def reportinfo(self):
        return self.path, None, f"attention: {self.name}"
