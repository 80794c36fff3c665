"""A panel of text, as plain text and as HTML: how a check, a hint or a prediction is shown."""

import html
import re
from dataclasses import dataclass

from live_pictures import style
from live_pictures.figure import Figure

# The heading says the same in words: colour is never the only carrier.
BORDERS = {
    "neutral": style.THEME_INK,
    "good": style.GOOD,
    "bad": style.ALARM,
    "info": style.QUIET,
}
# What is still to be done stands out where a page is read that nobody has run.
GROUNDS = {"neutral": style.THEME_PANEL}
SIGNS = {"neutral": "✎", "good": "✓", "bad": "✗", "info": "ℹ"}


@dataclass(frozen=True)
class Panel:
    """A heading, paragraphs and perhaps code, in plain text and in HTML.

    Parameters
    ----------
    tone : {"neutral", "good", "bad", "info"}
    heading : str
        One line.
    paragraphs : tuple of str
    code : str, optional
        Shown as it stands, after the paragraphs.
    picture : Figure, optional
        After the code.
    folds : tuple of (str, str), optional
        Titles and what a click on them opens, last of all; in HTML only.
    """

    tone: str
    heading: str
    paragraphs: tuple[str, ...] = ()
    code: str = ""
    picture: Figure | None = None
    folds: tuple[tuple[str, str], ...] = ()

    def text(self) -> str:
        seen = self.picture.text if self.picture else ""
        return "\n".join(part for part in (self.heading, *self.paragraphs, self.code, seen) if part)

    def html(self) -> str:
        body = "".join(map(_paragraph, self.paragraphs))
        if self.code:
            # Wrapped, not cut off: what stands beyond the edge of a box is overlooked.
            body += (
                f'<pre style="margin:6px 0 0; padding:6px; background:{style.THEME_PANEL}; color:{style.THEME_INK}; '
                f'white-space:pre-wrap; overflow-wrap:anywhere">{html.escape(self.code)}</pre>'
            )
        if self.picture:
            body += f'<div style="margin-top:6px">{self.picture.html()}</div>'
        for title, content in self.folds:
            summary = f'<summary style="cursor:pointer">{html.escape(title)}</summary>'
            body += f'<details style="margin-top:4px">{summary}{_paragraph(content)}</details>'
        ground = GROUNDS.get(self.tone, style.THEME_PAPER)
        return (
            f'<div class="mha-{self.tone}" style="border-left:10px solid {BORDERS[self.tone]}; padding:8px 12px; '
            f"max-width:52em; background:{ground}; color:{style.THEME_INK}; line-height:1.45; "
            f'overflow-wrap:anywhere">{SIGNS[self.tone]} <b>{html.escape(self.heading)}</b>{body}</div>'
        )


def _paragraph(text: str) -> str:
    return f'<div style="margin-top:4px; white-space:pre-wrap">{with_code(text)}</div>'


def with_code(text: str) -> str:
    """Escape text; what stands between backticks becomes code."""
    return re.sub(
        r"`([^`]+)`",
        rf'<code style="background:{style.THEME_PANEL}; color:{style.THEME_INK}">\1</code>',
        html.escape(text),
    )


class Shown:
    """Anything that shows itself as a panel: a subclass has a property `panel`."""

    def __repr__(self):
        return self.panel.text()

    def _repr_html_(self):
        return self.panel.html()

    def _repr_png_(self):
        return self.panel.picture and self.panel.picture.png(repr(self))


@dataclass(frozen=True, repr=False)
class Note(Shown):
    """What is shown when asked for: a hint, a solution, what is kept."""

    panel: Panel

    @property
    def source(self) -> str:
        """The code in it, as its reader would type it."""
        return self.panel.code
