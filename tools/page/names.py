"""The page of all names that the doctor can give."""

from attention_doctor.names import WORDS
from mha_helpers import exercises

OF_EVERY_EXERCISE = {"input-changed", "not-repeatable"}
# Where a notebook teaches what a name is about, and nothing in the name says which.
TAUGHT = {"kv-heads-": "09_todays_heads", "rope-": "09_todays_heads", "cross-": "10_what_a_cache_keeps"}


def page():
    """Return the page, as Markdown."""
    tasks = (getattr(exercises, name) for names in exercises.EXERCISES.values() for name in names)
    met = {mistake.slug for task in tasks for mistake in task.mistakes} | OF_EVERY_EXERCISE
    lines = [
        "# What the doctor calls things",
        "",
        "Your model trains badly, sees the future, or gives other numbers than it should? Run",
        "`attention-doctor model.py:attention` on your own file and function. If the attention is at fault, the answer",
        "is a name from this list: look it up here for what the code does, how bad that is, and how to repair it.",
        "",
        "A name with a link shows public code that had the mistake. One that ends in a link to a notebook is taught",
        "there. The checks of the course's exercises use the same names, but for those with a star.",
        "",
        "| name | what it does | how bad | repair |",
        "|---|---|---|---|",
    ]
    for slug, word in sorted(WORDS.items()):
        name = f"[`{slug}`]({word.example})" if word.example else f"`{slug}`"
        name += f" ([reported]({word.reported}))" if word.reported else ""
        for start, notebook in TAUGHT.items():
            if slug.startswith(start):
                name += f" ([{notebook[:2]}](../../notebooks/{notebook}.ipynb))"
        name += "\u00a0*" * (slug not in met)
        lines.append(f"| {name} | {word.sentence} | {word.severity} | {word.repair} |")
    lines += [
        "",
        "## Where the names come from",
        "",
        "A name that is a link was given to the linked code as it was when its fault was reported: to a package of",
        "the registry, to what tests/attention_doctor/wild lists, or to a commit of the repository's history. (The",
        "classes of ng-video-lecture and LLMs-from-scratch were cut out of a file that trains, and out of a",
        "notebook.) Links that say *reported* tell of the mistake in code that the doctor has not examined: other",
        "frameworks than it knows, layers with convolutions around them, masks that a whole model makes, commits that",
        "could not be had.",
        "",
        "A star marks what no exercise of the course can meet. This page is written from",
        "`engines/attention_doctor/names` by `python -m tools refresh`.",
    ]
    return "\n".join(lines) + "\n"
