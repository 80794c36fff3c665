"""Pages of this folder to be printed: `python -m workshop.printed half_day README --start 13:30` writes them as HTML.

A browser prints them (Ctrl+P), or saves them as PDF. Each notebook begins on a page of its own, with its answers below
its table; pages have numbers where the browser can number them (Chromium, Chrome and Edge can).
"""

import argparse
import html
import re
from pathlib import Path

from nbconvert.filters import markdown2html

from tools.teaching import guide
from tools.teaching.sheet import minutes_of, with_whole_names

HERE = Path(__file__).parent
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>
<style>
@page {{ size: A4; margin: 16mm 14mm; @bottom-center {{ content: counter(page) " of " counter(pages); }} }}
body {{ font: 10.5pt/1.4 Georgia, serif; max-width: 182mm; margin: auto; }}
h1, h2, h3 {{ font-family: system-ui, sans-serif; line-height: 1.2; }}
h1, h2, h3, p:has(+ .highlight), p:has(+ p + .highlight) {{ break-after: avoid; }}
h2 {{ margin-top: 1.6em; }}
h2.notebook {{ break-before: page; }}
table {{ border-collapse: collapse; width: 100%; font-size: 9.5pt; }}
th, td {{ border: 1px solid #999; padding: .25em .5em; text-align: left; vertical-align: top; }}
tr, pre, blockquote, img {{ break-inside: avoid; }}
thead {{ display: table-header-group; }}
pre, code {{ font: 8.5pt/1.35 monospace; }}
code span {{ white-space: nowrap; }}
pre {{ border: 1px solid #999; padding: .6em; white-space: pre-wrap; overflow-wrap: anywhere; }}
img {{ max-width: 100%; }}
a {{ color: inherit; text-decoration: none; }}
.anchor-link {{ display: none; }}
</style>
{body}
</html>
"""
NOTEBOOK = re.compile(r'<h2(?= id="\d\d-)')


def printed(page, start=None):
    """Return one page of this folder, by its name without the ending, as HTML to print.

    Parameters
    ----------
    page : str
    start : str, optional
        When the day begins, "13:30", if not as the page says.

    Raises
    ------
    ValueError
        If there is no such page, or `start` is no time.
    """
    file = HERE / f"{page}.md"
    if not file.is_file():
        there = ", ".join(sorted(path.stem for path in HERE.glob("*.md")))
        raise ValueError(f"there is no page {page!r} in {HERE.name}; there are {there}")
    text = file.read_text(encoding="utf-8")
    if start is not None:
        minutes_of(start)
        text = guide.at(text, start)
    body = NOTEBOOK.sub('<h2 class="notebook"', markdown2html(text))
    return PAGE.format(title=html.escape(page), body=with_whole_names(body))


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m workshop.printed", description=__doc__)
    parser.add_argument("pages", nargs="+", metavar="PAGE", help="its name without the ending, such as half_day")
    parser.add_argument("--start", metavar="HH:MM", help="when the day begins (default: as its page says)")
    parser.add_argument("--to", type=Path, default=Path("printed"), metavar="FOLDER", help="(default: printed)")
    arguments = parser.parse_args(argv)
    try:
        pages = {page: printed(page, arguments.start) for page in arguments.pages}
    except ValueError as error:
        parser.error(str(error))
    arguments.to.mkdir(parents=True, exist_ok=True)
    for page, text in pages.items():
        (arguments.to / f"{page}.html").write_text(text, encoding="utf-8")
        print(arguments.to / f"{page}.html")


if __name__ == "__main__":
    main()
