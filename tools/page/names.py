"""The page of all names that the doctor can give."""

from mha_helpers import exercises
from mha_helpers.wrong.names import WORDS

OF_EVERY_EXERCISE = {"input-changed", "not-repeatable"}
# Where a notebook teaches what a name is about, and nothing in the name says which.
TAUGHT = {"kv-heads-": "09_todays_heads", "rope-": "09_todays_heads", "cross-": "09_todays_heads"}


def page():
    """Return the page, as Markdown."""
    tasks = (getattr(exercises, name) for names in exercises.EXERCISES.values() for name in names)
    met = {mistake.slug for task in tasks for mistake in task.mistakes} | OF_EVERY_EXERCISE
    lines = [
        "# What the doctor calls things",
        "",
        "`python -m mha_helpers.doctor` and `doctor.examine` report mistakes by these names. The exercises' checks",
        "use the same ones, but for those marked with a star, which no exercise can meet. This page is written from",
        "`mha_helpers/wrong/names` by `python -m tools refresh`.",
        "",
        "Names that end in a link to a notebook are taught there.",
        "",
        "| name | what the code does | how bad | repair |",
        "|---|---|---|---|",
    ]
    for slug, word in sorted(WORDS.items()):
        name = f"[`{slug}`]({word.example})" if word.example else f"`{slug}`"
        for start, notebook in TAUGHT.items():
            if slug.startswith(start):
                name += f" ([{notebook[:2]}](../../notebooks/{notebook}.ipynb))"
        name += " *" * (slug not in met)
        lines.append(f"| {name} | {word.sentence} | {word.severity} | {word.repair} |")
    return "\n".join(lines) + "\n"
