"""Tests marked `hub` start a real one: they are skipped, and say why, where that cannot be."""

import importlib.util
import os
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
    for item in marked if reason else ():
        item.add_marker(pytest.mark.skip(reason=reason))
