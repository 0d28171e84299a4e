"""A small reader of sed scripts (POSIX sed with GNU extensions): what does a script write, read or run?

`findings` walks the script command by command: addresses, blocks, `s` and `y` with their delimiters, text of `a i c`,
file names of `r R w W`, and `e`. Whatever it does not understand it says so; then nothing is proved.
"""

from __future__ import annotations

import re
from functools import lru_cache

from hitl_cli.access import Unknown, Word
from hitl_cli.records import Struct, field
from hitl_cli.regex import later
from hitl_cli.shell.programs.reading import Given, Reading
from hitl_cli.shell.programs.table import Row, rows

_LINES = later(r"(?:[0-9]+|\$)(?:,(?:[0-9]+|\$))?[pd]\Z")  # lines by their numbers, shown or left out


class Findings(Struct):
    """Files a script writes and reads, what it gives to a shell, and what could not be read."""

    writes: list[str] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    unread: str = ""


class _Script:
    """A cursor over the text of a script."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def skip(self, characters: str, others: bool = False) -> None:
        """Step over any number of these characters, or of all others."""
        found = _run(characters, others).match(self.text, self.at)
        if found is not None:
            self.at = found.end()

    def line(self) -> str:
        """The rest of the line (a file name, a label, a text)."""
        end = self.text.find("\n", self.at)
        end = len(self.text) if end < 0 else end
        rest = self.text[self.at : end]
        self.at = end
        return rest

    def until(self, delimiter: str, *, classes: bool) -> bool:
        """Step over text up to an unescaped delimiter; False when there is none or the seds disagree.

        BSD sed lets a delimiter stand in a bracket expression (`classes`: the text may have them), GNU sed ends the
        text there; they also disagree about `\\]` in brackets.
        """
        inside = False
        while True:
            self.skip("\\[]\n" + delimiter, others=True)
            if self.at >= len(self.text):
                return False
            character = self.text[self.at]
            if character == "\\":
                if inside and self.text[self.at + 1 : self.at + 2] == "]":
                    return False
                self.at += 1 if inside and self.text[self.at + 1 : self.at + 2] != delimiter else 2
                continue
            if classes and character == "[" and not inside:
                inside = True
                self.at += 1
                if self.peek() == "^":
                    self.at += 1
                if self.peek() == "]":
                    self.at += 1
                continue
            if inside and character == "[" and self.text[self.at + 1 : self.at + 2] in (":", ".", "="):
                kind = self.text[self.at + 1]
                end = self.text.find(kind + "]", self.at + 2)
                if end < 0 or delimiter in self.text[self.at : end]:
                    return False
                self.at = end + 2
                continue
            if inside and character == "]":
                inside = False
            elif character == delimiter:
                if inside:
                    return False
                self.at += 1
                return True
            elif character == "\n" and classes:
                return False
            self.at += 1


@lru_cache(maxsize=50)  # delimiters come from scripts, so their number has no bound
def _run(characters: str, others: bool) -> re.Pattern[str]:
    return re.compile(f"[{'^' * others}{re.escape(characters)}]+")


def findings(text: str) -> Findings:
    """What the script does apart from printing; `unread` when that cannot be said."""
    found = Findings()
    script = _Script(text)
    while not found.unread:
        script.skip(" \t\n;")
        if script.at >= len(text):
            return found
        if not _address(script):
            found.unread = "an address that cannot be read"
            return found
        _command(script, found)
    return found


def _address(script: _Script) -> bool:
    """One or two addresses and `!`; True when the cursor now stands at a command."""
    for _ in range(2):
        character = script.peek()
        if character.isdigit() or character in ("$", "+", "~"):
            script.at += 1
            script.skip("0123456789")
            if script.peek() == "~":
                script.at += 1
                script.skip("0123456789")
        elif character in ("/", "\\"):
            if character == "\\":
                script.at += 1
            delimiter = script.peek()
            script.at += 1
            if not delimiter or delimiter in "\n\\" or not script.until(delimiter, classes=True):
                return False
            script.skip("IM")
        script.skip(" \t")
        if script.peek() != ",":
            break
        script.at += 1
        script.skip(" \t")
    script.skip("! \t")
    return script.at < len(script.text)


def _command(script: _Script, found: Findings) -> None:
    command = script.peek()
    script.at += 1
    if command in "{}=dDgGhHnNpPxzF":
        _end(script, found, command)
    elif command == "#":
        script.line()
    elif command in ":btT":
        # GNU ends a label at `;`, POSIX at the line's end: what follows is read as commands, which errs to asking.
        script.skip(" \t")
        script.skip("\n;} \t", others=True)
    elif command in "aic":
        _text(script)
    elif command in "qQlL":
        script.skip(" \t0123456789")
        _end(script, found, command)
    elif command in "rRwW":
        script.skip(" \t")
        (found.reads if command in "rR" else found.writes).append(script.line())
    elif command == "e":
        found.runs.append(script.line())
    elif command in ("s", "y"):
        _substitute(script, found, command)
    elif command == "v":
        script.skip(" \t.0123456789")
    else:
        found.unread = f"the command {command!r}"


def _end(script: _Script, found: Findings, command: str) -> None:
    """After a command only a separator may follow."""
    script.skip(" \t")
    if script.at < len(script.text) and script.peek() not in "\n;}#" and command not in "{}":
        found.unread = f"what follows the command {command!r}"


def _text(script: _Script) -> None:
    """Text of a, i, c: to the end of the line, continued by a backslash before the line feed."""
    while True:
        line = script.line()
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2 == 0 or script.at >= len(script.text):
            return
        script.at += 1


def _substitute(script: _Script, found: Findings, command: str) -> None:
    delimiter = script.peek()
    script.at += 1
    if not delimiter or delimiter in "\n\\":
        found.unread = "a delimiter"
        return
    begun = script.until(delimiter, classes=command == "s") and script.at
    if not begun or not script.until(delimiter, classes=False):
        found.unread = f"the parts of {command}"
        return
    made = script.text[begun : script.at - 1]
    if command == "y":
        _end(script, found, command)
        return
    while script.at < len(script.text):
        flag = script.peek()
        if flag == "e":
            found.runs.append(made)
        elif flag == "w":
            script.at += 1
            script.skip(" \t")
            found.writes.append(script.line())
            return
        elif flag not in "gpiImM0123456789":
            break
        script.at += 1
    _end(script, found, command)


def _sed(reading: Reading) -> None:
    given: dict[str, list[Given]] = {}
    for each in reading.given:
        given.setdefault(each.name, []).append(each)
    for each in given.get("-l", ()):
        if not (isinstance(each.value, str) and each.value.isdigit()):
            reading.act(each.at, "is an option with a value for some seds and without for others")
    for each in given.get("-f", ()):
        reading.act(each.at, "takes its script from a file")
    scripts: list[tuple[int, Word]] = [(each.at, each.value) for each in given.get("-e", ()) if each.value is not None]
    in_place = given["-i"][0] if "-i" in given else None
    operands = reading.operands
    if not scripts and "-f" not in given and operands:
        apart = operands[0] == "" and in_place is not None  # BSD sed takes the suffix of -i apart: sed -i '' SCRIPT
        taken = 2 if apart else 1
        scripts = reading.placed()[:taken]
        operands = operands[taken:]
    if "--sandbox" not in given:
        for at, script in scripts:
            _judge(reading, at, script)
    reading.reads += operands
    if in_place is not None:
        for word in operands:
            reading.write(word, in_place.at)
        _backup(reading, in_place.at, in_place.value, operands)


def _judge(reading: Reading, at: int, script: Word) -> None:
    if not isinstance(script, str):
        reading.act(at, "holds a script that is known only at run time")
        return
    if _LINES.match(script):
        return
    found = findings(script)
    if found.unread:
        reading.act(at, f"holds a script that could not be read ({found.unread})")
    for text in found.runs:
        reading.act(at, "runs another program")
        reading.starts.append(text)
    for name in found.writes:
        if name not in ("/dev/stdout", "/dev/stderr"):
            reading.write(name, at)
    reading.reads.extend(name for name in found.reads if name != "/dev/stdin")


def _backup(reading: Reading, at: int, suffix: Word | None, files: list[Word]) -> None:
    """`-i.bak` keeps the old file beside the new one, `-iold/*` elsewhere."""
    if not suffix:
        return
    if isinstance(suffix, Unknown) or "/" in suffix or "*" in suffix:
        reading.act(at, "writes backup files")
        reading.write(Unknown("backup of each file"), at)
        return
    for name in files:
        if isinstance(name, str):
            reading.write(name + suffix, at)


PROGRAMS: dict[str, Row] = rows(
    "GNU sed manual, POSIX sed, BSD sed(1)",
    "sed",
    """
    -e --expression =
    -f --file =
    -i --in-place ?
    -I = edits files in place
    -l --line-length =
    -n --quiet --silent
    -E -r --regexp-extended
    -s --separate
    -u --unbuffered
    -z --null-data
    --posix
    --debug
    --sandbox
    --follow-symlinks
    """,
    wary=True,
    then=_sed,
)
