"""The README's moving picture: a word is dragged in a lab, then a wrong softmax is typed and its check answers.

Both acts are the course itself: the lab as it stands on a page, and the panel that the check shows in a notebook.
Every frame waits for what it shows and not for a clock, so a busy machine takes the same film.
"""

import io
import linecache

import numpy as np
from PIL import Image

from live_pictures import style
from mha_helpers import exercises, labs
from mha_helpers.labs.lab import page_layer
from mha_helpers.labs.self_attention.two_banks import UNIT

WIDTH, HEIGHT = 830, 420
A_LEARNERS_SOFTMAX = """\
def softmax(scores):
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum(axis=0, keepdims=True)

exercises.softmax.check(softmax)"""

FRAME, PAUSE, READ = 60, 400, 3400  # milliseconds: a frame of a movement, a rest, the check's answer
# Which word of the lab is dragged, how far across and up in the vectors' units, and in how many frames.
DRAGS = (("river", 0.9, 1.1, 12), ("bank", -0.6, 1.2, 12), ("bank", 1.6, -1.3, 14))
LETTERS = 5  # that are typed from frame to frame

POINTER = (
    '<svg id="pointer" width="22" height="26" style="position:fixed; left:0; top:0; z-index:9; pointer-events:none">'
    f'<path d="M2 2v18l5-4l4 8l4-2l-4-8h7z" fill="{style.INK}" stroke="{style.PAPER}" stroke-width="1.5"/></svg>'
)
STYLE = f"""<style>
body {{ margin: 0; width: {WIDTH}px; height: {HEIGHT}px; overflow: hidden; font: 15px/1.4 {style.FONT};
  color: {style.INK}; background: {style.PAPER}; }}
.act {{ display: flex; gap: 14px; padding: 10px; }}
.act > :first-child {{ flex: none; width: 128px; padding-top: 8px; }}
.act > :first-child b {{ display: block; font-size: 21px; line-height: 1.2; margin-bottom: 8px; }}
.act > :last-child {{ flex: 1; min-width: 0; }}
.act section.mha-lab {{ margin: 0; }}
.act .mha-readout, .act .mha-live-at, .act details {{ display: none; }}
pre {{ margin: 0 0 12px; padding: 12px 14px; height: 7em; font: 15px/1.4 monospace; background: #f2f2f2;
  border-left: 5px solid {style.INK}; }}
#caret {{ border-right: 2px solid {style.INK}; }}
.mha-bad {{ font-size: 15px; }}
</style>"""


def answer():
    """Return what the check of the learner's softmax shows, as HTML; it names the line, as in a notebook's cell."""
    name, namespace = "<cell of the film>", {"np": np, "exercises": exercises}
    definition, _, check = A_LEARNERS_SOFTMAX.rpartition("\n")
    linecache.cache[name] = len(definition), None, definition.splitlines(keepends=True), name
    exec(compile(definition, name, "exec"), namespace)
    return eval(check, namespace)._repr_html_()


def _act(headline, words, shown):
    return f'<div class="act"><div><b>{headline}</b>{words}</div><div>{shown}</div></div>'


def pages():
    """Return both acts as pages of HTML, before anything moves."""
    lab = (
        page_layer() + STYLE + _act("Drag a word", "and see what attention makes of it.", labs.two_banks().on_page(""))
    )
    cell = '<pre><span id="code"></span><span id="caret"></span></pre>'
    panel = f'<div id="answer" hidden>{answer()}</div>'
    return lab + POINTER, STYLE + _act("Make a mistake", "and the check names it, with its line.", cell + panel)


def record(browser, sharpness):
    """Play both acts in a browser.

    Parameters
    ----------
    browser : playwright.sync_api.Browser
    sharpness : float
        Pixels of the film to one of the page.

    Returns
    -------
    list of tuple
        Of each frame: a PNG, and for how many milliseconds it is shown.
    """
    frames = []
    for content, play in zip(pages(), (_drag, _type), strict=True):
        # Without motion of its own: each frame shows where things have arrived.
        shown = browser.new_page(
            viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=sharpness, reduced_motion="reduce"
        )
        shown.set_content(f"<!doctype html><body>{content}</body>")
        frames += [(shown.screenshot(), lasts) for lasts in play(shown)]
        shown.close()
    return frames


def _drag(shown):
    """Drag the words about; yields how long each frame lasts."""
    shown.locator("[data-lab]").wait_for()
    shown.evaluate(_POINT, [620, 380])
    yield PAUSE
    for word, across, up, n_frames in DRAGS:
        dot = shown.locator(f'[data-part="dot {word}"]').bounding_box()
        x, y = dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2
        for pressed, (to_x, to_y), n in ((False, (x, y), 6), (True, (x + UNIT * across, y - UNIT * up), n_frames)):
            (shown.mouse.down if pressed else shown.mouse.up)()
            from_x, from_y = shown.evaluate("window.at")
            for share in (1 - np.cos(np.pi * np.arange(1, n + 1) / n)) / 2:
                here = [float(from_x + share * (to_x - from_x)), float(from_y + share * (to_y - from_y))]
                shown.mouse.move(*here)
                shown.evaluate(_POINT, here)
                yield FRAME
        yield PAUSE
    shown.mouse.up()


# The pointer, which screenshots lack; two frames later everything is drawn that follows from the movement.
_POINT = """([x, y]) => {
  window.at = [x, y];
  document.getElementById("pointer").style.transform = `translate(${x - 2}px, ${y - 2}px)`;
  return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""


def _type(shown):
    """Type the wrong softmax, and show the check's answer."""
    for n in range(0, len(A_LEARNERS_SOFTMAX) + LETTERS, LETTERS):
        shown.evaluate("text => { document.getElementById('code').textContent = text; }", A_LEARNERS_SOFTMAX[:n])
        yield FRAME
    yield PAUSE
    shown.evaluate("document.getElementById('answer').hidden = false")
    yield READ


def webp(frames):
    """Return frames as an animated WebP that begins again for ever."""
    first, *others = (Image.open(io.BytesIO(png)).convert("RGB") for png, _ in frames)
    durations = [lasts for _, lasts in frames]
    file = io.BytesIO()
    # Lossless it is three times as large, and no letter looks better.
    first.save(file, "WEBP", save_all=True, append_images=others, duration=durations, loop=0, quality=75, method=4)
    return file.getvalue()
