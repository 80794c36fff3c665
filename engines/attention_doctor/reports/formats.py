"""Results for other programs: JSON, GitHub's annotations and SARIF.

A result is a dictionary: what `Report.to_json` gives, with "target", "text", "file" and "line" of the definition. A
finding is shown at its own line, and at the definition where that is not certain.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attention_doctor.names import HEALTHY
from function_judge.lines import from_here

Result = Mapping[str, Any]
SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def text(results: Sequence[Result]) -> str:
    return "\n\n".join(result["text"] for result in results)


def as_json(results: Sequence[Result]) -> str:
    """One object for one target, a list of them for several."""
    plain = [{key: value for key, value in result.items() if key != "text"} for result in results]
    return json.dumps(plain[0] if len(plain) == 1 else plain, indent=2)


def github(results: Sequence[Result]) -> str:
    """Workflow commands: a line for each finding, which GitHub shows at the line, or beside the definition."""
    lines = []
    for result in results:
        for finding in result["findings"]:
            kind = "notice" if finding["severity"] in HEALTHY else "error"
            text = f"{result['subject']}: {_message(finding)}"
            lines.append(
                f"::{kind} {_place(result, finding)}title={finding['name'] or 'no name for it'}::{_escaped(text)}"
            )
        if result["healthy"] is None:
            lines.append(f"::warning {_place(result)}title=could not be examined::{_escaped(result['reason'])}")
    return "\n".join(lines)


def _place(result: Result, finding: Result | None = None) -> str:
    file, line = _where(result, finding)
    return f"file={_escaped(file, ':,')},line={line}," if file else ""


def _where(result: Result, finding: Result | None) -> tuple[str, int]:
    """The file and the line that a finding is shown at."""
    if finding and finding["line"]:
        return from_here(finding["line"]["path"]), finding["line"]["number"]
    return result["file"], result["line"]


def _escaped(text: str, more: str = "") -> str:
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def sarif(results: Sequence[Result]) -> str:
    """A SARIF 2.1.0 log."""
    pairs = [(result, finding) for result in results for finding in result["findings"]]
    rules = {finding["name"] or "unnamed": finding for _, finding in pairs}
    run = {
        "tool": {"driver": {"name": "attention-doctor", "rules": [{"id": name} for name in rules]}},
        "results": [
            {
                "ruleId": finding["name"] or "unnamed",
                "level": "note" if finding["severity"] in HEALTHY else "error",
                "message": {"text": f"{result['subject']}: {_message(finding)}"},
                "locations": _locations(*_where(result, finding)),
            }
            for result, finding in pairs
        ],
    }
    return json.dumps({"$schema": SARIF, "version": "2.1.0", "runs": [run]}, indent=2)


def _locations(file: str, line: int) -> list[dict]:
    if not file:
        return []
    region = {"startLine": line}
    return [{"physicalLocation": {"artifactLocation": {"uri": Path(file).as_posix()}, "region": region}}]


def _message(finding: Result) -> str:
    repair = f"Repair: {finding['repair']}." if finding["repair"] else ""
    return " ".join(filter(None, (finding["sentence"], finding["equation"], finding["evidence"], repair)))


FORMATS: dict[str, Callable[[Sequence[Result]], str]] = {
    "text": text,
    "json": as_json,
    "github": github,
    "sarif": sarif,
}
