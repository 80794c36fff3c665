"""`python -m tools`: every command is there, every one that a document names exists, and nothing derived is old."""

import importlib.util
import re
import subprocess
from pathlib import Path

import pytest

from tools import __main__ as door
from tools import refresh

TOP = Path(__file__).parents[2]
NAMED = re.compile(r"python3? -m ((?:tools|mha_helpers|workshop|data)(?: [a-z]+\b|[\w.-]*\w)?)")


def test_every_command_explains_itself(capsys):
    assert len(door.COMMANDS) <= 10
    for name, (said, _) in door.COMMANDS.items():
        with pytest.raises(SystemExit, match="0"):
            door.main([name, "--help"])
        assert f"usage: python -m tools {name}" in capsys.readouterr().out
        with pytest.raises(SystemExit, match="0"):
            door.main(["--help"])
        assert f"  {name:8} {said}" in capsys.readouterr().out


def exists(command):
    module, _, name = command.partition(" ")
    if module == "tools":
        return name in door.COMMANDS or not name
    return importlib.util.find_spec(module) is not None


def test_every_command_that_is_named_exists():
    search = ["git", "grep", "--no-index", "--exclude-standard", "-zl", "-e", "python3* -m"]
    files = subprocess.run(search, cwd=TOP, capture_output=True, text=True, check=True).stdout.split("\0")
    named = {
        command: file
        for file in filter(None, files)
        for command in NAMED.findall((TOP / file).read_text(encoding="utf-8", errors="ignore"))
    }
    assert {"tools solve", "mha_helpers.check_setup", "data.writer.make"} <= named.keys()
    assert {command: file for command, file in named.items() if not exists(command)} == {}


def test_nothing_that_follows_from_other_files_is_old():
    for path, text in refresh.derived().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is old: run python -m tools refresh --no-run"
