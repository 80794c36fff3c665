"""What a hub refuses before it starts, whom it makes wait, and what of a learner's goes beyond."""

import asyncio
import os
import socket
from types import SimpleNamespace

import pytest

pytest.importorskip("pwd", reason="the hub runs on Linux")
from workshop.hub import limits, one_hub
from workshop.hub.limits import MEMORY, NOTE, Process, beyond, size_of
from workshop.hub.passwords import Settings, password

SECRET = "a secret of the tests"


# --- a second start ---


def test_a_folder_has_one_hub(tmp_path, monkeypatch):
    monkeypatch.setattr(one_hub, "_held", [])
    one_hub.occupy(tmp_path)
    with pytest.raises(SystemExit, match=r"A hub is running already in .*Stop that one first"):
        one_hub.occupy(tmp_path)
    one_hub._held.pop().close()
    one_hub.occupy(tmp_path)


def test_a_used_port_is_a_sentence():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = f"http://127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(SystemExit, match=rf"cannot listen at {address} \(Address already in use\).*ss -tlnp"):
            one_hub.refuse_used_ports([address])
    one_hub.refuse_used_ports([address])


# --- log-ins ---


@pytest.mark.hub
def test_who_guesses_waits_longer_and_longer_and_nobody_else_does(monkeypatch):
    from workshop.hub import authenticator

    waited = []

    async def wait(seconds):
        waited.append(seconds)

    monkeypatch.setattr(authenticator.asyncio, "sleep", wait)
    door = authenticator.LearnerAuthenticator(settings=Settings(SECRET, None, ("anna", "bert")))

    async def knock(name, word, address="10.0.0.1"):
        handler = SimpleNamespace(request=SimpleNamespace(remote_ip=address))
        return await door.authenticate(handler, {"username": name, "password": word})

    async def evening():
        assert await asyncio.gather(*(knock("anna", "a guess") for _ in range(12))) == [None] * 12
        assert waited == [1, 2, 4, 8, 16, 16, 16], "the first five are free"
        assert await knock("bert", password(SECRET, "bert")) == "bert"
        assert await knock("anna", password(SECRET, "anna"), "10.0.0.2") == "anna"
        assert await knock("eve", "a guess") is None
        assert len(waited) == 7, "another name, another address and a stranger wait for nobody"
        assert await knock("anna", password(SECRET, "anna")) == "anna"
        assert len(waited) == 8
        assert await knock("anna", "a slip") is None
        assert len(waited) == 8, "who got in begins anew"

    asyncio.run(evening())


# --- what goes beyond ---


def test_the_size_of_a_folder_is_what_it_takes_of_the_disk_and_no_more_than_needed_is_counted(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner/file").write_bytes(bytes(100_000))
    (tmp_path / "outside").symlink_to("/")
    with open(tmp_path / "sparse", "wb") as sparse:
        sparse.truncate(10**12)
    used, files = size_of(tmp_path)
    assert 100_000 <= used < 200_000
    assert files == 4
    assert size_of(tmp_path, most_files=1)[1] == 2
    assert size_of(tmp_path, most_bytes=0)[0] > 0


def test_the_largest_programs_end_and_never_the_server(tmp_path):
    server, large, small = Process(1, MEMORY), Process(2, MEMORY // 2), Process(3, MEMORY // 4)
    assert beyond(tmp_path, []) == ("", [])
    assert beyond(tmp_path, [server]) == ("", [])
    assert beyond(tmp_path, [Process(1, MEMORY // 8), small, large])[1] == []
    sentence, victims = beyond(tmp_path, [Process(1, MEMORY // 2), small, large])
    assert victims == [large]
    assert "more than 2 GiB of memory" in sentence
    assert beyond(tmp_path, [server, small, large])[1] == [large, small]


def test_so_many_processes_that_the_server_could_not_work_end(tmp_path):
    many = [Process(number, 0) for number in range(limits.THREADS)]
    assert beyond(tmp_path, many) == ("", [])
    many[0] = Process(0, 0, threads=2)
    assert beyond(tmp_path, many)[1] == many[1:]


def test_a_full_folder_ends_all_programs_and_leaves_the_server(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "size_of", lambda folder: (limits.FOLDER + 1, 1))
    sentence, victims = beyond(tmp_path, [Process(1, 1), Process(2, 1), Process(3, 1)])
    assert {victim.number for victim in victims} == {2, 3}
    assert "Until you have deleted some" in sentence


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_the_note_goes_beside_the_notebooks_and_follows_no_link(tmp_path):
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    (home / "notebooks").mkdir(parents=True)
    elsewhere.mkdir()
    os.chown(home, 40_000, 40_000)
    limits._leave_note(home, "A sentence.")
    note = home / "notebooks" / NOTE
    assert note.read_text().startswith("A sentence.")
    assert note.stat().st_uid == 40_000
    note.write_text("a learner's")
    limits._leave_note(home, "Another.")
    assert note.read_text() == "a learner's"
    note.unlink()
    note.symlink_to(elsewhere / "made")
    limits._leave_note(home, "A sentence.")
    note.unlink()
    (home / "notebooks").rmdir()
    (home / "notebooks").symlink_to(elsewhere)
    limits._leave_note(home, "A sentence.")
    assert list(elsewhere.iterdir()) == []
