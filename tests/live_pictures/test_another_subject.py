"""The engine draws any subject's pictures: none of its modules speaks of attention or of the course."""

import re
from pathlib import Path

import pytest

import live_pictures

FOLDER = Path(live_pictures.__file__).parent
# What belongs to attention or to the course, as words in names, texts and comments.
FOREIGN = "quer(y|ies)|keys?|heads?|masks?|masked|softmax|attention|tokens?|mha_helpers|attention_doctor|function_judge"
# A keyboard's keys, and what Python and JavaScript call so.
OWN = re.compile(r"\barrow keys\b|\bkey=|\bdocument\.head\b")
JAVASCRIPTS_OWN = re.compile(rf"{OWN.pattern}|\bkeys?\b")  # of events, objects and maps

MODULES = [path for kind in ("py", "js", "css") for path in sorted(FOLDER.glob(f"*.{kind}"))]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_no_module_speaks_of_attention_or_the_course(path):
    own = JAVASCRIPTS_OWN if path.suffix == ".js" else OWN
    text = own.sub("", path.read_text(encoding="utf-8"))
    assert {match[0] for match in re.finditer(rf"(?<![^\W_])({FOREIGN})(?![^\W_])", text, re.IGNORECASE)} == set()
