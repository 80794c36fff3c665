"""The typeface of figures, which each SVG picture carries within itself: an image in a page sees no other font.

Of the font's two files a picture gets the glyphs that it writes, five kilobytes. How the files were made, and that they
are easy to cut, is said in `tools/site/look/typeface/for_figures.py`. fontTools, by which the tests check the result,
takes 0.4 seconds to import, before a kernel's first picture, and a browser's tab doesn't have it by then.
"""

import base64
import functools
import re
import struct
from html import unescape
from pathlib import Path

FAMILY = "Inter Figures"  # no name that a computer may have
FOLDER = Path(__file__).parent
FILES = {"Regular": FOLDER / "regular.ttf", "Bold": FOLDER / "bold.ttf"}
WEIGHTS = {"Regular": 400, "Bold": 700}
TEXT = re.compile(r"(?s)<text\b([^>]*)>(.*?)</text>")
BOLD = re.compile(r'font-weight(?:="bold"|: 700)')  # as `svg` writes it, and as matplotlib does
TAG = re.compile(r"<[^>]*>")


def embedded(picture: str) -> str:
    """Return an SVG picture with the glyphs that it writes in a style sheet of its own.

    Parameters
    ----------
    picture : str

    Examples
    --------
    >>> embedded("<svg><text>ab</text></svg>")[:52]
    "<svg><style>@font-face{font-family:'Inter Figures';f"
    """
    written: dict[str, set[str]] = {style: set() for style in FILES}
    for attributes, content in TEXT.findall(picture):
        written["Bold" if BOLD.search(attributes) else "Regular"].update(unescape(TAG.sub("", content)))
    faces = "".join(_face(style, characters) for style, characters in written.items() if characters)
    return re.sub(r"(<svg\b[^>]*>)", rf"\1<style>{faces}</style>", picture, count=1)


def _face(style, characters):
    data = base64.b64encode(cut(FILES[style], characters)).decode()
    source = f"url(data:font/ttf;base64,{data})"
    return f"@font-face{{font-family:'{FAMILY}';font-weight:{WEIGHTS[style]};src:{source}}}"


def lacks(text: str) -> str:
    """Return the characters of a text that the typeface has no glyph for; a browser takes them from another."""
    return "".join(sorted({*text} - {*map(chr, _read(FILES["Regular"])[1])}))


def cut(file: Path, characters: set[str]) -> bytes:
    """Return a TrueType font with some characters of a file's.

    Parameters
    ----------
    file : pathlib.Path
        One of `FILES`.
    characters : set of str
        What the file lacks is left out.
    """
    tables, glyphs = _read(file)
    kept = {code: glyphs[code] for code in sorted(map(ord, characters)) if code in glyphs}
    order = [0, *kept.values()]  # the first glyph stands for what is missing
    halves = struct.unpack(f">{len(tables['loca']) // 2}H", tables["loca"])  # of each glyph's place
    outlines = [tables["glyf"][2 * halves[glyph] : 2 * halves[glyph + 1]] for glyph in order]
    places = [sum(map(len, outlines[:n])) // 2 for n in range(len(order) + 1)]
    groups: list[list[int]] = []  # of characters that follow each other: the first, the last, and the first's glyph
    for glyph, code in enumerate(kept, 1):
        if groups and groups[-1][1] == code - 1:
            groups[-1][1] = code
        else:
            groups.append([code, code, glyph])
    listed = b"".join(struct.pack(">3I", *group) for group in groups)
    count = struct.pack(">H", len(order))
    return _font(
        {
            "OS/2": tables["OS/2"],
            "cmap": struct.pack(">4HI2H3I", 0, 1, 3, 10, 12, 12, 0, 16 + len(listed), 0, len(groups)) + listed,
            "glyf": b"".join(outlines),
            "head": tables["head"],
            "hhea": tables["hhea"][:-2] + count,
            "hmtx": b"".join(tables["hmtx"][4 * glyph : 4 * glyph + 4] for glyph in order),
            "loca": struct.pack(f">{len(places)}H", *places),
            "maxp": tables["maxp"][:4] + count + tables["maxp"][6:],
            "name": struct.pack(">3H", 0, 0, 6),
            "post": struct.pack(">I", 0x00030000) + tables["post"][4:32],
        }
    )


@functools.cache
def _read(file):
    """Return a file's tables by name, and its glyphs' numbers by character."""
    data = file.read_bytes()
    entries = struct.iter_unpack(">4s3I", data[12 : 12 + 16 * struct.unpack_from(">H", data, 4)[0]])
    tables = {name.decode(): data[start : start + length] for name, _, start, length in entries}
    groups = struct.iter_unpack(">3I", tables["cmap"][28:])
    return tables, {code: glyph + code - first for first, last, glyph in groups for code in range(first, last + 1)}


def _font(tables):
    """Put tables together, each at a multiple of four bytes."""
    power = len(tables).bit_length() - 1
    head = struct.pack(">I4H", 0x00010000, len(tables), 16 << power, power, 16 * (len(tables) - (1 << power)))
    place, directory, body = 12 + 16 * len(tables), b"", b""
    for name, table in tables.items():
        padded = table + bytes(-len(table) % 4)
        checksum = sum(struct.unpack(f">{len(padded) // 4}I", padded)) & 0xFFFFFFFF
        directory += struct.pack(">4s3I", name.encode(), checksum, place + len(body), len(table))
        body += padded
    return head + directory + body
