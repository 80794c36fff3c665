"""The PNG that a figure has beside its SVG, and what painting it leaves alone."""

import subprocess
import sys

import pytest

from live_pictures import raster, svg
from mha_helpers import course, figures


def test_the_png_knows_what_svg_writes_and_says_what_it_does_not():
    with pytest.raises(ValueError, match="holds a <ellipse>, which has no PNG; draw with g, a, rect"):
        raster.png(svg.document(9, 9, ["<ellipse/>"], label=""), "")


@pytest.mark.parametrize(
    ("drawn", "ends"),
    [("M1 2L3 4", (3, 4)), ("M1 2H9V5", (9, 5)), ("M1 2h4m-6 -5l6 5l-6 5", (-1, 7)), ("M0 0q9 0 9 -9", (9, -9)),
     ("M1 1C2 2 3 3 4 5", (4, 5)), ("M1 1L5 1Z", (1, 1))],
)  # fmt: skip
def test_paths_are_read_as_a_browser_reads_them(drawn, ends):
    assert tuple(raster.path(drawn).vertices[-1]) == ends


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_matplotlib_is_loaded_with_the_first_figure_and_is_the_learners():
    """Neither a backend is chosen nor pyplot loaded, and nothing that they set is changed."""
    printed = run("""
import sys
from mha_helpers import course, figures, labs
course.map("01_self_attention")._repr_mimebundle_()
print("matplotlib" in sys.modules)
import matplotlib
matplotlib.rcParams["lines.linewidth"] = 7
settings = lambda: {name: matplotlib.rcParams[name] for name in matplotlib.rcParams if name != "backend"}
before = settings()
figures.arcs([[1.0]], ["cat"])._repr_mimebundle_()
print(before == settings(), "matplotlib.pyplot" in sys.modules, "matplotlib.figure" in sys.modules)
""")
    assert printed.split() == ["False", "True", "False", "False"]


def test_no_notice_stands_in_the_cell_of_the_first_figure(tmp_path, monkeypatch):
    """On a machine's first day, and on one whose home can't be written to, matplotlib tells about its list of fonts."""
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path / "a file"))
    (tmp_path / "a file").write_text("")
    ran = subprocess.run(
        [
            sys.executable,
            "-c",
            "import logging, live_pictures.raster\nprint(logging.getLogger('matplotlib').level)",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (ran.stdout, ran.stderr) == ("0\n", "")


def test_a_tab_paints_nothing(monkeypatch):
    monkeypatch.setattr(sys, "platform", "emscripten")
    assert set(figures.arcs([[1.0]], ["cat"])._repr_mimebundle_()) == {"text/html", "text/plain"}
    assert set(course.map("01_self_attention")._repr_mimebundle_()) == {"text/html", "text/plain"}
