"""A live widget and its still picture: two outputs, of which a page shows the one that says something.

A notebook that is saved keeps no widget, and who opens it again would read "Error displaying widget: model not found".
So the picture is an output of its own, and the widget's view another, alone. Two rules of CSS hide the picture while
the widget below it lives, and otherwise the view. They travel with the picture, because JupyterLab may have been
started in any way. Where a page takes no style sheet from an output (an untrusted notebook, GitHub), none is needed:
such a page shows no widget, and of the view its plain text, which is empty.
"""

from collections.abc import Mapping

from IPython.display import display
from ipywidgets import DOMWidget

VIEW = "application/vnd.jupyter.widget-view+json"
# What holds one output: in JupyterLab, Notebook 7 and nbconvert's pages; in VS Code; in Colab.
OUTPUT = ":is(.jp-OutputArea-child, .output_container, .display_data)"
STYLE = f"""<style>
{OUTPUT}:has(.mha-still):has(+ {OUTPUT} .mha-live) {{ display: none; }}
{OUTPUT}:has(.mha-still) + {OUTPUT}:not(:has(.mha-live)) {{ display: none; }}
</style>"""


def show_live(widget: DOMWidget, still: Mapping[str, str], metadata: Mapping | None = None) -> None:
    """Display a widget, and what a page shows in its place where nothing runs.

    Parameters
    ----------
    widget : ipywidgets.DOMWidget
    still : dict of str to str
        By MIME type; "text/html" and "text/plain" must be among them. It says how the widget is brought to life.
    metadata : dict, optional
        Of `still`, by MIME type.
    """
    widget.add_class("mha-live")
    page = f'{STYLE}<div class="mha-still">{still["text/html"]}</div>'
    # Raw: ipywidgets 7 has no `_repr_mimebundle_`, and 8 no `_ipython_display_`.
    display(dict(still) | {"text/html": page}, metadata=metadata, raw=True)
    view = {"model_id": widget.model_id, "version_major": 2, "version_minor": 0}
    display({VIEW: view, "text/plain": ""}, raw=True)
