"""What `jupyter lab --config=jupyter_server_config.py` reads: nothing is asked of the network, and labs answer sooner.

JupyterLab would look for news and for a newer JupyterLab; and without a source of news it would still ask the
learner about them, so the part of the page that asks is left out.

Jupyter Server sends a kernel's messages under Nagle's algorithm: the second waits until the browser has
acknowledged the first, which takes it up to 40 ms. A lab's picture is always the second (the first says
that the kernel is busy). Without the wait a key press is seen in about 45 ms, not 70: see
`python -m tools bench --only labs`.

A kernel begins by reading `mha_helpers/learner/kernel_startup.py`: an error about a name whose cell has not been run is
followed by one sentence that says which cell that is.

`data/jupyter/custom.css` keeps lines at about 75 letters and marks exercises. It takes the place of a learner's own
style sheet while the course's JupyterLab runs, and changes none of their files.
"""

import os
import sys
from pathlib import Path, PureWindowsPath
from urllib.parse import quote

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection


class PromptConnection(ZMQChannelsWebsocketConnection):
    """A kernel's connection to the browser that holds nothing back."""

    def connect(self):
        self.websocket_handler.set_nodelay(True)
        return super().connect()


def without_announcements(handler, page_config):
    """Leave out of JupyterLab's page what announces news: called with each page's settings, which it returns."""
    page_config["disabledExtensions"].append("@jupyterlab/apputils-extension:announcements")
    return page_config


# Defaults for JupyterLab's settings, before which a learner's own go: letters typed on a lab's controls are no commands
# to the notebook (`tools/page/shortcuts.py`). There is no other way to name a second place for them.
settings = str(Path(__file__).parent / "data/jupyter")
os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, (settings, os.environ.get("JUPYTER_CONFIG_PATH"))))

# What a kernel begins with: it says which cell to run first. A learner's own start file goes before it.
os.environ.setdefault("PYTHONSTARTUP", str(Path(__file__).parent / "mha_helpers/learner/kernel_startup.py"))

c = get_config()  # noqa: F821
c.LabApp.news_url = None
c.LabApp.check_for_updates_class = "jupyterlab.NeverCheckForUpdate"
c.ServerApp.tornado_settings = {
    "page_config_hook": without_announcements,
    "static_custom_path": [str(Path(__file__).parent / "data/jupyter")],
}
c.LabApp.custom_css = True
# Where no browser can be opened, over SSH say, a learner has the address that is printed: it, too, opens the notebook
# that the command names. The server's root is then that notebook's folder.
named = [PureWindowsPath(argument).name for argument in sys.argv[1:] if argument.endswith(".ipynb")]
if named:
    c.LabApp.default_url = f"/lab/tree/{quote(named[0])}"
c.ServerApp.kernel_websocket_connection_class = PromptConnection
