"""How a check, a hint or a prediction shows itself: as text, and as the same text in a panel."""

import html
import re
from dataclasses import dataclass

from mha_helpers.drawing import style

# The heading says the same in words: colour is never the only carrier.
BORDERS = {
    "neutral": style.QUIET,
    "good": style.ROLES["values"],
    "bad": style.ALARM,
    "info": style.ROLES["queries"],
}


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
    """

    tone: str
    heading: str
    paragraphs: tuple = ()
    code: str = ""

    def text(self):
        return "\n".join(part for part in (self.heading, *self.paragraphs, self.code) if part)

    def html(self):
        body = "".join(
            f'<div style="margin-top:4px; white-space:pre-wrap">{_with_code(paragraph)}</div>'
            for paragraph in self.paragraphs
        )
        if self.code:
            body += (
                f'<pre style="margin:6px 0 0; padding:6px; background:#f2f2f2; color:{style.INK}; white-space:pre; '
                f'overflow-x:auto">{html.escape(self.code)}</pre>'
            )
        return (
            f'<div style="border-left:6px solid {BORDERS[self.tone]}; padding:8px 12px; max-width:52em; '
            f'background:{style.PAPER}; color:{style.INK}; line-height:1.45"><b>{html.escape(self.heading)}</b>'
            f"{body}</div>"
        )


def _with_code(text):
    """Escape text; what stands between backticks becomes code."""
    return re.sub(r"`([^`]+)`", rf'<code style="background:#f2f2f2; color:{style.INK}">\1</code>', html.escape(text))


class Shown:
    """Anything that shows itself as a panel: a subclass has a property `panel`."""

    def __repr__(self):
        return self.panel.text()

    def _repr_html_(self):
        return self.panel.html()


@dataclass(frozen=True, repr=False)
class Note(Shown):
    """What is shown when asked for: a hint, a solution, what is kept."""

    panel: Panel

    @property
    def source(self):
        """The code in it, as a learner would type it."""
        return self.panel.code
