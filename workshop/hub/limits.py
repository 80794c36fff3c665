"""What holds for a learner as a whole, where the kernel of Linux limits each process: looked after every few seconds.

Whoever goes beyond loses processes, the largest first, and never the server: it shows them that a kernel has died, and
lets them delete files. On a machine with systemd, control groups do it better: README.md says when to take what.
"""

import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from workshop.hub.learner_server import PROCESSES

GIB = 2**30
MEMORY = 2 * GIB  # of all processes of a learner together
FOLDER = 1 * GIB
FILES = 20_000  # in a learner's folder
# Of all processes together. At `PROCESSES`, Linux lets nobody start another, and the server itself could save no more.
THREADS = PROCESSES - 20
NOTE = "WHY MY KERNEL ENDED.txt"


@dataclass(frozen=True)
class Process:
    """A process of a learner: its number for the hub, the bytes that it answers for, and its threads."""

    number: int
    memory: int
    threads: int = 1


def processes_of(starter):
    """Return a learner's processes, the Jupyter server first.

    Their memory is what they wrote to and what they share with one another, and no library: a page that two processes
    share counts for both.

    Parameters
    ----------
    starter : int
        The process that the hub started for the learner: all of theirs come from it.

    Returns
    -------
    list of Process
    """
    found = []
    with suppress(psutil.NoSuchProcess):
        for process in psutil.Process(starter).children(recursive=True):
            with suppress(ProcessLookupError, FileNotFoundError):  # it has ended
                found += _read(process.pid)
    # By number within the namespace: the server was the first one that was the learner's.
    return [process for _, process in sorted(found, key=lambda each: each[0])]


def _read(number):
    """Return [(number within its namespace, Process)] of a process; nothing if it is root's."""
    lines = Path(f"/proc/{number}/status").read_text().splitlines()
    about = dict(line.split(":", 1) for line in lines)
    if about["Uid"].split()[0] == "0":
        return []
    # One that has ended, and nobody has waited for, has no memory any more, and still counts.
    memory = sum(int(about.get(kind, "0 kB").split()[0]) * 1024 for kind in ("RssAnon", "RssShmem"))
    return [(int(about["NSpid"].split()[-1]), Process(number, memory, int(about["Threads"])))]


def size_of(folder, most_bytes=FOLDER, most_files=FILES):
    """Return (bytes, files) of a folder; no further than to where one of the two is beyond its limit."""
    used = files = 0
    for _, folders, names, place in os.fwalk(folder):  # by descriptors: nobody can put a link in its way
        for name in (*folders, *names):
            with suppress(FileNotFoundError):  # deleted meanwhile
                used += os.stat(name, dir_fd=place, follow_symlinks=False).st_blocks * 512
            files += 1
            if used > most_bytes or files > most_files:
                return used, files
    return used, files


def beyond(home, processes):
    """Return what a learner has too much of, as a sentence for them, and the processes that have to end for it.

    Parameters
    ----------
    home : path
    processes : sequence of Process
        The learner's, the server first.

    Returns
    -------
    tuple of str and list of Process
        Empty, both, where everything is as it should be.
    """
    free = sorted(processes[1:], key=lambda process: process.memory)
    used, files = size_of(home)
    if used > FOLDER or files > FILES:
        return (
            f"Your folder holds more than {FOLDER // GIB} GiB or {FILES} files. Until you have deleted some, "
            "in JupyterLab's list of files, no kernel and no terminal of yours can run."
        ), free
    if sum(process.threads for process in processes) > THREADS:
        return f"You had more than {THREADS} processes and threads at once. All were ended, your kernels too.", free
    memory = sum(process.memory for process in processes)
    if memory <= MEMORY:
        return "", []
    victims = []
    while free and memory > MEMORY:
        victims.append(free.pop())
        memory -= victims[-1].memory
    return (
        f"Your kernels and programs took more than {MEMORY // GIB} GiB of memory together, and the largest were ended. "
        "Shut down kernels that you don't need: in JupyterLab, the round button with a square, on the left."
    ), victims


def enforce(home, starter):
    """End what is beyond a learner's limits, leave them a note about it, and return its sentence, or "".

    Parameters
    ----------
    home : path
    starter : int
        As for `processes_of`.
    """
    sentence, victims = beyond(home, processes_of(starter))
    for victim in victims:
        with suppress(ProcessLookupError):
            os.kill(victim.number, signal.SIGKILL)
    if victims:
        _leave_note(home, sentence)
    return sentence


def _leave_note(home, sentence):
    """Write a sentence beside the learner's notebooks, unless something has its name; links lead nowhere."""
    with suppress(OSError):  # no such folder, or no space: it stands in the hub's log, too
        folder = os.open(home / "notebooks", os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            note = os.open(NOTE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder)
            owner = os.stat(home).st_uid
            os.fchown(note, owner, owner)
            os.write(note, f"{sentence}\n\nRead it? Then delete this file.\n".encode())
            os.close(note)
        finally:
            os.close(folder)
