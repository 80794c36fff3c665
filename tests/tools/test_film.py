"""The README's moving picture is short, light, and names the mistake with its line."""

import re

from PIL import Image, ImageSequence

from tools.page import film, pictures

README = pictures.TOP / "README.md"


def test_the_film_is_short_and_light():
    with Image.open(pictures.FILM) as moving, Image.open(pictures.FILM_STILL) as still:
        sizes = {moving.size, still.size}
        assert sizes == {(pictures.SHARPNESS * film.WIDTH, pictures.SHARPNESS * film.HEIGHT)}
        assert moving.info["loop"] == 0, "it is to begin again for ever"
        lasts = [frame.copy().info["duration"] for frame in ImageSequence.Iterator(moving)]
    assert 9_000 <= sum(lasts) <= 12_000
    assert len(lasts) > 60, "it is to move, and not to jump"
    assert pictures.FILM.stat().st_size < 1_500_000


def test_the_check_in_the_film_names_the_mistake_and_the_line():
    shown = film.answer()
    assert "softmax-over-queries" in shown
    assert re.search(r"It goes wrong in line 3, <code[^>]*>return exponentials", shown)


def test_the_readme_opens_with_the_film_and_has_a_still_for_who_wants_no_motion():
    shown = re.search(r"<picture>.*?</picture>", README.read_text(encoding="utf-8"), re.DOTALL)[0]
    assert f'media="(prefers-reduced-motion: reduce)" srcset="{pictures.FILM_STILL.relative_to(pictures.TOP)}"' in shown
    assert f'src="{pictures.FILM.relative_to(pictures.TOP)}" width="{film.WIDTH}"' in shown
    assert "softmax-over-queries" in re.search(r'alt="([^"]+)"', shown)[1]
