"""JSON lines both ways: what a host program reads and says, and that nothing it says wrongly changes anything."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.cli.program import DONE, NOBODY, Home, Said, end_of, until

SCHEMA = json.loads((Path(__file__).parent.parent.parent / "hitl_cli/help/jsonlines.schema.json").read_text())
OUT = Draft202012Validator(SCHEMA)
IN = Draft202012Validator({"$defs": SCHEMA["$defs"], "$ref": "#/$defs/in"})
TOUCH = ("Bash", {"command": "touch made"})
LOOKUP = '[permissions]\nallow = ["Lookup"]\n[tools.Lookup]\ndescription = "Looks something up."\nexternal = true\n'


class Host:
    """A host program in the test: says lines, reads lines; each that comes is checked against the schema."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.seen: list[dict[str, Any]] = []

    def say(self, *lines: object) -> None:
        assert self.process.stdin
        for line in lines:
            raw = line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n"
            self.process.stdin.write(raw)
        self.process.stdin.flush()

    def read(self, *types: str) -> dict[str, Any]:
        """The next line, or the next of one of these types."""
        assert self.process.stdout
        while raw := self.process.stdout.readline():
            line: dict[str, Any] = json.loads(raw)
            check(line)
            self.seen.append(line)
            if not types or line["type"] in types:
                return line
        raise AssertionError(f"it ended before {types}: {self.seen}")

    def end(self) -> tuple[int, list[dict[str, Any]]]:
        """The code after the end of what is said, and the lines that still came."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        rest = [json.loads(raw) for raw in self.process.stdout]
        for line in rest:
            check(line)
        self.seen += rest
        seqs = [line["seq"] for line in self.seen if "seq" in line]
        assert seqs == sorted(seqs)
        return self.process.wait(30), rest


def check(line: dict[str, Any]) -> None:
    problems = [f"{e.json_path}: {e.message}" for e in OUT.iter_errors(line)]
    assert not problems, (line, problems)


@contextmanager
def host(home: Home, *arguments: str) -> Iterator[Host]:
    process = home.start(
        "run", *home.model, "--input", "stream-json", *arguments, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        yield Host(process)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream
            stream.close()


def user(text: str = "go") -> dict[str, Any]:
    return {"type": "user", "text": text}


def say(id: str, **answer: Any) -> dict[str, Any]:
    return {"type": "answer", "interrupt": id, "answer": answer}


KEPT: dict[str, dict[str, Any]] = {"approve": {}, "edit": {"input": TOUCH[1]}, "reject": {}}  # answers with a rule
STOP = {"type": "stop"}
RECOVER = {"type": "recover"}


def test_the_schema_is_one_and_knows_what_a_host_says() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    for line in (user(), STOP, RECOVER, say("1.1.0:approval", approve={"rules": ["Bash(ls:*)"], "scope": "user"})):
        assert IN.is_valid(line), line
    for line in ({"type": "user"}, say("x"), say("x", approve={}, reject={}), {"type": "hello"}):
        assert not IN.is_valid(line), line


def test_a_small_host_holds_a_whole_conversation(home: Home) -> None:
    (home.config / "config.toml").write_text(LOOKUP)
    question = {"question": "Which?", "options": [{"label": "Red"}, {"label": "Blue"}]}
    home.calls(
        ("Bash", {"command": "echo hi > said"}),
        TOUCH,
        ("Lookup", {}),
        ("AskUser", {"questions": [question]}),
        last="First.",
    ).more("Second.")
    program = [sys.executable, "-m", "hitl_cli", "run", "--input", "stream-json", *home.model]
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("example_host.py")), "one", "two", "--", *program],
        cwd=home.work, env=home.env, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.stderr == ""
    ends = [line for line in done.stdout.splitlines() if line.startswith("end")]
    assert (ends, done.returncode) == (["end completed First.", "end completed Second."], 0)
    assert (home.work / "said").read_text() == "hi\n"
    assert not (home.work / "made").exists()
    results = [e for e in entries(home) if e["type"] == "settled"]
    assert [(r["result"].get("ok", True), r["result"]["content"][:60]) for r in results] == [
        (True, results[0]["result"]["content"][:60]),
        (False, "Rejected: the user refused this call of Bash. It was not run"),
        (True, "42"),
        (True, "Which?\nBlue"),
    ]


def entries(home: Home) -> list[dict[str, Any]]:
    [row] = home.hitl("sessions", "list", "--json").json
    found: list[dict[str, Any]] = home.hitl("show", row["session"], "--json").json["entries"]
    return found


def test_the_lines_of_a_turn_come_in_the_order_of_the_journal(home: Home) -> None:
    home.calls(TOUCH)
    with host(home) as h:
        assert h.read() == {
            "type": "session",
            "v": 1,
            "session": h.seen[0]["session"],
            "cwd": str(home.work),
            "model": home.model[1],
            "mode": "default",
            "seq": 0,
        }
        h.say(user())
        asked = h.read("interrupt")["interrupt"]
        assert {k: asked[k] for k in ("id", "kind", "call", "reason", "suggested", "expires")} == {
            "id": "1.1.0:approval",
            "kind": "approval",
            "call": {"id": "1.1.0", "name": "Bash", "input": {"command": "touch made"}},
            "reason": "no rule covers `touch made`",
            "suggested": ["Bash(touch made)", "Bash(touch:*)"],
            "expires": None,
        }
        h.say(say(asked["id"], approve={}))
        end = h.read("end")
        assert h.end() == (0, [])
    assert [line["type"] for line in h.seen] == [
        "session", "usage", "call", "verdict", "interrupt", "answer", "result", "text", "usage", "end",
    ]  # fmt: skip
    assert h.seen[5] == {
        "type": "answer",
        "interrupt": "1.1.0:approval",
        "answer": {"approve": {}},
        "by": {"kind": "program", "detail": "host"},
        "seq": 5,
    }
    assert {k: v for k, v in end.items() if k not in ("session", "seq", "usage")} == {
        "type": "end",
        "status": "completed",
        "reason": "",
        "exit": 0,
        "answer": "Done.",
        "denied": [],
        "pending": [],
    }


def test_what_is_said_wrongly_is_answered_by_an_error_and_changes_nothing(home: Home) -> None:
    home.calls(TOUCH)
    wrong: list[tuple[object, str]] = [
        (b"{\n", "not a JSON line: Expecting property name enclosed in double quotes"),
        (b"\xff\n", "not a JSON line: 'utf-8' codec can't decode"),
        (b"[" * 100_000 + b"\n", "not a JSON line: "),
        (b'{"type":"user","text":NaN}\n', "not a JSON line: NaN is no JSON"),
        ([1], "a line is one JSON object with a `type`"),
        ({"type": "hello"}, "unknown type 'hello'; lines are user, answer, stop and recover"),
        ({"text": "hi"}, "unknown type None; lines are user, answer, stop and recover"),
        ({"type": "user", "text": " "}, "a user line carries `text` that is not empty"),
        ({"type": "user", "text": 5}, "a user line carries `text` that is not empty"),
        ({"type": "answer", "interrupt": 5, "answer": {}}, "an answer line carries `interrupt`, an id, and `answer`"),
        (
            say("x", sure={}),
            "answer to x: an answer is one of approve, edit, reject, reply, result, proceed, not 'sure'",
        ),
        (say("x", approve={"rules": [5]}), "answer to x: a rule is a text or an object"),
        (user("another"), "the turn waits for answers; a message can be sent when it has ended"),
        (say("x", approve={}), "x: nothing with this id waits; waiting: 1.1.0:approval"),
        (say("1.1.0:approval", proceed={}), "1.1.0:approval: proceed does not answer this approval; use approve"),
        (say("1.1.0:approval", approve={"rules": ["Bash("]}), "1.1.0:approval: "),
        (say("1.1.0:approval", edit={"input": {"cmd": 1}}), "1.1.0:approval: the new input does not fit the tool"),
        (say("1.1.0:approval", edit={"input": {}}), "answer to 1.1.0:approval: an edit gives the whole new input"),
        *(
            (
                say("1.1.0:approval", **{kind: {**said, "rules": ["Bash(ls)"]}}),
                "1.1.0:approval: Bash(ls) does not cover",
            )
            for kind, said in KEPT.items()
        ),
    ]
    with host(home) as h:
        h.say(user())
        h.read("interrupt")
        before = entries(home)
        for line, problem in wrong:
            h.say(line)
            said = h.read()
            assert (said["type"], said["message"][: len(problem)]) == ("error", problem)
        assert entries(home) == before
        h.say(b"\n", {**say("1.1.0:approval", approve={}), "unknown": 1})
        assert h.read("end")["exit"] == 0
        h.say(say("1.1.0:approval", approve={}))
        assert h.read()["message"] == "1.1.0:approval does not wait for an answer"
        assert h.end() == (0, [])


def test_lines_may_come_in_pieces_and_the_last_without_an_end(home: Home) -> None:
    with host(home.script(DONE)) as h:
        raw = json.dumps(user("Grüße")).encode()
        for n in range(len(raw)):
            h.say(raw[n : n + 1])
        code, rest = h.end()
    assert (code, rest[-1]["answer"]) == (0, "Done.")


@pytest.mark.slow
def test_a_line_without_end_is_not_kept_for_ever(home: Home) -> None:
    with host(home.script(DONE)) as h:
        h.say(b"x" * (10 * (1 << 20) + 1))
        assert h.read("error")["message"] == "a line is longer than 10 MB; nothing more is read"


def test_messages_are_kept_until_their_turn(home: Home) -> None:
    home.script("".join(f'[[turn]]\n[[turn.reply]]\ntext = "{n}"\n' for n in range(5)))
    with host(home) as h:
        h.say(*[user(str(n)) for n in range(5)])
        code, rest = h.end()
    assert (code, [line["answer"] for line in rest if line["type"] == "end"]) == (0, list("01234"))


def test_at_the_end_of_input_what_waits_is_parked_and_another_process_takes_it_up(home: Home) -> None:
    home.calls(TOUCH)
    with host(home) as h:
        h.say(user())
        h.read("interrupt")
        code, rest = h.end()
        assert (code, rest[0]["status"], rest[0]["exit"], len(rest[0]["pending"])) == (4, "suspended", 4, 1)
    with host(home, "-c") as again:
        first = [again.read(), again.read()]
        assert [line["type"] for line in first] == ["session", "interrupt"]
        assert first[1]["interrupt"] == rest[0]["pending"][0]
        again.say(say("1.1.0:approval", approve={}))
        assert again.read("end")["answer"] == "Done."
        assert again.end() == (0, [])


def test_a_host_takes_up_a_turn_that_was_cut_off(home: Home) -> None:
    (home.work / "job").write_text("echo x >> made; sleep 300")
    home.allow("Bash").calls(("Bash", {"command": "sh job"}))
    with host(home) as h:
        h.say(user())
        until(lambda: (home.work / "made").exists())
        h.process.kill()
    with host(home, "-c") as again:
        again.say(user("more"))
        assert "was cut off" in again.read("error")["message"]
        again.say(RECOVER)
        asked = again.read("interrupt")["interrupt"]
        assert (asked["id"], asked["source"]) == ("1.1.0:uncertain", "uncertain")
        again.say(say(asked["id"], result={"output": "it ran"}))
        assert again.read("end")["answer"] == "Done."
        again.say(RECOVER)
        assert again.read("error")["message"].startswith("Nothing was cut off in session ")
        assert again.end() == (2, [])
    assert (home.work / "made").read_text() == "x\n"


def test_a_question_that_another_process_answered_is_not_answered_twice(home: Home) -> None:
    home.calls(TOUCH)
    with host(home) as h:
        h.say(user())
        h.read("interrupt")
        assert home.hitl("answer", h.seen[0]["session"], "--reject", "--reason", "no").code == 3
        h.say(say("1.1.0:approval", approve={}))
        assert h.read()["message"] == f"1.1.0:approval: already answered: reject by {NOBODY}"
        assert not (home.work / "made").exists()
        h.say(user("next"))
        assert h.read("end")["answer"] == "The script is over."
        assert h.end() == (0, [])


STALLS = (
    '[[turn]]\n[[turn.reply]]\ntext = "I think"\nerror = { stall = 300 }\n[[turn]]\n[[turn.reply]]\ntext = "Two."\n'
)


@pytest.mark.parametrize("when", ["while it speaks", "at once"])
def test_a_stop_ends_the_turn_and_the_conversation_goes_on(home: Home, when: str) -> None:
    with host(home.script(STALLS)) as h:
        h.say(user(), *([STOP] if when == "at once" else []))
        if when == "while it speaks":
            h.read("text")
            h.say(STOP)
        end = h.read("end")
        assert (end["status"], end["reason"], end["exit"]) == ("stopped", "interrupted", 130)
        h.say(STOP, user())
        assert h.read("end")["answer"] == "Two."
        assert h.end() == (0, [])


def test_a_stop_ends_a_turn_that_waits(home: Home) -> None:
    home.calls(TOUCH)
    with host(home) as h:
        h.say(user())
        h.read("interrupt")
        h.say(STOP)
        assert h.read("end")["exit"] == 130
        assert h.end() == (130, [])
    assert home.pending() == []


def test_a_signal_while_it_waits_parks(home: Home) -> None:
    home.calls(TOUCH)
    with host(home) as h:
        h.say(user())
        h.read("interrupt")
        h.process.terminate()
        assert h.read("end")["status"] == "suspended"
        assert h.process.wait(30) == 130
    assert len(home.pending()) == 1


def test_the_first_message_may_stand_on_the_command_line(home: Home) -> None:
    with host(home.script(DONE), "hello") as h:
        assert h.read("end")["answer"] == "Done."
        assert h.end() == (0, [])


@pytest.mark.slow
def test_a_session_that_was_cut_off_says_what_to_do(home: Home) -> None:
    process = home.allow("Bash(sleep:*)").calls(("Bash", {"command": "sleep 300"})).start("run", "go", *home.model)
    until(lambda: any(e["type"] == "started" for e in maybe(home)))
    process.kill()
    end_of(process)
    with host(home, "-c") as h:
        h.say(user())
        assert "cut off" in h.read("error")["message"]
        assert h.end() == (2, [])


def maybe(home: Home) -> list[dict[str, Any]]:
    return entries(home) if home.hitl("sessions", "list", "--json").json else []


def test_other_formats_tell_the_turns_of_a_host_too(home: Home) -> None:
    home.script(DONE)
    lines = json.dumps(user()) + "\nnonsense\n"
    said: Said = home.run("--input", "stream-json", "--output", "text", input=lines)
    assert (said.code, said.out) == (0, "Done.\n")
    assert said.err.startswith("hitl: not a JSON line: ")
    [end] = home.run("--input", "stream-json", "--output", "json", input=lines).lines
    assert (end["type"], end["answer"]) == ("end", "Done.")
