"""What a release publishes: `python -m tools.release.wheels`."""

import re

import pytest

from tools.release import wheels


def test_every_file_names_the_same_version():
    assert re.fullmatch(r"\d+\.\d+\.\d+", wheels.version())


def test_versions_that_differ_are_named(monkeypatch, tmp_path):
    for file in ("pyproject.toml", "engines/pyproject.toml", "CITATION.cff"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_bytes((wheels.ROOT / file).read_bytes())
    citation = tmp_path / "CITATION.cff"
    citation.write_text(citation.read_text().replace(f"version: {wheels.version()}", "version: 9.9.9"))
    monkeypatch.setattr(wheels, "ROOT", tmp_path)
    monkeypatch.setattr(wheels, "PROJECTS", (tmp_path, tmp_path / "engines"))
    with pytest.raises(wheels.ReleaseError, match=r"CITATION\.cff 9\.9\.9"):
        wheels.version()


def test_the_notes_are_the_versions_section_of_the_changelog():
    changelog = (wheels.ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    notes = wheels.notes(wheels.version(), changelog)
    assert notes.startswith("- ")
    assert "\n#" not in notes
    assert notes in changelog


@pytest.mark.parametrize(
    "changelog", ["# Changelog\n\n## 0.3.0\n\n- A lab.\n", "## 0.2.0\n\n## 0.1.0\n\n- All.\n", "## 0.2.01\n\n- No.\n"]
)
def test_a_version_of_which_the_changelog_says_nothing_is_no_release(changelog):
    with pytest.raises(wheels.ReleaseError, match=r"says nothing of 0\.2\.0"):
        wheels.notes("0.2.0", changelog)


def test_a_folder_with_something_in_it_is_left_alone(tmp_path):
    (tmp_path / "old.whl").touch()
    with pytest.raises(SystemExit, match="not empty"):
        wheels.main([str(tmp_path)])
    assert [path.name for path in tmp_path.iterdir()] == ["old.whl"]


@pytest.mark.slow
def test_both_wheels_pass_their_checks_and_start_in_a_new_environment(tmp_path, capfd):
    wheels.main([str(tmp_path / "dist")])
    names = sorted(path.name.partition("-")[0] for path in (tmp_path / "dist").iterdir())
    assert names == ["attention_doctor", "mha_helpers", "notes.md"]
    assert "is ready" in capfd.readouterr().out
