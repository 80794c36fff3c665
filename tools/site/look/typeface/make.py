"""Make the site's typeface: Inter, without what its pages don't write.

    npm pack @fontsource-variable/inter@5.3.0 && tar xzf fontsource-variable-inter-5.3.0.tgz
    python -m pip install fonttools brotli
    python -m tools.site.look.typeface.make package/files/inter-latin-wght-normal.woff2

`origin.json` has the checksums of the source and of what is made of it.
"""

import hashlib
import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
TYPEFACE = HERE / "inter.woff2"
ORIGIN = HERE / "origin.json"
WEIGHTS = (400, 700)
FEATURES = ["kern", "mark", "mkmk", "ccmp", "locl", "tnum", "calt"]


def make(source):
    """Cut a variable font down to what the site needs.

    Parameters
    ----------
    source : pathlib.Path
        The WOFF2 of Fontsource's package.
    """
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont
    from fontTools.varLib.instancer import instantiateVariableFont

    font = TTFont(source, recalcTimestamp=False)
    subsetter = Subsetter(Options(layout_features=FEATURES, flavor="woff2", hinting=False, desubroutinize=True))
    subsetter.populate(
        unicodes=[*range(0x20, 0x7F), *range(0xA0, 0x100), *range(0x2010, 0x2040), 0x20AC, 0x2191, 0x2193, 0x2212]
    )
    subsetter.subset(font)
    font = instantiateVariableFont(font, {"wght": WEIGHTS})
    font.flavor = "woff2"
    font.save(TYPEFACE)


def checksum(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main(source):
    make(source)
    origin = {
        "font": "Inter, variable in its weight",
        "package": "@fontsource-variable/inter 5.3.0, from the npm registry",
        "file": source.name,
        "licence": "SIL Open Font License 1.1, see LICENSE",
        "changed": f"weights {WEIGHTS[0]} to {WEIGHTS[1]}, Latin letters and signs, features {', '.join(FEATURES)}",
        "sha256 of the source": checksum(source),
        "sha256": checksum(TYPEFACE),
    }
    ORIGIN.write_text(json.dumps(origin, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
