"""Every name that a report can give: what it means, how bad it is, how it is mended, and where it was seen.

The names are those of the exercises' checks; `NEW` are the ones that no exercise can meet. `page` writes the list.
"""

from . import conduct, heads, masks, output, weights
from .word import (
    DESIGN,
    HARMLESS,
    HEALTHY,
    IMPORTED,
    LEAK,
    LIMIT,
    NOTE,
    SEVERITIES,
    WRONG,
    Word,
)

__all__ = [
    "DESIGN",
    "HARMLESS",
    "HEALTHY",
    "IMPORTED",
    "LEAK",
    "LIMIT",
    "NEW",
    "NOTE",
    "SEVERITIES",
    "WORDS",
    "WRONG",
    "Word",
    "page",
]

WORDS = heads.WORDS | weights.WORDS | output.WORDS | masks.WORDS | conduct.WORDS

# Names that no exercise's check can give: they are about modules, batches, masks in other shapes, or conduct.
NEW = {
    "attention-over-batch", "batch-mixed", "bias-left-out", "cache-differs",
    "causal-ignored", "causal-lost-with-mask", "cross-attends-to-itself", "cross-sources-swapped",
    "dropout-always-on", "mask-float16-overflow", "mask-lost-with-causal", "mask-multiplied",
    "mask-of-one-head", "mask-of-one-query", "mask-one-head-only", "mask-outer-nan", "mask-tiled-over-heads",
    "masks-joined-with-or", "mha-output-projection-twice", "output-bias-repeated", "padding-off-by-one",
    "projection-activated", "queries-added", "rope-conventions-mixed",
    "scale-fourth-root", "softmax-missing", "softmax-over-batch", "softmax-over-batch-and-heads",
    "softmax-over-batch-and-keys", "softmax-over-batch-and-queries", "softmax-over-heads-and-keys",
    "softmax-over-heads-and-queries", "softmax-relu", "split-heads-over-batch", "weights-not-used",
    "weights-shared-by-heads", "weights-twice",
}  # fmt: skip

# Where a notebook teaches what a name is about, and nothing in the name says which.
TAUGHT = dict.fromkeys([slug for slug in WORDS if slug.startswith(("kv-heads-", "rope-", "cross-"))], "09_todays_heads")


def page():
    """Return the page of all names, as Markdown."""
    lines = [
        "# What the doctor calls things",
        "",
        "`python -m mha_helpers.doctor` and `doctor.examine` report mistakes by these names. The exercises' checks",
        "use the same ones, but for those marked with a star, which no exercise can meet. This page is written from",
        "`mha_helpers/doctor/vocabulary`; a test compares the two.",
        "",
        "Names that end in a link to a notebook are taught there.",
        "",
        "| name | what the code does | how bad | repair |",
        "|---|---|---|---|",
    ]
    for slug, word in sorted(WORDS.items()):
        name = f"[`{slug}`]({word.example})" if word.example else f"`{slug}`"
        if slug in TAUGHT:
            name += f" ([{TAUGHT[slug][:2]}](../../notebooks/{TAUGHT[slug]}.ipynb))"
        lines.append(f"| {name}{' *' if slug in NEW else ''} | {word.sentence} | {word.severity} | {word.repair} |")
    return "\n".join(lines) + "\n"
