"""A day's sheet, to be printed: the clock, the cells, what to say or do, and every answer."""

import re

from mha_helpers import exercises
from tools.teaching.plan import numbered, table_row
from tools.writing.solve import ASK

COMMONEST = 3  # wrong answers of an exercise on the sheet


def day_sheet(steps, plans, pages, *, half):
    """Return a day's sheet.

    Parameters
    ----------
    steps : str
        When it begins and what comes then: "09:00 | 5 Welcome | 01 | 10 Break | 02".
    plans : dict of str to Plan
    pages : dict of str to str
        What the instructor's page says of a notebook, by the notebook's number: the mistake to type, and the table of
        wrong answers.
    half : bool
        Whether notebooks are taken as in the half day.

    Returns
    -------
    str
        Markdown: a table of the day, and below it the code of each exercise that is written.
    """
    begin, *steps = map(str.strip, steps.split("|"))
    start = now = int(begin[:2]) * 60 + int(begin[3:])
    lines = ["| clock | cell | say or do | answer |", "|---|---|---|---|"]
    answers, written, votes, slack_of_day = [], 0, 0, 0
    for step in steps:
        if step in plans:
            plan = plans[step]
            minutes = plan.half if half else plan.total
            lines.append(table_row(f"**{clock(now)}**", "", f"**{plan.title}** ({minutes})", ""))
            for row in (row for row in plan.rows if row.half or not half):
                named = "<br>".join(map(plan.quoted, row.cells))
                lines.append(table_row(clock(now), named, *_done(plan, row, now, pages[step])))
                answers += _codes(plan, row, pages[step])
                written += row.how.startswith("write")
                votes += any(map(plan.right, row.cells))
                now += row.minutes
            if slack := plan.half_slack if half else plan.slack:
                slack_of_day += slack
                lines.append(table_row(clock(now), "", f"Questions, and whoever is behind catches up ({slack})", ""))
                now += slack
        else:
            minutes, _, what = step.partition(" ")
            lines.append(table_row(f"**{clock(now)}**", "", f"**{what}** ({minutes})", ""))
            now += int(minutes)
    lines.append(table_row(f"**{clock(now)}**", "", "**End**", ""))
    hours, left = divmod(now - start, 60)
    asked = f"{written} functions to write, {votes} votes, {slack_of_day} minutes for questions and whoever is behind"
    said = f"{hours}:{left:02} hours: {asked}. The minutes are planned and have not been taught yet."
    return "\n".join([said, "", *lines, "", "## Right answers, and what to ask back", "", *answers]) + "\n"


def clock(minutes):
    """Return minutes after midnight as people write them."""
    return f"{minutes // 60:02}:{minutes % 60:02}"


def mistake_to_type(page):
    """Return the function with a mistake that a notebook's page has."""
    return re.search(r"```python\n(.*?)```", page, re.DOTALL)[1]


def wrong_answers(page, function):
    """Return the cells of a function's wrong answers, from the name to the question, those that come most first."""
    table = re.search(rf"^\| `{function}` (\|.*(?:\n\| \|.*)*)", page, re.MULTILINE)
    rows = table[1].splitlines() if table else []
    return [[cell.strip() for cell in row.strip("| ").split(" | ")] for row in rows]


def _done(plan, row, now, page):
    """Say what happens in a row, and its answer."""
    said = row.say.rstrip(".")
    votes = [right for right in map(plan.right, row.cells) if right]
    if votes:
        return f"Vote. {said} ({row.minutes})", "; ".join(votes)
    written = _written(plan, row)
    if written is None:
        return f"{said} ({row.minutes})", ""
    _, function = written
    typed = re.match(r"def (\w+)\(.*# ([\w-]+)", mistake_to_type(page))
    said = f"They write `{function}` ({row.minutes})"
    if "type a mistake" in row.how and typed[1] == function:
        return f"{said}; at {clock(now + row.do // 2)} type the mistake", f"`{typed[2]}`, then below"
    return said, "below"


def _written(plan, row):
    """Return the exercise that a row's cell checks and the function that it asks for, or None."""
    if not row.how.startswith("write"):
        return None
    source = plan.cells[row.cells[0]].source
    [name] = [name for name, question in ASK.findall(source) if question == "check"]
    return name, re.search(r"^def (\w+)", source, re.MULTILINE)[1]


def _codes(plan, row, page):
    """Return the code of a row's exercise, wrong where it is to be typed and right, and what to ask back."""
    written = _written(plan, row)
    if written is None:
        return []
    name, function = written
    lines = [f"**{numbered(row.cells[:1])} of {plan.key}, `{function}`.**", ""]
    if "type a mistake" in row.how:
        lines += ["The mistake to type:", "", "```python", mistake_to_type(page).rstrip(), "```", "", "Right:", ""]
    lines += ["```python", getattr(exercises, name).solution().source.rstrip(), "```", ""]
    found = wrong_answers(page, function)
    if "type a mistake" in row.how:  # its own question first
        typed = re.search(r"# ([\w-]+)", mistake_to_type(page))[1]
        found.sort(key=lambda answer: answer[0] != f"`{typed}`")
    asked = [f"- {slug}: {question}" for slug, *_, question in found[:COMMONEST]]
    return [*lines, *asked, *[""] * bool(asked)]
