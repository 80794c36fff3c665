"""The typeface that a figure carries: all that it writes, from a font that any reader of fonts can read."""

import base64
import html
import io
import json
import re

import pytest
from fontTools.ttLib import TTFont

from live_pictures import svg, typeface
from mha_helpers import figures
from tools.site.look.frames import IMAGE
from tools.site.look.typeface import for_figures
from tools.site.look.typeface.make import checksum
from tools.writing.notebooks import course_notebooks, read


def faces(picture):
    """Return the fonts that a picture carries, by weight."""
    found = re.findall(r"font-weight:(\d+);src:url\(data:font/ttf;base64,([^)]+)\)", picture)
    return {int(weight): TTFont(io.BytesIO(base64.b64decode(data)), lazy=False) for weight, data in found}


def characters(font):
    return "".join(map(chr, sorted(font.getBestCmap())))


def test_a_picture_carries_what_it_writes_in_each_weight_and_no_more():
    texts = [svg.text(0, 0, "a &é√ 1"), svg.text(0, 0, "Kᵀ", bold=True)]
    found = faces(typeface.embedded(svg.document(9, 9, texts, label="nothing of this")))
    assert {weight: characters(font) for weight, font in found.items()} == {400: " &1aé√", 700: "Kᵀ"}


@pytest.mark.parametrize("style", typeface.FILES)
def test_glyphs_and_widths_stay_as_they_are_in_the_file(style):
    whole, part = (
        TTFont(source, lazy=False)
        for source in (typeface.FILES[style], io.BytesIO(typeface.cut(typeface.FILES[style], {*"Ag01√"})))
    )
    for character in "Ag01√":
        (name, width), (name_in_part, width_in_part) = (
            (font.getBestCmap()[ord(character)], font["hmtx"][font.getBestCmap()[ord(character)]])
            for font in (whole, part)
        )
        assert width == width_in_part
        assert whole["glyf"][name] == part["glyf"][name_in_part]


def test_digits_have_one_width():
    font = TTFont(typeface.FILES["Regular"])
    assert len({font["hmtx"][font.getBestCmap()[ord(digit)]][0] for digit in "0123456789"}) == 1


def test_a_plot_of_matplotlibs_carries_its_letters_too():
    drawn = figures.attention_map([[1.0]], ["cat"], title="Tired")._repr_mimebundle_()
    picture = base64.b64decode(IMAGE.search(drawn["text/html"])[1]).decode()
    assert {weight: characters(font) for weight, font in faces(picture).items()} == {
        400: "".join(sorted({*"cat1.00query \\ key"})),
        700: "".join(sorted({*"Tired"})),
    }


def test_what_the_typeface_lacks_is_said():
    assert typeface.lacks("Kᵀ/√dₖ ≠ −1 → 漢字") == "字漢"


@pytest.mark.parametrize("path", course_notebooks(), ids=lambda path: path.stem)
def test_every_stored_figure_has_all_of_its_letters(path):
    outputs = [output for cell in read(path).cells for output in cell.get("outputs", [])]
    shown = "".join(output.get("data", {}).get("text/html", "") for output in outputs)
    pictures = [base64.b64decode(image[1]).decode() for image in IMAGE.finditer(shown)]
    written = "".join(content for picture in pictures for _, content in typeface.TEXT.findall(picture))
    assert written
    assert typeface.lacks(html.unescape(re.sub("<[^>]*>", "", written))) == "", (
        "add it to SIGNS in tools/site/look/typeface"
    )
    assert all(faces(picture) for picture in pictures)


def test_the_files_are_those_that_their_origin_describes():
    origin = json.loads(for_figures.ORIGIN.read_text(encoding="utf-8"))
    for file in typeface.FILES.values():
        assert origin[f"sha256 of {file.name}"] == checksum(file)
