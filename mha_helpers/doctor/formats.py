"""Results for other programs: JSON, GitHub's annotations and SARIF.

A result is a dictionary: what `Report.to_json` gives, with "target", "text", "file" and "line" of the definition.
"""

import json

from ..wrong.names import HEALTHY

SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def text(results):
    return "\n\n".join(result["text"] for result in results)


def as_json(results):
    """One object for one target, a list of them for several."""
    plain = [{key: value for key, value in result.items() if key != "text"} for result in results]
    return json.dumps(plain[0] if len(plain) == 1 else plain, indent=2)


def github(results):
    """Workflow commands: one line each finding, which GitHub shows beside the definition."""
    lines = []
    for result in results:
        place = f"file={_escaped(result['file'], ':,')},line={result['line']}," if result["file"] else ""
        for finding in result["findings"]:
            kind = "notice" if finding["severity"] in HEALTHY else "error"
            said = f"{result['subject']}: {_message(finding)}"
            lines.append(f"::{kind} {place}title={finding['name'] or 'no name for it'}::{_escaped(said)}")
        if result["healthy"] is None:
            lines.append(f"::warning {place}title=could not be examined::{_escaped(result['reason'])}")
    return "\n".join(lines)


def _escaped(said, more=""):
    for character in "%\r\n" + more:
        said = said.replace(character, f"%{ord(character):02X}")
    return said


def sarif(results):
    """A SARIF 2.1.0 log."""
    found = [(result, finding) for result in results for finding in result["findings"]]
    rules = {finding["name"] or "unnamed": finding for _, finding in found}
    run = {
        "tool": {"driver": {"name": "attention-doctor", "rules": [{"id": name} for name in rules]}},
        "results": [
            {
                "ruleId": finding["name"] or "unnamed",
                "level": "note" if finding["severity"] in HEALTHY else "error",
                "message": {"text": f"{result['subject']}: {_message(finding)}"},
                "locations": _locations(result),
            }
            for result, finding in found
        ],
    }
    return json.dumps({"$schema": SARIF, "version": "2.1.0", "runs": [run]}, indent=2)


def _locations(result):
    if not result["file"]:
        return []
    region = {"startLine": result["line"]}
    return [{"physicalLocation": {"artifactLocation": {"uri": result["file"]}, "region": region}}]


def _message(finding):
    repair = f"Repair: {finding['repair']}." if finding["repair"] else ""
    return " ".join(filter(None, (finding["sentence"], finding["equation"], finding["evidence"], repair)))


FORMATS = {"text": text, "json": as_json, "github": github, "sarif": sarif}
