"""`python -m mha_helpers.doctor FILE.py:NAME`: examine one thing of a file, and print the report.

Ends with 0 (healthy), 1 (sick) or 2 (could not be examined).
"""

import argparse
import importlib.util
import inspect
import json
import subprocess
import sys
from pathlib import Path

from mha_helpers.doctor import api
from mha_helpers.doctor.report import Report

CODES = {True: 0, False: 1, None: 2}


def main(arguments=None):
    """Run the command.

    Returns
    -------
    int
        What it ends with.
    """
    parser = argparse.ArgumentParser(
        prog="python -m mha_helpers.doctor",
        description="Examine attention. Ends with 0 (healthy), 1 (sick) or 2 (could not be examined).",
    )
    parser.add_argument("what", metavar="FILE.py:NAME", help="a function, a class or an object in a file")
    parser.add_argument("--arguments", default="{}", help="what a class is built with, as JSON: '{\"d_model\": 64}'")
    parser.add_argument("--names", default="{}", help='what an argument is, as JSON: \'{"w1": "W_Q"}\'')
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--seconds", type=float, default=60, help="how long to wait for it (60)")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.inside:
        report = _examine(options)
        print(_MARK + json.dumps({"json": report.to_json(), "text": str(report)}), flush=True)
        return CODES[report.healthy]
    return _outside(options, arguments if arguments is not None else sys.argv[1:])


_MARK = "\x1e"  # what the examined code prints goes to the same place


def _outside(options, arguments):
    """Examine in a process of its own, which can be ended."""
    command = [sys.executable, "-m", "mha_helpers.doctor", "--inside", *arguments]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=options.seconds + 30)
        said = ended.stdout.rpartition(_MARK)[2] if _MARK in ended.stdout else ""
        last_words = ended.stderr.strip().splitlines()[-1:] or [f"it ended with {ended.returncode}"]
        reason = f"The examination broke off: {last_words[0]}"
    except subprocess.TimeoutExpired:
        said, reason = "", f"It did not come back within {options.seconds:g} seconds. Is there an endless loop?"
    if not said:
        report = Report(options.what, None, reason=reason)
        said = json.dumps({"json": report.to_json(), "text": str(report)})
    both = json.loads(said)
    print(json.dumps(both["json"], indent=2) if options.json else both["text"])
    return CODES[both["json"]["healthy"]]


def _examine(options):
    path, _, name = options.what.rpartition(":")
    try:
        thing = _load(path, name, json.loads(options.arguments))
    except Exception as error:  # whatever somebody else's file does when it is loaded
        return Report(options.what, None, reason=f"{type(error).__name__}: {error}")
    return api.examine(thing, names=json.loads(options.names) or None, seconds=options.seconds)


def _load(path, name, arguments):
    file = Path(path)
    if not path or not file.is_file():
        raise ValueError(f"there is no file {path!r}; give FILE.py:NAME")
    sys.path.insert(0, str(file.resolve().parent))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    thing = module
    for part in name.split("."):
        thing = getattr(thing, part)
    return thing(**arguments) if inspect.isclass(thing) else thing


if __name__ == "__main__":
    sys.exit(main())
