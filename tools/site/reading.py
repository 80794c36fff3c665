"""What makes a page of a notebook one to read: its contents, and exercises that say where they can be tried."""

import html
import itertools
import re

HEADING = re.compile(r'<h2 id="([^"]*)">(.*?)<a class="anchor-link".*?</h2>', re.DOTALL)
MINUTES_OF = re.compile(r" \((\d+) minutes?\)(?=<a class=\"anchor-link\")")
MINUTES = re.compile(r' ?<span class="minutes">.*?</span>')
TAGS = re.compile(r"<[^>]*>")
TABLE = re.compile(r"(<thead>.*?</thead>)(.*?</table>)", re.DOTALL)
COLUMN = re.compile(r"<t[hd][^>]*>(.*?)</t[hd]>", re.DOTALL)
UNTRIED = re.compile(r'<div class="mha-neutral".*', re.DOTALL)
FOLD = re.compile(r"<details.*</details>", re.DOTALL)
# What a cell says to the one who runs it: whose function ran, and what to do next.
TO_ITS_RUNNER = re.compile(
    r"^(?:\w+: the course's version \(.*\)|\w+ is not right yet, so .*|nothing to compare yet: .*"
    r"|Run this cell to see how far you are\.)(?:\n|\Z)",
    re.MULTILINE,
)


def with_minutes(page):
    """Return a page on which a section's minutes are a tag beside its heading."""
    return MINUTES_OF.sub(r' <span class="minutes">\1 min</span>', page)


def contents(page):
    """Return the list of a page's sections as HTML, or nothing where there are fewer than three.

    Examples
    --------
    >>> contents("<h2 id='a'>A</h2>")
    ''
    """
    sections = HEADING.findall(page)
    if len(sections) < 3:
        return ""
    listed = []
    for name, inner in sections:
        minutes = MINUTES.search(inner)
        words = TAGS.sub("", MINUTES.sub("", inner)).strip()
        tag = minutes[0].strip() if minutes else ""
        listed.append(f'<li><a href="#{name}"><span>{words}</span>{tag}</a></li>')
    return (
        '<nav class="contents" aria-label="On this page">'
        '<progress max="1" value="0" aria-label="Read so far"></progress>'
        f"<details open><summary>Contents</summary><ol>{''.join(listed)}</ol></details></nav>"
    )


def with_column_names(page):
    """Return a page whose tables' cells carry the name of their column, for a phone, which shows each row as a list.

    Examples
    --------
    >>> with_column_names("<table><thead><tr><th>clock</th></tr></thead><tbody><tr><td>9:00</td></tr></tbody></table>")
    '<table><thead><tr><th>clock</th></tr></thead><tbody><tr><td data-column="clock">9:00</td></tr></tbody></table>'
    """

    def named(table):
        names = itertools.cycle(TAGS.sub("", name) for name in COLUMN.findall(table[1]))
        return table[1] + re.sub("<td", lambda _: f'<td data-column="{next(names)}"', table[2])

    return TABLE.sub(named, page)


def to_a_reader(outputs):
    """Return a cell's outputs without the lines that speak to the one who runs it, and without those that say no more.

    Parameters
    ----------
    outputs : list of NotebookNode
        They are changed.

    Returns
    -------
    list of NotebookNode
    """
    kept = []
    for output in outputs:
        if "text" in output:
            output.text = TO_ITS_RUNNER.sub("", output.text)
        if output.get("text", True) and not TO_ITS_RUNNER.fullmatch(output.get("data", {}).get("text/plain", "")):
            kept.append(output)
    return kept


def to_try(shown, address):
    """Return what stands below an exercise that nobody has tried: where to try it, and its hints.

    Parameters
    ----------
    shown : str
        What the check says of an untouched exercise, as HTML.
    address : str
        Where the notebook runs, or how it is started.

    Returns
    -------
    str or None
        HTML; None where something else is shown.

    Examples
    --------
    >>> to_try('<div class="mha-neutral">Not attempted yet</div>', "#a")[:63]
    '<div class="try"><a href="#a"><b>Try it</b></a> in the notebook'
    """
    if not UNTRIED.match(shown):
        return None
    folds = FOLD.search(shown)
    return (
        f'<div class="try"><a href="{html.escape(address)}"><b>Try it</b></a> in the notebook: your answer is checked, '
        f"and a mistake is named.{folds[0] if folds else ''}</div>"
    )
