"""Tests marked `hub` start a real one: they are skipped, and say why, where that cannot be."""

import importlib.util
import os
import subprocess
import sys

import pytest


def why_not():
    """Say why no hub can be started here; None where one can."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return "only root can start the hub, on Linux"
    if importlib.util.find_spec("jupyterhub") is None:
        return "workshop/hub/requirements.txt is not installed"
    from workshop.hub.learner_server import APART

    apart = subprocess.run([*APART, "true"], capture_output=True, text=True)
    return f"this machine cannot keep learners apart: {apart.stderr.strip()}" if apart.returncode else None


def pytest_collection_modifyitems(items):
    marked = [item for item in items if item.get_closest_marker("hub")]
    reason = why_not() if marked else None
    for item in marked if reason else ():
        item.add_marker(pytest.mark.skip(reason=reason))
