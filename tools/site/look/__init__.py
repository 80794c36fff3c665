"""How the site looks: one typeface, colours in light and dark, and what is wide in a frame of its own."""

import base64
import functools
from pathlib import Path

HERE = Path(__file__).parent


@functools.cache
def style_sheet(*names):
    """Return style sheets of this folder, after the one that every page has, whose typeface it carries.

    Parameters
    ----------
    *names : str
        "page" is `page.css`.

    Returns
    -------
    str
        CSS that loads nothing.
    """
    typeface = base64.b64encode((HERE / "typeface" / "inter.woff2").read_bytes()).decode()
    base, *others = (read(f"{name}.css") for name in ("base", *names))
    return "\n".join([base.replace("url(typeface/inter.woff2)", f"url(data:font/woff2;base64,{typeface})"), *others])


def read(name):
    """Return the text of a file of this folder."""
    return (HERE / name).read_text(encoding="utf-8")
