"""What the hub refuses before anybody can log in, and what it makes."""

import grp
import json
import os
import subprocess
from types import SimpleNamespace

import pytest

pytest.importorskip("pwd", reason="the hub runs on Linux")
from workshop.hub import machine
from workshop.hub.passwords import HubError


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "learners.txt").write_text("anna\nbert\n")
    return tmp_path


def room_of(folder, toml=""):
    (folder / "hub.toml").write_text(toml)
    return machine.read_room({"MHA_HUB_FOLDER": str(folder)})


# --- bad input is a sentence ---


def test_the_secret_is_made_once_and_for_root_alone(folder):
    first = room_of(folder)
    assert len(first.secret) == 32
    assert room_of(folder).secret == first.secret
    assert (folder / "secret").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("url = 1 = 2", r"hub\.toml cannot be read: .*line 1"),
        ("port = 80", r"port is no setting; there are certificate, .*url"),
        ('url = "hub.example.org"', r"'hub.example.org' will not do; write, say, https://hub"),
        ('url = "http://hub.example.org/there"', r"will not do"),
        ('url = "https://hub.localhost"', r"https takes a certificate and its key"),
        (
            'url = "http://hub.invalid"',
            r"anna\.hub\.invalid is the address of nobody.*\*\.hub\.invalid.*Without a wild",
        ),
    ],
)
def test_an_address_that_will_not_do_is_said(folder, toml, said):
    with pytest.raises(HubError, match=said):
        machine.check_names(room_of(folder, toml))


def test_an_address_that_will_do_passes(folder):
    for toml in ("", 'url = "http://10.1.2.3:8000"\none_origin = true'):
        machine.check_names(room_of(folder, toml))


def test_a_certificate_without_the_wildcard_is_said(folder):
    files = [folder / "hub.pem", folder / "hub.key"]
    toml = f'url = "https://hub.localhost"\ncertificate = "{files[0]}"\nkey = "{files[1]}"'
    wildcard = "DNS:*.hub.localhost,DNS:hub.localhost"
    for names, said in (("DNS:hub.localhost", "is no certificate for anna.hub.localhost"), (wildcard, None)):
        make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        make += ["-subj", "/CN=hub", "-addext", f"subjectAltName={names}", "-out", files[0], "-keyout", files[1]]
        subprocess.run(make, check=True, capture_output=True)
        if said:
            with pytest.raises(HubError, match=said):
                machine.check_names(room_of(folder, toml))
    room = room_of(folder, toml)
    machine.check_names(room)
    proxy = machine.proxy_files(room)
    assert proxy["rules/hub.key"] == files[1].read_text()
    assert "hub.pem" in proxy["rules/course.yaml"]


def test_no_engine_is_said(monkeypatch):
    monkeypatch.setattr(machine.shutil, "which", lambda program: None)
    with pytest.raises(HubError, match=r"no engine for containers: `apt-get install podman"):
        machine.find_engine()


def test_a_system_that_limits_nobody_is_said(monkeypatch):
    monkeypatch.setattr(machine, "ask", lambda *command: json.dumps({"host": {"cgroupControllers": ["cpu", "pids"]}}))
    with pytest.raises(HubError, match=r"Linux .* gives podman no control group for memory: nothing would limit"):
        machine.check_engine("podman")
    about = {"MemoryLimit": True, "CpuCfsQuota": True, "PidsLimit": False}
    monkeypatch.setattr(machine, "ask", lambda *command: json.dumps(about))
    with pytest.raises(HubError, match=r"gives docker no control group for pids"):
        machine.check_engine("docker")


def test_an_engine_that_opens_namespaces_is_said(folder, monkeypatch):
    monkeypatch.setattr(machine, "ask", lambda *command: "open")
    with pytest.raises(HubError, match=r"lets learners make user namespaces: `sysctl"):
        machine.try_it(room_of(folder), "podman", "profile")


def test_no_room_for_disks_is_said(folder, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    (folder / "disks").mkdir()
    monkeypatch.setattr(machine.os, "posix_fallocate", full)
    with pytest.raises(HubError, match=r"no room for .*disks/anna\.img, 1024 MiB \(No space left"):
        machine.make_disk(room_of(folder), "anna")
    assert list((folder / "disks").iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_a_machine_without_quota_is_said_and_each_disk_has_a_number_of_its_own(folder, monkeypatch):
    (folder / "disks").mkdir()
    room = room_of(folder)

    def no_mounts(*command):
        if command[0] == "mount":
            raise HubError("operation not permitted")

    monkeypatch.setattr(machine, "ask", no_mounts)
    monkeypatch.setattr(machine, "DISK", 4096)
    monkeypatch.setattr(machine, "is_account", lambda number: number == machine.FIRST_USER_ID + 1)
    monkeypatch.setattr(machine.subprocess, "run", lambda *command, **how: SimpleNamespace(returncode=0))
    for learner in room.learners:
        machine.make_disk(room, learner)
    assert [room.place(learner).user_id for learner in room.learners] == [40_000, 40_002]
    assert room.place("bert") == machine.Place(
        "bert", 40_002, f"{folder.name}-bert", "10.213.1.32/28", "10.213.1.45", "10.213.1.46"
    )
    with pytest.raises(HubError, match=r"disk of fixed size cannot be mounted here.*not permitted.*take a machine"):
        machine.mount(room, "anna")


def test_the_group_of_readers_has_to_be_there(folder):
    assert "nobody-there" not in {group.gr_name for group in grp.getgrall()}
    room = room_of(folder, 'readers = "nobody-there"')
    with pytest.raises(HubError, match=r"there is no group nobody-there; `groupadd"):
        machine.check_room(room)


# --- what is told to others ---


def test_a_profile_keeps_what_it_allows_but_namespaces_and_most_sockets():
    own = {
        "defaultAction": "SCMP_ACT_ERRNO",
        "syscalls": [
            {"names": ["read", "clone", "unshare"], "action": "SCMP_ACT_ALLOW"},
            {"names": ["socket"], "action": "SCMP_ACT_ALLOW"},
        ],
    }
    profile = machine.for_learners(own)
    allowed = [group for group in profile["syscalls"] if group["action"] == "SCMP_ACT_ALLOW"]
    assert [group["names"] for group in allowed] == [["read"], *[["socket"]] * 4, ["clone"]]
    assert [group["args"][0]["value"] for group in allowed[1:-1]] == [1, 2, 10, 16]
    assert allowed[-1]["args"][0]["value"] == 0x10000000
    refused = {
        name: group["errnoRet"] for group in profile["syscalls"] if group not in allowed for name in group["names"]
    }
    assert refused["clone3"] == 38, "so that programs take clone instead"
    assert refused["unshare"] == refused["mount"] == 1


def test_the_hub_reads_what_it_is_told(folder, monkeypatch):
    pytest.importorskip("bcrypt")
    from traitlets.config.loader import PyFileConfigLoader

    (folder / "disks").mkdir()
    room = room_of(folder)
    for learner in room.learners:
        room.disk(learner).touch()
        monkeypatch.setattr(
            machine.Room, "place", lambda self, name: machine.Place(name, 40_000, f"n-{name}", "", "h", "p")
        )
    (folder / "told.json").write_text(json.dumps(machine.told_to_hub(room, None)))
    (folder / "rules.toml").write_text('[["half')
    monkeypatch.setenv("MHA_HUB_STATE", str(folder))
    monkeypatch.setenv("MHA_HUB_RULES", str(folder))
    c = PyFileConfigLoader(str(machine.Path(machine.__file__).with_name("jupyterhub_config.py"))).load_config()
    assert not (folder / "rules.toml").exists(), "half a file is made anew"
    assert c.JupyterHub.subdomain_host == room.url
    assert c.Authenticator.allowed_users == {"anna", "bert"}
    spawner = SimpleNamespace(user=SimpleNamespace(name="bert"))
    c.Spawner.pre_spawn_hook(spawner)
    assert (spawner.network_name, spawner.hub_connect_url) == ("n-bert", "http://p:8081")
    assert spawner.extra_create_kwargs["user"] == "40000:40000"
    own = ("homes/bert/home", "homes/bert/handed_in", "terminals/bert")
    assert [mount["source"] for mount in spawner.mounts] == [f"{folder}/{name}" for name in own]
