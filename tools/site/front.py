"""The front page: three labs that are alive, the course's notebooks, and the ways in."""

import re
from pathlib import Path

from jinja2 import Environment

from live_pictures.figure import Figure
from mha_helpers import course
from mha_helpers.drawing.strip import strip
from mha_helpers.labs.lab import page_layer
from tools.page.pictures import doctor_page
from tools.release import launch
from tools.site.lite import patient
from tools.site.look import read as read_file
from tools.site.look import style_sheet
from tools.site.look.frames import with_figures
from tools.site.pages import EVERYWHERE, MINUTES, lab_on_page, title
from tools.site.slides import has_slides
from tools.site.thumbnails import thumbnail
from tools.writing.notebooks import read

HERE = Path(__file__).parent
DESCRIPTION = (
    "Jupyter notebooks from “what is a query?” to a model that reads, learns and writes on your own attention code. "
    "When your code is wrong, the course names the mistake."
)
# The notebooks by what they are for; what is none of the course's own stands last.
PARTS = {
    ("Write it", "The equation, line by line. At the end of notebook 5 you write all of it from memory."): (
        *("01", "02", "03", "04", "05"),
    ),
    ("See what it does", "Your function in models that read, learn and write."): ("06", "07", "08", "09", "10"),
    ("Optional", "Two workshops, for whenever you like after notebook 5."): ("A", "B", ""),
}
SEEN = {  # where the two mistakes of the doctor's example were found
    "split": "https://github.com/reczoo/FuxiCTR/issues/30",
    "scale": "https://github.com/karpathy/ng-video-lecture/pull/6",
}
LASTS = re.compile(r"about (an hour|\d+ minutes)")  # what a workshop says of itself


def front(paths, lite=""):
    """Make the front page.

    Parameters
    ----------
    paths : iterable of pathlib.Path
        The notebooks whose pages there are.
    lite : str, optional
        What an address begins with under which a notebook runs in the browser, where there is one.

    Returns
    -------
    str
        HTML that loads nothing but its icon.
    """
    repository = launch.repository()
    site = launch.site(repository)
    stops = [_stop(path) for path in paths]
    numbered = [stop for stop in stops if stop["minutes"]]
    minutes = 0
    for stop in numbered:
        minutes += int(stop["minutes"])
        stop["until"] = f"{minutes // 60}:{minutes % 60:02}"
    fragments, width, height = strip("")
    return (
        Environment(autoescape=True)
        .from_string(_file("front.html.j2"))
        .render(
            description=DESCRIPTION,
            site=site,
            source=site and f"https://github.com/{repository}",
            opens={
                where: url for where, url in launch.links(paths[0].name, repository).items() if where != "your browser"
            },
            **_who(),
            seen=SEEN,
            guide="workshop/README.html",
            everywhere=EVERYWHERE,
            lite=lite,
            hero=_lab("two_banks", "01_self_attention"),
            head=_lab("be_the_head", "04_splitting_heads"),
            writer=_lab("with_and_without_attention", "01_self_attention"),
            stops=numbered,
            parts=_parts(stops),
            start=_start(),
            patient=lite and f"{lite}{patient.NAME}",
            map=with_figures(Figure(width, height, fragments, "The course's map.").html()),
            doctor=doctor_page(),
            layer=page_layer(),
            style=style_sheet() + _file("front.css"),
            frames=read_file("page.js"),
            film=_file("front.js"),
        )
    )


def _start():
    """Return the README's commands that start the course, by where they are typed."""
    text = launch.README.read_text(encoding="utf-8")
    [unix, windows] = (re.search(rf"```{shell}\n(.*? lab .*)\n```", text)[1] for shell in ("sh", "bat"))
    return {"": unix, "On Windows, in the Command Prompt": windows}


def _who():
    """Return who made the course and its version, as CITATION.cff has them."""
    text = (HERE.parents[1] / "CITATION.cff").read_text(encoding="utf-8")
    [authors, version] = (re.search(rf"^{key}: (.*)", text, re.MULTILINE)[1] for key in (" *- name", "version"))
    return {"authors": authors[0].lower() + authors[1:], "version": version}


def _file(name):
    return (HERE / name).read_text(encoding="utf-8")


def _lab(name, notebook):
    return lab_on_page(name, f'<a href="{notebook}.html">Open notebook {notebook[:2]}</a>')


def _parts(stops):
    """Return the parts of the course: the name of each, a sentence on it, and its stops."""
    found = [(*says, [stop for stop in stops if stop["number"] in numbers]) for says, numbers in PARTS.items()]
    return [part for part in found if part[-1]]


def _stop(path):
    """Return what the page says of a notebook."""
    known = {notebook.name: notebook for notebook in (*course.NOTEBOOKS, *course.WORKSHOPS)}
    notebook = read(path)
    minutes = MINUTES.search(notebook.cells[0].source)
    lasts = LASTS.search(notebook.cells[0].source)
    about = known.get(path.stem)
    name = title(notebook, path.stem)
    return {
        "file": path.stem,
        "number": about.number if about else "",
        "short": about.title if about else name,
        "title": name,
        "question": about.question if about else "",
        "minutes": minutes[1].split(",")[0].strip() if minutes else "",
        "lasts": lasts[0] if lasts else "",
        "slides": f"slides/{path.stem}.html" if has_slides(notebook) else "",
        "picture": thumbnail(about.number, about.title) if about else "",
    }


def sitemap(names):
    """List the site's pages for search engines, which want whole addresses; None while it has none.

    Parameters
    ----------
    names : iterable of str
        The pages' files.

    Returns
    -------
    str or None
    """
    site = launch.site(launch.repository())
    if not site:
        return None
    pages = "".join(f"<url><loc>{site}{name}</loc></url>" for name in ["", *names])
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{pages}</urlset>\n'
    )
