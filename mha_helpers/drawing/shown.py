"""What a figure shows in a notebook: a sharp picture with its words."""

import html
from base64 import b64encode

from mha_helpers.drawing import svg


def image(mime, data, width, text):
    """Return a picture as an HTML image with alternative text, which JupyterLab gives to no PNG that stands alone.

    Parameters
    ----------
    mime : str
        "image/svg+xml" or "image/png".
    data : bytes
    width : float
        In pixels of the page; narrower where there is less room.
    text : str
    """
    return (
        f'<img alt="{html.escape(text)}" width="{width:g}" style="max-width:100%; height:auto" '
        f'src="data:{mime};base64,{b64encode(data).decode()}">'
    )


class CourseFigure:
    """A picture and the sentence that says what it shows.

    It is shown as an HTML image of the SVG, which is sharp at every size, has the sentence as its alternative text
    and survives in a page that is not trusted. The sentence is also the plain text, and what nbval compares beside it.
    Where it is stored, `tools.writing.raster` adds a PNG, for GitHub.

    Parameters
    ----------
    width, height : float
        In pixels.
    fragments : iterable of str
        Of SVG.
    text : str
    """

    def __init__(self, width, height, fragments, text):
        self.width, self.text = width, text
        self.svg = svg.document(width, height, fragments, label=text)

    def html(self):
        """Return the picture as an HTML image."""
        return image("image/svg+xml", self.svg.encode(), self.width, self.text)

    def __repr__(self):
        return self.text

    def _repr_mimebundle_(self, **kwargs):
        return {"text/html": self.html(), "text/plain": self.text}
