"""The packages' rooms, what each imports from the others, and CONTRIBUTING's picture of that."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
ENGINES = ("attention_doctor", "function_judge", "live_pictures")
# Of mha_helpers a folder is a room by itself, and these files and folders are one together.
TOGETHER = {
    "functions": (
        "The functions that the course is about, and what is measured of them",
        "attention blockwise circuits course_data cross decoding experiments fused gradients grouped latent masks "
        "measures positions probes products rotary rounding running_example shapes tasks torch_listing "
        "training worked_examples",
    ),
    "models": ("The trained models, which run on a learner's attention", "decoder encoder model small_runs"),
    "figures": ("The notebooks' figures", "drawing figures"),
    "course": ("The course around its notebooks", "check_setup course doctor take_home unpack"),
}
ROOM = {part: room for room, (_, parts) in TOGETHER.items() for part in parts.split()}
BLOCK = re.compile(r"(?<=<!-- rooms -->\n).*?(?=<!-- end -->)", re.DOTALL)


def room(module):
    """Return the room of a dotted module, or None if it is not the course's.

    Examples
    --------
    >>> room("mha_helpers.masks"), room("function_judge.verdict"), room("mha_helpers.labs.lab"), room("numpy.linalg")
    ('functions', 'function_judge', 'labs', None)
    """
    package, *parts = module.split(".")
    if package in ENGINES:
        return package
    if package != "mha_helpers" or not parts:
        return None
    if parts[0] in ROOM:
        return ROOM[parts[0]]
    if (ROOT / "mha_helpers" / parts[0]).is_dir():
        return parts[0]
    raise ValueError(f"mha_helpers/{parts[0]}.py is in no room; add it to TOGETHER in tools/rooms.py")


def imported():
    """Return, for each room, the set of other rooms that its modules import from."""
    rooms = {}
    paths = [path for folder in ("mha_helpers", *(f"engines/{name}" for name in ENGINES)) for path in _files(folder)]
    for path in paths:
        parts = path.relative_to(ROOT).with_suffix("").parts
        here = room(".".join(parts[parts[0] == "engines" :]).removesuffix(".__init__"))
        used = rooms.setdefault(here, set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                modules = names if node.module == "mha_helpers" else [node.module]
                used.update(map(room, modules))
    return {here: used - {here, None} for here, used in rooms.items() if here}


def _files(folder):
    return sorted((ROOT / folder).rglob("*.py"))


def picture(rooms):
    """Return a mermaid diagram; where an arrow leads on to another room, none leads there directly."""
    lines = ["```mermaid", "flowchart BT"]
    lines += [f'    {here}["{here}: {_about(here)}"]' for here in rooms]
    for here, used in rooms.items():
        behind = set().union(*(_reached(other, rooms) for other in used))
        lines += [f"    {here} --> {other}" for other in sorted(used - behind)]
    return "\n".join([*lines, "```"])


def _about(here):
    """Return how a room's docstring begins, up to its first stop or colon."""
    if here in TOGETHER:
        return TOGETHER[here][0]
    path = ROOT / ("engines" if here in ENGINES else "mha_helpers") / here / "__init__.py"
    sentence = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))).partition("\n")[0]
    return re.split(r"[.:;](?: |$)", sentence)[0].replace('"', "'").replace("`", "")


def _reached(here, rooms):
    return rooms[here].union(*(_reached(other, rooms) for other in rooms[here]))


def written(text):
    """Return CONTRIBUTING with the picture drawn anew."""
    return BLOCK.sub(lambda _: f"\n{picture(imported())}\n\n", text)
