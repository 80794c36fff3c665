"""Make the typeface of the figures in notebooks: Inter, regular and bold, with the signs that they write.

    npm pack inter-ui@4.1.1 && tar xzf inter-ui-4.1.1.tgz
    python -m pip install fonttools brotli
    python -m tools.site.look.typeface.for_figures package/web

matplotlib reads these files, and `live_pictures.typeface` cuts them again, to what a single picture writes. So glyphs
are simple outlines that need no other, the table of characters is one list, and digits have one width without a rule.
"""

import json
import sys
from pathlib import Path

from live_pictures import typeface
from tools.site.look.typeface.make import checksum

ORIGIN = typeface.FOLDER / "origin.json"
SIGNS = "−×·√≠≈≤≥±°←→↑↓↔–—‘’“”…∞␣½²³ₖ₀₁₂₃✓✗Δαβγθλμπσ"
CHARACTERS = [*range(0x20, 0x7F), *range(0xA0, 0x100), *map(ord, SIGNS)]
DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
TRANSPOSED = 0x1D40  # ᵀ, which Inter lacks: its T, made smaller and moved up
SMALLER, UP = 0.62, 560


def make(source, target, style):
    """Cut a font down to what figures write.

    Parameters
    ----------
    source : pathlib.Path
        A WOFF2 of the package's.
    target : pathlib.Path
    style : str
        "Regular" or "Bold".
    """
    from fontTools.pens.recordingPen import DecomposingRecordingPen
    from fontTools.pens.transformPen import TransformPen
    from fontTools.pens.ttGlyphPen import TTGlyphPen
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont, newTable
    from fontTools.ttLib.tables._c_m_a_p import CmapSubtable

    font = TTFont(source, recalcTimestamp=False)
    characters = {code: name for code, name in font.getBestCmap().items() if code in CHARACTERS}
    characters |= {ord(str(digit)): f"{name}.tf" for digit, name in enumerate(DIGITS)}
    font["cmap"].tables = [CmapSubtable.newSubtable(12)]
    [table] = font["cmap"].tables
    table.platformID, table.platEncID, table.language, table.cmap = 3, 10, 0, characters
    options = Options(layout_features=[], hinting=False, notdef_outline=False, glyph_names=False)
    options.drop_tables += ["GSUB", "GPOS", "GDEF", "STAT", "meta", "gasp", "prep", "fpgm", "cvt "]
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=characters)
    subsetter.subset(font)

    glyphs, outlines, widths = font.getGlyphSet(), {}, font["hmtx"].metrics
    placed = [(name, (1, 0, 0, 1, 0, 0)) for name in font.getGlyphOrder()]
    for name, place in [*placed, ("transposed", (SMALLER, 0, 0, SMALLER, 0, UP))]:
        drawn, pen = DecomposingRecordingPen(glyphs), TTGlyphPen(None)
        glyphs["T" if name == "transposed" else name].draw(drawn)
        drawn.replay(TransformPen(pen, place))
        outlines[name] = pen.glyph()
    font.setGlyphOrder([*font.getGlyphOrder(), "transposed"])
    font["glyf"] = newTable("glyf")
    font["glyf"].glyphs, font["glyf"].glyphOrder = outlines, font.getGlyphOrder()
    width, left = widths["T"]
    widths["transposed"] = round(SMALLER * width), round(SMALLER * left)
    [table] = font["cmap"].tables
    table.cmap[TRANSPOSED] = "transposed"
    font["name"].names = []
    for number, text in {1: typeface.FAMILY, 2: style, 4: f"{typeface.FAMILY} {style}", 13: "SIL OFL 1.1"}.items():
        font["name"].setName(text, number, 3, 1, 0x409)
    font.flavor = None
    font.save(target)


def main(folder):
    origin = {
        "font": "Inter, regular and bold",
        "package": "inter-ui 4.1.1, from the npm registry",
        "licence": "SIL Open Font License 1.1, see LICENSE",
        "changed": "what figures write; tabular digits; no hints, no features; a ᵀ made of T",
    }
    for style, target in typeface.FILES.items():
        source = folder / f"Inter-{style}.woff2"
        make(source, target, style)
        origin |= {f"sha256 of {source.name}": checksum(source), f"sha256 of {target.name}": checksum(target)}
    ORIGIN.write_text(json.dumps(origin, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
