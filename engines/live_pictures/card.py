"""The card that every lab is: its style sheet, and the three pieces of HTML that stand in it.

Pictures are drawn as ink on white paper. In a dark theme they are turned over, lightness alone: what was pale is dark,
hues and contrasts stay, and the card has the colours that come of that.
"""

import html
from dataclasses import dataclass

from live_pictures import style
from live_pictures.panel import with_code

EDGE = "#767676"  # of controls: 4.5 to 1 on white, where 3 to 1 is asked for
MAX_WIDTH = 644  # pixels: no picture is wider, so that a lab fits a card of 658, JupyterLab's at 1280 x 720 and 150 %
STILL_WIDTH = 700  # pixels: of a stored picture, the narrowest card's, so that it is not shrunk much anywhere

LIGHT = (
    f"color-scheme: light; --mha-ink: {style.INK}; --mha-quiet: {style.QUIET}; --mha-paper: {style.PAPER}; "
    f"--mha-panel: #f2f2f2; --mha-edge: {EDGE}; --mha-line: {style.GRID}; --mha-alarm: {style.ALARM}; "
    f"--mha-words: {style.INK};"
)
DARK = (
    "color-scheme: dark; --mha-ink: #eceff1; --mha-quiet: #b4b9be; --mha-paper: #171717; --mha-panel: #2a2d31; "
    "--mha-edge: #8a9096; --mha-line: #454c52; --mha-alarm: #ff8f9c; --mha-words: #000000;"
)

# It stands in the page once, and not in each picture: a new style sheet makes the browser look at the whole page again.
# ipywidgets 7 and 8 read the same variables of JupyterLab; what they lack is set by class.
STYLE_SHEET = f"""<style>
.mha-lab {{ {LIGHT} }}
[data-jp-theme-light="false"] .mha-lab {{ {DARK} }}
[data-jp-theme-light="false"] .mha-picture svg {{ filter: {style.TURNED}; }}
@media (prefers-color-scheme: dark) and (forced-colors: none) {{
  section.mha-lab {{ {DARK} }}
  section.mha-lab .mha-picture svg {{ filter: {style.TURNED}; }}
}}
.mha-lab {{
  background: var(--mha-paper); color: var(--mha-ink); font: 14px/1.4 {style.FONT};
  border: 1px solid var(--mha-line); border-radius: 8px; box-sizing: border-box;
  padding: 6px 6px 8px; margin: 2px 0; width: 100%; max-width: 790px; overflow: hidden;
  --jp-widgets-color: var(--mha-ink); --jp-widgets-label-color: var(--mha-ink);
  --jp-widgets-readout-color: var(--mha-ink); --jp-widgets-input-color: var(--mha-ink);
  --jp-widgets-input-background-color: var(--mha-paper); --jp-widgets-input-border-color: var(--mha-edge);
  --jp-widgets-input-focus-border-color: var(--mha-ink); --jp-widgets-font-size: 13px;
  --jp-ui-font-color0: var(--mha-ink); --jp-ui-font-color1: var(--mha-ink); --jp-border-color1: var(--mha-edge);
  --jp-content-font-color0: var(--mha-ink); --jp-content-font-color1: var(--mha-ink);
  --jp-layout-color0: var(--mha-paper); --jp-layout-color1: var(--mha-paper);
  --jp-layout-color2: var(--mha-panel); --jp-layout-color3: var(--mha-line);
}}
/* Words on a coloured field: where a picture is turned over, its ink is not bright enough for them, and black is. */
.mha-picture text[fill="{style.INK}"] {{ fill: var(--mha-words); }}
.mha-lab .widget-html, .mha-lab .widget-html-content {{ overflow: visible; height: auto; margin: 0; width: 100%;
  line-height: 1.4; }}
.mha-lab .widget-hbox {{ column-gap: 14px; row-gap: 0; align-items: center; overflow: visible; }}
.mha-lab .widget-vbox {{ overflow: visible; }}
.mha-lab .widget-label {{ color: var(--mha-ink); }}
.mha-lab button {{ border: 1px solid var(--mha-edge); border-radius: 4px; color: var(--mha-ink);
  background: var(--mha-panel); }}
.mha-lab button.mod-active {{ background: var(--mha-ink); color: var(--mha-paper); border-color: var(--mha-ink); }}
.mha-lab .widget-radio {{ width: auto; height: auto; display: flex; flex-flow: row nowrap; align-items: center; }}
.mha-lab .widget-radio > .widget-label {{ flex: none; width: auto; margin-right: 8px; }}
.mha-lab .widget-radio-box {{ flex-direction: row; flex-wrap: wrap; flex: 0 1 auto; max-width: none;
  margin: 0 !important; height: auto; }}
.mha-lab .widget-radio-box label {{ width: auto; height: 26px; margin: 0 11px 0 0; padding: 0; display: flex;
  flex-direction: row-reverse; align-items: center; gap: 4px; color: var(--mha-ink); overflow: visible; }}
.mha-lab .widget-radio-box input {{ margin: 0; }}
.mha-lab .widget-checkbox {{ width: auto; }}
.mha-lab .widget-checkbox label {{ color: var(--mha-ink); display: flex; align-items: center; gap: 5px; }}
.mha-lab .widget-checkbox input {{ margin: 0; }}
.mha-lab :focus-visible {{ outline: 3px solid var(--mha-ink) !important; outline-offset: 1px; }}
.mha-picture {{ position: relative; overflow-x: auto; overflow-y: hidden; }}
.mha-picture .mha-parts {{ display: flex; flex-wrap: wrap; align-items: flex-start; gap: 0; }}
.mha-picture svg {{ flex: none; max-width: none !important; forced-color-adjust: none; overflow: visible; }}
.mha-picture .mha-wrong {{ border-left: 6px solid var(--mha-alarm); padding-left: 8px; }}
@keyframes mha-arrive {{ from {{ transform: translate(var(--from-x), var(--from-y)); }} }}
@keyframes mha-flash {{ from {{ stroke-opacity: 1; stroke-width: 9px; }} }}
@keyframes mha-grow {{ from {{ stroke-dashoffset: var(--whole); }} }}
@keyframes mha-write {{ from {{ clip-path: inset(0 var(--hidden) 0 0); }} }}
@keyframes mha-reveal {{ from {{ clip-path: inset(0 100% 0 0); }} }}
@keyframes mha-later {{ from {{ opacity: 0; }} }}
@keyframes mha-cut {{ 0% {{ opacity: 1; stroke-dashoffset: var(--whole); }} 60% {{ opacity: 1; stroke-dashoffset: 0; }}
  100% {{ opacity: 0; stroke-dashoffset: 0; }} }}
@keyframes mha-shake {{ 25% {{ transform: translateX(calc(-1 * var(--by))); }}
  75% {{ transform: translateX(var(--by)); }} }}
@keyframes mha-flow {{ 0% {{ opacity: 1; stroke-dashoffset: 0; }} 85% {{ opacity: 1; }}
  100% {{ stroke-dashoffset: -64; }} }}
.mha-arrive {{ animation: mha-arrive 0.9s ease-in-out both; }}
.mha-flash {{ animation: mha-flash 0.7s ease-out both; }}
.mha-grow {{ stroke-dasharray: var(--whole); animation: mha-grow 0.6s ease-out both; }}
.mha-write {{ animation: mha-write var(--lasts) steps(var(--letters)) var(--after) backwards; }}
.mha-reveal {{ animation: mha-reveal 0.6s ease-in-out; }}
.mha-later {{ animation: mha-later 0.15s ease-out 0.75s backwards; }}
.mha-cut {{ opacity: 0; stroke-dasharray: var(--whole); animation: mha-cut 0.5s linear; }}
.mha-flow {{ opacity: 0; animation: mha-flow 1.5s linear; }}
.mha-shakes.mha-lit, .mha-lit .mha-shakes {{ animation: mha-shake 0.16s linear infinite; }}
.mha-arcs .mha-word {{ cursor: pointer; }}
.mha-arcs:has(.mha-word:hover) .mha-word path {{ stroke-opacity: 0.06; }}
.mha-arcs .mha-word:hover path {{ stroke-opacity: 1; }}
.mha-arcs .mha-word:hover rect {{ stroke-width: 2.5; }}
.mha-lab .mha-hover {{ transition: opacity 0.15s; }}
@media (prefers-reduced-motion: reduce) {{
  .mha-picture * {{ animation: none !important; transition: none !important; }}
}}
@media (forced-colors: active) {{
  .mha-picture {{ forced-color-adjust: none; background: {style.PAPER}; color: {style.INK};
    margin-block: 6px; box-shadow: 0 0 0 6px {style.PAPER}; }}
  .mha-lab button.mod-active {{ border: 4px double ButtonText; }}
  .mha-lab button, .mha-lab input, .mha-lab select {{ border: 1px solid ButtonText; }}
}}
</style>"""


def heading(title: str, task: str) -> str:
    """Write a lab's title and what to try first."""
    return f"<div><b>Lab: {html.escape(title)}.</b> {html.escape(task)}</div>"


def header(title: str, task: str) -> str:
    """Write a lab's heading, with the card's style."""
    return STYLE_SHEET + heading(title, task)


def readout(sentence: str, *, role: str) -> str:
    """Write the read-out: what the picture shows, for eyes and for screen readers.

    The first is a "status". A later one takes its place whole, because ipywidgets replaces what it shows; a
    "status" that comes with its text is not always announced, while an "alert" is. (No screen reader was tried.)
    """
    return f'<p role="{role}" style="margin:4px 0 0"><b>What you see:</b> {html.escape(sentence)}</p>'


@dataclass(frozen=True)
class Picture:
    """What a lab shows for one state.

    Parameters
    ----------
    svg : str
        One picture, or several that stand side by side where there is room and stack where there is none. None
        is wider than MAX_WIDTH: they are never shrunk, so that numbers keep their size.
    sentence : str
        What the picture shows, in words: the read-out.
    notice : str
        Whose function was run, if any. "≠" in it says that what is shown is marked as not right.
    """

    svg: str
    sentence: str
    notice: str

    @property
    def is_wrong(self) -> bool:
        """Whether the reader's function was run and is not right."""
        return "≠" in self.notice

    def html(self) -> str:
        wrong = ' class="mha-wrong"' if self.is_wrong else ""
        colour = "ink" if wrong else "quiet"
        looks = f"margin:2px 0 4px; font-size:13px; color:var(--mha-{colour})"
        notice = f'<p{wrong} style="{looks}">{with_code(self.notice)}</p>'
        return f'<div class="mha-notice">{notice if self.notice else ""}</div><div class="mha-parts">{self.svg}</div>'


def still_note(how_to_run: str) -> str:
    """Say that a picture is still, and how to get the live lab."""
    return f'<div style="font-size:13px; color:var(--mha-quiet)">Still picture. {how_to_run}</div>'


def still(title: str, task: str, picture: Picture, *, note: str) -> str:
    """Write a lab without its controls, for a page on which nothing runs."""
    return (
        f'<div class="mha-lab">{note}{header(title, task)}<div class="mha-picture">{picture.html()}</div>'
        f"{readout(picture.sentence, role='status')}</div>"
    )
