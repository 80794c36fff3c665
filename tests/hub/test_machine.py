"""What the hub refuses before anybody can log in, and what it makes."""

import grp
import json
import os
import shutil
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
        machine.check_room(room_of(folder, toml))


def test_an_address_that_will_do_passes(folder):
    for toml in ("", 'url = "http://10.1.2.3:8000"\none_origin = true'):
        machine.check_room(room_of(folder, toml))


def test_a_certificate_without_the_wildcard_is_said(folder, monkeypatch):
    files = [folder / "hub.pem", folder / "hub.key"]
    toml = f'url = "https://hub.localhost"\ncertificate = "{files[0]}"\nkey = "{files[1]}"'
    wildcard = "DNS:*.hub.localhost,DNS:hub.localhost"
    for names, said in (("DNS:hub.localhost", "is no certificate for anna.hub.localhost"), (wildcard, None)):
        make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        make += ["-subj", "/CN=hub", "-addext", f"subjectAltName={names}", "-out", files[0], "-keyout", files[1]]
        subprocess.run(make, check=True, capture_output=True)
        if said:
            with pytest.raises(HubError, match=said):
                machine.check_room(room_of(folder, toml))
    room = room_of(folder, toml)
    machine.check_room(room)
    monkeypatch.setattr(machine.Room, "place", lambda self, name: machine.Place(40_000, f"n-{name}", "", "h", "p"))
    (folder / "proxy").mkdir()
    monkeypatch.setattr(machine, "run", lambda *arguments: None)
    machine.run_proxy(room)
    assert {file.name for file in (folder / "proxy").iterdir()} == {"course.yaml", "tls.yaml", "hub.pem", "hub.key"}
    assert (folder / "proxy/hub.key").read_text() == files[1].read_text()


def test_a_missing_program_is_said(monkeypatch):
    monkeypatch.setattr(machine.os, "geteuid", lambda: 0)
    monkeypatch.setattr(machine.shutil, "which", lambda program: None if program == "podman" else program)
    with pytest.raises(HubError, match=r"podman is missing: README\.md says which packages"):
        machine.check_machine()


def test_a_system_that_limits_nobody_is_said(monkeypatch):
    monkeypatch.setattr(machine.os, "geteuid", lambda: 0)
    monkeypatch.setattr(machine.shutil, "which", lambda program: program)
    monkeypatch.setattr(machine, "ask", lambda *command: "[cpu pids]")
    with pytest.raises(HubError, match=r"Linux .* gives Podman no control group for memory: nothing would limit"):
        machine.check_machine()


def test_no_room_for_disks_is_said(folder, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    (folder / "disks").mkdir()
    monkeypatch.setattr(machine.os, "posix_fallocate", full)
    with pytest.raises(HubError, match=r"no room for .*disks/anna\.img, 1024 MiB \(No space left"):
        machine.make_home(room_of(folder), "anna")
    assert list((folder / "disks").iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("mkfs.ext4"), reason="root makes disks, by mkfs.ext4")
def test_the_room_of_a_disk_is_taken_when_it_is_made_and_nobody_else_can_fill_it(folder):
    disk = folder / "anna.img"
    machine.make_disk(disk, 2**26, 1000)
    assert disk.stat().st_blocks * 512 >= 2**26
    sparse = folder / "of_a_backup.img"
    subprocess.run(["cp", "--sparse=always", disk, sparse], check=True)
    assert sparse.stat().st_blocks * 512 < 2**26
    machine.make_disk(sparse, 2**26, 1000)
    assert sparse.stat().st_blocks * 512 >= 2**26
    assert sparse.read_bytes() == disk.read_bytes(), "what is in it stays"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_a_machine_without_loop_devices_is_said_and_each_disk_has_a_number_of_its_own(folder, monkeypatch):
    (folder / "disks").mkdir()
    room = room_of(folder)

    taken = SimpleNamespace(pw_uid=machine.FIRST_USER_ID + 1)
    monkeypatch.setattr(machine, "ask", lambda *command: "")
    monkeypatch.setattr(machine, "succeeds", lambda *command: command[0] != "mount")
    monkeypatch.setattr(machine, "DISK", 4096)
    monkeypatch.setattr(machine.pwd, "getpwall", lambda: [taken])
    monkeypatch.setattr(machine.subprocess, "run", lambda *command, **how: SimpleNamespace(returncode=0))
    for learner in room.learners:
        with pytest.raises(HubError, match=r"cannot be mounted, and without a disk of fixed size.*take a machine"):
            machine.make_home(room, learner)
    assert room.place("anna").user_id == 40_000
    assert room.place("bert") == machine.Place(
        40_002, f"{folder.name}-bert", "10.213.1.32/28", "10.213.1.45", "10.213.1.46"
    )


def test_the_group_of_readers_has_to_be_there(folder):
    assert "nobody-there" not in {group.gr_name for group in grp.getgrall()}
    room = room_of(folder, 'readers = "nobody-there"')
    with pytest.raises(HubError, match=r"there is no group nobody-there; `groupadd"):
        machine.check_room(room)


# --- what others read ---


def test_the_profile_of_system_calls_refuses_namespaces_and_most_sockets():
    profile = json.loads((machine.HERE / "seccomp.json").read_text(encoding="utf-8"))
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO", "what is not named is refused"
    allowed = [group for group in profile["syscalls"] if group["action"] == "SCMP_ACT_ALLOW"]
    with_arguments = {"socket": [1, 2, 10, 16], "clone": [0x10000000]}
    for name, values in with_arguments.items():
        assert [group["args"][0]["value"] for group in allowed if name in group["names"]] == values
    names = {name for group in allowed for name in group["names"]}
    assert not names & {"unshare", "setns", "mount", "pivot_root", "fsopen", "clone3", "socketcall", "bpf", "io_setup"}
    [clone3] = [group for group in profile["syscalls"] if "clone3" in group["names"]]
    assert clone3["errnoRet"] == 38, "so that programs take clone instead"


def test_the_hub_reads_the_room_that_was_made(folder, monkeypatch):
    pytest.importorskip("bcrypt")
    from traitlets.config.loader import PyFileConfigLoader

    room = room_of(folder)
    monkeypatch.setattr(machine.Room, "place", lambda self, name: machine.Place(40_000, f"n-{name}", "", "h", "p"))
    monkeypatch.setenv("MHA_HUB_FOLDER", str(folder))
    c = PyFileConfigLoader(str(machine.HERE / "jupyterhub_config.py")).load_config()
    assert c.JupyterHub.subdomain_host == room.url
    assert c.Authenticator.allowed_users == {"anna", "bert"}
    spawner = SimpleNamespace(user=SimpleNamespace(name="bert"))
    c.Spawner.pre_spawn_hook(spawner)
    assert (spawner.network_name, spawner.hub_connect_url) == ("n-bert", "http://p:8081")
    assert spawner.extra_create_kwargs["user"] == "40000:40000"
    own = ("homes/bert/home", "homes/bert/handed_in", "terminals/bert")
    assert [mount["source"] for mount in spawner.mounts] == [f"{folder}/{name}" for name in own]
