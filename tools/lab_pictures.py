"""Photograph each lab's first state for `data/labs`: what a reader sees who does not run it.

Usage: python -m tools.lab_pictures

The picture carries the lab's sentence (text chunk `Description`) and the SHA-256 of the HTML that
it was taken of (`Source`), so that a test can tell an outdated picture without a browser.
"""

import hashlib
import io
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from mha_helpers import labs
from tools.browser import open_browser

WIDTH = 860  # pixels, about an output cell in JupyterLab
SHARPNESS = 2  # pixels of the picture to one of the page, for high-resolution screens


def stored_picture(name):
    """Return the path of a lab's stored picture."""
    return Path(__file__).parents[1] / "data" / "labs" / f"{name}.png"


def first_page(lab):
    """Return the HTML that a lab's picture is taken of."""
    return lab.header() + lab.first_picture.html()


def fingerprint(lab):
    """Return what an up-to-date picture of a lab carries in its text chunks."""
    return {"Description": lab.description, "Source": hashlib.sha256(first_page(lab).encode()).hexdigest()}


def main():
    with open_browser() as browser:
        page = browser.new_page(viewport={"width": WIDTH, "height": 100}, device_scale_factor=SHARPNESS)
        for name in labs.__all__:
            lab = getattr(labs, name)()
            page.set_content(f'<body style="margin:0">{first_page(lab)}</body>')
            picture = Image.open(io.BytesIO(page.screenshot(full_page=True)))
            texts = PngInfo()
            for key, value in fingerprint(lab).items():
                texts.add_itxt(key, value)
            # 64 colours are plenty for flat cells and text, and make a quarter of the size.
            path = stored_picture(name)
            path.parent.mkdir(exist_ok=True)
            picture.convert("RGB").quantize(64).save(path, pnginfo=texts, optimize=True)
            print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
