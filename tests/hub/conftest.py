"""Tests marked `hub` start a real one: they are skipped, and say why, where that cannot be."""

import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys

import pytest


def why_not():
    """Say why no hub can be started here; None where one can."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return "only root can start the hub, on Linux"
    missing = [name for name in ("jupyterhub", "psutil", "httpx") if importlib.util.find_spec(name) is None]
    if missing:
        return f"workshop/hub/requirements.txt is not installed ({missing[0]})"
    if shutil.which("podman") is None:
        return "there is no Podman; workshop/hub/image_from_debian brings it"
    image = subprocess.run(["podman", "image", "exists", "localhost/attention-course"])
    return "there is no image of the course; workshop/hub/image_from_debian builds it" if image.returncode else None


def pytest_collection_modifyitems(items):
    marked = [item for item in items if item.get_closest_marker("hub")]
    reason = why_not() if marked else None
    for item in marked:
        item.user_properties.append(("attack", item.name.removeprefix("test_").replace("_", " ")))
        if reason:
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_terminal_summary(terminalreporter):
    """Print what was tried on a real hub and whether it held, with the system that it ran on, for an administrator."""
    words = {"passed": "held", "failed": "DID NOT HOLD", "error": "NOT TRIED", "skipped": "not tried"}
    rows = [
        (words[outcome], dict(report.user_properties)["attack"])
        for outcome in words
        for report in terminalreporter.getreports(outcome)
        if "attack" in dict(getattr(report, "user_properties", [])) and report.when != "teardown"
    ]
    if rows and not all(word == "not tried" for word, _ in rows):
        terminalreporter.section(system())
        for word, attack in rows:
            terminalreporter.write_line(f"{word:13} {attack}")


def system():
    """Return the system's name, and what on it keeps learners to their limits."""
    about = json.loads(subprocess.run(["podman", "info", "--format", "json"], capture_output=True, check=True).stdout)
    host, version = about["host"], about["version"]["Version"]
    keeps = "systemd" if os.path.isdir("/run/systemd/system") else "no systemd"
    runtime = f"Podman {version}, {host['ociRuntime']['name']}, control groups {host['cgroupVersion']}, {keeps}"
    return f"{' '.join(host['distribution'].values())}, Linux {platform.release()}, {runtime}"
