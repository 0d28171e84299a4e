"""The scripted model's file: what is read, and how each mistake is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_cli.errors import SettingsError, UsageError
from hitl_cli.journal import Usage
from hitl_cli.models import open_model
from hitl_cli.models.script import Script, ScriptAnswer, ScriptCall, ScriptError, ScriptReply, ScriptTurn, load, parse

WHOLE = """format = 1
title  = "Fix a failing test"
chunk  = 4
delay  = 0.5

[[turn]]
user = "Please fix the test"

[[turn.reply]]
text  = "I will look."
usage = { input = 1200, output = 40, cache_read = 1000 }
calls = [
  { name = "look", tool = "Read", input = { file_path = "calc.py" } },
  { name = "test", tool = "Bash", input = { command = "python3 -m unittest" } },
]

[[turn.reply]]
when = "test refused"
chunks = ["Then ", "I only propose."]
stop = "length"

[[turn.reply]]
when  = "test ok"
has   = "FAILED"
thinking = "Hm."
error = { status = 529, retry_after = 1, times = 1 }
calls = [{ name = "clean", tool = "Bash", raw = "{broken" }]

[[turn.reply]]
wait = 0.5
error = { stall = 5 }

[[answer]]
call = "clean"
say  = "reject"
reason = "keep it"

[[answer]]
call = "test"
say  = "edit"
input = { command = "true" }
"""


def test_a_whole_script_is_read() -> None:
    assert parse(WHOLE, "a.toml") == Script(
        "Fix a failing test",
        4,
        0.5,
        (
            ScriptTurn(
                "Please fix the test",
                (
                    ScriptReply(
                        pieces=("I wi", "ll l", "ook."),
                        usage=Usage(1200, 40, 1000),
                        calls=(
                            ScriptCall("look", "Read", {"file_path": "calc.py"}),
                            ScriptCall("test", "Bash", {"command": "python3 -m unittest"}),
                        ),
                    ),
                    ScriptReply(when=("test", "refused"), pieces=("Then ", "I only propose."), stop="length"),
                    ScriptReply(
                        when=("test", "ok"),
                        has="FAILED",
                        thinking="Hm.",
                        error=ScriptError(status=529, retry_after=1, times=1),
                        calls=(ScriptCall("clean", "Bash", None, "{broken"),),
                    ),
                    ScriptReply(wait=0.5, error=ScriptError(stall=5)),
                ),
            ),
        ),
        (ScriptAnswer("clean", "reject", "keep it"), ScriptAnswer("test", "edit", input={"command": "true"})),
    )


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("format = 1", "format = 2", "a.toml:1: the format is not 1\n  Write format = 1 as the first line."),
        ("format = 1\n", "\n", "a.toml:1: the format is not 1\n  Write format = 1 as the first line."),
        ("title ", "titel ", "a.toml:2: unknown key 'titel'\n  Did you mean 'title'?"),
        (
            "chunk  = 4",
            "chunk  = -1",
            "a.toml:3: chunk is below 0\n  Write 0 for all at once, or a number of characters.",
        ),
        ("delay  = 0.5", 'delay  = "x"', "a.toml:4: delay is not a number\n  Write a number."),
        ("chunk  = 4", "chunk  = true", "a.toml:3: chunk is not a whole number\n  Write a whole number."),
        ('user = "', 'usr = "', "a.toml:7: unknown key 'usr'\n  Did you mean 'user'?"),
        ("output = 40", "outptu = 40", "a.toml:11: unknown key 'outptu'\n  Did you mean 'output'?"),
        ('tool = "Bash", raw', 'tol = "Bash", raw', "a.toml:27: unknown key 'tol'\n  Did you mean 'tool'?"),
        (
            '{ name = "test"',
            '{ name = "look"',
            "a.toml:14: a second call named 'look'\n  Give each call of the file its own name.",
        ),
        (
            ', raw = "{broken"',
            "",
            "a.toml:27: the call 'clean' needs either input or raw\n  Write input = { … }.",
        ),
        ('name = "clean"', 'name = "clean up"', "a.toml:27: the call name 'clean up' holds a blank\n  Use one word."),
        ('tool = "Read", ', "", 'a.toml:12: a call without tool\n  Give it tool = "…".'),
        (
            '"test refused"',
            '"tets refused"',
            "a.toml:18: `when` names 'tets', which is no earlier call\n  Did you mean 'test'?",
        ),
        (
            '"test refused"',
            '"clean refused"',
            "a.toml:18: `when` names 'clean', which is no earlier call\n"
            "  Name a call of an earlier reply; a reply cannot wait for one that comes later.",
        ),
        (
            '"test ok"',
            '"test fine"',
            "a.toml:23: 'test fine' is no call with an outcome\n"
            '  Write when = "NAME OUTCOME", the outcome one of ok, error, refused, edited, interrupted, approved.',
        ),
        ('when  = "test ok"', "", 'a.toml:24: `has` without `when`\n  Say whose result: when = "NAME ok".'),
        (
            'stop = "length"',
            'stop = "stop"',
            "a.toml:20: unknown stop 'stop'\n  Write one of end, length, refusal, pause.",
        ),
        ("chunks = ", 'text = "x"\nchunks = ', "a.toml:20: both text and chunks\n  Keep one of them."),
        ('["Then ", ', "[3, ", 'a.toml:19: chunks holds something that is not text\n  Write chunks = ["a", "b"].'),
        ("status = 529", "status = 200", "a.toml:26: 200 is no error status\n  Write 400 to 599."),
        (
            "{ stall = 5 }",
            "{ stall = 5, cut = true }",
            "a.toml:31: an error is one of status, cut and stall\n"
            "  Write one of { status = 529 }, { cut = true } and { stall = 5 }.",
        ),
        (
            'call = "clean"',
            'call = "claen"',
            "a.toml:34: an answer to 'claen', which is no call\n  Did you mean 'clean'?",
        ),
        (
            'say  = "reject"',
            'say  = "no"',
            "a.toml:35: unknown answer 'no'\n  Write one of approve, always, reject, edit, never.",
        ),
        (
            'input = { command = "true" }',
            "",
            "a.toml:40: `input` belongs to an edit\n  An edit, and only an edit, has input = { … }.",
        ),
        (
            "wait = 0.5",
            "wait = ",
            "a.toml:30: not TOML: Invalid value (at line 30, column 8)\n  Repair that line.",
        ),
    ],
)
def test_a_mistake_is_told_with_file_line_and_remedy(right: str, wrong: str, told: str) -> None:
    assert right in WHOLE
    with pytest.raises(SettingsError) as caught:
        parse(WHOLE.replace(right, wrong, 1), "a.toml")
    assert str(caught.value) == told
    assert caught.value.exit_code == 2


def test_headers_inside_long_strings_are_no_tables() -> None:
    text = 'format = 1\n[[turn]]\n[[turn.reply]]\ntext = """\n[[turn]]\n[[turn.reply]]\n"""\n[[turn.reply]]\nwehn = "x ok"\n'
    with pytest.raises(SettingsError, match=r"^a.toml:9: unknown key 'wehn'\n  Did you mean 'when'\?$"):
        parse(text, "a.toml")


def test_a_script_without_turns_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"^a.toml:1: the script has no turn\n"):
        parse("format = 1\n", "a.toml")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "the script cannot be read: no such file or directory\n  Name an existing file: --model script:FILE."),
        (b"format = 1 # \xff", "the script is not UTF-8 text\n  Save it as UTF-8."),
    ],
)
def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, content: bytes | None, told: str) -> None:
    file = tmp_path / "a.toml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SettingsError) as caught:
        load(file)
    assert str(caught.value) == f"{file}: {told}"


def test_a_script_is_named_by_its_file_so_that_other_folders_find_it(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(WHOLE)
    assert open_model("script:a.toml", cwd=tmp_path).name == f"script:{tmp_path}/a.toml"


@pytest.mark.parametrize("name", ["", "two words", "scripted:x"])
def test_a_name_that_can_be_no_model_is_wrong_usage(name: str) -> None:
    with pytest.raises(UsageError, match="There is no model"):
        open_model(name)
