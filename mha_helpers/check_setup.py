"""Say whether a machine is ready for the course.

Usage: python -m mha_helpers.check_setup

One line a check, and what to do where one fails. It needs no network, changes nothing, and takes about ten seconds. In
a browser, in a cell: `from mha_helpers import check_setup; check_setup.main()`.
"""

import ast
import io
import platform
import re
import sys
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec

# Everything else is imported by the check that needs it: what is missing must be told, not end the program.

OLDEST_PYTHON = (3, 11)  # as in pyproject.toml, which an older Python can neither install nor read
INSTALL = "Install again what the course needs, in the course's folder: python -m pip install -r requirements.txt"
WIDGETS = "@jupyter-widgets/jupyterlab-manager"
EXTENSION_OF = {"8": "5", "7": "3"}  # ipywidgets' first number, and that of the extension which speaks its language


class NotReady(Exception):
    """What is wrong with a set-up, in words for a learner."""


@dataclass(frozen=True)
class Check:
    """One thing that the course needs.

    Parameters
    ----------
    name : str
    run : callable
        Returns what it found, as a str. Any exception means that the check failed.
    remedy : str
        What to do then.
    vital : bool, optional
        Whether the checks after it mean nothing if it fails.
    """

    name: str
    run: object
    remedy: str = INSTALL
    vital: bool = False


def python():
    """Is this Python new enough, and the course installed in it?"""
    version = platform.python_version()
    if tuple(map(int, version.split(".")[:2])) < OLDEST_PYTHON:
        raise NotReady(
            f"this is Python {version}, and the course needs {OLDEST_PYTHON[0]}.{OLDEST_PYTHON[1]} or later: install "
            "one, delete the folder .venv, and run the README's command with it"
        )
    try:
        metadata.version("mha_helpers")
    except metadata.PackageNotFoundError:
        raise NotReady(f"this is Python {version} in {sys.prefix}, and the course is not installed in it") from None
    return f"Python {version} in {sys.prefix}"


def packages():
    """Are the packages there, in versions that the course supports?"""
    from mha_helpers.drawing import in_a_tab

    in_a_tab.bring_matplotlib()
    find_spec("matplotlib")  # in a browser's tab it is unpacked when somebody looks for it
    for package in ("mha_helpers", "ipywidgets"):
        _fulfil(package)
    return ", ".join(f"{name} {_version(name)}" for name in ("numpy", "matplotlib", "tokenizers", "jupyterlab"))


def _fulfil(package):
    """Raise NotReady where something that a package requires is missing or does not fit."""
    from packaging.requirements import Requirement

    for requirement in map(Requirement, metadata.requires(package)):
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        version = _version(requirement.name)
        if not requirement.specifier.contains(version, prereleases=True):
            raise NotReady(f"{requirement.name} is {version}; {package} needs {requirement.specifier}")


def _version(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        raise NotReady(f"{package} is not installed in {sys.prefix}") from None


def widgets():
    """Will this JupyterLab show the labs' controls?"""
    from jupyter_core.paths import jupyter_path
    from jupyterlab_server.config import get_federated_extensions

    lab, ipywidgets = _version("jupyterlab"), _version("ipywidgets")
    extension = get_federated_extensions(jupyter_path("labextensions")).get(WIDGETS)
    if extension is None:
        raise NotReady(f"JupyterLab {lab} has no extension {WIDGETS}, so the labs would show no controls")
    place = f"the extension {WIDGETS} {extension['version']} in {extension['ext_dir']}"
    wanted = extension["dependencies"]["@jupyterlab/application"]  # such as "^3.0.0 || ^4.0.0"
    if not _within(lab, wanted):
        raise NotReady(f"{place} is for JupyterLab {wanted}, and this is {lab}")
    partner = EXTENSION_OF.get(_major(ipywidgets))
    if partner and _major(extension["version"]) != partner:
        raise NotReady(f"{place} does not understand ipywidgets {ipywidgets}, which needs {partner}")
    return f"JupyterLab {lab} with ipywidgets {ipywidgets}"


def storage():
    """Does the browser keep what is saved?"""
    from mha_helpers.learner import folder

    written = folder.BROWSERS_STORAGE / "check_setup.txt"
    try:
        written.write_text("kept", encoding="utf-8")
        kept = written.read_text(encoding="utf-8")
        written.unlink()
    except OSError as error:
        raise NotReady(f"nothing can be written to {folder.BROWSERS_STORAGE} ({error.strerror})") from None
    if kept != "kept":
        raise NotReady(f"what is written to {folder.BROWSERS_STORAGE} cannot be read again")
    return "the browser keeps notebooks and progress"


def _major(version):
    return version.partition(".")[0]


def _within(version, wanted):
    """Say whether a version is in a range as npm writes it: "^3.1.0 || >=4.0.0 <6", "4.x"."""
    numbers = _numbers(version)
    for alternative in wanted.split("||"):
        steps = re.findall(r"(?<![\w.-])(\^|~|>=|<=|>|<|=|)\s*v?(\d[\w.-]*|\*)", alternative)
        if steps and all(_obeys(numbers, sign, _numbers(bound)) for sign, bound in steps):
            return True
    return False


def _numbers(version):
    """Return the numbers that a version begins with: "4.1.0rc1" is (4, 1, 0), "4.x" is (4,), and "*" is ()."""
    return tuple(int(number) for number in re.match(r"(?:\d+(?:\.(?=\d)|))*", version)[0].split(".") if number)


def _obeys(numbers, sign, bound):
    if sign in ("^", "~"):  # up to the next major version, or the next minor one
        same = 1 if sign == "^" and bound[:1] != (0,) else 2
        return numbers >= bound and numbers[:same] == bound[:same]
    if sign in (">=", "<"):
        return (numbers >= bound) == (sign == ">=")
    if sign in (">", "<="):  # a bound of two numbers is every version that begins so
        return (numbers[: len(bound)] > bound) == (sign == ">")
    return numbers[: len(bound)] == bound


def data():
    """Is the course's data there, and complete?"""
    from mha_helpers import worked_examples

    counts = [len(worked_examples.load(name).steps) for name in worked_examples.EXAMPLES]
    return f"{len(counts)} worked examples, {sum(counts)} steps"


def model():
    """Does the trained model run?"""
    from mha_helpers import encoder

    cat, kitten, bill = encoder.load().encode(["The cat sleeps.", "A kitten naps.", "I have paid the bill."])
    if not cat.vector @ kitten.vector > cat.vector @ bill.vector:
        raise NotReady("the trained model runs, and finds a cat nearer to a bill than to a kitten")
    return f"the trained model makes vectors of {len(cat.vector)} numbers"


def exercise():
    """Does a check accept what is right, and name a mistake?"""
    import numpy as np

    from mha_helpers import attention, exercises

    right = exercises.softmax.diagnosis(attention.softmax)  # a check would be noted as a learner's own
    if right.status != "correct":
        raise NotReady(f"the course's own softmax is refused: {right.message}")
    wrong = exercises.softmax.diagnosis(lambda scores: np.exp(scores) / np.exp(scores).sum())
    if wrong.mistake != "softmax-global":
        raise NotReady(f"a mistake is not recognised: softmax-global was expected, and {wrong.mistake} named")
    return f"right is called right, and a mistake by its name, {wrong.mistake}"


def pictures():
    """Are a figure and a lab's picture drawn?"""
    from mha_helpers import figures, labs
    from mha_helpers.drawing.shown import Plot

    figure = Plot(figures.attention_map([[0.3, 0.7], [0.9, 0.1]], ["it", "cat"]))
    figure.png()  # the first one on a machine takes longer: matplotlib lists its fonts
    lab = labs.qkv_workbench()
    if "<svg" not in lab.picture.value:
        raise NotReady("the lab shows no picture")
    return f"a figure of {len(figure.svg) // 1024} KiB, and a lab with {len(lab.controls)} controls"


def kernel():
    """Does Jupyter start a kernel in this environment, and does the kernel answer?"""
    from jupyter_client.manager import run_kernel

    quiet = ["--log-level=ERROR"]  # without its warning that it listens on a local port
    asked = {"answer": "7 * 6, sys.prefix"}
    with run_kernel(kernel_name="python3", extra_arguments=quiet) as client:
        reply = client.execute("import sys, mha_helpers", user_expressions=asked, reply=True, timeout=60)["content"]
    if reply["status"] != "ok":
        raise NotReady(f"the kernel starts, and says {reply['ename']}: {reply['evalue']}")
    number, prefix = ast.literal_eval(reply["user_expressions"]["answer"]["data"]["text/plain"])
    if prefix != sys.prefix:
        raise NotReady(f"the kernel python3 runs in {prefix}, and not in {sys.prefix}")
    return f"a notebook's kernel starts, and answers {number} to 7 * 6"


OWN_PYTHON = (
    "Use the Python of the course's own environment, in the course's folder: .venv/bin/python -m "
    "mha_helpers.check_setup (Windows: .venv\\Scripts\\python). There is none yet? The README's Start makes it."
)
NEW_COPY = "A file of the course is missing or damaged: take a new copy of its folder."
OWN_KERNEL = (
    "Start JupyterLab by the README's command, from the course's own environment. If it stays: "
    "python -m ipykernel install --sys-prefix. A firewall must let a program speak to its own machine (127.0.0.1)."
)
RELOAD = "Reload the page. If it stays, open the course in another browser, or on your own machine."
OWN_STORAGE = (
    "It may be a private window, or full: make room, or use File > Download to keep your notebook. Checks work as ever."
)
CHECKS = (
    Check("Python", python, OWN_PYTHON, vital=True),
    Check("Packages", packages, vital=True),
    Check("JupyterLab", widgets),
    Check("Data", data, NEW_COPY),
    Check("Model", model, NEW_COPY),
    Check("Exercise", exercise),
    Check("Pictures", pictures),
    Check("Kernel", kernel, OWN_KERNEL),
)
# There the page brings packages and controls, and its kernel is what asks.
CHECKS_IN_A_BROWSER = (
    Check("Data", data, RELOAD),
    Check("Model", model, RELOAD),
    Check("Exercise", exercise, RELOAD),
    Check("Pictures", pictures, RELOAD),
    Check("Storage", storage, OWN_STORAGE),
)


def main(checks=None):
    """Run the checks, and report.

    Parameters
    ----------
    checks : sequence of Check, optional
        By default what this platform needs.

    Returns
    -------
    int
        0 if all are passed, else 1.
    """
    failed = []
    for check in checks or (CHECKS_IN_A_BROWSER if sys.platform == "emscripten" else CHECKS):
        try:
            print(f"ok      {check.name}: {check.run()}", flush=True)
        except Exception as error:  # whatever may be wrong with a machine that nobody has seen
            problem = str(error) if isinstance(error, NotReady) else f"{type(error).__name__}: {error}"
            print(f"FAILED  {check.name}: {problem}\n        {check.remedy}", flush=True)
            failed.append(check.name)
            if check.vital:
                break
    if failed:
        print(f"Not ready: {', '.join(failed)}. Fix that, then run this again.")
        return 1
    print("Ready.")
    return 0


if __name__ == "__main__":
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a path may have letters that Windows' encoding lacks
    sys.exit(main())
