"""A causal mask that is built and never used: no call shows it, as no argument asks for it, but the source does."""

import inspect
import re
from dataclasses import replace
from pathlib import Path

from attention_doctor import vocabulary
from attention_doctor.equation.stages import RIGHT
from attention_doctor.names import LEAK, NOTE
from function_judge.lines import Line


def ask(session):
    """Where attention looks ahead: whether a triangle is built and nobody reads it."""
    subject, known = session.subject, session.known
    if known.right["hide"] is not RIGHT["hide"] or subject.arguments.has("is_causal") or subject.arguments.has("mask"):
        return
    code = re.sub(r"(?m)#.*$", "", subject.source)
    for triangle in [*vocabulary.TRIANGLE_ATTRIBUTE.finditer(code), *vocabulary.TRIANGLE_VARIABLE.finditer(code)]:
        name = next(filter(None, triangle.groups()))
        if len(re.findall(rf"\b{name}\b", code)) == 1:
            severity = LEAK if vocabulary.MEANT_TO_BE_CAUSAL.search(subject.name) else NOTE
            finding = session.finding("causal-ignored", severity=severity)
            sentence = "A causal mask is built and never used: every token sees what comes after it."
            evidence = f"`{name}` is not read anywhere."
            yield replace(finding, sentence=sentence, evidence=evidence, line=_line(subject, triangle[0]))
            return


def _line(subject, text):
    """Where a text stands in the file of what is examined, or None."""
    thing = subject.function if subject.kind == "function" else type(subject.adapter.original)
    try:
        path = inspect.getsourcefile(inspect.unwrap(thing))
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, TypeError):
        return None
    start = text.strip().partition("\n")[0]
    numbers = [number for number, line in enumerate(lines, 1) if start in line]
    return Line.at(path, numbers[0]) if len(numbers) == 1 else None
