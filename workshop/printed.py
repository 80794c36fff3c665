"""Pages of this folder to be printed: `python -m workshop.printed half_day README` writes them as HTML.

A browser prints them (Ctrl+P), or saves them as PDF. Tables keep their rows whole, code its blocks, and a heading stays
with what follows it.
"""

import argparse
import html
from pathlib import Path

from nbconvert.filters import markdown2html

HERE = Path(__file__).parent
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>
<style>
@page {{ size: A4; margin: 16mm 14mm; }}
body {{ font: 10.5pt/1.4 Georgia, serif; max-width: 180mm; margin: auto; }}
h1, h2, h3 {{ font-family: system-ui, sans-serif; line-height: 1.2; break-after: avoid; }}
h2 {{ margin-top: 1.6em; }}
table {{ border-collapse: collapse; width: 100%; font-size: 9.5pt; }}
th, td {{ border: 1px solid #999; padding: .25em .5em; text-align: left; vertical-align: top; }}
tr, pre, blockquote, img {{ break-inside: avoid; }}
thead {{ display: table-header-group; }}
pre, code {{ font: 9pt/1.35 monospace; overflow-wrap: anywhere; }}
pre {{ border: 1px solid #999; padding: .6em; white-space: pre-wrap; overflow-wrap: anywhere; }}
img {{ max-width: 100%; }}
a {{ color: inherit; text-decoration: none; }}
.anchor-link {{ display: none; }}
</style>
{body}
</html>
"""


def printed(page):
    """Return one page of this folder, by its name without the ending, as HTML to print."""
    file = HERE / f"{page}.md"
    if not file.is_file():
        there = ", ".join(sorted(path.stem for path in HERE.glob("*.md")))
        raise ValueError(f"there is no page {page!r} in {HERE.name}; there are {there}")
    return PAGE.format(title=html.escape(page), body=markdown2html(file.read_text(encoding="utf-8")))


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m workshop.printed", description=__doc__)
    parser.add_argument("pages", nargs="+", metavar="PAGE", help="its name without the ending, such as half_day")
    parser.add_argument("--to", type=Path, default=Path("printed"), metavar="FOLDER", help="(default: printed)")
    arguments = parser.parse_args(argv)
    try:
        pages = {page: printed(page) for page in arguments.pages}
    except ValueError as error:
        parser.error(str(error))
    arguments.to.mkdir(parents=True, exist_ok=True)
    for page, text in pages.items():
        (arguments.to / f"{page}.html").write_text(text, encoding="utf-8")
        print(arguments.to / f"{page}.html")


if __name__ == "__main__":
    main()
