"""What the update needs of Git, where the course is a clone."""

import os
import shutil
import subprocess

from mha_helpers.update.files import parse, serialised

STUCK = {"MERGE_HEAD": "merge", "rebase-merge": "rebase", "rebase-apply": "rebase"}


def is_clone(course):
    """Say whether a folder is the top of a Git repository; a ValueError says that there is no Git to ask."""
    if not (course / ".git").exists():
        return False
    if shutil.which("git") is None:
        raise ValueError("this copy of the course is a clone, and there is no git to update it; install Git")
    return True


def git(folder, *arguments, text=True, content=None, **environment):
    """Run Git in a folder and return what it prints; a ValueError holds what it says where it fails."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        capture_output=True,
        input=content,
        env=os.environ | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"} | environment,
    )
    if done.returncode:
        reasons = done.stderr.decode(errors="replace").strip().splitlines() or ["it gave no reason"]
        raise ValueError(f"git {arguments[0]} failed ({reasons[-1]})")
    return done.stdout.decode().strip() if text else done.stdout


def asked(folder, *arguments):
    """Return what Git prints, or None where it fails."""
    try:
        return git(folder, *arguments)
    except ValueError:
        return None


def names(folder, *arguments):
    """Return the paths that a Git command with the option -z prints."""
    return [name for name in git(folder, *arguments, text=False).decode().split("\0") if name]


def blobs(course, commit):
    """Return the id of each file's content in a commit, by its path."""
    entries = (line.partition("\t") for line in names(course, "ls-tree", "-r", "-z", commit))
    return {name: about.split()[2] for about, _, name in entries}


def content(course, commit, name):
    """Return a file's bytes in a commit, or None where it has no such file."""
    try:
        return git(course, "cat-file", "blob", f"{commit}:{name}", text=False)
    except ValueError:
        return None


def merged_commit(course, fork, new, merged):
    """Make a commit that joins the learner's own commits with the new version, and return its id.

    Parameters
    ----------
    course : pathlib.Path
    fork : str
        The commit that both come from.
    new : str
        The new version's commit.
    merged : callable
        From a notebook's path, and its content in the learner's last commit, to its new content.

    Returns
    -------
    str
    """
    index = {"GIT_INDEX_FILE": str(course / ".update" / "index")}
    git(course, "read-tree", new, **index)
    for name in names(course, "diff", "--name-only", "--no-renames", "-z", fork, "HEAD"):
        theirs = content(course, "HEAD", name)
        if theirs is None:
            continue  # they deleted it; the new version has it
        if content(course, new, name) is not None and merged(name, theirs):
            theirs = merged(name, theirs)
        mode = git(course, "ls-tree", "HEAD", "--", name).split()[0]
        blob = git(course, "hash-object", "-w", "--stdin", content=theirs)
        git(course, "update-index", "--add", "--cacheinfo", f"{mode},{blob},{name}", **index)
    tree = git(course, "write-tree", **index)
    return git(course, "commit-tree", tree, "-p", "HEAD", "-p", new, "-m", "Update of the course")


def unmerged(course):
    """Return the paths that a merge, a rebase or a stash left in conflict."""
    return sorted(set(names(course, "diff", "--name-only", "--diff-filter=U", "-z")))


def settle(course, merge):
    """Merge the notebooks that `git pull`, `git rebase` or `git stash pop` left in conflict.

    Parameters
    ----------
    course : pathlib.Path
    merge : callable
        From the base, the learner's and the new notebook to the merged one.

    Returns
    -------
    messages : list of str
        What was done, and what is left to type.
    ready : bool
        Whether nothing has to be typed before an update can begin.

    Raises
    ------
    ValueError
        If other files are in conflict, too: these are the learner's to decide.
    """
    stuck = unmerged(course)
    if not stuck:
        return [], True
    others = [name for name in stuck if not name.endswith(".ipynb")]
    if others:
        raise ValueError(
            f"Git has a conflict in {', '.join(others)}, which only you can decide; correct it, `git add` it, and run "
            "this again (or `git merge --abort`, and all is as before)"
        )
    folder = course / git(course, "rev-parse", "--git-dir")
    doing = next((what for file, what in STUCK.items() if (folder / file).exists()), "stash")
    # In a merge the learner's are "ours"; in a rebase, and out of a stash, they come on top of the new version.
    mine, new = ("2", "3") if doing == "merge" else ("3", "2")
    for name in stuck:
        stages = (content(course, f":{number}", name) for number in ("1", mine, new))
        base, yours, theirs = stages
        if yours is None or theirs is None:
            (course / name).write_bytes(yours or theirs)  # deleted on one side
        else:
            (course / name).write_bytes(serialised(merge(*map(parse, (base or theirs, yours, theirs)))))
        git(course, *(("reset", "--quiet", "--", name) if doing == "stash" else ("add", "--", name)))
    messages = [f"What Git left in conflict is put together, with what you wrote: {', '.join(stuck)}."]
    if doing == "rebase":
        return [*messages, "Go on with: git -c core.editor=true rebase --continue"], False
    if doing == "merge":
        git(course, "commit", "--quiet", "--no-edit")
    else:
        messages.append("Your stash is still there, too. When you have looked at the notebooks: git stash drop")
    return messages, True


def stashed(course):
    """Return a line that says so where the last stash holds notebooks: nobody sees them there."""
    inside = asked(course, "stash", "show", "--name-only", "stash@{0}") or ""
    if ".ipynb" not in inside:
        return []
    return [
        "Git's stash holds notebooks of yours. To have them back: git stash pop, and then this command once more. "
        "If you have them already: git stash drop"
    ]
