"""Commands about the conversation: which session, which model and mode, what waits, copies of it."""

from __future__ import annotations

import os
import time
from pathlib import Path

from hitl_cli import interrupts, sessions
from hitl_cli.ui.clean import clean
from hitl_cli.ui.commands.host import Host
from hitl_cli.ui.commands.jobs import end_all
from hitl_cli.ui.picker import ago

MODES = ("default", "accept-edits", "plan", "dont-ask")
BREAKS = tuple(f"{phase}:{step}" for phase in ("before", "after") for step in ("model", "tool", "finish"))


async def clear(repl: Host, argument: str) -> None:
    await end_all(repl)
    repl.talk.begin_anew()
    repl.say("A new session begins with the next message.")


def compact(repl: Host, argument: str) -> None:
    repl.talk.compact(argument)


async def model(repl: Host, argument: str) -> None:
    if not argument:
        repl.say(f"{repl.talk.partner.settings.model}. Another: /model NAME", "")
    elif not argument.startswith(("claude-", "script:")):
        repl.say(f"{argument} is no model. Name one of the service (claude-…) or a script (script:FILE).", "warn")
    else:
        told = repl.talk.session is not None and argument != repl.talk.partner.settings.model
        if await repl.talk.set_up(model=argument) and not told:
            repl.say(f"model: {argument}")


async def mode(repl: Host, argument: str) -> None:
    if argument in MODES:
        await repl.talk.set_mode(argument)
    elif argument:
        repl.say(f"{argument} is no mode that can be set here. /mode {' | '.join(MODES)}", "warn")
    else:
        repl.say(f"{repl.talk.mode}. Another: /mode {' | '.join(MODES)} (bypass is given by flag alone)", "")


async def pending(repl: Host, argument: str) -> None:
    heads = [h for h in repl.setup.store.heads(pending=True) if h.session != repl.talk.session]
    for head in heads:
        waiting = [interrupts.load(dumped) for dumped in head.pending]
        names = ", ".join(i.call.name if i.call else i.kind for i in waiting)
        repl.say(f"{head.session}  {names}  {clean(head.title)}  ({ago(time.time() - head.updated)}, {head.cwd})", "")
    if repl.talk.pending:
        repl.talk.go_on()
    elif heads:
        answer, reopen = repl.setup.command("answer SESSION"), repl.setup.command("resume SESSION")
        repl.say(f"Answer with: {answer}, or reopen one with: {reopen}")
    else:
        repl.say("Nothing waits.")


async def resume(repl: Host, argument: str) -> None:
    store, here = repl.setup.store, repl.setup.place.cwd
    if argument:
        session: str | None = store.find(argument)
    else:
        session = await repl.pick([h for h in store.heads(cwd=here) if h.session != repl.talk.session])
    if session is None:
        return
    head = sessions.head_of(store, session)
    if head.cwd != here:
        repl.say(f"Session {session} belongs to {head.cwd}. There: {repl.setup.command(f'resume {session}')}", "warn")
    else:
        await end_all(repl)
        await repl.talk.switch(session)


async def fork(repl: Host, argument: str) -> None:
    if repl.talk.session is None:
        repl.say("There is nothing to fork yet.")
        return
    await end_all(repl)
    old, new = repl.talk.session, sessions.fork(repl.setup.store, repl.talk.session)
    await repl.talk.switch(new, shown=0)
    repl.say(f"This is session {new} now, a copy of {old}.")


def export(repl: Host, argument: str) -> None:
    if repl.talk.session is None:
        repl.say("There is nothing to export yet.")
        return
    store = repl.setup.store
    text = sessions.as_markdown(sessions.head_of(store, repl.talk.session), store.read(repl.talk.session))
    file = Path(repl.setup.place.cwd, os.path.expanduser(argument or f"hitl-{repl.talk.session}.md"))
    if file.exists():
        raise ValueError(f"{file} exists already; /export FILE writes another.")
    with open(file, "x", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as out:
        out.write(text)
    repl.say(f"Written to {file} (secrets masked).")


async def hold(repl: Host, argument: str) -> None:
    if argument == "off":
        await repl.talk.set_up(breaks=())
    elif argument in BREAKS:
        await repl.talk.set_up(breaks=tuple(dict.fromkeys((*repl.talk.partner.breaks, argument))))
    elif argument:
        raise ValueError(f"{argument} is no breakpoint; one of {', '.join(BREAKS)}, or off")
    held = ", ".join(repl.talk.partner.breaks)
    repl.say(f"The turn is held {held.replace(':', ' ')}." if held else "No breakpoint is set.")


def leave(repl: Host, argument: str) -> None:
    repl.leave()
