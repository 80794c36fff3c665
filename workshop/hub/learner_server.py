"""What the hub starts for a learner: a Jupyter server that reaches the learner's own folder and little else.

It begins as root, in namespaces of its own (`APART`), as the first process in there: it mounts what the learner may
write to, and starts a second process, which takes on the limits and the learner's user id, and becomes the Jupyter
server. When the server ends, so does the first process, and Linux ends everything the learner left running.

It needs nothing but Python: all of this is in place before anything that a learner can reach is running.
"""

import os
import resource
import runpy
import signal
import subprocess
import sys
from itertools import count
from pathlib import Path

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
# What starts it: a learner's processes, mounts and shared memory are theirs alone and end with their server, and no
# program in there, such as `sudo`, gets rights that the learner doesn't have.
APART = ["unshare", "--mount", "--propagation=private", "--pid", "--mount-proc", "--ipc", "--fork", "--kill-child"]
APART += ["setpriv", "--no-new-privs"]
MIB = 2**20
# Folders that everybody may write to: each learner has their own, of this size, and it ends with their server.
SCRATCH = {"/tmp": 128 * MIB, "/var/tmp": 64 * MIB, "/dev/shm": 64 * MIB}
PROCESSES = 300  # and threads: a kernel has about ten
LARGEST_FILE = 256 * MIB


def shut_in(home):
    """Let processes in this mount namespace write to `home` and to scratch folders of their own, and nowhere else."""
    _mount("--bind", home, home)
    # What is mounted below `/`, another disk say, keeps its own permissions.
    _mount("-o", "remount,bind,ro", "/")
    for place, size in SCRATCH.items():
        _mount("-t", "tmpfs", "-o", f"size={size},nr_inodes=10k,mode=1777,nosuid,nodev", "tmpfs", place)


def _mount(*arguments):
    subprocess.run(["mount", *arguments], check=True)


def set_limits(memory):
    """Limit this process, and each one that it starts; none of them can raise a limit again.

    The kernel of Linux enforces them. What would go beyond `memory` is refused, which Python reports as MemoryError:
    RLIMIT_DATA counts what a process writes to, not the libraries that it maps (RLIMIT_AS does).

    Parameters
    ----------
    memory : int
        Bytes of data that each process may have.
    """
    for limit, most in (
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_NPROC, PROCESSES),  # of the user id, which only this learner has
        (resource.RLIMIT_FSIZE, LARGEST_FILE),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(limit, (most, most))
    # Where memory or processors run short, learners' processes wait or end before the hub does.
    Path("/proc/self/oom_score_adj").write_text("500")
    os.nice(5)


def become_the_learner(home):
    """Take on the user id that owns a folder, and go there.

    No program is run after it, so that the server stays a process that once was root's: what a learner runs under the
    same user id can neither look into its memory nor change it.
    """
    learner = home.stat().st_uid
    os.setgroups([])
    os.setgid(learner)
    os.setuid(learner)
    os.umask(0o077)
    os.chdir(home)


def look_after(server):
    """Wait until the server has ended, pass on what it is told, and return how it ended.

    A process that outlives its parent in here becomes this one's child. Nobody else waits for it when it ends, and
    until somebody has, it still counts among the learner's processes.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: os.kill(server, number))
    while True:
        ended, status = os.wait()
        if ended == server:
            return os.waitstatus_to_exitcode(status)


def copy_notebooks(course, own):
    """Copy each notebook that is not there into a learner's own folder; what is there stays as it is.

    Whatever is wrong with the folder, the learner's server must start: without it nobody can mend it. So a file of the
    folder's name is moved aside, and where nothing more can be written the hub's log is told.

    Parameters
    ----------
    course : path
        The course's notebooks.
    own : path
        The learner's.
    """
    own = Path(own)
    try:
        if os.path.lexists(own) and not own.is_dir():
            own.rename(_free(own))
        own.mkdir(exist_ok=True)
        _copy_missing(course, own)
    except OSError as error:
        print(f"{own}: the course's notebooks cannot be copied there ({error})", file=sys.stderr)


def _free(path):
    """Return a name beside a path that nothing has yet: "notebooks (2)"."""
    names = (path.with_name(f"{path.name} ({number})") for number in count(2))
    return next(name for name in names if not os.path.lexists(name))


def _copy_missing(course, own):
    for notebook in sorted(Path(course).glob("*.ipynb")):
        copy = own / notebook.name
        if not os.path.lexists(copy):
            # Under another name until it is whole: a full disk must not leave half a notebook.
            part = own / f".{notebook.name}.part"
            try:
                part.write_bytes(notebook.read_bytes())
                part.rename(copy)
            except OSError:
                part.unlink(missing_ok=True)
                raise


def main():
    home = Path(os.environ["HOME"])
    shut_in(home)
    server = os.fork()
    if server:
        sys.exit(abs(look_after(server)))
    set_limits(int(os.environ["MEM_LIMIT"]))
    become_the_learner(home)
    copy_notebooks(NOTEBOOKS, home / "notebooks")
    runpy.run_module("jupyterhub.singleuser", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
