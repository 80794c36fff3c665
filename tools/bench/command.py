"""Measure what the course promises to keep small, each beside something to compare it with.

Medians of one run. Nothing is asserted: the numbers depend on the machine, the ratios less so.
"""

import argparse
import os
import platform

from tools.bench import beside_torch, course, doctor, in_a_tab, labs, touch

SECTIONS = {
    "labs": labs.labs,
    "touch": touch.touch,
    "imports": course.imports,
    "gate": course.gate,
    "checks": course.checks,
    "heads": course.heads,
    "attention": beside_torch.attention,
    "writing": beside_torch.writing,
    "memory": course.memory,
    "doctor": doctor.examinations,
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
