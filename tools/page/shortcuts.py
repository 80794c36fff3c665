"""The settings that keep a notebook's shortcuts out of the labs.

JupyterLab takes letters and arrows that are typed on a radio button or a check box for commands to the notebook: "b"
inserts a cell, "d d" deletes one. These settings (`data/jupyter/labconfig`) switch each such shortcut off and on again
for wherever the keys are not typed on an output. They are read from the installed JupyterLab; a test says when another
version has other shortcuts. They come as defaults, through `jupyter_server_config.py`: a learner's own settings win.
"""

import json
from pathlib import Path

from jupyterlab.commands import get_app_dir

TOP = Path(__file__).parents[2]
SETTINGS = TOP / "data/jupyter/labconfig/default_setting_overrides.json"
PLUGINS = ("notebook-extension/tracker.json", "mainmenu-extension/plugin.json")
OUTSIDE_OUTPUTS = ":not(.jp-OutputArea-output *)"


def overrides():
    """Return the settings, as JupyterLab reads them."""
    schemas = Path(get_app_dir()) / "schemas/@jupyterlab"
    changed = []
    for plugin in PLUGINS:
        for shortcut in json.loads((schemas / plugin).read_text(encoding="utf-8"))["jupyter.lab.shortcuts"]:
            keys, selector = shortcut["keys"], shortcut["selector"]
            if " :focus" in selector and keys and not _with_modifier(keys):
                known = {name: shortcut[name] for name in ("command", "keys", "selector", "args") if name in shortcut}
                changed.append(known | {"disabled": True})
                changed.append(known | {"selector": selector + OUTSIDE_OUTPUTS})
    return {"@jupyterlab/shortcuts-extension:shortcuts": {"shortcuts": changed}}


def _with_modifier(keys):
    """Say whether keys are held together with one that no lab listens to."""
    return any(part in key for key in keys for part in ("Ctrl ", "Accel ", "Alt ", "Cmd "))


def written():
    """Return the text of the settings' file."""
    return json.dumps(overrides()).replace('{"command"', '\n{"command"') + "\n"
