"""A callable of which nothing is known inside: what can be told without its weights."""

import time

import numpy as np

from attention_doctor.calls import calling
from attention_doctor.names import LEAK, WORDS, WRONG
from attention_doctor.questions import unexplained
from attention_doctor.reports.report import Finding, Report

WIDTHS = (64, 32, 16, 8, 12, 24, 48, 128, 256, 512, 768, 6, 4, 10, 20, 100)
NAMED = {"not-repeatable", "batch-mixed"}


def examine(name, function, argument, framework):
    """Ask what must hold of any attention, whatever its weights.

    Parameters
    ----------
    name : str
    function : callable
    argument : str
        The name of its argument X.
    framework : str

    Returns
    -------
    Report
        Sick where something does not hold; else `healthy` is None, as its equation was not seen.
    """
    started = time.monotonic()
    convert = calling.to_framework(framework)
    report = Report(name)

    def ask(X):
        report.asked += 1
        answer = calling.call(function, {argument: X}, convert)
        return next(
            (array for array in answer.arrays or () if array.ndim == 3 and array.shape[:2] == X.shape[:2]), None
        )

    X = None
    for size in WIDTHS:
        candidate = np.random.default_rng(3).normal(size=(3, 4, size))
        if ask(candidate) is not None:
            X = candidate
            break
    if X is None:
        report.healthy = None
        report.reason = "It took no (batch, tokens, features) of any usual width, or returned nothing of that shape."
        return report
    broken = unexplained.properties(lambda vectors: (X, ask(X)) if vectors is None else (vectors, ask(vectors)))
    for wrong, sentence in broken:
        if wrong in NAMED:
            word = WORDS[wrong]
            report.findings.append(Finding(wrong, word.severity, word.sentence, repair=word.repair, evidence=sentence))
        else:
            severity = LEAK if wrong == "partly-causal" else WRONG
            report.findings.append(Finding(None, severity, sentence))
    report.layout = "a callable from (batch, tokens, features), with nothing known inside"
    report.untested.append("the equation itself (no weights were found), masks, and scores of other sizes")
    report.healthy = False if report.findings else None
    if report.healthy is None:
        report.reason = "Seen from outside, nothing is wrong; its equation was not examined."
    report.seconds = time.monotonic() - started
    return report
