"""Files that a message names with `@`: their text or picture goes along with it, so that the model need not ask for them.

`@src/app.py`, `@~/shot.png`, or `@"with blanks.txt"`, at the beginning of a word. What is attached is what `Read` would
show of the file, with the same limits, and counts as read. The rules for `Read` decide: a file that is denied, or that is
always asked about, is not attached, and the person is told. What would only be asked about is attached where a person at a
terminal named it, for that is the answer; elsewhere it is not.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from typing import Any

from hitl_cli.access import Opaque, ReadPath
from hitl_cli.accesses import accesses_of, reading
from hitl_cli.agent import Agent
from hitl_cli.instructions import near
from hitl_cli.journal import Json
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision, Verdict
from hitl_cli.records import Struct, replace
from hitl_cli.regex import later
from hitl_cli.state import State
from hitl_cli.tools.declare import Failed, explained
from hitl_cli.tools.read import look

MOST = 20  # files of one message
ROOM = 400_000  # characters of all texts of one message
NAMES = 200  # of a folder
_MENTION = later(r"""(?:^|(?<=[\s("'\[]))@(?:"([^"\n]+)"|([^\s"]+))""")
_FILE = later(r"^[\w./~-]*\w\.[A-Za-z]\w{0,3}$")
_TAIL = later(r"(?::\d+(?:-\d+)?)?[.,;:!?)\]}'>]*$")  # of a word: a line number, the sentence's own marks


class Attached(Struct, frozen=True):
    """`content` are blocks for the message, each with the note `_file`; `problems` say what was left out, and why."""

    content: tuple[Mapping[str, Json], ...] = ()
    problems: tuple[str, ...] = ()


def attach(agent: Agent, session: str | None, text: str, *, person: bool) -> Attached:
    """What `text` names, read. `person`: somebody at a terminal wrote it."""
    names = list(mentions(text, agent.place.cwd))
    lost = [f"@{name} was not found." for name in missing(text, agent.place.cwd)]
    if not names:
        return Attached(problems=tuple(lost))
    state = State(session or "")
    if session is not None:
        state.fold_all(recorded.entry for recorded in agent.store.read(session))
    state.settings = state.settings or agent.settings
    rules, mode = agent.bench.rules_of(state), agent.bench.mode_of(state)
    content, problems, room = list[Mapping[str, Json]](), lost, ROOM
    for name in names:
        accesses = accesses_of("Read", {"file_path": name}, agent.place)
        verdict = rules.judge(accesses, mode=mode, now=time.time(), tool="Read")
        access = accesses[0]
        try:
            if why := _closed(verdict, person):
                raise Failed(why)
            if isinstance(access, Opaque):
                raise Failed(access.reason)
            if len(content) == MOST or room <= 0:
                raise Failed("there is too much attached already; the model can read it with `Read`")
            assert isinstance(access, ReadPath)
            blocks = list(_blocks(access.real or access.path, agent, rules))
        except (Failed, OSError) as error:
            problems.append(f"@{name} is not attached: {explained(error)}")
            continue
        content += blocks
        room -= sum(len(str(block.get("text", ""))) for block in blocks)
    return Attached(tuple(content), tuple(problems))


def mentions(text: str, cwd: str) -> Iterator[str]:
    """The files and folders named in `text` that exist, each once, as they are written."""
    seen = set[str]()
    for found in _MENTION.finditer(text):
        quoted, word = found[1], found[2] or ""
        for name in (quoted,) if quoted else (word, _TAIL.sub("", word)):
            if name and os.path.lexists(os.path.join(cwd, os.path.expanduser(name))):
                if name not in seen:
                    yield name
                seen.add(name)
                break


def missing(text: str, cwd: str) -> Iterator[str]:
    """What reads like the name of a file, and is none: quoted, or with a suffix."""
    for found in _MENTION.finditer(text):
        name = found[1] or _TAIL.sub("", found[2])
        if (found[1] or _FILE.match(name)) and not any(mentions(found[0], cwd)):
            yield name


def _closed(verdict: Verdict, person: bool) -> str:
    """Why the file is not attached, "" when it may be."""
    if verdict.decision is Decision.ALLOW:
        return ""
    by = verdict.part.by if verdict.part else ""
    return verdict.reason if verdict.decision is Decision.DENY or by == "floor" or not person else ""


def _blocks(path: str, agent: Agent, rules: Policy) -> Iterator[Mapping[str, Json]]:
    readable = reading(lambda: rules)
    name = near(path, replace(agent.place, roots=(os.path.realpath(agent.place.workspace),)))
    if os.path.isdir(path):
        yield {"type": "text", "text": f"The folder {name}:\n{_listing(path, readable)}", "_file": {"name": name + "/"}}
        return
    result = look(path, readable)
    mark: dict[str, Any] = {**result.data.get("seen", {}), "name": name}
    if isinstance(result.content, str):
        yield {"type": "text", "text": f"The file {name}:\n{result.content}", "_file": mark}
        return
    *words, picture = result.content
    yield from words
    yield {**picture, "_file": mark}


def _listing(path: str, readable: Any) -> str:
    names = [n + "/" * os.path.isdir(os.path.join(path, n)) for n in sorted(os.listdir(path))]
    shown = [n for n in names if readable(os.path.join(path, n.rstrip("/")))]
    more = [f"(and {len(shown) - NAMES} more)"] if len(shown) > NAMES else []
    return "\n".join([*shown[:NAMES], *more]) or "(empty)"
