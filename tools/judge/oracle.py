"""`python -m tools oracle compare` tells what today's checks and doctor say otherwise than is stored.

The programs that are judged (every catalogued mistake, every right and wrong answer of the tests, the doctor's corpus)
are always those of the stored commits, read from git: rewriting the catalogue or the tests changes what judges, and
never what is judged. They run beside a copy of the package as it was then, so nothing that they import can go missing.
An early commit has answers that the tests no longer need, a late one the exercises that came after it.

    python -m tools oracle compare                      # everything; ends with 1 where something differs
    python -m tools oracle compare softmax split_heads  # these exercises only
    python -m tools oracle compare doctor               # the doctor's corpus only
    python -m tools oracle compare --names              # status, names and findings; messages may differ
    python -m tools oracle store COMMIT COMMIT          # what today's verdicts on these commits' programs are

A change on purpose is listed in its commit, and the verdicts are stored anew with it.
"""

import argparse
import gzip
import io
import json
import multiprocessing
import re
import subprocess
import sys
import tarfile
import tempfile
import warnings
from difflib import unified_diff
from importlib import import_module
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).parents[2]
STORED = REPOSITORY / "tests" / "verdicts.json.gz"
DOCTOR = "doctor"
# What is taken from the stored commit, and its name beside today's.
TAKEN = {
    "mha_helpers": "base_mha_helpers",
    "engines/attention_doctor": "base_attention_doctor",
    "engines/function_judge": "base_function_judge",
    "engines/live_pictures": "base_live_pictures",
    "data": "data",
    "tests/exercises/answers": "base_answers",
    "tests/attention_doctor/corpus": "base_corpus",
    "tests/attention_doctor/made_up.py": "base_made_up.py",
}


def unpack(commit, folder):
    """Write a commit's programs into a folder, the package and the answers under names of their own."""
    asked = ["git", "-C", str(REPOSITORY), "archive", commit, *TAKEN]
    archive = subprocess.run(asked, capture_output=True, check=False)
    if archive.returncode:
        said = archive.stderr.decode().strip()
        raise SystemExit(f"commit {commit} can't be read ({said}); a shallow clone needs `git fetch --unshallow`")
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    for path, name in TAKEN.items():
        (folder / path).rename(folder / name)
    for file in folder.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        text = re.sub(r"\b(mha_helpers|attention_doctor|function_judge|live_pictures)\b", r"base_\1", text)
        file.write_text(re.sub(r"\bfrom answers\.", "from base_answers.", text), encoding="utf-8")
    (folder / "base_answers" / "__init__.py").write_text("")


def programs(name):
    """Yield the stored commit's programs for an exercise, each with a key that says which it is."""
    exercise = getattr(import_module("base_mha_helpers.exercises"), name)
    for mistake in exercise.mistakes:
        for i, program in enumerate(mistake.implementations):
            yield f"{name}/catalogue/{mistake.slug}/{i}", program
    answers = import_module(f"base_answers.{name}")
    for i, program in enumerate(answers.RIGHT):
        yield f"{name}/right/{i}", program
    for slug, group in answers.WRONG.items():
        for i, program in enumerate(group):
            yield f"{name}/wrong/{slug}/{i}", program
    for i, (program, _) in enumerate(answers.TOLD):
        yield f"{name}/told/{i}", program


def patients():
    """Yield the doctor's corpus of the stored commit: what needs NumPy alone."""
    corpus, made_up = import_module("base_corpus"), import_module("base_made_up")
    for case in [*corpus.FAULTS, *corpus.RIGHT]:
        yield f"doctor/corpus/{case.name}", case.make()
    for function in [*made_up.FAULTY, *made_up.RIGHT]:
        yield f"doctor/made_up/{function.__name__}", function


def verdicts(name):
    """Return by key what today's checks say of an exercise's programs, or today's doctor of its corpus."""
    found = {}
    for key, program in patients() if name == DOCTOR else programs(name):
        found[key] = _examined(program) if name == DOCTOR else _checked(name, program)
    return found


def _checked(name, program):
    result = getattr(import_module("mha_helpers.exercises"), name).diagnosis(program)
    return {"status": result.status, "names": result.mistake, "message": _settled(result.message)}


def _examined(program):
    report = import_module("mha_helpers.doctor").examine(program, seconds=600)  # however busy the machine
    names = sorted(filter(None, report.names))
    return {"status": str(report.healthy), "names": names, "message": _settled(str(report))}


def _settled(text):
    """Take out of a text what differs from run to run."""
    text = re.sub(r"0x[0-9a-f]{6,}", "0x", text)
    text = re.sub(r"\bbase_(mha_helpers|attention_doctor|function_judge|live_pictures)\b", r"\1", text)
    return re.sub(r"\S*/(\w+\.py\b)", r"\1", text)  # the folder that a commit is laid out in


def _begin(folder):
    sys.path.insert(0, str(folder))
    warnings.simplefilter("ignore")
    drawn = np.random.default_rng
    np.random.default_rng = lambda seed=0: drawn(seed)  # an answer that draws its weights draws the same each time


def all_verdicts(commit, only=(), workers=1):
    """Return today's verdicts on a commit's programs, of all exercises and the doctor, or only of some."""
    with tempfile.TemporaryDirectory() as folder:
        unpack(commit, Path(folder))
        with multiprocessing.get_context("spawn").Pool(workers, _begin, (folder,)) as pool:
            names = [name for name in pool.apply(_names) if not only or name in only]
            found = {}
            for name, judged in zip(names, pool.imap(verdicts, names, chunksize=1), strict=True):
                print(f"{name}: {len(judged)}", file=sys.stderr)
                found |= judged
    return found


def _names():
    registry = import_module("base_mha_helpers.exercises").EXERCISES.values()
    return [DOCTOR, *(name for names in registry for name in names if not name.startswith("recall_"))]


def store(commits, workers):
    asked = ["git", "-C", str(REPOSITORY), "rev-parse", *commits]
    commits = subprocess.check_output(asked, text=True).split()
    write({commit: all_verdicts(commit, workers=workers) for commit in commits})


def write(found):
    """Store verdicts, by commit and by the program's key."""
    text = json.dumps(found, indent=0, ensure_ascii=False, sort_keys=True)
    STORED.write_bytes(gzip.compress(text.encode(), mtime=0))
    count = sum(map(len, found.values()))
    print(f"{count} verdicts in {STORED.relative_to(REPOSITORY)}, {STORED.stat().st_size:,} bytes")


def compare(only=(), *, workers=1, names_alone=False):
    """Print what is judged otherwise than it was, and return how much of it there is."""
    parts = ("status", "names") if names_alone else ("status", "names", "message")
    judged, different = set(), 0
    for commit, before in json.loads(gzip.decompress(STORED.read_bytes())).items():
        now = all_verdicts(commit, only, workers)
        judged |= {key.partition("/")[0] for key in now}
        otherwise = sum(_differs(key, before.get(key), verdict, parts) for key, verdict in now.items())
        print(f"\n{len(now)} programs of {commit[:7]} judged, {otherwise} otherwise than is stored")
        different += otherwise
    if missing := set(only) - judged:
        raise SystemExit(f"no exercise of a stored commit is called {', '.join(sorted(missing))}")
    return different


def _differs(key, before, now, parts):
    """Print in which parts two verdicts differ, and return whether they do."""
    if before is None:
        print(f"\n{key}\n  was not stored")
        return True
    differing = [part for part in parts if before[part] != now[part]]
    if differing:
        print(f"\n{key}")
    for part in differing:
        old, new = str(before[part]).splitlines(), str(now[part]).splitlines()
        lines = list(unified_diff(old, new, lineterm="", n=0))[2:]
        print("\n".join(f"  {part}: {line}" for line in lines if not line.startswith("@@")))
    return bool(differing)


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m tools oracle", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("compare", "store"))
    parser.add_argument("names", nargs="*", help="compare: exercises, or doctor; store: the commits")
    parser.add_argument("--names", action="store_true", dest="names_alone", help="let messages differ")
    parser.add_argument("--workers", type=int, default=1, help="processes, 1 unless given")
    given = parser.parse_args(arguments)
    if given.command == "compare":
        return int(compare(given.names, workers=given.workers, names_alone=given.names_alone) > 0)
    if not given.names:
        parser.error("store wants the commits whose programs are judged")
    store(given.names, given.workers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
