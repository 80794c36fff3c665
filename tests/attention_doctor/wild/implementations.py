"""The public implementations of attention in corpus.toml and listed.toml, and what the doctor should say of each."""

import contextlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import os
import sys
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from attention_doctor.subjects import loading
from mha_helpers import doctor

FOLDER = Path(__file__).parent
ELSEWHERE = "MHA_WILD"  # the environment variable that says where repositories lie beside each other
# What the packages import, and their attention does not use.
UNUSED = {
    "accelerate", "argbind", "boto3", "botocore", "catalogue", "colt5_attention", "datasets", "dotenv", "ema_pytorch",
    "eztils", "ftfy", "hyperpyyaml", "lightning", "lightning_utilities", "ml_collections", "numba", "omegaconf",
    "pandas", "pkg_resources", "pytorch_fid", "sentencepiece", "spacy", "taming", "tensorboard", "tiktoken",
    "torchao", "torchaudio", "torchvision",
}  # fmt: skip


class _Stand(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Stands in for what is not installed and not used."""

    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if _top(name) in UNUSED else None

    def create_module(self, spec):
        return mock.MagicMock(__version__="99")  # as some ask for a least version

    def exec_module(self, module):
        pass


def _top(name):
    return name.partition(".")[0]


@contextlib.contextmanager
def _without_what_is_unused():
    """Let modules be imported without it; who asks afterwards is told that it is not there."""
    with contextlib.suppress(ImportError):
        import transformers  # noqa: F401  asks once what is installed
    stand = _Stand()
    sys.meta_path.append(stand)  # after all others: what is installed is imported
    try:
        yield
    finally:
        sys.meta_path.remove(stand)
        for name in [name for name, module in sys.modules.items() if isinstance(module, mock.MagicMock)]:
            del sys.modules[name]


@contextlib.contextmanager
def _forgotten_afterwards(folders):
    """Forget what was imported under the names of what lies in these folders: many have a `model` or `utils`.

    What has such a name before, from a package of the registry, is put aside.
    """
    names = {place.stem for folder in folders for place in folder.iterdir()}
    aside = {name: sys.modules.pop(name) for name in list(sys.modules) if _top(name) in names}
    path, before = list(sys.path), set(sys.modules)
    try:
        yield
    finally:
        sys.path[:] = path
        for name in set(sys.modules) - before:
            if _top(name) in names:
                del sys.modules[name]
        sys.modules.update(aside)


@dataclass(frozen=True)
class Implementation:
    """One entry; corpus.toml says what its fields are."""

    name: str
    repository: str
    at: str
    build: str
    verdict: str
    reason: str
    names: tuple = ()
    module: str = ""
    path: str = ""
    remains: str = ""

    @property
    def is_release(self):
        """Whether a package of the registry has it; else it comes from its repository, at a commit."""
        return "==" in self.at

    @property
    def _folder(self):
        inside = Path("early") if self.is_release else Path(self.repository.replace("/", "__"), self.at)
        return Path(os.environ.get(ELSEWHERE, "")) / inside

    @property
    def target(self):
        return self.module or str(self._folder / self.path)

    @property
    def missing(self):
        """What it needs and this machine doesn't have, or ""."""
        if not self.is_release:
            return "" if Path(self.target).is_file() else f"{ELSEWHERE} has no {self.repository} at {self.at[:7]}"
        package, version = self.at.split("==")
        where, path = (f" in {ELSEWHERE}/early", [str(self._folder)]) if self.path else ("", sys.path)
        found = next(importlib.metadata.distributions(name=package, path=path), None)
        if found is None:
            return f"{package} {version} is not installed{where}"
        is_it = found.version.partition("+")[0].startswith(version)
        return "" if is_it else f"{package} is {found.version}, not {version}"

    def examined(self):
        """Return the report of the first try: what a user gets who knows how the class is built, and no more."""
        with _forgotten_afterwards([self._folder, Path(self.target).parent] if self.path else []):
            return self._examined()

    def _examined(self):
        try:
            with _without_what_is_unused():
                thing = loading.load(f"{self.target}:{self.build}")
        except loading.CannotBeLoadedError as error:
            return doctor.Report(self.name, None, reason=str(error))
        started = time.process_time()
        report = doctor.examine(thing)
        report.seconds = time.process_time() - started  # of processor: by the clock it takes as long on a quiet core
        return report

    def is_right(self, report):
        """Whether the verdict is the careful reader's; a fault may be found without its name."""
        return report.healthy == {"healthy": True, "notes": True, "sick": False, "refusal": None}[self.verdict]

    def is_false_alarm(self, report):
        return report.healthy is False and self.verdict != "sick"

    def is_named(self, report):
        return bool(self.names) and set(self.names) <= {finding.name for finding in report.findings}


def implementations():
    """Return every entry, those that the registry has first."""
    entries = {}
    for file in ("corpus.toml", "listed.toml"):
        entries |= tomllib.loads((FOLDER / file).read_text(encoding="utf-8"))
    return [
        Implementation(
            name, **{key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
        )
        for name, entry in entries.items()
    ]
