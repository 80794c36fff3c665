"""What an instructor sees of the files that learners handed in."""

import gzip
import json
import os
import re
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from function_judge import verdict
from mha_helpers import attention, exercises
from tools.judge import oracle
from tools.teaching import command, live, room


def result(exercise, status, mistake=None, minutes=0):
    return {"exercise": exercise, "status": status, "mistake": mistake, "minutes": minutes}


def hand_in(folder, name, *results):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in results), encoding="utf-8")
    return path


def shown(capsys, folder):
    """Return the cells of each row by the exercise's name, and what was said besides."""
    command.main([str(folder)])
    said = capsys.readouterr()
    body = said.out.split("\n\n")[1].splitlines()[1:]
    rows = [re.split(r"  +", line.strip(), maxsplit=7) for line in body]
    return {name: cells for name, *cells in rows}, said


WRONG = result("softmax", "wrong", "softmax-no-exp")
AGAIN = result("softmax", "wrong", "softmax-global", 3)
RIGHT = result("softmax", "correct", None, 4)
STUB = result("softmax", "not attempted")


def test_each_learner_is_counted_once(tmp_path, capsys):
    hand_in(tmp_path, "ann/my_results.jsonl", STUB, WRONG, WRONG, AGAIN, RIGHT)
    hand_in(tmp_path, "bob/my_results.jsonl", RIGHT, RIGHT, WRONG)  # what is tried after it was right does not count
    hand_in(tmp_path, "cy.jsonl", WRONG, result("softmax", "wrong", None, 10))
    hand_in(tmp_path, "dee.jsonl", STUB, STUB)
    hand_in(tmp_path, "eve.jsonl", result("split_heads", "wrong"))
    rows, said = shown(capsys, tmp_path)
    #                          learners away later wrong none minutes
    assert rows["01 softmax"] == ["4", "1", "1", "1", "1", "7", "softmax-no-exp 2, softmax-global 1"]
    assert rows["04 split_heads"] == ["1", "0", "0", "1", "0"]
    assert said.out.startswith("5 learners\n")
    assert said.err == ""
    assert not re.search("ann|bob|cy|dee|eve|jsonl", said.out), "the table names no learner"


def test_rows_stand_in_the_order_of_the_course(tmp_path, capsys):
    names = ["split_heads", "exit_test layer 1", "predict_constant", "softmax", "attention_scores"]
    hand_in(tmp_path, "a.jsonl", *(result(name, "correct") for name in names))
    rows, _ = shown(capsys, tmp_path)
    asked = ["01 attention_scores", "01 predict_constant", "01 softmax", "04 split_heads", "05 exit_test layer 1"]
    assert list(rows) == asked


def test_everything_that_the_course_asks_has_its_place():
    assert room.course_order()["softmax"] == "01", "where it is asked first, although 05 names it again"
    asked = {name for name in exercises.__all__ if hasattr(getattr(exercises, name), "reactions")}
    asked |= {name for name in exercises.__all__ if hasattr(getattr(exercises, name), "reference")}
    assert room.course_order().keys() == asked


def test_the_most_frequent_mistakes_come_first(tmp_path, capsys):
    slugs = [mistake.slug for mistake in exercises.softmax.mistakes[:5]]
    for number in range(5):
        hand_in(tmp_path, f"{number}.jsonl", *(result("softmax", "wrong", slug) for slug in slugs[: number + 1]))
    rows, _ = shown(capsys, tmp_path)
    assert rows["01 softmax"][-1] == ", ".join(f"{slug} {5 - i}" for i, slug in enumerate(slugs[:4]))


def test_lines_that_are_no_results_are_named_and_left_out(tmp_path, capsys):
    path = hand_in(tmp_path, "a.jsonl", WRONG)
    bad = [
        b"",
        b"[]",
        b"\xff\xfe",
        json.dumps(result("softmax", "great")).encode(),
        json.dumps(result("softmax", "wrong", 3)).encode(),
        json.dumps(result("softmax", "wrong", "\x1b[2J")).encode(),
        json.dumps(result("softmax", ["wrong"])).encode(),
        json.dumps(result(None, "wrong")).encode(),
        json.dumps(result("softmax", "correct", None, "now")).encode(),
        b"[" * 100_000,
        b'{"exercise": "softm',
    ]
    path.write_bytes(path.read_bytes() + b"\n".join(bad))
    rows, said = shown(capsys, tmp_path)
    assert rows["01 softmax"][:4] == ["1", "0", "0", "1"]
    assert said.err == "'a.jsonl', lines 3, 4, 5 and 6 more: no result; left out\n"


def test_a_file_from_windows_is_read(tmp_path, capsys):
    path = hand_in(tmp_path, "a.jsonl", WRONG, RIGHT)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    rows, said = shown(capsys, tmp_path)
    assert rows["01 softmax"][:3] == ["1", "0", "1"]
    assert said.err == ""


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, r"holds no \.jsonl file; collect"), (b"", r"no \.jsonl file of .* holds a result \(looked into 1\)")],
)
def test_a_folder_without_results_is_said(tmp_path, content, message):
    if content is not None:
        (tmp_path / "a.jsonl").write_bytes(content)
    with pytest.raises(SystemExit, match=message):
        command.main([str(tmp_path)])


def test_a_missing_folder_is_said(tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        command.main([str(tmp_path / "nowhere")])
    assert "there is no folder" in capsys.readouterr().err


def test_what_learners_keep_is_what_the_table_reads(tmp_path, capsys):
    exercises.keep_results(tmp_path / "a.jsonl")
    try:
        exercises.softmax.check(lambda scores: scores / scores.sum(-1, keepdims=True))
        exercises.softmax.check(attention.softmax)
        exercises.predict_constant.commit("a")
        exercises.attention_scores.check(lambda queries, keys: ...)
    finally:
        exercises.stop_keeping()
    rows, said = shown(capsys, tmp_path)
    assert said.err == ""
    assert rows["01 softmax"] == ["1", "0", "1", "0", "0", "0", "softmax-no-exp 1"]
    assert rows["01 predict_constant"] == ["1", "0", "0", "1", "0", "a 1"]
    assert rows["01 attention_scores"] == ["1", "0", "0", "0", "1"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes and links of this kind")
def test_strangers_files_lead_nowhere_and_hold_nothing_up(tmp_path, capsys):
    folder, elsewhere = tmp_path / "homes", tmp_path / "elsewhere"
    hand_in(folder, "anna/handed_in/results.jsonl", WRONG)
    hand_in(elsewhere, "foreign.jsonl", RIGHT)
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "link.jsonl").symlink_to(elsewhere / "foreign.jsonl")
    (folder / "round").symlink_to(folder)
    (folder / "away").symlink_to(elsewhere)
    (folder / "large.jsonl").write_bytes(b" " * (room.MAX_BYTES + 1))
    (folder / "\x1b[2J.jsonl").write_bytes(b"[]")
    nest = folder / "nest"
    for _ in range(6):
        nest = nest / "d"
    hand_in(nest, "too-deep.jsonl", RIGHT)
    rows, said = shown(capsys, folder)
    assert rows["01 softmax"][:4] == ["1", "0", "0", "1"]
    assert said.err.splitlines() == [
        "'large.jsonl': larger than 1 MiB; left out",
        "'link.jsonl': a link; left out",
        "'pipe.jsonl': no ordinary file; left out",
        r"'\x1b[2J.jsonl', line 1: no result; left out",
    ]


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="root shows what it is to be nobody")
def test_no_root_is_needed_and_folders_that_are_closed_are_passed_by(tmp_path):
    homes = tmp_path / "homes"
    hand_in(homes, "anna/handed_in/results.jsonl", WRONG)
    hand_in(homes, "anna/home/results.jsonl", RIGHT)
    (homes / "anna/home").chmod(0o700)
    for place in (tmp_path, *tmp_path.parents[:-2]):
        place.chmod(place.stat().st_mode | 0o011)
    os.seteuid(65534)
    try:
        files, left_out = room.handed_in(homes)
    finally:
        os.seteuid(0)
    assert (list(files), left_out) == (["anna"], [])


def of_one_line(tmp_path, capsys, **other):
    """Return the table's rows where Ann has a line that is no usual one, and Bob is right."""
    hand_in(tmp_path, "ann.jsonl", WRONG, WRONG | other, WRONG | other, WRONG)
    hand_in(tmp_path, "bob.jsonl", WRONG, RIGHT)
    return shown(capsys, tmp_path)


MINUTES = ["10**400", "10**5000", "-5", "1e400", "NaN", "-Infinity", "true", '"3"', "[1]", "null", "44641"]


@pytest.mark.parametrize("minutes", MINUTES)
def test_minutes_are_a_time_that_somebody_can_have_taken(minutes, tmp_path, capsys):
    if minutes.startswith("10**"):
        minutes = "1" + "0" * int(minutes[4:])
    line = json.dumps(WRONG).replace('"minutes": 0', f'"minutes": {minutes}')
    assert minutes in line
    (tmp_path / "ann.jsonl").write_text(f"{json.dumps(AGAIN)}\n{line}\n{line}\n{line}\n")
    hand_in(tmp_path, "bob.jsonl", AGAIN, RIGHT)
    rows, said = shown(capsys, tmp_path)
    assert rows["01 softmax"] == ["2", "0", "1", "1", "0", "4", "softmax-global 2"]
    assert said.err == "'ann.jsonl', lines 2, 3, 4: no result; left out\n"


OWN_WORDS = ["THE TEACHER IS AN IDIOT", "<script>alert(1)</script>", "the-teacher", "\x1b[2J", "\ud800", "", "é" * 9999]


@pytest.mark.parametrize("words", OWN_WORDS, ids=range(len(OWN_WORDS)))
def test_nothing_that_a_learner_wrote_is_shown(words, tmp_path, capsys):
    rows, said = of_one_line(tmp_path, capsys, mistake=words)
    assert rows["01 softmax"][-1] == "softmax-no-exp 2", "tries with a name that is not the course's count"
    assert said.err == ""
    _, said = of_one_line(tmp_path, capsys, exercise=words)
    assert said.err == "'ann.jsonl', lines 2, 3: no result; left out\n"
    course = room.Known()
    files, _ = room.handed_in(tmp_path)
    page = live.page(
        {file: room.read_results(content, course)[0] for file, content in files.items()}, course.notebook_of, True
    )
    assert words == "" or words not in page


def test_every_name_that_a_check_gives_is_known():
    stored = json.loads(gzip.decompress(oracle.STORED.read_bytes()))
    given = {
        one["names"] for judged in stored.values() for key, one in judged.items() if not key.startswith(oracle.DOCTOR)
    }
    assert given - room.Known().mistakes == {None}
    judge = (Path(verdict.__file__).parent / name for name in ("verdict.py", "source_hints.py"))
    named = re.compile(r'(?:wrong|named)\(\s*"([a-z-]+)",|return "([a-z]+(?:-[a-z]+)+)",|"([a-z]+(?:-[a-z]+)+)": _')
    given = {name for file in judge for names in named.findall(file.read_text("utf-8")) for name in names if name}
    assert {"never-ends", "return-in-loop", "one-list-for-all-rows"} <= given
    assert given <= room.Known().mistakes


def test_one_learner_is_counted_once_whatever_they_hand_in(tmp_path, capsys):
    for number in range(30):
        path = hand_in(tmp_path, f"ann/handed_in/{number}/results.jsonl", WRONG)
        os.utime(path, (number, number))
    os.utime(hand_in(tmp_path, "ann/handed_in/results.jsonl", RIGHT), (10**9, 10**9))
    hand_in(tmp_path, "bob.jsonl", WRONG)
    rows, said = shown(capsys, tmp_path)
    assert said.out.startswith("2 learners\n")
    assert rows["01 softmax"][:4] == ["2", "1", "0", "1"], "the newest counts"
    assert said.err == "'ann': 31 files of one learner; all but the newest left out\n"


def test_what_a_learner_can_make_is_looked_at_up_to_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(room, "MAX_ENTRIES", 10)
    for number in range(20):
        (hand_in(tmp_path, f"ann/{number:02}.jsonl", WRONG)).write_bytes(b" " * (room.MAX_BYTES + 1))
    hand_in(tmp_path, "bob/handed_in/results.jsonl", RIGHT)
    files, left_out = room.handed_in(tmp_path)
    assert list(files) == ["bob"]
    assert left_out[0] == "'ann': more than 10 files and folders; the rest left out"
    assert left_out[-1].startswith("'ann': ")
    assert left_out[-1].endswith(" more; left out")
    assert len(left_out) == room.MAX_TOLD + 1


# --- the page that follows ---


def test_who_is_stuck_is_counted_and_named_only_on_request():
    learners = {
        "anna": [WRONG, WRONG, result("softmax", "wrong", "softmax-global", 7)],
        "bert": [WRONG, RIGHT, WRONG],
        "carl": [STUB, WRONG],
        "dora": [result("split_heads", "correct")],
    }
    rows = live.now(learners)
    softmax = rows["softmax"]
    assert (softmax.right, softmax.wrong, softmax.stuck) == (1, 2, [(7, "anna")])
    assert softmax.mistakes == {"softmax-global": 1, "softmax-no-exp": 1}, "what is mended is not stuck any more"
    notebook_of = {"softmax": "01", "split_heads": "04"}
    shown = live.table(learners, notebook_of, names=False)
    assert 0 < shown.index("01 softmax") < shown.index("04 split_heads")
    assert "<td>1, the longest for 7 min</td>" in shown
    assert "anna" not in shown
    assert "the longest for 7 min: anna" in live.table(learners, notebook_of, names=True)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a file's name is text")
def test_any_byte_may_stand_in_a_files_name(tmp_path, capsys):
    names = [b"\xff\xfe.jsonl", b"<b>&'\".jsonl", b"TRIES \n\x1b[2J.jsonl", "\u202egpj.jsonl".encode()]
    for name in names:
        hand_in(tmp_path, os.fsdecode(name), *[WRONG] * live.STUCK_TRIES)
    files, left_out = room.handed_in(tmp_path)
    assert left_out == []
    course = room.Known()
    learners = {file: room.read_results(content, course)[0] for file, content in files.items()}
    page = live.page(learners, course.notebook_of, names=True)
    page.encode()
    for shown_as in (
        r"\udcff\udcfe.jsonl",
        "&lt;b&gt;&amp;&#x27;&quot;.jsonl",
        r"TRIES \n\x1b[2J.jsonl",
        r"\u202egpj.jsonl",
    ):
        assert shown_as in page
    assert not any(sign in page for sign in ("<b>", "\x1b", "\u202e"))
    rows, _ = shown(capsys, tmp_path)
    assert rows["01 softmax"][0] == "4"


def test_the_page_follows_the_files_and_answers_this_machine_alone(tmp_path):
    hand_in(tmp_path, "a.jsonl", WRONG)
    with live.server(tmp_path, 0, names=False) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{served.server_address[1]}/"

        def get(path, **headers):
            with urllib.request.urlopen(urllib.request.Request(address + path, headers=headers)) as answer:
                return answer.read().decode()

        assert "<td>0</td><td>1</td>" in get("")
        hand_in(tmp_path, "a.jsonl", WRONG, RIGHT)
        assert "<td>1</td><td>0</td>" in get("now")
        for path, headers in (("now", {"Host": "evil.example:80"}), ("../a.jsonl", {})):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                get(path, **headers)
        served.shutdown()
