"""Measure what the course promises to keep small, each beside something to compare it with.

Nothing is asserted: the numbers depend on the machine, the ratios less so.
"""

import argparse
import functools
import importlib.util
import os
import platform
from pathlib import Path

import pytest

from tools.bench import doctor, in_a_tab, labs, memory, touch

TIMINGS = Path(__file__).with_name("timings.py")


def timed(*functions):
    """Let pytest-benchmark time functions of timings.py."""
    if importlib.util.find_spec("pytest_benchmark") is None:
        print(f"\n{', '.join(functions)}: not measured; pip install -r tools/bench/requirements.txt")
        return
    options = ["-o", "addopts=", "-o", "python_functions=bench_*", "--import-mode=importlib", "-q", "-p", "no:nbval"]
    columns = ["--benchmark-columns=median,iqr,max,rounds", "--benchmark-sort=min"]
    if code := pytest.main([*options, *columns, *(f"{TIMINGS}::{function}" for function in functions)]):
        raise SystemExit(code)


SECTIONS = {
    "labs": labs.labs,
    "touch": touch.touch,
    "imports": functools.partial(timed, "bench_imports"),
    "checks": functools.partial(timed, "bench_checks"),
    "heads": functools.partial(timed, "bench_heads"),
    "attention": functools.partial(timed, "bench_attention"),
    "writing": functools.partial(timed, "bench_writing", "bench_next_character"),
    "examinations": functools.partial(timed, "bench_examination"),
    "memory": memory.memory,
    "doctor": doctor.random_alterations,
    "tab": in_a_tab.in_a_tab,
}


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tools bench", description=__doc__)
    parser.add_argument("--only", choices=SECTIONS, help="one section (default: all)")
    only = parser.parse_args(argv).only
    print(f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} processors")
    for name, section in SECTIONS.items():
        if only in (None, name):
            section()
