"""The process in which targets are examined, one after the other: `separate_process.py` starts it and asks.

It ends where it computes for too long, which does not depend on how busy the machine is. By the clock only what
computes next to nothing is ended, and that is no verdict.
"""

import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any, TextIO

from attention_doctor import api
from attention_doctor.reports.report import Report
from attention_doctor.subjects import loading

LOADING = 120.0  # seconds of computing that imports may take on top
WAIT = 60.0  # by the clock
AT_WORK = 0.5  # seconds of computing, in this time, that what waits does not need
BETWEEN_LOOKS = 1.0


class Progress:
    """What this process has computed by when.

    Parameters
    ----------
    seconds : float
        Of computing, in which it should have ended.
    computed : float, optional
        In seconds, before.

    Examples
    --------
    >>> progress = Progress(seconds=200.0, computed=1.0)
    >>> progress.reason_to_end(clock=0.0, computed=2.0)
    ''
    >>> progress.reason_to_end(clock=61.0, computed=2.1)
    'It waited for 60 seconds and computed nothing: that is no verdict. What does it wait for?'
    >>> progress.reason_to_end(clock=62.0, computed=201.5)
    'It computed for more than 200 seconds. Does it compile, or run an endless loop?'
    """

    def __init__(self, seconds: float, computed: float = 0.0) -> None:
        self.seconds = seconds
        self._before = computed
        self._at_work: tuple[float, float] | None = None  # the clock, and what was computed, when it last worked

    def reason_to_end(self, clock: float, computed: float) -> str:
        """Return why it should be ended, or nothing."""
        if computed - self._before > self.seconds:
            return f"It computed for more than {self.seconds:g} seconds. Does it compile, or run an endless loop?"
        if self._at_work is None or computed - self._at_work[1] > AT_WORK:
            self._at_work = clock, computed
        elif clock - self._at_work[0] > WAIT:
            return f"It waited for {WAIT:g} seconds and computed nothing: that is no verdict. What does it wait for?"
        return ""


class _Replies:
    """A reply for each request: the result, or the reason to end, behind which there is no other."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._progress: Progress | None = None
        threading.Thread(target=self._watch, daemon=True).start()

    def begin(self, seconds: float) -> None:
        """End this process where the examination that begins computes for so many seconds, or waits."""
        computed = time.process_time()
        with contextlib.suppress(ImportError, ValueError, OSError):  # Windows, or a lower limit from outside
            import resource

            # C code that never lets a thread of Python run is ended by the system.
            _, most = resource.getrlimit(resource.RLIMIT_CPU)
            resource.setrlimit(resource.RLIMIT_CPU, (int(computed + seconds) + 30, most))
        with self._lock:
            self._progress = Progress(seconds, computed)

    def end(self, result: Mapping[str, Any]) -> None:
        with self._lock:
            self._progress = None
            self._write({"result": result})

    def _watch(self) -> None:
        while True:
            time.sleep(BETWEEN_LOOKS)
            with self._lock:
                if self._progress and (reason := self._progress.reason_to_end(time.monotonic(), time.process_time())):
                    self._write({"reason": reason})
                    os._exit(0)

    def _write(self, reply: Mapping[str, Any]) -> None:
        print(json.dumps(reply), file=self._file, flush=True)


def result_of(target: str, report: Report, thing: Any = None) -> dict[str, Any]:
    """Return what formats print of a report."""
    file, line = ("", 0) if thing is None else loading.definition(thing)
    return report.to_json() | {"target": target, "text": str(report), "file": file, "line": line}


def _examined(target: str, **options: Any) -> dict[str, Any]:
    try:
        thing = loading.load(target)
    except loading.CannotBeLoadedError as error:
        return result_of(target, Report(target, None, reason=str(error)))
    return result_of(target, api.examine(thing, **options), thing)


def main() -> None:
    """Answer requests, one a line, until there are no more."""
    requests, replies = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    # What is examined may read and print, and must not meet requests and replies.
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(nothing, stream)
    answers = _Replies(replies)
    for line in requests:
        request = json.loads(line)
        answers.begin(request["seconds"] + LOADING)
        answers.end(_examined(**request))


if __name__ == "__main__":
    sys.exit(main())
