"""Run the hub with a room full of learners: `python -m tests.hub.load --learners 20` prints how it bore up.

Every learner logs in, starts their server, and runs the notebooks from top to bottom, all at once. Halfway, the first
learner's kernel is killed, and the second one's whole server: the others must not notice, and the two must find what
they had saved and be able to go on.
"""

import argparse
import asyncio
import math
import statistics
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import nbformat

from tests.hub.load_hub import running_hub
from tests.hub.load_learner import KernelRestartedError, Learner, ServerGoneError, TroubleError
from tools.writing.notebooks import add_notebooks

GIB = 2**30
MIB = 2**20
SYSTEM = 1 * GIB  # what is left to the machine's own system when learners are counted
SAMPLE_EVERY = 2  # seconds between two looks at the memory


@dataclass
class Run:
    """What was seen: failures, seconds that cells and pages took, and the most memory in bytes that each had."""

    learners: int
    failures: list = field(default_factory=list)
    accidents: list = field(default_factory=list)
    latencies: list = field(default_factory=list)
    pages: list = field(default_factory=list)
    starts: list = field(default_factory=list)
    memory: dict = field(default_factory=dict)
    total_memory: int = 0
    seconds: float = 0.0

    def note_memory(self, now):
        for owner, size in now.items():
            self.memory[owner] = max(self.memory.get(owner, 0), size)
        self.total_memory = max(self.total_memory, sum(now.values()))

    def table(self, memory_gib):
        """Return the run in words, one figure a line."""
        own = [size for owner, size in self.memory.items() if owner]
        hub = self.memory.get(None, 0)
        rows = [("learners", self.learners), ("failures", len(self.failures))]
        rows += [("cells run", len(self.latencies)), ("time", f"{self.seconds:.0f} s")]
        if self.starts:
            rows.append(("log-in to JupyterLab, median", f"{statistics.median(self.starts):.1f} s"))
        if self.latencies:
            rows.append(("cell latency, median", f"{1000 * statistics.median(self.latencies):.0f} ms"))
            rows.append(("cell latency, 95th percentile", f"{1000 * percentile(self.latencies, 95):.0f} ms"))
        if self.pages:
            seconds, path = max(self.pages)
            rows.append(("slowest page", f"{seconds:.1f} s, {path}"))
        if own:
            each = f"{statistics.median(own) / MIB:.0f} MiB, at most {max(own) / MIB:.0f} MiB"
            fits = learners_that_fit(memory_gib * GIB, hub, max(own))
            rows.append(("memory of a learner (peak PSS of server + kernel), median", each))
            rows.append(("memory of hub, proxy and culler (peak PSS)", f"{hub / MIB:.0f} MiB"))
            rows.append(("memory of all at one moment, at most (PSS)", f"{self.total_memory / MIB:.0f} MiB"))
            rows.append((f"learners that {memory_gib:g} GiB hold, computed from this memory, not tried", fits))
        width = max(len(name) for name, _ in rows)
        lines = [f"{name:{width}}  {value}" for name, value in rows]
        return "\n".join([*lines, *self.accidents, *(f"FAILURE {failure}" for failure in self.failures)])


def percentile(values, percent):
    """Return the smallest of the values that at least `percent` in a hundred do not exceed."""
    return sorted(values)[math.ceil(percent / 100 * len(values)) - 1]


def learners_that_fit(memory, hub, learner):
    """Return how many learners of a size fit beside the hub, with 1 GiB left to the system; all in bytes."""
    return max(0, int((memory - SYSTEM - hub) // learner))


async def spend_the_day(learner, hub, run, arguments, delay, accident):
    """Let one learner go through the notebooks; whatever keeps them from it is noted as a failure."""
    where = "logging in"
    middle = arguments.notebooks[len(arguments.notebooks) // 2]
    try:
        await asyncio.sleep(delay)
        begun = time.perf_counter()
        await learner.log_in()
        await learner.start_server()
        run.starts.append(time.perf_counter() - begun)
        for notebook in arguments.notebooks:
            where = notebook.name
            path = f"notebooks/{notebook.name}"
            if accident is None or notebook is not middle:
                await learner.run_notebook(path, pause=arguments.pause)
                continue
            try:
                await learner.run_notebook(path, pause=arguments.pause, halfway=partial(accident, hub, learner.name))
            except (KernelRestartedError, ServerGoneError) as noticed:
                await recover(learner, hub, run, path, noticed)
                await learner.run_notebook(path, pause=arguments.pause)
            else:
                raise TroubleError("something was killed halfway, and it was not noticed: nothing was tried")
    except Exception as error:  # the others go on; it counts
        run.failures.append(f"{learner.name}, {where}: {str(error) or type(error).__name__}")
        if not isinstance(error, TroubleError | KernelRestartedError | ServerGoneError):
            traceback.print_exc()
    finally:
        run.latencies += learner.latencies
        run.pages += learner.pages
        await learner.close()


async def recover(learner, hub, run, path, noticed):
    """After an accident: see that what was saved is whole, and have a server again."""
    begun = time.perf_counter()
    saved = nbformat.reads((hub.home(learner.name) / path).read_text(encoding="utf-8"), as_version=4)
    nbformat.validate(saved)
    counts = [cell.execution_count for cell in saved.cells if cell.cell_type == "code"]
    half = len(counts) // 2
    if counts != [*range(1, half + 1), *[None] * (len(counts) - half)]:
        raise TroubleError(f"{half} cells had been saved, and now the notebook has {counts}")
    if isinstance(noticed, ServerGoneError):
        await learner.start_server()
    if shown(await learner.read(path)) != shown(saved):
        raise TroubleError("the server shows another notebook than the one that was saved")
    waited = time.perf_counter() - begun
    run.accidents.append(f"{learner.name}: {noticed}; {half} cells were saved, and it went on after {waited:.1f} s")


def shown(notebook):
    return [(cell.source, cell.get("execution_count"), cell.get("outputs")) for cell in notebook.cells]


def kill_kernel(hub, learner, kernel):
    (victim,) = (process for process in hub.processes_of(learner) if kernel in " ".join(process.cmdline()))
    victim.kill()


def kill_server(hub, learner, kernel):
    python = "/opt/venv/bin/python"  # and not the container's first process, which has it among its arguments
    (victim,) = (
        process
        for process in hub.processes_of(learner)
        if process.cmdline()[:1] == [python] and "server.py" in " ".join(process.cmdline())
    )
    victim.kill()


async def watch_memory(hub, run):
    while True:
        # In a thread: a look takes tens of milliseconds, in which learners would wait.
        run.note_memory(await asyncio.to_thread(hub.memory))
        await asyncio.sleep(SAMPLE_EVERY)


async def fill_the_room(hub, run, arguments):
    begun = time.perf_counter()
    watcher = asyncio.create_task(watch_memory(hub, run))
    days = []
    accidents = [kill_kernel, kill_server]
    for number, name in enumerate(hub.room.learners):
        accident = accidents[number] if number < len(accidents) else None
        delay = arguments.ramp * number / run.learners
        days.append(spend_the_day(Learner(hub, name), hub, run, arguments, delay, accident))
    await asyncio.gather(*days)
    run.seconds = time.perf_counter() - begun
    watcher.cancel()
    with suppress(asyncio.CancelledError):
        await watcher


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tests.hub.load", description=__doc__.partition("\n")[0])
    parser.add_argument("--learners", type=int, default=5, metavar="N", help="how many (default: 5)")
    parser.add_argument("--ramp", type=float, default=0, metavar="S", help="seconds in which they arrive (default: 0)")
    parser.add_argument("--pause", type=float, default=0, metavar="S", help="seconds of thought a cell (default: 0)")
    parser.add_argument("--memory-gib", type=float, default=16, metavar="GIB", help="of the machine asked about")
    add_notebooks(parser)
    arguments = parser.parse_args(argv)
    if arguments.learners < 2:
        parser.error("--learners wants at least 2: one loses the kernel, one the server")
    run = Run(arguments.learners)
    names = [f"learner{number:02}" for number in range(1, arguments.learners + 1)]
    with running_hub(names) as hub:
        asyncio.run(fill_the_room(hub, run, arguments))
        print(run.table(arguments.memory_gib), flush=True)
    sys.exit(1 if run.failures else 0)


if __name__ == "__main__":
    main()
