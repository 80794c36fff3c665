"""`attention-doctor FILE.py:NAME ...`: examine what the targets name, and print the reports.

Ends with 0 (all healthy), 1 (something is sick) or 2 (something could not be examined).
"""

import argparse
import contextlib
import json
import sys
from pathlib import Path
from typing import Any

from attention_doctor.api import SECONDS
from attention_doctor.names import HEALTHY
from attention_doctor.reports.formats import FORMATS
from attention_doctor.separate_process import Examiner

# The doctor is a distribution of its own, too: there it is a command.
COMMAND = "attention-doctor"


def main(arguments: list[str] | None = None) -> int:
    """Run the command.

    Returns
    -------
    int
        What it ends with.
    """
    options = _parser().parse_args(arguments)
    accepted = _accepted(options.accepted)
    examine = {"names": options.names, "inputs": options.inputs, "seconds": options.seconds}
    with Examiner() as examiner:
        results = [_without(examiner.result(target, **examine), accepted) for target in options.targets]
    text = FORMATS["json" if options.json else options.format](results)
    if text:
        # What the terminal's encoding lacks (Windows' has no √) is shown by its number.
        encoding = sys.stdout.encoding or "utf-8"
        print(text.encode(encoding, "backslashreplace").decode(encoding))
    return max(_code(result, options.strict) for result in results)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=COMMAND,
        description="Examine attention. This runs the code it examines: don't point it at files you don't trust. "
        "Ends with 0 (healthy), 1 (sick) or 2 (could not be examined).",
    )
    parser.add_argument(
        "targets", metavar="FILE.py:NAME", nargs="+",
        help="a function, a class or an object, in a file or in a module (package.module:NAME); or an expression that "
        "builds it: 'FILE.py:Attention(64, n_heads=4)'",
    )  # fmt: skip
    parser.add_argument("--names", type=_by_argument, help='what an argument is, as JSON: \'{"w1": "W_Q"}\'')
    parser.add_argument("--inputs", type=_by_argument, help="what further arguments get, as JSON: '{\"window\": 0}'")
    parser.add_argument("--format", choices=list(FORMATS), default="text", help="how the reports are printed")
    parser.add_argument("--json", action="store_true", help="the same as --format json")
    parser.add_argument("--strict", action="store_true", help="let notes count: end with 1 for them, too")
    parser.add_argument(
        "--accepted", metavar="FILE",
        help='findings that are known, as JSON: {"FILE.py:NAME": ["mha-scale-d-model"]}',
    )  # fmt: skip
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of computing, for each (120)")
    return parser


def _by_argument(text: str) -> dict[str, Any]:
    """What is given for arguments, by their names."""
    with contextlib.suppress(ValueError):
        value = json.loads(text)
        if isinstance(value, dict):
            return value
    raise argparse.ArgumentTypeError(f"{text!r} is no JSON object; write '{{\"argument\": ...}}'")


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
