"""What can be seen of the stored figures: every number and word, in JupyterLab's light theme and in its dark one."""

import base64
import io
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tools.site.look.frames import IMAGE
from tools.writing.notebooks import course_notebooks, read

pytestmark = [pytest.mark.browser, pytest.mark.slow]

STYLE_SHEET = (Path(__file__).parents[2] / "data" / "jupyter" / "custom.css").read_text(encoding="utf-8")
PAPER = {"light": "#ffffff", "dark": "#111111"}
PAGE = """<style>{style_sheet} body {{ margin: 0; background: {paper}; }} img {{ display: block; }}</style>
<body data-jp-theme-light="{is_light}"><div class="jp-OutputArea-output">{image}</div>"""
LEAST = 4.5  # WCAG 2.2, success criterion 1.4.3
SHARPNESS = 2  # pixels of the screen to one of the page
# What each text of a picture says, and where it stands.
TEXTS = """picture => {
    document.body.innerHTML = picture;
    const drawn = document.querySelector("svg"), corner = drawn.getBoundingClientRect();
    return [...drawn.querySelectorAll("text")].filter(text => text.textContent.trim()).map(text => {
        const box = text.getBoundingClientRect();
        return [text.textContent, box.left - corner.left, box.top - corner.top, box.right - corner.left,
                box.bottom - corner.top];
    });
}"""


def stored_figures(path):
    outputs = [output for cell in read(path).cells for output in cell.get("outputs", [])]
    shown = "".join(output.get("data", {}).get("text/html", "") for output in outputs)
    return [base64.b64decode(image[1]).decode() for image in IMAGE.finditer(shown)]


def seen(page, picture, theme):
    """Return the pixels of a picture as a notebook shows it."""
    source = base64.b64encode(picture.encode()).decode()
    image = f'<img src="data:image/svg+xml;base64,{source}">'
    page.set_content(
        PAGE.format(style_sheet=STYLE_SHEET, paper=PAPER[theme], is_light=str(theme == "light").lower(), image=image)
    )
    page.evaluate("() => document.images[0].decode()")
    with Image.open(io.BytesIO(page.locator("img").screenshot())) as shot:
        return np.asarray(shot.convert("RGB"), dtype=float)


def contrast(ink, ground):
    darker, lighter = sorted(map(luminance, (ink, ground)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(pixel):
    channels = pixel / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def text_contrasts(page, picture, theme):
    """Yield each text of a picture with its contrast: where it stands, what it covers is seen without it."""
    page.set_content("")
    texts = page.evaluate(TEXTS, picture)
    written = seen(page, picture, theme)
    bare = seen(page, re.sub(r"(?s)<text\b.*?</text>", "", picture), theme)
    for text, *box in texts:
        left, top, right, bottom = (round(SHARPNESS * max(place, 0)) for place in box)
        inks, grounds = written[top:bottom, left:right].reshape(-1, 3), bare[top:bottom, left:right].reshape(-1, 3)
        changed = np.abs(inks - grounds).sum(axis=1)
        assert changed.max() > 0, f"{text} can't be seen at all"
        inside = changed >= 0.9 * changed.max()  # a letter's edges are mixed with what is behind it
        yield text, contrast(np.median(inks[inside], axis=0), np.median(grounds[inside], axis=0))


@pytest.mark.parametrize("theme", PAPER)
@pytest.mark.parametrize("path", course_notebooks(), ids=lambda path: path.stem)
def test_every_text_of_a_stored_figure_can_be_read(browser, path, theme):
    figures = stored_figures(path)
    assert figures
    with browser.new_context(device_scale_factor=SHARPNESS, viewport={"width": 1600, "height": 1200}) as context:
        page = context.new_page()
        pale = [
            (number, text, round(found, 2))
            for number, picture in enumerate(figures)
            for text, found in text_contrasts(page, picture, theme)
            if found < LEAST
        ]
    assert pale == []
