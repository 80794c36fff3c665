"""`python -m mha_helpers.doctor FILE.py:NAME`: examine one thing of a file, and print the report.

Ends with 0 (healthy), 1 (sick) or 2 (could not be examined).
"""

import argparse
import importlib.util
import inspect
import json
import subprocess
import sys
import tempfile
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
    parser.add_argument("--inside", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.inside:
        report = _examine(options)
        Path(options.inside).write_text(_written(report), encoding="utf-8")
        return CODES[report.healthy]
    return _outside(options, arguments if arguments is not None else sys.argv[1:])


def _outside(options, arguments):
    """Examine in a process of its own, which can be ended; it writes its report into a file of its own, too."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "report.json"
        command = [sys.executable, "-m", "mha_helpers.doctor", "--inside", str(written), *arguments]
        try:
            ended = subprocess.run(command, capture_output=True, text=True, timeout=options.seconds + 30)
            last_words = ended.stderr.strip().splitlines()[-1:] or [f"it ended with {ended.returncode}"]
            reason = f"The examination broke off: {last_words[0]}"
        except subprocess.TimeoutExpired:
            reason = f"It did not come back within {options.seconds:g} seconds. Is there an endless loop?"
        said = written.read_text(encoding="utf-8") if written.is_file() else ""
    both = json.loads(said or _written(Report(options.what, None, reason=reason)))
    print(json.dumps(both["json"], indent=2) if options.json else both["text"])
    return CODES[both["json"]["healthy"]]


def _written(report):
    return json.dumps({"json": report.to_json(), "text": str(report)})


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
