"""`attention-doctor FILE.py:NAME ...`: examine what the targets name, and print the reports.

Ends with 0 (all healthy), 1 (something is sick) or 2 (something could not be examined).
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from attention_doctor import api, separate_process
from attention_doctor.names import HEALTHY
from attention_doctor.reports.formats import FORMATS
from attention_doctor.reports.report import Report
from attention_doctor.subjects import loading

WRITES_INTO = "--inside"
# The doctor is a distribution of its own, too: there it is a command.
COMMAND = "attention-doctor"


def main(arguments: list[str] | None = None) -> int:
    """Run the command.

    Returns
    -------
    int
        What it ends with.
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    options = _parser().parse_args(arguments)
    if options.inside:
        _write_report(options)
        return 0
    accepted = _accepted(options.accepted)
    results = [_examined_separately(target, options, arguments) for target in options.targets]
    results = [_without(result, accepted) for result in results]
    text = FORMATS["json" if options.json else options.format](results)
    if text:
        # What the terminal's encoding lacks (Windows' has no √) is shown by its number.
        encoding = sys.stdout.encoding or "utf-8"
        print(text.encode(encoding, "backslashreplace").decode(encoding))
    return max(_code(result, options.strict) for result in results)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=COMMAND,
        description="Examine attention. Ends with 0 (healthy), 1 (sick) or 2 (could not be examined).",
    )
    parser.add_argument(
        "targets", metavar="FILE.py:NAME", nargs="+",
        help="a function, a class or an object, in a file or in a module: package.module:NAME",
    )  # fmt: skip
    parser.add_argument("--arguments", default="{}", help="what a class is built with, as JSON: '{\"d_model\": 64}'")
    parser.add_argument("--build", default="", help="an expression instead: 'Attention(Config(n_embd=64, n_head=4))'")
    parser.add_argument("--names", default="{}", help='what an argument is, as JSON: \'{"w1": "W_Q"}\'')
    parser.add_argument("--inputs", default="{}", help="what further arguments get, as JSON: '{\"window\": 0}'")
    parser.add_argument("--format", choices=list(FORMATS), default="text", help="how the reports are printed")
    parser.add_argument("--json", action="store_true", help="the same as --format json")
    parser.add_argument("--strict", action="store_true", help="let notes count: end with 1 for them, too")
    parser.add_argument(
        "--accepted", metavar="FILE",
        help='findings that are known, as JSON: {"FILE.py:NAME": ["mha-scale-d-model"]}',
    )  # fmt: skip
    parser.add_argument("--seconds", type=float, default=120, help="of computing, for each (120)")
    parser.add_argument(WRITES_INTO, metavar="FILE", help=argparse.SUPPRESS)
    return parser


def _examined_separately(target: str, options: argparse.Namespace, arguments: list[str]) -> dict[str, Any]:
    """Examine in a process of its own, and return what it writes, or why it wrote nothing."""
    others = [value for value in arguments if value not in options.targets]
    result, reason = separate_process.report_of(["-m", "attention_doctor", *others, target, WRITES_INTO])
    return result or _result(target, Report(target, None, reason=reason))


def _write_report(options: argparse.Namespace) -> None:
    """Examine the one target in this process, and write the report into the file that the options name."""
    [target] = options.targets

    def write(result: dict[str, Any]) -> None:
        Path(options.inside).write_text(json.dumps(result), encoding="utf-8")

    separate_process.end_if_it_hangs(
        options.seconds, lambda reason: write(_result(target, Report(target, None, reason=reason)))
    )
    write(_examined(target, options))


def _examined(target: str, options: argparse.Namespace) -> dict[str, Any]:
    try:
        thing = loading.load(target, json.loads(options.arguments), options.build)
    except loading.CannotBeLoadedError as error:
        return _result(target, Report(target, None, reason=str(error)))
    names, inputs = (json.loads(text) or None for text in (options.names, options.inputs))
    return _result(target, api.examine(thing, names=names, inputs=inputs, seconds=options.seconds), thing)


def _result(target: str, report: Report, thing: Any = None) -> dict[str, Any]:
    file, line = ("", 0) if thing is None else loading.definition(thing)
    return report.to_json() | {"target": target, "text": str(report), "file": file, "line": line}


def _accepted(path: str | None) -> dict[str, set[str]]:
    """The accepted findings by target."""
    if path is None:
        return {}
    try:
        return {target: set(names) for target, names in json.loads(Path(path).read_text(encoding="utf-8")).items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise SystemExit(f'{path} should hold {{"FILE.py:NAME": ["finding", ...]}} as JSON: {error}') from error


def _without(result: dict[str, Any], accepted: dict[str, set[str]]) -> dict[str, Any]:
    """The result without what is accepted for its target."""
    known = accepted.get(result["target"], set())
    left = [finding for finding in result["findings"] if (finding["name"] or "unnamed") not in known]
    gone = [finding["name"] or "unnamed" for finding in result["findings"] if finding not in left]
    if not gone:
        return result
    sick = any(finding["severity"] not in HEALTHY for finding in left)
    note = f"Accepted: {', '.join(gone)}."
    return result | {
        "findings": left, "healthy": None if result["healthy"] is None else not sick, "accepted": gone,
        "text": f"{result['text']}\n{note}",
    }  # fmt: skip


def _code(result: dict[str, Any], strict: bool) -> int:
    if result["healthy"] is None:
        return 2
    return int(not result["healthy"] or (strict and bool(result["findings"])))


if __name__ == "__main__":
    sys.exit(main())
