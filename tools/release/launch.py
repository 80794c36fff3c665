"""Where the course is to be had and opened: by git, in the browser, on Binder, on Colab.

The addresses follow from the repository that pyproject.toml names. While that is nobody's, README and notebooks offer
what works without one, a start on the reader's own machine; `python -m tools stamp OWNER/REPOSITORY` writes the rest.
"""

import re
import tomllib
from pathlib import Path
from urllib.parse import quote

from tools.writing.notebooks import NOTEBOOKS, course_notebooks, original, read, serialised

ROOT = NOTEBOOKS.parent
README = ROOT / "README.md"
SUPPORT = ROOT / "SUPPORT.md"
NOBODY = "OWNER"
# The last paragraph of a notebook's head that says where it opens: with an owner, and without one.
LINE = re.compile(r"^(?:Open in |\[Start on your machine\]).*?(?=\n\n)", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(r"(<!-- (\w+): written by python -m tools stamp -->\n).*?(<!-- end -->)", re.DOTALL)
WITHOUT_INSTALLING = Path(__file__).with_name("without_installing.md")
# The badges that people know, for the README alone: a notebook and the site load nothing from elsewhere.
BADGES = {
    "your browser": "https://jupyterlite.rtfd.io/en/latest/_static/badge.svg",
    "Binder": "https://mybinder.org/badge_logo.svg",
    "Colab": "https://colab.research.google.com/assets/colab-badge.svg",
}
SITE_BADGE = "https://img.shields.io/badge/read-the_site-00548a"
# What the issue forms are for, by their names in .github/ISSUE_TEMPLATE.
FORMS = {"message": "A check's message", "verdict": "The doctor's verdict", "passage": "A passage"}
NO_ADDRESS = "This copy has no address of its own: tell whoever you have it from."


def repository():
    """Return the OWNER/REPOSITORY that pyproject.toml names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project["urls"]["Repository"].removeprefix("https://github.com/")


def site(repository):
    """Return the address of the pages that a repository publishes; None while it has not been published.

    Examples
    --------
    >>> site("ada/attention")
    'https://ada.github.io/attention/'
    """
    owner, _, name = repository.partition("/")
    return None if owner == NOBODY else f"https://{owner.lower()}.github.io/{name}/"


def links(file, repository):
    """Return the addresses at which a notebook opens, by the words that lead there.

    Parameters
    ----------
    file : str
        The notebook's name.
    repository : str
        OWNER/REPOSITORY on GitHub.

    Returns
    -------
    dict of str to str
        Empty while the course has not been published.
    """
    if not site(repository):
        return {}
    name = quote(file)
    return {
        "your browser": f"{site(repository)}lite/notebooks/index.html?path={name}",
        "Binder": f"https://mybinder.org/v2/gh/{repository}/HEAD?urlpath=lab/tree/notebooks/{name}",
        "Colab": f"https://colab.research.google.com/github/{repository}/blob/main/notebooks/{name}",
    }


def line(file, repository):
    """Return the lines in which a notebook says where it opens, and how it starts on the reader's machine."""
    opens = links(file, repository)
    if not opens:
        return "[Start on your machine](../README.md#start)"
    start = f"[Start on your machine](https://github.com/{repository}#start)"
    return "Open in " + " ·\n".join([*(f"[{where}]({url})" for where, url in opens.items()), start])


def written(text, file, repository):
    """Return a notebook's first cell with the lines of `line` as they should be."""
    return LINE.sub(lambda _: line(file, repository), text, count=1)


def blocks(repository):
    """Return what stands in the blocks of README.md and SUPPORT.md, by their names.

    Parameters
    ----------
    repository : str
        OWNER/REPOSITORY on GitHub.

    Returns
    -------
    dict of str to str
        `badges`; `get`, the command that fetches the course; `without`, on the ways in that need no installation; and
        `ask`, where to tell us. The first three are empty while the course has not been published.
    """
    if not site(repository):
        return {"badges": "", "get": "", "without": "", "ask": f"\n{NO_ADDRESS}\n\n"}
    first = links(course_notebooks()[0].name, repository)
    badges = [f"[![Open in {where}]({BADGES[where]})]({url})" for where, url in first.items()]
    badges.append(f"[![Read the site]({SITE_BADGE})]({site(repository)})")
    address, folder = f"https://github.com/{repository}", repository.partition("/")[2]
    forms = [f"- [{what}]({address}/issues/new?template={form}.yml)" for form, what in FORMS.items()]
    return {
        "badges": "\n".join(badges) + "\n",
        "get": f"\n```sh\ngit clone --depth 1 {address} && cd {folder}\n```\n\n",
        "without": "\n" + WITHOUT_INSTALLING.read_text(encoding="utf-8") + "\n",
        "ask": "\n" + "\n".join([*forms, f"- [A question, or anything else]({address}/discussions)"]) + "\n\n",
    }


def with_blocks(text, repository):
    """Return a page's text with the blocks of `blocks` as they should be."""
    content = blocks(repository)
    return BLOCK.sub(lambda found: found[1] + content[found[2]] + found[3], text)


def all_written(repository):
    """Return the new text of every file that says where the course opens, the originals included, by its path."""
    texts = {page: with_blocks(page.read_text(encoding="utf-8"), repository) for page in (README, SUPPORT)}
    for path in course_notebooks():
        notebook = read(path)
        notebook.cells[0].source = written(notebook.cells[0].source, path.name, repository)
        texts |= {path: serialised(notebook), ROOT / "data/originals" / path.name: original(notebook)}
    return texts
