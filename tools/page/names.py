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
        "`attention-doctor` and `attention_doctor.examine` report mistakes by these names. The checks of the course's",
        "exercises use the same ones, but for those marked with a star, which no exercise can meet. It is written from",
        "`engines/attention_doctor/names` by `python -m tools refresh`.",
        "",
        "A name that is a link was given to the linked code as it was when its fault was reported: to a package of",
        "the registry, to what tests/attention_doctor/wild lists, or to a commit of the repository's history. (The",
        "classes of ng-video-lecture and LLMs-from-scratch were cut out of a file that trains, and out of a",
        "notebook.) Links that say *reported* tell of the mistake in code that the doctor has not examined: other",
        "frameworks than it knows, layers with convolutions around them, masks that a whole model makes, commits that",
        "could not be had.",
        "",
        "Names that end in a link to a notebook are taught there.",
        "",
        "| name | what the code does | how bad | repair |",
        "|---|---|---|---|",
    ]
    for slug, word in sorted(WORDS.items()):
        name = f"[`{slug}`]({word.example})" if word.example else f"`{slug}`"
        name += f" ([reported]({word.reported}))" if word.reported else ""
        for start, notebook in TAUGHT.items():
            if slug.startswith(start):
                name += f" ([{notebook[:2]}](../../notebooks/{notebook}.ipynb))"
        name += " *" * (slug not in met)
        lines.append(f"| {name} | {word.sentence} | {word.severity} | {word.repair} |")
    return "\n".join(lines) + "\n"
