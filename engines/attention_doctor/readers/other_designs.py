"""Designs whose equation is another one: what isn't compared is named, at least.

A word in the source is weak evidence, so it never makes a verdict: it explains why there is none.
"""

import re

from attention_doctor import vocabulary


def named_in(adapter):
    """Return a sentence on the designs that a module's source, parameters or settings speak of, or ""."""
    names = [*(parameter.path for parameter in adapter.parameters()), *adapter.numbers(), *adapter.buffers()]
    return spoken_of(adapter.source(), names)


def spoken_of(source, names=()):
    """Return a sentence on the designs that a source or some names speak of, or ""."""
    text = "\n".join([*names, re.sub(r"(?m)#.*$", "", source)])
    designs = [design for design, pattern in vocabulary.DESIGNS.items() if re.search(pattern, text, re.I | re.M)]
    if not designs and source and not vocabulary.SOFTMAX.search(text):
        return "It speaks of no softmax, and may be another design."
    return f"It speaks of {' and of '.join(designs)}; the doctor may not know that form of it." if designs else ""
