"""Write the edition for the browser: JupyterLite with the course's notebooks, package, data and settings."""

import html
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from mha_helpers import course_data, take_home
from mha_helpers.drawing import in_a_tab
from tools.page import shortcuts
from tools.release.environments import environment, install, make_environment
from tools.site.lite import VERSIONS, contents, patient, pyodide
from tools.writing.notebooks import NOTEBOOKS, read

ROOT = NOTEBOOKS.parent
SCRIPTS = ("notices.js", "copies.js")
APPS = ("notebooks", "lab", "tree")
KERNEL = "@jupyterlite/pyodide-kernel-extension"
DRIVERS = ["asyncStorage", "memoryStorageDriver"]  # localforage's names of IndexedDB, and of what is none
# Seconds from one save to the next. JupyterLab's 120 are for a server; here a save is cheap, and what was typed since
# goes with a tab that crashes. After a save that took long JupyterLab waits ten times as long: hence 5, not 10.
SAVING = {"@jupyterlab/docmanager-extension:plugin": {"autosaveInterval": 5}}
OWN_PACKAGES = ("piplite", "pyodide_kernel", "ipykernel")  # the kernel's, in its extension
HERE = "../../../.."  # as the kernel's worker sees it, in extensions/@jupyterlite/pyodide-kernel-extension/static


def build(folder, notebooks, files, lock):
    """Write the edition for the browser.

    Parameters
    ----------
    folder : pathlib.Path
        New.
    notebooks : iterable of pathlib.Path
    files, lock : dict
        The Pyodide distribution, as `pyodide.distribution` returns it; both are added to.
    """
    notebooks = {path.name: read(path) for path in notebooks} | {patient.NAME: patient.notebook()}
    with tempfile.TemporaryDirectory() as own:
        own = Path(own)
        python = make_environment(sys.executable, own / "environment", "--seed")
        install(python, *VERSIONS["build"]["requirements"])
        for wheel in _wheels(python, own):
            pyodide.add(files, lock, wheel)
        _run_jupyterlite(python, own, folder, notebooks, lock)
    static = folder / "static/pyodide"
    static.mkdir(parents=True)
    for name, content in files.items():
        (static / name).write_bytes(content)
    (static / pyodide.LOCK).write_text(json.dumps(lock), encoding="utf-8")
    data = folder / "data"
    shutil.copytree(ROOT / "data", data, ignore=shutil.ignore_patterns("__pycache__"))
    names = sorted(path.relative_to(data).as_posix() for path in data.rglob("*") if path.is_file())
    (data / course_data.LIST).write_text(json.dumps(names), encoding="utf-8")
    _dress(folder, {name: contents.version(notebook) for name, notebook in notebooks.items()})


def _wheels(python, own):
    """Yield the wheels of what Pyodide has not: the kernel's own packages, the labs' controls, and the course's two."""
    kernel = own / "environment/share/jupyter/labextensions" / KERNEL / "static/pypi"
    yield from (next(kernel.glob(f"{name}-*.whl")) for name in OWN_PACKAGES)
    wheels = own / "wheels"
    _run(python, "-m", "pip", "download", "--quiet", "--no-deps", "-d", wheels, *VERSIONS["browser"]["requirements"])
    project = own / "project"
    for name in ("mha_helpers", "engines"):
        shutil.copytree(ROOT / name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in take_home.BESIDE:
        shutil.copy(ROOT / name, project / name)
    (project / "data").mkdir()  # empty: a visit begins without the data, which come when they are asked for
    for source in (project / "engines", project):
        _run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", wheels, cwd=source)
    yield from sorted(wheels.glob("*.whl"))


def _run_jupyterlite(python, own, folder, notebooks, lock):
    served = own / "contents"
    served.mkdir()
    for name, notebook in notebooks.items():
        (served / name).write_text(contents.served(notebook), encoding="utf-8")
    packages = [entry["name"] for entry in lock["packages"].values()]
    version = ".".join(lock["info"]["python"].split(".")[:2])
    startup = f"/lib/python{version}/site-packages/mha_helpers/learner/kernel_startup.py"
    plots = " ".join(f"{HERE}/static/pyodide/{name}" for name in VERSIONS["pyodide"]["plots"])
    variables = {course_data.URL: f"{HERE}/data", in_a_tab.URLS: plots, "PYTHONSTARTUP": startup}
    options = {"packages": packages, "env": variables}
    kernel = {"pyodideUrl": "./static/pyodide/pyodide.js", "loadPyodideOptions": options, "disablePyPIFallback": True}
    config = {
        "appName": "The course in your browser",
        "exposeAppInBrowser": True,
        # Where the browser keeps nothing, a notebook runs all the same, and is forgotten: `notices.js` says so.
        "enableMemoryStorage": True,
        **{f"{what}StorageDrivers": DRIVERS for what in ("contents", "settings", "workspaces")},
        "disabledExtensions": ["@jupyterlab/apputils-extension:announcements"],
        "litePluginSettings": {f"{KERNEL}:kernel": kernel},
    }
    (own / "jupyter-lite.json").write_text(
        json.dumps({"jupyter-lite-schema-version": 0, "jupyter-config-data": config}), encoding="utf-8"
    )
    (own / "overrides.json").write_text(json.dumps(shortcuts.overrides() | SAVING), encoding="utf-8")
    apps = [f"--apps={app}" for app in APPS]
    command = [python, "-m", "jupyterlite_core", "build", "--contents", served, "--output-dir", folder.resolve()]
    _run(*command, "--lite-dir", own, "--no-sourcemaps", "--no-unused-shared-packages", *apps, cwd=own)


def _run(*command, **options):
    """Run a command; where it fails, what it says is shown, and this one ends."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=environment(), **options)
    if done.returncode:
        sys.exit(f"`{' '.join(map(str, command))}` failed:\n{done.stdout}{done.stderr}")


def _dress(folder, versions):
    """Give each application's page the course's style sheet, and what we do in it beside JupyterLite."""
    shutil.copy(ROOT / "data/jupyter/custom.css", folder)
    for name in SCRIPTS:
        shutil.copy(Path(__file__).with_name(name), folder)
    more = '<link rel="stylesheet" href="../custom.css"><script src="../notices.js"></script>'
    more += f'<script src="../copies.js" data-versions="{html.escape(json.dumps(versions))}"></script>'
    for app in APPS:
        page = folder / app / "index.html"
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace("</head>", f"{more}</head>", 1), encoding="utf-8")
