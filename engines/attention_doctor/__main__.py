"""`attention-doctor FILE.py:NAME ...`: examine what the targets name, and print the reports.

Ends with 0 (all healthy), 1 (something is sick) or 2 (something could not be examined).
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from attention_doctor import api
from attention_doctor.names import HEALTHY
from attention_doctor.reports.formats import FORMATS
from attention_doctor.reports.report import Report
from attention_doctor.subjects import loading

EXAMINED_BY_ITSELF = "--inside"
# The doctor is a distribution of its own, too: there it is a command.
COMMAND = "attention-doctor"


def main(arguments=None):
    """Run the command.

    Returns
    -------
    int
        What it ends with.
    """
    options = _parser().parse_args(arguments)
    if options.inside:
        [target] = options.targets
        Path(options.inside).write_text(json.dumps(_examined(target, options)), encoding="utf-8")
        return 0
    accepted = _accepted(options.accepted)
    given = list(arguments if arguments is not None else sys.argv[1:])
    results = [_outside(target, options, given) for target in options.targets]
    results = [_without(result, accepted) for result in results]
    text = FORMATS["json" if options.json else options.format](results)
    if text:
        # What the terminal's encoding lacks (Windows' has no √) is shown by its number.
        encoding = sys.stdout.encoding or "utf-8"
        print(text.encode(encoding, "backslashreplace").decode(encoding))
    return max(_code(result, options.strict) for result in results)


def _parser():
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
    parser.add_argument("--inputs", default="{}", help="what further arguments are given, as JSON: '{\"window\": 0}'")
    parser.add_argument("--format", choices=list(FORMATS), default="text", help="how the reports are printed")
    parser.add_argument("--json", action="store_true", help="the same as --format json")
    parser.add_argument("--strict", action="store_true", help="let notes count: end with 1 for them, too")
    parser.add_argument(
        "--accepted", metavar="FILE",
        help='findings that are known, as JSON: {"FILE.py:NAME": ["mha-scale-d-model"]}',
    )  # fmt: skip
    parser.add_argument("--seconds", type=float, default=120, help="how long to wait for each (120)")
    parser.add_argument(EXAMINED_BY_ITSELF, metavar="FILE", help=argparse.SUPPRESS)
    return parser


def _outside(target, options, given):
    """Examine in a process of its own, which can be ended; it writes its report into a file of its own, too."""
    others = [value for value in given if value not in options.targets]
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "report.json"
        command = [sys.executable, "-m", "attention_doctor", *others, EXAMINED_BY_ITSELF, str(written), target]
        try:
            ended = subprocess.run(
                command, capture_output=True, encoding="locale", errors="replace", timeout=options.seconds + 30
            )
            last_words = ended.stderr.strip().splitlines()[-1:] or [f"it ended with {ended.returncode}"]
            reason = f"The examination broke off: {last_words[0]}"
        except subprocess.TimeoutExpired:
            reason = f"It did not come back within {options.seconds:g} seconds. Is there an endless loop?"
        if written.is_file():
            return json.loads(written.read_text(encoding="utf-8"))
    return _result(target, Report(target, None, reason=reason))


def _examined(target, options):
    try:
        thing = loading.load(target, json.loads(options.arguments), options.build)
    except loading.CannotBeLoadedError as error:
        return _result(target, Report(target, None, reason=str(error)))
    names, inputs = (json.loads(text) or None for text in (options.names, options.inputs))
    return _result(target, api.examine(thing, names=names, inputs=inputs, seconds=options.seconds), thing)


def _result(target, report, thing=None):
    file, line = ("", 0) if thing is None else loading.definition(thing)
    return report.to_json() | {"target": target, "text": str(report), "file": file, "line": line}


def _accepted(path):
    """The accepted findings by target."""
    if path is None:
        return {}
    try:
        return {target: set(names) for target, names in json.loads(Path(path).read_text(encoding="utf-8")).items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise SystemExit(f'{path} should hold {{"FILE.py:NAME": ["finding", ...]}} as JSON: {error}') from error


def _without(result, accepted):
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


def _code(result, strict):
    if result["healthy"] is None:
        return 2
    return int(not result["healthy"] or (strict and bool(result["findings"])))


if __name__ == "__main__":
    sys.exit(main())
