"""The scripted model's file: read whole and checked before the first word of it is said.

What is refused: an unknown key, a value of the wrong kind, a call named twice, a `when` that names no earlier call or no
outcome, a call or answer that says too little or two things at once. Every refusal is a `SettingsError` with file, line
and remedy.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NoReturn

from hitl_cli.errors import SettingsError
from hitl_cli.journal import Json, Usage
from hitl_cli.models.lines import Lines, Table
from hitl_cli.records import Struct

OUTCOMES = ("ok", "error", "refused", "edited", "interrupted", "approved")
WINDOW = 200_000  # tokens
Say = Literal["approve", "always", "reject", "edit", "never"]


class ScriptCall(Struct, frozen=True):
    """`input` is None when the model is to write broken JSON: `raw`."""

    name: str
    tool: str
    input: Mapping[str, Json] | None
    raw: str = ""


class ScriptError(Struct, frozen=True):
    """`status` fails `times` times (None: always) before the reply comes; `cut` breaks the stream after the text;
    `stall` is that many seconds of silence after the text."""

    status: int | None = None
    retry_after: float | None = None
    times: int | None = None
    message: str = ""
    cut: bool = False
    stall: float = 0


class ScriptReply(Struct, frozen=True):
    """`when` is the name of an earlier call and its outcome; `pieces` are the streamed pieces of the text."""

    when: tuple[str, str] | None = None
    has: str = ""
    pieces: tuple[str, ...] = ()
    thinking: str = ""
    wait: float = 0
    stop: Literal["end", "length", "refusal", "pause"] | None = None
    usage: Usage = Usage()
    error: ScriptError | None = None
    calls: tuple[ScriptCall, ...] = ()


class ScriptTurn(Struct, frozen=True):
    user: str = ""
    replies: tuple[ScriptReply, ...] = ()


class ScriptAnswer(Struct, frozen=True):
    """What the absent person says to the question about `call`; `input` is the changed input of an edit."""

    call: str
    say: Say
    reason: str = ""
    input: Mapping[str, Json] | None = None


class Script(Struct, frozen=True):
    title: str
    chunk: int
    delay: float
    turns: tuple[ScriptTurn, ...]
    answers: tuple[ScriptAnswer, ...]
    window: int = WINDOW  # tokens


def load(path: Path) -> Script:
    """The checked script in `path`; SettingsError when it cannot be used."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise SettingsError("the script is not UTF-8 text", file=str(path), remedy="Save it as UTF-8.") from None
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        remedy = "Name an existing file: --model script:FILE."
        raise SettingsError(f"the script cannot be read: {why}", file=str(path), remedy=remedy) from None
    return parse(text, str(path))


def parse(text: str, file: str) -> Script:
    """The script in `text`; `file` is only named in errors."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+)", str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        raise SettingsError(f"not TOML: {error}", file=file, line=line, remedy="Repair that line.") from None
    return _Reader(file, Lines(text)).script(data)


_NUMBER = (int, float)
_TOP = {"format": int, "title": str, "chunk": int, "delay": _NUMBER, "window": int, "turn": list, "answer": list}
_TURN = {"user": str, "reply": list}
_REPLY = {
    "when": str,
    "has": str,
    "text": str,
    "chunks": list,
    "thinking": str,
    "wait": _NUMBER,
    "stop": str,
    "usage": dict,
    "error": dict,
    "calls": list,
}
_CALL = {"name": str, "tool": str, "input": dict, "raw": str}
_USAGE = {"input": int, "output": int, "cache_read": int, "cache_write": int, "cost": _NUMBER}
_ERROR = {"status": int, "retry_after": _NUMBER, "times": int, "message": str, "cut": bool, "stall": _NUMBER}
_ANSWER = {"call": str, "say": str, "reason": str, "input": dict}
_KINDS = {
    int: "a whole number",
    str: "text",
    list: "a list",
    dict: "a table",
    bool: "true or false",
    _NUMBER: "a number",
}


class _Reader:
    """Tables of one file into records; `seen` are the names of calls so far, in the order of the file."""

    def __init__(self, file: str, lines: Lines) -> None:
        self._file, self._lines = file, lines
        self._seen: list[str] = []

    def script(self, data: dict[str, Any]) -> Script:
        top = Table()
        self._check(data, _TOP, top)
        if data.get("format") != 1:
            self._refuse("the format is not 1", top, key="format", remedy="Write format = 1 as the first line.")
        if data.get("window", 1) < 1:
            self._refuse("window is below 1", top, key="window", remedy="Write how many tokens the model can hold.")
        if data.get("chunk", 16) < 0:
            self._refuse(
                "chunk is below 0", top, key="chunk", remedy="Write 0 for all at once, or a number of characters."
            )
        turns = tuple(
            self._turn(turn, Table(("turn", number)), data.get("chunk", 16))
            for number, turn in enumerate(data.get("turn", []))
        )
        if not turns:
            self._refuse("the script has no turn", top, remedy="Write at least one [[turn]] with a [[turn.reply]].")
        answers = tuple(
            self._answer(one, Table(("answer", number))) for number, one in enumerate(data.get("answer", []))
        )
        chunk, delay, window = data.get("chunk", 16), data.get("delay", 0.02), data.get("window", WINDOW)
        return Script(data.get("title", ""), chunk, delay, turns, answers, window)

    def _turn(self, data: dict[str, Any], at: Table, chunk: int) -> ScriptTurn:
        self._check(data, _TURN, at)
        replies = [self._reply(one, at.under("reply", n), chunk) for n, one in enumerate(data.get("reply", []))]
        return ScriptTurn(data.get("user", ""), tuple(replies))

    def _reply(self, data: dict[str, Any], at: Table, chunk: int) -> ScriptReply:
        self._check(data, _REPLY, at)
        when = self._when(data["when"], at) if "when" in data else None
        if "has" in data and not when:
            self._refuse("`has` without `when`", at, key="has", remedy='Say whose result: when = "NAME ok".')
        if "text" in data and "chunks" in data:
            self._refuse("both text and chunks", at, key="chunks", remedy="Keep one of them.")
        if not all(isinstance(piece, str) for piece in data.get("chunks", [])):
            self._refuse(
                "chunks holds something that is not text", at, key="chunks", remedy='Write chunks = ["a", "b"].'
            )
        stops = ("end", "length", "refusal", "pause")
        if data.get("stop", "end") not in stops:
            self._refuse(f"unknown stop {data['stop']!r}", at, key="stop", remedy=f"Write one of {', '.join(stops)}.")
        self._check(data.get("usage", {}), _USAGE, at)
        return ScriptReply(
            when,
            data.get("has", ""),
            tuple(data["chunks"]) if "chunks" in data else pieces(data.get("text", ""), chunk),
            data.get("thinking", ""),
            data.get("wait", 0),
            data.get("stop"),
            Usage(**data.get("usage", {})),
            self._error(data["error"], at) if "error" in data else None,
            tuple(self._call(one, at) for one in data.get("calls", [])),
        )

    def _when(self, text: str, at: Table) -> tuple[str, str]:
        name, _, outcome = text.partition(" ")
        if outcome not in OUTCOMES:
            remedy = f'Write when = "NAME OUTCOME", the outcome one of {", ".join(OUTCOMES)}.'
            self._refuse(f"{text!r} is no call with an outcome", at, key="when", remedy=remedy)
        if name not in self._seen:
            near = _nearest(name, self._seen)
            remedy = near or "Name a call of an earlier reply; a reply cannot wait for one that comes later."
            self._refuse(f"`when` names {name!r}, which is no earlier call", at, key="when", remedy=remedy)
        return name, outcome

    def _error(self, data: dict[str, Any], at: Table) -> ScriptError:
        self._check(data, _ERROR, at)
        if sum(key in data for key in ("status", "cut", "stall")) != 1:
            remedy = "Write one of { status = 529 }, { cut = true } and { stall = 5 }."
            self._refuse("an error is one of status, cut and stall", at, key="error", remedy=remedy)
        if not 400 <= data.get("status", 400) < 600:
            self._refuse(f"{data['status']} is no error status", at, key="status", remedy="Write 400 to 599.")
        return ScriptError(**data)

    def _call(self, data: Any, at: Table) -> ScriptCall:
        self._check(data, _CALL, at)
        name = data.get("name", "")
        for key in ("name", "tool"):
            if not data.get(key):
                self._refuse(f"a call without {key}", at, key="calls", remedy=f'Give it {key} = "…".')
        if re.search(r"\s", name):
            self._refuse(f"the call name {name!r} holds a blank", at, word=name, remedy="Use one word.")
        if name in self._seen:
            self._refuse(
                f"a second call named {name!r}", at, word=name, remedy="Give each call of the file its own name."
            )
        if ("input" in data) == ("raw" in data):
            self._refuse(f"the call {name!r} needs either input or raw", at, word=name, remedy="Write input = { … }.")
        self._seen.append(name)
        return ScriptCall(name, data["tool"], data.get("input"), data.get("raw", ""))

    def _answer(self, data: Any, at: Table) -> ScriptAnswer:
        self._check(data, _ANSWER, at)
        if data.get("call") not in self._seen:
            remedy = _nearest(str(data.get("call", "")), self._seen) or "Name a call of this file."
            self._refuse(f"an answer to {data.get('call')!r}, which is no call", at, key="call", remedy=remedy)
        says = ("approve", "always", "reject", "edit", "never")
        if data.get("say") not in says:
            self._refuse(
                f"unknown answer {data.get('say')!r}", at, key="say", remedy=f"Write one of {', '.join(says)}."
            )
        if (data["say"] == "edit") != ("input" in data):
            self._refuse(
                "`input` belongs to an edit", at, key="say", remedy="An edit, and only an edit, has input = { … }."
            )
        return ScriptAnswer(data["call"], data["say"], data.get("reason", ""), data.get("input"))

    def _check(self, data: Any, kinds: Mapping[str, Any], at: Table) -> None:
        if not isinstance(data, dict):
            self._refuse(f"{data!r} stands where a table belongs", at, remedy="Write { … } or a [[table]].")
        for key, value in data.items():
            if key not in kinds:
                remedy = _nearest(key, list(kinds)) or f"Known keys: {', '.join(kinds)}."
                self._refuse(f"unknown key {key!r}", at, key=key, remedy=remedy)
            kind = kinds[key]
            if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
                self._refuse(f"{key} is not {_KINDS[kind]}", at, key=key, remedy=f"Write {_KINDS[kind]}.")

    def _refuse(self, problem: str, at: Table, *, key: str = "", word: str = "", remedy: str) -> NoReturn:
        raise SettingsError(problem, file=self._file, line=self._lines.of(at, key, word), remedy=remedy)


def _nearest(word: str, known: list[str]) -> str:
    near = difflib.get_close_matches(word, known, n=1)
    return f"Did you mean {near[0]!r}?" if near else ""


def pieces(text: str, size: int) -> tuple[str, ...]:
    """`text` cut every `size` characters, whole when `size` is 0."""
    return tuple(text[at : at + size] for at in range(0, len(text), size)) if size and text else (text,) if text else ()
