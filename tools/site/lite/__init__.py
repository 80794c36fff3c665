"""The course in a browser's tab: JupyterLite, whose kernel is Python as WebAssembly, in a folder of static files."""

import tomllib
from pathlib import Path

VERSIONS = tomllib.loads(Path(__file__).with_name("versions.toml").read_text(encoding="utf-8"))
