"""The package's rooms, what each imports from the others, and CONTRIBUTING's picture of that."""

import ast
import re
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "mha_helpers"
PAGE = PACKAGE.parent / "CONTRIBUTING.md"
BLOCK = re.compile(r"(?<=<!-- rooms -->\n).*?(?=<!-- end -->)", re.DOTALL)


def imported():
    """Return, for each room (a folder, or a file beside it), the set of other rooms that its modules import from."""
    rooms = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE.parent).with_suffix("").parts
        used = rooms.setdefault(place[1], set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                module = [*(place[: -node.level] if node.level else ()), *filter(None, (node.module or "").split("."))]
                if module[0] == "mha_helpers":
                    used.update(module[1:2] or [alias.name for alias in node.names])
    return {room: used - {room} for room, used in rooms.items() if room != "__init__"}


def picture(rooms):
    """Return a mermaid diagram; where an arrow leads on to another room, none leads there directly."""
    lines = ["```mermaid", "flowchart BT"]
    lines += [f'    {room}["{room}: {_said(room)}"]' for room in rooms]
    for room, used in rooms.items():
        behind = set().union(*(_reached(one, rooms) for one in used))
        lines += [f"    {room} --> {one}" for one in sorted(used - behind)]
    return "\n".join([*lines, "```"])


def _said(room):
    """Return how a room's docstring begins, up to its first stop or colon."""
    path = PACKAGE / room / "__init__.py" if (PACKAGE / room).is_dir() else PACKAGE / f"{room}.py"
    sentence = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))).partition("\n")[0]
    return re.split(r"[.:;](?: |$)", sentence)[0].replace('"', "'").replace("`", "")


def _reached(room, rooms):
    return rooms[room].union(*(_reached(one, rooms) for one in rooms[room]))


def written(text):
    """Return CONTRIBUTING with the picture drawn anew."""
    return BLOCK.sub(lambda _: f"\n{picture(imported())}\n\n", text)
