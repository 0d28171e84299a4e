"""Slash commands: the table is complete and helpful, own commands are read from files."""

from pathlib import Path

import pytest

from hitl_cli.ui.commands import COMMANDS, KEYS, filled, named, own_commands, summary


def test_every_command_has_a_name_of_its_own_and_a_help_that_fits_a_line() -> None:
    names = [c.name for c in COMMANDS]
    assert len(set(names)) == len(names)
    assert all(c.name.startswith("/") and c.help and len(c.help) < 50 for c in COMMANDS)
    assert max(len(f"{c.name} {c.takes}") for c in COMMANDS) <= 32, "the column of `/help`"


def test_the_list_of_help_keeps_its_lines_on_a_terminal_of_80_columns() -> None:
    room = 80 - 3  # a margin of two, and the last column, in which some terminals wrap
    assert [line for line in KEYS.splitlines() if len(line) > room] == []
    assert [c.name for c in COMMANDS if 34 + len(c.help) > room] == []


def test_a_command_is_found_by_its_first_word() -> None:
    found = named("/mode plan")
    assert found is not None
    assert found.name == "/mode"
    assert named("/modes") is None


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("# Help\n\nReview $ARGUMENTS now.\n", "a.py", "Review a.py now."),
        ("Review it.", "a.py", "Review it.\n\na.py"),
        ("Review it.", "", "Review it."),
    ],
)
def test_an_own_command_sends_its_text_with_what_was_typed(text: str, arguments: str, message: str) -> None:
    assert filled(text, arguments) == message


def test_own_commands_come_from_files(tmp_path: Path) -> None:
    (tmp_path / "review.md").write_text("# Look closely\n\nReview.")
    (tmp_path / "notes.txt").write_text("no command")
    found = own_commands(tmp_path)
    assert {name: summary(text) for name, text in found.items()} == {"/review": "Look closely"}
    assert own_commands(tmp_path / "missing") == {}
