"""The one-page sheet: each step of multi-head attention with its formula, its shapes and the mistakes made there.

The shapes are those of the functions' docstrings, and the mistakes those that the instructor's guide expects.
"""

import inspect
import re

from mha_helpers import attention, masks, rotary
from mha_helpers.grouped import grouped_attention
from tools.teaching.guide import BY_NOTEBOOK
from tools.writing.notebooks import NOTEBOOKS

PAGE = NOTEBOOKS.parent / "reference" / "sheet.md"
# What each step is, its function, and its formula; the exercise has the function's name.
STEPS = (
    ("Scores", attention.attention_scores, r"S = QK^\top"),
    ("Weights", attention.softmax, r"A_{ij} = \frac{e^{S_{ij}}}{\sum_k e^{S_{ik}}}"),
    (
        "Attention",
        attention.scaled_dot_product_attention,
        r"\mathrm{softmax}\left(\frac{QK^\top}{\sqrt{d_{head}}}\right)V",
    ),
    ("Causal mask", masks.causal_mask, r"M_{ij} = (j \le i)"),
    ("Masked", attention.masked_attention, r"S_{ij} = -\infty \text{ where not } M_{ij}"),
    ("Split", attention.split_heads, r"d_{head} = d_{model} / h"),
    ("Combine", attention.combine_heads, r"[\text{head}_0, \dots, \text{head}_{h-1}]"),
    ("Multi-head", attention.multi_head_attention, r"[\text{head}_0, \dots, \text{head}_{h-1}]\,W_O"),
    ("Contributions", attention.head_contributions, r"\sum_i \text{head}_i\,W_O^{(i)}"),
    ("Grouped", grouped_attention, r"K_{\lfloor i\,h_{kv} / h \rfloor} \text{ for query head } i"),
    ("Rotary", rotary.rotate, r"\theta_{p,i} = p \cdot 10000^{-2i/d_{head}}"),
)
SHAPE = re.compile(r"^(?:([\w, ]+) : )?[\w ]+, (?:shape|broadcastable to) (\([^)]*\))$", re.MULTILINE)
# A row of the guide's tables of wrong answers: exercise, mistake, how it looks.
WRONG_ANSWER = re.compile(r"^\| (?:`(\w+)`)? ?\| `([\w-]+)` \| ([^|\n]*) \|", re.MULTILINE)
MAX_MISTAKES = 3
HEAD = """\
# Shapes, formulas and mistakes on one page

`...` stands for any axes in front, such as a batch. Rows are tokens, a mask is True where a query **may** attend, and
$d_{head}$ is what papers call $d_k$. Each mistake has the name by which the course's checks tell you.

<!-- written by python -m tools refresh, from the functions of mha_helpers and from the instructor's guide -->

| step | shapes | mistakes that are easily made |
|---|---|---|
"""


def shapes(function):
    """Return a function's arguments, but for those that it can do without, and results with their shapes.

    Examples
    --------
    >>> shapes(attention.softmax)
    ['scores (..., n_keys)', '→ (..., n_keys)']
    """
    takes, gives = inspect.getdoc(function).split("Returns\n-------\n")
    gives = gives.partition("\n\n")[0]
    named = [f"{name} {shape}" for name, shape in SHAPE.findall(takes)]
    return [*named, *(f"→ {name} {shape}".replace("  ", " ") for name, shape in SHAPE.findall(gives))]


def mistakes():
    """Return the mistakes that the guide expects, by exercise: name and how each looks."""
    found, exercise = {}, None
    for named, slug, looks in WRONG_ANSWER.findall(BY_NOTEBOOK.read_text(encoding="utf-8")):
        exercise = named or exercise
        found.setdefault(exercise, []).append((slug, looks))
    return found


def page():
    """Return the page, as Markdown."""
    made, rows = mistakes(), []
    for step, function, formula in STEPS:
        name = function.__name__
        named = "<br>".join(f"`{slug}`: {looks}" for slug, looks in made.get(name, [])[:MAX_MISTAKES])
        sizes = "<br>".join(f"`{shape}`" for shape in shapes(function))
        rows.append(f"| **{step}**<br>`{name}`<br>${formula}$ | {sizes} | {named} |\n")
    return HEAD + "".join(rows)
