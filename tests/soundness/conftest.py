"""A real bash in a throw-away folder where every program is a recorder, and the comparison with what the reader said.

Programs that are not found are recorded by bash's own `command_not_found_handle`; programs that others start (`env`,
`xargs`, `find -exec`) are small scripts. A bare `cat` is recorded and does its work, since the reader knows what
`"$(cat <<'EOF' …)"` becomes. Only texts that the reader takes for wholly readable are run.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hitl_cli.access import Access, Command, Opaque, Place, Unknown, WritePath
from hitl_cli.shell.reader import Reading, read

PROGRAMS = ("p1", "p2", "p3", "p4", "f1", "f2")  # f…: they fail
REAL = ("env", "timeout", "nice", "nohup", "stdbuf", "setsid", "xargs", "find", "bash", "sh")
_MISSING = re.compile(
    r"^.*?: line \d+: (.*): (?:No such file or directory|command not found|Permission denied|Is a directory)$"
)


@dataclass
class Ran:
    """What bash did: `calls` are (folder, words) of each program started, `files` those that are new or changed."""

    calls: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    errors: str = ""


@dataclass
class Scratch:
    """`ws` is the workspace of the texts, laid out anew for each."""

    root: Path
    count: int = 0

    def __post_init__(self) -> None:
        self.ws, self.home, self.bin, self.log = (self.root / name for name in ("ws", "home", "bin", "log"))
        self.bin.mkdir(parents=True)
        self.home.mkdir()
        for name in PROGRAMS:
            code = 1 if name[0] == "f" else 0
            self._script(
                self.bin / name,
                f'printf \'%s\\0\' "$HITL_RUN" "$PWD" {name} "$@" "$(printf \'\\036\')" >>{self.log}/$$\nexit {code}\n',
            )
        for name in REAL:
            if (found := shutil.which(name)) is not None:
                (self.bin / name).symlink_to(found)
        handler = self.root / "handler"
        handler.write_text(
            "command_not_found_handle() { "
            f'printf \'%s\\0\' "$HITL_RUN" "$PWD" "$@" $\'\\036\' >>{self.log}/$BASHPID; '
            '[[ $* != cat ]] || printf %s "$(</dev/stdin)"; [[ $1 != f* ]]; exit; }\n'
        )
        self.env = {"PATH": str(self.bin), "HOME": str(self.home), "BASH_ENV": str(handler), "LC_ALL": "C.UTF-8"}
        self.place = Place(str(self.ws), (str(self.ws),), str(self.home))

    def _script(self, path: Path, body: str) -> None:
        path.write_text("#!/bin/sh\n" + body)
        path.chmod(0o755)

    def lay(self) -> None:
        shutil.rmtree(self.ws, ignore_errors=True)
        (self.ws / "sub" / "deep").mkdir(parents=True)
        for name in ("a", "b c", "sub/a", "-o"):
            (self.ws / name).write_text("one\n")
        shutil.rmtree(self.log, ignore_errors=True)
        self.log.mkdir(exist_ok=True)

    def run(self, text: str, timeout: float = 10) -> Ran:
        self.lay()
        self.count += 1
        before = self._files()
        with subprocess.Popen(
            ["/bin/bash", "--noprofile", "--norc", "-c", text],
            env=self.env | {"HITL_RUN": str(self.count)},
            cwd=self.ws,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            try:
                errors = process.communicate(timeout=timeout)[1]
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                errors = process.communicate()[1]
        after = self._files()
        ran = Ran(errors=errors.decode(errors="replace"))
        ran.files = sorted(name for name, stamp in after.items() if before.get(name) != stamp)
        for log in self.log.iterdir():  # one of each process: those of a pipeline write at the same time
            for record in log.read_bytes().decode(errors="surrogateescape").split("\x1e\0"):
                fields = record.split("\0")[:-1]
                if len(fields) > 2:  # one that a stop did not cut short
                    number, folder, *words = fields
                    if number in ("", str(self.count)):  # not one that an earlier text left in the background
                        ran.calls.append((folder, tuple(words)))
        return ran

    def _files(self) -> dict[str, tuple[int, int]]:
        found = {}
        for folder in (self.ws, self.home):
            for path in folder.rglob("*"):
                if path.is_file():
                    status = path.stat()
                    found[str(path)] = (status.st_mtime_ns, status.st_size)
        return found

    def disagreements(self, text: str) -> list[str] | None:
        """What bash did that the reader did not say; None when the reader calls the text opaque."""
        reading = read(text, self.place)
        if any(isinstance(access, Opaque) or _sources(access) for access in reading.accesses):
            return None
        return list(_missed(reading, self.run(text)))


def _sources(access: Access) -> bool:
    """It runs a file in the shell: only a rule that spells the file consents, and what it does is the file's business."""
    return isinstance(access, Command) and any("in this shell" in act.does for act in access.acts)


def _missed(reading: Reading, ran: Ran) -> Iterator[str]:
    commands = [a for a in reading.accesses if isinstance(a, Command)]
    for folder, words in ran.calls:
        fitting = [c for c in commands if any(_fits(said, words) for said in _spellings(c))]
        if not fitting:
            yield f"ran {words}"
        elif not any(c.cwd in (None, folder) or words[0] in ("time", "env") for c in fitting):
            yield f"ran {words} in {folder}, said {[c.cwd for c in fitting]}"
    writes = [a for a in reading.accesses if isinstance(a, WritePath)]
    for name in ran.files:
        if not any(
            os.path.normpath(a.path) == name or (a.glob and fnmatch.fnmatch(name, a.path.replace("**", "*")))
            for a in writes
        ):
            yield f"wrote {name}"
    for line in ran.errors.splitlines():
        if (found := _MISSING.match(line)) and "/" not in found.group(1) and ": " not in found.group(1):
            name = found.group(1)
            said = [w for c in commands for w in c.words] + [getattr(a, "path", "") for a in reading.accesses]
            if not any(
                isinstance(w, Unknown) or w == name or w.endswith("/" + name) or w == "/**" or "*" in w for w in said
            ):
                yield f"opened or ran {name}"


def _spellings(command: Command) -> Iterator[tuple[str | Unknown, ...]]:
    yield command.words
    for said in (*command.forms, *command.also):
        yield said
        if said[0] == "time":  # the keyword is no program
            yield said[1:]


def _fits(said: tuple[str | Unknown, ...], words: tuple[str, ...]) -> bool:
    """`words` are what the known words say, with any words in place of unknown ones."""
    states = {0}
    for word in said:
        after: set[int] = set()
        for at in states:
            if isinstance(word, str):
                if at < len(words) and words[at] == word:
                    after.add(at + 1)
            elif word.single:
                if at < len(words) and words[at].startswith(word.prefix):
                    after.add(at + 1)
            else:
                after.update(range(at, len(words) + 1))
        states = after
        if not states:
            return False
    return len(words) in states


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    return Scratch(tmp_path_factory.mktemp("bash").resolve())
