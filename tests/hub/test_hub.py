"""The workshop's hub: who gets in, who owns what, and a small room in a real one.

The real one needs `workshop/hub/requirements.txt`, and root: learners get user ids of their own.
"""

import asyncio
import errno
import os
import re
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema
import pytest
import yaml
from nbformat import v4

from tools.writing.notebooks import NOTEBOOKS, ONE_THREAD, course_notebooks, read

pytest.importorskip("pwd", reason="the hub runs on Linux")
from workshop.hub import homes
from workshop.hub import passwords as hub_passwords
from workshop.hub.learner_server import copy_notebooks
from workshop.hub.passwords import HubError, Settings, may_log_in, password, read_learners, read_settings

HUB = NOTEBOOKS.parent / "workshop/hub"
SECRET = "a secret of the tests"
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to somebody else")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "learners.txt").write_text("anna\n\n# the second row\nbert-2  # by the window\n")
    return tmp_path


@pytest.fixture
def open_folder():
    """Give a folder that learners can pass through: pytest's own are closed, and learners have other /tmp's."""
    with tempfile.TemporaryDirectory(dir="/srv" if os.geteuid() == 0 else None) as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


# --- names and passwords ---


def test_settings_hold_the_secret_the_folder_and_the_names(folder):
    settings = read_settings({"MHA_HUB_SECRET": SECRET, "MHA_HUB_FOLDER": str(folder)})
    assert settings == Settings(SECRET, folder, ("anna", "bert-2"))


@pytest.mark.parametrize("environment", [{}, {"MHA_HUB_SECRET": ""}, {"MHA_HUB_SECRET": "too short"}])
def test_no_secret_no_hub(folder, environment):
    with pytest.raises(HubError, match=r"MHA_HUB_SECRET has \d characters and wants 20.*openssl"):
        read_settings(environment | {"MHA_HUB_FOLDER": str(folder)})


def test_no_list_no_hub(tmp_path):
    with pytest.raises(HubError, match=r"there is no .*learners\.txt; write the learners' names"):
        read_settings({"MHA_HUB_SECRET": SECRET, "MHA_HUB_FOLDER": str(tmp_path)})


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("anna\nAnna\n", r"line 2: 'Anna' will not do.*small letters"),
        ("../root\n", r"line 1: '\.\./root' will not do"),
        ("zoë\n", r"line 1: 'zoë' will not do"),
        ("anna maria\n", r"line 1: 'anna maria' will not do"),
        ("a" * 32, r"line 1: .* at most 31"),
        ("anna\nbert\nanna\n", r"line 3: anna stands in line 1 already"),
        ("# nobody yet\n\n", r"names nobody"),
    ],
)
def test_a_name_that_will_not_do_is_named_with_its_line(tmp_path, lines, said):
    file = tmp_path / "learners.txt"
    file.write_text(lines, encoding="utf-8")
    with pytest.raises(HubError, match=said):
        read_learners(file)


def test_each_learner_and_each_secret_has_a_password_of_its_own():
    words = {password(secret, name) for secret in (SECRET, SECRET + "!") for name in ("anna", "bert")}
    assert len(words) == 4
    for word in words:
        assert re.fullmatch(r"[a-z2-7]{4}(-[a-z2-7]{4}){2}", word)
    assert password(SECRET, "anna") in words  # the same on another day


def test_only_a_learner_of_the_list_gets_in_and_only_with_their_own_password():
    settings = Settings(SECRET, Path(), ("anna", "bert"))
    assert may_log_in(settings, "anna", password(SECRET, "anna"))
    assert not may_log_in(settings, "anna", password(SECRET, "bert"))
    assert not may_log_in(settings, "anna", "")
    assert not may_log_in(settings, "anna", password("another secret", "anna"))
    assert not may_log_in(settings, "anna", "nön-ascii")
    assert not may_log_in(settings, "eve", password(SECRET, "eve"))


def test_the_list_to_hand_out_names_everybody(folder, monkeypatch, capsys):
    monkeypatch.setenv("MHA_HUB_SECRET", SECRET)
    monkeypatch.setenv("MHA_HUB_FOLDER", str(folder))
    hub_passwords.main([])
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        [name, password(SECRET, name)] for name in ("anna", "bert-2")
    ]


# --- configuration ---


def read_configuration(environment):
    """Read the configuration as the hub does, in a Python of its own; traitlets is enough for it."""
    read = (
        "from traitlets.config.loader import PyFileConfigLoader\n"
        f"print(PyFileConfigLoader({str(HUB / 'jupyterhub_config.py')!r}).load_config())"
    )
    unset = {name: value for name, value in os.environ.items() if not name.startswith("MHA_HUB")}
    return subprocess.run([sys.executable, "-c", read], env=unset | environment, capture_output=True, text=True)


@pytest.mark.parametrize("environment", [{}, {"MHA_HUB_SECRET": "password"}])
def test_the_configuration_refuses_to_start_without_a_secret(folder, environment):
    done = read_configuration(environment | {"MHA_HUB_FOLDER": str(folder)})
    assert done.returncode == 1
    assert "MHA_HUB_SECRET has" in done.stderr
    assert not (folder / "state").exists()


# --- the guide's commands ---


def commands():
    """Return the lines of the guide's commands, comments off."""
    blocks = re.findall(r"```sh\n(.*?)```", (HUB / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    return [line.partition("  #")[0].strip() for block in blocks for line in block.splitlines()]


def test_what_the_guide_writes_down_only_root_can_read(folder):
    home, srv = folder / "home", folder / "srv"
    (srv / "mha-hub").mkdir(parents=True)
    home.mkdir()
    private = [command for command in commands() if command.startswith("(umask 077;")]
    assert [command for command in commands() if "> ~" in command or "tar " in command] == private
    secret, words, environment, backup = private
    variables = os.environ | {"HOME": str(home), "MHA_HUB_FOLDER": str(folder), "MHA_HUB_SECRET": SECRET}
    before = set(NOTEBOOKS.parent.iterdir())
    for command in (secret, words, environment, backup):
        command = command.replace(".venv/bin/python", sys.executable).replace("-C /srv", f"-C {srv}")
        subprocess.run(["bash", "-c", f"umask 022; {command}"], env=variables, cwd=NOTEBOOKS.parent, check=True)
    names = {"mha-hub-secret", "mha-hub-passwords", "mha-hub-environment", "mha-hub.tar.gz"}
    assert {file.name: stat.S_IMODE(file.stat().st_mode) for file in home.iterdir()} == dict.fromkeys(names, 0o600)
    assert set(NOTEBOOKS.parent.iterdir()) == before, "nothing is left in the course's folder"
    assert password(SECRET, "anna") in (home / "mha-hub-passwords").read_text()


# --- homes ---


@as_root
def test_each_learner_owns_a_folder_that_nobody_else_enters(tmp_path):
    first, second = (homes.learner_home(tmp_path / "homes", name) for name in ("anna", "bert"))
    assert homes.learner_home(tmp_path / "homes", "anna") == first
    assert homes.user_id(first) == homes.FIRST_USER_ID != homes.user_id(second)
    for home in (first, second):
        assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert stat.S_IMODE(first.parent.stat().st_mode) == 0o711


@as_root
def test_a_number_is_not_given_twice_nor_one_of_an_account(tmp_path, monkeypatch):
    monkeypatch.setattr(homes, "_is_account", lambda number: number == homes.FIRST_USER_ID + 1)
    ids = [homes.user_id(homes.learner_home(tmp_path, name)) - homes.FIRST_USER_ID for name in ("anna", "bert", "cleo")]
    assert ids == [0, 2, 3]


def test_a_folder_of_an_account_is_not_a_learners(tmp_path):
    (tmp_path / "anna").mkdir()
    with pytest.raises(PermissionError, match=r"anna belongs to user id \d+.*chown -R 40000"):
        homes.user_id(tmp_path / "anna")


def test_what_is_closed_to_learners_is_found(open_folder):
    inner = open_folder / "inner"
    inner.mkdir(mode=0o755)
    program = inner / "python"
    program.touch(mode=0o755)
    assert homes.closed_to_others(program) is None
    assert homes.closed_to_others(inner) is None
    inner.chmod(0o711)
    assert homes.closed_to_others(program) is None
    assert homes.closed_to_others(inner) == inner.resolve()  # to be entered, and not to be listed
    program.chmod(0o600)
    assert homes.closed_to_others(program) == program.resolve()
    inner.chmod(0o700)
    assert homes.closed_to_others(program) == inner.resolve()


# --- notebooks ---


def test_a_copy_never_overwrites(tmp_path):
    course, own = tmp_path / "course", tmp_path / "own"
    course.mkdir()
    for name in ("01.ipynb", "02.ipynb"):
        (course / name).write_text("course")
    copy_notebooks(course, own)
    (own / "01.ipynb").write_text("a learner's")
    (own / "02.ipynb").unlink()
    (course / "03.ipynb").symlink_to(course / "01.ipynb")
    (own / "03.ipynb").symlink_to(own / "nowhere")
    copy_notebooks(course, own)
    assert (own / "01.ipynb").read_text() == "a learner's"
    assert (own / "02.ipynb").read_text() == "course"
    assert (own / "03.ipynb").is_symlink()
    assert sorted(path.name for path in own.iterdir()) == ["01.ipynb", "02.ipynb", "03.ipynb"]


def test_a_learner_whose_notebooks_are_a_file_gets_a_folder_and_keeps_the_file(tmp_path):
    course, own = tmp_path / "course", tmp_path / "notebooks"
    course.mkdir()
    (course / "01.ipynb").write_text("course")
    own.write_text("a learner's")
    (tmp_path / "notebooks (2)").write_text("older")
    copy_notebooks(course, own)
    assert (own / "01.ipynb").read_text() == "course"
    assert (tmp_path / "notebooks (3)").read_text() == "a learner's"
    assert (tmp_path / "notebooks (2)").read_text() == "older"


def test_a_learner_whose_disk_is_full_can_start_all_the_same(tmp_path, monkeypatch, capsys):
    course, own = tmp_path / "course", tmp_path / "notebooks"
    course.mkdir()
    (course / "01.ipynb").write_text("course")
    write = Path.write_bytes

    def full(path, content):
        write(path, content[:1])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    copy_notebooks(course, own)
    assert list(own.iterdir()) == [], "no half of a notebook"
    assert "No space left on device" in capsys.readouterr().err


# --- Kubernetes ---

# Copied by hand, in July 2026, from the chart's schema (jupyterhub/values.schema.yaml in
# jupyterhub/zero-to-jupyterhub-k8s): the keys that we use, down to where it lets everything through. It only notices a
# slip of ours; a change of theirs is noticed below, where CI has fetched the schema itself.
CHART = {
    "hub": {
        "config": ...,
        "extraEnv": ...,
        "extraVolumes": ...,
        "extraVolumeMounts": ...,
        "extraFiles": {"passwords": {"mountPath": str}, "authenticator": {"mountPath": str}},
        "extraConfig": ...,
    },
    "singleuser": {
        "image": {"name": str, "tag": str},
        "cmd": list,
        "defaultUrl": str,
        "startTimeout": int,
        "memory": {"guarantee": str, "limit": str},
        "cpu": {"guarantee": float, "limit": int},
        "extraEnv": ...,
        "lifecycleHooks": {"postStart": ...},
        "networkPolicy": {
            "enabled": bool,
            "egressAllowRules": dict.fromkeys(
                ("cloudMetadataServer", "dnsPortsCloudMetadataServer", "nonPrivateIPs", "privateIPs"), bool
            ),
        },
    },
    "cull": {"enabled": bool, "timeout": int, "every": int},
}


@pytest.fixture(scope="module")
def values():
    return yaml.safe_load((HUB / "values.yaml").read_text(encoding="utf-8"))


def test_values_have_the_charts_keys_and_kinds(values):
    def compare(given, known, where):
        if known is ...:
            return
        if isinstance(known, dict):
            assert set(given) <= set(known), where
            for key in given:
                compare(given[key], known[key], f"{where}.{key}")
        else:
            assert type(given) is known, where

    compare(values, CHART, "values")


@pytest.mark.skipif("MHA_CHART_SCHEMA" not in os.environ, reason="needs the path of the chart's values.schema.yaml")
def test_values_are_what_the_charts_own_schema_asks_for(values):
    schema = yaml.safe_load(Path(os.environ["MHA_CHART_SCHEMA"]).read_text(encoding="utf-8"))
    for file in values["hub"]["extraFiles"].values():
        file["stringData"] = "which README.md gives on the command line, with --set-file"
    # What the chart's own values supply: helm merges ours into them before it looks.
    for part in (schema, schema["properties"]["hub"], schema["properties"]["singleuser"]):
        part["required"] = []
    jsonschema.validate(values, schema)


def test_values_hold_no_password_and_the_learners_limits(values):
    assert values["hub"]["config"] == {"JupyterHub": {"authenticator_class": "null"}}
    secret = values["hub"]["extraEnv"]["MHA_HUB_SECRET"]
    assert secret == {"valueFrom": {"secretKeyRef": {"name": "attention-course", "key": "secret"}}}
    assert values["singleuser"]["extraEnv"] == ONE_THREAD
    assert not any(values["singleuser"]["networkPolicy"]["egressAllowRules"].values())


@pytest.mark.parametrize("secret", [SECRET, ""])
def test_values_let_in_the_same_learners_or_nobody(values, folder, secret):
    code = values["hub"]["extraConfig"]["course.py"].replace("/usr/local/lib/course", str(NOTEBOOKS.parent))
    code = f"from traitlets.config import Config\nc = Config()\n{code}\nprint(sorted(c.Authenticator.allowed_users))"
    environment = os.environ | {"MHA_HUB_SECRET": secret, "MHA_HUB_FOLDER": str(folder)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == ((0, "['anna', 'bert-2']\n") if secret else (1, "")), done.stderr


def test_values_copy_notebooks_and_overwrite_none(values, tmp_path):
    _, _, code = values["singleuser"]["lifecycleHooks"]["postStart"]["exec"]["command"]
    code = code.replace("/srv/course", str(NOTEBOOKS.parent)).replace("/home/jovyan", str(tmp_path))
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks/01_self_attention.ipynb").write_text("a learner's")
    subprocess.run([sys.executable, "-c", code], check=True)
    assert sorted(path.name for path in tmp_path.glob("notebooks/*")) == [path.name for path in course_notebooks()]
    assert (tmp_path / "notebooks/01_self_attention.ipynb").read_text() == "a learner's"


# --- a real hub ---


@pytest.mark.hub
def test_figures_are_what_they_are_called():
    from workshop.hub import load

    assert [load.percentile(range(1, 101), percent) for percent in (50, 95, 100)] == [50, 95, 100]
    assert load.percentile([3.0], 95) == 3.0
    assert load.learners_that_fit(16 * load.GIB, hub=0, learner=load.GIB) == 15
    assert load.learners_that_fit(load.GIB, hub=1, learner=1) == 0
    run = load.Run(2)
    for now in ({None: 5, "anna": 100 * load.MIB}, {None: 3, "anna": 50 * load.MIB, "bert": 300 * load.MIB}):
        run.note_memory(now)
    run.latencies, run.failures = [0.01, 0.02, 0.03], ["anna, 01: why"]
    table = run.table(memory_gib=4)
    assert "200 MiB, at most 300 MiB" in table
    assert "20 ms" in table
    assert "4 GiB hold, computed from this memory, not tried  10" in table
    assert table.endswith("FAILURE anna, 01: why")


@pytest.mark.hub
def test_a_room_of_two_bears_a_dead_kernel_and_a_dead_server(capsys):
    from workshop.hub import load

    notebook = course_notebooks()[0]
    half = sum(cell.cell_type == "code" for cell in read(notebook).cells) // 2
    with pytest.raises(SystemExit) as ended:
        load.main(["--learners", "2", "--pause", "0.3", str(notebook)])
    said = capsys.readouterr().out
    assert ended.value.code == 0, said
    assert f"learner01: the kernel was killed; {half} cells were saved" in said
    assert f"learner02: the server was killed; {half} cells were saved" in said


GREEDY = "import numpy\nnumpy.ones(2**28)"  # 2 GiB
NOSY = """\
import os
folder, own = {folder!r}, os.path.expanduser("~")
os.chdir(folder)
paths = ["state", "state/cookie_secret", "homes", "homes/bert", "homes/bert/notebooks", "learners.txt"]
reach = [path for path in paths if os.access(path, os.R_OK)], [path for path in paths if os.access(path, os.W_OK)]
secrets = [name for name in os.environ if name.startswith("MHA_")]
threads = [os.environ[f"{{name}}_NUM_THREADS"] for name in ("OMP", "OPENBLAS", "MKL")]
print(reach, secrets, threads, own == folder + "/homes/anna", os.access({course!r}, os.W_OK))"""


@pytest.mark.hub
def test_a_learner_is_held_to_their_memory_and_their_folder(open_folder):
    from workshop.hub.load_hub import running_hub
    from workshop.hub.load_learner import Learner, TroubleError

    nosy = NOSY.format(folder=str(open_folder), course=str(NOTEBOOKS / "01_self_attention.ipynb"))
    cells = [v4.new_code_cell(GREEDY, metadata={"tags": ["raises-exception"]}), v4.new_code_cell(nosy)]

    async def visit(hub):
        words = hub.settings.passwords()
        anna, bert, eve = (Learner(hub.url, name, words.get(name, "")) for name in ("anna", "bert", "eve"))
        with pytest.raises(TroubleError, match="does not take the password"):
            await eve.log_in()
        for learner in (anna, bert):
            await learner.log_in()
            await learner.start_server()
        refused = await anna.client.get(bert.own + "api/contents")
        page = await anna.client.get(hub.url)
        await bert.save("notebooks/01_self_attention.ipynb", v4.new_notebook(cells=[v4.new_code_cell("1 + 1")]))
        await anna.save("reach.ipynb", v4.new_notebook(cells=cells))
        await asyncio.gather(bert.run_notebook("notebooks/01_self_attention.ipynb"), anna.run_notebook("reach.ipynb"))
        shown = (await anna.read("reach.ipynb")).cells
        for learner in (anna, bert, eve):
            await learner.close()
        return refused.status_code, page, *(cell.outputs[0] for cell in shown)

    with running_hub(open_folder, ["anna", "bert"]) as hub:
        refused, page, greedy, nosy = asyncio.run(visit(hub))
    assert refused == 403
    assert page.url.path == "/user/anna/lab/tree/notebooks/01_self_attention.ipynb"
    assert "@jupyterlab/apputils-extension:announcements" in page.text, "among the extensions that are left out"
    assert greedy.ename == "MemoryError"
    assert nosy.text == "([], []) [] ['1', '1', '1'] True False\n"
    # Started again in the same folder, the hub gives Bert what Bert saved.
    with running_hub(open_folder, ["anna", "bert"]) as hub:

        async def come_back():
            bert = Learner(hub.url, "bert", hub.settings.passwords()["bert"])
            await bert.log_in()
            await bert.start_server()
            kept = await bert.read("notebooks/01_self_attention.ipynb")
            await bert.close()
            return [cell.outputs[0].data for cell in kept.cells]

        assert asyncio.run(come_back()) == [{"text/plain": "2"}]
