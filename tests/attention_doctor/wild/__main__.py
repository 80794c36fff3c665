"""`python tests/attention_doctor/wild [NAME ...]`: examine the public implementations here, and say how often it errs.

Seconds are those of processor, importing apart. MHA_WILD is where fetch.py, beside this, brings what listed.toml has,
and pip the releases of early.txt.
"""

import os
import statistics
import sys

os.environ.setdefault("KERAS_BACKEND", "jax")

from implementations import implementations


def main(names):
    wanted = [one for one in implementations() if not names or one.name in names]
    here = [one for one in wanted if not one.missing]
    seconds, right, alarms, found, named = [], 0, 0, 0, 0
    for one in here:
        report = one.examined()
        seconds.append(report.seconds)
        right += one.is_right(report)
        alarms += one.is_false_alarm(report)
        found += one.verdict == "sick" and report.healthy is False
        named += one.verdict == "sick" and report.healthy is False and one.is_named(report)
        mark = "right" if one.is_right(report) else "ALARM" if one.is_false_alarm(report) else "not"
        print(f"{mark:6}{one.name:34}{one.verdict:9}{report.seconds:5.1f} s  {report.verdict}", flush=True)
    faults = sum(one.verdict == "sick" for one in here)
    print(
        f"{len(here)} examined of {len(wanted)}: {right} verdicts right at first try, {alarms} false alarms; "
        f"of {faults} faults {found} found, {named} named; "
        f"seconds of processor: median {statistics.median(seconds):.1f}, worst {max(seconds):.1f}"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
