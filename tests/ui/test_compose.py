"""The input line: pastes are folded and put back, Enter sends, a backslash goes on, files and commands are completed."""

import subprocess
from pathlib import Path

from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from hitl_cli.ui.complete import ComposerCompleter, Files
from hitl_cli.ui.compose import Composer, Typed
from hitl_cli.ui.history import KEPT, SharedHistory

COMMANDS = {"/help": "what there is", "/model": "another model", "/mode": "how much is asked"}


def completer(folder: Path) -> ComposerCompleter:
    return ComposerCompleter(Files(str(folder)), lambda: COMMANDS, lambda name: ["default", "plan"] * (name == "/mode"))


def composer(folder: Path) -> tuple[Composer, list[Typed]]:
    sent: list[Typed] = []
    return Composer(SharedHistory(folder / "history"), completer(folder), sent.append), sent


def offered(folder: Path, text: str) -> list[str]:
    return [c.text for c in completer(folder).get_completions(Document(text), CompleteEvent())]


def test_enter_sends_and_empties_the_line(tmp_path: Path) -> None:
    line, sent = composer(tmp_path)
    line.put("  fix it \n")
    line.enter()
    assert (sent, line.buffer.text) == ([Typed("fix it", "fix it")], "")


def test_enter_on_nothing_sends_nothing(tmp_path: Path) -> None:
    line, sent = composer(tmp_path)
    line.put("  \n ")
    line.enter()
    assert sent == []


def test_a_backslash_at_the_end_makes_a_new_line(tmp_path: Path) -> None:
    line, sent = composer(tmp_path)
    line.put("one\\")
    line.enter()
    assert (sent, line.buffer.text) == ([], "one\n")


def test_a_long_paste_is_folded_and_sent_whole(tmp_path: Path) -> None:
    line, sent = composer(tmp_path)
    long = "\n".join(f"line {n}" for n in range(120))
    other = long.upper()
    line.put(f"see {line.fold(long)} and {line.fold(other)} and {line.fold('short')}")
    assert line.buffer.text == "see [pasted 120 lines] and [pasted 120 lines #2] and short"
    assert line.fold(long) == "[pasted 120 lines]"
    line.enter()
    assert sent == [
        Typed("see [pasted 120 lines] and [pasted 120 lines #2] and short", f"see {long} and {other} and short")
    ]


def test_a_placeholder_that_was_typed_stays_what_it_is(tmp_path: Path) -> None:
    line, _ = composer(tmp_path)
    assert line.expanded("[pasted 3 lines]") == "[pasted 3 lines]"


def test_history_is_shared_and_survives_torn_lines(tmp_path: Path) -> None:
    file = tmp_path / "history"
    one, two = SharedHistory(file), SharedHistory(file)
    one.append_string("first\nwith two lines")
    two.append_string("second")
    with file.open("a") as torn:
        torn.write('"half a line\n')
    one.append_string("third")
    assert list(SharedHistory(file).load_history_strings()) == ["third", "second", "first\nwith two lines"]
    assert file.stat().st_mode & 0o777 == 0o600


def test_history_forgets_the_oldest(tmp_path: Path) -> None:
    file = tmp_path / "history"
    file.write_text("".join(f'"{n}"\n' for n in range(2 * KEPT + 1)))
    SharedHistory(file).append_string("new")
    assert len(file.read_text().splitlines()) == KEPT + 1
    assert next(iter(SharedHistory(file).load_history_strings())) == "new"


def test_a_history_that_cannot_be_kept_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "history").mkdir()
    history = SharedHistory(tmp_path / "history")
    history.append_string("x")
    assert list(history.load_history_strings()) == []


def test_commands_are_completed_at_the_start_only(tmp_path: Path) -> None:
    assert offered(tmp_path, "/mo") == ["/model", "/mode"]
    assert offered(tmp_path, "/mode p") == ["plan"]
    assert offered(tmp_path, "see /mo") == []


def test_files_come_from_git_without_what_it_ignores(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    for name in ("calc.py", "test_calc.py", "calc.pyc", "deep/in/calc.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / ".gitignore").write_text("*.pyc\n")
    assert offered(tmp_path, "look at @calc") == ["@calc.py", "@deep/in/calc.txt", "@test_calc.py"]
    assert offered(tmp_path, "mail@calc") == []


def test_files_come_from_a_walk_where_git_is_not(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "b.txt").write_text("")
    assert offered(tmp_path, "@txt") == ["@a.txt"]
