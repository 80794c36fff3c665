"""The repository's address: one in the whole course, and `python -m tools stamp`, which changes it."""

import functools
import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import contextmanager
from urllib.parse import unquote

import pytest
import yaml
from bs4 import BeautifulSoup

from tools.release import launch, stamp
from tools.site.formulas import rendered
from tools.writing.notebooks import course_notebooks, read, serialised

REPOSITORY = stamp.repository()
NAMED = stamp.naming(REPOSITORY)
WITH_LINKS = sorted({*NAMED, *launch.all_written(REPOSITORY)})
NEW = "ada/some.attention_2"


@pytest.mark.parametrize("path", course_notebooks(), ids=lambda path: path.name)
def test_a_notebook_says_in_its_first_cell_where_it_opens_and_installs_in_its_second(path):
    first, second, *_ = read(path).cells
    assert f"{launch.line(path.name, REPOSITORY)}\n\n" in first.source, "run `python -m tools refresh --no-run`"
    install = re.escape(f'source = "git+https://github.com/{REPOSITORY}"')
    on_colab = (
        rf'^if "google.colab" in sys.modules:.*\n    {install}\n'
        r"    %pip install --quiet --no-deps \{source\}#subdirectory=engines \{source\}$"
    )
    assert re.search(on_colab, second.source, re.MULTILINE)


def test_readme_and_support_are_as_the_stamp_writes_them():
    texts = [path.read_text(encoding="utf-8") for path in (launch.README, launch.SUPPORT)]
    assert [name for text in texts for _, name, _ in launch.BLOCK.findall(text)] == [*launch.blocks(REPOSITORY)]
    for text in texts:
        assert launch.with_blocks(text, REPOSITORY) == text, "run `python -m tools refresh --no-run`"


def test_while_the_course_has_no_owner_no_link_leads_to_one():
    assert launch.links("a.ipynb", "OWNER/attention") == {}
    assert launch.line("a.ipynb", "OWNER/attention") == "[Start on your machine](../README.md#start)"
    blocks = launch.blocks("OWNER/attention")
    assert [name for name, text in blocks.items() if text] == ["ask"]
    assert "](" not in blocks["ask"]


@contextmanager
def copied(folder):
    """Within it, the course that is stamped is a copy: of the files, in a new folder, that name the repository."""
    for path in WITH_LINKS:
        (folder / path.relative_to(stamp.ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / path.relative_to(stamp.ROOT))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stamp, "ROOT", folder)
        patch.setattr(launch, "ROOT", folder)
        patch.setattr(launch, "README", folder / "README.md")
        patch.setattr(launch, "SUPPORT", folder / "SUPPORT.md")
        patch.setattr(launch, "course_notebooks", lambda: sorted(folder.glob("notebooks/*.ipynb")))
        yield folder


@pytest.fixture
def clone(tmp_path):
    with copied(tmp_path) as folder:
        yield lambda: {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def stamped(tmp_path_factory):
    """A stamped copy's folder."""
    with copied(tmp_path_factory.mktemp("stamped")) as folder:
        stamp.main([NEW])
    return folder


def test_stamping_changes_the_addresses_and_nothing_else(clone, capsys):
    before = clone()
    stamp.main([NEW])
    after = clone()
    assert after.keys() == before.keys()
    for path, content in after.items():
        assert content != before[path]
        if path.suffix == ".ipynb":
            assert content.decode() == serialised(read(path)), "as the course stores it"
            opens = launch.links(path.name, NEW)
            assert all(f"[{where}]({url})" in read(path).cells[0].source for where, url in opens.items())
            assert f'"git+https://github.com/{NEW}"\n' in read(path).cells[1].source
    assert len(capsys.readouterr().out.splitlines()) == len(WITH_LINKS)
    stamp.main([REPOSITORY])
    assert clone() == before


def test_a_repository_of_a_longer_name_is_another_one(clone):
    other = stamp.ROOT / "other.md"
    other.write_text(f"https://github.com/{REPOSITORY}-notes, x{REPOSITORY} and {REPOSITORY}.git")
    stamp.main([NEW])
    assert other.read_text() == f"https://github.com/{REPOSITORY}-notes, x{REPOSITORY} and {NEW}.git"


@pytest.mark.parametrize(
    "name", ["", "ada", "ada/", "/attention", "ada/attention/main", "ada/..", "ada lovelace/attention", "adä/attention"]
)
def test_a_name_that_github_does_not_know_is_refused(clone, name, capsys):
    before = clone()
    with pytest.raises(SystemExit, match="2"):
        stamp.main([name])
    assert f"{name!r} is not a repository on GitHub; write OWNER/REPOSITORY" in capsys.readouterr().err
    assert clone() == before


# What a stranger reads


def page(path):
    """Return what a file shows to its reader: of a notebook the text, the code that is not folded, and the outputs."""
    shown = []
    if path.suffix == ".md":
        shown.append(rendered(path.read_text(encoding="utf-8")))
    else:
        for cell in read(path).cells:
            if cell.cell_type == "markdown":
                shown.append(rendered(cell.source, cell.get("attachments")))
            elif not cell.metadata.get("jupyter", {}).get("source_hidden"):
                shown.append(f"<pre>{cell.source}</pre>")
            for output in cell.get("outputs", []):
                shown.append(output.get("data", {}).get("text/html", ""))
    html = BeautifulSoup("\n".join(shown), "html.parser")
    for mark in html("a", class_="anchor-link"):  # nbconvert's own
        mark.decompose()
    return html


@functools.cache
def anchors(path):
    """Return the names of the places of a file's headings: GitHub's, and of a notebook those of Jupyter, too."""
    headings = page(path)(re.compile("^h[1-6]$"))
    names = {re.sub(r"[^\w -]", "", heading.text.lower()).strip().replace(" ", "-") for heading in headings}
    return names if path.suffix == ".md" else names | {heading["id"] for heading in headings}


PROMISE = re.compile(r"as soon as the course|(not yet|will be|once .{,30}) published|coming soon", re.IGNORECASE)


@pytest.mark.parametrize("repository", [REPOSITORY, NEW], ids=["as stored", "stamped"])
@pytest.mark.parametrize("path", [launch.README, launch.SUPPORT, *course_notebooks()], ids=lambda path: path.name)
def test_a_stranger_reads_no_placeholder_and_no_promise_and_every_link_leads_somewhere(repository, path, stamped):
    shown = page(path if repository == REPOSITORY else stamped / path.relative_to(stamp.ROOT))
    addresses = [link["href"] for link in shown("a", href=True)] + [picture["src"] for picture in shown("img")]
    text = "\n".join([shown.text, *addresses])
    assert launch.NOBODY not in text
    assert not PROMISE.search(text)
    assert (repository in text) == (launch.site(repository) is not None)
    assert path == launch.SUPPORT or "start on your machine" in text.lower()
    for address in addresses:
        address = address.replace(f"https://github.com/{repository}#", "../README.md#")  # as GitHub shows a repository
        if ":" in address:
            continue
        file, _, place = address.partition("#")
        target = (path.parent / unquote(file)).resolve() if file else path
        assert target.exists(), address
        assert not place or place in anchors(target), address


def test_the_stamped_readme_shows_how_to_get_the_course_and_three_ways_in(stamped):
    shown = page(stamped / "README.md")
    assert [picture.parent["href"] for picture in shown("img", src=re.compile("badge"))] == [
        *launch.links("01_self_attention.ipynb", NEW).values(),
        launch.site(NEW),
    ]
    assert f"git clone --depth 1 https://github.com/{NEW} && cd some.attention_2\n" in shown.text
    assert shown.find("h2", string="Without installing anything")


def test_each_form_that_the_support_page_leads_to_can_be_filled_in():
    """What GitHub's syntax for issue forms wants: https://docs.github.com/communities, "Syntax for issue forms"."""
    forms = {path.stem: path for path in (stamp.ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config"}
    assert forms.keys() == launch.FORMS.keys()
    for path in forms.values():
        form = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert form.keys() == {"name", "description", "title", "labels", "body"}
        assert all(field["type"] in ("input", "textarea") for field in form["body"])
        names = [field["id"] for field in form["body"]]
        labels = [field["attributes"]["label"] for field in form["body"]]
        assert len({*names}) == len(names) == len({*labels})
        assert any(field.get("validations", {}).get("required") for field in form["body"])


@pytest.mark.slow
def test_before_the_first_push_the_stamped_course_is_what_a_clone_of_it_gets(tmp_path):
    """Into a repository that is new, and from there to one that is bare, under the address of the README's own line."""
    work, bare = tmp_path / "work", tmp_path / "ada/attention.git"
    search = ["git", "grep", "--no-index", "--exclude-standard", "-z", "--files-with-matches", ""]
    files = subprocess.run(search, cwd=stamp.ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for file in filter(None, files):
        if (stamp.ROOT / file).stat().st_size < 2_000_000:  # models and books say nothing of addresses
            (work / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(stamp.ROOT / file, work / file)
    author = {f"GIT_{who}_{what}": "ada@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    address = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_VALUE_0": "https://github.com/ada/attention"}
    address["GIT_CONFIG_KEY_0"] = f"url.{bare.as_uri()}.insteadOf"

    def run(*command, folder=work):
        environment = os.environ | author | address
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("git", "init", "--quiet", "--initial-branch=main")
    run("git", "init", "--quiet", "--bare", "--initial-branch=main", str(bare))
    assert "README.md: ada/attention" in run(sys.executable, "-m", "tools", "stamp", "ada/attention")
    run("git", "add", "--all")
    run("git", "commit", "--quiet", "--message", "The course")
    run("git", "push", "--quiet", "https://github.com/ada/attention", "main")
    [line] = re.findall(r"^git clone .*", (work / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    get, enter = line.split(" && ")
    run(*shlex.split(get), folder=tmp_path)
    clone = tmp_path / enter.removeprefix("cd ")
    assert run("git", "log", "--format=%s", folder=clone) == "The course\n"
    # What the workflow does at the first push.
    assert run(sys.executable, "-m", "tools", "stamp", "ada/attention", folder=clone) == ""
    assert run("git", "status", "--porcelain", folder=clone) == ""
