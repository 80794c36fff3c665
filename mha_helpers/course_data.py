"""Finding the course's data, in the repository, in an installed package and in a browser alike."""

from __future__ import annotations

import json
import os
from pathlib import Path

# Set in the edition for the browser: where its data are, which come when they are first asked for.
URL = "MHA_DATA_URL"
LIST = "files.json"  # there: the names of all of them


def data_path(name: str) -> Path:
    """Return the path of one of the course's data files.

    In the repository `data/` stands beside the package; in an installed wheel, inside it. In a browser the file is
    fetched from the site that the notebook came from.

    Parameters
    ----------
    name : str
        The file's path below `data/`.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    ValueError
        If no place has such a file.

    Examples
    --------
    >>> data_path("worked_examples.json").name
    'worked_examples.json'
    """
    package = Path(__file__).parent
    for folder in (package / "data", package.parent / "data"):
        if (folder / name).is_file():
            return folder / name
    if URL in os.environ:
        return _stored(name, package / "data" / name)
    remedy = "take it: python -m tools refresh" if name.startswith(("labs/", "maps/")) else "install mha_helpers again"
    raise ValueError(f"no data file {name!r} beside or inside the package; {remedy}")


def fetch_all() -> None:
    """Make sure that all data files are here: in a browser, fetch those that nothing has needed yet.

    Raises
    ------
    ValueError
        If one of them doesn't come.
    """
    if URL in os.environ:
        for name in json.loads(data_path(LIST).read_text(encoding="utf-8")):
            data_path(name)


def fetched(url: str) -> bytes:
    """Fetch a file of the site in the browser's worker, which may block.

    Parameters
    ----------
    url : str
        As the worker sees it.

    Returns
    -------
    bytes

    Raises
    ------
    ValueError
        If it doesn't come.
    """
    from js import XMLHttpRequest
    from pyodide.ffi import JsException

    name = url.rpartition("/")[2]
    request = XMLHttpRequest.new()
    request.open("GET", url, False)
    request.responseType = "arraybuffer"
    try:
        request.send()
    except JsException as error:
        raise ValueError(f"the file {name!r} did not come ({error}); is there a network? Try again") from None
    if request.status != 200:
        raise ValueError(f"the site has no file {name!r} (it answers {request.status}); reload the page")
    return request.response.to_bytes()


def _stored(name, path):
    """Fetch a data file and store it where the next call looks."""
    content = fetched(f"{os.environ[URL]}/{name}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path
