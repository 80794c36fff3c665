"""The doctor as a distribution of its own, with NumPy alone, beside the course and without it."""

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "engines"
README = (FOLDER / "README.md").read_text(encoding="utf-8")
OFFLINE = ["--quiet", "--no-deps", "--no-index", "--disable-pip-version-check"]


def marked(name):
    """The fenced block between README's comments of this name."""
    return re.search(rf"<!-- {re.escape(name)} -->\n\n```\w*\n(.*?)```\n\n<!-- end -->", README, re.DOTALL)[1]


def run(*command, folder, site=None, **variables):
    """Run a command with what is installed in `site`, its own commands included."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | variables
    if site:
        environment["PYTHONPATH"] = str(site)
        environment["PATH"] = os.pathsep.join([str(site / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_the_session_in_its_readme_is_what_the_command_says(tmp_path):
    (tmp_path / "model.py").write_text(marked("model.py"), encoding="utf-8")
    command, _, said = marked("session").partition("\n")
    assert command == "$ attention-doctor model.py:attention"
    ended = run(sys.executable, "-m", "attention_doctor", "model.py:attention", folder=tmp_path, site=FOLDER)
    assert ended.stdout == said, "write what it says now into engines/README.md"
    assert ended.returncode == 1
    assert said.count("\n") < 25


def test_its_page_has_no_placeholder_and_its_links_lead_somewhere():
    assert "OWNER" not in README
    links = re.findall(r"\]\((?!https?:)([^)#]+)", README)
    assert links
    assert [link for link in links if not (FOLDER / link).exists()] == []


def test_its_version_is_the_courses_which_requires_it():
    here, course = (tomllib.loads((folder / "pyproject.toml").read_text()) for folder in (FOLDER, ROOT))
    assert here["project"]["version"] == course["project"]["version"]
    assert here["project"]["dependencies"] == ["numpy>=2.0"]
    assert f"attention-doctor=={here['project']['version']}" in course["project"]["dependencies"]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """Both wheels, by name, built without asking a registry."""
    folder = tmp_path_factory.mktemp("wheels")
    for project in (ROOT, FOLDER):
        build = ["wheel", *OFFLINE, "--no-build-isolation", "--wheel-dir", str(folder), str(project)]
        subprocess.run([sys.executable, "-m", "pip", *build], check=True, capture_output=True)
    return {path.name.partition("-")[0]: path for path in folder.glob("*.whl")}


def installed(site, *wheels):
    pip = [sys.executable, "-m", "pip", "install", *OFFLINE, "--target", str(site)]
    for wheel in wheels:
        subprocess.run([*pip, str(wheel)], check=True, capture_output=True)


def files(site, name):
    """The files that a distribution owns, as its RECORD says, but for its own metadata."""
    [info] = site.glob(f"{name}-*.dist-info")
    return {str(path) for path in PathDistribution(info).files if ".dist-info/" not in str(path)}


def removed(site, name):
    """What pip does to remove a distribution: it deletes what its RECORD lists."""
    [info] = site.glob(f"{name}-*.dist-info")
    for path in PathDistribution(info).files:
        (site / path).unlink(missing_ok=True)


EXAMINES = """
import sys
from {package} import assert_healthy, examine
import numpy as np
def attention(queries, keys, values):
    scores = queries @ keys.swapaxes(-1, -2)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights = weights / weights.sum(-1, keepdims=True)
    return weights @ values
print(examine(attention).names)
print(*sorted({{name.partition(".")[0] for name in sys.modules}} - set(sys.stdlib_module_names)))
"""


def examines(site, package):
    ended = run(sys.executable, "-c", EXAMINES.format(package=package), folder=site)
    assert ended.returncode == 0, ended.stderr
    names, modules = ended.stdout.splitlines()
    assert names == "['scale-missing']"
    return set(modules.split())


@pytest.mark.slow
def test_it_needs_numpy_alone_and_is_small(wheels, tmp_path):
    assert wheels["attention_doctor"].stat().st_size < 1_000_000
    installed(tmp_path, wheels["attention_doctor"])
    loaded = examines(tmp_path, "attention_doctor")
    engines = {"attention_doctor", "function_judge", "live_pictures"}
    assert {"numpy", "attention_doctor", "function_judge"} <= loaded
    own = {"numpy", "cython_runtime", *engines, "sitecustomize"}  # NumPy brings Cython's
    assert not {name for name in loaded if not name.startswith("_")} - own


@pytest.mark.slow
@pytest.mark.parametrize("order", [("attention_doctor", "mha_helpers"), ("mha_helpers", "attention_doctor")])
def test_it_stands_beside_the_course_which_can_go(wheels, tmp_path, order):
    installed(tmp_path, *(wheels[name] for name in order))
    assert not files(tmp_path, "attention_doctor") & files(tmp_path, "mha_helpers")
    examines(tmp_path, "attention_doctor")
    examines(tmp_path, "mha_helpers.doctor")
    removed(tmp_path, "mha_helpers")
    examines(tmp_path, "attention_doctor")


@pytest.mark.slow
def test_each_package_is_in_one_wheel(wheels, tmp_path):
    installed(tmp_path, *wheels.values())
    packages = {name: {file.split("/")[0] for file in files(tmp_path, name) if "/" in file} for name in wheels}
    scripts = {"bin", "..", "Scripts"}
    assert packages["attention_doctor"] - scripts == {"attention_doctor", "function_judge", "live_pictures"}
    assert packages["mha_helpers"] - scripts == {"mha_helpers"}
    typed = {"attention_doctor/py.typed", "function_judge/py.typed"}  # so that type checkers read their hints
    assert typed <= files(tmp_path, "attention_doctor")


@pytest.fixture
def project(tmp_path):
    """A project with the page's model."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "model.py").write_text(marked("model.py"), encoding="utf-8")
    return folder


@pytest.mark.slow
def test_the_command_and_the_pytest_plugin(wheels, tmp_path, project):
    site = tmp_path / "site"
    installed(site, wheels["attention_doctor"])
    ended = run("attention-doctor", "model.py:attention", folder=project, site=site)
    assert ended.stdout == marked("session").partition("\n")[2], ended.stderr
    (project / "pytest.ini").write_text("[pytest]\nattention_targets = model.py:attention\n")
    (project / "test_model.py").write_text(
        "from model import attention\ndef test_it(assert_healthy):\n    assert_healthy(attention)\n"
    )
    ended = run(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", folder=project, site=site)
    assert "2 failed" in ended.stdout, ended.stdout + ended.stderr
    failures, _, _ = ended.stdout.partition("short test summary")  # which is as long as CI lets it be
    assert failures.count("model.py:12: scores = q @ k.swapaxes(-1, -2) / np.sqrt(d_model)") == 2


@pytest.mark.slow
def test_the_steps_of_a_workflow_end_with_the_line_that_is_wrong(wheels, tmp_path, project):
    site = tmp_path / "site"
    *before, last = (step["run"] for step in yaml.safe_load(marked("steps")))
    # The registry's part is played by the wheel.
    pip = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_TARGET": str(site)}
    pip["PIP_FIND_LINKS"] = wheels["attention_doctor"].parent.as_uri()
    bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]  # as GitHub does
    for step in before:
        ended = run(*bash, step, folder=project, site=site, **pip)
        assert ended.returncode == 0, ended.stderr
    ended = run(*bash, last, folder=project, site=site)
    assert ended.stdout.startswith("::error file=model.py,line=12,title=mha-scale-d-model::"), ended.stderr
    assert ended.returncode == 1


@pytest.mark.slow
def test_the_hook_stops_a_commit_of_what_is_sick_and_looks_at_nothing_else(wheels, tmp_path, project):
    site = tmp_path / "site"
    installed(site, wheels["attention_doctor"])
    (project / ".pre-commit-config.yaml").write_text(marked("hook"), encoding="utf-8")

    def committed(*paths):
        for command in (["init", "--quiet"], ["add", *paths]):
            assert run("git", *command, folder=project).returncode == 0
        hooks = ["pre_commit", "run", "--color", "never"]
        return run(sys.executable, "-m", *hooks, folder=project, site=site, PRE_COMMIT_HOME=str(tmp_path / "hooks"))

    assert "(no files to check)Skipped" in committed(".pre-commit-config.yaml").stdout
    ended = committed("model.py")
    assert "model.py:12: scores = q @ k.swapaxes(-1, -2) / np.sqrt(d_model)" in ended.stdout, ended.stdout
    assert ended.returncode == 1
    right = marked("model.py").replace("np.sqrt(d_model)", "np.sqrt(q.shape[-1])")
    (project / "model.py").write_text(right, encoding="utf-8")
    ended = committed("model.py")
    assert ended.returncode == 0, ended.stdout
