"""`data/originals/`: the notebooks without outputs, as the course brings them, of the same text as the notebooks."""

from tools.writing.notebooks import ORIGINALS, course_notebooks, original, read


def test_the_originals_are_the_notebooks_without_what_they_show():
    stored = {path.name: path.read_text(encoding="utf-8") for path in ORIGINALS.glob("*.ipynb")}
    assert stored == {path.name: original(read(path)) for path in course_notebooks()}, (
        "run python -m tools refresh --no-run"
    )
