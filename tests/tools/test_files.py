"""Read, Write and Edit on real files."""

from __future__ import annotations

import base64
import os
import stat
from hashlib import sha256

import pytest

from hitl_cli.interrupts import Approval, dump
from hitl_cli.journal import Answered, Call, Raised, Recorded, Result, Who

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
GIF = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")


def test_text_is_read_with_line_numbers_and_marked_as_seen(session, work):
    (work / "a.txt").write_text("one\ntwo\n")
    assert session.run("Read", file_path="a.txt") == Result(
        "     1\tone\n     2\ttwo",
        data={"seen": {"path": str(work / "a.txt"), "sha256": sha256(b"one\ntwo\n").hexdigest()}, "lines": 2},
    )


def test_a_part_is_read_by_offset_and_limit(session, work):
    (work / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 11)))
    assert session.text("Read", file_path="a.txt", offset=4, limit=2) == (
        "     4\tline 4\n     5\tline 5\n(there is more: go on with offset 6)"
    )
    assert session.text("Read", file_path="a.txt", offset=11) == "(the file has 10 lines, none from line 11)"


def test_more_than_two_thousand_lines_are_read_in_parts(session, work):
    (work / "a.txt").write_text("x\n" * 2001)
    text = session.text("Read", file_path="a.txt")
    assert text.endswith("  2000\tx\n(there is more: go on with offset 2001)")


def test_a_long_line_is_cut_and_counted(session, work):
    (work / "a.txt").write_text("x" * 2500)
    assert session.text("Read", file_path="a.txt") == (
        "     1\t" + "x" * 2000 + " [... 500 characters more]\n(long lines are cut)"
    )


def test_an_empty_file_is_said_to_be_empty(session, work):
    (work / "a.txt").touch()
    assert session.text("Read", file_path="a.txt") == "(the file is empty)"


def test_a_missing_file_offers_its_nearest_names(session, work):
    (work / "README.md").touch()
    assert session.run("Read", file_path="readme.txt") == Result(
        f"{work}/readme.txt does not exist; its folder has README.md", ok=False, kind="error"
    )
    assert (
        session.text("Read", file_path="no/such")
        == f"{work}/no/such does not exist; there is no folder {work}/no either"
    )


def test_the_nearest_names_leave_out_what_must_not_be_read(new_session, work):
    (work / "secret.txt").touch()
    closed = new_session(readable=lambda path: "secret" not in path)
    assert closed.text("Read", file_path="secrets.txt") == f"{work}/secrets.txt does not exist"


def test_a_folder_and_a_pipe_are_refused_without_waiting(session, work):
    os.mkfifo(work / "pipe")
    assert session.text("Read", file_path=".") == f"{work} is a folder: list it with Glob"
    assert session.text("Read", file_path="pipe") == f"{work}/pipe is not a regular file but a pipe, socket or device"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_an_error_result(session, work):
    (work / "a.txt").write_text("x")
    (work / "a.txt").chmod(0)
    assert session.text("Read", file_path="a.txt") == f"{work}/a.txt cannot be read: permission denied"


def test_a_binary_file_is_named_as_such(session, work):
    (work / "a.bin").write_bytes(b"ab\0cd")
    result = session.run("Read", file_path="a.bin")
    assert not result.ok
    assert result.content == (f"{work}/a.bin is binary (5 bytes): look at it with a command such as `file` or `xxd`")


@pytest.mark.parametrize(("name", "data", "media"), [("a.png", PNG, "image/png"), ("b.dat", GIF, "image/gif")])
def test_an_image_is_a_picture_by_its_content(session, work, name, data, media):
    (work / name).write_bytes(data)
    text, image = session.run("Read", file_path=name).content
    assert text == {"type": "text", "text": f"{work}/{name} ({media[6:]}, {len(data):,} bytes)"}
    assert image["source"] == {"type": "base64", "media_type": media, "data": base64.b64encode(data).decode()}


def test_jpeg_and_webp_are_known_and_too_large_images_refused(session, work):
    (work / "a").write_bytes(b"\xff\xd8\xff\xe0" + b"x" * 10)
    (work / "b").write_bytes(b"RIFF\x10\0\0\0WEBPVP8 ")
    (work / "c").write_bytes(b"\xff\xd8\xff\xe0" + b"x" * 4_000_000)
    assert session.run("Read", file_path="a").content[1]["source"]["media_type"] == "image/jpeg"
    assert session.run("Read", file_path="b").content[1]["source"]["media_type"] == "image/webp"
    assert (
        session.text("Read", file_path="c")
        == f"{work}/c is an image of more than 3,750,000 bytes: make it smaller first"
    )


def test_other_encodings_are_read_and_named(session, work):
    (work / "latin.txt").write_bytes("café\n".encode("latin-1"))
    (work / "wide.txt").write_bytes("wide é\n".encode("utf-16"))
    (work / "marked.txt").write_bytes("é\n".encode("utf-8-sig"))
    assert session.text("Read", file_path="latin.txt") == "     1\tcafé\n(not UTF-8, read as Latin-1)"
    assert session.text("Read", file_path="wide.txt") == "     1\twide é"
    assert session.text("Read", file_path="marked.txt") == "     1\té"


def test_a_huge_file_is_read_by_lines(session, work):
    with (work / "huge.txt").open("wb") as file:
        file.write(b"first\n")
        file.truncate(70 * 2**20)  # sparse
        file.seek(0)
        file.write(b"first\n" + b"y" * 10_000 + b"\n")
    assert session.text("Read", file_path="huge.txt", limit=1) == (
        "     1\tfirst\n(73,400,320 bytes, too large to change with Edit; there is more: go on with offset 2)"
    )


def test_a_file_of_the_system_without_size_is_read(session):
    assert "Linux" in session.text("Read", file_path="/proc/version")


def test_a_new_file_is_written_with_its_folders(session, work):
    result = session.run("Write", file_path="a/b/new.txt", content="one\ntwo\n")
    diff = "--- /dev/null\n+++ b/a/b/new.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n"
    assert result == Result(
        f"created a/b/new.txt: 2 lines (+2 -0)\n{diff}".rstrip(),
        data={
            "seen": {"path": f"{work}/a/b/new.txt", "sha256": sha256(b"one\ntwo\n").hexdigest()},
            "diff": diff,
            "lines": 2,
        },
    )
    assert (work / "a/b/new.txt").read_text() == "one\ntwo\n"
    assert os.listdir(work / "a/b") == ["new.txt"]


def test_an_unread_file_is_not_overwritten(session, work):
    (work / "a.txt").write_text("precious\n")
    assert session.run("Write", file_path="a.txt", content="x") == Result(
        f"{work}/a.txt exists and was not read in this session: Read it first, then change it", ok=False, kind="error"
    )
    assert (work / "a.txt").read_text() == "precious\n"


def test_a_file_changed_since_it_was_read_is_refused_until_read_again(session, work):
    (work / "a.txt").write_text("one\n")
    session.run("Read", file_path="a.txt")
    (work / "a.txt").write_text("other\n")
    edit = {"file_path": "a.txt", "old_string": "other", "new_string": "new"}
    assert (
        session.text("Edit", **edit)
        == f"{work}/a.txt has changed since it was last read: Read it again, then change it"
    )
    session.run("Read", file_path="a.txt")
    assert session.run("Edit", **edit).ok
    assert session.run("Edit", file_path="a.txt", old_string="new", new_string="newer").ok  # its own write is known
    assert (work / "a.txt").read_text() == "newer\n"


def test_what_was_read_through_a_link_is_known_by_its_real_path(session, work):
    (work / "real.txt").write_text("one\n")
    (work / "link.txt").symlink_to("real.txt")
    session.run("Read", file_path="link.txt")
    assert session.run("Edit", file_path=str(work / "real.txt"), old_string="one", new_string="two").ok
    assert session.run("Write", file_path="link.txt", content="three\n").ok
    assert (work / "link.txt").is_symlink()
    assert (work / "real.txt").read_text() == "three\n"


def test_mode_line_endings_and_byte_order_mark_are_kept(session, work):
    script = work / "run.bat"
    script.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\nthree")
    script.chmod(0o751)
    session.run("Read", file_path="run.bat")
    assert session.run("Edit", file_path="run.bat", old_string="one\ntwo", new_string="1\n2\n2b").ok
    assert script.read_bytes() == b"\xef\xbb\xbf1\r\n2\r\n2b\r\nthree"
    assert stat.S_IMODE(script.stat().st_mode) == 0o751
    assert session.run("Write", file_path="run.bat", content="a\nb\n").ok
    assert script.read_bytes() == b"\xef\xbb\xbfa\r\nb\r\n"


def test_mixed_line_endings_are_left_where_they_are(session, work):
    (work / "a.txt").write_bytes(b"one\r\ntwo\nthree\nfour\n")
    session.run("Read", file_path="a.txt")
    assert session.run("Edit", file_path="a.txt", old_string="two\nthree", new_string="2\n3").ok
    assert (work / "a.txt").read_bytes() == b"one\r\n2\n3\nfour\n"


def test_a_latin_1_file_keeps_every_byte_and_refuses_what_it_cannot_hold(session, work):
    (work / "a.txt").write_bytes(b"caf\xe9 \x80\n")
    session.run("Read", file_path="a.txt")
    assert not session.run("Edit", file_path="a.txt", old_string="caf", new_string="日本").ok
    assert session.run("Edit", file_path="a.txt", old_string="caf", new_string="th").ok
    assert (work / "a.txt").read_bytes() == b"th\xe9 \x80\n"


def test_the_edit_reports_a_unified_diff(session, work):
    (work / "a.txt").write_text("a\nb\nc\nd\ne\nf\ng\nh\ni\nj")
    session.run("Read", file_path="a.txt")
    edits = [{"old_string": "a\n", "new_string": "A\n"}, {"old_string": "j", "new_string": "J"}]
    result = session.run("Edit", file_path="a.txt", edits=edits)
    assert result.data["diff"] == (
        "--- a/a.txt\n+++ b/a.txt\n@@ -1,4 +1,4 @@\n-a\n+A\n b\n c\n d\n"
        "@@ -7,4 +7,4 @@\n g\n h\n i\n-j\n\\ No newline at end of file\n+J\n\\ No newline at end of file\n"
    )


@pytest.mark.parametrize(
    ("input", "problem"),
    [
        ({"old_string": "nowhere", "new_string": "x"}, "old_string does not occur in the file"),
        (
            {"old_string": "if x:\n  go()", "new_string": "x"},
            "old_string does not occur in the file; line 1 has it with other white space",
        ),
        (
            {"old_string": "go()", "new_string": "x"},
            "old_string occurs 2 times (lines 2, 3): add lines around it until it is unique, or set replace_all",
        ),
        ({"old_string": "go()", "new_string": "go()"}, "old_string and new_string are the same"),
        ({"old_string": "go()"}, "`old_string` and `new_string` go together"),
        ({}, "give either `edits` or one `old_string` with its `new_string`"),
        (
            {"edits": [{"old_string": "if", "new_string": "IF"}, {"old_string": "nowhere", "new_string": "x"}]},
            "edit 2 of 2: old_string does not occur in the file",
        ),
    ],
)
def test_an_edit_that_does_not_fit_changes_nothing_and_says_why(session, work, input, problem):
    (work / "a.py").write_text("if x:\n    go()\n    go()\n")
    session.run("Read", file_path="a.py")
    assert session.run("Edit", file_path="a.py", **input) == Result(problem, ok=False, kind="error")
    assert (work / "a.py").read_text() == "if x:\n    go()\n    go()\n"


def test_replace_all_replaces_every_occurrence(session, work):
    (work / "a.py").write_text("go()\ngo()\n")
    session.run("Read", file_path="a.py")
    assert session.run("Edit", file_path="a.py", old_string="go", new_string="stop", replace_all=True).ok
    assert (work / "a.py").read_text() == "stop()\nstop()\n"


def test_a_missing_or_binary_file_is_not_edited(session, work):
    (work / "a.bin").write_bytes(b"a\0b")
    edit = {"old_string": "a", "new_string": "b"}
    assert session.text("Edit", file_path="none.txt", **edit) == f"{work}/none.txt does not exist: make it with Write"
    assert session.text("Edit", file_path="a.bin", **edit) == f"{work}/a.bin is binary: it cannot be edited as text"


def test_a_write_that_cannot_be_made_leaves_nothing_behind(session, work):
    (work / "file").write_text("x")
    assert not session.run("Write", file_path="file/below", content="x").ok
    assert session.text("Write", file_path=".", content="x") == f"{work} is a folder: list it with Glob"
    assert sorted(os.listdir(work)) == ["file"]


def test_the_preview_is_the_diff_against_the_file_as_it_is(session, work):
    (work / "a.txt").write_text("one\n")
    input = {"file_path": "a.txt", "old_string": "one", "new_string": "two"}
    preview = session.tools["Edit"].shows(input, session.place)
    assert (preview.kind, preview.title, preview.path) == ("diff", "Edit a.txt", str(work / "a.txt"))
    assert preview.body == "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n"
    assert preview.before == sha256(b"one\n").hexdigest()
    new = session.tools["Write"].shows({"file_path": "b.txt", "content": ""}, session.place)
    assert (new.kind, new.body, new.before) == ("diff", "--- /dev/null\n+++ b/b.txt\n", "")


def test_a_preview_of_an_edit_that_cannot_be_made_says_so(session, work):
    (work / "a.txt").write_text("one\n")
    preview = session.tools["Edit"].shows(
        {"file_path": "a.txt", "old_string": "two", "new_string": "three"}, session.place
    )
    assert (preview.kind, preview.body) == ("text", "This change cannot be made: old_string does not occur in the file")


def test_the_digest_changes_with_the_file_and_with_what_a_link_means(session, work):
    digest = session.tools["Write"].digest
    (work / "a").write_text("one")
    (work / "b").write_text("one")
    (work / "link").symlink_to("a")
    input = {"file_path": "link", "content": "x"}
    first = digest(input, session.place)
    (work / "link").unlink()
    (work / "link").symlink_to("b")
    second = digest(input, session.place)
    (work / "b").write_text("two")
    assert len({first, second, digest(input, session.place)}) == 3


def test_the_accesses_are_the_path_with_links_resolved(session, work):
    (work / "real").mkdir()
    (work / "link").symlink_to("real")
    (access,) = session.tools["Write"].states({"file_path": "link/a.txt", "content": ""}, session.place)
    assert (access.path, access.real) == (f"{work}/link/a.txt", f"{work}/real/a.txt")


def test_a_file_that_changed_while_a_person_was_asked_is_changed_once_they_said_yes_to_what_it_is_now(session, work):
    edit = {"file_path": "a.txt", "old_string": "one", "new_string": "two"}

    def asked(id: str) -> None:
        shown = session.tools["Edit"].preview(edit, session.place)
        question = Approval(id=id, call=Call("1.1.2", "Edit", edit), reason="", preview=shown)
        session.history.append(Recorded(80, 0.0, Raised((dump(question),))))

    def approved(id: str) -> Result:
        session.history.append(Recorded(81, 0.0, Answered({id: {"approve": {}}}, Who("person"))))
        session.calls = 1
        return session.run("Edit", **edit)

    (work / "a.txt").write_text("one\n")
    session.run("Read", file_path="a.txt")
    asked("a")
    (work / "a.txt").write_text("zero\none\n")
    assert not approved("a").ok
    asked("b")
    assert approved("b").ok
    assert (work / "a.txt").read_text() == "zero\ntwo\n"
