"""What the course needs of a Pyodide distribution: found or fetched, checked, and joined by our own packages."""

import hashlib
import json
import urllib.request
import zipfile

from tools.site.lite import VERSIONS
from tools.writing.notebooks import NotebookError

LOCK = "pyodide-lock.json"


def distribution(source):
    """Return the files of a Pyodide distribution that the course needs, and its record of packages.

    Parameters
    ----------
    source : pathlib.Path or None
        A folder that holds a distribution; None fetches the pinned release.

    Returns
    -------
    files : dict of str to bytes
        By name, each with the checksum that `versions.toml` has for it.
    lock : dict
        `pyodide-lock.json`, with the packages among those files alone that a kernel starts with.

    Raises
    ------
    NotebookError
        If a file is missing, cannot be fetched, or is another than that of the pinned release.
    """
    pinned = VERSIONS["pyodide"]
    get = _fetched if source is None else (lambda name: _read(source, name))
    lock = json.loads(get(LOCK))
    if lock["info"]["version"] != pinned["version"]:
        raise NotebookError(
            f"{source} holds Pyodide {lock['info']['version']}; the edition for the browser is made for "
            f"{pinned['version']} (tools/site/lite/versions.toml)"
        )
    checksums = pinned["files"] | pinned["plots"]
    files = {name: get(name) for name in checksums}
    for name, content in files.items():
        if hashlib.sha256(content).hexdigest() != checksums[name]:
            raise NotebookError(f"{name} of {source or pinned['url']} is not that of Pyodide {pinned['version']}")
    packages = {name: entry for name, entry in lock["packages"].items() if entry["file_name"] in pinned["files"]}
    return files, lock | {"packages": packages}


def _read(folder, name):
    try:
        return (folder / name).read_bytes()
    except OSError:
        version = VERSIONS["pyodide"]["version"]
        raise NotebookError(
            f"{folder} has no {name}; give a folder with the whole of Pyodide {version}, or --lite in place of "
            "--pyodide, to fetch it"
        ) from None


def _fetched(name):
    url = VERSIONS["pyodide"]["url"] + name
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return answer.read()
    except OSError as error:
        raise NotebookError(
            f"{url} could not be fetched ({error}); name a folder with a copy of Pyodide "
            f"{VERSIONS['pyodide']['version']} by --pyodide, or leave out --lite"
        ) from None


def add(files, lock, wheel):
    """Add a wheel without machine code to a distribution.

    Parameters
    ----------
    files, lock : dict
        As `distribution` returns them; both are added to.
    wheel : pathlib.Path
    """
    name, version = wheel.name.split("-")[:2]
    with zipfile.ZipFile(wheel) as archive:
        tops = {file.partition("/")[0] for file in archive.namelist() if file.endswith("/__init__.py")}
    files[wheel.name] = wheel.read_bytes()
    lock["packages"][name.replace("_", "-")] = {
        "name": name,
        "version": version,
        "file_name": wheel.name,
        "install_dir": "site",
        "sha256": hashlib.sha256(files[wheel.name]).hexdigest(),
        "package_type": "package",
        "imports": sorted(tops),
        "depends": [],  # all packages are loaded together
        "unvendored_tests": False,
        "shared_library": False,
    }
