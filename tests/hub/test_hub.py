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
from contextlib import nullcontext
from pathlib import Path
from unittest import mock

import jsonschema
import pytest
import yaml

from tools.writing.notebooks import NOTEBOOKS, ONE_THREAD, course_notebooks, read

pytest.importorskip("pwd", reason="the hub runs on Linux")
from workshop.hub import passwords as hub_passwords
from workshop.hub.passwords import HubError, Settings, may_log_in, password, read_learners, read_settings
from workshop.hub.server import copy_notebooks

HUB = NOTEBOOKS.parent / "workshop/hub"
SECRET = "a secret of the tests"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "learners.txt").write_text("anna\n\n# the second row\nbert-2 3  # by the window\n")
    return tmp_path


# --- names and passwords ---


def test_settings_hold_the_secret_the_folder_and_the_names(folder):
    settings = read_settings({"MHA_HUB_SECRET": SECRET, "MHA_HUB_FOLDER": str(folder)})
    assert settings == Settings(SECRET, {"anna": 1, "bert-2": 3})


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
        ("anna 1000", r"line 1: 'anna 1000' will not do.*2 to 99"),
        ("anna\nbert\nanna 2\n", r"line 3: anna stands in line 1 already"),
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
    settings = Settings(SECRET, {"anna": 1, "bert": 2})
    assert may_log_in(settings, "anna", password(SECRET, "anna"))
    assert may_log_in(settings, "bert", password(SECRET, "bert", 2))
    assert not may_log_in(settings, "bert", password(SECRET, "bert"))
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
        ["anna", password(SECRET, "anna")],
        ["bert-2", password(SECRET, "bert-2", 3)],
    ]


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
    assert [command for command in commands() if "> ~" in command or "-czSpf" in command] == private
    variables = os.environ | {"HOME": str(home), "MHA_HUB_FOLDER": str(folder), "MHA_HUB_SECRET": SECRET}
    before = set(NOTEBOOKS.parent.iterdir())
    for command in private:
        command = command.replace("python3", sys.executable).replace("-C /srv", f"-C {srv}")
        subprocess.run(["bash", "-c", f"umask 022; {command}"], env=variables, cwd=NOTEBOOKS.parent, check=True)
    names = {"mha-hub-passwords", "mha-hub.tar.gz"}
    assert {file.name: stat.S_IMODE(file.stat().st_mode) for file in home.iterdir()} == dict.fromkeys(names, 0o600)
    assert set(NOTEBOOKS.parent.iterdir()) == before, "nothing is left in the course's folder"
    assert password(SECRET, "anna") in (home / "mha-hub-passwords").read_text()


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


def test_a_learner_whose_notebooks_are_a_file_can_start_all_the_same_and_keeps_the_file(tmp_path, capsys):
    course, own = tmp_path / "course", tmp_path / "notebooks"
    course.mkdir()
    (course / "01.ipynb").write_text("course")
    own.write_text("a learner's")
    copy_notebooks(course, own)
    assert own.read_text() == "a learner's"
    assert "cannot be copied there" in capsys.readouterr().err


def test_a_learner_with_a_pipe_where_a_notebook_is_written_can_start_all_the_same(tmp_path):
    course, own = tmp_path / "course", tmp_path / "own"
    for folder in (course, own):
        folder.mkdir()
    (course / "01.ipynb").write_text("course")
    os.mkfifo(own / ".01.ipynb.part")
    code = "import sys, pathlib, workshop.hub.server as server; server.copy_notebooks(*map(pathlib.Path, sys.argv[1:]))"
    subprocess.run([sys.executable, "-c", code, course, own], cwd=NOTEBOOKS.parent, check=True, timeout=60)
    assert (own / "01.ipynb").read_text() == "course"


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


# --- the image ---


def pinned(*files):
    return [line.partition("==")[0] for file in files for line in file.read_text().splitlines() if "==" in line]


CONSTRAINTS = (HUB.parent / "constraints.txt", HUB / "constraints.txt")


def test_no_version_is_said_twice():
    names = pinned(*CONSTRAINTS)
    assert sorted(set(names)) == sorted(names)


@pytest.mark.hub
def test_the_image_holds_pinned_versions_alone():
    limits = ("--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096")
    command = ["podman", "run", "--rm", *limits, "--network=none", "localhost/attention-course", "pip", "freeze"]
    frozen = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    own = ("mha_helpers", "attention-doctor", "attention_doctor")  # the course's, which are folders of the image
    wanted = {spelt(line.partition(";")[0]) for file in CONSTRAINTS for line in file.read_text().splitlines()}
    assert [
        line
        for line in frozen
        if not any(name in line for name in own) and "/" not in line and spelt(line) not in wanted
    ] == []


def spelt(line):
    return line.strip().lower().replace("_", "-")


# --- Kubernetes ---

# Copied by hand, in November 2026, from the chart's schema (jupyterhub/values.schema.yaml in
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
        "uid": int,
        "fsGid": int,
        "allowPrivilegeEscalation": bool,
        "storage": {"capacity": str, "extraVolumes": ..., "extraVolumeMounts": ...},
        "extraResource": {"limits": ..., "guarantees": ...},
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


def without_required(schema):
    """Take off what a schema requires: helm merges our values into the chart's own before it looks."""
    if isinstance(schema.get("required"), list):
        del schema["required"]
    for part in schema.values():
        if isinstance(part, dict):
            without_required(part)


@pytest.mark.skipif("MHA_CHART_SCHEMA" not in os.environ, reason="needs the path of the chart's values.schema.yaml")
def test_values_are_what_the_charts_own_schema_asks_for(values):
    schema = yaml.safe_load(Path(os.environ["MHA_CHART_SCHEMA"]).read_text(encoding="utf-8"))
    for file in values["hub"]["extraFiles"].values():
        file["stringData"] = "which README.md gives on the command line, with --set-file"
    without_required(schema)
    jsonschema.validate(values, schema)


def test_values_hold_no_password_and_the_learners_limits(values):
    assert values["hub"]["config"]["JupyterHub"]["authenticator_class"] == "null"
    assert "password" not in str(values["hub"]["config"])
    secret = values["hub"]["extraEnv"]["MHA_HUB_SECRET"]
    assert secret == {"valueFrom": {"secretKeyRef": {"name": "attention-course", "key": "secret"}}}
    assert ONE_THREAD.items() <= values["singleuser"]["extraEnv"].items()
    assert not any(values["singleuser"]["networkPolicy"]["egressAllowRules"].values())


@pytest.mark.parametrize("secret", [SECRET, ""])
def test_values_let_in_the_same_learners_or_nobody(values, folder, secret):
    code = values["hub"]["extraConfig"]["course.py"].replace("/usr/local/lib/course", str(NOTEBOOKS.parent))
    code = f"from traitlets.config import Config\nc = Config()\n{code}\nprint(sorted(c.Authenticator.allowed_users))"
    environment = os.environ | {"MHA_HUB_SECRET": secret, "MHA_HUB_FOLDER": str(folder)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == ((0, "['anna', 'bert-2']\n") if secret else (1, "")), done.stderr


@pytest.fixture(scope="module")
def pod(values):
    """Return a learner's pod as KubeSpawner makes it, and its container. By these names the chart hands values on."""
    kubespawner = pytest.importorskip("kubespawner", reason="only this test makes pods")
    from kubernetes_asyncio.client import ApiClient
    from traitlets.config import Config

    learner = values["singleuser"]
    c = Config(values["hub"]["config"])
    c.KubeSpawner.update(
        image="{name}:{tag}".format(**learner["image"]),
        cmd=learner["cmd"],
        environment=learner["extraEnv"],
        uid=learner["uid"],
        fs_gid=learner["fsGid"],
        allow_privilege_escalation=learner["allowPrivilegeEscalation"],
        mem_limit=learner["memory"]["limit"],
        mem_guarantee=learner["memory"]["guarantee"],
        cpu_limit=learner["cpu"]["limit"],
        cpu_guarantee=learner["cpu"]["guarantee"],
        extra_resource_limits=learner["extraResource"]["limits"],
        extra_resource_guarantees=learner["extraResource"]["guarantees"],
        volumes=learner["storage"]["extraVolumes"],
        volume_mounts=learner["storage"]["extraVolumeMounts"],
    )

    async def make():
        with mock.patch("kubespawner.spawner.load_config"):  # there is no cluster
            spawner = kubespawner.KubeSpawner(config=c, _mock=True)
        async with ApiClient() as client:
            return client.sanitize_for_serialization(await spawner.get_pod_manifest())

    pod = asyncio.run(make())["spec"]
    [container] = pod["containers"]
    return pod, container


def test_a_pod_has_the_limits_that_the_guide_names(pod):
    pod, container = pod
    limits = container["resources"]["limits"]
    assert (limits["cpu"], int(limits["memory"]), limits["ephemeral-storage"]) == (1, 2 * 2**30, "64Mi")
    about = container["securityContext"]
    assert about["readOnlyRootFilesystem"]
    assert about["runAsUser"] == 1000
    assert not about["allowPrivilegeEscalation"]
    assert about["capabilities"] == {"drop": ["ALL"]}
    assert about["seccompProfile"] == {"type": "RuntimeDefault"}
    scratch = {volume["name"]: volume["emptyDir"] for volume in pod["volumes"] if "emptyDir" in volume}
    mounted = {mount["mountPath"]: scratch[mount["name"]] for mount in container["volumeMounts"]}
    assert mounted == {
        "/tmp": {"medium": "Memory", "sizeLimit": "128Mi"},
        "/var/tmp": {"medium": "Memory", "sizeLimit": "64Mi"},
    }


def test_a_pod_starts_what_one_machine_starts(pod):
    _, container = pod
    shell, flag, limits, python, isolated, program, *arguments = container["args"]
    assert (shell, flag, python, isolated) == ("sh", "-c", "/opt/venv/bin/python", "-I")
    own = (HUB / "jupyterhub_config.py").read_text(encoding="utf-8")
    assert arguments
    for argument in arguments:
        assert f'"{argument}"' in own
        if argument.startswith("--config="):
            assert (NOTEBOOKS.parent / argument.removeprefix("--config=/opt/attention/")).is_file()
    assert (NOTEBOOKS.parent / program.removeprefix("/opt/attention/")).is_file()
    ask = (
        "import resource as r; print([r.getrlimit(each)[1] for each in (r.RLIMIT_DATA, r.RLIMIT_FSIZE, r.RLIMIT_CORE)])"
    )
    done = subprocess.run([shell, flag, limits, sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout == f"{[2**30, 256 * 2**20, 0]}\n"
    assert {each["name"]: each.get("value") for each in container["env"]}["JUPYTER_RUNTIME_DIR"] == "/tmp/jupyter"


# --- a real hub ---


@pytest.mark.hub
def test_figures_are_what_they_are_called():
    from tests.hub import load

    assert [load.percentile(range(1, 101), percent) for percent in (50, 95, 100)] == [50, 95, 100]
    assert load.percentile([3.0], 95) == 3.0
    assert load.learners_that_fit(16 * load.GIB, hub=0, learner=load.GIB) == 15
    assert load.learners_that_fit(load.GIB, hub=1, learner=1) == 0
    run = load.Run(2)
    for now in ({None: 5, "anna": 100 * load.MIB}, {None: 3, "anna": 50 * load.MIB, "bert": 300 * load.MIB}):
        run.note_memory(now)
    run.latencies, run.failures = [0.01, 0.02, 0.03], ["anna, 01: why"]
    run.pages = [(0.2, "/hub/login"), (1.24, "/user/anna/lab")]
    table = run.table(memory_gib=4)
    assert "200 MiB, at most 300 MiB" in table
    assert "20 ms" in table
    assert "1.2 s, /user/anna/lab" in table
    assert "4 GiB hold, computed from this memory, not tried  10" in table
    assert table.endswith("FAILURE anna, 01: why")


@pytest.mark.parametrize(
    ("stray", "numbers", "lost"),
    [
        (0, [1, 2, 3], False),
        (0, [1, 3], True),
        (0, [1, 2, 1], True),
        (1, [2, 3, 4], False),  # the dead kernel's cell ran first
        (1, [1, 3, 4], False),  # or between the new one's cells
        (1, [1, 3, 5], True),
        (1, [4, 1], True),
    ],
)
def test_a_cell_that_is_lost_or_runs_twice_is_noticed(stray, numbers, lost):
    from tests.hub.load_learner import CellNumbers, TroubleError

    noted = CellNumbers(stray)
    with pytest.raises(TroubleError, match="a cell was lost") if lost else nullcontext():
        for number in numbers:
            noted.note(number)


@pytest.mark.hub
def test_a_room_of_two_bears_a_dead_kernel_and_a_dead_server(capsys):
    from tests.hub import load

    notebook = course_notebooks()[0]
    half = sum(cell.cell_type == "code" for cell in read(notebook).cells) // 2
    with pytest.raises(SystemExit) as ended:
        load.main(["--learners", "2", "--pause", "0.3", str(notebook)])
    said = capsys.readouterr().out
    assert ended.value.code == 0, said
    assert f"learner01: the kernel was killed; {half} cells were saved" in said
    assert f"learner02: the server was killed; {half} cells were saved" in said
