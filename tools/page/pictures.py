"""Photograph the labs for those who do not run them, and the README's picture.

Usage: python -m tools.page.pictures

A lab's picture (`data/labs`) carries the lab's sentence (text chunk `Description`) and the SHA-256 of
the HTML that it was taken of (`Source`), so that a test can tell an outdated picture without a browser.
"""

import hashlib
import html
import io
from pathlib import Path

import numpy as np
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from mha_helpers import exercises, labs
from mha_helpers.drawing import style
from mha_helpers.labs import card
from tools.page.browser import open_browser

TOP = Path(__file__).parents[2]
README_PICTURE = TOP / ".github" / "course.png"
SHARPNESS = 2  # pixels of the picture to one of the page, for high-resolution screens

A_LEARNERS_SOFTMAX = """\
def softmax(scores):
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum(axis=0, keepdims=True)

exercises.softmax.check(softmax)"""


def stored_picture(name):
    """Return the path of a lab's stored picture."""
    return TOP / "data" / "labs" / f"{name}.png"


def first_page(lab):
    """Return the HTML that a lab's picture is taken of."""
    return lab.still


def fingerprint(lab):
    """Return what an up-to-date picture of a lab carries in its text chunks."""
    return {"Description": lab.description, "Source": hashlib.sha256(first_page(lab).encode()).hexdigest()}


def readme_page():
    """Return the README's picture as HTML: a mistake, its name, and the lab that shows where."""
    namespace = {"np": np, "exercises": exercises}
    definition, _, check = A_LEARNERS_SOFTMAX.rpartition("\n")
    exec(definition, namespace)

    def attention(queries, keys, values):
        weights = namespace["softmax"](queries @ keys.swapaxes(-1, -2))
        return weights @ values, weights

    code = (
        f'<pre style="margin:0; padding:10px 14px; background:#f2f2f2; color:{style.INK}; font-size:14px">'
        f"{html.escape(A_LEARNERS_SOFTMAX)}</pre>"
    )
    result = eval(check, namespace)
    lab = labs.qkv_workbench(attention)
    panel = f'<div style="font-family:{style.FONT}; font-size:14px; margin:10px 0 16px">{result._repr_html_()}</div>'
    return code + panel + card.still(lab.title, lab.task, lab.draw(lab.state, attention), note="")


def photograph(page, content, path, **texts):
    """Write a page of HTML as a PNG, with text chunks."""
    page.set_content(f'<body style="margin:0">{content}</body>')
    picture = Image.open(io.BytesIO(page.screenshot(full_page=True)))
    chunks = PngInfo()
    for key, value in texts.items():
        chunks.add_itxt(key, value)
    path.parent.mkdir(exist_ok=True)
    # 256 colours are plenty for flat cells and text, and make a third of the size. Coverage keeps thin lines in their
    # colour: a median cut gave them another head's.
    picture.convert("RGB").quantize(256, method=Image.Quantize.MAXCOVERAGE, kmeans=2).save(
        path, pnginfo=chunks, optimize=True
    )
    print(f"{path.relative_to(TOP)}: {path.stat().st_size / 1000:.0f} kB")


def main():
    with open_browser() as browser:
        # What moves is shown where it arrives: a still in the midst of it would put words beside other words' numbers.
        page = browser.new_page(
            viewport={"width": card.STILL_WIDTH, "height": 100}, device_scale_factor=SHARPNESS, reduced_motion="reduce"
        )
        for name in labs.__all__:
            lab = getattr(labs, name)()
            photograph(page, first_page(lab), stored_picture(name), **fingerprint(lab))
        photograph(page, readme_page(), README_PICTURE)


if __name__ == "__main__":
    main()
