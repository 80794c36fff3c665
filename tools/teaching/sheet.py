"""A day's sheet, to be printed: the clock, and for each notebook the cells, what to say or do, and every answer."""

import re
from dataclasses import dataclass, field

from mha_helpers import exercises
from tools.teaching.plan import numbered, table_row
from tools.writing.solve import ASK

COMMONEST = 3  # wrong answers of an exercise on the sheet
CODE = re.compile(r"<code>(.*?)</code>")
BETWEEN_NAMES = re.compile(r"(?<=[(, ])|(?<=\.)(?=\w{4})")  # a file's ending is no name
TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")


@dataclass
class Day:
    """A sheet while it is written."""

    now: int  # in minutes after midnight
    half: bool
    overview: list = field(default_factory=list)  # rows
    parts: list = field(default_factory=list)  # lines
    written: int = 0
    votes: int = 0
    slack: int = 0

    def add_step(self, what, minutes):
        self.overview.append(table_row(clock(self.now), what, minutes))
        self.now += minutes

    def add_notebook(self, plan, page):
        """Write a notebook's own part: its cells by the clock, and below them its right answers."""
        now, minutes = self.now, plan.half if self.half else plan.total
        self.add_step(f"**{plan.title}**", minutes)
        self.parts += [f"## {plan.title}, {clock(now)} to {clock(self.now)}", ""]
        self.parts += ["| clock | cell | say or do | answer |", "|---|---|---|---|"]
        answers = []
        for row in (row for row in plan.rows if row.half or not self.half):
            named = "<br>".join(map(plan.quoted, row.cells))
            self.parts.append(table_row(clock(now), named, *_done(plan, row, now, page)))
            answers += _codes(plan, row, page)
            self.written += row.how.startswith("write")
            self.votes += any(map(plan.right, row.cells))
            now += row.minutes
        if slack := plan.half_slack if self.half else plan.slack:
            self.parts.append(table_row(clock(now), "", f"Questions, and whoever is behind catches up ({slack})", ""))
            self.slack += slack
        self.parts += ["", *answers]


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
        Markdown: an overview of the day; then, for each notebook, its table and the code of each exercise that is
        written.
    """
    begin, *steps = map(str.strip, steps.split("|"))
    start = minutes_of(begin)
    day = Day(start, half)
    for step in steps:
        if step in plans:
            day.add_notebook(plans[step], pages[step])
        else:
            minutes, _, what = step.partition(" ")
            day.add_step(what, int(minutes))
    hours, left = divmod(day.now - start, 60)
    asked = f"{day.written} functions to write, {day.votes} votes, {day.slack} minutes for questions and who is behind"
    said = f"{hours}:{left:02} hours: {asked}. The minutes are planned and have not been taught yet."
    day.add_step("End", 0)
    overview = ["| clock | what | minutes |", "|---|---|---|", *day.overview]
    return "\n".join([said, "", *overview, "", *day.parts]) + "\n"


def minutes_of(time):
    """Return the minutes after midnight of a time such as "13:30"."""
    found = TIME.fullmatch(time)
    if not found:
        raise ValueError(f"{time!r} is no time; write hours and minutes, such as 13:30")
    return int(found[1]) * 60 + int(found[2])


def clock(minutes):
    """Return minutes after midnight as people write them."""
    return f"{minutes // 60 % 24:02}:{minutes % 60:02}"


def with_whole_names(page):
    """Return HTML in which code goes on in the next line between names, and not within one: `code span` is not broken.

    Examples
    --------
    >>> with_whole_names("<code>labs.two_banks</code>")
    '<code><span>labs.</span><wbr><span>two_banks</span></code>'
    """

    def in_pieces(code):
        pieces = (f"<span>{piece}</span>" for piece in BETWEEN_NAMES.split(code[1]))
        return f"<code>{'<wbr>'.join(pieces)}</code>"

    return CODE.sub(in_pieces, page)


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
