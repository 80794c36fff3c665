"""What a figure shows in a notebook: a sharp picture with its words."""

import html
import sys
from base64 import b64encode
from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from live_pictures import svg, typeface


def image(mime: str, data: bytes, width: float, text: str) -> str:
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


class Figure:
    """A picture and the sentence that says what it shows.

    It is shown as an HTML image of the SVG, which is sharp at every size, carries its typeface, has the sentence as its
    alternative text and survives in a page that is not trusted. The sentence is also the plain text, and what nbval
    compares beside it.
    Beside it stands a PNG, for GitHub; not in a browser's tab, which need not load what paints it.

    Parameters
    ----------
    width, height : float
        In pixels.
    fragments : iterable of str
        Of SVG.
    text : str
    """

    def __init__(self, width: float, height: float, fragments: Iterable[str], text: str) -> None:
        self.width, self.text = width, text
        self.svg = typeface.embedded(svg.document(width, height, fragments, label=text))

    def html(self) -> str:
        """Return the picture as an HTML image."""
        return image("image/svg+xml", self.svg.encode(), self.width, self.text)

    def savefig(self, path: str | PathLike[str]) -> None:
        """Write the picture to a file, as matplotlib's figures are written.

        Parameters
        ----------
        path : path-like
            Ends in `.svg`, which browsers, Inkscape and office programs print and turn into PDF, or in `.png`.

        Raises
        ------
        ValueError
            If it ends otherwise.
        """
        path = Path(path)
        ending = path.suffix.lower()
        if ending not in (".svg", ".png"):
            raise ValueError(
                f"{path.name!r} ends in {ending!r}; this picture is an SVG: save it as .svg or .png, and print the "
                ".svg from a browser for a PDF"
            )
        path.write_bytes(self.svg.encode() if ending == ".svg" else self._painted(self.text))

    def png(self, description: str | None = None) -> bytes | None:
        """Return the picture as a PNG of twice its size, with its description, or None in a browser's tab.

        Parameters
        ----------
        description : str, optional
            The sentence, unless the picture stands among other words.

        Returns
        -------
        bytes or None
        """
        return None if sys.platform == "emscripten" else self._painted(description or self.text)

    def _painted(self, description):
        from live_pictures import raster  # only here: it loads matplotlib

        return raster.png(self.svg, description)

    def __repr__(self):
        return self.text

    def _repr_mimebundle_(self, **kwargs):
        bundle, png = {"text/html": self.html(), "text/plain": self.text}, self.png()
        return bundle | {"image/png": b64encode(png).decode()} if png else bundle
