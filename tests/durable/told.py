"""A person who lives through crashes: looks at what is there, does the next sensible thing, and proves the end.

Everything is done by the real program in processes of its own, and looked at from outside: through the store, the rule
file and the file that the commands append to.
"""

from __future__ import annotations

import copy
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hitl_cli.journal import Answered, Raised, Recorded, Replied, Settled, Started
from hitl_cli.store import Head
from hitl_cli.store.sqlite import SqliteStore
from tests.cli.program import Home, Said

LONG = os.environ.get("HITL_TEST_LONG") == "1"  # every point, in processes started afresh
PROGRAM = Path(__file__).with_name("program_with_points.py")
ROOT = Path(__file__).parents[2]
KILLED = -9


class Server:
    """Starts the program's processes from one that has it loaded."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAM), "serve"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, order: Mapping[str, Any]) -> int:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def close(self) -> None:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class House(Home):
    """A person's folders, in which commands can be killed at a point."""

    def __init__(self, root: Path, server: Server | None, module: str = "hitl_cli.cli.main") -> None:
        super().__init__(root)
        self.server, self.module, self.notes = server, module, root
        self.passed = 0  # points that the last command came through

    def beside(self, notes: Path, server: Server | None) -> House:
        """Another one in the same folders, with `notes` for what its own commands say."""
        notes.mkdir()
        other = copy.copy(self)
        other.server, other.notes, other.env = server, notes, dict(self.env)
        return other

    def at(self, point: int, *arguments: str) -> Said:
        """Run the program; it is killed at `point` (0: not at all)."""
        count, out, err = (self.notes / name for name in ("count", "out", "err"))
        count.write_text("0")
        env = {**self.env, "PYTHONPATH": str(ROOT)}
        if self.server:
            order = {"env": env, "cwd": str(self.work), "out": str(out), "err": str(err), "at": point}
            code = self.server.run({**order, "count": str(count), "module": self.module, "arguments": arguments})
        else:
            with out.open("wb") as stdout, err.open("wb") as stderr:
                command = [sys.executable, str(PROGRAM), str(count), str(point), self.module, *arguments]
                code = subprocess.run(
                    command, cwd=self.work, env=env, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr
                ).returncode
        self.passed = int(count.read_text())
        return Said(code, out.read_text(), err.read_text())

    @contextmanager
    def store(self) -> Iterator[SqliteStore]:
        store = SqliteStore(self.state / "sessions.db")
        try:
            yield store
        finally:
            store.close()

    def head(self) -> Head | None:
        with self.store() as store:
            heads = store.heads()
        assert len(heads) <= 1
        return heads[0] if heads else None

    def history(self) -> list[Recorded]:
        with self.store() as store:
            return store.read(store.heads()[0].session)

    @property
    def log(self) -> list[str]:
        """What the commands have written, in the order in which they ran."""
        file = self.work / "log"
        return file.read_text().splitlines() if file.exists() else []

    def keep(self, into: Path) -> None:
        for folder in (self.config, self.state, self.work):
            shutil.copytree(folder, into / folder.name, symlinks=True)

    def back_to(self, kept: Path) -> None:
        for folder in (self.config, self.state, self.work):
            shutil.rmtree(folder)
            shutil.copytree(kept / folder.name, folder, symlinks=True)


class Person:
    """`says`: what is answered, by call and kind of interrupt; `order`: seeds the order of answers, None: as listed."""

    def __init__(self, house: House, says: Mapping[str, list[str]], flags: tuple[str, ...] = ()) -> None:
        self.house, self.says, self.flags = house, says, flags
        self.luck: random.Random | None = None

    def next(self) -> list[str] | None:
        """The next command, None when the turn is over."""
        head = self.house.head()
        if head is None or (not head.turns and head.status == "idle" and not head.pending):
            return ["run", "go", *self.flags, *self.house.model]
        if head.status == "interrupted":
            return ["recover", head.session, *self.flags]
        if head.pending:
            asked = self.luck.choice(head.pending) if self.luck else head.pending[0]
            id = str(asked["id"])
            said = self.says.get(id.partition("~")[0]) or self.says[id.partition(":")[2].partition("~")[0]]
            return ["answer", head.session, id, *said, *self.flags]
        assert head.status == "idle", head
        return None

    def on(self) -> Iterator[tuple[list[str], Said]]:
        """Commands until the turn is over; none of them fails."""
        for _ in range(60):
            command = self.next()
            if command is None:
                return
            said = self.house.at(0, *command)
            assert said.code in (0, 3, 4), (command, said)
            yield command, said
        raise AssertionError("the turn does not end")


def proved(
    house: House, lines: Mapping[str, str], may_be_gone: Collection[str] = (), twice: Collection[str] = ()
) -> None:
    """The journal has no gap, every call one result, no answer was lost or given twice, and nothing ran twice.

    `lines`: the line that each call which is to run appends to the log; `may_be_gone`: those of jobs that
    ended with their process; `twice`: calls that stop at a question of their own and start again with the answer.
    """
    entries = [recorded.entry for recorded in house.history()]
    assert [recorded.seq for recorded in house.history()] == list(range(1, len(entries) + 1))
    called = [call.id for entry in entries if isinstance(entry, Replied) for call in entry.calls]
    assert sorted(e.call for e in entries if isinstance(e, Settled)) == sorted(called)
    raised = [str(i["id"]) for e in entries if isinstance(e, Raised) for i in e.interrupts]
    answered = [id for e in entries if isinstance(e, Answered) for id in e.answers]
    assert sorted(raised) == sorted(answered)
    assert len(set(answered)) == len(answered)
    started = [e.call for e in entries if isinstance(e, Started)]
    uncertain = {id.partition(":")[0] for id in raised if ":uncertain" in id}
    assert {call for call in started if started.count(call) > 1 and call in lines} <= set(twice)
    assert len(house.log) == len(set(house.log)), house.log
    missing = set(lines.values()) - set(house.log) - set(may_be_gone)
    assert missing <= {lines[call] for call in uncertain if call in lines}
    assert set(house.log) <= set(lines.values())
    head = house.head()
    assert head is not None
    assert (head.status, head.pending) == ("idle", ())
    last = [e.reply.text for e in entries if isinstance(e, Replied)][-1]
    assert last == "All done."


def killed_everywhere(
    person: Person, root: Path, prove: Any, *, every: int = 1, second: bool = False
) -> tuple[int, int]:
    """Play the story; then again from before each of its commands, killed in it at every point; and to the end.

    `every`: only each nth point is tried. `second`: the command after the crash is killed as well, at a point of its own.
    How many points were tried, and how many commands the story has.
    """
    house, kept, counts = person.house, [root / "kept" / "0"], list[int]()
    commands: list[list[str]] = []
    house.keep(kept[0])
    for command, _ in person.on():
        commands.append(command)
        counts.append(house.passed)
        kept.append(root / "kept" / str(len(kept)))
        house.keep(kept[-1])
    prove()
    tried = number = 0
    for command, passed, before in zip(commands, counts, kept, strict=False):
        for point in range(1, passed + 1):
            number += 1
            if number % every:
                continue
            house.back_to(before)
            said = house.at(point, *command)
            assert said.code == KILLED, (command, point, said)
            if second and (next_one := person.next()):
                house.at(1 + number % 9, *next_one)
            if person.luck:
                person.luck.seed(number)
            for _ in person.on():
                pass
            prove()
            tried += 1
    return tried, len(commands)
