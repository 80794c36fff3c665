"""Examining targets in a process of their own, which can be ended: nothing else ends an import, or C code."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from typing import Any, Self

from attention_doctor.api import SECONDS
from attention_doctor.reports.report import Report
from attention_doctor.worker import result_of


class Examiner:
    """Examines one target after the other in one process, which imports PyTorch once; where it ends, in a new one.

    Parameters
    ----------
    folder : path, optional
        In which targets are looked for: otherwise the current one.

    Examples
    --------
    >>> with Examiner() as examiner:
    ...     result = examiner.result("no_such_file.py:attention")
    >>> result["healthy"], result["reason"]
    (None, "there is no file 'no_such_file.py'; give FILE.py:NAME or package.module:NAME")
    """

    def __init__(self, folder: str | os.PathLike | None = None) -> None:
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None

    def result(self, target: str, **options: Any) -> dict[str, Any]:
        """Return what formats print: the report as JSON, with its text and where the target is defined.

        Parameters
        ----------
        target : str
            "FILE.py:NAME" or "package.module:NAME", or an expression in place of NAME.
        **options
            As for `examine`.
        """
        request = json.dumps({"target": target, "seconds": SECONDS} | options)
        reply = self._reply(request)
        if "result" in reply:
            return reply["result"]
        reason = reply.get("reason") or self._last_words()
        self.close()
        return result_of(target, Report(target, None, reason=reason))

    def _reply(self, request: str) -> dict[str, Any]:
        """What the process answers; nothing where it ends instead."""
        if self._process is None:
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115  which close() does
            self._process = subprocess.Popen(
                # -P: imports begin where the target says, and in the current folder after that
                [sys.executable, "-P", "-m", "attention_doctor.worker"], cwd=self._folder, encoding="utf-8",
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
            )  # fmt: skip
        try:
            print(request, file=self._process.stdin, flush=True)
        except BrokenPipeError:
            return {}
        reply = self._process.stdout.readline()
        return json.loads(reply) if reply else {}

    def _last_words(self) -> str:
        """Why the process ended, by itself."""
        code = self._process.wait()
        if code == -getattr(signal, "SIGXCPU", 0):
            return "It never came back, and computed all the time. Does it compile, or run an endless loop?"
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return f"The examination broke off: {lines[-1] if lines else f'it ended with {code}'}"

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
            self._errors.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
