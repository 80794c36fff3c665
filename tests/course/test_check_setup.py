"""`python -m mha_helpers.check_setup`: a ready machine is called ready, and each thing that may be wrong is told."""

import dataclasses
import json
import subprocess
import sys
from importlib import metadata
from types import SimpleNamespace

import pytest
from jupyter_client.manager import KernelManager

from mha_helpers import attention, check_setup, course_data, encoder, exercises, figures, labs, worked_examples
from mha_helpers.check_setup import CHECKS, NEW_COPY, Check, NotReady

pytestmark = pytest.mark.slow


def said(check):
    """What a check finds wrong."""
    with pytest.raises(NotReady) as failure:
        check()
    return str(failure.value)


@pytest.fixture
def give_versions(monkeypatch):
    """Let packages have other versions, or none."""
    true_version = metadata.version

    def give(**versions):
        def version(name):
            if versions.get(name, "") is None:
                raise metadata.PackageNotFoundError(name)
            return versions.get(name) or true_version(name)

        monkeypatch.setattr(metadata, "version", version)

    return give


# ---- what is told of all of them ---------------------------------------------------------------


@pytest.mark.skipif(
    metadata.version("ipywidgets").startswith("7."),
    reason="ipywidgets 7 has no extension for this JupyterLab, as the check rightly says",
)
def test_a_ready_machine():
    """As a learner calls it; nothing but the standard library is loaded before the first check."""
    done = subprocess.run([sys.executable, "-m", "mha_helpers.check_setup"], capture_output=True, text=True)
    *lines, last = done.stdout.splitlines()
    assert (done.returncode, last, done.stderr) == (0, "Ready.", ""), done.stdout
    assert [line.partition(":")[0].split() for line in lines] == [["ok", check.name] for check in CHECKS]


def test_importing_it_needs_nothing_that_may_be_missing():
    code = "import sys, mha_helpers.check_setup; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "packaging", "jupyter_core", "jupyter_client", "ipywidgets"} & set(loaded)


def test_without_the_course_installed_it_says_whose_python_it_is(tmp_path):
    """The most frequent accident: another Python than the environment's. -S: without its packages."""
    done = subprocess.run(
        [sys.executable, "-S", "-m", "mha_helpers.check_setup"],
        capture_output=True,
        text=True,
        cwd=course_data.data_path("worked_examples.json").parents[1],
    )
    first, remedy, last = done.stdout.splitlines()
    assert "the course is not installed in it" in first
    assert ".venv/bin/python -m mha_helpers.check_setup" in remedy
    assert (done.returncode, last) == (1, "Not ready: Python. Fix that, then run this again.")


def run_of(*outcomes):
    """A check for each outcome: a str is found, an exception is raised."""

    def run(outcome):
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return [Check(f"Part {i}", lambda outcome=outcome: run(outcome), f"mend {i}") for i, outcome in enumerate(outcomes)]


def test_what_fails_is_named_with_what_to_do_and_the_others_are_tried(capsys):
    assert check_setup.main(run_of("fine", NotReady("too old"), OSError("no such file"), "fine, too")) == 1
    assert capsys.readouterr().out.splitlines() == [
        "ok      Part 0: fine",
        "FAILED  Part 1: too old",
        "        mend 1",
        "FAILED  Part 2: OSError: no such file",
        "        mend 2",
        "ok      Part 3: fine, too",
        "Not ready: Part 1, Part 2. Fix that, then run this again.",
    ]


def test_after_a_vital_check_nothing_more_is_tried(capsys):
    vital = Check("Vital", lambda: 1 / 0, "mend it", vital=True)
    assert check_setup.main([vital, *run_of("fine")]) == 1
    assert "Part 0" not in capsys.readouterr().out
    assert [check.name for check in CHECKS if check.vital] == ["Python", "Packages"]


# ---- each check --------------------------------------------------------------------------------


def test_an_old_python(monkeypatch):
    monkeypatch.setattr(check_setup.platform, "python_version", lambda: "3.10.13")
    assert said(check_setup.python) == (
        "this is Python 3.10.13, and the course needs 3.11 or later: install one, delete the folder .venv, and run the "
        "README's command with it"
    )
    oldest = ".".join(map(str, check_setup.OLDEST_PYTHON))
    assert metadata.metadata("mha_helpers")["Requires-Python"] == f">={oldest}"


@pytest.mark.parametrize(
    ("versions", "message"),
    [
        ({"numpy": "1.26.4"}, "numpy is 1.26.4; mha_helpers needs >=2.0"),
        ({"tokenizers": None}, "tokenizers is not installed in "),
        ({"widgetsnbextension": "2.0.0"}, "widgetsnbextension is 2.0.0; ipywidgets needs "),
        ({"jupyterlab": None}, "jupyterlab is not installed in "),
    ],
)
def test_packages_that_are_missing_or_too_old(give_versions, versions, message):
    give_versions(**versions)
    assert said(check_setup.packages).startswith(message)


def test_what_only_an_extra_needs_is_not_asked_for(monkeypatch, give_versions):
    give_versions(pytest=None)
    monkeypatch.setattr(metadata, "requires", lambda name: ["pytest; extra == 'test'", "numpy; python_version > '3'"])
    check_setup.packages()
    give_versions(numpy=None)
    assert said(check_setup.packages).startswith("numpy is not installed")


@pytest.fixture
def extension_folder(tmp_path, monkeypatch):
    """Where JupyterLab looks for extensions, with one of the labs' controls in it that is to be described."""
    monkeypatch.setattr("jupyter_core.paths.jupyter_path", lambda *_: [str(tmp_path)])

    def write(version, application):
        folder = tmp_path / check_setup.WIDGETS
        folder.mkdir(parents=True)
        package = {"name": check_setup.WIDGETS, "version": version}
        package["dependencies"] = {"@jupyterlab/application": application}
        (folder / "package.json").write_text(json.dumps(package), encoding="utf-8")

    return write


def test_controls_that_jupyterlab_cannot_show(extension_folder, give_versions):
    give_versions(jupyterlab="4.6.6", ipywidgets="8.1.9")
    assert "so the labs would show no controls" in said(check_setup.widgets)
    extension_folder("5.0.16", "^4.0.0")
    assert check_setup.widgets() == "JupyterLab 4.6.6 with ipywidgets 8.1.9"
    give_versions(jupyterlab="5.0.0")
    assert said(check_setup.widgets).endswith("is for JupyterLab ^4.0.0, and this is 5.0.0")
    give_versions(jupyterlab="4.6.6", ipywidgets="7.7.1")
    assert said(check_setup.widgets).endswith("does not understand ipywidgets 7.7.1, which needs 3")
    give_versions(jupyterlab="4.6.6", ipywidgets="9.0.0")
    assert check_setup.widgets(), "of an ipywidgets that is not out yet nothing is known"


def test_ranges_are_read_as_older_extensions_write_them(extension_folder, give_versions):
    extension_folder("3.1.11", "^3 || ^4")
    give_versions(jupyterlab="4.6.6", ipywidgets="7.7.1")
    assert check_setup.widgets() == "JupyterLab 4.6.6 with ipywidgets 7.7.1"


def test_a_missing_file(monkeypatch, capsys):
    def missing(name):
        raise ValueError(f"no data file {name!r}")

    monkeypatch.setattr(worked_examples, "load", missing)
    assert check_setup.main([check for check in CHECKS if check.name == "Data"]) == 1
    assert "FAILED  Data: ValueError: no data file" in (out := capsys.readouterr().out)
    assert NEW_COPY in out


def test_a_model_that_gives_other_vectors(monkeypatch):
    vectors = [SimpleNamespace(vector=attention.softmax([float(i)] * 3)) for i in range(3)]
    monkeypatch.setattr(encoder, "load", lambda: SimpleNamespace(encode=lambda sentences: vectors))
    assert said(check_setup.model) == "the trained model runs, and finds a cat nearer to a bill than to a kitten"


def test_a_check_that_refuses_what_is_right(monkeypatch):
    monkeypatch.setattr(attention, "softmax", lambda scores: scores * 0.5)
    assert said(check_setup.exercise).startswith("the course's own softmax is refused: ")


def test_a_check_that_does_not_name_the_mistake(monkeypatch):
    # A check's catalogue is made of its mistakes once, by whichever test runs first.
    monkeypatch.setattr(exercises, "softmax", dataclasses.replace(exercises.softmax, mistakes=()))
    assert said(check_setup.exercise) == "a mistake is not recognised: softmax-global was expected, and None named"


def test_a_figure_that_cannot_be_drawn(monkeypatch, capsys):
    def no_font(*_):
        raise RuntimeError("no font")

    monkeypatch.setattr(figures, "attention_map", no_font)
    assert check_setup.main([check for check in CHECKS if check.name == "Pictures"]) == 1
    assert "FAILED  Pictures: RuntimeError: no font" in capsys.readouterr().out


def test_a_lab_without_a_picture(monkeypatch):
    silent = SimpleNamespace(picture=SimpleNamespace(value="This lab stopped"), controls={})
    monkeypatch.setattr(labs, "qkv_workbench", lambda: silent)
    assert said(check_setup.pictures) == "the lab shows no picture"


@pytest.fixture
def kernel_command(monkeypatch):
    """Let the kernel python3 be started by another command."""

    def give(command):
        monkeypatch.setattr(KernelManager, "format_kernel_cmd", lambda self, extra_arguments=None: command(self))

    return give


def test_a_kernel_that_dies(kernel_command, capfd):
    kernel_command(lambda manager: [sys.executable, "-c", "raise SystemExit('no kernel here')"])
    assert check_setup.main([check for check in CHECKS if check.name == "Kernel"]) == 1
    told = capfd.readouterr().out
    assert "FAILED  Kernel: RuntimeError: Kernel died" in told
    assert "README's command" in told


def launched(before):
    """The command of a kernel that runs some code first."""
    code = f"{before}; from ipykernel.kernelapp import launch_new_instance; launch_new_instance()"
    return lambda manager: [sys.executable, "-c", code, "-f", manager.connection_file, "--log-level=ERROR"]


def test_a_kernel_of_another_environment(kernel_command):
    kernel_command(launched("import sys; sys.prefix = 'elsewhere'"))
    assert said(check_setup.kernel) == f"the kernel python3 runs in elsewhere, and not in {sys.prefix}"


def test_a_kernel_without_the_course(kernel_command):
    kernel_command(launched("import sys; sys.modules['mha_helpers'] = None"))
    assert said(check_setup.kernel).startswith("the kernel starts, and says ModuleNotFoundError: import of mha_helpers")


@pytest.mark.parametrize(
    ("version", "wanted", "within"),
    [
        ("4.6.6", "^3.0.0 || ^4.0.0", True),
        ("5.0.0", "^3.0.0 || ^4.0.0", False),
        ("4.6.6", ">=4.0.0 <5", True),
        ("5.0.0", ">=4.0.0 <5", False),
        ("4.6.6", ">=4.0.0-beta.1 <6", True),
        ("4.6.6", "~4.6.0", True),
        ("4.6.6", "~4.5.0", False),
        ("4.6.6", "4.x", True),
        ("4.6.6", "*", True),
        ("4.6.6", "<=4.6", True),
        ("4.6.6", ">4.6", False),
        ("4.0.0rc1", "^4.0.0", True),
    ],
)
def test_an_extensions_range_is_read_as_npm_writes_it(version, wanted, within):
    assert check_setup._within(version, wanted) == within
