"""CI is written down once: the workflow's jobs run the stages of `.ci/run`, each of them, and the README's commands."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

needs_bash = pytest.mark.skipif(os.name == "nt", reason="the scripts are for Linux and macOS")

ROOT = Path(__file__).parents[2]
RUN = (ROOT / ".ci/run").read_text(encoding="utf-8")
STAGES = re.search(r"\.ci/run ((?:\[\w+\] ?)+)", RUN)[1].replace("[", "").replace("]", "").split()
JOBS = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))["jobs"]
COMMANDS = [step["run"] for job in JOBS.values() for step in job["steps"] if "run" in step]


def test_the_jobs_run_every_stage_and_no_other():
    asked = [stage for command in COMMANDS if ".ci/run " in command for stage in command.split(".ci/run ")[1].split()]
    assert sorted(asked) == sorted(STAGES)
    assert {stage for stage in STAGES if re.search(rf"^{stage}\(\) \{{$", RUN, re.MULTILINE)} == set(STAGES)


def test_windows_and_macos_run_the_commands_that_people_are_given():
    readme, contributing = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md"))
    [windows] = [command for command in COMMANDS if command.startswith("py ")]
    [macos] = [command for command in COMMANDS if command.startswith("python3 ")]
    assert f"\n{windows}\n" in contributing
    assert f"\n{macos}\n" in readme


@needs_bash
def test_a_stage_that_does_not_exist_is_refused():
    ended = subprocess.run([ROOT / ".ci/run", "curse"], capture_output=True, text=True)
    assert ended.returncode == 2
    assert ended.stderr == "no stage curse: course, hub, torch, frameworks, tab or wild\n"


@needs_bash
@pytest.mark.parametrize("script", sorted(path.name for path in (ROOT / ".ci").iterdir()))
def test_a_script_is_one_that_bash_can_read(script):
    subprocess.run(["bash", "-n", ROOT / ".ci" / script], check=True)
