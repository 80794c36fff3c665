"""What ends is started again, and what was saved is there: each part of a real hub is killed, as a crash would.

Needs `workshop/hub/requirements.txt`, root, and an image of the course.
"""

import asyncio
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import httpx
import psutil
import pytest
from nbformat import v4

pytest.importorskip("pwd", reason="the hub runs on Linux")

pytestmark = pytest.mark.hub
WORK = "work.ipynb"


@pytest.fixture(scope="module")
def hub():
    from tests.hub.load_hub import running_hub

    with running_hub(["anna"]) as hub:
        asyncio.run(begin(hub))
        yield hub


async def begin(hub):
    """Log in, start a server, and leave a kernel in which x is 41, and a notebook that is saved."""
    from tests.hub.load_learner import Learner

    anna = Learner(hub, "anna")
    await anna.log_in()
    await anna.start_server()
    await anna.save(WORK, v4.new_notebook(cells=[v4.new_code_cell("x = 41")]))
    session = {"path": WORK, "name": WORK, "type": "notebook", "kernel": {"name": "python3"}}
    channels = await anna._channels((await anna._api("POST", "sessions", session))["kernel"]["id"])
    await anna._run(channels, v4.new_code_cell("x = 41"))
    channels.close()
    await anna.close()


async def kept(hub):
    """Log in as Anna anew, and return what her kernel and her saved notebook hold."""
    from tests.hub.load_learner import Learner

    anna = Learner(hub, "anna")
    await until_it_answers(hub)
    await anna.log_in()
    await anna._get(f"{anna.own}lab")
    (kernel,) = await anna._api("GET", "kernels")
    channels = await anna._channels(kernel["id"])
    cell = v4.new_code_cell("x + 1")
    await anna._run(channels, cell)
    channels.close()
    saved = await anna.read(WORK)
    await anna.close()
    return cell.outputs[0].data["text/plain"], saved.cells[0].source


async def until_it_answers(hub):
    async with httpx.AsyncClient(timeout=5) as client:
        for _ in range(240):
            try:
                if (await client.get(f"{hub.url}hub/health")).is_success:
                    return
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.5)
    raise AssertionError(f"{hub.url} does not answer again")


def kill(process):
    """Kill what a container began with, and what that started, all at once."""
    kill_each(*process.children(recursive=True), process)


def kill_each(*processes):
    for each in processes:
        with suppress(psutil.NoSuchProcess):  # it went with another
            each.kill()


@pytest.mark.parametrize("part", ["proxy", "hub"])
def test_a_killed_part_is_started_again_by_the_engine_and_kernels_go_on(hub, part):
    before = hub.main_process(part)
    kill(before)
    psutil.wait_procs([before], timeout=60)
    assert asyncio.run(kept(hub)) == ("42", "x = 41")


def test_the_hub_starts_with_what_a_power_cut_left_of_its_files(hub):
    rules = hub.room.folder / "proxy/rules.toml"
    before = hub.main_process("hub")
    rules.write_text(rules.read_text()[:57] + '\n[["')  # half of it
    kill(before)
    psutil.wait_procs([before], timeout=60)
    assert asyncio.run(kept(hub)) == ("42", "x = 41")


def test_without_its_service_the_engine_keeps_what_runs_and_up_mends_it(hub):
    services = [
        each for each in psutil.process_iter(["cmdline"]) if (each.info["cmdline"] or [])[1:3] == ["system", "service"]
    ]
    if not services:
        pytest.skip("systemd keeps Podman's service here")
    for each in services:
        each.kill()
    psutil.wait_procs(services, timeout=60)
    assert asyncio.run(kept(hub)) == ("42", "x = 41")
    hub.up()
    assert asyncio.run(kept(hub)) == ("42", "x = 41")


def with_names(hub, *names):
    """Have another list of learners, as an instructor does, and return the hub that lets these in."""
    from tests.hub.load_hub import RunningHub
    from workshop.hub import machine

    (hub.room.folder / "learners.txt").write_text("\n".join(names))
    hub.up()
    return RunningHub(machine.read_room(hub.environment), hub.environment)


def test_a_name_is_added_while_others_work(hub):
    from tests.hub.load_learner import Learner

    larger = with_names(hub, "anna", "bert")

    async def visit():
        bert = Learner(larger, "bert")
        await bert.log_in()
        await bert.start_server()
        names = [file["name"] for file in (await bert._api("GET", "contents/notebooks"))["content"]]
        await bert.close()
        return names

    assert "01_self_attention.ipynb" in asyncio.run(visit())
    assert asyncio.run(kept(hub)) == ("42", "x = 41")


@pytest.mark.parametrize("afterwards", [["anna"], ["anna", "bert 2"]], ids=["off the list", "another password"])
def test_who_is_off_the_list_or_has_another_password_is_out_with_all_that_was_open(hub, afterwards):
    from tests.hub.load_learner import Learner, TroubleError

    larger = with_names(hub, "anna", "bert")

    async def visit():
        intruder = Learner(larger, "bert")
        await intruder.log_in()
        await intruder.start_server()
        await intruder.save(WORK, v4.new_notebook())
        own = larger.processes_of("bert")
        tokens = {process.environ().get("JUPYTERHUB_API_TOKEN") for process in own} - {None}
        assert tokens
        smaller = await asyncio.to_thread(with_names, hub, *afterwards)
        assert psutil.wait_procs(own, timeout=60)[1] == [], "the server ended"
        home = await intruder.client.get(f"{hub.url}hub/home")
        assert home.url.path == "/hub/login", "the cookie says nothing any more"
        server = await intruder.client.get(f"{intruder.own}api/contents")
        assert not server.is_success or server.url.path == "/hub/login"
        async with httpx.AsyncClient() as nobody:
            for token in tokens:
                headers = {"Authorization": f"token {token}"}
                assert (await nobody.get(f"{hub.url}hub/api/user", headers=headers)).status_code == 403
        with pytest.raises(TroubleError, match="does not take the password"):
            await intruder.log_in()
        await intruder.close()
        if "bert" in smaller.room.learners:
            bert = Learner(smaller, "bert")
            await bert.log_in()
            await bert.start_server()
            await bert.read(WORK)
            await bert.close()

    asyncio.run(visit())
    assert asyncio.run(kept(hub)) == ("42", "x = 41")


def test_a_damaged_database_is_put_aside_and_what_was_saved_is_there(hub, capsys):
    database = hub.room.folder / "state/kept/jupyterhub.sqlite"
    kill(hub.main_process("hub"))
    with open(database, "r+b") as file:
        file.write(bytes(8192))
    damaged = database.read_bytes()[:8192]
    hub.up()
    assert "jupyterhub.sqlite is damaged" in capsys.readouterr().out
    assert database.with_name("jupyterhub.sqlite.damaged").read_bytes()[:8192] == damaged
    saved = hub.home("anna") / WORK
    assert "x = 41" in saved.read_text()
    asyncio.run(begin(hub))
    assert asyncio.run(kept(hub)) == ("42", "x = 41")


def test_a_dead_machines_disk_and_a_backup_have_what_was_saved(hub):
    from workshop.hub import machine

    room = hub.room
    for part in ("hub", "proxy"):  # no part is told that it ends
        kill(hub.main_process(part))
    kill_each(*hub.processes_of("anna"))
    machine.down(hub.environment)
    with tempfile.TemporaryDirectory(dir="/srv") as elsewhere:
        backup = Path(elsewhere, "hub.tar.gz")
        # The guide's command.
        subprocess.run(
            ["tar", "--numeric-owner", "-czSpf", backup, "-C", room.folder.parent, room.folder.name], check=True
        )
        owner = room.disk("anna").stat().st_uid
        for left in room.folder.iterdir():
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        subprocess.run(["tar", "--numeric-owner", "-xzpf", backup, "-C", room.folder.parent], check=True)
    assert room.disk("anna").stat().st_uid == owner
    hub.up()
    saved = hub.home("anna") / WORK
    assert "x = 41" in saved.read_text()
    assert saved.stat().st_uid == owner
    asyncio.run(begin(hub))
    assert asyncio.run(kept(hub)) == ("42", "x = 41")
