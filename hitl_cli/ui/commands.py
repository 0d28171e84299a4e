"""Slash commands: the table of them, and the person's own from Markdown files.

A command is a name, a line of help and a function of the REPL and what was typed behind the name. Those marked `anytime`
run while the model works; the others wait until it is done. A file `<config>/commands/NAME.md` makes `/NAME` send its text
to the model, with `$ARGUMENTS` standing for what was typed; its first line, when it is a heading, is the help.
"""

from __future__ import annotations

import asyncio
import difflib
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from hitl_cli import interrupts, rulebook, sessions
from hitl_cli.errors import HitlError
from hitl_cli.journal import Grant
from hitl_cli.store import Head
from hitl_cli.ui.clean import clean
from hitl_cli.ui.compose import Typed
from hitl_cli.ui.diff import draw, parse
from hitl_cli.ui.picker import ago
from hitl_cli.ui.theme import Line

if TYPE_CHECKING:
    from hitl_cli.ui.session import Conversation
    from hitl_cli.ui.setup import Setup


class Host(Protocol):
    """What a command may do with the REPL."""

    setup: Setup
    talk: Conversation
    own: Mapping[str, str]

    @property
    def waiting(self) -> int:
        """Questions that wait, over all sessions."""

    @property
    def width(self) -> int: ...

    def say(self, words: str, style: str = "dim") -> None: ...
    def print(self, lines: list[Line]) -> None: ...
    def leave(self) -> None: ...
    def begin_anew(self) -> None: ...
    async def reopen(self, session: str, shown: int = 3) -> None: ...
    async def pick(self, heads: Sequence[Head]) -> str | None: ...
    async def edit(self, text: str, suffix: str) -> str | None: ...


Run = Callable[[Host, str], Awaitable[None] | None]
Choices = Callable[[Host], Iterable[str]]
MODES = ("default", "accept-edits", "plan", "dont-ask")
BREAKS = tuple(f"{phase}:{step}" for phase in ("before", "after") for step in ("model", "tool", "finish"))


def _nothing(repl: Host) -> Iterable[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Command:
    """`takes`: what may be typed behind the name, in words; `choices`: what Tab offers there."""

    name: str
    help: str
    run: Run
    anytime: bool = False
    takes: str = ""
    choices: Choices = _nothing


def named(text: str) -> Command | None:
    name = text.partition(" ")[0]
    return next((c for c in COMMANDS if c.name == name), None)


def must_wait(repl: Host, typed: Typed) -> bool:
    """A turn is going on, and the command would get in its way."""
    command = named(typed.text)
    return command is not None and not command.anytime and repl.talk.working


async def run(repl: Host, typed: Typed) -> None:
    """Do what a line that begins with a slash says; any mistake is one line."""
    name, _, argument = typed.text.partition(" ")
    command = named(typed.text)
    if must_wait(repl, typed):
        repl.talk.queue.append(typed)
    elif command is not None:
        try:
            done = command.run(repl, argument.strip())
            if done is not None:
                await done
        except (HitlError, OSError, ValueError) as error:
            repl.say(str(error), "warn")
    elif name in repl.own:
        repl.talk.send(Typed(typed.shown, filled(repl.own[name], argument.strip())))
    else:
        close = difflib.get_close_matches(name, [*(c.name for c in COMMANDS), *repl.own], 1)
        repl.say(f"{name} is no command." + (f" Did you mean {close[0]}?" if close else " /help lists them."), "warn")


def choices(repl: Host, name: str) -> Iterable[str]:
    return next((c.choices(repl) for c in COMMANDS if c.name == name), ())


# -- the person's own


def own_commands(folder: Path) -> Mapping[str, str]:
    """Name (with its slash) -> text; files that cannot be read are passed over."""
    found: dict[str, str] = {}
    for file in sorted(folder.glob("*.md")):
        try:
            found["/" + file.stem] = file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
    return found


def summary(text: str) -> str:
    """The help of an own command: its first line."""
    return text.strip().partition("\n")[0].lstrip("# ").strip()


def filled(text: str, arguments: str) -> str:
    """The message that an own command sends."""
    text = text.strip()
    if text.startswith("#"):
        text = text.partition("\n")[2].strip()
    return text.replace("$ARGUMENTS", arguments) if "$ARGUMENTS" in text else f"{text}\n\n{arguments}".strip()


# -- about the program


def _help(repl: Host, argument: str) -> None:
    lines = [f"{c.name + ' ' + c.takes:<26} {c.help}" for c in COMMANDS]
    lines += [f"{name:<26} {summary(text)}" for name, text in repl.own.items()]
    repl.say("\n".join(["", *lines, "", KEYS]), "")


KEYS = """Enter sends · Ctrl-J, Alt-Enter or \\ at the end: new line · @ completes files
Esc or Ctrl-C stops a turn · Ctrl-D leaves · Shift-Tab: mode · Ctrl-R: history
! runs a command of yours · Ctrl-G: $EDITOR · Ctrl-O: the last result whole
Typing while the model works queues; Up takes the last message back."""


def _status(repl: Host, argument: str) -> None:
    talk, setup = repl.talk, repl.setup
    repl.say(
        f"session  {talk.session or '(begins with the first message)'}\nmodel    {talk.model}\nmode     {talk.mode}\n"
        f"folder   {setup.place.cwd}\nroots    {', '.join(talk.agent.place.roots)}\nstore    {setup.paths.store}\n"
        f"breaks   {', '.join(talk.breaks) or 'none'}\nwaiting  {len(talk.pending)} here, {repl.waiting} in all",
        "",
    )


def _cost(repl: Host, argument: str) -> None:
    usage = repl.talk.usage
    price = "unknown" if usage.cost is None else f"${usage.cost:.4f}"
    repl.say(
        f"input {usage.input:,} · output {usage.output:,} · read from cache {usage.cache_read:,} · "
        f"written to cache {usage.cache_write:,} tokens · price {price}",
        "",
    )


def _context(repl: Host, argument: str) -> None:
    used, window = repl.talk.context, repl.talk.agent.model.window
    repl.say(f"{used:,} of {window:,} tokens ({100 * used // max(window, 1)}%) in the last request.", "")


def _config(repl: Host, argument: str) -> None:
    config = repl.setup.config
    names = [f.name for f in fields(config) if f.name != "origins"]
    values = {name: getattr(config, name) for name in names}
    shown = {name: "-" if value in (None, "", (), {}) else str(value) for name, value in values.items()}
    repl.say("\n".join(f"{n:<11} {shown[n]:<24} {config.origins.get(n, 'default')}" for n in names), "")


def _exit(repl: Host, argument: str) -> None:
    repl.leave()


# -- about the conversation


def _clear(repl: Host, argument: str) -> None:
    repl.begin_anew()
    repl.say("A new session begins with the next message.")


async def _model(repl: Host, argument: str) -> None:
    if not argument:
        repl.say(f"{repl.talk.model}. Another: /model NAME", "")
    elif await repl.talk.set_up(replace(repl.talk.settings, model=argument), repl.talk.breaks):
        repl.say(f"model: {argument}")


async def _mode(repl: Host, argument: str) -> None:
    if argument in MODES:
        await repl.talk.set_mode(argument)
    else:
        repl.say(f"{repl.talk.mode}. Another: /mode {' | '.join(MODES)} (bypass is given by flag alone)", "")


async def _pending(repl: Host, argument: str) -> None:
    heads = [h for h in repl.setup.store.heads(pending=True) if h.session != repl.talk.session]
    for head in heads:
        waiting = [interrupts.load(dumped) for dumped in head.pending]
        names = ", ".join(i.call.name if i.call else i.kind for i in waiting)
        repl.say(f"{head.session}  {names}  {clean(head.title)}  ({ago(time.time() - head.updated)}, {head.cwd})", "")
    if repl.talk.pending:
        repl.talk.go_on()
    elif heads:
        repl.say("Answer with: hitl answer SESSION, or reopen one with: hitl resume SESSION")
    else:
        repl.say("Nothing waits.")


async def _resume(repl: Host, argument: str) -> None:
    store, here = repl.setup.store, repl.setup.place.cwd
    if argument:
        session: str | None = store.find(argument)
    else:
        session = await repl.pick([h for h in store.heads(cwd=here) if h.session != repl.talk.session])
    if session is None:
        return
    head = sessions.head_of(store, session)
    if head.cwd != here:
        repl.say(f"Session {session} belongs to {head.cwd}. There: hitl resume {session}", "warn")
    else:
        await repl.reopen(session)


async def _fork(repl: Host, argument: str) -> None:
    if repl.talk.session is None:
        repl.say("There is nothing to fork yet.")
        return
    old, new = repl.talk.session, sessions.fork(repl.setup.store, repl.talk.session)
    await repl.reopen(new, shown=0)
    repl.say(f"This is session {new} now, a copy of {old}.")


def _export(repl: Host, argument: str) -> None:
    if repl.talk.session is None:
        repl.say("There is nothing to export yet.")
        return
    store = repl.setup.store
    text = sessions.as_markdown(sessions.head_of(store, repl.talk.session), store.read(repl.talk.session))
    file = Path(repl.setup.place.cwd, os.path.expanduser(argument or f"hitl-{repl.talk.session}.md"))
    with open(file, "x", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as out:
        out.write(text)
    repl.say(f"Written to {file} (secrets masked).")


# -- about the project


async def _diff(repl: Host, argument: str) -> None:
    process = await asyncio.create_subprocess_exec(
        "git", "-C", repl.setup.place.cwd, "diff", "--no-color", "--no-ext-diff", "HEAD", "--", *argument.split(),
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    output, errors = await process.communicate()
    if process.returncode:
        repl.say(errors.decode("utf-8", "replace").strip(), "warn")
    elif not output.strip():
        repl.say("Nothing differs from the last commit.")
    else:
        repl.print(_diff_lines(output.decode("utf-8", "replace"), repl.width))


def _diff_lines(text: str, width: int) -> list[Line]:
    """Git's diff of several files, each under its name."""
    lines: list[Line] = []
    for part in text.split("diff --git ")[1:]:
        head, _, hunks = part.partition("\n@@")
        lines += [[], [("title", clean(head.partition("\n")[0].rpartition(" b/")[2]))]]
        if not hunks:
            lines.append([("dim", "(no text to compare)")])
        lines += [line for _, line in draw(parse("@@" + hunks), width)] if hunks else []
    return lines


def _init(repl: Host, argument: str) -> None:
    repl.talk.send(Typed("/init", INIT))


INIT = """Look at this repository and write AGENTS.md at its top (or improve the one there): what it is, how it is laid
out, the exact commands to build it, test it and check its style, and the conventions a newcomer would get wrong. Under 60
lines, nothing that the code says better itself. Check each command by reading what defines it."""


async def _memory(repl: Host, argument: str) -> None:
    """The project's AGENTS.md, or the person's own with `user`, in the editor."""
    folder = repl.setup.paths.config if argument == "user" else Path(repl.setup.place.workspace)
    file = folder / "AGENTS.md"
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    after = await repl.edit(before, ".md")
    if after is None or after == before:
        repl.say("Nothing was changed.")
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.write_text(after, encoding="utf-8")
    await repl.talk.set_up(repl.talk.settings, repl.talk.breaks)
    repl.say(f"Kept in {file}; it counts from the next message.")


async def _add_dir(repl: Host, argument: str) -> None:
    if not argument:
        repl.say(f"Folders: {', '.join(repl.talk.agent.place.roots)}. One more: /add-dir DIR", "")
        return
    folder = os.path.abspath(os.path.join(repl.setup.place.cwd, os.path.expanduser(argument)))
    settings = replace(repl.talk.settings, add_dirs=(*repl.talk.settings.add_dirs, folder))
    if await repl.talk.set_up(settings, repl.talk.breaks):
        repl.say(f"{folder} is part of the workspace from the next message on.")


async def _break(repl: Host, argument: str) -> None:
    if argument == "off":
        await repl.talk.set_up(repl.talk.settings, ())
    elif argument in BREAKS:
        await repl.talk.set_up(repl.talk.settings, tuple(dict.fromkeys((*repl.talk.breaks, argument))))
    elif argument:
        raise ValueError(f"{argument} is no breakpoint; one of {', '.join(BREAKS)}, or off")
    repl.say(f"Held at: {', '.join(repl.talk.breaks) or 'nothing'}.")


def _permissions(repl: Host, argument: str) -> None:
    """List rules, or `allow|ask|deny RULE` to add one for the person, `remove RULE` to take one away."""
    place, paths = repl.setup.place, repl.setup.paths
    word, _, text = argument.partition(" ")
    if word in ("allow", "ask", "deny"):
        grant = Grant(word, text.strip(), "user")  # type: ignore[arg-type]
        kept = rulebook.add(rulebook.granted(grant), "user", place, paths)
        repl.say(f"Kept: {word} {kept.text} in {kept.source}")
    elif word == "remove":
        gone = sum(rulebook.remove(text.strip(), scope, place, paths) for scope in ("user", "project"))
        repl.say(f"{gone} removed." if gone else f"No rule {text.strip()} of yours; /permissions lists them.")
    elif argument:
        raise ValueError("/permissions, /permissions allow RULE (or ask, deny), /permissions remove RULE")
    else:
        book = rulebook.load(place, paths)
        rules = [r for r in book.rules if r.source.layer != "pack"]
        session = [f"{g.decision:<6}{g.rule}  (session)" for g in repl.talk.settings.rules]
        listed = [f"{r.decision!s:<6}{r.text}  ({r.source})" for r in sorted(rules, key=lambda r: -r.decision)]
        packs = f"packs: {', '.join(book.on) or 'none'}"
        repl.say("\n".join([*session, *listed, packs]), "")
    repl.talk.renew_rules()


COMMANDS: tuple[Command, ...] = (
    Command("/help", "this list, and the keys", _help, anytime=True),
    Command("/clear", "a new session; this one is kept", _clear),
    Command("/model", "show or change the model", _model, takes="[NAME]"),
    Command("/mode", "how much is asked", _mode, anytime=True, takes="[MODE]", choices=lambda repl: MODES),
    Command("/permissions", "rules: list, add, remove", _permissions, anytime=True, takes="[allow|deny|remove RULE]"),
    Command("/pending", "what waits for an answer, here and elsewhere", _pending, anytime=True),
    Command("/status", "session, model, folders", _status, anytime=True),
    Command("/cost", "tokens and price so far", _cost, anytime=True),
    Command("/context", "how full the model's window is", _context, anytime=True),
    Command("/resume", "reopen another session of this folder", _resume, takes="[SESSION]"),
    Command("/fork", "go on in a copy of this session", _fork),
    Command("/export", "write the conversation to a file", _export, takes="[FILE]"),
    Command("/diff", "what differs from the last commit", _diff, anytime=True, takes="[PATH]"),
    Command("/init", "let the model write AGENTS.md", _init),
    Command(
        "/memory", "edit AGENTS.md, the project's or your own", _memory, takes="[user]", choices=lambda repl: ("user",)
    ),
    Command("/add-dir", "one more folder to work in", _add_dir, takes="[DIR]"),
    Command("/break", "hold before or after a step", _break, takes="[STEP|off]", choices=lambda repl: (*BREAKS, "off")),
    Command("/config", "the settings and where each was set", _config, anytime=True),
    Command("/exit", "leave; the session is kept", _exit, anytime=True),
)
