"""The launch links lead where they should: what Binder builds, and what its JupyterLab shows."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from contextlib import chdir
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest
from traitlets.config.loader import PyFileConfigLoader

from tools.page.browser import lab_server, open_page
from tools.release import launch
from tools.writing.notebooks import NOTEBOOKS, course_notebooks, read

# repo2docker's own import
pytestmark = pytest.mark.filterwarnings("ignore:pythonjsonlogger.jsonlogger has been moved:DeprecationWarning")

ROOT = NOTEBOOKS.parent


def binder_path(path):
    """Return what a notebook's Binder link opens: `lab/tree/notebooks/...`."""
    [urlpath] = parse_qs(urlsplit(launch.links(path.name, "ada/attention")["Binder"]).query)["urlpath"]
    return urlpath


@pytest.fixture(scope="module")
def binder(tmp_path_factory):
    """What repo2docker, which is Binder's builder, makes of the course: its build pack, the Dockerfile and the files.

    It needs no container engine for that; ours takes what it would build from.
    """
    if sys.platform == "win32":
        pytest.skip("repo2docker does not run on Windows")
    from repo2docker.app import Repo2Docker

    folder = tmp_path_factory.mktemp("binder")
    # Without its index, git lists what it does not ignore (and is not empty), in a clone or not.
    search = ["git", "grep", "--no-index", "--exclude-standard", "-z", "--files-with-matches", ""]
    files = subprocess.run(search, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for file in filter(None, files):
        (folder / "clone" / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, folder / "clone" / file)

    def build(fileobj, **options):
        with tarfile.open(fileobj=fileobj) as context:
            context.extractall(folder / "context", filter="data")
        return []

    with chdir(folder / "clone"):
        packs = (Pack(base_image="ubuntu") for Pack in Repo2Docker().buildpacks)
        pack = next(pack for pack in packs if pack.detect())
        pack.platform = "linux/amd64"
        list(pack.build(SimpleNamespace(build=build), "course", 0, {"NB_USER": "jovyan", "NB_UID": "1000"}, [], {}))
    return SimpleNamespace(
        pack=pack, dockerfile=(folder / "context/Dockerfile").read_text(), source=folder / "context/src"
    )


@pytest.mark.slow
def test_binder_takes_the_python_of_runtime_txt(binder):
    assert type(binder.pack).__name__ == "PythonBuildPack"
    assert f"python-{binder.pack.python_version}" == (ROOT / "runtime.txt").read_text().strip() == "python-3.12"


@pytest.mark.slow
def test_binder_installs_the_pinned_requirements_and_then_the_package(binder):
    """The second step makes an ordinary installation of the editable one, with the data in it."""
    copied = "COPY --chown=1000:1000 src/ ${REPO_DIR}/\n"
    install = r'^RUN \$\{KERNEL_PYTHON_PREFIX\}/bin/pip install --no-cache-dir (?:-r "(.*)"|(\.))$'
    before, after = binder.dockerfile.split(copied)
    assert re.findall(install, after, re.MULTILINE) == [("requirements.txt", ""), ("", ".")]
    assert not re.findall(install, before, re.MULTILINE), "the package is not there yet"
    assert (binder.source / "requirements.txt").read_bytes() == (ROOT / "requirements.txt").read_bytes()


@pytest.mark.slow
def test_what_binder_gets_is_enough_to_build_the_package_with_its_data(binder, tmp_path):
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir"]
    subprocess.run([*build, str(tmp_path), str(binder.source)], check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    data = {f"mha_helpers/{file.relative_to(ROOT).as_posix()}" for file in (ROOT / "data").rglob("*") if file.is_file()}
    assert "mha_helpers/data/worked_examples.json" in data
    assert data <= set(zipfile.ZipFile(wheel).namelist())


@pytest.mark.skipif(sys.platform == "win32", reason="Binder's images are Linux")
def test_binders_jupyterlab_reads_the_courses_settings(tmp_path):
    environment = os.environ | {"NB_PYTHON_PREFIX": str(tmp_path)}
    subprocess.run([ROOT / "postBuild"], cwd=ROOT, env=environment, check=True)
    config = PyFileConfigLoader("jupyter_server_config.py", str(tmp_path / "etc/jupyter")).load_config()
    [styles] = config.ServerApp.tornado_settings["static_custom_path"]
    assert config.LabApp.custom_css
    assert (Path(styles) / "custom.css").is_file()


@pytest.mark.parametrize("system", ["sh", "bat"])
def test_the_address_that_the_readmes_command_prints_opens_the_notebook(system, monkeypatch):
    readme = launch.README.read_text(encoding="utf-8")
    [command] = re.findall(rf"^```{system}\n(.*jupyter lab .*)\n```$", readme, re.MULTILINE)
    monkeypatch.setattr(sys, "argv", command.rpartition("jupyter ")[2].split(" "))
    monkeypatch.setattr(os, "environ", dict(os.environ))
    config = PyFileConfigLoader("jupyter_server_config.py", str(ROOT)).load_config()
    assert config.LabApp.default_url == f"/lab/tree/{course_notebooks()[0].name}"


@pytest.mark.parametrize("path", course_notebooks(), ids=lambda path: path.name)
def test_the_link_of_each_notebook_opens_that_notebook(path):
    assert ROOT / binder_path(path).removeprefix("lab/tree/") == path


@pytest.mark.slow
@pytest.mark.browser
def test_the_link_opens_jupyterlab_on_the_notebook_with_the_package_at_hand(browser, tmp_path):
    """On a server at the repository's root, as Binder's is, with the notebooks and nothing beside them."""
    shutil.copytree(NOTEBOOKS, tmp_path / "notebooks")
    first = course_notebooks()[0]
    with lab_server(tmp_path) as server, open_page(browser, server) as seen:
        seen.page.goto(server.url + binder_path(first))
        seen.page.wait_for_function("window.jupyterapp && jupyterapp.restored.then(() => true)")
        seen.page.wait_for_function("window.mhaPanel = jupyterapp.shell.currentWidget")
        seen.page.wait_for_function("mhaPanel.sessionContext?.session?.kernel?.status === 'idle'")
        assert seen.page.evaluate("mhaPanel.context.path") == f"notebooks/{first.name}"
        title = read(first).cells[0].source.partition("\n")[0].removeprefix("# ")
        assert seen.page.get_by_role("heading", name=title).is_visible()
        reply = seen.page.evaluate("""async () => {
            const code = "from mha_helpers import worked_examples; worked_examples.load('play_football')";
            return (await mhaPanel.sessionContext.session.kernel.requestExecute({code}).done).content;
        }""")
        assert reply["status"] == "ok", reply
        assert (seen.console_errors, seen.page_errors, seen.other_hosts) == ([], [], [])
