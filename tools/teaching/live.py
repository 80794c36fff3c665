"""Who is stuck: a page that follows the files in which learners keep their results, while they work.

Only who ran `exercises.keep_results()` is in it. It names nobody, unless the instructor, with everybody's consent, asks
for the names of the files. What learners wrote themselves never stands on it: it may be projected.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tools.teaching.room import Known, by_exercise, handed_in, read_results

STUCK_TRIES = 3  # wrong ones in a row
STUCK_MINUTES = 5  # since the first try
HERE = ("127.0.0.1", "localhost")


@dataclass
class Now:
    """Where a room is with one exercise: everybody counts as right or as wrong, by what they did last."""

    right: int = 0
    wrong: int = 0
    stuck: list = field(default_factory=list)  # (minutes, file) of those who have been at it for long
    mistakes: Counter = field(default_factory=Counter)  # those that are not repaired yet

    def add(self, results, file):
        """Count one learner's results for the exercise, in the order in which they were kept."""
        tries = [result for result in results if result["status"] != "not attempted"]
        if any(result["status"] == "correct" for result in tries):
            self.right += 1
        elif tries:
            self.wrong += 1
            last = tries[-1]
            if len(tries) >= STUCK_TRIES or last["minutes"] >= STUCK_MINUTES:
                self.stuck.append((last["minutes"], file))
            if last["mistake"]:
                self.mistakes[last["mistake"]] += 1


def now(learners):
    """Say where the room is with each exercise that somebody has tried.

    Parameters
    ----------
    learners : dict of str to list of dict
        The results in each file.

    Returns
    -------
    dict of str to Now
    """
    rows = {}
    for file, results in learners.items():
        for name, group in by_exercise(results).items():
            rows.setdefault(name, Now()).add(group, file)
    return {name: row for name, row in rows.items() if row.right or row.wrong}


def table(learners, notebook_of, names):
    """Write the page's table: the exercises that the room is at, in the course's order."""
    rows = now(learners)
    lines = []
    for name in filter(rows.get, notebook_of):
        row = rows[name]
        longest = sorted(row.stuck, reverse=True)
        stuck = f"{len(longest)}, the longest for {longest[0][0]:.0f} min" if longest else ""
        if names and longest:
            stuck += ": " + ", ".join(printable(file) for _, file in longest)
        mistakes = sorted(row.mistakes.items(), key=lambda item: (-item[1], item[0]))
        cells = (row.right, row.wrong, stuck, ", ".join(f"{slug} {count}" for slug, count in mistakes))
        marked = ' class="stuck"' if longest else ""
        inner = "".join(f"<td>{escape(str(cell))}</td>" for cell in cells)
        lines.append(f"<tr{marked}><th scope=row>{notebook_of[name]} {escape(name)}</th>{inner}</tr>")
    head = "".join(
        f"<th scope=col>{each}</th>" for each in ("exercise", "right", "wrong so far", "stuck", "mistakes now")
    )
    return f"<p>{len(learners)} keep their results</p><table><thead><tr>{head}</tr></thead>{''.join(lines)}</table>"


def printable(name):
    """Return a file's name as a page can show it: any byte but / and 0 may stand in it."""
    return name if name.isprintable() else ascii(name)[1:-1]


PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>The room</title>
<meta name="viewport" content="width=device-width">
<style>
:root { color-scheme: light dark; font: 1.2rem/1.5 system-ui, sans-serif; }
body { margin: 2rem; }
table { border-collapse: collapse; }
th, td { padding: .3rem 1.2rem .3rem 0; text-align: left; border-bottom: 1px solid #8886; vertical-align: top; }
tr.stuck { font-weight: bold; }
tr.stuck th::before { content: "\\25B6  "; }
</style>
<h1>The room</h1><main>TABLE</main>
<p>Bold, with a triangle: somebody has TRIES wrong tries, or has been at it for MINUTES minutes. The page follows by
itself.</p>
<script>
setInterval(async () => {
  try { document.querySelector("main").innerHTML = await (await fetch("now")).text(); }
  catch { document.querySelector("main").innerHTML = "The command that serves this page has ended: start it again."; }
}, 3000);
</script></html>
"""


def page(learners, notebook_of, names):
    told = {"TABLE": table(learners, notebook_of, names), "TRIES": str(STUCK_TRIES), "MINUTES": str(STUCK_MINUTES)}
    return re.sub("|".join(told), lambda word: told[word.group()], PAGE)


def server(folder, port, names):
    """Return a server of the page, on this machine alone; `serve_forever()` begins."""
    course = Known()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            # A page from elsewhere, under a name that means this machine, is not answered.
            known = (self.headers["Host"] or "").rpartition(":")[0] in HERE and self.path in ("/", "/now")
            files, _ = handed_in(folder) if known else ({}, [])
            learners = {file: read_results(content, course)[0] for file, content in files.items()}
            write = page if self.path == "/" else table
            text = write(learners, course.notebook_of, names)
            answer = text.encode() if known else b"There is nothing here."
            self.send_response(200 if known else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *arguments):
            pass  # nobody reads of each refresh

    return ThreadingHTTPServer((HERE[0], port), Handler)


def serve(folder, port, names):
    """Serve the page until Ctrl+C."""
    with server(folder, port, names) as served:
        print(f"http://{HERE[0]}:{served.server_address[1]} follows {folder}; Ctrl+C ends it", flush=True)
        try:
            served.serve_forever()
        except KeyboardInterrupt:
            print()
