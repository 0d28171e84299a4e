"""A page of the help, or the README, as a person follows it: files are written, commands run, what they say is compared.

An indented block of a page is one of three things. Its first line tells which:

    $ COMMAND        commands in one shell, in the order of the page, each followed by what it prints
    # FILE.EXT       a file of that name, which the page's reader writes
    anything else    a table or a format, for the eye

A line `…` stands for lines left out. Session ids, digests, times and durations differ from run to run: a page's first
`2f9c` is taken for whatever id comes in its place, and must stand for that one throughout.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from hitl_cli.paths import packs

MARK = "\x1e"
FILE = re.compile(r"# ([\w./~-]+\.\w+)$")
ID = re.compile(r"(?<![\w.-])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{4}(?![\w.-])")
CHANGING = (
    (r"\b[0-9a-f]{64}\b", "DIGEST"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|\+00:00)?", "TIME"),
    (r"\b\d{4}-\d\d-\d\d\b", "DATE"),
    (r"\b\d+(\.\d+)? ?m?s\b", "SECONDS"),
    (r"(hitl-demo-)\w{8}", r"\1xxxxxxxx"),
    (r"(/rules/[\w-]+\.toml:)\d+", r"\1N"),
    (r"\b\d+ rules", "N rules"),
    (r"\"since\":\s?[\d.]+", "SINCE"),
    (r"-[0-9a-f]{8}\.toml", "-xxxxxxxx.toml"),
    (r" {2,}", "  "),  # columns are as wide as the longest path
)


@dataclass(frozen=True, slots=True)
class Step:
    """One block's file (`name`, `text`), or one command with what the page says it prints."""

    line: int
    name: str
    text: str
    printed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Printed:
    """What a command prints: as the page tells it and as it is, both without what changes; and as it is."""

    step: Step
    told: list[str]
    real: list[str]
    raw: list[str]


def steps(page: str) -> Iterator[Step]:
    for first, block in blocks(page):
        if named := FILE.match(block[0]):
            yield Step(first, named[1], "\n".join(block[1:]) + "\n")
        elif block[0].startswith("$ "):
            yield from commands(first, block)


def blocks(page: str) -> Iterator[tuple[int, list[str]]]:
    """Each indented block with the number of its first line, its indentation taken off.

    Commands and a file that follow something else after an empty line are blocks of their own.
    """
    first, block = 0, list[str]()
    for number, line in enumerate([*page.splitlines(), "end"], 1):
        text = line[4:]
        inside = line.startswith("    ") or (block and not line.strip())
        if block and (not inside or (not block[-1] and (FILE.match(text) or text.startswith("$ ")))):
            while not block[-1]:
                block.pop()
            yield first, block
            block = []
        if inside and (block or text.strip()):
            first = first if block else number
            block.append(text)


def commands(first: int, block: list[str]) -> Iterator[Step]:
    """A command goes on over lines that end in a backslash; what follows up to the next `$ ` is what it prints."""
    number = 0
    while number < len(block):
        start, text = number, block[number][2:]
        while text.endswith("\\"):
            number += 1
            text += "\n" + block[number]
        end = next((n for n in range(number + 1, len(block)) if block[n].startswith("$ ")), len(block))
        yield Step(first + start, "", text, tuple(block[number + 1 : end]))
        number = end


class Reader:
    """A person with a home, a repository in it, and one shell without a terminal."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.work = self.home / "shop"
        self.work.mkdir(parents=True)
        self.ids: dict[str, str] = {}  # a session's name on the page -> its id
        self._env = {
            **{
                k: v
                for k, v in os.environ.items()
                if not k.startswith(("HITL_", "ANTHROPIC_", "GIT_", "LC_", "PYTHON"))
            },
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "HITL_CONFIG_DIR": str(self.home / ".config/hitl"),
            "HITL_STATE_DIR": str(self.home / ".local/state/hitl"),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "COLUMNS": "100",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        for command in ("init -q -b main", "config user.name You", "config user.email you@example.org"):
            self._git(command)
        (self.work / "prices.py").write_text("def total(prices):\n    return sum(prices)\n")
        self._git("add prices.py")
        self._git("commit -q -m First", GIT_COMMITTER_DATE="2026-11-30T12:00Z", GIT_AUTHOR_DATE="2026-11-30T12:00Z")
        self._shell = subprocess.Popen(
            ["bash", "--noprofile", "--norc"], cwd=self.work, env=self._env,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def _git(self, command: str, **env: str) -> None:
        subprocess.run(["git", *command.split()], cwd=self.work, env=self._env | env, check=True)

    def follow(self, page: str) -> Iterator[Printed]:
        """Do what the page says, step by step."""
        for step in steps(page):
            if step.name:
                file = self.work / step.name.replace("~", str(self.home), 1)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(step.text)
                continue
            raw = self.run(ID.sub(lambda m: self.ids.get(m[0], m[0]), step.text)).splitlines()
            told = [steady(line) for line in step.printed]
            while told and not told[-1]:
                told.pop()
            real = left_out(told, [steady(line) for line in raw])
            for page_line, own in zip(told, real, strict=False):
                if found := like(page_line).fullmatch(own):
                    self.ids |= {
                        n: i for n, i in zip(ID.findall(page_line), found.groups(), strict=True) if n not in self.ids
                    }
            yield Printed(step, told, self.as_told(real), self.as_told(raw))

    def as_told(self, lines: list[str]) -> list[str]:
        """`lines` with the page's names in place of the ids of sessions."""
        names = {id: name for name, id in self.ids.items()}
        return [re.sub(r"\b[0-9a-f]{4}\b", lambda m: names.get(m[0], m[0]), line) for line in lines]

    def run(self, command: str) -> str:
        assert self._shell.stdin
        assert self._shell.stdout
        text = f"(exit ${{__code:-0}})\n{{ {command}\n}} </dev/null\n__code=$?\nprintf '\\n{MARK}\\n'\n"
        self._shell.stdin.write(text.encode())
        self._shell.stdin.flush()
        lines = []
        for line in self._shell.stdout:
            if line.decode() == MARK + "\n":
                break
            lines.append(line.decode())
        text = (
            "".join(lines).rstrip("\n").replace(str(self.home), "/home/you").replace(str(packs().parent), "/opt/hitl")
        )
        return re.sub(r"\(user \S+, process \d+\)", "(user you, process 4711)", text)

    def close(self) -> None:
        self._shell.communicate()


def left_out(told: list[str], real: list[str]) -> list[str]:
    """`real` with `…` in place of the lines for which `told` has one."""
    shown: list[str] = []
    rest = list(real)
    for number, line in enumerate(told):
        if line.strip() != "…":
            shown += rest[:1]
            rest = rest[1:]
            continue
        shown.append(line)
        after = told[number + 1 :]
        if not after:
            return shown
        keep = next((n for n, own in enumerate(rest) if like(after[0]).fullmatch(own)), len(rest))
        rest = rest[keep:]
    return shown + rest


def like(line: str) -> re.Pattern[str]:
    """A line of a page as a pattern in which each of its session ids is any session's id."""
    return re.compile("([0-9a-f]{4})".join(re.escape(piece) for piece in ID.split(line)))


def steady(line: str) -> str:
    """A line without what differs from run to run, session ids excepted."""
    for pattern, name in CHANGING:
        line = re.sub(pattern, name, line)
    return line.rstrip()


NAMES = ("2f9c", "7b3e", "c41d", "5e0a", "9d2b", "6a18", "e83f", "41cc")
SESSION = re.compile(r"""(?:^|[Ss]ession |answer |"session": ?")([0-9a-f]{4})(?=[ "]|$)""", re.MULTILINE)


def rewritten(page: str, reader: Reader) -> str:
    """`page` with what each command really prints; how a page is written, see `renew`.

    The sessions that it does not name yet are called 2f9c, 7b3e, …
    """
    lines = page.splitlines()
    names = iter(NAMES)
    done = []
    for printed in reader.follow(page):
        for id in SESSION.findall("\n".join(printed.raw)):
            if id not in reader.ids and id not in reader.ids.values():
                reader.ids[next(n for n in names if n not in reader.ids)] = id
        done.append(replace(printed, raw=reader.as_told(printed.raw), real=reader.as_told(printed.real)))
    for printed in reversed(done):
        if printed.told != printed.real:
            start = printed.step.line + printed.step.text.count("\n")
            lines[start : start + len(printed.step.printed)] = [f"    {line}".rstrip() for line in printed.raw]
    return "\n".join(lines) + "\n"
