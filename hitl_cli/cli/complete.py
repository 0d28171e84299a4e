"""What Tab offers: the words of the program from a table, and what exists on this machine.

The shells' files in `completions/` hand over the words of the line, the last one unfinished, and offer what is printed:
a candidate and its help a line, or `:files` or `:dirs` where the shell knows better. The table `commands.json` beside them
is generated from the program, because reading the program itself would take longer than a person waits for Tab.

Nothing here may disturb the line: no error is told, no file or folder made.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hitl_cli.cli import streams
from hitl_cli.errors import UsageError

SHELLS = {"bash": "hitl.bash", "zsh": "_hitl", "fish": "hitl.fish"}
Candidate = tuple[str, str]  # the word, and its help
Table = Mapping[str, Any]


def folder() -> Path:
    """Where the shells' files lie: inside the package in a wheel, beside it in a checkout."""
    inside = Path(__file__).parent.parent / "completions"
    return inside if inside.is_dir() else Path(__file__).parent.parent.parent / "completions"


def main(words: Sequence[str]) -> int:
    """Print the candidates for the last of `words`, which are those after `hitl`."""
    try:
        lines = [word + ("\t" + " ".join(help.split()) if help else "") for word, help in candidates(words)]
        print("\n".join(lines))
    except Exception:  # whatever is wrong here is told by the command itself, not into the line that is being typed
        return 1
    return 0


def candidates(words: Sequence[str]) -> Iterator[Candidate]:
    table = json.loads((folder() / "commands.json").read_text(encoding="utf-8"))
    *before, current = words or [""]
    current = current[1:] if current[:1] in ("'", '"') else current  # a quote that is still open
    line = Line(table, before)
    if line.awaits is not None:
        yield from _fitting(line, line.awaits, current)
    elif current.startswith("--") and "=" in current:
        option, _, begun = current.partition("=")
        for word, help in _fitting(line, line.options().get(option, {}).get("takes") or "", begun):
            yield (word if word.startswith(":") else f"{option}={word}", help)
    elif current.startswith("-") and not line.only_words:
        shown = {name: entry["help"] for name, entry in line.options().items() if not line.used(entry)}
        long = {name: help for name, help in shown.items() if name.startswith("--")}
        yield from _beginning(current, (shown if current != "--" and len(current) == 2 else long).items())
    else:
        yield from _beginning(current, line.commands().items())
        yield from _fitting(line, line.argument(), current)


class Line:
    """The words before the one that is being typed, as the program will read them.

    `path`: the command they name; `given`: the words that are its arguments; `awaits`: what the next word must be, when
    the last one is an option that takes a value.
    """

    def __init__(self, table: Table, words: Sequence[str]) -> None:
        self._table = table
        self.path, self.given, self.only_words = "", list[str](), False
        self.values: dict[str, str] = {}
        self._used: list[str] = []
        self.awaits: str | None = None
        option = ""
        for word in words:
            if self.awaits is not None:
                self.values[option], self.awaits = word, None
            elif word == "--":
                self.only_words = True
            elif word.startswith("-") and not self.only_words:
                option, equals, value = word.partition("=")
                self._used.append(option)
                if equals:
                    self.values[option] = value
                else:
                    self.awaits = self.options().get(option, {}).get("takes")
            else:
                self._take(word)

    def _take(self, word: str) -> None:
        below = f"{self.path} {word}".strip()
        if not self.given and below in self._table:
            self.path = below
        else:
            self.given.append(word)

    def options(self) -> Mapping[str, Any]:
        """Each spelling of an option of the command, with its entry in the table."""
        return {name: entry for entry in self._table[self.path]["options"] for name in entry["names"]}

    def used(self, entry: Table) -> bool:
        return not entry["repeats"] and any(name in self._used for name in entry["names"])

    def commands(self) -> Mapping[str, str]:
        """The commands that may follow, with their help."""
        depth = len(self.path.split()) + 1
        below = self.path + " " if self.path else ""
        return {
            path.split()[-1]: entry["help"]
            for path, entry in self._table.items()
            if not self.given and path.startswith(below) and len(path.split()) == depth
        }

    def argument(self) -> str:
        """What the next argument is; "" when there is none."""
        takes = self._table[self.path]["arguments"]
        at = len(self.given)
        if at < len(takes):
            return str(takes[at]["takes"])
        return str(takes[-1]["takes"]) if takes and takes[-1]["repeats"] else ""


def _fitting(line: Line, takes: str, current: str) -> Iterator[Candidate]:
    """The words of a kind: `a|b|c` is one of these; a name in `KINDS` is looked up here and now."""
    if takes in ("files", "dirs"):
        yield f":{takes}", ""
    elif takes in KINDS:
        yield from _beginning(current, KINDS[takes](line))
    elif "|" in takes:
        yield from _beginning(current, ((word, "") for word in takes.split("|")))


def _beginning(current: str, found: Any) -> Iterator[Candidate]:
    return (candidate for candidate in found if candidate[0].startswith(current))


def _heads(line: Line) -> list[Any]:
    from hitl_cli.paths import locate
    from hitl_cli.store.sqlite import SqliteStore

    path = Path(line.values.get("--store") or os.environ.get("HITL_STORE") or locate().store)
    if not path.exists():
        return []
    store = SqliteStore(path)
    try:
        return store.heads()
    finally:
        store.close()


def _sessions(line: Line) -> Iterator[Candidate]:
    heads = [head for head in _heads(line) if head.session not in line.given]
    if line.path in ("answer", "recover"):  # those that the command is for, where there are any
        heads = [h for h in heads if (h.pending if line.path == "answer" else h.status == "interrupted")] or heads
    return ((head.session, head.title) for head in heads)


def _interrupts(line: Line) -> Iterator[Candidate]:
    from hitl_cli import interrupts

    for head in _heads(line):
        if line.given and head.session.startswith(line.given[0]):
            for waiting in map(interrupts.load, head.pending):
                yield waiting.id, waiting.call.name if waiting.call else waiting.kind


def _rules(line: Line) -> Iterator[Candidate]:
    from hitl_cli import rulebook
    from hitl_cli.paths import locate, place_for

    paths = locate()
    for rule in rulebook.load(place_for(os.getcwd(), (), paths), paths).rules:
        if rule.source.layer in ("user", "project", "pack"):
            yield rule.text, f"{rule.decision}, {rule.source.layer}"


def _packs(line: Line) -> Iterator[Candidate]:
    from hitl_cli import rulebook

    return ((name, "") for name in rulebook.available())


def _pages(line: Line) -> Iterator[Candidate]:
    from hitl_cli.cli.pages import topics

    return iter(topics().items())


def _models(line: Line) -> Iterator[Candidate]:
    from hitl_cli.models.prices import CARDS

    yield from ((name, "") for name in CARDS)
    yield "script:", "a model of written words"


KINDS: Mapping[str, Callable[[Line], Iterator[Candidate]]] = {
    "sessions": _sessions,
    "interrupts": _interrupts,
    "rules": _rules,
    "packs": _packs,
    "pages": _pages,
    "models": _models,
    "shells": lambda line: ((name, "") for name in SHELLS),
}


def show(arguments: Sequence[str]) -> int:
    """`--show-completion [SHELL]`."""
    print((folder() / SHELLS[_shell(arguments)]).read_text(encoding="utf-8"), end="")
    return 0


def install(arguments: Sequence[str]) -> int:
    """`--install-completion [SHELL]`: a file, and one line in the shell's start-up file where the shell needs it."""
    from hitl_cli import paths

    shell, home = _shell(arguments), Path(paths.home())
    file, start, line = {
        "bash": (home / ".local/share/bash-completion/completions/hitl", ".bashrc", "[ -r {0} ] && . {0}"),
        "zsh": (home / ".zfunc/_hitl", ".zshrc", "fpath=({1} $fpath); autoload -Uz compinit && compinit"),
        "fish": (home / ".config/fish/completions/hitl.fish", "", ""),
    }[shell]
    line = line.format(_near(file, home), _near(file.parent, home)) + "  # hitl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text((folder() / SHELLS[shell]).read_text(encoding="utf-8"), encoding="utf-8")
    print(f"Completion for {shell} is in {_near(file, home)}.")
    if start:
        before = (home / start).read_text(encoding="utf-8") if (home / start).exists() else ""
        if line not in before.splitlines():
            with (home / start).open("a", encoding="utf-8") as opened:
                opened.write(f"{'' if before.endswith(chr(10)) or not before else chr(10)}{line}\n")
        print(f"~/{start} reads it: {line}")
    print("It works in the next shell that you open.")
    return 0


def _near(path: Path, home: Path) -> str:
    return f"~/{path.relative_to(home)}"


def _shell(arguments: Sequence[str]) -> str:
    """The shell that is named, else the person's own."""
    name = arguments[0] if arguments else os.path.basename(os.environ.get("SHELL", ""))
    if name not in SHELLS or len(arguments) > 1:
        raise UsageError(
            f"There is completion for {', '.join(SHELLS)}, not for {name!r}.\n  hitl --show-completion bash"
        )
    return name


def door(arguments: Sequence[str]) -> int:
    """A call from a shell's completion, or one about it; the exit code."""
    if "_HITL_COMPLETE" in os.environ:
        return main(arguments)
    act = {"--show-completion": show, "--install-completion": install}[arguments[0]]
    streams.prepare()
    try:
        code = act(arguments[1:])
        sys.stdout.flush()
        return code
    except UsageError as error:
        print(f"hitl: {error}", file=sys.stderr)
        return error.exit_code
    except OSError as error:
        return streams.failed(error)
