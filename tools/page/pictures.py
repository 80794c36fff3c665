"""Stored pictures: the labs' for those who do not run them, and the README's, taken in a browser; and the maps'.

A picture carries the SHA-256 of the HTML or SVG that it was taken of (text chunk `Source`), and a lab's (`data/labs`)
or a map's (`data/maps`) also its sentence (`Description`): so an outdated one is told without a browser.
"""

import hashlib
import html
import io
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from live_pictures import card, raster, style
from mha_helpers import course, doctor, labs
from mha_helpers.attention import softmax
from tools.page import film
from tools.page.browser import open_browser
from tools.site.look import style_sheet

TOP = Path(__file__).parents[2]
FILM = TOP / ".github" / "course.webp"
FILM_STILL = TOP / ".github" / "course.png"  # its last frame, for who has asked for less motion
DOCTOR_PICTURE = TOP / ".github" / "doctor.png"
PREVIEW_PICTURE = TOP / ".github" / "preview.png"  # what a link to the site shows where it is shared
# The pictures have the site's typeface, whatever they say themselves.
LETTERS = "body, body :is(div, p, h1, svg) { font-family: var(--text) !important; }"
SHARPNESS = 2  # pixels of the picture to one of the page, for high-resolution screens

# Heads cut by a reshape alone, as in https://github.com/hyunwoongko/transformer/issues/15, and the divisor of
# https://github.com/karpathy/ng-video-lecture/pull/6.
SOMEBODYS_ATTENTION = """\
def attention(X, W_Q, W_K, W_V, W_O, n_heads):
    batch, length, d_model = X.shape
    cut = lambda Y: Y.reshape(batch, n_heads, length, d_model // n_heads)
    q, k, v = cut(X @ W_Q), cut(X @ W_K), cut(X @ W_V)
    weights = softmax(q @ k.swapaxes(-1, -2) / d_model**0.5)
    heads = (weights @ v).swapaxes(1, 2)
    return heads.reshape(batch, length, d_model) @ W_O

doctor.examine(attention)"""


def stored_picture(name):
    """Return the path of a lab's stored picture."""
    return TOP / "data" / "labs" / f"{name}.png"


def first_page(lab):
    """Return the HTML that a lab's picture is taken of."""
    return lab.still


def fingerprint(lab):
    """Return what an up-to-date picture of a lab carries in its text chunks."""
    return {"Description": lab.description, "Source": _sum(first_page(lab))}


def _sum(page):
    return hashlib.sha256(page.encode()).hexdigest()


def doctor_page():
    """Return the picture of a doctor's report as HTML: two bugs of public repositories, and what they are called."""
    namespace = {"softmax": softmax, "doctor": doctor}
    definition, _, call = SOMEBODYS_ATTENTION.rpartition("\n")
    exec(definition, namespace)
    report = eval(call, namespace)
    code = (
        f'<pre style="margin:0 0 8px; padding:8px 12px; font-size:13px; '
        f'background:{style.THEME_PANEL}; color:{style.THEME_INK}">'
        f"{html.escape(SOMEBODYS_ATTENTION)}</pre>"
    )
    shown = f"{code}{report._repr_html_()}"
    return f'<div style="padding:10px; background:{style.THEME_PAPER}; font:14px {style.FONT}">{shown}</div>'


def preview_page():
    """Return the picture that stands beside a link to the site, 600 by 315, as HTML: what it is, and two banks."""
    lab = labs.two_banks()
    plane = lab.draw(lab.state, lab.function).svg.partition("</svg>")[0] + "</svg>"
    words = (
        '<h1 style="font-size:31px; line-height:1.15; margin:0 0 14px">Multi-head attention, a course that you run</h1>'
        f'<p style="font-size:15px; margin:0; color:{style.QUIET}">When your code is wrong, it names the mistake.</p>'
    )
    return (
        f'<div style="display:flex; align-items:center; gap:14px; box-sizing:border-box; width:600px; height:315px; '
        f'overflow:hidden; padding:0 0 0 24px; font-family:{style.FONT}; color:{style.INK}; background:{style.PAPER}">'
        f'<div style="flex:1">{words}</div><div style="zoom:0.88">{plane}</div></div>'
        "<style>[data-sets] { display: none; }</style>"  # a picture has no buttons
    )


def wanted():
    """Return (page, width, text chunks) of every picture, by its path."""
    found = {}
    for name in labs.__all__:
        lab = getattr(labs, name)()
        found[stored_picture(name)] = first_page(lab), card.STILL_WIDTH, fingerprint(lab)
    for path, page, width in ((DOCTOR_PICTURE, doctor_page(), 800), (PREVIEW_PICTURE, preview_page(), 600)):
        found[path] = page, width, {"Source": _sum(page)}
    return found


def wanted_maps():
    """Return (SVG, text chunks) of the map that heads each notebook, by its path."""
    found = {}
    for notebook in (*course.NOTEBOOKS, *course.WORKSHOPS):
        drawn = course.map(notebook.name)
        texts = {"Description": drawn.text, "Source": _sum(drawn.svg)}
        found[TOP / "data" / "maps" / f"{notebook.name}.png"] = drawn.svg, texts
    return found


def carried(path):
    """Return a stored picture's text chunks; none where there is no picture."""
    if not path.exists():
        return {}
    with Image.open(path) as picture:
        return picture.text


def retake():
    """Take the pictures that are not of what is to be seen now; without such no browser is needed."""
    for path, (svg, texts) in wanted_maps().items():
        if carried(path) != texts:
            _store(raster.png(svg, ""), path, texts)
    outdated = {path: found for path, found in wanted().items() if carried(path) != found[-1]}
    texts_of_film = {"Source": _sum("".join(film.pages()))}
    film_is_old = carried(FILM_STILL) != texts_of_film
    if not outdated and not film_is_old:
        return
    with open_browser() as browser:
        if film_is_old:
            frames = film.record(browser, SHARPNESS)
            FILM.write_bytes(film.webp(frames))
            _report(FILM)
            _store(frames[-1][0], FILM_STILL, texts_of_film)
        for path, (content, width, texts) in outdated.items():
            # What moves is shown where it arrives: in the midst of it, words would stand beside other words' numbers.
            page = browser.new_page(
                viewport={"width": width, "height": 100}, device_scale_factor=SHARPNESS, reduced_motion="reduce"
            )
            photograph(page, content, path, texts)
            page.close()


def photograph(page, content, path, texts):
    """Write a page of HTML as a PNG, with text chunks."""
    page.set_content(f'<style>{style_sheet()}\n{LETTERS}</style><body style="margin:0">{content}</body>')
    page.evaluate("document.fonts.load('1em Inter').then(() => document.fonts.ready)")
    _store(page.screenshot(full_page=True), path, texts)


def _store(png, path, texts):
    picture = Image.open(io.BytesIO(png))
    chunks = PngInfo()
    for key, value in texts.items():
        chunks.add_itxt(key, value)
    path.parent.mkdir(exist_ok=True)
    # Coverage keeps thin lines in their colour: a median cut gave them another head's.
    few = picture.convert("RGB").quantize(raster.COLOURS, method=Image.Quantize.MAXCOVERAGE, kmeans=2)
    few.save(path, pnginfo=chunks, optimize=True)
    _report(path)


def _report(path):
    print(f"{path.relative_to(TOP)}: {path.stat().st_size / 1000:.0f} kB")
