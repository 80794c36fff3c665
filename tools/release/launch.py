"""Where the course opens without an installation: in the browser, on Binder, on Colab.

The addresses follow from the repository that pyproject.toml names. While that is nobody's, the line that holds the
links says so, and links to nothing: `python -m tools stamp OWNER/REPOSITORY` writes them.
"""

import re
import tomllib
from urllib.parse import quote

from tools.writing.notebooks import NOTEBOOKS, course_notebooks, original, read, serialised

ROOT = NOTEBOOKS.parent
README = ROOT / "README.md"
NOBODY = "OWNER"
LINE = re.compile(r"^Open in .*?(?= ·\n\[Start|\n\n)", re.DOTALL | re.MULTILINE)
NOT_YET = "Open in your browser, on Binder or on Colab: as soon as the course is published"


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
    """Return the line, or lines, in which a notebook says where it opens."""
    opens = links(file, repository)
    return "Open in " + " ·\n".join(f"[{where}]({url})" for where, url in opens.items()) if opens else NOT_YET


def written(text, file, repository):
    """Return a text that begins with a launch line, with the line as it should be."""
    return LINE.sub(lambda _: line(file, repository), text, count=1)


def readme(text, repository):
    """Return the README's text with its launch line, which opens the first notebook."""
    return written(text, course_notebooks()[0].name, repository)


def all_written(repository):
    """Return the new text of every file that has a launch line, the notebooks' originals included, by its path."""
    texts = {README: readme(README.read_text(encoding="utf-8"), repository)}
    for path in course_notebooks():
        notebook = read(path)
        notebook.cells[0].source = written(notebook.cells[0].source, path.name, repository)
        texts |= {path: serialised(notebook), ROOT / "data/originals" / path.name: original(notebook)}
    return texts
