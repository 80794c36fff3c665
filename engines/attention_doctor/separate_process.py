"""Examining a target in a process of its own, which can be ended: nothing else ends an import, or C code.

What ends it is how much it computes, which does not depend on how busy the machine is. By the clock only what computes
next to nothing is ended, and that is no verdict.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

LOADING = 120.0  # seconds of computing that imports may take on top
WAIT = 60.0  # by the clock
AT_WORK = 0.5  # seconds of computing, in this time, that what waits does not need
BETWEEN_LOOKS = 1.0


def report_of(command: Sequence[str]) -> tuple[dict | None, str]:
    """Run a command that writes a report as JSON into a file, whose path is put behind it.

    Returns
    -------
    report : dict or None
    reason : str
        Why there is none.
    """
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "report.json"
        ended = subprocess.run(
            [sys.executable, *command, str(written)], capture_output=True, encoding="locale", errors="replace"
        )
        if written.is_file():
            return json.loads(written.read_text(encoding="utf-8")), ""
    if ended.returncode == -getattr(signal, "SIGXCPU", 0):
        return None, "It never came back, and computed all the time. Does it compile, or run an endless loop?"
    last_words = ended.stderr.strip().splitlines()[-1:] or [f"it ended with {ended.returncode}"]
    return None, f"The examination broke off: {last_words[0]}"


class Progress:
    """What this process has computed by when.

    Parameters
    ----------
    seconds : float
        Of computing, in which it should have ended.

    Examples
    --------
    >>> progress = Progress(seconds=200.0)
    >>> progress.reason_to_end(clock=0.0, computed=2.0)
    ''
    >>> progress.reason_to_end(clock=61.0, computed=2.1)
    'It waited for 60 seconds and computed nothing: that is no verdict. What does it wait for?'
    >>> progress.reason_to_end(clock=62.0, computed=201.0)
    'It computed for more than 200 seconds. Does it compile, or run an endless loop?'
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._at_work: tuple[float, float] | None = None  # the clock, and what was computed, when it last worked

    def reason_to_end(self, clock: float, computed: float) -> str:
        """Return why it should be ended, or nothing."""
        if computed > self.seconds:
            return f"It computed for more than {self.seconds:g} seconds. Does it compile, or run an endless loop?"
        if self._at_work is None or computed - self._at_work[1] > AT_WORK:
            self._at_work = clock, computed
        elif clock - self._at_work[0] > WAIT:
            return f"It waited for {WAIT:g} seconds and computed nothing: that is no verdict. What does it wait for?"
        return ""


def end_if_it_hangs(seconds: float, write: Callable[[str], None]) -> None:
    """From now on, end this process where it computes for too long, or waits; `write` is told why before.

    Parameters
    ----------
    seconds : float
        Of computing, for one examination.
    write : callable
    """
    progress = Progress(seconds + LOADING)

    def watch() -> None:
        while not (reason := progress.reason_to_end(time.monotonic(), time.process_time())):
            time.sleep(BETWEEN_LOOKS)
        write(reason)
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows, or a lower limit from outside
        import resource

        # C code that never lets a thread of Python run is ended by the system.
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(progress.seconds) + 30, most))
