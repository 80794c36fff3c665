"""A new version of a notebook, with what the learner wrote in the old one: merged cell by cell.

Editors keep a cell's id, so cells are recognised by it, wherever they stand. nbdime, which compares neighbourhoods of
cells, was tried first: it left old text beside an added cell, lost the new text of a cell that had been moved, brought
one id twice where the new version moves an answered cell, and mixed lines of an old and a new stub into a cell that
calls a name that nobody defines. Here a cell is the learner's or the course's, never a mixture of the two.

Only dicts and lists are used, so that it works where nbformat isn't: in a browser's tab.
"""

import ast
import copy
from collections import Counter
from difflib import SequenceMatcher
from itertools import count

END = "what-you-wrote"  # the id of the heading over what has no place
HEADING = """\
## What you wrote in cells that are gone

The new version of this notebook has no place for the cells below. They are as you left them: keep what you need."""
NEWER = "-newer"  # ends the id of the note on a cell that both sides changed
RENAMED = "-renamed"  # ends the id of a cell that gives a learner's function its new name
MAX_ID = 64  # letters, in the notebooks' format


def merge_notebook(base, mine, new, newer="In the new version of the course"):
    """Return the new version of a notebook, with what the learner wrote in the old one.

    - A cell that the learner left alone gets the new text and the new outputs.
    - A cell that they changed stays as it is, with its outputs. If the new version changed it, too, the new text
      stands folded below it; if it gave the cell's function another name, a line makes both names work.
    - Cells of their own stay below the cell that they stood below, and cells that they moved stay where they are.
    - A cell that they deleted stays deleted, unless the new version changed it: that text they have not seen.
    - A cell that they changed and that the new version no longer has goes to the end, under a heading.

    Parameters
    ----------
    base : dict
        The notebook as the course brought it, before the learner worked in it; its outputs don't matter.
    mine : dict
        The learner's. Cells without ids, as some editors leave them, are recognised by text and place.
    new : dict
        The new version.
    newer : str, optional
        Where a text stands that is shown below a learner's own.

    Returns
    -------
    dict
        Of the type of `new`; the three that are given stay as they are. It is valid if `new` is, and the text of every
        cell that the learner wrote or changed is in it.

    Raises
    ------
    ValueError
        If one of them is not a notebook of format 4.

    Examples
    --------
    >>> def notebook(*sources):
    ...     cells = [dict(id=f"c{n}", cell_type="raw", metadata={}, source=text) for n, text in enumerate(sources)]
    ...     return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    >>> merged = merge_notebook(notebook("old", "..."), notebook("old", "my answer"), notebook("new", "..."))
    >>> [cell["source"] for cell in merged["cells"]]
    ['new', 'my answer']
    """
    for name, notebook in (("base", base), ("mine", mine), ("new", new)):
        if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list) or notebook["nbformat"] != 4:
            raise ValueError(f"{name} is not a notebook of format 4; open it in JupyterLab and save it again")
    base, mine, merged = copy.deepcopy(base), copy.deepcopy(mine), copy.deepcopy(new)
    merged["cells"] = _merged_cells(base["cells"], mine["cells"], merged["cells"], newer)
    merged["metadata"] = _merged_metadata(base["metadata"], mine["metadata"], merged["metadata"])
    return merged


def written_cells(base, mine):
    """Return the cells that a learner added or changed.

    Parameters
    ----------
    base, mine : dict
        The notebook as the course brought it, and as the learner left it.

    Returns
    -------
    list of dict
        In their order, as they are in `mine`.
    """
    was = {cell["id"]: cell for cell in base["cells"]}
    keys = _recognised(base["cells"], mine["cells"], was)
    return [cell for key, cell in zip(keys, mine["cells"], strict=True) if not _same(cell, was.get(key))]


def caught_up(older, base, mine):
    """Return a learner's notebook in which no cell holds a text of the version before, in which nobody wrote.

    An editor that had the notebook open while it was updated may have saved its old text over the new one.

    Parameters
    ----------
    older, base : dict
        The notebook as the course brought it before the last update, and with it.
    mine : dict
        The learner's.

    Returns
    -------
    dict
        `mine` itself where there is no such cell.
    """
    before, now = ({cell["id"]: cell for cell in notebook["cells"]} for notebook in (older, base))
    stale = [
        number
        for number, cell in enumerate(mine["cells"])
        if (key := cell.get("id")) in before and key in now and _same(cell, before[key]) and not _same(cell, now[key])
    ]
    if not stale:
        return mine
    mine = copy.deepcopy(mine)
    for number in stale:
        mine["cells"][number] = copy.deepcopy(now[mine["cells"][number]["id"]])
    return mine


def source(cell):
    """Return a cell's text: files hold it as one string or as a list of lines."""
    return "".join(cell["source"])


def _content(cell):
    """Return what identifies a cell's content: without white space at the ends of lines, which editors trim."""
    lines = [line.rstrip() for line in source(cell).rstrip().splitlines()]
    return cell["cell_type"], lines, cell.get("attachments") or {}


def _same(cell, other):
    return other is not None and _content(cell) == _content(other)


# ---- which cell is which ---------------------------------------------------------------------


def _recognised(base, mine, known):
    """Return, for each of the learner's cells, the id of the course's cell that it is, or None for one of their own."""
    keys = _keys_by_id(mine, known)
    _recognise_by_text(base, mine, keys)
    _recognise_by_place(base, mine, keys)
    return keys


def _keys_by_id(mine, known):
    keys = []
    for cell in mine:
        # Colab has a cell's id in its metadata.
        ids = (cell.get("id"), cell.get("metadata", {}).get("id"))
        keys.append(next((key for key in ids if key in known and key not in keys), None))
    return keys


def _recognise_by_text(base, mine, keys):
    """Fill in the keys of cells that were cut and pasted, or saved without ids, and that read as the course's."""
    missing = [cell for cell in base if cell["id"] not in keys and source(cell).strip()]
    for place, cell in enumerate(mine):
        found = next((other for other in missing if _same(other, cell)), None) if keys[place] is None else None
        if found:
            keys[place] = found["id"]
            missing.remove(found)


def _recognise_by_place(base, mine, keys):
    """Fill in the keys of cells without ids: as many as are missing between two that are known, and of their types."""
    types = {cell["id"]: cell["cell_type"] for cell in base}
    order = list(types)
    first = 0  # of the cells that stand after the last one that was recognised
    gap = []  # places of cells without ids, since then
    for place, key in enumerate([*keys, None]):
        at_the_end = place == len(mine)
        if key in types or at_the_end:
            lost = order[first : len(order) if at_the_end else order.index(key)]
            if [types[name] for name in lost] == [mine[own]["cell_type"] for own in gap] and not set(lost) & set(keys):
                for own, name in zip(gap, lost, strict=True):
                    keys[own] = name
            first, gap = (0 if at_the_end else order.index(key) + 1), []
        elif key is None and "id" not in mine[place]:
            gap.append(place)


def _moved(base, keys):
    """Return the ids of the cells that no longer stand in the course's order."""
    order = [cell["id"] for cell in base if cell["id"] in keys]
    known = [key for key in keys if key in set(order)]
    stay = SequenceMatcher(None, order, known, autojunk=False).get_matching_blocks()
    return set(known) - {key for block in stay for key in order[block.a : block.a + block.size]}


# ---- putting them together -------------------------------------------------------------------


def _merged_cells(base, mine, new, newer):
    was, now = ({cell["id"]: cell for cell in cells} for cells in (base, new))
    mine, noted = _without_notes(mine, was, newer)
    keys = _recognised(base, mine, was | now)
    yours = {key: cell for key, cell in zip(keys, mine, strict=True) if key}
    groups = _groups(was, now, yours, noted, newer)
    # What they deleted and the new version changed.
    unseen = {key for key in groups if key in was and key not in yours}
    order = _order(keys, yours, was, groups, unseen, _moved(base, keys) & set(now))
    own = {number: [cell] for number, (key, cell) in enumerate(zip(keys, mine, strict=True)) if key is None}
    cells = _with_new_names([cell for key in order for cell in (own | groups)[key]], was, now)
    gone = [cell for key, cell in yours.items() if key not in now and not _same(cell, was[key])]
    if gone and not any(cell.get("id") == END for cell in cells):
        cells.append(_made(gone[0], "markdown", END, HEADING))
    return _valid([*cells, *gone])


def _groups(was, now, yours, noted, newer):
    """Return, by id and in the new version's order, the cell that stands there, with what explains it."""
    groups = {}
    for key, cell in now.items():
        if key in yours:
            groups[key] = _chosen(was.get(key), yours[key], cell, key in noted, newer)
        elif key not in was or not _same(cell, was[key]):
            groups[key] = [cell]
    return groups


def _order(keys, yours, was, groups, unseen, moved):
    """Return the keys of groups as they stand, and between them the places of the cells that are the learner's own."""
    order = [key for key in groups if key not in moved]
    place = -1  # of the cell that was met last in the learner's notebook
    for number, key in enumerate(keys):
        if key in groups and key not in moved:
            place = order.index(key)
        elif key in moved or key is None:
            below = next((name for name in keys[number:] if name), None)
            if key is None and below in order[place + 1 :] and not _same(yours[below], was.get(below)):
                place = order.index(below) - 1  # the first pieces of a cell that they split: the last one keeps the id
            # A cell that they took apart and deleted comes before its pieces, so that theirs is what counts.
            while place + 1 < len(order) and order[place + 1] in unseen:
                place += 1
            place += 1
            order.insert(place, number if key is None else key)
    return order


def _chosen(was, yours, new, noted, newer):
    """Return the cell that stands for one that both sides have, and what explains it."""
    if _same(yours, new) or (was and _same(yours, was)):
        return [new]
    yours["id"], yours["metadata"] = new["id"], yours.get("metadata", {}) | new["metadata"]
    changed = noted or was is None or not _same(was, new)
    return [yours, _made(new, "markdown", _id(new, NEWER), _note(new, newer))] if changed else [yours]


def _with_new_names(cells, was, now):
    """Return cells in which a learner's function has the name, too, by which the new version calls it."""
    result = list(cells)
    for key in was.keys() & now.keys():
        old, fresh = _functions(was[key]) - _functions(now[key]), _functions(now[key]) - _functions(was[key])
        theirs = [cell for cell in cells if old and old <= _functions(cell)]
        if (
            len(old) == len(fresh) == 1
            and theirs
            and not any(fresh <= _functions(cell) for cell in cells[cells.index(theirs[-1]) :])
        ):
            line = f"{min(fresh)} = {min(old)}  # the new version's name for it"
            made = _made(theirs[-1], "code", _id(now[key], RENAMED), line, execution_count=None, outputs=[])
            result.insert(result.index(theirs[-1]) + 1, made)
    return result


def _functions(cell):
    try:
        body = ast.parse(source(cell)).body if cell["cell_type"] == "code" else []
    except SyntaxError:  # a magic, or unfinished
        return set()
    return {part.name for part in body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}


def _note(new, newer):
    """Return a text that shows, folded, what a cell says in the new version."""
    text = source(new)
    if new["cell_type"] == "code":
        fence = "`" * (3 + max((len(run) for run in text.split() if set(run) == {"`"}), default=0))
        text = f"{fence}python\n{text}\n{fence}"
    summary = f"You changed the cell above. {newer} it reads as follows"
    return f"<details>\n<summary>{summary}</summary>\n\n{text}\n\n</details>"


def _without_notes(mine, was, newer):
    """Return the learner's cells without the last update's notes, and the ids of the cells that these were about.

    A note that the learner has written in is theirs.
    """
    notes = {_id(cell, NEWER): cell for cell in was.values()}
    untouched = {
        cell["id"]: notes[cell["id"]]["id"]
        for cell in mine
        if cell.get("id") in notes and source(cell).rstrip() == _note(notes[cell["id"]], newer)
    }
    return [cell for cell in mine if cell.get("id") not in untouched], set(untouched.values())


def _id(cell, ending):
    return cell["id"][: MAX_ID - len(ending)] + ending


def _made(like, cell_type, name, text, **more):
    """Return a cell of the same type of dict as another, its text in lines if the other's is."""
    cell = type(like)()
    lines = text.splitlines(keepends=True) if isinstance(like["source"], list) else text
    cell.update({"cell_type": cell_type, "id": name, "metadata": {}, "source": lines, **more})
    return cell


def _valid(cells):
    """Return cells with what the format asks of each: an id that no other has, metadata, outputs."""
    taken = Counter(cell.get("id") for cell in cells)
    numbers = map("own-{}".format, count(1))
    seen = set()
    for cell in cells:
        if cell.get("id") is None or cell["id"] in seen:
            cell["id"] = next(name for name in numbers if name not in taken)
        seen.add(cell["id"])
        cell.setdefault("metadata", {})
        if cell["cell_type"] == "code":
            cell.setdefault("outputs", [])
            cell.setdefault("execution_count", None)
    return cells


def _merged_metadata(base, mine, new):
    """Return the new version's metadata, with the learner's kernel if they chose another, and what only they have."""
    chosen = [key for key in mine if key not in new and key not in base and key != "widgets"]
    if "kernelspec" in mine and mine["kernelspec"] != base.get("kernelspec"):
        chosen.append("kernelspec")
    new.update({key: mine[key] for key in chosen})
    return new
